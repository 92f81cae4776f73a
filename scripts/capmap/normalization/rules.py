"""Configured rules of bounds, and named conversions of raw scores before bounds apply."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.settings.choices import Direction

Bound: TypeAlias = float | Literal["observed", "natural"] | Mapping[str, str]
TransformRule: TypeAlias = Mapping[str, Mapping[str, float]]
Selection: TypeAlias = Literal["all"] | list[str] | Mapping[str, list[str]]

FloatArray = npt.NDArray[np.float64]


class MetricRule(TypedDict, total=False):
    """What is configured for a metric."""

    direction: Direction
    low: Bound
    high: Bound


class DatasetRule(MetricRule, total=False):
    """What is configured for a dataset."""

    metric: str
    transform: TransformRule


class Normalization(TypedDict, total=False):
    """What is configured for every dataset without rules of its own."""

    low: Bound
    high: Bound
    references: str


class Select(TypedDict, total=False):
    """What is configured to be analysed."""

    models: Selection
    datasets: Selection


@dataclass(frozen=True)
class Transform:
    """A conversion of errors into scores.

    Parameters
    ----------
    convert : callable
        Maps raw scores to converted ones. It is decreasing: the lower error is the higher score.
    direction : {"max", "min"}
        Which converted score is better.
    low, high : float
        The natural bounds of converted scores.
    """

    convert: Callable[..., FloatArray]
    direction: Direction
    low: float
    high: float


def scale_rmse(error: npt.ArrayLike, *, std: float) -> FloatArray:
    """Map an error r to 1 − r · std, so that higher is better.

    Parameters
    ----------
    error : array_like
        Errors, in the unit of the target.
    std : float
        Factor in 1 / unit of the error, positive; usually 1 / (spread of the target).

    Returns
    -------
    ndarray
        Scores without unit; 1 where the error is 0.

    Notes
    -----
    The natural bounds of the result are 0 and 1: it is 0 where the error reaches 1 / std, the
    unit that the transform declares. A worse error gives a negative score.

    Examples
    --------
    >>> scale_rmse([0.0, 0.2, 4.0], std=0.25).tolist()
    [1.0, 0.95, 0.0]
    """
    return 1.0 - np.asarray(error, dtype=np.float64) * std


TRANSFORMS = {"scale_rmse": Transform(convert=scale_rmse, direction="max", low=0.0, high=1.0)}


def find_transform(rule: TransformRule | None) -> Transform | None:
    """Find the transform that a dataset's rule names, or None."""
    return TRANSFORMS[next(iter(rule))] if rule else None


def convert_scores(scores: npt.ArrayLike, rule: TransformRule) -> FloatArray:
    """Apply the transform of a rule such as ``{"scale_rmse": {"std": 0.25}}``."""
    name, options = next(iter(rule.items()))
    return TRANSFORMS[name].convert(scores, **options)


def convert_bounds(
    low: Bound | None, high: Bound | None, rule: TransformRule
) -> tuple[Bound | None, Bound | None]:
    """Carry bounds of raw scores over to converted scores.

    Notes
    -----
    A transform is decreasing, so low and high change places. Bounds that are not numbers are
    measured on converted scores later and only change places.
    """

    def convert(bound: Bound | None) -> Bound | None:
        return float(convert_scores(bound, rule)) if isinstance(bound, int | float) else bound

    return convert(high), convert(low)


def apply_transforms(runs: pd.DataFrame, datasets: Mapping[str, DatasetRule]) -> pd.DataFrame:
    """Convert the scores of the datasets whose rule names a transform.

    Parameters
    ----------
    runs : DataFrame
        With the columns dataset and score.
    datasets : mapping
        Rules of datasets.

    Returns
    -------
    DataFrame
        The runs in their order, with converted scores.
    """
    score = runs["score"].to_numpy(dtype=np.float64, copy=True)
    for dataset, rule in datasets.items():
        if transform := rule.get("transform"):
            rows = (runs["dataset"] == dataset).to_numpy(dtype=bool)
            score[rows] = convert_scores(score[rows], transform)
    return runs.assign(score=score)
