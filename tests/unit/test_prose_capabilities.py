"""What is told of a map, of few results and of what to run next, and nothing that is not so."""

import numpy as np
import pandas as pd

from capmap.artifacts import write_text
from capmap.prose import (
    describe_capabilities,
    describe_drift,
    describe_next_results,
    describe_placements,
    describe_transfer,
)
from tests.prose_tables import DESCRIBE, TABLES, change, list_columns, make_table, tell
from tests.steps import read_step, run_step

NAN = np.nan


def test_what_was_dropped_is_counted_with_its_reason() -> None:
    methods = tell(describe_capabilities)[0]
    assert methods.startswith(
        "Of 3 models and 2 datasets with 5 results, the map holds 2 models and 2 datasets with 4 "
        "results. Those with fewer than 2 results were dropped until none was left to drop "
        "(1 model). "
    )
    datasets = pd.concat(
        [
            make_table("datasets"),
            pd.DataFrame({"dataset": ["t", "u"], "kept": 0, "dropped": ["tied", "no model left"]}),
        ]
    )
    methods = tell(describe_capabilities, datasets=datasets)[0]
    assert "had the same score, the dataset was dropped ('t')." in methods
    assert "With these went 1 dataset without any other result." in methods
    gaps, models = make_table("gaps").head(4), make_table("models").head(2)
    methods = tell(describe_capabilities, gaps=gaps, models=models)[0]
    assert methods.startswith(
        "The map holds 2 models and 2 datasets with 4 results. No model or dataset had fewer than "
        "2 results. "
    )


def test_copies_and_parts_that_never_met_are_told() -> None:
    methods = tell(describe_capabilities)[0]
    assert "copy" not in methods
    assert "connects" not in methods
    datasets = make_table("datasets").assign(duplicate_of=[None, "d"], component=[1, 2])
    models = make_table("models").assign(component=[1, 2, NAN])
    methods = tell(describe_capabilities, datasets=datasets, models=models)[0]
    assert "1 dataset is a copy of another, with the same scores ('e' of 'd')" in methods
    assert (
        "No result connects 2 parts of the map (of 1 model and 1 dataset and 1 model and 1 "
        "dataset): distances from one part to another mean nothing" in methods
    )


def test_the_verdict_follows_the_numbers_of_each_protocol() -> None:
    # Differences from plain L2: random −0.015…−0.005 against 0.02…0.04 lie apart, strict
    # −0.03…0.01 and −0.01…0.03 overlap, and with families hidden the baseline's error is lower.
    verdict = tell(describe_capabilities)[1]
    assert verdict.startswith(
        "On this study the Bayesian factors beat the best simple baseline with random results "
        "hidden, could not be separated from it with bounds hidden and did not beat it with "
        "families hidden. With random results hidden (100 results in 10 splits), their mean "
        "squared error (MSE) was 0.0600 (95% interval 0.0500 to 0.0700), against 0.1000 (95% "
        "interval 0.0800 to 0.1200) of the best baseline, additive effects of models and "
        "datasets; it was 0.0100 lower (95% interval 0.0050 to 0.0150) than that of plain L2 on "
        "the same results."
    )
    summary = change("summary", {"distance": "additive", "protocol": "random"}, mse=0.05)
    only = summary[summary["protocol"] == "random"]
    verdict = tell(describe_capabilities, summary=only)[1]
    assert verdict.startswith(
        "On this study the Bayesian factors did not beat the best simple baseline. "
    )


def test_without_plain_l2_errors_themselves_are_compared() -> None:
    names = ["difference", "difference_low", "difference_high"]
    summary = make_table("summary").assign(**dict.fromkeys(names, NAN))
    # Random: 0.05…0.07 lies below 0.08…0.12.
    verdict = tell(describe_capabilities, summary=summary)[1]
    assert "beat the best simple baseline with random results hidden" in verdict
    assert "plain L2" not in verdict
    close = change("summary", {"distance": "additive", "protocol": "random"}, mse_low=0.065)
    close = close[close["protocol"] == "random"].assign(**dict.fromkeys(names, NAN))
    verdict = tell(describe_capabilities, summary=close)[1]
    assert "could not be separated from the best simple baseline." in verdict


