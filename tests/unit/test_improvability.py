"""Improvability: errors, the best of them, intervals and ranks."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.analyses import improvability
from capmap.rng import make_stream

BOUNDS = ["dataset", "metric", "direction", "low", "high"]


def stream(model: str) -> np.random.Generator:
    return make_stream(0, "toy", "improvability", model)


def make_runs(*rows: tuple[str, str, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def make_bounds(*rows: tuple[str, str, str, float, float]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=BOUNDS)


SHARE = make_bounds(*((name, "accuracy", "max", 0.0, 1.0) for name in "xyz"))


def improve(
    runs: pd.DataFrame, bounds: pd.DataFrame = SHARE, **options: object
) -> improvability.Improvability:
    given = {"n_resamples": 300, "confidence_level": 0.95, "make_rng": stream} | options
    return improvability.bootstrap_improvability(
        runs, improvability.find_optima(bounds, {}), **given
    )  # type: ignore[arg-type]


def find_optimum(metric: str, direction: str, low: float, high: float) -> tuple[float, bool]:
    bounds = make_bounds(("x", metric, direction, low, high))
    row = improvability.find_optima(bounds, {}).iloc[0]
    return row["optimum"], bool(row["is_known"])


def draw_benchmark(
    seed: int, models: int, datasets: int, runs: int = 1
) -> tuple[np.ndarray, pd.DataFrame, pd.DataFrame]:
    """Raw scores (models, datasets, runs) with mixed directions, bounds, and normalized runs."""
    rng = np.random.default_rng(seed)
    directions = rng.choice(["max", "min"], datasets)
    raw = rng.uniform(0.2, 0.9, (models, datasets, runs))
    low, high = rng.uniform(0, 0.2, datasets), rng.uniform(0.7, 1, datasets)
    bounds = pd.DataFrame(
        {
            "dataset": [f"D{place}" for place in range(datasets)],
            "metric": np.where(directions == "max", "accuracy", "error rate"),
            "direction": directions,
            "low": low,
            "high": high,
        }
    )
    return raw, bounds, normalize(raw, bounds)


def normalize(raw: np.ndarray, bounds: pd.DataFrame) -> pd.DataFrame:
    low, high = (bounds[side].to_numpy()[None, :, None] for side in ("low", "high"))
    scores = (raw - low) / (high - low)
    is_max = (bounds["direction"] == "max").to_numpy()[None, :, None]
    scores = np.where(is_max, scores, 1 - scores)
    rows = [
        (f"M{model}", bounds["dataset"][dataset], score)
        for (model, dataset, _), score in np.ndenumerate(scores)
    ]
    return make_runs(*rows)


@pytest.mark.parametrize("seed", range(6))
def test_improvability_agrees_with_evaluma(seed: int) -> None:
    from evaluma.methods.improvability import compute_improvability as peer

    raw, bounds, runs = draw_benchmark(seed, models=2 + seed, datasets=1 + 2 * seed)
    directions = dict(zip(bounds["dataset"], bounds["direction"], strict=True))
    optima = {name: 1.0 if way == "max" else 0.0 for name, way in directions.items()}
    models = [f"M{place}" for place in range(len(raw))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = peer(
            pd.DataFrame(raw[:, :, 0], index=models, columns=bounds["dataset"]), directions, optima
        )
    mine = improve(runs, bounds)
    table = theirs.table.set_index("model").loc[mine.models["model"]]
    np.testing.assert_allclose(mine.models["improvability"], table["improvability"], atol=1e-10)
    cells = theirs.per_dataset.set_index(["model", "dataset"]).loc[
        list(zip(mine.cells["model"], mine.cells["dataset"], strict=True))
    ]
    for column in ("error", "best_error", "improvability"):
        np.testing.assert_allclose(mine.cells[column], cells[column], atol=1e-10)


def test_improvability_by_hand() -> None:
    # Errors: x 0.1 and 0.2, y 0.4 and 0.3. a: (0 + 1/4) / 2; b: (1/2 + 0) / 2.
    result = improve(make_runs(("a", "x", 0.9), ("b", "x", 0.8), ("a", "y", 0.6), ("b", "y", 0.7)))
    assert result.models["model"].tolist() == ["a", "b"]
    assert result.models["improvability"].tolist() == [12.5, 25.0]
    assert result.models["rank"].tolist() == [1, 2]
    assert result.models["datasets"].tolist() == [2, 2]
    assert result.cells["error"].tolist() == [0.1, 0.4, 0.2, 0.3]
    assert result.cells["best_error"].tolist() == [0.1, 0.3, 0.1, 0.3]


@pytest.mark.parametrize(
    ("metric", "direction", "low", "high", "expected"),
    [
        ("accuracy", "max", 0.1, 0.9, (1.0, True)),
        ("test_f1_score", "max", 0.0, 1.0, (1.0, True)),
        ("R2", "max", -3.0, 0.8, (1.0, True)),
        ("RMSE", "min", 0.5, 4.0, (0.0, True)),
        ("neg_root_mean_squared_error", "max", -4.0, -0.5, (0.0, True)),
        # Somebody's own idea of the direction: the lowest accuracy is 0.
        ("accuracy", "min", 0.1, 0.9, (0.0, True)),
        # Percent: natural bounds are those of shares, a hundred times.
        ("accuracy", "max", 0.0, 100.0, (100.0, True)),
        ("accuracy", "max", 55.0, 88.0, (100.0, True)),
        ("error rate", "min", 5.0, 80.0, (0.0, True)),
        ("accuracy", "max", 55.0, 120.0, (120.0, False)),
        ("accuracy", "max", -5.0, 88.0, (88.0, False)),
        ("kappa", "max", 20.0, 80.0, (80.0, False)),
        # The worse bound leaves the natural ones, the better one is the natural one.
        ("accuracy", "max", -0.5, 1.0, (1.0, True)),
        # Not known, or known to have no best score.
        ("quality", "max", 0.0, 5.0, (5.0, False)),
        ("BLEU", "max", 10.0, 40.0, (40.0, False)),
        ("RMSE", "max", 0.5, 4.0, (4.0, False)),
    ],
)
def test_optimum_is_the_natural_best_or_the_bound_of_the_best_side(
    metric: str, direction: str, low: float, high: float, expected: tuple[float, bool]
) -> None:
    assert find_optimum(metric, direction, low, high) == expected


def test_transform_has_an_optimum_of_its_own() -> None:
    bounds = make_bounds(("x", "RMSE", "max", 0.2, 0.9))
    optima = improvability.find_optima(bounds, {"x": {"transform": {"scale_rmse": {"std": 0.25}}}})
    assert optima[["optimum", "is_known"]].iloc[0].tolist() == [1.0, True]
    # 0.2 + 0.5 · 0.7 = 0.55, and 1 − 0.55 = 0.45; without the transform 0.9 − 0.55 = 0.35.
    runs = make_runs(("a", "x", 0.5))
    result = improvability.bootstrap_improvability(
        runs, optima, n_resamples=10, confidence_level=0.95, make_rng=stream
    )
    assert result.cells["error"].tolist() == [0.45]
    assert improve(runs, bounds).cells["error"].tolist() == [0.35]


def test_score_beyond_the_optimum_has_no_error() -> None:
    bounds = make_bounds(("x", "quality", "max", 0.0, 5.0))
    result = improve(make_runs(("a", "x", 1.2), ("b", "x", 1.0), ("c", "x", 0.5)), bounds)
    assert result.cells["error"].tolist() == [0.0, 0.0, 2.5]
    assert result.models["improvability"].tolist() == [0.0, 0.0, 100.0]
    assert result.models["rank"].tolist() == [1, 1, 3]


def test_model_is_averaged_over_the_datasets_it_has() -> None:
    result = improve(make_runs(("a", "x", 0.9), ("b", "x", 0.8), ("b", "y", 0.1)))
    assert result.models["improvability"].tolist() == [0.0, 25.0]
    assert result.models["datasets"].tolist() == [1, 2]
    assert len(result.cells) == 3
    apart = improve(make_runs(("a", "x", 0.9), ("b", "y", 0.8)))
    assert apart.models[["improvability", "rank"]].to_numpy().tolist() == [[0, 1], [0, 1]]


def test_interval_needs_repeated_runs() -> None:
    rows = [
        *(("a", dataset, 0.5) for dataset in "xyz"),
        *(("b", dataset, 0.6) for dataset in "xyzz"),
        *(("c", dataset, 0.7) for dataset in "xyyzz"),
    ]
    result = improve(make_runs(*rows))
    models = result.models.set_index("model")
    assert models["ci_low"].notna().to_dict() == {"a": False, "b": False, "c": True}
    assert models["rank_low"].notna().to_dict() == {"a": False, "b": False, "c": True}
    single = improve(make_runs(("a", "x", 0.5), ("b", "x", 0.6)))
    assert single.models[["ci_low", "ci_high", "rank_low"]].isna().all(axis=None)
    assert str(single.models["rank_low"].dtype) == "Int64"


def test_equal_runs_have_an_interval_without_width() -> None:
    rows = [(m, d, s) for m, s in (("a", 0.9), ("b", 0.7), ("c", 0.7)) for d in "xyz"] * 3
    result = improve(make_runs(*rows))
    for end in ("ci_low", "ci_high"):
        assert (result.models[end] == result.models["improvability"]).all()
    ranks = result.models[["rank", "rank_low", "rank_high"]].to_numpy()
    assert ranks.tolist() == [[1, 1, 1], [2, 2, 3], [2, 2, 3]]


def test_mean_of_runs_that_reach_the_best_is_tied_with_it() -> None:
    # b is at 0.2, 0.3 or 0.4 of error; where it is at 0.3, it is a's equal in spite of rounding.
    runs = make_runs(*(("a", "x", 0.7), ("a", "x", 0.7), ("b", "x", 0.8), ("b", "x", 0.6)))
    result = improve(runs, n_resamples=2000, confidence_level=0.4)
    assert result.models["improvability"].tolist() == [0.0, 0.0]
    assert result.models["rank"].tolist() == [1, 1]
    assert result.models[["rank_low", "rank_high"]].to_numpy().tolist() == [[1, 2], [1, 2]]


def test_best_model_is_found_anew_in_each_replicate() -> None:
    # a has errors 0.1 and 0.3, b 0.2 and 0.2. Replicates of a: 0.1, 0.2 or 0.3 with probability
    # 1/4, 1/2, 1/4; then b is improvable by 50%, 0 and 0, and a by 0, 0 and 33.3%.
    runs = make_runs(("a", "x", 0.9), ("a", "x", 0.7), ("b", "x", 0.8), ("b", "x", 0.8))
    models = improve(runs).models.set_index("model")
    assert models["improvability"].tolist() == [0.0, 0.0]
    assert models["ci_low"].tolist() == [0.0, 0.0]
    assert models.loc["b", "ci_high"] == pytest.approx(50)
    assert models.loc["a", "ci_high"] == pytest.approx(100 / 3)
    assert models["rank_high"].tolist() == [2, 2]


def test_intervals_hold_their_estimate_where_many_models_are_close() -> None:
    rng = np.random.default_rng(0)
    rows = [(f"M{m:02}", d, rng.normal(0.5, 0.02)) for m in range(30) for d in "xyz"]
    more = [(model, d, rng.normal(0.5, 0.02)) for model, d, _ in rows for _ in range(2)]
    result = improve(make_runs(*rows, *more))
    assert (result.models["ci_low"] <= result.models["improvability"]).all()
    assert (result.models["improvability"] <= result.models["ci_high"]).all()


@given(st.integers(0, 1000), st.integers(1, 5), st.integers(1, 4), st.integers(1, 3))
def test_improvability_does_not_depend_on_bounds_or_order(
    seed: int, models: int, datasets: int, repeats: int
) -> None:
    raw, bounds, runs = draw_benchmark(seed, models, datasets, repeats)
    before = improve(runs, bounds, n_resamples=20)
    values = before.cells["improvability"]
    assert ((values >= 0) & (values <= 100)).all()
    assert (before.cells.groupby("dataset")["improvability"].min() == 0).all()
    other = bounds.assign(low=bounds["low"] / 2, high=(1 + bounds["high"]) / 2)
    shuffled = normalize(raw, other).sample(frac=1, random_state=seed)
    after = improve(shuffled, other.sample(frac=1, random_state=seed), n_resamples=20)
    for old, new in ((before.models, after.models), (before.cells, after.cells)):
        numbers = old.select_dtypes("float").columns
        np.testing.assert_allclose(old[numbers], new[numbers], atol=1e-7)
