"""The map: gaps, positions, factors, hidden results, predictions and their intervals."""

import csv
import math
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.linalg import orthogonal_procrustes
from scipy.optimize import approx_fprime
from scipy.spatial import distance as peers
from scipy.spatial.distance import pdist, squareform
from scipy.stats import kstest, ortho_group, spearmanr

from capmap.analyses import drift, next_results, transfer
from capmap.capabilities import crossvalidation, embedding, factors, predictions
from capmap.capabilities.crossvalidation import (
    COUNTS,
    crossvalidate,
    crossvalidate_study,
    draw_error_curve,
    draw_hidden,
    estimate_mean,
    find_intervals,
    hide_results,
    hide_unseen,
    share_family,
    split_halves,
    summarize_validation,
)
from capmap.capabilities.embedding import (
    DISTANCES,
    embed_models,
    fit_embedding,
    measure_l2,
    project_map,
    settle_points,
)
from capmap.capabilities.factors import SideInformation, fit_additive
from capmap.capabilities.gaps import (
    Results,
    arrange_results,
    choose_results,
    describe_datasets,
    describe_models,
    explain_dropped,
    list_components,
    measure_gaps,
    scale_scores,
    tabulate_gaps,
)
from capmap.capabilities.predictions import (
    choose_newcomers,
    correlate_centrality,
    find_points,
    list_nearest,
    place_models,
)
from capmap.errors import ValidationError
from capmap.ranking import aggregation
from capmap.rng import combine_keys, draw_uniforms, hash_names, make_stream


class Simulated(NamedTuple):
    """Results whose gaps are distances between points.

    Parameters
    ----------
    cells : pandas.DataFrame
        ``model``, ``dataset`` and ``score`` (normalized, 1 − gap), a row per filled cell.
    models, datasets : ndarray, shape (models, dimension) and (datasets, dimension)
        The points, in order of names.
    """

    cells: pd.DataFrame
    models: aggregation.FloatArray
    datasets: aggregation.FloatArray


