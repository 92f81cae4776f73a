"""Sentences on how far publications agree."""

import pandas as pd

from capmap.prose.words import join_sentences
from capmap.wording import format_count, quote_name


def describe_publications(publications: pd.DataFrame, disagreements: pd.DataFrame) -> list[str]:
    """Say how many results several publications report, and how far apart they are.

    Parameters
    ----------
    publications, disagreements : pandas.DataFrame
        The columns of the tables of those names.

    Returns
    -------
    list of str
        Methods, then results.
    """
    methods = (
        "Each publication's result of a model on a dataset counts as a run, so what publications "
        "disagree on widens intervals. Ranges are of normalized scores."
    )
    names = set(publications["publication"]) - {""}
    cells = len(publications.drop_duplicates(["model", "dataset"]))
    sentences = [
        f"{format_count(len(names), 'publication')} and {format_count(cells, 'result')} "
        "(a model on a dataset) were read."
    ]
    unnamed = int(publications["publication"].eq("").sum())
    if unnamed:
        sentences.append(f"{format_count(unnamed, 'result has', 'results have')} no publication.")
    if disagreements.empty:
        sentences.append("No result is reported by several publications.")
        return [methods, join_sentences(*sentences)]
    first = disagreements.iloc[0]
    sentences.append(
        f"Several publications report {format_count(len(disagreements), 'result')}; the median "
        f"range is {disagreements['range'].median():.3f}, the largest {first['range']:.3f}: "
        f"{quote_name(first['model'])} on {quote_name(first['dataset'])}, "
        f"{first['low']:.3f} by {_name(first['low_publication'])} and {first['high']:.3f} by "
        f"{_name(first['high_publication'])}."
    )
    return [methods, join_sentences(*sentences)]


def _name(publication: str) -> str:
    return quote_name(publication) if publication else "one without a name"
