"""Sentences on models that were placed on a map by few results."""

from collections.abc import Mapping

import pandas as pd

from capmap.prose.gap_errors import METHOD_NAMES, describe_error
from capmap.prose.words import (
    format_interval,
    format_share,
    format_span,
    format_value,
    join_names,
    join_sentences,
)
from capmap.wording import format_count, format_percent, join_words, quote_name

ALPHA = 0.05
TOLERANCE = 0.04
WIDE = 0.5
FEWEST_MODELS = 10


def describe_placements(
    placements: pd.DataFrame,
    placement_replay: pd.DataFrame,
    *,
    confidence_level: float,
    method: str,
) -> list[str]:
    """Say where models with few results stand, and how well such placing works.

    Parameters
    ----------
    placements, placement_replay : pandas.DataFrame
        The columns of ``capabilities/placements.csv`` and ``capabilities/placement_replay.csv``;
        either may be empty.
    confidence_level : float
        Of all intervals, between 0 and 1.
    method : {"ensemble", "l2", "cosine", "poincare"}
        What the map was fitted with.

    Returns
    -------
    list of str
        Placements, then what the replay found.
    """
    return [
        _describe_placements(placements, confidence_level),
        _describe_replay(placement_replay, confidence_level, method),
    ]


def _describe_placements(placements: pd.DataFrame, confidence_level: float) -> str:
    if placements.empty:
        return "No model was left out of the map that has a result on one of its datasets."
    count, results = len(placements), format_span(placements["results"], "result")
    were, each = ("was", "") if count == 1 else ("were", " each")
    shown = placements.sort_values(["mean_gap", "model"], kind="stable")
    known = shown.dropna(subset="mean_gap")
    return join_sentences(
        f"{format_count(count, 'model')} with too few results for the map {were} placed on it "
        f"without moving what is there, by {results}{each}.",
        _describe_best(known, confidence_level),
        _describe_uncertain(known),
    )


def _describe_best(known: pd.DataFrame, confidence_level: float) -> str:
    if known.empty:
        return ""
    row = known.iloc[0]
    # The interval of the lowest of several would have to allow for its choice.
    lowest, ends = "The lowest", ""
    if len(known) == 1:
        limits = row["mean_gap_low"], row["mean_gap_high"]
        lowest, ends = "The", format_interval(*limits, confidence_level=confidence_level)
    return (
        f"{lowest} mean gap to expect over the datasets of the map was "
        f"{format_value(row['mean_gap'])}{ends}, of {quote_name(row['model'])} (from "
        f"{format_count(row['results'], 'result')})."
    )


def _describe_uncertain(known: pd.DataFrame) -> str:
    """Name the models whose mean gap may be anywhere in half of the scale or more."""
    widths = known["mean_gap_high"] - known["mean_gap_low"]
    wide = known.loc[widths > WIDE, "model"].tolist()
    if not wide:
        return ""
    return (
        f"Of {join_names(wide)} little is known: the interval of the mean gap is wider than "
        f"{WIDE:g}."
    )


def _describe_replay(replay: pd.DataFrame, confidence_level: float, method: str) -> str:
    known = replay.dropna(subset="mse")
    if known.empty:
        return "No model had results enough to hide some of them and place it anew."
    single = known[known["results"] == known["results_to"]]
    pooled = known[known["results"] != known["results_to"]]
    main = pooled if len(pooled) else single[single["results"] == single["results"].min()]
    return join_sentences(
        "As a check, models on the map were placed anew with all of their results hidden but for "
        f"{_name_counts(single if len(single) else pooled)}.",
        _describe_methods(main, _name_pooled(main, single), confidence_level, method),
        _describe_gains(single, {method: "A new fit", "placed": "Placing"}),
        _describe_coverage(main, confidence_level),
    )


def _describe_methods(main: pd.DataFrame, counts: str, confidence_level: float, method: str) -> str:
    """Compare placing with new fits and with what needs no map."""
    rows = {str(row["method"]): row for _, row in main.iterrows()}
    names = {
        "placed": "by placing",
        method: "by a new fit of all results",
        "knn": f"by {METHOD_NAMES['knn']}",
        "additive": f"by {METHOD_NAMES['additive']}",
    }
    errors = [
        f"{describe_error(rows[name], confidence_level=confidence_level)} {text}"
        for name, text in names.items()
        if name in rows
    ]
    if not errors:
        return ""
    return (
        f"With {counts}, the mean squared error (MSE) of hidden results was {join_words(errors)}."
    )


def _describe_gains(single: pd.DataFrame, names: Mapping[str, str]) -> str:
    """Say with which numbers of results methods did better or worse than additive effects."""
    tested = single.dropna(subset="p_adjusted").sort_values("results")
    sentences = []
    for method, subject in names.items():
        own = tested[tested["method"] == method]
        sure = own[own["p_adjusted"] < ALPHA]
        parts = [
            f"{word} with {_list_counts(rows['results'], own['results'])}"
            for word, rows in (
                ("better", sure[sure["change"] < 0]),
                ("worse", sure[sure["change"] > 0]),
            )
            if len(rows)
        ]
        if parts:
            sentences.append(f"{subject} did {join_words(parts)} than additive effects.")
    if tested.empty:
        return ""
    scope = (
        f"{format_percent(ALPHA)} level, tests over models with Holm's allowance for "
        f"{format_count(len(tested), 'comparison')}"
    )
    if not sentences:
        return f"No method differed significantly from additive effects ({scope})."
    sentences[-1] = f"{sentences[-1].removesuffix('.')} ({scope})."
    return join_sentences(*sentences)


def _list_counts(counts: "pd.Series[int]", known: "pd.Series[int]") -> str:
    """Write numbers of results; those up to the most that were tried are a range."""
    chosen = counts.tolist()
    if len(chosen) > 1 and chosen == known.tolist()[-len(chosen) :]:
        return f"{chosen[0]} to {chosen[-1]} results"
    *front, last = [f"{count:.0f}" for count in chosen]
    return join_words([*front, format_count(float(last), "result")])


def _describe_coverage(main: pd.DataFrame, confidence_level: float) -> str:
    known = main.dropna(subset="coverage")
    own = known[known["method"] == "placed"]
    own = known if own.empty else own
    if own.empty:
        return ""
    row = own.iloc[0]
    verdict = "about as many as should"
    if abs(row["coverage"] - confidence_level) > TOLERANCE:
        is_wide = row["coverage"] > confidence_level
        verdict = f"so they are too {'wide' if is_wide else 'narrow'}"
    if row["models"] < FEWEST_MODELS:
        verdict = "of too few models to judge them by"
    return (
        f"{format_share(row['coverage'])} of hidden results lay within their "
        f"{format_percent(confidence_level)} prediction intervals, {verdict}; these were "
        f"{row['width']:.2f} wide on average, while the gaps on a dataset span 1."
    )


def _name_pooled(main: pd.DataFrame, single: pd.DataFrame) -> str:
    """Name those numbers of results up to that of the pooled rows that some model was left with."""
    few = single[single["results"].between(main["results"].min(), main["results_to"].max())]
    return _name_counts(few if len(few) else main)


def _name_counts(rows: pd.DataFrame) -> str:
    """Name the numbers of results that models were left with."""
    low, high = rows["results"].min(), rows["results_to"].max()
    return format_span([low, high], "result")
