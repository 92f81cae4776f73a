"""What intervals generalize to, and what runs have in common: datasets alike, noise of seeds."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.normalization import are_outcomes
from capmap.ranking.aggregation import FloatArray, IntArray, ScoreMatrix
from capmap.rng import make_stream
from capmap.settings.choices import (
    FEWEST_DATASETS,
    IntervalMethod,
    Statistic,
    StatisticOrAuto,
    Unit,
    UnitOrAuto,
)

# With fewer models, what datasets have in common cannot be told from chance.
FEWEST_MODELS = 5
# Fewer datasets than these, counted by what they say, leave nothing to say of others.
FEWEST_EFFECTIVE = 3
ALIKE = 0.7
NEGLIGIBLE = 1e-9
Places = tuple[tuple[int, ...], tuple[int, ...]]
# What all models of a study have in common, see `capmap.ranking.normalized.Normalized`.
Scope: TypeAlias = Mapping[str, Any]

LEVEL = 0.05
N_PERMUTATIONS = 999
# Columns that say which runs have no seed of their own but their number.
NUMBERED = ("summary", "numbered")
MOST_RUNS = 100_000


@dataclass(frozen=True)
class Dependence:
    """What the runs of a study have in common.

    Parameters
    ----------
    effective, expected : float
        Share of the datasets that count, above 0 and at most 1, and about what it would be for
        independent datasets: of few models, chance makes some look alike.
    seed_variance, seed_freedom : float
        Variance over seeds of a model's mean score over datasets, pooled over models, and the
        degrees of freedom for each of two models; 0 where no seed has runs on several datasets.
    paired : bool
        Whether the noise of a seed on a dataset is common to models, as that of folds is.
    """

    effective: float = 1.0
    expected: float = 1.0
    seed_variance: float = 0.0
    seed_freedom: float = 1.0
    paired: bool = False

    @classmethod
    def read(cls, known: Mapping[Any, Any]) -> Self:
        """Take what is known from other entries, as of a row of ``tables/dependence``."""
        return cls(**{field.name: known[field.name] for field in fields(cls)})

    @property
    def is_alike(self) -> bool:
        """Whether datasets are so much alike that it has to be said."""
        return self.effective < ALIKE * self.expected

    @property
    def needs_seeds(self) -> bool:
        """Whether it matters which runs have the same seed."""
        return self.paired or self.seed_variance > 0

    def count_effective(self, datasets: int | IntArray) -> FloatArray:
        """The effective number of so many datasets."""
        return np.maximum(self.effective * datasets, np.minimum(datasets, 2.0))


INDEPENDENT = Dependence()


def measure_dependence(matrix: ScoreMatrix, *, paired: bool = False) -> Dependence:
    """Measure what the runs of a study, or of some of its datasets, have in common."""
    n = len(matrix.datasets)
    share = count_effective(matrix.means) / max(n, 1), expect_share(len(matrix.models), n)
    variances, freedom = vary_by_seed(matrix)
    pooled = float(variances.mean()) if len(variances) else 0.0
    if pooled == 0:
        return Dependence(*share, paired=paired)
    # Each of two models has half of the pooled degrees of freedom, so that both have all.
    own = max(float(freedom.mean()), float(freedom.sum()) / 2)
    return Dependence(*share, pooled, own, paired)


def count_effective(means: FloatArray) -> float:
    """Effective number of datasets: how many independent ones say as much about new datasets.

    Each dataset's scores are regressed on the models' mean scores: what is left is what a dataset
    adds to the order. Where m datasets of a kind are alike with correlation r, n datasets say as
    much as n / (1 + (m − 1) r). Of r this takes the root of the mean signed square of all
    correlations above their median, times n − 1: chance, families of models and datasets of
    opposite kinds have as many below it as above. The root is exact for pairs and a little too
    large for more.
    """
    n_models, n_datasets = means.shape
    if n_models < FEWEST_MODELS or n_datasets < 3:
        return float(n_datasets)
    apart = means - np.nanmean(means, axis=0)
    level = np.nanmean(apart, axis=1)
    is_filled = ~np.isnan(apart)
    apart = np.where(is_filled, apart, 0.0)
    weights = (is_filled * level[:, None] ** 2).sum(axis=0)
    slopes = np.divide(level @ apart, weights, out=np.zeros(n_datasets), where=weights > 0)
    rest = np.where(is_filled, apart - level[:, None] * slopes, 0.0)
    lengths = np.sqrt((rest**2).sum(axis=0))
    size = NEGLIGIBLE * np.abs(means[is_filled]).max()
    rest = np.divide(rest, lengths, out=np.zeros_like(rest), where=lengths > size)
    correlations = (rest.T @ rest)[np.triu_indices(n_datasets, k=1)]
    above = correlations - min(float(np.median(correlations)), 0.0)
    excess = (n_datasets - 1) * float((np.sign(above) * above**2).mean())
    return float(n_datasets / (1 + np.sqrt(max(excess, 0.0))))


def expect_share(models: int, datasets: int) -> float:
    """About what share of independent datasets `count_effective` finds, by simulation.

    It lies within 0.05 for 5 to 50 models and 8 to 50 datasets.
    """
    if models < FEWEST_MODELS or datasets < 3:
        return 1.0
    # The standard deviation of the mean signed square of correlations, times n - 1.
    spread = np.sqrt(6 * (datasets - 1) / datasets) / (models - 2)
    return float(1 / (1 + 0.55 * np.sqrt(spread)))


def vary_by_seed(matrix: ScoreMatrix, *, every: bool = False) -> tuple[FloatArray, FloatArray]:
    """Variance over seeds of models' mean scores, and its degrees of freedom.

    Without what each seed adds, nothing is known, and there are no rows. Models count that have two
    runs or more on half of their datasets, or `every` one.
    """
    if matrix.seed_parts is None:
        return np.empty(0), np.empty(0)
    filled, repeated = matrix.is_filled.sum(axis=1), matrix.counts > 1
    known = np.full(len(filled), every) | (2 * repeated.sum(axis=1) >= filled)
    sums = matrix.seed_parts[known].sum(axis=1) / np.maximum(filled[known, None], 1)
    inverse = np.where(repeated, 1 / np.maximum(matrix.counts - 1, 1), 0.0)[known].sum(axis=1)
    n = repeated[known].sum(axis=1)
    return (sums**2).sum(axis=1), np.divide(n, inverse, out=np.ones(len(n)), where=inverse > 0)


@dataclass(frozen=True)
class SeedCorrelation:
    """How much the runs of a seed on different datasets move together.

    Parameters
    ----------
    correlation : float or None
        Mean correlation of two datasets over the seeds of a model, from −1 to 1; None where no
        model has two datasets with the same two seeds or more, and varying scores.
    p : float
        One-sided p-value, from 1 / 1000 to 1.
    models : int
        How many models have such datasets.
    """

    correlation: float | None = None
    p: float = 1.0
    models: int = 0

    @property
    def is_found(self) -> bool:
        """Whether they do, at the level of 5%."""
        return self.p <= LEVEL


def has_enough_runs(draws: npt.NDArray[np.integer[Any]]) -> bool:
    """Whether at least half of a model's datasets have two runs or more."""
    return bool(2 * np.count_nonzero(draws > 1) >= len(draws))


