"""Sentences on a map of models and datasets: what is on it, and how far it can be trusted."""

import math

import pandas as pd

from capmap.prose.gap_errors import (
    METHOD_NAMES,
    PAPER,
    describe_difference,
    describe_error,
)
from capmap.prose.words import format_share, format_value, join_names, join_sentences, join_some
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, format_percent, join_words, quote_name

FITTED = {
    "l2_ridge": "by L2 (Euclidean) distances with a ridge",
    "l2": "by the L2 (Euclidean) distance",
    "cosine": "by the cosine distance",
    "poincare": "by the Poincaré (hyperbolic) distance",
}
PREDICTOR = "factors"
BASELINES = ("mean", "model_mean", "dataset_mean", "additive")
PROTOCOLS = {
    "random": "With random results hidden",
    "strict": "With gaps measured by the bounds of known results only",
    "family": "With the model's other results in the same family of datasets hidden as well",
}
VERDICTS = {
    "better": "beat",
    "unclear": "could not be separated from",
    "worse": "did not beat",
}
SHORT = {"random": "random results", "strict": "bounds", "family": "families"}
SHOWN_WORST = 3
SATURATED = 0.5
# Of two models one is always the best, which makes no dataset saturated.
FIRST_ALONE = 1
TOLERANCE = 0.04
CLEAR = 0.1
WIDE = 0.5


def describe_capabilities(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: pd.DataFrame,
    *,
    method: str,
    dimension: int,
    min_results: int,
    confidence_level: float = PREDICTION_LEVEL,
) -> list[str]:
    """Say what was placed on the map, how well it predicts, and where not to trust it.

    Parameters
    ----------
    gaps, models, datasets, summary, predictions : pandas.DataFrame
        The columns of the tables of these names in ``capabilities/``.
    method : {"l2_ridge", "l2", "cosine", "poincare"}
        What positions were fitted with.
    dimension : int
        Number of coordinates.
    min_results : int
        Results that each model and dataset had to have.
    confidence_level : float
        Of the prediction intervals, between 0 and 1. Intervals of errors have 95%.

    Returns
    -------
    list of str
        Methods; whether predictions beat simple baselines; and where they should not be trusted.
    """
    if not gaps["gap"].notna().any():
        return ["No result was left to place models and datasets by."]
    methods = join_sentences(
        _describe_kept(gaps, models, datasets),
        _describe_dropped(models, datasets, min_results),
        "The gap of a result is its distance to the best score on the dataset, divided by that of "
        "the worst: 0 is best and 1 is worst. Models and datasets were placed in "
        f"{format_count(dimension, 'dimension')} so that their distances come near the gaps "
        f"({PAPER}), {FITTED[method]}. Predictions are those of a Bayesian factorization with "
        "effects of models, datasets and their attributes.",
        _warn_of_duplicates(datasets, "dataset"),
        _warn_of_duplicates(models, "model"),
        _warn_of_components(models, datasets),
    )
    verdict = _describe_verdict(summary, datasets)
    trust = join_sentences(
        _describe_coverage(predictions, confidence_level),
        _describe_worst(predictions),
        _describe_unseen(predictions, confidence_level),
        _name_assumption(predictions),
        _warn_of_saturation(datasets),
    )
    return [paragraph for paragraph in (methods, verdict, trust) if paragraph]


def _describe_kept(gaps: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame) -> str:
    kept = gaps["gap"].notna().sum()
    left = [(models["kept"] > 0).sum(), (datasets["kept"] > 0).sum()]
    if kept == len(gaps):
        return f"The map holds {_count_things(*left)} with {format_count(kept, 'result')}."
    return (
        f"Of {_count_things(len(models), len(datasets))} with {format_count(len(gaps), 'result')}, "
        f"the map holds {_count_things(*left)} with {format_count(kept, 'result')}."
    )


def _describe_dropped(models: pd.DataFrame, datasets: pd.DataFrame, min_results: int) -> str:
    reasons = [table.loc[table["kept"] == 0, "dropped"] for table in (models, datasets)]
    few = [int((own == "few results").sum()) for own in reasons]
    rest = [int(own.isin(["no dataset left", "no model left"]).sum()) for own in reasons]
    tied = datasets.loc[datasets["dropped"] == "tied", "dataset"].tolist()
    fewer = f"fewer than {format_count(min_results, 'result')}"
    return join_sentences(
        f"Those with {fewer} were dropped until none was left to drop ({_count_things(*few)})."
        if any(few)
        else f"No model or dataset had {fewer}.",
        f"Where all models that were left had the same score, the dataset was dropped "
        f"({join_names(tied)})."
        if tied
        else "",
        f"With these went {_count_things(*rest)} without any other result." if any(rest) else "",
    )


