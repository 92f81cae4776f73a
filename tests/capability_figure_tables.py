"""Plausible tables of a map of models and datasets, and of errors of its predictions, for figures.

The values need not be right: a figure computes nothing from them.
"""

import numpy as np
import pandas as pd

LEVELS = {"factors": 0.060, "l2": 0.071, "cosine": 0.094, "additive": 0.080}


def make_capabilities(models, datasets, *, n_parts=1, seed=5):
    """Make the tables of the map's figures, of parts that no result connects."""
    rng = np.random.default_rng(seed)
    names = [*models, *datasets]
    kinds = ["model"] * len(models) + ["dataset"] * len(datasets)
    places = rng.normal(size=(len(names), 2)) * (0.25, 0.2)
    positions = pd.DataFrame({"kind": kinds, "name": names})
    return {
        "map": positions.assign(x=places[:, 0], y=places[:, 1]),
        "models": describe("model", [*models, "dropped"], n_parts, rng),
        "datasets": describe("dataset", datasets, n_parts, rng),
    }


def describe(kind, names, n_parts, rng):
    """What is known of models or datasets."""
    components = pd.array(np.arange(len(names)) % n_parts + 1, dtype="Int64")
    kept = rng.integers(5, 40, len(names))
    return pd.DataFrame({kind: names, "kept": kept, "component": components})


def make_errors(*, methods=tuple(LEVELS), hidden=100):
    """Hidden results with their predictions, their errors, and the curve of errors."""
    rng = np.random.default_rng(3)
    fitted = [name for name in methods if name in ("l2", "cosine")]
    keys = [(name, size) for name in fitted for size in (2, 5)]
    keys += [(name, None) for name in methods if name not in fitted]
    summary = pd.DataFrame(keys, columns=["distance", "dimension"]).astype({"dimension": "Int64"})
    points = summary.loc[summary.index.repeat(hidden)].assign(protocol="random")
    truth = rng.beta(0.8, 1.0, len(points))
    spread = np.sqrt(points["distance"].map(LEVELS).astype(float))
    curve = pd.DataFrame({"results": [1, 2, 4, 8, 12, 16, 20], "models": range(31, 17, -2)})
    curve["mse"] = 0.05 + 0.1 / (curve["results"] + 1)
    curve["mse_additive"] = 0.08 + 0.1 / (curve["results"] + 1)
    curve["coverage"] = 0.88 + rng.uniform(-0.03, 0.03, len(curve))
    mse = summary["distance"].map(LEVELS).astype(float)
    return {
        "validation": points.reset_index(drop=True).assign(
            truth=truth, prediction=np.abs(0.14 + 0.6 * truth + rng.normal(0, spread))
        ),
        "summary": summary.assign(protocol="random", mse=mse, pearson=0.7),
        "error_curve": curve.assign(mse_low=0.8 * curve["mse"], mse_high=1.2 * curve["mse"]),
    }
