"""A submission comes out of a tracking store as terratorch-iterate leaves it, with nothing lost."""

import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from capmap.artifacts import read_json, read_table
from capmap.errors import ValidationError
from capmap.tracking.store import TrackedRun
from capmap.tracking.terratorch import RESULTS, collect_runs
from collect_submission import collect_submission
from tests.tracking_stores import Logged, digest_store, fill_store, write_store

SHARED = Path(__file__).parents[3] / "shared/data/geobench"
REQUIRED = {
    *("backbone", "dataset", "Metric", "experiment_name", "partition name", "decoder"),
    *("batch_size_selection", "early_stop_patience", "n_trials", "Seed", "data_percentages"),
    *("batch_size", "weight_decay", "lr", "test metric", "frozen_or_full_ft"),
}
TAGS = {
    "backbone": "resnet50",
    "decoder": "UNet",
    "early_stop_patience": "10",
    "n_trials": "16",
    "partition_name": "default",
}
PARAMS = {"optimizer_hparams": "{'lr': 0.001}", "batch_size": "8"}
TOP = Logged("top_run_exp", "exp", params={"weight_decay": "0.01", "freeze_backbone": "False"})
NAMES = ("results", "description", "incomplete", "account")
F1 = "test_test/Multilabel_F1_Score"


def make_seeds(dataset: str, seeds, parent: int, metric: str = F1):
    return [
        Logged(f"{dataset}_{seed}", "exp", parent=parent, metrics=[(metric, seed / 1000)])
        for seed in seeds
    ]


def make_runs():
    """List an experiment with two datasets, one of which has an underscore."""
    return [
        TOP,
        Logged("treesatai", "exp", parent=0, tags=TAGS, params=PARAMS),
        Logged("dynamic_earthnet", "exp", parent=0, tags=TAGS | {"decoder": "FCN"}),
        *make_seeds("treesatai", [0, 1, 2, 3, 4], 1),
        *make_seeds("dynamic_earthnet", [12, 13, 14, 15, 16, 17], 2, "test_test_map"),
    ]


def collect(tmp_path: Path, address: str, **options):
    """Collect a submission, and return its results, what is incomplete, and the account."""
    places = {name: str(tmp_path / name) for name in NAMES}
    options = {
        "experiments": [],
        "status": ["FINISHED"],
        "information": [],
        "benchmark": [],
        "seeds_per_cell": 5,
    } | options
    collect_submission(store=address, **places, **options)
    tables = (read_table(places[name]) for name in ("results", "incomplete"))
    return *tables, read_json(places["account"])


@pytest.mark.parametrize("kind", ["sqlite", "file"])
def test_complete_store_becomes_a_table_with_the_required_columns(tmp_path, kind):
    address = fill_store(tmp_path, make_runs(), kind)
    before = digest_store(address)
    results, incomplete, account = collect(tmp_path, address)
    assert digest_store(address) == before
    assert set(results.columns) == REQUIRED
    assert len(results.columns) == len(RESULTS) == 16
    assert incomplete.empty
    first = results[results["dataset"] == "treesatai"]
    # The seed 0 scored 0, which is a score.
    assert first["test metric"].tolist() == [0.0, 0.001, 0.002, 0.003, 0.004]
    assert first["Seed"].astype(int).tolist() == [0, 1, 2, 3, 4]
    assert first.iloc[0].drop(["Seed", "test metric"]).to_dict() == {
        "dataset": "treesatai",
        "Metric": "Multilabel_F1_Score",
        "experiment_name": "exp",
        "batch_size": 8,
        "lr": 0.001,
        "decoder": "UNet",
        "backbone": "resnet50",
        "early_stop_patience": 10,
        "n_trials": 16,
        "data_percentages": 100,
        "batch_size_selection": "HPO",
        "weight_decay": 0.01,
        "partition name": "100%",
        "frozen_or_full_ft": "full_ft",
    }
    second = results[results["dataset"] == "dynamic_earthnet"]
    assert second["Seed"].astype(int).tolist() == [12, 13, 14, 15, 16, 17], "all six are kept"
    assert set(second["Metric"]) == {"test_test_map"}
    assert set(second["decoder"]) == {"FCN"}
    assert account["not_found"] == [
        {"experiment": "exp", "dataset": "dynamic_earthnet", "column": column, "rows": 6}
        for column in ("batch_size", "batch_size_selection", "lr")
    ]
    assert len(account["rows"]) == len(results)
    assert account["other_runs"] == []


