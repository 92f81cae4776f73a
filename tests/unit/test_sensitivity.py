"""Conclusions from predictions if unreported results are worse, against known answers."""

import numpy as np
import pandas as pd
import pytest

from capmap.capabilities.gaps import scale_scores, tabulate_gaps
from capmap.capabilities.sensitivity import measure_sensitivity, shift_unreported
from capmap.prose.capabilities import _describe_sensitivity
from tests.unit.test_prediction_intervals import predict

NAN = np.nan


def make_predictions() -> pd.DataFrame:
    rows = [
        ("a", "x", NAN, 0.105),
        ("b", "x", 0.4, 0.9),
        ("c", "x", NAN, 0.2),
        ("a", "y", 0.2, 0.2),
        ("b", "y", 0.0, 0.1),
        ("c", "y", NAN, 0.3),
    ]
    table = pd.DataFrame(rows, columns=["model", "dataset", "observed", "predicted"])
    return table.assign(held_out=table["observed"].notna())


def test_places_are_kept_up_to_the_shift_that_equals_the_distance() -> None:
    found = measure_sensitivity(make_predictions()).set_index("place")
    # Means 0.1525, 0.2 and 0.25; a moves by half of the shift and b stays: 2 · 0.0475.
    assert found.loc[1].tolist() == ["a", 0.1525, 0.09, "b"]
    assert found.loc[3].tolist() == ["c", 0.25, 1.0, ""]


def test_order_of_rows_changes_nothing_and_unknown_pairs_are_left_out() -> None:
    table = make_predictions()
    pd.testing.assert_frame_equal(
        measure_sensitivity(table.sample(frac=1, random_state=1)), measure_sensitivity(table)
    )
    table.loc[0, "predicted"] = NAN
    found = measure_sensitivity(table)
    assert "a" not in found["model"].tolist()


def test_shifts_stay_within_gaps() -> None:
    predicted = np.array([0.0, 0.9, NAN])
    found = shift_unreported(predicted, predicted / 2, predicted, worse=0.2)
    # A new best result has gap 0, however good it is.
    assert [own[:2].tolist() for own in found] == [[0.2, 1.0], [0.0, 0.65], [0.2, 1.0]]
    assert np.isnan([own[2] for own in found]).all()


@pytest.mark.parametrize(("worse", "text"), [(0, "missing at random"), (0.2, "a gap of 0.2")])
def test_the_page_names_the_assumption(worse: float, text: str) -> None:
    table = make_predictions()
    said = _describe_sensitivity(table, measure_sensitivity(table), worse)
    assert text in said
    further = "a further " if worse else ""
    assert (
        f"If all are worse by the same gap, 'a' keeps the least mean gap over all datasets up to "
        f"{further}0.09, and then 'b'" in said
    )


def test_a_lead_that_no_shift_leaves_is_not_said_to_be_kept() -> None:
    lead = pd.DataFrame({"place": [1], "model": "a", "gap": 0.5, "survives": 0.0, "successor": "b"})
    said = _describe_sensitivity(make_predictions(), lead, 0)
    assert "as little as 0.01, 'b' has the least mean gap over all datasets, not 'a'." in said
    assert "keeps" not in said


def test_intervals_hold_results_that_were_not_reported_where_models_are_bad() -> None:
    # Truth is known: a table of rank 1 and noise, of which the better half was reported.
    rng = np.random.default_rng(0)
    scores = np.add.outer(rng.normal(size=16), rng.normal(size=12)) * 0.1
    scores += 0.08 * np.outer(rng.normal(size=16), rng.normal(size=12))
    scores += 0.03 * rng.normal(size=scores.shape)
    centered = scores - scores.mean(axis=0)
    noise = 0.2 * centered.std() * rng.normal(size=scores.shape)
    rows, columns = np.nonzero(centered + noise > np.quantile(centered + noise, 0.5))
    runs = pd.DataFrame(
        {
            "model": [f"m{row:02d}" for row in rows],
            "dataset": [f"d{column:02d}" for column in columns],
            "score": 0.5 + scores[rows, columns] / 4,
        }
    )
    bounds = pd.DataFrame({"dataset": sorted(set(runs["dataset"]))})
    gaps = tabulate_gaps(runs, bounds.assign(direction="max", low=0.0, high=1.0), min_results=3)
    plain = predict(gaps, method="l2")
    unseen = plain[~plain["held_out"]].merge(scale_scores(gaps))
    place = [unseen[name].str[1:].astype(int) for name in ("model", "dataset")]
    truth = (0.5 + scores[place[0], place[1]] / 4 - unseen["best"]) / (
        unseen["worst"] - unseen["best"]
    )
    truth = truth.clip(0, 1)
    worse = float((truth - unseen["predicted"]).mean())
    assert worse > 0.05
    moved = predict(gaps, method="l2", worse=worse)
    known = plain["held_out"]
    pd.testing.assert_frame_equal(plain[known], moved[known])
    own = moved[~known].reset_index(drop=True)
    assert truth.between(own["low"], own["high"]).mean() >= 0.85
    assert truth.between(unseen["low"], unseen["high"]).mean() < 0.85
