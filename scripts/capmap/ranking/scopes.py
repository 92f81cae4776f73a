"""What intervals generalize to: new runs, new seeds with runs on all datasets, or new datasets."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.normalization.selection import are_outcomes
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream
from capmap.settings.choices import (
    FEWEST_DATASETS,
    IntervalMethod,
    Statistic,
    StatisticOrAuto,
    Unit,
    UnitOrAuto,
)

Places = tuple[tuple[int, ...], tuple[int, ...]]
# What all models of a study have in common, see `capmap.ranking.normalized.Normalized`.
Scope: TypeAlias = Mapping[str, Any]

LEVEL = 0.05
NEGLIGIBLE = 1e-9
N_PERMUTATIONS = 999
# Columns that say which runs have no seed of their own but their number.
NUMBERED = ("summary", "numbered")
MOST_RUNS = 100_000


@dataclass(frozen=True)
class SeedCorrelation:
    """How much the runs of a seed on different datasets move together.

    Parameters
    ----------
    correlation : float
        Mean correlation of two datasets over the seeds of a model, from −1 to 1; NaN where no model
        has two datasets with the same two seeds or more, and varying scores.
    p : float
        One-sided p-value, from 1 / 1000 to 1.
    models : int
        How many models have such datasets.
    """

    correlation: float
    p: float
    models: int

    @property
    def is_found(self) -> bool:
        """Whether they do, at the level of 5%."""
        return self.p <= LEVEL


UNKNOWN = SeedCorrelation(np.nan, 1.0, 0)


def has_enough_runs(draws: npt.NDArray[np.integer[Any]]) -> bool:
    """Whether at least half of a model's datasets have two runs or more."""
    return bool(2 * np.count_nonzero(draws > 1) >= len(draws))


def has_own_seeds(runs: pd.DataFrame) -> bool:
    """Whether a seed can mean the same on several datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        As validated. The runs that stand for a summary (``summary``) and rows that count as runs
        (``numbered``) are only numbered: the first of one dataset has nothing in common with the
        first of another.
    """
    return not any(runs[name].any() for name in NUMBERED if name in runs)


def resolve_unit(
    unit: UnitOrAuto, runs: pd.DataFrame, *, interval: IntervalMethod, shared: bool = False
) -> Unit:
    """What the intervals of a study generalize to.

    Parameters
    ----------
    unit : {"auto", "runs", "seeds", "runs_and_datasets"}
        As configured.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score``, of the whole study.
    interval : {"percentile", "calibrated"}
        Kind of interval; only calibrated ones can be over seeds.
    shared : bool, optional
        Whether runs of a seed move together over datasets.

    Returns
    -------
    str
        `unit`, unless it is "auto". Then "runs" where some model has two runs or more on half of
        its datasets, or "seeds" where `shared` is true besides; otherwise "runs_and_datasets" where
        some model has four datasets.
    """
    if unit != "auto":
        return unit
    counts = runs.groupby(["model", "dataset"], observed=True).size()
    by_model = [
        own.to_numpy(dtype=np.intp) for _, own in counts.groupby(level="model", observed=True)
    ]
    if any(map(has_enough_runs, by_model)):
        return "seeds" if shared and interval == "calibrated" else "runs"
    has_datasets = max(map(len, by_model)) >= FEWEST_DATASETS
    return "runs_and_datasets" if has_datasets else "runs"


def resolve_statistic(
    rank_by: StatisticOrAuto, runs: pd.DataFrame, *, unit: Unit = "runs"
) -> Statistic:
    """What ranks the models of a study.

    Parameters
    ----------
    rank_by : {"auto", "iqm", "mean", "median", "optimality_gap"}
        As configured.
    runs : pandas.DataFrame
        Column ``score`` (normalized), a row per run, of the whole study.
    unit : {"runs", "seeds", "runs_and_datasets"}, optional
        What intervals are over.

    Returns
    -------
    str
        `rank_by`, unless it is "auto". Then "mean" where intervals are over datasets, whose
        difficulty an interquartile mean cannot pair, or where `are_outcomes` holds; otherwise
        "iqm".

    Examples
    --------
    >>> resolve_statistic("auto", pd.DataFrame({"score": [0.0, 1.0] * 10}))
    'mean'
    >>> resolve_statistic("auto", pd.DataFrame({"score": np.linspace(0, 1, 20)}))
    'iqm'
    """
    if rank_by != "auto":
        return rank_by
    return "mean" if unit == "runs_and_datasets" or are_outcomes(runs["score"]) else "iqm"


