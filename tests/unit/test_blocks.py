"""What is worked on in blocks, to bound memory, comes out as if it were not."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from capmap.comparison import dataset_clusters, pairwise, robustness, signed_rank
from capmap.comparison.score_matrix import arrange_runs, list_pairs
from capmap.ranking import resampling
from tests.toy_runs import draw_benchmark

RUNS = draw_benchmark(0, models=6, datasets=7, seeds=3)


def test_differences_of_pairs(monkeypatch):
    matrix = arrange_runs(RUNS)
    pairs = list_pairs(6)
    monkeypatch.setattr(pairwise, "BLOCK_CELLS", 20)
    apart = pairwise.subtract_in_blocks(matrix, pairs)
    np.testing.assert_array_equal(apart, pairwise.subtract_means(matrix, pairs))


def test_rankings_without_each_dataset(monkeypatch):
    def list_scores():
        found = robustness.iterate_variations(RUNS)
        return np.array([variation.scores for variation in found])

    whole = list_scores()
    monkeypatch.setattr(resampling, "BLOCK_CELLS", 1)
    monkeypatch.setattr(resampling, "BLOCK_RESAMPLES", (3, 3))
    np.testing.assert_array_equal(list_scores(), whole)


@pytest.mark.parametrize("edge", [-0.1, 0.0, 0.1, 9.0, -9.0])
def test_sums_below_an_edge_are_counted_without_all_of_them(edge):
    values = np.sort(np.random.default_rng(1).integers(-9, 10, 25) / 40)
    brute = (np.round(values[:, None] + values, signed_rank.DECIMALS) < edge).sum(axis=1)
    np.testing.assert_array_equal(signed_rank._count_below(values, edge), brute)


def test_samples_of_the_signed_rank_test(monkeypatch):
    apart = np.random.default_rng(2).normal(0.03, 0.1, (4, 9))

    def compare():
        return signed_rank.compare_signed_ranks(
            apart, rope=0.01, n_samples=20_000, make_rng=np.random.default_rng
        )

    whole = compare()
    monkeypatch.setattr(signed_rank, "BLOCK_CELLS", 9000)
    # Of 20 000 samples the standard error is at most 0.0035, and two such runs differ by less.
    np.testing.assert_allclose(compare(), whole, atol=0.02)
    np.testing.assert_allclose(compare().sum(axis=1), 1)


@pytest.mark.parametrize("excess", [0.2, 0.6])
def test_datasets_are_joined_without_all_correlations(monkeypatch, excess):
    means = np.random.default_rng(3).normal(size=(12, 30))
    means += np.repeat(means[:, :3], 10, axis=1)
    monkeypatch.setattr(dataset_clusters, "BLOCK_PAIRS", 70)
    found = dataset_clusters._join_datasets(dataset_clusters._find_directions(means), excess)
    pairs = np.corrcoef(means.T)
    others = ~np.eye(30, dtype=bool)
    least = np.tanh(np.arctanh(pairs[others].mean()) + excess)
    tree = linkage(squareform(1 - pairs, checks=False), method="average")
    labels = fcluster(tree, t=1 - least, criterion="distance")
    np.testing.assert_array_equal(
        (found[:, None] == found) & (found > 0) & others, (labels[:, None] == labels) & others
    )
    assert 1 < len(set(found)) < 15
