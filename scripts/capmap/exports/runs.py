"""Runs of one file: what can be wrong with their cells, which rows count, and summary rows."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_numeric_dtype

from capmap.exports.cells import SEPARATOR, choose_texts, make_texts
from capmap.exports.numbers import CHANGE, SUMMARY, Kind, Numbers, parse_numbers
from capmap.metrics import is_same_metric
from capmap.packing import pack_names
from capmap.problems import Problem, Severity, row_problem
from capmap.settings.choices import MOST_RUNS, Spread, Take
from capmap.wording import format_count, list_names, quote_name

NAMES = ("model", "dataset", "metric", "seed")
RUN_COLUMNS = (*NAMES, "score", "raw", "source", "line", "column")

Lines = npt.NDArray[np.int64]
# A minus of typesetters, and brackets of full width.
ASCII = str.maketrans("\u2212\uff08\uff09", "-()")


class Check(NamedTuple):
    """What can be wrong with a cell, what to do about it, and whether it stops the study."""

    code: str
    reason: str
    remedy: str
    severity: Severity = "error"


CORRECT = "Correct it, or leave the cell empty if the run is missing."
SCORES = {
    Kind.EMPTY: Check(
        "empty_score",
        "The score is missing, so the row is left out.",
        "Fill in the score if the run was made.",
        "warning",
    ),
    Kind.NAN: Check(
        "nan_score",
        "The score is not a number.",
        "Leave the cell empty if the run is missing. If it failed, say what it counts with: "
        "`failed: worst`, or `failed: drop` to leave it out.",
    ),
    Kind.INFINITE: Check(
        "infinite_score",
        "The score is infinite.",
        "Remove the row, or write the value that stands for a failed run.",
    ),
    Kind.TEXT: Check("not_a_number", "The score is not a number.", CORRECT),
    Kind.OTHER_MARK: Check(
        "decimal_mark",
        "The score does not fit the decimal mark {mark!r} of the others.",
        "Write all scores with one mark, or set `decimal` to the one that is meant.",
    ),
    Kind.AMBIGUOUS: Check(
        "ambiguous_number",
        "The mark may be a decimal mark or divide thousands.",
        'Set `decimal` to "." or ",", whichever is the decimal mark.',
    ),
    Kind.LAST_DIGITS: Check(
        "ambiguous_spread",
        "The number in brackets may be a spread, one in units of the last digit, or count runs.",
        "Write the spread like the mean, as in 0.912 ± 0.003 or 0.912 (0.003), or remove it.",
    ),
    Kind.PERCENT_MEAN: Check(
        "ambiguous_spread",
        "The percent sign stands behind the mean only, so the spread may be in percent or not.",
        "Write it behind both or neither, as in 91% ± 2% or 0.91 ± 0.02.",
    ),
}
FILL_IN = "Fill in the name, or remove the row."
BLANKS = {
    role: Check(f"empty_{role}", f"The {role} has no name.", FILL_IN)
    for role in ("model", "dataset", "metric")
}
BLANKS["seed"] = Check(
    "empty_seed",
    "The run has no seed, while others have one.",
    "Fill in the seed; runs without one count as the same run.",
    "warning",
)


@dataclass(frozen=True)
class Place:
    """Where cells stand: their file, the line of each, their column or that of each, their text."""

    source: str
    lines: Lines
    column: str | npt.NDArray[np.object_]
    raw: pa.Array | None = None

    def report(self, check: Check, rows: Iterable[int]) -> list[Problem]:
        """Make a problem of a check for each of some cells."""
        return [
            Problem(
                severity=check.severity,
                code=check.code,
                source=self.source,
                line=int(self.lines[row]),
                column=self.column if isinstance(self.column, str) else self.column[row],
                value="" if self.raw is None else self.raw[row].as_py(),
                reason=check.reason,
                remedy=check.remedy,
            )
            for row in rows
        ]


class Reading(TypedDict):
    """Which columns of files were taken for what.

    The columns of each name by its role, the first of those of scores and how many there are, the
    first of the files and how many there are.
    """

    names: dict[str, list[str]]
    scores: list[str]
    columns: int
    path: str
    files: int


@dataclass(frozen=True)
class Part:
    """The runs of one file.

    Parameters
    ----------
    runs : pyarrow.Table
        As in `Exports`.
    problems : list of Problem
        What is wrong with the file.
    columns : list of str
        All columns of the file.
    counts : mapping of str to int
        rows, rows_filtered, rows_empty_score, percent_signs and decimal_commas, as in `Exports`.
    filter_values : dict of str to set of str
        What stands in each column of `where`.
    reading : Reading
        Which columns were taken for what.
    unmeasured : set of str
        Datasets of which neither the file nor the configuration names the metric; their rows are
        not among the runs.
    filled : mapping of str to bool
        The columns of scores of a wide table, and whether each has a filled cell.
    """

    runs: pa.Table
    problems: list[Problem]
    columns: list[str]
    counts: Mapping[str, int]
    filter_values: dict[str, set[str]]
    reading: Reading
    unmeasured: set[str]
    filled: Mapping[str, bool]


@dataclass(frozen=True)
class Metrics:
    """The configured names of metrics.

    Parameters
    ----------
    every : str
        The metric of all datasets, which wins over what files say; empty if there is none.
    by_dataset : mapping of str to str
        The metrics of some datasets, which win over both.
    """

    every: str = ""
    by_dataset: Mapping[str, str] = field(default_factory=dict)

    def name(self, datasets: pa.Array, texts: pa.Array | None = None) -> pa.Array:
        """Find the metric of each run.

        Parameters
        ----------
        datasets : pyarrow array of large_string, shape (n,)
            The dataset of each run.
        texts : pyarrow array of large_string, shape (n,), optional
            What the file's column of metrics says, if it has one.

        Returns
        -------
        pyarrow array of large_string, shape (n,)
            Null where nothing names the metric.
        """
        encoded = datasets.dictionary_encode()
        configured = [
            self.by_dataset.get(dataset) or self.every or None
            for dataset in encoded.dictionary.to_pylist()
        ]
        chosen = make_texts(configured).take(encoded.indices)
        return chosen if texts is None else pc.coalesce(chosen, texts)


def make_runs(
    columns: Mapping[str, pa.Array],
    numbers: Numbers,
    *,
    source: str,
    lines: npt.NDArray[np.int64],
) -> pa.Table:
    """Make the table of runs, without rows that have no name or metric.

    Parameters
    ----------
    columns : mapping of str to pyarrow array, shape (n,)
        model, dataset, metric (null where unknown), seed, raw, column, and columns to keep.
    numbers : Numbers
        The scores.
    source : str
        The file.
    lines : ndarray of int64, shape (n,)
        The line of each cell.
    """
    usable = np.ones(len(lines), dtype=np.bool_)
    for role in ("model", "dataset", "metric"):
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
    kept = [name for name in columns if name not in RUN_COLUMNS]
    table = _pack_texts(table.select([*RUN_COLUMNS, *kept]))
    return table if usable.all() else table.filter(pa.array(usable))


def _pack_texts(table: pa.Table) -> pa.Table:
    """Keep each text of a column once, but for the texts of scores, most of which differ."""
    return pa.table(
        {
            name: column.dictionary_encode()
            if name != "raw" and pa.types.is_large_string(column.type)
            else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def find_blanks(names: pa.Array, role: str, place: Place) -> list[Problem]:
    """Find empty names of models, datasets or metrics, and empty seeds unless all are."""
    blank = pc.equal(names, "").fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    is_fine = role == "seed" and blank.all()
    return [] if is_fine else place.report(BLANKS[role], np.flatnonzero(blank))


def find_overruled_metrics(said: pa.Array, used: pa.Array, place: Place) -> list[Problem]:
    """Warn of metrics that the file names (`said`) and the configuration replaces (`used`).

    One per configured metric, at the first run that the file says otherwise of. Other spellings and
    other names of the same metric are not reported.
    """
    rows = pa.table({"used": used, "said": said, "row": pa.array(range(len(said)), pa.int64())})
    suspects = rows.filter(pc.and_(pc.not_equal(said, used), pc.not_equal(said, "")))
    firsts = suspects.to_pandas().drop_duplicates(["used", "said"])
    pairs = firsts[["used", "said"]].itertuples(index=False, name=None)
    differs = np.array([not is_same_metric(*pair) for pair in pairs], dtype=bool)
    remedy = "The configuration is followed; remove `metric` from it if the file is right."
    problems = []
    for metric, own in firsts[differs].groupby("used"):
        reason = (
            f"The configuration says that the metric is {quote_name(str(metric))}, the file says "
            f"{list_names(own['said'].to_list())}."
        )
        check = Check("overruled_metric", reason, remedy, "warning")
        problems += replace(place, raw=said).report(check, own["row"].tolist()[:1])
    return problems


def find_bad_scores(numbers: Numbers, place: Place) -> list[Problem]:
    """Find scores that are no finite numbers, in the order of the cells."""
    return [
        replace(problem, reason=problem.reason.format(mark=numbers.mark))
        for row in np.flatnonzero(numbers.kinds > Kind.EMPTY).tolist()
        for problem in place.report(SCORES[Kind(numbers.kinds[row])], [row])
    ]


def find_scale_breaks(spreads: pa.Array, place: Place) -> list[Problem]:
    """Find the first row with a percent sign behind either the mean or its spread, if not 0."""
    signs = [pc.match_substring(texts, "%") for texts in (place.raw, spreads)]
    filled = [pc.match_substring_regex(*own) for own in ((place.raw, r"\d"), (spreads, "[1-9]"))]
    differ = pc.and_(pc.xor(*signs), pc.and_(*filled)).to_numpy(zero_copy_only=False)
    problems = []
    for row in np.flatnonzero(differ)[:1].tolist():
        reason = (
            f"Of the mean and its spread, {quote_name(spreads[row].as_py())}, one has a percent "
            f"sign and the other has none ({format_count(differ.sum(), 'row')} in all)."
        )
        check = Check("bad_summary", reason, "Write it behind both or neither.")
        problems += place.report(check, [row])
    return problems


def find_words(kinds: npt.NDArray[np.int8], place: Place, *, remedy: str) -> list[Problem]:
    """Find out that every filled cell of a column is a word; the first one is the example."""
    filled = np.flatnonzero(kinds != Kind.EMPTY)
    if not filled.size or (kinds[filled] != Kind.TEXT).any() or place.raw is None:
        return []
    text = place.raw[int(filled[0])].as_py().strip().translate(ASCII)
    reason = "No cell of the column is a number."
    if re.fullmatch(SUMMARY, text):
        reason = "The cells hold a mean and how far runs spread."
        remedy = "Set `summary: {runs: N}` with the number of runs behind each cell."
    elif re.fullmatch(CHANGE, text):
        reason, remedy = "The cells hold a score and its change.", "Leave only the score in each."
    elif re.match(r"[+-]?[\d.,]+\s*%?\s*[(±]", text):
        reason = "The cells hold more than a mean and how far runs spread."
        remedy = "Leave the mean and one spread in each, as in 0.91 ± 0.02."
    return place.report(Check("no_numbers", reason, remedy), filled[:1].tolist())


def find_no_rows(lines: Lines, rejected: Sequence[Problem], *, source: str) -> list[Problem]:
    """Find out that a file has nothing but a header."""
    if len(lines) or rejected:
        return []
    reason, remedy = "The file has a header but no rows.", "Export it again, or leave it out."
    return [Problem(code="no_rows", source=source, reason=reason, remedy=remedy, line=1)]


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
KEY = ["model", "dataset", "metric", "seed"]
# Whether a score is empty. Headers are trimmed, so no column of a file is called so.
EMPTY = " empty"
# Runs that all summaries of a study may stand for: each has a row, with its texts, in memory.
MOST_SPREAD = 10_000_000
# Rows that say whether spreads are scores.
FEWEST = 3


def take_rows(runs: pd.DataFrame, take: Take) -> tuple[pd.DataFrame, list[Problem]]:
    """Keep one row of each run of a log.

    Parameters
    ----------
    runs : pandas.DataFrame
        As read, in the order of reading; with the texts ``step`` and ``selection`` where those are
        configured, and with `EMPTY`, whether the score is empty.
    take : {"all", "last", "best", "lowest"}
        "last" takes the row of the highest step, or the last one where no step is configured;
        "best" that of the highest ``selection``, "lowest" that of the lowest, of equal ones the
        first. Rows with an empty score do not count where others do.

    Returns
    -------
    pandas.DataFrame
        Its rows that count, in their order.
    list of Problem
        Steps and selections that are no numbers, and runs without any.
    """
    if take == "all" or runs.empty:
        return runs, []
    runs = _leave_out_empty(runs)
    role = "step" if take == "last" else "selection"
    if role not in runs:
        is_last = take == "last"
        kept = runs.drop_duplicates(KEY, keep="last") if is_last else runs
        return kept, [] if is_last else [NO_SELECTION]
    numbers = parse_numbers(make_texts(runs[role].tolist()))
    bad = runs[~np.isin(numbers.kinds, [Kind.NUMBER, Kind.EMPTY])]
    if len(bad):
        return runs, [_explain_bad(bad.iloc[0], role)]
    values = pd.Series(numbers.values, runs.index)
    # Of equal ones the last row of the highest step counts, and the first of the best selection.
    known = values.dropna().sort_values(kind="stable", ascending=take != "best")
    keep: Literal["first", "last"] = "last" if take == "last" else "first"
    taken = runs.loc[known.index].drop_duplicates(KEY, keep=keep).sort_index()
    problems = _find_ties(runs, values, taken) if take == "last" else []
    if problems:
        return taken, problems
    if take != "last" and np.array_equal(values, runs["score"], equal_nan=True):
        problems = [SELECTED_BY_SCORE]
    return taken, [*_find_without(runs, taken, f"a row with a {role}"), *problems]


def _leave_out_empty(runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out rows with an empty score beside others of their run."""
    filled = ~runs[EMPTY]
    if filled.all():
        return runs
    has_filled = filled.groupby([runs[name] for name in KEY], observed=True).transform("any")
    return runs[filled | ~has_filled]


