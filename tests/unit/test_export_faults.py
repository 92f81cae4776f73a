"""Broken exports: each fault has its own code, place and remedy, and none is an exception."""

import json

import pandas as pd
import pytest

from capmap.exports import read_exports
from tests.found_problems import only_problem, place, places

LONG = "model,dataset,metric,seed,score\nA,d1,acc,1,0.5\nB,d1,acc,2,0.25\n"


def append(row):
    return LONG + row + "\n"


def test_an_empty_score_is_a_warning(write):
    exports = read_exports([write(append("C,d1,acc,3,"))])
    problem = only_problem(exports)
    assert place(problem) == ("empty_score", 4, "score", "")
    assert problem.severity == "warning"
    assert exports.runs["score"].isna().tolist() == [False, False, True]
    assert exports.rows_empty_score == 1


def test_all_problems_of_all_files_are_told_at_once(write):
    first = write(append("C,d1,acc,3,abc\nD,d1,acc,4\n,d1,acc,5,inf"), "first.csv")
    second = write(LONG.replace("score", "scor"), "second.csv")
    absent = str(write(LONG, "absent.csv")) + ".gone"
    exports = read_exports([first, second, absent])
    assert sorted((problem.source, problem.code) for problem in exports.problems) == sorted(
        [
            (first, "wrong_width"),
            (first, "empty_model"),
            (first, "not_a_number"),
            (first, "infinite_score"),
            (second, "missing_column"),
            (absent, "unreadable_file"),
        ]
    )
    assert [file["path"] for file in exports.files] == [first, second]
    assert [file["rows"] for file in exports.files] == [5, 0]


@pytest.mark.parametrize(
    ("row", "code", "column"),
    [
        (",d1,acc,3,0.5", "empty_model", "model"),
        ("C,\u00a0 ,acc,3,0.5", "empty_dataset", "dataset"),
        ("C,d1,,3,0.5", "empty_metric", "metric"),
    ],
)
def test_an_empty_name_is_told_and_its_row_left_out(write, row, code, column):
    exports = read_exports([write(append(row))])
    assert place(only_problem(exports)) == (code, 4, column, "")
    assert len(exports.runs) == 2


def test_an_empty_seed_among_seeds_is_a_warning(write):
    exports = read_exports([write(append("C,d1,acc,,0.5"))])
    problem = only_problem(exports)
    assert place(problem) == ("empty_seed", 4, "", "")
    assert problem.severity == "warning"
    assert exports.runs["seed"].tolist() == ["1", "2", ""]


def test_a_seed_column_that_is_not_read_is_a_warning(write):
    problem = only_problem(read_exports([write(LONG.replace("seed", "Seed"))]))
    assert (problem.code, problem.column, problem.severity) == ("unread_seed", "Seed", "warning")


def test_a_column_cannot_be_kept_under_a_name_of_capmaps_own(write):
    problem = only_problem(read_exports([write(LONG)], columns={"keep": ["model"]}))
    assert (problem.code, problem.column) == ("reserved_column", "model")


def test_a_quote_that_swallows_a_large_file_is_found_where_it_opens(write):
    exports = read_exports([write(append('C,d1,acc,"3,0.5') + "D,d1,acc,4,0.5\n" * 100_000)])
    assert place(only_problem(exports)) == ("long_cell", 4, "", "")


def test_another_encoding_far_into_the_file_is_told(write):
    # After an odd number of bytes, every block of 4 MiB ends within one of the two-byte letters.
    odd = LONG.encode() + b"\n" * (1 - len(LONG) % 2)
    content = odd + "Ü".encode() * 5_000_000 + b"\xff"
    problem = only_problem(read_exports([write(content)]))
    assert (problem.code, problem.value) == ("wrong_encoding", "0xff")
    assert f"byte {len(content)} " in problem.reason


def test_an_absent_file_and_a_folder_are_told(tmp_path):
    for path in (tmp_path / "absent.csv", tmp_path):
        exports = read_exports([str(path)])
        assert only_problem(exports).code == "unreadable_file"
        assert exports.files == []
        assert list(exports.runs.columns[:3]) == ["model", "dataset", "metric"]


def test_a_nested_column_of_parquet_is_told(tmp_path):
    path = str(tmp_path / "runs.parquet")
    table = pd.DataFrame({"model": ["A"], "dataset": ["d"], "score": [[0.5, 0.6]]})
    table.to_parquet(path)
    problem = only_problem(read_exports([path], metric="acc"))
    assert (problem.code, problem.column) == ("nested_column", "score")


def test_lines_that_are_no_json_objects_are_told(write):
    good = '{"model": "A", "dataset": "d", "score": 0.5}\n'
    bad = '{"model": "A"\n[1]\n"\n' + "[" * 100_000 + '\n{"model": "\\ud800"}\n'
    exports = read_exports([write(good + bad + good, "runs.jsonl")], metric="acc")
    assert [p.line for p in exports.problems] == [2, 3, 4, 5, 6]
    assert {p.code for p in exports.problems} == {"invalid_json", "invalid_record", "deep_nesting"}
    assert (exports.runs["line"].tolist(), exports.rows) == ([1, 7], 7)


