"""Improvability: how much of a model's error the best model of each dataset does without."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.metrics import find_metric
from capmap.normalization import DatasetRule, find_transform
from capmap.ranking.aggregation import arrange_runs, rank_competitors, round_significant

DECIMALS = 12
SHARE, PERCENT = (0.0, 1.0), 100.0


def find_optima(bounds: pd.DataFrame, datasets: Mapping[str, DatasetRule]) -> pd.DataFrame:
    """Find the score of each dataset that leaves no error.

    The optimum is the best end of the natural bounds: those of the transform where there is one,
    otherwise those that the metric has by its definition. Bounds of a metric from 0 to 1 that lie
    beyond it and within 0 to 100 are percent, and so is the optimum then. Where a metric has no
    natural bounds, or the bounds lie outside them and so are in another unit, the bound of the best
    side stands in, and ``is_known`` is false unless it is the natural one. In parts of the
    largest of these numbers, ``gap`` is from the bound of the best side to the optimum, and
    ``span`` from bound to bound.
    """
    rows = []
    for row in bounds.to_dict("records"):
        low, high = float(row["low"]), float(row["high"])
        is_max = row["direction"] == "max"
        rule = datasets.get(str(row["dataset"]), {})
        transform = find_transform(rule.get("transform"))
        known = transform or find_metric(str(row["metric"]))
        lowest, highest = (known.low, known.high) if known else (None, None)
        if (lowest, highest) == SHARE and low >= 0 and 1 < high <= PERCENT and not transform:
            highest = PERCENT
        side, natural = (high, highest) if is_max else (low, lowest)
        is_inside = (lowest is None or lowest <= low) and (highest is None or high <= highest)
        is_known = natural is not None and (is_inside or natural == side)
        optimum = natural if natural is not None and is_known else side
        unit = max(abs(low), abs(high), abs(optimum))
        gap = abs(optimum - side) / unit
        # Halves, because the distance of two huge bounds is beyond the largest float.
        span = (high / 2 - low / 2) / (unit / 2)
        rows.append((row["dataset"], optimum, gap, span, is_known))
    return pd.DataFrame(rows, columns=["dataset", "optimum", "gap", "span", "is_known"])


def measure_improvability(
    runs: pd.DataFrame, bounds: pd.DataFrame, *, datasets: Mapping[str, DatasetRule]
) -> pd.DataFrame:
    """Measure the share of its error that each model would lose by matching the best models.

    A cell's error is that of its mean score, 0 beyond the optimum; it is rounded, so that a score
    at the optimum has the error 0. The best error of a dataset is the lowest of the models that
    have it. A model's improvability (Erickson et al. 2025) is the mean over its datasets of
    ``(error - best) / error``, in percent.
    """
    optima = find_optima(bounds, datasets).set_index("dataset")
    own = optima.loc[runs["dataset"]]
    short = 1 - runs["score"].to_numpy(dtype=np.float64)
    errors = np.round(own["gap"].to_numpy() + short * own["span"].to_numpy(), DECIMALS)
    matrix = arrange_runs(runs.assign(score=errors))
    means = np.maximum(np.round(matrix.means, DECIMALS), 0.0)
    best = np.where(matrix.is_filled, means, np.inf).min(axis=0)
    values = np.divide((means - best) * 100, means, out=np.zeros_like(means), where=means != 0)
    sizes = matrix.is_filled.sum(axis=1)
    averages = np.where(matrix.is_filled, values, 0.0).sum(axis=1) / sizes
    models = pd.DataFrame({"model": matrix.models, "improvability": round_significant(averages)})
    models = models.assign(rank=rank_competitors(averages, best="min"), datasets=sizes)
    return models.sort_values(["rank", "model"], ignore_index=True)


def find_facts(
    improvability: pd.DataFrame, bounds: pd.DataFrame, *, datasets: Mapping[str, DatasetRule]
) -> dict[str, Any]:
    """Which model has the lowest improvability, and of which datasets the optimum is not known."""
    first = improvability[improvability["rank"] == 1]
    optima = find_optima(bounds, datasets)
    return {
        "models": len(improvability),
        "first": first["model"].tolist(),
        "lowest": next(iter(first["improvability"]), np.nan),
        "without_optimum": optima.loc[~optima["is_known"], "dataset"].tolist(),
    }


ANALYSIS = Analysis(
    question="How much error is left to the best model?",
    position=60,
    tables={
        "improvability": Table(
            "Share of its error, in percent, that a model would lose by matching the best model "
            "of each dataset; lower is better.",
            "model improvability rank datasets",
            best={"improvability": "min"},
        ),
    },
    steps={"measure_improvability": Step(measure_improvability)},
    find_facts=find_facts,
    meanings={"improvability": "Share of its error, in percent, that the best one saves."},
)
