"""Tables read as runs: which columns hold scores, and what names a score.

A table has a row per run, with a column of scores, or is wide: several columns hold scores, and
their names say of what, as in ``{dataset}`` or ``{dataset}_seed{seed}``.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capmap.exports.cells import (
    SEPARATOR,
    Cells,
    Filters,
    Kind,
    Mapped,
    Mask,
    Numbers,
    Place,
    bare_spreads,
    check_columns,
    choose_texts,
    join_names,
    list_columns,
    make_texts,
    match_any,
    match_rows,
    parse_mixed,
    parse_numbers,
    parse_summaries,
    read_seeds,
    recode,
    reject_failed,
    repeat_text,
    trim,
)
from capmap.exports.sheets import Sheet
from capmap.metrics import is_same_metric
from capmap.patterns import Pattern, has_fields
from capmap.problems import Problem, UnreadableExportError
from capmap.settings.choices import MOST_RUNS, Decimal, TableFormat, Take
from capmap.wording import list_names, quote_name

MATRIX_HINT = "If the file has a column per dataset, set `format: matrix`."
TURNED_HINT = "If each row is a dataset and each column a model, set `columns: {score: '{model}'}`."
NESTED_HINT = "In nested files `reading: {records: …}` says where the runs are."
REQUIRED = ("model", "dataset", "metric")
NAMED = (*REQUIRED, "seed")
# Whether a score is empty. Headers are trimmed, so no column of a file is called so.
EMPTY = " empty"
# Of scores of single test items.
ITEMS = ("item", "cluster")
# Where the column of seeds is called so, and there is none, each row of a cell is a run.
NUMBERED = ["row"]


# What distinguishes repeats.
SEED_REMEDIES: dict[TableFormat, str] = {
    "long": "If these are runs with several seeds, write columns: {seed: COLUMN}.",
    "matrix": "Make the names of the models unique, join more columns into them with "
    "columns: {model: [COLUMN, COLUMN]}, or export runs with several seeds as a long table "
    "with a column of seeds.",
}


RUN_COLUMNS = (*NAMED, "score", "raw", "source", "line", "column")
TAKEN = (*RUN_COLUMNS, *ITEMS)

CORRECT = "Correct it, or say what stands for no run, as in `values: {OOM: missing}`."
SCORES = {
    Kind.EMPTY: Problem(
        severity="warning",
        code="empty_score",
        reason="The score is missing, so the row is left out.",
        remedy="Fill in the score if the run was made.",
    ),
    Kind.NAN: Problem(
        code="nan_score",
        reason="The score is not a finite number.",
        remedy="Leave the cell empty if the run is missing. If it failed, say what it counts with: "
        "`failed: worst`, or `failed: drop` to leave it out.",
    ),
    Kind.TEXT: Problem(code="not_a_number", reason="The score is not a number.", remedy=CORRECT),
    Kind.AMBIGUOUS: Problem(
        code="ambiguous_number",
        reason="The mark may divide thousands, or is not the decimal mark of the others.",
        remedy='Write all scores with one mark, or set `decimal` to "." or ",".',
    ),
    Kind.UNCLEAR: Problem(
        code="ambiguous_spread",
        reason="The second number may be a spread, one in units of the last digit or in percent, "
        "or count runs.",
        remedy="Write the spread like the mean, as in 0.912 ± 0.003 or 91% ± 2%, or remove it.",
    ),
}
# What stands beside scores, and what can be wrong with it.
BESIDE = {
    "step": "is not a number",
    "selection": "is not a number",
    "spread": "is no number, is negative, or alone has a percent sign, or its mean has",
    "count": f"is no whole number from 1 to {MOST_RUNS:,}",
}
SUMMARY = ("spread", "count")


@dataclass(frozen=True)
class Part:
    """The runs of one file, as in `Exports`, and what is wrong with it.

    ``filter_values`` has what stands in each column of `where`, and ``unmeasured`` the datasets of
    which neither the file nor the configuration names the metric; their rows are no runs.
    """

    runs: pa.Table
    problems: list[Problem]
    columns: list[str]
    counts: Counter[str]
    filter_values: dict[str, set[str]]
    unmeasured: set[str]


@dataclass(frozen=True)
class _Plan:
    """Which columns hold scores, and of which columns or fields each name is made.

    ``scores`` has what the name of each column says of its scores. ``roles`` are those of `NAMED`,
    `BESIDE` that the table has, further names, and what is kept. In a wide table an empty cell is
    no run.
    """

    scores: dict[str, Mapping[str, str]]
    roles: dict[str, list[str]]
    wide: bool

    @property
    def fields(self) -> set[str]:
        return {name for fields in self.scores.values() for name in fields}

    def list_columns(self, *roles: str) -> list[str]:
        """The columns of some roles, without fields of the names of columns."""
        names = [name for role in roles for name in self.roles.get(role, ())]
        return [name for name in dict.fromkeys(names) if name not in self.fields]


@dataclass(frozen=True)
class _Grid:
    """The scores of a table, row by row, with a row of cells for each.

    ``places`` says in which of the columns of scores each stands.
    """

    cells: Cells
    places: npt.NDArray[np.intp]
    numbers: Numbers
    raw: pa.Array
    empty: int
    problems: list[Problem]


@dataclass(frozen=True)
class Query:
    """What a study reads of each table.

    A ``layout`` has a row per run, or a row per model and a column per dataset. ``columns`` are the
    column, or list of columns, of each role; those of "model" and "dataset" are joined with " / ".
    Of "score", a pattern such as ``{dataset}_seed{seed}`` stands for all columns like it, and
    columns of a list are metrics of their names. ``where`` has the value, or list of values, of
    columns in the rows to read. ``dataset_metrics`` win over ``metric``, and that over the file.
    The ``decimal`` mark "auto" is found per file. ``values`` has scores that stand for what is
    exported, "missing" for what is no run. Of ``take`` and ``summary`` see `take_rows` and
    `spread_summaries`. The runs have a column of each role that is ``named`` besides.
    """

    layout: TableFormat = "long"
    columns: Mapped = field(default_factory=dict)
    where: Filters = field(default_factory=dict)
    metric: str = ""
    decimal: Decimal = "auto"
    dataset_metrics: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, float | str] = field(default_factory=dict)
    take: Take = "all"
    summary: Mapping[str, Any] = field(default_factory=dict)
    named: Sequence[str] = ()

    @property
    def roles(self) -> list[str]:
        """All roles of names whose columns are read."""
        items = [role for role in ITEMS if list_columns(self.columns, role)]
        return [*NAMED, *self.named, *items]

    def parse(self, texts: pa.Array, decimal: Decimal) -> Numbers:
        """Read scores, and how far runs spread where cells may hold that as well."""
        counted = list_columns(self.columns, "count")
        if self.summary and (self.summary["runs"] > 1 or counted):
            return parse_summaries(texts, decimal=decimal)
        return parse_numbers(texts, decimal=decimal)


def read_table(sheet: Sheet, source: str, query: Query) -> Part:
    """Read the runs of a table.

    Notes
    -----
    The columns ``metric`` and ``seed`` may be absent. A seed column of another name, which somebody
    must have configured, may not. A column of a wide table that holds nothing but words is a
    problem and not read. The decimal mark is one for all scores of a file.
    """
    plan = _plan_reading(sheet.columns, source, query)
    filters = {name: own for name, own in query.where.items() if name not in plan.fields}
    needed = [*plan.list_columns(*plan.roles), *plan.scores, *filters]
    opened = sheet.read_cells([*dict.fromkeys(needed)])
    file = reject_failed(opened, source=source, where=filters)
    chosen = match_rows(file, filters)
    grid = _read_grid(file.select(chosen), plan, source, query)
    names, doubts = _read_names(grid.cells, plan, source, query)
    beside, faults = _read_beside(grid, plan, source, query.decimal)
    others = {"raw": grid.raw, "column": choose_texts([*plan.scores], grid.places)}
    others |= {name: grid.cells.columns[name] for name in plan.roles["keep"]}
    if query.take != "all":
        others[EMPTY] = pa.array(grid.numbers.kinds == Kind.EMPTY)
    everything = {**names, **others, **beside}
    rejected = [problem for problem in file.problems if problem.severity == "error"]
    seen = {name: set(file.columns[name].unique().to_pylist()) for name in filters}
    for name in query.where.keys() - filters:
        seen[name] = {fields.get(name, "") for fields in plan.scores.values()}
    return Part(
        runs=make_runs(everything, grid.numbers, source=source, lines=grid.cells.lines),
        problems=[
            *(_find_unread_seed(sheet.columns, plan, source) if query.layout == "long" else []),
            *file.problems,
            *find_no_rows(len(opened.lines), rejected, source=source),
            *doubts,
            *faults,
            *grid.problems,
        ],
        columns=list(sheet.columns),
        counts=Counter(
            rows=len(file.lines) + len(rejected),
            rows_filtered=int((~chosen).sum()),
            rows_empty_score=grid.empty,
        ),
        filter_values=seen,
        unmeasured=set(names["dataset"].filter(names["metric"].is_null()).to_pylist()),
    )


class NamedSheet(NamedTuple):
    """A sheet with columns of what its path says, which hide those of the file called alike."""

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
        asked = {name: text for name, text in self.fields.items() if name in names}
        texts = {name: repeat_text(text, len(cells.lines)) for name, text in asked.items()}
        return replace(cells, columns={**cells.columns, **texts})


def list_wanted(query: Query) -> set[str]:
    """List the columns that a table should have."""
    roles = (*NAMED, *ITEMS, "keep", "ignore", "datasets")
    names = {name for role in roles for name in list_columns(query.columns, role)}
    scores = {name for name in _list_scores(query) if not has_fields(name)}
    return names | scores | {*query.where}


def _list_scores(query: Query) -> list[str]:
    listed = list_columns(query.columns, "score")
    if query.layout == "long" or listed != ["score"]:
        return listed
    return ["{dataset}" if list_columns(query.columns, "dataset") == ["dataset"] else "{model}"]


def _plan_reading(present: Sequence[str], source: str, query: Query) -> _Plan:
    """Find the columns of scores and names, or raise what makes the file unreadable."""
    columns, where = query.columns, query.where
    texts = _list_scores(query)
    patterns = [Pattern(text) for text in texts if has_fields(text)]
    # Several columns that are listed hold scores of the metrics that they are called after.
    listed = not isinstance(columns.get("score", ""), str)
    fields = {name for pattern in patterns for name in pattern.fields}
    fields |= {"metric"} if listed and not patterns else set()
    known = {*present, *fields}
    roles = {role: list_columns(columns, role) for role in (*query.roles, *BESIDE, "keep")}
    if roles["metric"][0] not in known:
        roles["metric"] = []
    if roles["seed"] in (["seed"], NUMBERED) and roles["seed"][0] not in known:
        roles["seed"] = []
    wishes = [
        (f"columns: {{{role}: …}}", name)
        for role, names in roles.items()
        for name in names
        # A field is a part of a joined name as well: [dataset, metric] makes a dataset of each.
        if name not in fields or (name in NAMED and name != role and len(names) == 1)
    ]
    wishes += [("where", name) for name in where if name not in fields]
    free = list_columns(columns, "datasets")
    if not free:
        taken = {name for _, name in wishes} | {*list_columns(columns, "ignore")}
        free = [name for name in present if name not in taken]
    scores = _find_scores(texts, free, where, listed=listed)
    wishes += [("columns: {score: …}", text) for text in texts if not has_fields(text)]
    if patterns:
        datasets = list_columns(columns, "datasets") or scores
        wishes += [("columns: {datasets: …}", name) for name in datasets]
    hint = NESTED_HINT if any("." in name for name in present) else ""
    if not patterns and not {*roles["dataset"], *texts} & {*present}:
        hint = MATRIX_HINT
    elif texts == ["{dataset}"] and "dataset" in present and "model" not in present:
        hint = TURNED_HINT
    problems = check_columns(wishes, present, source, hint=hint)
    problems += [_refuse(source, *RESERVED, name) for name in roles["keep"] if name in TAKEN]
    if patterns:
        turned = [name for name in roles["model"] if name in fields & {*present} - {"model"}]
        problems += [_refuse(source, *TURNED, name) for name in turned]
        problems += _check_wide(present, scores, source, query)
    if problems:
        raise UnreadableExportError(*problems)
    return _Plan(scores, roles, wide=bool(patterns) or listed)


RESERVED = (
    "reserved_column",
    "The name {column} is one of capmap's own columns, so it cannot be kept beside them.",
    "Rename the column in the export, or take another one.",
)
TURNED = (
    "turned_table",
    "This table has datasets in rows: the column {column} is taken for the models, and each column "
    "of scores for a dataset.",
    "Set `columns: {{dataset: {column}, score: '{{model}}'}}`.",
)


def _refuse(source: str, code: str, reason: str, remedy: str, column: str = "") -> Problem:
    """Make a problem of the header, whose sentences may name a column."""
    reason, remedy = (text.format(column=quote_name(column)) for text in (reason, remedy))
    return Problem(code=code, source=source, reason=reason, remedy=remedy, line=1, column=column)


def _find_scores(
    texts: Sequence[str], free: Sequence[str], where: Filters, *, listed: bool
) -> dict[str, Mapping[str, str]]:
    """Find the columns of scores that the filters let through, as far as their names say."""
    scores: dict[str, Mapping[str, str]] = {}
    for text in texts:
        if not has_fields(text):
            scores[text] = {"metric": text} if listed else {}
            continue
        pattern = Pattern(text)
        for name in free:
            fields = pattern.match(name)
            if fields is not None and name not in texts:
                scores[name] = fields
    return {
        column: fields
        for column, fields in scores.items()
        if all(match_any(fields[name], own) for name, own in where.items() if name in fields)
    }


def _check_wide(
    present: Sequence[str], scores: Collection[str], source: str, query: Query
) -> list[Problem]:
    """Find out that a table has no column of scores, or looks like one with a row per run."""
    columns = query.columns
    long = {*list_columns(columns, "dataset"), *list_columns(columns, "score")}
    if not scores:
        code, reason = "no_datasets", f"No column is like {list_names(_list_scores(query))}."
        remedy = f"The columns are {list_names(present)}. Check `columns` and the file's delimiter."
    elif long <= {*scores} and not list_columns(columns, "datasets"):
        code = "long_table"
        reason = f"The columns {list_names(sorted(long))} look like those of a row per run."
        remedy = "Set `format: long`, or list the datasets under `columns: {datasets: …}`."
    else:
        return []
    return [Problem(code=code, source=source, reason=reason, remedy=remedy, line=1)]


def _read_grid(cells: Cells, plan: _Plan, source: str, query: Query) -> _Grid:
    """Arrange all columns of scores; of a wide table only filled cells of columns of numbers."""
    titles, count = [*plan.scores], len(cells.lines)
    # One after the other, with one decimal mark for all text in them.
    raw = pa.concat_arrays([cells.columns[name] for name in titles])
    texts, is_numeral = raw, np.concatenate([*map(cells.find_numerals, titles)])
    if query.values:
        texts, is_replaced = recode(texts, query.values, decimal=query.decimal)
        is_numeral = is_numeral | is_replaced
    numbers = parse_mixed(texts, is_numeral, decimal=query.decimal, parse=query.parse)
    kinds = numbers.kinds.reshape(len(titles), count)
    filled = kinds != Kind.EMPTY
    empty = int((~filled).sum())
    remedy = (
        "Name the column of scores under `columns: {score: …}`. If words stand for scores, say "
        "for which: `values: {'True': 1, 'False': 0}`."
    )
    if plan.wide:
        remedy = "If it holds no scores, add it to `columns: {ignore: […]}`."
    problems = []
    for own, has_cells, name in zip(kinds, filled, titles, strict=True):
        place = Place(source, cells.lines, name, cells.columns[name])
        if words := find_words(own, place, remedy=remedy):
            problems += words
            has_cells[:] = False
    if not plan.wide:
        problems += [] if problems else find_bad_scores(numbers, place)
        return _Grid(cells, np.zeros(count, dtype=np.intp), numbers, raw, empty, problems)
    rows, places = np.nonzero(filled.T)
    numbers, raw = numbers.take(places * count + rows), raw.take(pa.array(places * count + rows))
    columns = np.array(titles, dtype=object)[places]
    problems += find_bad_scores(numbers, Place(source, cells.lines[rows], columns, raw))
    return _Grid(_spread(cells, plan, rows, places), places, numbers, raw, empty, problems)


def _spread(
    cells: Cells, plan: _Plan, rows: npt.NDArray[np.intp], places: npt.NDArray[np.intp]
) -> Cells:
    """Make a row of cells for each score, of what its row and the name of its column say."""
    columns = {
        name: cells.columns[name].take(pa.array(rows)) for name in plan.list_columns(*plan.roles)
    }
    for name in plan.fields:
        texts = make_texts([fields.get(name, "") for fields in plan.scores.values()])
        columns[name] = texts.take(pa.array(places))
    numerals = {name: own[rows] for name, own in cells.numerals.items() if name in columns}
    return Cells(columns, cells.lines[rows], numerals)


def _read_beside(
    grid: _Grid, plan: _Plan, source: str, decimal: Decimal
) -> tuple[dict[str, pa.Array], list[Problem]]:
    """Read the numbers that stand beside each score, with the decimal comma of scores."""
    found, problems = {}, []
    mark: Decimal = "," if grid.numbers.mark == "," else decimal
    for role in BESIDE:
        for name in plan.roles[role]:
            texts = grid.cells.columns[name]
            plain = bare_spreads(texts) if role == "spread" else texts
            numbers = parse_mixed(plain, grid.cells.find_numerals(name), decimal=mark)
            bad = find_bad_beside(role, numbers) & np.isfinite(grid.numbers.values)
            if role == "spread":
                bad |= find_scale_breaks(grid.raw, texts)
            problem = Problem(
                code="bad_summary" if role in SUMMARY else f"bad_{role}",
                reason=f"The {role} {BESIDE[role]}.",
                remedy="Correct the row, or name another column under `columns`.",
            )
            place = Place(source, grid.cells.lines, name, texts)
            problems += place.report(problem, np.flatnonzero(bad)[:1])
            found[role] = pa.array(numbers.values)
    return found, problems


def _read_names(
    cells: Cells, plan: _Plan, source: str, query: Query
) -> tuple[dict[str, pa.Array], list[Problem]]:
    """Read the names of each score, and find those that are blank or overruled."""
    names: dict[str, pa.Array] = {"metric": None, "seed": repeat_text("", len(cells.lines))}
    problems: list[Problem] = []
    for role in query.roles:
        if not (parts := plan.roles.get(role)):
            continue
        joined = join_names([trim(cells.columns[name]) for name in parts])
        names[role] = read_seeds(joined) if role == "seed" else joined
        if role in (*REQUIRED, *ITEMS):
            # The names of a wide row stand beside each of its scores.
            place = Place(source, cells.lines, SEPARATOR.join(parts))
            problems += dict.fromkeys(find_blanks(joined, role, place))
    said = names["metric"]
    names["metric"] = name_metrics(names["dataset"], said, query)
    if said is not None:
        place = Place(source, cells.lines, SEPARATOR.join(plan.roles["metric"]))
        problems += find_overruled_metrics(said, names["metric"], place)
    return names, problems


UNREAD = (
    "unread_seed",
    "The column {column} is not read, so each cell has one run.",
    "If it holds seeds, set `columns: {{seed: {column}}}`.",
)


def _find_unread_seed(present: Sequence[str], plan: _Plan, source: str) -> list[Problem]:
    unread = [name for name in present if name.casefold() == "seed" and not plan.roles["seed"]]
    return [replace(_refuse(source, *UNREAD, name), severity="warning") for name in unread]


def make_runs(
    columns: Mapping[str, pa.Array], numbers: Numbers, *, source: str, lines: npt.NDArray[np.int64]
) -> pa.Table:
    """Make the table of runs, without rows that have no name or metric (null where unknown)."""
    usable = np.ones(len(lines), dtype=np.bool_)
    for role in {*REQUIRED, *ITEMS} & columns.keys():
        empty = pc.equal(columns[role], "").fill_null(fill_value=True)
        usable = usable & ~empty.to_numpy(zero_copy_only=False)
    if numbers.spreads is not None and "spread" not in columns:
        columns = {**columns, "spread": pa.array(numbers.spreads)}
    table = pa.table(
        {
            **columns,
            "score": pa.array(numbers.values),
            "source": choose_texts([source], np.zeros(len(lines), dtype=np.int32)),
            "line": pa.array(lines),
        }
    )
    table = table if usable.all() else table.filter(pa.array(usable))
    kept = {}
    for name in dict.fromkeys([*RUN_COLUMNS, *columns]):
        # Most of the texts of scores differ; of all others, each is kept once.
        packs = name != "raw" and pa.types.is_large_string(table.schema.field(name).type)
        kept[name] = table[name].dictionary_encode() if packs else table[name]
    return pa.table(kept)


def find_blanks(names: pa.Array, role: str, place: Place) -> list[Problem]:
    """Find empty names of models, datasets or metrics."""
    blank = pc.equal(names, "").fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    reason, remedy = f"The {role} has no name.", "Fill in the name, or remove the row."
    problem = Problem(code=f"empty_{role}", reason=reason, remedy=remedy)
    return place.report(problem, np.flatnonzero(blank))


def name_metrics(datasets: pa.Array, said: pa.Array | None, query: Query) -> pa.Array:
    """Find the metric of each run, null where neither the configuration nor the file names it."""
    encoded = datasets.dictionary_encode()
    configured = [
        query.dataset_metrics.get(dataset) or query.metric or None
        for dataset in encoded.dictionary.to_pylist()
    ]
    chosen = make_texts(configured).take(encoded.indices)
    return chosen if said is None else pc.coalesce(chosen, said)


def find_overruled_metrics(said: pa.Array, used: pa.Array, place: Place) -> list[Problem]:
    """Warn at the first run of which the file names another metric than the configuration."""
    differs = pc.and_(pc.not_equal(said, used), pc.not_equal(said, "")).fill_null(False)
    rows = pa.table({"said": said, "used": used, "row": pa.array(np.arange(len(said)))})
    firsts = rows.filter(differs).to_pandas().drop_duplicates(["said", "used"])
    for own, metric, row in firsts.itertuples(index=False, name=None):
        if not is_same_metric(own, metric):
            problem = Problem(
                severity="warning",
                code="overruled_metric",
                reason=f"The configuration says that the metric is {quote_name(metric)}, the file "
                f"says {quote_name(own)}.",
                remedy="The configuration is followed; remove `metric` from it if the file is "
                "right.",
            )
            return replace(place, raw=said).report(problem, [row])
    return []


def find_bad_scores(numbers: Numbers, place: Place) -> list[Problem]:
    """Find scores that are no finite numbers, in the order of the cells."""
    return [
        problem
        for row in np.flatnonzero(numbers.kinds != Kind.NUMBER).tolist()
        for problem in place.report(SCORES[Kind(numbers.kinds[row])], [row])
    ]


def find_bad_beside(role: str, numbers: Numbers) -> Mask:
    """Find the numbers beside scores that are none, or are impossible."""
    values = numbers.values
    missing = [Kind.EMPTY, Kind.NAN] if role == "spread" else [Kind.EMPTY]
    bad: Mask = ~np.isin(numbers.kinds, [Kind.NUMBER, *missing])
    if role == "spread":
        bad |= (values < 0) | np.isinf(values)
    if role == "count":
        bad |= (values < 1) | (values > MOST_RUNS) | (values % 1 > 0)
    return bad


def find_scale_breaks(means: pa.Array, spreads: pa.Array) -> Mask:
    """Find the rows with a percent sign behind either the mean or its spread, if not 0."""
    signs = [pc.match_substring(texts, "%") for texts in (means, spreads)]
    filled = [pc.match_substring_regex(*own) for own in ((means, r"\d"), (spreads, "[1-9]"))]
    mask: Mask = pc.and_(pc.xor(*signs), pc.and_(*filled)).to_numpy(zero_copy_only=False)
    return mask


def find_words(kinds: npt.NDArray[np.int8], place: Place, *, remedy: str) -> list[Problem]:
    """Find out that no filled cell of a column is a number; the first one is the example."""
    filled = np.flatnonzero(kinds != Kind.EMPTY)
    if not filled.size or (kinds[filled] != Kind.TEXT).any() or place.raw is None:
        return []
    if any(map(str.isdigit, place.raw[int(filled[0])].as_py())):
        remedy = (
            "Leave one number in each cell, or a mean and one spread, as in 0.91 ± 0.02, and set "
            "`summary: {runs: N}` with the number of runs behind each."
        )
    reason = "No cell of the column is a number."
    return place.report(Problem(code="no_numbers", reason=reason, remedy=remedy), filled[:1])


def find_no_rows(count: int, rejected: Sequence[Problem], *, source: str) -> list[Problem]:
    """Find out that a file has nothing but a header."""
    if count or rejected:
        return []
    reason, remedy = "The file has a header but no rows.", "Export it again, or leave it out."
    return [Problem(code="no_rows", source=source, reason=reason, remedy=remedy, line=1)]
