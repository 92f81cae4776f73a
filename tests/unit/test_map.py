"""The map: gaps, positions, factors, hidden results, predictions and their intervals."""

import csv
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.spatial import distance as peers
from scipy.spatial.distance import pdist, squareform

from capmap.analyses import generalization
from capmap.analyses.capabilities import choose_next_results
from capmap.capabilities import crossvalidation, embedding, factors, predictions
from capmap.capabilities.gaps import arrange_results, describe_results
from capmap.errors import ValidationError
from capmap.rng import make_stream


def simulate_results(
    models: int = 30,
    datasets: int = 24,
    *,
    dimension: int = 5,
    share: float = 1.0,
    noise: float = 0.0,
    seed: int = 0,
) -> pd.DataFrame:
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
    return list_cells(np.where(filled, 1 - gaps, np.nan))


def describe(
    runs: pd.DataFrame,
    *,
    least: int = 2,
    lower_is_better: tuple[str, ...] = (),
    metric: str = "accuracy",
    high: object = 100.0,
    **files: Path,
) -> dict[str, pd.DataFrame]:
    """The tables of gaps, models and datasets of normalized runs, in percent of a metric."""
    bounds = make_bounds(runs, lower_is_better=lower_is_better, metric=metric, high=high)
    paths = {name: [str(files[name])] if name in files else [] for name in FILES}
    return describe_results(
        runs,
        bounds,
        **paths,
        min_results=least,
        model_attributes={"architecture": "architecture", "parameters": "size", "date": "date"},
        dataset_attributes={"type": "type"},
        renamed={},
    )


def make_bounds(
    runs: pd.DataFrame,
    *,
    lower_is_better: tuple[str, ...] = ("d01",),
    metric: str = "quality",
    high: object = 100.0,
) -> pd.DataFrame:
    """Bounds of 0 and 100, or of another highest score."""
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"])), "metric": metric})
    is_min = bounds["dataset"].isin(lower_is_better)
    return bounds.assign(direction=np.where(is_min, "min", "max"), low=0.0, high=high)


def make_gaps(runs: pd.DataFrame, **options: Any) -> pd.DataFrame:
    return describe(runs, **options)["gaps"]


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


REAL = Path(__file__).parents[3] / "shared/data/capabilities"
NAN = float("nan")
FILES = ("model_file", "dataset_file")
QUALITY = {"lower_is_better": ("d01",), "metric": "quality"}
FEW_MODEL = "few results of the model"


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


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), least=st.integers(1, 4), share=st.floats(0.5, 1))
def test_what_is_kept_does_not_depend_on_the_order_of_dropping(
    seed: int, least: int, share: float
) -> None:
    cells = draw_cells(seed, share=share)
    expected = drop(cells, least)
    if not expected:
        return
    gaps = make_gaps(cells, least=least)
    kept = gaps[gaps["dropped"] == ""]
    assert sorted(zip(kept["model"], kept["dataset"], strict=True)) == expected
    shuffled = make_gaps(cells.sample(frac=1, random_state=seed), least=least)
    pd.testing.assert_frame_equal(shuffled, gaps)


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
    gaps = make_gaps(runs, lower_is_better=("y",), high=[10.0, 50.0])
    assert gaps["model"].tolist() == list("aabbccd")
    assert gaps["dataset"].tolist() == list("xyxyxyx")
    assert gaps["score"].tolist() == [2, 40, 7, 30, 10, 5, 11]
    assert gaps["normalized"].tolist() == [0.2, 0.2, 0.7, 0.4, 1.0, 0.9, 1.1]
    # d is dropped, so 10 is the best score of x.
    np.testing.assert_array_equal(gaps["absolute_gap"], [8, 35, 3, 25, 0, 0, NAN])
    expected = [1, 1, 3 / 8, 25 / 35, 0, 0, NAN]
    np.testing.assert_allclose(gaps["gap"], expected, rtol=1e-12)
    assert gaps["dropped"].tolist() == [""] * 6 + [FEW_MODEL]