def _find_ties(
    runs: pd.DataFrame, values: "pd.Series[float]", taken: pd.DataFrame
) -> list[Problem]:
    """Find runs whose highest step has several rows of different scores."""
    highest = values.groupby([runs[name] for name in KEY], observed=True).transform("max")
    last = runs[(values == highest) & ~runs.index.isin(taken.index)]
    rivals = last.merge(taken[[*KEY, "score"]], on=KEY)
    rivals = rivals[rivals["score_x"] != rivals["score_y"]]
    return [
        row_problem(
            first,
            "tied_step",
            f"{format_count(len(rivals), 'row')} of the highest step beside another; the "
            f"first is of {quote_name(first['model'])} on {quote_name(first['dataset'])}.",
            "If they are different runs, say by what: a column, or a field of the path, of seeds.",
            value=first["raw"],
        )
        for first in rivals.head(1).to_dict("records")
    ]


def _find_without(runs: pd.DataFrame, taken: pd.DataFrame, what: str) -> list[Problem]:
    lost = runs.drop_duplicates(KEY).merge(taken[KEY], on=KEY, how="left", indicator=True)
    lost = lost[lost["_merge"] == "left_only"]
    return [
        row_problem(
            first,
            "untaken_run",
            f"{format_count(len(lost), 'run')} without {what}; the first is of "
            f"{quote_name(first['model'])} on {quote_name(first['dataset'])}.",
            "Choose another `take`, or complete or remove the runs.",
        )
        for first in lost.head(1).to_dict("records")
    ]


