"""Sentences on published numbers and those of the study."""

import pandas as pd

from capmap.prose.words import join_names, join_sentences
from capmap.wording import format_count, join_words

WORDS = {"holds": ("holds", "hold"), "fails": ("fails", "fail"), "open": ("is open", "are open")}


def describe_published(published: pd.DataFrame, published_claims: pd.DataFrame) -> list[str]:
    """Say how many published numbers are those of the study, and which statements hold."""
    methods = (
        "A published number is equal if ours rounds to it; near if it is within a stated tolerance "
        "or in our interval; and different otherwise. A statement holds if our interval lies "
        "within its range, fails if it lies outside, and is open otherwise."
    )
    results = join_sentences(_describe_numbers(published), _describe_claims(published_claims))
    return [methods, results]


def _describe_numbers(published: pd.DataFrame) -> str:
    total = published[["cells", "equal", "near", "different", "not_computed"]].sum()
    if not total["cells"]:
        return "No published number is compared."
    named = published.loc[published["different"] > 0, "published"]
    return join_sentences(
        f"Of {format_count(int(total['cells']), 'published number')}, {total['equal']} are equal, "
        f"{total['near']} near, {total['different']} different and {total['not_computed']} not "
        "computed here.",
        f"Numbers differ in {join_names(named)}; the notes say why." if len(named) else "",
    )


def _describe_claims(claims: pd.DataFrame) -> str:
    """Count the statements by their verdicts, and name those that fail."""
    if claims.empty:
        return ""
    counts = claims["verdict"].value_counts()
    parts = [format_count(counts[name], *WORDS[name]) for name in WORDS if name in counts]
    failed = claims.loc[claims["verdict"] == "fails", "claim"]
    names = f" ({join_names(failed)})" if len(failed) else ""
    return f"Of {format_count(len(claims), 'statement')}, {join_words(parts)}{names}."
