"""Gaps to the best model, what is dropped, and the tables of models and datasets."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities.gaps import (
    arrange_results,
    choose_results,
    describe_datasets,
    describe_models,
    explain_dropped,
    list_components,
    scale_scores,
    tabulate_gaps,
)
from capmap.errors import ValidationError
from tests.capability_tables import list_cells, make_gaps, simulate_results

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


def test_the_real_file_keeps_45_models_92_datasets_and_820_results() -> None:
    cells = read_real()
    assert len(cells) == 1106
    gaps = make_gaps(cells, min_results=5)
    results = choose_results(gaps)
    assert (len(results.models), len(results.datasets), len(results.gaps)) == (45, 92, 820)
    assert gaps["gap"].notna().sum() == 820
    assert results.per_model.min() >= 5
    assert results.per_dataset.min() >= 5
    assert (results.gaps.min(), results.gaps.max()) == (0, 1)


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
    assert models["dropped"].tolist() == ["", "", "", "few results", *["no dataset left"] * 2]
    kinds = pd.DataFrame({"dataset": ["F", "F / 2", "G"], "type": ["seg", "cls", None]})
    datasets = describe_datasets(gaps, kinds).set_index("dataset")
    assert datasets.index.tolist() == ["F / 1", "F / 2", "G", "H", "I"]
    assert datasets["results"].tolist() == [3, 3, 2, 2, 2]
    assert datasets["kept"].tolist() == [3, 3, 0, 0, 0]
    assert datasets["component"].astype(object).tolist() == [1, 1, pd.NA, pd.NA, pd.NA]
    assert datasets["dropped"].tolist() == ["", "", "few results", "tied", "tied"]
    kept = datasets.iloc[:2]
    assert kept["best_model"].tolist() == ["a", "a"]
    # Percent; F / 2 is an error rate of 10, 15 and 60.
    assert kept[["best_score", "worst_score"]].to_numpy().tolist() == [[100, 0], [10, 60]]
    np.testing.assert_allclose(kept["std"], [50, np.std([10, 15, 60], ddof=1)])
    np.testing.assert_allclose(kept["saturation"], [1 / 3, 2 / 3])
    measures = ["best_score", "worst_score", "std", "saturation"]
    assert datasets.iloc[2:][measures].isna().all(axis=None)
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
