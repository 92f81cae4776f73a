"""Reading submissions: what they hold, and that nothing in them does harm."""

import json
import runpy
import shutil
from pathlib import Path

import pytest

from capmap.artifacts import read_table
from capmap.errors import ValidationError
from capmap.exports.submissions import read_submissions
from tests.submissions import (
    INFORMATION,
    METRICS,
    NAMES,
    change,
    change_all,
    make_rows,
    render_rows,
    run,
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


def read(*folders, **given):
    files = [str(folder / name) for folder in folders for name in NAMES]
    exports, _, listed = read_submissions([str(folder) for folder in folders], files=files, **given)
    return exports, listed


def list_codes(exports):
    return sorted(problem.code for problem in exports.problems)


def test_a_run_carries_its_submission_backbone_method_and_parameters(tmp_path):
    exports, _ = read(write_submission(tmp_path, "first"))
    assert exports.problems == []
    first = exports.runs.iloc[0].to_dict()
    assert first == {
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
    _, _, (listed,) = run(tmp_path, folders=[str(tmp_path / "first")])
    assert listed["runs"] == len(exports.runs) == 2 * 3 * 5
    assert listed["code"] == "https://example.org/code"
    assert set(listed["sha256"]) == {*NAMES}


def test_models_are_named_by_the_benchmark_then_by_the_submission_then_by_their_key(tmp_path):
    described = [
        {"unique_backbone_key": "new", "model_display_name": "New One", "model_size": "3M"},
        {"unique_backbone_key": "unused", "model_display_name": "Unused", "model_size": "3M"},
    ]
    rows, information = make_rows(("new", "resnet50")), {"New model info": described}
    write_submission(tmp_path / "submissions", "a", rows=rows, information=information)
    new = {"key": "new", "name": "New One", "size": "3M"}
    known = {"key": "resnet50", "name": "Resnet50-ImageNet", "size": "25M"}
    assert run(tmp_path)[2][0]["models"] == [new, known]


def vary(**seeds):
    """Change cells of the runs of one model by their seeds, s1 to s5."""
    return {"rows": [row | seeds.get(f"s{row['Seed']}", {}) for row in make_rows(("clay",))]}


BOTH = [row | {"experiment_name": "one"} for row in make_rows()]
EMPTY_MODEL = dict(INFORMATION["New model info"][0])
# What is written, what is said where, and whether it stops a strict board. Of the parameters of a
# cell there is a warning for each of the three datasets, at its fifth row.
DOUBTS = [
    (vary(s5={"decoder": "FPN"}), "several_decoders", [6, 11, 16], False),
    (vary(s5={"partition name": "50%"}), "several_partitions", [6, 11, 16], False),
    (
        vary(s4={"data_percentages": "100.0"}, s5={"data_percentages": "10"}),
        *("several_shares_of_the_data", [6, 11, 16], False),
    ),
    (vary(s4={"lr": "1e-4"}, s5={"lr": "1e-3"}), "several_learning_rates", [6, 11, 16], True),
    (vary(s5={"batch_size_selection": "random"}), "batch_size_selection", [6], True),
    (vary(s5={"batch_size_selection": "Fixed"}, s1={"lr": "1E-4"}), "", [], False),
    ({"rows": BOTH}, "shared_experiment", [17], True),
    ({"information": {"Licence": "MIT"}}, "wrong_information", [0], True),
    ({"information": {"New model info": [EMPTY_MODEL | {"s": 1}]}}, "wrong_information", [0], True),
]


@pytest.mark.parametrize(("written", "code", "lines", "stops"), DOUBTS)
def test_doubts_are_warned_of_or_stop_a_strict_board(tmp_path, written, code, lines, stops):
    write_submission(tmp_path / "submissions", "a", **written)
    warnings = run(tmp_path)[1]["warnings"]
    assert [(problem["code"], problem["line"]) for problem in warnings] == [
        (code, line) for line in lines
    ]
    strict = {"submission": {"seeds_per_cell": 5, "strict": True}}
    if stops:
        with pytest.raises(ValidationError, match=code):
            run(tmp_path, **strict)
    else:
        run(tmp_path, **strict)


def test_the_name_of_a_model_can_be_made_of_other_columns(tmp_path):
    folder = write_submission(tmp_path, "a")
    files = [str(folder / name) for name in NAMES]
    for columns, name in (
        ({"model": "model"}, "clay / full_ft / a"),
        ({"model": ["submission", "backbone"]}, "a / clay"),
        ({"model": "backbone"}, "clay"),
    ):
        exports, *_ = read_submissions([str(folder)], files=files, columns=columns)
        assert sorted(set(exports.runs["model"]))[0] == name
    exports, *_ = read_submissions([str(folder)], files=files, columns={"model": ["author"]})
    assert [problem.column for problem in exports.problems] == ["author"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_data(tmp_path, name):
    described = [{"unique_backbone_key": name, "model_display_name": "N", "model_size": "1M"}]
    write_submission(
        tmp_path / "submissions",
        "a",
        rows=[row | {"experiment_name": name, "decoder": name} for row in make_rows((name,))],
        information={"New model info": described, "License": name, "Paper Link": name},
    )
    runs, summary, (listed,) = run(tmp_path)
    assert summary["warnings"] == []
    assert listed["models"] == [{"key": name, "name": "N", "size": "1M"}]
    assert set(runs["backbone"]) == {name}
    assert listed["license"] == name


def test_folders_of_one_name_and_no_folders_are_refused(tmp_path):
    first, second = (write_submission(tmp_path / part, "same") for part in ("x", "y"))
    exports, listed = read(first, second)
    assert list_codes(exports) == ["bad_folder", "bad_folder"]
    assert listed == []
    exports, *_ = read_submissions([], files=[])
    assert list_codes(exports) == ["no_submissions"]
    assert exports.runs.columns.to_list()[:2] == ["model", "dataset"]


GOOD = render_rows(make_rows())
DOCUMENT = json.dumps(INFORMATION)
SCORE = "test metric"


def describe(**given):
    """Describe a new model, or what should be one."""
    return {"New model info": [{"model_display_name": "New", "model_size": "1M", **given}]}


def drop(key):
    return json.dumps({name: value for name, value in INFORMATION.items() if name != key})


# Name of the folder: what is written, and what the message says (line, column, parts).
FAULTS = {
    "column": ({"results": GOOD.replace(",n_trials,", ",n_trails,")}, 1, "n_trials", "'n_trails'"),
    "twice": (
        {"results": GOOD.replace(",partition_name,", ",Seed,")},
        1,
        "Seed",
        "2 columns are called",
    ),
    "width": ({"results": GOOD + "a,b\n"}, 32, "", "2 cells where the header has 17"),
    "quote": ({"results": GOOD + '"a\n'}, 32, "", "never closed"),
    "latin": ({"results": GOOD.encode() + b"\xe9,b\n"}, 32, "", "not UTF-8"),
    "empty": ({"results": ""}, 0, "", "file is empty"),
    "header": ({"results": GOOD.splitlines()[0] + "\n"}, 1, "", "no rows"),
    "seed": ({"rows": change(Seed="one")}, 2, "Seed", "no whole number"),
    "lr": ({"rows": change(lr="fast")}, 2, "lr", "no finite number"),
    "decay": ({"rows": change(weight_decay="inf")}, 2, "weight_decay", "no finite number"),
    "again": ({"rows": make_rows() + make_rows()[:1]}, 32, "Seed", "at line 2 as well"),
    "four": ({"rows": make_rows()[1:]}, 2, "dataset", "4 seeds on this dataset, where 5"),
    "nan": ({"rows": change(**{SCORE: "nan"})}, 2, SCORE, "not a number"),
    "infinite": ({"rows": change(**{SCORE: "inf"})}, 2, SCORE, "infinite"),
    "blank": ({"rows": change(**{SCORE: ""})}, 2, SCORE, "score is empty"),
    "percent": ({"rows": change(**{SCORE: "55.0"})}, 2, SCORE, "percentage: write 0.55"),
    "below": ({"rows": change(**{SCORE: "-0.2"})}, 2, SCORE, "outside the range [0, 1]"),
    "dataset": (
        {"rows": [*make_rows(), change(dataset="feilds")[0]]},
        *(32, "dataset", "Did you mean 'fields'?"),
    ),
    "metric": ({"rows": change(Metric="Overal_Acuracy")}, 2, "Metric", "Did you mean 'Overall_"),
    "other": ({"rows": change(Metric="RMSE")}, 2, "Metric", "not the metric of the dataset"),
    "method": (
        {"rows": [*make_rows(), change(frozen_or_full_ft="frozn")[0]]},
        *(32, "frozen_or_full_ft", "Did you mean 'frozen'?"),
    ),
    "unknown": ({"rows": make_rows(("resnet5", "clay"))}, 2, "backbone", "'resnet50'? Describe"),
    "raw": (
        {"rows": change_all(lambda row: row["dataset"] == "biomass", **{SCORE: "0.18"})},
        *(12, SCORE, "datasets: {biomass: {transform: {scale_rmse: {std: 0.25}}}}"),
    ),
    "decoder": ({"rows": change(decoder="")}, 2, "decoder", "cell is empty"),
    "key": ({"document": drop("License")}, 0, "", "'License' is a required property"),
    "type": ({"information": {"Paper Link": 3}}, 0, "Paper Link", "3 is not of type 'string'"),
    "list": ({"information": {"New model info": {}}}, 0, "New model info", "of type 'array'"),
    "model": ({"information": {"New model info": [1]}}, 0, "New model info[1]", "type 'object'"),
    "half": (
        {"information": describe(unique_backbone_key="")},
        *(0, "New model info[1]", "text of the model is empty"),
    ),
    "lacks": (
        {"information": describe()},
        *(0, "New model info[1]", "'unique_backbone_key' is a required property"),
    ),
    "garbage": ({"document": DOCUMENT + "x"}, 1, "", "does not end here"),
    "repeat": ({"document": DOCUMENT[:-1] + ', "License": ""}'}, 0, "", "'License' stands twice"),
    "jsonnan": ({"information": {"License": float("nan")}}, 0, "License", "nan is not of type"),
    "array": ({"document": "[]"}, 0, "", "of type 'object'"),
    "cut": ({"document": DOCUMENT[:50]}, 1, "", "is not JSON"),
}


@pytest.fixture(scope="module")
def rejected(tmp_path_factory):
    """Validate one sound submission and all with a fault, at once."""
    folder = tmp_path_factory.mktemp("faults")
    write_submission(folder / "submissions", "sound")
    for name, (content, *_) in FAULTS.items():
        write_submission(folder / "submissions", name, **content)
    for missing in ("results_and_parameters.csv", "additional_info.json"):
        (write_submission(folder / "submissions", f"no_{missing}") / missing).unlink()
    (folder / "submissions" / "line\nbreak").mkdir()
    (folder / "private").write_text("PRIVATE,b\n")
    for name in ("results_and_parameters.csv", "additional_info.json"):
        path = write_submission(folder / "submissions", f"link_{name[:3]}") / name
        path.unlink()
        path.symlink_to(folder / "private")
    with pytest.raises(ValidationError) as caught:
        run(folder)
    return read_table(folder / "rejected.csv").fillna(""), str(caught.value)


def test_a_file_that_is_a_link_out_of_its_submission_is_not_read(rejected):
    table, message = rejected
    for name in ("res", "add"):
        rows = table[table["source"].str.contains(f"/link_{name}/", regex=False)]
        assert rows["reason"].str.contains("is a link out of the folder").tolist() == [True]
    assert "PRIVATE" not in message + table.to_csv()


def test_each_planted_fault_has_one_message_with_its_place(rejected):
    table, _ = rejected
    for name, (_, line, column, part) in FAULTS.items():
        rows = table[table["source"].str.contains(f"/{name}/", regex=False)]
        told = rows[(rows["line"] == line) & (rows["column"] == column)]
        texts = (told["reason"] + " " + told["remedy"]).to_list()
        assert sum(part in text for text in texts) == 1, (name, rows.to_dict("records"))
        assert (rows["remedy"] != "").all()
        assert len(rows) == 1, "no echo"


def test_missing_files_and_odd_folders_are_told(rejected):
    table, message = rejected
    missing = table[table["reason"].str.startswith("The submission has no file")]
    places = missing["source"].str.rpartition("/")[2]
    assert places.to_list() == ["additional_info.json", "results_and_parameters.csv"]
    odd = table[table["reason"].str.startswith("The name of the folder")]
    assert odd["source"].str.endswith(r"line\nbreak").to_list() == [True]
    assert "rejected.csv" in message


def test_the_metric_of_a_dataset_is_compared_without_case_and_separators(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "fields", Metric="multiclass jaccard-index")
    write_submission(tmp_path / "submissions", "spelled", rows=rows)
    runs, _, _ = run(tmp_path)
    assert set(runs["metric"]) == {metric for metric, _ in METRICS.values()}


ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
SHIPPED = ROOT / "data/benchmarks/geobench2.yaml"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not here")
TRANSFORM = {"biomass": {"transform": {"scale_rmse": {"std": 0.25}}}}


def store_raw(rows):
    """Turn the converted scores of one dataset back into errors: (1 − score) / 0.25."""
    return [
        row | {"test metric": repr((1 - float(row["test metric"])) / 0.25)}
        if row["dataset"] == "biomass"
        else row
        for row in rows
    ]


@needs_shared
def test_the_real_submission_is_valid(tmp_path):
    folder = tmp_path / "submissions" / "real"
    folder.mkdir(parents=True)
    for name in NAMES:
        shutil.copy(SHARED / "data/geobench" / name, folder / name)
    runs, summary, listed = run(
        tmp_path,
        benchmark=[str(SHIPPED)],
        references=[str(SHARED / "data/geobench/normalizer.json")],
    )
    assert len(runs) == 1630
    assert runs["backbone"].nunique() == summary["counts"]["models"] == 18
    assert set(runs["method"]) == {"full_ft"}
    # `partition name` is read, and `partition_name` beside it (always "default") is not.
    assert set(runs["partition_name"]) == {"100%"}
    assert summary["counts"]["cells_empty"] == 16
    assert summary["seeds_per_cell"] == {"min": 5, "median": 5.0, "max": 5}
    assert {problem["code"] for problem in summary["warnings"]} == {"incomplete"}
    assert listed[0]["hpo_trials"] == "10"
    assert len(listed[0]["models"]) == 18
    assert listed[0]["models"][0] == {
        **{"key": "clay_v1_base", "name": "Clay-V1 ViT-B", "size": "100M"}
    }


SPARED = ("frozen_or_full_ft", "decoder", "partition name", "partition_name", "data_percentages")


def test_twelve_columns_and_some_datasets_are_enough_unless_the_board_is_strict(tmp_path):
    rows = [
        {name: value for name, value in row.items() if name not in SPARED}
        for row in make_rows(("clay",))
        if row["dataset"] == "biomass"
    ]
    assert len(rows[0]) == 12
    write_submission(tmp_path / "submissions", "lean", rows=rows)
    runs, summary, _ = run(tmp_path)
    assert set(runs["method"]) == {"full_ft"}
    codes = {warning["code"] for warning in summary["warnings"]}
    assert {"assumed_method", "no_dimension"} <= codes
    with pytest.raises(ValidationError, match="frozen_or_full_ft"):
        run(tmp_path, submission={"seeds_per_cell": 5, "strict": True})


def test_raw_errors_pass_when_the_study_converts_them(tmp_path):
    write_submission(tmp_path / "submissions", "raw", rows=store_raw(make_rows()))
    with pytest.raises(ValidationError, match="look like raw RMSE"):
        run(tmp_path)
    runs, _, _ = run(tmp_path, datasets=TRANSFORM)
    errors = runs.loc[runs["dataset"] == "biomass", "score"]
    # Converted scores are 0.95 to 0.9605, so errors are 0.2 to 0.158.
    assert errors.between(0.157, 0.2).all()


def test_converted_scores_are_not_converted_twice(tmp_path):
    write_submission(tmp_path / "submissions", "converted")
    with pytest.raises(ValidationError, match="look converted already"):
        run(tmp_path, datasets=TRANSFORM)


def test_raw_errors_of_one_model_among_converted_scores_are_recognized(tmp_path):
    rows = [*make_rows(("clay",)), *store_raw(make_rows(("resnet50",)))]
    write_submission(tmp_path / "submissions", "mixed", rows=rows)
    with pytest.raises(ValidationError, match=r"raw RMSE.* \(1 of 2 models\)"):
        run(tmp_path)


@pytest.mark.parametrize(
    ("score", "is_raw"),
    # The bounds are 0.94 and 0.97. A score s stays where it is nearer to them than 1 − s/4 is.
    [(0.95, False), (0.9, False), (0.85, False), (0.2, True), (0.5, True), (0.7, True)],
)
def test_a_poor_model_is_told_from_a_raw_error(tmp_path, score, is_raw):
    rows = change_all(lambda row: row["dataset"] == "biomass", **{"test metric": repr(score)})
    write_submission(tmp_path / "submissions", "a", rows=rows)
    if is_raw:
        with pytest.raises(ValidationError, match="look like raw RMSE"):
            run(tmp_path)
    else:
        run(tmp_path)


@pytest.mark.parametrize("score", ["-5", "7", "1e308"])
def test_what_fits_neither_scale_is_out_of_range(tmp_path, score):
    rows = change_all(lambda row: row["dataset"] == "biomass", **{"test metric": score})
    write_submission(tmp_path / "submissions", "a", rows=rows)
    with pytest.raises(ValidationError, match="outside the range"):
        run(tmp_path)
    table = read_table(tmp_path / "rejected.csv")
    # Two models with five seeds each, and no echo of a dataset without runs.
    assert table["reason"].str.startswith("The score is outside the range [0, 1]").sum() == 10
    assert len(table) == 10


def test_a_seed_of_two_submissions_is_no_repeat_unless_they_share_a_model(tmp_path):
    for name, shift in (("a", 0.0), ("b", 0.001)):
        rows = [
            row | {"test metric": repr(float(row["test metric"]) + shift)} for row in make_rows()
        ]
        write_submission(tmp_path / "submissions", name, rows=rows)
    runs, _, _ = run(tmp_path)
    assert len(runs) == 60
    with pytest.raises(ValidationError, match="differs from"):
        run(tmp_path, columns={"model": ["backbone", "frozen_or_full_ft"]})


EXAMPLE = ROOT / "data/submissions"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example")
    shutil.copytree(EXAMPLE, folder / "submissions")
    return run(
        folder,
        benchmark=[str(SHIPPED)],
        references=[str(ROOT / "data/submissions_references.json")],
    )


def test_the_example_submissions_are_valid(example):
    runs, summary, listed = example
    assert len(listed) == 3
    assert 6 <= runs["backbone"].nunique() <= 8
    assert set(runs["method"]) == {"frozen", "full_ft"}
    entries = runs[["backbone", "submission"]].drop_duplicates()
    assert entries["backbone"].duplicated().any()
    assert set(runs.groupby(["model", "dataset"]).size()) == {5, 6}
    assert {problem["code"] for problem in summary["warnings"]} == {"incomplete"}


def test_the_example_has_the_bytes_that_its_script_makes():
    files = runpy.run_path(str(ROOT / "data/make_submissions.py"))["render_submissions"]()
    written = {path for path in EXAMPLE.rglob("*") if path.is_file()}
    assert {ROOT / "data" / name for name in files} == {
        *written,
        ROOT / "data/submissions_references.json",
    }
    for name, text in files.items():
        assert (ROOT / "data" / name).read_bytes() == text.encode(), name
    assert sum(map(len, files.values())) < 400_000
