"""Placing further models on a fixed map, and rehearsals of it with models of the study."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import chdtri

from capmap.capabilities.embedding import Embedding, fit_starts
from capmap.capabilities.gaps import BoolArray, Results, bound_scores, measure_gaps
from capmap.capabilities.geometry import DISTANCES, enter_ball, normalize_lengths
from capmap.capabilities.halves import Fitting, MakeRng
from capmap.capabilities.intervals import Calibration, calibrate, list_features
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import order_names

RIDGE = 0.5
STEPS = 30
DAMPING = 1e-2
TOLERANCE = 1e-8
DIFFERENCE = 1e-6

GROUPS = 5
# Known results of a model that is placed: these numbers, and a share of all.
COUNTS = (1, 2, 3, 4, 6, 9, 13, 20, 30, 45, 70)
SHARE = 0.8
# Gaps beyond these count as these where a model is placed or errors are learned from.
LIMITS = (-1.0, 2.0)
KINDS = {
    **dict.fromkeys(("model", "masking", "known", "per_dataset"), "int64"),
    **dict.fromkeys(("variance", "prediction", "truth"), "float64"),
}


@dataclass(frozen=True)
class Placement:
    """Further models on the map of a fit.

    Parameters
    ----------
    fit : Embedding
        The datasets as they were fitted, and the further models in the place of the fitted ones.
    spreads : ndarray, shape (models, parameters, parameters)
        Covariance of the coordinates (and of the offset, if there is one) of each model, for
        results whose noise has variance 1.
    """

    fit: Embedding
    spreads: FloatArray


def place_models(fit: Embedding, results: Results) -> Placement:
    """Find where further models stand, everything else fixed.

    Parameters
    ----------
    fit : Embedding
        Of other models on the same datasets.
    results : Results
        Of the further models, any number of each, also none.

    Returns
    -------
    Placement
        Models in the order of the results.

    Notes
    -----
    A model's coordinates (and offset) minimize Σ (prediction − gap)² + ridge · |x − c|²
    (+ offset ridge · offset²), with the ridges of the fit and c the origin: what the fit itself
    minimizes. Methods without a ridge have none to know how far a model is from the others, so c is
    the mean of the models and the ridge 0.5. A model without results stands at c.

    Each model is placed by Gauss–Newton steps with a damping of its own (Levenberg–Marquardt), from
    c; the others that are placed at once have no influence. The spread is the inverse of
    JᵀJ + ridge with the derivatives J of the model's predictions (Laplace's approximation: the
    posterior of a normal prior and normal noise).

    Datasets without results in the fit have no place that means something; leave them out.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, section 10.3.
    """
    problem = _Problem(fit, results)
    found = problem.start
    state = problem.measure(found)
    damping = np.full(len(found), DAMPING)
    moving = np.ones(len(found), dtype=bool)
    for _ in range(STEPS):
        tried = found - problem.choose_step(found, state, damping)
        new = problem.measure(tried)
        better = moving & (new.losses <= state.losses)
        moving &= np.abs(state.losses - new.losses) > TOLERANCE * (1 + state.losses)
        found = np.where(better[:, None], tried, found)
        state = problem.measure(found)
        damping = np.where(better, damping / 5, damping * 5)
        if not moving.any():
            break
    dimension = fit.datasets.shape[1]
    placed = replace(
        fit,
        models=found[:, :dimension],
        model_offsets=found[:, dimension] if problem.has_offset else np.zeros(len(found)),
    )
    return Placement(placed, np.asarray(np.linalg.inv(problem.gather_information(state)), float))


def show_points(points: FloatArray, *, distance: str) -> FloatArray:
    """Turn coordinates of a distance into those of the tables.

    Parameters
    ----------
    points : ndarray, shape (points, dimension)
        In coordinates of the distance.
    distance : str
        Name of the distance.

    Returns
    -------
    ndarray, shape (points, dimension)
        Points of the ball for "poincare", of the unit sphere for "cosine", else the same.
    """
    if distance == "poincare":
        return enter_ball(points)
    return normalize_lengths(points) if distance == "cosine" else points


def measure_radii(placement: Placement, *, noise: float, confidence_level: float) -> FloatArray:
    """Measure how far from its place a model may be.

    Parameters
    ----------
    placement : Placement
        Of some models.
    noise : float
        Variance of a result around its prediction.
    confidence_level : float
        Probability that the model is within the radius, between 0 and 1.

    Returns
    -------
    ndarray, shape (models,)
        In the coordinates of `show_points`. NaN for the cosine distance in one dimension, whose two
        places have nothing between them.

    Notes
    -----
    The squared distance from the place is a sum of squared normals whose variances λ are the
    eigenvalues of the covariance. Its distribution is taken as that of c χ² with f degrees of
    freedom, c = Σ λ² / Σ λ and f = (Σ λ)² / Σ λ² (Welch–Satterthwaite), which is exact where all λ
    are equal, and where all but one are 0. Covariances in the ball and on the sphere follow from
    the derivatives of the coordinates.

    References
    ----------
    Box (1954), Annals of Mathematical Statistics 25:290-302.
    """
    fit = placement.fit
    models, dimension = fit.models.shape
    if not models:
        return np.zeros(0)
    steps = DIFFERENCE * np.eye(dimension)
    columns = [
        show_points(fit.models + step, distance=fit.distance)
        - show_points(fit.models - step, distance=fit.distance)
        for step in steps
    ]
    slopes = np.stack(columns, axis=2) / (2 * DIFFERENCE)
    spreads = slopes @ placement.spreads[:, :dimension, :dimension] @ slopes.transpose(0, 2, 1)
    total = np.einsum("mii->m", spreads)
    total = np.where(total > 0, total, np.nan)
    squares = np.einsum("mij,mij->m", spreads, spreads)
    quantiles = chdtri(total**2 / squares, 1 - confidence_level)
    return np.asarray(np.sqrt(noise * squares / total * quantiles))


@dataclass(frozen=True)
class _State:
    """Losses of the models, and errors and derivatives of the results, at some coordinates."""

    losses: FloatArray
    errors: FloatArray
    slopes: FloatArray


class _Problem:
    """What `place_models` minimizes, for all models at once."""

    def __init__(self, fit: Embedding, results: Results) -> None:
        method = fit.method
        self.distance = DISTANCES[method.distance]
        self.rows = results.rows
        self.points = fit.datasets[results.columns]
        self.gaps = results.gaps - fit.dataset_offsets[results.columns]
        self.dimension = fit.datasets.shape[1]
        self.has_offset = method.offset_ridge is not None
        center = np.zeros(self.dimension) if method.ridge else fit.models.mean(axis=0)
        ridges = np.full(self.dimension, method.ridge or RIDGE)
        if self.has_offset:
            center = np.append(center, 0.0)
            ridges = np.append(ridges, method.offset_ridge or RIDGE)
        self.ridges = ridges
        self.start = np.tile(center, (len(results.models), 1))
        count = len(results.rows)
        shape = (len(results.models), count)
        self.sums = csr_array((np.ones(count), (results.rows, np.arange(count))), shape=shape)

    def measure(self, found: FloatArray) -> _State:
        own = found[self.rows]
        measured = self.distance(own[:, : self.dimension], self.points)
        errors, slopes = measured.values - self.gaps, measured.by_first  # noqa: PD011
        if self.has_offset:
            errors = errors + own[:, -1]
            slopes = np.concatenate([slopes, np.ones((len(slopes), 1))], axis=1)
        losses = self.sums @ errors**2 + (found - self.start) ** 2 @ self.ridges
        return _State(losses, errors, slopes)

    def gather_information(self, state: _State) -> FloatArray:
        """JᵀJ + ridge of each model."""
        models, parameters = self.start.shape
        products = state.slopes[:, :, None] * state.slopes[:, None, :]
        summed = np.asarray(self.sums @ products.reshape(len(products), parameters**2))
        return summed.reshape(models, parameters, parameters) + np.diag(self.ridges)

    def choose_step(self, found: FloatArray, state: _State, damping: FloatArray) -> FloatArray:
        gradient = self.sums @ (state.errors[:, None] * state.slopes)
        gradient += (found - self.start) * self.ridges
        information = self.gather_information(state)
        diagonal = np.einsum("mii->mi", information)
        information = information + damping[:, None, None] * (
            diagonal[:, :, None] * np.eye(len(self.ridges))
        )
        return np.asarray(np.linalg.solve(information, gradient[:, :, None])[:, :, 0])


class Masking(NamedTuple):
    """Results of one model, by their places: which are known, and which are hidden."""

    known: IntArray
    hidden: IntArray


class Predicted(NamedTuple):
    """Predictions averaged over fits, from 0 to 1, and their variance between the fits."""

    gaps: FloatArray
    variance: FloatArray


def rehearse_placements(
    results: Results, *, fitting: Fitting, make_rng: MakeRng, strict: bool
) -> pd.DataFrame:
    """Leave models out, place them by some of their results, and predict the others.

    Parameters
    ----------
    results : Results
        Of all models.
    fitting : Fitting
        How maps are fitted.
    make_rng : callable
        Makes random generators: ``make_rng("groups")`` splits the models, and
        ``make_rng("model", name)`` chooses results of a model.
    strict : bool
        Whether gaps are by the bounds of the models that are not left out, as those of a newcomer
        are, or by the bounds of all.

    Returns
    -------
    pandas.DataFrame
        A row per hidden result of each masking: place of the ``model``; number of the ``masking``;
        ``known``, results that the model was placed by; ``per_dataset``, results of the dataset in
        the fit; ``variance`` of the predictions between fits; ``prediction``, from 0 to 1; and
        ``truth``. Empty if no model has two results on datasets that others have too.

    Notes
    -----
    Models with at least two results are split into five random groups (fewer if models are fewer).
    Each group is left out of a fit, and each of its models is placed (`place_models`) by 1, 2, 3,
    4, 6, 9, 13, 20, 30, 45 and 70 random results, as far as it has more, and by 80% of them. If
    ``strict``, gaps beyond −1…2 count as −1 or 2, and datasets on which the models that are not
    left out tie have no part.
    """
    models = np.flatnonzero(results.per_model >= 2)
    order = models[order_names([results.models[model] for model in models], make_rng("groups"))]
    tables = [pd.DataFrame(columns=list(KINDS)).astype(KINDS)]
    count = 0
    for group in np.array_split(order, min(GROUPS, len(order))) if len(order) else []:
        left_out = np.isin(results.rows, group)
        train = results.choose(~left_out)
        usable = left_out & (train.per_dataset > 0)[results.columns]
        shown = results
        if strict:
            worst, best = bound_scores(train.scores, train.columns, len(results.datasets))
            train, shown = (_bound_gaps(part, worst, best) for part in (train, results))
            usable &= (worst < best)[results.columns]
        maskings = _draw_maskings(results, usable, make_rng)
        if maskings:
            fits = fit_starts(train, fitting.methods, starts=fitting.starts)
            predicted = place_maskings(fits, shown, maskings)
            table = _tabulate(shown, train, maskings, predicted)
            tables.append(table.assign(masking=table["masking"] + count).astype(KINDS))
            count += len(maskings)
    return pd.concat(tables, ignore_index=True)


def place_maskings(
    fits: Sequence[Embedding], results: Results, maskings: Sequence[Masking]
) -> Predicted:
    """Place models by their known results, and predict their hidden ones.

    Parameters
    ----------
    fits : sequence of Embedding
        Of other models, with results of all datasets that the maskings have.
    results : Results
        All of them.
    maskings : sequence of Masking
        At least one.

    Returns
    -------
    Predicted
        Of the hidden results, one masking after the other.
    """
    known = np.concatenate([masking.known for masking in maskings])
    hidden = np.concatenate([masking.hidden for masking in maskings])
    problems = replace(
        results.choose(known),
        models=[""] * len(maskings),
        rows=_number([len(masking.known) for masking in maskings]),
    )
    placed = [place_models(fit, problems).fit for fit in fits]
    rows = _number([len(masking.hidden) for masking in maskings])
    return average_fits(placed, rows, results.columns[hidden])


def average_fits(fits: Sequence[Embedding], rows: IntArray, columns: IntArray) -> Predicted:
    """Predict the gaps of some pairs of model and dataset, by their places."""
    found = np.stack([fit.predict(rows, columns) for fit in fits])
    return Predicted(found.mean(axis=0).clip(0, 1), found.var(axis=0))


def draw_masking(places: IntArray, *, known: int, rng: np.random.Generator) -> Masking:
    """Leave random ones of a model's results known, and hide the others."""
    order = rng.permutation(places)
    return Masking(np.sort(order[:known]), np.sort(order[known:]))


