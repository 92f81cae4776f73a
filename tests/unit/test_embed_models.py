"""The step that places models and datasets, and the tables of fits."""

import numpy as np
import pytest

from capmap.artifacts import read_parquet
from capmap.capabilities import maps
from capmap.capabilities.embedding import (
    METHODS,
    draw_start,
    fit_embedding,
    restore_fit,
    tabulate_fit,
    tabulate_positions,
)
from capmap.capabilities.gaps import arrange_results
from tests.capability_tables import list_cells, make_gaps, simulate_results
from tests.steps import read_step, run_step

NAMED = ["l2_ridge", "l2", "cosine", "poincare"]
COLUMNS = ["kind", "name", "component", "centrality"]
FITS = "capabilities/fits.parquet"


def fit(results, method, *, dimension=3):
    start = draw_start(results, dimension=dimension, seed=0, study="toy")
    return fit_embedding(results, METHODS[method], start=start)


def run(folder, gaps, *, method="l2_ridge", dimension=3, seed=0):
    """Embed as the rule does and return the bytes of both files."""
    options = {"method": method, "dimension": dimension, "seed": seed}
    run_step("embed_models", folder, {"gaps": gaps}, **options)
    return [(folder / name).read_bytes() for name in ("capabilities/positions.csv", FITS)]


def read_positions(folder):
    return read_step("embed_models", folder)["positions"]


@pytest.fixture
def results():
    return arrange_results(simulate_results(12, 9, dimension=3, share=0.7).cells)


@pytest.mark.parametrize("method", NAMED)
def test_a_fit_comes_back_from_its_table_as_it_was(results, method):
    before = fit(results, method)
    after = restore_fit(tabulate_fit(before, results))
    assert (after.method, after.loss) == (before.method, before.loss)
    for name in ("models", "datasets"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


@pytest.mark.parametrize("method", NAMED)
def test_positions_give_the_distances_of_the_fit(results, method):
    first = fit(results, method)
    positions = tabulate_positions(first, results)
    assert positions.columns.tolist() == [*COLUMNS, "x1", "x2", "x3"]
    assert positions["name"].tolist() == results.models + results.datasets
    points = positions[["x1", "x2", "x3"]].to_numpy()
    lengths = np.linalg.norm(points, axis=1)
    if method == "cosine":
        np.testing.assert_allclose(lengths, 1)
    if method == "poincare":
        assert lengths.max() < 1
        points = 2 * points / (1 - lengths[:, None] ** 2)  # from the ball to the hyperboloid
    rows, columns = results.rows, len(results.models) + results.columns
    distance = first.method.distance
    predicted, *_ = maps.DISTANCES[distance](points[rows], points[columns])
    np.testing.assert_allclose(predicted, first.predict(results.rows, results.columns), atol=1e-5)


def test_parts_that_no_result_connects_are_numbered():
    left, right = [[1, 0.2, 0.5], [0, 0.8, 0.1]], [[0.3, 0.9], [0.6, 0.4]]
    scores = np.full((4, 5), np.nan)
    scores[:2, :3], scores[2:, 3:] = left, right
    results = arrange_results(list_cells(scores))
    positions = tabulate_positions(fit(results, "l2_ridge"), results)
    assert positions["component"].tolist() == [1, 1, 2, 2, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("method", NAMED)
@pytest.mark.parametrize("dimension", [1, 5])
def test_two_models_on_two_datasets_have_positions(tmp_path, method, dimension):
    gaps = make_gaps(list_cells([[1, 0.3], [0, 0.9]]), min_results=1)
    run(tmp_path, gaps, method=method, dimension=dimension)
    positions = read_positions(tmp_path)
    assert len(positions) == 4
    assert np.isfinite(positions.select_dtypes("number").to_numpy()).all()


def test_names_stay_as_they_are(tmp_path):
    names = ["007", "=1+1", " a / b,\n$x_1$ <script>"]
    cells = list_cells([[0.1, 0.7], [0.9, 0.2], [0.4, 0.5]])
    cells["model"] = cells["model"].map(dict(zip(sorted(set(cells["model"])), names, strict=True)))
    run(tmp_path, make_gaps(cells))
    for table in (read_positions(tmp_path), read_parquet(tmp_path / FITS)):
        assert set(table.loc[table["kind"] == "model", "name"]) == set(names)


def test_dropped_results_have_no_part(tmp_path):
    gaps = make_gaps(list_cells([[1, 0.3, np.nan], [0, 0.9, np.nan], [0.5, 0.6, 0.7]]))
    assert gaps.loc[gaps["gap"].isna(), "dataset"].tolist() == ["D002"]
    run(tmp_path, gaps)
    names = read_positions(tmp_path)["name"].tolist()
    assert names == ["M000", "M001", "M002", "D000", "D001"]
