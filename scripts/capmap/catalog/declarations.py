"""What an analysis is: its question, what computes it, its tables with their columns, its figures.

A table or a figure is declared once. The outputs of the rules, the captions and labels of the
report, the types of columns when a table is read back, what is set in bold, the order of sections
and the choices in the configuration follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Best = Mapping[str, Literal["max", "min"]]
# Of analyses without a rule of their own: one job makes them all.
FOLDER = "comparisons"
# Of more models, pairs are not compared; tables, figures and the page then say so.
MOST_MODELS = 500
TOO_MANY = (
    f"Pairs are compared of at most {MOST_MODELS} models, and this study has more. Choose models "
    "with the setting select."
)


@dataclass(frozen=True)
class Table:
    """A table that the workflow writes.

    Parameters
    ----------
    caption : str
        What it shows, as plain text.
    columns : str
        Names of its columns in order, see `capmap.catalog.columns.COLUMNS`. Where another statistic
        ranks the models, that takes the place of ``iqm``.
    best : mapping of {"max", "min"}, optional
        Columns whose best value is set in bold, and what is best in them.
    more : bool
        Whether further columns follow, called after datasets, aggregations or attributes.
    text : str
        Names of columns that hold text here, where others of that name hold numbers.
    labels : mapping of str to str, optional
        What the page calls columns, where that is not what other tables call them.
    formats : str
        Suffixes of the files that hold it.
    short : str
        Its caption on the page, where that is not `caption`.
    share : int
        About how many bytes of the page it may take.
    """

    caption: str
    columns: str = ""
    best: Best = field(default_factory=dict)
    more: bool = False
    text: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    formats: str = "csv md tex"
    short: str = ""
    share: int = 40_000


@dataclass(frozen=True)
class Figure:
    """A figure of finished tables.

    Parameters
    ----------
    caption : str
        What it shows, as plain text.
    draw : str
        The function that draws it, ``module:function``. Its parameters are the tables by name,
        `options`, and ``order``, the models as a table orders them. Empty: a rule of its own
        draws the figure.
    reads : sequence of str
        Names of the tables.
    order : str
        The table that orders the models; empty where the function takes no order.
    options : mapping of str to str
        Settings that the function takes, as parameter and path, such as ``bootstrap/confidence``.
    short, alt : str
        Caption and alternative text on the page, where that is not `caption`.
    """

    caption: str
    draw: str = ""
    reads: Sequence[str] = ()
    order: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    short: str = ""
    alt: str = ""


@dataclass(frozen=True)
class Step:
    """A job, or part of one, that turns tables into tables.

    Parameters
    ----------
    run : str
        The function that computes, ``module:function``. Its parameters are called as what is read,
        as the options, or ``study``, the name of the study. It returns a mapping of the tables, of
        `files` and of what `describe` needs more, or its only table.
    reads : sequence of str
        Names of what it reads, tables or other artifacts; `run` gets their content.
    paths : sequence of str
        Names of what `run` reads itself; it gets lists of paths.
    options : mapping of str to str
        Settings that the functions take, as parameter and path.
    tables : sequence of str
        Names of the tables that it makes.
    files : mapping of str to str
        Further files that it makes, by name, in the study's folder.
    describe : str
        The function that writes the analysis's paragraphs, ``module:function``, of what `run` took
        and returned. Empty: none.
    pairs : bool
        Whether it compares all pairs of models, which more than `MOST_MODELS` are too many for.
    """

    run: str
    tables: Sequence[str] = ()
    reads: Sequence[str] = ()
    paths: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    describe: str = ""
    pairs: bool = False


@dataclass(frozen=True)
class Analysis:
    """An analysis that a study may ask for.

    Parameters
    ----------
    question : str
        The heading of its section.
    tables, figures : mapping
        What it makes, by name, in the order of the page.
    steps : mapping of str to Step
        What computes its tables, by the name of the rule. Tables of no step are made by rules of
        the pipeline.
    folder : str
        Where its tables and its text are, in the study's folder.
    needs : str
        The setting without which it has nothing to do, such as ``leaderboard/releases``.
    default : bool
        Whether studies that do not say have it.
    """

    question: str
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure]
    steps: Mapping[str, Step] = field(default_factory=dict)
    folder: str = FOLDER
    needs: str = ""
    default: bool = False
