"""Clusters of datasets, where the truth is known."""

import numpy as np
import pandas as pd
import pytest

from capmap.comparison.dataset_clusters import choose_block, cluster_datasets
from capmap.comparison.reliability import assess_benchmark
from capmap.comparison.score_matrix import ScoreMatrix, arrange_runs
from capmap.prose.reliability import describe_clusters


def arrange(means: np.ndarray) -> ScoreMatrix:
    models, datasets = (
        [f"{kind}{place:03d}" for place in range(length)]
        for kind, length in zip("md", means.shape, strict=True)
    )
    counts = (~np.isnan(means)).astype(int)
    return ScoreMatrix(models, datasets, means, counts, np.full(means.shape, np.nan))


def cluster(means: np.ndarray, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return cluster_datasets(arrange(means), confidence_level=0.95, rng=rng)


def plant(seed: int, models: int, sizes: tuple[int, ...], noise: float = 0.5) -> np.ndarray:
    """A level of models, something common to each cluster, and noise."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(models, 1)) + rng.normal(size=(models, len(sizes)))
    parts = np.repeat(common, sizes, axis=1)
    return np.asarray(parts + noise * rng.normal(size=parts.shape))


def test_planted_clusters_are_found_and_nothing_else() -> None:
    table = cluster(plant(0, 100, (6, 4, 3, 1, 1)))
    found = table.dropna(subset="cluster").groupby("cluster")["dataset"].agg(list)
    names = [f"d{place:03d}" for place in range(15)]
    assert found.tolist() == [names[:6], names[6:10], names[10:13]]
    assert table["stability"].dropna().between(0.75, 1).all()
    home = table.set_index("dataset")["closest"]
    assert set(home[names[:6]]) <= set(names[:6])
    sentence = describe_clusters(table, 0.95)
    assert "3 stable clusters" in sentence
    assert "5% level" in sentence


@pytest.mark.parametrize("level", [0.0, 1.5])
def test_evenly_correlated_datasets_have_no_clusters(level: float) -> None:
    said = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        means = level * rng.normal(size=(14, 1)) + rng.normal(size=(14, 10))
        table = cluster(means, seed)
        said += table["cluster"].notna().any()
    # At 5%, more than 4 of 20 have a chance of 0.3%.
    assert said <= 4
    assert "No stable cluster" in describe_clusters(cluster(means), 0.95)


def test_the_block_has_no_hole_and_names_decide_ties() -> None:
    means = np.ones((4, 3))
    means[3, :2] = means[2, 2] = np.nan
    block = choose_block(arrange(means))
    assert (block.models, block.datasets) == (["m000", "m001"], ["d000", "d001", "d002"])


def test_the_order_of_rows_does_not_matter() -> None:
    means = plant(5, 20, (4, 4))
    means[np.random.default_rng(0).random(means.shape) < 0.4] = np.nan
    rows = pd.DataFrame(
        [(f"m{i:03d}", f"d{j:03d}", "0", means[i, j]) for i, j in np.argwhere(~np.isnan(means))],
        columns=["model", "dataset", "seed", "score"],
    )
    one, other = (
        assess_benchmark(own, confidence_level=0.95, seed=0, study="s")
        for own in (rows, rows.sample(frac=1, random_state=0))
    )
    for name, table in one.items():
        pd.testing.assert_frame_equal(table, other[name])


@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (2, 5), (7, 20), (20, 2)])
def test_small_studies_have_empty_tables_and_a_reason(shape: tuple[int, int]) -> None:
    means = np.random.default_rng(0).normal(size=shape)
    clusters = cluster(means)
    assert clusters.empty
    assert describe_clusters(clusters, 0.95) == ""


def test_constant_datasets_and_equal_models_have_no_order() -> None:
    flat = np.ones((10, 6))
    assert cluster(flat).empty
    one = np.hstack([np.random.default_rng(0).normal(size=(12, 5)), np.ones((12, 1))])
    assert "d005" not in set(cluster(one)["dataset"])
    runs = pd.DataFrame({"model": ["a"], "dataset": ["x"], "seed": ["0"], "score": [0.5]})
    assert arrange_runs(runs).means.shape == (1, 1)
