"""Sentences on a leaderboard: who leads, how sure, and what is incomplete."""

import re

import pandas as pd
import pytest

from capmap.prose.leaderboard import describe_leaderboard
from tests.leaderboard_tables import HOSTILE, make_entry_runs, make_leaderboard
from tests.prose_tables import NOT_A_NUMBER

PAIR = [("a", "frozen", "s1"), ("b", "frozen", "s1")]


def tell(runs, dimensions=None):
    entries, table = make_leaderboard(runs, dimensions or {})
    told = describe_leaderboard(entries, table, confidence_level=0.95)
    assert not NOT_A_NUMBER.search(" ".join(told))
    assert all(paragraph.endswith(".") and "  " not in paragraph for paragraph in told)
    return told


def test_the_leader_is_told_with_its_interval_and_what_separates_it():
    methods, frozen = tell(make_entry_runs(PAIR))
    assert "an entry without runs on every dataset was not ranked" in methods
    assert frozen.startswith("With the method 'frozen' (2 entries), 'a' had the highest IQM, 0.")
    assert "(95% interval 0." in frozen
    assert frozen.endswith("'b' was separated from it (95% confidence).")
    three = make_entry_runs([*PAIR, ("c", "frozen", "s1")], missing=[("c", "w")])
    assert "'b' was separated" in tell(three)[1]
    _, frozen = tell(make_entry_runs([*PAIR, ("c", "frozen", "s1")]))
    assert frozen.endswith("All other ranked entries were separated from it (95% confidence).")


def test_entries_without_an_interval_are_not_said_to_be_separated():
    runs = make_entry_runs([(name, "frozen", "s1") for name in "abcd"])
    single = runs.drop_duplicates(["model", "dataset"])
    lone = runs["backbone"].isin(["c", "d"])
    mixed = pd.concat([runs[~lone], single[single["backbone"].isin(["c", "d"])]])
    told = tell(mixed)[1]
    assert "'b' was separated from it (95% confidence)." in told
    assert "2 models had no interval" in told
    mixed = pd.concat([runs[runs["backbone"] != "d"], single[single["backbone"] == "d"]])
    assert "All other ranked entries with an interval were separated" in tell(mixed)[1]
    only = pd.concat([runs[runs["backbone"] == "a"], single[single["backbone"] == "b"]])
    assert "separated" not in tell(only)[1]


def test_dimensions_whose_leader_is_not_sure_are_named():
    runs = make_entry_runs(PAIR, spread=0)
    is_close = (runs["dataset"] == "x") & (runs["backbone"] == "b")
    # On x, b has 0.7, 0.8 and 0.8 where a has 0.8 three times.
    runs.loc[is_close, "score"] = [0.7, 0.8, 0.8]
    _, frozen = tell(runs, {"D1": ["w"], "D2": ["x"]})
    assert "'a' in 'D2' (0.800). In 'D2', others could not be separated from the first." in frozen


def test_entries_that_cannot_be_separated_from_the_leader_are_named():
    _, frozen = tell(make_entry_runs(PAIR, spread=1.0))
    assert re.search(r"'[ab]' could not be separated from it \(95% confidence\)\.$", frozen)


def test_methods_have_a_paragraph_each_and_are_not_compared():
    told = tell(make_entry_runs([*PAIR, ("c", "full_ft", "s1")]))
    assert told[0].endswith("Entries of different methods were not ranked against each other.")
    assert told[2].startswith("With the method 'full_ft' (1 entry), 'c' had the highest IQM")


def test_a_leaderboard_without_a_complete_entry_says_so():
    _, frozen = tell(make_entry_runs(PAIR, missing=[("b", "w"), ("a", "x")]))
    assert frozen == (
        "With the method 'frozen' (2 entries), none had runs on enough of the datasets to be "
        "ranked. 'a' and 'b' are shown with 3 datasets of 4."
    )


def test_a_study_without_methods_and_intervals_has_finished_sentences():
    runs = make_entry_runs(PAIR, seeds=1).drop(columns=["method", "submission", "backbone"])
    _, told = tell(runs)
    assert told.startswith("Of 2 entries, 'a / frozen / s1' had the highest IQM, 0.")
    assert told.endswith("No model had runs or datasets enough for an interval.")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_on_their_line(name):
    told = tell(make_entry_runs([(name, name, name)]), {name: ["w"]})
    assert all(paragraph.isprintable() for paragraph in told)


def make_history(*rows):
    table = pd.DataFrame(rows, columns=["release", "method", "model", "name", "rank", "iqm"])
    return table.astype({"rank": "Int64"})


def test_an_empty_leaderboard_has_only_methods():
    entries, dimensions = make_leaderboard(make_entry_runs(PAIR))
    told = describe_leaderboard(entries.iloc[:0], dimensions.iloc[:0], confidence_level=0.95)
    assert len(told) == 1
