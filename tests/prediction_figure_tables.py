"""Plausible tables of errors of an embedding: fits, few results, drift and transfer.

The values need not be right: a figure computes nothing from them.
"""

import numpy as np
import pandas as pd

LEVELS = {
    "factors": 0.060,
    "l2": 0.071,
    "cosine": 0.094,
    "poincare": 0.070,
    "additive": 0.080,
    "model_mean": 0.092,
    "dataset_mean": 0.108,
    "mean": 0.113,
}
BASELINES = ("factors", "additive", "model_mean", "dataset_mean", "mean")
FITTED = ("l2", "cosine", "poincare")
TASKS = ("change detection", "classification", "detection", "regression", "segmentation")


def make_errors(
    *, methods=FITTED, dimensions=(2, 3, 5, 7, 10, 15), folds=10, n_models=45, tasks=TASKS, known=60
):
    """Make plausible tables of all analyses of an embedding."""
    rng = np.random.default_rng(3)
    return {
        **make_fits(rng, methods, dimensions, known),
        "summary": make_summary(methods, dimensions, folds),
        "by_results": make_by_results(methods, n_models),
        "error_curve": make_error_curve(rng),
        "drift": make_drift(rng, n_models),
        "transfer": make_transfer(rng, tasks),
    }


def make_fits(rng, methods, dimensions, known, hidden=100):
    """Truths and predictions of results that were known, and of hidden ones."""
    fits = {}
    for name, count, scale in (("training", known, 0.4), ("validation", hidden, 1.0)):
        grid = pd.MultiIndex.from_product(
            [methods, dimensions, range(count)], names=["distance", "dimension", "point"]
        ).to_frame(index=False)
        truth = rng.beta(0.8, 1.0, len(grid))
        spread = np.sqrt(scale * grid["distance"].map(LEVELS).astype(float))
        fits[name] = grid.assign(
            dimension=grid["dimension"].astype("Int64"),
            truth=truth,
            prediction=np.abs(0.14 + 0.6 * truth + rng.normal(0, spread)),
        )
    fits["validation"] = fits["validation"].assign(protocol="random")
    return fits


def make_summary(methods, dimensions, folds):
    """Errors of methods at their dimensions, and of baselines, under each protocol."""
    width = 0.014 if folds > 1 else np.nan
    rows = []
    for protocol, factor in (("random", 1.0), ("strict", 1.12), ("family", 1.3)):
        for method in methods:
            for dimension in dimensions:
                mse = LEVELS[method] * factor * (1 + 0.5 / dimension**2)
                train = 0.08 / dimension * LEVELS[method] / 0.07 if protocol == "random" else np.nan
                rows.append((method, dimension, protocol, train, mse))
        rows += [(name, None, protocol, np.nan, LEVELS[name] * factor) for name in BASELINES]
    columns = ["distance", "dimension", "protocol", "train_mse", "mse"]
    table = pd.DataFrame(rows, columns=columns).astype({"dimension": "Int64"})
    return table.assign(
        folds=folds,
        mse_low=table["mse"] - width,
        mse_high=table["mse"] + width,
        train_pearson=0.93,
        pearson=0.70,
    )


def make_by_results(methods, n_models):
    bins = [(1, 4), (5, 9), (10, 19), (20, 39), (40, None)]
    rows = [
        (method, start, end, n_models // (place + 2), LEVELS[method] * (1.6 - 0.2 * place))
        for method in (*methods, *BASELINES)
        for place, (start, end) in enumerate(bins)
    ]
    columns = ["distance", "results_from", "results_to", "models", "mse"]
    table = pd.DataFrame(rows, columns=columns).astype({"results_to": "Int64"})
    return table.assign(mse_low=0.75 * table["mse"], mse_high=1.3 * table["mse"])


def make_error_curve(rng):
    table = pd.DataFrame({"results": [1, 2, 4, 8, 12, 16, 20], "models": range(31, 17, -2)})
    table["mse"] = 0.05 + 0.1 / (table["results"] + 1)
    table["mse_additive"] = 0.08 + 0.1 / (table["results"] + 1)
    table["coverage"] = 0.88 + rng.uniform(-0.03, 0.03, len(table))
    return table.assign(mse_low=0.8 * table["mse"], mse_high=1.2 * table["mse"])


def make_drift(rng, n_models):
    dates = ["2017-11-30", "2019-06-12", "2020-03-01", "2020-12-24", "2021-06-01", "2021-12-03"]
    dates += ["2022-06-15", "2023-01-05", "2023-09-20", "2024-05-30"]
    steps = len(dates)
    table = pd.DataFrame({"date": dates})
    table["models"] = np.linspace(n_models / steps, n_models, steps).astype(int)
    table["results"] = 18 * table["models"]
    table["newcomers"] = table["models"].diff().fillna(0).astype(int)
    table["shift"] = np.linspace(0.7, 0.25, steps) + rng.uniform(-0.05, 0.05, steps)
    table["shift_to_final"] = np.linspace(1.1, 0, steps)
    table["shift_noise"] = np.linspace(0.5, 0.2, steps)
    table["mse"] = 0.07 + rng.uniform(-0.02, 0.03, steps)
    table["mse_low"], table["mse_high"] = table["mse"] - 0.02, table["mse"] + 0.025
    table["mse_additive"] = table["mse"] + rng.uniform(-0.005, 0.03, steps)
    missing = ["shift", "mse", "mse_low", "mse_high", "mse_additive"]
    table.loc[0, missing] = np.nan
    return table


def make_transfer(rng, tasks):
    table = pd.DataFrame({"tested_on": [*tasks, "all types"] if tasks else []})
    mse = 0.08 + rng.uniform(-0.02, 0.03, len(table))
    difference = rng.normal(-0.004, 0.006, len(table))
    return table.assign(
        predictions=rng.integers(50, 900, len(table)),
        mse=mse,
        mse_low=mse - 0.02,
        mse_high=mse + 0.025,
        mse_alone=mse - difference,
        mse_additive=mse + rng.normal(0.01, 0.01, len(table)),
        difference=difference,
        difference_low=difference - 0.008,
        difference_high=difference + 0.008,
    )
