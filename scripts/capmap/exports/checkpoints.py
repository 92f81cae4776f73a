"""The layout of checkpoints, a row per value of a metric, and what can be wrong with its rows."""

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
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
from capmap.exports.runs import RUN_COLUMNS, Check
from capmap.exports.sheets import open_sheet
from capmap.packing import unpack_columns
from capmap.problems import Problem, Severity, UnreadableExportError, row_problem
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
NUMBER = re.compile(r"([0-9]+)(?:\.(?:0{1,2}|0{4,})(?![0-9]))?")
VERSION = re.compile(r"(?<![A-Za-z])v(?:er(?:sion)?)?[\W_]?$", re.IGNORECASE)
# A sign before a number, and behind it letters, thousands apart, decimals or an exponent.
SIGN = re.compile(r"(?:^|[=:\s(\-])[-\u2212]$")
MORE = re.compile(r"[.,_' \u00a0\u2009\u202f][0-9]{3}(?![0-9])|[.,][0-9]|[A-Za-z]")
LARGEST = 2**63 - 1

# What is wrong with rows, in sentences about their names.
CHECKS = (
    Check(
        "empty_training",
        "The name of the training is empty.",
        "Write it, or leave the row out with where.",
    ),
    Check(
        "no_step",
        "The checkpoint {checkpoint} has no number that could be its step ({extent}).",
        "Write the step, or a name with a step or an epoch such as step=1200.",
    ),
    Check(
        "mixed_steps",
        "The training {training} has checkpoints that count steps and others that count epochs, "
        "such as {checkpoint}.",
        "Name all its checkpoints by the same count.",
    ),
    Check(
        "repeated_step",
        "The checkpoints {first}, {checkpoint} of the training {training} both have step {step}.",
        "Leave one of them out with where, or number them differently.",
    ),
    Check(
        "several_seeds",
        "The training {training} has several seeds.",
        "If each seed is a training, write columns: {{training: [{both}]}}.",
    ),
)
ROLES = {check.code: "checkpoint" for check in CHECKS}
ROLES |= {"empty_training": "training", "several_seeds": "seed"}

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
    present = _list_present(paths, columns or {})
    plan = _plan_roles(columns or {}, present)
    mapped = {role: plan[role] or plan["training"] for role in ("model", "dataset")}
    single = {role: plan[role][0] for role in ("score", "metric", "seed") if plan[role]}
    taken = {*plan["seed"][:1], *(plan["model"] if len(plan["model"]) == 1 else ())}
    needed = dict.fromkeys(name for role in OWN for name in plan[role])
    keep = [name for name in needed if name not in taken]
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
    exports = dataclasses.replace(exports, problems=problems)
    return Evaluations(_arrange(unpack_columns(exports.runs), plan, keep), exports, plan)


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


def _arrange(
    runs: pd.DataFrame, plan: Mapping[str, list[str]], keep: Sequence[str]
) -> pd.DataFrame:
    """Give the kept columns the names of their roles."""
    table = runs[list(RUN_COLUMNS)].copy()
    for role in OWN:
        texts = _join_columns(runs, plan[role], plan, keep)
        table[role] = pd.Series(texts, index=table.index, dtype="str")
    if plan["model"] and not plan["seed"]:
        table["seed"] = table["training"]
    return table


def _join_columns(
    runs: pd.DataFrame, names: Sequence[str], plan: Mapping[str, list[str]], keep: Sequence[str]
) -> list[str]:
    """Join columns of text; one that is not kept is the seed or the model of a run."""
    if not names:
        return [""] * len(runs)
    parts = []
    for name in names:
        role = "seed" if [name] == plan["seed"] else "model"
        parts.append(trim(make_texts(runs[name if name in keep else role].tolist())))
    joined: list[str] = join_names(parts).to_pylist()
    return joined


