"""Cross-validation: splits into known and hidden results, and how well the hidden are predicted."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtri, stdtrit

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
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import combine_keys, hash_names, make_stream, order_names
from capmap.settings.choices import PREDICTION_LEVEL

LEAST_VARIANCE = 1e-4
# Standard deviation of the weights of nearby predictions: a share of all, or so many if more.
SHARE, LEAST = 0.05, 50
CENTERS = 50
# Weight of the mean squared error of all in that of a model, in results.
SHRINKAGE = 10.0
# Misses of the normal distribution that gives intervals their shape, and least share of a side.
MISS, LEAST_SIDE = 0.1, 1e-3
# Reaches further than any bound.
FAR = 1e6
PROTOCOLS = ("random", "family")
PLAIN = "l2"
# What is compared, in order.
METHODS = ("factors", *DISTANCES, "additive")
# Results that are hidden in each random fold, and the share that may be hidden from one fit.
HELD_OUT, HIDDEN_SHARE = 10, 0.01
GROUP = ["distance", "dimension", "protocol"]
RESULT = ["protocol", "fold", "model", "dataset"]
VALIDATION = [*GROUP, "fold", "model", "dataset", "truth", "prediction"]
# Results that are left to a model, and groups of models that are hidden one after the other.
COUNTS, GROUPS = (1, 2, 4, 8, 12, 16, 20), 5
TINY = 1e-12
CURVE = (
    "results models predictions mse mse_low mse_high mse_additive difference difference_low "
    "difference_high coverage width change change_low change_high"
)
# Columns of predictions by the name of their error.
ERRORS = {"mse": "prediction", "mse_additive": "additive"}

MakeRng = Callable[..., np.random.Generator]


def estimate_mean(
    values: npt.ArrayLike,
    *,
    clusters: Iterable[object] | None = None,
    confidence_level: float,
) -> tuple[float, float, float]:
    """Estimate the mean of values that may come in clusters.

    Values of one cluster may depend on each other in any way, those of different clusters are
    taken as independent. With r the sums over clusters of deviations from the mean of n values,
    the variance is G / (G − 1) · Σ r² / n², and the quantile Student's t with G − 1 degrees of
    freedom, for G clusters. With clusters of one value that is the usual interval of a mean.

    Cameron, A. C. and Miller, D. L. (2015). A practitioner's guide to cluster-robust inference.
    Journal of Human Resources 50, 317–372.

    Examples
    --------
    >>> found = estimate_mean([1.0, 2.0, 3.0], confidence_level=0.95)
    >>> [round(value, 3) for value in found]
    [2.0, -0.484, 4.484]
    """
    numbers = np.asarray(values, dtype=float)
    is_known = ~np.isnan(numbers)
    owners = pd.factorize(pd.Series(range(len(numbers)) if clusters is None else [*clusters]))[0]
    known = numbers[is_known]
    if not len(known):
        return np.nan, np.nan, np.nan
    mean = float(known.mean())
    found, places = np.unique(owners[is_known], return_inverse=True)
    freedom = len(found) - 1
    if not freedom:
        return mean, np.nan, np.nan
    sums = np.bincount(places, known - mean)
    error = np.sqrt(len(found) / freedom * (sums @ sums)) / len(known)
    reach = float(stdtrit(freedom, (1 + confidence_level) / 2) * error)
    return mean, mean - reach, mean + reach


def summarize_errors(
    found: pd.DataFrame,
    columns: Mapping[str, str],
    *,
    reference: str,
    confidence_level: float,
) -> dict[str, float]:
    """Summarize squared errors of hidden results, and their difference from those by another name.

    `columns` has columns of predictions by the name of their error: ``mse``, and those to compare
    it with. The place of the model, ``row``, is the cluster of the intervals (`estimate_mean`); the
    difference is below 0 where errors are smaller than those of the `reference`.
    """
    squares = {
        name: (found[column] - found["truth"]).to_numpy() ** 2 for name, column in columns.items()
    }
    (_, low, high), change = (
        estimate_mean(errors, clusters=found["row"], confidence_level=confidence_level)
        for errors in (squares["mse"], squares["mse"] - squares[reference])
    )
    return {
        "models": found["row"].nunique(),
        "predictions": len(found),
        **{name: float(np.mean(own)) if len(own) else np.nan for name, own in squares.items()},
        "mse_low": float(np.maximum(low, 0)),
        "mse_high": high,
        **dict(zip(("difference", "difference_low", "difference_high"), change, strict=True)),
    }


def find_intervals(known: pd.DataFrame, new: pd.DataFrame) -> tuple[FloatArray, FloatArray]:
    """Find 90% prediction intervals of gaps by the errors of other predictions, from 0 to 1.

    The believed variance, of which only ratios have an influence, is multiplied with the mean of
    squared error / variance of the other results of the model, as if 10 further results had that of
    all. An interval is that of a normal distribution with this variance of which the share p of
    misses is below, for the prediction p, so that next to 0 or 1 nearly all of them are on the
    other side; stretched by the conformal quantile of the errors in units of it. Errors count by
    how near their predictions are: with normal weights of the difference in rank, whose standard
    deviation is 5% of all results (50 at least). With fewer than 9 errors an interval goes from 0
    to 1.

    Papadopoulos et al. (2002), ECML, for conformal intervals by normalized errors; Guan (2023),
    Localized conformal prediction, Biometrika 110:33-50.
    """
    if known.empty:
        return np.zeros(len(new)), np.ones(len(new))
    gaps, wanted = (own["prediction"].to_numpy() for own in (known, new))
    errors = known["truth"].to_numpy() - gaps
    own, others = _measure_deviations(known, errors, new)
    reach = np.abs(errors) / (own * np.where(errors < 0, *_shape_reach(gaps)))
    width = others * _find_quantiles(gaps, reach, wanted)
    down, up = _shape_reach(wanted)
    return (wanted - width * down).clip(0, 1), (wanted + width * up).clip(0, 1)


def cover_groups(known: pd.DataFrame, groups: IntArray) -> tuple[FloatArray, FloatArray]:
    """Find the intervals of predictions, each by the errors of the other groups."""
    low, high = np.empty((2, len(known)))
    for group in np.unique(groups):
        is_own = groups == group
        low[is_own], high[is_own] = find_intervals(known[~is_own], known[is_own])
    return low, high


def _measure_deviations(
    known: pd.DataFrame, errors: FloatArray, new: pd.DataFrame
) -> tuple[FloatArray, FloatArray]:
    """Standard deviations of errors: of known ones by the others of the model, and of new ones."""
    rows, asked = known["row"].to_numpy(), new["row"].to_numpy()
    variance, wanted = (own["variance"].to_numpy().clip(LEAST_VARIANCE) for own in (known, new))
    ratios = errors**2 / variance
    size = int(max(rows.max(), asked.max(initial=0))) + 1
    sums = np.bincount(rows, ratios, minlength=size) + SHRINKAGE * ratios.mean()
    counts = np.bincount(rows, minlength=size) + SHRINKAGE
    own = variance * (sums[rows] - ratios) / (counts[rows] - 1)
    others = wanted * sums[asked] / counts[asked]
    return np.sqrt(own.clip(LEAST_VARIANCE)), np.sqrt(others.clip(LEAST_VARIANCE))


def _shape_reach(gaps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many standard deviations an interval goes down and up."""
    below = gaps.clip(LEAST_SIDE, 1 - LEAST_SIDE)
    return -ndtri(MISS * below), -ndtri(MISS * (1 - below))


