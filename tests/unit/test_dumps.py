"""Dumps of predictions are read as they are meant, and each broken one has one clear message."""

import io
import pickle
import re
import zipfile

import numpy as np
import pytest

from capmap.exports.label_files import open_scores
from capmap.problems import UnreadableExportError

SCORES = np.array([[0.5, -1.25, np.inf], [2.0, 0.0, -3.5]], dtype=np.float32)


def save(values, **options):
    stream = io.BytesIO()
    np.save(stream, values, **options)
    return stream.getvalue()


def pack(**arrays):
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def refuse(path, **options):
    with pytest.raises(UnreadableExportError) as caught:
        open_scores(path, **options)
    assert len(caught.value.problems) == 1, str(caught.value)
    problem = caught.value.problems[0]
    assert problem.source == path
    assert problem.reason.endswith(".")
    assert problem.remedy.endswith((".", "…", ")"))
    return problem


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_mapped_as_it_was_saved(write, dtype, order):
    values = np.asarray(SCORES, dtype=dtype, order=order)
    dump = open_scores(write(save(values), "dump.npy"), n_classes=3)
    assert isinstance(dump.scores, np.memmap)
    assert not dump.scores.flags.writeable
    assert dump.scores.dtype == values.dtype
    np.testing.assert_array_equal(dump.scores, values)
    assert dump.images is None


def test_an_array_is_known_by_its_bytes_and_not_by_its_name(write):
    assert open_scores(write(save(SCORES), "dump.csv")).scores.shape == (2, 3)
    assert open_scores(write(pack(scores=SCORES), "dump.npy")).scores.shape == (2, 3)


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        (np.array([[1, 2]]), "wrong_array", "int64"),
        (np.array([[True]]), "wrong_array", "bool"),
        (np.array([[1j]]), "wrong_array", "complex128"),
        (np.array([["a"]]), "wrong_array", "str"),
        (np.zeros((1, 2), dtype=np.longdouble), "wrong_array", "longdouble|float128"),
        (np.zeros(1, dtype=[("a", "f4")]), "wrong_array", "void"),
        (np.zeros(3), "wrong_array", r"\(3,\)"),
        (np.zeros(()), "wrong_array", r"\(\)"),
        (np.zeros((2, 3, 4)), "wrong_array", r"\(2, 3, 4\)"),
        (np.zeros((0, 3)), "wrong_array", r"\(0, 3\)"),
        (np.zeros((3, 0)), "wrong_array", r"\(3, 0\)"),
    ],
)
def test_an_array_that_is_no_table_of_floats_is_refused(write, values, code, words):
    for content, name in ((save(values), "dump.npy"), (pack(scores=values), "dump.npz")):
        problem = refuse(write(content, name))
        assert problem.code == code
        assert re.search(words, problem.reason)


def test_pickled_arrays_are_refused_without_being_unpickled(write):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("unpickled",))

    values = np.array([[Bomb()]], dtype=object)
    for content, name in ((save(values), "dump.npy"), (pack(scores=values), "dump.npz")):
        assert refuse(write(content, name)).code == "damaged_array"
    assert refuse(write(pickle.dumps([Bomb()]), "dump.npy")).code == "not_an_array"


@pytest.mark.parametrize("end", [6, 7, 9, 20, 60, -4])
def test_a_truncated_array_is_told(write, end):
    assert refuse(write(save(SCORES)[:end], "dump.npy")).code == "damaged_array"


def test_an_empty_or_absent_array_is_told(write, tmp_path):
    assert refuse(write(b"", "dump.npy")).code == "not_an_array"
    assert refuse(str(tmp_path / "absent.npy")).code == "unreadable_file"
    assert refuse(str(tmp_path)).code == "unreadable_file"
    for name in ("dump.npz", "dump.csv"):
        assert refuse(write("1,2\n", name)).code == "not_an_array"


def test_an_archive_has_scores_and_ids(write):
    path = write(pack(scores=SCORES, ids=np.array(["a", "b"]), more=np.zeros(3)), "dump.npz")
    dump = open_scores(path)
    np.testing.assert_array_equal(dump.scores, SCORES)
    assert dump.images == ["a", "b"]
    only = open_scores(write(pack(logits=np.asfortranarray(SCORES)), "e.npz"))
    np.testing.assert_array_equal(only.scores, SCORES)
    assert only.images is None


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"a": SCORES, "b": SCORES}, "no_scores"),
        ({"ids": np.array(["a", "b"])}, "no_scores"),
        ({"scores": SCORES, "ids": np.array(["a"])}, "wrong_ids"),
        ({"scores": SCORES, "ids": np.array([1, 2])}, "wrong_ids"),
        ({"scores": SCORES, "ids": np.array(["a", "b"], dtype=object)}, "damaged_array"),
        ({"scores": SCORES, "ids": np.array([b"\xff", b"b"])}, "wrong_ids"),
        ({"scores": SCORES, "ids": np.array(["a", "a"])}, "duplicated_image"),
        ({"scores": SCORES, "ids": np.array(["a", ""])}, "empty_image"),
    ],
)
def test_an_archive_whose_arrays_are_unclear_is_refused(write, arrays, code):
    assert refuse(write(pack(**arrays), "dump.npz")).code == code


def test_an_archive_of_something_else_is_refused(write):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert refuse(write(stream.getvalue(), "dump.npz")).code == "damaged_array"


def test_a_large_archive_is_refused_before_it_is_unpacked(write):
    path = write(pack(scores=np.zeros((1000, 1000))), "bomb.npz")
    with pytest.raises(UnreadableExportError) as caught:
        open_scores(path, limit=1_000_000)
    assert caught.value.problems[0].code == "too_large"
    assert ".npy" in caught.value.problems[0].remedy


def test_a_dump_of_another_number_of_classes_is_refused(write):
    for content, name in ((save(SCORES), "d.npy"), (pack(scores=SCORES), "d.npz")):
        problem = refuse(write(content, name), n_classes=1000)
        assert problem.code == "wrong_classes"
        assert "1000" in problem.reason
