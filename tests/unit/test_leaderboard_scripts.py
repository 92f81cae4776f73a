"""The leaderboard's steps on tiny files, and its record of former releases."""

import numpy as np
import pandas as pd
import pytest

from capmap.analyses import releases
from capmap.errors import ValidationError
from capmap.tables import write_table
from capmap.wording import ALL
from tests.leaderboard_tables import (
    DIMENSIONS,
    HOSTILE,
    estimate_shard,
    make_entry_runs,
    make_leaderboard,
    rank_study,
    write_board_inputs,
)
from tests.steps import read_step, run_step

SETTINGS = {
    "study": "toy",
    "replicates": 100,
    "confidence": 0.95,
    "interval": "percentile",
    "seed": 0,
}
BENCHMARK = """
datasets: {w: {metric: accuracy, direction: max}}
models: {a: {name: Ant, size: 1M}}
"""


def write_study(folder, runs, *, shards=1, records=(), rank_by="iqm"):
    """Write the leaderboard of runs, which are normalized already, over some shards."""
    write_board_inputs(folder, runs, records=records, rank_by=rank_by)
    (folder / "benchmark.yaml").write_text(BENCHMARK, encoding="utf-8")
    for shard in range(shards):
        estimate_shard(folder, shard, shards=shards, dimensions=DIMENSIONS, **SETTINGS)
    return rank_study(folder, benchmark=[folder / "benchmark.yaml"])


@pytest.mark.parametrize(("rank_by", "best"), [("mean", "b"), ("median", "Ant")])
def test_entries_go_by_what_ranks_the_models(tmp_path, rank_by, best):
    # The mean punishes a failure on one of the datasets.
    runs = make_entry_runs([("a", "", "s"), ("b", "", "s")], spread=0)
    runs["score"] = np.repeat([0.8, 0.8, 0.8, 0.2, 0.75, 0.75, 0.75, 0.7], 3)
    tables = write_study(tmp_path, runs, rank_by=rank_by)
    for name in ("entries", "dimensions", "normalized", "best"):
        columns = list(tables[name].columns)
        assert columns[columns.index("ci_low") - 1] == rank_by
        assert len(set(columns)) == len(columns)
    assert tables["entries"].loc[tables["entries"]["rank"] == 1, "name"].tolist() == [best]
    assert tables["best"]["name"].iloc[0] == best
    entries = tmp_path / "leaderboard/entries.csv"
    history = releases.track_releases(str(tmp_path), [str(entries)])
    assert history.columns[-1] == rank_by
    (tmp_path / "old.csv").write_text(entries.read_text().replace(rank_by, "iqm"))
    with pytest.raises(ValidationError, match=f"lacks the columns '{rank_by}'"):
        releases.track_releases(str(tmp_path), [str(tmp_path / "old.csv")])


def test_a_study_without_submissions_has_an_empty_table_of_them(tmp_path):
    runs = make_entry_runs([("a", "", "")]).drop(columns=["method", "backbone", "submission"])
    tables = write_study(tmp_path, runs)
    assert tables["submissions"].empty
    assert tables["entries"][["method", "size", "submission"]].eq("").all(axis=None)


def keep_release(folder, name, entries, **options):
    """Keep the table of entries of a release."""
    table = make_leaderboard(make_entry_runs(entries, **options))[0]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    write_table(table, [path])
    return str(path)


def test_history_follows_each_entry_through_its_releases(tmp_path):
    old = keep_release(tmp_path, "2025-01.csv", [("b", "frozen", "s1")])
    both = [("a", "frozen", "s1"), ("b", "frozen", "s1")]
    newer = keep_release(tmp_path, "2025-02.csv", both, missing=[("a", "w")])
    keep_release(tmp_path / "leaderboard", "entries.csv", both)
    run_step("track_releases", tmp_path, {"releases": [newer, old]})
    table = read_step("track_releases", tmp_path)["rank_history"]
    facts = {"former": "2025-02", "new": ["a"], "gone": [], "moves": [("b", 1, 2)]}
    assert releases.find_facts(table) == facts
    assert list(table.columns) == ["release", "method", "model", "name", "rank", "iqm"]
    rows = table[["release", "name", "rank"]].astype({"rank": "Int64"}).to_numpy().tolist()
    assert rows == [
        ["2025-01", "b", 1],
        ["2025-02", "b", 1],
        ["2025-02", "a", pd.NA],
        ["current", "a", 1],
        ["current", "b", 2],
    ]


def test_releases_are_named_by_what_tells_them_apart():
    assert releases.name_releases([]) == []
    assert releases.name_releases(["v1/entries.csv", "v2/entries.csv"]) == ["v1", "v2"]
    assert releases.name_releases(["x/current.csv"]) == ["x"]
    assert releases.name_releases(["entries.csv", "v/entries.csv"]) == [
        "entries.csv",
        "v/entries.csv",
    ]
    assert releases.name_releases(["x/1.csv", "y/1.csv", "y/2.csv"]) == [
        "x/1.csv",
        "y/1.csv",
        "y/2.csv",
    ]


def test_hostile_names_come_back_from_a_release(tmp_path):
    entries = [(name, name, name) for name in [*HOSTILE, "007"]]
    path = keep_release(tmp_path, "old.csv", entries)
    table = releases.read_release(path)
    assert set(table["method"]) == set(table["name"]) == {*HOSTILE, "007"}
    assert len(releases.track_ranks(dict.fromkeys(HOSTILE, table))) == 7 * len(HOSTILE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a readable CSV table"),
        ('a\n"b', "not a readable CSV table"),
        ("model,rank\na,1\n", r"lacks the columns 'method', 'name', 'iqm'"),
        ("method,model,name,rank,iqm\n,,A,1,0.5\n", "a row has no model"),
        ("method,model,name,rank,iqm\n,a,A,1,0.5\n,a,A,2,0.4\n", "lists 'a' twice"),
        ("method,model,name,rank,iqm\n,a,A,first,0.5\n", "'first' is no rank"),
        ("method,model,name,rank,iqm\n,a,A,1.5,0.5\n", "'1.5' is no rank"),
        ("method,model,name,rank,iqm\n,a,A,0,0.5\n", "'0' is no rank"),
        ("method,model,name,rank,iqm\n,a,A,1,inf\n", "'inf' is no iqm"),
        ("method,model,name,rank,iqm\n,a,A,1,\n", "'nan' is no iqm"),
    ],
)
def test_a_broken_release_is_refused_with_its_file_and_a_remedy(tmp_path, text, message):
    path = tmp_path / "old.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError, match=message) as found:
        releases.read_release(path)
    assert str(path) in str(found.value)
    assert "copies of leaderboard/entries.csv" in str(found.value)


def test_bytes_that_are_no_text_and_folders_are_no_releases(tmp_path):
    (tmp_path / "old.csv").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path, tmp_path / "old.csv", tmp_path / "none.csv"):
        with pytest.raises(ValidationError, match="not a readable CSV table"):
            releases.read_release(path)


def test_an_empty_release_has_no_rows():
    columns = ["method", "model", "name", "rank", "iqm"]
    assert releases.track_ranks({ALL: pd.DataFrame(columns=columns)}).empty