@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_gaps_give_back_raw_scores_in_either_direction(seed: int) -> None:
    cells = simulate_results(8, 6, dimension=2, share=0.6, noise=0.1, seed=seed)
    gaps = make_gaps(cells, least=1, lower_is_better=("D001", "D004"))
    scores = gaps["score"].groupby(gaps["dataset"])
    low, high = scores.transform("min"), scores.transform("max")
    is_lower = gaps["dataset"].isin(["D001", "D004"])
    best, worst = np.where(is_lower, low, high), np.where(is_lower, high, low)
    np.testing.assert_allclose(best + gaps["gap"] * (worst - best), gaps["score"], atol=1e-9)
    np.testing.assert_allclose(gaps["absolute_gap"], np.abs(gaps["score"] - best), atol=1e-9)
    np.testing.assert_allclose(
        gaps["score"], 100 * np.where(is_lower, 1 - gaps["normalized"], gaps["normalized"])
    )
    plain = make_gaps(cells.sample(frac=1, random_state=seed), least=1)
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
        make_gaps(cells, least=1)


def test_models_and_datasets_by_hand(tmp_path: Path) -> None:
    cells = name_cells(
        **{"a": {"F / 1": 1.0, "F / 2": 0.9, "G": 0.0}, "b": {"F / 1": 0.5, "F / 2": 0.85}},
        **{"c": {"F / 1": 0.0, "F / 2": 0.4}, "d": {"G": 0.5}, "e": {"H": 0.5, "I": 0.5}},
        f={"H": 0.5, "I": 0.5},
    )
    files = {name: tmp_path / f"{name}.csv" for name in FILES}
    rows = "a,Conv,5,2024-02-13\nd,,7,\nother,Conv,,\n"
    files["model_file"].write_text(f"model,architecture,size,date\n{rows}")
    files["dataset_file"].write_text("dataset,type\nF,seg\nF / 2,cls\nG,\n")
    found = describe(cells, lower_is_better=("F / 2",), **files)
    models, datasets = found["models"], found["datasets"].set_index("dataset")
    assert models["model"].tolist() == list("abcdef")
    assert models["results"].tolist() == [3, 2, 2, 1, 2, 2]
    assert models["kept"].tolist() == [2, 2, 2, 0, 0, 0]
    assert models["component"].astype(object).tolist() == [1, 1, 1, pd.NA, pd.NA, pd.NA]
    # On F / 2 the gap of b is 0.05 / 0.5.
    np.testing.assert_allclose(models["mean_gap"], [0, 0.3, 1, NAN, NAN, NAN])
    assert models["architecture"].fillna("").tolist() == ["Conv", "", "", "", "", ""]
    np.testing.assert_array_equal(models["parameters"], [5, NAN, NAN, 7, NAN, NAN])
    assert models["date"].fillna("").tolist() == ["2024-02-13", "", "", "", "", ""]
    assert datasets.index.tolist() == ["F / 1", "F / 2", "G", "H", "I"]
    assert datasets["results"].tolist() == [3, 3, 2, 2, 2]
    assert datasets["kept"].tolist() == [3, 3, 0, 0, 0]
    assert datasets["component"].astype(object).tolist() == [1, 1, pd.NA, pd.NA, pd.NA]
    assert datasets["type"].fillna("").tolist() == ["seg", "cls", "", "", ""]
    assert datasets["family"].tolist() == ["F", "F", "G", "H", "I"]


def test_components_are_numbered_by_size() -> None:
    parts = {"b": {"u": 1, "v": 2}, "c": {"u": 2, "v": 1}}
    parts |= {"x": {"r": 1, "s": 2, "t": 0}, "y": {"r": 2, "s": 1, "t": 1}}
    models = describe(name_cells(**parts), least=1)["models"]
    assert models["component"].tolist() == [2, 2, 1, 1]


