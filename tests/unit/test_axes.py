"""What axes of a map go with: known statistics, invariance, and how often nothing is said."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kruskal, spearmanr, special_ortho_group

from capmap.capabilities.axes import relate_attributes
from capmap.prose.axes import describe_axes
from capmap.rng import make_stream

make_rng = partial(make_stream, 0, "axes")


def place(points: np.ndarray, kind: str = "model") -> pd.DataFrame:
    table = pd.DataFrame({"kind": kind, "name": [f"p{row:03d}" for row in range(len(points))]})
    axes = {f"x{axis}": column for axis, column in enumerate(points.T, 1)}
    return table.assign(component=1, **axes)


def know(names: "pd.Series[str]", **values: object) -> pd.DataFrame:
    unknown = dict.fromkeys(("architecture", "parameters", "date"), None)
    return pd.DataFrame({"model": names, **unknown, **values})


NO_DATASETS = pd.DataFrame(columns=["dataset", "type", "family"])


def relate(points: np.ndarray, **values: object) -> pd.DataFrame:
    positions = place(points)
    return relate_attributes(
        positions, know(positions["name"], **values), NO_DATASETS, make_rng=make_rng
    )


def test_statistics_are_those_of_others() -> None:
    rng = np.random.default_rng(0)
    points, size, kinds = rng.normal(size=(40, 3)), rng.lognormal(size=40), np.arange(40) % 4
    names = np.array([*"abcd"])[kinds]
    table = relate(points, parameters=size, architecture=names)
    numbers = table[table["attribute"] == "parameters"].set_index("axis")
    expected = [spearmanr(size, column).statistic for column in points.T]
    assert numbers.loc[["x1", "x2", "x3"], "estimate"].tolist() == pytest.approx(expected)
    ranks = size.argsort().argsort()
    design = np.column_stack([np.ones(40), points])
    rest = ranks - design @ np.linalg.lstsq(design, ranks)[0]
    r2 = 1 - (rest**2).sum() / ((ranks - ranks.mean()) ** 2).sum()
    assert numbers.loc["all", "estimate"] == pytest.approx(r2)
    groups = table[table["attribute"] == "architecture"].set_index("axis")
    # Kruskal and Wallis's H is the correlation ratio of ranks times n - 1.
    h = [kruskal(*(column[kinds == kind] for kind in range(4))).statistic for column in points.T]
    assert groups.loc[["x1", "x2", "x3"], "estimate"].tolist() == pytest.approx(np.array(h) / 39)
    assert groups.loc["x1", "p"] == pytest.approx(
        kruskal(*(points[kinds == kind, 0] for kind in range(4))).pvalue, abs=0.03
    )


def test_rows_of_all_axes_do_not_turn_and_planted_ones_are_told() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(60, 3))
    known = {
        "parameters": np.exp(points[:, 1]),
        "architecture": np.where(points[:, 0] > 0, "a", "b"),
    }
    table = relate(points, **known)
    turned = relate(points @ special_ortho_group.rvs(3, random_state=rng) + 5, **known)
    whole = table["axis"] == "all"
    assert table[whole]["estimate"].to_numpy() == pytest.approx(
        turned[whole]["estimate"].to_numpy()
    )
    shuffled = relate_attributes(
        place(points).sample(frac=1, random_state=0),
        know(place(points)["name"], **known).sample(frac=1, random_state=1),
        NO_DATASETS,
        make_rng=make_rng,
    )
    pd.testing.assert_frame_equal(table, shuffled)
    sentence = describe_axes(table)
    assert "axes, 1 goes with the architecture of models (correlation ratio 0." in sentence
    assert "and 2 goes with the number of parameters of models (Spearman's rho 1.000)" in sentence
    assert "3 goes" not in sentence
    assert "8 permutation tests, 5% level, Holm's" in sentence


def test_random_attributes_are_rarely_said_to_matter() -> None:
    # Of 15 studies with 8 tests each, more than 4 with a finding have a chance of 0.1% at 5%.
    said = 0
    for number in range(15):
        rng = np.random.default_rng(number)
        table = relate(
            rng.normal(size=(25, 3)) * (3, 2, 1),
            parameters=rng.lognormal(size=25),
            architecture=rng.choice([*"abcde"], size=25),
        )
        assert len(table) == 8
        said += "not found to go with" not in describe_axes(table)
    assert said <= 4


def test_what_cannot_be_tested_is_left_out() -> None:
    points = np.random.default_rng(0).normal(size=(12, 2))
    few = np.where(np.arange(12) < 7, 1.0, np.nan)
    alone = [f"a{row}" for row in range(12)]
    table = relate(points, parameters=few, architecture=alone, date=["2020-01-01"] * 12)
    assert table.empty
    assert describe_axes(table) == ""
    assert relate(points[:2], parameters=[1.0, 2.0]).empty
    # Points of other components take no part.
    positions = place(points).assign(component=np.where(np.arange(12) < 9, 1, 2))
    models = know(positions["name"], parameters=np.arange(1.0, 13))
    found = relate_attributes(positions, models, NO_DATASETS, make_rng=make_rng)
    assert found["points"].tolist() == [9, 9, 9]


def test_types_dealt_out_to_families_go_with_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # Ten families of four near copies: datasets of a type lie together wherever families do.
    monkeypatch.setattr("capmap.capabilities.axes.PERMUTATIONS", 199)
    found, families = 0, np.repeat(np.arange(10), 4)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        points = rng.normal(size=(10, 3))[families] + 0.15 * rng.normal(size=(40, 3))
        types = rng.permutation(np.repeat(["A", "B"], 5))[families]
        positions = place(points, kind="dataset")
        datasets = pd.DataFrame(
            {"dataset": positions["name"], "type": types, "family": [f"f{own}" for own in families]}
        )
        nobody = know(pd.Series(dtype=str))
        table = relate_attributes(positions, nobody, datasets, make_rng=make_rng)
        own = table[(table["attribute"] == "type") & (table["axis"] == "all")].iloc[0]
        assert own["points"] == 10
        found += own["p"] < 0.05
    # With single datasets dealt out anew these were 26.
    assert found <= 7
