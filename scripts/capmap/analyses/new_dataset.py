"""Which rank each model would have on a new dataset: conformal prediction sets of ranks."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.ranking.aggregation import FloatArray, arrange_runs, order_runs, round_significant
from capmap.ranking.dependence import Dependence
from capmap.settings.choices import PREDICTION_LEVEL

COLUMNS = ["model", "datasets", "effective_datasets", "mean_rank", "low", "high", "level"]
# Of fewer, no dataset would ever be called unusual at this level.
FEWEST_DATASETS = 9
ROUNDING = 1e-9


def bound_ranks(means: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The best and the worst rank that each model may have on each dataset, models × datasets.

    They differ where models tie, and where a model has no score, which may be any.
    """
    scores = round_significant(means)
    better = np.array([(scores > own).sum(axis=0) for own in scores], dtype=np.float64)
    worse = np.array([(scores < own).sum(axis=0) for own in scores], dtype=np.float64)
    return 1 + better, len(scores) - worse


def predict_rank(
    low: npt.ArrayLike, high: npt.ArrayLike, *, models: int, confidence_level: float
) -> tuple[int, int]:
    """Prediction set of a model's rank on a new dataset (Vovk et al. 2005), from `bound_ranks`.

    A dataset is the more unusual the farther its ranks reach from the mean rank, that of the new
    one included. A rank on the new one is in the set if more than a share of 1 − `confidence_level`
    of all datasets is as unusual as the new one would be. Order statistics of the ranks, as Neuhof
    and Benjamini take, need 19 datasets for 90%; these sets hold from 9 on. They are for the ranks
    of means of as many runs; where the new dataset has ties, all ranks of these are in the set.

    Examples
    --------
    >>> ranks = [1, 1, 1, 2, 1, 1, 2, 1, 3]
    >>> predict_rank(ranks, ranks, models=8, confidence_level=0.9)
    (1, 3)
    """
    first, last = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    middles, halves = (first + last) / 2, (last - first) / 2
    unusual = _count_unusual(len(middles), confidence_level)
    # The middle of the new dataset's ranks, and how far they may reach from it.
    tried = np.arange(1, models + 0.5, 0.5)
    centers = (tried + middles.sum()) / (len(middles) + 1)
    distances = np.abs(middles - centers[:, None]) + halves
    reach = np.sort(distances, axis=1)[:, -unusual] - np.abs(tried - centers) + ROUNDING
    # Between two ranks lies the middle of a tie of two or more.
    is_inside = reach >= tried % 1
    half = np.minimum(reach, np.minimum(tried - 1, models - tried))[is_inside]
    best, worst = (tried[is_inside] - half).min(), (tried[is_inside] + half).max()
    return math.ceil(best - ROUNDING), math.floor(worst + ROUNDING)


def _count_unusual(datasets: int, confidence_level: float) -> int:
    """How many datasets at most are the most unusual ones, the new one included."""
    return math.floor((1 - confidence_level) * (datasets + 1) + ROUNDING)


def predict_ranks(runs: pd.DataFrame, dependence: pd.DataFrame) -> pd.DataFrame:
    """Predict the rank of each model on a new dataset, best mean rank first.

    There are no sets of fewer than 9 datasets, nor where datasets are alike: then they are no
    random choice, which the sets assume.
    """
    matrix = arrange_runs(order_runs(runs))
    models, datasets = matrix.means.shape
    known = Dependence.read(dependence.iloc[0].to_dict())
    low, high = bound_ranks(matrix.means)
    table = pd.DataFrame({"model": matrix.models, "datasets": datasets})
    table["effective_datasets"] = float(known.count_effective(datasets))
    table["mean_rank"] = ((low + high) / 2).mean(axis=1)
    table = table.assign(low=math.nan, high=math.nan, level=math.nan)
    if models > 1 and datasets >= FEWEST_DATASETS and not known.is_alike:
        table[["low", "high"]] = [
            predict_rank(*own, models=models, confidence_level=PREDICTION_LEVEL)
            for own in zip(low, high, strict=True)
        ]
        table["level"] = 1 - _count_unusual(datasets, PREDICTION_LEVEL) / (datasets + 1)
    table = table.astype({"low": "Int64", "high": "Int64"})
    return table.sort_values(["mean_rank", "model"], ignore_index=True)[COLUMNS]


def find_facts(new_dataset: pd.DataFrame) -> dict[str, Any]:
    """The set of the first model, or what is missing for one."""
    return {
        "models": len(new_dataset),
        "about": new_dataset[:1].to_dict("records"),
        "first": new_dataset.dropna(subset="low")[:1].to_dict("records"),
        "fewest": FEWEST_DATASETS,
    }


ANALYSIS = Analysis(
    question="Which rank would each model have on a new dataset?",
    position=95,
    tables={
        "new_dataset": Table(
            "Sets that hold the rank of a model on a new dataset like these with the stated "
            "probability, each model on its own; empty where datasets are too few or too alike.",
            " ".join(COLUMNS),
        ),
    },
    steps={"predict_ranks": Step(predict_ranks)},
    find_facts=find_facts,
    meanings={
        "effective_datasets": "As how many datasets they count.",
        "high": "Worst rank in the prediction set.",
        "level": "Probability with which the set holds the rank, at least.",
        "low": "Best rank in the prediction set.",
        "mean_rank": "Mean rank over datasets; 1 is best.",
    },
)