def simulate_results(
    models: int = 30,
    datasets: int = 24,
    *,
    dimension: int = 5,
    share: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Simulated:
    """Simulate results of models named M000, M001, … on datasets named D000, D001, ….

    Models lie in a ball of diameter 1, most of them on its sphere in opposite pairs. A dataset
    lies at the place of one of these, which is its best model with gap 0; the opposite model is its
    worst with gap 1. Without noise, gaps as capmap measures them are therefore the distances, also
    when cells are empty: those of the best and worst models are always filled. Noise is normal and
    moves the bounds a little.
    """
    rng = np.random.default_rng(seed)
    pairs = max(1, models // 3)
    ends = rng.normal(size=(pairs, dimension))
    ends *= 0.5 / np.linalg.norm(ends, axis=1, keepdims=True)
    inner = rng.normal(size=(models, dimension))
    inner *= 0.5 * rng.uniform(0, 1, (models, 1)) / np.linalg.norm(inner, axis=1, keepdims=True)
    points = np.concatenate([ends, -ends, inner])[:models]
    home = np.arange(datasets) % min(2 * pairs, models)
    away = (home + pairs) % (2 * pairs)
    gaps = np.linalg.norm(points[:, None] - points[home][None], axis=2)
    filled = rng.random(gaps.shape) < share
    filled[home, np.arange(datasets)] = filled[away, np.arange(datasets)] = True
    gaps = gaps + noise * rng.normal(size=gaps.shape)
    return Simulated(list_cells(np.where(filled, 1 - gaps, np.nan)), points, points[home])


def list_cells(scores: object) -> pd.DataFrame:
    """List the filled cells of a matrix of scores, a row per model; NaN is empty."""
    matrix = np.array(scores, dtype=float)
    rows, columns = np.nonzero(~np.isnan(matrix))
    return pd.DataFrame(
        {
            "model": [f"M{row:03d}" for row in rows],
            "dataset": [f"D{column:03d}" for column in columns],
            "score": matrix[rows, columns],
        }
    )


def make_bounds(cells: pd.DataFrame, *, lower_is_better: tuple[str, ...] = ()) -> pd.DataFrame:
    """Make bounds: raw scores in percent, of accuracy or, where lower is better, of error rate."""
    datasets = sorted(cells["dataset"].unique())
    is_min = np.isin(datasets, lower_is_better)
    return pd.DataFrame(
        {
            "dataset": datasets,
            "metric": np.where(is_min, "error rate", "accuracy"),
            "direction": np.where(is_min, "min", "max"),
            "low": 0.0,
            "high": 100.0,
            "low_origin": "natural",
            "high_origin": "natural",
        }
    )


def make_gaps(
    cells: pd.DataFrame, *, min_results: int = 2, lower_is_better: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Make the table of gaps of cells."""
    bounds = make_bounds(cells, lower_is_better=lower_is_better)
    return tabulate_gaps(cells, bounds, min_results=min_results)


REAL = Path(__file__).parents[3] / "shared/data/capabilities"
NAN = float("nan")
FEW_MODEL, FEW_DATASET = "few results of the model", "few results on the dataset"


def name_cells(**models: dict[str, float]) -> pd.DataFrame:
    rows = [(model, name, score) for model, own in models.items() for name, score in own.items()]
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def draw_cells(seed: int, *, share: float, scores: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(scores, size=(9, 8)).astype(float)
    matrix[rng.random(matrix.shape) >= share] = np.nan
    return list_cells(matrix)


def drop(cells: pd.DataFrame, min_results: int) -> list[tuple[str, str]]:
    """What stays, found by dropping one model or dataset at a time."""
    left = {(row.model, row.dataset): row.score for row in cells.itertuples()}
    while True:
        for part in (0, 1):
            names = [key[part] for key in left]
            few = [name for name in names if names.count(name) < min_results]
            if few:
                break
        else:
            part, scores = 1, {}
            for (_, dataset), score in left.items():
                scores.setdefault(dataset, set()).add(score)
            few = [dataset for dataset, values in scores.items() if len(values) == 1]
            if not few:
                return sorted(left)
        left = {key: score for key, score in left.items() if key[part] != few[0]}


@given(seed=st.integers(0, 10_000), least=st.integers(1, 4), share=st.floats(0.3, 1))
def test_what_is_kept_does_not_depend_on_the_order_of_dropping(
    seed: int, least: int, share: float
) -> None:
    cells = draw_cells(seed, share=share)
    kept = cells[explain_dropped(cells, min_results=least) == ""]
    names = sorted(zip(kept["model"], kept["dataset"], strict=True))
    assert names == drop(cells, least)
    shuffled = cells.sample(frac=1, random_state=seed)
    reasons = pd.Series(explain_dropped(shuffled, min_results=least), index=shuffled.index)
    assert reasons.sort_index().tolist() == explain_dropped(cells, min_results=least).tolist()


def test_scores_that_differ_by_rounding_noise_are_tied() -> None:
    cells = name_cells(a={"x": 0.1 + 0.2}, b={"x": 0.3})
    assert explain_dropped(cells, min_results=1).tolist() == ["tied", "tied"]


def read_real() -> pd.DataFrame:
    if not REAL.is_dir():
        pytest.skip("The shared data is not here.")
    with open(REAL / "data.csv", encoding="utf-8-sig", newline="") as stream:
        heads, variants, *rows = csv.reader(stream)
    names, last = [], ""
    for head, variant in zip(heads, variants, strict=True):
        last = head or last
        names.append(" / ".join(filter(None, (last, variant))))
    cells = [
        (row[0].strip(), name, float(cell.replace(",", ".")))
        for row in rows
        for name, cell in list(zip(names, row, strict=True))[1:]
        if cell.strip()
    ]
    return pd.DataFrame(cells, columns=["model", "dataset", "score"])


def test_gaps_by_hand() -> None:
    # x from 0 to 10, higher is better: raw scores 2, 7, 10. y from 0 to 50, lower is better: raw
    # scores 50 - 50 s = 40, 30, 5. d has one result.
    runs = name_cells(
        a={"x": 0.2, "y": 0.2}, b={"x": 0.7, "y": 0.4}, c={"x": 1.0, "y": 0.9}, d={"x": 1.1}
    )
    bounds = pd.DataFrame(
        {"dataset": ["x", "y"], "direction": ["max", "min"], "low": 0.0, "high": [10.0, 50.0]}
    )
    gaps = tabulate_gaps(runs, bounds, min_results=2)
    assert gaps["model"].tolist() == list("aabbccd")
    assert gaps["dataset"].tolist() == list("xyxyxyx")
    assert gaps["score"].tolist() == [2, 40, 7, 30, 10, 5, 11]
    assert gaps["normalized"].tolist() == [0.2, 0.2, 0.7, 0.4, 1.0, 0.9, 1.1]
    # d is dropped, so 10 is the best score of x.
    np.testing.assert_array_equal(gaps["absolute_gap"], [8, 35, 3, 25, 0, 0, NAN])
    expected = [1, 1, 3 / 8, 25 / 35, 0, 0, NAN]
    np.testing.assert_allclose(gaps["gap"], expected, rtol=1e-12)
    assert gaps["dropped"].tolist() == [""] * 6 + [FEW_MODEL]
    scale = scale_scores(gaps)
    assert scale.to_dict("list") == {"dataset": ["x", "y"], "best": [10, 5], "worst": [2, 40]}


@given(seed=st.integers(0, 1000))
def test_gaps_give_back_raw_scores_in_either_direction(seed: int) -> None:
    cells = simulate_results(8, 6, dimension=2, share=0.6, noise=0.1, seed=seed).cells
    gaps = make_gaps(cells, min_results=1, lower_is_better=("D001", "D004"))
    scale = scale_scores(gaps).set_index("dataset").loc[gaps["dataset"]]
    best, worst = scale["best"].to_numpy(), scale["worst"].to_numpy()
    np.testing.assert_allclose(best + gaps["gap"] * (worst - best), gaps["score"], atol=1e-9)
    np.testing.assert_allclose(gaps["absolute_gap"], np.abs(gaps["score"] - best), atol=1e-9)
    is_lower = gaps["dataset"].isin(["D001", "D004"])
    np.testing.assert_allclose(
        gaps["score"], 100 * np.where(is_lower, 1 - gaps["normalized"], gaps["normalized"])
    )
    plain = make_gaps(cells.sample(frac=1, random_state=seed), min_results=1)
    # Neither the direction nor the order of rows changes a gap.
    pd.testing.assert_frame_equal(gaps.drop(columns="score"), plain.drop(columns="score"))


@pytest.mark.parametrize(
    "cells",
    [
        name_cells(a={"x": 1.0, "y": 2.0}),
        name_cells(a={"x": 1.0}, b={"x": 2.0}, c={"x": 3.0}),
        name_cells(a={"x": 1.0, "y": 2.0}, b={"x": 1.0, "y": 2.0}),
    ],
    ids=["one model", "one dataset", "all tied"],
)
def test_studies_without_two_models_and_two_datasets_are_refused(cells: pd.DataFrame) -> None:
    with pytest.raises(ValidationError, match="less than 2 models or 2 datasets"):
        make_gaps(cells, min_results=1)


def test_components_are_numbered_by_size() -> None:
    cells = name_cells(
        b={"u": 1, "v": 2}, c={"u": 2, "v": 1}, x={"r": 1, "s": 2, "t": 0}, y={"r": 2, "s": 1}
    )
    results = arrange_results(cells)
    models, datasets = list_components(results)
    assert dict(zip(results.models, models.tolist(), strict=True)) == {
        **{"b": 2, "c": 2, "x": 1, "y": 1}
    }
    assert dict(zip(results.datasets, datasets.tolist(), strict=True)) == {
        **{"r": 1, "s": 1, "t": 1, "u": 2, "v": 2}
    }
    # One result joins them; a dataset without results belongs to none.
    assert set(list_components(arrange_results(cells.replace("t", "u")))[0]) == {1}
    # Without t both parts have four results, and b comes before x.
    assert list_components(results.choose(results.columns != 2))[1].tolist() == [2, 2, 0, 1, 1]


def test_models_and_datasets_by_hand() -> None:
    cells = name_cells(
        **{"a": {"F / 1": 1.0, "F / 2": 0.9, "G": 0.0}, "b": {"F / 1": 0.5, "F / 2": 0.85}},
        **{"c": {"F / 1": 0.0, "F / 2": 0.4}, "d": {"G": 0.5}, "e": {"H": 0.5, "I": 0.5}},
        f={"H": 0.5, "I": 0.5},
    )
    gaps = make_gaps(cells, min_results=2, lower_is_better=("F / 2",))
    attributes = pd.DataFrame(
        {
            "model": ["a", "d", "other"],
            "architecture": ["Conv", None, "Conv"],
            "parameters": [5.0, 7.0, NAN],
            "date": ["2024-02-13", None, None],
        }
    )
    models = describe_models(gaps, attributes)
    assert models["model"].tolist() == list("abcdef")
    assert models["results"].tolist() == [3, 2, 2, 1, 2, 2]
    assert models["kept"].tolist() == [2, 2, 2, 0, 0, 0]
    assert models["component"].astype(object).tolist() == [1, 1, 1, pd.NA, pd.NA, pd.NA]
    # On F / 2 the gap of b is 0.05 / 0.5.
    np.testing.assert_allclose(models["mean_gap"], [0, 0.3, 1, NAN, NAN, NAN])
    assert models["architecture"].fillna("").tolist() == ["Conv", "", "", "", "", ""]
    np.testing.assert_array_equal(models["parameters"], [5, NAN, NAN, 7, NAN, NAN])
    assert models["date"].fillna("").tolist() == ["2024-02-13", "", "", "", "", ""]
    kinds = pd.DataFrame({"dataset": ["F", "F / 2", "G"], "type": ["seg", "cls", None]})
    datasets = describe_datasets(gaps, kinds).set_index("dataset")
    assert datasets.index.tolist() == ["F / 1", "F / 2", "G", "H", "I"]
    assert datasets["results"].tolist() == [3, 3, 2, 2, 2]
    assert datasets["kept"].tolist() == [3, 3, 0, 0, 0]
    assert datasets["component"].astype(object).tolist() == [1, 1, pd.NA, pd.NA, pd.NA]
    assert datasets["type"].fillna("").tolist() == ["seg", "cls", "", "", ""]
    assert datasets["family"].tolist() == ["F", "F", "G", "H", "I"]


def test_attributes_of_other_names_only_are_refused() -> None:
    gaps = make_gaps(simulate_results(4, 4, dimension=1).cells)
    other = pd.DataFrame({"model": ["m1"], "architecture": "C", "parameters": 1.0, "date": None})
    with pytest.raises(ValidationError, match="Call the column of these names model"):
        describe_models(gaps, other)
    other = pd.DataFrame({"dataset": ["d1"], "type": "seg"})
    with pytest.raises(ValidationError, match="Call the column of these names dataset"):
        describe_datasets(gaps, other)


DATA = Path(__file__).parents[2] / "data"
seeds = st.integers(0, 10_000)


def draw_start(results, dimension=5, seed=0):
    return embedding.draw_start(results, dimension=dimension, seed=seed, study="toy")


def embed(gaps, *, method="l2_ridge", dimension=3):
    options = {"study": "toy", "method": method, "dimension": dimension}
    return embedding.embed_models(gaps, **options, projection="mds", seed=0)["positions"]


def miss(points, truth):
    """Root mean square distance of points to the true ones, after rotation and shift."""
    known = np.concatenate([truth.models, truth.datasets])
    points, known = points - points.mean(axis=0), known - known.mean(axis=0)
    rotation, _ = orthogonal_procrustes(points, known)
    return float(np.sqrt(np.mean(np.sum((points @ rotation - known) ** 2, axis=1))))


@pytest.mark.parametrize("name", DISTANCES)
@given(seed=seeds, dimension=st.integers(1, 6))
def test_gradients_agree_with_finite_differences_and_distances_are_symmetric(name, seed, dimension):
    first, second = np.random.default_rng(seed).normal(size=(2, 1, dimension))
    # Points that nearly meet bend a distance too sharply for finite differences.
    second += 0.5 * np.sign(second - first)
    measure = DISTANCES[name]
    found = measure(first, second)
    by_first = approx_fprime(first[0], lambda x: measure(x[None], second).lengths[0], 1e-7)
    by_second = approx_fprime(second[0], lambda x: measure(first, x[None]).lengths[0], 1e-7)
    np.testing.assert_allclose(found.by_first[0], by_first, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.by_second[0], by_second, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(measure(second, first).lengths, found.lengths, rtol=1e-12)


@given(seed=seeds, scale=st.floats(0.01, 10))
def test_distances_agree_with_scipy_and_the_ball(seed, scale):
    first, second = scale * np.random.default_rng(seed).normal(size=(2, 7, 3))
    for measure, peer in (
        (embedding.measure_l2, peers.euclidean),
        (embedding.measure_cosine, peers.cosine),
    ):
        expected = [peer(*pair) for pair in zip(first, second, strict=True)]
        # Squared lengths are smoothed by 1e-9.
        np.testing.assert_allclose(measure(first, second).lengths, expected, 1e-4, 1e-4)
    # Nickel and Kiela (2017), arXiv:1705.08039, equation 1, at the points of the ball.
    x, y = (own / (1 + np.sqrt(1 + (own**2).sum(axis=1)))[:, None] for own in (first, second))
    room = (1 - np.sum(x**2, axis=1)) * (1 - np.sum(y**2, axis=1))
    expected = np.arccosh(1 + 2 * np.sum((x - y) ** 2, axis=1) / room)
    found = embedding.measure_poincare(first, second).lengths
    np.testing.assert_allclose(found, expected, 1e-5, 1e-6)


@pytest.mark.parametrize("name", DISTANCES)
def test_points_that_meet_and_points_at_the_origin_have_finite_gradients(name):
    first = np.array([[0.3, 0.4], [0.0, 0.0], [0.0, 0.0], [1e6, 0.0]])
    second = np.array([[0.3, 0.4], [0.0, 0.0], [1.0, 0.0], [-1e6, 0.0]])
    assert all(np.isfinite(part).all() for part in DISTANCES[name](first, second))


@pytest.mark.parametrize("share", [1.0, 0.4])
def test_known_positions_are_recovered(share):
    truth = simulate_results(60, 40, share=share, seed=1)
    results = arrange_results(truth.cells)
    fits = [
        fit_embedding(results, distance="l2", start=draw_start(results, seed=s)) for s in (0, 1)
    ]
    # The points have a root mean square distance of 0.47 from their center.
    assert min(miss(own, truth) for own in fits) < 0.005


@pytest.mark.parametrize("name", DISTANCES)
def test_hidden_results_of_known_positions_are_predicted(name):
    truth = simulate_results(40, 30, dimension=3, share=0.7, noise=0.02, seed=3)
    results = arrange_results(truth.cells)
    hidden = np.random.default_rng(0).permutation(len(results.gaps)) < 40
    train, test = results.choose(~hidden), results.choose(hidden)
    predicted = embedding.predict_by_distance(name, draw_start(results, 3), train, test)
    # Points in flat space leave little to explain; angles describe them less well.
    limit = 0.5 if name == "cosine" else 0.1
    assert np.mean((predicted - test.gaps) ** 2) < limit * np.var(test.gaps)


@given(seeds)
def test_settled_points_are_the_same_however_the_points_were_turned_and_moved(seed):
    rng = np.random.default_rng(seed)
    points = rng.exponential(size=(60, 4)) * 2.0 ** -np.arange(4)
    turned = points @ ortho_group.rvs(4, random_state=rng) + 5
    settled = settle_points(points)
    np.testing.assert_allclose(settle_points(turned), settled, atol=1e-6)
    np.testing.assert_allclose(pdist(settled), pdist(points), atol=1e-9)
    products = settled.T @ settled
    np.testing.assert_allclose(products - np.diag(np.diag(products)), 0, atol=1e-9)
    assert np.all(np.diff(np.diag(products)) < 0)
    assert np.all((settled * abs(settled)).sum(axis=0) > 0)


def test_centrality_is_the_distance_to_the_middle_of_the_own_part():
    scores = np.full((4, 5), np.nan)
    scores[:2, :3], scores[2:, 3:] = [[1, 0.2, 0.5], [0, 0.8, 0.1]], [[0.3, 0.9], [0.6, 0.4]]
    positions = embed(make_gaps(list_cells(scores)))
    assert positions["component"].tolist() == [1, 1, 2, 2, 1, 1, 1, 2, 2]
    points = positions.loc[:, "x1":]
    apart = points - points.groupby(positions["component"]).transform("mean")
    # Distances of points that meet are smoothed.
    expected = np.linalg.norm(apart, axis=1)
    np.testing.assert_allclose(positions["centrality"], expected, atol=1e-4)


@pytest.mark.parametrize("method", ["l2_ridge", "l2"])
@pytest.mark.parametrize("dimension", [1, 5])
def test_two_models_on_two_datasets_have_positions_and_a_map(method, dimension):
    gaps = make_gaps(list_cells([[1, 0.3], [0, 0.9]]), min_results=1)
    positions = embed(gaps, method=method, dimension=dimension)
    assert len(positions) == 4
    assert np.isfinite(positions.select_dtypes("number").to_numpy()).all()
    # So few points are not left to UMAP.
    maps = [project_map(positions, study="toy", projection=own, seed=0) for own in ("mds", "umap")]
    pd.testing.assert_frame_equal(*maps)
    assert maps[0].columns.tolist() == ["kind", "name", "x", "y"]
    assert (maps[0]["y"] == 0).all() == (dimension == 1)


def test_a_map_is_that_of_the_two_longest_principal_axes():
    positions = embed(make_gaps(simulate_results(12, 9, dimension=3).cells))
    plane = project_map(positions, study="toy", projection="mds", seed=0)[["x", "y"]].to_numpy()
    lengths = np.linalg.svd(positions.loc[:, "x1":].to_numpy(), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(plane, axis=0), lengths[:2])


# One test, as each process compiles the package again.
@pytest.mark.slow
def test_umap_keeps_groups_apart_and_gives_the_same_map_again():
    groups = np.repeat([0, 1], 20)
    rng = np.random.default_rng(0)
    points = settle_points(rng.exponential(size=(40, 3)) * 0.1 + 3.0 * groups[:, None])
    table = pd.DataFrame({"kind": "model", "name": [f"P{place}" for place in range(40)]})
    table = table.assign(**{f"x{axis}": column for axis, column in enumerate(points.T, 1)})
    maps = [project_map(table, study="toy", projection="umap", seed=0) for _ in range(2)]
    pd.testing.assert_frame_equal(*maps)
    apart = squareform(pdist(maps[0][["x", "y"]]))
    np.fill_diagonal(apart, np.inf)
    assert np.all(groups[apart.argmin(axis=1)] == groups)
    for count in (5, 17):
        plane = project_map(table[:count], study="toy", projection="umap", seed=0)
        assert np.isfinite(plane[["x", "y"]].to_numpy()).all()


NOISE = 0.03
stream = partial(make_stream, 0, "test")


def make_results(gaps: aggregation.FloatArray) -> Results:
    """Results with these gaps, not rescaled; NaN is empty."""
    return replace(arrange_results(list_cells(gaps)), gaps=gaps[~np.isnan(gaps)])


def draw_low_rank(seed: int = 0, *, models: int = 30, datasets: int = 24) -> aggregation.FloatArray:
    rng = np.random.default_rng(seed)
    slopes = 1 + 0.4 * rng.normal(size=datasets)
    gaps = 0.5 + 0.12 * rng.normal(size=(models, 1)) * slopes + 0.1 * rng.normal(size=datasets)
    gaps += 0.1 * rng.normal(size=(models, 2)) @ rng.normal(size=(2, datasets))
    return np.asarray(gaps + NOISE * rng.normal(size=gaps.shape))


def hide(gaps: aggregation.FloatArray, share: float, seed: int = 0) -> tuple[Results, Results]:
    """Known and hidden results."""
    results = make_results(gaps)
    is_hidden = np.random.default_rng(seed).random(len(results.gaps)) < share
    return results.choose(~is_hidden), results.choose(is_hidden)


def gather(results: Results, **given: pd.DataFrame) -> factors.SideInformation:
    """What is known of models and datasets, by default their names alone."""
    names = {"models": pd.DataFrame({"model": results.models})}
    names |= {"datasets": pd.DataFrame({"dataset": results.datasets})}
    return factors.gather_attributes(results, **names | given)


def fit(
    train: Results, test: Results, known: factors.SideInformation | None = None, name: str = ""
) -> factors.Moments:
    known = known or gather(train)
    pairs = [factors.Pairs(test.rows, test.columns)]
    return factors.predict_gaps([train], known, pairs, rng=stream(name))[0]


def test_factors_predict_simulated_results_and_know_how_well() -> None:
    squares, ratios = [], []
    for seed in range(2):
        train, test = hide(draw_low_rank(seed), 0.25)
        found = fit(train, test, name=str(seed))
        squares += ((found.mean - test.gaps) ** 2).tolist()
        ratios += ((found.mean - test.gaps) ** 2 / found.variance).tolist()
    assert np.mean(squares) < 3 * NOISE**2
    assert 0.7 < np.mean(ratios) < 1.3


def test_an_attribute_tells_of_results_of_others_that_share_it() -> None:
    # A model's effect on a family of datasets is all there is; no dataset alone tells of it.
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(5), 6)
    gaps = 0.5 + 0.2 * rng.normal(size=(20, 5))[:, family] + NOISE * rng.normal(size=(20, 30))
    train, test = hide(gaps, 0.7)
    table = pd.DataFrame({"dataset": train.datasets, "family": family})
    errors = []
    for known in (gather(train, datasets=table), gather(train)):
        errors.append(np.mean((fit(train, test, known).mean - test.gaps) ** 2))
    assert errors[0] < 0.5 * errors[1]


def test_a_covariate_tells_of_models_with_one_result() -> None:
    rng = np.random.default_rng(1)
    size = rng.uniform(0, 6, 40)
    slopes = 0.05 * (1 + 0.5 * rng.normal(size=12))
    gaps = 0.8 - (size - 3)[:, None] * slopes + NOISE * rng.normal(size=(40, 12))
    results = make_results(gaps)
    is_new = np.isin(results.rows, [0, 1, 2, 3]) & (results.columns > 0)
    train, test = results.choose(~is_new), results.choose(is_new)
    models = pd.DataFrame({"model": results.models, "parameters": np.exp(size)})
    errors = fit(train, test, gather(train, models=models)).mean - test.gaps
    assert np.mean(errors**2) < 0.3 * np.mean((train.gaps.mean() - test.gaps) ** 2)


def test_another_seed_or_model_moves_predictions_little() -> None:
    train, test = hide(draw_low_rank(), 0.3)
    before = fit(train, test).mean
    # A model with one result, which takes the first place of all.
    more = replace(
        train,
        models=["A", *train.models],
        rows=np.append(0, train.rows + 1),
        columns=np.append(0, train.columns),
        scores=np.append(0.5, train.scores),
        gaps=np.append(0.5, train.gaps),
    )
    asked = replace(test, models=more.models, rows=test.rows + 1)
    for after in (fit(more, asked).mean, fit(train, test, name="other").mean):
        assert np.abs(after - before).max() < 0.03
        assert np.sqrt(np.mean((after - before) ** 2)) < 0.01


def test_keys_are_those_of_splitmix64() -> None:
    # The first outputs of the reference implementation with seed 0.
    found = combine_keys(np.zeros(1, np.uint64), np.arange(3))
    assert found.tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    drawn = draw_uniforms(hash_names(f"model {number}" for number in range(400)), 500)
    assert kstest(drawn.ravel(), "uniform").pvalue > 0.01
    assert np.abs(np.corrcoef(drawn[:20])[np.triu_indices(20, 1)]).max() < 0.2


def test_attributes_by_hand() -> None:
    results = arrange_results(list_cells(np.arange(12).reshape(4, 3)))
    models = pd.DataFrame(
        {
            "model": ["M003", "M001", "M000", "other"],
            "architecture": ["A", "A", "B", "A"],
            "parameters": [np.exp(2), np.exp(1), 0, 1],
            "date": ["2020-01-03", None, "2020-01-01", "1999-01-01"],
        }
    )
    datasets = pd.DataFrame({"dataset": results.datasets, "family": "F", "type": ["x", "y", "x"]})
    found = gather(results, models=models, datasets=datasets)
    # M002 is not among the models, so its architecture is one of its own.
    codes = found.models[0]
    assert codes[1] == codes[3]
    assert len({codes[0], codes[1], codes[2]}) == 3
    # What is not known is none of the groups, whatever these are called.
    numbers = pd.DataFrame({"dataset": results.datasets, "type": ["1", None, "1"]})
    assert [own.tolist() for own in gather(results, datasets=numbers).datasets] == [[0, 1, 0]]
    # A family that all datasets have says nothing.
    assert [own.tolist() for own in found.datasets] == [[0, 1, 0]]
    np.testing.assert_allclose(found.covariates[:, 0], [0, -1, 0, 1])
    np.testing.assert_allclose(found.covariates[:, 1], [-1, 0, 0, 1])


def predict_all(train: Results) -> aggregation.FloatArray:
    """Predictions of all pairs."""
    shape = len(train.models), len(train.datasets)
    rows, columns = (own.ravel() for own in np.indices(shape))
    pairs = [factors.Pairs(rows, columns)]
    (found,) = factors.predict_gaps([train], gather(train), pairs, rng=stream())
    return found.mean.reshape(shape)


@pytest.mark.parametrize("gaps", [[[0.3]], [[0.0, 1.0]], [[0.0], [1.0]], [[0.0] * 3] * 3])
def test_few_results_have_predictions_from_0_to_1(gaps: list[list[float]]) -> None:
    train = make_results(np.array(gaps))
    found = predict_all(train)
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_array_equal(predict_all(train), found)


def test_pairs_that_no_result_connects_have_the_mean_of_the_dataset() -> None:
    gaps = np.full((6, 6), np.nan)
    gaps[:3, :3] = gaps[3:, 3:] = np.random.default_rng(0).uniform(size=(3, 3))
    found = predict_all(make_results(gaps))
    means = np.broadcast_to(np.nanmean(gaps, axis=0), gaps.shape)
    np.testing.assert_allclose(found[:3, 3:], means[:3, 3:])
    np.testing.assert_allclose(found[3:, :3], means[3:, :3])


@given(seed=st.integers(0, 1000), penalty=st.sampled_from([1.0, 2.0, 10.0]))
def test_additive_effects_are_those_of_a_dense_ridge_regression(seed: int, penalty: float) -> None:
    cells = simulate_results(7, 6, dimension=2, share=0.5, noise=0.1, seed=seed).cells
    results = arrange_results(cells)
    design = np.zeros((len(results.gaps), len(results.models) + len(results.datasets)))
    places = np.arange(len(results.gaps))
    design[places, results.rows] = design[places, len(results.models) + results.columns] = 1
    level = results.gaps.mean()
    # The minimum of |X b − (y − level)|² + penalty |b|².
    left = design.T @ design + penalty * np.eye(design.shape[1])
    effects = np.linalg.solve(left, design.T @ (results.gaps - level))
    found = factors.fit_additive(results, penalty=penalty)
    np.testing.assert_allclose(np.concatenate([found.models, found.datasets]), effects, atol=1e-6)
    predicted = found.predict(results.rows, results.columns)
    np.testing.assert_allclose(predicted, level + design @ effects, atol=1e-6)


seeds_splits = st.integers(0, 1000)


def draw(seed: int, *, models: int = 8, datasets: int = 6, share: float = 0.6) -> Results:
    cells = simulate_results(models, datasets, dimension=2, share=share, noise=0.1, seed=seed).cells
    return arrange_results(cells)


def name_families(results: Results) -> list[str]:
    """Three families of datasets."""
    return [str(place % 3) for place in range(len(results.datasets))]


def list_pairs(results: Results) -> set[tuple[int, int]]:
    return set(zip(results.rows.tolist(), results.columns.tolist(), strict=True))


def describe(gaps: pd.DataFrame, *, families: list[str] | None = None, **columns: object) -> tuple:
    """Tables of models and datasets with some attributes."""
    models = pd.DataFrame({"model": sorted(gaps["model"].unique())})
    datasets = pd.DataFrame({"dataset": sorted(gaps["dataset"].unique())})
    datasets["family"] = families or datasets["dataset"]
    if "date" in columns:
        models["date"] = columns["date"]
    return models, datasets.assign(type=columns.get("type", ""))


@given(seed=seeds_splits)
def test_families_are_hidden_whole(seed: int) -> None:
    results = draw(seed)
    families = name_families(results)
    hidden = np.isin(np.arange(len(results.gaps)), draw_hidden(results, make_stream(seed)))
    assert hidden.sum() == min(10, len(hidden) // 2)
    split = hide_results(results, hidden, ~share_family(results, hidden, families))
    keys = {(model, families[dataset]) for model, dataset in list_pairs(split.test)}
    expected = {pair for pair in list_pairs(results) if (pair[0], families[pair[1]]) not in keys}
    assert list_pairs(split.train) == expected


@given(seed=seeds_splits)
def test_unseen_results_are_measured_by_the_bounds_of_the_others(seed: int) -> None:
    results = draw(seed, share=0.3)
    hidden = np.random.default_rng(seed).random(len(results.gaps)) < 0.5
    train, test = hide_unseen(results, hidden)
    assert list_pairs(train) == list_pairs(results.choose(~hidden))
    for dataset in range(len(results.datasets)):
        known = train.scores[train.columns == dataset]
        is_own = test.columns == dataset
        if len(known) == 0 or known.min() == known.max():
            assert not is_own.any()
            continue
        assert is_own.sum() == (results.columns[hidden] == dataset).sum()
        ends = known.min()[None], known.max()[None]
        expected = measure_gaps(test.scores[is_own], np.zeros(is_own.sum(), int), *ends)
        np.testing.assert_allclose(test.gaps[is_own], expected.clip(0, 1), atol=1e-12)


@pytest.mark.slow
def test_a_row_per_hidden_result_and_the_same_folds_for_all_methods() -> None:
    gaps = make_gaps(simulate_results(9, 8, dimension=2, share=0.7, noise=0.1).cells)
    models, datasets = describe(gaps, families=["F", "F", *"ABCDEF"])
    options = {"study": "toy", "dimension": 2, "n_splits": 3, "seed": 0}
    table = crossvalidate_study(gaps, models, datasets, dimensions=[1], **options)
    assert table["distance"].drop_duplicates().tolist() == list(crossvalidation.METHODS)
    keys = [
        [*own[["protocol", "fold", "model", "dataset", "truth"]].itertuples(index=False)]
        for _, own in table.groupby(["distance", "dimension"], dropna=False)
    ]
    assert len(keys) == 2 + 3 * 2
    assert all(own == keys[0] for own in keys)
    results = arrange_results(gaps.rename(columns={"score": "raw", "normalized": "score"}))
    for fold in range(3):
        places = draw_hidden(results, make_stream(0, "toy", "capabilities", "folds", str(fold)))
        hidden = np.isin(np.arange(len(results.gaps)), places)
        expected = fit_additive(results.choose(~hidden)).predict(
            results.rows[places], results.columns[places]
        )
        chosen = (table["fold"] == fold) & (table["distance"] == "additive")
        own = table[chosen & (table["protocol"] == "random")]
        assert own["truth"].tolist() == results.gaps[places].tolist()
        np.testing.assert_allclose(own["prediction"], expected)
    plain = crossvalidate_study(gaps, models, datasets, dimensions=[], **options)
    assert plain["distance"].drop_duplicates().tolist() == ["factors", "l2", "additive"]
    summary = summarize_validation(table, dimension=2, confidence_level=0.9)
    shown = summary.set_index("distance").loc[["factors", "l2"], "difference"]
    assert shown[["l2"]].eq(0).any()


def make_validation(*rows: tuple[object, ...], **columns: object) -> pd.DataFrame:
    """Predictions of hidden results, from (fold, model, truth, prediction)."""
    table = pd.DataFrame(rows, columns=["fold", "model", "truth", "prediction"])
    table["dataset"] = [f"D{place}" for place in range(len(table))]
    common = {"distance": "l2", "dimension": 5, "protocol": "random"}
    return table.assign(**(common | columns)).astype({"dimension": "Int64"})


# Squared errors 0.04 and 0.16 in fold 0, 0.01 and 0.09 in fold 1.
PLAIN = make_validation(
    (0, "a", 0.0, 0.2), (0, "b", 1.0, 0.6), (1, "a", 0.5, 0.6), (1, "c", 0, 0.3)
)
# Squared errors 0.01 and 0.09, 0.01 and 0.01.
BETTER = make_validation(
    *((0, "a", 0.0, 0.1), (0, "b", 1.0, 0.7), (1, "a", 0.5, 0.6), (1, "c", 0.0, 0.1)), dimension=3
)
SIMPLE = PLAIN.assign(distance="additive", prediction=0.5, dimension=pd.NA)


def summarize(*tables: pd.DataFrame, **options: object) -> pd.DataFrame:
    given = {"dimension": 5, "confidence_level": 0.95} | options
    return summarize_validation(pd.concat(tables), **given)


def test_summary_by_hand() -> None:
    table = summarize(BETTER, PLAIN, SIMPLE)
    assert table["distance"].tolist() == ["l2", "l2", "additive"]
    assert table["dimension"].astype(object).tolist() == [3, 5, pd.NA]
    assert table[["folds", "predictions"]].to_numpy().tolist() == [[2, 4]] * 3
    better, plain, simple = table.to_dict("records")
    # Means over folds of 0.05 and 0.01, of 0.1 and 0.05, and of 0.25 and 0.125.
    assert [row["mse"] for row in (better, plain, simple)] == pytest.approx([0.03, 0.075, 0.1875])
    # Two points on a rising line in each fold; constant predictions have no correlation.
    assert [better["pearson"], plain["pearson"]] == pytest.approx([1, 1])
    assert np.isnan(simple["pearson"])
    # Sums of deviations from the mean of each model: a 0.01 + 0.01 - 0.06, b 0.06, c -0.02. From
    # below 0, which no error is.
    reach = stats.t.ppf(0.975, 2) * np.sqrt(3 / 2 * (0.04**2 + 0.06**2 + 0.02**2)) / 4
    assert (better["mse_low"], better["mse_high"]) == (0, pytest.approx(0.03 + reach))
    # Paired: -0.03 and 0 of a, -0.07 of b, -0.08 of c.
    assert better["difference"] == pytest.approx(-0.045)
    reach = stats.t.ppf(0.975, 2) * np.sqrt(3 / 2 * (0.06**2 + 0.025**2 + 0.035**2)) / 4
    assert better["difference_high"] == pytest.approx(-0.045 + reach)
    assert [plain[f"difference{end}"] for end in ("", "_low", "_high")] == [0, 0, 0]
    assert simple["difference"] == pytest.approx(0.1125)
    assert summarize(PLAIN, dimension=4)["difference"].isna().all()


def track(scores: np.ndarray, dates: list[str], families: list[str] | None = None) -> pd.DataFrame:
    gaps = make_gaps(list_cells(scores), min_results=1)
    tables = describe(gaps, families=families, date=dates)
    return drift.measure_drift(gaps, *tables, study="toy", confidence_level=0.9, seed=0)


def test_newcomers_are_predicted_from_half_of_their_results_and_all_earlier_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []

    def record(splits, attributes, **given) -> pd.DataFrame:
        seen.append(splits)
        return crossvalidate(splits[:0], attributes, **given)

    monkeypatch.setattr(drift, "crossvalidate", record)
    families = ["F", "F", *"ABCDEFGHIJ"]
    scores = np.random.default_rng(0).normal(size=(14, 12))
    table = track(scores, ["", *["2020-01-01"] * 9, *["2021-01-01"] * 4], families)
    assert table[["models", "newcomers"]].to_numpy().tolist() == [[10, 0], [14, 4]]
    for train, test in seen[1]:
        assert set(test.rows) <= set(range(10, 14))
        assert set(range(10)) <= set(train.rows)
        keys = [{(r, families[c]) for r, c in list_pairs(own)} for own in (train, test)]
        assert not keys[0] & keys[1]
    hidden = [list_pairs(split.test) for split in seen[1]]
    assert hidden[0] | hidden[1] == {(row, column) for row in range(10, 14) for column in range(12)}


@pytest.mark.parametrize("families", [["one", "one"], None])
def test_tiny_studies_are_tracked_and_those_without_dates_are_not(families) -> None:
    scores = np.array([[0.1, 0.9], [0.5, 0.2], [0.8, 0.4]])
    table = track(scores, ["2024-01-01", "2024-01-02", "2024-01-03"], families)
    assert table["models"].tolist() == [1, 2, 3]
    assert (table["predictions"].sum() == 0) == (families is not None)
    assert track(scores, ["", "", ""]).empty


def measure(scores: np.ndarray, types: list[str]) -> pd.DataFrame:
    gaps = make_gaps(list_cells(scores), min_results=1)
    tables = describe(gaps, type=types)
    return transfer.measure_transfer(gaps, *tables, study="toy", confidence_level=0.9, seed=0)


@pytest.mark.slow
def test_another_type_helps_when_its_space_is_shared() -> None:
    for shared in (True, False):
        rng = np.random.default_rng(0)
        first, second = rng.normal(size=(2, 40, 4))
        one, two = rng.normal(size=(2, 4, 8))
        scores = np.hstack([first @ one, (first if shared else second) @ two])
        scores += 0.1 * rng.normal(size=scores.shape)
        table = measure(scores, ["one"] * 8 + ["two"] * 8).set_index("tested_on")
        row = table.loc["all types"]
        assert row["predictions"] == table["predictions"].iloc[:-1].sum() == 40 * 16
        np.testing.assert_allclose(table["difference"], table["mse"] - table["mse_alone"])
        assert (row["difference_high"] < 0) if shared else (row["difference"] > -0.1 * row["mse"])


def test_a_family_is_never_known_of_a_model_where_it_is_hidden() -> None:
    results = draw(0, models=12, datasets=20)
    # The families 0 to 3 have datasets of all three types.
    families = [str(place % 6 if place % 6 < 4 else place) for place in range(20)]
    half = split_halves(results, families, make_stream(0, "toy"))
    tested = results.columns < 6
    for side in (half, ~half):
        joined, alone = transfer.split_type(results, tested, side, families)
        assert list_pairs(joined.test) == list_pairs(alone.test)
        assert (joined.test.columns < 6).all()
        assert not (alone.train.columns >= 6).any()
        keys = [{(r, families[c]) for r, c in list_pairs(own)} for own in joined]
        assert not keys[0] & keys[1]
        assert list_pairs(alone.train) < list_pairs(joined.train)


@pytest.mark.parametrize("types", [[""] * 6, ["t"] * 6])
def test_without_another_type_there_is_nothing_to_tell(types: list[str]) -> None:
    assert measure(np.random.default_rng(0).normal(size=(6, 6)), types).empty


def test_splits_that_know_or_hide_nothing_are_left_out() -> None:
    results = draw(0)
    everything, nothing = np.ones(len(results.gaps), bool), np.zeros(len(results.gaps), bool)
    splits = [hide_results(results, own) for own in (everything, nothing)]
    run = partial(
        crossvalidate,
        attributes=SideInformation([], [], np.zeros((len(results.models), 0))),
        rng=make_stream(0),
    )
    assert run(splits).empty
    halves = np.arange(len(results.gaps)) % 2 == 0
    found = run([*splits, hide_results(results, halves)])
    assert set(found["split"]) == {2}
    assert found["truth"].tolist() == results.gaps[halves].tolist()


MODELS = 30


def test_an_interval_of_unequal_clusters_is_derived_by_hand() -> None:
    # Values 0, 0, 3 in clusters of two and one: mean 1, sums of deviations −2 and 2, variance
    # 2 / 1 · (4 + 4) / 9 = 16 / 9; t with one degree of freedom at 75% is tan(π / 4) = 1.
    found = estimate_mean([0.0, 0, 3], clusters=[5, 5, 2], confidence_level=0.5)
    np.testing.assert_allclose(found, (1, 1 - 4 / 3, 1 + 4 / 3))


def test_an_interval_needs_two_clusters_and_a_mean_a_value() -> None:
    mean, *ends = estimate_mean([1.0, 2], clusters="aa", confidence_level=0.9)
    assert mean == 1.5
    assert np.isnan(ends).all()
    assert np.isnan(estimate_mean([], clusters=[], confidence_level=0.9)).all()
    found = estimate_mean([1.0, np.nan, 4.0], clusters=["a", "b", "c"], confidence_level=0.9)
    assert found == estimate_mean([1.0, 4.0], confidence_level=0.9)


def tabulate(row: object, prediction: object, truth: object) -> pd.DataFrame:
    table = pd.DataFrame({"row": row, "prediction": prediction, "truth": truth})
    return table.assign(variance=1.0)


def draw_known(count: int, seed: int) -> pd.DataFrame:
    """Predictions and truths: errors are large in the middle, skewed at the ends, and by model."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, MODELS, count)
    gaps = rng.beta(0.7, 0.9, count)
    spread = np.sqrt(gaps * (1 - gaps) + 0.01) * np.where(rows < 5, 0.6, 0.25)
    errors = spread * (rng.exponential(size=count) - 1) * np.where(gaps > 0.7, -1.0, 1.0)
    return tabulate(rows, gaps, (gaps + errors).clip(0, 1))


def test_intervals_hold_for_small_and_large_gaps_and_for_each_model() -> None:
    found = []
    for seed in range(8):
        new = draw_known(1500, seed + 100)
        low, high = find_intervals(draw_known(1500, seed), new)
        found.append(new.assign(held=(low <= new["truth"]) & (new["truth"] <= high)))
    table = pd.concat(found)
    deciles = table.groupby(pd.qcut(table["prediction"], 10), observed=True)["held"].mean()
    assert deciles.between(0.87, 0.93).all()
    # Errors of five models are 2.4 times as large, of which 50 each are known: most is learnt.
    assert table.groupby(table["row"] < 5)["held"].mean().between(0.82, 0.93).all()


def draw_runs(*, models: int = 14, datasets: int = 12, new: int = 3, seed: int = 0) -> pd.DataFrame:
    """Runs of models on all datasets, and of newcomers on the first one, two and so on."""
    rng = np.random.default_rng(seed)
    names = [f"m{place:02d}" for place in range(models)] + [f"new {place}" for place in range(new)]
    x = 0.5 * rng.normal(size=(len(names), 2))
    y = 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) / 4
    apart += 0.01 * rng.normal(size=apart.shape)
    known = [datasets] * models + list(range(1, new + 1))
    cells = [
        (name, f"d{column:02d}", 0.9 - apart[row, column])
        for row, name in enumerate(names)
        for column in range(known[row])
    ]
    return pd.DataFrame(cells, columns=["model", "dataset", "score"])


def make_quality_bounds(runs: pd.DataFrame) -> pd.DataFrame:
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"])), "metric": "quality"})
    is_min = bounds["dataset"] == "d01"
    return bounds.assign(direction=np.where(is_min, "min", "max"), low=0.0, high=100.0)


def tabulate_placed(runs: pd.DataFrame, *, min_results: int = 5) -> pd.DataFrame:
    return tabulate_gaps(runs, make_quality_bounds(runs), min_results=min_results)


def place(runs: pd.DataFrame, *, min_results: int = 5) -> dict[str, pd.DataFrame]:
    gaps = tabulate_placed(runs, min_results=min_results)
    options = {"study": "toy", "method": "l2_ridge", "seed": 0}
    positions = embed_models(gaps, dimension=2, projection="mds", **options)["positions"]
    models, datasets = (gaps[[name]].drop_duplicates() for name in ("model", "dataset"))
    return place_models(gaps, positions, models, datasets, make_quality_bounds(runs), **options)


@cache
def place_toy() -> dict[str, pd.DataFrame]:
    return place(draw_runs())


def test_newcomers_are_the_dropped_models_with_results_on_kept_datasets() -> None:
    alone = pd.DataFrame({"model": ["new 0", "z"], "dataset": ["alone", "alone"], "score": 0.5})
    runs = draw_runs()
    # Normalized scores of the others on d00 go from low to high; one above is half a range better.
    low, high = runs[runs["dataset"] == "d00"].iloc[:14]["score"].agg(["min", "max"])
    runs.loc[runs["model"] == "new 0", "score"] = high + (high - low) / 2
    gaps = tabulate_placed(pd.concat([runs, alone], ignore_index=True))
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps.sample(frac=1, random_state=1), results)
    assert newcomers.models == ["new 0", "new 1", "new 2"]
    assert newcomers.datasets == results.datasets
    assert newcomers.per_model.tolist() == [1, 2, 3]
    assert newcomers.gaps[0] == pytest.approx(-0.5)


def test_each_newcomer_has_a_place_and_predictions() -> None:
    placements, predictions = place_toy()["placements"], place_toy()["placement_predictions"]
    assert placements["model"].tolist() == ["new 0", "new 1", "new 2"]
    assert placements["results"].tolist() == [1, 2, 3]
    assert (placements["mean_gap_low"] < placements["mean_gap"]).all()
    assert (placements["mean_gap"] < placements["mean_gap_high"]).all()
    assert placements[["x1", "x2"]].notna().all(axis=None)
    # Those of the twelve datasets that a model has no result on.
    assert predictions["model"].value_counts().to_dict() == {"new 0": 11, "new 1": 10, "new 2": 9}
    assert (predictions["low"] <= predictions["predicted"]).all()
    assert (predictions["predicted"] <= predictions["high"]).all()
    assert (predictions["score_low"] <= predictions["predicted_score"]).all()
    # The mean gap is of results and of predictions for the rest.
    gaps = tabulate_placed(draw_runs())
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    known = np.bincount(newcomers.rows, newcomers.gaps)
    means = (known + predictions.groupby("model")["predicted"].sum().to_numpy()) / 12
    np.testing.assert_allclose(placements["mean_gap"], means)


@pytest.mark.parametrize("ridge", [0.5, 0.0])
def test_models_stand_where_their_distances_come_nearest_the_gaps(ridge: float) -> None:
    gaps = tabulate_placed(draw_runs())
    method = "l2_ridge" if ridge else "l2"
    options = {"study": "toy", "method": method, "dimension": 2, "projection": "mds", "seed": 0}
    positions = embed_models(gaps, **options)["positions"]
    newcomers = choose_newcomers(gaps, choose_results(gaps))
    models, datasets = np.split(positions[["x1", "x2"]].to_numpy(), [14])
    middle = np.zeros(2) if ridge else models.mean(axis=0)
    for row, point in enumerate(find_points(positions, newcomers, ridge=ridge)):
        part = newcomers.choose(newcomers.rows == row)
        known = datasets[part.columns]

        def measure(at: np.ndarray, known: np.ndarray = known, part: Results = part) -> float:
            distances, *_ = measure_l2(np.broadcast_to(at, known.shape), known)
            return float(((distances - part.gaps) ** 2).sum() + 0.5 * ((at - middle) ** 2).sum())

        assert measure(point) <= optimize.minimize(measure, middle).fun + 1e-6


def test_without_newcomers_tables_are_empty_but_have_their_columns() -> None:
    found = place(draw_runs(new=0, models=6, datasets=5))
    for name in ("placements", "placement_predictions"):
        assert found[name].empty
        assert list(found[name].columns) == list(place_toy()[name].columns)


def test_a_newcomer_of_two_models_has_no_interval() -> None:
    cells = [(model, dataset) for model in "ab" for dataset in "xy"] + [("c", "x")]
    runs = pd.DataFrame(cells, columns=["model", "dataset"]).assign(score=[0.1, 0.9, 0.5, 0.3, 0.2])
    found = place(runs, min_results=2)["placements"]
    assert found["results"].tolist() == [1]
    assert found["mean_gap"].notna().all()
    assert found[["mean_gap_low", "mean_gap_high"]].isna().all(axis=None)


def test_newcomers_are_predicted_only_where_results_connect_them() -> None:
    rng = np.random.default_rng(0)
    cells = [
        (f"{part}{model}", f"{part}{dataset}", float(rng.uniform()))
        for part in "AB"
        for model in range(5)
        for dataset in range(5)
    ]
    runs = pd.DataFrame([*cells, ("new", "A1", 0.3)], columns=["model", "dataset", "score"])
    own = place(runs, min_results=3)["placement_predictions"].set_index("dataset")
    is_apart = own.index.str[0] == "B"
    assert own.loc[is_apart, ["predicted", "low", "predicted_score"]].isna().all(axis=None)
    assert own.loc[~is_apart, ["predicted", "low", "high"]].notna().all(axis=None)
    assert len(own) == 9


@pytest.mark.slow
def test_intervals_hold_nine_of_ten_results_of_the_literature() -> None:
    gaps = make_gaps(read_real(), min_results=5)
    results = choose_results(gaps)
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (45, 92, 820)
    assert (results.gaps.min(), results.gaps.max()) == (0, 1)
    make_rng = partial(make_stream, 0, "toy", "capabilities", "error_curve")
    curve, hidden = draw_error_curve(
        results,
        SideInformation([], [], np.zeros((len(results.models), 0))),
        make_rng=make_rng,
    )
    assert curve["results"].tolist() == list(COUNTS)
    assert curve["coverage"].between(0.86, 0.95).all()
    assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0]
    assert (curve["mse"] < curve["mse_additive"])[curve["results"] >= 8].all()
    for row in curve.itertuples():
        own = hidden[row.results]
        assert len(own) == row.predictions
        assert ((own["prediction"] - own["truth"]) ** 2).mean() == pytest.approx(row.mse)


