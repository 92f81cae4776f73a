"""Bradley–Terry strengths by maximum likelihood, on the Elo scale, with intervals and ranks."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse
from scipy.special import expit, ndtri, stdtrit

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, arrange_runs, resample_means
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.ranking.ranks import measure_replicates, rank_estimates
from capmap.ranking.resampling import DatasetPool, draw_datasets
from capmap.ranking.standard_errors import percentile_interval
from capmap.rng import make_stream
from capmap.wording import depends_on_ridge

MakeRng = Callable[..., np.random.Generator]

NOISE = 1e-12
WIN_COLUMNS = ["model", "opponent", "win_rate", "wins", "ties", "losses", "datasets"]
BASE = np.log(10)
RIDGE = 1e-6
TOLERANCE = 1e-10
ROUNDING = 1e-15
MOST_STEPS = 500
SAFE_CHANGE = 1.5

NEGLIGIBLE = 1e-10
MOST_SEPARATED = 0.5

SCALE = 400.0
MEAN = 1000.0
DECIMALS = 6
CHUNK_CELLS = 1 << 21
FEWEST_DATASETS = 2
COLUMNS = [
    *("model", "elo", "ci_low", "ci_high", "rank", "rank_low", "rank_high"),
    *("datasets", "component", "separated"),
]


@dataclass(frozen=True)
class Tournament:
    """All battles of a study.

    Parameters
    ----------
    models : list of str
        By name.
    met : numpy.ndarray of bool, shape (datasets, models, models)
        Which pairs meet on each dataset, datasets by name.
    times : numpy.ndarray of int, shape (datasets, 1 + n_resamples)
        How often each dataset takes part; first in the data, where that is once.
    points : numpy.ndarray, shape (models, 1 + n_resamples)
        Weight of the battles that each model won, ties as half of theirs. Every dataset weighs 1
        each time it takes part, shared equally by the pairs that meet on it.
    """

    models: list[str]
    met: BoolArray
    times: IntArray
    points: FloatArray

    def sum_meetings(self, columns: slice) -> FloatArray:
        """Weight of each pair's battles, shape (columns, models, models)."""
        weights = (self.times[:, columns] * _weigh_pairs(self.met)[:, None]).T
        flat = self.met.reshape(len(self.met), -1).astype(np.float64)
        return np.asarray((weights @ flat).reshape(-1, *self.met.shape[1:]))

    def find_active(self) -> BoolArray:
        """Which models meet a rival, shape (models, 1 + n_resamples)."""
        return np.asarray(self.met.any(axis=2).T.astype(np.intp) @ self.times > 0)


def resample_battles(runs: pd.DataFrame, *, n_resamples: int, make_rng: MakeRng) -> Tournament:
    """Let the means of all models meet on all datasets, in the data and in resamples.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, higher is better), at least one
        row.
    n_resamples : int
        Number of resamples.
    make_rng : callable
        Makes a random generator from what it is for: ``("datasets",)`` or ``("runs", model)``.

    Returns
    -------
    Tournament
        The order of the rows has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    A resample draws as many datasets as the study has, the same for all models, and runs within
    each cell. A dataset that it draws k times takes part with k draws of runs: its own and those of
    the k − 1 resamples that follow.

    Scores are taken relative to their dataset's median, so that the single precision of resampled
    means costs nothing. Differences of less than 10⁻¹² (times the largest score of the dataset,
    where that exceeds 1) are noise: a tie.
    """
    models, datasets = (sorted(runs[name].unique()) for name in ("model", "dataset"))
    pool = DatasetPool(datasets, make_rng("datasets"))
    drawn = draw_datasets(datasets, pool=pool, n_resamples=n_resamples, rng=make_rng("datasets"))
    times = np.hstack([np.ones((len(datasets), 1), dtype=np.intp), drawn])
    scores = runs.groupby("dataset", sort=True, observed=True)["score"]
    noise = NOISE * np.maximum(scores.agg(_find_largest).to_numpy(dtype=np.float64), 1)
    centered = runs.assign(score=runs["score"] - scores.transform("median"))
    matrix = arrange_runs(centered)
    resampled = resample_means(
        centered, n_resamples=n_resamples, make_rng=lambda model: make_rng("runs", model)
    )
    met = np.zeros((len(datasets), len(models), len(models)), dtype=np.bool_)
    points = np.zeros((len(models), 1 + n_resamples))
    for place in range(len(datasets)):
        present = np.flatnonzero(matrix.is_filled[:, place])
        meets = ~np.eye(len(present), dtype=np.bool_)
        met[place][np.ix_(present, present)] = meets
        kinds = [matrix.means[present, place, None], resampled[present, place]]
        bars = np.hstack([find_bars(kind, float(noise[place])) for kind in kinds])
        gains = count_gains(np.hstack(kinds), bars)
        battled = meets.sum(axis=1)[:, None] * times[place]
        won = (battled + _repeat_gains(gains, times[place])) / 2
        points[present] += won * _weigh_pairs(meets)
    return Tournament(models, met, times, points)


