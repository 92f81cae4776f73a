"""The choice of checkpoints, checked together with what it needs of rules, runs and rankings."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.checkpoints.plan import Plan, Settings, plan_selection
from capmap.checkpoints.rankings import check_rankings
from capmap.checkpoints.selection import (
    choose_checkpoints,
    count_choices,
    find_absent_datasets,
    find_unreported,
    gather_runs,
)
from capmap.exports import Exports
from capmap.exports.checkpoints import check_evaluations, read_evaluations
from capmap.exports.files import check_digests
from capmap.metrics import canonical_name
from capmap.normalization import Rules
from capmap.normalization.bounds import resolve_bounds
from capmap.normalization.selection import select_runs
from capmap.problems import Problem
from capmap.renaming import list_metrics
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.validation.rows import reject_rows
from capmap.validation.scores import find_misfits

PERCENTAGES = ("percent", "mixed_percent")
ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]
EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]


def check_checkpoints(
    exports: Sequence[str],
    *,
    names: Sequence[str],
    checkpoints: Settings,
    **settings: Any,
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read values of checkpoints, choose one per training, and find everything that is wrong."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.table, renamed)
    sound = reject_rows(table, read.exports.problems, policy=settings["invalid"])
    values, faults = check_evaluations(sound.runs, read.columns, duplicates=settings["duplicates"])
    plan, doubts = plan_selection(values, checkpoints, metric=settings["metric"], rules=rules)
    listed = choose_checkpoints(values, plan)
    if values.empty:
        doubts = []  # the files are at fault, and not the settings
    elif not any(problem.severity == "error" for problem in doubts):
        doubts += check_rankings(settings["rankings"], values, plan)
    analysed, _ = select_runs(values, datasets=settings["select"].get("datasets", "all"))
    compared = gather_runs(values, listed, plan)
    # The rules of metrics that checkpoints are chosen, but not compared by, say nothing of runs.
    read_only = {*map(canonical_name, values["metric"].unique())}
    read_only -= {*map(canonical_name, compared["metric"].unique())}
    kept = {
        name: rule for name, rule in rules.metrics.items() if canonical_name(name) not in read_only
    }
    result = validate_runs(
        compared,
        [
            *check_digests(exports, settings["checksums"], names=names),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
            *find_unreported(values, listed, plan),
            *find_absent_datasets(analysed, listed, plan, incomplete=settings["incomplete"]),
        ],
        rules=replace(rules, metrics=kept),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    evaluations = values.sort_values(ORDER, ignore_index=True)
    made = {
        "evaluations": evaluations.rename(columns={"score": "value"})[EVALUATIONS],
        "validation": {"checkpoints": count_choices(values, listed, plan)},
    }
    return read.exports, _look_at_all(result, values, plan, rules), made


def _look_at_all(result: Validation, values: pd.DataFrame, plan: Plan, rules: Rules) -> Validation:
    """Look for percentages among fractions in the values of all checkpoints, not of chosen ones."""
    is_compared = values["dataset"].map(plan.primary) == values["metric"]
    rows = values[is_compared & values["split"].isin([plan.split, plan.report])]
    bounds, _ = resolve_bounds(
        rows,
        metrics=rules.metrics,
        datasets=rules.datasets,
        normalization=rules.normalization,
        references=rules.references,
    )
    converted = [name for name, rule in rules.datasets.items() if "transform" in rule]
    found: list[Problem] = [
        problem
        for problem in find_misfits(rows, bounds, transformed=converted)
        if problem.code in PERCENTAGES
    ]
    others = [problem for problem in result.problems if problem.code not in PERCENTAGES]
    return replace(result, problems=others).add_problems(found)
