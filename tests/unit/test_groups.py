"""Rankings of named groups of datasets, and what their rules for empty cells keep."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.analyses.groups import Rankings, bootstrap_groups, choose_groups, rank_groups
from capmap.errors import ValidationError
from capmap.ranking.models import Options
from capmap.ranking.ranks import keep_within, rank_statistic
from capmap.rng import make_stream
from tests.steps import make_bounds
from tests.toy_scores import run_on_runs

AGGREGATIONS = ["mean", "trimmed_mean", "median"]
STATISTICS = ["iqm", "mean", "median", "optimality_gap"]
DATASETS = ["w", "x", "y", "z"]
LIMITS = (-np.inf, np.inf)


def draw_runs(
    seed: int = 0, *, models: str = "abc", holes: set[str] = frozenset(), seeds: int = 3
) -> pd.DataFrame:
    """Draw runs of models on the datasets w to z, without the cells in `holes`, such as "aw"."""
    rng = np.random.default_rng(seed)
    rows = [
        (model, dataset, str(repeat), float(rng.normal(len(models) - place)))
        for place, model in enumerate(models)
        for dataset in DATASETS
        for repeat in range(seeds)
        if model + dataset not in holes
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def define(incomplete: str, datasets: str = "wx") -> dict:
    return {"datasets": list(datasets), "incomplete": incomplete}


def choose_options(
    n_resamples: int = 100, *, interval: Any = "percentile", unit: Any = "runs"
) -> Options:
    return Options(n_resamples, 0.95, interval, unit)


def rank_all(
    runs: pd.DataFrame,
    definitions: dict[str, dict],
    *,
    options: Options | None = None,
    statistics: Any = STATISTICS,
    aggregations: Any = AGGREGATIONS,
) -> Rankings:
    return rank_groups(
        choose_groups(runs, definitions),
        statistics=statistics,
        aggregations=aggregations,
        options=options or choose_options(),
        limits=LIMITS,
        make_rng=partial(make_stream, 0, "toy", "groups"),
    )


def rank(
    runs: pd.DataFrame, options: Options | None = None, **definitions: dict
) -> tuple[pd.DataFrame, pd.DataFrame]:
    found = rank_all(runs, definitions, options=options, statistics=["iqm"])
    return found.ranking, found.coverage


def test_a_group_is_ranked_on_its_own_datasets() -> None:
    runs = draw_runs()
    ranking, coverage = rank(
        runs, first=define("drop_models", "wx"), last=define("drop_models", "z")
    )
    for row in ranking.itertuples():
        names = ["w", "x"] if row.group == "first" else ["z"]
        own = runs[(runs["model"] == row.model) & runs["dataset"].isin(names)]
        assert row.iqm == pytest.approx(stats.trim_mean(own["score"], 0.25))
        assert row.mean == pytest.approx(own.groupby("dataset")["score"].mean().mean())
        assert (row.runs, row.datasets) == (3 * len(names), len(names))
    assert coverage["group"].tolist() == ["first", "last"]
    assert coverage[["datasets", "models"]].to_numpy().tolist() == [[2, 3], [1, 3]]
    assert (coverage.iloc[:, 4:] == 0).all(axis=None)


def bootstrap_study(runs: pd.DataFrame, options: Options) -> dict[str, pd.DataFrame]:
    """Rank all models on all datasets by each statistic, as the study does."""
    estimates = bootstrap_groups(
        runs,
        study="toy",
        statistics=STATISTICS,
        options=options,
        seed=0,
        datasets=DATASETS,
        seeds=sorted(runs["seed"].unique()),
    )
    estimates = estimates[estimates["kind"] == "dimension"]
    return {
        statistic: rank_statistic(own, statistic, confidence_level=0.95)
        for statistic, own in estimates.groupby("statistic")
    }


@pytest.mark.parametrize("unit", ["runs", "runs_and_datasets"])
@pytest.mark.parametrize("interval", ["percentile", "calibrated"])
def test_a_group_of_all_datasets_ranks_like_the_study(unit: str, interval: str) -> None:
    runs = draw_runs(models="abcdef")
    options = choose_options(5000, interval=interval, unit=unit)
    found = rank_all(runs, {"everything": define("adjust", "wxyz")}, options=options)
    studies = bootstrap_study(runs, options)
    assert found.intervals["statistic"].unique().tolist() == STATISTICS
    for statistic, unlimited in studies.items():
        study = keep_within(unlimited, LIMITS, statistic=statistic)
        own = found.intervals[found.intervals["statistic"] == statistic]
        for name in ("model", "estimate", "rank"):
            assert own[name].tolist() == study[name].tolist()
        # An end of 5000 replicates of spread 0.3 to 0.5 has a Monte-Carlo error of about 0.02.
        ends = ["ci_low", "ci_high"]
        np.testing.assert_allclose(own[ends], study[ends], rtol=0, atol=0.08)
        assert (own["rank_low"] <= own["rank"]).all()
    assert found.ranking["model"].tolist() == studies["iqm"]["model"].tolist()
    assert found.ranking["iqm"].tolist() == studies["iqm"]["estimate"].tolist()


def test_each_aggregation_ranks_the_models_of_a_group() -> None:
    # a is far better on w and b a little better on the others: the means of a are 12 / 4, and 1
    # without the two ends or in the middle.
    rows = [("a", name, score) for name, score in zip(DATASETS, (9.0, 1.0, 1.0, 1.0), strict=True)]
    rows += [("b", name, 2.0) for name in DATASETS]
    runs = pd.DataFrame(rows, columns=["model", "dataset", "score"])
    ranking = rank_all(runs, {"G": define("drop_models", "wxyz")}).ranking.set_index("model")
    assert ranking[AGGREGATIONS].to_numpy().tolist() == [[2, 2, 2], [3, 1, 1]]
    assert ranking.index.tolist() == ["b", "a"]
    ranks = [f"rank_{name}" for name in AGGREGATIONS]
    assert ranking[ranks].to_numpy().tolist() == [[2, 1, 1], [1, 2, 2]]
    few = rank_all(runs, {"G": define("drop_models", "wxyz")}, aggregations=["median"])
    assert few.ranking.columns.tolist() == [
        *(
            "group",
            "model",
            "iqm",
            "ci_low",
            "ci_high",
            "rank",
            "rank_low",
            "rank_high",
            "tie_group",
        ),
        *("median", "rank_median", "runs", "datasets", "missing"),
    ]


def test_further_statistics_leave_the_interquartile_mean_as_it_is() -> None:
    runs, definitions = draw_runs(), {"G": define("adjust")}
    alone = rank_all(runs, definitions, statistics=[])
    beside = rank_all(runs, definitions, statistics=["median"])
    assert beside.intervals["statistic"].unique().tolist() == ["iqm", "median"]
    pd.testing.assert_frame_equal(alone.ranking, beside.ranking, check_exact=True)
    pd.testing.assert_frame_equal(alone.intervals, beside.intervals[:3], check_exact=True)
    shared = ["model", "ci_low", "ci_high", "rank", "rank_low", "rank_high"]
    pd.testing.assert_frame_equal(alone.ranking[shared], alone.intervals[shared])


def test_dropping_models_leaves_out_those_that_lack_a_dataset_of_the_group() -> None:
    runs = draw_runs(holes={"aw", "bz"})
    ranking, coverage = rank(runs, G=define("drop_models"))
    assert set(ranking["model"]) == {"b", "c"}
    # The filled cell a on x is not used.
    assert coverage.iloc[0].tolist() == ["G", "drop_models", 2, 2, 0, 1, 1]


def test_dropping_datasets_leaves_out_those_that_a_model_lacks() -> None:
    ranking, coverage = rank(draw_runs(holes={"aw", "bz"}), G=define("drop_datasets"))
    assert set(ranking["model"]) == {"a", "b", "c"}
    assert set(ranking["datasets"]) == {1}
    # The filled cells b and c on w are not used.
    assert coverage.iloc[0].tolist() == ["G", "drop_datasets", 1, 3, 1, 0, 2]


def test_adjusting_ranks_each_model_that_has_half_of_the_datasets() -> None:
    ranking, coverage = rank(draw_runs(holes={"aw", "bz"}), G=define("adjust"))
    assert ranking.set_index("model")["datasets"].to_dict() == {"a": 1, "b": 2, "c": 2}
    assert set(ranking["missing"]) == {0}
    assert coverage.iloc[0].tolist() == ["G", "adjust", 2, 3, 0, 0, 0]
    few, coverage = rank(draw_runs(holes={"aw", "ax"}), G=define("adjust", "wxy"))
    assert set(few["model"]) == {"b", "c"}
    assert coverage.iloc[0].tolist() == ["G", "adjust", 3, 2, 0, 1, 1]


@pytest.mark.parametrize("policy", ["drop_models", "drop_datasets", "adjust"])
def test_a_model_without_any_run_in_the_group_is_left_out(policy: str) -> None:
    ranking, coverage = rank(draw_runs(holes={"aw", "ax"}), G=define(policy))
    assert set(ranking["model"]) == {"b", "c"}
    assert coverage.iloc[0, 2:].tolist() == [2, 2, 0, 1, 0]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("drop_models", "no model has runs for all of the group's datasets"),
        ("drop_datasets", "no dataset has runs for all of the group's models"),
    ],
)
def test_a_group_with_nothing_left_says_why(policy: str, reason: str) -> None:
    # Each model lacks one dataset, and each dataset one model.
    runs = draw_runs(holes={"aw", "bx", "cy"})
    with pytest.raises(ValidationError) as caught:
        rank(runs, G=define(policy, "wxy"), fine=define("adjust"))
    assert str(caught.value).startswith(f"groups.G: {reason}, so its rule {policy} leaves nothing")
    assert "No runs for 1 " in str(caught.value)


def test_all_faulty_groups_are_named_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        rank(draw_runs(), B=define("adjust", "Y"), A=define("adjust", "Z"), C=define("adjust"))
    assert str(caught.value).splitlines() == [
        "groups.A.datasets: no dataset 'Z' is analysed. Did you mean 'z'?",
        "groups.B.datasets: no dataset 'Y' is analysed. Did you mean 'y'?",
    ]


def test_a_name_of_a_group_stays_on_one_line_of_a_message() -> None:
    names = ["a b\n: c", "g.datasets", "plain-1", "\u2028", "x" * 500]
    with pytest.raises(ValidationError) as caught:
        rank_all(draw_runs(), {name: define("adjust", "Z") for name in names})
    options = [line.split(": no dataset")[0] for line in str(caught.value).splitlines()]
    assert options == [
        r"groups.'a b\n: c'.datasets",
        "groups.'g.datasets'.datasets",
        "groups.plain-1.datasets",
        f"groups.{'x' * 79}….datasets",
        r"groups.'\u2028'.datasets",
    ]


def test_no_group_gives_tables_with_a_header() -> None:
    found = rank_all(draw_runs(), {})
    assert (len(found.ranking), len(found.intervals), len(found.coverage)) == (0, 0, 0)
    assert found.ranking.columns.tolist()[:3] == ["group", "model", "iqm"]
    assert found.intervals.columns.tolist()[:3] == ["group", "statistic", "model"]
    assert found.coverage.columns.tolist()[-1] == "cells_unused"


def test_single_runs_have_ranks_without_intervals() -> None:
    found = rank_all(draw_runs(seeds=1), {"G": define("adjust")})
    ranking = found.ranking
    assert ranking["rank"].tolist() == [1, 2, 3]
    assert found.intervals.iloc[:, -2:].isna().all(axis=None)
    assert len(found.intervals) == 3 * len(STATISTICS)
    assert ranking[["ci_low", "ci_high", "rank_low", "rank_high"]].isna().all(axis=None)
    assert ranking["tie_group"].tolist() == ["", "", ""]


def test_one_model_and_one_dataset() -> None:
    runs = draw_runs(models="a")
    for unit in ("runs", "runs_and_datasets"):
        options = choose_options(unit=unit)
        ranking, _ = rank(runs, options, G=define("drop_models", "w"))
        assert ranking[["rank", "rank_mean", "datasets"]].iloc[0].tolist() == [1, 1, 1]
        # One dataset says nothing about other datasets.
        assert ranking["ci_low"].isna().item() == (unit == "runs_and_datasets")


def test_identical_models_share_the_first_rank() -> None:
    runs = pd.concat(
        [draw_runs(models="a").assign(model=name) for name in ("b", "a")], ignore_index=True
    )
    ranking, _ = rank(runs, G=define("drop_models"))
    assert ranking["model"].tolist() == ["a", "b"]
    assert ranking["rank"].tolist() == ranking["rank_mean"].tolist() == [1, 1]
    assert ranking["tie_group"].tolist() == ["a", "a"]


def test_another_group_and_another_model_change_no_interval() -> None:
    runs = draw_runs(models="abc")
    alone, _ = rank(runs[runs["model"] != "c"], G=define("adjust"))
    beside, _ = rank(runs, G=define("adjust"), A=define("adjust", "yz"))
    shared = beside[(beside["group"] == "G") & (beside["model"] != "c")]
    columns = ["model", "iqm", "ci_low", "ci_high", "mean"]
    pd.testing.assert_frame_equal(
        alone[columns], shared[columns].reset_index(drop=True), check_exact=True
    )


@settings(max_examples=5)
@given(st.integers(0, 10**6), st.sampled_from(["drop_models", "drop_datasets", "adjust"]))
def test_order_of_rows_and_definitions_changes_nothing(seed: int, policy: str) -> None:
    rng = np.random.default_rng(seed)
    runs = draw_runs(seed, holes={"aw"})
    mixed = runs.iloc[rng.permutation(len(runs))]
    one = rank_all(runs, {"G": define(policy, "wxy"), "H": define("adjust", "z")})
    other = rank_all(mixed, {"H": define("adjust", "z"), "G": define(policy, "yyxw")})
    for name in ("ranking", "intervals", "coverage"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(other, name), check_exact=True)


def test_step_writes_tables_that_read_back(tmp_path: Path) -> None:
    names = {"a": "=a|b", "b": "β & $x$", "c": "nan"}
    runs = draw_runs(holes={"aw"}).assign(model=lambda table: table["model"].map(names))
    scopes = pd.DataFrame({"unit": ["runs"], "statistic": "mean"})
    tables = run_on_runs(
        "rank_groups",
        tmp_path,
        runs,
        tables={"scopes": scopes, "bounds": make_bounds(runs["dataset"])},
        definitions={"$G_1$": {"datasets": ["w", "x"]}, "nan": {"datasets": ["y", "z"]}},
        incomplete="adjust",
        min_datasets=0.5,
        interval="percentile",
    )
    groups, intervals, coverage = tables.values()
    means = intervals[intervals["statistic"] == "mean"]
    assert groups["mean"].tolist() == means["estimate"].tolist()
    assert groups["rank"].tolist() == means["rank"].tolist()
    for table in (groups, intervals):
        assert table.groupby("group")["model"].apply(set).to_dict() == {
            "$G_1$": set(names.values()),
            "nan": set(names.values()),
        }
    assert intervals["statistic"].value_counts().to_dict() == dict.fromkeys(STATISTICS, 6)
    assert coverage["incomplete"].tolist() == ["adjust", "adjust"]
