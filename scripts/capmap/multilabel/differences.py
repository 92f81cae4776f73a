"""Differences of metrics between models and between datasets, with intervals over images."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray
from capmap.bootstrap.intervals import take_percentiles
from capmap.multilabel.labels import Int64Array
from capmap.multilabel.metrics import MakeRng, bound_sample, frame_rows, list_samples
from capmap.multilabel.outcomes import ImageValues
from capmap.multilabel.samples import LEFT_OUT, Sample, resample_strata

DIFFERENCES = {
    "metric": "str",
    "subgroup": "Int64",
    "difference": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "images": "int64",
}
DEGRADATION = {
    "metric": "str",
    "subgroup": "Int64",
    "value_a": "float64",
    "value_b": "float64",
    "difference": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "images_a": "int64",
    "images_b": "int64",
    "images_shared": "int64",
}


class Shared(NamedTuple):
    """Images that two datasets share.

    Parameters
    ----------
    first, second : numpy.ndarray of int64, shape (shared,)
        Places of the shared images in each dataset.
    """

    first: Int64Array
    second: Int64Array


def match_images(first: Sequence[str], second: Sequence[str]) -> Shared:
    """Find the images that two datasets share, by their ids.

    Parameters
    ----------
    first, second : sequence of str
        Ids of the images of each dataset, each once; images without an id (an empty string) are
        shared with none.

    Returns
    -------
    Shared
        In the order of the first dataset.

    Examples
    --------
    >>> shared = match_images(["a", "b", ""], ["", "c", "a"])
    >>> shared.first.tolist(), shared.second.tolist()
    ([0], [2])
    """
    places = {name: place for place, name in enumerate(second) if name}
    found = [(place, places[name]) for place, name in enumerate(first) if name in places]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return Shared(pairs[:, 0], pairs[:, 1])


def compare_models(
    first: ImageValues,
    second: ImageValues,
    *,
    subgroups: Sequence[int],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Compare two models on the same images.

    Parameters
    ----------
    first, second : ImageValues
        Values of both models on the same images in the same order.
    subgroups, n_resamples, confidence_level, make_rng
        As in `capmap.multilabel.metrics.estimate_metrics`.

    Returns
    -------
    pandas.DataFrame
        Rows as in `estimate_metrics`: ``metric``, ``subgroup``, ``difference`` (first less second),
        ``ci_low``, ``ci_high`` and ``images``.

    Raises
    ------
    ValueError
        If the models were scored against different labels.

    Notes
    -----
    Both models keep an image together: what is resampled is each image's difference.
    """
    if not np.array_equal(first.labels, second.labels):
        raise ValueError("Only models that are scored on the same images can be compared.")
    apart = ImageValues(
        first.labels, {name: own - second.metrics[name] for name, own in first.metrics.items()}
    )
    rows = []
    for target, sample in list_samples(apart, subgroups):
        low, high = bound_sample(sample, n_resamples, confidence_level, make_rng(*target.names))
        rows.append((*target, sample.estimate(), low, high, sample.images))
    return frame_rows(rows, DIFFERENCES)


def compare_datasets(
    first: ImageValues,
    second: ImageValues,
    *,
    shared: Shared,
    subgroups: Sequence[int],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Compare a model's metrics on two datasets.

    Parameters
    ----------
    first, second : ImageValues
        Values of the same model, or means of the same models, on the images of each dataset.
    shared : Shared
        The images that both datasets have, from `match_images`.
    subgroups, n_resamples, confidence_level, make_rng
        As in `capmap.multilabel.metrics.estimate_metrics`.

    Returns
    -------
    pandas.DataFrame
        Rows as in `estimate_metrics`, for metrics and subgroups that both datasets have:
        ``metric``, ``subgroup``, ``value_a``, ``value_b``, ``difference`` (first less second),
        ``ci_low``, ``ci_high``, ``images_a``, ``images_b`` and ``images_shared`` (images on which
        both values rest).

    Notes
    -----
    Both values are those of the whole datasets. Images that both rest on are drawn together, which
    makes the difference paired; images of one dataset only are drawn on their own. So datasets with
    the same images are compared image by image, datasets without a common one as independent, and
    anything between accordingly. ASMA of each dataset is over its own subgroups, and its images are
    drawn within each pair of numbers of labels in both. There is no interval where one value rests
    on fewer than two images.
    """
    others = dict(list_samples(second, subgroups))
    rows = []
    for target, sample in list_samples(first, subgroups):
        if target not in others:
            continue
        other = others[target]
        joined = _join_samples(sample, other, shared)
        one, two = sample.estimate(), other.estimate()
        low, high = np.nan, np.nan
        if min(sample.images, other.images) > 1:
            replicates = _resample_difference(joined, n_resamples, make_rng(*target.names))
            low, high = take_percentiles(replicates, confidence_level=confidence_level)
        both = np.count_nonzero((joined.strata != LEFT_OUT).all(axis=0))
        rows.append((*target, one, two, one - two, low, high, sample.images, other.images, both))
    return frame_rows(rows, DEGRADATION)


class _Joined(NamedTuple):
    """Every image of two datasets once, with its numbers and strata in both, shape (2, images)."""

    numbers: FloatArray
    strata: Int64Array


def _join_samples(first: Sample, second: Sample, shared: Shared) -> _Joined:
    is_other = np.ones(len(second.numbers), dtype=bool)
    is_other[shared.second] = False
    size = len(first.numbers) + int(is_other.sum())
    places = np.empty(len(second.numbers), dtype=np.int64)
    places[shared.second] = shared.first
    places[is_other] = np.arange(len(first.numbers), size)
    numbers, strata = np.zeros((2, size)), np.full((2, size), LEFT_OUT)
    for row, own, sample in ((0, np.arange(len(first.numbers)), first), (1, places, second)):
        is_used = sample.strata != LEFT_OUT
        numbers[row, own[is_used]] = sample.numbers[is_used]
        strata[row, own] = sample.strata
    return _Joined(numbers, strata)


def _resample_difference(joined: _Joined, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Replicates of the first metric less the second, images drawn within pairs of strata."""
    is_used = (joined.strata != LEFT_OUT).any(axis=0)
    strata, numbers = joined.strata[:, is_used], joined.numbers[:, is_used]
    codes = (strata[0] + 1) * (strata[1].max() + 2) + strata[1] + 1
    _, codes, sizes = np.unique(codes, return_inverse=True, return_counts=True)
    parts = []
    for row, own in zip(numbers, strata, strict=True):
        images = np.bincount(own[own != LEFT_OUT])
        # A pair of strata contributes the sum of its images to the mean of a stratum's mean.
        weights = sizes[codes] / (len(images) * images[own])
        parts.append(row * np.where(own == LEFT_OUT, 0, weights))
    drawn = resample_strata(parts[0] - parts[1], codes, n_resamples=n_resamples, rng=rng)
    return np.asarray(drawn.sum(axis=0))
