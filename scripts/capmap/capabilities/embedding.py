"""Multidimensional unfolding: points for models and datasets whose distances come near the gaps."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.sparse import csr_array

from capmap.capabilities.gaps import Results, choose_results, list_components
from capmap.capabilities.geometry import DISTANCES, enter_ball, measure_centrality, settle_points
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

SPREAD = 0.3
TOLERANCE = 1e-2
# Results that are looked at together, which fit into the cache of a processor.
BLOCK = 4096
# From so many results on, one start is as good as several.
SURE = 20_000


@dataclass(frozen=True)
class Method:
    """What is fitted to the gaps.

    Parameters
    ----------
    distance : {"l2", "cosine", "poincare", "bilinear"}
        Between a model and a dataset.
    ridge : float
        Weight of the squared coordinates, in results: 1 weighs as much as one result.
    offset_ridge : float, optional
        Weight of the squared offsets of models and datasets, which are added to the distances;
        None means that there are no offsets.
    iterations : int
        Most iterations of the fit.
    """

    distance: str
    ridge: float = 0.0
    offset_ridge: float | None = None
    iterations: int = 300


# The predictions of all fits of a name are averaged; the first method gives the positions.
METHODS: dict[str, tuple[Method, ...]] = {
    "ensemble": (
        Method("l2", ridge=0.5, iterations=150),
        Method("l2", ridge=0.5, offset_ridge=1.0, iterations=150),
        Method("cosine", ridge=0.05, offset_ridge=1.0, iterations=150),
    ),
    "l2": (Method("l2"),),
    "cosine": (Method("cosine"),),
    "poincare": (Method("poincare"),),
    "bilinear": (Method("bilinear", ridge=0.5, offset_ridge=1.0, iterations=150),),
}


@dataclass(frozen=True)
class Embedding:
    """Points and offsets of models and datasets.

    Parameters
    ----------
    method : Method
        What was fitted.
    models, datasets : ndarray, shape (models, dimension) and (datasets, dimension)
        Points, in coordinates of the distance.
    model_offsets, dataset_offsets : ndarray, shape (models,) and (datasets,)
        Added to the distances.
    loss : float
        Mean squared error of the gaps, and the penalties divided by the number of results.
    """

    method: Method
    models: FloatArray
    datasets: FloatArray
    model_offsets: FloatArray
    dataset_offsets: FloatArray
    loss: float

    @property
    def distance(self) -> str:
        """Name of the distance between points."""
        return self.method.distance

    def predict(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Predict the gaps of some pairs of model and dataset, by their places."""
        measured = DISTANCES[self.distance](self.models[rows], self.datasets[columns])
        return np.asarray(
            measured.values + self.model_offsets[rows] + self.dataset_offsets[columns]  # noqa: PD011
        )


def draw_starts(
    results: Results, *, dimension: int, starts: int, seed: int, study: str
) -> list[FloatArray]:
    """Draw where the points start, each from the random stream of its name.

    Parameters
    ----------
    results : Results
        For its names.
    dimension : int
        Number of coordinates.
    starts : int
        Number of starts.
    seed : int
        Seed of the study's random streams.
    study : str
        Name of the study.

    Returns
    -------
    list of ndarray, shape (models + datasets, dimension)
        Normal with standard deviation 0.3. A point starts at the same place whatever others there
        are, and fewer dimensions are the first of more.
    """
    names = [("model", name) for name in results.models]
    names += [("dataset", name) for name in results.datasets]
    return [
        SPREAD
        * np.array(
            [
                make_stream(seed, study, "capabilities", str(start), *name).normal(size=dimension)
                for name in names
            ]
        )
        for start in range(starts)
    ]


def fit_embedding(results: Results, method: Method, *, start: FloatArray) -> Embedding:
    """Place models and datasets so that distances (and offsets) come near the gaps.

    Parameters
    ----------
    results : Results
        At least one.
    method : Method
        What is fitted.
    start : ndarray, shape (models + datasets, dimension)
        Where the points start; offsets start at 0.

    Returns
    -------
    Embedding
        A local minimum of Σ (prediction − gap)² + penalties, up to a gradient of 0.01.

    Notes
    -----
    Time and memory grow with results × dimension, not with models × datasets. A point without
    results stays where it started, or at the origin with a penalty.
    """
    models, points = len(results.models), len(start)
    dimension = start.shape[1]
    loss = _Loss(results, method, points=points, dimension=dimension)
    offsets = 0 if method.offset_ridge is None else points
    found = minimize(
        loss,
        np.concatenate([start.ravel(), np.zeros(offsets)]),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": method.iterations,
            "maxfun": 2 * method.iterations,
            "gtol": TOLERANCE,
        },
    )
    positions, levels = loss.split(found.x)
    return Embedding(
        method=method,
        models=positions[:models],
        datasets=positions[models:],
        model_offsets=levels[:models],
        dataset_offsets=levels[models:],
        loss=float(found.fun) / len(results.gaps),
    )