def correlate(centrality: list[float], gaps: list[float]) -> dict[str, float]:
    """Positions with a dataset that does not count, and models in another order."""
    names = [f"m{number}" for number in range(len(gaps))]
    positions = pd.DataFrame(
        {
            "kind": ["dataset", *["model"] * len(names)],
            "name": ["m0", *names],
            "centrality": [9, *centrality],
        }
    )
    models = pd.DataFrame({"model": names[::-1], "mean_gap": gaps[::-1]})
    return correlate_centrality(positions, models).iloc[0].to_dict()


def test_estimate_is_that_of_scipy_with_ties() -> None:
    rng = np.random.default_rng(3)
    centrality = rng.integers(8, size=30) / 8
    gaps = centrality + rng.integers(8, size=30) / 8
    row = correlate(centrality.tolist(), gaps.tolist())
    assert row["estimate"] == pytest.approx(spearmanr(centrality, gaps).statistic)
    assert row["models"] == 30
    # By hand: tanh(artanh ρ ± 1.64485 √((1 + ρ²/2) / 27)).
    half = 1.644854 * math.sqrt((1 + row["estimate"] ** 2 / 2) / 27)
    middle = math.atanh(row["estimate"])
    assert row["low"] == pytest.approx(math.tanh(middle - half), abs=1e-6)
    assert row["high"] == pytest.approx(math.tanh(middle + half), abs=1e-6)


