"""Sentences on a map of models and datasets: who is good at what, and how well it predicts."""

import pandas as pd

from capmap.prose.words import describe_error, format_error, join_sentences
from capmap.settings.choices import PREDICTION_LEVEL
from capmap.wording import format_count, format_percent, join_words, quote_name

METHOD_NAMES = {
    "l2": "L2 (Euclidean) distances",
    "l2_ridge": "L2 (Euclidean) distances with a ridge",
    "cosine": "cosine distances",
    "poincare": "Poincaré (hyperbolic) distances",
    "additive": "additive effects",
    "model_mean": "the mean gap of the model",
    "dataset_mean": "the mean gap of the dataset",
    "mean": "the mean of all gaps",
}
PREDICTOR = "factors"
BASELINES = ("mean", "model_mean", "dataset_mean", "additive")
SHOWN_CELLS = 3


def describe_capabilities(
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
    """Say which results are furthest from their prediction, and how well the map predicts."""
    kept = [int((table["kept"] > 0).sum()) for table in (models, datasets)]
    if not all(kept):
        return ["No result is left to place models and datasets by."]
    methods = join_sentences(
        f"{format_count(kept[0], 'model')} and {format_count(kept[1], 'dataset')} with at least "
        f"{format_count(min_results, 'result')} are on the map. Gaps are distances to the best "
        "score of the dataset, divided by that of the worst. Positions in "
        f"{format_count(dimension, 'dimension')} fit them by {METHOD_NAMES[method]} (Adorni et al. "
        "2025, arXiv:2505.03299); predictions are those of Bayesian factors.",
        _warn_of_copies(models, datasets),
        _warn_of_components(models),
    )
    results = join_sentences(
        _describe_cells(predictions),
        _describe_coverage(predictions, confidence_level),
        _describe_errors(summary),
    )
    return [methods, results]


def _warn_of_copies(models: pd.DataFrame, datasets: pd.DataFrame) -> str:
    copies = sum(int(table["duplicate_of"].notna().sum()) for table in (models, datasets))
    if not copies:
        return ""
    have = format_count(copies, "has", "have").replace(" ", " of them ")
    return f"{have} the same scores as another, which flatters predictions."


def _warn_of_components(models: pd.DataFrame) -> str:
    parts = models["component"].nunique()
    if parts < 2:
        return ""
    return f"No result connects {parts:,} parts of the map, which cannot be compared."


def _describe_cells(predictions: pd.DataFrame) -> str:
    """Name the results whose gap is furthest below and above its prediction without it."""
    known = predictions[predictions["held_out"].astype(bool)].dropna(subset="observed")
    residuals = (known["observed"] - known["predicted"]).sort_values(kind="stable")
    strong, weak = residuals[residuals < 0], residuals[residuals > 0].iloc[::-1]
    sentences = []
    for words, chosen in (("Strongest (gap/predicted)", strong), ("Weakest", weak)):
        cells = [
            f"{quote_name(row['model'])} on {quote_name(row['dataset'])} "
            f"({row['observed']:z.2f}/{row['predicted']:z.2f})"
            for _, row in known.loc[chosen.index[:SHOWN_CELLS]].iterrows()
        ]
        sentences += [f"{words}: {join_words(cells)}."] if cells else []
    return join_sentences(*sentences)


def _describe_coverage(predictions: pd.DataFrame, confidence_level: float) -> str:
    hidden = predictions[predictions["held_out"].astype(bool)].dropna(subset=["low", "observed"])
    if hidden.empty:
        return ""
    inside = int(hidden["observed"].between(hidden["low"], hidden["high"]).sum())
    level = format_percent(confidence_level)
    return f"{inside:,} of {len(hidden):,} results lie in their {level} prediction intervals."


def _describe_errors(summary: pd.DataFrame) -> str:
    """Compare the errors of random hidden results with those of the best baseline."""
    rows = summary[(summary["protocol"] == "random") & summary["mse"].notna()]
    own = rows[rows["distance"] == PREDICTOR]
    simple = rows[rows["distance"].isin(BASELINES)].sort_values("mse", kind="stable")
    if own.empty or simple.empty:
        return "No result was hidden, so errors are unknown."
    first, best = own.iloc[0], simple.iloc[0]
    level = float(first.get("confidence", 0.95))
    return (
        f"The mean squared error is {describe_error(first, 'mse', confidence_level=level)}, "
        f"against {format_error(best['mse'])} by {METHOD_NAMES[best['distance']]}."
    )