def correlate_seeds(runs: pd.DataFrame) -> SeedCorrelation:
    """Test whether the runs of a seed on different datasets move together.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset``, ``seed`` and ``score``, a row per run.

    Returns
    -------
    SeedCorrelation
        From the datasets on which a model has its most common set of seeds.

    Notes
    -----
    The sum of all correlations of two datasets, over all models, is compared with the same when the
    seeds of each dataset are permuted, for all models alike: models that share seeds may be
    correlated on each dataset. Of studies of more than 100 000 runs the first models are taken.

    References
    ----------
    Good, P. I. (2005). Permutation, Parametric, and Bootstrap Tests of Hypotheses. Springer.
    """
    datasets, seeds = (sorted(runs[name].unique()) for name in ("dataset", "seed"))
    blocks: dict[Places, list[FloatArray]] = defaultdict(list)
    taken = 0
    for _, own in runs.groupby("model", observed=True, sort=True):
        if taken > MOST_RUNS:
            break
        cells = unpack_columns(own).pivot_table(index="dataset", columns="seed", values="score")
        if (directions := _standardize(cells)) is not None:
            taken += directions.size
            rows, columns = directions.index, directions.columns
            places = (*np.searchsorted(datasets, rows),), (*np.searchsorted(seeds, columns),)
            blocks[places].append(directions.to_numpy())
    if not blocks:
        return UNKNOWN
    stacks = {places: np.stack(values) for places, values in blocks.items()}
    pairs = sum(len(rows) * (len(rows) - 1) * len(blocks[rows, _]) for rows, _ in blocks)
    found = _correlate(stacks, np.tile(np.arange(float(len(seeds))), (len(datasets), 1)))
    stream, shape = make_stream(0, "shared seeds"), (len(datasets), len(seeds))
    permuted = [_correlate(stacks, stream.random(shape)) for _ in range(N_PERMUTATIONS)]
    above = sum(value >= found - NEGLIGIBLE * abs(found) for value in permuted)
    models = sum(len(values) for values in blocks.values())
    return SeedCorrelation(found / pairs, (1 + above) / (1 + N_PERMUTATIONS), models)


def share_noise(runs: pd.DataFrame) -> bool:
    """Whether runs of a seed on a dataset have noise in common over models, as folds have.

    It is the test of `correlate_seeds` with models and datasets exchanged, at the level of 5%; the
    seeds of each model are permuted on each dataset for themselves.
    """
    cells = runs["model"].astype(str) + "\n" + runs["dataset"].astype(str)
    return correlate_seeds(runs.assign(model=runs["dataset"], dataset=cells)).is_found


def _correlate(stacks: Mapping[Places, FloatArray], keys: FloatArray) -> float:
    """Sum of the correlations of all pairs of datasets, with seeds in the order of the keys."""
    total = 0.0
    for (rows, columns), directions in stacks.items():
        order = np.argsort(keys[np.ix_(rows, columns)], axis=1)
        sums = directions[:, np.arange(len(rows))[:, None], order].sum(axis=1)
        total += float((sums**2).sum()) - len(directions) * len(rows)
    return total


def _standardize(cells: pd.DataFrame) -> pd.DataFrame | None:
    """Centred scores of unit length per dataset, of the datasets with the most common seeds."""
    filled = cells.notna()
    sets = filled.groupby(list(filled.columns)).size()
    common = np.atleast_1d(sets[sets == sets.max()].index[-1])
    cells = cells.loc[(filled == common).all(axis=1), common]
    apart = cells.sub(cells.mean(axis=1), axis=0)
    lengths = np.sqrt((apart**2).sum(axis=1))
    apart = apart[lengths > NEGLIGIBLE * cells.abs().max(axis=1)]
    if min(apart.shape) < 2:
        return None
    directions: pd.DataFrame = apart.div(lengths[apart.index], axis=0)
    return directions
