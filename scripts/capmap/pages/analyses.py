"""The sections of a page that a study asks for: answer, figures and tables of each analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd
from markupsafe import Markup

from capmap.analyses import load_analysis
from capmap.analyses.columns import spell_column
from capmap.analyses.rendering import write_page
from capmap.pages.views import View, list_formats, make_view


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name, heading : str
        Its anchor and title.
    answer, methods : markupsafe.Markup
        What was found, and how; the second may be empty.
    figures : sequence of str
        Names of its figures.
    views : list of View
        Its tables.
    """

    name: str
    heading: str
    answer: Markup
    methods: Markup
    figures: Sequence[str]
    views: list[View]


def show_analysis(
    name: str,
    words: Mapping[str, Markup],
    tables: Mapping[str, pd.DataFrame],
    *,
    files: Mapping[str, str],
) -> Section:
    """Prepare the section of an analysis.

    Parameters
    ----------
    name : str
        The analysis.
    words : mapping of str to markupsafe.Markup
        What it says, by the blocks of its template.
    tables : mapping of str to pandas.DataFrame
        Finished tables by their names with folder, such as ``comparisons/elo``.
    files : mapping of str to str
        Where the page finds tables.

    Returns
    -------
    Section
        Of long tables the first rows.
    """
    analysis = load_analysis(name)
    places = {f"{analysis.folder}/{name}": table for name, table in analysis.tables.items()}
    return Section(
        name=name,
        heading=analysis.question,
        answer=write_page(words["answer"]),
        methods=write_page(words["methods"]),
        figures=list(analysis.figures),
        views=[
            make_view(
                tables[place],
                name=place,
                caption=table.caption,
                files=list_formats(files[place], table.formats),
                labels={column: spell_column(column) for column in tables[place].columns},
                best=table.best,
            )
            for place, table in places.items()
        ],
    )
