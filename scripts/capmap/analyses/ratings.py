"""Bradley-Terry strengths by maximum likelihood, on the Elo scale, with intervals and win rates."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.ranking.aggregation import BoolArray, FloatArray, arrange_runs, rank_competitors
from capmap.ranking.resampling import DatasetPool, average_datasets, draw_datasets, resample_models
from capmap.rng import make_stream
from capmap.wording import depends_on_ridge

NOISE, NEGLIGIBLE = 1e-12, 1e-10
BASE, RIDGE = np.log(10), 1e-6
TOLERANCE, ROUNDING, MOST_STEPS = 1e-10, 1e-15, 500
# The largest change of a pair's log odds in a step of Newton's method.
SAFE_CHANGE = 1.5
SCALE, MEAN, DECIMALS = 400.0, 1000.0, 6
CHUNK_CELLS = 1 << 21


def resample_battles(
    runs: pd.DataFrame, *, study: str, n_resamples: int, seed: int
) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Let the means of all models meet on all datasets, in the data and then in each resample.

    Returned are which models each dataset has, the weight of each of its pairs, and the weights of
    the battles that each model won, ties as half of theirs. On a dataset all pairs of its models
    meet; each time it takes part it weighs 1, shared by its pairs.

    A resample draws as many datasets as the study has, the same for all models, and runs within
    each cell. A dataset that it draws k times takes part with k draws of runs: its own and those of
    the k - 1 resamples that follow.
    """
    largest = runs["score"].abs().groupby(runs["dataset"]).max().to_numpy()
    matrix, noise = arrange_runs(runs), NOISE * np.maximum(largest, 1)
    names, make_rng = matrix.datasets, partial(make_stream, seed, study, "ratings")
    pool, rng = DatasetPool(names, make_rng("datasets")), make_rng("datasets")
    drawn = draw_datasets(names, pool=pool, n_resamples=n_resamples, rng=rng)
    times = np.hstack([np.ones((len(names), 1), dtype=np.intp), drawn])
    own_draws = resample_models(runs, n_resamples=n_resamples, make_rng=partial(make_rng, "runs"))
    means = np.repeat(matrix.means[..., None], 1 + n_resamples, axis=2)
    for row, filled, own_draw in zip(means, matrix.is_filled, own_draws.values(), strict=True):
        row[filled, 1:] = average_datasets(*own_draw)
    points = np.zeros((len(matrix.models), 1 + n_resamples))
    sizes = matrix.is_filled.sum(axis=0)
    pairs = sizes * (sizes - 1) / 2
    weights = np.divide(1.0, pairs, out=np.zeros(len(pairs)), where=pairs > 0)
    for place, present in enumerate(matrix.is_filled.T):
        own, gains = np.split(count_gains(means[present, place], noise[place]), [1], axis=1)
        total = np.zeros_like(gains)
        for repeat in range(drawn[place].max(initial=0)):
            total += np.roll(gains, -repeat, axis=1) * (drawn[place] > repeat)
        battles = (sizes[place] - 1) * times[place]
        points[present] += (battles + np.hstack([own, total])) / 2 * weights[place]
    return matrix.is_filled.T, times * weights[:, None], points


def count_gains(means: FloatArray, noise: float) -> FloatArray:
    """Count the rivals that each model beats by more than noise, less those that it loses to.

    Examples
    --------
    >>> count_gains(np.array([[0.9], [0.5], [0.5], [0.1]]), 1e-12).ravel().tolist()
    [3.0, 0.0, 0.0, -3.0]
    """
    bars, gains = means + noise, np.empty(means.shape)
    for own, mean, bar in zip(gains, means, bars, strict=True):
        own[:] = np.count_nonzero(mean > bars, axis=0) - np.count_nonzero(means > bar, axis=0)
    return gains


def sum_meetings(present: BoolArray, weights: FloatArray) -> FloatArray:
    """Weight of each pair's battles, shape (resamples, models, models)."""
    models = present.shape[1]
    met = present[:, :, None] & present[:, None] & ~np.eye(models, dtype=bool)
    return np.tensordot(weights, met.astype(np.float64), axes=(0, 0))


