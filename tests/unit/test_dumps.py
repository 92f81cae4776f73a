"""Dumps of predictions are read as they are meant, and each broken one has one clear message."""

import gzip
import io
import pickle
import re
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from capmap.exports import dumps
from capmap.exports.arrays import read_archive
from capmap.exports.dumps import ScoreDump, TopDump, open_scores
from capmap.problems import UnreadableExportError
from tests.found_problems import place

SCORES = np.array([[0.5, -1.25, np.inf], [2.0, 0.0, -3.5]], dtype=np.float32)
WIDE = "image,cat,dog\na.jpg,0.5,1\nb.jpg,-2e-3,0.25\n"
TOP = "image,1,2\na.jpg,7,3\nb.jpg,0,9\n"


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


def write_parquet(path, table):
    pq.write_table(pa.table(table), path)
    return str(path)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ">f4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_is_mapped_as_it_was_saved(write, dtype, order):
    values = np.asarray(SCORES, dtype=dtype, order=order)
    dump = open_scores(write(save(values), "dump.npy"), n_classes=3)
    assert isinstance(dump.scores, np.memmap)
    assert not dump.scores.flags.writeable
    assert dump.scores.dtype == values.dtype
    np.testing.assert_array_equal(dump.scores, values)
    assert (dump.n_images, dump.n_classes, dump.images, dump.classes) == (2, 3, None, None)


def test_an_array_is_known_by_its_bytes_and_not_by_its_name(write):
    assert open_scores(write(save(SCORES), "dump.csv")).n_images == 2
    assert open_scores(write(pack(scores=SCORES), "dump.npy")).n_images == 2


@pytest.mark.parametrize(
    ("values", "code", "words"),
    [
        (np.array([[1, 2]]), "wrong_type", "int64"),
        (np.array([[True]]), "wrong_type", "bool"),
        (np.array([[1j]]), "wrong_type", "complex128"),
        (np.array([["a"]]), "wrong_type", "str"),
        (np.zeros((1, 2), dtype=np.longdouble), "wrong_type", "longdouble|float128"),
        (np.zeros(1, dtype=[("a", "f4")]), "wrong_type", "void"),
        (np.zeros(3), "wrong_shape", r"\(3,\)"),
        (np.zeros(()), "wrong_shape", r"\(\)"),
        (np.zeros((2, 3, 4)), "wrong_shape", r"\(2, 3, 4\)"),
        (np.zeros((0, 3)), "no_rows", "0 images and 3 classes"),
        (np.zeros((3, 0)), "no_rows", "3 images and 0 classes"),
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
        assert refuse(write(content, name)).code in {"damaged_array", "damaged_archive"}
    assert refuse(write(pickle.dumps([Bomb()]), "dump.npy")).code == "not_an_array"


@pytest.mark.parametrize("end", [6, 7, 9, 20, 60, -4])
def test_a_truncated_array_is_told(write, end):
    assert refuse(write(save(SCORES)[:end], "dump.npy")).code == "damaged_array"


def test_an_empty_or_absent_array_is_told(write, tmp_path):
    assert refuse(write(b"", "dump.npy")).code == "not_an_array"
    assert refuse(str(tmp_path / "absent.npy")).code == "unreadable_file"
    assert refuse(str(tmp_path)).code == "unreadable_file"
    assert refuse(write("1,2\n", "dump.npz")).code == "not_an_array"


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
        ({"scores": SCORES, "ids": np.array(["a", "b"], dtype=object)}, "damaged_archive"),
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
    assert refuse(write(stream.getvalue(), "dump.npz")).code == "damaged_archive"


def test_a_large_archive_is_refused_before_it_is_unpacked(write):
    path = write(pack(scores=np.zeros((1000, 1000))), "bomb.npz")
    with pytest.raises(UnreadableExportError) as caught:
        read_archive(path, limit=1_000_000)
    assert caught.value.problems[0].code == "too_large"
    assert ".npy" in caught.value.problems[0].remedy


@pytest.mark.parametrize(
    "columns", [["1", "2"], ["class_1", "class_2"], ["class_2", "class_1"], ["2", "1"]]
)
def test_numbered_columns_are_the_best_classes_in_the_order_of_their_numbers(write, columns):
    table = pd.DataFrame({"image": ["a", "b"], columns[0]: [7, 0], columns[1]: [3, 9]})
    expected = [[7, 3], [0, 9]] if columns[0].endswith("1") else [[3, 7], [9, 0]]
    for name in ("dump.csv", "dump.tsv", "dump.csv.gz"):
        text = table.to_csv(index=False, sep="\t" if "tsv" in name else ",")
        content = gzip.compress(text.encode(), mtime=0) if name.endswith("gz") else text
        dump = open_scores(write(content, name), n_classes=10)
        assert isinstance(dump, TopDump)
        assert dump.top.tolist() == expected
        assert (dump.k, dump.n_images, dump.n_classes) == (2, 2, 10)
        assert dump.images == ["a", "b"]


def test_the_best_classes_may_be_parquet_floats_without_ids(tmp_path):
    path = write_parquet(tmp_path / "top.parquet", {"1": [7.0, 0.0], "2": [3, 9]})
    dump = open_scores(path)
    assert dump.top.tolist() == [[7, 3], [0, 9]]
    assert (dump.images, dump.n_classes, dump.top.dtype) == (None, None, np.int32)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("c.jpg,5,0.25", ("not_an_id", 4, "2", "0.25")),
        ("c.jpg,cat,1", ("not_an_id", 4, "1", "cat")),
        ("c.jpg,,1", ("not_an_id", 4, "1", "")),
        ("c.jpg,10,1", ("wrong_id", 4, "1", "10")),
        ("c.jpg,-1,1", ("wrong_id", 4, "1", "-1")),
        ("c.jpg,5,5", ("repeated_id", 4, "2", "5")),
        ("c.jpg,5", ("wrong_width", 4, "", "")),
        ("b.jpg,5,6", ("duplicated_image", 4, "", "b.jpg")),
        (",5,6", ("empty_image", 4, "", "")),
    ],
)
def test_a_wrong_id_of_a_best_class_is_told_with_its_cell(write, row, expected):
    assert place(refuse(write(f"{TOP}{row}\n"), n_classes=10)) == expected