def find_bars(scores: npt.NDArray[np.floating[Any]], noise: float) -> FloatArray:
    """What a rival's score must exceed to beat each score.

    They are never below the scores and ascend with them, NaN where the scores are. Scores that lost
    digits as float32 have their bar higher by these.
    """
    sizes = np.abs(scores.astype(np.float64))
    return np.asarray(scores + noise + 2 * np.finfo(scores.dtype).eps * sizes)


def count_gains(means: FloatArray, bars: FloatArray) -> FloatArray:
    """Count the rivals that each model beats, less those that it loses to.

    Parameters
    ----------
    means, bars : numpy.ndarray, shape (models, resamples)
        Finite means, and what `find_bars` says of them.

    Examples
    --------
    >>> means = np.array([[0.9], [0.5], [0.5], [0.1]])
    >>> count_gains(means, find_bars(means, 1e-12)).ravel().tolist()
    [3.0, 0.0, 0.0, -3.0]
    """
    gains = np.empty(means.shape)
    for own, mean, bar in zip(gains, means, bars, strict=True):
        own[:] = np.count_nonzero(mean > bars, axis=0) - np.count_nonzero(means > bar, axis=0)
    return gains


def _find_largest(scores: "pd.Series[float]") -> float:
    return float(scores.abs().max())


def _repeat_gains(gains: FloatArray, times: IntArray) -> FloatArray:
    """Sum the gains of as many resamples in a row as the dataset takes part in each of them."""
    resampled = gains[:, 1:]
    total = np.zeros_like(resampled)
    for repeat in range(int(times[1:].max(initial=0))):
        total += np.roll(resampled, -repeat, axis=1) * (times[1:] > repeat)
    return np.hstack([gains[:, :1], total])


def _weigh_pairs(met: BoolArray) -> FloatArray:
    """Weight of each pair, so that all that meet on a dataset weigh 1; 0 where none does."""
    pairs = np.asarray(met.sum(axis=(-2, -1)) / 2)
    return np.asarray(np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0))


def count_wins(matrix: ScoreMatrix) -> pd.DataFrame:
    """Count the datasets on which each model's mean is better than each opponent's.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cell means, higher is better.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``opponent``, ``win_rate`` (wins and half the ties, of all datasets that both
        have; NaN if there are none), ``wins``, ``ties``, ``losses`` and ``datasets``; a row per
        ordered pair, by name. Without a row for a single model.

    Notes
    -----
    Differences of less than 10⁻¹² (times the dataset's largest mean,
    where that exceeds 1) are noise: a tie.
    """
    n = len(matrix.models)
    wins, datasets = np.zeros((n, n), dtype=np.intp), np.zeros((n, n), dtype=np.intp)
    for means, is_filled in zip(matrix.means.T, matrix.is_filled.T, strict=True):
        noise = NOISE * max(float(np.abs(means[is_filled]).max(initial=0)), 1)
        wins += means[:, None] > find_bars(means, noise)
        datasets += is_filled[:, None] & is_filled
    rows, columns = np.nonzero(~np.eye(n, dtype=np.bool_))
    won, lost, shared = wins[rows, columns], wins[columns, rows], datasets[rows, columns]
    ties = shared - won - lost
    rate = np.full(len(rows), np.nan)
    np.divide(won + ties / 2, shared, out=rate, where=shared > 0)
    names = np.array(matrix.models, dtype=object)
    values = [names[rows], names[columns], rate, won, ties, lost, shared]
    return pd.DataFrame(dict(zip(WIN_COLUMNS, values, strict=True)))


