"""What can be wrong with evaluations of checkpoints, and the runs of the chosen ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.checkpoints.selection import (
    TRAINING,
    Plan,
    choose_checkpoints,
    gather_runs,
    plan_selection,
    tell,
)
from capmap.exports import Exports
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import find_alike
from capmap.exports.reading import check_digests, read_evaluations, read_step
from capmap.metrics import canonical_name
from capmap.normalization import Rules, select_runs
from capmap.problems import Problem, RowCheck, Severity
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.contradictions import rename_runs
from capmap.validation.rows import reject_rows, resolve_duplicates
from capmap.wording import list_metrics, list_names, quote_name

ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]
EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]
NO_TRAINING = RowCheck(
    "empty_training",
    "training",
    "The name of the training is empty.",
    "Write it, or leave the row out with where.",
)
NO_STEP = RowCheck(
    "no_step",
    "checkpoint",
    "The checkpoint {checkpoint} has no number that could be its step.",
    "Write the step, or a name with a step or an epoch such as step=1200.",
)
MIXED_STEPS = RowCheck(
    "mixed_steps",
    "checkpoint",
    "The training {training} has checkpoints that count steps and others that count epochs, such "
    "as {checkpoint}.",
    "Name all its checkpoints by the same count.",
)


def check_checkpoints(
    exports: Sequence[str], *, names: Sequence[str], checkpoints: Mapping[str, Any], **settings: Any
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read values of checkpoints, choose one per training, and find everything that is wrong."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read, columns = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.runs, renamed)
    policies = Policies.choose(settings)
    sound = reject_rows(table, read.problems, policy=policies.invalid)
    values, faults = check_evaluations(sound.runs, columns, policies)
    plan, doubts = plan_selection(values, checkpoints, metric=settings["metric"], rules=rules)
    listed = choose_checkpoints(values, plan)
    compared = gather_runs(values, listed, plan)
    if values.empty:
        doubts = []  # the files are at fault, and not the settings
    elif plan.metrics:
        selected, _ = select_runs(values, datasets=policies.select.get("datasets", "all"))
        doubts += _find_gaps(listed, compared, plan, {*selected["dataset"]})
    # The rules of metrics that checkpoints are chosen, but not compared by, say nothing of runs.
    used = {*map(canonical_name, compared["metric"].unique())}
    read_only = {*map(canonical_name, values["metric"].unique())} - used
    kept = {
        name: rule for name, rule in rules.metrics.items() if canonical_name(name) not in read_only
    }
    result = validate_runs(
        compared,
        [
            *check_digests(exports, settings["checksums"], names=names),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
        ],
        rules=replace(rules, metrics=kept),
        policies=policies,
        named=settings["named"],
    )
    evaluations = values.sort_values(ORDER, ignore_index=True).rename(columns={"score": "value"})
    return read, result, {"evaluations": evaluations[EVALUATIONS]}


def check_evaluations(
    table: pd.DataFrame, columns: Mapping[str, Sequence[str]], policies: Policies
) -> tuple[pd.DataFrame, list[Problem]]:
    """Find the steps of checkpoints, keep one row of each value, and find what is wrong.

    A training is known by its name and its model, so trainings of two models may share a name.
    Rows without training or step are left out.
    """
    # Without a column of models the reader has found rows without a training.
    nameless = table[(table["training"] == "") & bool(columns["model"])]
    table = table[table["training"] != ""]
    steps = table["checkpoint"].map({name: read_step(name) for name in {*table["checkpoint"]}})
    lost = table[steps.isna()].drop_duplicates("checkpoint")
    table, steps = table[steps.notna()].copy(), steps.dropna()
    table["step"] = pd.Series([step for step, _ in steps], index=table.index, dtype="int64")
    kinds = table.assign(kind=pd.Series([kind for _, kind in steps], table.index, dtype="str"))
    kinds = kinds.drop_duplicates([*TRAINING, "kind"])
    found = {
        NO_TRAINING: nameless,
        NO_STEP: lost,
        MIXED_STEPS: kinds[kinds.duplicated(TRAINING)],
    }
    problems = [
        problem
        for check, rows in found.items()
        for problem in check.report(rows, column=SEPARATOR.join(columns[check.column]))
    ]
    problems += [*find_alike(table, "split"), *find_alike(table, "metric")]
    for _, own in table.drop_duplicates(TRAINING).groupby("model"):
        problems += find_alike(own, "training")
    # A value is a run of its training, checkpoint and split.
    place = table["training"].str.cat(table[["checkpoint", "split"]], sep=SEPARATOR)
    unique = resolve_duplicates(table.assign(seed=place), policy=policies.duplicates)
    kept = unique.runs.assign(seed=table.loc[unique.runs.index, "seed"])
    return kept, [*problems, *unique.problems]


def _find_gaps(
    listed: pd.DataFrame, compared: pd.DataFrame, plan: Plan, datasets: set[str]
) -> list[Problem]:
    """Find checkpoints that cannot be chosen, and what has no value to compare."""
    problems, split = [], quote_name(plan.report)
    unseen = sorted(datasets - {*compared["dataset"]})
    if 0 < len(unseen) < len(datasets):
        names = list_names(unseen)
        problems.append(tell("not_compared", unseen[0], "warning", names=names, split=split))
    reported = {*compared[TRAINING].itertuples(index=False, name=None)}
    for training, rows in listed.groupby(TRAINING):
        name, lacking = str(training[1]), rows.loc[rows["selection"].isna(), "checkpoint"]
        if len(lacking):
            first = quote_name(lacking.iloc[0])
            severity: Severity = "error" if len(lacking) == len(rows) else "warning"
            counts = {"lacking": len(lacking), "total": len(rows)}
            problems.append(tell("no_candidate", name, severity, checkpoint=first, **counts))
        if len(lacking) < len(rows) and training not in reported:
            first = quote_name(rows.loc[rows["chosen"], "checkpoint"].iloc[0])
            problems.append(tell("no_report_value", name, checkpoint=first, split=split))
    return problems
