"""The values of options that are a choice, for settings and for the library that takes them.

They stand apart from the options, so that another description of an option recomputes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

Direction = Literal["max", "min"]
Format = Literal["long", "matrix", "predictions", "submission", "checkpoints"]
TableFormat = Literal["long", "matrix"]
Decimal = Literal["auto", ".", ","]
Duplicates = Literal["error", "mean", "first", "last"]
# "best" is the highest.
Take = Literal["all", "last", "best", "lowest"]
Spread = Literal["std", "sem"]
# Runs that one summary row may stand for.
MOST_RUNS = 10_000
Invalid = Literal["error", "quarantine"]
# Or a score, or {"model": NAME}.
Failure = Literal["invalid", "drop", "worst"]
Failed: TypeAlias = Failure | float | Mapping[str, str]
Incomplete = Literal["error", "drop_models", "drop_datasets", "adjust"]
Aggregation = Literal["mean", "trimmed_mean", "median"]
# Below that many, datasets do not show how much others like these would differ.
FEWEST_DATASETS = 4
Statistic = Literal["iqm", "mean", "trimmed_mean", "median", "optimality_gap"]
# How the interquartile mean cuts its tails: a quarter of the weight, or whole runs as SciPy does.
Cut = Literal["exact", "whole"]
StatisticOrAuto = Literal["auto", "iqm", "mean", "median"]
IntervalMethod = Literal["percentile", "calibrated"]
# On these datasets: new runs, new seeds, or new runs on new items; or runs on new datasets.
Unit = Literal["runs", "seeds", "items", "runs_and_datasets"]
UnitOrAuto = Literal["auto", "runs", "seeds", "items", "runs_and_datasets"]
Cost = Literal["", "parameters", "cost", "date"]
FitMethod = Literal["l2_ridge", "l2"]
Projection = Literal["mds", "umap"]
LabelMetric = Literal["asma", "real", "labelwise"]
# Numbers of labels whose accuracies ASMA averages, as published.
SUBGROUPS = (1, 2, 3, 4, 5)
# The same by dataset.
Subgroups: TypeAlias = Mapping[str, Sequence[int]]
# The Bayesian signed-rank test decides from this posterior probability on.
DECIDED = 0.95
POSTERIOR_SAMPLES = 50_000
# Level of intervals of predicted scores.
PREDICTION_LEVEL = 0.9


def find_alpha(confidence: float) -> float:
    """The level of tests by that of intervals.

    Examples
    --------
    >>> find_alpha(0.95)
    0.05
    """
    return round(1 - confidence, 12)
