"""Clusters of datasets that order models alike, as far as they are stable."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import ndtri
from scipy.stats import rankdata

from capmap.comparison.score_matrix import ScoreMatrix
from capmap.ranking.aggregation import FloatArray, IntArray

COLUMNS = ["dataset", "cluster", "stability", "closest", "closest_correlation", "rest_correlation"]
FEWEST_MODELS, FEWEST_DATASETS = 8, 4
SIMULATIONS = 199
RESAMPLES = 100
STABLE = 0.75
LARGEST = 1 - 1e-9
NEGLIGIBLE = 1e-12
# Correlations that are held at once.
BLOCK_PAIRS = 1 << 21


def cluster_datasets(
    matrix: ScoreMatrix, *, confidence_level: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Find datasets that order models more alike than datasets of the benchmark do on average.

    Parameters
    ----------
    matrix : ScoreMatrix
        May have empty cells, see `choose_block`.
    confidence_level : float
        Probability that no two independent or evenly correlated datasets end in one cluster,
        between 0 and 1.
    rng : numpy.random.Generator
        Simulates scores without clusters, and resamples models.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS`, a row per dataset of the block, those of the largest cluster
        first. ``cluster`` (from 1) and its ``stability`` are missing for a dataset in no stable
        one. Empty with fewer than 8 models or 4 datasets that separate models.

    Notes
    -----
    Correlations are those of normal scores of the models' ranks. Datasets are joined by average
    linkage as long as the correlation exceeds what the largest of all pairs is by chance where all
    are equally correlated: the quantile of simulated normal scores with the mean correlation and
    the ties of each dataset, as Fisher's z. A cluster is kept if it is stable, with a mean Jaccard
    similarity of 0.75 with the most similar cluster where models are resampled.

    References
    ----------
    Hennig, C. (2007). Cluster-wise assessment of cluster stability. Computational Statistics and
    Data Analysis 52, 258–271.
    """
    block = choose_block(matrix)
    block = block.choose_datasets(np.ptp(block.means, axis=0) > NEGLIGIBLE)
    n_models, n_datasets = block.means.shape
    if n_models < FEWEST_MODELS or n_datasets < FEWEST_DATASETS:
        return pd.DataFrame(columns=COLUMNS)
    scores = _score_ranks(block.means)
    directions = _find_directions(scores)
    excess = _simulate_excess(scores, _average_pairs(directions), confidence_level, rng)
    labels = _join_datasets(directions, excess)
    stability = _measure_stability(scores, labels, excess, rng)
    labels = np.where(stability >= STABLE, labels, 0)
    closest, pairs = _find_closest(directions)
    rest = _find_directions(scores.sum(axis=1, keepdims=True) - scores)
    table = pd.DataFrame(
        {
            "dataset": block.datasets,
            "cluster": pd.array(labels, dtype="Int64"),
            "stability": stability,
            "closest": [block.datasets[place] for place in closest],
            "closest_correlation": pairs,
            "rest_correlation": np.clip((directions * rest).sum(axis=1), -LARGEST, LARGEST),
        }
    )
    table.loc[labels == 0, ["cluster", "stability"]] = np.nan
    return _number_clusters(table)


def choose_block(matrix: ScoreMatrix) -> ScoreMatrix:
    """Models and datasets without empty cells: whatever has the largest share of them goes first.

    Models with a share as large go before datasets, and the last by name before others.
    """
    filled = matrix.is_filled
    rows, columns = (np.arange(length) for length in filled.shape)
    while not filled[np.ix_(rows, columns)].all():
        own = filled[np.ix_(rows, columns)]
        shares = own.mean(axis=1), own.mean(axis=0)
        if shares[0].min() <= shares[1].min():
            rows = np.delete(rows, len(rows) - 1 - shares[0][::-1].argmin())
        else:
            columns = np.delete(columns, len(columns) - 1 - shares[1][::-1].argmin())
    return ScoreMatrix(
        models=[matrix.models[row] for row in rows],
        datasets=[matrix.datasets[column] for column in columns],
        means=matrix.means[np.ix_(rows, columns)],
        counts=matrix.counts[np.ix_(rows, columns)],
        variances=matrix.variances[np.ix_(rows, columns)],
    )


def _score_ranks(means: FloatArray) -> FloatArray:
    """Normal scores of ranks (Blom 1958), by dataset."""
    ranks = np.apply_along_axis(rankdata, 0, np.round(means, 12))
    return np.asarray(ndtri((ranks - 0.375) / (len(means) + 0.25)))


def _find_directions(scores: FloatArray) -> FloatArray:
    """Vectors whose products are the correlations of datasets, shape (datasets, models)."""
    centered = (scores - scores.mean(axis=0)).T
    lengths = np.linalg.norm(centered, axis=1, keepdims=True)
    return np.asarray(centered / np.where(lengths > NEGLIGIBLE, lengths, 1))


