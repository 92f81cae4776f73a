"""Which rows of runs count, and rows that stand for several runs."""

from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import pack_names
from capmap.exports.cells import SEPARATOR
from capmap.problems import Problem, RowCheck
from capmap.settings.choices import Spread, Take
from capmap.wording import format_count

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
        *report_first(runs[half & np.isfinite(runs["score"])], HALVES),
        *report_first(_find_twins(runs[is_summary], spreads[is_summary]), TWINS),
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
