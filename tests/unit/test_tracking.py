"""Tracking stores of MLflow come out complete, and stay as they are."""

import logging
import math
import os
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.artifacts import read_json, read_parquet
from capmap.checkpoints.rankings import analyse_checkpoints
from capmap.errors import ValidationError
from capmap.exports.checkpoints import read_evaluations
from capmap.tracking import store as stores
from capmap.tracking.evaluations import tabulate_evaluations
from capmap.tracking.keys import Key, compile_keys, split_key
from capmap.tracking.store import Measurement, TrackedRun, read_store
from read_tracking import read_tracking
from tests.toy_settings import RULES
from tests.tracking_stores import (
    Logged,
    digest_store,
    fill_store,
    locate,
    multiply_run,
    open_store,
    set_values,
    write_store,
)
from validate_checkpoints import validate_checkpoints

KINDS = ["sqlite", "file"]
NESTED = [
    Logged("train a", params={"seed": "3"}, tags={"model": "A"}),
    Logged("epoch=1-step=100", parent=0, tags={"note": "x"}),
    Logged("eval", parent=1, metrics=[("val/burn_scars/IoU", 0.0), ("test/burn_scars/IoU", 0.5)]),
    Logged("step 200", parent=0, metrics=[("val/burn_scars/IoU", 0.25), ("loss", 2.0)]),
    Logged("step 300", parent=0, status="FAILED", metrics=[("val/burn_scars/IoU", 0.9)]),
    Logged("train b", metrics=[("val/pastis/IoU", 0.1, 7), ("val/pastis/IoU", 0.2, 9)]),
    Logged("empty", experiment="other"),
]


def read(folder: Path, address: str, **options):
    """Read a store, and return evaluations and account."""
    places = {"evaluations": str(folder / "e.parquet"), "account": str(folder / "a.json")}
    options = {"experiments": [], "status": ["FINISHED"]} | options
    read_tracking(store=address, **places, **options)
    return read_parquet(places["evaluations"]), read_json(places["account"])


