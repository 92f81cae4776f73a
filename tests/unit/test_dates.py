"""Checkpoints over calendar time: records by plain loops, and times that are no dates."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.checkpoints.dates import find_undated, trace_dates
from capmap.checkpoints.selection import choose_checkpoints
from tests.checkpoint_tables import make_training, make_values, plan

QUIET = settings(max_examples=8)
SCORES = st.lists(st.integers(0, 8), min_size=1, max_size=10)


def trace(scores, days, *, metric="accuracy"):
    """One training; the test value of a checkpoint is its step."""
    rows = make_training([score / 8 for score in scores], metric=metric)
    rows += make_training(range(1, len(scores) + 1), split="test", metric=metric)
    values = make_values(rows)
    values["time"] = [f"2026-01-{days[step - 1]:02d}T12:00:00Z" for step in values["step"]]
    found = plan(values)
    return trace_dates(values, choose_checkpoints(values, found), found)


@QUIET
@given(st.data(), st.booleans())
def test_records_are_what_was_best_at_their_date(data, is_max):
    scores = data.draw(SCORES)
    size = len(scores)
    days = data.draw(st.lists(st.integers(1, 9), min_size=size, max_size=size))
    table = trace(scores, days, metric="accuracy" if is_max else "rmse")
    assert len(table) == size
    best = None
    expected = set()
    for day in sorted(set(days)):
        own = [place for place in range(size) if days[place] == day]
        top = (max if is_max else min)(scores[place] for place in own)
        if best is None or (top > best if is_max else top < best):
            best = top
            expected.add(1 + next(place for place in own if scores[place] == top))
    assert set(table.loc[table["record"], "step"]) == expected
    assert table["report"].tolist() == table["step"].tolist()
    assert table["date"].is_monotonic_increasing


def test_a_date_is_the_earliest_of_a_checkpoint_in_utc():
    values = make_values(make_training([0.5]) + make_training([0.4], split="test"))
    values["time"] = ["2026-03-02T01:30:00+02:00", "2026-03-05"]
    found = plan(values)
    table = trace_dates(values, choose_checkpoints(values, found), found)
    assert table[["date", "record", "chosen"]].to_numpy().tolist() == [["2026-03-01", True, True]]


def test_without_dates_there_is_nothing_to_trace_and_other_times_are_a_warning():
    values = make_values(make_training([0.5, 0.6]) + make_training([0.4, 0.3], split="test"))
    found = plan(values)
    listed = choose_checkpoints(values, found)
    assert trace_dates(values.assign(time=""), listed, found).empty
    assert find_undated(values.assign(time="")) == []
    times = ["2026-02-30", "3600", "yesterday", "2026-02-03"]
    [problem] = find_undated(values.assign(time=times))
    assert (problem.severity, problem.value, problem.line) == ("warning", "2026-02-30", 2)
    assert problem.reason == "3 rows whose time is no date."
    table = trace_dates(values.assign(time=times), listed, found)
    assert table["date"].tolist() == ["2026-02-03"]


@QUIET
@given(st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    rows = [
        ("M", f"t{run}", step, "D", "accuracy", split, rng.integers(0, 5) / 4)
        for run in range(3)
        for step in (1, 2)
        for split in ("validation", "test")
    ]
    values = make_values(rows)
    values["time"] = [f"2026-01-0{day}" for day in rng.integers(1, 5, len(values))]
    found = plan(values)
    listed = choose_checkpoints(values, found)
    shuffled = values.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(
        trace_dates(shuffled, listed, found), trace_dates(values, listed, found)
    )


def test_what_comes_later_changes_no_record_of_several_datasets():
    def list_records(first, second, months):
        rows = [
            row
            for dataset, scores in (("D1", first), ("D2", second))
            for split in ("validation", "test")
            for row in make_training(scores, split=split, dataset=dataset)
        ]
        values = make_values(rows)
        values["time"] = [f"2026-{months[step - 1]:02d}-01" for step in values["step"]]
        found = plan(values)
        table = trace_dates(values, choose_checkpoints(values, found), found)
        return table.loc[table["record"], "step"].tolist()

    # The third until March: (1 + 0.75) / 2 against (0 + 1) / 2. Later one fails on the first.
    assert list_records([0.5, 0.5, 0.6], [0.6, 0.8, 0.75], [1, 2, 3]) == [1, 2, 3]
    assert list_records([0.5, 0.5, 0.6, 0], [0.6, 0.8, 0.75, 0.7], [1, 2, 3, 9]) == [1, 2, 3]