def test_no_difference_is_told_as_none() -> None:
    own = {"distance": "factors", "protocol": "random"}
    same = {"difference": 0.0, "difference_low": 0.0, "difference_high": 0.0}
    verdict = tell(describe_capabilities, summary=change("summary", own, **same))[1]
    assert "; it was the same as that of plain L2 on the same results." in verdict
    near = {"difference": 0.00001, "difference_low": -0.2, "difference_high": 0.2}
    verdict = tell(describe_capabilities, summary=change("summary", own, **near))[1]
    assert "the same as that of plain L2 (95% interval -0.2000 to 0.2000, which holds 0)" in verdict


def test_families_are_told_only_where_datasets_share_one() -> None:
    datasets = make_table("datasets").assign(family=["d", "e"])
    verdict = tell(describe_capabilities, datasets=datasets)[1]
    assert "same family" not in verdict
    assert "with families" not in verdict
    assert "No two datasets are of one family." in verdict


def test_the_best_distance_is_named() -> None:
    verdict = tell(describe_capabilities)[1]
    assert (
        "Of the distances alone, the L2 distance in 5 dimensions had the lowest MSE of these, "
        "0.0700 (95% interval 0.0600 to 0.0800)." in verdict
    )
    cosine = change("summary", {"distance": "cosine"}, mse=0.05)
    assert "the cosine distance in 5 dim" in tell(describe_capabilities, summary=cosine)[1]


def test_coverage_is_judged_by_how_many_results_there_are() -> None:
    # 3 of 4 lie within, which is no evidence of anything.
    trust = tell(describe_capabilities)[2]
    assert trust.startswith(
        "Of 4 results that were hidden when they were predicted, 75% lay within their 90% "
        "prediction intervals, too few to judge them by. That speaks of results like those "
        "reported. The mean absolute error was 0.250, "
        "and largest for the models 'A' (0.300) and 'B' (0.200) and the datasets 'e' (0.350) and "
        "'d' (0.150)."
    )
    # Two standard errors of 90% of 400 are 0.03, so 75% is too low; that of 100% is too high.
    many = pd.concat([make_table("predictions")] * 100, ignore_index=True)
    assert (
        "75% lay within their 90% prediction intervals, so they are too narrow here"
        in tell(describe_capabilities, predictions=many)[2]
    )
    assert (
        "so they are too wide here"
        in tell(describe_capabilities, predictions=many.assign(low=0.0, high=1.0))[2]
    )


def test_saturated_datasets_and_wide_intervals_are_warned_of() -> None:
    trust = tell(describe_capabilities)[2]
    assert "intervals are 0.80 wide on average, while the gaps on a dataset span 1, so" in trust
    assert "On 1 dataset ('d') at least half of the models have a gap of 0.1 or less" in trust
    # One of two models is the best, and so within 0.1.
    pair = make_table("datasets").assign(kept=2)
    assert "0.1 or less" not in tell(describe_capabilities, datasets=pair)[2]
    datasets = make_table("datasets").assign(saturation=0.1)
    assert "0.1 or less" not in tell(describe_capabilities, datasets=datasets)[2]