def test_many_faults_of_a_kind_are_told_once_and_counted(write):
    problem = refuse(write("1\n" + "x\n" * 1000))
    assert place(problem) == ("not_an_id", 2, "1", "x")
    assert "999 more" in problem.reason


def test_columns_called_after_classes_are_scores(write, tmp_path):
    quick = open_scores(write(WIDE), n_classes=2)
    frame = pd.read_csv(io.StringIO(WIDE)).astype({"dog": "float32"})
    parquet = open_scores(write_parquet(tmp_path / "wide.parquet", frame.to_dict("list")))
    blank = open_scores(write(WIDE.replace("\nb", "\n\nb"), "blank.csv"))
    semicolons = open_scores(write(WIDE.replace(",", ";"), "wide.csv"))
    for dump in (quick, parquet, blank, semicolons):
        assert isinstance(dump, ScoreDump)
        assert dump.scores.tolist() == [[0.5, 1.0], [-0.002, 0.25]]
        assert dump.images == ["a.jpg", "b.jpg"]
        assert dump.classes == ["cat", "dog"]


@pytest.mark.parametrize("header", ["0,1,10,2,3,4,5,6,7,8,9", "class_0,1,10,2,3,4,5,6,7,8,9"])
def test_columns_called_after_ids_are_scores_in_the_order_of_the_ids(write, header):
    # In alphabetical order, as some tools write them, the id 10 stands third.
    dump = open_scores(write(f"{header}\n0,0.1,1.0,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9\n"))
    assert dump.scores[0].tolist() == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    assert dump.classes is None


