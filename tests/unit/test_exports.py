"""Exports read as runs, and broken ones told with a code, a place and a remedy."""

import json
from hashlib import sha256

import pandas as pd
import pytest

from capmap.exports import read_exports
from tests.found_problems import only_problem, place


def rows(exports, *columns):
    return list(exports.runs[list(columns)].itertuples(index=False, name=None))


LONG = "model,dataset,metric,seed,score\nA,d1,acc,1,0.5\nB,d1,acc,2,0.25\n"
EXPECTED = [("A", "d1", "acc", "1", 0.5, "0.5", 2), ("B", "d1", "acc", "2", 0.25, "0.25", 3)]
SHOWN = ("model", "dataset", "metric", "seed", "score", "raw", "line")


def test_a_long_table_is_read_with_its_places(write):
    path = write(LONG)
    exports = read_exports([path])
    assert rows(exports, *SHOWN) == EXPECTED
    assert set(exports.runs["source"]) == {path}
    assert set(exports.runs["column"]) == {"score"}
    assert exports.problems == []
    digest = sha256(LONG.encode()).hexdigest()
    assert exports.files == [{"path": path, "sha256": digest, "bytes": len(LONG), "rows": 2}]
    assert (exports.rows, exports.rows_filtered, exports.rows_empty_score) == (2, 0, 0)


@pytest.mark.parametrize("kind", ["float64", "category", "str"])
def test_parquet_gives_the_same_runs(tmp_path, kind):
    table = pd.DataFrame(EXPECTED, columns=list(SHOWN)).drop(columns=["raw", "line"])
    path = str(tmp_path / "runs.parquet")
    table.assign(score=table["score"].astype(kind), seed=[1.0, 2.0]).to_parquet(path)
    exports = read_exports([path])
    assert rows(exports, *SHOWN) == EXPECTED
    assert exports.problems == []


def test_columns_are_mapped_joined_and_kept(write):
    path = write(
        "name,pretrained,data,Metric,test metric,Seed,lr\nViT,openai,d,acc,0.5,205.0,1e-3\n"
        "ViT,,d,acc,0.6,7,\n"
    )
    columns = {
        "model": ["name", "pretrained"],
        "dataset": "data",
        "metric": "Metric",
        "score": "test metric",
        "seed": "Seed",
        "keep": ["lr"],
    }
    exports = read_exports([path], columns=columns)
    assert rows(exports, "model", "seed", "lr") == [
        ("ViT / openai", "205", "1e-3"),
        ("ViT", "7", ""),
    ]
    assert list(exports.runs.columns) == [
        *("model", "dataset", "metric", "seed", "score", "raw", "source", "line", "column"),
        "lr",
    ]


@pytest.mark.parametrize(
    ("where", "models"),
    [
        ({"track": "full"}, ["A", "B"]),
        ({"track": ["full", "frozen"]}, ["A", "B", "C"]),
        ({"seed": 1}, ["A", "B"]),
        ({"seed": "1"}, ["A"]),
        ({"seed": [1, 2]}, ["A", "B", "C"]),
        ({"final": True}, ["A", "B"]),
        ({"track": "full", "seed": 1.0}, ["A", "B"]),
    ],
)
def test_filters_compare_text_numbers_and_truth_values(write, where, models):
    path = write(
        "model,dataset,metric,seed,score,track,final\n"
        "A,d,acc,1,0.5,full,true\nB,d,acc,1.0,0.5,full ,TRUE\nC,d,acc,2,0.5,frozen,False\n"
    )
    exports = read_exports([path], where=where)
    assert exports.runs["model"].tolist() == models
    assert exports.rows_filtered == 3 - len(models)
    assert exports.problems == []


def test_lines_count_line_breaks_in_cells_and_blank_lines(write):
    path = write(
        '\nmodel,dataset,metric,"seed",score\n\nA,"d\n1\n",acc,1,0.5\n\n\nB,"d\r\n2",acc,1,0.5\n'
    )
    exports = read_exports([path])
    assert rows(exports, "model", "dataset", "line") == [("A", "d\n1", 4), ("B", "d\r\n2", 9)]


def test_the_metric_of_a_dataset_wins_over_that_of_the_study_and_that_over_the_file(write):
    path = write(LONG + "A,d2,acc,1,0.5\n")
    assert set(read_exports([path]).runs["metric"]) == {"acc"}
    assert set(read_exports([path], metric="F1").runs["metric"]) == {"F1"}
    exports = read_exports([path], metric="F1", dataset_metrics={"d2": "RMSE"})
    assert rows(exports, "dataset", "metric") == [("d1", "F1"), ("d1", "F1"), ("d2", "RMSE")]


