"""What is told of comparisons, word for word."""

import numpy as np
import pandas as pd
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
from capmap.wording import MOST_LETTERED
from tests.prose_tables import make_table, tell

NAN = np.nan


def test_pairs_are_told_with_their_tests() -> None:
    methods, results = tell(describe_pairwise)
    assert methods.startswith(
        "3 models made 3 pairs, compared on the datasets that both had runs on (6 to 8 datasets; 0 "
        "to 3 cells per pair left out). Differences in mean normalized score have 95% "
        "Welch-Satterthwaite intervals over runs (independent, about normal; single runs take "
        "their model's pooled variance), which hold for new runs on these datasets, whereas the "
        "tests are over datasets."
    )
    assert "half-width 0.01 in normalized score" in methods
    # The largest difference is that of B and C, turned around: C is the better one.
    assert results == (
        "Of 3 pairs tested, 2 differed significantly at the 5% level after Holm's correction. The "
        "largest mean difference was 0.190, of 'C' over 'B' on 6 datasets (corrected p < 0.001, "
        "effect size 0.800, probability of improvement 0.800). With posterior probability 95%, "
        "allowing for 3 pairs, 'A' was better than 'B'. 'A' against 'C' stayed undecided. Of each "
        "pair alone, the decision on 'C' changed with regions 0 to 1 times as wide."
    )


def test_one_pair_is_told_in_the_singular() -> None:
    pairwise = make_table("pairwise").head(1)
    methods, results = tell(describe_pairwise, pairwise=pairwise, rope=make_table("rope").head(2))
    assert methods.startswith(
        "2 models made 1 pair, compared on the datasets that both had runs on (8 datasets; no cell "
        "analyzed left out)."
    )
    assert results.startswith(
        "The two models differed significantly at the 5% level (p = 0.030). The mean difference "
        "was 0.100 (95% interval over runs 0.050 to 0.150), of 'A' over 'B' (effect size 0.900, "
    )
    assert results.endswith(
        "No decision of a pair alone changed with regions 0 to 1 times as wide."
    )


def test_the_unit_of_intervals_is_told() -> None:
    methods, results = tell(describe_pairwise, unit="runs_and_datasets")
    assert "have 95% paired t intervals over datasets. Wilcoxon's" in methods
    assert "with 95% percentile intervals over runs and datasets (2,000" in methods
    assert "Welch" not in methods
    # The first of three differences would need an interval that allows for its choice.
    assert "interval" not in results
    one = make_table("pairwise").head(1)
    _, results = tell(describe_pairwise, unit="runs_and_datasets", pairwise=one)
    assert "(95% interval over datasets" in results


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


def test_pairs_without_shared_datasets_are_counted() -> None:
    pairwise = make_table("pairwise").head(2)
    pairwise.loc[0, "datasets"] = 0
    pairwise.loc[0, ["wilcoxon_p_holm", "mean_difference"]] = NAN
    _, results = tell(describe_pairwise, pairwise=pairwise)
    assert results.startswith(
        "Of 1 pair tested, none differed significantly at the 5% level after Holm's correction. 1 "
        "pair had no dataset in common."
    )
    _, results = tell(describe_pairwise, pairwise=pairwise.head(1))
    assert results == "No two models had a dataset in common."


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
        "datasets). 2 cells of the models and datasets analyzed were not used. F was 3.690 with 3 "
        "and 39 degrees (p = 0.020). At the 5% level, the mean ranks differed. 'A' had the best "
        "mean rank, 1.900. Nemenyi's test separated 1 of 2 pairs (critical difference 1.250); that "
        "depends on which other models are present. By Wilcoxon's test after Holm's correction, "
        "'B' could not be separated from 'A'."
    )


def test_of_models_too_many_for_letters_no_wilcoxon_test_is_told() -> None:
    names = [f"m{place:03d}" for place in range(MOST_LETTERED + 1)]
    mean_ranks = pd.DataFrame({"model": names, "mean_rank": range(len(names)), "datasets": 14})
    told = " ".join(tell(describe_rank_tests, mean_ranks=mean_ranks.assign(wilcoxon_group="")))
    assert "'m000' had the best mean rank" in told
    assert "Wilcoxon" not in told
    assert "could not be separated" not in told


def test_a_leader_apart_from_all_is_told() -> None:
    mean_ranks = make_table("mean_ranks").assign(wilcoxon_group=["a", "b", "b"])
    _, results = tell(describe_rank_tests, mean_ranks=mean_ranks)
    assert results.endswith("correction, every other model was separated from 'A'.")


