"""Choices of results, against dense conditioning and all alternatives."""

import itertools
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.capabilities.beliefs import Belief, exchange_roles, form_belief, start_knowledge
from capmap.capabilities.candidates import allow_pairs
from capmap.capabilities.choices import (
    Restrictions,
    add_predictions,
    choose_datasets,
    list_next_datasets,
    list_next_models,
    measure_information,
    measure_reductions,
    order_models,
)
from capmap.capabilities.embedding import Embedding, predict_gaps, tabulate_fits
from capmap.capabilities.gaps import Results, arrange_results, choose_results
from capmap.capabilities.predictions import choose_newcomers
from capmap.ranking.aggregation import FloatArray
from tests.belief_tables import draw_belief, fit_all
from tests.capability_tables import list_cells, make_gaps, simulate_results, write_inputs
from tests.steps import read_step, run_step

MODEL_ATTRIBUTES = {
    **{"file": "", "name": "model", "architecture": "", "parameters": "", "cost": "", "date": ""},
    "date_format": "%Y-%m-%d",
}
PREDICTIONS = ["model", "dataset", "predicted", "low", "high"]


def sum_variance(belief: Belief, columns: tuple[int, ...]) -> float:
    """Summed variance after results on some datasets, by dense conditioning."""
    chosen = list(columns)
    covariance = belief.loadings @ belief.loadings.T
    across = covariance[:, chosen]
    results = across[chosen] + np.diag(belief.noise[chosen])
    return float(np.trace(covariance - across @ np.linalg.inv(results) @ across.T))


def list_datasets(
    results: Results, others: Results, fits: list[Embedding], **changes: FloatArray
) -> pd.DataFrame:
    """List next datasets where everything may be run, but for the changes."""
    shapes = ((len(own.models), len(own.datasets)) for own in (results, others))
    free = Restrictions(*(np.ones(shape, dtype=bool) for shape in shapes))
    belief = form_belief(fits, results)
    return list_next_datasets(results, others, belief, free._replace(**changes))


def list_models(results: Results, fits: list[Embedding]) -> pd.DataFrame:
    shape = len(results.models), len(results.datasets)
    return list_next_models(results, fits, np.ones(shape, dtype=bool))


def start(belief: Belief) -> FloatArray:
    return start_knowledge(belief).covariance


def draw_gaps(share: float = 0.6, *, seed: int = 0) -> pd.DataFrame:
    cells = simulate_results(12, 9, dimension=2, share=share, noise=0.05, seed=seed).cells
    new = pd.DataFrame({"model": "=new", "dataset": ["D001", "D004"], "score": [0.2, 1.4]})
    return make_gaps(pd.concat([cells, new]), min_results=3)


