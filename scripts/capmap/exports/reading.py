"""The exports of a study, read together."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import pandas as pd
import pyarrow as pa

from capmap.artifacts import digest_file, pack_names, unpack_columns
from capmap.exports.cells import (
    Filters,
    Mapped,
    list_columns,
    list_values,
    match_value,
)
from capmap.exports.doubts import find_doubts
from capmap.exports.layouts import (
    BESIDE,
    ITEMS,
    NAMED,
    NUMBERED,
    RUN_COLUMNS,
    Part,
    Query,
    list_wanted,
    name_sheet,
    read_table,
)
from capmap.exports.records import PLAIN, FileOptions
from capmap.exports.runs import (
    EMPTY,
    SEEDLESS,
    number_rows,
    report_first,
    spread_summaries,
    take_rows,
)
from capmap.exports.sheets import open_sheet
from capmap.patterns import has_fields
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.settings.choices import Decimal, TableFormat, Take
from capmap.wording import list_names, quote_name

COUNTS = ("rows", "rows_filtered", "rows_empty_score", "percent_signs", "decimal_commas")
# Faults of numbers beside scores, which are of no use where one of them is none.
UNUSABLE = ("bad_step", "bad_selection", "bad_summary")
OWN = ("training", "checkpoint", "split")
# The usual columns of checkpoints that are not called like their role, which they may be as well.
COLUMNS = {"dataset": "benchmark", "score": "value"}
OPTIONAL = ("model", "metric", "split", "seed")

KIND = re.compile(r"(step|epoch)s?[\W_]*(?=[0-9])", re.IGNORECASE)
NUMBER = re.compile(r"(?<![0-9])0*([0-9]{1,18})(?:\.(?:0{1,2}|0{4,}))?(?![0-9])")
# What a number is not a whole one behind: a sign, or a version; and what there is behind those.
BEFORE = re.compile(
    r"(?:^|[=:\s(\-])[-\u2212]$|(?<![A-Za-z])v(?:er(?:sion)?)?[\W_]?$", re.IGNORECASE
)
BEHIND = re.compile(r"[.,_' \u00a0\u2009\u202f][0-9]{3}(?![0-9])|[.,][0-9]|[A-Za-z]")


class ExportFile(TypedDict):
    """A file that was read: its path as given, digest, size in bytes, and rows of data."""

    path: str
    sha256: str
    bytes: int
    rows: int


@dataclass(frozen=True)
class Exports:
    """What the exports of a study hold.

    Parameters
    ----------
    runs : DataFrame
        A row per run, in the order of the files and their lines: model, dataset, metric and seed
        (seed is empty where the export has none), score (float, NaN or infinite where it is
        unusable), raw (the score's text as it stands in the file), source (the file), line (the
        header is line 1), column (where the score stands), and the columns to keep (text). All
        texts but `raw` are packed, see `capmap.artifacts.pack_names`.
    problems : list of Problem
        Everything that is wrong, in the order of the files.
    files : list of ExportFile
        The files that exist, in the order given.
    rows : int
        Rows of data in all files; rows that could not be split into cells count too.
    rows_filtered : int
        Rows left out by `where`.
    rows_empty_score : int
        Rows (in a matrix: cells) left out because their score is empty.
    percent_signs : int
        Scores divided by 100 because of a percent sign.
    decimal_commas : int
        Scores read with a decimal comma.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    files: list[ExportFile]
    rows: int
    rows_filtered: int
    rows_empty_score: int
    percent_signs: int
    decimal_commas: int


