"""Sentences on what each model is good at."""

import pandas as pd

from capmap.claims import BETTER, WORSE, claim_strengths
from capmap.prose.words import count_of, join_sentences
from capmap.wording import format_count, format_percent, join_words, quote_name

SHOWN_CELLS = 3


def describe_strengths(strengths: pd.DataFrame, *, confidence_level: float) -> list[str]:
    """Say on which datasets models do better or worse than expected."""
    expected = (
        "Expected is what the overall levels of a model and of a dataset add up to, by least "
        "squares over mean normalized scores."
    )
    tested = int(strengths["ci_low"].notna().sum())
    if not tested:
        return [f"{expected} Without repeated runs, residuals cannot be told from chance."]
    level = format_percent(confidence_level)
    methods = (
        f"{expected} Residuals have simultaneous {level} intervals over runs (Student's t, "
        f"Bonferroni's correction for {format_count(tested, 'cell')}); the variance of a cell is "
        "moderated by that of its dataset (Smyth 2004)."
    )
    claims = claim_strengths(strengths, confidence_level=confidence_level)
    results = join_sentences(
        f"On these datasets, {count_of(len(claims), tested, 'cell')} deviate significantly from "
        f"the expected score (simultaneous {level}).",
        *(
            _list_cells(strengths, {(c.subject, c.object) for c in claims if c.relation == way})
            for way in (BETTER, WORSE)
        ),
    )
    return [methods, results]


def _list_cells(strengths: pd.DataFrame, chosen: set[tuple[str, str]]) -> str:
    """Name the cells with the largest residuals among those chosen, which have one sign."""
    names = zip(strengths["model"], strengths["dataset"], strict=True)
    own = strengths[[cell in chosen for cell in names]]
    if own.empty:
        return ""
    own = own.sort_values("difference", key=abs, ascending=False, kind="stable").head(SHOWN_CELLS)
    cells = [
        f"{quote_name(row['model'])} on {quote_name(row['dataset'])} ({row['difference']:+.3f})"
        for _, row in own.iterrows()
    ]
    word = "Strongest" if own["difference"].iloc[0] > 0 else "Weakest"
    return f"{word}: {join_words(cells)}."
