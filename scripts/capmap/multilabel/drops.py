"""Drops of metrics from one dataset to another, split into label mix and accuracy within groups."""

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from capmap.multilabel.evaluation import read_outcomes
from capmap.multilabel.metrics import (
    MEANS,
    MakeRng,
    bound_estimate,
    list_samples,
    name_stream,
    resample_strata,
)
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream
from capmap.settings.choices import Subgroups

# The two parts of a drop.
PARTS = ("mix", "within")
SPLITS = [f"{part}{end}" for part in PARTS for end in ("", "_low", "_high")]
DROPS = {
    **dict.fromkeys(("model", "metric", "subgroup", "dataset_a", "dataset_b"), "str"),
    "subgroup": "Int64",
    **dict.fromkeys(("value_a", "value_b", "difference", "ci_low", "ci_high"), "float64"),
    "images": "Int64",
    **dict.fromkeys(SPLITS, "float64"),
}
CELL = ["model", "metric", "subgroup"]
OF_PAIR = [name for name in DROPS if name not in ("model", "dataset_a", "dataset_b")]
# Metrics that are shares of right images, whose drops are split.
SHARES = ("top1", "real")
MEAN = ""


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
        ``dataset_b``, ``value_a``, ``value_b`` (means over seeds), ``difference`` (a less b), and
        the other columns of `DROPS`, which are missing.

    Notes
    -----
    Only models with the metric on both datasets count, also in its means.

    There are no intervals. Those of an evaluation are over images, which published numbers do not
    give. One over models would be of another kind, and too short: published models are no random
    sample, and many are relatives (sizes, resolutions and recipes of one architecture).
    """
    own = [_average_seeds(metrics, name) for name in (dataset_a, dataset_b)]
    models = own[0].merge(own[1], on=CELL, suffixes=("_a", "_b"))
    means = models.groupby(CELL[1:], dropna=False)[["value_a", "value_b"]].mean().reset_index()
    table = pd.concat([means.assign(model=MEAN), models.sort_values(CELL)], ignore_index=True)
    table = table.assign(
        dataset_a=dataset_a,
        dataset_b=dataset_b,
        difference=table["value_a"] - table["value_b"],
    )
    return table.reindex(columns=list(DROPS)).astype(DROPS)


def _average_seeds(metrics: pd.DataFrame, dataset: str) -> pd.DataFrame:
    own = metrics[metrics["dataset"] == dataset].dropna(subset="value").sort_values("value")
    cells = own.groupby(CELL, dropna=False)["value"].mean().reset_index()
    return cells.astype({name: DROPS[name] for name in CELL} | {"value": "float64"})


class Mix(NamedTuple):
    """Images by number of labels, observed and in resamples.

    Parameters
    ----------
    shares : numpy.ndarray, shape (1 + resamples, groups)
        Shares of the images; the first row is what was observed.
    accuracies : numpy.ndarray, shape (1 + resamples, groups)
        Means of their values, NaN where there is no image.
    """

    shares: FloatArray
    accuracies: FloatArray


def split_drop(first: Mix, second: Mix) -> dict[str, FloatArray]:
    """Split the difference of two accuracies into that of the label mix and that within groups.

    Parameters
    ----------
    first, second : Mix
        The datasets, with the same groups and resamples.

    Returns
    -------
    dict of str to numpy.ndarray, shape (1 + resamples,)
        ``mix``, what other shares of images by number of labels make of the difference, and
        ``within``, what other accuracies at the same number of labels do. Both add up to it.

    Notes
    -----
    Kitagawa's decomposition: with shares p and accuracies a of each number of labels, ``mix`` is
    the sum of (p_A − p_B) (a_A + a_B) / 2, and ``within`` that of (p_A + p_B) / 2 (a_A − a_B). A
    number of labels that only one of the datasets has is part of the mix alone.

    References
    ----------
    Kitagawa, E. M. (1955). Components of a difference between two rates. Journal of the American
    Statistical Association 50, 1168–1194.

    Examples
    --------
    >>> first = Mix(np.array([[0.9, 0.1]]), np.array([[0.8, 0.4]]))
    >>> second = Mix(np.array([[0.5, 0.5]]), np.array([[0.7, 0.4]]))
    >>> {name: value.round(3).tolist() for name, value in split_drop(first, second).items()}
    {'mix': [0.14], 'within': [0.07]}
    """
    (p, a), (q, b) = first, second
    known_a = np.where(np.isnan(a), np.nan_to_num(b), a)
    known_b = np.where(np.isnan(b), np.nan_to_num(a), b)
    return {
        "mix": ((p - q) * (known_a + known_b) / 2).sum(axis=1),
        "within": ((p + q) / 2 * (known_a - known_b)).sum(axis=1),
    }


def draw_mix(
    images: pd.DataFrame, metric: str, groups: int, n_resamples: int, rng: np.random.Generator
) -> Mix:
    """Resample images with their numbers of labels; those from the last group on are one group."""
    known = images.dropna(subset=metric)
    labels = known["labels"].clip(upper=groups - 1)
    cells = known.groupby([labels, metric]).size()
    counts = cells.to_numpy()
    group, value = (cells.index.get_level_values(level).to_numpy() for level in (0, 1))
    drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=n_resamples)
    shares = np.vstack([counts, drawn]) / counts.sum()
    is_own = (group[:, None] == np.arange(groups)).astype(np.float64)
    totals = shares @ is_own
    sums = shares @ (value[:, None] * is_own)
    accuracies = np.divide(sums, totals, out=np.full(totals.shape, np.nan), where=totals > 0)
    return Mix(totals, accuracies)


def compare_dataset_pair(
    images: tuple[pd.DataFrame, pd.DataFrame],
    *,
    subgroups: tuple[Sequence[int], Sequence[int]],
    n_resamples: int,
    confidence_level: float,
    make_rng: MakeRng,
    seeds: int = 1,
) -> pd.DataFrame:
    """Compare a model's metrics on two datasets.

    Parameters
    ----------
    images : tuple of pandas.DataFrame
        Outcomes of the same model, or means of the same models, on the images of each dataset.
    subgroups : tuple of sequence of int
        Numbers of labels over which the ASMA of each dataset averages.
    n_resamples, confidence_level, make_rng
        As in `capmap.multilabel.metrics.estimate_metrics`.
    seeds : int
        How many seeds the images are of, of the dataset with more of them, see `bound_estimate`.

    Returns
    -------
    pandas.DataFrame
        Rows as in `estimate_metrics`, for metrics and subgroups that both datasets have, with the
        columns of `DROPS` but for names: the difference is first less second, ``images`` counts
        those of both, and ``mix`` and ``within`` are the parts of the differences of ``top1`` and
        ``real``, see `split_drop`.

    Notes
    -----
    The images of the two datasets are drawn independently: for ASMA within each subgroup, for the
    parts of a difference from all of a dataset, so that the shares of the numbers of labels vary
    too. There is no interval where one of the two values has none, see `estimate_metrics`.
    """
    others = dict(list_samples(images[1], subgroups[1]))
    groups = max(map(max, subgroups)) + 2
    rows = []
    for target, sample in list_samples(images[0], subgroups[0]):
        if target not in others:
            continue
        other = others[target]
        one, two = sample.estimate(), other.estimate()
        bound = None
        if sample.has_enough(seeds) and other.has_enough(seeds):
            bound = partial(bound_estimate, confidence_level=confidence_level, seeds=seeds)
        ends = (np.nan, np.nan)
        if bound:
            # The sum of the means of all strata is the difference.
            strata = [own[::-1] * (-1 / len(other.strata)) for own in other.strata]
            strata += [own * (1 / len(sample.strata)) for own in sample.strata]
            drawn = resample_strata(strata, n_resamples, make_rng(*name_stream(target)))
            ends = bound(one - two, drawn.sum(axis=0))
        parts = dict.fromkeys(SPLITS, np.nan)
        if target[0] in SHARES:
            mixes = [
                draw_mix(own, target[0], groups, n_resamples, make_rng(target[0], side))
                for own, side in zip(images, "ab", strict=True)
            ]
            for part, values in split_drop(*mixes).items():
                parts[part] = float(values[0])
                if bound:
                    parts[f"{part}_low"], parts[f"{part}_high"] = bound(parts[part], values[1:])
        total = sample.images + other.images
        rows.append((*target, one, two, one - two, *ends, total, *parts.values()))
    return pd.DataFrame(rows, columns=OF_PAIR)


def _read_mean(
    outcomes: Sequence[str], models: Sequence[str], dataset: str, seeds: Sequence[str]
) -> pd.DataFrame:
    """Mean over models of their values on each image, with one model in memory at a time."""
    first = read_outcomes(outcomes, models[0], dataset, seeds)
    sums = first[[*MEANS]].copy()
    for model in models[1:]:
        sums += read_outcomes(outcomes, model, dataset, seeds)[[*MEANS]]
    return pd.concat([first[["labels"]], sums / len(models)], axis=1)


def compare_predictions(
    metrics: pd.DataFrame,
    outcomes: Sequence[str],
    *,
    study: str,
    order: Sequence[str],
    compare: Sequence[str],
    subgroups: Subgroups,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Compare two datasets.

    Parameters
    ----------
    metrics : pandas.DataFrame
        Metrics of each model, dataset and seed.
    outcomes : sequence of str
        Files of the outcomes of images; none where metrics were published.
    study : str
        Name of the study, part of the names of its random streams.
    order : sequence of str
        The datasets as configured.
    compare, n_resamples, confidence_level
        As in the setting `multilabel`; datasets that are not named follow in their order.
    subgroups
        Its subgroups of each dataset; none where metrics were published.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        The table ``degradation``, with the columns of `DROPS`, for models that have both datasets;
        an empty ``model``, which comes first, is the mean over them.

    Notes
    -----
    The mean is over the seeds that all models have on a dataset, and is left out where there is
    none. Its interval is over images: the models are taken as they are.
    """
    known = sorted(set(metrics["dataset"]))
    listed = [*compare, *(name for name in order if name in known), *known]
    pair = [*dict.fromkeys(listed)][:2]
    tables = [pd.DataFrame(columns=list(DROPS)).astype(DROPS)]
    if len(pair) < 2:
        return tables[0]
    if not outcomes:
        return subtract_datasets(metrics, dataset_a=pair[0], dataset_b=pair[1])
    seeded = metrics.fillna({"seed": ""}).groupby(["model", "dataset"])["seed"]
    cells: dict[Any, set[str]] = seeded.agg(set).to_dict()
    models = sorted({model for model, _ in cells if {(model, name) for name in pair} <= {*cells}})
    groups = [(MEAN, models), *((model, [model]) for model in models)] if models else []
    for name, group in groups:
        seeds = [
            sorted(set[str].intersection(*(cells[model, dataset] for model in group)))
            for dataset in pair
        ]
        if not all(seeds):
            continue
        first, second = (
            _read_mean(outcomes, group, dataset, own)
            for dataset, own in zip(pair, seeds, strict=True)
        )
        # The mean over one model is that model.
        stream = "degradation", *pair, MEAN if len(models) == 1 else name
        table = compare_dataset_pair(
            (first, second),
            subgroups=(subgroups[pair[0]], subgroups[pair[1]]),
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=partial(make_stream, seed, study, *stream),
            seeds=max(map(len, seeds)),
        )
        tables.append(table.assign(model=name, dataset_a=pair[0], dataset_b=pair[1]))
    return pd.concat(tables, ignore_index=True)[list(DROPS)].astype(DROPS)
