"""Normalized scores against evaluma 0.3.0, published tables and what must not matter."""

import random
import time
import warnings
from pathlib import Path

import evaluma
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.artifacts import render_csv, render_parquet
from capmap.normalization import drop_incomplete, normalize_scores
from tests.toy_runs import draw_benchmark, normalize, resolve

SHARED = Path(__file__).parents[2].parent / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared files are not here")


def compare_with_evaluma(runs, theirs, ours):
    seed = "seed" if len(runs["seed"].unique()) > 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = evaluma.load_df(runs, seed=seed, **theirs).scores_
    pd.testing.assert_frame_equal(
        normalize(runs, **ours),
        expected,
        check_names=False,
        check_exact=False,
        rtol=1e-12,
        atol=1e-12,
    )


@given(seed=st.integers(0, 10_000), seeds=st.integers(1, 3), low=st.floats(-3, -1))
def test_scalar_bounds_agree_with_evaluma(seed, seeds, low):
    runs = draw_benchmark(seed, seeds=seeds)
    compare_with_evaluma(
        runs,
        {"norm_ref_low": low, "norm_ref_high": 2, "metric_direction": {"D1": "min"}},
        {"normalization": {"low": low, "high": 2}, "datasets": {"D1": {"direction": "min"}}},
    )


@given(seed=st.integers(0, 10_000))
def test_bounds_per_dataset_agree_with_evaluma(seed):
    rng = np.random.default_rng(seed)
    low = {f"D{d}": float(rng.uniform(-3, -1)) for d in range(4)}
    high = {f"D{d}": float(rng.uniform(1, 3)) for d in range(4)}
    compare_with_evaluma(
        draw_benchmark(seed),
        {"norm_ref_low": low, "norm_ref_high": high, "metric_direction": {"D0": "min"}},
        {
            "datasets": {
                name: {
                    "low": low[name],
                    "high": high[name],
                    "direction": "min" if name == "D0" else "max",
                }
                for name in low
            }
        },
    )


@given(seed=st.integers(0, 10_000))
def test_observed_bounds_of_single_runs_agree_with_evaluma(seed):
    compare_with_evaluma(
        draw_benchmark(seed),
        {"metric_direction": {"D2": "min"}},
        {
            "normalization": {"low": "observed", "high": "observed"},
            "datasets": {"D2": {"direction": "min"}},
        },
    )


@given(seed=st.integers(0, 10_000), seeds=st.integers(1, 3))
def test_model_bounds_agree_with_evaluma(seed, seeds):
    # evaluma's low and high are raw scores, capmap's are floor and ceiling, so where lower is
    # better the floor is evaluma's high. A dataset where the models are in the wrong order is an
    # error in capmap; the draw is made so that none is.
    runs = draw_benchmark(seed, seeds=seeds)
    shift = runs["model"].map({"M0": -9.0, "M1": 9.0}).fillna(0.0)
    runs["score"] += shift
    compare_with_evaluma(
        runs,
        {"norm_ref_low": "M0", "norm_ref_high": "M1", "metric_direction": {"D3": "min"}},
        {
            "normalization": {"low": {"model": "M0"}, "high": {"model": "M1"}},
            "datasets": {
                "D3": {"direction": "min", "low": {"model": "M1"}, "high": {"model": "M0"}}
            },
        },
    )


@given(seed=st.integers(0, 10_000))
def test_bounds_per_metric_agree_with_evaluma(seed):
    rng = np.random.default_rng(seed)
    runs = draw_benchmark(seed, datasets=3)
    metric = {"D0": "accuracy", "D1": "rmse", "D2": "mae"}
    runs = runs.assign(metric=runs["dataset"].map(metric), score=rng.uniform(0.1, 1, len(runs)))
    compare_with_evaluma(
        runs,
        {"metric_type_bounds": {"RMSE": (0, 5), "mae": (0, "M2")}},
        {"metrics": {"RMSE": {"low": 0, "high": 5}, "mae": {"low": {"model": "M2"}}}},
    )


