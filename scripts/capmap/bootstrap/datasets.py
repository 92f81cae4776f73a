"""Draws of datasets that all models of a study share."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from capmap.aggregation import IntArray


@dataclass(frozen=True)
class DatasetPool:
    """The datasets of a study, for resampling them together for all its models.

    Parameters
    ----------
    names : sequence of str
        All datasets of the study, whether or not a model has runs on them.
    rng : numpy.random.Generator
        A fresh generator of the study's stream of dataset draws: the same for each model, so that
        the n-th replicates of all models rest on the same datasets.
    """

    names: Sequence[str]
    rng: np.random.Generator


def draw_datasets(
    own: Sequence[str], *, pool: DatasetPool, n_resamples: int, rng: np.random.Generator
) -> IntArray:
    """Draw datasets with replacement from those of the study.

    Parameters
    ----------
    own : sequence of str
        The datasets that a model has.
    pool : DatasetPool
        The datasets to draw from; its generator moves on.
    n_resamples : int
        Number of resamples. Several calls in a row draw the same as one.
    rng : numpy.random.Generator
        The model's own stream.

    Returns
    -------
    numpy.ndarray of int, shape (len(own), n_resamples)
        How often each of the model's datasets is in each resample, once or more in all.

    Raises
    ------
    ValueError
        If a dataset of the model is not among those of the study.

    Notes
    -----
    Each resample draws as many datasets as the study has. Those that the model lacks are passed
    over. If none is left, as many as the model has are drawn from its own, by its own stream.
    """
    missing = sorted(set(own) - set(pool.names))
    if missing:
        raise ValueError(f"Datasets that are not among those of the study: {missing}.")
    names = sorted(set(pool.names))
    places = np.array([bisect_left(names, name) for name in own])
    picks = pool.rng.integers(len(names), size=(n_resamples, len(names)))
    times: IntArray = _count_picks(picks, len(names))[places]
    empty = np.flatnonzero(~times.any(axis=0))
    picks = rng.integers(len(own), size=(len(empty), len(own)))
    times[:, empty] = _count_picks(picks, len(own))
    return times


def _count_picks(picks: IntArray, n: int) -> IntArray:
    """How often each of n things is among the picks of each row, shape (n, rows)."""
    rows = len(picks)
    flat = picks * rows + np.arange(rows)[:, None]
    counts: IntArray = np.bincount(flat.ravel(), minlength=n * rows).reshape(n, rows)
    return counts