def test_models_without_results_do_not_count_and_two_have_no_interval() -> None:
    row = correlate([1, 2, 3], [0.1, math.nan, 0.3])
    assert (row["models"], row["estimate"]) == (2, 1)
    assert math.isnan(row["low"])


@pytest.mark.parametrize("gaps", [[], [0.5], [0.5, 0.5]])
def test_without_variation_there_is_no_correlation(gaps: list[float]) -> None:
    row = correlate([float(number) for number in range(len(gaps))], gaps)
    assert math.isnan(row["estimate"])
    assert row["models"] == len(gaps)


def test_nearest_datasets_are_of_the_own_part_and_untried_ones_have_no_result() -> None:
    names, x1 = ["A", "B", "d", "e", "f", "g", "h"], [0.0, 9.0, 1.0, -2.0, 3.0, 4.0, 8.0]
    positions = pd.DataFrame({"kind": ["model"] * 2 + ["dataset"] * 5, "name": names, "x1": x1})
    positions["component"] = [1, 2, 1, 1, 1, 1, 2]
    rows = [
        ("A", "d", 0.1, 0.2),
        ("A", "f", None, 0.5),
        ("A", "e", None, 0.3),
        ("B", "h", 0.0, 0.0),
    ]
    predictions = pd.DataFrame(rows, columns=["model", "dataset", "observed", "predicted"])
    table = list_nearest(positions, predictions.assign(low=0.0, high=1.0))
    assert table["model"].tolist() == ["A", "A", "A", "B"]
    assert table["nearest"].tolist() == ["d", "e", "f", "h"]
    assert table["map_distance"].tolist() == [1, 2, 3, 1]
    assert table["untried"].fillna("").tolist() == ["e", "f", "", ""]


