"""The exports of a study, read together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pandas as pd

from capmap.artifacts import digest_file
from capmap.exports.cells import SEPARATOR, Filters, Mapped, list_columns, list_values, match_value
from capmap.exports.files import FileOptions
from capmap.exports.layouts import LAYOUTS
from capmap.exports.runs import RUN_COLUMNS, Metrics, Part
from capmap.exports.sheets import open_sheet
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.settings.choices import Decimal, TableFormat
from capmap.wording import list_names, quote_name


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
        (text; seed is empty where the export has none), score (float, NaN or infinite where it is
        unusable), raw (the score's text as it stands in the file), source (the file), line (the
        header is line 1), column (where the score stands), and the columns to keep (text).
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
    header_rows: int = 1,
    columns: Mapped | None = None,
    where: Filters | None = None,
    metric: str = "",
    decimal: Decimal = "auto",
    dataset_metrics: Mapping[str, str] | None = None,
) -> Exports:
    """Read the exports of a study, whatever is wrong with them.

    Parameters
    ----------
    paths : sequence of str
        Files: CSV or TSV (comma, semicolon or tab), JSON lines (``.jsonl``, ``.ndjson``,
        ``.json``), both also packed with gzip, or Parquet.
    layout : {"long", "matrix"}, optional
        A row per run, or a row per model and a column per dataset.
    header_rows : int, optional
        As in `capmap.settings.study.Study`.
    columns : mapping, optional
        Role and column, or list of columns. "model" and "dataset" may be several columns, which
        are joined with " / ". Roles are "model", "dataset", "metric", "score", "seed" and "keep"
        (long), and "model", "datasets" and "ignore" (matrix).
    where : mapping, optional
        Column and value, or list of values, of the rows to read.
    metric : str, optional
        Name of the metric of all datasets. It wins over what the files say.
    decimal : {"auto", ".", ","}, optional
        Decimal mark of numbers in text; "auto" finds it per file, see `parse_numbers`.
    dataset_metrics : mapping of str to str, optional
        Metrics of some datasets. They win over `metric`.

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
    metrics = Metrics(metric, dataset_metrics or {})
    problems = [*_check_roles(columns, layout), *_check_header_rows(header_rows, layout)]
    files: list[ExportFile] = []
    parts: list[Part] = []
    wanted = {name for role in LAYOUTS[layout].roles for name in list_columns(columns, role)}
    for path in paths:
        try:
            sheet = open_sheet(
                path,
                wanted=wanted | {*where},
                options=FileOptions(header_rows=header_rows if layout == "matrix" else 1),
            )
            part = LAYOUTS[layout].read(
                sheet, path, columns=columns, where=where, metrics=metrics, decimal=decimal
            )
        except UnreadableExportError as error:
            problems += error.problems
            rows = 0
        else:
            problems += part.problems
            rows = part.rows
            parts.append(part)
        files += _describe_file(path, rows)
    if len(parts) == len(paths):
        problems += _check_filters(parts, where)
        problems += _check_ignored(parts, list_columns(columns, "ignore"), layout)
    problems += _check_metrics(parts, list_columns(columns, "metric")[0])
    return Exports(
        runs=_join_runs(parts, list_columns(columns, "keep")),
        problems=problems,
        files=files,
        rows=sum(part.rows for part in parts),
        rows_filtered=sum(part.rows_filtered for part in parts),
        rows_empty_score=sum(part.rows_empty_score for part in parts),
        percent_signs=sum(part.percent_signs for part in parts),
        decimal_commas=sum(part.decimal_commas for part in parts),
    )


def _describe_file(path: str, rows: int) -> list[ExportFile]:
    """Describe a file, if it can be opened at all."""
    try:
        size = Path(path).stat().st_size
        return [{"path": path, "sha256": digest_file(path), "bytes": size, "rows": rows}]
    except OSError:
        return []