def test_every_reason_for_an_incomplete_cell_is_listed(tmp_path):
    runs = make_runs()
    runs[3] = replace(runs[3], status="FAILED")
    runs[4] = replace(runs[4], metrics=[("val/loss", 0.5)])
    runs[5] = replace(runs[5], metrics=[(F1, math.nan)])
    runs[7] = replace(runs[7], name="treesatai_3")
    results, incomplete, _ = collect(tmp_path, fill_store(tmp_path, runs))
    trees = results[results["dataset"] == "treesatai"]
    assert trees["Seed"].astype(int).tolist() == [2, 3, 3], "both runs of seed 3 are kept"
    assert trees["test metric"].isna().tolist() == [True, False, False]
    assert incomplete.to_dict("records") == [
        {
            "experiment": "exp",
            "backbone": "resnet50",
            "dataset": "treesatai",
            "seeds_found": 2,
            "seeds_missing": 3,
            "reason": "no test metric: treesatai_1; score is NaN: treesatai_2; "
            "seed 3 in 2 runs: treesatai_3; status FAILED: treesatai_0",
        }
    ]


def test_a_benchmark_names_metrics_and_missing_datasets(tmp_path):
    definition = tmp_path / "benchmark.yaml"
    definition.write_text(
        "title: T\ndescription: D\n"
        "datasets:\n"
        "  treesatai: {metric: Multilabel_F1_Score, direction: max, description: D}\n"
        "  dynamic_earthnet: {metric: Other, direction: max, description: D}\n"
        "  pastis: {metric: Other, direction: max, description: D}\n"
        "dimensions: {All of it: [treesatai, dynamic_earthnet, pastis]}\nmodels: {}\n"
    )
    runs = [*make_runs(), Logged("unheard_of_3", "exp", metrics=[(F1, 0.5)])]
    results, incomplete, account = collect(
        tmp_path, fill_store(tmp_path, runs), benchmark=[str(definition)]
    )
    assert set(results["dataset"]) == {"treesatai"}
    rows = incomplete.set_index("dataset")
    assert rows["seeds_missing"].to_dict() == {"dynamic_earthnet": 5, "pastis": 5}
    assert rows.loc["pastis", "reason"] == "no runs"
    assert rows.loc["dynamic_earthnet", "reason"].startswith("no test metric 'Other'")
    assert account["other_runs"] == [
        {"experiment": "exp", "status": "FINISHED", "runs": 1, "names": ["unheard_of_3"]}
    ]


def test_store_of_the_search_and_store_of_repeated_runs_belong_together(tmp_path):
    # The runs of the search are called like runs of seeds, and are none.
    search = [
        TOP,
        Logged("treesatai", "exp", parent=0, tags=TAGS, params=PARAMS),
        Logged("treesatai_0", "exp", parent=1, metrics=[(F1, 0.9)]),
        Logged("treesatai_1", "exp", parent=1, metrics=[(F1, 0.8)]),
    ]
    name = "exp_repeated_exp"
    repeated = [
        Logged("resnet50", name, status="RUNNING"),
        *(Logged(f"treesatai_{s}", name, parent=0, metrics=[(F1, 0.5)]) for s in range(40, 45)),
    ]
    write_store(str(tmp_path / "runs"), search)
    write_store(str(tmp_path / "runs_repeated_exp"), repeated)
    for experiments in ([], ["exp"]):
        results, incomplete, account = collect(
            tmp_path, str(tmp_path / "runs"), experiments=experiments
        )
        assert results["Seed"].astype(int).tolist() == [40, 41, 42, 43, 44]
        assert set(results["test metric"]) == {0.5}
        assert set(results["lr"]) == {0.001}
        assert set(results["experiment_name"]) == {"exp"}
        assert incomplete.empty
        assert account["other_runs"][0]["names"] == ["treesatai_0", "treesatai_1"]
    together = fill_store(tmp_path, [*search, *(replace(r, parent=None) for r in repeated)])
    assert len(collect(tmp_path, together, experiments=["exp"])[0]) == 5


def test_parameters_are_found_wherever_they_are(tmp_path):
    notes = {
        "model_args.decoder": "UperNet",
        "learning_rate": "1e-4",
        "terratorch_task": "{'optimizer': {'weight_decay': 0.05}}",
        "batch_size": "16",
        "early_stop_patience": "None",
        "partition_name": "0.50x_train",
        "freeze_backbone": "True",
        "n_trials": "10",
    }
    runs = [Logged("a_1", "backbone x", params=notes, metrics=[("test/Acc", 0.5)])]
    results, incomplete, account = collect(tmp_path, fill_store(tmp_path, runs))
    found = results.iloc[0]
    assert found[["decoder", "lr", "weight_decay"]].tolist() == ["UperNet", 1e-4, 0.05]
    assert found[["batch_size", "batch_size_selection"]].tolist() == [16, "Fixed"]
    assert found[["data_percentages", "partition name"]].tolist() == [50, "50%"]
    assert found[["frozen_or_full_ft", "Metric"]].tolist() == ["frozen", "Acc"]
    assert pd.isna(found["early_stop_patience"])
    # Nobody noted the backbone, so it is called like the experiment, and that is said.
    assert found["backbone"] == "backbone x"
    assert [one["column"] for one in account["not_found"]] == ["backbone", "early_stop_patience"]
    assert incomplete["seeds_missing"].tolist() == [4]