def test_rankings_of_all_ids_are_no_scores(write):
    problem = refuse(write("image,0,1,2\na.jpg,2,0,1\nb.jpg,1,2,0\n"))
    assert place(problem) == ("wrong_type", 1, "", "")
    assert open_scores(write("image,0,1,2\na.jpg,2,0,1\nb.jpg,1,2,1\n")).n_classes == 3
    assert open_scores(write("image,0,1\na.jpg,1,0\nb.jpg,0,1\n")).n_classes == 2


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_parquet_keeps_the_type_of_the_scores(tmp_path, dtype):
    values = np.arange(6, dtype=dtype).reshape(3, 2)
    path = write_parquet(tmp_path / "d.parquet", {"0": values[:, 0], "1": values[:, 1]})
    dump = open_scores(path)
    assert dump.scores.dtype == dtype
    np.testing.assert_array_equal(dump.scores, values)


def test_scores_of_text_are_the_nearest_floats(write):
    values = np.random.Generator(np.random.SFC64(5)).normal(size=(3000, 7))
    text = pd.DataFrame(values, columns=list("abcdefg")).to_csv(index=False)
    np.testing.assert_array_equal(open_scores(write(text)).scores, values)


@pytest.mark.parametrize("cell", ["", "nan", "NaN", "NAN", "null", "cat", "1_0", '"0,5"', "1.2.3"])
def test_a_cell_that_is_no_score_is_told_with_its_place(write, cell):
    problem = refuse(write(f"{WIDE}c.jpg,0.5,{cell}\n"))
    assert place(problem) == ("not_a_number", 4, "dog", cell.strip('"'))


def test_infinite_scores_have_their_place_in_the_order(write):
    dump = open_scores(write(f"{WIDE}c.jpg,-inf,inf\n"))
    assert dump.scores[2].tolist() == [-np.inf, np.inf]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"cat": [0.5, None]}, ("not_a_number", 3, "cat", "")),
        ({"cat": [0.5, float("nan")]}, ("not_a_number", 3, "cat", "")),
        ({"cat": [1, 2]}, ("wrong_type", 1, "cat", "")),
        ({"cat": [0.5], "file": ["a"]}, ("wrong_type", 1, "file", "")),
        ({"cat": pa.array([], "float32")}, ("no_rows", 1, "", "")),
        ({"cat": [0.5], "__index_level_0__": ["a"]}, ("nameless_column", 1, "", "")),
    ],
)
def test_a_parquet_column_that_holds_no_scores_is_told(tmp_path, table, expected):
    assert place(refuse(write_parquet(tmp_path / "d.parquet", table))) == expected


def test_a_large_table_is_refused_at_its_size(tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "d.parquet", {"cat": np.zeros(1000)})
    monkeypatch.setattr(dumps, "LARGEST", 7999)  # 1000 rows of 8 bytes are one more
    problem = refuse(path)
    assert (problem.code, ".npy" in problem.remedy) == ("too_large", True)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("", "empty_file"),
        ("\ufeff\n", "empty_file"),
        ("cat,dog\n", "no_rows"),
        ("1,2\n", "no_rows"),
        ("image\na\n", "no_scores"),
        ("cat,cat\n1,2\n", "duplicated_column"),
        (",cat\na,1\n", "nameless_column"),
        ("cat,dog\n0.5\n", "wrong_width"),
        ('cat,dog\n0.5,"1\n', "unclosed_quote"),
        (b"cat\n\xff\n", "wrong_encoding"),
        (gzip.compress(WIDE.encode(), mtime=0)[:-9], "truncated_gzip"),
    ],
)
def test_a_broken_table_has_one_message(write, content, code):
    assert refuse(write(content)).code == code


def test_json_and_damaged_parquet_are_told(write, tmp_path):
    assert refuse(write("[[1]]", "dump.json")).code == "json_scores"
    path = tmp_path / "d.parquet"
    write_parquet(path, {"cat": [0.5]})
    assert refuse(write(path.read_bytes()[:-20], "e.parquet")).code == "damaged_parquet"


def test_a_dump_of_another_number_of_classes_is_refused(write):
    for content, name in ((save(SCORES), "d.npy"), (pack(scores=SCORES), "d.npz"), (WIDE, "d.csv")):
        problem = refuse(write(content, name), n_classes=1000)
        assert problem.code == "wrong_classes"
        assert "1000" in problem.reason
