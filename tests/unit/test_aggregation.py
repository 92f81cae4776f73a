"""Cells, aggregates across datasets, and ranks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.ranking import aggregation
from capmap.ranking.resampling import evaluate_runs, stratify_runs
from capmap.settings.choices import Statistic

TUTORIAL = Path(__file__).parents[2].parent / "shared" / "reference" / "tutorial"
scores = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30)


def make_runs(rows: list[tuple[str, str, float]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def test_cell_is_summarized_by_hand() -> None:
    # 1, 2, 3, 6: mean 3, variance (4 + 1 + 0 + 9) / 3 = 14/3.
    [cell] = aggregation.summarize_cells(
        make_runs([("m", "d", x) for x in (6.0, 1.0, 3.0, 2.0)])
    ).to_dict("records")
    assert (cell["n"], cell["mean"]) == (4, 3)
    assert cell["std"] == pytest.approx(np.sqrt(14 / 3), abs=1e-15)
    assert cell["sem"] == pytest.approx(np.sqrt(14 / 3) / 2, abs=1e-15)


def test_single_run_has_no_spread() -> None:
    cells = aggregation.summarize_cells(make_runs([("m", "d", 0.5)]))
    assert cells[["std", "sem"]].isna().all(axis=None)
    assert cells.loc[0, "mean"] == 0.5


def test_equal_runs_have_exactly_no_spread() -> None:
    # The naive mean of three times 0.1 is 0.10000000000000002 / ...; distances to 0.1 are 0.
    cells = aggregation.summarize_cells(make_runs([("m", "d", 0.1)] * 3))
    assert cells.loc[0, ["mean", "std"]].tolist() == [0.1, 0.0]


@settings(max_examples=60)
@given(st.lists(scores, min_size=1, max_size=6))
def test_groups_agree_with_scipy_and_numpy(groups: list[list[float]]) -> None:
    rows = [("m", f"d{place}", score) for place, own in enumerate(groups) for score in own]
    found = aggregation.summarize_cells(make_runs(rows))
    stds = [np.std(group, ddof=1) if len(group) > 1 else np.nan for group in groups]
    np.testing.assert_allclose(found["std"], stds, rtol=1e-9, atol=1e-10)


def evaluate(matrix: pd.DataFrame, statistic: Statistic) -> dict[str, float]:
    """A statistic of each model of a matrix of single runs."""
    names = list(matrix.columns[1:])
    return {
        row[0]: evaluate_runs(statistic, stratify_runs(row[1:], names))
        for row in matrix.itertuples(index=False)
    }


@pytest.mark.skipif(not TUTORIAL.is_dir(), reason="the published tables are not here")
@pytest.mark.parametrize("statistic", ["mean", "trimmed_mean", "median"])
def test_tutorial_rankings_are_reproduced(statistic: Statistic) -> None:
    matrix = pd.read_csv(TUTORIAL / "bench_scores.csv")
    published = pd.read_csv(TUTORIAL / "bench_rankings.csv").set_index("model")
    found = pd.Series(evaluate(matrix, statistic))[published.index]
    rank = f"{statistic.removesuffix('_mean')}_rank"
    assert aggregation.rank_competitors(found).tolist() == published[rank].tolist()
    # The published scores are themselves rounded to three decimals, as are the aggregates.
    np.testing.assert_allclose(found, published[statistic], atol=1.001e-3)


@pytest.mark.skipif(not TUTORIAL.is_dir(), reason="the published tables are not here")
def test_toy_means_are_reproduced() -> None:
    matrix = pd.read_csv(TUTORIAL / "toy_normalized.csv")
    published = pd.read_csv(TUTORIAL / "toy_mean.csv").set_index("model")["mean"]
    found = evaluate(matrix, "mean")
    assert {name: round(value, 3) for name, value in found.items()} == published.to_dict()


def test_float_noise_makes_no_order() -> None:
    assert aggregation.rank_competitors([0.3, 0.1 + 0.2, 0.5, 0.1]).tolist() == [2, 2, 1, 4]
    assert aggregation.rank_competitors([0.3, 0.300000001]).tolist() == [2, 1]


@settings(max_examples=60)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=12))
def test_ranks_count_the_better_ones(values: list[int]) -> None:
    better = [1 + sum(other > value for other in values) for value in values]
    assert aggregation.rank_competitors(values).tolist() == better


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-300, 1e300, -2.5e-7])
def test_extreme_numbers_survive_rounding(tiny: float) -> None:
    assert aggregation.round_significant([tiny])[0] == pytest.approx(tiny, rel=1e-11, abs=1e-300)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        aggregation.summarize_cells(make_runs([("m", "d", 1.0), ("m", "d", bad)]))
    with pytest.raises(ValueError, match="finite"):
        aggregation.rank_competitors([1.0, bad])


def test_dataset_may_be_called_model() -> None:
    cells = aggregation.summarize_cells(make_runs([("m", "model", 0.25)]))
    assert list(aggregation.unstack_cells(cells)) == ["model", "model"]