def test_hostile_names_stay_what_they_are(tmp_path):
    backbone = '=HYPERLINK("x")'
    runs = [
        Logged("<b>_1", "exp", tags={"backbone": backbone, "lr": "-1"}, metrics=[(F1, 0.5)]),
        Logged(
            "../x_2", "exp", params={"model_args": "{'a': __import__('os')}"}, metrics=[(F1, 1)]
        ),
    ]
    results, _, _ = collect(tmp_path, fill_store(tmp_path, runs))
    assert dict(zip(results["backbone"], results["dataset"], strict=True)) == {
        backbone: "<b>",
        "exp": "../x",
    }
    assert "'=HYPERLINK" in (tmp_path / "results").read_text()
    assert results["lr"].tolist()[0] == -1


def test_without_any_seed_run_the_store_is_refused_and_the_account_is_there(tmp_path):
    with pytest.raises(ValidationError, match="none of 1 run is a finished run"):
        collect(tmp_path, fill_store(tmp_path, [TOP]))
    assert (tmp_path / "account").is_file()
    assert not (tmp_path / "results").exists()


def test_information_is_copied_as_it_is(tmp_path):
    source = tmp_path / "elsewhere.json"
    source.write_bytes(b'{"License": "MIT"}')
    address = fill_store(tmp_path, make_runs())
    collect(tmp_path, address, information=[str(source)])
    assert (tmp_path / "description").read_bytes() == source.read_bytes()
    with pytest.raises(ValidationError, match=r"tracking\.information"):
        collect(tmp_path, address, information=[str(tmp_path / "absent.json")])


def make_tracked(name: str, **options) -> TrackedRun:
    plain = {
        "experiment": "e",
        "experiment_id": "1",
        "run_id": name,
        "name": name,
        "parent_id": "",
        "status": "FINISHED",
        "params": {},
        "tags": {},
        "metrics": {F1: 0.5},
        "history": {},
    }
    return TrackedRun(**plain | options)


def test_order_of_runs_does_not_matter():
    runs = [make_tracked(f"d_{seed}") for seed in range(4)] + [make_tracked("c_9")]
    options = {"status": ["FINISHED"], "metrics": {}, "seeds_per_cell": 5}
    one, other = (collect_runs(part, **options) for part in (runs, runs[::-1]))
    pd.testing.assert_frame_equal(one.results, other.results)
    pd.testing.assert_frame_equal(one.incomplete, other.incomplete)
    assert one.rows == other.rows


def test_runs_in_a_circle_and_several_test_metrics_end_in_a_list():
    runs = [
        make_tracked("a", parent_id="b", metrics={}),
        make_tracked("b", parent_id="a", metrics={}),
        make_tracked("d_1", parent_id="a", metrics={"test/x": 1.0, "test/y": 2.0, "test/loss": 3}),
    ]
    found = collect_runs(runs, status=["FINISHED"], metrics={}, seeds_per_cell=1)
    assert found.results.empty
    assert found.incomplete["reason"].tolist() == ["several test metrics (test/x, test/y): d_1"]


@pytest.mark.slow
def test_real_submission_survives_the_way_through_a_store(tmp_path):
    path = SHARED / "results_and_parameters.csv"
    if not path.is_file():
        pytest.skip("the shared data is not here")
    table = pd.read_csv(path)
    table = table[table["backbone"] == "resnet50"].astype({"Seed": "int64"})
    runs: list[Logged] = []
    for (experiment, dataset), own in table.groupby(["experiment_name", "dataset"]):
        first = own.iloc[0]
        parent = len(runs)
        patience = first["early_stop_patience"]
        tags = {"early_stop_patience": "None" if pd.isna(patience) else f"{patience:g}"}
        names = ["decoder", "backbone", "n_trials", "partition_name", "frozen_or_full_ft"]
        tags |= {name: str(first[name]) for name in [*names, "batch_size_selection"]}
        params = {name: str(first[name]) for name in ("batch_size", "weight_decay")}
        params["optimizer_hparams"] = str({"lr": float(first["lr"])})
        # Two datasets are called otherwise than their runs, which a tag says.
        task = first["mlflow_run_name"].rpartition("_")[0]
        tags |= {} if task == dataset else {"dataset": dataset}
        runs.append(Logged(task, experiment, tags=tags, params=params))
        for row in own.to_dict("records"):
            metric = row["Metric"]
            key = metric if metric.startswith("test_test_") else f"test_test/{metric}"
            metrics = [(key, row["test metric"]), ("test/loss", 0.5), ("val/x", 0.1)]
            runs.append(Logged(row["mlflow_run_name"], experiment, parent, metrics=metrics))
    results, incomplete, _ = collect(tmp_path, fill_store(tmp_path, runs))
    order = ["experiment_name", "dataset", "Seed"]
    wanted = table[list(RESULTS)].sort_values(order, ignore_index=True)
    found = results.astype({"Seed": "int64"}).sort_values(order, ignore_index=True)
    pd.testing.assert_frame_equal(found, wanted, check_dtype=False)
    assert len(found) == 95
    assert incomplete.empty
