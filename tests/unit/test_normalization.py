"""Bounds, directions, transforms, selection and shards."""

import pytest

from capmap.normalization import (
    Reference,
    apply_transforms,
    count_runs,
    drop_incomplete,
    find_missing,
    normalize_scores,
    select_runs,
)
from capmap.shards import split_shards
from tests.toy_runs import find_bounds, find_problem, make_runs, normalize, resolve

PLAIN = make_runs(("A", "D", 0.2), ("B", "D", 0.6))
ERRORS = make_runs(("A", "D", 2.0), ("B", "D", 6.0), metric="RMSE")


# Precedence


def test_natural_bounds_of_a_known_metric_are_the_default():
    assert find_bounds(PLAIN) == ("max", 0.0, 1.0, "natural", "natural")


def test_normalization_of_the_study_wins_over_natural_bounds():
    found = find_bounds(PLAIN, normalization={"low": 0.1, "high": "natural"})
    assert found == ("max", 0.1, 1.0, "study", "natural")


def test_references_win_over_the_study():
    found = find_bounds(
        PLAIN, normalization={"low": 0.1}, references={"D": Reference(low=0.3, high=0.9)}
    )
    assert found == ("max", 0.3, 0.9, "references", "references")


def test_a_metric_rule_wins_over_references_side_by_side():
    found = find_bounds(
        PLAIN, metrics={"ACCURACY": {"low": 0.4}}, references={"D": Reference(low=0.3, high=0.9)}
    )
    assert found == ("max", 0.4, 0.9, "metric", "references")


def test_a_dataset_rule_wins_over_a_metric_rule():
    found = find_bounds(
        PLAIN,
        metrics={"accuracy": {"low": 0.4, "high": 0.8, "direction": "max"}},
        datasets={"D": {"low": 0.5, "direction": "min"}},
    )
    assert found == ("min", 0.5, 0.8, "dataset", "metric")


def test_a_rule_can_go_back_to_natural_bounds():
    found = find_bounds(
        PLAIN, datasets={"D": {"high": "natural"}}, normalization={"low": 0.1, "high": 0.8}
    )
    assert found == ("max", 0.1, 1.0, "study", "dataset: natural")


def test_metric_rules_match_without_case_and_separators():
    runs = make_runs(("A", "D", 2.0), metric="Test Metric")
    found = find_bounds(runs, metrics={"test_metric": {"direction": "min", "low": 0, "high": 9}})
    assert found == ("min", 0.0, 9.0, "metric", "metric")


def test_observed_bounds_are_the_extreme_runs_of_any_model():
    found = find_bounds(PLAIN, normalization={"low": "observed", "high": "observed"})
    assert found == ("max", 0.2, 0.6, "study: observed", "study: observed")


def test_model_bounds_are_floor_and_ceiling():
    bounds = {"low": {"model": "A"}, "high": {"model": "B"}}
    found = find_bounds(PLAIN, normalization=bounds)
    assert found == ("max", 0.2, 0.6, "study: model A", "study: model B")
    assert normalize(PLAIN, normalization=bounds)["D"].to_dict() == {"A": 0.0, "B": 1.0}


def test_model_bounds_change_places_where_lower_is_better():
    # B has the greater error, so it is the floor: B maps to 0 and A, the ceiling, to 1.
    bounds = {"low": {"model": "B"}, "high": {"model": "A"}}
    found = find_bounds(ERRORS, datasets={"D": bounds})
    assert found == ("min", 2.0, 6.0, "dataset: model A", "dataset: model B")
    assert normalize(ERRORS, datasets={"D": bounds})["D"].to_dict() == {"A": 1.0, "B": 0.0}


def test_a_reference_model_can_be_the_floor_of_an_error_that_starts_at_0():
    found = find_bounds(ERRORS, metrics={"RMSE": {"low": {"model": "B"}}})
    assert found == ("min", 0.0, 6.0, "natural", "metric: model B")


def test_model_bounds_are_means_over_seeds():
    runs = make_runs(("A", "D", 0.1, "1"), ("A", "D", 0.3, "2"), ("B", "D", 0.5, "1"))
    assert find_bounds(runs, normalization={"low": {"model": "A"}})[1] == pytest.approx(0.2)