def fit_strengths(points: FloatArray, meetings: FloatArray, *, start: FloatArray) -> FloatArray:
    r"""Fit the strengths under which the points that models won are most likely.

    Parameters
    ----------
    points : numpy.ndarray, shape (resamples, models)
        Weight of the battles that each model won, ties as half of theirs.
    meetings : numpy.ndarray, shape (resamples, models, models)
        Weight of the battles of each pair; symmetric, 0 on the diagonal.
    start : numpy.ndarray, shape (models,)
        Where to begin.

    Returns
    -------
    numpy.ndarray, shape (resamples, models)
        Strengths, 0 on average. One model beats another with odds of 10 to the power of the
        difference of their strengths.

    Notes
    -----
    The log-likelihood less :math:`\lVert\theta\rVert^2 / (2 C)`, C = 10⁶, is maximized: what
    scikit-learn's logistic regression does with that C and a design of ± ln 10. The ridge keeps
    strengths finite where models win or lose all their battles, centers each part of a pool whose
    parts never meet at 0, and leaves models without a battle there.

    Newton's method stops where a step moves no strength by more than 10⁻¹⁰, or where the gradient
    is rounding noise. A step beyond the best point of its direction is halved, down to where it
    changes no pair's log odds by more than 1.5. For logistic losses such a step never overshoots by
    so much that the likelihood falls: with u the largest change of log odds, and m that of the
    whole step, it falls only if e^u − 1 − u > u m.

    References
    ----------
    Bradley, R. A. and Terry, M. E. (1952). Rank analysis of incomplete block designs: I. The method
    of paired comparisons. Biometrika 39, 324–345.

    Bach, F. (2010). Self-concordant analysis for logistic regression. Electronic Journal of
    Statistics 4, 384–414.

    Examples
    --------
    >>> meetings = np.array([[[0.0, 11.0], [11.0, 0.0]]])
    >>> strengths = fit_strengths(np.array([[10.0, 1.0]]), meetings, start=np.zeros(2))
    >>> np.round(strengths, 4).tolist()
    [[0.5, -0.5]]
    """
    strengths = np.tile(start - start.mean(), (len(points), 1))
    floor = ROUNDING * BASE * meetings.sum(axis=2).max(axis=1, initial=0)
    active = np.arange(len(points))
    for _ in range(MOST_STEPS):
        if not len(active):
            break
        now, won, met = strengths[active], points[active], meetings[active]
        odds = expit(BASE * (now[:, :, None] - now[:, None, :]))
        gradient = BASE * (won - (met * odds).sum(axis=2)) - RIDGE * now
        steps = np.linalg.solve(_observed_information(met, odds), gradient[..., None])[..., 0]
        steps -= steps.mean(axis=1, keepdims=True)
        strengths[active] = _line_search(now, steps, points=won, meetings=met)
        is_done = (np.abs(steps) <= TOLERANCE).all(axis=1)
        is_done |= np.abs(gradient).max(axis=1, initial=0) <= floor[active]
        active = active[~is_done]
    return strengths


def _observed_information(meetings: FloatArray, odds: FloatArray) -> FloatArray:
    """Observed information, the negative Hessian, shape (resamples, models, models)."""
    information = meetings * odds
    information *= odds.transpose(0, 2, 1)
    information *= BASE**2
    own = information.sum(axis=2) + RIDGE
    curvature = np.negative(information, out=information)
    places = np.arange(own.shape[1])
    curvature[:, places, places] += own
    return curvature


