"""Sentences on published numbers beside those of the study."""

import pandas as pd

from capmap.wording import format_count, join_words, quote_name

MOST_NAMES = 8
WORDS = {"holds": "these hold", "fails": "these fail", "open": "these stay open"}


def describe_published(published: pd.DataFrame, published_claims: pd.DataFrame) -> list[str]:
    """Say how many published numbers are those of the study, and which statements hold.

    Parameters
    ----------
    published, published_claims : pandas.DataFrame
        The columns of the tables of these names.

    Returns
    -------
    list of str
        How numbers were compared, then what came out.
    """
    methods = (
        "Each published number stands beside the one that was computed here from the published "
        "data. It is equal if ours, rounded to as many decimals, is the same; near if it differs "
        "by no more than a stated tolerance, for numbers with an error of their own, or lies in "
        "the interval that was computed here; and different otherwise."
    )
    results = [_describe_numbers(published), _describe_claims(published_claims)]
    return [methods, *filter(None, results)]


def _describe_numbers(published: pd.DataFrame) -> str:
    total = published[["cells", "equal", "near", "different", "not_computed"]].sum()
    if not total["cells"]:
        return "No published number was compared."
    tables = format_count(int((published["cells"] > 0).sum()), "table")
    results = (
        f"Of {format_count(int(total['cells']), 'published number')} in {tables}, "
        f"{total['equal']} are equal, {total['near']} near, {total['different']} different, and "
        f"{total['not_computed']} are not computed here."
    )
    named = [quote_name(name) for name in published.loc[published["different"] > 0, "published"]]
    if named:
        more = len(named) - MOST_NAMES
        shown = [*named[:MOST_NAMES], *([f"{more} more"] if more > 0 else [])]
        results += f" Numbers differ in {join_words(shown)}; the notes say why."
    return results


def _describe_claims(claims: pd.DataFrame) -> str:
    """Name the statements by their verdicts."""
    if claims.empty:
        return ""
    parts = [
        f"{WORDS[verdict]}: {join_words(list(map(quote_name, own)))}"
        for verdict in WORDS
        if len(own := claims.loc[claims["verdict"] == verdict, "claim"])
    ]
    return (
        f"Of {format_count(len(claims), 'statement')}, by whether the interval found here lies "
        f"within the range that it names: {'; '.join(parts)}."
    )