def test_numbers_as_bounds_are_raw_scores_also_where_lower_is_better():
    # (0 + 100 − 12) / 100 and so on, as in the toy of the tutorial.
    runs = make_runs(("A", "D", 12.0), ("B", "D", 45.0), metric="rmse")
    scores = normalize(runs, metrics={"RMSE": {"low": 0, "high": 100}})["D"]
    assert scores.to_list() == pytest.approx([0.88, 0.55])


# Transforms


def test_scale_rmse_makes_higher_better_between_0_and_1():
    runs = make_runs(("A", "D", 0.2), ("B", "D", 0.4), metric="RMSE")
    datasets = {"D": {"transform": {"scale_rmse": {"std": 0.25}}}}
    assert find_bounds(runs, datasets=datasets) == ("max", 0.0, 1.0, "natural", "natural")
    assert normalize(runs, datasets=datasets)["D"].to_list() == pytest.approx([0.95, 0.9])


def test_a_metric_rule_is_carried_over_to_converted_scores():
    # Errors of 0 and 2 are scores of 1 and 1 − 2 · 0.25.
    datasets = {"D": {"transform": {"scale_rmse": {"std": 0.25}}}}
    found = find_bounds(
        ERRORS, metrics={"RMSE": {"direction": "min", "low": 0, "high": 2}}, datasets=datasets
    )
    assert found == ("max", 0.5, 1.0, "metric", "metric")


def test_a_floor_model_of_a_metric_rule_stays_the_floor_of_converted_scores():
    datasets = {"D": {"transform": {"scale_rmse": {"std": 0.1}}}}
    scores = normalize(ERRORS, metrics={"RMSE": {"low": {"model": "B"}}}, datasets=datasets)
    assert scores["D"]["B"] == pytest.approx(0)
    assert scores["D"]["A"] > 0


def test_bounds_of_a_dataset_rule_are_about_converted_scores():
    rule = {"transform": {"scale_rmse": {"std": 0.1}}, "low": 0.2, "high": "observed"}
    found = find_bounds(ERRORS, datasets={"D": rule})
    assert found == ("max", 0.2, 0.8, "dataset", "dataset: observed")


def test_transforms_leave_other_datasets_and_the_input_alone():
    runs = make_runs(("A", "D", 0.2), ("A", "E", 0.2), metric="RMSE")
    converted = apply_transforms(runs, {"D": {"transform": {"scale_rmse": {"std": 1.0}}}})
    assert converted["score"].to_list() == [0.8, 0.2]
    assert runs["score"].to_list() == [0.2, 0.2]


# Problems


def test_an_unknown_metric_asks_for_its_direction_and_bounds():
    runs = make_runs(("A", "D", 0.2), ("A", "E", 0.3), metric="acuracy")
    problem = find_problem(runs)
    assert (problem.code, problem.value, problem.line) == ("unknown_metric", "acuracy", 2)
    assert "nearest known metric is 'accuracy'" in problem.reason
    assert "(2 datasets: 'D', 'E')" in problem.reason
    assert "metrics: {acuracy: {direction: max, low: NUMBER, high: NUMBER}}" in problem.remedy


def test_an_unknown_metric_with_bounds_still_asks_for_its_direction():
    problem = find_problem(
        make_runs(("A", "D", 1.0), metric="zz 9"), normalization={"low": 0, "high": 2}
    )
    assert problem.code == "unknown_metric"
    assert 'metrics: {"zz 9": {direction: max}}' in problem.remedy


def test_an_unbounded_metric_asks_for_its_bound():
    problem = find_problem(ERRORS)
    assert (problem.code, problem.source, problem.line) == ("unbounded_metric", "runs.csv", 2)
    assert "no natural upper bound" in problem.reason
    assert "metrics: {RMSE: {high: NUMBER}}" in problem.remedy


def test_an_unknown_reference_model_is_named_with_the_nearest_one():
    runs = make_runs(("Human", "D", 0.2), ("B", "D", 0.6))
    problem = find_problem(runs, normalization={"high": {"model": "Humann"}})
    assert problem.code == "absent_model"
    assert "not among the runs (1 dataset: 'D')" in problem.reason
    assert problem.remedy == "Did you mean 'Human'?"


def test_a_reference_model_without_runs_on_a_dataset_is_an_error():
    runs = make_runs(("Human", "D", 0.2), ("B", "D", 0.6), ("B", "E", 0.6))
    problem = find_problem(runs, normalization={"high": {"model": "Human"}})
    assert problem.code == "absent_model"
    assert "has no run here (1 dataset: 'E')" in problem.reason


