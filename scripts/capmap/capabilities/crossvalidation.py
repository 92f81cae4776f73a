"""Cross-validation: splits into known and hidden results, and how well the hidden are predicted."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import DISTANCES, draw_start, predict_by_distance
from capmap.capabilities.factors import (
    Pairs,
    SideInformation,
    fit_additive,
    gather_attributes,
    predict_gaps,
)
from capmap.capabilities.gaps import (
    BoolArray,
    Results,
    bound_scores,
    choose_results,
    measure_gaps,
    order_by_names,
)
from capmap.capabilities.intervals import cover_groups, estimate_mean, summarize_errors
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import combine_keys, hash_names, make_stream, order_names

PROTOCOLS = ("random", "family")
PLAIN = "l2"
# What is compared, in order.
METHODS = ("factors", *DISTANCES, "additive")
# Results that are hidden in each random fold, and the share that may be hidden from one fit.
HELD_OUT, HIDDEN_SHARE = 10, 0.01
GROUP = ["distance", "dimension", "protocol"]
RESULT = ["protocol", "fold", "model", "dataset"]
VALIDATION = [*GROUP, "fold", "model", "dataset", "truth", "prediction"]
LIMITS = {"mse": (0.0, np.inf), "mae": (0.0, np.inf), "pearson": (-1.0, 1.0)}
# Results that are left to a model, and groups of models that are hidden one after the other.
COUNTS, GROUPS = (1, 2, 4, 8, 12, 16, 20), 5
TINY = 1e-12
CHANGE = ("change", "change_low", "change_high")
# Columns of predictions by the name of their error.
ERRORS = {"mse": "prediction", "mse_additive": "additive"}

MakeRng = Callable[..., np.random.Generator]


class Split(NamedTuple):
    """Results that are known, and those that are hidden, whose gaps are to be predicted."""

    train: Results
    test: Results


def hide_results(results: Results, hidden: BoolArray, known: BoolArray | None = None) -> Split:
    """Hide some results; all others are known, or only some. Gaps stay as they are."""
    return Split(results.choose(~hidden if known is None else known), results.choose(hidden))


def hide_unseen(results: Results, hidden: BoolArray) -> Split:
    """Hide results as if nobody had run them: gaps are by the bounds of the others.

    A hidden result beyond these bounds has a gap of 0 or 1. Results of datasets on which the others
    tie, or that have no others, are neither known nor hidden.
    """
    train, test = results.choose(~hidden), results.choose(hidden)
    worst, best = bound_scores(train.scores, train.columns, len(results.datasets))
    test = test.choose((best > worst)[test.columns])
    known, truth = (measure_gaps(own.scores, own.columns, worst, best) for own in (train, test))
    return Split(replace(train, gaps=known), replace(test, gaps=truth.clip(0, 1)))


def share_family(results: Results, chosen: BoolArray, families: Sequence[str]) -> BoolArray:
    """Whether a result is of a model and a family of datasets that a chosen result has."""
    family = np.unique(np.asarray(families, dtype=object), return_inverse=True)[1]
    keys = results.rows * (family.max(initial=0) + 1) + family[results.columns]
    return np.isin(keys, keys[chosen])


def split_halves(results: Results, families: Sequence[str], rng: np.random.Generator) -> BoolArray:
    """Put each result into one of two random halves, those of a model in a family into the same."""
    root = rng.integers(2**64, size=1, dtype=np.uint64)
    models = combine_keys(root, hash_names(results.models))[results.rows]
    return np.asarray(combine_keys(models, hash_names(families)[results.columns]) % 2 == 0)


def crossvalidate(
    splits: Sequence[Split], attributes: SideInformation, *, rng: np.random.Generator
) -> pd.DataFrame:
    """Predict what is hidden in each split from what is known there.

    Parameters
    ----------
    splits : sequence of Split
        Of the same models and datasets. One that knows nothing, or hides nothing, is left out.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Draws factors, the same for all splits.

    Returns
    -------
    pandas.DataFrame
        A row per hidden result, by split: ``split``, its number; ``row`` and ``column``, the places
        of model and dataset; ``truth``, the hidden gap; ``prediction`` and its ``variance`` by the
        factors; and ``additive``, the prediction of additive effects.
    """
    numbers = [
        number for number, own in enumerate(splits) if len(own.train.gaps) and len(own.test.gaps)
    ]
    chosen = [splits[number] for number in numbers]
    columns = ["split", "row", "column", "truth", "prediction", "variance", "additive"]
    tables = [
        pd.DataFrame({name: np.zeros(0, int if name in columns[:3] else float) for name in columns})
    ]
    pairs = [Pairs(own.test.rows, own.test.columns) for own in chosen]
    trains = [own.train for own in chosen]
    found = predict_gaps(trains, attributes, pairs, rng=rng) if chosen else []
    for number, (train, test), asked, moments in zip(numbers, chosen, pairs, found, strict=True):
        additive = fit_additive(train).predict(*asked)
        values = (number, *asked, test.gaps, *moments, additive)
        tables.append(pd.DataFrame(dict(zip(columns, values, strict=True))))
    return pd.concat(tables, ignore_index=True)


def gather_known(
    gaps: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame
) -> tuple[Results, list[str], SideInformation]:
    """Gather the results of a study, the families of their datasets, and attributes of all."""
    results = choose_results(gaps)
    families = datasets.set_index("dataset")["family"].loc[results.datasets].tolist()
    return results, families, gather_attributes(results, models, datasets)


def crossvalidate_study(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    dimension: int,
    dimensions: Sequence[int],
    n_splits: int,
    seed: int,
) -> pd.DataFrame:
    """Predict hidden results of a study by factors, additive effects and distances.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    dimension, dimensions, n_splits
        As in the setting `capabilities`; L2 distances are always fitted in the dimension.
    seed : int
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        A row per predicted result: ``distance``, the name of what predicts; ``dimension``;
        ``protocol``; ``fold``; ``model``; ``dataset``; ``truth`` and ``prediction``.

    Notes
    -----
    Each fold hides 10 random results, at most half of all; under the protocol ``family`` also the
    model's other results in the family of the dataset, which are not to predict. All methods see
    the same folds. As many folds share one fit, from which the results of all of them are hidden,
    as that hides at most a hundredth of all results.
    """
    results, families, attributes = gather_known(gaps, models, datasets)
    count = len(results.gaps)
    make_rng = partial(make_stream, seed, study, "capabilities")
    starts = {
        size: draw_start(results, dimension=size, seed=seed, study=study)
        for size in {dimension, *dimensions}
    }

    def predict(split: Split) -> Iterator[tuple[str, int | None, FloatArray]]:
        found = crossvalidate([split], attributes, rng=make_rng("factors"))
        yield "factors", None, found["prediction"].to_numpy()
        yield "additive", None, found["additive"].to_numpy()
        for size, distance in product(starts, DISTANCES if dimensions else [PLAIN]):
            yield distance, size, predict_by_distance(distance, starts[size], *split)

    folds = [draw_hidden(results, make_rng("folds", str(fold))) for fold in range(n_splits)]
    together = max(1, int(HIDDEN_SHARE * count) // HELD_OUT)
    tables, made = [], {}
    for protocol, first in product(PROTOCOLS, range(0, n_splits, together)):
        own = folds[first : first + together]
        hidden = np.isin(np.arange(count), np.concatenate(own))
        known = ~(share_family(results, hidden, families) if protocol == "family" else hidden)
        if not known.any():
            continue
        # Where families hide nothing more, they leave what random folds do.
        key = first, int(known.sum())
        if key not in made:
            made[key] = list(predict(hide_results(results, hidden, known)))
        for (distance, size, predicted), (fold, places) in product(
            made[key], enumerate(own, first)
        ):
            values = [distance, size, protocol, fold]
            found = predicted[np.searchsorted(np.flatnonzero(hidden), places)]
            tables.append(_tabulate(results, places, values, found))
    return _order_rows(pd.concat(tables))


def draw_hidden(results: Results, rng: np.random.Generator) -> IntArray:
    """Places of the results that a random fold hides, in order."""
    return np.sort(order_by_names(results, rng)[: min(HELD_OUT, len(results.gaps) // 2)])


def _tabulate(
    results: Results, places: IntArray, values: Sequence[object], predicted: FloatArray
) -> pd.DataFrame:
    models, datasets = (np.array(own, dtype=object) for own in (results.models, results.datasets))
    names = models[results.rows[places]], datasets[results.columns[places]]
    columns = [*values, *names, results.gaps[places], predicted]
    table = pd.DataFrame(dict(zip(VALIDATION, columns, strict=True)))
    return table.astype({"dimension": "Int64"})


def _order_rows(table: pd.DataFrame) -> pd.DataFrame:
    places = {name: place for names in (METHODS, PROTOCOLS) for place, name in enumerate(names)}
    return table.sort_values(
        VALIDATION[:-2],
        key=lambda own: own.map(places) if own.name in ("distance", "protocol") else own,
        ignore_index=True,
    )


def summarize_validation(
    validation: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Summarize the errors of each method, dimension and protocol.

    Parameters
    ----------
    validation : pandas.DataFrame
        Of `crossvalidate_study`.
    dimension : int
        Of the L2 distances that others are compared with.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        ``distance``, ``dimension``, ``protocol``, ``folds``, ``predictions`` (hidden results in all
        folds); ``mse`` and ``mae`` over all predictions; ``pearson``, the mean over folds;
        ``difference``, the mean squared error minus that of L2 distances on the same results; each
        with an interval ``…_low`` to ``…_high``; and ``confidence``, the level of the intervals.

    Notes
    -----
    Intervals of errors and differences are Student's t intervals that take all predictions of a
    model as one draw (`estimate_mean`): folds hide some results several times, and intervals over
    folds called equally good methods different in 45% of simulated studies of 30 results. Those of
    correlations are over folds. All are NaN with one model or fold.
    """
    errors = (validation["prediction"] - validation["truth"]).abs()
    hidden = validation.assign(mse=errors**2, mae=errors)
    is_plain = (hidden["distance"] == PLAIN) & hidden["dimension"].eq(dimension).fillna(False)
    plain = hidden[is_plain].set_index(RESULT)["mse"]
    estimate = partial(estimate_mean, confidence_level=confidence_level)
    rows = []
    for key, own in hidden.groupby(GROUP, sort=False, dropna=False):
        folds = [fold for _, fold in own.groupby("fold")]
        reference = plain.reindex(pd.MultiIndex.from_frame(own[RESULT])).to_numpy()
        found = {
            "mse": estimate(own["mse"], clusters=own["model"]),
            "mae": estimate(own["mae"], clusters=own["model"]),
            "pearson": estimate([_correlate(fold) for fold in folds]),
            "difference": estimate(own["mse"].to_numpy() - reference, clusters=own["model"]),
        }
        row = dict(zip(GROUP, key, strict=True)) | {"folds": len(folds), "predictions": len(own)}
        for name, interval in found.items():
            ends = np.clip(interval, *LIMITS.get(name, (-np.inf, np.inf)))
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), ends, strict=True))
        rows.append(row | {"confidence": confidence_level})
    return pd.DataFrame(rows).astype({"dimension": "Int64"})