def _join_runs(parts: Sequence[Part], keep: Sequence[str]) -> pd.DataFrame:
    if parts:
        return pd.concat([part.runs for part in parts], ignore_index=True)
    kinds = {"score": "float64", "line": "int64"}
    names = dict.fromkeys([*RUN_COLUMNS, *keep])
    return pd.DataFrame({name: pd.Series(dtype=kinds.get(name, "str")) for name in names})


def _check_roles(columns: Mapped, layout: TableFormat) -> list[Problem]:
    """Find columns that are mapped, otherwise than by default, to a role that a matrix lacks."""
    if layout == "long":
        return []
    roles = [role for role in LAYOUTS["long"].roles if role not in LAYOUTS["matrix"].roles]
    return [
        Problem(
            code="long_setting",
            reason=f"columns: {{{role}: …}} belongs to `format: long`; a matrix has a row per "
            "model and a column per dataset.",
            remedy="Set `format: long` if the file has a row per run. Otherwise remove the setting;"
            " a column of no scores goes into `columns: {ignore: […]}`.",
            column=SEPARATOR.join(list_columns(columns, role)),
        )
        for role in roles
        if list_columns(columns, role) != list_columns({}, role)
    ]


def _check_header_rows(header_rows: int, layout: TableFormat) -> list[Problem]:
    """Find a header of several rows where a table has a row per run."""
    if layout == "matrix" or header_rows == 1:
        return []
    return [
        Problem(
            code="matrix_setting",
            reason=f"header_rows: {header_rows} belongs to `format: matrix`; a table with a row per"
            " run names its columns in one row.",
            remedy="Set `format: matrix` if the file has a column per dataset. Otherwise remove the"
            " setting.",
        )
    ]


def _check_filters(parts: Sequence[Part], where: Filters) -> list[Problem]:
    """Find the values of `where` that no row of any file has."""
    problems = []
    for column, wanted in where.items():
        seen = sorted(set().union(*(part.filter_values[column] for part in parts)))
        for value in list_values(wanted):
            if not any(match_value(text, value) for text in seen):
                reason = f"No row has this value (where: {{{column}: …}})."
                remedy = f"{ask_nearest(str(value), seen)}The column holds {list_names(seen)}."
                problems.append(
                    Problem(
                        code="unmatched_filter",
                        reason=reason,
                        remedy=remedy,
                        column=column,
                        value=str(value),
                    )
                )
    if where and not problems and all(part.rows == part.rows_filtered for part in parts):
        reason = "No row passes all filters of `where` together."
        problems.append(
            Problem(code="unmatched_filter", reason=reason, remedy="Correct or remove a filter.")
        )
    return problems


def _check_ignored(
    parts: Sequence[Part], ignored: Sequence[str], layout: TableFormat
) -> list[Problem]:
    """Find columns to ignore that no file has."""
    if layout == "long":
        return []
    present = sorted(set().union(*(part.columns for part in parts)))
    return [
        Problem(
            code="unmatched_ignore",
            reason=f"No file has the column {quote_name(name)} (columns: {{ignore: …}}).",
            remedy=f"{ask_nearest(name, present)}Correct or remove it.",
            column=name,
        )
        for name in ignored
        if name not in present
    ]


def _check_metrics(parts: Sequence[Part], column: str) -> list[Problem]:
    """Find datasets of which nothing tells the metric."""
    datasets = sorted(set().union(*(part.unmeasured for part in parts)))
    if not datasets:
        return []
    present = sorted(set().union(*(part.columns for part in parts)))
    reason = f"Neither the exports nor the configuration tell the metric of {list_names(datasets)}."
    remedy = (
        "Set `metric: NAME`, or `datasets: {DATASET: {metric: NAME}}`, or name the column that "
        f"holds it under `columns: {{metric: …}}`. {ask_nearest(column, present)}"
    )
    return [Problem(code="no_metric", reason=reason, remedy=remedy.rstrip())]
