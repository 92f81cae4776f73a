"""Submissions: what is read of them, what is refused, and that nothing in them does harm."""

import json
import shutil
from pathlib import Path

import pytest

from capmap.artifacts import read_table
from capmap.errors import ConfigError, ValidationError
from tests.submissions import (
    BENCHMARK,
    INFORMATION,
    NAMES,
    change,
    change_all,
    make_rows,
    render_rows,
    run,
    write_submission,
)

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared"
SHIPPED = ROOT / "data/benchmarks/geobench2.yaml"
EXAMPLE = ROOT / "data/submissions"
TRANSFORM = {"biomass": {"transform": {"scale_rmse": {"std": 0.25}}}}
STRICT = {"submission": {"seeds_per_cell": 5, "strict": True}}
SCORE = "test metric"


def store_raw(rows):
    """Turn the converted scores of one dataset back into errors: (1 − score) / 0.25."""
    return [
        row | {SCORE: repr((1 - float(row[SCORE])) / 0.25)} if row["dataset"] == "biomass" else row
        for row in rows
    ]


def set_biomass(score):
    return change_all(lambda row: row["dataset"] == "biomass", **{SCORE: repr(score)})


def test_a_run_carries_its_submission_backbone_method_and_parameters(tmp_path):
    write_submission(tmp_path / "submissions", "first")
    runs, summary, (listed,) = run(tmp_path)
    first = runs.iloc[0].to_dict()
    assert first["model"] == "clay / full_ft / first"
    assert {first["backbone"], first["method"], first["submission"]} == {"clay", "full_ft", "first"}
    assert (first["partition_name"], first["lr"], first["early_stop_patience"]) == (
        *("100%", "0.0001", ""),
    )
    assert len(runs) == 2 * 3 * 5
    assert listed["code"] == "https://example.org/code"
    assert summary["counts"]["files"] == 2


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not here")
def test_the_real_submission_is_valid(tmp_path):
    folder = tmp_path / "submissions" / "real"
    folder.mkdir(parents=True)
    for name in NAMES:
        shutil.copy(SHARED / "data/geobench" / name, folder / name)
    references = [str(SHARED / "data/geobench/normalizer.json")]
    runs, summary, listed = run(tmp_path, benchmark=[str(SHIPPED)], references=references)
    assert len(runs) == 1630
    assert runs["backbone"].nunique() == summary["counts"]["models"] == 18
    # `partition name` is read, and `partition_name` beside it (always "default") is not.
    assert set(runs["partition_name"]) == {"100%"}
    assert {problem["code"] for problem in summary["warnings"]} == {"incomplete"}
    assert listed[0]["hpo_trials"] == "10"


def test_twelve_columns_and_some_datasets_are_enough_unless_the_board_is_strict(tmp_path):
    spared = ("frozen_or_full_ft", "decoder", "partition name", "partition_name")
    rows = [
        {name: value for name, value in row.items() if name not in (*spared, "data_percentages")}
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
        run(tmp_path, **STRICT)


def test_a_strict_board_wants_a_complete_dimension(tmp_path):
    rows = [row for row in make_rows() if row["dataset"] != "fields"]
    write_submission(tmp_path / "submissions", "a", rows=rows)
    assert "no_dimension" in {problem["code"] for problem in run(tmp_path)[1]["warnings"]}
    with pytest.raises(ValidationError, match="2 no_dimension"):
        run(tmp_path, **STRICT)


@pytest.mark.parametrize(
    "name",
    ["<img src=x onerror=alert(1)>", '=HYPERLINK("http://x")', "a\nb", "{study}", "\u202eevil"],
)
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


GOOD = render_rows(make_rows())
DOCUMENT = json.dumps(INFORMATION)


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
        *(1, "Seed", "2 columns are called"),
    ),
    "width": ({"results": GOOD + "a,b\n"}, 32, "", "2 cells where the header has 17"),
    "latin": ({"results": GOOD.encode() + b"\xe9,b\n"}, 32, "", "not UTF-8"),
    "empty": ({"results": ""}, 0, "", "file is empty"),
    "four": ({"rows": make_rows()[1:]}, 2, "dataset", "with 4 different seeds"),
    "unseeded": (
        {
            "rows": [
                row | {"Seed": ""} for row in make_rows(("clay",)) if row["dataset"] == "forests"
            ]
        },
        *(2, "dataset", "with 0 different seeds"),
    ),
    "again": (
        {"rows": [*make_rows(), make_rows()[0] | {SCORE: "0.7"}]},
        *(32, SCORE, "differs from '0.8001' at line 2"),
    ),
    "nan": ({"rows": change(**{SCORE: "nan"})}, 2, SCORE, "not a finite number"),
    "blank": ({"rows": change(**{SCORE: ""})}, 2, SCORE, "score is empty"),
    "percent": ({"rows": change(**{SCORE: "55.0"})}, 2, SCORE, "outside the range [0, 1]"),
    "below": ({"rows": change(**{SCORE: "-0.2"})}, 2, SCORE, "outside the range [0, 1]"),
    "dataset": (
        {"rows": [*make_rows(), change(dataset="feilds")[0]]},
        *(32, "dataset", "Did you mean 'fields'?"),
    ),
    "metric": ({"rows": change(Metric="RMSE")}, 2, "Metric", "not the metric of the dataset"),
    "method": (
        {"rows": [*make_rows(), change(frozen_or_full_ft="frozn")[0]]},
        *(32, "frozen_or_full_ft", "Did you mean 'frozen'?"),
    ),
    "unknown": ({"rows": make_rows(("resnet5", "clay"))}, 2, "backbone", "'resnet50'? Describe"),
    "raw": (
        {"rows": set_biomass(0.18)},
        *(12, SCORE, "datasets: {'biomass': {transform: {'scale_rmse': {'std': 0.25}}}}"),
    ),
    "key": ({"document": drop("License")}, 0, "License", "Field required"),
    "type": ({"information": {"Paper Link": [3]}}, 0, "Paper Link", "a valid string"),
    "model": (
        {"information": {"New model info": [1]}},
        0,
        "New model info[1]",
        "a valid dictionary.",
    ),
    "half": (
        {"information": describe(unique_backbone_key="")},
        *(0, "New model info[1]", "text is empty, while others"),
    ),
    "garbage": ({"document": DOCUMENT + "x"}, 0, "", "Extra data"),
    "array": ({"document": "[]"}, 0, "", "a valid dictionary."),
}
# Faults with a second message: the cell lacks the seed of the row at fault.
ECHOES = {"blank", "dataset", "method", "again", "unseeded"}


