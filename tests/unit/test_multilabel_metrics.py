"""Outcomes, metrics and drops of images against brute force, closed forms and hand counts."""

from functools import partial
from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from capmap.multilabel import drops, evaluation, metrics
from capmap.multilabel.evaluation import rank_labels, score_images
from capmap.rng import make_stream

GROUPS = [1, 2, 3]
RESAMPLES = 20_000
# The spread of 20 000 replicates is known to 0.5% (one standard error), so 3% are six of them.
CLOSE = 0.03


def order_classes(row: list[float]) -> list[int]:
    """Order the classes from the highest score to the lowest; in a tie the lowest class first."""
    return sorted(range(len(row)), key=lambda place: (-row[place], place))


def evaluate(scores: list, sets: list, single: list[int], groups: list[int]) -> dict:
    """Every metric by brute force, from its definition: value and number of images."""
    lists: dict = {}

    def note(metric: str, value: float, group: int | None = None) -> None:
        lists.setdefault((metric, group), []).append(value)

    for row, labels, alone in zip(scores, map(set, sets), single, strict=True):
        order = order_classes(row)
        note("top1", order[0] == alone)
        if labels:
            recall = len(labels & {*order[: len(labels)]}) / len(labels)
            note("real", order[0] in labels)
            note("labelwise", recall)
            if len(labels) in groups:
                note("subgroup", recall, len(labels))
                note("real_subgroup", order[0] in labels, len(labels))
    found = {key: (fmean(values), len(values)) for key, values in lists.items()}
    parts = [found["subgroup", group] for group in groups if ("subgroup", group) in found]
    if parts:
        found["asma", None] = (fmean(a for a, _ in parts), sum(n for _, n in parts))
    return found


def draw_case(seed: int, images: int, classes: int) -> tuple[np.ndarray, list, list]:
    """Draw scores with few distinct values, label sets of any size and single labels."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-4, 4, size=(images, classes)) / 4
    sizes = rng.integers(0, classes + 1, size=images)
    sets = [rng.permutation(classes)[:size].tolist() for size in sizes]
    return scores, sets, rng.integers(classes, size=images).tolist()


def options(n_resamples: int = 20) -> dict:
    make_rng = partial(make_stream, 0, "toy", "multilabel")
    return {"n_resamples": n_resamples, "confidence_level": 0.95, "make_rng": make_rng}


def value_images(scores: np.ndarray, sets: list, single: list | None = None) -> pd.DataFrame:
    return score_images(rank_labels(scores, sets), sets, single=single)


def estimate(images: pd.DataFrame, groups: list[int], **own: int) -> pd.DataFrame:
    return metrics.estimate_metrics(images, subgroups=groups, **options(**own))


def read_rows(table: pd.DataFrame, *columns: str) -> dict:
    return {
        (row["metric"], None if pd.isna(row["subgroup"]) else int(row["subgroup"])): tuple(
            row[column] for column in columns
        )
        for row in table.to_dict("records")
    }


def draw_values(seed: int, images: int, *, none: float = 0.1, hard: float = 0.2) -> pd.DataFrame:
    """Outcomes of a model: right or wrong with a chance of its own for each number of labels."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 1, 2, 3], p=[none, 0.6 - none, 0.3, 0.1], size=images)
    hits = rng.binomial(labels, 0.9 - 0.15 * labels)
    is_labeled = labels > 0
    return pd.DataFrame(
        {
            "labels": labels,
            "top1": (rng.random(images) < 1 - hard * labels).astype(float),
            "real": np.where(is_labeled, rng.random(images) < 0.8, np.nan),
            "labelwise": np.where(is_labeled, hits / np.maximum(labels, 1), np.nan),
        }
    )


@given(
    st.integers(0, 10**6),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from(["float16", "float32", "float64", ">f4"]),
    st.sampled_from([1, 100, 1 << 18]),
)
def test_ranks_are_those_of_sorting_all_classes(
    seed: int, images: int, classes: int, dtype: str, block: int
) -> None:
    scores, sets, _ = draw_case(seed, images, classes)
    orders = [order_classes(row) for row in scores.tolist()]
    expected = [order.index(c) for order, own in zip(orders, sets, strict=True) for c in own]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "BLOCK_CELLS", block)
        for matrix in (scores.astype(dtype), np.asfortranarray(scores.astype(dtype))):
            found = rank_labels(matrix, sets)
            assert found.labels.tolist() == expected
            assert found.best.tolist() == [order[0] for order in orders]


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 12))
def test_metrics_equal_the_oracle_with_ties_and_empty_sets(
    seed: int, images: int, classes: int
) -> None:
    scores, sets, single = draw_case(seed, images, classes)
    groups = [1, 2, 3, 5, classes]
    found = read_rows(estimate(value_images(scores, sets, single), groups), "value", "images")
    expected = evaluate(scores.tolist(), sets, single, sorted(set(groups)))
    assert set(found) == set(expected)
    for key, numbers in expected.items():
        assert found[key] == pytest.approx(numbers, abs=1e-12), key


