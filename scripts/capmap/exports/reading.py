"""The exports of a study, read together."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from capmap.artifacts import digest_file, pack_names, unpack_columns
from capmap.exports.cells import (
    SEPARATOR,
    Filters,
    Mapped,
    check_columns,
    list_columns,
    list_values,
    match_value,
)
from capmap.exports.doubts import find_doubts
from capmap.exports.layouts import (
    BESIDE,
    EMPTY,
    NAMED,
    NUMBERED,
    RUN_COLUMNS,
    NamedSheet,
    Part,
    Query,
    list_wanted,
    read_table,
)
from capmap.exports.records import PLAIN, FileOptions
from capmap.exports.sheets import open_sheet
from capmap.patterns import has_fields
from capmap.problems import Problem, RowCheck, UnreadableExportError, ask_nearest
from capmap.settings.choices import Spread, Take
from capmap.wording import format_count, list_names

# Faults of numbers beside scores, which are of no use where one of them is none.
UNUSABLE = ("bad_step", "bad_selection", "bad_summary")


@dataclass(frozen=True)
class Exports:
    """What the exports of a study hold.

    ``runs`` has a row per run, in the order of the files and their lines: model, dataset, metric
    and seed (empty where the export has none), score (NaN or infinite where it is unusable), raw
    (its text), source (the file), line (the header is line 1), column (where the score stands), and
    the columns to keep (text). All texts but ``raw`` are packed, see `pack_names`. ``files``
    describes those that exist. ``counts`` has the ``rows`` of data, also those that could not be
    split into cells, ``rows_filtered``, left out by `where`, and ``rows_empty_score`` (of a matrix:
    cells), left out because their score is empty.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    files: list[dict[str, Any]]
    counts: Counter[str]