def test_placements_name_the_best_and_the_unknown() -> None:
    placed, curve = tell(describe_placements)
    assert placed == (
        "2 models with too few results for the map were placed on it without moving what is there, "
        "by 1 to 3 results each. The lowest mean gap to expect over the datasets of the map was "
        "0.300, of 'C' (from 1 result). Of 'D' little is known: the interval of the mean gap is "
        "wider than 0.5."
    )
    assert "0.1200 with 1 result and 0.0600 with 20 results known. With 1 result it was" in curve
    assert "it was 0.0200 lower (90% interval 0.0100 to 0.0300) than that of additive" in curve
    assert "89% of the hidden results lay within their 90% prediction intervals, about as" in curve
    assert "Models with more than 20 results are 20 of these" in curve
    one = make_table("placements").head(1)
    placed = tell(describe_placements, placements=one)[0]
    assert placed.startswith("1 model with too few results for the map was placed on it without")
    assert "by 1 result. The mean gap to expect" in placed
    assert "0.300 (90% interval 0.100 to 0.500), of 'C'" in placed


def test_coverage_that_is_off_is_told() -> None:
    table = make_table("error_curve").assign(coverage=0.7)
    curve = tell(describe_placements, error_curve=table)[1]
    assert "70% of the hidden results lay within their 90% prediction intervals, so" in curve
    assert "so they are too narrow" in curve
    few = tell(describe_placements, error_curve=table.assign(models=9))[1]
    assert "intervals, of too few models to judge them by" in few
    assert "Models with more than" not in few


def test_the_least_certain_result_that_matters_is_named() -> None:
    first, rest = tell(describe_next_results)
    assert "is that of 'A' on 'f', whose gap is predicted as 0.400 (90% interval 0.100 to" in first
    assert rest == "The table lists 3 results of 2 models, most of them of 'A'."


def test_drift_is_told_beside_what_other_starts_do() -> None:
    methods, results = tell(describe_drift)
    assert methods.startswith(
        "Models were added to the map in order of publication, in 3 steps from 2020-01-01 (8 "
        "models) to 2022-01-01 (30 models)"
    )
    # The median of 0.3 and 0.2 against one of 0.05.
    assert results.startswith(
        "From one step to the next, models moved by a median of 0.250; other random starts alone "
        "moved them by 0.050. Models added in any order would move them, so that is no evidence of "
        "drift. The largest was 0.300, up to 2021-01-01."
    )
    assert "2022-01-01 (90 results)" in results
    assert "0.0800 (90% interval over models 0.0600 to 0.1000), where additive" in results
    one = tell(describe_drift, drift=make_table("drift").head(1))
    assert one == [
        "All models with a date are of one step (2020-01-01, 8 models), so there was no order to "
        "replay."
    ]


def test_transfer_is_told_over_all_types_and_by_type() -> None:
    _, types = tell(describe_transfer)
    assert types.startswith(
        "With the datasets of other types, the mean squared error (MSE) on 2 types (180 "
        "predictions) was 0.0950 (90% interval 0.0700 to 0.1200), 0.0050 lower (90% interval "
        "-0.0100 to 0.0200, which holds 0) than the 0.1000 without them. They help on 'land'."
    )
    assert types.endswith("had 0.1100 from the same results.")
    none = tell(describe_transfer, transfer=make_table("transfer").head(0))
    assert none == ["There was no type of datasets with datasets enough, or types are not known."]


def test_the_step_writes_text_and_latex(tmp_path) -> None:
    names, options = DESCRIBE[describe_capabilities]
    contents = {name: ",".join(list_columns(name)) + TABLES[name] for name in names}
    contents["positions"] = "kind,name,component,centrality,x1\nmodel,A,1,0.1,0\nmodel,B,1,0.6,1\n"
    for name, content in contents.items():
        write_text(tmp_path / f"capabilities/{name}.csv", content)
    run_step("describe_capabilities", tmp_path, {}, **options)
    made = read_step("describe_capabilities", tmp_path)
    # Model A is nearer to the center than B, and has the smaller mean gap.
    assert made["centrality"]["estimate"].tolist() == [1]
    written = (tmp_path / "capabilities/capabilities.txt").read_text("utf-8")
    assert written == "\n\n".join(tell(describe_capabilities)) + "\n"
    assert (
        (tmp_path / "capabilities/capabilities_text.tex")
        .read_text("utf-8")
        .startswith("Of 3 models")
    )