COLUMNS = ["model", "dataset", "observed", "predicted", "low", "high"]


def make(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_widest_interval_that_may_be_near_the_best_comes_first() -> None:
    predictions = make(
        ("A", "d", None, 0.3, 0.0, 0.5),
        ("A", "e", 0.2, 0.3, 0.0, 1.0),  # has a result
        ("B", "d", None, 0.6, 0.2, 1.0),  # is not near the best
        ("B", "e", None, 0.4, 0.1, 0.8),
    )
    placed = make(("C", "d", None, 0.5, 0.0, 0.9), ("C", "e", None, None, None, None))
    found = next_results.choose_next_results(predictions, placed)
    assert found[["rank", "model", "dataset"]].to_numpy().tolist() == [
        [1, "C", "d"],
        [2, "B", "e"],
        [3, "A", "d"],
    ]
    assert found["width"].round(9).tolist() == [0.9, 0.7, 0.5]


def test_each_model_has_ten_rows_at_most() -> None:
    many = make(*(("A", f"d{place:02d}", None, 0.1, 0.0, 0.4) for place in range(12)))
    found = next_results.choose_next_results(many, make())
    assert found["dataset"].tolist() == [f"d{place:02d}" for place in range(10)]
    assert next_results.choose_next_results(make(), make()).empty


def draw_gaps(
    seed: int = 0, *, models: int = 16, datasets: int = 18, share: float = 0.7, noise: float = 0.08
) -> pd.DataFrame:
    """A table of gaps of models and datasets at distances of known positions, with noise.

    Scores of the second dataset are errors: lower is better.
    """
    rng = np.random.default_rng(seed)
    x, y = 0.5 * rng.normal(size=(models, 2)), 0.5 * rng.normal(size=(datasets, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) + noise * rng.normal(
        size=(models, datasets)
    )
    rows, columns = np.nonzero(rng.uniform(size=apart.shape) < share)
    runs = pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in rows],
            "dataset": [f"d{column:02d}" for column in columns],
            "score": 1 - apart[rows, columns] / 4,
        }
    )
    return tabulate_gaps(runs, make_quality_bounds(runs), min_results=3)


