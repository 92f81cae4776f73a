"""Rankings of a leaderboard: entries, dimensions, the best of each backbone, cells and releases."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.analyses import releases
from capmap.errors import ValidationError
from capmap.leaderboard.entries import choose_best, describe_entries, summarize_submissions
from capmap.tables import write_table
from capmap.wording import ALL
from tests.leaderboard_tables import (
    DATASETS,
    DIMENSIONS,
    estimate,
    estimate_shard,
    make_entry_runs,
    make_leaderboard,
    make_record,
    rank,
    rank_study,
    write_board_inputs,
)
from tests.steps import read_step, run_step

THREE = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("c", "frozen", "s2")]
TWO_METHODS = [("a", "frozen", "s1"), ("b", "full_ft", "s1"), ("c", "frozen", "s1")]
SETTINGS = {"study": "toy", "replicates": 100, "confidence": 0.95, "seed": 0}


def write_study(folder, runs, *, records=(), rank_by="iqm"):
    """Make the tables of the leaderboard of runs, which are normalized already."""
    write_board_inputs(folder, runs, records=records, rank_by=rank_by)
    estimate_shard(folder, dimensions=DIMENSIONS, interval="percentile", **SETTINGS)
    return rank_study(folder)


def cut_quarters(scores):
    """The interquartile mean, exactly cut: each score stands four times."""
    return stats.trim_mean(np.repeat(scores, 4), 0.25)


def about(runs, **options):
    return describe_entries(runs, **{"submissions": [], "models": {}} | options)


def test_scores_are_the_trimmed_mean_of_runs_by_dimension_and_by_dataset(tmp_path):
    runs = make_entry_runs(TWO_METHODS, seeds=5, missing=[("a", "w")])
    tables = write_study(tmp_path, runs)
    assert len(tables["dimensions"]) == 9
    for row in tables["dimensions"].itertuples():
        own = runs[(runs["model"] == row.model)]
        own = own[own["dataset"].isin({ALL: DATASETS, **DIMENSIONS}[row.dimension])]
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


def test_the_mean_is_that_of_dataset_means_and_replicates_tell_their_own_error():
    runs = make_entry_runs([("a", "frozen", "s1")])
    runs = runs.drop(index=runs.index[0])
    replicates = estimate(runs, {}).iloc[0]["replicates"]
    row = rank(runs, {})[ALL].iloc[0]
    assert row["mean"] == pytest.approx(runs.groupby("dataset")["score"].mean().mean(), abs=1e-12)
    assert row["bootstrap_mean"] == pytest.approx(replicates.mean(), abs=1e-12)
    assert row["bootstrap_sem"] == pytest.approx(stats.sem(replicates), abs=1e-12)


def test_an_incomplete_entry_is_shown_without_a_rank_and_moves_no_other():
    runs = make_entry_runs(THREE, missing=[("a", "w")])
    entries, dimensions = make_leaderboard(runs)
    assert entries[["backbone", "datasets", "expected", "complete"]].to_numpy().tolist() == [
        ["b", 4, 4, True],
        ["c", 4, 4, True],
        ["a", 3, 4, False],
    ]
    assert entries["rank"].tolist() == [1, 2, pd.NA]
    assert entries.loc[2, ["rank_low", "rank_high"]].isna().all()
    assert entries.loc[2, "tie_group"] == ""
    without = make_leaderboard(runs[runs["backbone"] != "a"])[0]
    pd.testing.assert_frame_equal(entries.iloc[:2], without)
    # Without its hole, in the other dimension, the same entry leads.
    rest = dimensions[dimensions["dimension"] == "Rest"]
    assert rest.iloc[0][["backbone", "rank", "complete"]].tolist() == ["a", 1, True]


def test_the_best_entry_of_a_backbone_is_chosen_across_submissions_and_ranked_anew():
    entries = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("a", "frozen", "s2")]
    entries += [("b", "frozen", "s2"), ("b", "full_ft", "s2")]
    board = make_leaderboard(make_entry_runs(entries, spread=0))[0]
    columns = ["method", "rank", "backbone", "submission", "submissions"]
    assert choose_best(board)[columns].to_numpy().tolist() == [
        ["frozen", 1, "a", "s1", 2],
        ["frozen", 2, "b", "s1", 2],
        ["full_ft", 1, "b", "s2", 1],
    ]
    assert choose_best(board.assign(complete=False)).empty
    # Of equal entries the first submission by name.
    [row] = choose_best(board.iloc[[2, 0]].assign(iqm=0.5)).to_dict("records")
    assert (row["submission"], row["rank"], row["submissions"]) == ("s1", 1, 2)


def test_names_come_from_the_benchmark_then_the_own_submission_then_any_other():
    runs = make_entry_runs([(key, "frozen", "s2") for key in "abcd"])
    told = [{"key": key, "name": f"{key} of s2", "size": ""} for key in "ab"]
    others = [{"key": key, "name": f"{key} of s1", "size": "9M"} for key in "abc"]
    table = about(
        runs,
        submissions=[make_record("s2", models=told), make_record("s1", models=others)],
        models={"a": {"name": "A", "size": "1M"}},
    ).set_index("backbone")
    assert table["name"].to_dict() == {"a": "A", "b": "b of s2", "c": "c of s1", "d": "d"}
    assert table["size"].to_dict() == {"a": "1M", "b": "9M", "c": "9M", "d": ""}


def test_a_study_without_submissions_has_models_that_are_their_own_backbones(tmp_path):
    runs = make_entry_runs(THREE).drop(columns=["method", "submission", "backbone"])
    table = about(runs)
    assert (table["name"] == table["model"]).all()
    assert (table["backbone"] == table["model"]).all()
    assert (table[["method", "submission", "size"]] == "").all(axis=None)
    # A column that describes runs, such as a condition, is no method of the model.
    conditions = runs.assign(method=np.where(runs["seed"] == "0", "dark", "light"))
    pd.testing.assert_frame_equal(about(conditions), table)
    pd.testing.assert_frame_equal(about(runs.assign(method=None, backbone="")), table)
    assert write_study(tmp_path, runs)["submissions"].empty


def test_submissions_are_listed_with_their_counts_and_words():
    runs = make_entry_runs([*THREE, ("a", "full_ft", "s1")], missing=[("c", "w")])
    records = [make_record("s3", hpo_trials=16), make_record("s1", license="MIT")]
    table = summarize_submissions(runs, [*records, make_record("s2", paper=None)])
    columns = ["submission", "models", "runs", "datasets", "license", "hpo_trials"]
    assert table[columns].to_numpy().tolist() == [
        ["s1", 2, 36, 4, "MIT", ""],
        ["s2", 1, 9, 3, "", ""],
        ["s3", 0, 0, 0, "", "16"],
    ]


@pytest.mark.parametrize(("rank_by", "best"), [("mean", "b"), ("median", "a")])
def test_entries_go_by_what_ranks_the_models(tmp_path, rank_by, best):
    # The mean punishes a failure on one of the datasets.
    runs = make_entry_runs([("a", "", "s"), ("b", "", "s")], spread=0)
    runs["score"] = np.repeat([0.8, 0.8, 0.8, 0.2, 0.75, 0.75, 0.75, 0.7], 3)
    tables = write_study(tmp_path, runs, rank_by=rank_by)
    for name in ("entries", "dimensions", "normalized", "best"):
        columns = list(tables[name].columns)
        assert columns[columns.index("ci_low") - 1] == rank_by
    assert tables["entries"].loc[tables["entries"]["rank"] == 1, "name"].tolist() == [best]
    assert tables["best"]["name"].iloc[0] == best
    entries = tmp_path / "leaderboard/entries.csv"
    history = releases.track_releases(str(tmp_path), [str(entries)])
    assert rank_by in history
    (tmp_path / "old.csv").write_text(entries.read_text().replace(rank_by, "iqm"))
    with pytest.raises(ValidationError, match=f"lacks the columns '{rank_by}'"):
        releases.track_releases(str(tmp_path), [str(tmp_path / "old.csv")])


def keep_release(folder, name, entries, **options):
    """Keep the table of entries of a release."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    write_table(make_leaderboard(make_entry_runs(entries, **options))[0], [path])
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
        releases.read_release(path)
    assert str(path) in str(found.value)
    assert "copies of leaderboard/entries.csv" in str(found.value)


