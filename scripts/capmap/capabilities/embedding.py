"""Multidimensional unfolding: points for models and datasets whose distances come near the gaps."""

from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.sparse import csr_array

from capmap.capabilities.gaps import Results, choose_results, list_components
from capmap.capabilities.maps import DISTANCES, enter_ball, measure_centrality, settle_points
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

SPREAD = 0.3
TOLERANCE = 1e-2
# Results that are looked at together, which fit into the cache of a processor.
BLOCK = 4096


@dataclass(frozen=True)
class Method:
    """What is fitted to the gaps.

    Parameters
    ----------
    distance : {"l2", "cosine", "poincare"}
        Between a model and a dataset.
    ridge : float
        Weight of the squared coordinates, in results: 1 weighs as much as one result.
    iterations : int
        Most iterations of the fit.
    """

    distance: str
    ridge: float = 0.0
    iterations: int = 300


METHODS = {
    "l2_ridge": Method("l2", ridge=0.5, iterations=150),
    "l2": Method("l2"),
    "cosine": Method("cosine"),
    "poincare": Method("poincare"),
}


@dataclass(frozen=True)
class Embedding:
    """Points of models and datasets.

    Parameters
    ----------
    method : Method
        What was fitted.
    models, datasets : ndarray, shape (models, dimension) and (datasets, dimension)
        Points, in coordinates of the distance.
    loss : float
        Mean squared error of the gaps, and the penalty divided by the number of results.
    """

    method: Method
    models: FloatArray
    datasets: FloatArray
    loss: float

    @property
    def distance(self) -> str:
        """Name of the distance between points."""
        return self.method.distance

    def predict(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """Predict the gaps of some pairs of model and dataset, by their places."""
        found, *_ = DISTANCES[self.distance](self.models[rows], self.datasets[columns])
        return found


def draw_start(
    results: Results, *, dimension: int, seed: int, study: str, number: int = 0
) -> FloatArray:
    """Draw where the points start, each from the random stream of its name.

    Parameters
    ----------
    results : Results
        For its names.
    dimension : int
        Number of coordinates.
    seed : int
        Seed of the study's random streams.
    study : str
        Name of the study.
    number : int
        Of the start.

    Returns
    -------
    ndarray, shape (models + datasets, dimension)
        Normal with standard deviation 0.3. A point starts at the same place whatever others there
        are, and fewer dimensions are the first of more.
    """
    names = [("model", name) for name in results.models]
    names += [("dataset", name) for name in results.datasets]
    streams = (make_stream(seed, study, "capabilities", str(number), *name) for name in names)
    return SPREAD * np.array([stream.normal(size=dimension) for stream in streams])


def fit_embedding(results: Results, method: Method, *, start: FloatArray) -> Embedding:
    """Place models and datasets so that distances come near the gaps.

    Parameters
    ----------
    results : Results
        At least one.
    method : Method
        What is fitted.
    start : ndarray, shape (models + datasets, dimension)
        Where the points start.

    Returns
    -------
    Embedding
        A local minimum of Σ (distance − gap)² + penalty, up to a gradient of 0.01.

    Notes
    -----
    Time and memory grow with results × dimension, not with models × datasets. A point without
    results stays where it started, or at the origin with a penalty.
    """
    models = len(results.models)
    found = minimize(
        _Loss(results, method, shape=start.shape),
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": method.iterations,
            "maxfun": 2 * method.iterations,
            "gtol": TOLERANCE,
        },
    )
    points = found.x.reshape(start.shape)
    return Embedding(method, points[:models], points[models:], float(found.fun) / len(results.gaps))


