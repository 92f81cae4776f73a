"""The layout of checkpoints, a row per value of a metric, and what can be wrong with its rows."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from capmap.exports.cells import (
    SEPARATOR,
    Filters,
    Mapped,
    join_names,
    list_columns,
    make_texts,
    trim,
)
from capmap.exports.doubts import find_alike
from capmap.exports.reading import Exports, read_exports
from capmap.exports.runs import RUN_COLUMNS
from capmap.exports.sheets import open_sheet
from capmap.packing import unpack_columns
from capmap.problems import Problem, RowCheck, Severity, UnreadableExportError, row_problem
from capmap.settings.choices import Decimal, Duplicates
from capmap.wording import count_things, quote_name

COLUMNS = {
    "model": "model",
    "training": "training",
    "checkpoint": "checkpoint",
    "dataset": "benchmark",
    "metric": "metric",
    "score": "value",
    "split": "split",
    "seed": "seed",
}
OPTIONAL = ("model", "metric", "split", "seed")
OWN = ("training", "checkpoint", "split")
FAULTY_COLUMN = frozenset({"missing_column", "reserved_column"})
SETTING = re.compile(r"columns: \{(keep|model): …\}")

KIND = re.compile(r"(step|epoch)s?[\W_]*(?=[0-9])", re.IGNORECASE)
NUMBER = re.compile(r"(?<![0-9])0*([0-9]{1,18})(?:\.(?:0{1,2}|0{4,}))?(?![0-9])")
# What a number is not a whole one behind: a sign, or a version; and what there is behind those.
BEFORE = re.compile(
    r"(?:^|[=:\s(\-])[-\u2212]$|(?<![A-Za-z])v(?:er(?:sion)?)?[\W_]?$", re.IGNORECASE
)
BEHIND = re.compile(r"[.,_' \u00a0\u2009\u202f][0-9]{3}(?![0-9])|[.,][0-9]|[A-Za-z]")

# What is wrong with rows.
CHECKS = {
    check.code: check
    for check in (
        RowCheck(
            "empty_training",
            "training",
            "The name of the training is empty.",
            "Write it, or leave the row out with where.",
        ),
        RowCheck(
            "no_step",
            "checkpoint",
            "The checkpoint {checkpoint} has no number that could be its step ({_extent}).",
            "Write the step, or a name with a step or an epoch such as step=1200.",
        ),
        RowCheck(
            "mixed_steps",
            "checkpoint",
            "The training {training} has checkpoints that count steps and others that count "
            "epochs, such as {checkpoint}.",
            "Name all its checkpoints by the same count.",
        ),
        RowCheck(
            "repeated_step",
            "checkpoint",
            "The checkpoints {first}, {checkpoint} of the training {training} both have step "
            "{step}.",
            "Leave one of them out with where, or number them differently.",
        ),
        RowCheck(
            "several_seeds",
            "seed",
            "The training {training} has several seeds.",
            "If each seed is a training, write columns: {{training: [{_both}]}}.",
        ),
        RowCheck(
            "conflicting_value",
            "raw",
            "The checkpoint {checkpoint} of the training {training} has several values of {metric} "
            "on {dataset}{_split}: {_values}.",
            "{_settled}",
        ),
    )
}
SETTLED = {
    "error": "Remove the wrong row, or set duplicates to mean, first or last.",
    "mean": "The mean of the values is used.",
    "first": "The first of the values is used.",
    "last": "The last of the values is used.",
}

TRAINING = ["model", "training"]
VALUE = [*TRAINING, "checkpoint", "dataset", "metric", "split"]


@dataclass(frozen=True)
class Evaluations:
    """What the exports of a study of checkpoints hold.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per value, in the order of the files and their lines: the columns of runs (``model``,
        ``dataset``, ``metric``, ``seed``, ``score``, ``raw``, ``source``, ``line``, ``column``),
        then ``training``, ``checkpoint`` and ``split`` as text; the last is empty where the exports
        do not have it.
    exports : Exports
        What `read_exports` says of the files, with the problems found so far.
    columns : mapping of str to list of str
        The columns of each role; none for a role that the exports do not have.
    """

    table: pd.DataFrame
    exports: Exports
    columns: Mapping[str, list[str]]


def read_evaluations(
    paths: Sequence[str],
    *,
    columns: Mapped | None = None,
    where: Filters | None = None,
    metric: str = "",
    decimal: Decimal = "auto",
    dataset_metrics: Mapping[str, str] | None = None,
) -> Evaluations:
    """Read the values of checkpoints, whatever is wrong with them.

    Parameters
    ----------
    paths : sequence of str
        Files, as `read_exports` takes them.
    columns : mapping, optional
        Role and column, or list of columns whose texts are joined with " / ". Roles are "model",
        "training", "checkpoint", "dataset" (by default the column ``benchmark``), "metric",
        "score" (by default ``value``), "split" and "seed".
    where : mapping, optional
        Column and value, or list of values, of the rows to read.
    metric : str, optional
        The metric of all values, where the exports have no column of metrics.
    decimal : {"auto", ".", ","}, optional
        Decimal mark of numbers in text.
    dataset_metrics : mapping of str to str, optional
        Metrics of some datasets, where the exports have no column of metrics.

    Returns
    -------
    Evaluations
        Values and problems, as `read_exports` finds them.

    Notes
    -----
    Model, metric, split, seed and time may be absent. One that any of the files has, or that was
    given a column of another name, must be in all of them. Without a column of models each
    training is a model, with one run. With one, and without seeds, each training is a seed of its
    model.
    """
    plan = _plan_roles(columns or {}, _list_present(paths, columns or {}))
    mapped = {role: plan[role] or plan["training"] for role in ("model", "dataset")}
    single = {role: plan[role][0] for role in ("score", "metric", "seed") if plan[role]}
    # A column that is called like its role is among the runs anyway.
    needed = dict.fromkeys(name for role in OWN for name in plan[role])
    keep = [name for name in needed if plan.get(name) != [name] or name not in RUN_COLUMNS]
    has_metrics = bool(plan["metric"])
    exports = read_exports(
        paths,
        columns={**mapped, **single, "keep": keep},
        where=where,
        metric="" if has_metrics else metric,
        decimal=decimal,
        dataset_metrics={} if has_metrics else dataset_metrics,
    )
    problems = [_name_role(problem, plan) for problem in exports.problems]
    runs = unpack_columns(exports.runs)
    table = runs[list(RUN_COLUMNS)].copy()
    for role in OWN:
        parts = [trim(make_texts(runs[name].tolist())) for name in plan[role]]
        texts = join_names(parts).to_pylist() if parts else ""
        table[role] = pd.Series(texts, index=table.index, dtype="str")
    if plan["model"] and not plan["seed"]:
        table["seed"] = table["training"]
    return Evaluations(table, dataclasses.replace(exports, problems=problems), plan)


def _list_present(paths: Sequence[str], columns: Mapped) -> set[str]:
    """List the columns of all files that can be opened; the others are found faulty later."""
    wanted = {name for role in COLUMNS for name in list_columns(columns, role)}
    present: set[str] = set()
    for path in paths:
        try:
            present |= set(open_sheet(path, wanted=wanted | {*COLUMNS.values()}).columns)
        except UnreadableExportError:
            continue
    return present


def _plan_roles(columns: Mapped, present: set[str]) -> dict[str, list[str]]:
    """Choose the columns of each role."""
    plan = {}
    for role, usual in COLUMNS.items():
        names = list_columns(columns, role) if role in columns else [usual]
        if names in ([role], [usual]):
            names = [role] if role in present and usual not in present else [usual]
        plan[role] = [] if role in OPTIONAL and names == [usual] and usual not in present else names
    return plan


def _name_role(problem: Problem, plan: Mapping[str, list[str]]) -> Problem:
    """Name the role of a column that is missing, which the reader of runs does not know."""
    roles = [role for role in OWN if problem.column in plan[role]]
    if problem.code not in FAULTY_COLUMN or not roles:
        return problem
    reason = SETTING.sub(f"columns: {{{roles[0]}: …}}", problem.reason)
    return dataclasses.replace(problem, reason=reason)


def read_step(checkpoint: str) -> tuple[int, str] | None:
    """Read the step off a checkpoint's name.

    Parameters
    ----------
    checkpoint : str
        A number, a file name, or any other text.

    Returns
    -------
    tuple of int and str, or None
        The step, 0 or more, and what it counts: "step" or "epoch". None where the name has no
        number, or several of which none is called step or epoch.

    Notes
    -----
    The last number called ``step`` counts, else the last one called ``epoch``, else the only number
    of the name, which is taken for a step. A number is none that has a sign, decimals other than
    ``.0``, an exponent or what may divide thousands (``1_000``, ``1,000``), with letters behind it
    (``2k``), of a version (``v2``), and one of more than 18 digits.
    Words such as ``last`` are not read.

    Examples
    --------
    >>> read_step("epoch=3-step=1200.ckpt"), read_step("epoch_07.pt"), read_step("checkpoint-500")
    ((1200, 'step'), (7, 'epoch'), (500, 'step'))
    >>> read_step("300.0"), read_step("step=2k"), read_step("last.ckpt"), read_step("v2-500.ckpt")
    ((300, 'step'), None, None, None)
    """
    name = checkpoint.strip()
    kinds = list(KIND.finditer(name))
    for kind in ("step", "epoch"):
        starts = [found.end() for found in kinds if found[1].lower() == kind]
        if starts:
            return _read_number(name, starts[-1], kind)
    numbers = list(NUMBER.finditer(name))
    return _read_number(name, numbers[0].start(), "step") if len(numbers) == 1 else None


def _read_number(name: str, start: int, kind: str) -> tuple[int, str] | None:
    """Read the number at a place, unless it is not sure to be a whole one."""
    found = NUMBER.match(name, start)
    if found is None or BEFORE.search(name[:start]) or BEHIND.match(name, found.end()):
        return None
    return int(found[1]), kind


def check_evaluations(
    table: pd.DataFrame, columns: Mapping[str, list[str]], *, duplicates: Duplicates
) -> tuple[pd.DataFrame, list[Problem]]:
    """Find the steps of checkpoints, keep one row of each value, and find what is wrong.

    Parameters
    ----------
    table : pandas.DataFrame
        The table of `Evaluations`, with finite scores only.
    columns : mapping of str to list of str
        The columns of each role.
    duplicates : {"error", "mean", "first", "last"}
        What to keep of a value that several rows give differently. With "error" the first row is
        kept, so that further checks have something to look at.

    Returns
    -------
    table : pandas.DataFrame
        With a column ``step`` more: one row per training, checkpoint, dataset, metric and split.
        Rows without training or step are left out.
    problems : list of Problem
        "empty_training", "no_step", "mixed_steps", "repeated_step", "several_seeds",
        "conflicting_value", "repeated_value" and "alike_names" (of splits, metrics, and trainings
        of a model). All but the last two are errors; rows in conflict are warnings where a policy
        settles them.

    Notes
    -----
    A training is known by its name and its model, so trainings of two models may share a name.
    """
    # Without a column of models the reader has found rows without a training.
    nameless = table[(table["training"] == "") & bool(columns["model"])]
    table = table[table["training"] != ""]
    steps = table["checkpoint"].map({name: read_step(name) for name in {*table["checkpoint"]}})
    lost = table[steps.isna()]
    extent = lost["checkpoint"].map(lost["checkpoint"].value_counts())
    lost = lost.assign(_extent=[count_things(count, "row") for count in extent])
    table, steps = table[steps.notna()].copy(), steps.dropna()
    table["step"] = pd.Series([step for step, _ in steps], index=table.index, dtype="int64")
    kinds = table.assign(kind=pd.Series([kind for _, kind in steps], table.index, dtype="str"))
    kinds = kinds.drop_duplicates([*TRAINING, "kind"])
    names = table.drop_duplicates([*TRAINING, "checkpoint"])
    names = names.assign(first=names.groupby([*TRAINING, "step"])["checkpoint"].transform("first"))
    seeds = table.drop_duplicates([*TRAINING, "seed"])
    several = seeds[seeds.duplicated(TRAINING)].drop_duplicates(TRAINING)
    both = ", ".join([*columns["training"], *columns["seed"]])
    faults = {
        "empty_training": nameless,
        "no_step": lost.drop_duplicates("checkpoint"),
        "mixed_steps": kinds[kinds.duplicated(TRAINING)],
        "repeated_step": names[names["first"] != names["checkpoint"]],
        "several_seeds": several.assign(_both=both),
    }
    problems = []
    for code, rows in faults.items():
        check = CHECKS[code]
        place = SEPARATOR.join(columns[check.column])
        problems += check.report(rows, column=place)
    problems += [*find_alike(table, "split"), *find_alike(table, "metric")]
    for _, own in table.drop_duplicates(TRAINING).groupby("model"):
        problems += find_alike(own, "training")
    table, conflicts = _resolve_conflicts(table, duplicates)
    return table, problems + conflicts


def _resolve_conflicts(
    table: pd.DataFrame, policy: Duplicates
) -> tuple[pd.DataFrame, list[Problem]]:
    """Keep one row of each value; equal rows count once."""
    stays: Literal["first", "last"] = "last" if policy == "last" else "first"
    is_repeat = table.duplicated([*VALUE, "score"], keep=stays)
    problems = [
        row_problem(
            row,
            "repeated_value",
            f"{count_things(int(is_repeat.sum()), 'row')} gave a value that another row gives too.",
            "They count once; nothing needs to be done.",
            severity="warning",
        )
        for row in table[is_repeat].head(1).to_dict("records")
    ]
    distinct = table[~is_repeat]
    is_rival = distinct.duplicated(VALUE, keep=stays)
    kept, rivals = distinct[~is_rival].copy(), distinct[is_rival]
    # Sums of floats depend on their order.
    scores = distinct.sort_values([*VALUE, "score"]).groupby(VALUE)["score"]
    if policy == "mean" and len(rivals):
        kept["score"] = scores.mean().loc[pd.MultiIndex.from_frame(kept[VALUE])].to_numpy()
    groups = distinct.groupby(VALUE)["score"]
    listed = [groups.get_group(tuple(key)).tolist()[:3] for key in rivals[VALUE].to_numpy()]
    rivals = rivals.assign(
        _split=[f" on the split {quote_name(name)}" if name else "" for name in rivals["split"]],
        _values=[", ".join(f"{value:g}" for value in values) for values in listed],
        _settled=SETTLED[policy],
    )
    severity: Severity = "error" if policy == "error" else "warning"
    check = CHECKS["conflicting_value"]._replace(severity=severity)
    for column, own in rivals.groupby("column"):
        problems += check.report(own, column=str(column))
    return kept, problems
