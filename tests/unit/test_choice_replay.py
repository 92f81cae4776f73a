"""Replays of choosing results, on studies in which it is known what pays, and by hand."""

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.capabilities.beliefs import Belief, form_belief, prefer_offsets
from capmap.capabilities.choice_replay import (
    DATASET_POLICIES,
    Curves,
    count_needed,
    expect_minima,
    measure_savings,
    replay_datasets,
    replay_models,
    split_folds,
    tabulate_curves,
)
from capmap.capabilities.embedding import METHODS, Embedding, draw_starts, fit_starts
from capmap.capabilities.gaps import Results, arrange_results
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream
from tests.capability_tables import list_cells, make_gaps, simulate_results, write_inputs
from tests.steps import read_step, run_step

TABULATE = {
    "datasets": partial(
        tabulate_curves, confidence_level=0.95, choices="results", value="error", things="models"
    ),
    "models": partial(
        tabulate_curves, confidence_level=0.95, choices="tried", value="regret", things="datasets"
    ),
}


def fit(results: Results) -> list[Embedding]:
    starts = draw_starts(results, dimension=2, starts=1, seed=0, study="toy")
    return fit_starts(results, prefer_offsets(METHODS["ensemble"]), starts=starts)


def believe(parts: Sequence[Results]) -> list[Belief]:
    return [form_belief(fit(part), part) for part in parts]


def replay(cells: pd.DataFrame, costs: FloatArray | None = None) -> Curves:
    make_rng = partial(make_stream, 0, "toy")
    return replay_datasets(arrange_results(cells), believe=believe, make_rng=make_rng, costs=costs)


def draw_study(*, models: int = 24, seed: int = 0) -> pd.DataFrame:
    """Three datasets that follow one ability closely, and nine that hardly do."""
    rng = np.random.default_rng(seed)
    ability = rng.normal(size=(models, 1))
    noise = np.repeat([0.05, 1.5], [3, 9]) * rng.normal(size=(models, 12))
    return list_cells(ability + noise)


def make_curves(**reached: list[list[float]]) -> Curves:
    values = {policy: np.array(rows) for policy, rows in reached.items()}
    things, choices = values["random"].shape
    return Curves(values, np.arange(choices), np.full(things, choices - 1))


@pytest.mark.parametrize("values", [[0.3], [0.0, 1.0], [0.5, 0.1, 0.1, 0.9, 0.3]])
def test_expected_minima_are_those_of_all_orders(values: list[float]) -> None:
    orders = np.array(list(itertools.permutations(values)))
    expected = np.minimum.accumulate(orders, axis=1).mean(axis=0)
    found = expect_minima(np.array(values), count=len(values))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_telling_datasets_are_chosen_and_save_results() -> None:
    curves = replay(draw_study())
    means = {policy: curves.reached[policy].mean(axis=0) for policy in DATASET_POLICIES}
    # One of the three good datasets tells the ability; a random one is good once in four times.
    assert means["a_optimal"][1] < 0.8 * means["random"][1]
    savings = measure_savings(curves, confidence_level=0.95, rng=np.random.default_rng(0))
    own = savings[(savings["policy"] == "a_optimal") & (savings["results"] == 4)].iloc[0]
    assert own["needed_high"] < 4
    assert own["needed_low"] <= own["needed"] <= own["needed_high"]
    assert own["saving"] == 1 - own["needed"] / 4


def test_costs_are_what_budgets_pay_for() -> None:
    cells = draw_study(models=10)
    dear = np.repeat([20.0, 1.0], [3, 9])
    plain, dearer, priced, cheap = (
        replay(cells, costs).reached for costs in (None, np.full(12, 8.0), dear, 1 / dear)
    )
    # Eight times the cost for everything buys the same.
    for policy, values in dearer.items():
        np.testing.assert_allclose(values, plain[policy])
    # One mean cost pays none of the three telling datasets, which cost 20 and come first where all
    # have as many results, if one is among the candidates; if they are cheap, it pays them all.
    popular = priced["most_results"].mean(axis=0)
    assert popular[1] > 0.95 * popular[0]
    first = [found["a_optimal"][:, 1].mean() for found in (plain, priced, cheap)]
    assert first[1] > 1.1 * first[0]
    assert first[2] < 0.8 * cheap["random"][:, 1].mean()