def test_keys_that_a_line_lacks_are_empty_cells(write):
    path = write('{"model": "A", "dataset": "d"}\n{"dataset": "d", "score": null}\n', "r.jsonl")
    exports = read_exports([path], columns={"score": "score"}, metric="acc")
    assert sorted(places(exports))[:1] == [("empty_model", 2, "model", "")]
    assert exports.rows_empty_score == 2


def empty(column, severity="warning"):
    return ("empty_column", 1, column, "", severity)


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("model,P,Q,R\nA,.1,,\nB,.2,,\n", {}, [empty("Q"), empty("R")]),
        ("model,P,Q\nA,.1,\n", {"datasets": ["P", "Q"]}, [empty("Q", "error")]),
        (
            "model,dataset,f1,acc\nA,P,.1,\n",
            {"score": ["f1", "acc"]},
            [empty("acc", "error")],
        ),
        ("model,dataset,f1,acc\nA,P,.1,\nA,Q,,.2\n", {"score": ["f1", "acc"]}, []),
        ("model,P,Q,params,\nA,.1,,,\nA,,.2,,\nA,,,,\n", {}, []),
    ],
)
def test_what_no_cell_of_a_wide_table_tells_of_is_told(write, text, columns, expected):
    layout = "long" if "score" in columns else "matrix"
    options = {} if "score" in columns else {"metric": "acc"}
    exports = read_exports([write(text)], layout=layout, columns=columns, **options)
    found = [(*place(problem), problem.severity) for problem in exports.problems]
    assert found == expected


def test_what_another_file_tells_of_is_not_missed(write):
    paths = [write("model,P,Q\nA,.1,\nB,,\n", "1.csv"), write("model,P,Q\nB,,.2\n", "2.csv")]
    columns = {"datasets": ["P", "Q"]}
    assert read_exports(paths, layout="matrix", columns=columns, metric="acc").problems == []


def test_a_filter_may_match_in_another_file_only(write):
    first, second = write(LONG, "1.csv"), write(LONG.replace("A", "C"), "2.csv")
    exports = read_exports([first, second], where={"model": ["A", "C"]})
    assert exports.problems == []
    assert exports.runs["model"].tolist() == ["A", "C"]


def test_a_column_to_ignore_that_no_file_has_is_told(write):
    path = write("model,cost,d1\nA,86,0.5\n")
    columns = {"ignore": ["csot"]}
    problem = only_problem(read_exports([path], layout="matrix", columns=columns, metric="acc"))
    assert (problem.code, problem.column) == ("unmatched_ignore", "csot")
    assert "'cost'" in problem.remedy


RUN = {"model": "A", "dataset": "D", "metric": "f1", "seed": 1, "score": 0.5}


def test_nested_names_and_seeds_are_one_problem_per_line(write):
    records = [RUN, RUN | {"model": ["a"], "seed": {"x": "y"}}, RUN | {"seed": {"x": "y"}}]
    read = read_exports([write("\n".join(map(json.dumps, records)), "runs.jsonl")])
    assert [(item.code, item.line, item.column, item.value) for item in read.problems] == [
        ("nested_value", 2, "model", '["a"]'),
        ("nested_value", 3, "seed", '{"x": "y"}'),
    ]
    assert (read.rows, read.runs["line"].to_list()) == (3, [1])


def test_nested_values_are_fine_where_they_are_not_names(write):
    path = write(json.dumps(RUN | {"config": {"lr": ["x"]}, "other": [1]}), "runs.jsonl")
    read = read_exports([path], columns={"keep": ["config.lr.0"]})
    assert read.problems == []
    assert read.runs["config.lr.0"].to_list() == ["x"]


@pytest.mark.parametrize("name", ["\u200b", " \u200b\ufeff ", "\u2060\u00ad"])
def test_a_name_of_invisible_characters_is_empty(write, name):
    read = read_exports([write(f"model,dataset,metric,score\n{name},D,f1,0.5\nA\u200b,D,f1,1\n")])
    assert [(item.code, item.line) for item in read.problems] == [("empty_model", 2)]
    assert read.runs["model"].to_list() == ["A\u200b"]


def test_a_matrix_can_have_seeds_and_metrics_of_its_rows(write):
    path = write("model,run,measure,D,E\nA,1,f1,0.5,0.6\nA,2,f1,0.7,\n")
    read = read_exports([path], layout="matrix", columns={"seed": "run", "metric": "measure"})
    assert read.problems == []
    assert read.runs[["dataset", "metric", "seed", "score"]].to_numpy().tolist() == [
        ["D", "f1", "1", 0.5],
        ["E", "f1", "1", 0.6],
        ["D", "f1", "2", 0.7],
    ]
