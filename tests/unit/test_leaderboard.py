"""Rankings of a leaderboard: entries, dimensions, the best of each backbone, and cells."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from capmap.errors import ValidationError
from capmap.leaderboard.entries import describe_entries, summarize_submissions
from capmap.leaderboard.scores import (
    choose_best,
    rank_cells,
    summarize_raw,
)
from capmap.tables import read_declared, write_table
from capmap.wording import ALL
from tests.leaderboard_tables import (
    DATASETS,
    HOSTILE,
    estimate,
    make_entry_runs,
    make_leaderboard,
    make_record,
    name_model,
    rank,
)

THREE = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("c", "frozen", "s2")]
TWO_METHODS = [("a", "frozen", "s1"), ("b", "full_ft", "s1"), ("c", "frozen", "s1")]


def estimate_cells(runs):
    found = estimate(runs)
    return found[found["kind"] == "dataset"]


def rank_all(runs):
    return pd.concat(rank(runs).values())


def about(runs, **options):
    return describe_entries(runs, **{"submissions": [], "models": {}} | options)


def test_scores_of_a_dimension_are_the_trimmed_mean_of_its_runs():
    runs = make_entry_runs(THREE, seeds=5)
    table = rank_all(runs).set_index(["model", "dimension"])["iqm"]
    for (model, dimension), iqm in table.items():
        members = {"Core": ["w", "x"], "Rest": ["y", "z"]}.get(dimension, DATASETS)
        own = runs[(runs["model"] == model) & runs["dataset"].isin(members)]
        assert iqm == pytest.approx(stats.trim_mean(np.repeat(own["score"], 4), 0.25), abs=1e-12)


def test_the_mean_is_that_of_dataset_means_and_replicates_tell_their_own_error():
    runs = make_entry_runs([("a", "frozen", "s1")])
    runs = runs.drop(index=runs.index[0])
    replicates = estimate(runs, {}).iloc[0]["replicates"]
    row = rank(runs, {})[ALL].iloc[0]
    assert row["mean"] == pytest.approx(runs.groupby("dataset")["score"].mean().mean(), abs=1e-12)
    assert row["bootstrap_mean"] == pytest.approx(replicates.mean(), abs=1e-12)
    assert row["bootstrap_sem"] == pytest.approx(stats.sem(replicates), abs=1e-12)


def test_ranks_are_within_the_method_and_methods_follow_each_other_by_name():
    entries, dimensions = make_leaderboard(make_entry_runs(TWO_METHODS))
    assert entries[["method", "backbone", "rank"]].to_numpy().tolist() == [
        ["frozen", "a", 1],
        ["frozen", "c", 2],
        ["full_ft", "b", 1],
    ]
    assert dimensions["method"].is_monotonic_increasing


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


def test_entries_without_any_run_in_a_dimension_have_no_row():
    runs = make_entry_runs(THREE, missing=[("a", "w"), ("a", "x")])
    rankings = rank(runs, {"Core": ["w", "x"], "Nobody": ["q"]})
    assert set(rankings["Core"]["backbone"]) == {"b", "c"}
    assert rankings["Nobody"].empty
    assert rankings["Nobody"]["rank"].dtype == "Int64"


def test_a_dimension_expects_its_datasets_even_where_nobody_has_runs_on_them():
    rankings = rank(make_entry_runs(THREE), {"Core": ["w", "q", "w"]})
    assert set(rankings["Core"]["expected"]) == {2}
    assert not rankings["Core"]["complete"].any()


def test_equal_entries_share_their_rank_and_stand_by_display_name():
    runs = make_entry_runs(THREE[:2])
    runs.loc[runs["backbone"] == "b", "score"] = runs.loc[
        runs["backbone"] == "a", "score"
    ].to_numpy()
    models = {"a": {"name": "Zebra"}, "b": {"name": "Ant"}}
    entries = rank(runs, about=about(runs, models=models))[ALL]
    assert entries[["name", "rank", "tie_group"]].to_numpy().tolist() == [
        ["Ant", 1, "a"],
        ["Zebra", 1, "a"],
    ]


def test_the_best_entry_of_a_backbone_is_chosen_across_submissions_and_ranked_anew():
    entries = [("a", "frozen", "s1"), ("b", "frozen", "s1"), ("a", "frozen", "s2")]
    entries += [("b", "frozen", "s2"), ("b", "full_ft", "s2")]
    best = choose_best(make_leaderboard(make_entry_runs(entries, spread=0))[0])
    columns = ["method", "rank", "backbone", "submission", "submissions"]
    assert best[columns].to_numpy().tolist() == [
        ["frozen", 1, "a", "s1", 2],
        ["frozen", 2, "b", "s1", 2],
        ["full_ft", 1, "b", "s2", 1],
    ]


def test_of_equal_entries_the_first_submission_by_name_is_the_best():
    runs = make_entry_runs([("a", "frozen", "s2"), ("a", "frozen", "s1")], spread=0)
    runs["score"] = 0.5
    [row] = choose_best(make_leaderboard(runs)[0]).to_dict("records")
    assert (row["submission"], row["rank"], row["submissions"]) == ("s1", 1, 2)


def test_a_backbone_without_a_complete_entry_is_not_among_the_best():
    runs = make_entry_runs(THREE, missing=[("a", "w")])
    assert choose_best(make_leaderboard(runs)[0])["backbone"].tolist() == ["b", "c"]
    alone = make_leaderboard(runs)[0].assign(complete=False)
    assert choose_best(alone).empty


def test_raw_scores_have_the_standard_error_of_the_mean_and_none_for_one_seed():
    runs = make_entry_runs(THREE, seeds=4)
    table = summarize_raw(runs, about(runs)).set_index(["model", "dataset"])
    for place, own in runs.groupby(["model", "dataset"])["score"]:
        assert table.loc[place, "mean"] == pytest.approx(own.mean(), abs=1e-12)
        assert table.loc[place, "sem"] == pytest.approx(stats.sem(own), abs=1e-12)
    single = summarize_raw(runs[runs["seed"] == "0"], about(runs))
    assert single["sem"].isna().all()
    assert single["seeds"].eq(1).all()


def test_normalized_cells_are_trimmed_means_ranked_by_method_and_dataset():
    runs = make_entry_runs(TWO_METHODS, seeds=5, missing=[("a", "w")])
    table = rank_cells(estimate_cells(runs), about(runs)).set_index(["model", "dataset"])
    for place, own in runs.groupby(["model", "dataset"])["score"]:
        assert table.loc[place, "iqm"] == pytest.approx(
            stats.trim_mean(np.repeat(own, 4), 0.25), abs=1e-12
        )
    ranks = table.reset_index().pivot_table(index="name", columns="dataset", values="rank")
    assert ranks.loc["c"].tolist() == [1, 2, 2, 2]
    assert ranks.loc["b"].tolist() == [1, 1, 1, 1]
    assert (table["ci_low"] <= table["iqm"]).all()
    assert (table["iqm"] <= table["ci_high"]).all()


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


def test_a_study_without_submissions_has_models_that_are_their_own_backbones():
    runs = make_entry_runs(THREE).drop(columns=["method", "submission", "backbone"])
    table = about(runs)
    assert (table["name"] == table["model"]).all()
    assert (table["backbone"] == table["model"]).all()
    assert (table[["method", "submission", "size"]] == "").all(axis=None)
    # A column that describes runs, such as a condition, is no method of the model.
    conditions = runs.assign(method=np.where(runs["seed"] == "0", "dark", "light"))
    pd.testing.assert_frame_equal(about(conditions), table)
    pd.testing.assert_frame_equal(about(runs.assign(method=None, backbone="")), table)


def test_a_model_that_mixes_submissions_is_refused_with_a_remedy():
    runs = make_entry_runs(THREE).assign(model="one")
    message = r"'one' has runs of several values of 'backbone': 'a', 'b', 'c'.*columns: \{model"
    with pytest.raises(ValidationError, match=message):
        about(runs, submissions=[make_record("s1"), make_record("s2")])


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
    empty = summarize_submissions(runs[["model"]], [])
    assert list(empty.columns) == list(table.columns)
    assert empty.empty


def test_hostile_names_survive_all_formats(tmp_path):
    runs = make_entry_runs([(name, name, name) for name in HOSTILE])
    dimensions = {name: ["w"] for name in HOSTILE}
    table = make_leaderboard(runs, dimensions)[1]
    paths = [tmp_path / f"t.{suffix}" for suffix in ("csv", "tex", "json")]
    write_table(table, paths)
    rows = json.loads(paths[2].read_text("utf-8"))
    assert {row["dimension"] for row in rows} == {ALL, *HOSTILE}
    assert {row["model"] for row in rows} == {name_model(name, name, name) for name in HOSTILE}
    back = read_declared(paths[0], "leaderboard/dimensions")
    for column in ("model", "method", "submission", "dimension", "backbone"):
        assert back[column].tolist() == table[column].tolist()


def test_resampled_datasets_widen_the_intervals_and_single_ones_have_none():
    runs = make_entry_runs(THREE, spread=0.01)
    runs["score"] += runs["dataset"].map({"w": 0.3, "x": 0.1, "y": -0.1, "z": -0.3})
    wide = estimate(runs, {"One": ["w"]}, unit="runs_and_datasets", interval="calibrated")
    narrow = estimate(runs, {}).iloc[:3]
    width = wide["ci_high"] - wide["ci_low"]
    assert (width[:3] > 5 * (narrow["ci_high"] - narrow["ci_low"])).all()
    assert width[3:].isna().all()
