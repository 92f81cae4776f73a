"""Which rows of a run count, and rows that stand for several runs."""

from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_numeric_dtype

from capmap.exports.cells import SEPARATOR, make_texts
from capmap.exports.numbers import Kind, parse_numbers
from capmap.packing import pack_names
from capmap.problems import Problem, row_problem
from capmap.settings.choices import MOST_RUNS, Spread, Take
from capmap.wording import format_count, quote_name

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
