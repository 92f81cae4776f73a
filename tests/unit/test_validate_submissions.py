"""The script that reads and checks the submissions of a study."""

import runpy
import shutil
from pathlib import Path

import pytest

from capmap import benchmarks
from capmap.artifacts import read_table
from capmap.errors import ConfigError, ValidationError
from tests.submissions import (
    BENCHMARK,
    NAMES,
    change_all,
    make_rows,
    run,
    write_submission,
)

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


def test_more_seeds_than_needed_are_fine(tmp_path):
    write_submission(tmp_path / "submissions", "five")
    write_submission(tmp_path / "submissions", "six", rows=make_rows(seeds=6))
    runs, summary, listed = run(tmp_path)
    assert len(runs) == 30 + 36
    assert summary["ok"] is True
    assert summary["counts"]["files"] == 4
    assert [item["runs"] for item in listed] == [30, 36]
    assert list(summary) == [
        *("ok", "files", "counts", "seeds_per_cell", "metrics", "rejected"),
        *("warnings", "warnings_total", "conversions"),
    ]


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


def test_frozen_and_full_ft_are_models_of_their_own(tmp_path):
    frozen = [
        row | {"frozen_or_full_ft": "frozen", "experiment_name": "frozen"}
        for row in make_rows(("clay",))
    ]
    write_submission(tmp_path / "submissions", "both", rows=make_rows(("clay",)) + frozen)
    runs, summary, _ = run(tmp_path)
    assert sorted(runs["model"].unique()) == ["clay / frozen / both", "clay / full_ft / both"]
    assert summary["counts"]["duplicates_identical"] == 0


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


def test_a_score_off_the_scale_of_converted_errors_is_not_taken_for_a_percentage(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "biomass", **{"test metric": "30.1"})
    write_submission(tmp_path / "submissions", "a", rows=rows)
    with pytest.raises(ValidationError, match=r"stores 1 - RMSE \* 0.25: convert") as caught:
        run(tmp_path)
    assert "percentage" not in str(caught.value)


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


def test_without_references_an_error_below_a_half_is_recognized(tmp_path):
    settings = {"references": [], "normalization": {"low": "observed", "high": "observed"}}
    write_submission(tmp_path / "submissions", "a")
    run(tmp_path, **settings)
    write_submission(tmp_path / "submissions", "b", rows=store_raw(make_rows()))
    with pytest.raises(ValidationError, match="look like raw RMSE"):
        run(tmp_path, **settings)


def test_the_metric_and_direction_of_the_study_win(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "fields", Metric="quality")
    write_submission(tmp_path / "submissions", "a", rows=rows)
    rule = {"fields": {"metric": "quality", "direction": "max", "low": 0, "high": 1}}
    runs, _, _ = run(tmp_path, datasets=rule)
    assert "quality" in set(runs["metric"])
    with pytest.raises(ValidationError, match="'quality' is not the metric"):
        run(tmp_path)


def test_scores_may_be_percentages_where_the_study_says_so(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "forests", **{"test metric": "55"})
    write_submission(tmp_path / "submissions", "a", rows=rows)
    bounds = {"Overall_Accuracy": {"low": 0, "high": 100}}
    run(tmp_path, metrics=bounds)
    with pytest.raises(ValidationError, match=r"outside the range \[0, 1\]"):
        run(tmp_path)


def test_a_study_without_benchmark_and_references_is_valid(tmp_path):
    rows = [row for row in make_rows() if row["dataset"] != "biomass"]
    write_submission(tmp_path / "submissions", "a", rows=rows)
    runs, _, listed = run(tmp_path, benchmark=[], references=[])
    assert len(runs) == 20
    assert [model["name"] for model in listed[0]["models"]] == ["clay", "resnet50"]


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


def test_a_broken_benchmark_is_a_fault_of_the_configuration(tmp_path):
    write_submission(tmp_path / "submissions", "a")
    with pytest.raises(ConfigError, match="no dataset 'x'"):
        run(tmp_path, definition=BENCHMARK.replace("[cattle]", "[x]"))


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


def test_each_example_model_covers_core_and_one_covers_another_dimension_in_part(example):
    runs, _, _ = example
    dimensions = benchmarks.read_benchmark(str(SHIPPED)).dimensions
    present = runs.groupby("model")["dataset"].agg(set)
    assert all(own >= set(dimensions["Core"]) for own in present)
    classification = set(dimensions["Classification"])
    parts = {len(own & classification) for own in present}
    assert parts == {3, 4}


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
