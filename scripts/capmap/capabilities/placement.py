"""Placing further models on a map without moving what is on it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtri

from capmap.aggregation import FloatArray
from capmap.capabilities.alignment import normalize_lengths
from capmap.capabilities.distances import DISTANCES, enter_ball
from capmap.capabilities.embedding import Embedding
from capmap.capabilities.results import Results

RIDGE = 0.5
STEPS = 30
DAMPING = 1e-2
TOLERANCE = 1e-8
DIFFERENCE = 1e-6


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
        errors, slopes = measured.values - self.gaps, measured.by_first
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