def _line_search(
    strengths: FloatArray, steps: FloatArray, *, points: FloatArray, meetings: FloatArray
) -> FloatArray:
    """Backtracking line search: halve steps until the likelihood surely gains."""
    moved = strengths + steps
    changes = BASE * np.ptp(steps, axis=1)
    lengths = np.ones(len(steps))
    far = np.flatnonzero(changes > SAFE_CHANGE)
    while len(far):
        there = moved[far]
        odds = expit(BASE * (there[:, :, None] - there[:, None, :]))
        gradient = BASE * (points[far] - (meetings[far] * odds).sum(axis=2)) - RIDGE * there
        far = far[(gradient * steps[far]).sum(axis=1) < 0]
        lengths[far] = np.maximum(lengths[far] / 2, SAFE_CHANGE / changes[far])
        moved[far] = strengths[far] + lengths[far, None] * steps[far]
        far = far[lengths[far] > SAFE_CHANGE / changes[far]]
    return moved


def find_separated(points: FloatArray, meetings: FloatArray, strengths: FloatArray) -> BoolArray:
    """Find resamples in which some models lose all their battles with all others.

    Parameters
    ----------
    points : numpy.ndarray, shape (resamples, models)
        Weight of the battles that each model won, ties as half of theirs.
    meetings : numpy.ndarray, shape (resamples, models, models)
        Weight of the battles of each pair; symmetric, 0 on the diagonal.
    strengths : numpy.ndarray, shape (resamples, models)
        From `fit_strengths`.

    Returns
    -------
    numpy.ndarray of bool, shape (resamples,)
        Whether the graph of wins (ties are wins of both) is not strongly connected among the models
        that have battles. The strengths of maximum likelihood are infinite then, and those with the
        ridge as large as the ridge lets them be.

    Notes
    -----
    Models that lose to all others are weaker than these. So every set of the weakest is looked at:
    it is separated if its points are no more than its battles among themselves, or if it meets no
    other model. Where all pairs meet, this finds every separation. Where cells are empty, so do
    single models that win or lose all, and parts of the pool that never meet; larger sets are then
    missed if the strengths of models that never meet lie between theirs.

    References
    ----------
    Ford, L. R. (1957). Solution of a ranking problem from binary comparisons. American Mathematical
    Monthly 64(8), 28–33.

    Examples
    --------
    >>> meetings = np.array([[[0.0, 2.0], [2.0, 0.0]]])
    >>> find_separated(np.array([[2.0, 0.0]]), meetings, np.array([[1.0, -1.0]])).tolist()
    [True]
    >>> find_separated(np.array([[1.5, 0.5]]), meetings, np.array([[0.3, -0.3]])).tolist()
    [False]
    """
    battles = meetings.sum(axis=2)
    is_active = battles > 0
    extreme = (points <= NEGLIGIBLE) | (points >= battles - NEGLIGIBLE)
    order = np.argsort(np.where(is_active, strengths, np.inf), axis=1, kind="stable")
    won = np.cumsum(np.take_along_axis(points, order, axis=1), axis=1)
    ordered = np.take_along_axis(meetings, order[:, :, None], axis=1)
    ordered = np.take_along_axis(ordered, order[:, None, :], axis=2)
    within = np.cumsum(np.tril(ordered).sum(axis=2), axis=1)
    n_active = is_active.sum(axis=1)
    is_subset = np.arange(1, points.shape[1] + 1) < n_active[:, None]
    found = (is_active & extreme).any(axis=1)
    found |= (is_subset & (won <= within + NEGLIGIBLE)).any(axis=1)
    is_complete = np.count_nonzero(meetings, axis=(1, 2)) == n_active * (n_active - 1)
    for place in np.flatnonzero(~found & ~is_complete):
        parts = find_components(meetings[place] > 0)[is_active[place]]
        found[place] = len(np.unique(parts)) > 1
    return np.asarray(found)


