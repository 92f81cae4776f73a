"""Tables read as runs: which columns hold scores, and what names a score.

A table has a row per run, with a column of scores, or is wide: several columns hold scores, and
their names say of what, as in ``{dataset}`` or ``{dataset}_seed{seed}``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from capmap.errors import ConfigError
from capmap.exports.cells import (
    SEPARATOR,
    Cells,
    Filters,
    Mapped,
    Wish,
    check_columns,
    choose_texts,
    join_names,
    list_columns,
    list_values,
    make_texts,
    match_rows,
    match_value,
    read_seeds,
    reject_failed,
    reject_unusable,
    repeat_text,
    trim,
    wish_for,
)
from capmap.exports.numbers import (
    Kind,
    Numbers,
    Parse,
    bare_spreads,
    parse_mixed,
    parse_numbers,
    parse_summaries,
    recode,
    write_plain,
)
from capmap.exports.runs import (
    EMPTY,
    RUN_COLUMNS,
    SCORES,
    Metrics,
    Part,
    Place,
    Reading,
    find_bad_scores,
    find_blanks,
    find_no_rows,
    find_overruled_metrics,
    find_scale_breaks,
    find_words,
    make_runs,
)
from capmap.exports.sheets import Sheet
from capmap.patterns import Pattern, has_fields
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.settings.choices import Decimal, TableFormat
from capmap.wording import list_names, quote_name

MATRIX_HINT = "If the file has a column per dataset, set `format: matrix`."
TURNED_HINT = "If each row is a dataset and each column a model, set `columns: {score: '{model}'}`."
DELIMITER_HINT = "Columns must be divided by commas, semicolons or tabs."
NESTED_HINT = "In nested files `reading: {records: …}` says where the runs are."
NAMED = ("model", "dataset", "metric", "seed")
# What says how rows of one run or several runs of one row are to be taken; texts beside the scores.
BESIDE = ("step", "selection", "spread", "count")
ROW = "row"
# Columns of scores that are named where it is said how a file was read.
SHOWN = 3


class Layout(NamedTuple):
    """A layout of tables: its usual columns of scores, and what distinguishes repeats."""

    score: str
    seed_remedy: str


LAYOUTS: dict[TableFormat, Layout] = {
    "long": Layout("score", "If these are runs with several seeds, write columns: {seed: COLUMN}."),
    "matrix": Layout(
        "{dataset}",
        "Make the names of the models unique, join more columns into them with "
        "columns: {model: [COLUMN, COLUMN]}, or export runs with several seeds as a long table "
        "with a column of seeds.",
    ),
}


class Score(NamedTuple):
    """A column of scores, and what its own name says of them."""

    column: str
    fields: Mapping[str, str]


@dataclass(frozen=True)
class _Plan:
    """Which columns hold scores, and of which columns or fields each name is made.

    ``roles`` are those of `NAMED` and `BESIDE` that the table has, and what is kept. In a wide
    table an empty cell is no run.
    """

    scores: list[Score]
    roles: dict[str, list[str]]
    wide: bool

    @property
    def fields(self) -> set[str]:
        return {name for score in self.scores for name in score.fields}

    @property
    def named(self) -> list[str]:
        """The columns of names."""
        names = [name for role in NAMED for name in self.roles.get(role, ())]
        return [name for name in dict.fromkeys(names) if name not in self.fields]

    @property
    def needed(self) -> list[str]:
        """All columns to read."""
        others = [name for role in (*BESIDE, "keep") for name in self.roles[role]]
        kept = [name for name in others if name not in self.fields]
        return list(dict.fromkeys([*self.named, *(score.column for score in self.scores), *kept]))

    def list_texts(self, field: str) -> set[str]:
        """What the columns of scores say of a field."""
        return {score.fields.get(field, "") for score in self.scores}


@dataclass(frozen=True)
class _Grid:
    """The scores of a table, row by row.

    ``rows`` and ``places`` say in which row and which of the columns of scores each stands;
    ``rows`` is None where each row has one. ``filled`` says of each column of a wide table whether
    it has a filled cell.
    """

    rows: npt.NDArray[np.intp] | None
    places: npt.NDArray[np.intp]
    lines: npt.NDArray[np.int64]
    numbers: Numbers
    raw: pa.Array
    empty: int
    problems: list[Problem]
    filled: Mapping[str, bool] = field(default_factory=dict)

    def spread(self, column: pa.Array) -> pa.Array:
        """Repeat what a row says for each of its scores."""
        return column if self.rows is None else column.take(pa.array(self.rows))


def read_table(
    sheet: Sheet,
    source: str,
    *,
    columns: Mapped,
    where: Filters,
    metrics: Metrics,
    decimal: Decimal,
    layout: TableFormat = "long",
    values: Mapping[str, float | str] | None = None,
    summarized: bool = False,
    logged: bool = False,
) -> Part:
    """Read the runs of a table.

    Parameters
    ----------
    sheet : Sheet
        The opened file.
    source : str
        Its path.
    columns, where, decimal, layout, values
        As in `read_exports`.
    summarized : bool, optional
        Whether cells may hold how far runs spread as well, see `parse_summaries`.
    logged : bool, optional
        Whether a run may have several rows, so that `take_rows` has to know which scores are empty.
    metrics : Metrics
        The configured metrics.

    Returns
    -------
    Part
        Rows with an empty name or no metric are not among the runs; empty scores are NaN. In a wide
        table empty cells are no runs, and are counted.

    Raises
    ------
    UnreadableExportError
        When a column is missing, or the file turns out to be damaged.

    Notes
    -----
    The columns ``metric`` and ``seed`` may be absent. A seed column of another name, which somebody
    must have configured, may not. A column of a wide table that holds nothing but words is a
    problem and not read. The decimal mark is one for all scores of a file.
    """
    plan = _plan_reading(sheet.columns, source, columns=columns, where=where, layout=layout)
    filters = {name: wanted for name, wanted in where.items() if name not in plan.fields}
    problems = _find_unread_seed(sheet.columns, plan, source) if layout == "long" else []
    opened = sheet.read_cells(list(dict.fromkeys([*plan.needed, *filters])))
    file = reject_failed(opened, filters, source=source)
    file = reject_unusable(file, plan.named, source=source)
    chosen = match_rows(file, filters)
    cells = file.select(chosen)
    parse = partial(_parse, decimal=decimal, values=values or {}, summarized=summarized)
    grid = _read_grid(cells, plan, source, parse)
    names, doubts = _read_names(cells, plan, grid, metrics, source)
    doubts += _check_scales(cells, plan, grid, source)
    said = {**names, **_read_others(cells, plan, grid, decimal)}
    if logged:
        said[EMPTY] = pa.array(grid.numbers.kinds == Kind.EMPTY)
    runs = make_runs(said, grid.numbers, source=source, lines=grid.lines)
    rejected = [problem for problem in file.problems if problem.severity == "error"]
    found = find_no_rows(opened.lines, rejected, source=source)
    seen = {name: set(file.columns[name].unique().to_pylist()) for name in filters}
    seen |= {name: plan.list_texts(name) for name in where.keys() - filters}
    return Part(
        runs=runs,
        problems=[*problems, *file.problems, *found, *doubts, *grid.problems],
        columns=list(sheet.columns),
        counts={
            "rows": len(file.lines) + len(rejected),
            "rows_filtered": int((~chosen).sum()),
            "rows_empty_score": grid.empty,
            "percent_signs": grid.numbers.percent_signs,
            "decimal_commas": grid.numbers.decimal_commas,
        },
        filter_values=seen,
        reading=_describe_reading(plan, source),
        unmeasured=set(names["dataset"].filter(names["metric"].is_null()).to_pylist()),
        # A column may be filled in a row that was rejected.
        filled={} if rejected or not len(cells.lines) else grid.filled,
    )


def _describe_reading(plan: _Plan, source: str) -> Reading:
    named = {role: plan.roles[role] for role in NAMED if plan.roles[role]}
    scores = [score.column for score in plan.scores]
    return {
        "names": named,
        "scores": scores[:SHOWN],
        "columns": len(scores),
        "path": source,
        "files": 1,
    }


class _NamedSheet(NamedTuple):
    """A sheet with further columns, which say the same in every row."""

    sheet: Sheet
    fields: Mapping[str, str]

    @property
    def columns(self) -> list[str]:
        """The columns of the file that no field hides, and the fields."""
        return [*(name for name in self.sheet.columns if name not in self.fields), *self.fields]

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Read columns of the file, of which it takes one to count the rows, and fields."""
        own = [name for name in names if name not in self.fields] or self.sheet.columns[:1]
        cells = self.sheet.read_cells(own)
        texts = {
            name: repeat_text(self.fields[name], len(cells.lines))
            for name in names
            if name in self.fields
        }
        return replace(cells, columns={**cells.columns, **texts})


