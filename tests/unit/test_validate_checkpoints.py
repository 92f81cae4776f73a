"""Reading, choosing and ranking checkpoints, from files to files."""

import json
from pathlib import Path

import pandas as pd
import pytest

from capmap.artifacts import read_parquet, read_table
from capmap.errors import ValidationError
from tests.checkpoint_tables import HEADER
from tests.steps import read_step, run_step
from tests.toy_settings import RULES
from validate import validate

EXAMPLE = Path(__file__).parents[2] / "data/checkpoints"
DEFAULTS = RULES | {"format": "checkpoints", "checkpoints": {"rankings": []}, "rankings": []}
GOOD = "".join(
    f"{model},{model}{run},step={step},{benchmark},accuracy,{split},{score / 100}\n"
    for model, start in (("A", 50), ("B", 60))
    for run in (1, 2)
    for step, more in ((1, 0), (2, 7), (3, 3))
    for benchmark, ease in (("D", 0), ("E", 10))
    for split, less in (("validation", 0), ("test", 5))
    for score in [start + more + ease - less + run]
)


def write(folder, text, name="export.csv"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def run(folder, *exports, **settings):
    """Validate a study as its rule does; returns its values, runs and summary."""
    outputs = {
        "evaluations": str(folder / "evaluations.parquet"),
        "runs": str(folder / "runs.parquet"),
        "validation": str(folder / "validation.json"),
        "rejected": str(folder / "rejected.csv"),
    }
    validate(exports=list(exports), **outputs, **(DEFAULTS | {"names": list(exports)} | settings))
    summary = json.loads(Path(outputs["validation"]).read_text("utf-8"))
    return read_parquet(outputs["evaluations"]), read_parquet(outputs["runs"]), summary


def find_codes(folder, *exports, **settings):
    """Validate a study that has faults; returns its message and the rejected rows."""
    with pytest.raises(ValidationError) as caught:
        run(folder, *exports, **settings)
    return str(caught.value), read_table(folder / "rejected.csv")


def test_good_exports_become_values_and_runs(tmp_path):
    path = write(tmp_path, HEADER + GOOD)
    values, runs, _ = run(tmp_path, path)
    assert list(values) == [
        *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed"),
        *("value", "source", "line"),
    ]
    assert values["step"].dtype == "int64"
    assert len(values) == 48
    # The second step is best. On the test split, A1 has 0.50 + 0.07 - 0.05 + 0.01 on D.
    assert runs.iloc[0].to_list() == [
        *("A", "D", "accuracy", "A1", 0.53, path, 7),
        *("A1", "step=2", "2"),
    ]
    assert list(runs)[-3:] == ["training", "checkpoint", "step"]
    assert len(runs) == 8


def test_trainings_are_models_where_no_model_is_named(tmp_path):
    text = "training,checkpoint,benchmark,metric,value\nr,1,D,accuracy,0.5\ns,1,D,accuracy,0.4\n"
    _, runs, summary = run(tmp_path, write(tmp_path, text))
    assert runs[["model", "seed", "training"]].to_numpy().tolist() == [
        ["r", "", "r"],
        ["s", "", "s"],
    ]
    assert [problem["code"] for problem in summary["warnings"]] == ["no_splits", "one_seed"]


def test_columns_may_have_other_names_and_be_joined(tmp_path):
    text = "net,seed,epoch,task,dev\n" + "".join(
        f"{net},{seed},{epoch},D,0.{epoch}{seed}\n"
        for net in "AB"
        for seed in (1, 2)
        for epoch in (1, 2)
    )
    columns = {"model": "net", "training": ["net", "seed"], "checkpoint": "epoch"}
    columns |= {"dataset": "task", "score": "dev"}
    _, runs, _ = run(tmp_path, write(tmp_path, text), columns=columns, metric="accuracy")
    assert runs[["model", "training", "seed", "checkpoint"]].to_numpy().tolist() == [
        ["A", "A / 1", "1", "2"],
        ["A", "A / 2", "2", "2"],
        ["B", "B / 1", "1", "2"],
        ["B", "B / 2", "2", "2"],
    ]


def test_everything_that_is_wrong_is_told_at_once(tmp_path):
    text = HEADER + GOOD
    text += "A,A1,last.ckpt,D,accuracy,validation,0.5\n"  # 50: no number
    text += "A,A1,step=1,D,accuracy,validation,0.9\n"  # 51: differs from line 2
    text += "A,,step=1,D,accuracy,validation,0.9\n"  # 52: no training
    text += "A,A1,step=1,D,loss,validation,nan\n"  # 53: no number
    text += "A,A9,step=1,D,accuracy,test,0.9\n"  # 54: no value to choose by
    text += "A,A1,epoch=4,D,accuracy,validation,0.9\n"  # 55: counts epochs
    checkpoints = {"select": {"metric": "accurcy"}}
    message, _ = find_codes(tmp_path, write(tmp_path, text), checkpoints=checkpoints)
    for code in ("no_step", "duplicate", "empty_training", "nan_score", "mixed_steps"):
        assert f"1 {code}" in message
    assert "1 unknown_metric" in message
    message, rejected = find_codes(tmp_path, write(tmp_path, text))
    assert "1 no_candidate" in message
    assert "value 'A9': 1 of 1 checkpoints of the training 'A9' cannot be chosen" in message
    lines = rejected.loc[rejected["line"] > 0, "line"].tolist()
    assert lines == [50, 51, 52, 53, 55]
    assert rejected["remedy"].ne("").all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"select": {"split": "valid"}}, "Did you mean 'validation'? The splits are 'test', 'val"),
        ({"select": {"split": "test"}}, "checkpoints.allow_test_selection: true"),
        ({"select": {"metric": "loss"}}, "The metrics are 'accuracy'"),
    ],
)
def test_settings_that_do_not_fit_are_told_with_a_remedy(tmp_path, settings, message):
    found, _ = find_codes(tmp_path, write(tmp_path, HEADER + GOOD), checkpoints=settings)
    assert message in found


