"""Which models and datasets are analysed."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.settings.choices import Direction, Incomplete
from capmap.wording import count_things, list_names

Bound: TypeAlias = float | Literal["observed", "natural"] | Mapping[str, str]
TransformRule: TypeAlias = Mapping[str, Mapping[str, float]]
Selection: TypeAlias = Literal["all"] | list[str] | Mapping[str, list[str]]

FloatArray = npt.NDArray[np.float64]
DROPPED = ("kind", "name", "reason")
MOST_VALUES = 5
FEWEST_OUTCOMES = 20


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


def select_runs(
    runs: pd.DataFrame, *, models: Selection = "all", datasets: Selection = "all"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Keep the runs of the selected models and datasets.

    Parameters
    ----------
    runs : DataFrame
        With the columns model and dataset.
    models, datasets : "all", list of str, or mapping
        Names to keep; a mapping has the names to keep as ``include``, the names to leave out as
        ``exclude``, or both.

    Returns
    -------
    selected : DataFrame
        The rows that are kept, in their order.
    dropped : DataFrame
        kind ("model" or "dataset"), name and reason of what was left out, by kind and name.
    """
    dropped = []
    keep = np.ones(len(runs), dtype=bool)
    for kind, selection in (("model", models), ("dataset", datasets)):
        reasons = _find_unselected(runs[kind].unique(), selection, option=f"select.{kind}s")
        keep &= ~runs[kind].isin(list(reasons)).to_numpy(dtype=bool)
        dropped += [(kind, name, reason) for name, reason in sorted(reasons.items())]
    return runs if keep.all() else runs[keep], list_dropped(dropped)


def leave_out(
    runs: pd.DataFrame, kind: Literal["model", "dataset"], names: Collection[str]
) -> pd.DataFrame:
    """Leave out the runs of some models or datasets."""
    return runs[~runs[kind].isin(list(names))] if names else runs


def drop_incomplete(runs: pd.DataFrame, *, policy: Incomplete) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leave out models or datasets with empty cells.

    Parameters
    ----------
    runs : DataFrame
        With the columns model and dataset.
    policy : {"error", "drop_models", "drop_datasets", "adjust"}
        What to leave out. "error" and "adjust" leave all runs in; validation has stopped the first.

    Returns
    -------
    complete : DataFrame
        The rows that are kept, in their order.
    dropped : DataFrame
        kind, name and reason of what was left out, by name.

    Notes
    -----
    A model is complete when it has a run on each dataset that any model has a run on; the same
    for datasets. Models are dropped all at once, not one by one, so no order matters.
    """
    if policy in ("error", "adjust"):
        return runs, list_dropped([])
    kind: Literal["model", "dataset"]
    kind, other = ("model", "dataset") if policy == "drop_models" else ("dataset", "model")
    counts = count_runs(runs)
    missing = find_missing(counts if kind == "model" else counts.T)
    reasons = [
        (kind, name, f"No runs for {count_things(len(holes), other)}: {list_names(holes)}.")
        for name, holes in missing.items()
    ]
    return leave_out(runs, kind, missing), list_dropped(reasons)


def list_dropped(rows: Iterable[tuple[str, str, str]]) -> pd.DataFrame:
    """Make the table of what was left out: kind, name, reason."""
    return pd.DataFrame(list(rows), columns=list(DROPPED), dtype="str")


def count_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Count the runs of each cell.

    Returns
    -------
    DataFrame
        A row per model and a column per dataset, both by name; 0 where a cell is empty.
    """
    row, models = pd.factorize(runs["model"], sort=True)
    column, datasets = pd.factorize(runs["dataset"], sort=True)
    shape = (len(models), len(datasets))
    counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
    return pd.DataFrame(counts.reshape(shape), index=models, columns=datasets)


def are_outcomes(scores: "pd.Series[float]") -> bool:
    """Whether scores, at least 20, have at most five values, 0 and 1 among them."""
    values = set(scores.unique())
    is_outcome = len(values) <= MOST_VALUES and {0.0, 1.0} <= values
    return is_outcome and len(scores) >= FEWEST_OUTCOMES


def find_missing(counts: pd.DataFrame) -> dict[str, list[str]]:
    """List, for each row of a table of counts that has zeros, the columns where they are."""
    empty = counts.to_numpy() == 0
    return {
        str(name): counts.columns[holes].tolist()
        for name, holes in zip(counts.index, empty, strict=True)
        if holes.any()
    }


def _find_unselected(names: Iterable[str], selection: Selection, *, option: str) -> dict[str, str]:
    if selection == "all":
        return {}
    if isinstance(selection, Mapping):
        excluded = {*selection["exclude"]}
        return {name: f"Excluded by {option}." for name in names if name in excluded}
    return {name: f"Not included by {option}." for name in names if name not in {*selection}}
