"""Sentences on what score costs."""

import pandas as pd

from capmap.prose.words import format_share, join_sentences
from capmap.wording import format_count, join_words, quote_name

MOST_NAMES = 12
READ = ["model", "p_front"]
COSTS = {
    "parameters": "parameters",
    "cost": "cost",
    "date": "date of publication",
}


def describe_frontier(frontier: pd.DataFrame, *, against: str) -> list[str]:
    """Say which models are on the front.

    Parameters
    ----------
    frontier : pandas.DataFrame
        The columns of the table of that name.
    against : {"parameters", "cost", "date"}
        What a model costs.

    Returns
    -------
    list of str
        Methods, then results. A share of resamples is called so: it tests nothing.
    """
    priced = frontier.dropna(subset="cost")
    lacking = len(frontier) - len(priced)
    if priced.empty:
        return [f"The {COSTS[against]} of no model is known, so there is no front."]
    methods = join_sentences(
        f"A model is on the front of score against {COSTS[against]} if no other one "
        + ("is as old or older" if against == "date" else "costs as much or less")
        + " and scores as high or higher, with one of both better.",
        f"It is not known of {format_count(lacking, 'model')}." if lacking else "",
    )
    front = priced[priced["on_front"]]
    named = [
        quote_name(model) + (f" ({format_share(share)})" if share == share else "")
        for model, share in front[READ].to_numpy()
    ]
    shown = named[:MOST_NAMES]
    if len(named) > MOST_NAMES:
        shown.append(f"{len(named) - MOST_NAMES} more")
    bracket = (
        "In brackets: the share of bootstrap resamples in which the model is on the front."
        if front["p_front"].notna().any()
        else "How sure that is cannot be estimated: no runs can be drawn anew on their own."
    )
    count = format_count(len(priced), "model")
    verb = "is" if len(named) == 1 else "are"
    return [methods, f"Of {count}, {join_words(shown)} {verb} on the front. {bracket}"]
