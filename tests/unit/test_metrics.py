"""The registry of metrics: names, directions and natural bounds."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap import metrics


def find(name):
    metric = metrics.find_metric(name)
    assert metric is not None, name
    return metric


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Overall_Accuracy", "accuracy"),
        ("OA", "accuracy"),
        ("Top-1", "accuracy"),
        ("Balanced-Accuracy", "balanced accuracy"),
        ("Multilabel_F1_Score", "F1"),
        ("macro_f1", "F1"),
        ("Multiclass_Jaccard_Index", "IoU"),
        ("mIoU", "IoU"),
        ("average_precision", "AP"),
        ("ROC AUC", "AUROC"),
        ("R²", "R2"),
        ("r2_score", "R2"),
        ("Cohen's Kappa", "kappa"),
        ("root_mean_squared_error", "RMSE"),
        ("rouge-L", "ROUGE"),
        ("NDCG@10", "NDCG"),
        ("recall_at_5", "recall"),
        ("val/acc", "accuracy"),
        ("eval_loss_cross_entropy", None),
        ("quality", None),
        ("raw_score", None),
        ("1 - RMSE", None),
        ("1-AUC", None),
        ("100-accuracy", None),
        ("accuracy drop", None),
        ("test", None),
        ("", None),
        ("±", None),
    ],
)
def test_names_are_found_without_case_and_separators(name, known):
    metric = metrics.find_metric(name)
    assert (metric.name if metric else None) == known


def test_every_metric_of_the_real_geobench_export_is_known():
    # The names as they stand in results_and_parameters.csv, whose detection metrics carry the
    # split twice.
    known = {
        "Multilabel_F1_Score": "max",
        "Multiclass_Jaccard_Index": "max",
        "Overall_Accuracy": "max",
        "RMSE": "min",
        "test_test_map": "max",
        "test_test_segm_map": "max",
    }
    assert {name: find(name).direction for name in known} == known


@pytest.mark.parametrize(
    ("name", "direction", "low", "high"),
    [
        ("accuracy", "max", 0, 1),
        ("R2", "max", None, 1),
        ("MCC", "max", -1, 1),
        ("RMSE", "min", 0, None),
        ("ECE", "min", 0, 1),
        ("perplexity", "min", 1, None),
        ("NLL", "min", None, None),
        ("PSNR", "max", None, None),
        ("BLEU", "max", None, None),
        ("ROUGE-2", "max", None, None),
        ("WER", "min", 0, None),
    ],
)
def test_direction_and_bounds_are_those_of_the_definition(name, direction, low, high):
    metric = find(name)
    assert (metric.direction, metric.low, metric.high) == (direction, low, high)


@pytest.mark.parametrize(
    "name", ["-RMSE", "\u2212rmse", "neg_root_mean_squared_error", "test_neg_rmse"]
)
def test_a_minus_turns_the_metric_around(name):
    metric = find(name)
    assert (metric.direction, metric.low, metric.high) == ("max", None, 0.0)


def test_a_negative_that_belongs_to_the_name_does_not_turn_it_around():
    assert find("test_negative_log_likelihood").direction == "min"
    assert find("negative predictive value").direction == "max"
    assert find("-log_likelihood").direction == "min"


def test_no_name_stands_for_two_metrics():
    names = [
        metrics.canonical_name(n)
        for metric in metrics.METRICS
        for n in (metric.name, *metric.aliases)
    ]
    assert sorted(names) == sorted(set(names))


def test_bounds_are_in_order():
    for metric in metrics.METRICS:
        if metric.low is not None and metric.high is not None:
            assert metric.low < metric.high, metric.name


def test_a_misspelt_name_is_answered_with_the_nearest_known_one():
    assert metrics.suggest("acuracy") == "accuracy"
    assert metrics.suggest("Jacard_Index") == "jaccard index"
    assert metrics.suggest("wholly different") is None


@settings(max_examples=100)
@given(st.sampled_from([n for m in metrics.METRICS for n in (m.name, *m.aliases)]), st.randoms())
def test_every_alias_is_found_whatever_its_case_and_separators(alias, random):
    noisy = "".join(random.choice([c.upper(), c.lower()]) for c in alias)
    noisy = f" {noisy.replace(' ', random.choice(['_', '-', '/', '  ']))}\t"
    assert find(noisy) == find(alias)


@settings(max_examples=100)
@given(st.text())
def test_any_text_has_one_canonical_name(name):
    once = metrics.canonical_name(name)
    assert metrics.canonical_name(once) == once
    metrics.find_metric(name)
