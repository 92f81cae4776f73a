"""How many datasets keep the leader in its place, against brute force."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses import robustness
from capmap.comparison.score_matrix import ScoreMatrix


def make_matrix(means: list[list[float]] | np.ndarray) -> ScoreMatrix:
    table = np.array(means, float)
    models, datasets = ([f"{kind}{i}" for i in range(n)] for kind, n in zip("md", table.shape))  # noqa: B905
    counts = np.isfinite(table).astype(int)
    return ScoreMatrix(models, datasets, table, counts, np.full(table.shape, np.nan))


def draw(number: int, *, models: int = 5) -> np.ndarray:
    rng = np.random.default_rng(number)
    means = rng.integers(0, 4, (models, rng.integers(1, 8))).astype(float)
    means[rng.random(means.shape) < 0.2] = np.nan
    return means


@given(st.integers(0, 10**6))
def test_fewest_datasets_by_trying_all(number: int) -> None:
    means = draw(number, models=3)
    table = robustness.dethrone(make_matrix(means), "m0").set_index("model")
    for rival in (1, 2):
        apart = (means[0] - means[rival])[~np.isnan(means[0] - means[rival])]
        found = [
            size
            for size in range(len(apart))
            for kept in itertools.combinations(apart, len(apart) - size)
            if sum(kept) <= 0
        ]
        assert (f"m{rival}" in table.index) == bool(found)
        if found:
            assert table.loc[f"m{rival}", "removed"] == min(found)


def test_the_names_of_removed_datasets_are_told() -> None:
    table = robustness.dethrone(
        make_matrix([[0.9, 0.5, 0.4], [0.1, 0.6, 0.4], [0.0, 0.4, 0.3]]), "m0"
    )
    assert table.to_numpy().tolist() == [["m0", "m1", 3, 1, "'d0'"]]