def name_sheet(sheet: Sheet, fields: Mapping[str, str]) -> Sheet:
    """Give a sheet columns of what its path says, which hide those of the file called alike."""
    return _NamedSheet(sheet, fields) if fields else sheet


def numbers_rows(columns: Mapped) -> bool:
    """Whether each row of a cell is a run of its own, unless a column is called so."""
    return list_columns(columns, "seed") == [ROW]


def list_wanted(columns: Mapped, layout: TableFormat) -> set[str]:
    """List the columns that a table should have."""
    names = {name for role in (*NAMED, "keep", "ignore") for name in list_columns(columns, role)}
    scores = _list_scores(columns, layout) + list_columns(columns, "datasets")
    return names | {name for name in scores if not has_fields(name)}


def _list_scores(columns: Mapped, layout: TableFormat) -> list[str]:
    if "score" in columns and list_columns(columns, "score") != ["score"]:
        return list_columns(columns, "score")
    turned = list_columns(columns, "dataset") != ["dataset"]
    return ["{model}"] if layout == "matrix" and turned else [LAYOUTS[layout].score]


def _lists_scores(columns: Mapped) -> bool:
    """Whether several columns hold scores, each of the metric that it is called after."""
    return not isinstance(columns.get("score", ""), str)


def _plan_reading(
    present: Sequence[str], source: str, *, columns: Mapped, where: Filters, layout: TableFormat
) -> _Plan:
    """Find the columns of scores and names, or raise what makes the file unreadable."""
    texts = _list_scores(columns, layout)
    patterns = [Pattern(text) for text in texts if has_fields(text)]
    fields = {name for pattern in patterns for name in pattern.fields}
    listed = _lists_scores(columns)
    fields |= {"metric"} if listed and not patterns else set()
    roles = {role: list_columns(columns, role) for role in (*NAMED, *BESIDE, "keep")}
    if numbers_rows(columns) and ROW not in present:
        roles["seed"] = []
    for role in ("metric", "seed"):
        usual = roles[role] == [role] and role not in {*present, *fields}
        if usual or (role == "metric" and roles[role][0] not in {*present, *fields}):
            roles[role] = []
    wishes = [
        wish
        for role, names in roles.items()
        for wish in (wish_for(columns, role) if names else ())
        # A field is a part of a joined name as well: [dataset, metric] makes a dataset of each.
        if wish.name not in fields or (wish.name in NAMED and wish.name != role and len(names) == 1)
    ]
    wishes += [Wish("where", name) for name in where if name not in fields]
    scores = _find_scores(texts, present, columns=columns, taken={wish.name for wish in wishes})
    scores = [score for score in scores if _passes(score, where)]
    wishes += [Wish("columns: {score: …}", text) for text in texts if not has_fields(text)]
    wishes += [
        Wish("columns: {datasets: …}", name)
        for name in (list_columns(columns, "datasets") or [score.column for score in scores])
        if patterns
    ]
    hint = NESTED_HINT if any("." in name for name in present) else ""
    if not patterns and not {*roles["dataset"], *texts} & {*present}:
        hint = DELIMITER_HINT if len(present) == 1 else MATRIX_HINT
    elif texts == ["{dataset}"] and "dataset" in present and "model" not in present:
        hint = TURNED_HINT
    problems = check_columns(list(dict.fromkeys(wishes)), present, source, hint=hint)
    problems += [_explain_reserved(name, source) for name in roles["keep"] if name in RUN_COLUMNS]
    if patterns:
        problems += _find_turned(present, roles, fields, source)
        problems += _check_wide(present, scores, source, columns=columns, layout=layout)
    if problems:
        raise UnreadableExportError(*problems)
    return _Plan(scores, roles, wide=bool(patterns) or listed)