@given(
    seed=st.integers(0, 10_000),
    scale=st.sampled_from([1e-3, 0.5, 3.0, 1e4]),
    shift=st.floats(-100, 100),
)
def test_observed_bounds_do_not_depend_on_the_unit_of_scores(seed, scale, shift):
    runs = draw_benchmark(seed, seeds=2)
    rules = {
        "normalization": {"low": "observed", "high": {"model": "M1"}},
        "datasets": {"D0": {"low": "observed", "high": "observed"}},
    }
    runs["score"] += runs["model"].map({"M1": 9.0}).fillna(0.0)
    moved = runs.assign(score=runs["score"] * scale + shift)
    pd.testing.assert_frame_equal(
        normalize(runs, **rules), normalize(moved, **rules), rtol=0, atol=1e-6 / min(scale, 1)
    )


@given(seed=st.integers(0, 10_000))
def test_the_order_of_rows_changes_no_byte(seed):
    runs = draw_benchmark(seed, seeds=3)
    rules = {"normalization": {"low": "observed", "high": {"model": "M3"}}}
    runs["score"] += runs["model"].map({"M3": 9.0}).fillna(0.0)
    order = list(range(len(runs)))
    random.Random(seed).shuffle(order)  # noqa: S311
    shuffled = runs.iloc[order].reset_index(drop=True)
    first, second = resolve(runs, **rules)[0], resolve(shuffled, **rules)[0]
    assert render_csv(first) == render_csv(second)
    assert render_parquet(normalize_scores(runs, first)) == render_parquet(
        normalize_scores(shuffled, second)
    )


@needs_shared
def test_the_toy_of_the_tutorial_is_reproduced():
    folder = SHARED / "reference" / "tutorial"
    raw = pd.read_csv(folder / "toy_raw.csv").assign(seed="", source="toy", line=2)
    expected = pd.read_csv(folder / "toy_normalized.csv").set_index("model")
    scores = normalize(raw, metrics={"rmse": {"direction": "min", "low": 0, "high": 100}})
    pd.testing.assert_frame_equal(scores, expected, check_names=False, rtol=0, atol=1e-12)


def read_geobench():
    table = pd.read_csv(SHARED / "data" / "geobench" / "results_and_parameters.csv")
    names = {"backbone": "model", "Metric": "metric", "test metric": "score", "Seed": "seed"}
    runs = table.rename(columns=names)[["model", "dataset", "metric", "score", "seed"]]
    return runs.assign(seed=runs["seed"].astype(str), source="geobench", line=np.arange(len(runs)))


@needs_shared
def test_geobench_with_direction_min_reproduces_the_published_means():
    complete, dropped = drop_incomplete(read_geobench(), policy="drop_models")
    scores = normalize(
        complete,
        metrics={"RMSE": {"direction": "min"}},
        normalization={"low": 0, "high": 1},
    )
    published = pd.read_csv(SHARED / "reference" / "geobench" / "mean_vs_iqm.csv")
    means = scores.mean(axis=1).round(3)
    assert means.to_dict() == published.set_index("model")["mean"].to_dict()
    assert len(means) == 14
    assert len(dropped) == 4


@needs_shared
def test_geobench_with_direction_max_is_the_published_one_with_biomassters_turned_around():
    runs, _ = drop_incomplete(read_geobench(), policy="drop_models")
    bounds = {"low": 0, "high": 1}
    wrong = normalize(runs, metrics={"rmse": {"direction": "min"}}, normalization=bounds)
    right = normalize(runs, datasets={"biomassters": {"direction": "max"}}, normalization=bounds)
    assert (right["biomassters"] + wrong["biomassters"]).to_list() == pytest.approx([1.0] * 14)
    others = wrong.columns.drop("biomassters")
    pd.testing.assert_frame_equal(right[others], wrong[others])


def test_five_thousand_datasets_are_resolved_quickly():
    runs = draw_benchmark(0, models=2, datasets=5000)
    start = time.process_time()
    bounds, _ = resolve(runs, normalization={"low": "observed", "high": "observed"})
    assert len(bounds) == 5000
    assert time.process_time() - start < 10
