"""Hidden results: which ones, by whose bounds, by date and type; their errors and intervals."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses import drift, transfer
from capmap.capabilities import crossvalidation
from capmap.capabilities.crossvalidation import (
    crossvalidate,
    crossvalidate_study,
    draw_hidden,
    estimate_mean,
    find_intervals,
    hide_results,
    hide_unseen,
    share_family,
    split_halves,
    summarize_validation,
)
from capmap.capabilities.factors import SideInformation, fit_additive
from capmap.capabilities.gaps import Results, arrange_results, measure_gaps
from capmap.rng import make_stream
from tests.capability_tables import list_cells, make_gaps, simulate_results

seeds = st.integers(0, 1000)


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


@given(seed=seeds)
def test_families_are_hidden_whole(seed: int) -> None:
    results = draw(seed)
    families = name_families(results)
    hidden = np.isin(np.arange(len(results.gaps)), draw_hidden(results, make_stream(seed)))
    assert hidden.sum() == min(10, len(hidden) // 2)
    split = hide_results(results, hidden, ~share_family(results, hidden, families))
    keys = {(model, families[dataset]) for model, dataset in list_pairs(split.test)}
    expected = {pair for pair in list_pairs(results) if (pair[0], families[pair[1]]) not in keys}
    assert list_pairs(split.train) == expected


@given(seed=seeds)
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


def test_results_that_are_hidden_again_bring_no_certainty() -> None:
    # Two methods that are equally good, on 6 models and 5 datasets of which each fold hides 10.
    found = 0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        truth, one, two = rng.normal(0, [[[0.3]], [[0.1]], [[0.1]]], (3, 6, 5))
        tables = []
        for distance, errors in (("l2", one), ("cosine", two)):
            draws = np.random.default_rng([seed, 1])
            rows = [
                (fold, f"m{place // 5}", truth.flat[place], truth.flat[place] + errors.flat[place])
                for fold in range(10)
                for place in draws.permutation(30)[:10]
            ]
            tables.append(make_validation(*rows, distance=distance))
        row = summarize(*tables).set_index("distance").loc["cosine"]
        found += not row["difference_low"] <= 0 <= row["difference_high"]
    # With intervals over folds these were 19.
    assert found <= 5


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


@given(seed=st.integers(0, 1000), count=st.integers(2, 20))
def test_intervals_of_a_mean_are_students(seed: int, count: int) -> None:
    values = np.random.default_rng(seed).normal(size=count)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    found = estimate_mean([*values, np.nan], confidence_level=0.95)
    np.testing.assert_allclose(found, [values.mean(), expected.low, expected.high], rtol=1e-9)


def test_an_interval_of_clusters_of_equal_size_is_that_of_their_means() -> None:
    # With equal sizes the formula is the t interval of the mean of cluster means.
    values = np.random.default_rng(0).normal(size=(7, 4))
    found = estimate_mean(values.ravel(), clusters=np.repeat(np.arange(7), 4), confidence_level=0.9)
    expected = stats.ttest_1samp(values.mean(axis=1), 0).confidence_interval(0.9)
    np.testing.assert_allclose(found, (values.mean(), expected.low, expected.high))


def test_an_interval_of_unequal_clusters_is_derived_by_hand() -> None:
    # Values 0, 0, 3 in clusters of two and one: mean 1, sums of deviations −2 and 2, variance
    # 2 / 1 · (4 + 4) / 9 = 16 / 9; t with one degree of freedom at 75% is tan(π / 4) = 1.
    found = estimate_mean([0.0, 0, 3], clusters=[5, 5, 2], confidence_level=0.5)
    np.testing.assert_allclose(found, (1, 1 - 4 / 3, 1 + 4 / 3))


def test_intervals_over_models_cover_when_results_of_a_model_depend_on_each_other() -> None:
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(20), rng.integers(2, 9, size=20))
    covered = 0
    for _ in range(1000):
        values = rng.normal(size=20)[clusters] + 0.3 * rng.normal(size=len(clusters))
        _, low, high = estimate_mean(values, clusters=clusters, confidence_level=0.9)
        covered += low <= 0 <= high
    # Nominal 90%; standard error 0.9 points, and unequal sizes cost a little.
    assert 860 <= covered <= 930


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
        low, high = find_intervals(draw_known(1500, seed), new, confidence_level=0.9)
        found.append(new.assign(held=(low <= new["truth"]) & (new["truth"] <= high)))
    table = pd.concat(found)
    deciles = table.groupby(pd.qcut(table["prediction"], 10), observed=True)["held"].mean()
    assert deciles.between(0.87, 0.93).all()
    # Errors of five models are 2.4 times as large, of which 50 each are known: most is learnt.
    assert table.groupby(table["row"] < 5)["held"].mean().between(0.82, 0.93).all()


def test_few_errors_have_intervals_from_0_to_1() -> None:
    table = draw_known(8, 0)
    for count in (0, 1, 8):
        low, high = find_intervals(table[:count], table, confidence_level=0.9)
        assert (low == 0).all()
        assert (high == 1).all()