def _find_turned(
    present: Sequence[str], roles: Mapping[str, list[str]], fields: set[str], source: str
) -> list[Problem]:
    """Find out that the column of models is called like what the columns of scores are named by."""
    taken = [name for name in roles["model"] if name in fields and name in present]
    return [
        Problem(
            code="turned_table",
            source=source,
            reason=f"This table has datasets in rows: the column {quote_name(name)} is taken for "
            "the models, and each column of scores for a dataset.",
            remedy=f"Set `columns: {{dataset: {name}, score: '{{model}}'}}`.",
            line=1,
            column=name,
        )
        for name in taken
        if name != "model"
    ]


def _find_scores(
    texts: Sequence[str], present: Sequence[str], *, columns: Mapped, taken: set[str]
) -> list[Score]:
    """Find the columns of scores; a column of a list without fields names its metric."""
    listed = list_columns(columns, "datasets")
    free = listed or [
        name for name in present if name not in taken | {*list_columns(columns, "ignore")}
    ]
    scores = []
    for text in texts:
        if not has_fields(text):
            scores.append(Score(text, {"metric": text} if _lists_scores(columns) else {}))
            continue
        pattern = Pattern(text)
        for name in free:
            try:
                fields = pattern.match(name)
            except ConfigError as error:
                raise ConfigError(f"columns.score: {error}") from error
            if fields is not None and name not in texts:
                scores.append(Score(name, fields))
    return scores


