"""The script that normalizes runs."""

import pandas as pd
import pytest

from capmap.artifacts import read_json, read_parquet, read_table, write_parquet
from capmap.errors import ValidationError
from normalize import normalize
from tests.toy_runs import draw_benchmark, make_runs

OBSERVED = {"low": "observed", "high": "observed"}
TABLES = ("bounds", "dropped")


def run(folder, runs, **settings):
    """Normalize runs as the rule does."""
    write_parquet(folder / "runs.parquet", runs)
    normalize(
        runs=str(folder / "runs.parquet"),
        normalized=str(folder / "normalized/runs.parquet"),
        scope=str(folder / "normalized/scope.json"),
        **{name: str(folder / "normalized" / f"{name}.csv") for name in TABLES},
        **{
            "metrics": {},
            "datasets": {},
            "normalization": {},
            "select": {},
            "incomplete": "error",
            "unit": "auto",
            "rank_by": "auto",
            "iqm": "exact",
            "interval": "calibrated",
            "min_datasets": 0.5,
            "references": [],
            "benchmark": [],
            **settings,
        },
    )
    return {name: read_table(folder / "normalized" / f"{name}.csv") for name in TABLES}


def read_runs(folder):
    return read_parquet(folder / "normalized/runs.parquet")


RUNS = draw_benchmark(1, models=8, datasets=3, seeds=2)


def test_runs_and_bounds_have_the_columns_that_others_read(tmp_path):
    tables = run(tmp_path, RUNS, normalization=OBSERVED)
    found = read_runs(tmp_path)
    columns = ["model", "dataset", "seed", "score", "raw", "resolution", "ranked"]
    assert found.columns.to_list() == columns
    assert found.equals(found.sort_values(columns, ignore_index=True))
    assert len(found) == len(RUNS)
    assert set(found["model"]) == set(RUNS["model"])
    assert tables["bounds"].columns.to_list() == [
        *("dataset", "metric", "direction", "low", "high", "low_origin", "high_origin")
    ]


def test_bounds_are_computed_before_models_are_selected(tmp_path):
    runs = make_runs(("A", "D", 0.2), ("B", "D", 0.6), ("Human", "D", 1.0))
    run(
        tmp_path,
        runs,
        normalization={"low": "observed", "high": {"model": "Human"}},
        select={"models": {"exclude": ["Human", "A"]}},
    )
    # (0.6 − 0.2) / (1 − 0.2)
    assert read_runs(tmp_path)["score"].to_list() == pytest.approx([0.5])


def test_what_is_left_out_is_listed_with_its_reason(tmp_path):
    runs = make_runs(
        *(("A", "D", 0.2), ("A", "E", 0.4), ("A", "C", 0.5), ("A", "X", 0.1)),
        *(("B", "D", 0.6), ("B", "E", 0.8), ("B", "C", 0.5)),
        *(("G", "D", 0.5), ("Z", "D", 0.5), ("Z", "E", 0.5)),
    )
    dropped = run(
        tmp_path,
        runs,
        normalization=OBSERVED,
        select={"models": {"exclude": ["Z"]}, "datasets": ["D", "E", "C"]},
        incomplete="drop_models",
    )["dropped"]
    assert dropped.drop(columns="reason").to_numpy().tolist() == [
        ["model", "Z"],
        ["dataset", "X"],
        ["dataset", "C"],
        ["model", "G"],
    ]
    assert "All scores are 0.5" in dropped["reason"][2]
    assert dropped["reason"][3] == "No runs for 1 dataset: 'E'."
    assert sorted(read_runs(tmp_path)["model"].unique()) == ["A", "B"]


def test_dropped_datasets_have_bounds_but_are_not_among_the_datasets(tmp_path):
    runs = make_runs(*((model, name, 0.5) for model in "AB" for name in ("D", "007")))
    gap = make_runs(("A", "E", 0.5))
    tables = run(tmp_path, pd.concat([runs, gap]), incomplete="drop_datasets")
    scope = read_json(tmp_path / "normalized" / "scope.json")
    assert scope.pop("dependence")["datasets"] == 2
    named = {"unit": "runs", "rank_by": "iqm", "iqm": "exact", "effects": None, "limits": [0, 1]}
    assert scope == named
    assert tables["bounds"]["dataset"].to_list() == ["007", "D", "E"]


@pytest.mark.parametrize(("marks", "unit"), [({}, "seeds"), ({"summary": True}, "runs")])
def test_runs_of_summaries_share_no_seeds(tmp_path, marks, unit):
    cells = [(model, dataset) for model in "ABC" for dataset in "DEFGH"]
    shifts = (-0.02, -0.01, 0.0, 0.01, 0.02)
    runs = make_runs(
        *(
            (*cell, 0.6 + place / 100 + shift)
            for place, cell in enumerate(cells)
            for shift in shifts
        )
    ).assign(seed=[str(seed) for _ in cells for seed in range(5)], **marks)
    run(tmp_path, runs, normalization=OBSERVED)
    assert read_json(tmp_path / "normalized" / "scope.json")["unit"] == unit


def test_bounds_of_a_run_are_references_of_the_next(tmp_path):
    run(tmp_path, RUNS, normalization=OBSERVED)
    old = read_runs(tmp_path)
    references = tmp_path / "references.csv"
    references.write_bytes((tmp_path / "normalized" / "bounds.csv").read_bytes())
    newcomers = make_runs(*(("new", f"D{n}", 99.0) for n in range(3)))
    more = pd.concat([RUNS, newcomers], ignore_index=True)
    run(tmp_path, more, references=[str(references)])
    new = read_runs(tmp_path)
    names = ["model", "dataset", "seed", "score"]
    kept = new[new["model"] != "new"].sort_values(names, ignore_index=True)
    pd.testing.assert_frame_equal(kept, old.sort_values(names, ignore_index=True))


def test_runs_that_cannot_be_normalized_stop_without_writing(tmp_path):
    with pytest.raises(ValidationError, match="Whether a higher 'quality' is better"):
        run(tmp_path, RUNS.assign(metric="quality"))
    assert not (tmp_path / "normalized").exists()


def test_nothing_left_to_analyse_is_an_error(tmp_path):
    runs = make_runs(("A", "D", 0.2), ("B", "E", 0.6))
    with pytest.raises(ValidationError, match="No run is left to analyse"):
        run(tmp_path, runs, incomplete="drop_models")