def find_components(met: BoolArray) -> IntArray:
    """Number the parts of a pool whose models never meet those of another part, shape (models,)."""
    return np.asarray(sparse.csgraph.connected_components(met, directed=False)[1], dtype=np.intp)


def estimate_ratings(
    runs: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Rate models by Bradley–Terry maximum likelihood, with intervals.

    Parameters
    ----------
    runs : pandas.DataFrame
        As in `capmap.comparison.battles.resample_battles`.
    n_resamples : int
        Number of resamples, at least 1.
    confidence_level : float
        Between 0 and 1.
    make_rng : callable
        As in `capmap.comparison.battles.resample_battles`.

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

    Intervals always come from resampling both datasets and runs, so they hold for other datasets of
    the same kind. Percentiles alone are too narrow with few datasets (of equal models on 4 to 8,
    95% intervals held the true rating in 86 to 91%), so their ends are moved away from the
    estimate, see `_expand_interval`. There are none for models with fewer than two datasets.
    Resamples without any of a model's datasets say nothing about it: the next one that has some
    stands in.

    Ratings are rounded to six decimals, so that what is left of rounding noise makes no order.

    `fit_strengths` says what becomes of models that win all battles (a high rating that depends on
    the ridge), of parts of the pool that never meet (each has mean 1000, and ratings of different
    parts do not compare) and of models that meet nobody (1000).

    ``separated`` is the share of resamples in which some models lose all battles with all others,
    see `find_separated`. How far apart these are there depends on the ridge alone. Where it comes
    near half of ``1 - confidence_level``, so do ends of intervals: they may lie thousands away, and
    move with the seed. Where it is more than half, resamples agree on the rating that the ridge
    gives a model that always wins: no models are separated, and intervals without width left out.
    """
    tournament = resample_battles(runs, n_resamples=n_resamples, make_rng=make_rng)
    (strengths, is_separated), is_active = _fit_all(tournament), tournament.find_active()
    ratings = np.round(MEAN + SCALE * strengths, DECIMALS)
    datasets = tournament.met.any(axis=2).sum(axis=0)
    replicates = [
        _fill_undefined(row[1:], active[1:]) if n >= FEWEST_DATASETS else np.empty(0)
        for row, active, n in zip(ratings, is_active, datasets, strict=True)
    ]
    low, high = np.array(
        [
            _expand_interval(row, estimate=own, datasets=n, confidence_level=confidence_level)
            for row, own, n in zip(replicates, ratings[:, 0], datasets, strict=True)
        ]
    ).T
    table = pd.DataFrame(
        {
            "model": tournament.models,
            "estimate": ratings[:, 0],
            "ci_low": low,
            "ci_high": high,
            "datasets": datasets,
        }
    )
    separated = float(is_separated[1:].mean())
    errors = measure_replicates(replicates, freedom=np.maximum(datasets - 1, 1))
    if separated > MOST_SEPARATED:
        errors = replace(errors, variances=np.full(len(table), np.nan))
        is_point = table["ci_low"] == table["ci_high"]
        table[["ci_low", "ci_high"]] = table[["ci_low", "ci_high"]].mask(is_point)
    table = table.assign(component=find_components(np.asarray(tournament.met.any(axis=0))))
    ranked = rank_estimates(table, errors, confidence_level=confidence_level)
    return ranked.assign(
        elo=ranked["estimate"],
        component=pd.factorize(ranked["component"])[0] + 1,
        separated=separated,
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


def _fill_undefined(values: FloatArray, is_active: BoolArray) -> FloatArray:
    """Fill undefined values with the next defined one; nothing if none is defined."""
    places = np.flatnonzero(is_active)
    if not len(places):
        return np.empty(0)
    following = np.searchsorted(places, np.arange(len(values))) % len(places)
    return values[places[following]]


def _expand_interval(
    replicates: FloatArray, *, estimate: float, datasets: int, confidence_level: float
) -> tuple[float, float]:
    """Percentile interval, expanded about the estimate for the number of datasets.

    Notes
    -----
    Resamples of D datasets vary by ``(D − 1) / D`` of the variance, and percentiles reach as far as
    a normal quantile where Student's t with D − 1 degrees of freedom reaches farther. Hesterberg
    takes outer percentiles by both; with few datasets these are the most extreme of all replicates,
    so the distances of the usual ones from the estimate are multiplied. The interval is stretched
    to the estimate where it would miss it.

    References
    ----------
    Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American
    Statistician 69, 371–386.
    """
    if not len(replicates):
        return np.nan, np.nan
    level = (1 + confidence_level) / 2
    factor = stdtrit(datasets - 1, level) / ndtri(level) * np.sqrt(datasets / (datasets - 1))
    ends = np.array(percentile_interval(replicates, confidence_level=confidence_level))
    low, high = estimate + factor * (ends - estimate)
    return min(low, estimate), max(high, estimate)


def rate_models(
    runs: pd.DataFrame,
    *,
    study: str,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Rate models by their battles on datasets, and count who beats whom.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples
        As in the setting `comparison`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``elo`` and ``winrate``.
    """
    ratings = estimate_ratings(
        runs,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "ratings"),
    )
    return {"elo": ratings, "winrate": count_wins(arrange_runs(runs))}


