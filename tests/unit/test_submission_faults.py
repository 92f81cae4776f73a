"""Every fault of a submission has a message of its own, and all of them come in one run."""

import json

import pytest

from capmap.artifacts import read_table
from capmap.errors import ValidationError
from tests.submissions import (
    INFORMATION,
    METRICS,
    change,
    change_all,
    make_rows,
    render_rows,
    run,
    write_submission,
)

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
    "column": ({"results": GOOD.replace(",decoder,", ",dekoder,")}, 1, "decoder", "'dekoder'"),
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
    "metric": ({"rows": change(Metric="Overal_Acuracy")}, 2, "Metric", "no metric 'Overal_"),
    "other": ({"rows": change(Metric="RMSE")}, 2, "Metric", "not the metric of the dataset"),
    "part": (
        {"rows": [row for row in make_rows() if row["dataset"] != "fields"]},
        *(2, "backbone", "Add runs on 'fields' to complete 'Core'"),
    ),
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
        *(0, "New model info[1]", "text is empty, while others"),
    ),
    "lacks": (
        {"information": describe()},
        *(0, "New model info[1]", "'unique_backbone_key' is a required property"),
    ),
    "garbage": ({"document": DOCUMENT + "x"}, 1, "", "Extra data"),
    "repeat": ({"document": DOCUMENT[:-1] + ', "License": ""}'}, 0, "", "'License' stands twice"),
    "jsonnan": ({"information": {"License": float("nan")}}, 0, "", "NaN is not JSON"),
    "array": ({"document": "[]"}, 0, "", "of type 'object'"),
    "cut": ({"document": DOCUMENT[:50]}, 1, "", "cannot be read"),
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


def test_planted_faults_have_distinct_messages_and_hardly_any_echo(rejected):
    table, _ = rejected
    assert len(FAULTS) >= 25
    # Both models lack the dataset.
    echoes = {"part": 1}
    for name in FAULTS:
        rows = table[table["source"].str.contains(f"/{name}/", regex=False)]
        assert 1 <= len(rows) <= 1 + echoes.get(name, 0), (name, rows.to_dict("records"))
    assert not table.duplicated(["source", "line", "column", "reason"]).any()


def test_a_sound_submission_among_others_is_not_blamed(rejected):
    table, _ = rejected
    assert not table["source"].str.contains("/sound/", regex=False).any()


def test_missing_files_and_odd_folders_are_told(rejected):
    table, message = rejected
    missing = table[table["reason"].str.startswith("The submission has no file")]
    assert missing["value"].to_list() == ["additional_info.json", "results_and_parameters.csv"]
    odd = table[table["reason"].str.startswith("The name of the folder")]
    assert odd["source"].str.endswith(r"line\nbreak").to_list() == [True]
    assert "rejected.csv" in message


def test_the_metric_of_a_dataset_is_compared_without_case_and_separators(tmp_path):
    rows = change_all(lambda row: row["dataset"] == "fields", Metric="multiclass jaccard-index")
    write_submission(tmp_path / "submissions", "spelled", rows=rows)
    runs, _, _ = run(tmp_path)
    assert set(runs["metric"]) == {metric for metric, _ in METRICS.values()}
