"""The shipped literature database: its bytes, its shape, and its true positions found again."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import pdist

from capmap.capabilities.embedding import RIDGES, draw_start, fit_embedding
from capmap.capabilities.gaps import choose_results, list_components
from capmap.exports import read_exports
from capmap.exports.records import FileOptions
from normalize import normalize
from tests.steps import read_step, run_step
from tests.toy_settings import READING, RULES, make_settings
from validate import validate

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "data/capabilities"
RADIUS = 0.5
ERRORS = ["Biomass / rmse 10 %", "Biomass / rmse 100 %", "Tree height / rmse 10 %"]
ERRORS += ["Tree height / rmse 100 %"]
SETTINGS = make_settings(
    format="matrix",
    header_rows=2,
    metric="accuracy",
    datasets={name: {"metric": "RMSE"} for name in ERRORS},
    normalization={"low": "observed", "high": "observed"},
    incomplete="adjust",
)


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(ROOT / "data/make_capabilities.py"))


def choose_settings(*names):
    return {name: SETTINGS[name] for name in names}


def make_results(folder, text):
    """Make the results of an export as the workflow does."""
    (folder / "data.csv").write_text(text, encoding="utf-8")
    runs, normalized = str(folder / "runs.parquet"), folder / "normalized"
    both = ("metrics", "datasets", "normalization", "select", "incomplete")
    settings = RULES | READING | choose_settings("header_rows", "format", "metric", *both)
    validate(
        exports=[str(folder / "data.csv")],
        runs=runs,
        validation=str(folder / "validation.json"),
        rejected=str(folder / "rejected.csv"),
        **settings | {"names": [str(folder / "data.csv")]},
    )
    normalize(
        runs=runs,
        normalized=str(normalized / "runs.parquet"),
        scope=str(normalized / "scope.json"),
        **{name: str(normalized / f"{name}.csv") for name in ("bounds", "dropped")},
        **{"references": [], "benchmark": [], "unit": "auto", "interval": "calibrated"},
        **choose_settings(*both, "min_datasets", "rank_by", "iqm"),
    )
    run_step("measure_gaps", folder, {}, min_results=5)
    return choose_results(read_step("measure_gaps", folder)["gaps"])


def read_truth(results):
    truth = pd.read_csv(FOLDER / "truth.csv").set_index(["kind", "name"])
    models, datasets = truth.loc["model"], truth.loc["dataset"]
    return np.concatenate([models.loc[results.models], datasets.loc[results.datasets]])


def measure_distance(points, truth):
    """The root mean squared distance to the true points once turned and moved there."""
    points, truth = points - points.mean(axis=0), truth - truth.mean(axis=0)
    moved = points @ orthogonal_procrustes(points, truth)[0]
    return np.sqrt(((moved - truth) ** 2).sum(axis=1).mean())


def fit(results, method, seed=0):
    start = draw_start(results, dimension=5, seed=seed, study="literature")
    return fit_embedding(results, distance="l2", ridge=RIDGES[method], start=start)


def test_each_file_has_the_bytes_that_the_script_makes(script):
    examples = script["render_examples"]()
    assert {path.name for path in FOLDER.iterdir()} == set(examples)
    for name, text in examples.items():
        assert (FOLDER / name).read_bytes() == text.encode(), name
    assert sum(len(text) for text in examples.values()) < 40_000


def test_matrix_reads_without_a_problem():
    exports = read_exports(
        [str(FOLDER / "data.csv")],
        layout="matrix",
        options=FileOptions(header_rows=2),
        metric="accuracy",
    )
    assert exports.problems == []
    runs = exports.runs
    assert (runs["model"].nunique(), runs["dataset"].nunique()) == (40, 54)
    assert 0.3 < len(runs) / (40 * 54) < 0.4
    counts = runs["model"].value_counts().sort_values()
    assert counts.iloc[:5].tolist() == [1, 2, 3, 4, 12]
    assert set(ERRORS) == {name for name in set(runs["dataset"]) if "rmse" in name}


def test_gaps_of_the_shipped_scores_are_the_distances_up_to_the_noise(tmp_path):
    results = make_results(tmp_path, (FOLDER / "data.csv").read_text("utf-8"))
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (36, 52, 728)
    assert set(list_components(results)[0]) == {1}
    truth = read_truth(results)
    models, datasets = truth[: len(results.models)], truth[len(results.models) :]
    apart = np.linalg.norm(models[results.rows] - datasets[results.columns], axis=1)
    # Noise of 0.02, also in the best and the worst score.
    assert np.sqrt(((results.gaps - apart) ** 2).mean()) < 0.04


def test_recommended_fit_finds_the_true_positions_again(tmp_path):
    results = make_results(tmp_path, (FOLDER / "data.csv").read_text("utf-8"))
    truth = read_truth(results)
    fits = [fit(results, "l2_ridge", seed) for seed in range(4)]
    points = min(fits, key=lambda points: measure_distance(points, truth))
    # 0.052 when measured, and 0.048 at the true size: penalties draw all points to the middle.
    assert measure_distance(points, truth) < 0.15 * RADIUS
    assert np.corrcoef(pdist(points), pdist(truth))[0, 1] > 0.98
    scaled = points * (np.linalg.norm(pdist(truth)) / np.linalg.norm(pdist(points)))
    assert measure_distance(scaled, truth) < 0.12 * RADIUS


def test_without_noise_plain_distances_are_found_nearly_exactly(tmp_path, script):
    results = make_results(tmp_path, script["render_examples"](noise=0.0)["data.csv"])
    truth = read_truth(results)
    apart = [measure_distance(fit(results, "l2", seed), truth) for seed in range(8)]
    assert min(apart) < 0.01 * RADIUS
