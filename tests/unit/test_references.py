"""Frozen bounds."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.artifacts import render_csv
from capmap.errors import ConfigError
from capmap.normalization import Reference, normalize_scores, read_references
from tests.toy_runs import draw_benchmark, make_runs, resolve


def test_bounds_of_one_run_are_references_of_the_next(tmp_path):
    runs = make_runs(("A", "=1+1", 0.2), ("B", "=1+1", 0.6), ("A", "007", 1 / 3), ("B", "007", 0.9))
    bounds, _ = resolve(runs, normalization={"low": "observed", "high": "observed"})
    path = tmp_path / "bounds.csv"
    path.write_text(render_csv(bounds), encoding="utf-8")
    again, problems = resolve(runs, references=read_references(path))
    assert problems == []
    assert again[["low", "high"]].equals(bounds[["low", "high"]])


def test_references_can_be_json(tmp_path):
    path = tmp_path / "normalizer.json"
    path.write_text(json.dumps({"D": [0, 0.5]}), encoding="utf-8")
    assert read_references(path) == {"D": Reference(0.0, 0.5)}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.csv", "dataset,low\nD,0\n", "no column 'high'"),
        ("r.csv", "dataset,low,high\nD,0,1\nD,0,2\n", "Line 3 repeats the dataset 'D'"),
        ("r.csv", "dataset,low,high\nD,0,x\n", "Line 2 has 'x' where a finite number"),
        ("r.csv", "dataset,low,high\n,0,1\n", "Line 2 has no dataset"),
        ("r.csv", "dataset,low,high\nD,2,1\n", "Line 2 has the lower bound 2.0, not below 1.0"),
        ("r.csv", "", "cannot be read"),
        ("r.json", "[1]", "not a JSON object"),
        ("r.json", '{"D": 3}', "'D' is not a list of two numbers"),
        ("r.json", '{"D": [0, null]}', "'D' has None where a finite number"),
        ("r.json", '{"D": [0, true]}', "'D' has True where a finite number"),
        ("r.json", "{", "cannot be read"),
        ("absent.json", None, "cannot be read"),
    ],
)
def test_broken_references_say_where_they_are_broken(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as error:
        read_references(path)
    assert str(path) in str(error.value)


@pytest.mark.slow
@settings(max_examples=30)
@given(seed=st.integers(0, 10_000), newcomer=st.floats(0, 1))
def test_a_new_model_never_moves_an_old_number_under_frozen_references(seed, newcomer):
    runs = draw_benchmark(seed, models=4, datasets=3, seeds=2)
    bounds, _ = resolve(runs, normalization={"low": "observed", "high": "observed"})
    frozen = {row.dataset: Reference(row.low, row.high) for row in bounds.itertuples()}
    old = normalize_scores(runs, resolve(runs, references=frozen)[0])
    rows = [("new", dataset, newcomer) for dataset in runs["dataset"].unique()]
    more = pd.concat([runs, make_runs(*rows)], ignore_index=True)
    new = normalize_scores(more, resolve(more, references=frozen)[0])
    kept = new[new["model"] != "new"].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, old, check_exact=True)