def find_facts(
    elo: pd.DataFrame, winrate: pd.DataFrame, *, confidence_level: float
) -> dict[str, Any]:
    """Which model has the highest rating, and whether ratings can be estimated."""
    first = elo[elo["rank"] == elo["rank"].min()]
    lowest = winrate.dropna(subset="win_rate").groupby("model")["win_rate"].min()
    separated = elo["separated"].max() if len(elo) else 0.0
    return {
        "models": len(elo),
        "first": first["model"].tolist(),
        "rating": next(iter(first["elo"]), np.nan),
        "ends": first[["ci_low", "ci_high"]].to_numpy().tolist()[0] if len(first) == 1 else [],
        "has_intervals": bool(elo["ci_low"].notna().any()),
        "always": lowest.index[lowest == 1].tolist(),
        "parts": elo["component"].nunique(),
        "separated": separated,
        "is_unbounded": depends_on_ridge(separated, confidence_level=confidence_level),
    }


ANALYSIS = Analysis(
    question="How often does each model win?",
    position=50,
    tables={
        "elo": Table(
            "Bradley-Terry ratings on the Elo scale, with intervals over datasets and runs. "
            "Ratings of different components do not compare; separated is the share of resamples "
            "in which some models only win or only lose.",
            "model elo ci_low ci_high rank rank_low rank_high datasets component separated",
            best={"elo": "max"},
            formats="csv tex",
        ),
        "winrate": Table(
            "Share of datasets on which a model scores above an opponent; ties count half.",
            "model opponent win_rate wins ties losses datasets",
        ),
    },
    figures={
        "elo": Figure(
            "Ratings on the Elo scale with intervals over datasets and runs.",
            draw="capmap.figures.pairwise:draw_elo",
            reads=["elo"],
            order="ranking",
            options={"confidence_level": "bootstrap/confidence"},
        ),
        "winrate": Figure(
            "Share of datasets on which the row's model beats the column's; ties count half.",
            draw="capmap.figures.pairwise:draw_winrate",
            reads=["winrate"],
        ),
    },
    steps={
        "rate_models": Step(
            rate_models,
            tables=["elo", "winrate"],
            reads=["runs"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
            pairs=True,
        )
    },
    find_facts=find_facts,
    meanings={
        "elo": "Bradley-Terry rating on the Elo scale; 400 points are odds of 10 to 1.",
        "win_rate": "Share of datasets on which the model beats the opponent; ties are half.",
        "elo.component": "Number of a group of models that met each other.",
        "elo.separated": "Share of resamples in which some models only win or only lose.",
    },
)
