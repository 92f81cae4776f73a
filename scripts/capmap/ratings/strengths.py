"""Bradley–Terry strengths by maximum likelihood, for many resamples at once."""

import numpy as np
from scipy.special import expit

from capmap.aggregation import FloatArray

BASE = np.log(10)
RIDGE = 1e-6
TOLERANCE = 1e-10
ROUNDING = 1e-15
MOST_STEPS = 500
SAFE_CHANGE = 1.5


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
        steps = np.linalg.solve(_curve(met, odds), gradient[..., None])[..., 0]
        steps -= steps.mean(axis=1, keepdims=True)
        strengths[active] = _advance(now, steps, points=won, meetings=met)
        is_done = (np.abs(steps) <= TOLERANCE).all(axis=1)
        is_done |= np.abs(gradient).max(axis=1, initial=0) <= floor[active]
        active = active[~is_done]
    return strengths


def _curve(meetings: FloatArray, odds: FloatArray) -> FloatArray:
    """Negative second derivatives, shape (resamples, models, models)."""
    information = meetings * odds
    information *= odds.transpose(0, 2, 1)
    information *= BASE**2
    own = information.sum(axis=2) + RIDGE
    curvature = np.negative(information, out=information)
    places = np.arange(own.shape[1])
    curvature[:, places, places] += own
    return curvature


def _advance(
    strengths: FloatArray, steps: FloatArray, *, points: FloatArray, meetings: FloatArray
) -> FloatArray:
    """Go along each step as far as the likelihood surely gains."""
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
