"""The step that places models and datasets, and the tables of fits."""

import numpy as np
import pandas as pd
import pytest

from capmap.artifacts import read_parquet, read_table
from capmap.capabilities.embedding import (
    METHODS,
    draw_starts,
    fit_starts,
    predict_gaps,
    restore_fits,
    tabulate_fits,
    tabulate_positions,
)
from capmap.capabilities.gaps import arrange_results, choose_results
from capmap.capabilities.geometry import DISTANCES
from tests.capability_tables import list_cells, make_gaps, simulate_results, write_inputs
from tests.steps import read_step, run_step

NAMED = ["ensemble", "l2", "cosine", "poincare"]
COLUMNS = ["kind", "name", "component", "offset", "centrality"]
FITS = "capabilities/fits.parquet"


def fit(results, method, *, dimension=3, starts=2):
    drawn = draw_starts(results, dimension=dimension, starts=starts, seed=0, study="toy")
    return fit_starts(results, METHODS[method], starts=drawn)


def run(folder, gaps, *, method="ensemble", dimension=3, seed=0):
    """Embed as the rule does and return the bytes of both files."""
    options = {"method": method, "dimension": dimension, "n_starts": 2, "seed": seed}
    run_step("embed_models", folder, write_inputs(folder, gaps=gaps), **options)
    return [(folder / name).read_bytes() for name in ("capabilities/positions.csv", FITS)]


def read_positions(folder):
    return read_step("embed_models", folder)["positions"]


@pytest.fixture
def results():
    return arrange_results(simulate_results(12, 9, dimension=3, share=0.7).cells)


@pytest.mark.parametrize("method", [*NAMED, "bilinear"])
def test_fits_come_back_from_their_table_as_they_were(results, method):
    fits = fit(results, method)
    restored = restore_fits(tabulate_fits(fits, results))
    assert len(restored) == len(fits)
    for before, after in zip(fits, restored, strict=True):
        assert (after.method, after.loss) == (before.method, before.loss)
        for name in ("models", "datasets", "model_offsets", "dataset_offsets"):
            np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
    places = results.rows, results.columns
    np.testing.assert_array_equal(predict_gaps(restored, *places), predict_gaps(fits, *places))


@pytest.mark.parametrize("method", NAMED)
def test_positions_give_the_distances_of_the_fit(results, method):
    first = fit(results, method)[0]
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
    offsets = positions["offset"].to_numpy()
    measured, *_ = DISTANCES[distance](points[rows], points[columns])
    predicted = measured + offsets[rows] + offsets[columns]
    np.testing.assert_allclose(predicted, first.predict(results.rows, results.columns), atol=1e-5)


def test_parts_that_no_result_connects_are_numbered():
    left, right = [[1, 0.2, 0.5], [0, 0.8, 0.1]], [[0.3, 0.9], [0.6, 0.4]]
    scores = np.full((4, 5), np.nan)
    scores[:2, :3], scores[2:, 3:] = left, right
    results = arrange_results(list_cells(scores))
    positions = tabulate_positions(fit(results, "ensemble")[0], results)
    assert positions["component"].tolist() == [1, 1, 2, 2, 1, 1, 1, 2, 2]


def test_step_writes_positions_of_the_first_fit_and_all_fits(tmp_path):
    gaps = make_gaps(simulate_results(12, 9, dimension=3, share=0.7).cells)
    run(tmp_path, gaps)
    results = choose_results(read_table(tmp_path / "capabilities/gaps.csv"))
    expected = fit(results, "ensemble")
    fits = restore_fits(read_parquet(tmp_path / FITS))
    np.testing.assert_array_equal(fits[-1].models, expected[-1].models)
    positions = read_positions(tmp_path)
    pd.testing.assert_frame_equal(positions, tabulate_positions(expected[0], results))


@pytest.mark.parametrize("method", NAMED)
def test_order_of_rows_does_not_change_a_byte_and_the_seed_does(tmp_path, method):
    gaps = make_gaps(simulate_results(8, 6, dimension=2, share=0.8).cells)
    first = run(tmp_path, gaps, method=method)
    assert run(tmp_path, gaps.sample(frac=1, random_state=1), method=method) == first
    assert run(tmp_path, gaps, method=method, seed=1) != first


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