def fit_starts(
    results: Results, methods: Sequence[Method], *, starts: Sequence[FloatArray]
) -> list[Embedding]:
    """Fit some methods, each from several starts.

    Parameters
    ----------
    results : Results
        At least one.
    methods : sequence of Method
        One of `METHODS`. A method without penalty is fitted from the first start only, as in the
        paper, and so is any to 20 000 results and more.
    starts : sequence of ndarray, shape (models + datasets, dimension)
        As from `draw_starts`.

    Returns
    -------
    list of Embedding
        In the order of the methods, of each the best fit first.
    """
    fits = []
    for method in methods:
        chosen = starts if method.ridge and len(results.gaps) < SURE else starts[:1]
        found = [fit_embedding(results, method, start=start) for start in chosen]
        fits += sorted(found, key=lambda fit: fit.loss)
    return fits


def predict_gaps(fits: Sequence[Embedding], rows: IntArray, columns: IntArray) -> FloatArray:
    """Predict the gaps of some pairs of model and dataset, averaged over fits."""
    return np.asarray(np.mean([fit.predict(rows, columns) for fit in fits], axis=0))


class _Loss:
    """Squared errors and penalties, with their gradient, at a vector of all parameters."""

    def __init__(self, results: Results, method: Method, *, points: int, dimension: int) -> None:
        self.measure = DISTANCES[method.distance]
        self.shape = (points, dimension)
        self.ridge = method.ridge
        self.has_offsets = method.offset_ridge is not None
        self.offset_ridge = method.offset_ridge or 0.0
        ends = range(BLOCK, len(results.gaps), BLOCK)
        columns = len(results.models) + results.columns
        self.blocks = [
            (first, second, gaps, _make_sums(first, points), _make_sums(second, points))
            for first, second, gaps in zip(
                *(np.split(own, ends) for own in (results.rows, columns, results.gaps)),
                strict=True,
            )
        ]

    def split(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The points, shape (points, dimension), and the offsets, shape (points,)."""
        points, dimension = self.shape
        positions = parameters[: points * dimension].reshape(self.shape)
        offsets = parameters[points * dimension :] if self.has_offsets else np.zeros(points)
        return positions, offsets

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        positions, offsets = self.split(parameters)
        # One coordinate after the other is several times faster than one point after the other.
        by_axis = np.ascontiguousarray(positions.T)
        gradient = (2 * self.ridge) * positions
        loss = self.ridge * float(np.vdot(positions, positions))
        by_offset = (2 * self.offset_ridge) * offsets
        loss += self.offset_ridge * float(offsets @ offsets)
        for first, second, gaps, to_first, to_second in self.blocks:
            measured = self.measure(by_axis.take(first, axis=1).T, by_axis.take(second, axis=1).T)
            errors = measured.values - gaps  # noqa: PD011
            if self.has_offsets:
                errors += offsets[first] + offsets[second]
            slopes = 2 * errors
            gradient += to_first @ (slopes[:, None] * measured.by_first)
            gradient += to_second @ (slopes[:, None] * measured.by_second)
            loss += float(errors @ errors)
            if self.has_offsets:
                by_offset += to_first @ slopes + to_second @ slopes
        if not self.has_offsets:
            return loss, gradient.ravel()
        return loss, np.concatenate([gradient.ravel(), by_offset])


def _make_sums(places: IntArray, points: int) -> csr_array:
    """The matrix that adds up rows of results at their points."""
    count = len(places)
    return csr_array((np.ones(count), (places, np.arange(count))), shape=(points, count))


def tabulate_fits(fits: Sequence[Embedding], results: Results) -> pd.DataFrame:
    """Make one table of fits of the same results.

    Parameters
    ----------
    fits : sequence of Embedding
        Their order is kept.
    results : Results
        What they were fitted to, for the names.

    Returns
    -------
    DataFrame
        fit (from 0), the fields of its method (distance, ridge, offset_ridge, NaN for none, and
        iterations), loss, kind (model or dataset), name, offset, and z1 … zk: coordinates of the
        distance, as they were fitted. Models come first, each kind in the order of `Results`.
    """
    parts = [_tabulate_fit(fit, number, results) for number, fit in enumerate(fits)]
    return pd.concat(parts, ignore_index=True)


def restore_fits(table: pd.DataFrame) -> list[Embedding]:
    """Make the fits of a table of `tabulate_fits`; points are in the order of its `Results`."""
    return [_restore_fit(part) for _, part in table.groupby("fit", sort=True)]


def tabulate_positions(fit: Embedding, results: Results) -> pd.DataFrame:
    """Where models and datasets stand.

    Parameters
    ----------
    fit : Embedding
        Fitted to the results.
    results : Results
        For names and components.

    Returns
    -------
    DataFrame
        kind (model or dataset), name, component (from 1; distances between two components mean
        nothing), offset, centrality (see `measure_centrality`) and x1 … xk, a row per model by
        name, then per dataset by name.

    Notes
    -----
    Coordinates are those of `settle_points`; for "poincare" points of the ball, for "cosine" of the
    unit sphere.
    """
    distance = fit.method.distance
    settled = settle_points(_join_points(fit), distance=distance)
    components = np.concatenate(list_components(results))
    centrality = measure_centrality(settled, components, distance=distance)
    shown = enter_ball(settled) if distance == "poincare" else settled
    table = _tabulate_points(fit, results, shown, letter="x")
    table.insert(2, "component", components)
    table.insert(4, "centrality", centrality)
    return table


def name_coordinates(dimension: int, *, letter: str) -> list[str]:
    """Name the columns of coordinates.

    Examples
    --------
    >>> name_coordinates(3, letter="x")
    ['x1', 'x2', 'x3']
    """
    return [f"{letter}{axis}" for axis in range(1, dimension + 1)]


def _tabulate_fit(fit: Embedding, number: int, results: Results) -> pd.DataFrame:
    points = _tabulate_points(fit, results, _join_points(fit), letter="z")
    method = asdict(fit.method)
    method["offset_ridge"] = np.nan if fit.method.offset_ridge is None else fit.method.offset_ridge
    header = pd.DataFrame({"fit": number, **method, "loss": fit.loss}, index=points.index)
    return pd.concat([header, points], axis=1)


def _tabulate_points(
    fit: Embedding, results: Results, points: FloatArray, *, letter: str
) -> pd.DataFrame:
    kinds = ["model"] * len(results.models) + ["dataset"] * len(results.datasets)
    table = pd.DataFrame({"kind": kinds, "name": [*results.models, *results.datasets]})
    table["offset"] = np.concatenate([fit.model_offsets, fit.dataset_offsets])
    columns = name_coordinates(points.shape[1], letter=letter)
    return pd.concat([table, pd.DataFrame(points, columns=columns)], axis=1)


def _join_points(fit: Embedding) -> FloatArray:
    return np.concatenate([fit.models, fit.datasets])


def _restore_fit(table: pd.DataFrame) -> Embedding:
    is_model = (table["kind"] == "model").to_numpy()
    points = table.loc[:, "z1":].to_numpy(dtype=float)
    offsets = table["offset"].to_numpy(dtype=float)
    first = table.iloc[0]
    method = Method(
        distance=str(first["distance"]),
        ridge=float(first["ridge"]),
        offset_ridge=None if pd.isna(first["offset_ridge"]) else float(first["offset_ridge"]),
        iterations=int(first["iterations"]),
    )
    return Embedding(
        method=method,
        models=points[is_model],
        datasets=points[~is_model],
        model_offsets=offsets[is_model],
        dataset_offsets=offsets[~is_model],
        loss=float(first["loss"]),
    )


def embed_models(
    gaps: pd.DataFrame, *, study: str, method: str, dimension: int, n_starts: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Embed models and datasets, from several starts.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The table ``positions``, of the best fit, and the file ``fits``.
    """
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    found = fit_starts(results, METHODS[method], starts=starts)
    return {
        "positions": tabulate_positions(found[0], results),
        "fits": tabulate_fits(found, results),
    }
