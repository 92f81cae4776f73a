"""Runs as the reader of a layout hands them over, and what can be wrong with their cells."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from capmap.exports.cells import choose_texts, find_confused_names, make_texts
from capmap.exports.numbers import CHANGE, SUMMARY, Kind, Numbers
from capmap.metrics import is_same_metric
from capmap.problems import Problem
from capmap.wording import format_count, list_names, quote_name

NAMES = ("model", "dataset", "metric", "seed")
RUN_COLUMNS = (*NAMES, "score", "raw", "source", "line", "column")

Lines = npt.NDArray[np.int64]

SCORE_FAULTS = {
    Kind.NAN: (
        "nan_score",
        "The score is not a number.",
        "Remove the row, or leave the cell empty if the run is missing.",
    ),
    Kind.INFINITE: (
        "infinite_score",
        "The score is infinite.",
        "Remove the row, or write the value that stands for a failed run.",
    ),
    Kind.TEXT: (
        "not_a_number",
        "The score is not a number.",
        "Correct it, or leave the cell empty if the run is missing.",
    ),
    Kind.OTHER_MARK: (
        "decimal_mark",
        "The score does not fit the decimal mark {mark!r} of the others.",
        "Write all scores with one mark, or set `decimal` to the one that is meant.",
    ),
    Kind.AMBIGUOUS: (
        "ambiguous_number",
        "The mark may be a decimal mark or divide thousands.",
        'Set `decimal` to "." or ",", whichever is the decimal mark.',
    ),
    Kind.LAST_DIGITS: (
        "ambiguous_spread",
        "The number in brackets may be a spread, one in units of the last digit, or count runs.",
        "Write the spread like the mean, as in 0.912 ± 0.003 or 0.912 (0.003), or remove it.",
    ),
    Kind.PERCENT_MEAN: (
        "ambiguous_spread",
        "The percent sign stands behind the mean only, so the spread may be in percent or not.",
        "Write it behind both or neither, as in 91% ± 2% or 0.91 ± 0.02.",
    ),
}


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


def find_blank_names(
    names: pa.Array, role: str, *, column: str, source: str, lines: Lines
) -> list[Problem]:
    """Find empty names of models, datasets or metrics."""
    blank = pc.equal(names, "").fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    reason, remedy = f"The {role} has no name.", "Fill in the name, or remove the row."
    return [
        Problem(
            code=f"empty_{role}",
            source=source,
            reason=reason,
            remedy=remedy,
            line=int(line),
            column=column,
        )
        for line in lines[blank]
    ]


def find_overruled_metrics(
    said: pa.Array, used: pa.Array, *, column: str, source: str, lines: Lines
) -> list[Problem]:
    """Find metrics that the file names and the configuration replaces by another one.

    Parameters
    ----------
    said, used : pyarrow array of large_string, shape (n,)
        The metric of each run in the file, and the one that it is taken for; null where unknown.
    column : str
        The file's column of metrics.
    source : str
        The file.
    lines : ndarray of int64, shape (n,)
        The line of each run.

    Returns
    -------
    list of Problem
        A warning per configured metric, at the first run that the file says otherwise of. Other
        spellings and other names of the same metric are not reported.
    """
    runs = pa.table({"used": used, "said": said, "line": pa.array(lines)})
    suspects = runs.filter(pc.and_(pc.not_equal(said, used), pc.not_equal(said, "")))
    firsts = suspects.to_pandas().drop_duplicates(["used", "said"])
    pairs = firsts[["used", "said"]].itertuples(index=False, name=None)
    differs = np.array([not is_same_metric(*pair) for pair in pairs], dtype=bool)
    return [
        Problem(
            severity="warning",
            code="overruled_metric",
            source=source,
            line=int(rows["line"].iloc[0]),
            column=column,
            value=rows["said"].iloc[0],
            reason=f"The configuration says that the metric is {quote_name(str(metric))}, the file "
            f"says {list_names(rows['said'].to_list())}.",
            remedy="The configuration is followed; remove `metric` from it if the file is right.",
        )
        for metric, rows in firsts[differs].groupby("used")
    ]


def find_confusions(parts: Sequence[pa.Array], role: str, *, source: str) -> list[Problem]:
    """Find joined names that stand for several models or datasets."""
    if len(parts) == 1:
        return []
    reason = f"Different cells are joined into this one {role} name."
    remedy = f"Rename one of them, or join other columns under `columns: {{{role}: …}}`."
    return [
        Problem(code="confused_name", source=source, reason=reason, remedy=remedy, value=name)
        for name in find_confused_names(parts)
    ]


def find_blank_seeds(seeds: pa.Array, *, column: str, source: str, lines: Lines) -> list[Problem]:
    """Find empty seeds, unless all are."""
    blank = pc.equal(seeds, "").to_numpy(zero_copy_only=False)
    reason = "The run has no seed, while others have one."
    remedy = "Fill in the seed; runs without one count as the same run."
    return [
        Problem(
            code="empty_seed",
            source=source,
            reason=reason,
            remedy=remedy,
            line=int(line),
            column=column,
            severity="warning",
        )
        for line in (lines[blank] if not blank.all() else [])
    ]


def find_empty_scores(
    numbers: Numbers, raw: pa.Array, *, column: str, source: str, lines: Lines
) -> list[Problem]:
    """Find rows without a score."""
    reason = "The score is empty, so the row is left out."
    remedy = "Fill in the score if the run was made."
    return [
        Problem(
            code="empty_score",
            source=source,
            reason=reason,
            remedy=remedy,
            line=int(lines[place]),
            column=column,
            value=raw[place].as_py(),
            severity="warning",
        )
        for place in np.flatnonzero(numbers.kinds == Kind.EMPTY).tolist()
    ]


def find_bad_scores(
    numbers: Numbers,
    raw: pa.Array,
    *,
    columns: Sequence[str] | npt.NDArray[np.object_],
    source: str,
    lines: Lines,
) -> list[Problem]:
    """Find scores that are no finite numbers.

    Parameters
    ----------
    numbers : Numbers
        The parsed scores.
    raw : pyarrow array of large_string, shape (n,)
        Their text.
    columns : sequence of str, shape (n,)
        The column of each.
    source : str
        The file.
    lines : ndarray of int64, shape (n,)
        The line of each.
    """
    problems = []
    for place in np.flatnonzero(numbers.kinds > Kind.EMPTY).tolist():
        code, reason, remedy = SCORE_FAULTS[Kind(numbers.kinds[place])]
        problems.append(
            Problem(
                code=code,
                source=source,
                reason=reason.format(mark=numbers.mark),
                remedy=remedy,
                line=int(lines[place]),
                column=columns[place],
                value=raw[place].as_py(),
            )
        )
    return problems


def find_scale_breaks(
    raw: pa.Array,
    spreads: pa.Array,
    *,
    columns: Sequence[str] | npt.NDArray[np.object_],
    source: str,
    lines: Lines,
) -> list[Problem]:
    """Find rows with a percent sign behind either the mean or its spread, which is not 0.

    Parameters
    ----------
    raw, spreads : pyarrow array of large_string, shape (n,)
        The text of each mean, and of its spread in a column of its own.
    columns, source, lines
        As in `find_bad_scores`.

    Returns
    -------
    list of Problem
        One, at the first such row, if there is any.
    """
    signs = [pc.match_substring(texts, "%") for texts in (raw, spreads)]
    filled = [pc.match_substring_regex(*pair) for pair in ((raw, r"\d"), (spreads, "[1-9]"))]
    differ = pc.and_(pc.xor(*signs), pc.and_(*filled)).to_numpy(zero_copy_only=False)
    return [
        Problem(
            code="bad_summary",
            source=source,
            line=int(lines[place]),
            column=columns[place],
            value=raw[place].as_py(),
            reason=f"Of the mean and its spread, {quote_name(spreads[place].as_py())}, one has a "
            f"percent sign and the other has none ({format_count(differ.sum(), 'row')} in all).",
            remedy="Write it behind both or neither.",
        )
        for place in np.flatnonzero(differ)[:1].tolist()
    ]


def find_words(
    numbers: Numbers, raw: pa.Array, *, column: str, source: str, lines: Lines, remedy: str
) -> list[Problem]:
    """Find out that a whole column has words where scores should be.

    Returns
    -------
    list of Problem
        One, with the first filled cell as an example, if every filled cell is a word; else none.
    """
    filled = np.flatnonzero(numbers.kinds != Kind.EMPTY)
    if not filled.size or (numbers.kinds[filled] != Kind.TEXT).any():
        return []
    first = int(filled[0])
    text = raw[first].as_py().strip().replace("\u2212", "-")
    reason = "No cell of the column is a number."
    if re.fullmatch(SUMMARY, text):
        reason = "The cells hold a mean and how far runs spread."
        remedy = "Set `summary: {runs: N}` with the number of runs behind each cell."
    elif re.fullmatch(CHANGE, text):
        reason, remedy = "The cells hold a score and its change.", "Leave only the score in each."
    return [
        Problem(
            code="no_numbers",
            source=source,
            reason=reason,
            remedy=remedy,
            line=int(lines[first]),
            column=column,
            value=raw[first].as_py(),
        )
    ]


def find_no_rows(lines: Lines, rejected: Sequence[Problem], *, source: str) -> list[Problem]:
    """Find out that a file has nothing but a header."""
    if len(lines) or rejected:
        return []
    reason, remedy = "The file has a header but no rows.", "Export it again, or leave it out."
    return [Problem(code="no_rows", source=source, reason=reason, remedy=remedy, line=1)]
