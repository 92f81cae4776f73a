"""Evaluations of checkpoints: tables with a row per value of a metric."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd

from capmap.artifacts import unpack_columns
from capmap.exports.cells import Filters, Mapped, join_names, list_columns, make_texts, trim
from capmap.exports.reading import Exports, read_exports
from capmap.exports.runs import RUN_COLUMNS
from capmap.exports.sheets import open_sheet
from capmap.problems import UnreadableExportError
from capmap.settings.choices import Decimal

# The usual column of each role, which may also be called like the role.
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

KIND = re.compile(r"(step|epoch)s?[\W_]*(?=[0-9])", re.IGNORECASE)
NUMBER = re.compile(r"(?<![0-9])0*([0-9]{1,18})(?:\.(?:0{1,2}|0{4,}))?(?![0-9])")
# What a number is not a whole one behind: a sign, or a version; and what there is behind those.
BEFORE = re.compile(
    r"(?:^|[=:\s(\-])[-\u2212]$|(?<![A-Za-z])v(?:er(?:sion)?)?[\W_]?$", re.IGNORECASE
)
BEHIND = re.compile(r"[.,_' \u00a0\u2009\u202f][0-9]{3}(?![0-9])|[.,][0-9]|[A-Za-z]")


def read_evaluations(
    paths: Sequence[str],
    *,
    columns: Mapped | None = None,
    where: Filters | None = None,
    metric: str = "",
    decimal: Decimal = "auto",
    dataset_metrics: Mapping[str, str] | None = None,
) -> tuple[Exports, dict[str, list[str]]]:
    """Read the values of checkpoints, whatever is wrong with them, as `read_exports` reads runs.

    Returns runs that have ``training``, ``checkpoint`` and ``split`` as text besides, and the
    columns of each role, none of one that the exports do not have. Without a column of models each
    training is a model, with one run. With one, and without seeds, each training is a seed of its
    model.
    """
    plan = _plan_roles(columns or {}, _list_present(paths))
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
    runs = unpack_columns(exports.runs)
    table = runs[list(RUN_COLUMNS)].copy()
    for role in OWN:
        parts = [trim(make_texts(runs[name].tolist())) for name in plan[role]]
        texts = join_names(parts).to_pylist() if parts else ""
        table[role] = pd.Series(texts, index=table.index, dtype="str")
    if plan["model"] and not plan["seed"]:
        table["seed"] = table["training"]
    roles = {name: role for role in OWN for name in plan[role]}
    problems = [
        replace(problem, reason=problem.reason.replace("{keep:", f"{{{roles[problem.column]}:"))
        if problem.column in roles
        else problem
        for problem in exports.problems
    ]
    return replace(exports, runs=table, problems=problems), plan


def _list_present(paths: Sequence[str]) -> set[str]:
    """List the columns of all files that can be opened; the others are found faulty later."""
    present: set[str] = set()
    for path in paths:
        try:
            present |= set(open_sheet(path, wanted={*COLUMNS.values()}).columns)
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


def read_step(checkpoint: str) -> tuple[int, str] | None:
    """Read the step off a checkpoint's name, and what it counts: "step" or "epoch".

    The last number called ``step`` counts, else the last one called ``epoch``, else the only number
    of the name, which is taken for a step. A number is none that has a sign, decimals other than
    ``.0``, an exponent or what may divide thousands (``1_000``, ``1,000``), with letters behind it
    (``2k``), of a version (``v2``), and one of more than 18 digits.

    Examples
    --------
    >>> read_step("epoch=3-step=1200.ckpt"), read_step("epoch_07.pt"), read_step("checkpoint-500")
    ((1200, 'step'), (7, 'epoch'), (500, 'step'))
    >>> read_step("300.0"), read_step("step=2k"), read_step("last.ckpt"), read_step("v2-500.ckpt")
    ((300, 'step'), None, None, None)
    """
    name = checkpoint.strip()
    starts = {found[1].lower(): found.end() for found in KIND.finditer(name)}
    numbers = list(NUMBER.finditer(name))
    kind = next((kind for kind in ("step", "epoch") if kind in starts), "")
    if not kind and len(numbers) != 1:
        return None
    start = starts[kind] if kind else numbers[0].start()
    found = NUMBER.match(name, start)
    if found is None or BEFORE.search(name[:start]) or BEHIND.match(name, found.end()):
        return None
    return int(found[1]), kind or "step"