@pytest.fixture(scope="module")
def rejected(tmp_path_factory):
    """Validate one sound submission and all with a fault, at once."""
    folder = tmp_path_factory.mktemp("faults")
    write_submission(folder / "submissions", "sound")
    for name, (content, *_) in FAULTS.items():
        write_submission(folder / "submissions", name, **content)
    for missing in NAMES:
        (write_submission(folder / "submissions", f"no_{missing}") / missing).unlink()
    (folder / "private").write_text("PRIVATE,b\n")
    for name in NAMES:
        path = write_submission(folder / "submissions", f"link_{name[:3]}") / name
        path.unlink()
        path.symlink_to(folder / "private")
    folders = [*(folder / "submissions").iterdir()]
    with pytest.raises(ValidationError) as caught:
        run(folder, folders=list(map(str, folders)))
    return read_table(folder / "rejected.csv").fillna(""), str(caught.value)


@pytest.mark.parametrize("name", FAULTS)
def test_each_planted_fault_is_told_at_its_place(rejected, name):
    _, line, column, part = FAULTS[name]
    rows = rejected[0][rejected[0]["source"].str.contains(f"/{name}/", regex=False)]
    told = rows[(rows["line"] == line) & (rows["column"] == column)]
    texts = (told["reason"] + " " + told["remedy"]).to_list()
    assert sum(part in text for text in texts) == 1, rows.to_dict("records")
    assert (rows["remedy"] != "").all()
    assert len(rows) == 1 or name in ECHOES


def test_sound_submissions_are_not_blamed_and_missing_files_and_links_are(rejected):
    table, message = rejected
    assert not table["source"].str.contains("/sound/", regex=False).any()
    missing = table[table["reason"].str.startswith("The submission has no file")]
    assert sorted(missing["source"].str.rpartition("/")[2]) == sorted(NAMES)
    links = table[table["reason"].str.contains("is a link out of the folder")]
    assert len(links) == 2
    assert "PRIVATE" not in message + table.to_csv()


def test_raw_errors_pass_when_the_study_converts_them(tmp_path):
    write_submission(tmp_path / "submissions", "raw", rows=store_raw(make_rows()))
    with pytest.raises(ValidationError, match="look like raw 'RMSE'"):
        run(tmp_path)
    runs, _, _ = run(tmp_path, datasets=TRANSFORM)
    # Converted scores are 0.95 to 0.9605, so errors are 0.2 to 0.158.
    assert runs.loc[runs["dataset"] == "biomass", "score"].between(0.157, 0.2).all()


@pytest.mark.parametrize(
    ("score", "is_raw"),
    # The bounds are 0.94 and 0.97. A score s stays where it is nearer to them than 1 − s/4 is.
    [(0.95, False), (0.85, False), (0.2, True), (0.7, True)],
)
def test_a_poor_model_is_told_from_a_raw_error(tmp_path, score, is_raw):
    write_submission(tmp_path / "submissions", "a", rows=set_biomass(score))
    if is_raw:
        with pytest.raises(ValidationError, match="look like raw 'RMSE'"):
            run(tmp_path)
    else:
        run(tmp_path)


@pytest.mark.parametrize("score", [-5.0, 30.1, 1e308])
def test_what_fits_neither_scale_is_out_of_range(tmp_path, score):
    write_submission(tmp_path / "submissions", "a", rows=set_biomass(score))
    with pytest.raises(ValidationError, match=r"outside the range \[0, 1\] of 'RMSE'"):
        run(tmp_path)
    # Two models with five seeds each, and no echo of a dataset without runs.
    assert len(read_table(tmp_path / "rejected.csv")) == 10


def test_the_metric_bounds_and_direction_of_the_study_win(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "fields", Metric="quality", **{SCORE: "55"})
    write_submission(tmp_path / "submissions", "a", rows=rows)
    rule = {"fields": {"metric": "quality", "direction": "max", "low": 0, "high": 100}}
    runs, _, _ = run(tmp_path, datasets=rule)
    assert "quality" in set(runs["metric"])
    with pytest.raises(ValidationError, match="overruled_metric"):
        run(tmp_path)


def test_a_broken_benchmark_is_a_fault_of_the_configuration(tmp_path):
    write_submission(tmp_path / "submissions", "a")
    with pytest.raises(ConfigError, match="no dataset 'x'"):
        run(tmp_path, definition=BENCHMARK.replace("[cattle]", "[x]"))


def test_the_example_is_valid(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "submissions")
    references = [str(ROOT / "data/submissions_references.json")]
    runs, summary, listed = run(tmp_path, benchmark=[str(SHIPPED)], references=references)
    assert len(listed) == 3
    assert set(runs["method"]) == {"frozen", "full_ft"}
    assert set(runs.groupby(["model", "dataset"]).size()) == {5, 6}
    assert {problem["code"] for problem in summary["warnings"]} == {"incomplete"}
