"""Matrix exports whose names of datasets stand in several rows."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.exports import read_exports
from capmap.exports.cells import join_header
from capmap.exports.delimited import DelimitedSheet, Record
from capmap.exports.files import FileOptions
from tests.found_problems import only_problem

DATA = Path(__file__).parents[3] / "shared" / "data" / "capabilities" / "data.csv"
TWO = "dataset,PASTIS,,OSCD\nvariant,test, val ,\nA,0.5,0.25,\nB,,0.75,1\n"
EXPECTED = [
    ("A", "PASTIS / test", 0.5, 3),
    ("A", "PASTIS / val", 0.25, 3),
    ("B", "PASTIS / val", 0.75, 4),
    ("B", "OSCD", 1.0, 4),
]


def read(path, *, rows=2, model="dataset / variant", **options):
    options = {"columns": {"model": model}, **options}
    return read_exports(
        [path], layout="matrix", options=FileOptions(header_rows=rows), metric="acc", **options
    )


def list_runs(exports):
    runs = exports.runs[["model", "dataset", "score", "line"]]
    return list(runs.itertuples(index=False, name=None))


def test_two_rows_name_dataset_and_variant(write):
    exports = read(write(TWO))
    assert exports.problems == []
    assert list_runs(exports) == EXPECTED
    assert exports.runs["column"].to_list() == exports.runs["dataset"].to_list()
    assert (exports.rows, exports.rows_empty_score) == (2, 2)


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        ([["a", ""]], ["a", "Unnamed: 1"]),
        ([["", "D", ""], ["", "x", "y"]], ["Unnamed: 0", "D / x", "D / y"]),
        ([["", "", "D", ""], ["model", "size", "", "y"]], ["model", "size", "D", "D / y"]),
        ([["m", "D", "D"], ["", "x", ""]], ["m", "D / x", "D"]),
        ([["", "", ""], ["m", "x", "y"]], ["m", "x", "y"]),
        # The split "x" ends where the dataset "E" begins.
        (
            [["m", "D", "", "E", ""], ["", "x", "", "", "y"], ["", "1", "2", "3", "4"]],
            ["m", "D / x / 1", "D / x / 2", "E / 3", "E / y / 4"],
        ),
    ],
)
def test_blank_cells_repeat_the_left_one_and_add_nothing_in_the_last_row(rows, names):
    assert join_header(rows) == names


def test_header_rows_of_different_widths_are_told(write):
    problem = only_problem(read(write(TWO.replace(",OSCD", ""))))
    assert (problem.code, problem.line) == ("wrong_width", 2)
    assert problem.reason == "The header row has 4 cells where the first has 3."


CELLS = st.sampled_from(["", "D", "x y", 'a "b"', "1,5", "0.5", "é"])


@given(st.data(), st.integers(1, 3), st.integers(2, 4), st.integers(0, 3))
def test_the_quick_reader_agrees_with_the_exact_one(tmp_path_factory, data, rows, width, count):
    draw = st.lists(CELLS, min_size=width, max_size=width)
    table = [data.draw(draw) for _ in range(rows + count)]
    table[0][0] = "m"
    for number, row in enumerate(table[rows:]):
        row[0] = f"M{number}"
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(table)
    path = tmp_path_factory.mktemp("header") / "matrix.csv"
    path.write_text(stream.getvalue(), encoding="utf-8")
    columns = [f"c{place}" for place in range(width)]
    # With a comment mark that may begin a line, the exact reader takes over.
    header = [Record(line, line, columns) for line in range(1, rows + 1)]
    quick, exact = (
        DelimitedSheet(str(path), ",", columns, header, FileOptions(comment=mark)).read_cells(
            columns
        )
        for mark in ("", '"' * 9)
    )
    assert quick.lines.tolist() == exact.lines.tolist() == list(range(rows + 1, rows + count + 1))
    for place, column in enumerate(columns):
        expected = [row[place] for row in table[rows:]]
        assert quick.columns[column].to_pylist() == expected
        assert exact.columns[column].to_pylist() == expected


@pytest.fixture(scope="module")
def real():
    if not DATA.is_file():
        pytest.skip("needs the shared data beside the checkout")
    return read(str(DATA))


def test_real_literature_has_85_models_160_columns_and_1106_values(real):
    found = [(problem.severity, problem.code, problem.column) for problem in real.problems]
    assert found == [("warning", "empty_column", name) for name in ("PASTIS-MM", "Dyna.-MM")]
    assert real.rows == real.runs["model"].nunique() == 85
    assert len(real.runs) == 1106
    assert real.rows_empty_score == 85 * 160 - 1106
    assert real.runs["dataset"].nunique() == 158
    assert set(real.runs["line"]) <= set(range(3, 88))
