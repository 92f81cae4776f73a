"""Scores where models lack datasets: what the two-way pattern of the others leads one to expect."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.errors import ValidationError
from capmap.ranking.aggregation import BoolArray, FloatArray
from capmap.wording import count_things, list_names

# Eigenvalues below this part of the largest are rounding.
SINGULAR = 1e-12


@dataclass(frozen=True)
class Effects:
    """How datasets differ, from an additive model of cells.

    Parameters
    ----------
    datasets : mapping of str to float
        Effect of each dataset: how much higher scores are there; their mean is 0.
    variance : float or None
        Variance of cells about the additive pattern; None where it cannot be estimated.
    freedom : float
        Its degrees of freedom, 0 where it cannot be estimated.
    models : mapping of str to int
        How many models have each dataset.
    """

    datasets: Mapping[str, float]
    variance: float | None
    freedom: float
    models: Mapping[str, int]

    def predict_variance(self, names: Collection[str]) -> float:
        """Variance of a cell about its expected score on some datasets, but for the model's level.

        Their effects are those of the models that have them, of which each adds its own cell.
        """
        variance = np.nan if self.variance is None else self.variance
        return variance * (1 + float(np.mean([1 / self.models[name] for name in names])))

    def fill(self, means: Mapping[str, float]) -> dict[str, float]:
        """Expected scores of a model on the datasets that it lacks, by the means that it has.

        None leaves the scale from 0 to 1, unless a mean of the model itself does.
        """
        level = float(np.mean([mean - self.datasets[name] for name, mean in means.items()]))
        low, high = min(0.0, *means.values()), max(1.0, *means.values())
        return {
            name: min(max(level + effect, low), high)
            for name, effect in self.datasets.items()
            if name not in means
        }


def fit_effects(cells: pd.DataFrame) -> Effects | None:
    """Fit models and datasets as additive effects to the cells that have runs.

    None where no cell is empty. Groups of models without a common dataset raise ValidationError.

    Least squares of ``mean = model + dataset``, cells of equal weight: the two-way layout with
    missing observations (Yates 1933). A missing cell is expected at the fitted value.

    Examples
    --------
    >>> cells = pd.DataFrame(
    ...     {"model": ["a", "a", "b"], "dataset": ["x", "y", "x"], "mean": [0.5, 0.7, 0.4]}
    ... )
    >>> effects = fit_effects(cells)
    >>> {name: round(effect, 6) for name, effect in effects.datasets.items()}
    {'x': -0.1, 'y': 0.1}
    >>> round(effects.fill({"x": 0.4})["y"], 6)
    0.6
    """
    table = cells.pivot_table(index="model", columns="dataset", values="mean", observed=True)
    means = table.to_numpy(dtype=np.float64)
    filled = ~np.isnan(means)
    if filled.all():
        return None
    require_connected(table.notna())
    fitted, *_ = fit_levels(means, np.zeros(means.shape), filled)
    effects = fitted[0] - fitted[0].mean()
    freedom = int(filled.sum()) - sum(means.shape) + 1
    squares = float(((means - fitted)[filled] ** 2).sum())
    return Effects(
        datasets=dict(zip([*table], effects.tolist(), strict=True)),
        variance=squares / freedom if freedom > 0 else None,
        freedom=float(freedom),
        models=dict(zip([*table], filled.sum(axis=0).tolist(), strict=True)),
    )


def fit_levels(
    means: FloatArray, noise: FloatArray, filled: BoolArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Least squares of a level for each model and each dataset, from the filled cells.

    Returned are the fitted values of all cells, their leverages, and the variances of the fitted
    values, from those of the cells' means (0 for empty cells). Of the normal equations only what
    the longer axis leaves of those of the shorter one is inverted (Schur's complement).
    """
    if filled.shape[1] > filled.shape[0]:
        fitted, leverage, spread = fit_levels(means.T, noise.T, filled.T)
        return fitted.T, leverage.T, spread.T
    cells = filled.sum(axis=1, keepdims=True)
    shares = filled / cells
    left = np.diag(filled.sum(axis=0)) - shares.T @ filled
    inverse = np.linalg.pinv(left, rcond=SINGULAR, hermitian=True)
    scores = np.where(filled, means, 0)
    rows = scores.sum(axis=1, keepdims=True) / cells
    columns = inverse @ (scores - filled * rows).sum(axis=0)
    fitted = rows - (shares @ columns)[:, None] + columns
    totals, crossed = noise.sum(axis=1, keepdims=True), noise.T @ shares
    moved = np.diag(noise.sum(axis=0)) - crossed - crossed.T
    moved += shares.T @ (totals * shares)
    common = (noise - totals * shares) @ inverse
    common -= (common * shares).sum(axis=1, keepdims=True)
    spread = (totals / cells + 2 * common) / cells
    spread += _read_form(inverse @ moved @ inverse, shares)
    return fitted, 1 / cells + _read_form(inverse, shares), spread


def _read_form(matrix: FloatArray, shares: FloatArray) -> FloatArray:
    """Form u'Mu of each cell, whose u is one in its column, less the shares of its row."""
    crossed = shares @ matrix
    return np.asarray(np.diag(matrix) - 2 * crossed + (crossed * shares).sum(axis=1, keepdims=True))


def require_connected(filled: pd.DataFrame) -> None:
    """Raise ValidationError if no chain of common datasets links some models with the others."""
    cells = filled.to_numpy()
    linked = cells[0]
    for _ in cells:
        linked = cells[cells[:, linked].any(axis=1)].any(axis=0)
    apart = [model for model, own in zip(filled.index, cells, strict=True) if not own[linked].any()]
    if apart:
        raise ValidationError(
            f"incomplete: adjust cannot compare {count_things(len(apart), 'model')} with the "
            f"others, as no chain of common datasets links them: {list_names(apart)}. Add runs on "
            "common datasets, leave these models out with select, or raise min_datasets."
        )


def find_ranked(cells: pd.DataFrame, min_datasets: str | float) -> list[str]:
    """Models with enough datasets to be ranked.

    Of more datasets than there are, all are needed.

    Examples
    --------
    >>> cells = pd.DataFrame({"model": [*"aaab"], "dataset": [*"xyzx"]})
    >>> find_ranked(cells, 0.5), find_ranked(cells, 1)
    (['a'], ['a', 'b'])
    """
    total = cells["dataset"].nunique()
    needed: float = total
    if min_datasets != "all":
        share = float(min_datasets)
        needed = min(share, total) if share >= 1 else math.ceil(round(share * total, 9))
    counts = cells.groupby("model", observed=True)["dataset"].nunique()
    return [str(model) for model in counts.index[counts >= needed]]
