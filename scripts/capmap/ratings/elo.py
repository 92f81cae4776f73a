"""Ratings on the Elo scale, with intervals and ranks."""

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray
from capmap.bootstrap.intervals import take_percentiles
from capmap.bootstrap.ranks import rank_estimates
from capmap.cells import BoolArray
from capmap.ratings.meetings import Battles, MakeRng
from capmap.ratings.separation import find_components, find_separated
from capmap.ratings.strengths import fit_strengths
from capmap.ratings.tournament import Tournament, hold_tournament

SCALE = 400.0
MEAN = 1000.0
DECIMALS = 6
CHUNK_CELLS = 1 << 21
FEWEST_DATASETS = 2
COLUMNS = [
    *("model", "elo", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
    *("datasets", "component", "separated"),
]


def estimate_ratings(
    runs: pd.DataFrame,
    *,
    battles: Battles,
    tie_threshold: float,
    calibration: str,
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Rate models by Bradley–Terry maximum likelihood, with intervals.

    Parameters
    ----------
    runs, battles, tie_threshold
        As in `capmap.ratings.meetings.iterate_meetings`.
    calibration : str
        The model that is rated 1000, also in every resample; "" to have 1000 as mean of all models.
    n_resamples : int
        Number of resamples, at least 1.
    confidence_level : float
        Between 0 and 1.
    make_rng : callable
        As in `capmap.ratings.tournament.hold_tournament`.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``elo``, ``ci_low``, ``ci_high``, ``rank``, ``rank_low``, ``rank_high``,
        ``datasets`` (on how many the model meets a rival), ``component`` (the part of the pool that
        it is connected with by battles, 1 for that of the best model, and so on) and ``separated``
        (the same for all models, see the notes); best first, ties by name.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    A model that is rated 400 above another wins ten battles for each that it loses. Ties count as
    half a win, and every dataset weighs the same, shared equally by the pairs that meet on it.

    Percentile intervals always come from resampling both datasets and runs, so they hold for other
    datasets of the same kind. There are none for models with fewer than two datasets. Resamples
    without any of a model's datasets say nothing about it (nor about any model, if it is the one
    that is rated 1000): the next one that has some stands in.

    Ratings are rounded to six decimals, so that what is left of rounding noise makes no order.

    `capmap.ratings.strengths.fit_strengths` tells what becomes of models that win all battles
    (a high rating that depends on the ridge), of parts of the pool that never meet (each has mean
    1000, and ratings of different parts do not compare) and of models that meet nobody (1000).

    ``separated`` is the share of resamples in which some models lose all battles with all others,
    see `capmap.ratings.separation.find_separated`. How far apart these are there depends on the
    ridge alone. Where it comes near half of ``1 - confidence_level``, so do ends of intervals: they
    may lie thousands away, and move with the seed.
    """
    tournament = hold_tournament(
        runs,
        battles=battles,
        tie_threshold=tie_threshold,
        n_resamples=n_resamples,
        make_rng=make_rng,
    )
    (strengths, is_separated), is_active = _fit_all(tournament), tournament.find_active()
    if calibration:
        place = tournament.models.index(calibration)
        strengths = strengths - strengths[place]
        is_active = is_active & is_active[place]
    ratings = np.round(MEAN + SCALE * strengths, DECIMALS)
    datasets = tournament.met.any(axis=2).sum(axis=0)
    replicates = [
        _stand_in(row[1:], active[1:]) if n >= FEWEST_DATASETS else np.empty(0)
        for row, active, n in zip(ratings, is_active, datasets, strict=True)
    ]
    low, high = np.array([_bound(row, confidence_level=confidence_level) for row in replicates]).T
    table = pd.DataFrame(
        {
            "model": tournament.models,
            "estimate": ratings[:, 0],
            "ci_low": low,
            "ci_high": high,
            "datasets": datasets,
        }
    )
    table = table.assign(component=find_components(np.asarray(tournament.met.any(axis=0))))
    ranked = rank_estimates(table, replicates, confidence_level=confidence_level)
    return ranked.assign(
        elo=ranked["estimate"],
        component=pd.factorize(ranked["component"])[0] + 1,
        separated=float(is_separated[1:].mean()),
    )[COLUMNS]


def _fit_all(tournament: Tournament) -> tuple[FloatArray, BoolArray]:
    """Strengths, shape (models, 1 + n_resamples), and whether some of them hang on the ridge."""
    n, columns = tournament.points.shape
    strengths, is_separated = np.empty((columns, n)), np.zeros(columns, dtype=np.bool_)
    strengths[:1] = fit_strengths(
        tournament.points[:, :1].T, tournament.sum_meetings(slice(0, 1)), start=np.zeros(n)
    )
    step = max(CHUNK_CELLS // (n * n), 1)
    for first in range(1, columns, step):
        chunk = slice(first, first + step)
        points, meetings = tournament.points[:, chunk].T, tournament.sum_meetings(chunk)
        strengths[chunk] = fit_strengths(points, meetings, start=strengths[0])
        is_separated[chunk] = find_separated(points, meetings, strengths[chunk])
    return strengths.T, is_separated


def _stand_in(values: FloatArray, is_active: BoolArray) -> FloatArray:
    """Replace values that say nothing by the next that does; none if none does."""
    places = np.flatnonzero(is_active)
    if not len(places):
        return np.empty(0)
    following = np.searchsorted(places, np.arange(len(values))) % len(places)
    return values[places[following]]


def _bound(replicates: FloatArray, *, confidence_level: float) -> tuple[float, float]:
    if not len(replicates):
        return np.nan, np.nan
    return take_percentiles(replicates, confidence_level=confidence_level)
