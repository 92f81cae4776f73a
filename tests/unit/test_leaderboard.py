"""Rankings of a leaderboard: entries, dimensions, the best of each backbone, cells and releases."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.analyses import leaderboard
from capmap.artifacts import read_parquet
from capmap.errors import ValidationError
from tests.leaderboard_tables import (
    DATASETS,
    DIMENSIONS,
    make_entry_runs,
    make_leaderboard,
    make_record,
    write_leaderboard,
)
from tests.steps import put, read_step, run_step

THREE = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("c", "frozen", "s2")]
TWO_METHODS = [("a", "frozen", "s1"), ("b", "full_ft", "s1"), ("c", "frozen", "s1")]


def cut_quarters(scores):
    """The interquartile mean, exactly cut: each score stands four times."""
    return stats.trim_mean(np.repeat(scores, 4), 0.25)


def test_scores_are_the_trimmed_mean_of_runs_by_dimension_and_by_dataset():
    runs = make_entry_runs(TWO_METHODS, seeds=5, missing=[("a", "w")])
    tables = make_leaderboard(runs)
    assert len(tables["dimensions"]) == 9
    for row in tables["dimensions"].itertuples():
        own = runs[(runs["model"] == row.model)]
        own = own[own["dataset"].isin({"All": DATASETS, **DIMENSIONS}[row.dimension])]
        assert row.iqm == pytest.approx(cut_quarters(own["score"]), abs=1e-12)
    cells = tables["normalized"].set_index(["model", "dataset"])
    raw = tables["raw"].set_index(["model", "dataset"])
    for place, own in runs.groupby(["model", "dataset"])["score"]:
        assert cells.loc[place, "iqm"] == pytest.approx(cut_quarters(own), abs=1e-12)
        assert cells.loc[place, "ci_low"] <= cells.loc[place, "iqm"] <= cells.loc[place, "ci_high"]
        assert raw.loc[place, "mean"] == pytest.approx(own.mean(), abs=1e-12)
        assert raw.loc[place, "sem"] == pytest.approx(stats.sem(own), abs=1e-12)
    ranks = cells.reset_index().pivot_table(index="name", columns="dataset", values="rank")
    assert ranks.loc["c"].tolist() == [1, 2, 2, 2]
    assert ranks.loc["b"].tolist() == [1, 1, 1, 1]


def test_the_mean_is_that_of_dataset_means_and_replicates_tell_their_own_error(tmp_path):
    runs = make_entry_runs([("a", "frozen", "s1")])
    runs = runs.drop(index=runs.index[0])
    tables = write_leaderboard(tmp_path, runs, {})
    found = read_parquet(tmp_path / "bootstrap/0.parquet")
    own = found[(found["kind"] == "study") & (found["statistic"] == "iqm")]
    replicates = own[own["unit"] == "runs"].iloc[0]["replicates"]
    row, mean = tables["dimensions"].iloc[0], tables["entries"]["mean"].iloc[0]
    assert mean == pytest.approx(runs.groupby("dataset")["score"].mean().mean(), abs=1e-12)
    assert row["bootstrap_mean"] == pytest.approx(replicates.mean(), abs=1e-12)
    assert row["bootstrap_sem"] == pytest.approx(stats.sem(replicates), abs=1e-12)


def test_an_incomplete_entry_is_shown_without_a_rank_and_moves_no_other():
    runs = make_entry_runs(THREE, missing=[("a", "w")])
    board = make_leaderboard(runs)
    entries, dimensions = board["entries"], board["dimensions"]
    assert entries[["backbone", "datasets", "expected", "complete"]].to_numpy().tolist() == [
        ["b", 4, 4, True],
        ["c", 4, 4, True],
        ["a", 3, 4, False],
    ]
    assert entries["rank"].fillna(0).tolist() == [1, 2, 0]
    assert entries.loc[2, ["rank_low", "rank_high"]].isna().all()
    assert entries.loc[2, "tie_group"] == ""
    without = make_leaderboard(runs[runs["backbone"] != "a"])["entries"]
    pd.testing.assert_frame_equal(entries.iloc[:2], without, check_dtype=False)
    # Without its hole, in the other dimension, the same entry leads.
    rest = dimensions[dimensions["dimension"] == "Rest"]
    assert rest.iloc[0][["name", "rank", "complete"]].tolist() == ["a", 1, True]


def test_the_best_entry_of_a_backbone_is_chosen_across_submissions_and_ranked_anew():
    entries = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("a", "frozen", "s2")]
    entries += [("b", "frozen", "s2"), ("b", "full_ft", "s2")]
    best = make_leaderboard(make_entry_runs(entries, spread=0))["best"]
    columns = ["method", "rank", "backbone", "submission", "submissions"]
    assert best[columns].to_numpy().tolist() == [
        ["frozen", 1, "a", "s1", 2],
        ["frozen", 2, "b", "s1", 2],
        ["full_ft", 1, "b", "s2", 1],
    ]
    # Of equal entries the first submission by name.
    runs = make_entry_runs([("a", "frozen", "s2"), ("a", "frozen", "s1")]).assign(score=0.5)
    assert make_leaderboard(runs)["best"][columns].to_numpy().tolist() == [
        ["frozen", 1, "a", "s1", 2]
    ]


BENCHMARK = "title: B\ndatasets:\n" + "".join(
    f"  {name}: {{metric: accuracy, direction: max}}\n" for name in DATASETS
)


def test_names_come_from_the_benchmark_then_the_own_submission_then_any_other(tmp_path):
    runs = make_entry_runs([(key, "frozen", "s2") for key in "abcd"])
    told = [{"key": key, "name": f"{key} of s2", "size": ""} for key in "ab"]
    others = [{"key": key, "name": f"{key} of s1", "size": "9M"} for key in "abc"]
    path = tmp_path / "benchmark.yaml"
    path.write_text(BENCHMARK + "models: {a: {name: A, size: 1M}}\n")
    records = [make_record("s2", models=told), make_record("s1", models=others)]
    table = make_leaderboard(runs, benchmark=[path], records=records)["entries"]
    table = table.set_index("backbone").sort_index()
    assert table["name"].to_dict() == {"a": "A", "b": "b of s2", "c": "c of s1", "d": "d"}
    assert table["size"].to_dict() == {"a": "1M", "b": "9M", "c": "9M", "d": ""}


def test_a_study_without_submissions_has_models_that_are_their_own_backbones():
    runs = make_entry_runs(THREE).drop(columns=["method", "submission", "backbone"])
    tables = make_leaderboard(runs)
    table = tables["entries"]
    assert (table["name"] == table["model"]).all()
    assert (table["backbone"] == table["model"]).all()
    assert (table[["method", "submission", "size"]] == "").all(axis=None)
    assert tables["submissions"].empty
    # A column that describes runs, such as a condition, is no method of the model.
    conditions = runs.assign(method=np.where(runs["seed"] == "0", "dark", "light"))
    pd.testing.assert_frame_equal(make_leaderboard(conditions)["entries"], table)
    nothing = runs.assign(method=None, backbone="")
    pd.testing.assert_frame_equal(make_leaderboard(nothing)["entries"], table)


def test_submissions_are_listed_with_their_counts_and_words():
    runs = make_entry_runs([*THREE, ("a", "full_ft", "s1")], missing=[("c", "w")])
    records = [make_record("s3", hpo_trials="16 each"), make_record("s1", license="MIT")]
    table = make_leaderboard(runs, records=[*records, make_record("s2", paper=None)])["submissions"]
    columns = ["submission", "models", "runs", "datasets", "license", "hpo_trials"]
    assert table[columns].fillna("").to_numpy().tolist() == [
        ["s1", 2, 36, 4, "MIT", ""],
        ["s2", 1, 9, 3, "", ""],
        ["s3", 0, 0, 0, "", "16 each"],
    ]


@pytest.mark.parametrize(("rank_by", "best"), [("mean", "b"), ("median", "a")])
def test_entries_go_by_what_ranks_the_models(tmp_path, rank_by, best):
    # The mean punishes a failure on one of the datasets.
    runs = make_entry_runs([("a", "", "s"), ("b", "", "s")], spread=0)
    runs["score"] = np.repeat([0.8, 0.8, 0.8, 0.2, 0.75, 0.75, 0.75, 0.7], 3)
    tables = write_leaderboard(tmp_path, runs, rank_by=rank_by)
    for name in ("entries", "dimensions", "normalized", "best"):
        columns = list(tables[name].columns)
        assert columns[columns.index("ci_low") - 1] == rank_by
    assert tables["entries"].loc[tables["entries"]["rank"] == 1, "name"].tolist() == [best]
    assert tables["best"]["name"].iloc[0] == best
    entries = tmp_path / "leaderboard/entries.csv"
    history = leaderboard.track_releases(str(tmp_path), [str(entries)])
    assert rank_by in history
    (tmp_path / "old.csv").write_text(entries.read_text().replace(rank_by, "iqm"))
    with pytest.raises(ValidationError, match=f"lacks the columns '{rank_by}'"):
        leaderboard.track_releases(str(tmp_path), [str(tmp_path / "old.csv")])


def keep_release(folder, name, entries, **options):
    """Keep the table of entries of a release."""
    path = folder / name
    put(make_leaderboard(make_entry_runs(entries, **options))["entries"], path)
    return str(path)


def test_history_follows_each_entry_through_its_releases(tmp_path):
    old = keep_release(tmp_path, "2025-01.csv", [("b", "frozen", "s1")])
    both = [("a", "frozen", "s1"), ("b", "frozen", "s1")]
    newer = keep_release(tmp_path, "2025-02.csv", both, missing=[("a", "w")])
    keep_release(tmp_path / "leaderboard", "entries.csv", both)
    run_step("track_releases", tmp_path, {"releases": [newer, old]})
    table = read_step("track_releases", tmp_path)["rank_history"]
    facts = {"former": "2025-02", "new": ["a"], "gone": [], "moves": [("b", 1, 2)]}
    assert leaderboard.find_moves(table) == facts
    rows = table[["release", "name", "rank"]].astype({"rank": "Int64"}).to_numpy().tolist()
    assert rows == [
        ["2025-01", "b", 1],
        ["2025-02", "b", 1],
        ["2025-02", "a", pd.NA],
        ["current", "a", 1],
        ["current", "b", 2],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a readable CSV table"),
        ("model,rank\na,1\n", r"lacks the columns 'method', 'name', 'iqm'"),
        ("method,model,name,rank,iqm\n,,A,1,0.5\n", "line 2: the entry '' stands twice or"),
        ("method,model,name,rank,iqm\n,a,A,1,0.5\n,a,A,2,0.4\n", "line 3: the entry 'a'"),
        ("method,model,name,rank,iqm\n,a,A,first,0.5\n", "rank or iqm is no number"),
        ("method,model,name,rank,iqm\n,a,A,1.5,0.5\n", "rank or iqm is no number"),
        ("method,model,name,rank,iqm\n,a,A,1,inf\n", "rank or iqm is no number"),
    ],
)
def test_a_broken_release_is_refused_with_its_file_and_a_remedy(tmp_path, text, message):
    path = tmp_path / "old.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValidationError, match=message) as found:
        leaderboard.read_release(path)
    assert str(path) in str(found.value)
    assert "copies of leaderboard/entries.csv" in str(found.value)