def calibrate_gaps(rehearsed: pd.DataFrame) -> Calibration:
    """Learn how large errors of predictions are, by `list_features`."""
    return calibrate(
        rehearsed["prediction"] - rehearsed["truth"],
        list_features(rehearsed["known"], rehearsed["per_dataset"], rehearsed["variance"]),
    )


def calibrate_means(rehearsed: pd.DataFrame) -> Calibration:
    """Learn how large errors of mean predictions are, by `list_mean_features`.

    Parameters
    ----------
    rehearsed : pandas.DataFrame
        Of `rehearse_placements`.

    Returns
    -------
    Calibration
        Of the mean prediction of all hidden results of a masking.
    """
    errors = rehearsed.assign(error=rehearsed["prediction"] - rehearsed["truth"])
    maskings = errors.groupby("masking").agg(
        error=("error", "mean"), known=("known", "first"), hidden=("error", "size")
    )
    features = list_mean_features(maskings["known"], maskings["hidden"])
    return calibrate(maskings["error"], features)


def list_mean_features(known: npt.ArrayLike, averaged: npt.ArrayLike) -> FloatArray:
    """List what the error of a model's mean prediction depends on.

    Parameters
    ----------
    known, averaged : array_like of int, shape (models,)
        Known results, and predictions that are averaged; at least one of these.

    Returns
    -------
    ndarray, shape (models, 3)
        1, 1 / (known + 1), and 1 / averaged.
    """
    shares = 1 / (np.asarray(known) + 1.0), 1 / np.asarray(averaged, dtype=float)
    return np.stack([np.ones_like(shares[0]), *shares], axis=1)


