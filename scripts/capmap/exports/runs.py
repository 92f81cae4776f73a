"""Runs as the reader of a layout hands them over, and what can be wrong with their cells."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capmap.exports.cells import choose_texts, make_texts
from capmap.exports.numbers import CHANGE, SUMMARY, Kind, Numbers
from capmap.metrics import is_same_metric
from capmap.problems import Problem, Severity
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
    rows, rows_filtered, rows_empty_score, percent_signs, decimal_commas : int
        As in `Exports`.
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
    rows: int
    rows_filtered: int
    rows_empty_score: int
    percent_signs: int
    decimal_commas: int
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
