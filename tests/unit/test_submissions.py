"""Reading submissions: what they hold, and that nothing in them does harm."""

import gzip
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from capmap.benchmarks import read_benchmark
from capmap.exports.submission_information import read_information
from capmap.exports.submission_results import Demands
from capmap.exports.submissions import read_submissions
from tests.submissions import (
    BENCHMARK,
    INFORMATION,
    NAMES,
    change_all,
    make_rows,
    render_rows,
    write_submission,
)

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://x")',
    "../../etc",
    "a\nb",
    "$(rm -rf)",
    "{study}",
    "{{ 1 }}",
    "x" * 300,
    "\u202eevil",
]


def read(*folders, benchmark=None, **given):
    files = [str(folder / name) for folder in folders for name in NAMES]
    demands = Demands(benchmark=benchmark, **given)
    return read_submissions([str(folder) for folder in folders], files=files, demands=demands)


def define(folder):
    path = folder / "benchmark.yaml"
    path.write_text(BENCHMARK, "utf-8")
    return read_benchmark(str(path))


def list_codes(exports):
    return sorted(problem.code for problem in exports.problems)


def test_a_run_carries_its_submission_backbone_method_and_parameters(tmp_path):
    exports, listed = read(write_submission(tmp_path, "first"), benchmark=define(tmp_path))
    assert exports.problems == []
    run = exports.runs.iloc[0].to_dict()
    assert run == {
        "model": "resnet50 / full_ft / first",
        "dataset": "forests",
        "metric": "Overall_Accuracy",
        "seed": "1",
        "score": 0.8001,
        "raw": "0.8001",
        "source": str(tmp_path / "first" / NAMES[0]),
        "line": 2,
        "column": "test metric",
        "submission": "first",
        "backbone": "resnet50",
        "method": "full_ft",
        "experiment_name": "run_resnet50",
        "decoder": "UNet",
        "n_trials": "16",
        "batch_size": "32",
        "lr": "0.0001",
        "weight_decay": "0.01",
        "data_percentages": "100",
        "early_stop_patience": "",
        "batch_size_selection": "HPO",
        "partition_name": "100%",
    }
    assert listed[0]["runs"] == len(exports.runs) == 2 * 3 * 5
    assert listed[0]["code"] == "https://example.org/code"
    assert set(listed[0]["sha256"]) == {*NAMES}


def test_models_are_named_by_the_benchmark_then_by_the_submission_then_by_their_key(tmp_path):
    described = [
        {"unique_backbone_key": "new", "model_display_name": "New One", "model_size": "3M"},
        {"unique_backbone_key": "unused", "model_display_name": "Unused", "model_size": "3M"},
    ]
    folder = write_submission(
        tmp_path,
        "a",
        rows=make_rows(("new", "resnet50")),
        information={"New model info": described},
    )
    exports, listed = read(folder, benchmark=define(tmp_path))
    assert exports.problems == []
    assert listed[0]["models"] == [
        {"key": "new", "name": "New One", "size": "3M"},
        {"key": "resnet50", "name": "Resnet50-ImageNet", "size": "25M"},
    ]
    _, unknown = read(write_submission(tmp_path, "b", rows=make_rows(("other",))))
    assert unknown[0]["models"] == [{"key": "other", "name": "other", "size": ""}]


def test_decoders_partitions_and_shares_of_one_model_are_warned_of(tmp_path):
    other = {"decoder": "FPN", "partition name": "50%", "data_percentages": "10"}
    equal = {"data_percentages": "100.0"}
    rows = [row | {"4": equal, "5": other}.get(row["Seed"], {}) for row in make_rows(("clay",))]
    exports, _ = read(write_submission(tmp_path, "a", rows=rows), benchmark=define(tmp_path))
    # One warning for each of the three datasets, at its fifth row.
    assert list_codes(exports) == [
        *["several_decoders"] * 3,
        *["several_partitions"] * 3,
        *["several_shares_of_the_data"] * 3,
    ]
    assert {problem.line for problem in exports.problems} == {6, 11, 16}
    assert {problem.severity for problem in exports.problems} == {"warning"}


def test_without_a_benchmark_names_are_not_checked(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "fields", dataset="moon", Metric="wow")
    exports, _ = read(write_submission(tmp_path, "a", rows=rows))
    assert exports.problems == []
    assert set(exports.runs["dataset"]) == {"forests", "moon", "biomass"}


def test_seeds_through_floats_spaces_and_decimal_commas_are_read(tmp_path):
    rows = [
        row | {"Seed": f" {row['Seed']}.0 ", "test metric": row["test metric"].replace(".", ",")}
        for row in make_rows()
    ]
    exports, _ = read(write_submission(tmp_path, "a", rows=rows))
    assert sorted(set(exports.runs["seed"])) == ["1", "2", "3", "4", "5"]
    assert exports.decimal_commas == 30
    assert exports.problems == []


