"""What is told of comparisons, word for word."""

import numpy as np
import pytest

from capmap.prose import (
    describe_conditions,
    describe_groups,
    describe_improvability,
    describe_pairwise,
    describe_profiles,
    describe_rank_tests,
    describe_ratings,
    describe_robustness,
    describe_sample_size,
)
from tests.toy_tables import make_table, tell

NAN = np.nan


def test_pairs_are_told_with_their_tests() -> None:
    methods, results = tell(describe_pairwise)
    assert methods.startswith(
        "3 models made 3 pairs. Each pair was compared on the datasets that both had runs on (6 to "
        "8 datasets), which left out 0 to 3 cells (a model on a dataset with runs) per pair."
    )
    assert "half-width 0.01 in normalized score" in methods
    # The largest difference is that of B and C, turned around: C is the better one.
    assert results == (
        "Of 3 pairs tested, 2 differed significantly at the 5% level after Holm's correction. The "
        "largest mean difference was 0.190 (95% interval 0.100 to 0.300), of 'C' over 'B' "
        "(corrected p < 0.001, effect size 0.800, probability of improvement 0.800). With "
        "posterior probability 95% or more, 'A' was better than 'B' and practically equivalent to "
        "'C'. The verdict on 'C' changed when the region was made 0 to 1 times as wide."
    )


def test_one_pair_is_told_in_the_singular() -> None:
    pairwise = make_table("pairwise").head(1)
    methods, results = tell(describe_pairwise, pairwise=pairwise, rope=make_table("rope").head(2))
    assert methods.startswith(
        "2 models made 1 pair. They were compared on the datasets that both had runs on (8 "
        "datasets); no cell with runs was left out."
    )
    assert results.startswith("The two models differed significantly at the 5% level (p = 0.030).")
    assert results.endswith("No verdict changed when the region was made 0 to 1 times as wide.")


def test_few_datasets_bound_the_p_value() -> None:
    # Five differences have 2^5 equally likely signs: the smallest two-sided p is 2 / 32.
    _, results = tell(describe_pairwise, pairwise=make_table("pairwise").assign(datasets=5))
    assert "With 5 datasets the signed-rank test cannot give a p-value below 0.062" in results


def test_pairs_without_shared_datasets_are_counted() -> None:
    pairwise = make_table("pairwise").head(2)
    pairwise.loc[0, "datasets"] = 0
    pairwise.loc[0, ["wilcoxon_p_holm", "mean_difference"]] = NAN
    methods, results = tell(describe_pairwise, pairwise=pairwise)
    assert "1 pair had no dataset in common and no result." in methods
    assert "The one pair tested did not differ significantly at the 5% level (p = 0.600)" in results


def test_identical_models_have_no_better_one() -> None:
    pairwise = make_table("pairwise").head(1).assign(mean_difference=0.0, wilcoxon_p_holm=1.0)
    _, results = tell(describe_pairwise, pairwise=pairwise)
    assert "No pair differed in mean score." in results


def test_a_region_per_metric_is_listed() -> None:
    methods, _ = tell(describe_pairwise, rope_setting={"b": 0.5, "a_1": 0.01})
    assert "with a half-width per metric, in its own unit ('a_1' 0.01 and 'b' 0.5)" in methods


def test_rank_tests_are_told_with_their_numbers() -> None:
    methods, results = tell(describe_rank_tests)
    assert "Skillings" not in methods
    assert results == (
        "Friedman's chi-squared was 9.283 with 3 degrees of freedom (p = 0.026; 4 models, 14 "
        "datasets). 2 cells (a model on a dataset) with runs were not used. The F statistic was "
        "3.690 with 3 and 39 degrees of freedom (p = 0.020). At the 5% level, the models' mean "
        "ranks differed. 'A' had the best mean rank (1.900). Nemenyi's test separated 1 of 2 pairs "
        "(critical difference 1.250); its verdict on a pair depends on which other models are "
        "present. By Wilcoxon's test after Holm's correction, 'B' could not be separated from 'A' "
        "at the 5% level."
    )