def _passes(score: Score, where: Filters) -> bool:
    """Whether the filters let a column of scores through, as far as its name says."""
    return all(
        any(match_value(score.fields[name], value) for value in list_values(wanted))
        for name, wanted in where.items()
        if name in score.fields
    )


def _check_wide(
    present: Sequence[str],
    scores: Sequence[Score],
    source: str,
    *,
    columns: Mapped,
    layout: TableFormat,
) -> list[Problem]:
    """Find out that a table has no column of scores, or looks like one with a row per run."""
    long = {*list_columns(columns, "dataset"), *list_columns(columns, "score")}
    if not list_columns(columns, "datasets") and long <= {score.column for score in scores}:
        reason = f"The columns {list_names(sorted(long))} look like those of a row per run."
        remedy = (
            "Set `format: long`, or list the columns of datasets under `columns: {datasets: …}`."
        )
        return [Problem(code="long_table", source=source, reason=reason, remedy=remedy, line=1)]
    if scores:
        return []
    wanted = _list_scores(columns, layout)
    reason = "No column is left for a dataset."
    near = ""
    if wanted != [LAYOUTS["matrix"].score]:
        reason = f"No column is like {list_names(wanted)}."
        near = ask_nearest(wanted[0], present)
    remedy = (
        f"{near}The columns are {list_names(present)}. Check `columns` and the file's delimiter."
    )
    return [Problem(code="no_datasets", source=source, reason=reason, remedy=remedy, line=1)]


def _read_grid(cells: Cells, plan: _Plan, source: str, parse: Parse) -> _Grid:
    """Read all columns of scores; of a wide table only its filled cells."""
    titles = [score.column for score in plan.scores]
    numbers = _parse_columns(cells, titles, parse)
    if not plan.wide:
        return _check_long(cells, titles[0], numbers, source)
    count = len(cells.lines)
    kinds = numbers.kinds.reshape(len(titles), count)
    values = numbers.values.reshape(len(titles), count)
    problems = []
    filled = kinds != Kind.EMPTY
    empty = int((~filled).sum())
    is_filled = dict(zip(titles, filled.any(axis=1).tolist(), strict=True))
    for place, name in enumerate(titles):
        found = find_words(
            kinds[place],
            Place(source, cells.lines, name, cells.columns[name]),
            remedy="If it holds no scores, add it to `columns: {ignore: […]}`.",
        )
        if found:
            problems += found
            filled[place] = False
    rows, places = np.nonzero(filled.T)
    if numbers.spreads is not None:
        numbers = replace(numbers, spreads=numbers.spreads.reshape(values.shape)[places, rows])
    numbers = replace(numbers, values=values[places, rows], kinds=kinds[places, rows])
    raw = pa.concat_arrays([cells.columns[name] for name in titles])
    raw = raw.take(pa.array(places * count + rows))
    lines = cells.lines[rows]
    columns = np.array(titles, dtype=object)[places]
    problems += find_bad_scores(numbers, Place(source, lines, columns, raw))
    return _Grid(rows, places, lines, numbers, raw, empty, problems, is_filled)


def _check_long(cells: Cells, column: str, numbers: Numbers, source: str) -> _Grid:
    raw, lines = cells.columns[column], cells.lines
    place = Place(source, lines, column, raw)
    remedy = "Name the column of scores under `columns: {score: …}`."
    blank = np.flatnonzero(numbers.kinds == Kind.EMPTY).tolist()
    words = find_words(numbers.kinds, place, remedy=remedy)
    problems = place.report(SCORES[Kind.EMPTY], blank) + (words or find_bad_scores(numbers, place))
    places = np.zeros(len(lines), dtype=np.intp)
    return _Grid(None, places, lines, numbers, raw, len(blank), problems)


def _parse(
    texts: pa.Array,
    *,
    numeric: bool,
    decimal: Decimal,
    values: Mapping[str, float | str],
    summarized: bool,
) -> Numbers:
    mark: Decimal = "." if numeric else decimal
    if values:
        texts, is_replaced = recode(texts, values, decimal=mark)
        parse = partial(_parse, decimal=decimal, values={}, summarized=summarized)
        return parse_mixed(texts, is_replaced | numeric, parse)
    return (parse_summaries if summarized else parse_numbers)(texts, decimal=mark)


