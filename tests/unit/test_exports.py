"""Exports of every format and layout, read as runs."""

import json
import unicodedata
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap import metrics
from capmap.exports import read_exports


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


ENTRY = '{"model": "A", "dataset": "D", "metric": "accuracy", "score": 0.25}'


@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_array_gives_the_runs_of_json_lines_and_the_lines_of_its_entries(write, indent):
    records = [
        {"model": name, "dataset": "D", "metric": "accuracy", "score": 0.25} for name in "AB"
    ]
    array = write(json.dumps(records, indent=indent), "runs.json")
    lines = write("\n".join(map(json.dumps, records)), "runs.jsonl")
    read = read_exports([array]).runs
    assert read["line"].tolist() == ([1, 1] if indent is None else [2, 8])
    same = ["model", "dataset", "metric", "score", "raw"]
    pd.testing.assert_frame_equal(read[same], read_exports([lines]).runs[same])


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (f'[{ENTRY},\n{{"model": ]', 2, "is not JSON"),
        (f"[{ENTRY}\n{ENTRY}]", 2, "is not JSON"),
        (f"[{ENTRY}] {ENTRY}", 1, "does not end here"),
        (f"[{ENTRY},\n\n7]", 3, "is not an object"),
        ("[]", 0, "no record"),
        ("[" * 100_000, 1, "nested too deeply"),
    ],
)
def test_faults_of_a_json_array_have_their_line(write, content, line, reason):
    found = read_exports([write(content, "runs.json")]).problems[0]
    assert found.line == line
    assert reason in found.reason


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


def test_rows_that_are_filtered_out_cause_no_problems(write):
    path = write(LONG + "C,d1,acc,3,failed\n")
    exports = read_exports([path], where={"model": ["A", "B"]})
    assert rows(exports, *SHOWN) == EXPECTED
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


def test_decimal_commas_and_percent_signs_are_counted(write):
    path = write("model;dataset;metric;score\nA;d;acc;91,5%\nB;d;acc;0,9\nC;d;acc;1\n")
    exports = read_exports([path])
    assert exports.runs["score"].tolist() == [0.915, 0.9, 1.0]
    assert (exports.percent_signs, exports.decimal_commas) == (1, 2)


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


def is_visible(name):
    return any(unicodedata.category(mark) not in ("Zs", "Zl", "Zp", "Cf") for mark in name.strip())


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)


@settings(max_examples=60)
@given(st.lists(st.tuples(NAMES, NAMES, st.floats(allow_nan=False)), min_size=1, max_size=6))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path_factory, records):
    table = pd.DataFrame(records, columns=["model", "dataset", "score"])
    path = str(tmp_path_factory.mktemp("exports") / "runs.csv")
    table.to_csv(path, index=False, quoting=2)
    exports = read_exports([path], metric="acc")
    named = [row for row in records if is_visible(row[0]) and is_visible(row[1])]
    expected = [(model.strip(), dataset.strip(), score) for model, dataset, score in named]
    assert rows(exports, "model", "dataset", "score") == expected


def test_columns_of_parquet_with_points_and_spaces_in_their_names_are_found(tmp_path):
    path = str(tmp_path / "track=full.parquet")
    table = pd.DataFrame({"m.a": ["A"], "m": ["B"], " d ": ["d1"], "m.b.c": [0.5]})
    table.to_parquet(path)
    columns = {"model": ["m", "m.a"], "dataset": "d", "score": "m.b.c"}
    exports = read_exports([path], columns=columns, metric="acc")
    assert rows(exports, "model", "dataset", "score") == [("B / A", "d1", 0.5)]


DATA = Path(__file__).parents[2].parent / "shared" / "data"


def read(name, **options):
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"needs {name} of the shared data beside the checkout")
    return read_exports([str(path)], **options)


def count_names(exports):
    return exports.runs["model"].nunique(), exports.runs["dataset"].nunique(), len(exports.runs)


def test_geobench_has_18_backbones_on_19_datasets_with_16_empty_cells():
    columns = {
        "model": "backbone",
        "metric": "Metric",
        "score": "test metric",
        "seed": "Seed",
        "keep": ["decoder"],
    }
    exports = read("geobench/results_and_parameters.csv", columns=columns)
    assert exports.problems == []
    assert count_names(exports) == (18, 19, 18 * 19 * 5 - 16 * 5)
    assert all(metrics.find_metric(metric) for metric in set(exports.runs["metric"]))
    assert "205" in set(exports.runs["seed"])


def test_rtdl_has_12_tuned_models_on_11_datasets_with_17_missing_cells():
    exports = read(
        "rtdl/all_stats.csv",
        columns={"model": "algorithm", "score": "score"},
        where={"variant": "tuned"},
        metric="score",
    )
    assert exports.problems == []
    assert count_names(exports) == (12, 11, (12 * 11 - 17) * 15)
    assert exports.rows == exports.rows_filtered + len(exports.runs)
    assert set(exports.runs["seed"]) == {str(seed) for seed in range(15)}


def test_openclip_is_a_matrix_of_121_checkpoints_and_38_datasets():
    columns = {
        "model": ["name", "pretrained"],
        "ignore": ["params (M)", "FLOPs (B)", "Average perf. on 38 datasets"],
    }
    exports = read(
        "openclip/openclip_results.csv", layout="matrix", columns=columns, metric="accuracy"
    )
    assert exports.problems == []
    assert count_names(exports) == (121, 38, 121 * 38)
    assert "ViT-H-14-378-quickgelu / dfn5b" in set(exports.runs["model"])


def test_atari_has_100_runs_of_two_agents_and_5_of_the_third():
    exports = read("atari100k/runs.csv")
    assert exports.problems == []
    assert count_names(exports) == (3, 26, 26 * (100 + 100 + 5))
