"""Read the values of checkpoints, choose one per training, and say everything that is wrong."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.artifacts import write_json, write_parquet
from capmap.checkpoints.plan import Plan, Settings, plan_selection
from capmap.checkpoints.rankings import check_rankings
from capmap.checkpoints.scales import find_misfit_values
from capmap.checkpoints.selection import (
    choose_checkpoints,
    count_choices,
    find_absent_datasets,
    find_unreported,
    gather_runs,
)
from capmap.exports.checkpoints import check_evaluations, read_evaluations
from capmap.exports.files import check_digests
from capmap.metrics import canonical_name
from capmap.normalization import Rules
from capmap.normalization.selection import select_runs
from capmap.problems import Problem
from capmap.renaming import list_metrics
from capmap.validation import Policies, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.validation.rows import reject_rows
from capmap.validation.summary import describe_exports, report_problems

ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]

logger = logging.getLogger(__name__)

EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]


def validate_checkpoints(
    *,
    exports: list[str],
    evaluations: str,
    runs: str,
    validation: str,
    rejected: str,
    checkpoints: Settings,
    **settings: Any,
) -> None:
    """Write the chosen checkpoints of a study as runs, or say why they cannot be used."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.table, renamed)
    sound = reject_rows(table, read.exports.problems, policy=settings["invalid"])
    values, faults = check_evaluations(sound.runs, read.columns, duplicates=settings["duplicates"])
    plan, listed, doubts = _choose(
        values, checkpoints, settings["rankings"], metric=settings["metric"], rules=rules
    )
    result = validate_runs(
        compared := gather_runs(values, listed, plan),
        [
            *check_digests(exports, settings["checksums"], names=settings["names"]),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
            *_find_lacks(values, listed, plan, checkpoints, settings),
        ],
        rules=_leave_out_choosing(rules, values, compared),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    result = result.add_problems(find_misfit_values(values, plan, rules, reported=result.problems))
    rows = read.exports.rows
    report_problems(result, rejected=rejected, files=len(exports), rows=rows, logger=logger)
    logger.info("%d checkpoints, %d runs", len(listed), result.counts["runs"])
    write_parquet(evaluations, _arrange(values))
    write_parquet(runs, result.runs)
    choices = {"checkpoints": count_choices(values, listed, plan)}
    write_json(validation, describe_exports(read.exports, result) | choices)


def _leave_out_choosing(rules: Rules, values: pd.DataFrame, compared: pd.DataFrame) -> Rules:
    """Leave out the rules of metrics that checkpoints are chosen, but not compared by."""
    read, ranked = ({*map(canonical_name, rows["metric"].unique())} for rows in (values, compared))
    kept = {
        name: rule
        for name, rule in rules.metrics.items()
        if canonical_name(name) not in read - ranked
    }
    return replace(rules, metrics=kept)


def _choose(
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


def _find_lacks(
    values: pd.DataFrame,
    listed: pd.DataFrame,
    plan: Plan,
    checkpoints: Settings,
    settings: Mapping[str, Any],
) -> list[Problem]:
    """Find trainings, and analysed datasets, that are not compared or not chosen by."""
    analysed, _ = select_runs(values, datasets=settings["select"].get("datasets", "all"))
    meant = checkpoints.get("select", {}).get("datasets", [])
    policy = settings["incomplete"]
    return [
        *find_unreported(values, listed, plan),
        *find_absent_datasets(analysed, listed, plan, meant=meant, incomplete=policy),
    ]


def _arrange(values: pd.DataFrame) -> pd.DataFrame:
    ordered = values.sort_values(ORDER, ignore_index=True)
    return ordered.rename(columns={"score": "value"})[EVALUATIONS]


if __name__ == "__main__":
    from job import run_job

    run_job(validate_checkpoints, snakemake)  # type: ignore[name-defined]