def _warn_of_duplicates(table: pd.DataFrame, kind: str) -> str:
    copies = table[table["duplicate_of"].notna() & (table["duplicate_of"] != "")]
    if copies.empty:
        return ""
    pairs = [
        f"{quote_name(copy)} of {quote_name(first)}"
        for copy, first in zip(copies[kind], copies["duplicate_of"], strict=True)
    ]
    are = "is a copy" if len(pairs) == 1 else "are copies"
    return (
        f"{format_count(len(pairs), kind)} {are} of another, with the same scores "
        f"({join_some(pairs)}), which makes predictions look better than they are."
    )


def _warn_of_components(models: pd.DataFrame, datasets: pd.DataFrame) -> str:
    sizes = [table["component"].dropna().astype(int).value_counts() for table in (models, datasets)]
    parts = sorted(sizes[0].index)
    if len(parts) < 2:
        return ""
    listed = [_count_things(*(own.get(part, 0) for own in sizes)) for part in parts]
    return (
        f"No result connects {len(parts):,} parts of the map (of {join_some(listed)}): distances "
        "from one part to another mean nothing, and neither do predictions across them."
    )


def _describe_verdict(summary: pd.DataFrame, datasets: pd.DataFrame) -> str:
    found = {}
    families = datasets.loc[datasets["kept"] > 0, "family"]
    is_single = not families.duplicated().any()
    for protocol in PROTOCOLS:
        if protocol == "family" and is_single:
            continue
        rows = summary[(summary["protocol"] == protocol) & summary["mse"].notna()]
        own = rows[rows["distance"] == PREDICTOR]
        simple = rows[rows["distance"].isin(BASELINES)].sort_values("mse", kind="stable")
        if len(own) and len(simple):
            found[protocol] = (own.iloc[0], simple.iloc[0])
    if not found:
        return "No result was hidden and predicted, so nothing is known of errors."
    verdicts = {name: _compare(*rows) for name, rows in found.items()}
    return join_sentences(
        _conclude(verdicts),
        *(_describe_protocol(name, *rows) for name, rows in found.items()),
        "No two datasets are of one family." if is_single else "",
        _describe_distances(summary),
        "Intervals are over splits, which share most of their results.",
    )


def _describe_distances(summary: pd.DataFrame) -> str:
    """Say which distance and dimension alone predicts best."""
    rows = summary[(summary["protocol"] == "random") & summary["mse"].notna()]
    fitted = rows[rows["distance"].isin(FITTED)].sort_values("mse", kind="stable")
    if fitted.empty:
        return ""
    best = fitted.iloc[0]
    where = f"{METHOD_NAMES[best['distance']]} in {format_count(best['dimension'], 'dimension')}"
    return f"Of the distances alone, {where} had the lowest MSE of these, {describe_error(best)}."


def _compare(own: "pd.Series", simple: "pd.Series") -> str:
    """Compare a method with the best baseline, by their differences from plain L2 if known."""
    if own["mse"] >= simple["mse"]:
        return "worse"
    name = "mse" if pd.isna(own["difference_high"]) else "difference"
    return "better" if own[f"{name}_high"] < simple[f"{name}_low"] else "unclear"


def _conclude(verdicts: dict[str, str]) -> str:
    best = "the best simple baseline"
    groups: dict[str, list[str]] = {}
    for protocol, verdict in verdicts.items():
        groups.setdefault(VERDICTS[verdict], []).append(SHORT[protocol])
    verbs = list(groups)
    if len(verbs) == 1:
        return f"On this study {METHOD_NAMES[PREDICTOR]} {verbs[0]} {best}."
    parts = [
        f"{verb} {'it' if place else best} with {join_words(groups[verb])} hidden"
        for place, verb in enumerate(verbs)
    ]
    return f"On this study {METHOD_NAMES[PREDICTOR]} {join_words(parts)}."


