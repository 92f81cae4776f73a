"""Small tables of checkpoints, and a plain second opinion on what is chosen of them."""

import pandas as pd

from capmap.checkpoints.selection import plan_selection
from capmap.normalization.precedence import Rules

HEADER = "model,training,checkpoint,benchmark,metric,split,value\n"
NO_RULES = Rules({}, {}, {}, {})
COLUMNS = ["model", "training", "step", "dataset", "metric", "split", "score"]


def make_values(rows):
    """Make a table of values from (model, training, step, dataset, metric, split, score)."""
    table = pd.DataFrame(list(rows), columns=COLUMNS).astype({"step": "int64", "score": "float64"})
    table["checkpoint"] = "step=" + table["step"].astype("str")
    table["seed"] = table["training"]
    table["raw"] = table["score"].astype("str")
    return table.assign(source="a.csv", line=range(2, len(table) + 2), column="value")


def make_training(scores, *, training="run", split="validation", metric="accuracy", dataset="D"):
    """Make the values of one training with steps from 1 on."""
    return [
        ("M", training, step, dataset, metric, split, score)
        for step, score in enumerate(scores, start=1)
    ]


def plan(values, **settings):
    """Plan the choice of checkpoints; fails where that finds an error."""
    if "test" not in set(values["split"]):
        settings = {"report": {"split": "validation"}, "allow_test_selection": True, **settings}
    found, problems = plan_selection(values, settings, metric="", rules=NO_RULES)
    assert [problem for problem in problems if problem.severity == "error"] == []
    return found


def choose_by_hand(values, metric, split, *, best):
    """Choose by plain loops: normalize each dataset, average, take the first best step."""
    rows = [row for row in values.to_dict("records") if row["split"] == split]
    rows = [row for row in rows if row["metric"] == metric]
    datasets = sorted({row["dataset"] for row in rows})
    ends = {}
    for name in datasets:
        scores = [row["score"] for row in rows if row["dataset"] == name]
        ends[name] = (min(scores), max(scores))
    chosen = {}
    for training in sorted({row["training"] for row in rows}):
        winner = None
        for step in sorted({row["step"] for row in rows if row["training"] == training}):
            total = 0.0
            for name in datasets:
                (score,) = [
                    row["score"]
                    for row in rows
                    if (row["training"], row["step"], row["dataset"]) == (training, step, name)
                ]
                low, high = ends[name]
                share = 0.5 if high == low else (score - low) / (high - low)
                total += share if best == "max" else 1 - share
            if winner is None or total > winner[0] + 1e-9:
                winner = (total, step)
        chosen[training] = winner[1]
    return chosen