def test_models_that_never_meet_have_no_ranks() -> None:
    mean_ranks = make_table("mean_ranks").assign(mean_rank=NAN, datasets=0)
    _, results = tell(describe_rank_tests, mean_ranks=mean_ranks)
    assert "No two models had a dataset in common." in results
    assert "Wilcoxon" not in results


@pytest.mark.parametrize(
    ("p", "verdict"),
    [
        ((0.2, 0.1), "this is no evidence of different mean ranks, nor"),
        ((0.06, 0.04), "these tests disagreed"),
    ],
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
    methods, results = tell(describe_rank_tests, **tables)
    assert results.startswith("No test of all models together could be computed.")
    assert "Nemenyi's test needs a dataset that all models have" in results
    assert "Pairs were compared by Wilcoxon's signed-rank test" in methods
    tables["friedman"].loc[0] = ["skillings_mack", 10.1, 3, NAN, 0.018, 4, 15, 58, 0]
    methods += tell(describe_rank_tests, **tables)[0]
    assert "The test of Skillings and Mack used all datasets on which several models" in methods
    assert "Friedman" not in methods
    assert "Nemenyi" not in methods


def test_profiles_name_the_leaders_and_the_pool() -> None:
    methods, results = tell(describe_profiles, nonpositive=2)
    assert "2 cells had scores of 0 or less" in methods
    assert results == (
        "By raw scores, 'A' had the largest area, 90%. By normalized scores, 'B' had the largest "
        "area, 85%. Areas depend on which other models are present, and have no intervals."
    )


def test_a_leader_on_few_datasets_is_told_with_their_number() -> None:
    areas = make_table("profile_area").assign(datasets_raw=[3, 8])
    assert (
        "'A' (on 3 of 8 datasets) had the largest" in tell(describe_profiles, profile_area=areas)[1]
    )
    elo = make_table("elo").assign(datasets=[5, 8])
    _, results = tell(describe_ratings, elo=elo)
    assert results.startswith("'A' (on 5 of 8 datasets) had the highest rating")
    assert "'A' (on 5 of 8 datasets) had the highest win rate" in results
    mean_ranks = make_table("mean_ranks").assign(datasets=[5, 8, 8], mean_rank=[1, 1, 3])
    _, results = tell(describe_rank_tests, mean_ranks=mean_ranks)
    assert "'A' (on 5 of 8 datasets) and 'B' shared the best mean rank, 1.000." in results
    groups = make_table("groups").assign(datasets=[2, 3, 3])
    _, sea, _ = tell(describe_groups, groups=groups)
    assert "'A' (on 2 of 3 datasets) had the highest IQM" in sea
    cells = make_table("improvability_datasets").assign(dataset=["d", "e"])
    table = make_table("improvability").assign(datasets=[1, 2])
    _, results = tell(describe_improvability, improvability=table, improvability_datasets=cells)
    assert results.startswith("'A' (on 1 of 2 datasets) had the lowest improvability")


def test_ratings_name_leader_winner_and_pool() -> None:
    methods, results = tell(describe_ratings)
    assert "Elo scale, mean 1000)" in methods
    assert results == (
        "'A' had the highest rating, 1100 (95% interval 1050 to 1200). 1 model had no "
        "interval, for want of repeated runs or of datasets: 'B'. 'A' had the highest win rate, "
        "averaged over opponents: 75% of datasets. Only differences of ratings mean something (400 "
        "points are odds of ten to one); they depend on which other models are present."
    )


def test_a_leader_without_interval_has_no_range_of_ranks() -> None:
    ends = ["rank_low", "rank_high"]
    elo = make_table("elo").assign(ci_low=NAN, ci_high=NAN, rank_low=NAN, rank_high=NAN)
    elo[ends] = elo[ends].astype("Int64")
    _, results = tell(describe_ratings, elo=elo)
    assert results.startswith("'A' had the highest rating, 1100. No model had runs")


def test_ends_that_hang_on_the_ridge_are_told() -> None:
    # Half of the 2.5% that lie beyond an end of a 95% interval: chance decides where the end is.
    elo = make_table("elo")
    told = "In 1% of the resamples some models only won against the rest, only lost to it or"
    assert told in tell(describe_ratings, elo=elo.assign(separated=0.0126))[1]
    assert "resamples" not in tell(describe_ratings, elo=elo.assign(separated=0.0124))[1]
    no_ends = elo.assign(separated=1.0, ci_low=NAN, ci_high=NAN)
    told = "so there are no intervals, which would depend on the ridge and not on the data."
    assert told in tell(describe_ratings, elo=no_ends)[1]


def test_models_that_never_met_are_not_compared() -> None:
    elo = make_table("elo").assign(component=[1, 2])
    told = "These groups of models never met ('A'; 'B'); ratings between them mean nothing."
    assert told in tell(describe_ratings, elo=elo)[1]
    assert "never met" not in tell(describe_ratings)[1]
    many = elo.iloc[[0, 1, 1, 1, 1]].assign(component=range(5), model=list("ABCDE"))
    assert "('A'; 'B'; 'C'; 2 more)" in tell(describe_ratings, elo=many)[1]


def test_a_model_that_wins_everywhere_is_no_measure_of_distance() -> None:
    winrate = make_table("winrate").assign(win_rate=[1.0, 0.0])
    _, results = tell(describe_ratings, winrate=winrate)
    assert "'A' and 'B' won or lost on every dataset" in results
    assert "won or lost" not in tell(describe_ratings)[1]


def test_improvability_tells_fallback_and_clipping() -> None:
    methods, results = tell(describe_improvability, without_optimum=["d"], clipped=2)
    assert "On a dataset without a known optimum ('d'), the better bound" in methods
    assert "2 scores beyond the optimum counted as errors of 0." in methods
    assert results.startswith(
        "'A' had the lowest improvability, 3.2% (95% interval over runs 1.0% to 6.0%). The highest "
        "of a single cell was 50.0%, of 'B' on 'd'."
    )


def test_robustness_names_the_worst_variation() -> None:
    methods, results = tell(describe_robustness)
    assert "on all datasets and without each of 1 dataset." in methods
    assert results == (
        "Kendall's tau-b had a median of 0.650 and was lowest, 0.300, by the median with ranks "
        "instead of scores without 'd'. 'A' came first in 2 of 2 variations. 1 of 1 pair "
        "changed order at least once, most often 'A' (ranked higher) and 'B', in 50% of "
        "variations; leaving out one dataset alone did so for 1. Leaving out 3 chosen "
        "ones of 8 datasets lets 'B' reach the mean score of 'A'."
    )
    _, safe = tell(describe_robustness, dethroning=make_table("dethroning").head(0))
    assert safe.endswith(
        "No model reaches the leader's mean score on any choice of the datasets that both have."
    )
    ahead = make_table("dethroning").assign(removed=0)
    _, behind = tell(describe_robustness, dethroning=ahead)
    assert behind.endswith("By mean score 'B' and 'C' are level with or ahead of 'A'.")
    both = pd.concat([make_table("dethroning"), make_table("dethroning").assign(model="C")])
    assert "lets 'B' and 'C' reach" in tell(describe_robustness, dethroning=both)[1]


def test_variations_without_a_best_model_do_not_count() -> None:
    robustness = make_table("robustness")
    robustness.loc[1, "best"] = ""
    assert (
        "'A' came first in 1 of 1 variation." in tell(describe_robustness, robustness=robustness)[1]
    )
    robustness.loc[1, "best"] = "B"
    assert (
        "'A' and 'B' each came first in 1 of 2 variations."
        in tell(describe_robustness, robustness=robustness)[1]
    )


def test_no_flips_are_told() -> None:
    _, results = tell(describe_robustness, flips=make_table("flips").head(0))
    assert "None of 1 pair changed order in any variation." in results


def test_groups_have_a_paragraph_each() -> None:
    methods, sea, land = tell(describe_groups)
    assert methods == (
        "The models were ranked within 2 groups (3 datasets each) by the interquartile mean (IQM) "
        "of their normalized scores. The 95% percentile intervals over runs come from 10,000 "
        "bootstrap replicates, without correction for the number of groups."
    )
    assert sea == (
        "In the group 'sea' (2 models), 'A' had the highest IQM, 0.800 (95% interval over runs "
        "0.700 to 0.900). 'B' could not be separated from it. No cell analyzed was left out."
    )
    assert land == (
        "In the group 'land' (1 model), 'A' had the highest IQM, 0.800. By its rule, every "
        "model had to have runs on each of its datasets (1 model left out). 2 cells of the models "
        "and datasets analyzed were not used. No model had runs or datasets enough for an "
        "interval."
    )


def test_conditions_have_a_paragraph_each() -> None:
    methods, full = tell(describe_conditions)
    assert methods.startswith("The ranking was compared with 1 other condition ('full')")
    assert "The models that both have were ranked anew on the datasets that both have" in methods
    assert "by the IQM of cells that have runs in both" in methods
    assert methods.endswith("whose noise alone lowers them where conditions agree.")
    assert full == (
        "With 'full' (5 models on 8 datasets), Kendall's tau-b was 0.800 (95% interval over "
        "datasets 0.500 to 1.000) and Spearman's rho was 0.900 (95% interval over datasets "
        "0.600 to 1.000). 2 models changed rank, at most by 1 place ('A' and 'B'), which noise "
        "may explain. 2 cells of the models and datasets analyzed were not used."
    )
    methods, _ = tell(describe_conditions, aggregation="trimmed_mean")
    assert "by the trimmed mean of cells" in methods


def test_a_condition_with_too_little_in_common_has_no_correlation() -> None:
    conditions = make_table("conditions").assign(estimate=NAN, models=1)
    methods, full = tell(describe_conditions, conditions=conditions)
    assert "noise" not in methods
    assert full.startswith("With 'full' there was no correlation to compute (1 model on 8 datasets")


def test_sample_size_names_widths_and_cells() -> None:
    methods, results = tell(describe_sample_size)
    assert "with the one-sided upper 80% limit of the variance" in methods
    assert results == (
        "The median width to expect was 0.060 with 3, 0.040 with 5, 0.025 with 10 and 0.015 with "
        "20 runs per dataset, against 0.050 with the present runs. With 5 runs per dataset, about "
        "80% of studies or more find two models 0.040 apart, or 0.070 allowing for all pairs at "
        "the 95% level. Of 1 pair, an expected 0.500 stood in the wrong order, if either order of "
        "a pair was as likely before. One more run would lower the sum of the models' variances "
        "by 40% for 'A' on 'd' (3 runs now) and by 20% for 'B' on 'd' (1 run now)."
    )


def test_widths_are_those_of_the_kind_of_interval() -> None:
    methods, _ = tell(describe_sample_size)
    assert methods.startswith("The full width of the 95% calibrated interval over runs of each")
    assert "a Student's t quantile" in methods
    methods, _ = tell(describe_sample_size, interval="percentile")
    assert "95% percentile interval over runs" in methods
    assert "a normal quantile" in methods


def test_few_misordered_pairs_are_not_counted() -> None:
    _, results = tell(describe_sample_size, misordered=0.04)
    assert "Of 1 pair, fewer than 0.05 were expected in the wrong order." in results


def test_sample_size_of_one_model_has_no_order() -> None:
    widths = make_table("seed_widths").head(4)
    nothing = {name: make_table(name).head(0) for name in ("next_seeds", "detectable")}
    _, results = tell(describe_sample_size, seed_widths=widths, **nothing)
    assert results.startswith("The width to expect was 0.060 with 3, 0.040 with 5")
    assert "With a single model there was no order to improve." in results
    assert results.endswith("No cell is known where one more run would help.")


def test_undecided_comparisons_are_told_apart() -> None:
    rope = make_table("rope").assign(
        decision=["undecided", "undecided", "undecided", "model better"],
        p_model_better=[0.01, 0.0, 0.4, 0.99],
    )
    pairwise = make_table("pairwise").assign(wilcoxon_p_holm=0.01)
    _, results = tell(describe_pairwise, rope=rope, pairwise=pairwise)
    assert "'A' was worse than 'C'. 'A' against 'B' stayed undecided." in results
    # Wilcoxon's test does not agree.
    _, results = tell(describe_pairwise, rope=rope)
    assert "worse" not in results


def test_verdicts_on_the_reference_allow_for_all_pairs() -> None:
    # 0.97 is more than 0.95, and less than 1 - 0.05 / 3.
    rope = make_table("rope").assign(p_reference_better=0.97)
    assert tell(describe_pairwise, rope=rope)[1].count("stayed undecided at posterior") == 1


def test_full_agreement_is_told_once() -> None:
    _, results = tell(
        describe_robustness, robustness=make_table("robustness").assign(kendall_tau=1.0)
    )
    assert results.startswith("Kendall's tau-b was 1.000 in every variation.")


def test_an_infinite_statistic_is_a_word() -> None:
    # The table leaves an infinite statistic empty.
    for statistic in (NAN, np.inf):
        friedman = make_table("friedman").assign(test_statistic=[4.0, statistic], p=[0.02, 0.0])
        _, results = tell(describe_rank_tests, friedman=friedman)
        assert "F was infinite (all datasets agree). At the 5%" in results


def test_long_lists_of_names_are_cut() -> None:
    names = [f"M{place}" for place in range(8)]
    rope = make_table("rope").iloc[[1] * 8].assign(model=names, p_reference_better=1.0)
    pairwise = make_table("pairwise").iloc[[0] * 8].assign(model_b=names)
    _, results = tell(describe_pairwise, rope=rope, pairwise=pairwise)
    assert "'A' was better than 'M0', 'M1', 'M2', 'M3', 'M4' and 3 more." in results
