"""Scores of test items: read, averaged to runs, and compared item by item and by cluster."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

from capmap.analyses.items import compare_items
from capmap.errors import ValidationError
from capmap.notebook import Study
from capmap.ranking.aggregation import arrange_runs
from capmap.ranking.clusters import measure_items, spread_items
from capmap.ranking.pairs import compare_pairs

COLUMNS = {"item": "item", "cluster": "cluster"}
LEVEL = 0.95


def draw(
    models: int = 3, datasets: int = 2, sizes: tuple[int, ...] = (3,) * 8, seed: int = 0
) -> pd.DataFrame:
    """Draw right and wrong answers, a row each, that clusters of items have in common."""
    rng, rows = np.random.default_rng(seed), []
    for dataset in range(datasets):
        common = np.repeat(rng.normal(size=(models, len(sizes))), sizes, axis=1)
        right = common + rng.normal(size=common.shape) > 0
        for (model, item), score in np.ndenumerate(right):
            cluster = np.repeat(np.arange(len(sizes)), sizes)[item]
            rows.append((f"m{model}", f"d{dataset}", f"q{item}", f"c{cluster}", float(score)))
    return pd.DataFrame(rows, columns=["model", "dataset", "item", "cluster", "score"])


def rank(frame: pd.DataFrame, **settings: Any) -> pd.DataFrame:
    """The headline's ranking of a table of runs or items."""
    return Study(frame, **settings).ranking().table


def summarize(items: pd.DataFrame) -> pd.DataFrame:
    """The runs that are means of items."""
    return items.groupby(["model", "dataset"])["score"].mean().reset_index()


def square(items: pd.DataFrame, model: str) -> tuple[np.ndarray, np.ndarray]:
    """The scores of a model on the first dataset, and their clusters, in order."""
    own = items[(items["model"] == model) & (items["dataset"] == "d0")]
    own = own.sort_values(["cluster", "item"])
    return own["score"].to_numpy(), own["cluster"].to_numpy()


def test_the_error_of_equal_clusters_is_that_of_statsmodels() -> None:
    items = draw()
    scores, clusters = square(items, "m0")
    _, starts = np.unique(clusters, return_index=True)
    spread = spread_items(scores[None], starts)
    codes = pd.factorize(clusters)[0]
    ols = statsmodels.api.OLS(scores, np.ones(len(scores)))
    fit = ols.fit(cov_type="cluster", cov_kwds={"groups": codes})
    assert np.sqrt((spread.parts**2).sum()) == pytest.approx(fit.bse[0], rel=1e-10)
    assert spread.freedom[0] == pytest.approx(7)


def test_error_and_freedom_of_any_clusters_are_those_of_matrices() -> None:
    scores, clusters = square(draw(sizes=(1, 2, 3, 5, 8, 13)), "m1")
    _, starts, sizes = np.unique(clusters, return_index=True, return_counts=True)
    spread = spread_items(scores[None], starts)
    n = len(scores)
    rest = np.eye(n) - 1 / n
    rows = []
    for start, size in zip(starts, sizes, strict=True):
        place = slice(start, start + size)
        values, vectors = np.linalg.eigh(rest[place, place])
        root = vectors @ np.diag(values**-0.5) @ vectors.T
        rows.append(root.sum(axis=0) @ rest[place] / n)
    parts = np.array(rows)
    assert (spread.parts**2).sum() == pytest.approx(((parts @ scores) ** 2).sum(), rel=1e-10)
    # Items of a cluster have nothing in common, or all.
    alike = clusters[:, None] == clusters
    working = [parts @ common @ parts.T for common in (np.eye(n), alike)]
    expected = [np.trace(own) ** 2 / np.trace(own @ own) for own in working]
    assert spread.freedom[0] == pytest.approx(min(expected), rel=1e-10)


def test_items_without_clusters_have_the_standard_error_of_a_mean() -> None:
    scores = np.random.default_rng(1).random((1, 20))
    spread = spread_items(scores, np.arange(20))
    assert np.sqrt((spread.parts**2).sum()) == pytest.approx(stats.sem(scores[0]), rel=1e-12)
    assert spread.freedom[0] == pytest.approx(19)


def test_right_and_wrong_are_compared_by_the_exact_test() -> None:
    items = draw(models=2, datasets=1, sizes=(1,) * 40)
    [_, row] = compare_items(items, summarize(items), confidence_level=LEVEL).to_dict("records")
    exact = stats.binomtest(int(row["better"]), int(row["better"] + row["worse"]))
    assert row["mcnemar_p"] == pytest.approx(exact.pvalue, abs=1e-10)
    other = mcnemar([[0, row["better"]], [row["worse"], 0]], exact=True)
    assert row["mcnemar_p"] == pytest.approx(other.pvalue, abs=1e-10)
    one, two = (square(items, model)[0] for model in ("m0", "m1"))
    paired = stats.ttest_rel(one, two).confidence_interval(LEVEL)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([paired.low, paired.high], rel=1e-10)


def test_pairs_have_the_intervals_of_their_items() -> None:
    items = draw(sizes=(1, 2, 3, 4, 5, 6))
    runs = summarize(items)
    errors = measure_items(items, runs)
    by_cell = compare_pairs(
        arrange_runs(runs.assign(seed=""), by_seed=True),
        unit="items",
        confidence_level=LEVEL,
        items=errors,
    )
    by_item = compare_items(items, runs, confidence_level=LEVEL)
    columns = ["mean_difference", "ci_low", "ci_high"]
    found = by_item.loc[by_item["dataset"] == "", columns].to_numpy()
    np.testing.assert_allclose(found, by_cell[columns].to_numpy(), rtol=1e-9)


