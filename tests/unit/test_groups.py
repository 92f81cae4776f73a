"""Rankings of named groups of datasets, and what their rule for empty cells keeps."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.errors import ValidationError
from capmap.ranking.estimates import choose_groups, estimate_models, list_parts, rank_study
from capmap.ranking.table import choose
from tests.steps import make_scope

DATASETS = ["w", "x", "y", "z"]
SETTINGS = {"replicates": 100, "confidence": 0.95, "interval": "percentile", "seed": 0}


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


def choose_all(runs: pd.DataFrame, incomplete: Any = "adjust", **datasets: str) -> list:
    """Choose groups, such as ``G="wx"``."""
    definitions = {name: {"datasets": list(own)} for name, own in datasets.items()}
    return choose_groups(runs, definitions, incomplete=incomplete, min_datasets=0.5)


def rank(
    runs: pd.DataFrame,
    incomplete: Any = "adjust",
    *,
    unit: str = "runs",
    interval: str = "percentile",
    **datasets: str,
) -> pd.DataFrame:
    """The ranking of a study with groups."""
    groups = choose_all(runs, incomplete, **datasets)
    scope = make_scope(unit)
    chosen = SETTINGS | {"interval": interval}
    parts = list_parts(runs, scope, study="toy", settings=chosen, groups=groups)
    found = estimate_models(parts)

    def read(where: dict[str, str]) -> pd.DataFrame:
        return found[(found[list(where)] == pd.Series(where)).all(axis=1)]

    return rank_study(read, scope, groups=[*datasets], confidence_level=0.95)


# What a group has not in common with a study of its datasets.
OWN = ["group", "boot_low", "boot_high"]


def test_a_group_is_ranked_on_its_own_datasets() -> None:
    runs = draw_runs()
    ranking = rank(runs, "drop_models", first="wx", last="z")
    for name, datasets in {"first": ["w", "x"], "last": ["z"]}.items():
        means = choose(ranking, statistic="mean", group=name).set_index("model")["score"]
        for row in choose(ranking, group=name).itertuples():
            own = runs[(runs["model"] == row.model) & runs["dataset"].isin(datasets)]
            ordered = np.sort(own["score"].repeat(4))
            assert row.score == pytest.approx(stats.trim_mean(ordered, 0.25))
            expected = own.groupby("dataset")["score"].mean().mean()
            assert means[row.model] == pytest.approx(expected)
            assert (row.runs, row.datasets) == (3 * len(datasets), len(datasets))


@pytest.mark.parametrize("unit", ["runs", "seeds", "runs_and_datasets"])
def test_a_group_of_all_datasets_ranks_like_the_study(unit: str) -> None:
    runs = draw_runs(models="abcdef")
    ranking = rank(runs, unit=unit, interval="calibrated", G="wxyz")
    group, study = (choose(ranking, statistic=None, group=name) for name in ("G", ""))
    pd.testing.assert_frame_equal(
        group.drop(columns=OWN).reset_index(drop=True),
        study.drop(columns=OWN).reset_index(drop=True),
    )


def test_dropping_models_leaves_out_those_that_lack_a_dataset_of_the_group() -> None:
    runs = draw_runs(holes={"aw", "bz"})
    ranking = rank(runs, "drop_models", G="wx")
    assert set(choose(ranking, group="G")["model"]) == {"b", "c"}


def test_dropping_datasets_leaves_out_those_that_a_model_lacks() -> None:
    ranking = rank(draw_runs(holes={"aw", "bz"}), "drop_datasets", G="wx")
    own = choose(ranking, group="G")
    assert set(own["model"]) == {"a", "b", "c"}
    assert set(own["datasets"]) == {1}


def test_adjusting_ranks_each_model_that_has_half_of_the_datasets() -> None:
    ranking = rank(draw_runs(holes={"aw", "bz"}), G="wx")
    own = choose(ranking, group="G")
    assert own.set_index("model")["datasets"].to_dict() == {"a": 1, "b": 2, "c": 2}
    assert set(own["missing"]) == {0}
    few = rank(draw_runs(holes={"aw", "ax"}), G="wxy")
    assert set(choose(few, group="G")["model"]) == {"b", "c"}


@pytest.mark.parametrize("policy", ["drop_models", "drop_datasets", "adjust"])
def test_a_model_without_any_run_in_the_group_is_left_out(policy: str) -> None:
    ranking = rank(draw_runs(holes={"aw", "ax"}), policy, G="wx")
    assert set(choose(ranking, group="G")["model"]) == {"b", "c"}


@pytest.mark.parametrize("policy", ["drop_models", "drop_datasets"])
def test_a_group_with_nothing_left_says_why(policy: str) -> None:
    # Each model lacks one dataset, and each dataset one model.
    runs = draw_runs(holes={"aw", "bx", "cy"})
    with pytest.raises(
        ValidationError, match=f"groups.G: the rule incomplete: {policy} leaves no model"
    ):
        choose_all(runs, policy, G="wxy", fine="z")


def test_all_faulty_groups_are_named_at_once() -> None:
    with pytest.raises(ValidationError) as caught:
        choose_all(draw_runs(), B="Y", A="Z", C="wx")
    assert str(caught.value).splitlines() == [
        "groups.A.datasets: no dataset 'Z' is analysed. Did you mean 'z'?",
        "groups.B.datasets: no dataset 'Y' is analysed. Did you mean 'y'?",
    ]


def test_another_group_and_another_model_change_no_interval() -> None:
    runs = draw_runs(models="abc")
    alone = choose(rank(runs[runs["model"] != "c"], G="wx"), group="G")
    beside = choose(rank(runs, G="wx", A="yz"), group="G")
    columns = ["model", "score", "ci_low", "ci_high"]
    pd.testing.assert_frame_equal(
        alone[columns].reset_index(drop=True),
        beside.loc[beside["model"] != "c", columns].reset_index(drop=True),
        check_exact=True,
    )
