"""Sentences on models that were placed on a map by few results."""

import pandas as pd

from capmap.prose.gap_errors import METHOD_NAMES, classify_difference, describe_error
from capmap.prose.words import (
    format_interval,
    format_share,
    format_span,
    format_value,
    join_names,
    join_sentences,
)
from capmap.wording import format_count, format_percent, join_words, quote_name

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
    ends = format_interval(
        row["mean_gap_low"], row["mean_gap_high"], confidence_level=confidence_level
    )
    lowest = "The" if len(known) == 1 else "The lowest"
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
        _describe_additive(known),
        _describe_coverage(main, confidence_level),
    )


def _describe_methods(main: pd.DataFrame, counts: str, confidence_level: float, method: str) -> str:
    """Compare placing with new fits and with the additive baseline."""
    rows = {str(row["method"]): row for _, row in main.iterrows()}
    names = {
        "placed": "by placing",
        method: "by a new fit of all results",
        "l2": "by a new fit of plain L2",
        "additive": f"by {METHOD_NAMES['additive']}",
    }
    told = [
        f"{describe_error(rows[name], confidence_level=confidence_level)} {text}"
        for name, text in names.items()
        if name in rows
    ]
    if not told:
        return ""
    return join_sentences(
        f"With {counts}, the mean squared error (MSE) of hidden results was {join_words(told)}.",
        _describe_change(rows["placed"], "placing", confidence_level) if "placed" in rows else "",
        _describe_change(rows[method], "the new fit", confidence_level)
        if method in rows and method != "l2"
        else "",
    )


def _describe_change(row: "pd.Series", subject: str, confidence_level: float) -> str:
    """Say how much lower or higher an error is than that of plain L2, in percent."""
    change = row["change"]
    if pd.isna(change):
        return ""
    side = -1 if change < 0 else 1
    ends = sorted([side * row["change_low"], side * row["change_high"]])
    interval = format_interval(*ends, confidence_level=confidence_level, write=_write_percent)
    doubt = ", so it may be chance" if classify_difference(row, "change") == "alike" else ""
    return (
        f"That of {subject} was {_write_percent(abs(change))} {'lower' if side < 0 else 'higher'} "
        f"than that of plain L2{interval}{doubt}."
    )


def _describe_additive(known: pd.DataFrame) -> str:
    """Say with which numbers of results the additive baseline does no worse than placing."""
    rows = [known[known["method"] == name] for name in ("placed", "additive")]
    both = rows[0].merge(rows[1], on=["results", "results_to"], suffixes=("", "_additive"))
    single = both[both["results"] == both["results_to"]].sort_values("results")
    if single.empty:
        single = both
    lost = single[single["mse"] >= single["mse_additive"]]
    if lost.empty:
        return ""
    if len(lost) == len(single):
        return "Additive effects did no worse than placing, so the map adds nothing here."
    *front, last = [f"{results:.0f}" for results in lost["results"]]
    counts = join_words([*front, format_count(float(last), "result")])
    return f"With {counts} additive effects did no worse than placing."


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
    few = single[single["results_to"] <= main["results_to"].max()]
    return _name_counts(few if len(few) else main)


def _name_counts(rows: pd.DataFrame) -> str:
    """Name the numbers of results that models were left with."""
    low, high = rows["results"].min(), rows["results_to"].max()
    return format_span([low, high], "result")


def _write_percent(share: float) -> str:
    return f"{100 * share:z.0f}%"