def test_an_unknown_metric_needs_a_direction(tmp_path):
    text = write(tmp_path, (HEADER + GOOD).replace("accuracy", "quality"))
    message, _ = find_codes(tmp_path, text)
    assert "whether its higher or its lower value is better" in message
    run(tmp_path, text, metrics={"quality": {"direction": "max", "low": 0, "high": 1}})


def test_a_choice_that_was_not_evaluated_where_it_is_reported_is_a_fault(tmp_path):
    rows = [row for row in GOOD.splitlines() if not row.startswith("A,A1,step=2") or "val" in row]
    message, _ = find_codes(tmp_path, write(tmp_path, HEADER + "\n".join(rows) + "\n"))
    assert "The checkpoint 'step=2' that is chosen of the training 'A1' has no value" in message


def test_the_example_has_its_known_best_steps(tmp_path):
    checkpoints = {
        "select": {"metric": "accuracy"},
        "rankings": [
            {"name": "best"},
            {"name": "mixed", "expression": "0.7*accuracy - 0.3*ece"},
        ],
    }
    run(tmp_path, str(EXAMPLE / "evaluations.csv"), checkpoints=checkpoints)
    run_step(
        "rank_checkpoints",
        tmp_path,
        {},
        study="example",
        settings=checkpoints,
        metric="",
        metrics={},
        datasets={},
        n_resamples=200,
        confidence_level=0.95,
        seed=0,
    )
    found = read_step("rank_checkpoints", tmp_path)
    selected = found["selected"]
    best = read_table(EXAMPLE / "best_steps.csv")
    pd.testing.assert_frame_equal(selected[["model", "training", "step"]], best)
    # Where accuracy falls by 2e-8 per squared step, the last of run 1 of Dense-L, 1000 steps after
    # the best one, has 0.02 less on each dataset; the gain shows on the test split as well.
    assert selected["gain_report"].to_numpy() == pytest.approx(selected["optimism_last"], abs=0.02)
    ranking = found["checkpoint_rankings"]
    assert ranking.loc[ranking["ranking"] == "best", "model"].unique().tolist() == [
        *("Dense-L", "Sparse-L", "Dense-S", "Sparse-S")
    ]
    # 12 trainings and 4 models at 6 steps, with 2 metrics on 2 splits.
    assert len(found["curves"]) == (12 + 4) * 6 * 2 * 2


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ("E,accuracy,test", "E,accuracy,Test", ["alike_names", "not_compared"]),
        ("E,accuracy,validation", "E,accuracy,Validation", ["alike_names"]),
        ("E,accuracy,test", "E,accuracy,train", ["not_compared"]),
        ("E,accuracy,test", "E,Accuracy,test", ["alike_names"]),
        ("A,A2", "A,a-1", ["alike_names"]),
        ("A,A2", "A,b1", []),
    ],
)
def test_what_drops_out_by_its_spelling_is_told(tmp_path, old, new, codes):
    *_, summary = run(tmp_path, write(tmp_path, HEADER + GOOD.replace(old, new)))
    assert sorted(one["code"] for one in summary["warnings"]) == codes