def _explain_bad(row: Any, role: str) -> Problem:
    return row_problem(
        row,
        f"bad_{role}",
        f"The {role} is not a number.",
        f"Correct it, or name another column under `columns: {{{role}: …}}`.",
        value=row[role],
    )


def number_rows(runs: pd.DataFrame) -> pd.DataFrame:
    """Make each row of a cell a run of its own, with its position as seed, and say so."""
    place = runs.groupby(KEY[:3], sort=False, observed=True).cumcount() + 1
    return runs.assign(seed=pack_names(place.astype("str")), numbered=True)


def spread_summaries(
    runs: pd.DataFrame, *, count: int, spread: Spread
) -> tuple[pd.DataFrame, list[Problem]]:
    """Put runs in the place of rows that hold a mean and how far runs spread.

    Parameters
    ----------
    runs : pandas.DataFrame
        As read: ``score`` is a mean, and the number ``spread`` says how far the runs spread, NaN
        where the row does not; the text ``count`` is their number, where that is configured.
    count : int
        Number of runs of rows that do not say it.
    spread : {"std", "sem"}
        Whether that is a standard deviation (n − 1) of runs, or the standard error of their mean.

    Returns
    -------
    pandas.DataFrame
        n runs for each row that has a spread, with its mean and its standard deviation exactly,
        ``summary`` being true; they lie where a normal distribution would have them. Their seeds
        are 1 to n, behind that of the row where it has one ("7 / 1"). Other rows stay.
    list of Problem
        Numbers of runs and spreads that are none, and a warning where a row says one of the two
        only.

    Notes
    -----
    Only mean and standard deviation of such runs are known, so Student's t interval of a mean is
    that of the real runs; what depends on their shape is that of a normal distribution.
    """
    sizes, said, problems = _read_sizes(runs, count)
    spreads, faults = _read_spreads(runs)
    if problems := [*problems, *faults]:
        return runs, problems
    half = np.where(np.isfinite(spreads), (sizes == 1) & ~said, (sizes > 1) & said)
    problems = _warn_of_halves(runs[half & np.isfinite(runs["score"])])
    is_summary = np.isfinite(spreads) & (sizes > 1)
    problems += _warn_of_twins(runs[is_summary], spreads[is_summary])
    if (total := int(sizes[is_summary].sum())) > MOST_SPREAD:
        return runs, [_explain_size(total, int(is_summary.sum()))]
    deviations = spreads * (np.sqrt(sizes) if spread == "sem" else 1)
    rows = np.repeat(np.arange(len(runs)), np.where(is_summary, sizes, 1))
    table = runs.iloc[rows].reset_index(drop=True)
    places = table.groupby(rows).cumcount().to_numpy()
    quantiles = {n: _place_runs(n) for n in np.unique(sizes).tolist()}
    shifts = np.array([quantiles[n][k] for n, k in zip(sizes[rows], places, strict=True)])
    shifts = np.where(is_summary[rows], shifts * deviations[rows], 0)
    own = table["seed"].astype("str")
    made = own.where(own == "", own + SEPARATOR) + (places + 1).astype(str)
    seeds = np.where(is_summary[rows], made, own)
    return (
        table.assign(
            score=table["score"] + shifts,
            seed=pack_names(pd.Series(seeds, dtype="str")),
            summary=is_summary[rows],
        ),
        problems,
    )


