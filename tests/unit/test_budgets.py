"""The best model of a dataset and budget: by hand, and how often candidates hold the best one."""

import numpy as np
import pandas as pd
import pytest

from capmap.capabilities.budgets import choose_best, read_costs
from capmap.capabilities.metric_units import find_limits, open_ends
from capmap.prose.budgets import describe_budgets

COLUMNS = ["model", "dataset", "observed", "predicted", "low", "high"]


def tabulate(rows: list[tuple[object, ...]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Predictions and results of a metric whose best score is 80, and whose worst 60."""
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"observed": float})
    for score, gap in (
        ("predicted_score", "predicted"),
        ("score_low", "high"),
        ("score_high", "low"),
    ):
        table[score] = 80 - 20 * table[gap]
    table["held_out"] = table["observed"].notna()
    known = table[table["held_out"]]
    return table, known.assign(score=80 - 20 * known["observed"])


def make_hidden(count: int) -> list[tuple[object, ...]]:
    """Results on other datasets, whose predictions were off by 1 to ``count`` widths / 100."""
    return [
        (f"h{place:03d}", "other", 0.5 - place / 100, 0.5, 0.0, 1.0)
        for place in range(1, count + 1)
    ]


def test_candidates_by_hand() -> None:
    # Two models have no result on d, and 19 results are hidden: of their errors in widths of the
    # intervals the largest, 0.25 of dear, is the quantile at 10% / 2.
    rows: list[tuple[object, ...]] = [
        ("cheap", "d", 0.6, 0.5, 0.2, 0.8),
        ("dear", "d", 0.0, 0.1, 0.0, 0.4),
        ("near", "d", None, 0.65, 0.4, 0.9),  # bound 0.65 - 0.25 * 0.5 = 0.525, below 0.6
        ("far", "d", None, 0.8, 0.6, 1.0),  # bound 0.8 - 0.25 * 0.4 = 0.7
    ]
    costs = pd.Series({"cheap": 1.0, "near": 2.0, "far": 3.0, "dear": 4.0})
    predictions, gaps = tabulate([*rows, *make_hidden(17)])
    found = choose_best(predictions, gaps, costs, confidence_level=0.9)
    best, candidates = found["best_models"], found["best_candidates"]
    assert best["budget"].tolist() == [1, 2, 3, 4]
    assert best["model"].tolist() == ["cheap", "cheap", "cheap", "dear"]
    assert best["score"].tolist() == pytest.approx([68, 68, 68, 80])
    assert best["models"].tolist() == [1, 2, 3, 4]
    assert best["candidates"].tolist() == [1, 2, 2, 1]
    assert candidates[["model", "budget_from"]].to_numpy().tolist() == [
        ["cheap", 1],
        ["near", 2],
        ["dear", 4],
    ]
    assert candidates["budget_to"].fillna(-1).tolist() == [4, 4, -1]
    assert candidates["score_low"].isna().tolist() == [True, False, True]
    assert "in 2 of 4 cases there is one candidate only" in describe_budgets(
        best, confidence_level=0.9
    )


def test_too_few_hidden_results_exclude_nobody_without_a_result() -> None:
    rows: list[tuple[object, ...]] = [
        ("a", "d", 0.0, 0.1, 0.0, 0.4),
        *((f"b{n}", "d", None, 0.9, 0.8, 1.0) for n in range(3)),
    ]
    predictions, gaps = tabulate([*rows, *make_hidden(20)])
    found = choose_best(predictions, gaps, pd.Series(dtype=float), confidence_level=0.9)
    row = found["best_models"].set_index("dataset").loc["d"]
    assert (row["model"], row["models"], row["candidates"]) == ("a", 4, 4)
    assert np.isnan(row["budget"])
    more, gaps = tabulate([*rows, *make_hidden(40)])
    found = choose_best(more, gaps, pd.Series(dtype=float), confidence_level=0.9)
    assert found["best_models"].set_index("dataset").loc["d", "candidates"] == 1
    none = choose_best(predictions, gaps, pd.Series({"unheard": 1.0}), confidence_level=0.9)
    assert none["best_models"].empty
    assert none["best_candidates"].empty
    assert describe_budgets(none["best_models"], confidence_level=0.9) == ""


def simulate(
    seed: int, *, spread: float
) -> tuple[pd.DataFrame, pd.DataFrame, pd.Series, pd.DataFrame]:
    """12 models on 25 datasets, of which 60% are known; predictions miss by normal errors."""
    rng = np.random.default_rng(seed)
    shape = 12, 25
    truth = (0.5 + 0.25 * rng.normal(size=(12, 1)) + 0.1 * rng.normal(size=shape)).clip(0, 1)
    predicted = (truth + spread * rng.normal(size=shape)).clip(0, 1)
    known = rng.random(shape) < 0.6
    rows: list[tuple[object, ...]] = [
        (
            *(f"m{i:02d}", f"d{j:02d}", truth[i, j] if known[i, j] else None, predicted[i, j]),
            *(max(predicted[i, j] - 2 * spread, 0), min(predicted[i, j] + 2 * spread, 1)),
        )
        for i, j in np.ndindex(*shape)
    ]
    costs = pd.Series(rng.lognormal(size=12), index=[f"m{i:02d}" for i in range(12)])
    names = [f"d{j:02d}" for j in range(25)]
    return *tabulate(rows), costs, pd.DataFrame(truth, index=costs.index, columns=names)


def keep_best(candidates: pd.DataFrame, truth: pd.DataFrame, costs: pd.Series) -> list[bool]:
    """Of each dataset, whether the least gap at any budget is that of a candidate there.

    So each model that is better than all that cost less has to be one until a better one can be
    afforded.
    """
    ends = candidates["budget_to"].fillna(np.inf).to_numpy()
    until = dict(
        zip(zip(candidates["dataset"], candidates["model"], strict=True), ends, strict=True)
    )
    models, kept = costs.sort_values().index, []
    for dataset in truth:
        ordered = truth.loc[models, str(dataset)]
        records = models[ordered < ordered.cummin().shift(fill_value=np.inf)]
        needed = [*costs[records][1:], np.inf]
        pairs = zip(records, needed, strict=True)
        kept.append(all(until.get((dataset, name), 0) >= end for name, end in pairs))
    return kept


@pytest.mark.parametrize("spread", [0.05, 0.2])
def test_candidates_hold_the_best_model_at_all_budgets(spread: float) -> None:
    held, kept = [], 0.0
    for seed in range(8):
        predictions, gaps, costs, truth = simulate(seed, spread=spread)
        found = choose_best(predictions, gaps, costs, confidence_level=0.8)
        last = found["best_models"].groupby("dataset").tail(1)
        kept += (last["candidates"] / last["models"]).mean() / 8
        held += keep_best(found["best_candidates"], truth, costs)
    # Of 200 datasets; the standard error of 0.8 is 0.028.
    assert np.mean(held) >= 0.8 - 3 * 0.028
    assert kept < 0.75


@pytest.mark.parametrize("seed", range(3))
def test_order_and_units_of_costs_do_not_matter(seed: int) -> None:
    predictions, gaps, costs, _ = simulate(seed, spread=0.1)
    one = choose_best(predictions, gaps, costs, confidence_level=0.9)
    shuffled = predictions.sample(frac=1, random_state=0), gaps.sample(frac=1, random_state=1)
    other = choose_best(*shuffled, costs[::-1] * 8, confidence_level=0.9)
    for name, table in one.items():
        numbers = [
            column for column in ("budget", "cost", "budget_from", "budget_to") if column in table
        ]
        pd.testing.assert_frame_equal(
            table.assign(**{column: table[column] * 8 for column in numbers}), other[name]
        )


def test_costs_are_read_by_the_name_that_is_asked_for(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "models.csv"
    file.write_text("model,size,price\na,10,2\nb,20,\n", "utf-8")
    names = dict.fromkeys(("architecture", "date", "date_format"), "")
    names |= {"name": "model", "parameters": "size", "cost": "price"}
    found = {
        against: read_costs(
            [str(file)], model_attributes=names, renamed={"a": "A"}, against=against
        )
        for against in ("", "parameters", "date")
    }
    assert found[""].to_dict() == found["date"].to_dict() == {"A": 2}
    assert found["parameters"].to_dict() == {"A": 10, "b": 20}
    nothing = read_costs([], model_attributes=names, renamed={}, against="")
    assert nothing.empty


def test_open_ends_reach_what_the_metric_allows() -> None:
    predictions, _ = tabulate(
        [("a", "d", None, 0.2, 0.0, 0.5), ("b", "d", None, 0.5, 0.1, 1.0), ("c", "d", 0, 0.1, 0, 1)]
    )
    bounds = pd.DataFrame({"dataset": ["d"], "metric": ["accuracy"], "direction": ["max"]})
    bounds = bounds.assign(low=60.0, high=80.0)
    ends = open_ends(predictions, bounds)[["score_low", "score_high"]].to_numpy().tolist()
    # Of a result nothing is open: both bounds are by results that it is among.
    assert ends == [[70, 100], [0, 78], [60, 80]]
    unknown = open_ends(predictions, bounds.assign(metric="some", direction="max"))
    assert unknown["score_high"].tolist() == [np.inf, 78, 80]
    assert unknown["score_low"].tolist() == [70, -np.inf, 60]
    # A hard dataset may have no score above 1%; the unit is that of the metric.
    hard = pd.concat([bounds.assign(dataset="hard", low=0.2, high=0.9), bounds])
    assert find_limits(hard)["best"].tolist() == [100, 100]
    # Bounds up to 1 say that it is no percent, so 60 to 80 are beyond: no limit is known.
    odd = open_ends(predictions, bounds.assign(high=1.0))
    assert odd["score_high"].tolist() == [np.inf, 78, 80]
    turned = predictions.assign(
        **{name: 100 - predictions[name] for name in ("predicted_score",)},
        score_low=100 - predictions["score_high"],
        score_high=100 - predictions["score_low"],
    )
    least = open_ends(turned, bounds.assign(metric="rmse", direction="min"))
    assert least["score_low"].tolist() == [0, 22, 20]
    assert least["score_high"].tolist() == [30, np.inf, 40]
