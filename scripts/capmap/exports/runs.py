"""Runs of one file: what can be wrong with their cells, which rows count, and summary rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from capmap.artifacts import pack_names
from capmap.exports.cells import SEPARATOR, Kind, Numbers, Place, choose_texts, make_texts
from capmap.metrics import is_same_metric
from capmap.problems import Problem, RowCheck
from capmap.settings.choices import MOST_RUNS, Spread, Take
from capmap.wording import format_count, list_names, quote_name

NAMES = ("model", "dataset", "metric", "seed")
RUN_COLUMNS = (*NAMES, "score", "raw", "source", "line", "column")

CORRECT = "Correct it, or leave the cell empty if the run is missing."
SCORES = {
    Kind.EMPTY: Problem(
        severity="warning",
        code="empty_score",
        reason="The score is missing, so the row is left out.",
        remedy="Fill in the score if the run was made.",
    ),
    Kind.NAN: Problem(
        code="nan_score",
        reason="The score is not a number.",
        remedy="Leave the cell empty if the run is missing. If it failed, say what it counts with: "
        "`failed: worst`, or `failed: drop` to leave it out.",
    ),
    Kind.INFINITE: Problem(
        code="infinite_score",
        reason="The score is infinite.",
        remedy="Remove the row, or write the value that stands for a failed run.",
    ),
    Kind.TEXT: Problem(code="not_a_number", reason="The score is not a number.", remedy=CORRECT),
    Kind.OTHER_MARK: Problem(
        code="decimal_mark",
        reason="The score does not fit the decimal mark {mark!r} of the others.",
        remedy="Write all scores with one mark, or set `decimal` to the one that is meant.",
    ),
    Kind.AMBIGUOUS: Problem(
        code="ambiguous_number",
        reason="The mark may be a decimal mark or divide thousands.",
        remedy='Set `decimal` to "." or ",", whichever is the decimal mark.',
    ),
    Kind.UNCLEAR: Problem(
        code="ambiguous_spread",
        reason="The second number may be a spread, one in units of the last digit or in percent, "
        "or count runs.",
        remedy="Write the spread like the mean, as in 0.912 ± 0.003 or 91% ± 2%, or remove it.",
    ),
}
STEP = Problem(
    code="bad_step",
    reason="The step is not a number.",
    remedy="Correct it, or name another column under `columns`.",
)
SPREAD = Problem(
    code="bad_summary",
    reason="The spread is no number, or is negative.",
    remedy="Correct the row.",
)
COUNT = replace(SPREAD, reason=f"The number of runs is no whole number from 1 to {MOST_RUNS:,}.")
# What stands beside scores, and what can be wrong with it.
BESIDE = {
    "step": STEP,
    "selection": replace(STEP, code="bad_selection", reason="The selection is not a number."),
    "spread": SPREAD,
    "count": COUNT,
}
UNNAMED = Problem(
    code="empty_{role}",
    reason="The {role} has no name.",
    remedy="Fill in the name, or remove the row.",
)


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
    unmeasured : set of str
        Datasets of which neither the file nor the configuration names the metric; their rows are
        not among the runs.
    """

    runs: pa.Table
    problems: list[Problem]
    columns: list[str]
    counts: Mapping[str, int]
    filter_values: dict[str, set[str]]
    unmeasured: set[str]


class Metrics(NamedTuple):
    """The configured names of metrics: of all datasets, and of some, which win."""

    every: str
    by_dataset: Mapping[str, str]

    def name(self, datasets: pa.Array, texts: pa.Array | None = None) -> pa.Array:
        """Find the metric of each run, null where nothing names it; `texts` is what files say."""
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
    table = table if usable.all() else table.filter(pa.array(usable))
    kept = {}
    for name in dict.fromkeys([*RUN_COLUMNS, *columns]):
        is_text = pa.types.is_large_string(table.schema.field(name).type)
        # Most of the texts of scores differ; of all others, each is kept once.
        packs = is_text and name != "raw"
        kept[name] = table[name].dictionary_encode() if packs else table[name]
    return pa.table(kept)


def find_blanks(names: pa.Array, role: str, place: Place) -> list[Problem]:
    """Find empty names of models, datasets or metrics."""
    blank = pc.equal(names, "").fill_null(fill_value=False).to_numpy(zero_copy_only=False)
    code, reason = (text.format(role=role) for text in (UNNAMED.code, UNNAMED.reason))
    return place.report(replace(UNNAMED, code=code, reason=reason), np.flatnonzero(blank))


def find_overruled_metrics(said: pa.Array, used: pa.Array, place: Place) -> list[Problem]:
    """Warn at the first run of which the file names another metric than the configuration."""
    differs = pc.and_(pc.not_equal(said, used), pc.not_equal(said, "")).fill_null(False)
    pairs = pa.table({"said": said, "used": used}).filter(differs).to_pandas().drop_duplicates()
    pairs = [pair for pair in pairs.itertuples(index=False, name=None) if not is_same_metric(*pair)]
    if not pairs:
        return []
    own, metric = pairs[0]
    others = [other for other, used_metric in pairs if used_metric == metric]
    problem = Problem(
        severity="warning",
        code="overruled_metric",
        reason=f"The configuration says that the metric is {quote_name(metric)}, the file says "
        f"{list_names(others)}.",
        remedy="The configuration is followed; remove `metric` from it if the file is right.",
    )
    is_first = pc.and_(pc.equal(said, own), pc.equal(used, metric))
    return replace(place, raw=said).report(problem, [pc.index(is_first, True).as_py()])


