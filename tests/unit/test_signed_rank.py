"""The Bayesian signed-rank test with a region of practical equivalence."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.ranking import signed_rank
from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.signed_rank import scale_means
from capmap.rng import make_stream
from tests.toy_runs import make_runs

ROPES = [0.0, 0.5, 1.0, 2.0]


def make_rng(n: int) -> np.random.Generator:
    return make_stream(0, "toy", "signed_rank", str(n))


def compare(apart: object, *, rope: float, n_samples: int = 50_000) -> np.ndarray:
    rows = np.atleast_2d(np.asarray(apart, dtype=float))
    return signed_rank.compare_signed_ranks(rows, rope=rope, n_samples=n_samples, make_rng=make_rng)


def weigh_naively(apart: np.ndarray, rope: float, n_samples: int) -> np.ndarray:
    """Sum over all pairs of differences, sample by sample, from the same draws."""
    rng = make_rng(len(apart))
    weights = rng.standard_exponential((len(apart), n_samples))
    weights = np.vstack([rng.standard_gamma(0.5, n_samples), weights])
    weights /= weights.sum(axis=0)
    values = np.concatenate([[0], np.sort(apart)])
    sums = values[:, None] + values
    above = np.heaviside(sums - 2 * rope, 0.5)
    below = np.heaviside(-2 * rope - sums, 0.5)
    samples = np.empty((n_samples, 3))
    for sample, weight in zip(samples, weights.T, strict=True):
        product = np.outer(weight, weight)
        sample[:] = (product * above).sum(), 0, (product * below).sum()
    if rope > 0:
        samples[:, 1] = 1 - samples.sum(axis=1)
    return np.bincount(samples.argmax(axis=1), minlength=3) / n_samples


def test_one_difference_by_hand() -> None:
    # The pseudo-difference 0 has weight w ~ Beta(0.5, 1), so P(w < t) = sqrt(t).
    # d > 2 rope: only the pair (0, 0) is equivalent, w^2 < 1/2 where w < 0.7071: 0.8409.
    assert compare([0.3], rope=0.1)[0] == pytest.approx([0.8409, 0.1591, 0], abs=0.007)
    # rope < d < 2 rope: only (d, d) is better, (1 - w)^2 > 1/2 where w < 0.2929: 0.5412.
    assert compare([0.15], rope=0.1)[0] == pytest.approx([0.5412, 0.4588, 0], abs=0.009)
    assert compare([0.05], rope=0.1).tolist() == [[0, 1, 0]]


def test_edge_of_the_region_counts_half() -> None:
    # d = 2 rope: (0, d) lies on the edge, so better has (1 - w)^2 + w (1 - w) = 1 - w, and the rest
    # is w: better where w < 1/2, that is 0.7071. In floating point, 0.3 - 0.1 is not quite 0.2.
    assert compare([0.3 - 0.1], rope=0.1)[0] == pytest.approx([0.7071, 0.2929, 0], abs=0.008)


@pytest.mark.parametrize("rope", ROPES)
@pytest.mark.parametrize("step", [0.5, 1e-9])
def test_probabilities_are_those_of_a_double_loop(rope: float, step: float) -> None:
    rng = np.random.default_rng(4)
    for n in (1, 2, 3, 7, 12):
        # Multiples of 0.5 fall on edges and on each other, and are exact in floating point.
        apart = np.round(rng.normal(1, 2, n) / step) * step
        expected = weigh_naively(apart, rope, 400)
        flipped = weigh_naively(-apart, rope, 400)[::-1]
        found = compare(apart, rope=rope, n_samples=400)[0]
        assert found.tolist() in (expected.tolist(), flipped.tolist())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rope", [0.0, 0.01, 0.04])
@pytest.mark.parametrize("n", [1, 6, 20])
def test_probabilities_are_those_of_baycomp(rope: float, n: int) -> None:
    import baycomp

    apart = np.random.default_rng(n).normal(0.02, 0.05, n)
    test = baycomp.SignedRankTest.sample(
        np.zeros(n), apart, rope, nsamples=8000, random_state=np.random.RandomState(0).randint(99)
    )
    worse, equivalent, better = np.bincount(test.argmax(axis=1), minlength=3) / 8000
    # Standard error of baycomp's share: 0.0056 at most.
    assert compare(apart, rope=rope)[0] == pytest.approx([better, equivalent, worse], abs=0.02)


def test_identical_models_are_equivalent_and_without_region_undecided() -> None:
    apart = np.zeros((1, 5))
    assert compare(apart, rope=0.01).tolist() == [[0, 1, 0]]
    assert compare(apart, rope=0.0).tolist() == [[0.5, 0, 0.5]]


def test_pair_without_shared_dataset_is_undecided() -> None:
    chances = compare([[np.nan, np.nan], [0.1, np.nan]], rope=0.01, n_samples=10)
    assert np.isnan(chances[0]).all()
    assert not np.isnan(chances[1]).any()
    assert signed_rank.decide(chances[:1], probability=0.95) == ["undecided"]


def test_decision_needs_the_probability() -> None:
    chances = np.array([[0.95, 0.05, 0], [0.0, 0.95, 0.05], [0.1, 0, 0.9], [0, 0.01, 0.99]])
    decisions = signed_rank.decide(chances, probability=0.95)
    assert decisions == ["a better", "equivalent", "undecided", "b better"]


@given(st.integers(0, 10**6), st.sampled_from(ROPES), st.integers(1, 9), st.booleans())
def test_exchange_mirrors_exactly(seed: int, rope: float, n: int, is_coarse: bool) -> None:
    apart = np.random.default_rng(seed).normal(0, 2, (3, n)).round(0 if is_coarse else 8)
    straight = compare(apart, rope=rope, n_samples=200)
    np.testing.assert_array_equal(compare(-apart, rope=rope, n_samples=200), straight[:, ::-1])


def test_tiny_scores_are_compared_like_others() -> None:
    differences = np.array([[0.3, -0.1, 0.2, 0.2, -0.1], [0.1, 0.1, 0.0, 0.2, 0.1]])
    for rope in (0.0, 0.1):
        usual, tiny = (
            signed_rank.compare_signed_ranks(
                scale * differences, rope=scale * rope, n_samples=300, make_rng=make_rng
            )
            for scale in (1.0, 1e-20)
        )
        np.testing.assert_array_equal(usual, tiny)


def test_scales_of_metrics_put_differences_into_half_widths() -> None:
    runs = make_runs(("a", "X", 0.9), ("b", "X", 0.5), ("a", "Y", 0.9), ("b", "Y", 0.5))
    bounds = pd.DataFrame(
        {"dataset": ["Y", "X"], "metric": ["RMSE", "acc"], "low": [0.0, 0.0], "high": [20.0, 1.0]}
    )
    matrix = scale_means(arrange_runs(runs), bounds=bounds, widths={"ACC": 0.1, "rmse": 0.5})
    # X: 0.4 x 1 / 0.1 = 4 half-widths; Y: 0.4 x 20 / 0.5 = 16.
    assert (matrix.means[0] - matrix.means[1]).tolist() == pytest.approx([4, 16])