def has_own_seeds(runs: pd.DataFrame) -> bool:
    """Whether a seed can mean the same on several datasets.

    Runs that stand for a summary (``summary``), and rows that count as runs (``numbered``), are
    only numbered: the first of one dataset has nothing in common with the first of another.
    """
    return not any(runs[name].any() for name in NUMBERED if name in runs)


def resolve_unit(
    unit: UnitOrAuto,
    runs: pd.DataFrame,
    *,
    interval: IntervalMethod,
    shared: bool = False,
    items: bool = False,
) -> Unit:
    """What the intervals of a study generalize to.

    "auto" is "items" where the error of every dataset's items is known; "runs" where some model has
    two runs or more on half of its datasets, or "seeds" where besides runs of a seed move together;
    otherwise "runs_and_datasets" where some model has four datasets. Only calibrated intervals can
    be over seeds or items.
    """
    if unit != "auto":
        return unit
    if items and interval == "calibrated":
        return "items"
    counts = runs.groupby(["model", "dataset"], observed=True).size()
    repeated = (counts > 1).groupby(level="model", observed=True)
    if repeated.mean().max() >= 0.5:
        return "seeds" if shared and interval == "calibrated" else "runs"
    return "runs_and_datasets" if repeated.size().max() >= FEWEST_DATASETS else "runs"


def resolve_statistic(
    rank_by: StatisticOrAuto, runs: pd.DataFrame, *, unit: Unit = "runs"
) -> Statistic:
    """What ranks the models of a study.

    "auto" is "mean" where intervals are over items or datasets, whose difficulty an interquartile
    mean cannot pair, or where `are_outcomes` holds; otherwise "iqm".

    Examples
    --------
    >>> resolve_statistic("auto", pd.DataFrame({"score": [0.0, 1.0] * 10}))
    'mean'
    >>> resolve_statistic("auto", pd.DataFrame({"score": np.linspace(0, 1, 20)}))
    'iqm'
    """
    if rank_by != "auto":
        return rank_by
    is_paired = unit in ("items", "runs_and_datasets")
    return "mean" if is_paired or are_outcomes(runs["score"]) else "iqm"


def correlate_seeds(runs: pd.DataFrame) -> SeedCorrelation:
    """Test whether the runs of a seed on different datasets move together.

    The sum of all correlations of two datasets, over all models, is compared with the same when the
    seeds of each dataset are permuted, for all models alike: models that share seeds may be
    correlated on each dataset. Of studies of more than 100 000 runs the first models are taken.
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
        return SeedCorrelation()
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