def find_bad_scores(numbers: Numbers, place: Place) -> list[Problem]:
    """Find scores that are no finite numbers, in the order of the cells."""
    return [
        replace(problem, reason=problem.reason.format(mark=numbers.mark))
        for row in np.flatnonzero(numbers.kinds != Kind.NUMBER).tolist()
        for problem in place.report(SCORES[Kind(numbers.kinds[row])], [row])
    ]


def find_bad_beside(
    role: str, numbers: Numbers, usable: npt.NDArray[np.bool_], place: Place
) -> list[Problem]:
    """Find the first number beside a usable score that is none, or is impossible."""
    values = numbers.values  # noqa: PD011 (numbers are no table)
    missing = [Kind.EMPTY, Kind.NAN] if role == "spread" else [Kind.EMPTY]
    bad = ~np.isin(numbers.kinds, [Kind.NUMBER, *missing])
    if role == "spread":
        bad |= values < 0
    if role == "count":
        bad |= (
            (values < 1) | (values > MOST_RUNS) | (values != np.floor(values)) & ~np.isnan(values)
        )
    return place.report(BESIDE[role], np.flatnonzero(bad & usable)[:1])


def find_scale_breaks(spreads: pa.Array, place: Place) -> list[Problem]:
    """Find the first row with a percent sign behind either the mean or its spread, if not 0."""
    signs = [pc.match_substring(texts, "%") for texts in (place.raw, spreads)]
    filled = [pc.match_substring_regex(*own) for own in ((place.raw, r"\d"), (spreads, "[1-9]"))]
    differ = pc.and_(pc.xor(*signs), pc.and_(*filled)).to_numpy(zero_copy_only=False)
    reason = "Of the mean and its spread, one has a percent sign and the other has none."
    problem = replace(SPREAD, reason=reason, remedy="Write it behind both or neither.")
    return place.report(problem, np.flatnonzero(differ)[:1])


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
        problems = _report_first(rivals[differs], TIED)
    else:
        chosen = np.array_equal(runs[role], runs["score"], equal_nan=True)
        problems = [SELECTED_BY_SCORE] if chosen else []
    lost = runs.drop_duplicates(KEY).merge(taken[KEY], on=KEY, how="left", indicator=True)
    return taken, [*_report_first(lost[lost["_merge"] == "left_only"], UNTAKEN), *problems]


TIED = RowCheck(
    "tied_step",
    "raw",
    "{_count} of the highest step beside another of a different score; the first is of {model} on "
    "{dataset}.",
    "If they are different runs, say by what: a column, or a field of the path, of seeds.",
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


def _report_first(rows: pd.DataFrame, check: RowCheck) -> list[Problem]:
    """Make a problem of all rows of a kind at the first of them, if there are any."""
    said = rows.head(1).assign(_count=format_count(len(rows), "row"))
    return check.report(said, column="")


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
        where the row does not; ``count`` is their number, NaN likewise, where that is configured.
    count : int
        Number of runs of rows that do not say it.
    spread : {"std", "sem"}
        Whether that is a standard deviation (n − 1) of runs, or the standard error of their mean.

    Returns
    -------
    pandas.DataFrame
        n runs for each row that has a spread, with its mean and its standard deviation exactly,
        ``summary`` being true; they lie where a normal distribution would have them. Their seeds
        are 1 to n, behind that of the row where it has one ("7 / 1"). Other rows stay. Columns of
        blank first letters say from which row each run is.
    list of Problem
        Warnings where a row says one of the two only, or where spreads look like scores.

    Notes
    -----
    Only mean and standard deviation of such runs are known, so Student's t interval of a mean is
    that of the real runs; what depends on their shape is that of a normal distribution.
    """
    own_count = runs["count"].to_numpy() if "count" in runs else np.full(len(runs), np.nan)
    said, spreads = ~np.isnan(own_count), runs["spread"].to_numpy(dtype=np.float64)
    sizes = np.where(said, own_count, count).astype(int)
    is_known = np.isfinite(spreads)
    half = np.where(is_known, (sizes == 1) & ~said, (sizes > 1) & said)
    is_summary = is_known & (sizes > 1)
    problems = [
        *_report_first(runs[half & np.isfinite(runs["score"])], HALVES),
        *_report_first(_find_twins(runs[is_summary], spreads[is_summary]), TWINS),
    ]
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


def _place_runs(count: int) -> npt.NDArray[np.float64]:
    """Normal quantiles of some runs with mean 0 and standard deviation (n − 1) 1."""
    if count == 1:
        return np.zeros(1)
    shares = ((np.arange(count) + 0.5) / count).tolist()
    quantiles = np.array([NormalDist().inv_cdf(share) for share in shares])
    return np.asarray(quantiles / quantiles.std(ddof=1))
