"""Differences between all models of a dataset, and between two datasets for all models."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd

from capmap.errors import ValidationError
from capmap.multilabel import differences
from capmap.multilabel.degradation import DROPS
from capmap.multilabel.differences import match_images
from capmap.multilabel.metrics import MakeRng, list_samples
from capmap.multilabel.outcomes import ImageValues
from capmap.multilabel.storage import OutcomeFiles
from capmap.problems import require_known

MOST_MODELS = 40
MEAN = ""
DIFFERENCES = {
    **dict.fromkeys(("model_a", "model_b", "dataset", "metric"), "str"),
    **dict.fromkeys(("difference", "ci_low", "ci_high"), "float64"),
    "images": "int64",
}
MakeNamed = Callable[..., MakeRng]


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

    Models with the same value are in the order of their names. Models of which the metric cannot be
    told come last.
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
    subgroups: Sequence[int],
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
    subgroups, n_resamples, confidence_level
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
    Intervals are not corrected for the number of pairs. Precision, recall and F1 are the label-wise
    accuracy, and the label-ranking average precision is left out, which takes long to resample.
    """
    tables = []
    for dataset in files.datasets:
        models = order_models(files, dataset, metric=rank_by, subgroups=subgroups)
        for first, second in _list_pairs(models):
            seeds = files.list_seeds([first, second], dataset)
            if not seeds:
                continue
            table = differences.compare_models(
                *(_forget_lrap(files.read(model, dataset, seeds)[0]) for model in (first, second)),
                subgroups=subgroups,
                n_resamples=n_resamples,
                confidence_level=confidence_level,
                make_rng=make_rng(dataset, first, second),
            )
            is_own = table["subgroup"].isna() & ~table["metric"].isin(["precision", "recall", "f1"])
            tables.append(table[is_own].assign(model_a=first, model_b=second, dataset=dataset))
    return _join(tables, DIFFERENCES)


def compare_datasets(
    files: OutcomeFiles,
    pair: tuple[str, str],
    *,
    subgroups: Sequence[int],
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
    subgroups, n_resamples, confidence_level
        As in `capmap.multilabel.metrics.estimate_metrics`.
    make_rng : callable
        ``make_rng(dataset_a, dataset_b, model)`` gives what names the streams of its metrics.

    Returns
    -------
    pandas.DataFrame
        The columns of `capmap.multilabel.degradation.DROPS`, for models that have both datasets; an
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
        table = differences.compare_datasets(
            sides[0][0],
            sides[1][0],
            shared=match_images(sides[0][1], sides[1][1]),
            subgroups=subgroups,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=make_rng(*pair, MEAN if len(models) == 1 else name),
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


def _forget_lrap(images: ImageValues) -> ImageValues:
    unknown = np.full(len(images.labels), np.nan)
    return replace(images, metrics={**images.metrics, "lrap": unknown})


def _join(tables: list[pd.DataFrame], kinds: dict[str, str]) -> pd.DataFrame:
    if not tables:
        return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in kinds.items()})
    return pd.concat(tables, ignore_index=True)[list(kinds)].astype(kinds)