def fold_summaries(runs: pd.DataFrame) -> tuple[pd.DataFrame, npt.NDArray[np.int_]]:
    """Put the rows in the place of runs that `spread_summaries` made of them.

    Parameters
    ----------
    runs : pandas.DataFrame
        With ``summary``, in the order in which they were made.

    Returns
    -------
    pandas.DataFrame
        Rows with their own seed and, to 12 digits, their mean; other runs are rows as they are.
        The index numbers them.
    ndarray of int, shape (n,)
        The number of the row of each run.
    """
    made = runs["summary"].to_numpy(dtype=bool)
    seeds = runs["seed"].astype("str")
    parts = seeds.str.rpartition(SEPARATOR)
    numbers = np.cumsum(~made | (parts[2] == "1").to_numpy(), dtype=np.int_)
    means = runs["score"].groupby(numbers).transform("mean").map("{:.12g}".format).astype(float)
    rows = runs.assign(
        score=runs["score"].where(~made, means), seed=pack_names(seeds.where(~made, parts[0]))
    ).set_axis(numbers)
    return rows[~rows.index.duplicated()], numbers


def _read_sizes(
    runs: pd.DataFrame, count: int
) -> tuple[npt.NDArray[np.int_], npt.NDArray[np.bool_], list[Problem]]:
    """Read the number of runs of each row, and whether the row says it."""
    if "count" not in runs:
        return np.full(len(runs), count), np.zeros(len(runs), dtype=bool), []
    numbers = parse_numbers(make_texts(runs["count"].tolist()))
    found, said = numbers.values, numbers.kinds != Kind.EMPTY  # noqa: PD011
    whole = (found >= 1) & (found <= MOST_RUNS) & (found == np.floor(found))
    what = f"number of runs is no whole number from 1 to {MOST_RUNS:,}"
    problems = _refuse(runs[said & ~whole], "count", what)
    return np.where(said & whole, found, count).astype(int), said, problems


