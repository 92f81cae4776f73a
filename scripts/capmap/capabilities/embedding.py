"""Multidimensional unfolding: points for models and datasets whose distances come near the gaps."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist
from scipy.special import stdtrit

from capmap.capabilities.factors import average_datasets
from capmap.capabilities.gaps import (
    Results,
    are_connected,
    choose_results,
    list_components,
    order_by_names,
)
from capmap.errors import ValidationError
from capmap.patterns import Pattern
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream
from capmap.settings.choices import PREDICTION_LEVEL

SPREAD = 0.3
TOLERANCE = 1e-2
# Weight of the squared coordinates of the map, in results, by the method of the settings.
RIDGES = {"l2_ridge": 0.5, "l2": 0.0}
# Most iterations of a fit.
ITERATIONS = 300
# Results that are looked at together, which fit into the cache of a processor.
BLOCK = 4096
SMOOTHING = 1e-9
FEWEST_POINTS, NEIGHBORS = 5, 15
# Refits of the map for the intervals of groups, each without its share of the results.
REFITS = 10
GROUPS = "group members center center_low center_high together together_low together_high"


class Measured(NamedTuple):
    """Distances of pairs of points, and their derivatives by the points of each pair."""

    lengths: FloatArray
    by_first: FloatArray
    by_second: FloatArray


def measure_l2(first: FloatArray, second: FloatArray) -> Measured:
    """Euclidean distance; smooth where the two points meet.

    Examples
    --------
    >>> measure_l2(np.array([[3.0, 0.0]]), np.array([[0.0, 4.0]])).lengths.round(6).tolist()
    [5.0]
    """
    difference = first - second
    values = np.sqrt(np.einsum("ij,ij->i", difference, difference) + SMOOTHING)
    gradient = difference / values[:, None]
    return Measured(values, gradient, -gradient)


def measure_cosine(first: FloatArray, second: FloatArray) -> Measured:
    """Cosine distance, 1 − cos of the angle between two points as seen from the origin."""
    lengths = [np.sqrt(np.einsum("ij,ij->i", own, own) + SMOOTHING) for own in (first, second)]
    first_length, second_length = (own[:, None] for own in lengths)
    first_unit, second_unit = first / first_length, second / second_length
    cosine = np.einsum("ij,ij->i", first_unit, second_unit)
    across = cosine[:, None]
    return Measured(
        1 - cosine,
        (across * first_unit - second_unit) / first_length,
        (across * second_unit - first_unit) / second_length,
    )


def measure_poincare(first: FloatArray, second: FloatArray) -> Measured:
    """Hyperbolic distance, that of the Poincaré ball, between points of the hyperboloid.

    With h = √(1 + |z|²), the distance is arcosh(h h′ − z · z′) (Nickel and Kiela 2018,
    arXiv:1806.03417, equation 6), here by its excess over 1, which is exact for close points.
    """
    first_height = np.sqrt(1 + np.einsum("ij,ij->i", first, first))
    second_height = np.sqrt(1 + np.einsum("ij,ij->i", second, second))
    difference, rise = first - second, first_height - second_height
    excess = (np.einsum("ij,ij->i", difference, difference) - rise**2 + SMOOTHING) / 2
    root = np.sqrt(excess * (excess + 2))
    by_first = difference - (rise / first_height)[:, None] * first
    by_second = -difference + (rise / second_height)[:, None] * second
    slope = (1 / root)[:, None]
    return Measured(np.log1p(excess + root), slope * by_first, slope * by_second)


DISTANCES: dict[str, Callable[[FloatArray, FloatArray], Measured]] = {
    "l2": measure_l2,
    "cosine": measure_cosine,
    "poincare": measure_poincare,
}


def draw_start(results: Results, *, dimension: int, seed: int, study: str) -> FloatArray:
    """Draw where the points start, each from the random stream of its name, models first.

    Normal with standard deviation 0.3. A point starts at the same place whatever others there are,
    and fewer dimensions are the first of more.
    """
    names = [("model", name) for name in results.models]
    names += [("dataset", name) for name in results.datasets]
    streams = (make_stream(seed, study, "capabilities", "0", *name) for name in names)
    return SPREAD * np.array([stream.normal(size=dimension) for stream in streams])


def fit_embedding(
    results: Results, *, distance: str, start: FloatArray, ridge: float = 0.0
) -> FloatArray:
    """Place models, then datasets, so that distances come near the gaps.

    A local minimum of Σ (distance − gap)² + ridge · Σ coordinate², up to a gradient of 0.01. Time
    and memory grow with results × dimension, not with models × datasets. A point without results
    stays where it started, or at the origin with a ridge.
    """
    measure = DISTANCES[distance]
    ends = range(BLOCK, len(results.gaps), BLOCK)
    given = results.rows, len(results.models) + results.columns, results.gaps
    blocks = [
        (first, second, gaps, _make_sums(first, len(start)), _make_sums(second, len(start)))
        for first, second, gaps in zip(*(np.split(own, ends) for own in given), strict=True)
    ]

    def measure_loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        positions = parameters.reshape(start.shape)
        # One coordinate after the other is several times faster than one point after the other.
        by_axis = np.ascontiguousarray(positions.T)
        gradient = (2 * ridge) * positions
        loss = ridge * float(np.vdot(positions, positions))
        for first, second, gaps, to_first, to_second in blocks:
            measured = measure(by_axis.take(first, axis=1).T, by_axis.take(second, axis=1).T)
            errors = measured.lengths - gaps
            slopes = 2 * errors
            gradient += to_first @ (slopes[:, None] * measured.by_first)
            gradient += to_second @ (slopes[:, None] * measured.by_second)
            loss += float(errors @ errors)
        return loss, gradient.ravel()

    options: Any = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS, "gtol": TOLERANCE}
    found = minimize(measure_loss, start.ravel(), jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x.reshape(start.shape))


def _make_sums(places: IntArray, points: int) -> csr_array:
    """The matrix that adds up rows of results at their points."""
    count = len(places)
    return csr_array((np.ones(count), (places, np.arange(count))), shape=(points, count))


def predict_by_distance(
    distance: str, start: FloatArray, train: Results, test: Results
) -> FloatArray:
    """By the distances of a fit; by the mean of the dataset where no known result connects."""
    points = fit_embedding(train, distance=distance, start=start)
    pairs = points[test.rows], points[len(train.models) + test.columns]
    found, *_ = DISTANCES[distance](*pairs)
    is_near = are_connected(train, test.rows, test.columns)
    return np.where(is_near, found, average_datasets(train, test.columns))


def settle_points(points: FloatArray) -> FloatArray:
    """Bring points to a frame of their own, so that fits of the same results can be compared.

    The middle of all points is the origin, and the axes are the principal ones, the longest first.
    An axis points to where Σ x|x| is positive. All points have a say in that sum, so small changes
    do not flip an axis unless the points lie evenly on both sides. Axes on which points spread
    alike may still turn in their plane.
    """
    points = points - points.mean(axis=0)
    points = points @ np.linalg.eigh(points.T @ points)[1][:, ::-1]
    sums = (points * np.abs(points)).sum(axis=0)
    return np.where(sums < 0, -points, points)


def measure_groups(
    results: Results,
    points: FloatArray,
    groups: Mapping[str, Sequence[str]],
    *,
    ridge: float,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Measure how near to the center, and to each other, groups of models or of datasets stand.

    ``center`` is the share of all models (or datasets) that are nearer to the center than a member,
    on average over members; ``together`` the mean distance between members, divided by that between
    all. Intervals are by a jackknife: the map is fitted again ten times from the same positions,
    each time without a random tenth of the results.

    Kott (2001), The delete-a-group jackknife, Journal of Official Statistics 17:521-526.
    """
    fits, names = [points], [*results.models, *results.datasets]
    kinds = np.split(np.arange(len(names)), [len(results.models)])
    for part in np.array_split(order_by_names(results, rng), REFITS) if groups else []:
        kept = results.choose(np.delete(np.arange(len(results.gaps)), part))
        fits.append(fit_embedding(kept, distance="l2", start=points, ridge=ridge))
    scale = stdtrit(REFITS - 1, (1 + PREDICTION_LEVEL) / 2) * np.sqrt(REFITS - 1)
    rows = []
    for group, texts in groups.items():
        patterns = [Pattern(text) for text in texts]
        is_own = np.array([any(own.match(name) == {} for own in patterns) for name in names])
        if not is_own.any():
            raise ValidationError(
                f"capabilities: groups: {group}: no model or dataset of the map has such a name. "
                "Correct the names, in which * stands for any characters, or leave the group out."
            )
        peers = next(kind for kind in kinds if is_own[kind].any())
        found = np.array([_place_group(fit, peers[is_own[peers]], peers) for fit in fits])
        ends = found[0] + scale * np.std(found[1:], axis=0) * [[0], [-1], [1]]
        rows.append([group, is_own[peers].sum(), *ends.T.clip(0, [[1], [np.inf]]).ravel()])
    return pd.DataFrame(rows, columns=GROUPS.split())