def name_columns(columns: Mapping[str, list[str]], role: str) -> str:
    """Name the columns of a role, as a problem's place does.

    Examples
    --------
    >>> name_columns({"training": ["model", "seed"]}, "training")
    'model / seed'
    """
    return SEPARATOR.join(columns[role])


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
    (``2k``), of a version (``v2``), and one beyond 64 bits.
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
    if found is None or SIGN.search(name[:start]) or VERSION.search(name[:start]):
        return None
    if MORE.match(name, found.end()):
        return None
    # Python refuses to read numbers of several thousand digits.
    digits = found[1].lstrip("0") or "0"
    if len(digits) > len(str(LARGEST)):
        return None
    step = int(digits)
    return (step, kind) if step <= LARGEST else None


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
    rows: dict[str, pd.DataFrame] = {}
    # Without a column of models the reader has found rows without a training.
    rows["empty_training"] = table[(table["training"] == "") & bool(columns["model"])]
    table = table[table["training"] != ""].copy()
    found = {name: read_step(name) for name in table["checkpoint"].unique()}
    unnumbered = table[table["checkpoint"].map(found).isna()]
    counts = unnumbered["checkpoint"].map(unnumbered["checkpoint"].value_counts())
    extent = [count_things(count, "row") for count in counts]
    rows["no_step"] = unnumbered.assign(extent=extent).drop_duplicates("checkpoint")
    table = table[table["checkpoint"].map(found).notna()].copy()
    steps = [found[name] or (0, "") for name in table["checkpoint"]]
    table["step"] = pd.Series([step for step, _ in steps], index=table.index, dtype="int64")
    kinds = pd.Series([kind for _, kind in steps], index=table.index, dtype="str")
    firsts = table.assign(kind=kinds).drop_duplicates([*TRAINING, "kind"])
    rows["mixed_steps"] = firsts[firsts.duplicated(TRAINING)]
    firsts = table.drop_duplicates([*TRAINING, "checkpoint"])
    alike = firsts.groupby([*TRAINING, "step"], sort=False)["checkpoint"]
    rivals = firsts.assign(first=alike.transform("first"))
    rows["repeated_step"] = rivals[rivals["first"] != rivals["checkpoint"]]
    firsts = table.drop_duplicates([*TRAINING, "seed"])
    rows["several_seeds"] = firsts[firsts.duplicated(TRAINING)].drop_duplicates(TRAINING)
    problems = [
        problem for check in CHECKS for problem in _report(check, rows[check.code], columns)
    ]
    problems += [*find_alike(table, "split"), *find_alike(table, "metric")]
    names = table.drop_duplicates(TRAINING)
    problems += [
        problem for _, own in names.groupby("model") for problem in find_alike(own, "training")
    ]
    table, conflicts = _resolve_conflicts(table, duplicates)
    return table, problems + conflicts


def _report(
    check: Check, rows: pd.DataFrame, columns: Mapping[str, list[str]]
) -> Iterator[Problem]:
    """Make a problem of a check for each row, whose names stand in its sentences in quotes."""
    role = ROLES[check.code]
    both = ", ".join([*columns["training"], *columns["seed"]])
    for row in rows.to_dict("records"):
        said = {
            str(name): quote_name(value) if isinstance(value, str) and name != "extent" else value
            for name, value in row.items()
        }
        yield row_problem(
            row,
            check.code,
            check.reason.format(**said),
            check.remedy.format(both=both),
            column=name_columns(columns, role),
            value=row[role],
        )


def _resolve_conflicts(
    table: pd.DataFrame, policy: Duplicates
) -> tuple[pd.DataFrame, list[Problem]]:
    """Keep one row of each value; equal rows count once."""
    stays: Literal["first", "last"] = "last" if policy == "last" else "first"
    is_repeat = table.duplicated([*VALUE, "score"], keep=stays)
    problems = _describe_repeats(table[is_repeat])
    distinct = table[~is_repeat]
    is_rival = distinct.duplicated(VALUE, keep=stays)
    kept = distinct[~is_rival].copy()
    values = distinct.groupby(VALUE, sort=False)["score"]
    problems += [
        _explain_conflict(row, values.get_group(key), policy)
        for key, row in _list_rivals(distinct[is_rival])
    ]
    if policy == "mean" and is_rival.any():
        ordered = distinct.sort_values([*VALUE, "score"])  # sums of floats depend on their order
        means = ordered.groupby(VALUE)["score"].mean()
        kept["score"] = means.loc[pd.MultiIndex.from_frame(kept[VALUE])].to_numpy()
    return kept, problems


def _list_rivals(rivals: pd.DataFrame) -> list[tuple[tuple[str, ...], "pd.Series"]]:
    return [(tuple(row[name] for name in VALUE), row) for _, row in rivals.iterrows()]


def _describe_repeats(repeats: pd.DataFrame) -> list[Problem]:
    if repeats.empty:
        return []
    problem = Problem(
        severity="warning",
        code="repeated_value",
        source=repeats["source"].iloc[0],
        line=int(repeats["line"].iloc[0]),
        reason=f"{count_things(len(repeats), 'row')} gave a value that another row gives too.",
        remedy="They count once; nothing needs to be done.",
    )
    return [problem]


def _explain_conflict(row: "pd.Series", values: "pd.Series[float]", policy: Duplicates) -> Problem:
    severity: Severity = "error" if policy == "error" else "warning"
    split = f" on the split {quote_name(row['split'])}" if row["split"] else ""
    remedies = {
        "error": "Remove the wrong row, or set duplicates to mean, first or last.",
        "mean": "The mean of the values is used.",
        "first": "The first of the values is used.",
        "last": "The last of the values is used.",
    }
    listed = ", ".join(f"{value:g}" for value in values.tolist()[:3])
    return row_problem(
        row,
        "conflicting_value",
        f"The checkpoint {quote_name(row['checkpoint'])} of the training "
        f"{quote_name(row['training'])} has several values of {quote_name(row['metric'])} on "
        f"{quote_name(row['dataset'])}{split}: {listed}.",
        remedies[policy],
        severity=severity,
        column=row["column"],
        value=row["raw"],
    )
