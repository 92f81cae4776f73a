"""Sentences on what score costs."""

import pandas as pd

from capmap.prose.words import format_share, join_sentences
from capmap.wording import format_count, join_words, quote_name

MOST_NAMES = 6
COSTS = {
    "parameters": "parameters",
    "cost": "cost",
    "date": "date of publication",
}


def describe_frontier(frontier: pd.DataFrame, *, against: str) -> list[str]:
    """Say which models are on the front of score against cost."""
    priced = frontier.dropna(subset="cost")
    if priced.empty:
        return [f"The {COSTS[against]} of no model is known, so there is no front."]
    front = priced[priced["on_front"]]
    has_shares = front["p_front"].notna().any()
    methods = join_sentences(
        f"A model is on the front of score against {COSTS[against]} if no other model "
        + ("is as old or older" if against == "date" else "costs as much or less")
        + " and scores as high or higher, with one of both strictly better.",
        "Percentages are shares of bootstrap resamples with the model on the front."
        if has_shares
        else "",
    )
    named = [
        quote_name(model) + ("" if pd.isna(share) else f" ({format_share(share)})")
        for model, share in zip(front["model"], front["p_front"], strict=True)
    ]
    rest = len(named) - MOST_NAMES
    shown = [*named[:MOST_NAMES], *([f"{rest} more"] if rest > 0 else [])]
    lacking = len(frontier) - len(priced)
    verb = "is" if len(named) == 1 else "are"
    results = join_sentences(
        f"Of {format_count(len(priced), 'model')}, {join_words(shown)} {verb} on the front.",
        f"{format_count(lacking, 'model has', 'models have')} no known {COSTS[against]}."
        if lacking
        else "",
        "" if has_shares else "Without repeated runs, how sure that is cannot be estimated.",
    )
    return [methods, results]
