"""Means over images, plain or over subgroups, and bootstrap replicates of them.

Images are resampled by their values: how often each of the distinct values is drawn is multinomial,
so a resample of 50 000 images costs as much as there are distinct values.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capmap.aggregation import FloatArray
from capmap.multilabel.labels import Int64Array

BLOCK_CELLS = 1 << 20
DRAWS_PER_COUNT = 20
LEFT_OUT = -1


@dataclass(frozen=True)
class Sample:
    """The images that a metric rests on.

    Parameters
    ----------
    numbers : numpy.ndarray, shape (images,)
        Value of each image, of all images of the dataset; NaN where it is unknown.
    strata : numpy.ndarray of int64, shape (images,)
        The stratum of each image: 0, 1, … without a gap, or −1 where the image is left out. The
        metric is the mean over the strata of the mean over their images.
    """

    numbers: FloatArray
    strata: Int64Array

    @property
    def images(self) -> int:
        """How many images are not left out."""
        return int(np.count_nonzero(self.strata != LEFT_OUT))

    @property
    def is_known(self) -> bool:
        """Whether all images that are not left out have a value."""
        return not np.isnan(self.numbers[self.strata != LEFT_OUT]).any()

    def estimate(self) -> float:
        """The metric itself."""
        is_used = self.strata != LEFT_OUT
        parts = _split_strata(self.numbers[is_used], self.strata[is_used])
        return float(np.mean([part[0] + (part - part[0]).mean() for part in parts]))

    def resample(self, n_resamples: int, rng: np.random.Generator) -> FloatArray:
        """Replicates of the metric from images drawn within each stratum, shape (n_resamples,)."""
        is_used = self.strata != LEFT_OUT
        drawn = resample_strata(
            self.numbers[is_used], self.strata[is_used], n_resamples=n_resamples, rng=rng
        )
        return np.asarray(drawn.mean(axis=0))


def choose_all(values: FloatArray, is_meant: npt.NDArray[np.bool_]) -> Sample:
    """The images that a metric is meant for, as one stratum."""
    return Sample(values, np.where(is_meant, 0, LEFT_OUT))


def choose_subgroups(values: FloatArray, labels: Int64Array, subgroups: Int64Array) -> Sample:
    """The images with some numbers of labels, those with the same number as one stratum.

    Parameters
    ----------
    values : numpy.ndarray, shape (images,)
        Value of each image.
    labels : numpy.ndarray of int64, shape (images,)
        Number of labels of each image.
    subgroups : numpy.ndarray of int64, shape (subgroups,)
        Numbers of labels, each once. Those that no image has are left out.

    Returns
    -------
    Sample
        Its estimate is the mean of the subgroups' means.
    """
    images = np.bincount(labels, minlength=int(subgroups.max(initial=0)) + 1)
    present = subgroups[images[subgroups] > 0]
    strata = np.full(len(images), LEFT_OUT)
    strata[present] = np.arange(len(present))
    return Sample(values, strata[labels])


def resample_strata(
    values: FloatArray,
    strata: npt.NDArray[np.integer],
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> FloatArray:
    """Draw images with replacement within each stratum, and average their values.

    Parameters
    ----------
    values : numpy.ndarray, shape (images,)
        Finite values.
    strata : numpy.ndarray of int, shape (images,)
        Stratum of each image.
    n_resamples : int
        Number of resamples.
    rng : numpy.random.Generator
        The stream of these draws.

    Returns
    -------
    numpy.ndarray, shape (strata, n_resamples)
        Means of each stratum, by its number; each resample draws as many images from a stratum as
        it has. The order of the images has no influence.

    Notes
    -----
    Where most values are different, images are drawn one by one; both ways are exact.
    """
    parts = _split_strata(values, strata)
    return np.array([_resample_means(part, n_resamples, rng) for part in parts])


def _split_strata(values: FloatArray, strata: npt.NDArray[np.integer]) -> list[FloatArray]:
    """The ascending values of each stratum."""
    return [np.sort(values[strata == place]) for place in range(int(strata.max()) + 1)]


def _resample_means(ordered: FloatArray, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    n = len(ordered)
    values, counts = np.unique(ordered, return_counts=True)
    lowest, means = values[0], np.zeros(n_resamples)
    is_counted = len(values) * DRAWS_PER_COUNT <= n
    step = max(BLOCK_CELLS // (len(values) if is_counted else n), 1)
    for first in range(0, n_resamples if len(values) > 1 else 0, step):
        block = means[first : first + step]
        if is_counted:
            block[:] = rng.multinomial(n, counts / n, size=len(block)) @ (values - lowest) / n
        else:
            places = rng.integers(n, size=(len(block), n), dtype=np.uint32)
            block[:] = (ordered - lowest)[places].mean(axis=1)
    return np.asarray(lowest + means)