def fit_strengths(points: FloatArray, meetings: FloatArray, *, start: FloatArray) -> FloatArray:
    """Fit the strengths, 0 on average, under which the points that models won are most likely.

    One model beats another with odds of 10 to the power of the difference of their strengths. A
    ridge of a millionth keeps strengths finite where models win or lose all their battles, centers
    parts of a pool that never meet at 0, and leaves models without a battle there. Newton's method
    converges from anywhere, as steps that change a pair's log odds by no more than `SAFE_CHANGE`
    cannot make the likelihood fall (Bach 2010).

    Examples
    --------
    >>> meetings = np.array([[[0.0, 11.0], [11.0, 0.0]]])
    >>> strengths = fit_strengths(np.array([[10.0, 1.0]]), meetings, start=np.zeros(2))
    >>> np.round(strengths, 4).tolist()
    [[0.5, -0.5]]
    """
    strengths = np.tile(start - start.mean(), (len(points), 1))
    floor = ROUNDING * BASE * meetings.sum(axis=2).max(axis=1, initial=0)
    active, diagonal = np.arange(len(points)), np.eye(len(start))
    for _ in range(MOST_STEPS):
        if not len(active):
            break
        now, met = strengths[active], meetings[active]
        odds = scipy.special.expit(BASE * (now[:, :, None] - now[:, None, :]))
        gradient = BASE * (points[active] - (met * odds).sum(axis=2)) - RIDGE * now
        information = BASE**2 * met * odds * odds.transpose(0, 2, 1)
        curvature = diagonal * (information.sum(axis=2) + RIDGE)[:, None] - information
        steps = np.linalg.solve(curvature, gradient[..., None])[..., 0]
        steps -= steps.mean(axis=1, keepdims=True)
        changes = BASE * np.ptp(steps, axis=1, keepdims=True)
        strengths[active] += steps * np.minimum(1, SAFE_CHANGE / np.maximum(changes, SAFE_CHANGE))
        is_done = (np.abs(steps) <= TOLERANCE).all(axis=1)
        is_done |= np.abs(gradient).max(axis=1, initial=0) <= floor[active]
        active = active[~is_done]
    return strengths


def find_separated(points: FloatArray, meetings: FloatArray, strengths: FloatArray) -> BoolArray:
    """Find resamples in which some models lose all their battles with all others, or meet none.

    How far these are apart depends on the ridge alone (Ford 1957). They are the weakest, so every
    set of the weakest is looked at: it is separated if its points are no more than its battles
    among themselves. Where models do not all meet, some are missed.

    Examples
    --------
    >>> meetings = np.array([[[0.0, 2.0], [2.0, 0.0]]] * 2)
    >>> points = np.array([[2.0, 0.0], [1.5, 0.5]])
    >>> find_separated(points, meetings, np.array([[1.0, -1.0], [0.3, -0.3]])).tolist()
    [True, False]
    """
    is_active = meetings.any(axis=2)
    order = np.argsort(np.where(is_active, strengths, np.inf), axis=1, kind="stable")
    won = np.cumsum(np.take_along_axis(points, order, axis=1), axis=1)
    rows = np.arange(len(order))[:, None, None]
    ordered = meetings[rows, order[:, :, None], order[:, None, :]]
    within = np.cumsum(np.tril(ordered).sum(axis=2), axis=1)
    is_subset = np.arange(1, points.shape[1] + 1) < is_active.sum(axis=1, keepdims=True)
    return np.asarray((is_subset & (won <= within + NEGLIGIBLE)).any(axis=1))


