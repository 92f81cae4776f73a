"""Differences of metrics between models and between datasets, with intervals over images."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from capmap.errors import ValidationError
from capmap.multilabel.metrics import (
    LEFT_OUT,
    MakeRng,
    Sample,
    bound_sample,
    frame_rows,
    list_samples,
    resample_strata,
    widen,
)
from capmap.multilabel.outcomes import ImageValues, Int64Array, OutcomeFiles
from capmap.multilabel.rankings import list_datasets
from capmap.problems import require_known
from capmap.ranking.aggregation import FloatArray
from capmap.ranking.standard_errors import percentile_interval
from capmap.rng import make_stream
from capmap.settings.choices import Subgroups

DROPS = {
    "model": "str",
    "metric": "str",
    "subgroup": "Int64",
    "dataset_a": "str",
    "dataset_b": "str",
    "value_a": "float64",
    "value_b": "float64",
    "difference": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "paired": "bool",
    "images": "Int64",
}
CELL = ["model", "metric", "subgroup"]

PAIR_DIFFERENCES = {
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

MOST_MODELS = 40
MEAN = ""
DIFFERENCES = {
    **dict.fromkeys(("model_a", "model_b", "dataset", "metric"), "str"),
    **dict.fromkeys(("difference", "ci_low", "ci_high"), "float64"),
    "images": "int64",
}
MakeNamed = Callable[..., MakeRng]


def subtract_datasets(metrics: pd.DataFrame, *, dataset_a: str, dataset_b: str) -> pd.DataFrame:
    """Subtract each model's metrics on one dataset from those on another.

    Parameters
    ----------
    metrics : pandas.DataFrame
        Columns ``model``, ``dataset``, ``metric``, ``subgroup`` and ``value`` (from 0 to 1); a row
        per metric and seed, rows in any order.
    dataset_a, dataset_b : str
        The two datasets.

    Returns
    -------
    pandas.DataFrame
        First the means over models, whose ``model`` is empty, then the models by name; within a
        model by metric and subgroup: ``model``, ``metric``, ``subgroup``, ``dataset_a``,
        ``dataset_b``, ``value_a``, ``value_b`` (means over seeds), ``difference`` (a less b),
        ``ci_low``, ``ci_high`` (missing), ``paired`` (false) and ``images`` (missing).

    Raises
    ------
    ValidationError
        If there are metrics, and one of the datasets is not among theirs.

    Notes
    -----
    Only models with the metric on both datasets count, also in its means.

    There are no intervals. Those of an evaluation are over images, which published numbers do not
    give. One over models would be of another kind, and too short: published models are no random
    sample, and many are relatives (sizes, resolutions and recipes of one architecture).
    """
    datasets = set(metrics["dataset"])
    if datasets:
        for option, name in (("first", dataset_a), ("second", dataset_b)):
            require_known([name], datasets, option=f"multilabel.compare ({option})", kind="dataset")
    own = [_average_seeds(metrics, name) for name in (dataset_a, dataset_b)]
    models = own[0].merge(own[1], on=CELL, suffixes=("_a", "_b"))
    means = models.groupby(CELL[1:], dropna=False)[["value_a", "value_b"]].mean().reset_index()
    table = pd.concat([means.assign(model=""), models.sort_values(CELL)], ignore_index=True)
    table = table.assign(
        dataset_a=dataset_a,
        dataset_b=dataset_b,
        difference=table["value_a"] - table["value_b"],
        ci_low=float("nan"),
        ci_high=float("nan"),
        paired=False,
        images=pd.array([pd.NA] * len(table), dtype="Int64"),
    )
    return table[list(DROPS)].astype(DROPS)


def _average_seeds(metrics: pd.DataFrame, dataset: str) -> pd.DataFrame:
    own = metrics[metrics["dataset"] == dataset].dropna(subset="value").sort_values("value")
    cells = own.groupby(CELL, dropna=False)["value"].mean().reset_index()
    return cells.astype({name: DROPS[name] for name in CELL} | {"value": "float64"})


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


def compare_model_pair(
    first: ImageValues,
    second: ImageValues,
    *,
    subgroups: Sequence[int],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
    seeds: int = 1,
) -> pd.DataFrame:
    """Compare two models on the same images.

    Parameters
    ----------
    first, second : ImageValues
        Values of both models on the same images in the same order.
    subgroups, n_resamples, confidence_level, make_rng
        As in `capmap.multilabel.metrics.estimate_metrics`.
    seeds : int
        How many seeds the images are of, see `widen`.

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
    Both models keep an image together: what is resampled is each image's difference. So there is no
    interval where the models differ on fewer than 5 images, see `estimate_metrics`.
    """
    if not np.array_equal(first.labels, second.labels):
        raise ValueError("Only models that are scored on the same images can be compared.")
    apart = ImageValues(
        first.labels, {name: own - second.metrics[name] for name, own in first.metrics.items()}
    )
    rows = []
    for target, sample in list_samples(apart, subgroups):
        rng = make_rng(*target.names)
        ends = bound_sample(sample, n_resamples, confidence_level, rng, seeds=seeds)
        rows.append((*target, sample.estimate(), *ends, sample.images))
    return frame_rows(rows, PAIR_DIFFERENCES)


def compare_dataset_pair(
    first: ImageValues,
    second: ImageValues,
    *,
    shared: Shared,
    subgroups: tuple[Sequence[int], Sequence[int]],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
    seeds: int = 1,
) -> pd.DataFrame:
    """Compare a model's metrics on two datasets.

    Parameters
    ----------
    first, second : ImageValues
        Values of the same model, or means of the same models, on the images of each dataset.
    shared : Shared
        The images that both datasets have, from `match_images`.
    subgroups : tuple of sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    n_resamples, confidence_level, make_rng
        As in `capmap.multilabel.metrics.estimate_metrics`.
    seeds : int
        How many seeds the images are of, of the dataset with more of them, see `widen`.

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
    drawn within each pair of numbers of labels in both. There is no interval where one of the two
    values has none, see `estimate_metrics`.
    """
    others = dict(list_samples(second, subgroups[1]))
    rows = []
    for target, sample in list_samples(first, subgroups[0]):
        if target not in others:
            continue
        other = others[target]
        joined = _join_samples(sample, other, shared)
        one, two = sample.estimate(), other.estimate()
        low, high = np.nan, np.nan
        if sample.has_enough(seeds) and other.has_enough(seeds):
            replicates = _resample_difference(joined, n_resamples, make_rng(*target.names))
            ends = percentile_interval(replicates, confidence_level=confidence_level)
            low, high = widen(one - two, ends, seeds)
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


def choose_pair(compare: Sequence[str], datasets: Sequence[str]) -> tuple[str, str] | None:
    """Choose the two datasets to compare.

    Parameters
    ----------
    compare : sequence of str
        The configured two, or none.
    datasets : sequence of str
        What there is, in the order of which the first two are taken by default.

    Returns
    -------
    tuple of str, or None
        None where there are fewer than two datasets.

    Raises
    ------
    ValidationError
        If `compare` names one dataset only, or one that there is not.

    Examples
    --------
    >>> choose_pair([], ["V1", "V2", "V3"]), choose_pair(["V3", "V1"], ["V1", "V2", "V3"])
    (('V1', 'V2'), ('V3', 'V1'))
    """
    if len(compare) == 1:
        raise ValidationError(
            "multilabel.compare: it takes two datasets to compare. Add one, or leave it empty."
        )
    require_known(compare, datasets, option="multilabel.compare", kind="dataset")
    chosen = [*compare] or [*datasets[:2]]
    return (chosen[0], chosen[1]) if len(chosen) == 2 else None


def order_models(
    files: OutcomeFiles, dataset: str, *, metric: str, subgroups: Sequence[int]
) -> list[str]:
    """Order the models of a dataset by a metric over the images of all seeds, the best one first.

    Models with the same value are in the order of their names. Models without a
    value of the metric come last.
    """
    values = {}
    for model in files.list_models(dataset):
        images, _ = files.read(model, dataset, files.list_seeds([model], dataset))
        known = {target.metric: sample for target, sample in list_samples(images, subgroups)}
        values[model] = known[metric].estimate() if metric in known else -np.inf
    return sorted(values, key=lambda model: (-values[model], model))


def compare_models(
    files: OutcomeFiles,
    *,
    rank_by: str,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeNamed,
) -> pd.DataFrame:
    """Compare the models of each dataset image by image.

    Parameters
    ----------
    files : OutcomeFiles
        The outcomes of the study.
    rank_by : str
        Metric that orders the models.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    n_resamples, confidence_level
        As in `capmap.multilabel.metrics.estimate_metrics`.
    make_rng : callable
        ``make_rng(dataset, model_a, model_b)`` gives what names the streams of their metrics.

    Returns
    -------
    pandas.DataFrame
        The columns of `DIFFERENCES`: the difference is that of ``model_a``, which is ahead by
        `rank_by`, less ``model_b``.

    Notes
    -----
    All pairs with at most 40 models on a dataset, otherwise the best one with each other one. Seeds
    that both have are put together, so a value may differ a little from the mean over seeds.
    Intervals are as wide as those of one seed (`widen`).
    Intervals are not corrected for the number of pairs.
    """
    tables = []
    for dataset in files.datasets:
        models = order_models(files, dataset, metric=rank_by, subgroups=subgroups[dataset])
        for first, second in _list_pairs(models):
            seeds = files.list_seeds([first, second], dataset)
            if not seeds:
                continue
            table = compare_model_pair(
                *(files.read(model, dataset, seeds)[0] for model in (first, second)),
                subgroups=subgroups[dataset],
                n_resamples=n_resamples,
                confidence_level=confidence_level,
                make_rng=make_rng(dataset, first, second),
                seeds=len(seeds),
            )
            is_whole = table["subgroup"].isna()
            tables.append(table[is_whole].assign(model_a=first, model_b=second, dataset=dataset))
    return _join(tables, DIFFERENCES)


def compare_datasets(
    files: OutcomeFiles,
    pair: tuple[str, str],
    *,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeNamed,
) -> pd.DataFrame:
    """Compare two datasets for each model, and on average over models.

    Parameters
    ----------
    files : OutcomeFiles
        The outcomes of the study.
    pair : tuple of str
        The datasets.
    subgroups : mapping of str to sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    n_resamples, confidence_level
        As in `capmap.multilabel.metrics.estimate_metrics`.
    make_rng : callable
        ``make_rng(dataset_a, dataset_b, model)`` gives what names the streams of its metrics.

    Returns
    -------
    pandas.DataFrame
        The columns of `DROPS`, for models that have both datasets; an
        empty ``model``, which comes first, is the mean over them. ``paired`` says whether both
        values share images, and ``images`` counts those of either.

    Notes
    -----
    The mean is over the seeds that all models have on a dataset, and is left out where there is
    none. Its interval is over images: the models are taken as they are.
    """
    models = sorted(set(files.list_models(pair[0])) & set(files.list_models(pair[1])))
    tables = []
    for name, group in [(MEAN, models), *((model, [model]) for model in models)]:
        seeds = [files.list_seeds(group, dataset) for dataset in pair]
        if not all(seeds):
            continue
        sides = [
            _read_mean(files, group, dataset, own) for dataset, own in zip(pair, seeds, strict=True)
        ]
        table = compare_dataset_pair(
            sides[0][0],
            sides[1][0],
            shared=match_images(sides[0][1], sides[1][1]),
            subgroups=(subgroups[pair[0]], subgroups[pair[1]]),
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=make_rng(*pair, MEAN if len(models) == 1 else name),
            seeds=max(map(len, seeds)),
        )
        tables.append(_arrange(table, name, pair))
    return _join(tables, DROPS)


def _arrange(table: pd.DataFrame, model: str, pair: tuple[str, str]) -> pd.DataFrame:
    return table.assign(
        model=model,
        dataset_a=pair[0],
        dataset_b=pair[1],
        paired=table["images_shared"] > 0,
        images=table["images_a"] + table["images_b"] - table["images_shared"],
    )


def _read_mean(
    files: OutcomeFiles, models: Sequence[str], dataset: str, seeds: Sequence[str]
) -> tuple[ImageValues, list[str]]:
    """Mean over models of their values on each image, with one model in memory at a time."""
    first, ids = files.read(models[0], dataset, seeds)
    sums = {name: values.copy() for name, values in first.metrics.items()}
    for model in models[1:]:
        for name, values in files.read(model, dataset, seeds)[0].metrics.items():
            sums[name] += values
    means = {name: total / len(models) for name, total in sums.items()}
    return ImageValues(first.labels, means), ids


def _list_pairs(models: Sequence[str]) -> Iterator[tuple[str, str]]:
    if len(models) <= MOST_MODELS:
        return combinations(models, 2)
    return ((models[0], model) for model in models[1:])


def _join(tables: list[pd.DataFrame], kinds: dict[str, str]) -> pd.DataFrame:
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    return pd.concat(tables, ignore_index=True)[list(kinds)].astype(kinds)


def compare_predictions(
    evaluated: pd.DataFrame,
    outcomes: Sequence[str],
    *,
    study: str,
    order: Sequence[str],
    compare: Sequence[str],
    rank_by: str,
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Compare models on the same images, and two datasets.

    Parameters
    ----------
    evaluated : pandas.DataFrame
        Metrics of each model, dataset and seed.
    outcomes : sequence of str
        Files of the outcomes of images; none where metrics were published.
    study : str
        Name of the study, part of the names of its random streams.
    order : sequence of str
        The datasets as configured.
    compare, rank_by, n_resamples, confidence_level
        As in the setting `multilabel`.
    subgroups
        Its subgroups of each dataset; none where metrics were published.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``differences`` and ``degradation``.
    """
    pair = choose_pair(compare, list_datasets(evaluated, order))
    options: dict[str, Any] = {
        "subgroups": subgroups,
        "n_resamples": n_resamples,
        "confidence_level": confidence_level,
    }
    files = OutcomeFiles(outcomes)
    pairs = compare_models(
        files,
        rank_by=rank_by,
        make_rng=lambda *names: partial(make_stream, seed, study, "differences", *names),
        **options,
    )
    if pair is None:
        drops = pd.DataFrame(columns=list(DROPS)).astype(DROPS)
    elif outcomes:
        drops = compare_datasets(
            files,
            pair,
            make_rng=lambda *names: partial(make_stream, seed, study, "degradation", *names),
            **options,
        )
    else:
        drops = subtract_datasets(evaluated, dataset_a=pair[0], dataset_b=pair[1])
    return {"differences": pairs, "degradation": drops}