@pytest.mark.parametrize("kind", ["model", "dataset"])
def test_attributes_of_other_names_only_are_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "other.csv"
    path.write_text(f"{kind},architecture,size,date,type\nz1,C,1,,seg\n")
    with pytest.raises(ValidationError, match=f"Call the column of these names {kind}"):
        describe(simulate_results(4, 4, dimension=1), **{f"{kind}_file": path})


seeds = st.integers(0, 10_000)


def embed(gaps, *, method="l2_ridge", dimension=3, groups=MappingProxyType({}), table="positions"):
    options = {"study": "toy", "method": method, "dimension": dimension, "groups": groups}
    return embedding.embed_models(gaps, **options, projection="mds", seed=0)[table]


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


@pytest.mark.parametrize("name", embedding.DISTANCES)
def test_hidden_results_of_known_positions_are_predicted(name):
    results = arrange_results(simulate_results(40, 30, dimension=3, share=0.7, noise=0.02, seed=3))
    hidden = np.random.default_rng(0).permutation(len(results.gaps)) < 40
    train, test = results.choose(~hidden), results.choose(hidden)
    start = embedding.draw_start(results, dimension=3, seed=0, study="toy")
    predicted = embedding.predict_by_distance(name, start, train, test)
    # Points in flat space leave little to explain; angles describe them less well.
    limit = 0.5 if name == "cosine" else 0.1
    assert np.mean((predicted - test.gaps) ** 2) < limit * np.var(test.gaps)


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


def test_groups_are_near_the_center_and_together_where_they_were_put():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(24, 2))
    x[:3], x[3:6] = 0.1 * x[:3], [2, 2] + 0.1 * x[3:6]
    apart = peers.cdist(x, y) + 0.1 * rng.normal(size=(30, 24))
    gaps = make_gaps(list_cells(np.where(rng.random(apart.shape) < 0.6, -apart, np.nan)))
    groups = {"middle": ["M000", "M001", "M002"], "edge": ["M003", "M004", "M005"], "all": ["D*"]}
    positions, found = (embed(gaps, groups=groups, table=name) for name in ("positions", "groups"))
    middle, edge, whole = found.to_dict("records")
    assert middle["center_high"] < 0.5 < edge["center_low"]
    assert max(middle["together_high"], edge["together_high"]) < 1
    assert (whole["members"], whole["together"], whole["together_high"]) == (24, 1, 1)
    points = positions.query("kind == 'model'")
    share = [(points["centrality"] < own).mean() for own in points["centrality"].iloc[3:6]]
    assert edge["center"] == pytest.approx(np.mean(share))
    with pytest.raises(ValidationError, match="groups: few"):
        embed(gaps, groups={"few": ["m*"]})


@pytest.mark.parametrize("method", ["l2_ridge", "l2"])
@pytest.mark.parametrize("dimension", [1, 5])
def test_two_models_on_two_datasets_have_positions_and_a_map(method, dimension):
    gaps = make_gaps(list_cells([[1, 0.3], [0, 0.9]]), least=1)
    positions = embed(gaps, method=method, dimension=dimension)
    assert len(positions) == 4
    assert np.isfinite(positions.select_dtypes("number").to_numpy()).all()
    # So few points are not left to UMAP.
    maps = [
        embedding.project_map(positions, study="toy", projection=own, seed=0)
        for own in ("mds", "umap")
    ]
    pd.testing.assert_frame_equal(*maps)
    assert maps[0].columns.tolist() == ["kind", "name", "x", "y"]
    assert (maps[0]["y"] == 0).all() == (dimension == 1)


