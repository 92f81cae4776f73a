"""Friedman, Skillings-Mack and Nemenyi tests."""

import itertools
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses import ranks
from capmap.ranking.aggregation import ScoreMatrix
from tests.toy_scores import arrange, draw

TABLE_6 = Path(__file__).parents[3] / "shared/data/demsar2006/table6.csv"
C4 = ["C4.5", "C4.5+cf", "C4.5+m", "C4.5+m+cf"]
# Hollander and Wolfe's assembly times: nine operators (rows) by four methods, some not tried.
ASSEMBLY = np.array(
    [
        [3.2, 4.1, 3.8, 4.2],
        [3.1, 3.9, 3.4, 4.0],
        [4.3, 3.5, 4.6, 4.8],
        [3.5, 3.6, 3.9, 4.0],
        [3.6, 4.2, 3.7, 3.9],
        [4.5, 4.7, 3.7, np.nan],
        [np.nan, 4.2, 3.4, np.nan],
        [4.3, 4.6, 4.4, 4.9],
        [3.5, np.nan, 3.7, 3.9],
    ]
)
benchmarks = given(st.integers(2, 9), st.integers(1, 12), st.integers(0, 10**6), st.booleans())


def read_table_6(*, unrounded: bool) -> ScoreMatrix:
    if not TABLE_6.exists():
        pytest.skip("needs ../shared")
    table = pd.read_csv(TABLE_6, index_col="dataset")[C4]
    if unrounded:
        # The third decimal hides which was better; with this the printed ranks come out.
        table.loc["voting", "C4.5+cf"] += 1e-5
    return arrange(table.to_numpy().T, C4)


def find(table: pd.DataFrame, test: str) -> pd.Series:
    (row,) = table[table["test"] == test].itertuples(index=False)
    return pd.Series(row._asdict())


def test_printed_figures_of_demsars_table_6_come_out() -> None:
    matrix = read_table_6(unrounded=True)
    table = ranks.tabulate_mean_ranks(matrix, ranks.compare_mean_ranks(matrix, alpha=0.10))
    assert table.set_index("model")["mean_rank"].round(3).to_dict() == {
        "C4.5": 3.143,
        "C4.5+cf": 2.893,
        "C4.5+m": 2.000,
        "C4.5+m+cf": 1.964,
    }
    # At 0.10 Demšar separates C4.5 from both with +m, and cannot place C4.5+cf.
    assert table["nemenyi_group"].tolist() == ["a", "a", "ab", "b"]


@pytest.mark.parametrize(("alpha", "printed"), [(0.05, 1.25), (0.10, 1.12)])
def test_critical_difference_is_demsars(alpha: float, printed: float) -> None:
    difference = ranks.find_critical_difference(models=4, datasets=14, alpha=alpha)
    # He computes 1.12 from the rounded 2.291: 2.291 * sqrt(20 / 84) = 1.118.
    assert difference == pytest.approx(printed, abs=0.005)


def test_a_tie_in_the_rounded_table_6_is_corrected_for() -> None:
    tests = ranks.tabulate_rank_tests(read_table_6(unrounded=False))
    assert find(tests, "friedman")["test_statistic"] == pytest.approx(10.952, abs=0.0005)


@benchmarks
def test_friedman_agrees_with_scipy(models: int, datasets: int, seed: int, ties: bool) -> None:
    scores = draw(models + 1, datasets, seed, ties)
    test = find(ranks.tabulate_rank_tests(arrange(scores)), "friedman")
    if (scores == scores[0]).all():
        assert (test["test_statistic"], test["p"]) == (0, 1)
        return
    expected = stats.friedmanchisquare(*scores)
    assert test["test_statistic"] == pytest.approx(expected.statistic, abs=1e-10)
    assert test["p"] == pytest.approx(expected.pvalue, abs=1e-10)


def test_identical_models_give_no_evidence() -> None:
    matrix = arrange(np.ones((3, 4)))
    tests = ranks.tabulate_rank_tests(matrix)
    assert (tests["test_statistic"] == 0).all()
    assert (tests["p"] == 1).all()
    nemenyi = ranks.compare_mean_ranks(matrix, alpha=0.05)
    assert (nemenyi["p"] == 1).all()
    assert not nemenyi["separated"].any()
    table = ranks.tabulate_mean_ranks(matrix, ranks.compare_mean_ranks(matrix, alpha=0.05))
    assert table["mean_rank"].tolist() == [2, 2, 2]
    assert set(table["nemenyi_group"]) == {"a"}


