"""Rankings by votes, against brute force over all orders and textbook elections."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.comparison.rank_aggregation import aggregate_votes, count_votes, dethrone, order_kemeny
from capmap.comparison.score_matrix import ScoreMatrix


def make_matrix(means: list[list[float]] | np.ndarray) -> ScoreMatrix:
    table = np.array(means, float)
    models, datasets = ([f"{kind}{i}" for i in range(n)] for kind, n in zip("md", table.shape))  # noqa: B905
    counts = np.isfinite(table).astype(int)
    return ScoreMatrix(models, datasets, table, counts, np.full(table.shape, np.nan))


def elect(ballots: dict[str, int]) -> ScoreMatrix:
    """Datasets that order candidates as voters do."""
    columns = [
        [-ballot.index(name) for name in sorted(ballot)]
        for ballot, times in ballots.items()
        for _ in range(times)
    ]
    return make_matrix(np.array(columns, float).T)


def draw(number: int, *, models: int = 5) -> np.ndarray:
    rng = np.random.default_rng(number)
    means = rng.integers(0, 4, (models, rng.integers(1, 8))).astype(float)
    means[rng.random(means.shape) < 0.2] = np.nan
    return means


def test_tennessee_has_its_known_winners() -> None:
    # Memphis, Nashville, Chattanooga, Knoxville: the capital is everybody's second choice at worst.
    table = aggregate_votes(elect({"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}))
    rows = table.set_index("model")
    # Candidates by name: C, K, M, N.
    assert rows.loc["m3", "condorcet"]
    assert rows["condorcet"].sum() == 1
    assert rows["rank_kemeny"].sort_values().index.tolist() == ["m3", "m0", "m1", "m2"]
    assert rows.index.tolist() == ["m3", "m0", "m2", "m1"]
    points = pd.Series({"m0": 173, "m1": 107, "m2": 126, "m3": 194}) / 300
    assert rows["borda"].sort_index().to_dict() == pytest.approx(points.to_dict())


def test_a_circle_has_no_winner() -> None:
    table = aggregate_votes(elect({"ABC": 1, "BCA": 1, "CAB": 1}))
    assert not table["condorcet"].any()
    assert table["copeland"].tolist() == [1, 1, 1]
    assert sorted(table["rank_kemeny"]) == [1, 2, 3]


@given(st.integers(0, 10**6))
def test_kemeny_is_the_best_of_all_orders(number: int) -> None:
    votes = count_votes(draw(number))

    def score(order: tuple[int, ...]) -> float:
        return sum(votes[a, b] for a, b in itertools.combinations(order, 2))

    found = tuple(order_kemeny(votes).to_numpy(dtype=int).argsort())
    assert score(found) == pytest.approx(max(map(score, itertools.permutations(range(5)))))


@given(st.integers(0, 10**6))
def test_fewest_datasets_by_trying_all(number: int) -> None:
    means = draw(number, models=3)
    table = dethrone(make_matrix(means), "m0").set_index("model")
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
    table = dethrone(make_matrix([[0.9, 0.5, 0.4], [0.1, 0.6, 0.4], [0.0, 0.4, 0.3]]), "m0")
    assert table.to_numpy().tolist() == [["m0", "m1", 3, 1, "'d0'"]]


def test_order_of_models_does_not_matter() -> None:
    means = draw(7, models=6)
    turned = make_matrix(means[::-1])
    turned = ScoreMatrix(
        [f"m{5 - i}" for i in range(6)], turned.datasets, turned.means, turned.counts, turned.means
    )
    columns = ["borda", "copeland", "condorcet", "rank_borda", "rank_copeland"]
    one, other = (
        aggregate_votes(matrix).set_index("model") for matrix in (make_matrix(means), turned)
    )
    pd.testing.assert_frame_equal(one[columns], other.loc[one.index, columns])


def test_large_circles_have_no_kemeny_order() -> None:
    lead = np.zeros((16, 16))
    for place in range(15):
        step = np.arange(1, 8)
        lead[place, (place + step) % 15] = 1
        lead[place, 15] = 1
    places = order_kemeny(lead)
    assert places.iloc[:15].isna().all()
    assert places.iloc[15] == 16