class _Loss:
    """Squared errors and penalties, with their gradient, at a vector of all coordinates."""

    def __init__(self, results: Results, method: Method, *, shape: tuple[int, ...]) -> None:
        self.measure = DISTANCES[method.distance]
        self.shape, self.ridge = shape, method.ridge
        ends = range(BLOCK, len(results.gaps), BLOCK)
        columns = len(results.models) + results.columns
        self.blocks = [
            (first, second, gaps, _make_sums(first, shape[0]), _make_sums(second, shape[0]))
            for first, second, gaps in zip(
                *(np.split(own, ends) for own in (results.rows, columns, results.gaps)),
                strict=True,
            )
        ]

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        positions = parameters.reshape(self.shape)
        # One coordinate after the other is several times faster than one point after the other.
        by_axis = np.ascontiguousarray(positions.T)
        gradient = (2 * self.ridge) * positions
        loss = self.ridge * float(np.vdot(positions, positions))
        for first, second, gaps, to_first, to_second in self.blocks:
            measured = self.measure(by_axis.take(first, axis=1).T, by_axis.take(second, axis=1).T)
            errors = measured.values - gaps  # noqa: PD011
            slopes = 2 * errors
            gradient += to_first @ (slopes[:, None] * measured.by_first)
            gradient += to_second @ (slopes[:, None] * measured.by_second)
            loss += float(errors @ errors)
        return loss, gradient.ravel()


def _make_sums(places: IntArray, points: int) -> csr_array:
    """The matrix that adds up rows of results at their points."""
    count = len(places)
    return csr_array((np.ones(count), (places, np.arange(count))), shape=(points, count))


def tabulate_fit(fit: Embedding, results: Results) -> pd.DataFrame:
    """Make a table of a fit.

    Parameters
    ----------
    fit : Embedding
        Fitted to the results.
    results : Results
        For the names.

    Returns
    -------
    DataFrame
        distance, ridge, iterations and loss of the fit, kind (model or dataset), name, and z1 … zk:
        coordinates of the distance, as they were fitted. Models come first, each kind in the order
        of `Results`.
    """
    points = _tabulate_points(results, np.concatenate([fit.models, fit.datasets]), letter="z")
    header = pd.DataFrame({**asdict(fit.method), "loss": fit.loss}, index=points.index)
    return pd.concat([header, points], axis=1)


def restore_fit(table: pd.DataFrame) -> Embedding:
    """Make the fit of a table of `tabulate_fit`; points are in the order of its `Results`."""
    is_model = (table["kind"] == "model").to_numpy()
    points = table.loc[:, "z1":].to_numpy(dtype=float)
    first = table.iloc[0]
    method = Method(str(first["distance"]), float(first["ridge"]), int(first["iterations"]))
    return Embedding(method, points[is_model], points[~is_model], float(first["loss"]))


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
        nothing), centrality (see `measure_centrality`) and x1 … xk, a row per model by name, then
        per dataset by name.

    Notes
    -----
    Coordinates are those of `settle_points`; for "poincare" points of the ball, for "cosine" of the
    unit sphere.
    """
    points = np.concatenate([fit.models, fit.datasets])
    settled = settle_points(points, distance=fit.distance)
    components = np.concatenate(list_components(results))
    shown = enter_ball(settled) if fit.distance == "poincare" else settled
    table = _tabulate_points(results, shown, letter="x")
    table.insert(2, "component", components)
    centrality = measure_centrality(settled, components, distance=fit.distance)
    table.insert(3, "centrality", centrality)
    return table


def name_coordinates(dimension: int, *, letter: str) -> list[str]:
    """Name the columns of coordinates.

    Examples
    --------
    >>> name_coordinates(3, letter="x")
    ['x1', 'x2', 'x3']
    """
    return [f"{letter}{axis}" for axis in range(1, dimension + 1)]


def _tabulate_points(results: Results, points: FloatArray, *, letter: str) -> pd.DataFrame:
    kinds = ["model"] * len(results.models) + ["dataset"] * len(results.datasets)
    table = pd.DataFrame({"kind": kinds, "name": [*results.models, *results.datasets]})
    columns = name_coordinates(points.shape[1], letter=letter)
    return pd.concat([table, pd.DataFrame(points, columns=columns)], axis=1)


def embed_models(
    gaps: pd.DataFrame, *, study: str, method: str, dimension: int, seed: int
) -> dict[str, pd.DataFrame]:
    """Make the table ``positions`` and the file ``fits`` of a study."""
    results = choose_results(gaps)
    start = draw_start(results, dimension=dimension, seed=seed, study=study)
    found = fit_embedding(results, METHODS[method], start=start)
    return {
        "positions": tabulate_positions(found, results),
        "fits": tabulate_fit(found, results),
    }