def _find_quantiles(gaps: FloatArray, reach: FloatArray, new: FloatArray) -> FloatArray:
    """What the reach of a further error exceeds with a probability of at most 10%, nearby."""
    count, ordered = len(gaps), np.sort(gaps)
    ranks, wanted = (
        (np.searchsorted(ordered, own) + np.searchsorted(ordered, own, side="right")) / (2 * count)
        for own in (gaps, new)
    )
    order = np.lexsort((gaps, reach))
    centers = np.linspace(0, 1, CENTERS)
    apart = (ranks[order] - centers[:, None]) / max(SHARE, LEAST / count)
    sums = np.cumsum(np.exp(-(apart**2) / 2), axis=1)
    places = (sums / sums[:, -1:] < PREDICTION_LEVEL * (1 + 1 / count) - 1e-9).sum(axis=1)
    return np.asarray(np.interp(wanted, centers, np.append(reach[order], FAR)[places]))


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

    A row per hidden result: the number of its ``split``; ``row`` and ``column``, the places of
    model and dataset; ``truth``, the hidden gap; ``prediction`` and its ``variance`` by the
    factors, drawn alike for all splits; and ``additive``, the prediction of additive effects. A
    split that knows or hides nothing is left out.
    """
    chosen = {n: own for n, own in enumerate(splits) if len(own.train.gaps) and len(own.test.gaps)}
    columns = ["split", "row", "column", "truth", "prediction", "variance", "additive"]
    kinds = dict.fromkeys(columns[:3], int) | dict.fromkeys(columns[3:], float)
    tables = [pd.DataFrame(columns=columns).astype(kinds)]
    pairs = [Pairs(own.test.rows, own.test.columns) for own in chosen.values()]
    trains = [own.train for own in chosen.values()]
    found = predict_gaps(trains, attributes, pairs, rng=rng) if chosen else []
    for (number, (train, test)), asked, moments in zip(chosen.items(), pairs, found, strict=True):
        values = (number, *asked, test.gaps, *moments, fit_additive(train).predict(*asked))
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
        places = np.concatenate(own)
        hidden = np.isin(np.arange(count), places)
        known = ~(share_family(results, hidden, families) if protocol == "family" else hidden)
        if not known.any():
            continue
        # Where families hide nothing more, they leave what random folds do.
        key = first, int(known.sum())
        if key not in made:
            made[key] = list(predict(hide_results(results, hidden, known)))
        numbers = np.repeat(np.arange(first, first + len(own)), [len(places) for places in own])
        asked = pd.DataFrame({"protocol": protocol, "fold": numbers, "place": places})
        at = np.searchsorted(np.flatnonzero(hidden), places)
        tables += [
            asked.assign(distance=distance, dimension=size, prediction=predicted[at])
            for distance, size, predicted in made[key]
        ]
    return _order_rows(pd.concat(tables), results)


def draw_hidden(results: Results, rng: np.random.Generator) -> IntArray:
    """Places of the results that a random fold hides, in order."""
    return np.sort(order_by_names(results, rng)[: min(HELD_OUT, len(results.gaps) // 2)])


def _order_rows(table: pd.DataFrame, results: Results) -> pd.DataFrame:
    """Name what was hidden, and order by method, protocol, fold and names."""
    models, datasets = (np.array(own, dtype=object) for own in (results.models, results.datasets))
    rows, columns = (own[table["place"]] for own in (results.rows, results.columns))
    names = {"model": models[rows], "dataset": datasets[columns]}
    table = table.assign(**names, truth=results.gaps[table["place"]])
    places = {name: place for names in (METHODS, PROTOCOLS) for place, name in enumerate(names)}
    return table.astype({"dimension": "Int64"})[VALIDATION].sort_values(
        VALIDATION[:-2],
        key=lambda own: own.map(places) if own.name in ("distance", "protocol") else own,
        ignore_index=True,
    )


def summarize_validation(
    validation: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Summarize the errors of each method, dimension and protocol.

    Intervals of errors and differences take all predictions of a model as one draw
    (`estimate_mean`): folds hide some results several times, and intervals over folds called
    equally good methods different in 45% of simulated studies of 30 results. They are NaN with one
    model.
    """
    is_plain = (validation["distance"] == PLAIN) & validation["dimension"].eq(dimension)
    plain = validation[is_plain.fillna(False)].set_index(RESULT)["prediction"]
    places = pd.MultiIndex.from_frame(validation[RESULT])
    hidden = validation.assign(row=validation["model"], plain=plain.reindex(places).to_numpy())
    rows = []
    for key, own in hidden.groupby(GROUP, sort=False, dropna=False):
        errors = summarize_errors(
            own,
            {"mse": "prediction", "plain": "plain"},
            reference="plain",
            confidence_level=confidence_level,
        )
        known = {"folds": own["fold"].nunique(), "confidence": confidence_level}
        rows.append(errors | known | dict(zip(GROUP, key, strict=True)))
    return pd.DataFrame(rows).astype({"dimension": "Int64"})


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
    results: Results, attributes: SideInformation, *, make_rng: MakeRng
) -> tuple[pd.DataFrame, dict[int, pd.DataFrame]]:
    """Leave models with few of their results, and predict the others; the curve and what was found.

    Of a fifth of the models with more results at a time, all but 1, 2, 4, 8, 12, 16 or 20 random
    ones each are hidden (`hide_unseen`), as far as two models have more. Intervals are calibrated
    by the errors of the other groups of models; models are the clusters of intervals of errors, and
    ``change`` is the mean over models of their mean squared error less that with the number before.
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
            found, ERRORS, reference="mse_additive", confidence_level=PREDICTION_LEVEL
        )
        # As if each result had a model of its own.
        found = found.assign(model=found["row"], row=np.arange(len(found)))
        groups, truth = found["split"].to_numpy(), found["truth"]
        low, high = cover_groups(found, groups)
        covered = (low <= truth + TINY) & (truth - TINY <= high)
        ends = {"coverage": covered.mean(), "width": (high - low).mean()}
        own = ((found["prediction"] - truth) ** 2).groupby(found["model"]).mean()
        change = estimate_mean(own - before, confidence_level=PREDICTION_LEVEL)
        before = own
        ends |= dict(zip(CURVE.split()[-3:], change, strict=True))
        rows.append({"results": count} | errors | ends)
        few_results[count] = found
    return pd.DataFrame(rows, columns=CURVE.split()), few_results