def _place_group(points: FloatArray, own: IntArray, peers: IntArray) -> tuple[float, float]:
    """How many peers are nearer to the center than members, and how near members are together."""
    apart = np.linalg.norm(points - points.mean(axis=0), axis=1)
    together = pdist(points[own]).mean() / pdist(points[peers]).mean() if len(own) > 1 else np.nan
    return float((apart[peers] < apart[own][:, None]).mean()), together


def embed_models(
    gaps: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    projection: str,
    groups: Mapping[str, Sequence[str]],
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Place models and datasets by L2 distances, and project them to the plane.

    ``component`` numbers the parts of the map from 1; distances between two of them mean nothing.
    ``centrality`` is the distance to the middle of the own part.
    """
    results = choose_results(gaps)
    start = draw_start(results, dimension=dimension, seed=seed, study=study)
    points = fit_embedding(results, distance="l2", start=start, ridge=RIDGES[method])
    settled = settle_points(points)
    components = np.concatenate(list_components(results))
    centers = np.empty_like(settled)
    for component in np.unique(components):
        own = components == component
        centers[own] = settled[own].mean(axis=0)
    header = {
        "kind": ["model"] * len(results.models) + ["dataset"] * len(results.datasets),
        "name": [*results.models, *results.datasets],
        "component": components,
        "centrality": measure_l2(settled, centers).lengths,
    }
    axes = {f"x{axis}": column for axis, column in enumerate(settled.T, 1)}
    positions = pd.DataFrame(header | axes)
    places = project_map(positions, study=study, projection=projection, seed=seed)
    kept = np.concatenate([results.per_model, results.per_dataset])
    rng = make_stream(seed, study, "capabilities", "groups")
    return {
        "positions": positions,
        "places": places.assign(kept=kept, component=components),
        "groups": measure_groups(results, settled, groups, ridge=RIDGES[method], rng=rng),
    }


def project_map(positions: pd.DataFrame, *, study: str, projection: str, seed: int) -> pd.DataFrame:
    """Project models and datasets to the plane.

    - "mds" is classical multidimensional scaling, of L2 distances the two first principal axes:
      large distances are kept best. y is 0 for points in one dimension.
    - "umap" keeps near points near; how far groups are from each other means little. It starts from
      the other map, with 15 neighbors or all others, and needs five different points. It is the
      same from run to run on one machine; others may round differently, which moves points.

    Torgerson (1952), Psychometrika 17:401-419. McInnes, Healy and Melville (2018),
    arXiv:1802.03426.
    """
    points = positions.loc[:, "x1":].to_numpy(dtype=float)
    plane = np.pad(points, ((0, 0), (0, max(2 - points.shape[1], 0))))[:, :2]
    if projection == "umap" and len(np.unique(points, axis=0)) >= FEWEST_POINTS:
        rng = make_stream(seed, study, "capabilities", "umap")
        plane = settle_points(_run_umap(points, start=plane, rng=rng))
    return positions[["kind", "name"]].assign(x=plane[:, 0], y=plane[:, 1])


def _run_umap(points: FloatArray, *, start: FloatArray, rng: np.random.Generator) -> FloatArray:
    with warnings.catch_warnings():
        # It warns of what is asked for here: one job.
        warnings.simplefilter("ignore")
        import umap

        reducer = umap.UMAP(
            n_neighbors=min(NEIGHBORS, len(points) - 1),
            init=start if np.ptp(start, axis=0).all() else "random",
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )
        return np.asarray(reducer.fit_transform(points), dtype=float)