@pytest.mark.parametrize(
    ("p", "verdict"),
    [((0.2, 0.1), "this was no evidence"), ((0.06, 0.04), "these tests disagreed")],
)
def test_what_is_not_significant_is_not_called_equal(p, verdict) -> None:
    _, results = tell(describe_rank_tests, friedman=make_table("friedman").assign(p=p))
    assert verdict in results


def test_skillings_mack_is_told_where_it_was_used() -> None:
    friedman = make_table("friedman")
    friedman.loc[2] = ["skillings_mack", 10.1, 3, NAN, 0.018, 4, 15, 58, 0]
    methods, results = tell(describe_rank_tests, friedman=friedman)
    assert "Skillings and Mack" in methods
    assert "Skillings-Mack statistic on 58 cells was 10.100 with 3 degrees of freedom" in results


def test_no_common_dataset_leaves_no_nemenyi() -> None:
    tables = {"friedman": make_table("friedman").head(0), "nemenyi": make_table("nemenyi").head(0)}
    _, results = tell(describe_rank_tests, **tables)
    assert results.startswith("No test of all models together could be computed.")
    assert "Nemenyi's test needs a dataset that all models have" in results


def test_profiles_name_the_leaders_and_the_pool() -> None:
    methods, results = tell(describe_profiles, nonpositive=2)
    assert "2 cells (a model on a dataset) had scores of 0 or less" in methods
    assert results == (
        "By raw scores, 'A' had the largest area (share 0.900; 7 to 8 datasets of 8 used). By "
        "normalized scores, 'B' had the largest area (share 0.850; 8 datasets of 8 used). Ratios "
        "and areas depend on which other models are present, and have no intervals."
    )


def test_ratings_name_leader_winner_and_pool() -> None:
    methods, results = tell(describe_ratings, calibration="A", tie_threshold=0.01, cells_unused=1)
    assert "(Elo scale, 'A' at 1000)" in methods
    assert "differences of up to 0.01 counted as half a win for each" in methods
    assert "1 cell (a model on a dataset) with runs was not used." in methods
    assert results == (
        "'A' had the highest rating, 1100 (95% interval 1050 to 1200). Its rank interval was 1 to "
        "2. 1 model had no interval, for want of repeated runs or of datasets: 'B'. 'A' had the "
        "highest win rate, averaged over opponents: 75% of datasets. A rating depends on which "
        "other models are present, and only differences of ratings mean something: 400 points are "
        "odds of ten to one."
    )


def test_a_model_that_wins_everywhere_is_no_measure_of_distance() -> None:
    winrate = make_table("winrate").assign(win_rate=[1.0, 0.0])
    _, results = tell(describe_ratings, winrate=winrate)
    assert "'A' and 'B' won or lost on every dataset" in results
    assert "won or lost" not in tell(describe_ratings)[1]


def test_improvability_tells_fallback_and_clipping() -> None:
    methods, results = tell(describe_improvability, left_out=["d"], clipped=2)
    assert "On a dataset without a known optimum ('d'), the better bound" in methods
    assert "2 scores beyond the optimum counted as errors of 0." in methods
    assert results.startswith(
        "'A' had the lowest improvability, 3.2% (95% interval 1.0% to 6.0%). The highest of a "
        "single cell was 50.0%, of 'B' on 'd'."
    )


def test_robustness_names_the_worst_variation() -> None:
    methods, results = tell(describe_robustness)
    assert "with all datasets and with each of 1 dataset left out" in methods
    assert results == (
        "Kendall's tau had a median of 0.650 and was lowest, 0.300, by the median with ranks "
        "instead of scores without 'd'. 'A' came first in 2 of 2 variations. 1 of 1 pair flipped "
        "at least once, most often 'A' (reported above) and 'B', in 50% of the variations. In "
        "resamples of the datasets, 'A' was best most often, in 80% (rank 1 to 2 in the middle "
        "95%)."
    )


