"""What an analysis is: its question, its tables and figures, and what computes them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from capmap.analyses import FOLDER

Best = Mapping[str, Literal["max", "min"]]
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
        Names of its columns in order. Where another statistic ranks the models, that takes the
        place of ``iqm``.
    best : mapping of {"max", "min"}, optional
        Columns whose best value is set in bold, and what is best in them.
    more : bool
        Whether further columns follow, called after datasets, aggregations or attributes.
    text : str
        Names of columns that hold text here, where others of that name hold numbers.
    formats : str
        Suffixes of the files that hold it.
    """

    caption: str
    columns: str = ""
    best: Best = field(default_factory=dict)
    more: bool = False
    text: str = ""
    formats: str = "csv"


@dataclass(frozen=True)
class Figure:
    """A figure of finished tables.

    Parameters
    ----------
    caption : str
        What it shows, as plain text.
    draw : str
        The function that draws it, ``module:function``. Its parameters are the tables by name,
        `options`, and ``order``, the models as a table orders them.
    reads : sequence of str
        Names of the tables.
    order : str
        The table that orders the models; empty where the function takes no order.
    options : mapping of str to str
        Settings that the function takes, as parameter and path, such as ``bootstrap/confidence``.
    """

    caption: str
    draw: str
    reads: Sequence[str] = ()
    order: str = ""
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """A job, or part of one, that turns tables into tables.

    Parameters
    ----------
    run : callable
        The function that computes. Its parameters are called as what is read, as the options, or
        ``study``, the name of the study. It returns a mapping of the tables and `files`, or its
        only table.
    reads : sequence of str
        Names of what it reads, tables or other artifacts; `run` gets their content.
    paths : sequence of str
        Names of what `run` reads itself; it gets lists of paths.
    options : mapping of str to str
        Settings that it takes, as parameter and path.
    tables : sequence of str
        Names of the tables that it makes.
    files : mapping of str to str
        Further files that it makes, by name, in the study's folder.
    pairs : bool
        Whether it compares all pairs of models, which more than `MOST_MODELS` are too many for.
    """

    run: Callable[..., Any]
    tables: Sequence[str] = ()
    reads: Sequence[str] = ()
    paths: Sequence[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    pairs: bool = False


@dataclass(frozen=True)
class Analysis:
    """An analysis that a study may ask for. Its template, of the same name, holds its words.

    Parameters
    ----------
    question : str
        The heading of its section.
    position : int
        Sections of the page are in this order.
    tables, figures : mapping
        What it makes, by name, in the order of the page.
    steps : mapping of str to Step
        What computes its tables, by name. Tables of no step are made by rules of the pipeline.
    find_facts : callable
        What its template says: a mapping of numbers and names. Its parameters are tables of any
        analysis by name, `options`, or ``settings``, those of the study.
    options : mapping of str to str
        Settings that `find_facts` takes, as parameter and path.
    folder : str
        Where its tables are, in the study's folder.
    needs : str
        The setting without which it has nothing to do, such as ``leaderboard/releases``.
    default : bool
        Whether studies that do not say have it.
    meanings : mapping of str to str
        What columns hold, by column, or table and column, where `capmap.analyses.columns` does
        not say.
    """

    question: str
    position: int
    tables: Mapping[str, Table]
    figures: Mapping[str, Figure] = field(default_factory=dict)
    steps: Mapping[str, Step] = field(default_factory=dict)
    find_facts: Callable[..., Mapping[str, Any]] = lambda: {}
    options: Mapping[str, str] = field(default_factory=dict)
    folder: str = FOLDER
    needs: str = ""
    default: bool = False
    meanings: Mapping[str, str] = field(default_factory=dict)
