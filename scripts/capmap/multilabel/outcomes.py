"""What a model does on each image: right or wrong by every metric, from the ranks of its labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.aggregation import FloatArray
from capmap.multilabel.labels import UNKNOWN, Int64Array, LabelSets
from capmap.multilabel.ranks import Ranks

TOP = 5
OUTCOMES = {
    "image": "int64",
    "id": "str",
    "labels": "int64",
    "top1": "boolean",
    "top5": "boolean",
    "real": "boolean",
    "hits": "Int64",
    "lrap": "float64",
}


@dataclass(frozen=True)
class ImageValues:
    """A number per image for each metric that is a mean over images.

    Parameters
    ----------
    labels : numpy.ndarray of int64, shape (images,)
        Number of labels of each image.
    metrics : mapping of str to numpy.ndarray, each of shape (images,)
        ``top1``, ``top5``, ``real``, ``labelwise``, ``jaccard`` and ``lrap``, from 0 to 1; NaN for
        images to which the metric does not apply.
    """

    labels: Int64Array
    metrics: Mapping[str, FloatArray]


def score_images(labels: LabelSets, ranks: Ranks) -> pd.DataFrame:
    """Score each image by the ranks of its labels.

    Parameters
    ----------
    labels : LabelSets
        The labels of the images.
    ranks : Ranks
        Their ranks among a model's scores.

    Returns
    -------
    pandas.DataFrame
        A row per image, in order: ``image`` (its place, from 0), ``id``, ``labels`` (how many, k),
        ``top1`` and ``top5`` (whether the single label is among the highest one or five scores),
        ``real`` (whether the highest score is of a label), ``hits`` (labels among the k highest
        scores) and ``lrap`` (label-ranking average precision).

    Notes
    -----
    An image without a single label has no ``top1`` and ``top5``. An image without labels has 0
    hits, and no ``real`` and ``lrap``; its ``top1`` and ``top5`` stand.

    The label-ranking average precision is the mean over the labels of the share of labels among the
    classes down to that label. Ties between scores were resolved by the ranks, so it is not lowered
    by them as in scikit-learn, which gives equal scores the worst of their ranks.

    Where only the highest classes are listed, ``top5`` is missing with fewer than five of them,
    ``hits`` for images with more labels than that, and ``lrap`` always.

    References
    ----------
    Schapire, R. E., & Singer, Y. (2000). BoosTexter. Machine Learning 39, 135–168.

    Examples
    --------
    >>> from capmap.multilabel.labels import arrange_labels
    >>> labels = arrange_labels([[0, 2]], n_classes=3, single=[0])
    >>> found = score_images(labels, Ranks(np.array([0, 2]), np.array([0]), 3))
    >>> found[["labels", "top1", "real", "hits", "lrap"]]  # lrap is (1/1 + 2/3) / 2
       labels  top1  real  hits      lrap
    0       2  True  True     1  0.833333
    """
    n, counts, owners = len(labels), labels.counts, labels.owners
    is_labeled, is_single = counts > 0, labels.single != UNKNOWN
    is_whole = ranks.depth == labels.n_classes
    is_shallow = np.full(n, ranks.depth < min(TOP, labels.n_classes))
    span = ranks.depth + 1
    ordered = np.sort(owners * span + ranks.labels) - owners * span
    places = np.arange(1, len(ordered) + 1) - np.repeat(labels.offsets[:-1], counts)
    hits = np.bincount(owners[ranks.labels < counts[owners]], minlength=n)
    precision = np.bincount(owners, weights=places / (ordered + 1), minlength=n)
    best = np.full(n, labels.n_classes, dtype=np.int64)
    best[is_labeled] = ordered[labels.offsets[:-1][is_labeled]]
    return pd.DataFrame(
        {
            "image": np.arange(n),
            "id": np.asarray(labels.images, dtype=object),
            "labels": counts,
            "top1": pd.arrays.BooleanArray(ranks.single == 0, ~is_single),
            "top5": pd.arrays.BooleanArray(ranks.single < TOP, ~is_single | is_shallow),
            "real": pd.arrays.BooleanArray(best == 0, ~is_labeled),
            "hits": pd.arrays.IntegerArray(hits, counts > ranks.depth),
            "lrap": np.divide(
                precision, counts, out=np.full(n, np.nan), where=is_labeled & is_whole
            ),
        }
    ).astype(OUTCOMES)


def evaluate_images(outcomes: pd.DataFrame) -> ImageValues:
    """Evaluate the metrics of each image.

    Parameters
    ----------
    outcomes : pandas.DataFrame
        Columns ``labels``, ``top1``, ``top5``, ``real``, ``hits`` and ``lrap`` of `score_images`.

    Returns
    -------
    ImageValues
        In the order of the rows.

    Notes
    -----
    With k labels and the k highest scores as the prediction, ``labelwise`` is ``hits / k``. It is
    the image's precision, recall and F1 too, since as many classes are predicted as are true.
    ``jaccard`` is ``hits / (2 k − hits)``. Images without labels or hits have neither.
    """
    counts = outcomes["labels"].to_numpy(dtype=np.int64)
    hits = outcomes["hits"].to_numpy(dtype=np.float64, na_value=np.nan)
    return ImageValues(
        labels=counts,
        metrics={
            "top1": _read_flags(outcomes["top1"]),
            "top5": _read_flags(outcomes["top5"]),
            "real": _read_flags(outcomes["real"]),
            "labelwise": _divide(hits, counts),
            "jaccard": _divide(hits, 2 * counts - hits),
            "lrap": outcomes["lrap"].to_numpy(dtype=np.float64, na_value=np.nan),
        },
    )


def average_models(models: Sequence[ImageValues]) -> ImageValues:
    """Average the values of several models on the same images.

    Parameters
    ----------
    models : sequence of ImageValues
        One or more, of the same images in the same order.

    Returns
    -------
    ImageValues
        Means over the models, so that a metric of it is the mean of their metrics.

    Raises
    ------
    ValueError
        If the models were scored against different labels.
    """
    first = models[0]
    if any(not np.array_equal(model.labels, first.labels) for model in models):
        raise ValueError("Only models that are scored on the same images can be averaged.")
    sums = {name: np.zeros(len(first.labels)) for name in first.metrics}
    for model in models:
        for name, values in model.metrics.items():
            sums[name] += values
    return ImageValues(first.labels, {name: total / len(models) for name, total in sums.items()})


def _read_flags(column: pd.Series) -> FloatArray:
    flags = pd.array(column.array, dtype="boolean")
    return np.asarray(flags.to_numpy(dtype=np.float64, na_value=np.nan))


def _divide(numbers: FloatArray, divisors: npt.NDArray[np.number]) -> FloatArray:
    empty = np.full(len(numbers), np.nan)
    return np.asarray(np.divide(numbers, divisors, out=empty, where=divisors > 0))
