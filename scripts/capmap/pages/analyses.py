"""The sections of a page that a study asks for: paragraph, figures and tables of each analysis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from capmap.catalog import ANALYSES, label_columns
from capmap.pages.views import View, list_formats, make_view


@dataclass(frozen=True)
class Outcome:
    """What an analysis made.

    Parameters
    ----------
    name : str
        Name of the analysis.
    paragraphs : sequence of str
        Its account in plain text.
    """

    name: str
    paragraphs: Sequence[str]


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name, heading : str
        Its anchor and title.
    answer : sequence of str
        Paragraphs of plain text.
    method : str
        What was compared and how, in plain text; "" where the answer says it.
    latex : str
        The file with the paragraphs for a paper, relative to the page.
    figures : sequence of str
        Names of its figures.
    views : list of View
        Its tables.
    """

    name: str
    heading: str
    answer: Sequence[str]
    method: str
    latex: str
    figures: Sequence[str]
    views: list[View]


def show_analyses(
    outcomes: Sequence[Outcome],
    tables: Mapping[str, pd.DataFrame],
    *,
    files: Mapping[str, str],
) -> list[Section]:
    """Prepare the sections of a study's analyses.

    Parameters
    ----------
    outcomes : sequence of Outcome
        In the order of the page.
    tables : mapping of str to pandas.DataFrame
        Finished tables by their names with folder, such as ``comparisons/elo``.
    files : mapping of str to str
        Where the page finds tables and paragraphs (as LaTeX).

    Returns
    -------
    list of Section
        Tables are cut to their share of the page.
    """
    return [_show_analysis(outcome, tables, files) for outcome in outcomes]


def _show_analysis(
    outcome: Outcome, tables: Mapping[str, pd.DataFrame], files: Mapping[str, str]
) -> Section:
    analysis = ANALYSES[outcome.name]
    method, *answer = outcome.paragraphs
    if not answer:
        method, answer = "", [method]
    places = {f"{analysis.folder}/{name}": table for name, table in analysis.tables.items()}
    return Section(
        name=outcome.name,
        heading=analysis.question,
        answer=answer,
        method=method,
        latex=files[f"text/{outcome.name}"],
        figures=list(analysis.figures),
        views=[
            make_view(
                tables[place],
                name=place,
                caption=table.caption,
                max_bytes=table.share,
                files=list_formats(files[place], table.formats),
                labels=label_columns(place, list(tables[place].columns)),
                best=table.best,
            )
            for place, table in places.items()
        ],
    )