def _parse_columns(cells: Cells, titles: Sequence[str], parse: Parse) -> Numbers:
    """Parse all columns, one after the other, with one decimal mark for all text in them."""
    texts = pa.concat_arrays([cells.columns[name] for name in titles])
    return parse_mixed(texts, np.concatenate([*map(cells.find_numerals, titles)]), parse)


def _read_part(cells: Cells, plan: _Plan, grid: _Grid, name: str) -> pa.Array:
    """Read what a column, or a field of the names of columns, says of each score."""
    if name not in plan.fields:
        return grid.spread(cells.columns[name])
    texts = make_texts([score.fields.get(name, "") for score in plan.scores])
    return texts.take(pa.array(grid.places))


def _read_beside(cells: Cells, plan: _Plan, grid: _Grid, role: str, decimal: Decimal) -> pa.Array:
    """Read what stands beside each score; numbers get a decimal point, as in any other file.

    Where scores have decimal commas, the same mark is tried here.
    """
    name = plan.roles[role][-1]
    texts = _read_part(cells, plan, grid, name)
    if name in plan.fields:
        return texts
    is_numeral = grid.spread(pa.array(cells.find_numerals(name))).to_numpy(zero_copy_only=False)
    texts = bare_spreads(texts) if role == "spread" else texts
    tries: list[Decimal] = [",", decimal] if grid.numbers.decimal_commas else [decimal]
    for mark in tries:
        parse = partial(_parse, decimal=mark, values={}, summarized=False)
        numbers = parse_mixed(texts, is_numeral, parse)
        if not (numbers.kinds == Kind.OTHER_MARK).any():
            break
    return write_plain(texts, numbers)


def _read_others(cells: Cells, plan: _Plan, grid: _Grid, decimal: Decimal) -> dict[str, pa.Array]:
    """Read what is known of each score but its names: its text, its column, and what is kept."""
    titles = [score.column for score in plan.scores]
    others = {"raw": grid.raw, "column": choose_texts(titles, grid.places)}
    others |= {name: _read_part(cells, plan, grid, name) for name in plan.roles["keep"]}
    present = [role for role in BESIDE if plan.roles[role]]
    return others | {role: _read_beside(cells, plan, grid, role, decimal) for role in present}


def _check_scales(cells: Cells, plan: _Plan, grid: _Grid, source: str) -> list[Problem]:
    """Compare the percent signs of scores with those of spreads."""
    if not plan.roles["spread"]:
        return []
    titles = np.array([score.column for score in plan.scores], dtype=object)
    spreads = _read_part(cells, plan, grid, plan.roles["spread"][-1])
    return find_scale_breaks(spreads, Place(source, grid.lines, titles[grid.places], grid.raw))


def _read_names(
    cells: Cells, plan: _Plan, grid: _Grid, metrics: Metrics, source: str
) -> tuple[dict[str, pa.Array], list[Problem]]:
    """Read the names of each score, and find those that are blank, confused or overruled."""
    names: dict[str, pa.Array] = {"metric": None, "seed": repeat_text("", len(grid.lines))}
    problems: list[Problem] = []
    for role in NAMED:
        parts = plan.roles[role]
        if not parts:
            continue
        in_rows = not {*parts} & plan.fields
        texts = [
            trim(cells.columns[name] if in_rows else _read_part(cells, plan, grid, name))
            for name in parts
        ]
        joined, lines = join_names(texts), cells.lines if in_rows else grid.lines
        joined = read_seeds(joined) if role == "seed" else joined
        problems += find_blanks(joined, role, Place(source, lines, SEPARATOR.join(parts)))
        names[role] = grid.spread(joined) if in_rows else joined
    said = names["metric"]
    names["metric"] = metrics.name(names["dataset"], said)
    if said is not None:
        column = SEPARATOR.join(plan.roles["metric"])
        place = Place(source, grid.lines, column)
        problems += find_overruled_metrics(said, names["metric"], place)
    return names, problems


def _explain_reserved(name: str, source: str) -> Problem:
    reason = f"{quote_name(name)} is one of capmap's own columns, so it cannot be kept beside them."
    remedy = "Rename the column in the export, or remove it from `columns: {keep: …}`."
    return Problem(
        code="reserved_column", source=source, reason=reason, remedy=remedy, line=1, column=name
    )


def _find_unread_seed(present: Sequence[str], plan: _Plan, source: str) -> list[Problem]:
    unread = [name for name in present if name.casefold() == "seed" and not plan.roles["seed"]]
    return [
        Problem(
            code="unread_seed",
            source=source,
            reason=f"The column {quote_name(name)} is not read, so each cell has one run.",
            remedy=f"If it holds seeds, set `columns: {{seed: {name}}}`.",
            line=1,
            column=name,
            severity="warning",
        )
        for name in unread
    ]