def test_metrics_of_images_by_hand() -> None:
    # Classes in order of score: 0 1 2 3, 3 2 1 0 and 1 0 2 3.
    scores = np.array([[4.0, 3, 2, 1], [1, 2, 3, 4], [3, 4, 2, 1]])
    rows = read_rows(
        estimate(value_images(scores, [[0], [3, 0], [0, 2, 3]], [0, 2, 3]), GROUPS), "value"
    )
    # Hits 1 of 1 {0}, 1 of 2 {3, 2} and 2 of 3 {1, 0, 2}.
    assert rows["top1", None] == pytest.approx((1 / 3,))
    assert rows["real", None] == pytest.approx((2 / 3,))
    assert rows["asma", None] == pytest.approx(((1 + 1 / 2 + 2 / 3) / 3,))
    # Without labels only the single label counts; empty subgroups are left out.
    rows = read_rows(estimate(value_images(np.eye(3), [[]] * 3, [0, 0, 1]), [1]), "value", "images")
    assert rows == {("top1", None): (1 / 3, 3)}


@pytest.mark.parametrize("per_count", [20, 1000])
def test_replicates_of_an_accuracy_are_binomial(
    monkeypatch: pytest.MonkeyPatch, per_count: int
) -> None:
    # Of 200 images 140 are right; drawn by counts, and one by one.
    monkeypatch.setattr(metrics, "DRAWS_PER_COUNT", per_count)
    strata, rng = [np.repeat([0.0, 1.0], [60, 140])], make_stream(1, "draws")
    (drawn,) = metrics.resample_strata(strata, RESAMPLES, rng)
    found = np.round(200 * drawn).astype(int)
    expected = RESAMPLES * stats.binom.pmf(np.arange(201), 200, 0.7)
    is_common = expected > 20
    observed = np.bincount(found, minlength=201)[is_common]
    awaited = expected[is_common] * observed.sum() / expected[is_common].sum()
    assert stats.chisquare(observed, awaited).pvalue > 0.001


def spread(
    table: pd.DataFrame, metric: str, ends: tuple[str, str] = ("ci_low", "ci_high")
) -> float:
    """Standard error that an interval of 95% tells."""
    row = table[table["metric"] == metric].iloc[0]
    return float(row[ends[1]] - row[ends[0]]) / 2 / stats.norm.ppf(0.975)


def test_intervals_have_the_width_of_closed_forms() -> None:
    images = draw_values(0, 3000)
    table = estimate(images, GROUPS, n_resamples=RESAMPLES)
    for metric in ("top1", "real", "labelwise"):
        own = images[metric].dropna()
        error = own.std(ddof=0) / np.sqrt(len(own))
        assert spread(table, metric) == pytest.approx(error, rel=CLOSE)
    groups = [images.loc[images["labels"] == group, "labelwise"] for group in GROUPS]
    variance = sum(own.var(ddof=0) / len(own) for own in groups) / 9
    assert spread(table, "asma") == pytest.approx(np.sqrt(variance), rel=CLOSE)


def compare(first: pd.DataFrame, second: pd.DataFrame, **own: int) -> pd.DataFrame:
    pair = (GROUPS, GROUPS)
    return drops.compare_dataset_pair((first, second), subgroups=pair, **(options(2000) | own))


def test_differences_of_datasets_hold_the_metrics_of_both() -> None:
    images = draw_values(5, 2000), draw_values(6, 1000)
    table = compare(*images, n_resamples=RESAMPLES)
    for name, own in zip("ab", images, strict=True):
        np.testing.assert_allclose(table[f"value_{name}"], estimate(own, GROUPS)["value"])
    np.testing.assert_allclose(table["difference"], table["value_a"] - table["value_b"])
    for metric in ("top1", "real"):
        variance = sum(own[metric].var(ddof=0) / own[metric].count() for own in images)
        assert spread(table, metric) == pytest.approx(np.sqrt(variance), rel=CLOSE)
    assert spread(compare(*images, seeds=4), "real") == pytest.approx(
        2 * spread(compare(*images), "real")
    )