@pytest.mark.parametrize("kind", KINDS)
def test_nested_runs_become_trainings_and_checkpoints(tmp_path, kind):
    address = fill_store(tmp_path, NESTED, kind)
    before = digest_store(address)
    table, account = read(tmp_path, address, keep=["tag.note", "param.lr"])
    assert digest_store(address) == before, "the store is as it was"
    columns = ["training", "checkpoint", "dataset", "metric", "split", "value", "model", "seed"]
    # The evaluation nested in a checkpoint belongs to that; a run without one counts by its steps.
    assert table[columns].to_numpy().tolist() == [
        ["train a", "epoch=1-step=100", "burn_scars", "IoU", "test", 0.5, "A", "3"],
        ["train a", "epoch=1-step=100", "burn_scars", "IoU", "val", 0.0, "A", "3"],
        ["train a", "step 200", "burn_scars", "IoU", "val", 0.25, "A", "3"],
        ["train b", "7", "pastis", "IoU", "val", 0.1, "train b", "train b"],
        ["train b", "9", "pastis", "IoU", "val", 0.2, "train b", "train b"],
    ]
    assert table["step"].tolist()[3:] == [7, 9]
    assert table["step"].isna().tolist() == [True] * 3 + [False] * 2
    assert table["time"].tolist()[3] == "2023-11-14T22:13:20.007+00:00"
    assert (table["tag.note"] == "").all()
    assert (table["param.lr"] == "").all()
    assert account["runs"] == {
        "found": 7,
        "read": 6,
        "left_out": 1,
        "without_metrics": 3,
        "deleted": 0,
    }
    assert account["left_out"] == [
        {"experiment": "main", "status": "FAILED", "runs": 1, "reason": "status"}
    ]
    assert account["unmatched"] == [
        {
            "key": "loss",
            "reason": "Neither the name nor a tag or parameter says the dataset.",
            "runs": 1,
            "values": 1,
        }
    ]
    assert [one["key"] for one in account["metrics"]] == [
        *("loss", "test/burn_scars/IoU", "val/burn_scars/IoU", "val/pastis/IoU")
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_read_is_what_a_table_of_checkpoints_holds(tmp_path, kind):
    table, _ = read(tmp_path, fill_store(tmp_path, NESTED, kind))
    found = read_evaluations([str(tmp_path / "e.parquet")])
    assert not found.exports.problems
    assert found.table["score"].tolist() == table["value"].tolist()
    for column in ("training", "checkpoint", "dataset", "split", "model", "seed", "metric"):
        assert found.table[column].tolist() == table[column].tolist(), column


def list_big_runs():
    """List 3 trainings, 15 checkpoints, 60 evaluations, failed ones, and an idle run."""
    runs, expected = [], {}
    for training in range(3):
        top = len(runs)
        runs.append(Logged(f"training {training}"))
        for step in range(100, 600, 100):
            checkpoint = len(runs)
            runs.append(Logged(f"step={step}", parent=top))
            for dataset in ("a", "b_c", "d", "é"):
                value = training + step / 1000 + len(runs) / 10**6
                value = 0.0 if (training, step, dataset) == (0, 100, "a") else value
                keys = [f"validation/{dataset}/acc", f"test/{dataset}/acc"]
                metrics = [(keys[0], value), (keys[1], -value)]
                runs.append(Logged(dataset, parent=checkpoint, metrics=metrics))
                for split, score in (("validation", value), ("test", -value)):
                    expected[f"training {training}", f"step={step}", dataset, split] = score
        runs.append(Logged("step=600", parent=top, status="FAILED"))
        runs.append(
            Logged("a", parent=len(runs) - 1, status="KILLED", metrics=[("test/a/acc", 9.0)])
        )
    return [*runs, Logged("idle", "sweep", status="RUNNING")], expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_store_of_1200_runs_comes_out_complete(tmp_path, kind):
    runs, expected = list_big_runs()
    address = locate(kind, tmp_path / "store")
    ids = write_store(address, runs)
    multiply_run(address, ids[-1], 1200 - len(runs))
    before = digest_store(address)
    table, account = read(tmp_path, address)
    names = ["training", "checkpoint", "dataset", "split"]
    assert table.set_index(names)["value"].to_dict() == expected
    assert len(table) == len(expected) == 3 * 5 * 4 * 2
    assert account["runs"]["found"] == 1200
    counts = {one["experiment"]: one["status"] for one in account["experiments"]}
    assert counts == {
        "main": {"FAILED": 3, "FINISHED": 78, "KILLED": 3},
        "sweep": {"RUNNING": 1116},
    }
    assert digest_store(address) == before


@pytest.mark.slow
def test_a_sweep_of_1200_runs_is_chosen_from_as_by_hand(tmp_path):
    # Two checkpoints per run, accuracy on both splits; from a store to the tables of a study.
    keys = [(f"{split}/D/acc", step) for split in ("validation", "test") for step in (1, 2)]
    logged = Logged("sweep", tags={"model": "net"}, metrics=[(key, 0.0, n) for key, n in keys])
    address = locate("sqlite", tmp_path / "store")
    ids = write_store(address, [logged])
    ids += multiply_run(address, ids[0], 1199)
    scores = np.random.default_rng(3).random((1200, 2, 2)).round(6)
    rows = zip(np.repeat(ids, 4).tolist(), keys * 1200, scores.ravel().tolist(), strict=True)
    set_values(address, [(value, run, *key) for run, key, value in rows])
    table, account = read(tmp_path, address)
    assert (account["runs"]["read"], len(table)) == (1200, 4800)
    paths = {name: str(tmp_path / name) for name in ("evaluations", "runs", "validation")}
    validate_checkpoints(
        exports=[str(tmp_path / "e.parquet")],
        **paths,
        **RULES | {"references": [], "rejected": str(tmp_path / "r.csv"), "checkpoints": {}},
    )
    tables = analyse_checkpoints(
        read_parquet(paths["evaluations"]),
        **{"study": "s", "settings": {}, "metric": "", "metrics": {}, "datasets": {}},
        **{"n_resamples": 10, "confidence_level": 0.95, "seed": 0},
    )
    best = scores[:, 0].argmax(axis=1)
    selected = tables["selected"]
    assert len(selected) == 1200
    assert sorted(selected["selection"]) == sorted(scores[:, 0].max(axis=1))
    tests = scores[np.arange(1200), 1, best]
    assert sorted(selected["report"]) == sorted(tests)
    # With one run the mean is expected, with all the one that is best on validation.
    rows = tables["best_of_n"].set_index("trials")
    assert (rows["of"].iloc[0], rows["model"].unique().tolist()) == (1200, ["net"])
    winner = scores[:, 0].max(axis=1).argmax()
    for n, test in ((1, tests.mean()), (1200, tests[winner])):
        assert rows.loc[n, "test"] == pytest.approx(test)


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_read_to_the_end(tmp_path, kind, monkeypatch):
    runs = [Logged(f"t{n}", f"e{n % 3}", metrics=[("v/d/m", n / 10)]) for n in range(9)]
    address = fill_store(tmp_path, runs, kind)
    monkeypatch.setattr(stores, "PAGE", 2)
    table, _ = read(tmp_path, address)
    assert dict(zip(table["training"], table["value"], strict=True)) == {
        f"t{n}": n / 10 for n in range(9)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_values_that_are_no_numbers_are_kept(tmp_path, kind):
    values = [math.nan, math.inf, -math.inf, 0.0, 1.5]
    metrics = [("v/d/m", value, step) for step, value in enumerate(values)]
    table, _ = read(tmp_path, fill_store(tmp_path, [Logged("t", metrics=metrics)], kind))
    np.testing.assert_array_equal(table["value"], values)
    assert table["step"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("kind", KINDS)
def test_deleted_runs_are_counted_and_left_out(tmp_path, kind):
    address = locate(kind, tmp_path / "store")
    ids = write_store(address, [Logged(n, metrics=[("v/d/m", 1.0)]) for n in ("a", "b")])
    with open_store(address) as client:
        client.delete_run(ids[0])
    table, account = read(tmp_path, address)
    assert (table["training"].tolist(), account["runs"]["deleted"]) == (["b"], 1)


def test_experiments_are_chosen_by_name_and_a_wrong_name_is_refused(tmp_path):
    runs = [Logged("t", name, metrics=[("v/d/m", 1.0)]) for name in ("first", "second")]
    address = fill_store(tmp_path, runs)
    table, account = read(tmp_path, address, experiments=["second"])
    assert table["experiment"].tolist() == ["second"]
    assert [one["experiment"] for one in account["experiments"]] == ["second"]
    with pytest.raises(ValidationError, match=r"no experiment 'secnd'. Did you mean 'second'"):
        read(tmp_path, address, experiments=["secnd"])


def test_trainings_of_one_name_are_told_apart(tmp_path):
    runs = [Logged("t", name, metrics=[("v/d/m", 1.0)]) for name in ("x", "y", "y")]
    address = locate("file", tmp_path / "store")
    ids = write_store(address, runs)
    table, account = read(tmp_path, address)
    wanted = {"t (x)", f"t (y, {ids[1]})", f"t (y, {ids[2]})"}
    assert set(table["training"]) == wanted == set(account["renamed"].values())


def test_tags_and_parameters_say_what_names_of_metrics_do_not(tmp_path):
    runs = [
        Logged("t", tags={"benchmark": "d_1", "split": "test"}, metrics=[("acc", 0.1, 5)]),
        Logged("u", params={"dataset": "d_2"}, metrics=[("val/acc", 0.2), ("system/cpu", 9.0)]),
        Logged("v", tags={"training": "w", "checkpoint": "best"}, metrics=[("val/d/acc", 0.3)]),
    ]
    table, account = read(tmp_path, fill_store(tmp_path, runs))
    columns = ["training", "checkpoint", "dataset", "split", "metric", "value"]
    assert table[columns].to_numpy().tolist() == [
        ["t", "5", "d_1", "test", "acc", 0.1],
        ["u", "0", "d_2", "val", "acc", 0.2],
        ["w", "best", "d", "val", "acc", 0.3],
    ]
    assert "model" not in table, "no run says a model, so the trainings are the models"
    assert [one["key"] for one in account["unmatched"]] == ["system/cpu"]


def test_underscored_names_need_the_names_of_datasets_where_they_fit_in_several_ways(tmp_path):
    keys = ["{split}_{dataset}_{metric}"]
    runs = [Logged("t", metrics=[("val_dynamic_earthnet_top_1", 0.5), ("val_a_acc", 0.25)])]
    address = fill_store(tmp_path, runs)
    table, account = read(tmp_path, address, metric_keys=keys)
    assert table["dataset"].tolist() == ["a"]
    assert "several ways" in account["unmatched"][0]["reason"]
    table, account = read(tmp_path, address, metric_keys=keys, datasets=["a", "dynamic_earthnet"])
    assert table[["dataset", "metric"]].to_numpy().tolist() == [
        ["a", "acc"],
        ["dynamic_earthnet", "top_1"],
    ]
    assert account["unmatched"] == []


WORD = st.text("ab_.", min_size=1, max_size=4)


@settings(max_examples=100)
@given(key=st.text("ab_.", min_size=1, max_size=9), known=st.lists(WORD, unique=True, max_size=3))
def test_a_key_is_split_if_and_only_if_there_is_one_way(key, known):
    ways = {
        (key[:first], key[first + 1 : second], key[second + 1 :])
        for first in range(1, len(key))
        for second in range(first + 2, len(key) - 1)
        if key[first] == key[second] == "_"
    }
    ways = {way for way in ways if not known or way[1] in known}
    (pattern,) = compile_keys(["{split}_{dataset}_{metric}"], datasets=known)
    if len(ways) > 1:
        with pytest.raises(ValidationError, match="several ways"):
            split_key(key, pattern)
    else:
        assert split_key(key, pattern) == (Key(*ways.pop()) if ways else None)


@pytest.mark.parametrize("keys", [["{dataset}"], ["{metric}{metric}"], ["{metric}/{x}"], ["{"]])
def test_patterns_that_make_no_sense_are_refused(keys):
    with pytest.raises(ValidationError, match="is no pattern"):
        compile_keys(keys)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([Logged("t", metrics=[("loss", 1.0)])], r"tracking.keys: no metric .* 'loss'"),
        ([Logged("t", status="KILLED", metrics=[("v/d/m", 1.0)])], "Check tracking.experiments"),
        ([Logged("t")], "no run of the store has a metric"),
        ([], "0 runs, and none"),
    ],
)
def test_a_store_without_evaluations_says_why_and_leaves_an_account(tmp_path, runs, message):
    address = fill_store(tmp_path, runs or [Logged("x", "y")])
    if not runs:
        with open_store(address) as client:
            client.delete_run(client.search_runs(["0", *_list_ids(client)])[0].info.run_id)
    with pytest.raises(ValidationError, match=message):
        read(tmp_path, address)
    assert (tmp_path / "a.json").is_file()
    assert not (tmp_path / "e.parquet").exists()


def _list_ids(client):
    return [one.experiment_id for one in client.search_experiments()]


def test_addresses_that_lead_nowhere_are_refused_in_one_line(tmp_path):
    (tmp_path / "text.db").write_text("no database, but a text that is long enough to be one" * 9)
    sqlite3.connect(tmp_path / "other.db").close()
    (tmp_path / "bare").mkdir()
    faults = {
        "": "no address",
        "postgresql://host/db": "no address",
        str(tmp_path / "none"): "no such folder",
        f"sqlite:///{tmp_path}/none.db": "no such file",
        str(tmp_path / "text.db"): "A database is written sqlite:///",
        f"sqlite:///{tmp_path}/text.db": "damaged",
        f"sqlite:///{tmp_path}/other.db": "no runs of MLflow",
        str(tmp_path / "bare"): "no experiment of MLflow",
    }
    for address, message in faults.items():
        with pytest.raises(ValidationError, match=message) as caught:
            read_store(address)
        assert "\n" not in str(caught.value)
    assert list((tmp_path / "bare").iterdir()) == []


def test_a_database_of_a_newer_mlflow_is_refused(tmp_path):
    address = fill_store(tmp_path, [Logged("t", metrics=[("v/d/m", 1.0)])], "sqlite")
    with sqlite3.connect(address.removeprefix("sqlite:///")) as database:
        database.execute("UPDATE alembic_version SET version_num = 'from the future'")
    database.close()
    before = digest_store(address)
    with pytest.raises(ValidationError, match="newer MLflow"):
        read_store(address)
    assert digest_store(address) == before


def test_what_a_writer_has_not_merged_yet_is_read(tmp_path):
    address = fill_store(tmp_path, [Logged("t", metrics=[("v/d/m", 1.0)])], "sqlite")
    database = sqlite3.connect(address.removeprefix("sqlite:///"))
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("UPDATE metrics SET value = 0.75")
    database.commit()
    try:
        assert digest_store(address).keys() >= {address.removeprefix("sqlite:///") + "-wal"}
        table, _ = read(tmp_path, address)
    finally:
        database.close()
    assert table["value"].tolist() == [0.75]


def test_folders_of_runs_that_mlflow_does_not_recognize_are_listed(tmp_path):
    address = locate("file", tmp_path / "store")
    ids = write_store(address, [Logged(n, metrics=[("v/d/m", 1.0)]) for n in ("a", "b")])
    (folder,) = Path(address).glob(f"*/{ids[0]}")
    (folder / "meta.yaml").unlink()
    table, account = read(tmp_path, address)
    assert table["training"].tolist() == ["b"]
    assert account["unreadable"] == [f"{folder.parent.name}/{ids[0]}"]


def test_a_damaged_metric_is_told_in_one_line(tmp_path):
    address = locate("file", tmp_path / "store")
    (run_id,) = write_store(address, [Logged("a", metrics=[("v/d/m", 1.0)])])
    (file,) = Path(address).glob(f"*/{run_id}/metrics/v/d/m")
    file.write_text("nonsense\n")
    with pytest.raises(ValidationError, match="MLflow cannot read the store") as caught:
        read_store(address)
    assert "\n" not in str(caught.value)


def test_surroundings_are_as_before_and_nothing_is_said(tmp_path, capfd):
    address = fill_store(tmp_path, NESTED, "sqlite")
    capfd.readouterr()
    before, level = dict(os.environ), logging.root.manager.disable
    read_store(address)
    assert (dict(os.environ), logging.root.manager.disable) == (before, level)
    assert capfd.readouterr() == ("", "")


def test_same_store_gives_the_same_bytes(tmp_path):
    address = fill_store(tmp_path, NESTED)
    read(tmp_path, address)
    first = (tmp_path / "e.parquet").read_bytes()
    read(tmp_path, address)
    assert (tmp_path / "e.parquet").read_bytes() == first


def test_a_large_step_beside_a_missing_one_stays_exact():
    # As a float, 2**63 - 512 would be 2**63, which is no 64-bit integer.
    history = [Measurement(0, 0.5, 0), Measurement(2**63 - 512, 0.75, 0)]
    tags = {"dataset": "D", "split": "test", "checkpoint": "last"}
    names = {"experiment": "main", "experiment_id": "1", "run_id": "0", "name": "A"}
    run = TrackedRun(
        **names,
        parent_id="",
        status="FINISHED",
        params={},
        tags=tags,
        metrics={"acc": 0.75},
        history={"acc": history},
    )
    found = tabulate_evaluations([run], status=["FINISHED"], patterns=compile_keys(["{metric}"]))
    steps = found.table["step"]
    assert steps.dtype == "Int64"
    assert steps.dropna().tolist() == [2**63 - 512]


def test_table_has_its_types_whatever_is_in_it(tmp_path):
    table, _ = read(tmp_path, fill_store(tmp_path, [Logged("t", metrics=[("v/d/m", 1.0)])]))
    assert table["value"].dtype == "float64"
    assert pd.api.types.is_integer_dtype(table["step"])
