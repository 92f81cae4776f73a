"""Scores and names that are refused, doubted or let through because of what their metric is."""

import numpy as np
import pytest

from tests.toy_runs import make_runs
from tests.toy_studies import codes, column, find_one, validate

WIDE = {"low": -1, "high": 1}


@pytest.mark.parametrize("metric", ["R2", "NSE", "KGE"])
@pytest.mark.parametrize("scores", [(-5, 0.5, 0.6, 0.7, 0.8), (-2, -3, -1.8, 0.7)])
def test_low_scores_of_a_metric_without_lower_bound_are_no_percentages(metric, scores):
    runs = column(*scores, metric=metric)
    assert codes(runs, metrics={metric: WIDE}) == ["out_of_bounds"]
    assert codes(runs, normalization=WIDE) == ["out_of_bounds"]


def test_percentages_of_a_metric_without_lower_bound_are_known_by_those_above_one():
    # no R2 exceeds 1, whatever its bounds
    assert codes(column(-5, 50, 60, metric="R2"), metrics={"R2": WIDE}) == ["percent"]


def test_a_dataset_called_like_the_column_of_models_is_refused_once():
    runs = make_runs(("A", "model", 0.1), ("B", "model", 0.3), ("A", "Model", 0.1), ("B", "D", 0.2))
    problem = find_one(runs, "reserved_dataset", incomplete="adjust")
    assert (problem.severity, problem.value) == ("error", "model")
    assert "Rename the dataset" in problem.remedy
    select = {"datasets": {"exclude": ["model"]}}
    assert "reserved_dataset" not in codes(runs, incomplete="adjust", select=select)


def test_repeats_in_a_matrix_get_a_remedy_that_a_matrix_can_follow():
    different = make_runs(("A", "D", 0.1), ("A", "D", 0.2))
    equal = make_runs(("A", "D", 0.1), ("A", "D", 0.1))
    for runs, code in ((different, "duplicate"), (equal, "seedless_repeat")):
        remedy = find_one(runs.assign(seed=""), code, layout="matrix").remedy
        assert "seed: COLUMN" not in remedy
        assert "long table" in remedy


@pytest.mark.parametrize("metric", ["error rate", "ECE"])
def test_a_bounded_error_near_one_is_doubted_unless_its_direction_is_chosen(metric):
    runs = column(0.94, 0.95, 0.96, metric=metric)
    problem = find_one(runs, "suspicious_direction")
    assert problem.severity == "warning"
    assert "at least 0.9" in problem.reason
    assert codes(runs, metrics={metric: {"direction": "min"}}) == []
    assert codes(column(0.6, 0.95, 0.96, metric=metric)) == []


@pytest.mark.parametrize("score", [1e101, -1e300])
def test_a_score_too_large_to_compute_with_is_an_error_or_left_out(score):
    runs = column(0.5, score, 0.7, metric="reward")
    rule = {"reward": {"low": 0, "high": 1}}
    assert codes(runs, metrics=rule) == ["huge_score"]
    left = validate(runs, metrics=rule, invalid="quarantine")
    assert left.errors == []
    assert np.array_equal(left.runs["score"], [0.5, 0.7])
    assert left.counts["rows_rejected"] == 1


def test_bounds_with_a_difference_that_overflows_are_an_error():
    # 1e308 - -1e308 = 2e308 is beyond the largest float, 1.8e308
    rule = {"reward": {"low": -1e308, "high": 1e308}}
    problem = find_one(column(1, 2, metric="reward"), "bad_bounds", metrics=rule)
    assert "a finite difference" in problem.reason