def test_two_models_have_all_tests() -> None:
    # Two wins of two: 12 * ((2 - 3)² + (4 - 3)²) / (2 * 2 * 3) = 2.
    tests = ranks.tabulate_rank_tests(arrange([[2.0, 2.0], [1.0, 1.0]]))
    assert find(tests, "friedman")["test_statistic"] == 2
    assert len(tests) == 1
    (row,) = ranks.compare_mean_ranks(arrange([[2.0, 2.0], [1.0, 1.0]]), alpha=0.05).itertuples()
    # A range of two normal numbers is |z| sqrt 2: 1 / sqrt(6 / 24) = 2 is |z| = 1.414.
    assert row.rank_difference == -1
    assert row.p == pytest.approx(2 * stats.norm.sf(math.sqrt(2)))
    assert row.critical_difference == pytest.approx(stats.norm.isf(0.025) * math.sqrt(0.5))


def test_one_model_has_empty_tables_with_a_header() -> None:
    matrix = arrange([[1.0, np.nan, 2.0]], ["only"])
    tests = ranks.tabulate_rank_tests(matrix)
    assert len(tests) == 0
    assert tests.columns[0] == "test"
    assert ranks.compare_mean_ranks(matrix, alpha=0.05).columns[-1] == "datasets"
    table = ranks.tabulate_mean_ranks(matrix, ranks.compare_mean_ranks(matrix, alpha=0.05))
    # The third dataset, which the model lacks, is nobody's.
    assert table.to_numpy().tolist() == [["only", 1.0, 2, "a"]]


def test_skillings_mack_gives_the_published_statistic_of_the_assembly_times() -> None:
    matrix = arrange(ASSEMBLY.T)
    tests = ranks.tabulate_rank_tests(matrix)
    test = find(tests, "skillings_mack")
    assert test["test_statistic"] == pytest.approx(15.493, abs=0.0005)
    assert test["df"] == 3
    assert test["p"] == pytest.approx(0.0014, abs=0.00005)
    assert (test["models"], test["datasets"]) == (4, 9)
    assert len(tests) == 1


@benchmarks
def test_skillings_mack_on_complete_data_is_friedman(
    models: int, datasets: int, seed: int, ties: bool
) -> None:
    table = ranks.rank_within_datasets(draw(models, datasets, seed, ties))
    if ties:
        # Each dataset is scaled by its own ties: those of the first on all are Friedman's.
        order = np.random.default_rng(seed).permuted(np.tile(table[:, 0], (datasets, 1)), axis=1)
        table = order.T
    test = ranks.compute_skillings_mack(table)
    friedman = ranks.compute_friedman(table)
    assert test == (pytest.approx(friedman[0], abs=1e-10), friedman[1])


@pytest.mark.parametrize("holes", [[(0, 0)], [(0, 0), (1, 1)], [(0, 0), (0, 1)]])
def test_skillings_mack_has_the_mean_and_covariance_of_permutations(
    holes: list[tuple[int, int]],
) -> None:
    """Over all orders within datasets its mean is exactly its degrees of freedom."""
    present = np.ones((3, 3), dtype=bool)
    for hole in holes:
        present[hole] = False
    orders = [list(itertools.permutations(range(1, count + 1))) for count in present.sum(axis=0)]
    statistics = []
    for choice in itertools.product(*orders):
        table = np.full((3, 3), np.nan)
        for column, order in enumerate(choice):
            table[present[:, column], column] = order
        test = ranks.compute_skillings_mack(table)
        assert test is not None
        statistics.append(test[0])
    # E(A' C⁻ A) = trace(C⁻ C), the rank of C.
    assert np.mean(statistics) == pytest.approx(test[1])