def test_items_needed_show_the_difference_in_four_of_five_studies() -> None:
    items = draw(models=2, datasets=1, sizes=(1,) * 60, seed=3)
    row = compare_items(items, summarize(items), confidence_level=LEVEL).iloc[0]
    error = (row["ci_high"] - row["ci_low"]) / 2 / stats.t.ppf(0.975, 59)
    spread = error * np.sqrt(60 / row["needed"])
    power = stats.norm.sf(1.96 - abs(row["mean_difference"]) / spread)
    assert power == pytest.approx(0.8, abs=0.02)


def test_an_export_of_items_is_ranked_over_items() -> None:
    ranking = rank(draw(models=4), columns=COLUMNS, metric="accuracy")
    assert ranking["unit"].unique().tolist() == ["items"]
    assert ranking["statistic"].unique().tolist() == ["mean"]
    assert ranking["ci_low"].notna().all()
    plain = rank(draw(models=4), columns={"item": "item"}, metric="accuracy")
    assert plain["score"].tolist() == ranking["score"].tolist()
    assert (plain["ci_low"] > ranking["ci_low"]).any()


def test_the_number_of_items_stands_in_for_them() -> None:
    items = draw(sizes=(1,) * 50)
    numbers = {f"d{place}": {"items": 50} for place in range(2)}
    told = rank(summarize(items), metric="accuracy", datasets=numbers)
    best = told.iloc[0]
    shares = summarize(items)[lambda table: table["model"] == best["model"]]["score"]
    share = (shares * 50 + 1) / 52
    reach = 1.96 * np.sqrt((share * (1 - share) / 50).sum()) / 2
    assert best["ci_high"] - best["score"] == pytest.approx(reach, rel=1e-3)
    percent = summarize(items).assign(score=lambda table: 100 * table["score"])
    bounds = {"accuracy": {"low": 0, "high": 100}}
    same = rank(percent, metric="accuracy", datasets=numbers, metrics=bounds)
    np.testing.assert_allclose(same["ci_high"], told["ci_high"])
    far = percent.assign(score=percent["score"] + 60)
    bounds = {"accuracy": {"low": 0, "high": 200}}
    with pytest.raises(ValidationError, match="no shares"):
        rank(far, metric="accuracy", datasets=numbers, metrics=bounds)


def test_epochs_of_an_item_count_once_and_add_their_noise() -> None:
    items = draw(datasets=1, sizes=(1,) * 30)
    rng = np.random.default_rng(0)
    epochs = pd.concat([items.assign(seed=str(seed)) for seed in range(3)], ignore_index=True)
    epochs["score"] = (epochs["score"] + (rng.random(len(epochs)) < 0.3)) % 2
    ranking = rank(epochs, columns={"item": "item"}, metric="accuracy")
    row = ranking[ranking["model"] == "m0"].iloc[0]
    own = epochs[epochs["model"] == "m0"]
    of_items = stats.sem(own.groupby("item")["score"].mean())
    of_runs = stats.sem(own.groupby("seed")["score"].mean())
    variances, freedom = np.array([of_items, of_runs]) ** 2, np.array([29, 2])
    known = variances.sum() ** 2 / (variances**2 / freedom).sum()
    reach = stats.t.ppf(0.975, known) * np.sqrt(variances.sum())
    assert (row["ci_high"] - row["ci_low"]) / 2 == pytest.approx(reach, rel=1e-9)


def test_few_clusters_say_nothing_of_others() -> None:
    ranking = rank(draw(sizes=(10,) * 4), columns=COLUMNS, metric="accuracy")
    assert ranking["ci_low"].isna().all()
    assert ranking["rank_high"].isna().all()


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({"cluster": "c9"}, {}, "in the cluster 'c0' here and in another one elsewhere"),
        ({"item": "q1"}, {}, "'m0' on 'd0', item 'q1', differs|in the cluster"),
        ({"item": " "}, {}, "The item has no name"),
        ({}, {"bootstrap": {"unit": "items"}, "columns": {"seed": "item"}}, "needs the items"),
    ],
)
def test_faults_of_items_are_told(
    change: dict[str, str], settings: dict[str, Any], message: str
) -> None:
    items = draw()
    for name, value in change.items():
        items.loc[0, name] = value
    items.loc[1, "score"] = 1 - items.loc[0, "score"]
    with pytest.raises(ValidationError, match=message):
        rank(items, **{"columns": COLUMNS, "metric": "accuracy"} | settings)


def test_models_that_lack_items_are_told_and_compared_on_the_others() -> None:
    items = draw().drop(index=[0, 1])
    with pytest.warns(UserWarning, match="'m0' has 22 of the 24 items of 'd0'"):
        rank(items, columns=COLUMNS, metric="accuracy")
    pairs = compare_items(items, summarize(items), confidence_level=LEVEL)
    assert pairs["items"].head(3).tolist() == [46, 46, 48]


def test_cells_whose_items_are_all_right_have_an_error() -> None:
    items = draw(sizes=(1,) * 20)
    items.loc[items["model"] == "m0", "score"] = 1.0
    ranking = rank(items, columns={"item": "item"}, metric="accuracy")
    first = ranking[ranking["model"] == "m0"].iloc[0]
    assert 0 < first["score"] - first["ci_low"] < 0.1
