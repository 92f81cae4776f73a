"""Errors of predictions: over folds, by number of results, and their intervals."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.capabilities import crossvalidation

NAN = float("nan")
COLUMNS = [
    *("distance", "dimension", "protocol", "fold", "set", "model", "dataset", "truth"),
    *("prediction", "results", "train_mse", "train_mae", "train_pearson"),
]
TRAIN = (0.1, 0.2, 0.5)


def make_folds(*rows: tuple[object, ...], **columns: object) -> pd.DataFrame:
    """Predictions of hidden results, from (fold, model, truth, prediction, results)."""
    table = pd.DataFrame(rows, columns=["fold", "model", "truth", "prediction", "results"])
    common = {"distance": "l2", "dimension": 5, "protocol": "random", "set": "validation"}
    trained = dict(zip(("train_mse", "train_mae", "train_pearson"), TRAIN, strict=True))
    table["dataset"] = [f"D{place}" for place in range(len(table))]
    return table.assign(**(common | trained | columns))[COLUMNS]


def make_baseline(*rows: tuple[object, ...], **columns: object) -> pd.DataFrame:
    table = make_folds(*rows, **({"distance": "additive"} | columns))
    return table.assign(dimension=pd.Series(NAN, index=table.index))


# Squared errors 0.04 and 0.16 in fold 0, 0.01 and 0.09 in fold 1.
PLAIN = make_folds(
    (0, "a", 0.0, 0.2, 5), (0, "b", 1.0, 0.6, 9), (1, "a", 0.5, 0.6, 4), (1, "c", 0.0, 0.3, 40)
)
# Squared errors 0.01 and 0.09, 0.01 and 0.01.
BETTER = make_folds(
    *((0, "a", 0.0, 0.1, 5), (0, "b", 1.0, 0.7, 9), (1, "a", 0.5, 0.6, 4), (1, "c", 0.0, 0.1, 40)),
    dimension=3,
)
SIMPLE = make_baseline(
    (0, "a", 0.0, 0.5, 5), (0, "b", 1.0, 0.5, 9), (1, "a", 0.5, 0.5, 4), (1, "c", 0.0, 0.5, 40)
)


def summarize(*tables: pd.DataFrame, dimension: int = 5) -> pd.DataFrame:
    return crossvalidation.summarize_folds(
        crossvalidation.join_folds(tables), dimension=dimension, confidence_level=0.95
    )


def count(folds: pd.DataFrame, *, confidence_level: float = 0.95) -> pd.DataFrame:
    return crossvalidation.group_by_results(folds, dimension=5, confidence_level=confidence_level)


def test_summary_by_hand() -> None:
    table = summarize(SIMPLE, PLAIN, BETTER)
    assert table["distance"].tolist() == ["l2", "l2", "additive"]
    assert table["dimension"].astype(object).tolist() == [3, 5, pd.NA]
    assert table[["folds", "predictions"]].to_numpy().tolist() == [[2, 4]] * 3
    better, plain, simple = table.to_dict("records")
    # Means over folds of 0.05 and 0.01, of 0.1 and 0.05, and of 0.25 and 0.125.
    assert [row["mse"] for row in (better, plain, simple)] == pytest.approx([0.03, 0.075, 0.1875])
    assert [row["mae"] for row in (better, plain, simple)] == pytest.approx([0.15, 0.25, 0.375])
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
    assert [plain[f"train_{name}"] for name in ("mse", "mae", "pearson")] == pytest.approx(TRAIN)


def test_intervals_have_the_level_that_is_asked_for() -> None:
    found = crossvalidation.summarize_folds(
        crossvalidation.join_folds([PLAIN]), dimension=5, confidence_level=0.5
    ).iloc[0]
    # Deviations from 0.075: a -0.035 - 0.065, b 0.085, c 0.015.
    reach = stats.t.ppf(0.75, 2) * np.sqrt(3 / 2 * (0.1**2 + 0.085**2 + 0.015**2)) / 4
    assert (found["mse_low"], found["mse_high"]) == pytest.approx((0.075 - reach, 0.075 + reach))
    own = count(crossvalidation.join_folds([PLAIN]), confidence_level=0.5).iloc[1]
    assert own["mse_high"] == pytest.approx(0.1 + 0.06)


def test_without_the_plain_distance_there_is_no_difference() -> None:
    other = summarize(PLAIN.assign(distance="cosine"), SIMPLE)
    assert other[["difference", "difference_low", "difference_high"]].isna().all(axis=None)
    assert summarize(PLAIN, dimension=4)["difference"].isna().all()


def test_one_model_has_no_interval() -> None:
    row = summarize(PLAIN[PLAIN["model"] == "a"]).iloc[0]
    assert row["mse"] == pytest.approx(0.025)
    ends = [f"{name}{end}" for name in ("mse", "difference") for end in ("_low", "_high")]
    assert row[ends].isna().all()


def test_results_that_are_hidden_again_bring_no_certainty() -> None:
    # Two methods that are equally good, on 6 models and 5 datasets of which each split hides 10.
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
            tables.append(make_folds(*((*row, 5) for row in rows), distance=distance))
        row = summarize(*tables).set_index("distance").loc["cosine"]
        found += not row["difference_low"] <= 0 <= row["difference_high"]
    # With intervals over splits these were 19.
    assert found <= 5


def test_protocols_are_apart_and_differences_are_within_them() -> None:
    strict = [table.assign(protocol="strict", train_mse=NAN) for table in (PLAIN, BETTER)]
    # A fold that a protocol leaves out counts in no method.
    family = [table[table["fold"] == 1].assign(protocol="family") for table in (PLAIN, BETTER)]
    table = summarize(PLAIN, BETTER, *strict, *family)
    assert table["protocol"].tolist() == ["random", "strict", "family"] * 2
    assert table["folds"].tolist() == [2, 2, 1] * 2
    np.testing.assert_allclose(table["difference"], [-0.045, -0.045, -0.04, 0, 0, 0], atol=1e-12)
    assert table["train_mse"].isna().tolist() == [False, True, False] * 2


def test_single_predictions_have_no_correlation() -> None:
    row = summarize(PLAIN.iloc[[0, 2]]).iloc[0]
    assert np.isnan(row["pearson"])
    assert row["mse"] == pytest.approx(0.025)


def test_errors_by_number_of_results_by_hand() -> None:
    table = count(crossvalidation.join_folds([SIMPLE, PLAIN, BETTER]))
    assert table["source"].unique().tolist() == ["cross-validation"]
    assert table["distance"].tolist() == ["l2"] * 3 + ["additive"] * 3
    assert table["results_from"].tolist() == [1, 5, 40] * 2
    assert table["results_to"].astype(object).tolist() == [4, 9, pd.NA] * 2
    assert table[["models", "predictions"]].to_numpy().tolist() == [[1, 1], [2, 2], [1, 1]] * 2
    plain = table.iloc[:3]
    np.testing.assert_allclose(plain["mse"], [0.01, 0.1, 0.09])
    np.testing.assert_allclose(plain["mae"], [0.1, 0.3, 0.3])
    reach = stats.t.ppf(0.975, 1) * 0.06
    np.testing.assert_allclose(plain["mse_high"], [NAN, 0.1 + reach, NAN])
    np.testing.assert_allclose(plain["mse_low"], [NAN, 0, NAN])


def test_classes_of_results_are_closed_at_both_ends() -> None:
    counts = [0, 1, 4, 5, 9, 10, 19, 20, 39, 40, 500]
    folds = make_folds(*((0, f"m{count}", 0.5, 0.25, count) for count in counts))
    table = count(crossvalidation.join_folds([folds]))
    assert table["results_from"].tolist() == [0, 1, 5, 10, 20, 40]
    assert table["results_to"].astype(object).tolist() == [0, 4, 9, 19, 39, pd.NA]
    assert table["predictions"].tolist() == [1, 2, 2, 2, 2, 2]


def test_only_random_splits_count_by_number_of_results() -> None:
    others = [PLAIN.assign(protocol=name) for name in ("strict", "family")]
    trained = PLAIN.assign(set="train")
    expected = count(crossvalidation.join_folds([PLAIN]))
    found = count(crossvalidation.join_folds([PLAIN, *others, trained]))
    pd.testing.assert_frame_equal(found, expected)
    assert len(count(crossvalidation.join_folds([BETTER]))) == 0