def _read_spreads(runs: pd.DataFrame) -> tuple[npt.NDArray[np.float64], list[Problem]]:
    """Read the spread of each row, NaN where it has none."""
    if is_numeric_dtype(runs["spread"]):
        spreads = runs["spread"].to_numpy(dtype=np.float64)
        problems = []
    else:
        numbers = parse_numbers(make_texts(runs["spread"].tolist()))
        spreads = numbers.values  # noqa: PD011
        bad = ~np.isin(numbers.kinds, [Kind.NUMBER, Kind.EMPTY, Kind.NAN])
        problems = _refuse(runs[bad & np.isfinite(runs["score"])], "spread", "spread is no number")
    return spreads, problems + _refuse(runs[spreads < 0], "raw", "spread is negative")


def _warn_of_halves(rows: pd.DataFrame) -> list[Problem]:
    """Report rows with a spread or a number of runs, of which the other is missing."""
    return [
        row_problem(
            first,
            "half_summary",
            f"{format_count(len(rows), 'row')} with a spread but no number of runs, or the "
            "other way round: each counts as one run.",
            "Fill in what is missing, or set `summary: {runs: N}` for the number of runs.",
            severity="warning",
            value=first["raw"],
        )
        for first in rows.head(1).to_dict("records")
    ]


def _warn_of_twins(rows: pd.DataFrame, spreads: npt.NDArray[np.float64]) -> list[Problem]:
    """Report spreads that are about as large as their means, as two scores in one cell are."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = spreads / np.abs(rows["score"].to_numpy(dtype=np.float64))
    shares = shares[np.isfinite(shares)]
    if len(shares) < FEWEST or not 0.8 <= np.median(shares) <= 1.25:
        return []
    return [
        row_problem(
            rows.iloc[0],
            "doubtful_spread",
            "Most spreads are about as large as their means: are these two scores, such as the "
            "best and the mean?",
            "If they are, leave only one number in each cell.",
            severity="warning",
            value=rows.iloc[0]["raw"],
        )
    ]


def _explain_size(total: int, rows: int) -> Problem:
    return Problem(
        code="bad_summary",
        reason=f"{format_count(rows, 'summary row')} would stand for {format_count(total, 'run')}, "
        f"more than {MOST_SPREAD:,}.",
        remedy="Check what the number of runs counts (it is not that of test images), or set it "
        "lower.",
    )


def _place_runs(count: int) -> npt.NDArray[np.float64]:
    """Normal quantiles of some runs with mean 0 and standard deviation (n − 1) 1."""
    if count == 1:
        return np.zeros(1)
    shares = ((np.arange(count) + 0.5) / count).tolist()
    quantiles = np.array([NormalDist().inv_cdf(share) for share in shares])
    return np.asarray(quantiles / quantiles.std(ddof=1))


def _refuse(rows: pd.DataFrame, column: str, what: str) -> list[Problem]:
    return [
        row_problem(row, "bad_summary", f"The {what}.", "Correct the row.", value=row[column])
        for row in rows.head(1).to_dict("records")
    ]