def read_exports(
    paths: Sequence[str],
    *,
    options: FileOptions = PLAIN,
    fields: Sequence[Mapping[str, str]] = (),
    **wanted: Any,
) -> Exports:
    """Read the exports of a study, whatever is wrong with them.

    `fields` have what the path of each file says, which stands in it like columns, and `wanted` are
    fields of `Query`. A file that cannot be read is a problem. A run whose score is unusable is
    among the runs, with a problem at its line; rows without a name, score or metric are not. Names,
    seeds and headers are trimmed of white space, and otherwise kept as they are: ``NA`` and
    ``null`` are names. Nothing in a file is ever executed.
    """
    query = Query(**{name: value for name, value in wanted.items() if value is not None})
    problems, files = list[Problem](), list[dict[str, Any]]()
    parts, tables = list[Part](), list[pa.Table]()
    columns = list_wanted(query)
    for path, own in zip(paths, fields or [{}] * len(paths), strict=True):
        try:
            sheet = open_sheet(path, wanted=columns, options=options)
            part = read_table(NamedSheet(sheet, own), path, query)
        except UnreadableExportError as error:
            problems += error.problems
            rows = 0
        else:
            problems += part.problems
            rows = part.counts["rows"]
            tables.append(part.runs)
            parts.append(replace(part, runs=part.runs.schema.empty_table()))
        files += describe_file(path, rows)
    present = sorted(set[str]().union(*(part.columns for part in parts)))
    if len(parts) == len(paths):
        problems += _check_filters(parts, query.where)
        ignored = list_columns(query.columns, "ignore")
        wishes = [("columns: {ignore: …}", name) for name in ignored if name not in present]
        problems += check_columns(wishes, present, "".join(paths[:1]))
    problems += _check_metrics(parts, present, list_columns(query.columns, "metric")[0])
    if any(problem.code in UNUSABLE for problem in problems):
        query = replace(query, take="all", summary={})
    runs, doubts = _arrange_runs(tables, query)
    # A filter may leave out all scores of a column.
    problems += [] if query.where else _find_unfilled(runs, query.columns)
    return Exports(
        runs=runs,
        problems=[*problems, *doubts],
        files=files,
        counts=sum((part.counts for part in parts), Counter[str]()),
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


def describe_file(path: str, rows: int) -> list[dict[str, Any]]:
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


def _arrange_runs(tables: list[pa.Table], query: Query) -> tuple[pd.DataFrame, list[Problem]]:
    """Join the runs of files, choose the rows that count, and spread those that are summaries."""
    runs = join_runs(tables, list_columns(query.columns, "keep"))
    is_seedless = runs["seed"] == ""
    problems = [] if is_seedless.all() else report_first(runs[is_seedless], SEEDLESS)
    if list_columns(query.columns, "seed") == NUMBERED and is_seedless.all():
        # Each row of a cell is a run of its own, with its position as seed.
        place = runs.groupby(KEY[:3], sort=False, observed=True).cumcount() + 1
        runs = runs.assign(seed=pack_names(place.astype("str")), numbered=True)
    runs, doubts = take_rows(runs, query.take)
    listed = bool(list_columns(query.columns, "datasets"))
    problems += doubts + find_doubts(runs, listed=listed)
    if "spread" in runs and query.summary:
        runs, doubts = spread_summaries(
            runs, count=query.summary["runs"], spread=query.summary["spread"]
        )
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


def _check_metrics(parts: Sequence[Part], present: Sequence[str], column: str) -> list[Problem]:
    """Find datasets of which nothing names the metric."""
    datasets = sorted(set().union(*(part.unmeasured for part in parts)))
    if not datasets:
        return []
    reason = f"Neither the exports nor the configuration name the metric of {list_names(datasets)}."
    remedy = (
        "Set `metric: NAME`, or `datasets: {DATASET: {metric: NAME}}`, or name the column that "
        f"holds it under `columns: {{metric: …}}`. {ask_nearest(column, present)}"
    )
    return [Problem(code="no_metric", reason=reason, remedy=remedy.rstrip())]


SELECTED_BY_SCORE = Problem(
    severity="warning",
    code="selected_by_score",
    reason="The best row of each run is chosen by the score that is reported, so scores are those "
    "of selection on test data: too good, and the better the more rows a run has.",
    remedy="Choose by a score on other data, under `columns: {selection: …}`.",
)
NO_SELECTION = Problem(
    code="no_take",
    reason="take: best needs to know by what the best row of a run is chosen.",
    remedy="Name the column by which the best row is chosen, such as the score on validation "
    "data, under `columns: {selection: …}`.",
)
KEY = [*NAMED]
# Of runs that a row stands for: the number of that row, its score and its seed.
ROW, MEAN, SEED = " row", " mean", " seed"
# Rows that say whether spreads are scores.
FEWEST = 3


def take_rows(runs: pd.DataFrame, take: Take) -> tuple[pd.DataFrame, list[Problem]]:
    """Keep one row of each run of a log, and say which runs are left without one.

    "last" takes the row of the highest number ``step``, or the last one where no step is
    configured; "best" that of the highest ``selection``, "lowest" that of the lowest, of equal ones
    the first. Rows with an empty score do not count where others do.
    """
    if take == "all" or runs.empty:
        return runs, []
    cell = [runs[name] for name in KEY]
    filled = ~runs[EMPTY]
    runs = runs[filled | ~filled.groupby(cell, observed=True).transform("any")]
    role = "step" if take == "last" else "selection"
    if role not in runs:
        kept = runs.drop_duplicates(KEY, keep="last") if take == "last" else runs
        return kept, [] if take == "last" else [NO_SELECTION]
    # Of equal ones the last row of the highest step counts, and the first of the best selection.
    keep: Literal["first", "last"] = "last" if take == "last" else "first"
    known = runs[role].dropna().sort_values(kind="stable", ascending=take != "best")
    taken = runs.loc[known.index].drop_duplicates(KEY, keep=keep).sort_index()
    if take == "last":
        rivals = runs.merge(taken[[*KEY, role, "score"]], on=[*KEY, role], suffixes=("", "_taken"))
        differs = (rivals["score"] != rivals["score_taken"]) & rivals["score"].notna()
        problems = report_first(rivals[differs], TIED)
    else:
        chosen = np.array_equal(runs[role], runs["score"], equal_nan=True)
        problems = [SELECTED_BY_SCORE] if chosen else []
    lost = runs.drop_duplicates(KEY).merge(taken[KEY], on=KEY, how="left", indicator=True)
    return taken, [*report_first(lost[lost["_merge"] == "left_only"], UNTAKEN), *problems]


TIED = RowCheck(
    "tied_step",
    "raw",
    "{_count} of the highest step beside another of a different score; the first is of {model} on "
    "{dataset}.",
    "If they are different runs, say by what: a column, or a field of the path, of seeds.",
)
SEEDLESS = RowCheck(
    "empty_seed",
    "seed",
    "{_count} without a seed, while others have one; those of a cell count as the same run.",
    "Fill in the seeds, or take them from the file's name, as in exports: "
    "runs/{{model}}-{{seed}}.csv.",
    "warning",
)
UNTAKEN = TIED._replace(
    code="untaken_run",
    reason="{_count} without a number to choose a row by; the first is of {model} on {dataset}.",
    remedy="Choose another `take`, or complete or remove the runs.",
)
HALVES = TIED._replace(
    code="half_summary",
    reason="{_count} with a spread but no number of runs, or the other way round, each of which "
    "counts as one run; the first is of {model} on {dataset}.",
    remedy="Fill in what is missing, or set `summary: {{runs: N}}` for the number of runs.",
    severity="warning",
)
TWINS = HALVES._replace(
    code="doubtful_spread",
    reason="{_count} most of which have a spread about as large as their mean: are these two "
    "scores, such as the best and the mean? The first is of {model} on {dataset}.",
    remedy="If they are, leave only one number in each cell.",
)


def report_first(rows: pd.DataFrame, check: RowCheck) -> list[Problem]:
    """Make a problem of all rows of a kind at the first of them, if there are any."""
    said = rows.head(1).assign(_count=format_count(len(rows), "row"))
    return check.report(said, column="")


def spread_summaries(
    runs: pd.DataFrame, *, count: int, spread: Spread
) -> tuple[pd.DataFrame, list[Problem]]:
    """Put runs in the place of rows that hold a mean and how far runs spread.

    The number ``spread`` of a row is a standard deviation (n − 1) of runs, or the standard error of
    their mean, NaN where the row does not say it; ``count`` is their number, likewise. Each row
    that has a spread becomes n runs with exactly its mean and standard deviation, ``summary`` being
    true, where a normal distribution would have them. Their seeds are 1 to n, behind that of the
    row where it has one ("7 / 1"). Columns of blank first letters say from which row each run is.
    Rows that say one of the two only, or whose spreads look like scores, are warned of.

    Only mean and standard deviation of such runs are known, so Student's t interval of a mean is
    that of the real runs; what depends on their shape is that of a normal distribution.
    """
    own_count = runs["count"].to_numpy() if "count" in runs else np.full(len(runs), np.nan)
    said, spreads = ~np.isnan(own_count), runs["spread"].to_numpy(dtype=np.float64)
    sizes = np.where(said, own_count, count).astype(int)
    is_known = np.isfinite(spreads)
    half = np.where(is_known, (sizes == 1) & ~said, (sizes > 1) & said)
    is_summary = is_known & (sizes > 1)
    counts = np.where(is_summary, sizes, 1)
    problems = [
        *report_first(runs[half & np.isfinite(runs["score"])], HALVES),
        *report_first(_find_twins(runs[is_summary], spreads[is_summary]), TWINS),
    ]
    deviations = spreads * (np.sqrt(sizes) if spread == "sem" else 1)
    rows = np.repeat(np.arange(len(runs)), counts)
    table = runs.iloc[rows].reset_index(drop=True)
    places = table.groupby(rows).cumcount().to_numpy()
    pairs = zip(counts.tolist(), np.nan_to_num(deviations), strict=True)
    shifts = np.concatenate([np.zeros(0), *(_place_runs(n) * deviation for n, deviation in pairs)])
    own = table["seed"].astype("str")
    made = own.where(own == "", own + SEPARATOR) + (places + 1).astype(str)
    seeds = np.where(is_summary[rows], made, own)
    said_of: dict[str, Any] = {ROW: rows, MEAN: table["score"], SEED: table["seed"]}
    runs = table.assign(
        score=table["score"] + shifts,
        seed=pack_names(pd.Series(seeds, dtype="str")),
        summary=is_summary[rows],
        **said_of,
    )
    return runs, problems


def _find_twins(rows: pd.DataFrame, spreads: npt.NDArray[np.float64]) -> pd.DataFrame:
    """Take the rows if most spreads are about as large as their means, as two scores are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = spreads / np.abs(rows["score"].to_numpy(dtype=np.float64))
    shares = shares[np.isfinite(shares)]
    are_twins = len(shares) >= FEWEST and 0.8 <= np.median(shares) <= 1.25
    return rows if are_twins else rows.iloc[:0]


@lru_cache
def _place_runs(count: int) -> npt.NDArray[np.float64]:
    """Normal quantiles of some runs with mean 0 and standard deviation (n − 1) 1."""
    if count == 1:
        return np.zeros(1)
    shares = ((np.arange(count) + 0.5) / count).tolist()
    quantiles = np.array([NormalDist().inv_cdf(share) for share in shares])
    return np.asarray(quantiles / quantiles.std(ddof=1))


OWN = ("training", "checkpoint", "split")
# The usual columns of checkpoints that are not called like their role, which they may be as well.
COLUMNS = {"dataset": "benchmark", "score": "value"}
OPTIONAL = ("model", "metric", "split", "seed")

# No number is one before letters, such as 2k, nor a part of 1_000 or 1.5, nor a version.
NUMBER = r"(\d{1,18})(?:\.0+)?(?![a-z\d]|[.,_' ]\d)"
STEP = re.compile(rf"(?i)(step|epoch)s?[\W_]*{NUMBER}")
ALONE = re.compile(rf"(?i)(?!-|.*version)\D*(?<!v){NUMBER}\D*")


def read_evaluations(
    paths: Sequence[str],
    *,
    columns: Mapped | None = None,
    metric: str = "",
    dataset_metrics: Mapping[str, str] | None = None,
    **wanted: Any,
) -> tuple[Exports, dict[str, list[str]]]:
    """Read the values of checkpoints, whatever is wrong with them, as `read_exports` reads runs.

    Returns runs that have ``training``, ``checkpoint`` and ``split`` as text besides, and the
    columns of each role, none of one that the exports do not have. Without a column of models each
    training is a model, with one run. With one, and without seeds, each training is a seed of its
    model.
    """
    present = set[str]()
    for path in paths:
        # Files that cannot be opened are found faulty later.
        with suppress(UnreadableExportError):
            present |= {*open_sheet(path, wanted={*NAMED, *OWN, *COLUMNS.values()}).columns}
    plan = _plan_roles(columns or {}, present)
    mapped = {role: names for role, names in plan.items() if names}
    exports = read_exports(
        paths,
        columns={"model": plan["training"], **mapped, "score": plan["score"][0]},
        named=[role for role in OWN if plan[role]],
        metric="" if plan["metric"] else metric,
        dataset_metrics={} if plan["metric"] else dataset_metrics,
        **wanted,
    )
    table = unpack_columns(exports.runs)
    for role in OWN:
        table[role] = table.get(role, "")
    if plan["model"] and not plan["seed"]:
        table["seed"] = table["training"]
    return replace(exports, runs=table), plan


def _plan_roles(columns: Mapped, present: set[str]) -> dict[str, list[str]]:
    """Choose the columns of each role."""
    plan = {}
    for role in (*NAMED, "score", *OWN):
        usual, names = COLUMNS.get(role, role), list_columns(columns, role)
        if names == [role] and (usual in present or role not in present):
            names = [usual]
        plan[role] = [] if role in OPTIONAL and names == [usual] and usual not in present else names
    return plan


def read_step(checkpoint: str) -> tuple[int, str] | None:
    """Read the step off a checkpoint's name, and what it counts: "step" or "epoch".

    The last number called ``step`` counts, else the last one called ``epoch``, else the only number
    of the name, which is taken for a step.

    Examples
    --------
    >>> read_step("epoch=3-step=1200.ckpt"), read_step("epoch_07.pt"), read_step("checkpoint-500")
    ((1200, 'step'), (7, 'epoch'), (500, 'step'))
    >>> read_step("300.0"), read_step("step=2k"), read_step("last.ckpt"), read_step("v2-500.ckpt")
    ((300, 'step'), None, None, None)
    """
    found = {own[1].lower(): int(own[2]) for own in STEP.finditer(checkpoint)}
    for kind in ("step", "epoch"):
        if kind in found:
            return found[kind], kind
    alone = ALONE.fullmatch(checkpoint)
    return (int(alone[1]), "step") if alone else None