def read_exports(
    paths: Sequence[str],
    *,
    layout: TableFormat = "long",
    options: FileOptions = PLAIN,
    fields: Sequence[Mapping[str, str]] = (),
    columns: Mapped | None = None,
    where: Filters | None = None,
    metric: str = "",
    decimal: Decimal = "auto",
    dataset_metrics: Mapping[str, str] | None = None,
    values: Mapping[str, float | str] | None = None,
    take: Take = "all",
    summary: Mapping[str, Any] | None = None,
    named: Sequence[str] = (),
) -> Exports:
    """Read the exports of a study, whatever is wrong with them.

    Parameters
    ----------
    paths : sequence of str
        Files of the kinds that `open_sheet` knows.
    layout : {"long", "matrix"}, optional
        A row per run, or a row per model and a column per dataset.
    options : FileOptions, optional
        How the files are written.
    fields : sequence of mapping of str to str, optional
        What the path of each file says, which stands in it like columns.
    columns : mapping, optional
        Role and column, or list of columns. "model" and "dataset" may be several columns, which
        are joined with " / ". Roles are "model", "dataset", "metric", "score", "seed", "keep",
        "datasets" and "ignore". Of "score", a pattern such as ``{dataset}_seed{seed}`` stands for
        all columns like it, and columns of a list are metrics of their names.
    where : mapping, optional
        Column and value, or list of values, of the rows to read.
    metric : str, optional
        Name of the metric of all datasets. It wins over what the files say.
    decimal : {"auto", ".", ","}, optional
        Decimal mark of numbers in text; "auto" finds it per file, see `parse_numbers`.
    dataset_metrics : mapping of str to str, optional
        Metrics of some datasets. They win over `metric`.
    values : mapping of str to float or str, optional
        Scores that stand for what is exported; "missing" for what is no run.
    take : str or mapping, optional
        Which rows of a run count, see `take_rows`.
    summary : mapping, optional
        ``runs`` and ``spread`` of rows that stand for several runs, see `spread_summaries`.
    named : sequence of str, optional
        Further roles of names; the runs have a column called like each.

    Returns
    -------
    Exports
        Runs and problems. A file that cannot be read is a problem. A run whose score is unusable
        is among the runs, with a problem at its line; rows without a name, score or metric are not.

    Notes
    -----
    Names, seeds and headers are trimmed of white space, and otherwise kept as they are: ``NA`` and
    ``null`` are names. Nothing in a file is ever executed.
    """
    columns, where = columns or {}, where or {}
    query = Query(
        columns=columns,
        where=where,
        layout=layout,
        decimal=decimal,
        values=values or {},
        metric=metric,
        dataset_metrics=dataset_metrics or {},
        summarized=bool(summary and (summary["runs"] > 1 or list_columns(columns, "count"))),
        logged=take != "all",
        named=[*named, *(role for role in ITEMS if list_columns(columns, role))],
    )
    problems, files = list[Problem](), list[ExportFile]()
    parts, tables = list[Part](), list[pa.Table]()
    wanted = list_wanted(columns, layout) | {*where}
    for path, own in zip(paths, fields or [{}] * len(paths), strict=True):
        try:
            sheet = open_sheet(path, wanted=wanted, options=options)
            part = read_table(name_sheet(sheet, own), path, query)
        except UnreadableExportError as error:
            problems += error.problems
            rows = 0
        else:
            problems += part.problems
            rows = part.counts["rows"]
            tables.append(part.runs)
            parts.append(replace(part, runs=part.runs.schema.empty_table()))
        files += describe_file(path, rows)
    if len(parts) == len(paths):
        problems += _check_filters(parts, where) + _check_ignored(parts, columns)
    problems += _check_metrics(parts, list_columns(columns, "metric")[0])
    if any(problem.code in UNUSABLE for problem in problems):
        take, summary = "all", None
    runs, doubts = _arrange_runs(tables, columns, take, summary)
    # A filter may leave out all scores of a column.
    problems += [] if where else _find_unfilled(runs, columns)
    return Exports(
        runs=runs,
        problems=[*problems, *doubts],
        files=files,
        **{name: sum(part.counts[name] for part in parts) for name in COUNTS},
    )


def check_digests(
    files: Sequence[str], checksums: Mapping[str, str], *, names: Sequence[str] | None = None
) -> list[Problem]:
    """Compare files with the SHA-256 that the configuration expects of their names."""
    problems = []
    for path, name in zip(files, files if names is None else names, strict=True):
        expected = checksums.get(name, "").lower()
        if expected and (found := digest_file(path)) != expected:
            reason = f"The SHA-256 of the file is {found}, and `checksums` has {expected}."
            remedy = "Restore the file, or put the digest that was found into `checksums`."
            problems.append(Problem(code="checksum", source=name, reason=reason, remedy=remedy))
    return problems


def describe_file(path: str, rows: int) -> list[ExportFile]:
    """Describe a file, if it can be opened at all."""
    try:
        size = Path(path).stat().st_size
        return [{"path": path, "sha256": digest_file(path), "bytes": size, "rows": rows}]
    except OSError:
        return []


def join_runs(tables: list[pa.Table], keep: Sequence[str]) -> pd.DataFrame:
    """Join the runs of files to one table; without any it has its columns, and those to keep.

    Texts are packed, see `pack_names`, but for those of scores. The list is emptied, so that the
    memory of a column is free once it is joined.
    """
    if tables:
        table = pa.concat_tables(tables, promote_options="default")
        tables.clear()
        columns = {}
        for name in table.column_names:
            column = table.column(name).unify_dictionaries()
            table = table.drop_columns(name)
            joined = column.to_pandas()
            columns[name] = pack_names(joined) if pa.types.is_dictionary(column.type) else joined
        return pd.DataFrame(columns)
    kinds = {"score": "float64", "line": "int64"}
    names = dict.fromkeys([*RUN_COLUMNS, *keep])
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "str")) for name in names})


