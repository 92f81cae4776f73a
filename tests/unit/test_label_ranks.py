"""Label sets, and the ranks of true labels among the scores of all classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.errors import ValidationError
from capmap.multilabel import outcomes
from capmap.multilabel.outcomes import arrange_labels
from tests.multilabel_oracle import arrange_case, draw_case, order_classes


def expect_ranks(scores: np.ndarray, sets: list[list[int]], single: list[int]) -> outcomes.Ranks:
    orders = [order_classes(row) for row in scores.tolist()]
    pairs = zip(orders, sets, strict=True)
    return outcomes.Ranks(
        labels=np.array([order.index(c) for order, own in pairs for c in sorted(own)], dtype=int),
        single=np.array(
            [o.index(c) if c >= 0 else -1 for o, c in zip(orders, single, strict=True)]
        ),
    )


def assert_equal(found: outcomes.Ranks, expected: outcomes.Ranks) -> None:
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.single, expected.single)


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["float16", "float32", "float64", ">f4"]),
    st.sampled_from([1, 2000, 1 << 21]),
)
def test_ranks_are_those_of_sorting_all_classes(
    seed: int, images: int, classes: int, dtype: str, block: int
) -> None:
    scores, sets, single = draw_case(seed, images=images, classes=classes)
    labels = arrange_case(sets, single, classes)
    expected = expect_ranks(scores, sets, single)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(outcomes, "BLOCK_BYTES", block)
        for matrix in (scores.astype(dtype), np.asfortranarray(scores.astype(dtype))):
            assert_equal(outcomes.rank_labels(matrix, labels), expected)


@pytest.mark.parametrize("classes", [2039, 2040, 2041, 5000])
def test_counts_beyond_one_byte_are_counted(classes: int) -> None:
    # The last class is a label and lowest, first among equals, or last among equals.
    rising = np.arange(classes, 0, -1, dtype=np.float32)
    scores = np.stack([rising, rising[::-1], np.zeros(classes, dtype=np.float32)])
    labels = arrange_labels([[classes - 1]] * 3, n_classes=classes)
    assert outcomes.rank_labels(scores, labels).labels.tolist() == [classes - 1, 0, classes - 1]


def test_the_lowest_class_wins_a_tie() -> None:
    labels = arrange_labels([[0, 1, 2]], n_classes=3, single=[1])
    found = outcomes.rank_labels(np.array([[0.5, 0.5, 0.5]]), labels)
    assert found.labels.tolist() == [0, 1, 2]
    assert found.single.tolist() == [1]


def test_infinite_scores_have_their_place() -> None:
    scores = np.array([[-np.inf, np.inf, 0.0, -np.inf, np.inf]], dtype=np.float32)
    labels = arrange_labels([[0, 1, 2, 3, 4]], n_classes=5)
    assert outcomes.rank_labels(scores, labels).labels.tolist() == [3, 0, 2, 4, 1]


def test_minus_zero_equals_zero_and_the_smallest_numbers_differ() -> None:
    tiny = np.nextafter(np.float32(0), np.float32(1))
    scores = np.array([[0.0, -0.0, tiny, -tiny]], dtype=np.float32)
    labels = arrange_labels([[0, 1, 2, 3]], n_classes=4)
    assert outcomes.rank_labels(scores, labels).labels.tolist() == [1, 2, 0, 3]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("classes", [7, 8])
def test_the_first_nan_is_named(dtype: str, classes: int) -> None:
    scores = np.zeros((300, classes), dtype=dtype)
    scores[[200, 200, 250], [5, 3, 0]] = np.nan
    sets = [[1, 2]] * 300
    ids = [f"{place}.jpg" for place in range(300)]
    labels = arrange_labels(sets, n_classes=classes, images=ids)
    with pytest.raises(ValidationError, match=r"^The score of class 3 is NaN for image 201 \('200"):
        outcomes.rank_labels(scores, labels)


def test_nan_is_found_in_images_without_labels() -> None:
    labels = arrange_labels([[0], []], n_classes=2)
    with pytest.raises(ValidationError, match=r"class 1 is NaN for image 2\."):
        outcomes.rank_labels(np.array([[0.0, 1.0], [0.0, np.nan]]), labels)


def test_scores_that_do_not_fit_are_refused() -> None:
    labels = arrange_labels([[0], [1]], n_classes=2)
    for shape, words in (((3, 2), "3 by 2"), ((2, 3), "2 by 3"), ((4,), "shape 4;")):
        with pytest.raises(ValidationError, match=rf"{words}.* 2 images and 2 classes"):
            outcomes.rank_labels(np.zeros(shape), labels)
    for dtype in ("int64", "bool", "complex128"):
        with pytest.raises(ValidationError, match=f"Scores are {dtype}; they must be float16"):
            outcomes.rank_labels(np.zeros((2, 2), dtype=dtype), labels)


def test_labels_are_sorted_and_repeated_ones_merged() -> None:
    labels = arrange_labels([[5, 1, 5, 5], [], [0]], n_classes=6)
    assert labels.classes.tolist() == [1, 5, 0]
    assert labels.offsets.tolist() == [0, 2, 2, 3]
    assert labels.merged == 2
    assert labels.single.tolist() == [-1, -1, -1]
    assert labels.images == ["", "", ""]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"sets": [[0], [3, 4]]}, r"2 labels are no class from 0 to 2: first 3 of image 2 \('b'\)"),
        ({"sets": [[-1], [0]]}, r"1 label is no class from 0 to 2: first -1 of image 1 \('a'\)"),
        ({"single": [0, 3]}, r"1 single label is no class from 0 to 2: first 3 of image 2"),
        ({"single": [-2, 0]}, r"first -2 of image 1"),
    ],
)
def test_wrong_labels_are_refused(wrong: dict, message: str) -> None:
    good = {"sets": [[0], [1]], "single": [0, -1], "images": ["a", "b"], "n_classes": 3}
    with pytest.raises(ValidationError, match=message):
        arrange_labels(**(good | wrong))