def describe_datasets(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame({"dataset": names, "saturation": np.linspace(0, 1, len(names))})


@pytest.mark.parametrize("seed", range(3))
def test_reductions_are_those_of_dense_conditioning(seed: int) -> None:
    belief = draw_belief(seed=seed)
    before = sum_variance(belief, ())
    expected = [before - sum_variance(belief, (column,)) for column in range(7)]
    np.testing.assert_allclose(measure_reductions(belief, start(belief)), expected)


@pytest.mark.parametrize("seed", range(3))
def test_each_choice_is_the_best_after_those_before_it(seed: int) -> None:
    belief = draw_belief(seed=seed)
    candidates = np.array([0, 2, 3, 5, 6])
    chosen = choose_datasets(belief, start(belief), candidates, count=4)
    done: tuple[int, ...] = ()
    for choice in chosen:
        left = {
            column: sum_variance(belief, (*done, column))
            for column in candidates.tolist()
            if column not in done
        }
        assert choice.column == min(left, key=left.__getitem__)
        reduction = sum_variance(belief, done) - left[choice.column]
        assert choice.reduction == pytest.approx(reduction)
        done += (choice.column,)


def test_greedy_choice_finds_the_best_pair_of_unrelated_datasets() -> None:
    # With a weight of its own each dataset tells of itself only, so the best pair is that of the
    # two best ones; the reduction of one is s² / (s + n) for its variance s and noise n.
    belief = Belief(np.zeros(4), np.diag([1.0, 3.0, 2.0, 0.5]), np.array([0.1, 40.0, 1.0, 0.1]))
    chosen = choose_datasets(belief, start(belief), np.arange(4), count=2)
    pairs = {pair: sum_variance(belief, pair) for pair in itertools.combinations(range(4), 2)}
    assert sorted(choice.column for choice in chosen) == [1, 2]
    assert min(pairs, key=pairs.__getitem__) == (1, 2)
    assert [choice.reduction for choice in chosen] == pytest.approx([16 / 5, 81 / 49])


def test_no_more_is_chosen_than_there_is_and_equal_datasets_stay_in_order() -> None:
    belief = Belief(np.zeros(3), np.ones((3, 1)), np.ones(3))
    found = choose_datasets(belief, start(belief), np.array([1, 2]), count=10)
    assert [choice.column for choice in found] == [1, 2]
    assert choose_datasets(belief, start(belief), np.array([], dtype=np.intp), count=3) == []


def test_models_of_equal_expectation_are_tried_by_what_is_not_known() -> None:
    assert order_models(np.array([0.2, 0.2, 0.1]), np.array([0.1, 0.2, 0.0])).tolist() == [1, 0, 2]
    assert order_models(np.zeros(0), np.zeros(0)).tolist() == []


def test_next_datasets_are_those_that_a_model_lacks() -> None:
    gaps = draw_gaps()
    results = choose_results(gaps)
    newcomers = choose_newcomers(gaps, results)
    table = list_datasets(results, newcomers, fit_all(results))
    filled = set(zip(gaps["model"], gaps["dataset"], strict=True))
    lacking = set(itertools.product([*results.models, "=new"], results.datasets)) - filled
    assert set(zip(table["model"], table["dataset"], strict=True)) == lacking
    for _, own in table.groupby("model"):
        assert own["rank"].tolist() == list(range(1, len(own) + 1))
        assert 0 < own["share"].sum() < 1
        totals = (own["reduction"] / own["share"]).to_numpy()
        np.testing.assert_allclose(totals, totals[0])
    assert table["model"].is_monotonic_increasing


def test_only_what_may_be_run_is_listed_with_its_cost() -> None:
    gaps = draw_gaps()
    results = choose_results(gaps)
    newcomers, fits = choose_newcomers(gaps, results), fit_all(results)
    models = np.ones((12, 9), dtype=bool)
    models[:, [1, 2]] = models[3] = False
    none = np.zeros((1, 9), dtype=bool)
    table = list_datasets(results, newcomers, fits, models=models, newcomers=none)
    whole = list_datasets(results, newcomers, fits)
    assert whole["cost"].isna().all()
    kept = whole[~whole["model"].isin(["=new", "M003"]) & ~whole["dataset"].isin(["D001", "D002"])]
    pairs = [set(zip(own["model"], own["dataset"], strict=True)) for own in (table, kept)]
    assert pairs[0] == pairs[1]
    assert list_next_models(results, fits, models)["dataset"].isin(["D001", "D002"]).sum() == 0


def test_what_tells_most_for_its_cost_comes_first() -> None:
    # Unrelated datasets with reductions 16/5, 81/49 and 4/3, as s² / (s + n).
    belief = Belief(np.zeros(3), np.diag([2.0, 3.0, 2.0]), np.array([1.0, 40.0, 8.0]))
    for costs, order in [
        ([1.0, 1.0, 1.0], [0, 1, 2]),
        ([4.0, 1.0, 1.0], [1, 2, 0]),
        ([8.0, 8.0, 1.0], [2, 0, 1]),
    ]:
        found = choose_datasets(belief, start(belief), np.arange(3), count=3, costs=np.array(costs))
        assert [choice.column for choice in found] == order
        # Whatever it costs, all three together tell the same.
        total = sum(choice.reduction for choice in found)
        assert total == pytest.approx(16 / 5 + 81 / 49 + 4 / 3)


def test_next_models_come_by_prediction_less_deviation() -> None:
    results = choose_results(draw_gaps())
    fits = fit_all(results)
    table = list_models(results, fits)
    belief = form_belief(*exchange_roles(fits, results))
    covariance = belief.loadings @ belief.loadings.T
    for place, dataset in enumerate(results.datasets):
        tried = results.rows[results.columns == place]
        left = np.setdiff1d(np.arange(12), tried)
        across = covariance[:, tried]
        inverse = np.linalg.inv(across[tried] + np.diag(belief.noise[tried]))
        variance = np.diag(covariance - across @ inverse @ across.T) + belief.noise
        bound = predict_gaps(fits, left, np.full(len(left), place)) - np.sqrt(variance[left])
        own = table[table["dataset"] == dataset]
        expected = [results.models[row] for row in left[np.argsort(bound)]]
        assert own["model"].tolist() == expected
        assert own["rank"].tolist() == list(range(1, len(own) + 1))


def test_models_that_no_result_connects_with_a_dataset_are_not_listed() -> None:
    scores = np.full((8, 8), np.nan)
    scores[:4, :4] = scores[4:, 4:] = np.random.default_rng(0).random((4, 4))
    scores[0, 0] = scores[7, 7] = np.nan
    results = arrange_results(list_cells(scores))
    table = list_models(results, fit_all(results))
    found = list(zip(table["dataset"], table["model"], strict=True))
    assert found == [
        (results.datasets[0], results.models[0]),
        (results.datasets[7], results.models[7]),
    ]


def test_at_most_ten_models_are_listed_for_a_dataset() -> None:
    results = choose_results(make_gaps(simulate_results(40, 6, dimension=2, share=0.2).cells))
    counts = list_models(results, fit_all(results, starts=1))["dataset"].value_counts()
    assert counts.max() == 10


def test_predictions_are_added_where_there_are_any() -> None:
    choices = pd.DataFrame(
        {"model": ["a", "a", "b"], "dataset": ["x", "y", "x"], "rank": [1, 2, 1]}
    )
    known = pd.DataFrame([("b", "x", 0.5, 0.2, 0.9), ("a", "x", 0.1, 0, 1)], columns=PREDICTIONS)
    table = add_predictions(choices, [known, known[:0]])
    assert table.columns.tolist() == ["model", "dataset", "rank", "predicted", "low", "high"]
    assert table.loc[[0, 2], "predicted"].tolist() == [0.1, 0.5]
    assert table.loc[1, ["predicted", "low", "high"]].isna().all()


def test_information_is_the_share_of_variance_that_a_result_takes_away() -> None:
    results = choose_results(draw_gaps())
    fits = fit_all(results)
    table = measure_information(
        results, form_belief(fits, results), describe_datasets(results.datasets[::-1])
    )
    belief = form_belief(fits, results)
    before = sum_variance(belief, ())
    expected = [1 - sum_variance(belief, (column,)) / before for column in range(9)]
    np.testing.assert_allclose(table["information"], expected)
    signal = (belief.loadings**2).sum(axis=1)
    np.testing.assert_allclose(table["reliability"], signal / (signal + belief.noise))
    own = results.gaps[results.columns == 3]
    assert table.loc[3, ["results", "std_gap"]].tolist() == pytest.approx(
        [len(own), own.std(ddof=1)]
    )
    np.testing.assert_allclose(table["saturation"], np.linspace(1, 0, 9), atol=1e-12)


@settings(max_examples=5)
@given(st.integers(0, 10**6))
def test_order_of_rows_changes_nothing(seed: int) -> None:
    gaps = draw_gaps()
    mixed = gaps.sample(frac=1, random_state=seed)
    tables = []
    for table in (gaps, mixed):
        results = choose_results(table)
        fits = fit_all(results, starts=1)
        newcomers = choose_newcomers(table, results)
        tables.append([list_datasets(results, newcomers, fits), list_models(results, fits)])
    for one, other in zip(*tables, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


@pytest.mark.parametrize(
    ("scores", "empty"),
    [([[0.0, 1.0], [1.0, 0.0]], 0), ([[0.0, np.nan], [1.0, 0.5], [np.nan, 0.2]], 2)],
)
def test_tiny_studies_have_tables(scores: list[list[float]], empty: int) -> None:
    gaps = make_gaps(list_cells(scores), min_results=1)
    results = choose_results(gaps)
    fits = fit_all(results)
    table = list_datasets(results, choose_newcomers(gaps, results), fits)
    assert len(table) == len(list_models(results, fits)) == empty
    assert table["rank"].dtype == "int64"
    assert table["share"].between(0, 1).all()


def test_models_that_are_all_alike_leave_nothing_to_learn() -> None:
    gaps = make_gaps(list_cells([[0.0, 1.0, 0.5], [1.0, 0.0, 0.2], [0.5, 0.5, np.nan]]))
    results = choose_results(gaps)
    fits = fit_all(results)
    alike = [replace(fit, models=fit.models * 0, model_offsets=np.zeros(3)) for fit in fits]
    table = list_datasets(results, choose_newcomers(gaps, results), alike)
    assert table["share"].tolist() == [0.0]
    found = measure_information(
        results, form_belief(alike, results), describe_datasets(results.datasets)
    )
    assert set(found["information"]) == {0.0}


def test_pairs_match_in_all_values_and_blanks_forbid_nothing() -> None:
    models = pd.DataFrame({"model": ["A", "B", "C"], "kind": ["text", "Image, text", None]})
    kinds = ["text", "image", "text; image", None, "sound"]
    datasets = pd.DataFrame({"dataset": ["D", "E", "F", "G", "Family"], "kind": kinds})
    names = ["D", "E", "F", "G", "Family / variant", "unknown"]
    allow = partial(
        allow_pairs, datasets=names, of_models=models, of_datasets=datasets, feasible=["kind"]
    )
    assert allow(["A", "B", "C", "X"]).astype(int).tolist() == [
        [1, 0, 0, 1, 0, 1],
        [1, 1, 1, 1, 0, 1],
        [1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 1, 1],
    ]
    assert allow(["B"], chosen=["E", "F"]).tolist() == [[False, True, True, False, False, False]]
    assert allow([]).shape == (0, 6)


def test_step_offers_only_what_the_settings_allow(tmp_path: Path) -> None:
    gaps = draw_gaps()
    results = choose_results(gaps)
    names = [*results.models, "=new"]
    of_models, of_datasets = tmp_path / "models.csv", tmp_path / "datasets.csv"
    kinds = ["text" if place % 2 else "image, text" for place in range(len(names))]
    pd.DataFrame({"model": names, "kind": kinds}).to_csv(of_models, index=False)
    images = results.datasets[2::3]
    asked = ["image" if name in images else "" for name in results.datasets]
    table = {"dataset": results.datasets, "kind": asked, "hours": np.arange(1, 10)}
    pd.DataFrame(table).to_csv(of_datasets, index=False)
    inputs = write_inputs(
        tmp_path,
        gaps=gaps,
        fits=tabulate_fits(fit_all(results), results),
        models=pd.DataFrame({"model": names}),
        datasets=describe_datasets(results.datasets),
        predictions=pd.DataFrame([("M001", "D003", 0.3, 0.1, 0.7)], columns=PREDICTIONS),
        placement_predictions=pd.DataFrame(columns=PREDICTIONS),
        dataset_replay=pd.DataFrame(columns=["policy", "results", "error", "models"]),
        dataset_savings=pd.DataFrame(columns=["policy", "results", "needed", "models"]),
        model_replay=pd.DataFrame(columns=["policy", "tried", "regret", "datasets"]),
    )
    inputs |= {"model_file": [str(of_models)], "dataset_file": [str(of_datasets)]}
    attributes = {
        "models": MODEL_ATTRIBUTES,
        "datasets": {"file": "", "name": "dataset", "type": "", "family": "", "cost": "hours"},
    }
    allowed = {"datasets": ["*D0", *results.datasets[1:]], "feasible": ["kind"]}
    options = {"method": "ensemble", "seed": 0, "renamed": {"*D0": "unknown"}}
    run_step("choose_results", tmp_path, inputs, attributes=attributes, allowed=allowed, **options)
    found = read_step("choose_results", tmp_path)
    is_text = dict(zip(names, [kind == "text" for kind in kinds], strict=True))
    for chosen in (found["next"], found["next_models"]):
        assert results.datasets[0] not in set(chosen["dataset"])
        image_only = chosen[chosen["dataset"].isin(images)]
        assert len(image_only)
        assert not image_only["model"].map(is_text).any()
    assert "=new" in set(found["next"]["model"])
    costs = dict(zip(results.datasets, range(1, 10), strict=True))
    assert (found["next"]["cost"] == found["next"]["dataset"].map(costs)).all()
    assert found["next"].columns.tolist()[-3:] == ["predicted", "low", "high"]
    assert len(found["dataset_information"]) == 9
    assert (tmp_path / "text/next_results.txt").read_text("utf-8")