def test_one_missing_cell_does_not_turn_ties_into_silence() -> None:
    scores = np.random.default_rng(3).random((4, 30)) < np.array([[0.9], [0.8], [0.6], [0.5]])
    table = ranks.rank_within_datasets(scores.astype(float)).copy()
    complete = stats.chi2.sf(*ranks.compute_friedman(table))
    table[0, 0] = np.nan
    table[1:, 0] = ranks.rank_within_datasets(scores[1:, :1].astype(float))[:, 0]
    holed = ranks.compute_skillings_mack(table)
    assert holed is not None
    assert complete < 0.01
    assert stats.chi2.sf(*holed) == pytest.approx(complete, abs=0.02)
    assert ranks.compute_skillings_mack(np.full((4, 30), 2.5)) == (0, 3)


def test_models_that_datasets_do_not_connect_cost_a_degree_of_freedom() -> None:
    # a and b meet twice, c and d meet twice; e meets nobody.
    scores = np.full((5, 5), np.nan)
    scores[:2, :2] = [[2, 2], [1, 1]]
    scores[2:4, 2:4] = [[2, 1], [1, 2]]
    scores[4, 4] = 1
    tests = ranks.tabulate_rank_tests(arrange(scores))
    (row,) = tests.itertuples()
    # Friedman's 2 for a and b, 0 for c and d.
    assert (row.test, row.df) == ("skillings_mack", 2)
    assert row.test_statistic == pytest.approx(2)
    assert row.datasets == 4
    assert len(ranks.compare_mean_ranks(arrange(scores), alpha=0.05)) == 0
    table = ranks.tabulate_mean_ranks(
        arrange(scores), ranks.compare_mean_ranks(arrange(scores), alpha=0.05)
    )
    assert table["model"].tolist() == ["m000", "m002", "m003", "m001", "m004"]
    # Rank 1 of 2 stays 1, rank 2 of 2 is stretched to 5 of 5.
    assert table["mean_rank"].tolist()[:4] == [1, 3, 3, 5]
    assert math.isnan(table["mean_rank"].tolist()[4])
    assert table["datasets"].tolist() == [2, 2, 2, 2, 0]
    assert set(table["nemenyi_group"]) == {""}


def test_no_two_models_on_one_dataset_leaves_no_test() -> None:
    tests = ranks.tabulate_rank_tests(arrange([[1.0, np.nan], [np.nan, 2.0]]))
    assert len(tests) == 0


@benchmarks
def test_nemenyi_agrees_with_scikit_posthocs(
    models: int, datasets: int, seed: int, ties: bool
) -> None:
    posthocs = pytest.importorskip("scikit_posthocs")
    scores = draw(models, datasets, seed, ties)
    table = ranks.compare_mean_ranks(arrange(scores), alpha=0.05)
    expected = posthocs.posthoc_nemenyi_friedman(scores.T).to_numpy()
    np.testing.assert_allclose(table["p"], expected[np.triu_indices(models, 1)], rtol=0, atol=1e-10)
    assert ((table["p"] < 0.05) == table["separated"]).all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
def test_evaluma_computes_the_same_on_complete_benchmarks(seed: int) -> None:
    frequentist = pytest.importorskip("evaluma.methods.frequentist")
    scores = draw(3 + seed, 6 + seed, seed, ties=False)
    matrix = arrange(scores)
    frame = pd.DataFrame(scores, index=matrix.models, columns=matrix.datasets)
    expected = frequentist.compute_frequentist(frame, alpha=0.05)
    friedman = find(ranks.tabulate_rank_tests(matrix), "friedman")
    assert friedman["test_statistic"] == pytest.approx(expected.friedman_statistic, abs=1e-10)
    assert friedman["p"] == pytest.approx(expected.friedman_p_value, abs=1e-10)
    table = ranks.tabulate_mean_ranks(matrix, ranks.compare_mean_ranks(matrix, alpha=0.05))
    for row in table.itertuples():
        assert row.mean_rank == pytest.approx(expected.avg_ranks[row.model], abs=1e-10)
    table = ranks.compare_mean_ranks(matrix, alpha=0.05)
    pairs = expected.table
    np.testing.assert_allclose(table["p"], pairs["p_value"], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        np.abs(table["rank_difference"]), pairs["rank_diff"], rtol=0, atol=1e-10
    )
    assert table["critical_difference"].iloc[0] == pytest.approx(expected.cd, abs=1e-9)
