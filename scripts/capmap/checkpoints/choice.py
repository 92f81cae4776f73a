"""The choice of checkpoints, checked together with what it needs of rules, runs and rankings."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.checkpoints.plan import Plan, Settings, plan_selection
from capmap.checkpoints.rankings import check_rankings
from capmap.checkpoints.selection import choose_checkpoints, find_absent_datasets, find_unreported
from capmap.metrics import canonical_name
from capmap.normalization import Rules
from capmap.normalization.selection import select_runs
from capmap.problems import Problem

ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]
EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]


def leave_out_choosing(rules: Rules, values: pd.DataFrame, compared: pd.DataFrame) -> Rules:
    """Leave out the rules of metrics that checkpoints are chosen, but not compared by."""
    read, ranked = ({*map(canonical_name, rows["metric"].unique())} for rows in (values, compared))
    kept = {
        name: rule
        for name, rule in rules.metrics.items()
        if canonical_name(name) not in read - ranked
    }
    return replace(rules, metrics=kept)


def choose(
    values: pd.DataFrame,
    checkpoints: Settings,
    rankings: Sequence[Mapping[str, Any]],
    *,
    metric: str,
    rules: Rules,
) -> tuple[Plan, pd.DataFrame, list[Problem]]:
    """Choose checkpoints, and find what is wrong with the plan of that or with rankings."""
    plan, doubts = plan_selection(values, checkpoints, metric=metric, rules=rules)
    listed = choose_checkpoints(values, plan)
    if values.empty:
        return plan, listed, []  # the files are at fault, and not the settings
    if any(problem.severity == "error" for problem in doubts):
        return plan, listed, doubts
    return plan, listed, [*doubts, *check_rankings(rankings, values, plan)]


def find_lacks(
    values: pd.DataFrame,
    listed: pd.DataFrame,
    plan: Plan,
    settings: Mapping[str, Any],
) -> list[Problem]:
    """Find trainings, and analysed datasets, that are not compared or not chosen by."""
    analysed, _ = select_runs(values, datasets=settings["select"].get("datasets", "all"))
    policy = settings["incomplete"]
    return [
        *find_unreported(values, listed, plan),
        *find_absent_datasets(analysed, listed, plan, incomplete=policy),
    ]


def arrange_values(values: pd.DataFrame) -> pd.DataFrame:
    """Sort values, and name their columns, as `evaluations.parquet` keeps them."""
    ordered = values.sort_values(ORDER, ignore_index=True)
    return ordered.rename(columns={"score": "value"})[EVALUATIONS]
