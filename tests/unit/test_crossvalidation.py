"""Hidden results: which ones, by whose bounds, and how well they are predicted."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.capabilities import crossvalidation
from capmap.capabilities.factors import fit_additive
from capmap.capabilities.gaps import (
    Results,
    arrange_results,
    order_by_names,
)
from capmap.ranking import aggregation
from capmap.rng import make_stream
from tests.capability_tables import list_cells, simulate_results

seeds = st.integers(0, 1000)


def draw(seed: int, *, models: int = 8, datasets: int = 6, share: float = 0.6) -> Results:
    cells = simulate_results(models, datasets, dimension=2, share=share, noise=0.1, seed=seed).cells
    return arrange_results(cells)


def name_families(results: Results) -> list[str]:
    """Three families of datasets."""
    return [str(place % 3) for place in range(len(results.datasets))]


def split(
    results: Results, protocol: str, seed: int = 0, held_out: int = 5
) -> crossvalidation.Split:
    return crossvalidation.split_results(
        results,
        protocol=protocol,
        families=name_families(results),
        held_out=held_out,
        rng=np.random.default_rng(seed),
    )


def list_pairs(results: Results) -> set[tuple[int, int]]:
    return set(zip(results.rows.tolist(), results.columns.tolist(), strict=True))


@given(seed=seeds, held_out=st.integers(1, 40))
def test_random_splits_hide_and_keep_every_result(seed: int, held_out: int) -> None:
    results = draw(seed)
    found = split(results, "random", seed, held_out)
    hidden, known = list_pairs(found.test), list_pairs(found.train)
    assert len(hidden) == min(held_out, len(results.gaps) // 2)
    assert hidden | known == list_pairs(results)
    assert not hidden & known
    # Gaps were measured before anything was hidden.
    lookup = dict(zip(zip(results.rows, results.columns, strict=True), results.gaps, strict=True))
    for part in (found.train, found.test):
        own = zip(part.rows, part.columns, strict=True)
        assert part.gaps.tolist() == [lookup[pair] for pair in own]
    assert found.restore(found.test.gaps).tolist() == found.test.gaps.tolist()


@given(seed=seeds)
def test_all_protocols_hide_the_same_results(seed: int) -> None:
    results = draw(seed)
    found = {protocol: split(results, protocol, seed) for protocol in crossvalidation.PROTOCOLS}
    hidden = {protocol: list_pairs(one.test) for protocol, one in found.items()}
    assert hidden["family"] == hidden["random"]
    known = set(found["strict"].train.columns.tolist())
    assert hidden["strict"] == {pair for pair in hidden["random"] if pair[1] in known}
    assert list_pairs(found["strict"].train) == list_pairs(found["random"].train)


@given(seed=seeds)
def test_families_are_hidden_whole(seed: int) -> None:
    results = draw(seed)
    families = name_families(results)
    found = split(results, "family", seed)
    hidden = {(model, families[dataset]) for model, dataset in list_pairs(found.test)}
    expected = {pair for pair in list_pairs(results) if (pair[0], families[pair[1]]) not in hidden}
    assert list_pairs(found.train) == expected


@given(seed=seeds)
def test_strict_gaps_are_those_of_a_study_without_the_hidden_results(seed: int) -> None:
    results = draw(seed, share=0.3)
    found = split(results, "strict", seed, held_out=12)
    rows, columns, gaps = (found.train.rows, found.train.columns, found.train.gaps)
    predicted = np.random.default_rng(seed).normal(size=len(found.test.gaps))
    restored = found.restore(predicted)
    for dataset in set(columns.tolist()):
        scores = {
            row: score
            for row, column, score in zip(
                results.rows, results.columns, results.scores, strict=True
            )
            if column == dataset
        }
        own = [scores[row] for row in rows[columns == dataset]]
        best, worst = max(own), min(own)
        expected = [(best - one) / (best - worst) if best > worst else 0 for one in own]
        np.testing.assert_allclose(gaps[columns == dataset], expected, atol=1e-12)
        # A predicted gap is a predicted score, which has a gap by the bounds of all results.
        is_own = found.test.columns == dataset
        score = best - predicted[is_own] * (best - worst)
        top, bottom = max(scores.values()), min(scores.values())
        truth = (top - score) / (top - bottom) if top > bottom else np.zeros(is_own.sum())
        np.testing.assert_allclose(restored[is_own], truth, atol=1e-9)


def test_strict_splits_do_not_ask_for_datasets_without_known_results() -> None:
    results = arrange_results(
        list_cells(np.diag([1.0, 2.0, 3.0, 4.0]) + np.where(np.eye(4), 0, np.nan))
    )
    found = split(results, "strict", held_out=2)
    assert len(found.test.gaps) == 0
    assert len(found.train.gaps) == 2


def test_errors_by_hand() -> None:
    truth, predicted = np.array([0.0, 0.5, 1.0]), np.array([0.2, 0.5, 0.7])
    errors = crossvalidation.measure_errors(truth, predicted)
    assert errors["mse"] == pytest.approx((0.04 + 0.09) / 3)
    assert errors["mae"] == pytest.approx(0.5 / 3)
    assert errors["pearson"] == pytest.approx(stats.pearsonr(truth, predicted).statistic)


@pytest.mark.parametrize("values", [[0.3], [0.1, 0.1, 0.1], []])
def test_correlation_needs_variation(values: list[float]) -> None:
    if values:
        assert np.isnan(crossvalidation.correlate(np.array(values), np.arange(len(values)) + 0.5))
    assert np.isnan(crossvalidation.correlate(np.zeros(2), np.array([0.0, 1.0])))


def run(results: Results, families: list[str] | None = None, **options: object) -> pd.DataFrame:
    given = {"n_splits": 4, "held_out": 6} | options
    return crossvalidation.crossvalidate(
        results,
        lambda known, *pairs: {"additive": fit_additive(known).predict(*pairs)},
        families=families or name_families(results),
        make_rng=partial(make_stream, 0, "toy"),
        **given,  # type: ignore[arg-type]
    )


def test_crossvalidation_is_the_sum_of_its_splits() -> None:
    results = draw(0)
    table = run(results)
    hidden = table[table["set"] == "validation"]
    assert table["protocol"].drop_duplicates().tolist() == list(crossvalidation.PROTOCOLS)
    for (protocol, fold), own in hidden.groupby(["protocol", "fold"]):
        expected = crossvalidation.split_results(
            results,
            protocol=protocol,
            families=name_families(results),
            held_out=6,
            rng=make_stream(0, "toy", str(fold)),
        )
        fitted = fit_additive(expected.train)
        test = expected.test
        assert own["model"].tolist() == [results.models[row] for row in test.rows]
        assert own["dataset"].tolist() == [results.datasets[column] for column in test.columns]
        assert own["truth"].tolist() == test.gaps.tolist()
        assert own["results"].tolist() == expected.train.per_model[test.rows].tolist()
        predicted = expected.restore(fitted.predict(test.rows, test.columns))
        assert own["prediction"].tolist() == predicted.tolist()
        known = crossvalidation.measure_errors(
            expected.train.gaps, fitted.predict(expected.train.rows, expected.train.columns)
        )
        if protocol == "random":
            assert set(own["train_mse"]) == {known["mse"]}
            assert set(own["train_pearson"]) == {known["pearson"]}
        else:
            assert own[["train_mse", "train_mae", "train_pearson"]].isna().all(axis=None)
    trained = table[table["set"] == "train"]
    assert len(trained) == len(results.gaps) - 6
    assert set(zip(trained["protocol"], trained["fold"], strict=True)) == {("random", 0)}


def test_many_results_share_a_fit_from_which_all_splits_are_hidden() -> None:
    results = draw(0, models=30, datasets=14, share=1.0)
    fitted: list[Results] = []

    def fit(
        known: Results, rows: aggregation.IntArray, columns: aggregation.IntArray
    ) -> dict[str, aggregation.FloatArray]:
        fitted.append(known)
        return {"additive": fit_additive(known).predict(rows, columns)}

    make_rng = partial(make_stream, 0, "toy")
    families = name_families(results)
    table = crossvalidation.crossvalidate(
        results, fit, families=families, n_splits=4, held_out=2, make_rng=make_rng
    )
    # Of 420 results 4 may be hidden: two splits of two.
    assert len(fitted) == 2 * len(crossvalidation.PROTOCOLS)
    hidden = table[(table["set"] == "validation") & (table["protocol"] == "random")]
    assert hidden.groupby("fold").size().tolist() == [2, 2, 2, 2]
    for fold, own in hidden.groupby("fold"):
        alone = crossvalidation.split_results(
            results, protocol="random", families=families, held_out=2, rng=make_rng(str(fold))
        )
        assert own["truth"].tolist() == alone.test.gaps.tolist()
        train = fitted[fold // 2]
        assert not list_pairs(train) & list_pairs(alone.test)
        predicted = fit_additive(train).predict(alone.test.rows, alone.test.columns)
        assert own["prediction"].tolist() == predicted.tolist()


def test_another_model_moves_no_other_result_in_or_out_of_a_split_by_its_place() -> None:
    cells = simulate_results(9, 6, dimension=2, share=0.6, noise=0.1, seed=0).cells
    more = pd.concat([cells, cells.iloc[:1].assign(model="A")])
    orders = []
    for own in (cells, more):
        results = arrange_results(own)
        places = order_by_names(results, make_stream(0, "toy"))
        names = np.array(results.models)[results.rows[places]]
        datasets = np.array(results.datasets)[results.columns[places]]
        orders.append([pair for pair in zip(names, datasets, strict=True) if pair[0] != "A"])
    assert orders[0] == orders[1]
    assert orders[0] != sorted(orders[0])


def test_a_protocol_that_leaves_nothing_known_is_left_out() -> None:
    # Two of four results are hidden; with one of each model, its other one is hidden as well.
    results = arrange_results(list_cells([[0.1, 0.2], [0.3, 0.1]]))
    table = run(results, families=["F", "F"], n_splits=40)
    kept = table[table["protocol"] == "family"]
    both = [own["model"].nunique() for _, own in kept.groupby("fold")]
    assert 0 < len(both) < 40
    assert set(both) == {1}
    assert (table["protocol"] == "random").sum() == 40 * 2 + 2