@pytest.mark.parametrize(
    "rule", [{"low": 1, "high": 0}, {"low": 0.5, "high": 0.5}, {"high": float("inf")}]
)
def test_bounds_that_are_not_finite_and_in_order_are_an_error(rule):
    problem = find_problem(PLAIN, datasets={"D": rule})
    assert (problem.severity, problem.code) == ("error", "bad_bounds")
    assert f"high {float(rule['high'])!r} (dataset)" in problem.reason


def test_a_constant_dataset_with_observed_bounds_is_left_out_with_a_warning():
    runs = make_runs(("A", "D", 0.5), ("B", "D", 0.5), ("A", "E", 0.1), ("B", "E", 0.2))
    bounds, (problem,) = resolve(runs, normalization={"low": "observed", "high": "observed"})
    assert bounds["dataset"].to_list() == ["E"]
    assert (problem.severity, problem.code, problem.value) == ("warning", "constant_dataset", "D")
    assert normalize_scores(runs, bounds)["dataset"].unique().tolist() == ["E"]


def test_a_constant_dataset_with_fixed_bounds_stays():
    runs = make_runs(("A", "D", 0.5), ("B", "D", 0.5))
    assert normalize(runs)["D"].to_list() == [0.5, 0.5]


@pytest.mark.parametrize(
    "reference", [Reference(0, 1, metric="f1"), Reference(0, 1, metric="acc", direction="min")]
)
def test_references_for_another_metric_or_direction_are_an_error(reference):
    problem = find_problem(PLAIN, references={"D": reference})
    assert (problem.severity, problem.code) == ("error", "reference_mismatch")


def test_references_may_spell_the_metric_another_way():
    found = find_bounds(PLAIN, references={"D": Reference(0, 0.9, "Overall Accuracy", "max")})
    assert found[2:] == (0.9, "references", "references")


def test_a_dataset_that_the_references_lack_is_a_warning():
    problem = find_problem(PLAIN, references={"E": Reference(0, 1)})
    assert (problem.severity, problem.code) == ("warning", "unreferenced_dataset")
    assert "(1 dataset: 'D')" in problem.reason


# Selection


def test_selection_can_include_exclude_or_list_names():
    runs = make_runs(("A", "D", 1), ("B", "D", 1), ("C", "D", 1), ("A", "E", 1))
    kept, dropped = select_runs(
        runs, models={"include": ["A", "B"], "exclude": ["B"]}, datasets=["D"]
    )
    assert kept[["model", "dataset"]].to_numpy().tolist() == [["A", "D"]]
    assert dropped.to_numpy().tolist() == [
        ["model", "B", "Excluded by select.models."],
        ["model", "C", "Not included by select.models."],
        ["dataset", "E", "Not included by select.datasets."],
    ]


def test_selecting_all_drops_nothing():
    kept, dropped = select_runs(PLAIN)
    assert kept.equals(PLAIN)
    assert dropped.columns.to_list() == ["kind", "name", "reason"]
    assert dropped.empty


RAGGED = make_runs(("A", "D", 1), ("A", "E", 1), ("B", "D", 1))


@pytest.mark.parametrize(
    ("policy", "kept", "dropped"),
    [
        ("adjust", 3, []),
        ("error", 3, []),
        ("drop_models", 2, [["model", "B", "No runs for 1 dataset: 'E'."]]),
        ("drop_datasets", 2, [["dataset", "E", "No runs for 1 model: 'B'."]]),
    ],
)
def test_incomplete_models_or_datasets_are_dropped(policy, kept, dropped):
    runs, table = drop_incomplete(RAGGED, policy=policy)
    assert len(runs) == kept
    assert table.to_numpy().tolist() == dropped


def test_runs_are_counted_per_cell():
    counts = count_runs(RAGGED)
    assert counts.to_numpy().tolist() == [[1, 1], [1, 0]]
    assert find_missing(counts) == {"B": ["E"]}


def test_shards_do_not_depend_on_order_or_other_models():
    names = [f"model {n}" for n in range(100)]
    shards = split_shards(names, 4)
    assert split_shards(reversed([*names, names[3]]), 4) == shards
    assert sorted(name for shard in shards.values() for name in shard) == sorted(names)
    fewer = split_shards(names[:50], 4)
    assert all(set(fewer[shard]) <= set(shards[shard]) for shard in fewer)
    # 100 names over 4 shards: 25 ± 4.3; a lopsided hash would leave this range.
    assert all(10 <= len(shard) <= 40 for shard in shards.values())
