"""What studies have in common beyond models: datasets that are alike, and noise of seeds."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from capmap.ranking.aggregation import FloatArray, IntArray

if TYPE_CHECKING:
    from capmap.ranking.score_matrix import ScoreMatrix

# With fewer models, what datasets have in common cannot be told from chance.
FEWEST_MODELS = 5
# Fewer datasets than these, counted by what they say, leave nothing to say of others.
FEWEST_EFFECTIVE = 3
ALIKE = 0.7
NEGLIGIBLE = 1e-9


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


def measure_dependence(matrix: "ScoreMatrix", *, paired: bool = False) -> Dependence:
    """Measure what the runs of a study, or of some of its datasets, have in common.

    Parameters
    ----------
    matrix : ScoreMatrix
        With what each seed adds, if a seed can mean the same on several datasets.
    paired : bool, optional
        Handed on.
    """
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

    Parameters
    ----------
    means : numpy.ndarray, shape (models, datasets)
        Mean scores; NaN where a model has none.

    Returns
    -------
    float
        At most the number of datasets, which it is for fewer than five models.

    Notes
    -----
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


def vary_by_seed(matrix: "ScoreMatrix", *, every: bool = False) -> tuple[FloatArray, FloatArray]:
    """Variance over seeds of models' mean scores, and its degrees of freedom.

    Parameters
    ----------
    matrix : ScoreMatrix
        With `ScoreMatrix.seed_parts`, or without: then nothing is known.
    every : bool, optional
        Of every model, and not only those with two runs or more on half of their datasets.

    Returns
    -------
    variances, freedom : numpy.ndarray, shape (models,)
        They have no rows where nothing is known.
    """
    if matrix.seed_parts is None:
        return np.empty(0), np.empty(0)
    filled, repeated = matrix.is_filled.sum(axis=1), matrix.counts > 1
    known = np.full(len(filled), every) | (2 * repeated.sum(axis=1) >= filled)
    sums = matrix.seed_parts[known].sum(axis=1) / np.maximum(filled[known, None], 1)
    inverse = np.where(repeated, 1 / np.maximum(matrix.counts - 1, 1), 0.0)[known].sum(axis=1)
    n = repeated[known].sum(axis=1)
    return (sums**2).sum(axis=1), np.divide(n, inverse, out=np.ones(len(n)), where=inverse > 0)
