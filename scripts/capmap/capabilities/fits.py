"""Fits as tables: where everything stands, and all fits of the same results to go on with."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray
from capmap.capabilities.alignment import measure_centrality, settle_points
from capmap.capabilities.distances import enter_ball
from capmap.capabilities.embedding import Embedding, Method
from capmap.capabilities.results import Results, list_components


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
    """Tell where models and datasets stand.

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
