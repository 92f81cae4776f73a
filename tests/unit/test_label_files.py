"""Label files are read as they are meant, joined by id or order, and refused with one message."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.errors import ValidationError
from capmap.exports import files
from capmap.exports.label_files import LabelFile, join_labels, read_classes, read_labels
from capmap.problems import UnreadableExportError
from tests.found_problems import place

SHARED = Path(__file__).parents[3] / "shared"
REAL = SHARED / "data/imagenet/real.json"
COUNTS = SHARED / "reference/imagenet/label_counts.csv"
CLASSES = ["tench", "crane", "maillot", "crane"]


@pytest.fixture
def write(write):
    return lambda content, name="labels.json": write(content, name)


def refuse(path, reader=read_labels, **options):
    with pytest.raises(UnreadableExportError) as caught:
        reader(path, **options)
    assert len(caught.value.problems) == 1, str(caught.value)
    problem = caught.value.problems[0]
    assert problem.source == path
    assert problem.reason.endswith(".")
    return problem


@pytest.mark.skipif(not REAL.exists(), reason="the ReaL labels are not here")
def test_the_real_labels_of_imagenet_have_the_published_counts():
    labels = read_labels(str(REAL))
    counts = Counter(len(labels) for labels in labels.sets)
    published = pd.read_csv(COUNTS, index_col="dataset").loc["ImageNetV1"]
    assert labels.images is None
    assert counts[0] == 3163
    assert [counts[n] for n in range(1, 6)] == published.iloc[:5].to_list()
    assert sum(counts.values()) - sum(counts[n] for n in range(6)) == published.iloc[5]


def test_a_list_is_in_the_order_of_the_images(write):
    labels = read_labels(write([[], [970, 795], 3, [3.0], [5, 5]]))
    assert labels.sets == [[], [970, 795], [3], [3], [5, 5]]
    assert labels.images is None


def test_an_object_is_keyed_by_image(write):
    content = {" b.jpg ": [2, 0], "a.jpg": 1, "c.jpg": []}
    for given_content in (content, json.dumps(content, indent=1), "\ufeff" + json.dumps(content)):
        labels = read_labels(write(given_content))
        assert labels.images == ["b.jpg", "a.jpg", "c.jpg"]
        assert labels.sets == [[2, 0], [1], []]
    packed = gzip.compress(json.dumps(content).encode(), mtime=0)
    assert read_labels(write(packed, "labels.json.gz")).sets == [[2, 0], [1], []]


@pytest.mark.parametrize(
    "text",
    [
        "image,label\na,3\nb,0\na,7.0\nc,\n",
        "label;image\n3;a\n7;a\n0;b\n;c\n",
        "image\tlabel\tnote\na\t3\tx\na\t7\ty\nb\t0\t\nc\t\t\n",
    ],
)
def test_tables_have_a_row_per_label(write, text):
    labels = read_labels(write(text, "labels.csv"))
    assert labels.images == ["a", "b", "c"]
    assert labels.sets == [[3, 7], [0], []]


def test_labels_may_be_names_of_classes(write):
    table = "image,label\na,maillot\nb,3\nb,tench\n"
    for path in (write({"a": "maillot", "b": [3, "tench"]}), write(table, "labels.csv")):
        assert read_labels(path, classes=CLASSES).sets == [[2], [3, 0]]


def test_digits_that_are_the_name_of_another_class_are_refused(write):
    # Digits that are written as names of classes from "1" on would be the ids of their neighbors.
    one_based, digits = ["1", "2", "3"], ["0", "1", "2"]
    path = write("image,label\na,2\n", "labels.csv")
    assert refuse(path, classes=one_based).code == "unknown_class"
    assert read_labels(path, classes=digits).sets == [[2]]
    assert read_labels(write({"a": [2, "2"]}), classes=one_based).sets == [[2, 1]]


@pytest.mark.parametrize(
    ("label", "code", "value"),
    [
        (True, "not_an_id", "true"),
        (None, "not_an_id", "null"),
        (3.5, "not_an_id", "3.5"),
        (float("nan"), "not_an_id", "NaN"),
        (float("inf"), "not_an_id", "Infinity"),
        (-1, "not_an_id", "-1"),
        (4, "not_an_id", "4"),
        (10**30, "not_an_id", "1" + "0" * 30),
        ([1], "not_an_id", ""),
        ({"id": 1}, "not_an_id", ""),
        ("tensch", "unknown_class", "tensch"),
        ("crane", "unknown_class", "crane"),
        ("1", "unknown_class", "1"),
    ],
)
def test_a_wrong_label_in_json_is_told_with_its_image(write, label, code, value):
    problem = refuse(write({"a": [0], "b\n": [1, label]}), classes=CLASSES)
    assert place(problem) == (code, 0, "", value)
    assert "'b'" in problem.reason
    problem = refuse(write([[0], [1, label]]), classes=CLASSES)
    assert "Image 2 " in problem.reason


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("3.5", "unknown_class"),
        ("-1", "not_an_id"),
        ("4", "not_an_id"),
        ("9" * 5000, "unknown_class"),
        ("tensch", "unknown_class"),
        ("crane", "unknown_class"),
    ],
)
def test_a_wrong_label_in_a_table_is_told_with_its_cell(write, cell, code):
    problem = refuse(write(f"image,label\na,0\nb,{cell}\n", "l.csv"), classes=CLASSES)
    expected = cell if len(cell) < 80 else cell[:79] + "…"
    assert place(problem) == (code, 3, "label", expected)


def test_an_unknown_name_is_answered_with_the_nearest_one(write):
    assert "Did you mean 'tench'?" in refuse(write(["tensch"]), classes=CLASSES).remedy
    problem = refuse(write([["tench"]]))
    assert (problem.code, "`classes`" in problem.remedy) == ("unknown_class", True)


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        ("", "empty_file", 0),
        ("\ufeff \n", "empty_file", 0),
        ("[]", "no_rows", 0),
        ("{}", "no_rows", 0),
        ("3", "no_labels", 0),
        ('"a"', "no_labels", 0),
        ("[[1],\n[2", "invalid_json", 2),
        ('{"a": [1], "b', "invalid_json", 1),
        ("[[1]\n[2]]", "invalid_json", 2),
        ("[[1]] [[2]]", "invalid_json", 1),
        ("[" * 200_000, "deep_nesting", 1),
        ("[[" + "1" * 5000 + "]]", "deep_nesting", 1),
        ('{"a": 1, "a": 2}', "duplicated_key", 0),
        ('{"a": 1, " a": 2}', "duplicated_image", 0),
        ('{"": 1}', "empty_image", 0),
        ('{"\\ud800": 1}', "invalid_json", 1),
        ('{"labels": {"a": [1]}}', "not_an_id", 0),
        ("[{}]", "not_an_id", 0),
        (b"\x80\x04\x95", "wrong_encoding", 1),
        (b"[[1]]\xff", "wrong_encoding", 1),
    ],
)
def test_broken_json_has_one_message(write, content, code, line):
    problem = refuse(write(content))
    assert (problem.code, problem.line) == (code, line)


def test_a_file_that_unpacks_to_too_much_is_refused(write, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 1000)
    packed = gzip.compress(b"[" + b" " * 1_000_000 + b"[1]]", mtime=0)
    assert refuse(write(packed)).code == "too_large"


@pytest.mark.parametrize(
    ("content", "name", "line"),
    [
        ([[1], [2, 3]], "l.json", 0),
        ([[]], "l.json", 0),
        ("image,label\na,1\nb,2\na,3\n", "l.csv", 2),
        ("image,label\na,1\nb,\n", "l.csv", 3),
    ],
)
def test_an_image_with_no_or_several_single_labels_is_refused(write, content, name, line):
    problem = refuse(write(content, name), is_single=True)
    assert (problem.code, problem.line) == ("not_single", line)


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("tench\r\n crane \nmaillot\ncrane\n\n", "classes.txt"),
        ("\ufefftench\ncrane\nmaillot\ncrane", "classes"),
    ],
)
def test_classes_are_read_in_their_order(write, content, name):
    assert read_classes(write(content, name)) == CLASSES


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        ("a\n\nb\n", "c.txt", "blank_line"),
        (["a", "b"], "c.json", "no_lines"),
        ("name,id\na,1\n", "c.csv", "no_lines"),
    ],
)
def test_a_broken_class_list_has_one_message(write, content, name, code):
    assert refuse(write(content, name), read_classes).code == code


LABELS = LabelFile("l.json", [[0], [], [1, 2]], ["a", "b", "c"])
ORDERED = LabelFile("l.json", [[0], [], [1, 2]], None)


@given(order=st.permutations(range(6)), extra=st.integers(0, 3))
def test_labels_follow_the_images_in_any_order(order, extra):
    known = LabelFile("l", [[place] for place in range(6 + extra)], list("abcdefghi"[: 6 + extra]))
    joined = join_labels(known, n_images=6, images=["abcdef"[place] for place in order])
    assert joined.sets == [[place] for place in order]
    assert joined.extra == extra


def test_labels_without_ids_are_joined_by_order():
    assert join_labels(ORDERED, n_images=3).sets == ORDERED.sets
    for images in (["x/a", "x/b", "w/c"], ["img2", "img10", "img11"], ["10", "2", "3"]):
        assert join_labels(ORDERED, n_images=3, images=images).sets == ORDERED.sets


@pytest.mark.parametrize(
    ("labels", "n", "images", "words"),
    [
        (ORDERED, 4, None, ["3 images", "4"]),
        (ORDERED, 2, ["a", "b"], ["3 images", "2"]),
        (ORDERED, 3, ["a", "b"], ["2 images", "3"]),
        (LABELS, 3, None, ["`images`"]),
        (LABELS, 2, ["a", "x"], ["1 image of 2", "'x'", "empty set"]),
        # As torchvision's ImageFolder lists them: by class, then by number.
        (ORDERED, 3, ["n01/v_3", "n02/v_1", "n03/v_2"], ["'n01/v_3', 'n02/v_1'", "ids"]),
    ],
)
def test_what_cannot_be_joined_is_refused(labels, n, images, words):
    with pytest.raises(ValidationError) as caught:
        join_labels(labels, n_images=n, images=images)
    assert all(word in str(caught.value) for word in words), str(caught.value)