def _arrange_runs(
    tables: list[pa.Table], columns: Mapped, take: Take, summary: Mapping[str, Any] | None
) -> tuple[pd.DataFrame, list[Problem]]:
    """Join the runs of files, choose the rows that count, and spread those that are summaries."""
    runs = join_runs(tables, list_columns(columns, "keep"))
    is_seedless = runs["seed"] == ""
    problems = [] if is_seedless.all() else report_first(runs[is_seedless], SEEDLESS)
    if list_columns(columns, "seed") == NUMBERED and is_seedless.all():
        runs = number_rows(runs)
    runs, doubts = take_rows(runs, take)
    problems += doubts + find_doubts(runs, listed=bool(list_columns(columns, "datasets")))
    if "spread" in runs and summary is not None:
        runs, doubts = spread_summaries(runs, count=summary["runs"], spread=summary["spread"])
        problems += doubts
    spent = {*BESIDE, EMPTY}
    return runs.drop(columns=[name for name in runs if name in spent]), problems


def _find_unfilled(runs: pd.DataFrame, columns: Mapped) -> list[Problem]:
    """Find columns of scores that are listed and have none, unless no file has a run."""
    scores = columns.get("score", "")
    listed = [*list_columns(columns, "datasets"), *([] if isinstance(scores, str) else scores)]
    filled = {*runs["column"].unique()}
    return [
        Problem(
            code="empty_column",
            column=name,
            reason="The column of scores has no filled cell.",
            remedy="Fill in the scores if the runs were made, or remove the column from `columns`.",
        )
        for name in listed
        if filled and name not in filled and not has_fields(name)
    ]


def _check_filters(parts: Sequence[Part], where: Filters) -> list[Problem]:
    """Find the values of `where` that no row has, or that all rows pass none of them together."""
    problems: list[Problem] = []
    for column, wanted in where.items():
        seen = sorted(set().union(*(part.filter_values[column] for part in parts)))
        for value in list_values(wanted):
            if not any(match_value(text, value) for text in seen):
                reason = f"No row has this value (where: {{{column}: …}})."
                remedy = f"{ask_nearest(str(value), seen)}The column holds {list_names(seen)}."
                problem = Problem(code="unmatched_filter", reason=reason, remedy=remedy)
                problems.append(replace(problem, column=column, value=str(value)))
    passed = sum(part.counts["rows"] - part.counts["rows_filtered"] for part in parts)
    if where and not problems and not passed:
        reason = "No row passes all filters of `where` together."
        problems.append(Problem(code="unmatched_filter", reason=reason, remedy="Correct a filter."))
    return problems


def _check_ignored(parts: Sequence[Part], columns: Mapped) -> list[Problem]:
    """Find columns to ignore that no file has."""
    present = sorted(set().union(*(part.columns for part in parts)))
    return [
        Problem(
            code="unmatched_ignore",
            reason=f"No file has the column {quote_name(name)} (columns: {{ignore: …}}).",
            remedy=f"{ask_nearest(name, present)}Correct or remove it.",
            column=name,
        )
        for name in list_columns(columns, "ignore")
        if name not in present
    ]


def _check_metrics(parts: Sequence[Part], column: str) -> list[Problem]:
    """Find datasets of which nothing names the metric."""
    datasets = sorted(set().union(*(part.unmeasured for part in parts)))
    if not datasets:
        return []
    present = sorted(set().union(*(part.columns for part in parts)))
    reason = f"Neither the exports nor the configuration name the metric of {list_names(datasets)}."
    remedy = (
        "Set `metric: NAME`, or `datasets: {DATASET: {metric: NAME}}`, or name the column that "
        f"holds it under `columns: {{metric: …}}`. {ask_nearest(column, present)}"
    )
    return [Problem(code="no_metric", reason=reason, remedy=remedy.rstrip())]


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
    mapped = {role: names for role, names in plan.items() if names}
    exports = read_exports(
        paths,
        columns={"model": plan["training"], **mapped, "score": plan["score"][0]},
        named=[role for role in OWN if plan[role]],
        where=where,
        metric="" if plan["metric"] else metric,
        decimal=decimal,
        dataset_metrics={} if plan["metric"] else dataset_metrics,
    )
    table = unpack_columns(exports.runs)
    for role in OWN:
        table[role] = table.get(role, "")
    if plan["model"] and not plan["seed"]:
        table["seed"] = table["training"]
    return replace(exports, runs=table), plan


def _list_present(paths: Sequence[str]) -> set[str]:
    """List the columns of all files that can be opened; the others are found faulty later."""
    present: set[str] = set()
    for path in paths:
        try:
            present |= set(open_sheet(path, wanted={*NAMED, *OWN, *COLUMNS.values()}).columns)
        except UnreadableExportError:
            continue
    return present


def _plan_roles(columns: Mapped, present: set[str]) -> dict[str, list[str]]:
    """Choose the columns of each role."""
    plan = {}
    for role in (*NAMED, "score", *OWN):
        usual = COLUMNS.get(role, role)
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