SHARED = Path(__file__).parents[3] / "shared"
DATA, REFERENCE = SHARED / "data/geobench", SHARED / "reference/geobench"
N_RESAMPLES = 4000


def read_runs():
    exports = pd.read_csv(DATA / "results_and_parameters.csv")
    return pd.DataFrame(
        {
            "model": exports["backbone"],
            "dataset": exports["dataset"],
            "metric": exports["Metric"],
            "seed": exports["Seed"].astype(str),
            "score": exports["test metric"],
            "submission": "base",
            "backbone": exports["backbone"],
            "method": exports["frozen_or_full_ft"],
        }
    )


def normalize(runs):
    bounds = json.loads((DATA / "normalizer.json").read_text("utf-8"))
    low, high = (runs["dataset"].map(lambda name, end=end: bounds[name][end]) for end in (0, 1))
    return runs.assign(score=(runs["score"] - low) / (high - low))


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    if not REFERENCE.is_dir() or not DATA.is_dir():
        pytest.skip("needs the shared data beside the checkout")
    folder = tmp_path_factory.mktemp("leaderboard")
    runs = read_runs()
    records = [{"name": "base", "models": []}]
    known = {"records": records, "limits": [None, None], "iqm": "whole"}
    write_board_inputs(folder, runs, normalize(runs), **known)
    benchmark = json.loads((REFERENCE / "benchmark.json").read_text("utf-8"))
    estimate_shard(
        folder,
        study="geobench",
        dimensions=benchmark["dimensions"],
        replicates=N_RESAMPLES,
        confidence=0.95,
        interval="percentile",
        seed=0,
    )
    return rank_study(folder, dimensions=benchmark["dimensions"])


def read_published(name):
    return pd.read_csv(REFERENCE / "leaderboard" / f"{name}.csv")


def join(published, ours, column):
    found = published.merge(
        ours, left_on=["backbone", column], right_on=["model", column], suffixes=("_published", "")
    )
    assert len(found) == len(ours)
    return found


def test_pooled_means_and_complete_entries_per_dimension_are_the_published_ones(tables):
    published = read_published("dimensions")
    ours = tables["dimensions"]
    cells = join(published, ours[ours["dimension"] != ALL], "dimension")
    told = cells[cells["complete"]]
    np.testing.assert_allclose(told["iqm"], told["plain_pooled_iqm"], rtol=0, atol=1e-12)
    assert cells["complete"].eq(cells["complete_published"]).all()
    assert cells["runs"].eq(cells["n_runs"]).all()
    # Those that the published table lists without a single run have no row.
    assert (published["n_runs"] == 0).sum() == len(published) - len(cells) == 4
