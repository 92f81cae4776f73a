"""Cells and columns that would become names without anybody meaning it."""

import json

import pytest

from capmap.exports import read_exports

RUN = {"model": "A", "dataset": "D", "metric": "f1", "seed": 1, "score": 0.5}


def test_nested_names_and_seeds_are_one_problem_per_line(write):
    records = [RUN, RUN | {"model": ["a"], "seed": {"x": "y"}}, RUN | {"seed": {"x": "y"}}]
    read = read_exports([write("\n".join(map(json.dumps, records)), "runs.jsonl")])
    assert [(item.code, item.line, item.column, item.value) for item in read.problems] == [
        ("nested_value", 2, "model", '["a"]'),
        ("nested_value", 3, "seed", '{"x": "y"}'),
    ]
    assert (read.rows, read.runs["line"].to_list()) == (3, [1])


def test_nested_models_of_a_matrix_are_a_problem(write):
    path = write('{"model": "A", "D": 0.5}\n{"model": ["B"], "D": 0.6}\n', "runs.jsonl")
    read = read_exports([path], layout="matrix", metric="f1")
    assert [(item.code, item.line) for item in read.problems] == [("nested_value", 2)]
    assert read.runs["model"].to_list() == ["A"]


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


@pytest.mark.parametrize("columns", [{"score": "run"}, {"model": "name", "dataset": "run"}])
def test_a_matrix_needs_a_name_for_its_columns(write, columns):
    path = write("name,run,D\nA,1,0.5\n")
    read = read_exports([path], layout="matrix", metric="f1", columns=columns)
    assert ("long_setting", "run") in [(item.code, item.column) for item in read.problems]


def test_a_matrix_can_have_seeds_and_metrics_of_its_rows(write):
    path = write("model,run,measure,D,E\nA,1,f1,0.5,0.6\nA,2,f1,0.7,\n")
    read = read_exports([path], layout="matrix", columns={"seed": "run", "metric": "measure"})
    assert read.problems == []
    assert read.runs[["dataset", "metric", "seed", "score"]].to_numpy().tolist() == [
        ["D", "f1", "1", 0.5],
        ["E", "f1", "1", 0.6],
        ["D", "f1", "2", 0.7],
    ]


def test_a_matrix_accepts_the_defaults_of_columns_that_only_a_long_table_has(write):
    defaults = {"dataset": "dataset", "metric": "metric", "score": "score", "seed": "seed"}
    path = write("model,D\nA,0.5\n")
    read = read_exports([path], layout="matrix", metric="f1", columns={**defaults, "keep": []})
    assert read.problems == []