def predict(gaps: pd.DataFrame) -> pd.DataFrame:
    options = {"study": "toy", "seed": 0}
    positions = embed_models(gaps, method="l2", dimension=2, projection="mds", **options)
    models = gaps.groupby("model")["gap"].mean().rename("mean_gap").reset_index()
    datasets, bounds = gaps[["dataset"]].drop_duplicates(), make_quality_bounds(gaps)
    found = predictions.predict_cells(
        gaps, models, datasets, bounds, positions["positions"], **options
    )
    return found["predictions"]


@cache
def predict_toy() -> pd.DataFrame:
    return predict(draw_gaps())


@pytest.mark.slow
def test_intervals_hold_scores_that_were_never_there() -> None:
    # A third of the cells of a matrix is left out, and compared with what is predicted for them.
    # With about 10 results per dataset, 2 / 11 of them are beyond the best or the worst one, which
    # is where an interval that reaches the bound is open.
    held, beyond = [], []
    for seed in range(3):
        truth = draw_gaps(seed, share=1.0).set_index(["model", "dataset"])["score"]
        gaps = draw_gaps(seed, share=0.65)
        table = predict(gaps)
        empty = table[~table["held_out"]].set_index(["model", "dataset"])
        scores = truth.loc[empty.index]
        known = gaps[gaps["dropped"] == ""].groupby("dataset")["score"].agg(["min", "max"])
        ends = known.loc[empty.index.get_level_values("dataset")].to_numpy().T
        beyond += (~scores.between(*ends)).tolist()
        held += scores.between(empty["score_low"], empty["score_high"]).tolist()
    assert len(held) > 260
    assert np.mean(beyond) > 0.1
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_every_pair_has_a_row_and_ends_in_order() -> None:
    gaps, table = draw_gaps(), predict_toy()
    kept = gaps[gaps["dropped"] == ""]
    assert len(table) == kept["model"].nunique() * kept["dataset"].nunique()
    assert table["held_out"].sum() == len(kept)
    assert table[["model", "dataset"]].equals(
        table[["model", "dataset"]].sort_values(["model", "dataset"])
    )
    hidden = table[table["held_out"]].reset_index(drop=True)
    np.testing.assert_allclose(hidden["observed"], kept["gap"])
    for low, middle, high in (
        ("low", "predicted", "high"),
        ("score_low", "predicted_score", "score_high"),
    ):
        assert (table[low] <= table[middle] + 1e-9).all()
        assert (table[middle] <= table[high] + 1e-9).all()
    assert hidden["low"].between(0, 1).all()
    assert hidden["high"].between(0, 1).all()
    assert table["predicted"].between(0, 1).all()


def test_scores_follow_from_gaps_by_the_best_and_worst_of_each_dataset() -> None:
    gaps, table = draw_gaps(), predict_toy()
    kept = gaps[gaps["dropped"] == ""].groupby("dataset")["score"]
    low, high = (table["dataset"].map(bound) for bound in (kept.min(), kept.max()))
    is_min = table["dataset"] == "d01"
    best, worst = np.where(is_min, low, high), np.where(is_min, high, low)
    expected = best + table["predicted"] * (worst - best)
    np.testing.assert_allclose(table["predicted_score"], expected)
    assert is_min.any()


def tabulate_intervals(cells: list[tuple[str, str, float]]) -> pd.DataFrame:
    runs = pd.DataFrame(cells, columns=["model", "dataset", "score"])
    return tabulate_gaps(runs, make_quality_bounds(runs), min_results=1)


def test_few_results_have_intervals_from_0_to_1() -> None:
    cells = [("a", "x", 0.1), ("a", "y", 0.9), ("b", "x", 0.5), ("b", "y", 0.3)]
    table = predict(tabulate_intervals(cells))
    assert len(table) == 4
    assert (table["low"] == 0).all()
    assert (table["high"] == 1).all()
    assert table["predicted"].between(0, 1).all()