def repeat_images(*groups: tuple[int, int, int]) -> pd.DataFrame:
    """Images by number of labels: how many there are, and how many of them are right."""
    parts = [
        pd.DataFrame({"labels": labels, "top1": np.arange(images) < right})
        for labels, images, right in groups
    ]
    table = pd.concat(parts, ignore_index=True).astype({"top1": float})
    return table.assign(real=table["top1"], labelwise=table["top1"])


def test_a_drop_is_split_into_label_mix_and_accuracy_within_groups() -> None:
    # Shares .8 and .2 against .5 and .5; accuracies .9 and .5 against .8 and .4.
    first = repeat_images((1, 800, 720), (2, 200, 100))
    second = repeat_images((1, 500, 400), (2, 500, 200))
    row = compare(first, second).set_index("metric").loc["top1"]
    assert row["difference"] == pytest.approx(0.82 - 0.6)
    # .3 (.85 - .45) of the shares, .1 of each accuracy.
    assert row[["mix", "within"]].tolist() == pytest.approx([0.12, 0.1])
    assert row["mix_low"] < 0.12 < row["mix_high"]
    table = compare(draw_values(1, 900), draw_values(2, 700, none=0.3)).set_index("metric")
    shares, others = table.loc[["top1", "real"]], table.drop(["top1", "real"])
    parts = shares["mix"] + shares["within"]
    assert parts.tolist() == pytest.approx(shares["difference"].tolist())
    assert others[drops.SPLITS].isna().all(axis=None), "ASMA weighs all numbers of labels alike"
    # The same accuracies: all is mix; the same shares: nothing is.
    row = compare(first, repeat_images((1, 500, 450), (2, 500, 250))).iloc[0]
    assert row[["mix", "within"]].tolist() == pytest.approx([0.12, 0])
    row = compare(first, repeat_images((1, 400, 320), (2, 100, 40))).iloc[0]
    assert row[["mix", "within"]].tolist() == pytest.approx([0, 0.1])
    # A number of labels that one of them lacks is mix; numbers beyond the largest are one group.
    row = compare(repeat_images((1, 100, 90)), repeat_images((4, 50, 30), (7, 50, 20))).iloc[0]
    assert row[["mix", "within"]].tolist() == pytest.approx([0.4, 0])


@pytest.mark.slow
def test_intervals_of_both_parts_hold_the_true_values() -> None:
    # Chances to be right are 1 - .2 and 1 - .25 per label, shares those of `draw_values`.
    held, shares = np.zeros(2), [np.array([none, 0.6 - none, 0.3, 0.1]) for none in (0.1, 0.4)]
    right = [1 - hard * np.arange(4) for hard in (0.2, 0.25)]
    truth = drops.split_drop(
        *(drops.Mix(p[None], a[None]) for p, a in zip(shares, right, strict=True))
    )
    for seed in range(200):
        sides = draw_values(seed, 600), draw_values(900 + seed, 400, none=0.4, hard=0.25)
        row = compare(*sides, n_resamples=400).iloc[0]
        for place, part in enumerate(drops.PARTS):
            held[place] += row[f"{part}_low"] <= truth[part][0] <= row[f"{part}_high"]
    assert (held / 200 > 0.9).all()


def test_published_metrics_are_subtracted_and_have_no_intervals() -> None:
    rows = [
        *(("a", "V", "0", "top1", pd.NA, 0.8), ("a", "V", "1", "top1", pd.NA, 0.6)),
        *(("a", "W", "", "top1", pd.NA, 0.5), ("b", "V", "", "top1", pd.NA, 0.4)),
        *(("b", "W", "", "top1", pd.NA, 0.5), ("c", "V", "", "top1", pd.NA, 0.9)),
        *(("a", "V", "", "subgroup", 2, 0.5), ("a", "W", "", "subgroup", 2, 0.25)),
        ("a", "W", "", "subgroup", 3, 0.1),
    ]
    table = pd.DataFrame(rows, columns=["model", "dataset", "seed", "metric", "subgroup", "value"])
    found = drops.subtract_datasets(
        table.astype({"subgroup": "Int64"}), dataset_a="V", dataset_b="W"
    )
    names = ["subgroup", "top1", "subgroup", "top1", "top1"]
    assert found["metric"].tolist() == names
    assert found["model"].tolist() == ["", "", "a", "a", "b"]
    # a: (0.8 + 0.6) / 2 - 0.5 = 0.2; b: 0.4 - 0.5 = -0.1; c has no W. The mean is 0.05.
    assert found["difference"].to_list() == pytest.approx([0.25, 0.05, 0.25, 0.2, -0.1])
    assert found[["ci_low", "images", *drops.SPLITS]].isna().all(axis=None)