def test_the_name_of_a_model_can_be_made_of_other_columns(tmp_path):
    folder = write_submission(tmp_path, "a")
    files = [str(folder / name) for name in NAMES]
    for columns, name in (
        ({"model": "model"}, "clay / full_ft / a"),
        ({"model": ["submission", "backbone"]}, "a / clay"),
        ({"model": "backbone"}, "clay"),
    ):
        exports, _ = read_submissions([str(folder)], files=files, columns=columns)
        assert sorted(set(exports.runs["model"]))[0] == name
    exports, _ = read_submissions([str(folder)], files=files, columns={"model": ["author"]})
    assert [problem.column for problem in exports.problems] == ["author"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_data(tmp_path, name):
    described = [{"unique_backbone_key": name, "model_display_name": "N", "model_size": "1M"}]
    folder = write_submission(
        tmp_path,
        "a",
        rows=[row | {"experiment_name": name, "decoder": name} for row in make_rows((name,))],
        information={"New model info": described, "License": name, "Paper Link": name},
    )
    exports, listed = read(folder, benchmark=define(tmp_path))
    if "\n" in name:
        # The name of a model in the description stands on one line, so its key is another.
        assert list_codes(exports) == ["undescribed_model"]
        assert all("\n" not in str(problem) for problem in exports.problems)
    else:
        assert exports.problems == []
        assert listed[0]["models"] == [{"key": name, "name": "N", "size": "1M"}]
    assert set(exports.runs["backbone"]) == {name}
    assert listed[0]["license"] == name


def test_a_null_byte_in_the_table_is_refused_in_one_line(tmp_path):
    folder = write_submission(tmp_path, "a", rows=make_rows(("a\0b",)))
    exports, _ = read(folder)
    assert list_codes(exports) == ["binary_file"]
    assert "\n" not in str(exports.problems[0])


def test_folders_of_one_name_and_no_folders_are_refused(tmp_path):
    first, second = (write_submission(tmp_path / part, "same") for part in ("x", "y"))
    exports, listed = read(first, second)
    assert list_codes(exports) == ["bad_folder", "bad_folder"]
    assert listed == []
    exports, _ = read_submissions([], files=[])
    assert list_codes(exports) == ["no_submissions"]
    assert exports.runs.columns.to_list()[:2] == ["model", "dataset"]


def test_a_gzip_bomb_is_not_unpacked(tmp_path):
    folder = write_submission(tmp_path, "a")
    (folder / NAMES[1]).write_bytes(gzip.compress(b" " * 100_000_000))
    exports, _ = read(folder)
    assert list_codes(exports) == ["too_large"]


def test_the_order_of_folders_and_rows_changes_lines_only(tmp_path):
    folders = [write_submission(tmp_path, name) for name in ("a", "b")]
    expected, listed = read(*folders)
    (folders[0] / NAMES[0]).write_text(render_rows(make_rows()[::-1]), "utf-8")
    exports, again = read(*folders[::-1])
    key = ["model", "dataset", "seed"]
    left, right = (
        found.runs.drop(columns=["line"]).sort_values(key, ignore_index=True)
        for found in (expected, exports)
    )
    assert left.equals(right)
    assert [item["name"] for item in again] == [item["name"] for item in listed] == ["a", "b"]


@given(
    table=st.binary(max_size=200),
    text=st.binary(max_size=200),
)
@example(table=b"\x1f\x8b\x08", text=b'{"License": "\\ud800"}')
@example(table=b"PAR1", text=b"1e999")
@example(table=b"backbone;dataset\n1;2\n", text=b'{"a": ' * 2000)
def test_random_bytes_raise_nothing(table, text):
    with tempfile.TemporaryDirectory() as folder:
        submission = write_submission(Path(folder), "a", results=table, document=text)
        exports, listed = read(submission)
        assert exports.problems
        json.dumps(listed).encode()
        "".join(map(str, exports.problems)).encode()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(values=st.dictionaries(st.sampled_from([*INFORMATION]), JSON), models=st.lists(JSON))
def test_any_json_is_read_or_told(tmp_path_factory, values, models):
    path = tmp_path_factory.mktemp("json") / NAMES[1]
    path.write_text(json.dumps({"New model info": models} | values), "utf-8")
    information, problems = read_information(str(path))
    json.dumps(dict(information.texts), ensure_ascii=False).encode()
    "".join(map(str, problems)).encode()
    assert set(information.texts) >= {"paper", "code", "license"} or problems


@given(
    cells=st.lists(
        st.tuples(st.sampled_from([*make_rows()[0]]), st.text(max_size=6), st.integers(0, 29)),
        max_size=4,
    )
)
def test_any_cells_are_read_or_told(tmp_path_factory, cells):
    rows = make_rows()
    for column, text, place in cells:
        rows[place][column] = text.replace("\0", "")
    folder = tmp_path_factory.mktemp("cells")
    content = render_rows(rows).encode("utf-8", "replace")
    exports, _ = read(write_submission(folder, "a", results=content), benchmark=define(folder))
    assert len(exports.runs) == 30 or exports.problems
