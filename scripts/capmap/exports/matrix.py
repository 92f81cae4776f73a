"""The matrix layout: a row per model, a column per dataset."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from capmap.exports.cells import (
    SEPARATOR,
    Cells,
    Filters,
    join_names,
    make_texts,
    match_rows,
    reject_nested,
    repeat_text,
    trim,
)
from capmap.exports.checks import (
    find_bad_scores,
    find_blank_names,
    find_confusions,
    find_no_rows,
    find_words,
)
from capmap.exports.columns import Mapped, Wish, check_columns, list_columns, wish_for
from capmap.exports.faults import UnreadableExportError
from capmap.exports.numbers import Decimal, Kind, Mask, Numbers, parse_numbers
from capmap.exports.runs import Metrics, Part, list_filter_values, make_runs
from capmap.exports.sheets import Sheet
from capmap.problems import Problem
from capmap.wording import list_names


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
