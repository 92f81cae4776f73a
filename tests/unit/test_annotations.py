"""Annotated objects: VOC files, Kaggle's table, and everything that may be wrong with them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.errors import ValidationError
from capmap.images.crops import (
    AnnotatedObject,
    Box,
    parse_groups,
    parse_voc,
    read_annotations,
)


def write_object(name: str = "cat", edges: object = (1, 2, 5, 9)) -> str:
    sides = zip(("xmin", "ymin", "xmax", "ymax"), edges, strict=True)
    box = "".join(f"<{side}>{edge}</{side}>" for side, edge in sides)
    return f"<object><name>{name}</name><bndbox>{box}</bndbox></object>"


def write_voc(*objects: str, size: str = "") -> bytes:
    return f"<annotation>{size}{''.join(objects)}</annotation>".encode()


def parse(content: bytes):
    return parse_voc(content, image="a", source="a.xml")


def find_reason(annotation) -> str:
    (skipped,) = annotation.skipped
    return skipped.reason


def test_voc_objects_have_number_label_and_box():
    size = "<size><width>50</width><height>40</height><depth>3</depth></size>"
    found = parse(write_voc(write_object(), write_object("dog", (0, 0, 50, 40)), size=size))
    assert found.objects == [
        AnnotatedObject(1, "cat", Box(1, 2, 5, 9)),
        AnnotatedObject(2, "dog", Box(0, 0, 50, 40)),
    ]
    assert (found.image, found.size, list(found.skipped)) == ("a", (50, 40), [])


def test_parts_of_an_object_are_no_objects():
    part = "<part><name>head</name><bndbox><xmin>1</xmin></bndbox></part>"
    text = write_object().replace("</object>", f"{part}</object>")
    assert [one.label for one in parse(write_voc(text)).objects] == ["cat"]


@pytest.mark.parametrize("size", ["", "<size><width>0</width><height>0</height></size>", "<size/>"])
def test_annotation_may_leave_its_size_unknown(size):
    assert parse(write_voc(write_object(), size=size)).size is None


@pytest.mark.parametrize(
    ("edges", "box"),
    [
        (("1.4", "1.5", "4.6", "9.0"), (1, 2, 5, 9)),
        ((" 1 ", "2", "5", "9\n"), (1, 2, 5, 9)),
        (("-3", "-0.4", "5", "9"), (-3, 0, 5, 9)),
    ],
)
def test_decimals_go_to_the_nearest_edge(edges, box):
    assert parse(write_voc(write_object(edges=edges))).objects[0].box == box


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (write_object(edges=(5, 2, 5, 9)), "the box (5, 2) to (5, 9) has no area"),
        (write_object(edges=(5, 9, 7, 2)), "the box (5, 9) to (7, 2) has no area"),
        (write_object(edges=("x", 2, 5, 9)), "xmin is no number: 'x'"),
        (write_object(edges=(1, 2, "nan", 9)), "xmax is no number: 'nan'"),
        (write_object(edges=(1, 2, "1e300", 9)), "xmax is no number: '1e300'"),
        (write_object(edges=(1, 2, 5, "")), "ymax is missing"),
        (write_object(name=" "), "the object has no class"),
        ("<object><name>cat</name></object>", "xmin is missing"),
    ],
)
def test_faulty_object_is_skipped_alone(text, reason):
    found = parse(write_voc(text, write_object("dog")))
    assert [one.label for one in found.objects] == ["dog"]
    assert (found.skipped[0].object, found.skipped[0].reason) == (1, reason)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"\x00\xff", b"<annotation>", b"{}"),
        b'<?xml version="1.0" encoding="nonsense"?><annotation/>',
    ],
)
def test_unreadable_voc_file_is_skipped_whole(content):
    found = parse(content)
    assert not found.objects
    assert find_reason(found).startswith("the annotation cannot be read: ")


@given(st.binary(max_size=200))
def test_any_bytes_make_an_annotation(content):
    found = parse(b"<annotation>" + content)
    assert found.skipped or found.objects


def test_groups_are_numbered_in_their_order():
    found = parse_groups("n01 1 2 5 9 n02 0 0 7 8", image="v1")
    assert found.objects == [
        AnnotatedObject(1, "n01", Box(1, 2, 5, 9)),
        AnnotatedObject(2, "n02", Box(0, 0, 7, 8)),
    ]


@pytest.mark.parametrize("text", ["", "n01 1 2 5", "n01 1 2 5 9 n02", "  "])
def test_incomplete_groups_are_skipped(text):
    found = parse_groups(text, image="v1")
    assert not found.objects
    assert "words are no groups of a class and four numbers" in find_reason(found)


def test_faulty_group_is_skipped_alone():
    found = parse_groups("n01 1 2 x 9 n02 0 0 7 8", image="v1")
    assert [one.number for one in found.objects] == [2]
    assert found.skipped == [("v1", 1, "xmax is no number: 'x'")]


def test_folder_is_read_in_order_of_names(tmp_path):
    for name in ("b/2.xml", "a.XML", "b/1.xml", "notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(write_voc(write_object()))
    assert [one.image for one in read_annotations(tmp_path)] == ["a", "b/1", "b/2"]


def test_folder_below_that_ends_like_an_annotation_is_skipped(tmp_path):
    (tmp_path / "a.xml").mkdir()
    (one,) = read_annotations(tmp_path)
    assert one.skipped == [("a.xml", None, "the annotation cannot be read: Is a directory")]


def write_kaggle(folder: Path, *rows: str, header: str = "ImageId,PredictionString") -> Path:
    path = folder / "LOC_val_solution.csv"
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8-sig")
    return path


def test_table_is_the_same_in_any_order_of_rows(tmp_path):
    rows = ["v2,n01 1 2 5 9 ", "v1,n02 0 0 7 8 n01 1 1 2 2", "v1,n00 3 3 4 4"]
    first = list(read_annotations(write_kaggle(tmp_path, *rows)))
    assert first == list(read_annotations(write_kaggle(tmp_path, *rows[::-1])))
    assert [one.image for one in first] == ["v1", "v2"]
    assert [one.label for one in first[0].objects] == ["n00", "n02", "n01"]


def test_table_with_one_faulty_row_keeps_the_others(tmp_path):
    first, second = read_annotations(write_kaggle(tmp_path, "v1", "v2,n01 1 2 5 9"))
    assert (len(first.objects), len(first.skipped)) == (0, 1)
    assert (len(second.objects), len(second.skipped)) == (1, 0)


def test_very_long_row_of_the_table_is_read(tmp_path):
    (one,) = read_annotations(write_kaggle(tmp_path, "v1," + "n01 1 2 5 9 " * 20_000))
    assert len(one.objects) == 20_000


def test_faults_of_whole_inputs_are_said(tmp_path):
    with pytest.raises(ValidationError, match="there is no such file or folder"):
        list(read_annotations(tmp_path / "absent"))
    with pytest.raises(ValidationError, match=r"no PASCAL-VOC annotation \(.xml\)"):
        list(read_annotations(tmp_path))
    with pytest.raises(ValidationError, match="column 'PredictionString' is missing"):
        list(read_annotations(write_kaggle(tmp_path, header="ImageId,x")))
    with pytest.raises(ValidationError, match="has no rows"):
        list(read_annotations(write_kaggle(tmp_path)))
    with pytest.raises(ValidationError, match="cannot be read"):
        list(read_annotations(write_kaggle(tmp_path, 'v1,"n01 1 2 5 9')))
    write_kaggle(tmp_path).write_bytes(b"ImageId,PredictionString\n\xff,\n")
    with pytest.raises(ValidationError, match="Save it as CSV in UTF-8"):
        list(read_annotations(tmp_path / "LOC_val_solution.csv"))
