"""Published numbers beside those of the study: what counts as equal, near and different."""

import pandas as pd
import pytest

from capmap.analyses import list_analyses, published
from capmap.errors import ValidationError
from tests.steps import put

ENTRY = {"table": "tables/iqm", "figure": "", "keys": {"name": "model"}, "columns": {}}
ENTRY |= {"where": {}, "names": {}, "note": "Because."}


def compare(folder, printed, computed, **settings):
    """Verdicts by row and column of a printed table beside one of the study's, and both tables."""
    (folder / "printed.csv").write_text(printed)
    put(computed, folder / "tables/iqm.csv")
    entry = {**ENTRY, "file": str(folder / "printed.csv"), **settings}
    found = published.compare_published(folder=str(folder), published={"T": entry}, claims={})
    cells = found["published_cells"].set_index(["row", "column"])["verdict"].to_dict()
    return cells, found["published"], found["published_cells"]


def test_a_number_is_equal_if_ours_rounds_to_it(tmp_path):
    # Decimals are those of the column: 0.5 stands for 0.500.
    ours = pd.DataFrame({"model": list("abcde"), "iqm": [0.4995, 0.5006, 0.12349, 0.1236, None]})
    printed = "name,iqm\na,0.5\nb,0.5\nc,0.123\nd,0.123\ne,0.7\nf,0.7\n"
    cells, table, rows = compare(tmp_path, printed, ours)
    assert [cells[name, "iqm"] for name in "abcdef"] == [
        *("equal", "different", "equal", "different", "not computed", "not computed")
    ]
    assert rows["verdict"].is_monotonic_increasing is False
    assert rows["verdict"].tolist()[:2] == ["different"] * 2
    (row,) = table.to_dict("records")
    assert row == {
        **{"published": "T", "beside": "tables/iqm", "cells": 6, "equal": 2, "near": 0},
        **{"different": 2, "not_computed": 2, "note": "Because."},
    }


def test_numbers_with_all_their_digits_are_equal_in_twelve(tmp_path):
    ours = pd.DataFrame({"model": ["a", "b"], "iqm": [0.1 + 0.2, 0.3 + 1e-10]})
    printed = "name,iqm\na,0.3000000000000000\nb,0.3000000000000000\n"
    cells, _, _ = compare(tmp_path, printed, ours)
    assert [*cells.values()] == ["different", "equal"]


def test_a_tolerance_and_an_interval_make_numbers_near(tmp_path):
    ours = pd.DataFrame(
        {"model": ["a", "b"], "iqm": [0.52, 0.53], "ci_low": [0.49, 0.51], "ci_high": [0.6, 0.6]}
    )
    printed, rule = "name,x\na,0.50\nb,0.50\n", {"column": "iqm"}
    within = {"x": {**rule, "tolerance": 0.02}}
    cells, _, rows = compare(tmp_path, printed, ours, columns=within)
    assert (cells["a", "x"], cells["b", "x"]) == ("near", "different")
    assert rows["difference"].tolist() == pytest.approx([0.03, 0.02])
    inside = {"x": {**rule, "low": "ci_low", "high": "ci_high"}}
    cells, _, _ = compare(tmp_path, printed, ours, columns=inside)
    assert (cells["a", "x"], cells["b", "x"]) == ("near", "different")
    unknown = ours.assign(ci_low=float("nan"), ci_high=float("nan"))
    cells, _, _ = compare(tmp_path, printed, unknown, columns=inside)
    assert {*cells.values()} == {"different"}
    below = {"x": {**rule, "high": "ci_high"}}
    cells, _, _ = compare(tmp_path, printed, ours, columns=below)
    assert {*cells.values()} == {"near"}


def test_wide_tables_stand_beside_long_ones_on_another_scale(tmp_path):
    ours = pd.DataFrame(
        {"model": ["a", "a"], "dataset": ["V1", "V2"], "kind": "x", "seeds": 3.0, "iqm": [0.9, 0.8]}
    )
    columns = {
        name: {"column": "iqm", "scale": 100, "where": {"dataset": name}} for name in ours.dataset
    }
    printed = "name,n,V1,V2,V3,left out\na,3,+90.00,,7,words\n"
    settings = {"keys": {"name": "model", "n": "seeds"}, "where": {"kind": "x"}}
    cells, _, _ = compare(tmp_path, printed, ours, columns=columns, **settings)
    assert cells == {("a / 3", "V1"): "equal"}
    renamed = printed.replace("\na,", "\nA,")
    cells, _, _ = compare(tmp_path, renamed, ours, columns=columns, names={"A": "a"}, **settings)
    assert cells == {("A / 3", "V1"): "equal"}


