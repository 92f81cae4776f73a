"""The layouts of runs: long with a row per run, matrix with a column per dataset."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from capmap.exports.cells import (
    SEPARATOR,
    Cells,
    Filters,
    Mapped,
    Wish,
    check_columns,
    join_names,
    list_columns,
    make_texts,
    match_rows,
    read_seeds,
    reject_nested,
    repeat_text,
    trim,
    wish_for,
)
from capmap.exports.numbers import Kind, Mask, Numbers, parse_numbers
from capmap.exports.runs import (
    RUN_COLUMNS,
    Metrics,
    Part,
    find_bad_scores,
    find_blank_names,
    find_blank_seeds,
    find_confusions,
    find_empty_scores,
    find_no_rows,
    find_overruled_metrics,
    find_words,
    list_filter_values,
    make_runs,
)
from capmap.exports.sheets import Sheet
from capmap.problems import Problem, UnreadableExportError
from capmap.settings.choices import Decimal, TableFormat
from capmap.wording import list_names, quote_name

MATRIX_HINT = "If the file has a column per dataset, set `format: matrix`."
DELIMITER_HINT = "Columns must be divided by commas, semicolons or tabs."


@dataclass(frozen=True)
class _Plan:
    """Which columns of a file play which role; None where it has none that does."""

    model: list[str]
    dataset: list[str]
    score: str
    metric: str | None
    seed: str | None
    keep: list[str]


def read_long(
    sheet: Sheet,
    source: str,
    *,
    columns: Mapped,
    where: Filters,
    metrics: Metrics,
    decimal: Decimal,
) -> Part:
    """Read a table with a row per run.

    Parameters
    ----------
    sheet : Sheet
        The opened file.
    source : str
        Its path.
    columns, where, decimal
        As in `read_exports`.
    metrics : Metrics
        The configured metrics.

    Returns
    -------
    Part
        Rows with an empty name or no metric are not among the runs; empty scores are NaN.

    Raises
    ------
    UnreadableExportError
        When a column is missing, or the file turns out to be damaged.

    Notes
    -----
    The columns ``metric`` and ``seed`` may be absent. A seed column of another name, which somebody
    must have configured, may not.
    """
    plan = _plan_reading(sheet.columns, columns)
    problems = _check_plan(plan, sheet.columns, source, columns=columns, where=where)
    single = [name for name in (plan.score, plan.metric, plan.seed) if name is not None]
    needed = [*plan.model, *plan.dataset, *single, *plan.keep, *where]
    named = [*plan.model, *plan.dataset, *single[1:]]
    file = sheet.read_cells(list(dict.fromkeys(needed)))
    file = reject_nested(file, named, source=source)
    chosen = match_rows(file, where)
    cells = file.select(chosen)
    score = cells.columns[plan.score]
    numbers = parse_numbers(score, decimal="." if plan.score in cells.numeric else decimal)
    names = _read_names(cells, plan, metrics)
    problems += [
        *file.problems,
        *find_no_rows(file.lines, file.problems, source=source),
        *_check_names(cells, plan, names, source),
        *_check_scores(cells, plan, numbers, source),
    ]
    runs = make_runs(
        {
            **names,
            "raw": score,
            "column": repeat_text(plan.score, len(score)),
            **{name: cells.columns[name] for name in plan.keep},
        },
        numbers,
        source=source,
        lines=cells.lines,
    )
    return Part(
        runs=runs,
        problems=problems,
        columns=list(sheet.columns),
        rows=len(file.lines) + len(file.problems),
        rows_filtered=int((~chosen).sum()),
        rows_empty_score=int((numbers.kinds == Kind.EMPTY).sum()),
        percent_signs=numbers.percent_signs,
        decimal_commas=numbers.decimal_commas,
        filter_values=list_filter_values(file, where),
        unmeasured=set(names["dataset"].filter(names["metric"].is_null()).to_pylist()),
    )


def _plan_reading(present: Sequence[str], columns: Mapped) -> _Plan:
    score, metric, seed = (list_columns(columns, role)[0] for role in ("score", "metric", "seed"))
    return _Plan(
        model=list_columns(columns, "model"),
        dataset=list_columns(columns, "dataset"),
        score=score,
        metric=metric if metric in present else None,
        seed=seed if seed in present or seed != "seed" else None,
        keep=list_columns(columns, "keep"),
    )


def _check_plan(
    plan: _Plan, present: Sequence[str], source: str, *, columns: Mapped, where: Filters
) -> list[Problem]:
    """Raise what makes the file unreadable, and return what is only odd about its columns."""
    optional = {"metric": plan.metric, "seed": plan.seed}
    roles = ["model", "dataset", "score", *(role for role, name in optional.items() if name)]
    wishes = [wish for role in [*roles, "keep"] for wish in wish_for(columns, role)]
    wishes += [Wish("where", name) for name in where]
    hint = DELIMITER_HINT if len(present) == 1 else MATRIX_HINT
    hint = "" if {*plan.dataset, plan.score} & {*present} else hint
    problems = check_columns(wishes, present, source, hint=hint)
    problems += [_explain_reserved(name, source) for name in plan.keep if name in RUN_COLUMNS]
    if problems:
        raise UnreadableExportError(*problems)
    unread = [name for name in present if name.casefold() == "seed" and plan.seed is None]
    return [_explain_unread_seed(name, source) for name in unread]


def _read_names(cells: Cells, plan: _Plan, metrics: Metrics) -> dict[str, pa.Array]:
    datasets = join_names(_pick(cells, plan.dataset))
    said = trim(cells.columns[plan.metric]) if plan.metric else None
    seeds = cells.columns[plan.seed] if plan.seed else repeat_text("", len(cells.lines))
    return {
        "model": join_names(_pick(cells, plan.model)),
        "dataset": datasets,
        "metric": metrics.name(datasets, said),
        "seed": read_seeds(seeds),
    }


def _pick(cells: Cells, names: Sequence[str]) -> list[pa.Array]:
    return [trim(cells.columns[name]) for name in names]


def _check_names(
    cells: Cells, plan: _Plan, names: Mapping[str, pa.Array], source: str
) -> list[Problem]:
    problems = []
    for role, columns in (("model", plan.model), ("dataset", plan.dataset)):
        problems += find_confusions(_pick(cells, columns), role, source=source)
    places = {
        "model": SEPARATOR.join(plan.model),
        "dataset": SEPARATOR.join(plan.dataset),
        "metric": plan.metric or "",
    }
    for role, column in places.items():
        problems += find_blank_names(
            names[role], role, column=column, source=source, lines=cells.lines
        )
    if plan.metric:
        problems += find_overruled_metrics(
            trim(cells.columns[plan.metric]),
            names["metric"],
            column=plan.metric,
            source=source,
            lines=cells.lines,
        )
    problems += find_blank_seeds(
        names["seed"], column=plan.seed or "", source=source, lines=cells.lines
    )
    return problems


def _check_scores(cells: Cells, plan: _Plan, numbers: Numbers, source: str) -> list[Problem]:
    raw, lines = cells.columns[plan.score], cells.lines
    remedy = "Name the column of scores under `columns: {score: …}`."
    empty = find_empty_scores(numbers, column=plan.score, source=source, lines=lines)
    words = find_words(numbers, raw, column=plan.score, source=source, lines=lines, remedy=remedy)
    columns = [plan.score] * len(lines)
    bad = find_bad_scores(numbers, raw, columns=columns, source=source, lines=lines)
    return [*empty, *(words or bad)]


def _explain_reserved(name: str, source: str) -> Problem:
    reason = f"{quote_name(name)} is one of capmap's own columns, so it cannot be kept beside them."
    remedy = "Rename the column in the export, or remove it from `columns: {keep: …}`."
    return Problem(
        code="reserved_column", source=source, reason=reason, remedy=remedy, line=1, column=name
    )


def _explain_unread_seed(name: str, source: str) -> Problem:
    reason = f"The column {quote_name(name)} is not read, so each cell has one run."
    remedy = f"If it holds seeds, set `columns: {{seed: {name}}}`."
    return Problem(
        code="unread_seed",
        source=source,
        reason=reason,
        remedy=remedy,
        line=1,
        column=name,
        severity="warning",
    )


@dataclass(frozen=True)
class _Grid:
    """The filled score cells of a matrix, row by row.

    ``rows`` and ``places`` say in which row and which of the dataset columns each stands.
    """

    rows: npt.NDArray[np.intp]
    places: npt.NDArray[np.intp]
    numbers: Numbers
    raw: pa.Array
    empty: int
    problems: list[Problem]


def read_matrix(
    sheet: Sheet,
    source: str,
    *,
    columns: Mapped,
    where: Filters,
    metrics: Metrics,
    decimal: Decimal,
) -> Part:
    """Read a table with a row per model and a column per dataset.

    Parameters
    ----------
    sheet : Sheet
        The opened file.
    source : str
        Its path.
    columns, where, decimal
        As in `read_exports`.
    metrics : Metrics
        The configured metrics; a matrix says none itself.

    Returns
    -------
    Part
        A run per filled cell, without seed, whose ``column`` is that of the dataset.

    Raises
    ------
    UnreadableExportError
        When a column is missing, or the file turns out to be damaged.

    Notes
    -----
    Unless the datasets are listed, every column is one that is not part of the model's name, in
    ``ignore`` or in `where`. A column of nothing but words is a problem and not read. Empty cells
    are counted. The decimal mark is one for all datasets of a file.
    """
    models = list_columns(columns, "model")
    datasets = _find_datasets(sheet.columns, source, columns=columns, where=where)
    file = sheet.read_cells(list(dict.fromkeys([*models, *datasets, *where])))
    file = reject_nested(file, models, source=source)
    chosen = match_rows(file, where)
    cells = file.select(chosen)
    grid = _read_grid(cells, datasets, source, decimal=decimal)
    parts = [trim(cells.columns[name]) for name in models]
    names = join_names(parts)
    titles = make_texts(datasets).take(pa.array(grid.places))
    measured = metrics.name(titles)
    lines = cells.lines[grid.rows]
    runs = make_runs(
        {
            "model": names.take(pa.array(grid.rows)),
            "dataset": titles,
            "metric": measured,
            "seed": repeat_text("", len(lines)),
            "raw": grid.raw,
            "column": titles,
        },
        grid.numbers,
        source=source,
        lines=lines,
    )
    return Part(
        runs=runs,
        problems=[
            *file.problems,
            *find_no_rows(file.lines, file.problems, source=source),
            *find_confusions(parts, "model", source=source),
            *find_blank_names(
                names,
                "model",
                column=SEPARATOR.join(models),
                source=source,
                lines=cells.lines,
            ),
            *grid.problems,
        ],
        columns=list(sheet.columns),
        rows=len(file.lines) + len(file.problems),
        rows_filtered=int((~chosen).sum()),
        rows_empty_score=grid.empty,
        percent_signs=grid.numbers.percent_signs,
        decimal_commas=grid.numbers.decimal_commas,
        filter_values=list_filter_values(file, where),
        unmeasured=set(titles.filter(measured.is_null()).to_pylist()),
    )


def _find_datasets(
    present: Sequence[str], source: str, *, columns: Mapped, where: Filters
) -> list[str]:
    """List the columns of datasets, or raise what makes the file unreadable."""
    wishes = [*wish_for(columns, "model"), *(Wish("where", name) for name in where)]
    listed = list_columns(columns, "datasets")
    others = {wish.name for wish in wishes} | {*list_columns(columns, "ignore")}
    found = listed or [name for name in present if name not in others]
    wishes += [Wish("columns: {datasets: …}", name) for name in found]
    problems = check_columns(wishes, present, source)
    long = {*list_columns(columns, "dataset"), *list_columns(columns, "score")}
    if not listed and long <= {*found}:
        reason = f"The columns {list_names(sorted(long))} look like those of a row per run."
        remedy = (
            "Set `format: long`, or list the columns of datasets under `columns: {datasets: …}`."
        )
        problems.append(
            Problem(code="long_table", source=source, reason=reason, remedy=remedy, line=1)
        )
    if not found:
        reason = "No column is left for a dataset."
        remedy = f"The columns are {list_names(present)}. Check `columns` and the file's delimiter."
        problems.append(
            Problem(code="no_datasets", source=source, reason=reason, remedy=remedy, line=1)
        )
    if problems:
        raise UnreadableExportError(*problems)
    return found


def _read_grid(cells: Cells, datasets: Sequence[str], source: str, *, decimal: Decimal) -> _Grid:
    count = len(cells.lines)
    numbers = _parse_columns(cells, datasets, decimal)
    kinds = numbers.kinds.reshape(len(datasets), count)
    values = numbers.values.reshape(len(datasets), count)
    problems = []
    filled = kinds != Kind.EMPTY
    empty = int((~filled).sum())
    for place, name in enumerate(datasets):
        found = find_words(
            replace(numbers, values=values[place], kinds=kinds[place]),
            cells.columns[name],
            column=name,
            source=source,
            lines=cells.lines,
            remedy="If it holds no scores, add it to `columns: {ignore: […]}`.",
        )
        if found:
            problems += found
            filled[place] = False
    rows, places = np.nonzero(filled.T)
    numbers = replace(numbers, values=values[places, rows], kinds=kinds[places, rows])
    raw = pa.concat_arrays([cells.columns[name] for name in datasets])
    raw = raw.take(pa.array(places * count + rows))
    titles = np.array(datasets, dtype=object)[places]
    lines = cells.lines[rows]
    problems += find_bad_scores(numbers, raw, columns=titles, source=source, lines=lines)
    return _Grid(rows, places, numbers, raw, empty, problems)


def _parse_columns(cells: Cells, datasets: Sequence[str], decimal: Decimal) -> Numbers:
    """Parse all columns, one after the other, with one decimal mark for those of text."""
    shape = (len(datasets), len(cells.lines))
    values, kinds = np.empty(shape), np.empty(shape, dtype=np.int8)
    in_text = np.array([name not in cells.numeric for name in datasets])
    parsed = []
    groups: tuple[tuple[Mask, Decimal], ...] = ((~in_text, "."), (in_text, decimal))
    for group, mark in groups:
        columns = [cells.columns[datasets[place]] for place in np.flatnonzero(group).tolist()]
        if columns:
            numbers = parse_numbers(pa.concat_arrays(columns), decimal=mark)
            values[group] = numbers.values.reshape(len(columns), shape[1])
            kinds[group] = numbers.kinds.reshape(len(columns), shape[1])
            parsed.append(numbers)
    return Numbers(
        values=values.ravel(),
        kinds=kinds.ravel(),
        mark=parsed[-1].mark,
        percent_signs=sum(numbers.percent_signs for numbers in parsed),
        decimal_commas=sum(numbers.decimal_commas for numbers in parsed),
    )


class Layout(NamedTuple):
    """A layout of exports: its reader, the roles of its columns, and what tells repeats apart."""

    read: Callable[..., Part]
    roles: tuple[str, ...]
    seed_remedy: str


LAYOUTS: dict[TableFormat, Layout] = {
    "long": Layout(
        read_long,
        ("model", "dataset", "metric", "score", "seed", "keep"),
        "If these are runs with several seeds, write columns: {seed: COLUMN}.",
    ),
    "matrix": Layout(
        read_matrix,
        ("model", "datasets", "ignore"),
        "Make the names of the models unique, join more columns into them with "
        "columns: {model: [COLUMN, COLUMN]}, or export runs with several seeds as a long table "
        "with a column of seeds.",
    ),
}
