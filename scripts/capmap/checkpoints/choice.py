"""The choice of checkpoints, checked together with what it needs of rules, runs and rankings."""

from collections.abc import Mapping, Sequence
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

WHOLE, SINGLE = "percent", "mixed_percent"
CELL = ["source", "line", "column", "raw"]

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
    plan, listed, doubts = choose(
        values, checkpoints, settings["rankings"], metric=settings["metric"], rules=rules
    )
    result = validate_runs(
        compared := gather_runs(values, listed, plan),
        [
            *check_digests(exports, settings["checksums"], names=names),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
            *find_lacks(values, listed, plan, settings),
        ],
        rules=leave_out_choosing(rules, values, compared),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    result = result.add_problems(find_misfit_values(values, plan, rules, reported=result.problems))
    choices = {"checkpoints": count_choices(values, listed, plan)}
    return read.exports, result, {"evaluations": arrange_values(values), "validation": choices}


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


def find_misfit_values(
    values: pd.DataFrame, plan: Plan, rules: Rules, *, reported: Sequence[Problem]
) -> list[Problem]:
    """Find percentages among fractions in the values of any checkpoint, as `find_misfits` does.

    Parameters
    ----------
    values : pandas.DataFrame
        The columns of `capmap.problems.Row` and ``split``, a row per value.
    plan : Plan
        Where checkpoints are chosen and compared. Only values of the metric by which a dataset is
        compared are looked at.
    rules : Rules
        What is configured about bounds.
    reported : sequence of Problem
        What was found of the chosen checkpoints, which is not reported again.

    Returns
    -------
    list of Problem
        Errors with the codes "percent" and "mixed_percent".
    """
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
    cells = rows[CELL].itertuples(index=False, name=None)
    datasets = dict(zip(cells, rows["dataset"], strict=True))
    told = {_identify(problem, datasets) for problem in reported}
    return [
        problem
        for problem in find_misfits(rows, bounds, transformed=converted)
        if problem.code in (WHOLE, SINGLE) and _identify(problem, datasets) not in told
    ]


def _identify(
    problem: Problem, datasets: Mapping[tuple[str, int, str, str], str]
) -> tuple[str | int, ...]:
    """The value that a problem is of, or the dataset whose scale it is of."""
    place = (problem.source, problem.line, problem.column, problem.value)
    return (WHOLE, datasets.get(place, "")) if problem.code == WHOLE else place