def bound_ratings(
    ratings: FloatArray, is_active: BoolArray, datasets: FloatArray, *, confidence_level: float
) -> FloatArray:
    """Percentile intervals of ratings, expanded for the number of datasets; shape (2, models).

    Resamples of D datasets vary by ``(D - 1) / D`` of the variance, and percentiles reach as far as
    a normal quantile where Student's t with D - 1 degrees of freedom reaches farther, so distances
    from the estimate are multiplied (after Hesterberg 2015). Resamples without any of a model's
    datasets say nothing about it: the next one that has some stands in. There is no interval with
    fewer than two datasets, nor one without width: where resamples agree on what the ridge says, or
    on ties, that is no certainty.
    """
    replicates = pd.DataFrame(ratings[:, 1:]).where(is_active[:, 1:]).bfill(axis=1).T
    replicates = replicates.fillna(replicates.iloc[0])
    tail, estimate = (1 - confidence_level) / 2, ratings[:, 0]
    ends = np.quantile(replicates.to_numpy(), [tail, 1 - tail], axis=0)
    n = np.where(datasets > 1, datasets, np.nan)
    factor = scipy.special.stdtrit(n - 1, 1 - tail) / scipy.special.ndtri(1 - tail)
    low, high = estimate + factor * np.sqrt(n / (n - 1)) * (ends - estimate)
    bounds = np.array([np.minimum(low, estimate), np.maximum(high, estimate)])
    return np.where(bounds[0] < bounds[1], bounds, np.nan)


def rate_models(
    runs: pd.DataFrame, *, study: str, n_resamples: int, confidence_level: float, seed: int
) -> pd.DataFrame:
    """Rate models by Bradley-Terry maximum likelihood: a model per row, best first.

    A model that is rated 400 above another wins ten battles for each that it loses. Ratings are
    rounded, so that what is left of rounding noise makes no order. ``separated`` is the share of
    resamples in which ratings depend on the ridge.
    """
    present, weights, points = resample_battles(
        runs, study=study, n_resamples=n_resamples, seed=seed
    )
    models, columns = points.shape
    strengths, is_separated = np.zeros((columns, models)), np.zeros(columns, dtype=np.bool_)
    step = max(CHUNK_CELLS // models**2, 1)
    # The data come first: resamples start from their strengths.
    for chunk in [slice(0, 1), *(slice(first, first + step) for first in range(1, columns, step))]:
        won, met = points[:, chunk].T, sum_meetings(present, weights[:, chunk])
        strengths[chunk] = fit_strengths(won, met, start=strengths[0])
        is_separated[chunk] = find_separated(won, met, strengths[chunk])
    ratings = np.round(MEAN + SCALE * strengths.T, DECIMALS)
    meets = present & (present.sum(axis=1, keepdims=True) > 1)
    datasets, is_active, elo = meets.sum(axis=0), meets.T @ weights > 0, ratings[:, 0]
    low, high = bound_ratings(ratings, is_active, datasets, confidence_level=confidence_level)
    battles = sum_meetings(present, weights[:, :1])[0].sum(axis=1)
    rate = points[:, 0] / np.where(datasets > 0, battles, np.nan)
    table = pd.DataFrame({"model": sorted(runs["model"].unique()), "elo": elo})
    table = table.assign(ci_low=low, ci_high=high, win_rate=rate, rank=rank_competitors(elo))
    table = table.assign(datasets=datasets, separated=is_separated[1:].mean())
    return table.sort_values(["rank", "model"], ignore_index=True)


def find_facts(elo: pd.DataFrame, *, confidence_level: float) -> dict[str, Any]:
    """Which model has the highest rating, and whether ratings can be estimated."""
    separated = elo["separated"].max() if len(elo) else 0.0
    return {
        "models": len(elo),
        "first": elo[elo["rank"] == 1].to_dict("records"),
        "has_intervals": bool(elo["ci_low"].notna().any()),
        "separated": separated,
        "is_unbounded": depends_on_ridge(separated, confidence_level=confidence_level),
    }


ANALYSIS = Analysis(
    question="How often does each model win?",
    position=50,
    tables={
        "elo": Table(
            "Bradley-Terry ratings on the Elo scale, with intervals over datasets and runs.",
            "model elo ci_low ci_high win_rate rank datasets separated",
            best={"elo": "max"},
            formats="csv tex",
        ),
    },
    figures={
        "elo": Figure(
            "Ratings on the Elo scale with intervals over datasets and runs.",
            draw="capmap.figures.forest:draw_elo",
        ),
    },
    steps={"rate_models": Step(rate_models, pairs=True)},
    find_facts=find_facts,
    meanings={
        "elo": "Bradley-Terry rating on the Elo scale; 400 points are odds of 10 to 1.",
        "win_rate": "Share of its battles that the model wins; ties are half.",
        "elo.separated": "Share of resamples in which some models only win or only lose.",
    },
)