def _correlate(fold: pd.DataFrame) -> float:
    """Pearson's correlation of truths and predictions; NaN without variation."""
    first, second = (
        fold[name].to_numpy() - fold[name].to_numpy().mean() for name in ("truth", "prediction")
    )
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > TINY else np.nan


def leave_few(results: Results, count: int, rng: np.random.Generator) -> list[BoolArray]:
    """Choose what is hidden so that models are left with few results, by their names.

    Of each of at most five random groups of the models with more results than that.
    """
    order = order_by_names(results, rng)
    by_model = order[np.argsort(results.rows[order], kind="stable")]
    starts = np.cumsum(results.per_model) - results.per_model
    place = np.empty(len(order), dtype=np.intp)
    place[by_model] = np.arange(len(order)) - starts[results.rows[by_model]]
    models = np.flatnonzero(results.per_model > count)
    mixed = models[order_names([results.models[model] for model in models], rng)]
    groups = np.array_split(mixed, min(GROUPS, len(mixed))) if len(mixed) else []
    return [np.isin(results.rows, group) & (place >= count) for group in groups]


def draw_error_curve(
    results: Results, attributes: SideInformation, *, confidence_level: float, make_rng: MakeRng
) -> tuple[pd.DataFrame, dict[int, pd.DataFrame]]:
    """Leave models with few of their results, and predict the others.

    Parameters
    ----------
    results : Results
        Of all models.
    attributes : SideInformation
        Of models and datasets, may be empty.
    confidence_level : float
        Of all intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator from names.

    Returns
    -------
    error_curve : pandas.DataFrame
        A row per number of ``results`` that models were left with, as far as two models have more,
        with what `summarize_errors` has of ``mse`` and ``mse_additive``; ``coverage`` and mean
        ``width`` of the prediction intervals; and ``change``, the mean over models of their mean
        squared error minus that with the number before, with its interval.
    few_results : dict of int to pandas.DataFrame
        What `crossvalidate` found, by that number. As no errors of a new model are known, the
        ``row`` of each result is another one, and ``model`` the place of its model.

    Notes
    -----
    Of a fifth of the models with more results at a time, all but 1, 2, 4, 8, 12, 16 or 20 random
    ones each are hidden (`hide_unseen`). Intervals are calibrated by the errors of the other groups
    of models; models are the clusters of intervals of errors.
    """
    rows, few_results, before = [], {}, pd.Series(dtype=float)
    for count in COUNTS:
        hidden = leave_few(results, count, make_rng("results", str(count)))
        splits = [hide_unseen(results, own) for own in hidden]
        if sum(len(own.test.gaps) > 0 for own in splits) < 2:
            break
        found = crossvalidate(splits, attributes, rng=make_rng("factors", str(count)))
        found["additive"] = found["additive"].clip(0, 1)
        errors = summarize_errors(
            found, ERRORS, reference="mse_additive", confidence_level=confidence_level
        )
        # As if each result had a model of its own.
        found = found.assign(model=found["row"], row=np.arange(len(found)))
        groups, truth = found["split"].to_numpy(), found["truth"]
        low, high = cover_groups(found, groups, confidence_level=confidence_level)
        covered = (low <= truth + TINY) & (truth - TINY <= high)
        ends = {"coverage": covered.mean(), "width": (high - low).mean()}
        own = ((found["prediction"] - truth) ** 2).groupby(found["model"]).mean()
        change = estimate_mean(own - before, confidence_level=confidence_level)
        before = own
        ends |= dict(zip(CHANGE, change, strict=True))
        rows.append({"results": count} | errors | ends)
        few_results[count] = found
    columns = [
        *("results", "models", "predictions", "mse", "mse_low", "mse_high", "mse_additive"),
        *("difference", "difference_low", "difference_high", "coverage", "width", *CHANGE),
    ]
    return pd.DataFrame(rows, columns=columns), few_results
