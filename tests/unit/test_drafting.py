"""Settings drafted from files alone: what they get right, and that they run as they are."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.drafting import draft_study, write_draft
from capmap.drafting.slots import Slot, find_slots, write_pattern
from capmap.errors import CapmapError, ConfigError
from tests.unit.test_presets import CASES as PRESETS
from tests.unit.test_reading import CASES, read_study, write_files

SHARED = Path(__file__).parents[3] / "shared"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the real exports are not here")
FIELDS = ["model", "dataset", "seed", "score"]
# What no file says: the name of the only dataset.
UNKNOWN = {("seeds in columns", "dataset")}
ROWS = "A,P,0.2\nA,Q,0.25\nB,P,0.3\nB,Q,0.35\n"


def draft_settings(exports):
    """Draft a study, write it as YAML, and read that."""
    text = write_draft(draft_study(exports), "mine")
    return yaml.safe_load(text)["studies"]["mine"]


@pytest.mark.parametrize("case", CASES)
def test_published_structures_are_recognized(case, tmp_path, monkeypatch):
    text, files, *_ = CASES[case]
    monkeypatch.chdir(tmp_path)
    write_files(files, tmp_path)
    wanted = read_study(f"{text}\n        incomplete: adjust\n", tmp_path)
    exports = ["."] if len(files) > 1 else list(files)
    drafted = draft_settings(exports)
    found = read_study(yaml.safe_dump({"incomplete": "adjust"} | drafted), tmp_path)
    chosen = yaml.safe_load(text).get("select", {}).get("datasets", {}).get("exclude", [])
    assert drafted.get("select", {}).get("datasets", {}).get("exclude", []) == chosen
    wrong = {
        (case, name)
        for name in FIELDS
        if sorted(found[name].tolist()) != pytest.approx(sorted(wanted[name].tolist()))
    }
    assert wrong <= UNKNOWN


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "rliable"])
def test_files_of_a_tool_are_recognized(preset, tmp_path, monkeypatch):
    content, path, *_ = PRESETS[preset]
    monkeypatch.chdir(tmp_path)
    write_files({path: content if isinstance(content, str) else json.dumps(content)}, tmp_path)
    assert draft_settings([path])["preset"] == preset


# The path below the shared data, and what the draft has to say, by the paths of settings.
REAL = {
    "atari100k/runs.csv": {
        "metrics": {"raw_score": {"direction": "max", "low": "observed", "high": "observed"}}
    },
    "capabilities/data.csv": {
        "format": "matrix",
        "header_rows": 2,
        "columns.model": "dataset / variant",
    },
    "demsar2006/table6.csv": {"format": "matrix", "columns": {"score": "{model}"}},
    "geobench/results_and_parameters.csv": {
        "columns": {
            "seed": "Seed",
            "metric": "Metric",
            "model": "backbone",
            "score": "test metric",
        },
        "datasets": {"biomassters": {"direction": "max"}},
        "incomplete": "adjust",
    },
    "openclip/openclip_results.csv": {
        "format": "matrix",
        "columns.model": ["name", "pretrained"],
        "columns.ignore": ["params (M)", "FLOPs (B)", "Average perf. on 38 datasets"],
    },
    "rtdl/all_stats.csv": {
        "columns.model": ["algorithm", "variant"],
        "columns.score": ["accuracy", "rmse"],
        "columns.seed": "run",
        "metrics": {"rmse": {"high": "observed"}},
    },
}


@needs_shared
@pytest.mark.parametrize("path", REAL)
def test_real_exports_are_recognized(path, tmp_path):
    drafted = draft_settings([str(SHARED / "data" / path)])
    for place, expected in REAL[path].items():
        found = drafted
        for key in place.split("."):
            found = found[key]
        assert found == expected
    assert read_study(yaml.safe_dump(drafted), tmp_path).shape[0] > 50


@needs_shared
@pytest.mark.parametrize(
    "path",
    [
        "capabilities/models.csv",
        "capabilities/tasks.csv",
        "openclip/model_profile.csv",
        "geobench/model_info.json",
        "imagenet/real.json",
    ],
)
def test_files_without_scores_are_refused(path):
    with pytest.raises(CapmapError):
        draft_study([str(SHARED / "data" / path)])


def test_what_only_the_user_knows_is_asked(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(
        "model,dataset,metric,score\nA,x,RMSE,2.5\nB,x,RMSE,3\nA,y,quality,7\nC,y,quality,8\n"
    )
    decisions = draft_study([str(path)]).decisions
    assert [text.partition(":")[0] for text in decisions] == ["metrics", "metrics", "incomplete"]
    assert "the worst scores of these models stand for 0" in decisions[0] + decisions[1]
    assert "quality has no natural bounds" in decisions[0] + decisions[1]
    assert "Is a higher quality better?" in decisions[0] + decisions[1]


# Files as published repositories have them, with other numbers, and what a draft has to say.
PUBLISHED = {
    "a JSON per model with several metrics": (
        {
            f"info/{data}/{name}.json": json.dumps(
                {"name": name, "dataset": data, "eps": "8/255"}
                | {"clean_acc": str(80 + place), "autoattack_acc": str(50 + place)}
            )
            for place, name in enumerate(("Bai2024", "Cui2023", "Gowal2020"))
            for data in ("cifar10", "imagenet")
        },
        {"columns": {"model": "name", "score": "clean_acc"}, "metric": "acc"},
    ),
    "an average and a speed among error rates": (
        {
            "asr.csv": "model,Avg. WER,RTFx,License,AMI WER,LS Clean WER,Tedlium WER\n"
            "a/one,5.4,524.9,Open,8.1,1.3,2.5\nb/two,6.1,120.4,Open,9.4,1.9,2.6\n"
            "c/three,7.7,331.0,Open,9.9,2.8,3.4\n"
        },
        {
            "format": "matrix",
            "columns": {"ignore": ["RTFx", "License", "Avg. WER"]},
            "metric": "wer",
            "metrics": {"wer": {"high": "observed"}},
        },
    ),
    "series of datasets, and two tiers": (
        {
            "all.csv": "dataset,series,detector,tier,auc_pr,runtime_s\n"
            + "".join(
                f"{series[0]},{series},{detector},{tier},0.{place + 3}{number}1,1.5\n"
                for number, series in enumerate(("n-1", "n-2", "s-1"))
                for place, detector in enumerate(("lof", "knn"))
                for tier in ("default", "tuned")
            )
        },
        {
            "columns": {
                "dataset": ["dataset", "series"],
                "model": ["detector", "tier"],
                "score": "auc_pr",
            }
        },
    ),
    "metrics of one dataset beside times and a constant setting": (
        {
            "all.csv": "epochs,seed,model_name,ft_metric,train_loss,pred_accuracy,pred_f1,"
            "train_runtime\n"
            + "".join(
                f"30,{seed},{model},f1,0.{place + 2}1,0.9{place}{seed},0.8{place},20{seed}.5\n"
                for place, model in enumerate(("bart", "bert", "t5"))
                for seed in (1, 2)
            )
        },
        {
            "columns": {"model": "model_name", "score": "pred_accuracy"},
            "metric": "accuracy",
            "fields": {"dataset": "all"},
        },
    ),
    "algorithms and environments with versions in one name": (
        {
            f"logs/benchmark/{name}-{game}/0.monitor.csv": '#{"env_id": "x"}\nr,l,t\n'
            f"{place}.5,73,0.1\n{place + 1}.5,80,0.2\n"
            for place, name in enumerate(("a2c", "ppo", "ppo_lstm"))
            for game in ("Ant-v3", "Hopper-v3", "CartPoleNoVel-v1")
        },
        {
            "exports": r"logs/benchmark/{model,[^\-]+}-{dataset}/0.monitor.csv",
            "columns": {"score": "r", "seed": "row"},
            "reading": {"comment": "#"},
        },
    ),
    "means with their spreads and numbers of seeds": (
        {
            "all.csv": "cell,dataset,backbone,n_seeds,acc_mean,acc_std\n"
            "a,x,r18,3,40.2,0.5\nb,x,r50,10,47.7,0.6\nc,y,r18,3,10.1,0.2\nd,y,r50,3,12.9,0.1\n"
        },
        {
            "columns": {
                "model": "backbone",
                "score": "acc_mean",
                "spread": "acc_std",
                "count": "n_seeds",
            }
        },
    ),
}


# A table of a README: headings between the rows, footnotes, short rows, efforts as parts of names.
README = """
| Model            | Prompt  | MMLU | GPQA [^8] | DROP[^5]<br>(F1) | SimpleQA |
|:----------------:|:-------:|:----:|:---------:|:----------------:|:--------:|
| **o3**           |         |      |           |                  |          |    |
| o3-high [^10]    | n/a     | 93.3 | 83.4      | 89.8             | 48.6     |
| o3 [^9] [^10]    | n/a     | 92.9 | 82.8      | 80.6             | 49.4     |
| **Others**       |         |      |
| [L 405b](http://x.org/a_(b)) | chat | 88.6 | 50.7 | 84.8             |
"""


def test_a_table_of_a_readme_is_read_as_it_is_shown(tmp_path):
    (tmp_path / "README.md").write_text(README)
    drafted = draft_settings([str(tmp_path / "README.md")])
    assert drafted["columns"] == {"model": "Model", "ignore": ["Prompt"]}
    runs = read_study(yaml.safe_dump(drafted), tmp_path)
    assert sorted({*runs["model"]}) == ["L 405b", "o3", "o3-high"]
    assert sorted({*runs["dataset"]}) == ["DROP (F1)", "GPQA", "MMLU", "SimpleQA"]
    assert len(runs) == 11


def test_models_of_high_effort_are_no_bounds(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(
        "Language,o3-high,o1,o3-mini,o3-mini-high\nArabic,0.9,0.8,0.7,0.6\n"
        "Bengali,0.8,0.7,0.5,0.7\nFrench,0.7,0.9,0.6,0.8\n"
    )
    assert "ignore" not in draft_settings([str(path)])["columns"]


@pytest.mark.parametrize(
    ("header", "datasets"),
    [
        ("Flickr R@1,Flickr R@5,COCO R@1,COCO R@5", 4),
        ("Hallucination Rate,Answer Rate,Refusal Rate,Average Length (Words)", 3),
    ],
)
def test_ranks_of_recall_and_rates_are_datasets(header, datasets, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("time-cost").mkdir()
    path = Path("time-cost/results.csv")
    path.write_text(f"model,{header}\nA,0.11,0.25,0.37,0.5\nB,0.12,0.31,0.35,0.6\n")
    drafted = draft_settings([str(path)])
    assert drafted["format"] == "matrix"
    assert drafted["metric"] == "score"
    assert len({*read_study(yaml.safe_dump(drafted), tmp_path)["dataset"]}) == datasets
    is_error = "Hallucination" in header
    assert drafted.get("datasets", {}) == (
        {"Hallucination Rate": {"direction": "min"}} if is_error else {}
    )


@pytest.mark.parametrize("case", PUBLISHED)
def test_structures_of_repositories_are_recognized(case, tmp_path, monkeypatch):
    files, wanted = PUBLISHED[case]
    monkeypatch.chdir(tmp_path)
    write_files(files, tmp_path)
    drafted = draft_settings([next(iter(files)).partition("/")[0]])
    assert {name: drafted.get(name) for name in wanted} == wanted
    assert {"take", "datasets"}.isdisjoint(drafted)


@pytest.mark.parametrize(
    ("path", "header", "metric", "direction", "asked"),
    [
        ("t.csv", "algorithm,P,Q", "score", "max", True),
        ("t.csv", "algorithm (error),P,Q", "error", "min", False),
        ("t.csv", "1-AUC,P,Q", "1-AUC", "min", False),
        ("regret.csv", "algorithm,P,Q", "regret", "min", True),
        ("forgetting.csv", "algorithm,P,Q", "forgetting", "min", True),
        ("scores.csv", "algorithm,P,Q", "score", "max", False),
        ("t.csv", "model,P score,Q score", "score", "max", False),
    ],
)
def test_the_direction_of_a_matrix_is_in_its_names_or_asked(
    path, header, metric, direction, asked, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path(path).write_text(f"{header}\nA,0.3,0.6\nB,0.4,0.7\nC,0.2,0.5\n")
    draft = draft_study([path])
    assert draft.settings["metric"] == metric
    assert draft.settings["metrics"][metric]["direction"] == direction
    assert bool(draft.decisions) == asked


def test_the_corner_of_a_matrix_names_its_metric(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("WER,P,Q\nA,0.3,0.6\nB,0.4,0.7\n")
    assert draft_settings([str(path)])["metric"] == "wer"
    path.write_text("model (accuracy),cars,pets\nant,0.3,0.6\nbee,0.4,0.7\n")
    drafted = draft_settings([str(path)])
    assert drafted["columns"] == {"model": "model (accuracy)"}
    assert drafted["metric"] == "accuracy"


@pytest.mark.parametrize(("name", "asked"), [("score", False), ("value", True), ("perf", False)])
def test_a_column_that_is_called_after_scores_says_which_way_is_better(name, asked, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(f"model,dataset,{name}\n{ROWS}")
    decisions = draft_study([str(path)]).decisions
    assert decisions == ["metrics: Is a higher score better?"] * asked


@pytest.mark.parametrize(
    ("header", "metric", "lower", "asked"),
    [
        ("P ↑,Q ↑,R ↓", "score", ["R ↓"], False),
        ("P ↓,Q ↓,R ↓", "error", [], False),
        ("P error,Q error,R error", "error", [], False),
        ("P error,Q,R error", "score", ["P error", "R error"], True),
        ("error detection,error correction,error location", "error", [], True),
        ("time_qa,time_mc,time_order", "time", [], True),
        ("toxicity_detection,squad,qnli", "score", ["toxicity_detection"], True),
    ],
)
def test_lower_is_better_where_a_name_says_so_of_its_scores(
    header, metric, lower, asked, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"Method,{header}\nA,0.3,0.6,0.21\nB,0.4,0.7,0.32\nC,0.2,0.5,0.1\n")
    draft = draft_study(["t.csv"])
    assert draft.settings["metric"] == metric
    assert draft.settings.get("datasets", {}) == {name: {"direction": "min"} for name in lower}
    assert bool(draft.decisions) == asked


@pytest.mark.parametrize(
    ("files", "metric", "asked"),
    [
        ({"r.csv": "model,dataset,1-AUC\n" + ROWS}, "1-AUC", False),
        ({"r.csv": "model,dataset,test_1 \u2212 F1\n" + ROWS}, "test_1 \u2212 F1", False),
        ({"r.csv": "model,dataset,100 - mean recall of all\n" + ROWS}, None, False),
        ({"r.csv": "model,P 1-AUC,Q 1-AUC\nA,0.2,0.3\nB,0.3,0.4\n"}, "1-AUC", False),
        ({"r.csv": "model,dataset,accuracy drop\n" + ROWS}, "accuracy drop", True),
        ({"r.csv": "model,dataset,acc_gap\n" + ROWS}, "acc gap", True),
        ({"r.csv": "model,dataset,dice loss\n" + ROWS}, "dice loss", True),
        ({"accuracy_drop.csv": "model,P,Q\nA,0.2,0.3\nB,0.3,0.4\n"}, "accuracy drop", True),
    ],
)
def test_what_is_lost_of_a_metric_is_another_metric(files, metric, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(files, tmp_path)
    draft = draft_study(list(files))
    assert metric in (None, draft.settings["metric"])
    rule = draft.settings["metrics"][draft.settings["metric"]]
    assert rule == {"direction": "min", "low": 0, "high": 1}
    assert any("Is a lower" in text for text in draft.decisions) == asked


def test_the_change_of_an_error_is_asked_and_a_shot_is_not_taken_from_one(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("r.csv").write_text("model,dataset,error reduction\n" + ROWS)
    assert any("error reduction better?" in text for text in draft_study(["r.csv"]).decisions)
    Path("r.csv").write_text("model,dataset,1-shot accuracy\n" + ROWS)
    assert draft_settings(["r.csv"])["metric"] == "accuracy"


@pytest.mark.parametrize(
    ("header", "score", "asked"),
    [
        ("train_acc,val_acc", "val_acc", True),
        ("val_acc,train_acc", "val_acc", True),
        ("train_acc,dev_acc,test_acc", "test_acc", False),
        ("train_acc", "train_acc", True),
        ("val_acc", "val_acc", False),
        ("acc@5,acc@1", "acc@5", True),
        ("f1,accuracy", "f1", True),
        ("accuracy,macro_f1", "accuracy", True),
        ("accuracy,train_loss", "accuracy", False),
        ("accuracy,train_accuracy", "accuracy", False),
    ],
)
def test_test_scores_come_first_and_columns_alike_are_asked(header, score, asked, tmp_path):
    path = tmp_path / "r.csv"
    scores = ["0.9", "0.7", "0.6"][: header.count(",") + 1]
    rows = [f"{model},D,{seed}," + ",".join(scores) for model in "AB" for seed in (1, 2)]
    path.write_text("\n".join([f"model,dataset,seed,{header}", *rows]))
    draft = draft_study([str(path)])
    assert draft.settings["columns"]["score"] == score
    assert any(text.startswith("columns: Scores are in") for text in draft.decisions) == asked
    without = path.read_text().replace(",D,", ",").replace("dataset,", "")
    path.write_text(without)
    draft = draft_study([str(path)])
    assert asked <= any(text.startswith("columns: ") for text in draft.decisions)


def test_what_a_file_is_called_after_is_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loss_landscape.csv").write_text("model,dataset,score\nA,D,0.3\nB,D,0.6\n")
    (decision,) = draft_study(["loss_landscape.csv"]).decisions
    assert decision == "metric: Is 'loss' the metric, or part of a name?"


def test_fractions_among_percentages_are_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("scores.csv").write_text("model,P,Q,R\nA,90,0.9,88\nB,80,0.7,81\nC,70,0.8,60\n")
    (decision,) = draft_study(["scores.csv"]).decisions
    assert "All scores of the dataset 'Q' are at most 1" in decision


LONG = "A,P,1,{},0.5\nA,P,2,{},0.1\nB,P,1,{},0.6\nB,P,2,{},0.7\n"


@pytest.mark.parametrize(
    ("name", "states", "kept"),
    [
        ("Status", ("FINISHED", "FAILED", "FINISHED", "FINISHED"), "FINISHED"),
        ("State", ("finished", "crashed", "finished", "finished"), "finished"),
        ("run_status", ("Success", "error", "done", "done"), ["Success", "done"]),
        ("status", ("completed", "", "running", "completed"), "completed"),
        ("status", ("ok", "ok", "ok", "ok"), None),
        ("state", ("Ohio", "Utah", "Ohio", "Utah"), None),
    ],
)
def test_runs_that_failed_are_left_out(name, states, kept, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(f"model,dataset,seed,{name},accuracy\n{LONG.format(*states)}")
    draft = draft_study([str(path)])
    assert draft.settings.get("where") == (kept and {name: kept})
    runs = read_study(yaml.safe_dump(draft.settings), tmp_path)
    wanted = states if kept is None else [state for state in states if state in kept and state]
    assert len(runs) == len(wanted)
    left = len(states) - len(wanted)
    assert not left or f"{left} row" in draft.notes["where"][0][1]


def test_a_run_that_was_made_again_is_no_other_model(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("model,P,Q,status\nA,0.1,0.2,failed\nA,0.4,0.5,done\nB,0.3,0.4,done\n")
    drafted = draft_settings([str(path)])
    assert drafted["where"] == {"status": "done"}
    assert drafted["columns"] == {"ignore": ["status"]}
    assert len(read_study(yaml.safe_dump(drafted), tmp_path)) == 4


def write_settings(path, name, cells, *, runs=1):
    """Write scores of two models on two datasets, by a column with some cells."""
    rows = [
        f"{model},{cell},{dataset},0.{place + 3}{row}{run}"
        for place, model in enumerate(("Pythia", "OPT"))
        for row, cell in enumerate(cells)
        for dataset in "DE"
        for run in range(runs)
    ]
    path.write_text("\n".join([f"model,{name},dataset,accuracy", *rows]))


@pytest.mark.parametrize(
    ("name", "cells", "asked"),
    [
        ("params", ("70", "1400"), True),
        ("shots", ("0", "5"), True),
        ("lr", ("0.1", "0.01"), True),
        ("n_train", ("100", "1000"), True),
        ("temperature", ("0.0", "1.0"), True),
        ("size", ("7", "13"), True),
        ("size", ("7B", "13B"), False),
    ],
)
def test_settings_in_numbers_are_no_seeds(name, cells, asked, tmp_path):
    path = tmp_path / "r.csv"
    write_settings(path, name, cells)
    draft = draft_study([str(path)])
    assert draft.settings["columns"] == {"score": "accuracy", "model": ["model", name]}
    assert bool(draft.decisions) == asked
    # Of two runs of each, the column says a part only.
    write_settings(path, name, cells, runs=2)
    draft = draft_study([str(path)])
    assert draft.settings["columns"] == {"score": "accuracy", "seed": "row"}
    (decision,) = draft.decisions
    assert decision.endswith(f"or to be chosen: '{name}'?")


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("runtime", ("1.5", "2.5")),
        ("host", ("n1", "n2")),
        ("date", ("2024-01-01", "2024-01-02")),
        ("git_commit", ("ab1", "cd2")),
        ("created_at", ("12:00", "13:00")),
    ],
)
def test_when_and_where_a_run_was_is_no_model(name, cells, tmp_path):
    path = tmp_path / "r.csv"
    write_settings(path, name, cells)
    draft = draft_study([str(path)])
    assert draft.settings["columns"] == {"score": "accuracy", "seed": "row"}
    assert draft.decisions == []


def test_rows_of_means_and_spreads_are_left_out(tmp_path):
    path = tmp_path / "runs.csv"
    rows = [f"A,d,{seed},0.5{seed}" for seed in range(2)] + ["A,d,mean,0.505", "A,d,std,0.007"]
    path.write_text("\n".join(["model,dataset,seed,accuracy", *rows]))
    assert draft_settings([str(path)])["where"] == {"seed": ["0", "1"]}


def test_fields_in_braces_are_found_by_the_draft_itself():
    with pytest.raises(ConfigError, match=r"runs/\*/\*\.csv"):
        draft_study(["runs/{model}/{dataset}.csv"])


def test_other_files_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(
        {
            "in/results.csv": "model,dataset,accuracy\nA,x,0.5\nB,x,0.6\n",
            "in/models.csv": "name,params,year\nA,3,2020\nB,4,2021\n",
        },
        tmp_path,
    )
    draft = draft_study(["in"])
    assert draft.settings["exports"] == "in/results.csv"
    assert "in/models.csv" in str(draft.notes["exports"])


@pytest.mark.parametrize("exports", ["none.csv", "empty"])
def test_what_is_not_there_is_told(exports, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=exports):
        draft_study([exports])


names = st.lists(
    st.text(st.sampled_from("ab1_-./"), min_size=1, max_size=12), min_size=1, max_size=6
)


@given(names)
def test_slots_make_up_every_name(found):
    pieces = find_slots(found)
    for number, name in enumerate(found):
        parts = (p.values[number] if isinstance(p, Slot) else p for p in pieces)
        assert "".join(parts) == name
    assert write_pattern(pieces, {}).count("*") == sum(isinstance(p, Slot) for p in pieces)


cells = st.one_of(
    st.sampled_from(["", "A", "B", "0.5", "12", "0,7", "91%", "nan", "0.9 (0.1)", "seed", "model"]),
    st.text(st.sampled_from('ab1,;|"% '), max_size=6),
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.lists(cells, min_size=1, max_size=5), min_size=1, max_size=6),
    st.sampled_from(",;\t"),
)
def test_any_table_is_drafted_or_refused(tmp_path_factory, rows, delimiter):
    path = tmp_path_factory.mktemp("t") / "t.csv"
    path.write_text("\n".join(map(delimiter.join, rows)) + "\n")
    try:
        draft = draft_study([str(path)])
    except CapmapError:
        return
    assert yaml.safe_load(write_draft(draft, "t"))["studies"]["t"] == draft.settings