# One test, as each process compiles the package again.
@pytest.mark.slow
def test_umap_keeps_groups_apart_and_gives_the_same_map_again():
    groups = np.repeat([0, 1], 20)
    rng = np.random.default_rng(0)
    points = rng.exponential(size=(40, 3)) * 0.1 + 3.0 * groups[:, None]
    table = pd.DataFrame({"kind": "model", "name": [f"P{place}" for place in range(40)]})
    table = table.assign(**{f"x{axis}": column for axis, column in enumerate(points.T, 1)})
    maps = [embedding.project_map(table, study="toy", projection="umap", seed=0) for _ in range(2)]
    pd.testing.assert_frame_equal(*maps)
    apart = squareform(pdist(maps[0][["x", "y"]]))
    np.fill_diagonal(apart, np.inf)
    assert np.all(groups[apart.argmin(axis=1)] == groups)
    for count in (5, 17):
        plane = embedding.project_map(table[:count], study="toy", projection="umap", seed=0)
        assert np.isfinite(plane[["x", "y"]].to_numpy()).all()


NOISE = 0.03
stream = partial(make_stream, 0, "test")


def make_results(gaps: np.ndarray) -> Any:
    """Any with these gaps, not rescaled; NaN is empty."""
    return replace(arrange_results(list_cells(gaps)), gaps=gaps[~np.isnan(gaps)])


def draw_low_rank(seed: int = 0, *, models: int = 30, datasets: int = 24) -> np.ndarray:
    rng = np.random.default_rng(seed)
    slopes = 1 + 0.4 * rng.normal(size=datasets)
    gaps = 0.5 + 0.12 * rng.normal(size=(models, 1)) * slopes + 0.1 * rng.normal(size=datasets)
    gaps += 0.1 * rng.normal(size=(models, 2)) @ rng.normal(size=(2, datasets))
    return np.asarray(gaps + NOISE * rng.normal(size=gaps.shape))


def hide(gaps: np.ndarray, share: float, seed: int = 0) -> tuple[Any, Any]:
    """Known and hidden results."""
    results = make_results(gaps)
    is_hidden = np.random.default_rng(seed).random(len(results.gaps)) < share
    return results.choose(~is_hidden), results.choose(is_hidden)


def gather(results: Any, **given: pd.DataFrame) -> factors.SideInformation:
    """What is known of models and datasets, by default their names alone."""
    names = {"models": pd.DataFrame({"model": results.models})}
    names |= {"datasets": pd.DataFrame({"dataset": results.datasets})}
    return factors.gather_attributes(results, **names | given)