def test_policies_agree_before_the_first_and_after_the_last_result() -> None:
    cells = simulate_results(14, 12, dimension=2, share=0.8, noise=0.1).cells
    curves = replay(cells)
    counts = cells["model"].value_counts().sort_index()
    counts = counts[counts >= 8].to_numpy()
    assert curves.candidates.tolist() == (counts - counts // 3).tolist()
    for place, last in enumerate(curves.candidates):
        rows = np.array([curves.reached[policy][place] for policy in DATASET_POLICIES])
        np.testing.assert_allclose(rows[:, 0], rows[0, 0], atol=1e-12)
        np.testing.assert_allclose(rows[:, last:], rows[0, last], atol=1e-12)


def test_models_by_average_and_bound_find_the_best_sooner_than_random_ones() -> None:
    curves = replay_models(arrange_results(draw_study()), fit=fit)
    means = {policy: values.mean(axis=0) for policy, values in curves.reached.items()}
    assert means["lower_bound"][2] < means["random"][2]
    assert means["best_on_average"][2] < means["random"][2]
    for values in curves.reached.values():
        assert values.shape == (12, 10)
        assert (np.diff(values, axis=1) <= 1e-12).all()


def test_the_bound_finds_specialists() -> None:
    # Gaps are distances in the plane, so that no model is best on average.
    cells = simulate_results(30, 16, dimension=2, noise=0.02).cells
    reached = replay_models(arrange_results(cells), fit=fit).reached
    sixth = {policy: values[:, 5].mean() for policy, values in reached.items()}
    assert sixth["lower_bound"] < 0.5 * min(sixth["random"], sixth["best_on_average"])


def test_all_models_tried_leave_no_regret() -> None:
    curves = replay_models(arrange_results(draw_study(models=10)), fit=fit)
    for values in curves.reached.values():
        np.testing.assert_allclose(values[:, -1], 0, atol=1e-12)


def test_a_new_dataset_in_other_units_is_played_the_same() -> None:
    # Scores of a new dataset are known up to a constant, so moving them changes nothing.
    cells = draw_study(models=12)
    moved = cells.assign(score=cells["score"] + 1000.0 * (cells["dataset"] == "D004"))
    one, other = (replay_models(arrange_results(table), fit=fit) for table in (cells, moved))
    for policy, values in one.reached.items():
        np.testing.assert_allclose(values[4], other.reached[policy][4], atol=1e-9)


def test_each_model_and_dataset_is_left_out_of_the_fit_that_it_is_replayed_with() -> None:
    results = arrange_results(draw_study(models=11))
    left_out: list[tuple[list[int], list[int]]] = []

    def watch(train: Results) -> list[Embedding]:
        left_out.append(
            (
                np.flatnonzero(train.per_model == 0).tolist(),
                np.flatnonzero(train.per_dataset == 0).tolist(),
            )
        )
        return fit(train)

    replay_datasets(
        results,
        believe=lambda parts: [form_belief(watch(part), part) for part in parts],
        make_rng=partial(make_stream, 0),
    )
    replay_models(results, fit=watch)
    assert left_out == [([row], []) for row in range(11)] + [([], [row]) for row in range(12)]


def test_results_to_predict_are_never_learnt() -> None:
    # On a dataset that nothing else tells of, a policy that saw what it has to predict would be
    # exact; without it the error is about the variance of the gaps there.
    rng = np.random.default_rng(3)
    cells = list_cells(rng.normal(size=(20, 10)))
    curves = replay(cells)
    gaps = arrange_results(cells).gaps
    for values in curves.reached.values():
        assert values.mean(axis=0).min() > 0.9 * gaps.var()


@pytest.mark.slow
@settings(max_examples=4)
@given(st.integers(0, 10**6))
def test_order_of_rows_changes_nothing(seed: int) -> None:
    cells = draw_study(models=10)
    mixed = cells.sample(frac=1, random_state=seed)
    one, other = replay(cells), replay(mixed)
    for policy, values in one.reached.items():
        assert (other.reached[policy] == values).all()


def test_folds_hold_everything_once_and_are_few_for_many_results() -> None:
    for count, results, folds in ((32, 820, 24), (121, 4598, 5), (4, 10**6, 4), (0, 10, 0)):
        found = list(split_folds(count, results=results))
        assert len(found) == folds
        assert sorted(np.concatenate([*found, []]).tolist()) == list(range(count))


def test_needed_results_are_interpolated() -> None:
    # Random choice reaches 2 with 4 results; the policy is at 3 after 1 and at 1 after 2, so at 2
    # after 1.5. All models alike have no spread.
    rows = [[5.0, 4.0, 3.0, 2.5, 2.0]] * 5, [[5.0, 3.0, 1.0, 1.0, 1.0]] * 5
    curves = make_curves(random=rows[0], quick=rows[1], never=[[5.0] * 5] * 5)
    table = measure_savings(curves, confidence_level=0.95, rng=np.random.default_rng(0)).set_index(
        "policy"
    )
    assert table.index.tolist() == ["never", "quick"]
    numbers = table.loc["quick", ["results", "needed", "needed_low", "needed_high", "saving"]]
    assert numbers.tolist() == pytest.approx([4, 1.5, 1.5, 1.5, 1 - 1.5 / 4])
    assert table.loc["never", ["needed", "needed_low", "needed_high", "saving"]].isna().all()
    assert table["models"].tolist() == [5, 5]


def test_an_end_that_is_never_reached_is_open() -> None:
    # The mean of the last errors, 2.95 / 6, is below 0.5 with the last model once, and not where a
    # sample has it twice, as a quarter of them do.
    random = [[4.0, 3.0, 2.0, 1.0, 0.5]] * 6
    slow = [[4.0, 3.0, 2.0, 1.0, 0.4]] * 5 + [[4.0, 3.0, 2.0, 1.0, 0.95]]
    curves = make_curves(random=random, slow=slow)
    row = measure_savings(curves, confidence_level=0.95, rng=np.random.default_rng(0)).iloc[0]
    assert 3 < row["needed_low"] < row["needed"] < 4
    assert np.isnan(row["needed_high"])


def test_a_level_that_is_there_from_the_start_needs_nothing() -> None:
    curves = np.array([[1.0, 1.0], [2.0, 1.0], [2.0, 2.0]])
    assert count_needed(curves, np.array([1.0, 1.0, 1.0])).tolist() == [0.0, 1.0, np.inf]


def test_curves_are_averaged_as_far_as_half_of_them_go() -> None:
    values = np.array([[1.0, 0.5, 0.25], [3.0, 0.5, 0.5], [2.0, 0.5, 0.0]])
    curves = Curves({"random": values}, np.arange(3), np.array([1, 1, 2]))
    table = TABULATE["datasets"](curves)
    assert table.columns.tolist() == [
        *("policy", "results", "error", "error_low", "error_high", "models")
    ]
    assert table["results"].tolist() == [0, 1]
    # Mean 2, standard error 1/√3, Student's 97.5% point with 2 degrees of freedom 4.303: the lower
    # end, 2 − 2.484, is no squared error.
    first = table.iloc[0]
    assert first["error_low"] == 0
    assert first[["error", "error_high"]].tolist() == pytest.approx([2, 2 + 4.3027 / 3**0.5], 1e-4)
    assert table.loc[1, ["error", "error_low", "error_high"]].tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(("candidates", "last"), [([1, 1, 2, 2], 2), ([1, 1, 1, 2], 1), ([1], 1)])
def test_curves_end_where_less_than_half_have_candidates(candidates: list[int], last: int) -> None:
    values = np.ones((len(candidates), 3))
    curves = Curves({"random": values}, np.arange(3), np.array(candidates))
    assert TABULATE["datasets"](curves)["results"].max() == last


def test_one_model_has_no_interval() -> None:
    table = TABULATE["datasets"](make_curves(random=[[1.0, 0.5]]))
    assert table["error"].tolist() == [1.0, 0.5]
    assert table[["error_low", "error_high"]].isna().all(axis=None)


@pytest.mark.parametrize("shape", [(2, 2), (3, 7), (9, 2)])
def test_few_results_give_tables_with_a_header(tmp_path: Path, shape: tuple[int, int]) -> None:
    scores = np.random.default_rng(0).random(shape)
    tables = write_replays(tmp_path, list_cells(scores))
    assert [len(table) for table in tables.values()] == [0, 0, 0]
    assert tables["dataset_savings"].columns.tolist() == [
        *("policy", "results", "needed", "needed_low", "needed_high", "saving", "models"),
        "confidence",
    ]
    assert tables["model_replay"].columns.tolist() == [
        *("policy", "tried", "regret", "regret_low", "regret_high", "datasets")
    ]


def test_step_writes_tables_that_read_back(tmp_path: Path) -> None:
    tables = write_replays(tmp_path, draw_study(models=12))
    assert set(tables["dataset_replay"]["policy"]) == set(DATASET_POLICIES)
    # 12 results: 8 candidates, so 0 to 8 results and savings at 4, 6 and 8.
    assert tables["dataset_replay"]["results"].max() == 8
    assert set(tables["dataset_savings"]["results"]) == {4, 6, 8}
    assert set(tables["model_replay"]["tried"]) == set(range(1, 11))
    assert set(tables["model_replay"]["datasets"]) == {12}


def write_replays(folder: Path, cells: pd.DataFrame) -> dict[str, pd.DataFrame]:
    options = {"method": "ensemble", "dimension": 2, "n_starts": 1, "confidence_level": 0.95}
    names = {f"{kind}s": cells[[kind]].drop_duplicates() for kind in ("model", "dataset")}
    inputs = write_inputs(folder, gaps=make_gaps(cells), **names) | {"dataset_file": []}
    attributes = {"file": "", "name": "dataset", "type": "", "family": "", "cost": ""}
    run_step(
        *("replay_choices", folder, inputs),
        **options,
        seed=0,
        dataset_attributes=attributes,
        renamed={},
    )
    return read_step("replay_choices", folder)
