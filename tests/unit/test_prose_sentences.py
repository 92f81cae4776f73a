"""What is told of comparisons, word for word."""

import numpy as np
import pytest

from capmap.prose import (
    describe_pairwise,
    describe_rank_tests,
    describe_ratings,
)
from tests.prose_tables import make_table, tell

NAN = np.nan


def test_the_level_of_tests_is_not_that_of_intervals() -> None:
    _, results = tell(describe_pairwise, alpha=0.01, confidence_level=0.9)
    # Of the corrected p-values 0.03, 0.6 and 0.0003 one is below 0.01.
    assert results.startswith("Of 3 pairs tested, 1 differed significantly at the 1% level")


def test_too_few_datasets_for_any_separation_are_told() -> None:
    # Five differences have 2^5 equally likely signs: the smallest two-sided p is 2 / 32. With seven
    # it is 2 / 128, and Holm's correction makes 3 / 64 = 0.047 of it.
    pairwise = make_table("pairwise").assign(wilcoxon_p_holm=1.0, datasets=5)
    told = "With {} datasets Wilcoxon's test can separate no pair after correction over 3 pairs."
    assert told.format(5) in tell(describe_pairwise, pairwise=pairwise)[1]
    assert "be separated" not in tell(describe_pairwise, pairwise=pairwise.assign(datasets=7))[1]
    _, results = tell(describe_pairwise, pairwise=pairwise.head(1))
    assert "With 5 datasets the signed-rank test gives no p-value below 0.062." in results
    mean_ranks = make_table("mean_ranks").assign(datasets=6, wilcoxon_group="a")
    _, results = tell(describe_rank_tests, mean_ranks=mean_ranks)
    assert results.endswith(told.format(6))


def test_identical_models_have_no_better_one() -> None:
    pairwise = make_table("pairwise").head(1).assign(mean_difference=0.0, wilcoxon_p_holm=1.0)
    _, results = tell(describe_pairwise, pairwise=pairwise)
    assert "No pair differed in mean score." in results


def test_models_that_never_meet_have_no_ranks() -> None:
    mean_ranks = make_table("mean_ranks").assign(mean_rank=NAN, datasets=0)
    _, results = tell(describe_rank_tests, mean_ranks=mean_ranks)
    assert "No two models had a dataset in common." in results
    assert "Wilcoxon" not in results


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        ([0.2], "this is no evidence of different mean ranks, nor"),
        ([0.06, 0.04], "these tests disagreed"),
    ],
)
def test_what_is_not_significant_is_not_called_equal(p, verdict) -> None:
    friedman = make_table("friedman").iloc[[0] * len(p)]
    friedman = friedman.assign(test=["friedman", "skillings_mack"][: len(p)], p=p)
    _, results = tell(describe_rank_tests, friedman=friedman)
    assert verdict in results


def test_a_leader_without_interval_has_no_range_of_ranks() -> None:
    ends = ["rank_low", "rank_high"]
    elo = make_table("elo").assign(ci_low=NAN, ci_high=NAN, rank_low=NAN, rank_high=NAN)
    elo[ends] = elo[ends].astype("Int64")
    _, results = tell(describe_ratings, elo=elo)
    assert results.startswith("'A' had the highest rating, 1100. No model had runs")


def test_models_that_never_met_are_not_compared() -> None:
    elo = make_table("elo").assign(component=[1, 2])
    told = "These groups of models never met ('A'; 'B'); ratings between them mean nothing."
    assert told in tell(describe_ratings, elo=elo)[1]
    assert "never met" not in tell(describe_ratings)[1]
    many = elo.iloc[[0, 1, 1, 1, 1]].assign(component=range(5), model=list("ABCDE"))
    assert "('A'; 'B'; 'C'; 2 more)" in tell(describe_ratings, elo=many)[1]


def test_undecided_comparisons_are_told_apart() -> None:
    pairwise = make_table("pairwise").assign(
        decision=["undecided", "b better", "undecided"], p_b_better=[0.01, 0.99, 0.9]
    )
    _, results = tell(describe_pairwise, pairwise=pairwise.assign(wilcoxon_p_holm=0.01))
    assert "'A' was worse than 'C'. 'A' against 'B' stayed undecided." in results
    # Wilcoxon's test does not agree.
    _, results = tell(describe_pairwise, pairwise=pairwise.assign(wilcoxon_p_holm=0.6))
    assert "worse" not in results


def test_the_reference_may_be_the_second_of_a_pair() -> None:
    pairwise = make_table("pairwise").assign(wilcoxon_p_holm=0.01)
    _, results = tell(describe_pairwise, pairwise=pairwise, reference="B")
    assert "'B' was worse than 'A'. 'B' against 'C' stayed undecided." in results


def test_verdicts_on_the_reference_allow_for_all_pairs() -> None:
    # 0.97 is more than 0.95, and less than 1 - 0.05 / 3.
    pairwise = make_table("pairwise").assign(p_a_better=0.97)
    told = tell(describe_pairwise, pairwise=pairwise)[1]
    assert told.count("stayed undecided at posterior") == 1


def test_long_lists_of_names_are_cut() -> None:
    names = [f"M{place}" for place in range(8)]
    pairwise = make_table("pairwise").iloc[[0] * 8].assign(model_b=names, p_a_better=1.0)
    _, results = tell(describe_pairwise, pairwise=pairwise)
    assert "'A' was better than 'M0', 'M1', 'M2', 'M3', 'M4' and 3 more." in results