def test_a_configured_metric_that_the_file_says_otherwise_of_is_a_warning(write):
    path = write(LONG + "A,d2,RMSE,1,0.5\nB,d2,RMSE,1,0.5\n")
    (problem,) = read_exports([path], metric="Accuracy").problems
    assert (problem.code, problem.severity) == ("overruled_metric", "warning")
    assert (problem.line, problem.column, problem.value) == (4, "metric", "RMSE")
    assert problem.reason == (
        "The configuration says that the metric is 'Accuracy', the file says 'RMSE'."
    )
    (problem,) = read_exports([path], dataset_metrics={"d1": "F1"}).problems
    assert (problem.line, problem.value) == (2, "acc")


MATRIX = "name,pretrained,size,d1,d2\nViT,openai,86,0.5,\nViT,laion,86,60%,0.25\n"
WIDE = {"model": ["name", "pretrained"], "ignore": ["size"]}


def test_a_matrix_has_a_run_per_filled_cell(write):
    exports = read_exports([write(MATRIX)], layout="matrix", columns=WIDE, metric="acc")
    assert rows(exports, *SHOWN, "column") == [
        ("ViT / openai", "d1", "acc", "", 0.5, "0.5", 2, "d1"),
        ("ViT / laion", "d1", "acc", "", 0.6, "60%", 3, "d1"),
        ("ViT / laion", "d2", "acc", "", 0.25, "0.25", 3, "d2"),
    ]
    assert (exports.rows, exports.rows_empty_score, exports.percent_signs) == (2, 1, 1)
    assert exports.problems == []


LONG = "model,dataset,metric,seed,score\nA,d1,acc,1,0.5\nB,d1,acc,2,0.25\n"


def append(row):
    return LONG + row + "\n"


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


def test_an_empty_seed_among_seeds_is_a_warning(write):
    exports = read_exports([write(append("C,d1,acc,,0.5"))])
    problem = only_problem(exports)
    assert place(problem) == ("empty_seed", 4, "", "")
    assert problem.severity == "warning"
    assert exports.runs["seed"].tolist() == ["1", "2", ""]


def test_a_seed_column_that_is_not_read_is_a_warning(write):
    problem = only_problem(read_exports([write(LONG.replace("seed", "Seed"))]))
    assert (problem.code, problem.column, problem.severity) == ("unread_seed", "Seed", "warning")


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


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("model,P,Q,R\nA,.1,,\nB,.2,,\n", {}, []),
        ("model,P,Q\nA,.1,\n", {"datasets": ["P", "Q"]}, ["Q"]),
        ("model,dataset,f1,acc\nA,P,.1,\n", {"score": ["f1", "acc"]}, ["acc"]),
        ("model,dataset,f1,acc\nA,P,.1,\nA,Q,,.2\n", {"score": ["f1", "acc"]}, []),
    ],
)
def test_a_listed_column_without_scores_is_told(write, text, columns, expected):
    layout = "long" if "score" in columns else "matrix"
    options = {} if "score" in columns else {"metric": "acc"}
    exports = read_exports([write(text)], layout=layout, columns=columns, **options)
    assert [problem.column for problem in exports.problems] == expected
    assert {problem.code for problem in exports.problems} <= {"empty_column"}


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


@pytest.mark.parametrize("name", ["\u200b", " \u200b\ufeff ", "\u2060\u00ad"])
def test_a_name_of_invisible_characters_is_empty(write, name):
    read = read_exports([write(f"model,dataset,metric,score\n{name},D,f1,0.5\nA\u200b,D,f1,1\n")])
    assert [(item.code, item.line) for item in read.problems] == [("empty_model", 2)]
    assert read.runs["model"].to_list() == ["A\u200b"]


def test_nested_names_and_scores_are_empty(write):
    run = {"model": "A", "dataset": "D", "metric": "f1", "seed": 1, "score": 0.5}
    records = [run, run | {"model": ["a"]}, run | {"score": {"x": 0.5}}, run | {"score": [0] * 101}]
    read = read_exports([write("\n".join(map(json.dumps, records)), "runs.jsonl")])
    codes = [("empty_model", 2), ("empty_score", 3), ("empty_score", 4)]
    assert sorted((problem.code, problem.line) for problem in read.problems) == codes
