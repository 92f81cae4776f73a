"""How much metrics drop from one dataset to another, where only the metrics are known."""

import pandas as pd

from capmap.problems import require_known

DROPS = {
    "model": "str",
    "metric": "str",
    "subgroup": "Int64",
    "dataset_a": "str",
    "dataset_b": "str",
    "value_a": "float64",
    "value_b": "float64",
    "difference": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "paired": "bool",
    "images": "Int64",
}
CELL = ["model", "metric", "subgroup"]


def subtract_datasets(metrics: pd.DataFrame, *, dataset_a: str, dataset_b: str) -> pd.DataFrame:
    """Subtract each model's metrics on one dataset from those on another.

    Parameters
    ----------
    metrics : pandas.DataFrame
        Columns ``model``, ``dataset``, ``metric``, ``subgroup`` and ``value`` (from 0 to 1); a row
        per metric and seed, rows in any order.
    dataset_a, dataset_b : str
        The two datasets.

    Returns
    -------
    pandas.DataFrame
        First the means over models, whose ``model`` is empty, then the models by name; within a
        model by metric and subgroup: ``model``, ``metric``, ``subgroup``, ``dataset_a``,
        ``dataset_b``, ``value_a``, ``value_b`` (means over seeds), ``difference`` (a less b),
        ``ci_low``, ``ci_high`` (missing), ``paired`` (false) and ``images`` (missing).

    Raises
    ------
    ValidationError
        If there are metrics, and one of the datasets is not among theirs.

    Notes
    -----
    Only models with the metric on both datasets count, also in its means.

    There are no intervals. Those of an evaluation are over images, which published numbers do not
    tell. One over models would be of another kind, and too short: published models are no random
    sample, and many are relatives (sizes, resolutions and recipes of one architecture).
    """
    datasets = set(metrics["dataset"])
    if datasets:
        for option, name in (("first", dataset_a), ("second", dataset_b)):
            require_known([name], datasets, option=f"multilabel.compare ({option})", kind="dataset")
    own = [_average_seeds(metrics, name) for name in (dataset_a, dataset_b)]
    models = own[0].merge(own[1], on=CELL, suffixes=("_a", "_b"))
    means = models.groupby(CELL[1:], dropna=False)[["value_a", "value_b"]].mean().reset_index()
    table = pd.concat([means.assign(model=""), models.sort_values(CELL)], ignore_index=True)
    table = table.assign(
        dataset_a=dataset_a,
        dataset_b=dataset_b,
        difference=table["value_a"] - table["value_b"],
        ci_low=float("nan"),
        ci_high=float("nan"),
        paired=False,
        images=pd.array([pd.NA] * len(table), dtype="Int64"),
    )
    return table[list(DROPS)].astype(DROPS)


def _average_seeds(metrics: pd.DataFrame, dataset: str) -> pd.DataFrame:
    own = metrics[metrics["dataset"] == dataset].dropna(subset="value").sort_values("value")
    cells = own.groupby(CELL, dropna=False)["value"].mean().reset_index()
    return cells.astype({name: DROPS[name] for name in CELL} | {"value": "float64"})