def _describe_protocol(protocol: str, own: "pd.Series", simple: "pd.Series") -> str:
    shape = ""
    if protocol == "random":
        results = format_count(own["predictions"], "result")
        shape = f" ({results} in {format_count(own['folds'], 'split')})"
    plain = ""
    if not pd.isna(own["difference"]):
        plain = f"; it was {describe_difference(own, 'that of plain L2')} on the same results"
    name = "mean squared error (MSE)" if protocol == "random" else "MSE"
    return (
        f"{PROTOCOLS[protocol]}{shape}, their {name} was {describe_error(own)}, against "
        f"{describe_error(simple)} of the best baseline, {METHOD_NAMES[simple['distance']]}{plain}."
    )


def _describe_coverage(predictions: pd.DataFrame, confidence_level: float) -> str:
    hidden = _choose_hidden(predictions).dropna(subset=["low", "high"])
    if hidden.empty:
        return "No result was predicted with an interval while it was hidden."
    covered = hidden["observed"].between(hidden["low"], hidden["high"]).mean()
    chance = 2 * math.sqrt(confidence_level * (1 - confidence_level) / len(hidden))
    off = covered - confidence_level
    verdict = "about as they should" if chance < CLEAR else "too few to judge them by"
    if abs(off) > max(TOLERANCE, chance):
        verdict = "so they are too wide here" if off > 0 else "so they are too narrow here"
    return (
        f"Of {format_count(len(hidden), 'result')} that were hidden when they were predicted, "
        f"{format_share(covered)} lay within their {format_percent(confidence_level)} prediction "
        f"intervals, {verdict}. That speaks of results like those reported."
    )


def _describe_worst(predictions: pd.DataFrame) -> str:
    hidden = _choose_hidden(predictions)
    if hidden.empty:
        return ""
    errors = hidden.assign(error=(hidden["predicted"] - hidden["observed"]).abs())
    parts = []
    for kind in ("model", "dataset"):
        means = errors.groupby(kind)["error"].mean().sort_values(ascending=False, kind="stable")
        worst = means.head(SHOWN_WORST)
        listed = [
            f"{quote_name(str(name))} ({format_value(error)})" for name, error in worst.items()
        ]
        parts.append(f"the {kind}{'s' if len(listed) > 1 else ''} {join_words(listed)}")
    return (
        f"The mean absolute error was {format_value(errors['error'].mean())}, and largest for "
        f"{parts[0]} and {parts[1]}."
    )


def _describe_unseen(predictions: pd.DataFrame, confidence_level: float) -> str:
    unseen = predictions[~predictions["held_out"].astype(bool)].dropna(subset=["low", "high"])
    if unseen.empty:
        return ""
    width = (unseen["high"] - unseen["low"]).mean()
    little = ", so a single prediction says little" if width > WIDE else ""
    open_ = (unseen["low"] == 0).any() or (unseen["high"] == 1).any()
    record = (
        "; an end at 0 or 1 is open, as a new result may be a new best or worst" if open_ else ""
    )
    return (
        f"Where a model has no result on a dataset ({format_count(len(unseen), 'pair')}), "
        f"{format_percent(confidence_level)} prediction intervals are {width:.2f} wide on average, "
        f"while the gaps on a dataset span 1{little}{record}."
    )


def _name_assumption(predictions: pd.DataFrame) -> str:
    if predictions["held_out"].all():
        return ""
    return (
        "They are predicted as if results were missing at random; results are often published "
        "where models do well."
    )


def _warn_of_saturation(datasets: pd.DataFrame) -> str:
    near = datasets["saturation"] * datasets["kept"]
    is_saturated = (datasets["saturation"] >= SATURATED) & (near > FIRST_ALONE)
    saturated = datasets.loc[is_saturated, "dataset"].tolist()
    if not saturated:
        return ""
    return (
        f"On {format_count(len(saturated), 'dataset')} ({join_names(saturated)}) at least half of "
        "the models have a gap of 0.1 or less: there the worst model sets the scale."
    )


def _choose_hidden(predictions: pd.DataFrame) -> pd.DataFrame:
    known = predictions["held_out"].astype(bool) & predictions["observed"].notna()
    return predictions[known]


def _count_things(models: int, datasets: int) -> str:
    """Say how many models and datasets, of which one kind may be none."""
    counts = [(models, "model"), (datasets, "dataset")]
    return join_words([format_count(count, thing) for count, thing in counts if count])
