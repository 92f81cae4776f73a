"""Multi-label metrics against a brute-force oracle."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.multilabel import outcomes
from capmap.multilabel.comparisons import compare_dataset_pair, compare_model_pair, match_images
from capmap.multilabel.metrics import estimate_metrics
from capmap.multilabel.outcomes import (
    ImageValues,
    evaluate_images,
    score_images,
)
from capmap.rng import make_stream
from tests.multilabel_oracle import arrange_case, draw_case, evaluate

OPTIONS = {
    "n_resamples": 20,
    "confidence_level": 0.95,
    "make_rng": partial(make_stream, 0, "toy", "multilabel"),
}


def value_images(scores: np.ndarray, sets: list[list[int]], single: list[int]) -> ImageValues:
    labels = arrange_case(sets, single, scores.shape[1])
    return evaluate_images(score_images(labels, outcomes.rank_labels(scores, labels)))


def read_rows(table: pd.DataFrame, *columns: str) -> dict:
    return {
        (row["metric"], None if pd.isna(row["subgroup"]) else int(row["subgroup"])): tuple(
            row[column] for column in columns
        )
        for row in table.to_dict("records")
    }


def assert_close(found: dict, expected: dict) -> None:
    assert set(found) == set(expected)
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers, abs=1e-12), key


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12))
def test_metrics_equal_the_oracle_with_ties_and_empty_sets(
    seed: int, images: int, classes: int
) -> None:
    scores, sets, single = draw_case(seed, images=images, classes=classes)
    groups = [1, 2, 3, 5, classes]
    table = estimate_metrics(value_images(scores, sets, single), subgroups=groups, **OPTIONS)
    expected = evaluate(scores.tolist(), sets, single, sorted(set(groups)))
    assert_close(read_rows(table, "value", "images"), expected)


def test_metrics_of_three_images_by_hand() -> None:
    # Classes in order of score: 0 1 2 3, 3 2 1 0 and 1 0 2 3.
    scores = np.array([[4.0, 3, 2, 1], [1, 2, 3, 4], [3, 4, 2, 1]])
    found = value_images(scores, [[0], [3, 0], [0, 2, 3]], [0, 2, 3])
    rows = read_rows(estimate_metrics(found, subgroups=[1, 2, 3], **OPTIONS), "value")
    # Hits 1 of 1 {0}, 1 of 2 {3, 2} and 2 of 3 {1, 0, 2}.
    assert rows["top1", None] == pytest.approx((1 / 3,))
    assert rows["real", None] == pytest.approx((2 / 3,))
    assert rows["asma", None] == pytest.approx(((1 + 1 / 2 + 2 / 3) / 3,))


def test_empty_subgroups_are_left_out() -> None:
    scores, single = np.eye(4), [0, 1, 2, 3]
    # Two images of one label, one right; one of three labels with 3 hits; one of none.
    found = value_images(scores, [[0], [0], [2, 1, 0], []], single)
    rows = read_rows(estimate_metrics(found, subgroups=[1, 2, 3, 4], **OPTIONS), "value", "images")
    assert rows["asma", None] == (0.75, 3)
    assert rows["subgroup", 1] == (0.5, 2)
    assert ("subgroup", 2) not in rows
    assert rows["top1", None] == (1, 4)
    assert rows["real", None] == pytest.approx((2 / 3, 3))


def test_without_labels_only_the_single_label_counts() -> None:
    found = value_images(np.eye(3), [[], [], []], [0, 0, -1])
    rows = read_rows(estimate_metrics(found, subgroups=[1], **OPTIONS), "value", "images")
    assert rows == {("top1", None): (0.5, 2)}
    nothing = estimate_metrics(value_images(np.eye(1), [[]], [-1]), subgroups=[1], **OPTIONS)
    assert len(nothing) == 0
    assert str(nothing["images"].dtype) == "int64"


def test_differences_of_models_are_those_of_their_metrics() -> None:
    scores, sets, single = draw_case(7, images=50, classes=6)
    first, second = (value_images(own, sets, single) for own in (scores, scores[:, ::-1]))
    table = compare_model_pair(first, second, subgroups=[1, 2], **OPTIONS)
    one, two = (
        estimate_metrics(own, subgroups=[1, 2], **OPTIONS)["value"] for own in (first, second)
    )
    np.testing.assert_allclose(table["difference"], one - two, atol=1e-12)
    known = table["ci_low"].notna()
    assert (table["ci_low"] <= table["ci_high"])[known].all()
    same = compare_model_pair(first, first, subgroups=[1, 2], **OPTIONS)
    assert same["difference"].eq(0).all()
    assert same[["ci_low", "ci_high"]].isna().all(axis=None), "they differ on no image"


def test_only_models_on_the_same_images_are_compared() -> None:
    first, second = (value_images(np.eye(2), sets, [0, 1]) for sets in ([[0], [1]], [[0], []]))
    with pytest.raises(ValueError, match="same images"):
        compare_model_pair(first, second, subgroups=[1], **OPTIONS)


def test_differences_of_datasets_hold_the_metrics_of_both() -> None:
    cases = [draw_case(seed, images=size, classes=6) for seed, size in ((1, 30), (2, 45))]
    first, second = (value_images(*case) for case in cases)
    ids = [f"a{place}" for place in range(30)], [f"a{place}" for place in range(20, 65)]
    shared = match_images(*ids)
    table = compare_dataset_pair(
        first, second, shared=shared, subgroups=([1, 2], [1, 2]), **OPTIONS
    )
    for name, own in (("a", first), ("b", second)):
        alone = estimate_metrics(own, subgroups=[1, 2], **OPTIONS)
        np.testing.assert_allclose(table[f"value_{name}"], alone["value"])
        assert table[f"images_{name}"].tolist() == alone["images"].tolist()
    np.testing.assert_allclose(table["difference"], table["value_a"] - table["value_b"])
    both = sum(bool(cases[0][1][20 + k]) and bool(cases[1][1][k]) for k in range(10))
    assert table.set_index("metric").loc["real", "images_shared"] == both
    assert len(shared.first) == 10


def test_metrics_that_one_dataset_lacks_have_no_difference() -> None:
    first = value_images(np.eye(3), [[0], [1, 2], [2]], [0, 1, 2])
    second = value_images(np.eye(3), [[0], [1], [2]], [-1, -1, -1])
    table = compare_dataset_pair(
        first, second, shared=match_images([], []), subgroups=([1, 2], [1, 2]), **OPTIONS
    )
    rows = read_rows(table, "images_a", "images_b")
    assert ("top1", None) not in rows
    assert ("subgroup", 2) not in rows
    assert rows["subgroup", 1] == (2, 3)
    # ASMA of the first dataset is over two subgroups, that of the second over one.
    assert read_rows(table, "value_a", "value_b")["asma", None] == (0.75, 1)