def test_a_count_is_of_filled_cells(tmp_path):
    ours = pd.DataFrame({"model": list("abc"), "kind": ["x", "x", "y"], "iqm": [0.5, None, 0.7]})
    counts = {"n": {"column": "iqm", "count": True}, "x": {"column": "model", "count": True}}
    counts["x"] = {**counts["x"], "where": {"kind": "x"}}
    cells, _, _ = compare(tmp_path, "n,x\n2,3\n", ours, columns=counts, keys={})
    assert cells == {("", "n"): "equal", ("", "x"): "different"}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"above": 10, "below": 20}, "open"),
        ({"above": 5, "below": 20}, "holds"),
        ({"above": 5}, "holds"),
        ({"below": 8}, "fails"),
        ({"above": 10, "low": None, "high": None}, "open"),
    ],
)
def test_a_statement_holds_if_the_interval_lies_in_its_range(tmp_path, claim, verdict):
    table = {"distance": ["l2", "cosine"], "bend": [12, 0], "low": [9, 0], "high": [18, 0]}
    put(pd.DataFrame(table), tmp_path / "x/bend.csv")
    ends = {"low": "low", "high": "high", **claim}
    rule = {"table": "x/bend", "where": {"distance": "l2"}, "column": "bend"}
    rule |= {key: value for key, value in ends.items() if value is not None}
    found = published.compare_published(folder=str(tmp_path), published={}, claims={"C": rule})
    assert found["published_claims"]["verdict"].tolist() == [verdict]
    facts = published.find_facts(found["published"], found["published_claims"])
    assert (facts["numbers"]["cells"], facts["claims"]) == (0, 1)
    study = {"analyses": ["published"], "published": {}, "claims": {"C": rule}}
    assert list_analyses(study) == ["published"]
    rule = {**rule, "where": {}}
    with pytest.raises(ValidationError, match="has 2 rows that fit"):
        published.compare_published(folder=str(tmp_path), published={}, claims={"C": rule})


def test_what_has_no_numbers_or_no_table_is_listed(tmp_path):
    ours = pd.DataFrame({"model": ["a"], "iqm": [0.5]})
    cells, table, _ = compare(tmp_path, "name,iqm\na,0.5\n", ours, table="")
    assert cells == {("a", "iqm"): "not computed"}
    assert table.loc[0, "not_computed"] == 1
    figure = {**ENTRY, "file": "", "table": "", "figure": "intervals"}
    found = published.compare_published(folder="", published={"Figure 1": figure}, claims={})
    assert found["published"].loc[0, ["beside", "cells"]].tolist() == ["figures/intervals", 0]


@pytest.mark.parametrize(
    ("printed", "settings", "fragments"),
    [
        ("name,iqm\na,high\n", {}, ["printed.csv, line 2, column 'iqm': 'high' is no number"]),
        ("model,iqm\na,1\n", {}, ["there is no column 'name'", "'model'"]),
        ("name,iqm\na,1\n", {"columns": {"x": "iqm"}}, ["there is no column 'x'"]),
        ("name,x\na,1\n", {}, ["tables/iqm: there is no column 'x'"]),
        ("name,iqm\na,1\n", {"where": {"unit": "runs"}}, ["there is no column 'unit'"]),
        ("name,iqm\nb,1\n", {}, ["tables/iqm has several rows of 'b'", "`where` or `keys`"]),
    ],
)
def test_faults_say_what_to_do(tmp_path, printed, settings, fragments):
    ours = pd.DataFrame({"model": list("abb"), "iqm": [0.5, 0.6, 0.7]})
    with pytest.raises(ValidationError) as fault:
        compare(tmp_path, printed, ours, **settings)
    assert all(fragment in str(fault.value) for fragment in fragments), str(fault.value)