def test_no_flips_are_told() -> None:
    _, results = tell(describe_robustness, flips=make_table("flips").head(0))
    assert "None of 1 pair flipped in any variation." in results


def test_groups_have_a_paragraph_each() -> None:
    methods, sea, land = tell(describe_groups)
    assert methods.startswith("The models were ranked within 2 groups (3 datasets each)")
    assert sea == (
        "In the group 'sea' (2 models), 'A' had the highest IQM, 0.800 (95% interval 0.700 to "
        "0.900). 'B' could not be separated from it. By its rule, every model was kept and "
        "measured on the datasets that it had. No cell with runs was left out."
    )
    assert land == (
        "In the group 'land' (1 model), 'A' was the only model, with an IQM of 0.800. By its rule, "
        "models without runs on one of its datasets were left out (1 model). 2 cells (a model on a "
        "dataset) with runs were not used. No model had runs or datasets enough for an interval."
    )


def test_conditions_have_a_paragraph_each() -> None:
    methods, full = tell(describe_conditions)
    assert methods.startswith("The ranking was compared with 1 other condition ('full')")
    assert full == (
        "With 'full' (5 models on 8 datasets), Kendall's tau was 0.800 (95% interval 0.500 to "
        "1.000) and Spearman's rho was 0.900 (95% interval 0.600 to 1.000). 2 models changed rank, "
        "at most by 1 place ('A' and 'B'). 2 cells (a model on a dataset) with runs were not used."
    )


def test_a_condition_with_too_little_in_common_has_no_correlation() -> None:
    conditions = make_table("conditions").assign(estimate=NAN, models=1)
    *_, full = tell(describe_conditions, conditions=conditions)
    assert full.startswith("With 'full' there was no correlation to compute (1 model on 8 datasets")


def test_sample_size_names_widths_and_cells() -> None:
    _, results = tell(describe_sample_size)
    # 0.2 misordered pairs are 40% of all: 0.5 are expected.
    assert results == (
        "The median width to expect was 0.060 with 3 runs, 0.040 with 5 runs, 0.025 with 10 runs "
        "and 0.015 with 20 runs per dataset, against 0.050 with the present runs. Of 1 pair, an "
        "expected 0.500 stood in the wrong order. One more run would lower this number most in the "
        "cells 'A' on 'd' (3 runs now; 40% of them) and 'B' on 'd' (1 run now; 20% of them)."
    )


def test_sample_size_of_one_model_has_no_order() -> None:
    widths = make_table("seed_widths").head(4)
    _, results = tell(
        describe_sample_size, seed_widths=widths, next_seeds=make_table("next_seeds").head(0)
    )
    assert results.startswith("The width to expect was 0.060 with 3 runs")
    assert results.endswith("With a single model there was no order to improve.")


def test_undecided_comparisons_are_told_apart() -> None:
    rope = make_table("rope").assign(
        decision=["undecided", "undecided", "undecided", "model better"]
    )
    _, results = tell(describe_pairwise, rope=rope)
    assert "'A' was worse than 'C'. Between 'A' and 'B' nothing was decided at 95%." in results


def test_full_agreement_is_told_once() -> None:
    _, results = tell(
        describe_robustness, robustness=make_table("robustness").assign(kendall_tau=1.0)
    )
    assert results.startswith("Kendall's tau was 1.000 in every variation.")


def test_an_infinite_statistic_is_a_word() -> None:
    friedman = make_table("friedman").assign(statistic=[4.0, np.inf])
    assert "F statistic was infinite with 3" in tell(describe_rank_tests, friedman=friedman)[1]


def test_long_lists_of_names_are_cut() -> None:
    rope = make_table("rope").iloc[[1] * 8].assign(model=[f"M{place}" for place in range(8)])
    _, results = tell(describe_pairwise, rope=rope)
    assert "'A' was better than 'M0', 'M1', 'M2', 'M3', 'M4' and 3 more." in results