def measure_noise(rehearsed: pd.DataFrame) -> float:
    """Measure how far results are from predictions for models whose place is well known.

    Parameters
    ----------
    rehearsed : pandas.DataFrame
        Of `rehearse_placements`.

    Returns
    -------
    float
        Mean squared error from the most known results of each model, truths limited to 0…1 as
        predictions are; NaN without any.

    Notes
    -----
    Errors of the fit itself would be too small: the fit has seen those results, and has about as
    many coordinates as results. These errors are of hidden results, and a little too large: a
    model's place is not known exactly, nor are those of datasets.
    """
    most = rehearsed.groupby("model")["known"].transform("max")
    errors = rehearsed["prediction"] - rehearsed["truth"].clip(0, 1)
    errors = errors[rehearsed["known"] == most]
    return float((errors**2).mean())


def _bound_gaps(results: Results, worst: FloatArray, best: FloatArray) -> Results:
    gaps = measure_gaps(results.scores, results.columns, worst, best)
    return replace(results, gaps=gaps.clip(*LIMITS))


def _draw_maskings(results: Results, usable: BoolArray, make_rng: MakeRng) -> list[Masking]:
    """Maskings of all models with at least two usable results."""
    places = np.flatnonzero(usable)
    starts = np.flatnonzero(np.diff(results.rows[places])) + 1
    found = []
    for own in np.split(places, starts):
        total = len(own)
        counts = {count for count in (*COUNTS, int(np.ceil(SHARE * total))) if count < total}
        if counts:
            rng = make_rng("model", results.models[results.rows[own[0]]])
            found += [draw_masking(own, known=count, rng=rng) for count in sorted(counts)]
    return found


def _tabulate(
    results: Results, train: Results, maskings: Sequence[Masking], predicted: Predicted
) -> pd.DataFrame:
    sizes = [len(masking.hidden) for masking in maskings]
    hidden = np.concatenate([masking.hidden for masking in maskings])
    return pd.DataFrame(
        {
            "model": results.rows[hidden],
            "masking": _number(sizes),
            "known": np.repeat([len(masking.known) for masking in maskings], sizes),
            "per_dataset": train.per_dataset[results.columns[hidden]],
            "variance": predicted.variance,
            "prediction": predicted.gaps,
            "truth": results.gaps[hidden],
        }
    )


def _number(sizes: Sequence[int]) -> IntArray:
    """0 as many times as the first size says, then 1, and so on."""
    return np.repeat(np.arange(len(sizes)), sizes)