def _correlate(directions: FloatArray) -> Iterator[FloatArray]:
    """Correlations of some datasets after others with all; −∞ with themselves."""
    count = len(directions)
    step = max(BLOCK_PAIRS // count, 1)
    for first in range(0, count, step):
        pairs = directions[first : first + step] @ directions.T
        np.clip(pairs, -LARGEST, LARGEST, out=pairs)
        rows = np.arange(len(pairs))
        pairs[rows, first + rows] = -np.inf
        yield pairs


def _find_closest(directions: FloatArray) -> tuple[IntArray, FloatArray]:
    """With which other dataset each correlates most, and how much."""
    found = [(pairs.argmax(axis=1), pairs.max(axis=1)) for pairs in _correlate(directions)]
    closest, largest = map(np.concatenate, zip(*found, strict=True))
    return closest, largest


def _average_pairs(directions: FloatArray) -> float:
    count = len(directions)
    total = (directions.sum(axis=0) ** 2).sum() - (directions**2).sum()
    return float(total / (count * (count - 1)))


def _simulate_excess(
    scores: FloatArray, correlation: float, confidence_level: float, rng: np.random.Generator
) -> float:
    """Quantile of the largest Fisher's z of a pair beyond that of their mean correlation."""
    common = max(correlation, 0.0)
    n_models, n_datasets = scores.shape
    dealt = np.sort(scores, axis=0)
    found = np.empty(SIMULATIONS)
    for place in range(SIMULATIONS):
        noise = rng.standard_normal((n_models, n_datasets))
        level = rng.standard_normal((n_models, 1))
        drawn = np.sqrt(common) * level + np.sqrt(1 - common) * noise
        # As many models are tied as are on the dataset.
        ranks = drawn.argsort(axis=0).argsort(axis=0)
        directions = _find_directions(np.take_along_axis(dealt, ranks, axis=0))
        largest = max(pairs.max() for pairs in _correlate(directions))
        found[place] = np.arctanh(largest) - np.arctanh(_average_pairs(directions))
    order = int(np.ceil(round(confidence_level * (SIMULATIONS + 1), 6)))
    return float(np.sort(found)[min(order, SIMULATIONS) - 1])


def _join_datasets(directions: FloatArray, excess: float) -> IntArray:
    """The cluster of each dataset, from 1; 0 for one that is joined with no other.

    The mean of the pairs of two clusters is the product of their mean directions, and a join brings
    a cluster closer to no other, so what was once the largest mean of a cluster bounds it.
    """
    least = np.tanh(np.arctanh(_average_pairs(directions)) + excess)
    labels, sizes = np.arange(len(directions)), np.ones(len(directions))
    closest, bounds = _find_closest(directions)
    means, is_exact = directions.copy(), np.ones(len(directions), dtype=bool)
    while bounds[one := int(bounds.argmax())] >= least:
        other = closest[one]
        if is_exact[one]:
            labels[labels == other] = one
            share = sizes[other] / (sizes[one] + sizes[other])
            means[one] += share * (means[other] - means[one])
            sizes[one], sizes[other] = sizes[one] + sizes[other], 0
            is_exact &= (closest != one) & (closest != other)
            bounds[other] = -np.inf
        pairs = np.where(sizes > 0, means @ means[one], -np.inf)
        pairs[one] = -np.inf
        closest[one] = pairs.argmax()
        bounds[one], is_exact[one] = pairs[closest[one]], True
    return np.asarray(np.where(sizes[labels] > 1, labels + 1, 0))


def _measure_stability(
    scores: FloatArray, labels: IntArray, excess: float, rng: np.random.Generator
) -> FloatArray:
    """Stability of the cluster of each dataset; 0 where it is in none."""
    stability = np.zeros(len(labels))
    if not labels.any():
        return stability
    for _ in range(RESAMPLES):
        drawn = rng.integers(len(scores), size=len(scores))
        found = _join_datasets(_find_directions(scores[drawn]), excess)
        in_both = (labels > 0) & (found > 0)
        pairs = np.stack([labels, found])[:, in_both]
        (one, other), shared = np.unique(pairs, axis=1, return_counts=True)
        union = np.bincount(labels)[one] + np.bincount(found)[other] - shared
        best = np.zeros(len(labels) + 1)
        np.maximum.at(best, one, shared / union)
        stability += best[labels]
    return np.round(stability / RESAMPLES, 12)


def _number_clusters(table: pd.DataFrame) -> pd.DataFrame:
    """Clusters by size, then by the first name; datasets by cluster, then by name."""
    groups = table.dropna(subset="cluster").groupby("cluster")["dataset"]
    order = sorted(groups, key=lambda group: (-len(group[1]), min(group[1])))
    numbers = {name: number for number, (name, _) in enumerate(order, 1)}
    table["cluster"] = table["cluster"].map(numbers).astype("Int64")
    return table.sort_values(["cluster", "dataset"], na_position="last", ignore_index=True)[COLUMNS]
