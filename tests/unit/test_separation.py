"""Where ratings hang on the ridge, and parts of a pool that never meet."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csgraph

from capmap.analyses import ratings
from capmap.rng import make_stream
from tests.toy_runs import make_runs


def rate(*rows: tuple[str, str, float], n_resamples: int = 50) -> pd.DataFrame:
    table = ratings.estimate_ratings(
        make_runs(*rows),
        n_resamples=n_resamples,
        confidence_level=0.95,
        make_rng=partial(make_stream, 0, "toy", "ratings"),
    )
    return table.set_index("model")


def draw_wins(seed: int, *, share: float, size: int = 5) -> np.ndarray:
    """Draw who won anything against whom; of those that meet, one has or both have."""
    rng = np.random.default_rng(seed)
    places = np.triu_indices(size, 1)
    wins = np.zeros((300, size, size))
    outcomes = rng.choice(
        4, (300, len(places[0])), p=[share, *(1 - share) * np.array([5, 3, 2]) / 10]
    )
    wins[:, places[0], places[1]] = (outcomes % 2 == 1) + 0.5 * (outcomes == 2)
    wins[:, places[1], places[0]] = (outcomes == 3) + 0.5 * (outcomes == 2)
    wins[:, places[1], places[0]] += (outcomes == 1) * (rng.random(outcomes.shape) < 0.1)
    return wins


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_separation_is_that_of_the_graph_of_wins(seed: int, share: float) -> None:
    wins = draw_wins(seed, share=share)
    meetings, points = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    strengths = ratings.fit_strengths(points, meetings, start=np.zeros(wins.shape[1]))
    found = ratings.find_separated(points, meetings, strengths)
    for own, met, is_found in zip(wins, meetings, found, strict=True):
        active = np.flatnonzero(met.any(axis=1))
        graph = own[np.ix_(active, active)] > 0
        assert is_found == (csgraph.connected_components(graph, connection="strong")[0] > 1)
    assert 0.05 < found.mean() < 0.999


def test_share_of_separated_resamples_is_told() -> None:
    # b beats a on one of five datasets: 0.8⁵ of resamples lack that one, 0.2⁵ have nothing else.
    scores = {"a": [0, 1, 1, 1, 1], "b": [1, 0, 0, 0, 0]}
    rows = [(model, f"d{d}", score) for model, own in scores.items() for d, score in enumerate(own)]
    separated = rate(*rows, n_resamples=2000)["separated"]
    assert separated["a"] == separated["b"] == pytest.approx(0.8**5 + 0.2**5, abs=0.04)


def test_nothing_separates_a_single_model_or_models_that_never_meet() -> None:
    assert rate(("a", "x", 0.5))["separated"].tolist() == [0]
    assert rate(("a", "x", 0.5), ("b", "y", 0.5))["separated"].tolist() == [0, 0]


def test_parts_that_never_meet_are_numbered_by_their_best_model() -> None:
    rows = [("a", "x", 0.5), ("b", "x", 0.4), ("c", "y", 0.1), ("d", "y", 0.2), ("e", "z", 0.9)]
    rows += [("c", "w", 0.1), ("d", "w", 0.3), ("a", "v", 0.3), ("b", "v", 0.3)]
    table = rate(*rows)
    # d has won 2 of 2 battles and a 1½ of 2; e has met nobody and stands at 1000, after both.
    assert table["component"].to_dict() == {"d": 1, "a": 2, "e": 3, "b": 2, "c": 1}
    # In most resamples both pairs have battles, and then they are apart whatever happens.
    assert table["separated"].gt(0.5).all()
    assert rate(("a", "x", 0.5), ("b", "x", 0.4), ("c", "x", 0.1))["component"].tolist() == [1] * 3
