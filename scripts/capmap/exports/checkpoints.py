"""The layout of checkpoints: a row per value of a metric of a checkpoint on a benchmark."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from capmap.exports.cells import SEPARATOR, Filters, join_names, make_texts, trim
from capmap.exports.columns import Mapped, list_columns
from capmap.exports.faults import UnreadableExportError
from capmap.exports.numbers import Decimal
from capmap.exports.reading import Exports, read_exports
from capmap.exports.runs import RUN_COLUMNS
from capmap.exports.sheets import open_sheet
from capmap.problems import Problem

COLUMNS = {
    "model": "model",
    "training": "training",
    "checkpoint": "checkpoint",
    "dataset": "benchmark",
    "metric": "metric",
    "score": "value",
    "split": "split",
    "seed": "seed",
    "time": "time",
}
OPTIONAL = ("model", "metric", "split", "seed", "time")
OWN = ("training", "checkpoint", "split", "time")
FAULTY_COLUMN = frozenset({"missing_column", "reserved_column"})
SETTING = re.compile(r"columns: \{(keep|model): …\}")


@dataclass(frozen=True)
class Evaluations:
    """What the exports of a study of checkpoints hold.

    Parameters
    ----------
    table : pandas.DataFrame
        A row per value, in the order of the files and their lines: the columns of runs (``model``,
        ``dataset``, ``metric``, ``seed``, ``score``, ``raw``, ``source``, ``line``, ``column``),
        then ``training``, ``checkpoint``, ``split`` and ``time`` as text; the last two are empty
        where the exports do not have them.
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
        "score" (by default ``value``), "split", "seed" and "time".
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
    return Evaluations(_arrange(exports.runs, plan, keep), exports, plan)


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
