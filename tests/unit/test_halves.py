"""Hiding halves of results, predicting them, and intervals over models."""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.capabilities.baselines import fit_dataset_mean
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.halves import (
    Fitting,
    draw_halves,
    list_halves,
    predict_hidden,
    summarize_errors,
    tabulate_predictions,
)
from capmap.rng import make_stream
from tests.capability_tables import list_cells, simulate_results

NAMES = st.sampled_from(["a", "b", "a/b", "é", "=1", "$x_1$"])


def simulate(models: int = 18, datasets: int = 12, *, share: float = 0.7, seed: int = 0) -> Results:
    return arrange_results(
        simulate_results(models, datasets, dimension=2, share=share, noise=0.05, seed=seed).cells
    )


@given(st.lists(st.tuples(NAMES, NAMES), min_size=1), st.randoms(use_true_random=False))
def test_halves_split_each_group_evenly_in_any_order(pairs: list[tuple[str, str]], mix) -> None:
    def halve(pairs: list[tuple[str, str]]) -> dict[tuple[str, str], int]:
        groups, members = (list(names) for names in zip(*pairs, strict=True))
        halves = draw_halves(groups, members, make_rng=partial(make_stream, 0))
        found = dict(zip(pairs, halves.tolist(), strict=True))
        assert [found[pair] for pair in pairs] == halves.tolist()  # one half per member
        return found

    found = halve(pairs)
    for group in {group for group, _ in pairs}:
        own = [half for pair, half in found.items() if pair[0] == group]
        assert sum(own) == len(own) // 2
    assert halve(mix.sample(pairs, len(pairs))) == found


def test_halves_of_several_draws_are_complements_in_pairs() -> None:
    groups, members = ["a"] * 20, [str(number) for number in range(20)]
    halves = list_halves(groups, members, n_draws=2, make_rng=partial(make_stream, 0))
    assert len(halves) == 4
    assert (halves[0] == ~halves[1]).all()
    assert (halves[2] == ~halves[3]).all()
    assert (halves[0] != halves[2]).any()


def test_errors_are_summarized_by_hand() -> None:
    found = pd.DataFrame(
        {"model": [0, 1], "dataset": [3, 3], "truth": [0.0, 1], "prediction": [0.0, 0.8]}
    ).assign(additive=[0.4, 0.4])
    errors = summarize_errors(
        found, others={"additive": "other"}, reference="additive", confidence_level=0.9
    )
    assert (errors["models"], errors["datasets"], errors["predictions"]) == (2, 1, 2)
    # (0 + 0.04) / 2, (0.16 + 0.36) / 2 and their difference; r of two rising points is 1.
    expected = {"mse": 0.02, "other": 0.26, "difference": -0.24, "pearson": 1, "mse_low": 0}
    assert {name: errors[name] for name in expected} == pytest.approx(expected)


def test_a_result_that_is_predicted_twice_counts_once() -> None:
    # Squared errors 0.04 and 0.16 of one result have the mean 0.1; with 0.5 of the other, 0.3.
    found = pd.DataFrame({"model": [0, 0, 1], "dataset": 0, "truth": 0.0})
    found = found.assign(prediction=[0.2, 0.4, 0.5**0.5])
    errors = summarize_errors(found, others={}, reference="prediction", confidence_level=0.9)
    assert (errors["models"], errors["predictions"]) == (2, 2)
    assert errors["mse"] == pytest.approx(0.3)


def test_predictions_do_not_see_what_is_hidden() -> None:
    results = simulate()
    hidden = np.arange(len(results.gaps)) % 3 == 0
    starts = draw_starts(results, dimension=2, starts=1, seed=0, study="toy")
    fitting = Fitting(METHODS["ensemble"], starts)
    changed = replace(results, gaps=np.where(hidden, 9.0, results.gaps))
    first, second = (
        predict_hidden(one, ~hidden, hidden, fitting=fitting) for one in (results, changed)
    )
    assert first.tolist() == second.tolist()


@pytest.mark.parametrize("method", METHODS)
def test_a_model_without_known_results_is_predicted_by_the_mean_of_the_dataset(method: str) -> None:
    results = simulate()
    hidden = results.rows == 4
    starts = draw_starts(results, dimension=2, starts=1, seed=0, study="toy")
    fitting = Fitting(METHODS[method], starts)
    found = predict_hidden(results, ~hidden, hidden, fitting=fitting)
    for column, value in zip(results.columns[hidden], found, strict=True):
        own = results.gaps[(results.columns == column) & ~hidden]
        assert value == pytest.approx(own.mean())
    table = tabulate_predictions(results, hidden, {"prediction": found})
    assert table["truth"].tolist() == results.gaps[hidden].tolist()
    means = fit_dataset_mean(results.choose(~hidden))
    assert found == pytest.approx(means.predict(*table[["model", "dataset"]].to_numpy().T))


def test_models_that_nothing_connects_with_a_dataset_are_predicted_by_its_mean() -> None:
    rng = np.random.default_rng(0)
    scores = np.full((8, 8), np.nan)
    scores[:4, :4], scores[4:, 4:] = rng.random((4, 4)), rng.random((4, 4))
    scores[0, 5] = 0.5
    results = arrange_results(list_cells(scores))
    hidden = (results.rows == 0) & (results.columns == 5)
    starts = draw_starts(results, dimension=2, starts=1, seed=0, study="toy")
    fitting = Fitting(METHODS["ensemble"], starts)
    found = predict_hidden(results, ~hidden, hidden, fitting=fitting)
    mean = results.gaps[~hidden & (results.columns == 5)].mean()
    assert found.tolist() == [pytest.approx(mean)]