def fit(
    train: Any, test: Any, known: factors.SideInformation | None = None, name: str = ""
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


def predict_all(train: Any) -> np.ndarray:
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
    cells = simulate_results(7, 6, dimension=2, share=0.5, noise=0.1, seed=seed)
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


def list_pairs(results: Any) -> set[tuple[int, int]]:
    return set(zip(results.rows.tolist(), results.columns.tolist(), strict=True))


def list_known(
    gaps: pd.DataFrame, *, families: list[str] | None = None, **columns: object
) -> tuple:
    """Tables of models and datasets with some attributes."""
    models = pd.DataFrame({"model": sorted(gaps["model"].unique())})
    datasets = pd.DataFrame({"dataset": sorted(gaps["dataset"].unique())})
    datasets["family"] = families or datasets["dataset"]
    if "date" in columns:
        models["date"] = columns["date"]
    return models, datasets.assign(type=columns.get("type", ""))


@pytest.mark.slow
def test_a_row_per_hidden_result_and_the_same_folds_for_all_methods() -> None:
    gaps = make_gaps(simulate_results(9, 8, dimension=2, share=0.7, noise=0.1))
    models, datasets = list_known(gaps, families=["F", "F", *"ABCDEF"])
    options = {"study": "toy", "dimension": 2, "n_splits": 3, "seed": 0}
    crossvalidate = partial(crossvalidation.crossvalidate_study, gaps, models, datasets)
    table = crossvalidate(dimensions=[1], **options)
    assert table["distance"].drop_duplicates().tolist() == list(crossvalidation.METHODS)
    keys = [
        [*own[["protocol", "fold", "model", "dataset", "truth"]].itertuples(index=False)]
        for _, own in table.groupby(["distance", "dimension"], dropna=False)
    ]
    assert len(keys) == 2 + 3 * 2
    assert all(own == keys[0] for own in keys)
    cells = gaps[gaps["dropped"] == ""].drop(columns="score")
    results = arrange_results(cells.rename(columns={"normalized": "score"}))
    names = list(zip(cells["model"], cells["dataset"], strict=True))
    chosen = (table["distance"] == "additive") & (table["protocol"] == "random")
    for _, own in table[chosen].groupby("fold"):
        hidden = [*zip(own["model"], own["dataset"], strict=True)]
        is_hidden = np.array([name in hidden for name in names])
        expected = factors.fit_additive(results.choose(~is_hidden)).predict(
            results.rows[is_hidden], results.columns[is_hidden]
        )
        assert own["truth"].tolist() == results.gaps[is_hidden].tolist()
        np.testing.assert_allclose(own["prediction"], expected)
    plain = crossvalidate(dimensions=[], **options)
    assert plain["distance"].drop_duplicates().tolist() == ["factors", "l2", "additive"]
    summary = crossvalidation.summarize_validation(table, dimension=2, confidence_level=0.9)
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
    return crossvalidation.summarize_validation(pd.concat(tables), **given)


def test_summary_by_hand() -> None:
    table = summarize(BETTER, PLAIN, SIMPLE)
    assert table["distance"].tolist() == ["l2", "l2", "additive"]
    assert table["dimension"].astype(object).tolist() == [3, 5, pd.NA]
    assert table[["folds", "predictions"]].to_numpy().tolist() == [[2, 4]] * 3
    better, plain, simple = table.to_dict("records")
    # Means over folds of 0.05 and 0.01, of 0.1 and 0.05, and of 0.25 and 0.125.
    assert [row["mse"] for row in (better, plain, simple)] == pytest.approx([0.03, 0.075, 0.1875])
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


def record_splits(analysis: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list to which the splits of an analysis are added, of which none is predicted."""
    crossvalidate, seen = analysis.crossvalidate, []

    def record(splits: list[Any], attributes: Any, **options: Any) -> pd.DataFrame:
        seen.append(splits)
        return crossvalidate(splits[:0], attributes, **options)

    monkeypatch.setattr(analysis, "crossvalidate", record)
    return seen


def track(scores: np.ndarray, dates: list[str], families: list[str] | None = None) -> pd.DataFrame:
    gaps = make_gaps(list_cells(scores), least=1)
    tables = list_known(gaps, families=families, date=dates)
    return generalization.measure_drift(gaps, *tables, study="toy", confidence_level=0.9, seed=0)


def test_newcomers_are_predicted_from_half_of_their_results_and_all_earlier_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = record_splits(generalization, monkeypatch)
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


def measure(
    scores: np.ndarray, types: list[str], families: list[str] | None = None
) -> pd.DataFrame:
    gaps = make_gaps(list_cells(scores), least=1)
    tables = list_known(gaps, type=types, families=families)
    return generalization.measure_transfer(gaps, *tables, study="toy", confidence_level=0.9, seed=0)


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


def test_a_family_is_never_known_of_a_model_where_it_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The families 0 to 3 have datasets of all three types.
    families = [str(place % 6 if place % 6 < 4 else place) for place in range(20)]
    types = ["one"] * 6 + ["two"] * 7 + ["three"] * 7
    seen = record_splits(generalization, monkeypatch)
    measure(np.random.default_rng(0).normal(size=(12, 20)), types, families)
    assert len(seen) == 3 * 2 * 2
    for [joined], [alone] in zip(seen[::2], seen[1::2], strict=True):
        assert list_pairs(joined.test) == list_pairs(alone.test)
        own = {types[column] for column in joined.test.columns}
        assert len(own) == 1
        assert {types[column] for column in alone.train.columns} == own
        keys = [{(r, families[c]) for r, c in list_pairs(part)} for part in joined]
        assert not keys[0] & keys[1]
        assert list_pairs(alone.train) < list_pairs(joined.train)


@pytest.mark.parametrize("types", [[""] * 6, ["t"] * 6])
def test_without_another_type_there_is_nothing_to_tell(types: list[str]) -> None:
    assert measure(np.random.default_rng(0).normal(size=(6, 6)), types).empty


MODELS = 30


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
        low, high = crossvalidation.find_intervals(draw_known(1500, seed), new)
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


def place(
    runs: pd.DataFrame, *, least: int = 5, method: str = "l2_ridge"
) -> dict[str, pd.DataFrame]:
    tables, options = describe(runs, least=least, **QUALITY), {"study": "toy", "method": method}
    gaps, models, datasets = (tables[name] for name in ("gaps", "models", "datasets"))
    made = embedding.embed_models(gaps, dimension=2, projection="mds", groups={}, seed=0, **options)
    found = predictions.place_models(
        gaps, made["positions"], models, datasets, make_bounds(runs), seed=0, **options
    )
    return tables | made | found


@cache
def place_toy() -> dict[str, pd.DataFrame]:
    return place(draw_runs())


def measure_newcomers(gaps: pd.DataFrame) -> pd.DataFrame:
    """The results of models that are dropped, with gaps by the bounds of the others."""
    kept = gaps[gaps["dropped"] == ""].groupby("dataset")["normalized"]
    new = gaps[gaps["dropped"] != ""].set_index("dataset")
    best, worst = kept.max(), kept.min()
    gap = (best[new.index] - new["normalized"]) / (best - worst)[new.index]
    return new.assign(gap=gap).reset_index()


def test_each_newcomer_has_a_place_and_predictions() -> None:
    placements, predictions = place_toy()["placements"], place_toy()["placement_predictions"]
    known = measure_newcomers(place_toy()["gaps"])
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
    sums = known.groupby("model")["gap"].sum() + predictions.groupby("model")["predicted"].sum()
    means = sums / 12
    np.testing.assert_allclose(placements["mean_gap"], means)


@pytest.mark.parametrize("method", ["l2_ridge", "l2"])
def test_models_stand_where_their_distances_come_nearest_the_gaps(method: str) -> None:
    found = place_toy() if method == "l2_ridge" else place(draw_runs(), method=method)
    points = found["positions"].set_index(["kind", "name"])[["x1", "x2"]]
    middle = np.zeros(2) if method == "l2_ridge" else points.loc["model"].mean().to_numpy()
    gaps = measure_newcomers(found["gaps"])
    for row in found["placements"].itertuples():
        own = gaps[gaps["model"] == row.model]
        known, own_gaps = points.loc["dataset"].loc[own["dataset"]], own["gap"].clip(-1, 2)

        def measure(at: np.ndarray, known: Any = known, gaps: Any = own_gaps) -> float:
            distances = np.sqrt(((known.to_numpy() - at) ** 2).sum(axis=1) + 1e-9)
            return float(((distances - gaps) ** 2).sum() + 0.5 * ((at - middle) ** 2).sum())

        found_at = np.array([row.x1, row.x2])
        assert measure(found_at) <= optimize.minimize(measure, middle).fun + 1e-5


def test_without_newcomers_tables_are_empty_but_have_their_columns() -> None:
    found = place(draw_runs(new=0, models=6, datasets=5))
    for name in ("placements", "placement_predictions"):
        assert found[name].empty
        assert list(found[name].columns) == list(place_toy()[name].columns)


def test_a_newcomer_of_two_models_has_no_interval() -> None:
    cells = [(model, dataset) for model in "ab" for dataset in "xy"] + [("c", "x")]
    runs = pd.DataFrame(cells, columns=["model", "dataset"]).assign(score=[0.1, 0.9, 0.5, 0.3, 0.2])
    found = place(runs, least=2)["placements"]
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
    own = place(runs, least=3)["placement_predictions"].set_index("dataset")
    is_apart = own.index.str[0] == "B"
    assert own.loc[is_apart, ["predicted", "low", "predicted_score"]].isna().all(axis=None)
    assert own.loc[~is_apart, ["predicted", "low", "high"]].notna().all(axis=None)
    assert len(own) == 9


@pytest.mark.slow
def test_intervals_hold_nine_of_ten_results_of_the_literature() -> None:
    runs = read_real()
    tables = describe(runs, least=5)
    assert tables["models"]["kept"].gt(0).sum() == 45
    assert tables["datasets"]["kept"].gt(0).sum() == 92
    kept = tables["gaps"]["gap"].dropna()
    assert (len(kept), kept.min(), kept.max()) == (820, 0, 1)
    curve = place(runs)["error_curve"]
    assert curve["results"].tolist() == [1, 2, 4, 8, 12, 16, 20]
    assert curve["coverage"].between(0.86, 0.95).all()
    assert curve["mse"].iloc[-1] < 0.7 * curve["mse"].iloc[0]
    assert (curve["mse"] < curve["mse_additive"])[curve["results"] >= 8].all()


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
    found = choose_next_results(predictions, placed)
    assert found[["rank", "model", "dataset"]].to_numpy().tolist() == [
        [1, "C", "d"],
        [2, "B", "e"],
        [3, "A", "d"],
    ]
    assert found["width"].round(9).tolist() == [0.9, 0.7, 0.5]


def test_each_model_has_ten_rows_at_most() -> None:
    many = make(*(("A", f"d{place:02d}", None, 0.1, 0.0, 0.4) for place in range(12)))
    found = choose_next_results(many, make())
    assert found["dataset"].tolist() == [f"d{place:02d}" for place in range(10)]
    assert choose_next_results(make(), make()).empty


def draw_near(seed: int = 0, *, share: float = 0.7) -> pd.DataFrame:
    """Runs of 16 models on 18 datasets at distances of known positions, with noise."""
    rng = np.random.default_rng(seed)
    x, y = 0.5 * rng.normal(size=(16, 2)), 0.5 * rng.normal(size=(18, 2))
    apart = np.linalg.norm(x[:, None] - y[None], axis=2) + 0.08 * rng.normal(size=(16, 18))
    rows, columns = np.nonzero(rng.uniform(size=apart.shape) < share)
    return pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in rows],
            "dataset": [f"d{column:02d}" for column in columns],
            "score": 1 - apart[rows, columns] / 4,
        }
    )


def predict(runs: pd.DataFrame, *, least: int = 3) -> dict[str, pd.DataFrame]:
    """All tables of a map; scores of the second dataset are errors: lower is better."""
    tables, options = describe(runs, least=least, **QUALITY), {"study": "toy", "seed": 0}
    gaps, models, datasets = (tables[name] for name in ("gaps", "models", "datasets"))
    fit = {"method": "l2", "dimension": 2, "projection": "mds", "groups": {}}
    made = embedding.embed_models(gaps, **fit, **options)
    found = predictions.predict_cells(
        gaps, models, datasets, make_bounds(runs), made["positions"], **options
    )
    return tables | made | found


@cache
def predict_toy() -> dict[str, pd.DataFrame]:
    return predict(draw_near())


@pytest.mark.slow
def test_intervals_hold_scores_that_were_never_there() -> None:
    # A third of the cells of a matrix is left out, and compared with what is predicted for them.
    # With about 10 results per dataset, 2 / 11 of them are beyond the best or the worst one, which
    # is where an interval that reaches the bound is open.
    held, beyond = [], []
    for seed in range(3):
        truth = make_gaps(draw_near(seed, share=1.0), **QUALITY)
        found = predict(draw_near(seed, share=0.65))
        gaps, table = found["gaps"], found["predictions"]
        empty = table[table["observed"].isna()].set_index(["model", "dataset"])
        scores = truth.set_index(["model", "dataset"])["score"].loc[empty.index]
        known = gaps[gaps["dropped"] == ""].groupby("dataset")["score"].agg(["min", "max"])
        ends = known.loc[empty.index.get_level_values("dataset")].to_numpy().T
        beyond += (~scores.between(*ends)).tolist()
        held += scores.between(empty["score_low"], empty["score_high"]).tolist()
    assert len(held) > 260
    assert np.mean(beyond) > 0.1
    assert np.mean(held) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_every_pair_has_a_row_and_ends_in_order() -> None:
    gaps, table = predict_toy()["gaps"], predict_toy()["predictions"]
    kept = gaps[gaps["dropped"] == ""]
    assert len(table) == kept["model"].nunique() * kept["dataset"].nunique()
    names = ["model", "dataset"]
    assert table[names].equals(table[names].sort_values(names))
    hidden = table[table["observed"].notna()].reset_index(drop=True)
    np.testing.assert_allclose(hidden["observed"], kept["gap"])
    for low, middle, high in (
        ("low", "predicted", "high"),
        ("score_low", "predicted_score", "score_high"),
    ):
        assert (table[low] <= table[middle] + 1e-9).all()
        assert (table[middle] <= table[high] + 1e-9).all()
    assert hidden[["low", "high"]].melt()["value"].between(0, 1).all()
    assert table["predicted"].between(0, 1).all()
    # Scores follow from gaps by the best and worst of each dataset.
    scores = kept.groupby("dataset")["score"]
    low, high = (table["dataset"].map(bound) for bound in (scores.min(), scores.max()))
    is_min = table["dataset"] == "d01"
    best, worst = np.where(is_min, low, high), np.where(is_min, high, low)
    expected = best + table["predicted"] * (worst - best)
    np.testing.assert_allclose(table["predicted_score"], expected)
    assert is_min.any()


@pytest.mark.slow
def test_the_nearest_and_untried_datasets_are_those_of_positions_and_predictions() -> None:
    found = predict_toy()
    points = found["positions"].set_index(["kind", "name"])[["x1", "x2"]]
    for model, own in found["nearest"].groupby("model"):
        apart = np.linalg.norm(points.loc["dataset"] - points.loc[("model", model)], axis=1)
        nearest = pd.Series(apart, points.loc["dataset"].index).nsmallest(3)
        assert own["nearest"].tolist() == nearest.index.tolist()
        np.testing.assert_allclose(own["map_distance"], nearest)
        table = found["predictions"]
        empty = table[(table["model"] == model) & table["observed"].isna()].set_index("dataset")
        best = empty["predicted"].nsmallest(3)
        assert own["untried"].dropna().tolist() == best.index.tolist()


@pytest.mark.slow
def test_the_correlation_with_the_center_is_that_of_scipy_with_an_interval() -> None:
    found = predict_toy()
    row = found["centrality"].iloc[0]
    positions = found["positions"].query("kind == 'model'").set_index("name")["centrality"]
    models = found["models"].dropna(subset="mean_gap").set_index("model")["mean_gap"]
    rho = stats.spearmanr(positions[models.index], models).statistic
    assert (row["models"], row["estimate"]) == (16, pytest.approx(rho))
    # By hand: tanh(artanh ρ ± 1.64485 √((1 + ρ²/2) / 13)).
    half = 1.644854 * np.sqrt((1 + rho**2 / 2) / 13)
    ends = np.tanh(np.arctanh(rho) + np.array([-half, half]))
    assert row[["low", "high"]].tolist() == pytest.approx(ends.tolist(), abs=1e-6)


def test_few_results_have_intervals_from_0_to_1() -> None:
    cells = [("a", "x", 0.1), ("a", "y", 0.9), ("b", "x", 0.5), ("b", "y", 0.3)]
    found = predict(pd.DataFrame(cells, columns=["model", "dataset", "score"]), least=1)
    table = found["predictions"]
    assert len(table) == 4
    assert (table["low"] == 0).all()
    assert (table["high"] == 1).all()
    assert table["predicted"].between(0, 1).all()
    # Two models have a correlation or none, and no interval.
    assert found["centrality"][["low", "high"]].isna().all(axis=None)
