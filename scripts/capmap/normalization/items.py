"""Scores of single test items, and the noise of test sets of which only the size is known."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from capmap.errors import ValidationError
from capmap.normalization.bounds import normalize_scores
from capmap.normalization.precedence import Rules, apply_transforms
from capmap.wording import write_key

KEY = ("model", "dataset", "item", "cluster")
NO_ITEMS = pd.DataFrame({name: pd.Series(dtype="str") for name in KEY}).assign(score=0.0)
# The ends of the scales of shares.
SCALES = (1.0, 100.0)


def normalize_items(
    items: pd.DataFrame, runs: pd.DataFrame, bounds: pd.DataFrame, datasets: Mapping[str, Any]
) -> pd.DataFrame:
    """Normalize the items of the runs that are analysed, as the runs are."""
    kept = items
    for kind in ("model", "dataset"):
        kept = kept[kept[kind].isin(runs[kind].unique())]
    converted = apply_transforms(kept, datasets)
    return normalize_scores(converted, bounds, names=KEY).drop(columns="raw")


def measure_test_sets(
    runs: pd.DataFrame, bounds: pd.DataFrame, rules: Rules
) -> "pd.Series[float] | None":
    """Variance of normalized scores that are shares of a number of items, by the setting ``items``.

    Parameters
    ----------
    runs : pandas.DataFrame
        Scores as exported.
    bounds : pandas.DataFrame
        Of the datasets.
    rules : Rules
        Of metrics and datasets.

    Returns
    -------
    pandas.Series or None
        By dataset and model, p (1 - p) / n with p the cell's share with a success and a failure
        more; None where no dataset has the setting.

    Raises
    ------
    ValidationError
        If scores are no shares of 1 or of 100.
    """
    tables = []
    names = bounds[["dataset", "metric"]].astype("str").itertuples(index=False, name=None)
    spans = (bounds["high"] - bounds["low"]).tolist()
    for (dataset, metric), span in zip(names, spans, strict=True):
        rule = rules.of_dataset(dataset)
        n = rule.get("items") or rules.of_metric(metric).get("items")
        own = runs[runs["dataset"] == dataset]
        if n is None or own.empty:
            continue
        scores = own["score"]
        scale = next((end for end in SCALES if scores.between(0, end).all()), None)
        if scale is None or "transform" in rule:
            raise ValidationError(
                f"datasets.{write_key(dataset)}.items: the scores from {scores.min():g} "
                f"to {scores.max():g} are no shares of items, from 0 to 1 or to 100. Leave the "
                "setting out, or export the items."
            )
        share = (own.groupby("model", observed=True)["score"].mean() / scale * n + 1) / (n + 2)
        variances = share * (1 - share) / n * (scale / span) ** 2
        tables.append(pd.concat({dataset: variances}, names=["dataset"]))
    return pd.concat(tables) if tables else None


def have_items(runs: pd.DataFrame, items: pd.DataFrame) -> bool:
    """Whether the items of every dataset are known, or how many they are."""
    known = {*items["dataset"].unique()}
    if "item_variance" in runs:
        known |= {*runs.loc[runs["item_variance"].notna(), "dataset"].unique()}
    return set(runs["dataset"].unique()) <= known
