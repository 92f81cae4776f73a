"""Cross-validation: hidden results, and how well each method predicts them from the others."""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from capmap.capabilities.embedding import METHODS, draw_start, fit_embedding
from capmap.capabilities.factors import (
    BASELINES,
    Pairs,
    fit_dataset_mean,
    gather_attributes,
    predict_gaps,
)
from capmap.capabilities.gaps import (
    BoolArray,
    Results,
    are_connected,
    bound_scores,
    choose_results,
    measure_gaps,
    order_by_names,
)
from capmap.capabilities.intervals import estimate_mean
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream
from capmap.settings.choices import Distance

NUMBERS = ("bend", "bend_low", "bend_high", "doubling", "doubling_low", "doubling_high")
FITTED = ("mse_few", "mse_many")
BENDS = ("distance", *NUMBERS, "confidence", *FITTED, "models", "predictions")
FEWEST = 8
N_RESAMPLES = 2000

Protocol = Literal["random", "strict", "family"]
PROTOCOLS: tuple[Protocol, ...] = ("random", "strict", "family")
Predictions: TypeAlias = Mapping[str, FloatArray]
# Predictions by name of pairs, of which places of model and dataset are given, from results.
Fit: TypeAlias = Callable[[Results, IntArray, IntArray], Predictions]
# Share of all results that may be hidden from one fit.
HIDDEN_SHARE = 0.01
# Results that are hidden in each random split.
HELD_OUT = 10
COLUMNS = (
    *("distance", "protocol", "fold", "set", "model", "dataset", "truth", "prediction", "results"),
    *("train_mse", "train_mae", "train_pearson"),
)
SHOWN_FOLD, MOST_SHOWN = 0, 10_000

PLAIN = "l2"
# What predicts the table of predictions; dimensions have no influence on it.
FACTORS = "factors"
# Least results of a model in each class, which ends where the next one begins.
CLASSES = (0, 1, 5, 10, 20, 40)
LARGEST: dict[object, int] = {start: end - 1 for start, end in pairwise(CLASSES)}
ORDER = {name: place for place, name in enumerate((FACTORS, *METHODS, *BASELINES, *PROTOCOLS))}
ORDER |= {"train": 0, "validation": 1}
LIMITS = {"mse": (0.0, np.inf), "mae": (0.0, np.inf), "pearson": (-1.0, 1.0)}
MEASURES = tuple(f"{part}{name}" for part in ("train_", "") for name in LIMITS)
GROUP = ["distance", "dimension", "protocol"]
ENDS = ("", "_low", "_high")
RESULT = ["protocol", "fold", "model", "dataset"]
SUMMARY = (
    *(*GROUP, "folds", "predictions"),
    *(f"{name}{end}" for name in (*MEASURES, "difference") for end in ENDS),
)
BY_RESULTS = (
    *("source", "distance", "results_from", "results_to", "models", "predictions"),
    *("mse", "mse_low", "mse_high", "mae"),
)
TRAINING = ("distance", "dimension", "model", "dataset", "truth", "prediction")
VALIDATION = (*GROUP, "fold", "model", "dataset", "truth", "prediction")


@dataclass(frozen=True)
class Split:
    """Results that are known, and those to predict.

    Parameters
    ----------
    train : Results
        With gaps by the bounds of the protocol.
    test : Results
        With gaps by the bounds of all results.
    shift, scale : ndarray, shape (results to predict,)
        What turns gaps by the bounds of the protocol into gaps by those of all results.
    """

    train: Results
    test: Results
    shift: FloatArray
    scale: FloatArray

    def restore(self, predicted: FloatArray) -> FloatArray:
        """Turn predictions of a fit to the known results into gaps by the bounds of all."""
        return np.asarray(self.shift + self.scale * predicted)


def split_results(
    results: Results,
    *,
    protocol: Protocol,
    families: Sequence[str],
    held_out: int,
    rng: np.random.Generator,
) -> Split:
    """Hide some random results.

    Parameters
    ----------
    results : Results
        At least two.
    protocol : {"random", "strict", "family"}
        ``random`` measures gaps before results are hidden, as Adorni et al. (2025) do; ``strict``
        fits to gaps by the bounds of the results that are not hidden; ``family`` is as
        ``random``, and with a result it hides the model's other results in the family of the
        dataset, which are not to predict.
    families : sequence of str
        The family of each dataset.
    held_out : int
        Number of results to predict, at most half of all.
    rng : numpy.random.Generator
        Source of the choice.

    Returns
    -------
    Split
        Errors have the same unit in all protocols. Under ``strict``, results of datasets that have
        no other results are not to predict.
    """
    return hide_results(
        results,
        _draw_hidden(results, held_out, rng),
        protocol=protocol,
        families=families,
    )


def _draw_hidden(results: Results, held_out: int, rng: np.random.Generator) -> IntArray:
    """Places of random results, in order."""
    return np.sort(order_by_names(results, rng)[: min(held_out, len(results.gaps) // 2)])


def hide_results(
    results: Results, chosen: IntArray, *, protocol: Protocol, families: Sequence[str]
) -> Split:
    """Hide some results, by their places in order, as `split_results` does."""
    known = np.ones(len(results.gaps), dtype=bool)
    known[chosen] = False
    if protocol == "family":
        known &= ~_share_family(results, chosen, families)
    train, test = results.choose(known), results.choose(chosen)
    if protocol == "strict":
        return bound_split(results, train, test)
    return Split(train, test, shift=np.zeros(len(chosen)), scale=np.ones(len(chosen)))


def crossvalidate(
    results: Results,
    fit: Fit,
    *,
    families: Sequence[str],
    n_splits: int,
    held_out: int,
    make_rng: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Predict hidden results, under each protocol.

    Parameters
    ----------
    results : Results
        At least two.
    fit : callable
        Fits known results and returns, by name, predicted gaps of pairs, of which places of model
        and dataset are given.
    families : sequence of str
        The family of each dataset.
    n_splits : int
        Number of random splits.
    held_out : int
        Number of results to predict in each, at most half of all.
    make_rng : callable
        Makes the random generator of a fold from its number: the same results are hidden whatever
        is fitted, and in all protocols.

    Returns
    -------
    pandas.DataFrame
        A row per predicted result, by protocol, fold, name, set, model and dataset: ``distance``,
        the name of what predicts; ``protocol``;
        ``fold``, from 0; ``set``, "validation" or, in fold 0 of ``random`` only, "train" (at most
        10,000 known results, at even distances); ``model``; ``dataset``; ``truth`` and
        ``prediction``, both by the bounds of all results; ``results``, how many known ones the
        model has; and, under ``random`` only, ``train_mse``, ``train_mae`` and ``train_pearson``
        of all known results of the fold.

    Notes
    -----
    A fold is left out of a protocol that leaves nothing known (one family of datasets) or nothing
    to predict. As many folds share one fit, from which the results of all of them are hidden, as
    that hides at most a hundredth of all results: of 50 000, ten splits of ten are predicted by one
    fit to 49 900.
    """
    hidden = [_draw_hidden(results, held_out, make_rng(str(fold))) for fold in range(n_splits)]
    together = max(1, int(HIDDEN_SHARE * len(results.gaps)) // max(held_out, 1))
    tables = []
    predictions: dict[tuple[int, int, bool], Mapping[str, FloatArray]] = {}
    for protocol, first in itertools.product(PROTOCOLS, range(0, n_splits, together)):
        own = hidden[first : first + together]
        chosen = np.unique(np.concatenate(own))
        split = hide_results(results, chosen, protocol=protocol, families=families)
        if len(split.train.gaps) and len(split.test.gaps):
            folds = {
                first + place: _find_results(results, places, split.test)
                for place, places in enumerate(own)
            }
            # Where families hide nothing more, they leave what random splits do.
            key = first, len(split.train.gaps), protocol == "strict"
            if key not in predictions:
                predictions[key] = _fit_split(split, fit, protocol=protocol)
            tables += _tabulate_split(split, predictions[key], folds, protocol=protocol)
    if not tables:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(tables, ignore_index=True)[list(COLUMNS)]


def bound_split(results: Results, train: Results, test: Results) -> Split:
    """Measure the gaps of known results by their own bounds.

    Parameters
    ----------
    results, train, test : Results
        All of them, those that are known and those to predict.

    Returns
    -------
    Split
        Without the results to predict whose dataset has no known ones.
    """
    count = len(results.datasets)
    worst, best = bound_scores(results.scores, results.columns, count)
    known_worst, known_best = bound_scores(train.scores, train.columns, count)
    test = test.choose(np.asarray(~np.isnan(known_best[test.columns])))
    ranges = (best - worst)[test.columns]
    ranges = np.where(ranges == 0, 1.0, ranges)
    return Split(
        train=replace(
            train, gaps=measure_gaps(train.scores, train.columns, known_worst, known_best)
        ),
        test=test,
        shift=(best - known_best)[test.columns] / ranges,
        scale=(known_best - known_worst)[test.columns] / ranges,
    )


def measure_errors(truth: FloatArray, predicted: FloatArray) -> dict[str, float]:
    """Mean squared error, mean absolute error and Pearson's r of predictions.

    Returns
    -------
    dict
        ``mse``, ``mae`` and ``pearson``, the last one NaN where either does not vary.
    """
    errors = predicted - truth
    return {
        "mse": float(np.mean(errors**2)),
        "mae": float(np.mean(np.abs(errors))),
        "pearson": correlate(truth, predicted),
    }


def correlate(truth: FloatArray, predicted: FloatArray) -> float:
    """Pearson's correlation; NaN with fewer than two values or without variation."""
    first, second = truth - np.mean(truth), predicted - np.mean(predicted)
    scale = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / scale if scale > 1e-12 else float("nan")


def _share_family(results: Results, chosen: IntArray, families: Sequence[str]) -> BoolArray:
    """Whether a result is of a model and a family that a chosen result has."""
    family = np.unique(np.asarray(families, dtype=object), return_inverse=True)[1]
    keys = results.rows * (family.max(initial=0) + 1) + family[results.columns]
    return np.isin(keys, keys[chosen])


def _find_results(results: Results, places: IntArray, test: Results) -> IntArray:
    """Where some results, by their places, are among those to predict."""
    width = len(results.datasets)
    wanted = results.rows[places] * width + results.columns[places]
    return np.flatnonzero(np.isin(test.rows * width + test.columns, wanted))


def _fit_split(split: Split, fit: Fit, *, protocol: Protocol) -> Mapping[str, FloatArray]:
    """Predictions of results that are hidden and, under ``random``, then of those that are not."""
    shown = [split.test, split.train] if protocol == "random" else [split.test]
    rows, columns = (
        np.concatenate([getattr(own, name) for own in shown]) for name in ("rows", "columns")
    )
    return fit(split.train, rows, columns)


def _tabulate_split(
    split: Split,
    predictions: Mapping[str, FloatArray],
    folds: Mapping[int, IntArray],
    *,
    protocol: Protocol,
) -> list[pd.DataFrame]:
    """Tables of the folds, by the places of their results among those to predict."""
    test, train = split.test, split.train
    count, is_random = len(test.gaps), protocol == "random"
    tables = []
    for name, found in predictions.items():
        predicted, known = split.restore(found[:count]), found[count:]
        errors = dict.fromkeys(("mse", "mae", "pearson"), float("nan"))
        if is_random:
            errors = measure_errors(train.gaps, known)
        about = {f"train_{measure}": value for measure, value in errors.items()}
        for fold, places in folds.items():
            own = _tabulate(test.choose(places), predicted[places], train)
            parts = [own.assign(set="validation")]
            if is_random and fold == SHOWN_FOLD:
                shown = np.linspace(0, len(known) - 1, min(len(known), MOST_SHOWN)).astype(np.intp)
                table = _tabulate(train.choose(shown), known[shown], train)
                parts.insert(0, table.assign(set="train"))
            table = pd.concat(parts, ignore_index=True)
            tables.append(table.assign(distance=name, protocol=protocol, fold=fold, **about))
    return [table for table in tables if len(table)]


def _tabulate(shown: Results, predicted: FloatArray, train: Results) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "model": np.array(shown.models, dtype=object)[shown.rows],
            "dataset": np.array(shown.datasets, dtype=object)[shown.columns],
            "truth": shown.gaps,
            "prediction": predicted,
            "results": train.per_model[shown.rows],
        }
    )


def join_folds(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Join predictions of hidden results.

    Parameters
    ----------
    tables : iterable of pandas.DataFrame
        Columns ``distance``, ``dimension`` (missing for baselines and factors) and those of
        `crossvalidate`.

    Returns
    -------
    pandas.DataFrame
        All rows, ``dimension`` as Int64: embeddings before baselines, then by dimension, protocol,
        fold, set, model and dataset. The order of tables and of rows has no influence.
    """
    joined = pd.concat([table.astype({"dimension": "Int64"}) for table in tables])
    return joined.sort_values(
        [*GROUP, "fold", "set", "model", "dataset"],
        key=lambda column: (
            column.map(ORDER) if column.name in ("distance", "protocol", "set") else column
        ),
        ignore_index=True,
    )


def list_training(folds: pd.DataFrame) -> pd.DataFrame:
    """List predictions of results that were not hidden, in the first fold of random splits.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.

    Returns
    -------
    pandas.DataFrame
        Columns ``distance``, ``dimension``, ``model``, ``dataset``, ``truth`` and ``prediction``.
    """
    return folds.loc[folds["set"] == "train", list(TRAINING)].reset_index(drop=True)


def list_validation(folds: pd.DataFrame) -> pd.DataFrame:
    """List predictions of hidden results.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.

    Returns
    -------
    pandas.DataFrame
        Columns ``distance``, ``dimension``, ``protocol``, ``fold``, ``model``, ``dataset``,
        ``truth`` and ``prediction``.
    """
    return folds.loc[folds["set"] == "validation", list(VALIDATION)].reset_index(drop=True)


def summarize_folds(
    folds: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Summarize the errors of each method, dimension and protocol over folds.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the plain distance "l2" that others are compared with.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`: ``distance``, ``dimension``, ``protocol``, ``folds``,
        ``predictions`` (hidden results in all folds); ``mse`` and ``mae`` over all predictions;
        ``pearson``, the mean over folds, as are errors of results that were not hidden (``train_``,
        NaN but for ``random``), each with an interval ``…_low`` to ``…_high``; ``difference``, the
        mean squared error minus that of "l2" on the same results, also with its interval (NaN where
        "l2" was not fitted in that dimension); and ``confidence``, the level of the intervals.

    Notes
    -----
    Intervals of errors and differences are Student's t intervals that take all predictions of a
    model as one draw (`estimate_mean`): folds hide some results several times, and intervals over
    folds called equally good methods different in 45% of simulated studies of 30 results. Those of
    correlations and of ``train_`` are over folds, and say how much the choice of hidden results
    matters. All are cut to where the value makes sense, and NaN with one model or fold. A fold in
    which Pearson's r is not defined (one result, or all alike) does not count for it.
    """
    measured = _measure_folds(folds)
    estimate = partial(estimate_mean, confidence_level=confidence_level)
    hidden = folds[folds["set"] == "validation"]
    errors = (hidden["prediction"] - hidden["truth"]).abs()
    hidden = hidden.assign(mae=errors, mse=errors**2)
    is_plain = (hidden["distance"] == PLAIN) & hidden["dimension"].eq(dimension).fillna(False)
    plain = hidden[is_plain].set_index(RESULT)["mse"]
    by_group = dict(list(hidden.groupby(GROUP, sort=False, dropna=False)))
    rows = []
    for key, own in measured.groupby(GROUP, sort=False, dropna=False):
        row: dict[str, object] = dict(zip(GROUP, key, strict=True))
        row |= {"folds": len(own), "predictions": own["predictions"].sum()}
        results = by_group[key]
        for name in MEASURES:
            if name in ("mse", "mae"):
                found = estimate(results[name], clusters=results["model"])
            else:
                found = estimate(own[name].to_numpy())
            row |= _name_ends(name, np.clip(found, *LIMITS[name.removeprefix("train_")]))
        reference = plain.reindex(pd.MultiIndex.from_frame(results[RESULT]))
        apart = results["mse"].to_numpy() - reference.to_numpy()
        row |= _name_ends("difference", estimate(apart, clusters=results["model"]))
        rows.append(row)
    table = pd.DataFrame(rows, columns=list(SUMMARY)).astype({"dimension": "Int64"})
    return table.assign(confidence=confidence_level)


def group_by_results(
    folds: pd.DataFrame, *, dimension: int, confidence_level: float
) -> pd.DataFrame:
    """Group the errors of random splits by how many known results the model has.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `join_folds`.
    dimension : int
        Dimension of the embeddings.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        In the order of `join_folds`, then of classes (0, 1–4, 5–9, 10–19, 20–39 and from 40 on,
        those with predictions): ``source`` ("cross-validation"), ``distance``, ``results_from``,
        ``results_to`` (missing where open), ``models``, ``predictions``, ``mse``, ``mse_low``,
        ``mse_high`` and ``mae``, over all predictions of the class in all folds.

    Notes
    -----
    Intervals are Student's t intervals that take a model's predictions as one draw
    (`estimate_mean`), cut at 0.
    """
    is_shown = folds["dimension"].isna() | folds["dimension"].eq(dimension).fillna(False)
    is_hidden = (folds["set"] == "validation") & (folds["protocol"] == "random")
    hidden = folds[is_hidden & is_shown]
    classes = np.searchsorted(CLASSES, hidden["results"], side="right") - 1
    least = np.array(CLASSES)[classes]
    rows = []
    for (distance, start), own in hidden.groupby(["distance", least], sort=False):
        squares = (own["prediction"] - own["truth"]).to_numpy() ** 2
        found = estimate_mean(squares, clusters=own["model"], confidence_level=confidence_level)
        row = {
            "source": "cross-validation",
            "distance": distance,
            "results_from": start,
            "results_to": LARGEST.get(start, pd.NA),
            "models": own["model"].nunique(),
            "predictions": len(own),
            "mae": np.sqrt(squares).mean(),
        }
        rows.append(row | _name_ends("mse", np.clip(found, *LIMITS["mse"])))
    table = pd.DataFrame(rows, columns=list(BY_RESULTS)).astype({"results_to": "Int64"})
    return table.sort_values(
        ["distance", "results_from"],
        key=lambda column: column.map(ORDER) if column.name == "distance" else column,
        ignore_index=True,
    )


def _measure_folds(folds: pd.DataFrame) -> pd.DataFrame:
    """Errors of each fold, in order."""
    rows = []
    keys = [*GROUP, "fold"]
    hidden = folds[folds["set"] == "validation"]
    for key, own in hidden.groupby(keys, sort=False, dropna=False):
        errors = measure_errors(own["truth"].to_numpy(), own["prediction"].to_numpy())
        trained = own[[name for name in MEASURES if name.startswith("train_")]].iloc[0].to_dict()
        row = dict(zip(keys, key, strict=True)) | {"predictions": len(own)}
        rows.append(row | errors | trained)
    return pd.DataFrame(rows).astype({"dimension": "Int64"})


def _name_ends(name: str, interval: Iterable[float]) -> dict[str, object]:
    return {f"{name}{end}": float(value) for end, value in zip(ENDS, interval, strict=True)}


def crossvalidate_study(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    dimension: int,
    dimensions: Sequence[int],
    n_splits: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Predict hidden results of a study by baselines, factors, and distances in some dimensions.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    dimension, dimensions, n_splits
        As in the setting `capabilities`; plain L2 and the dimension are always among them.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``validation``, ``summary``, ``by_results`` and ``bend``, and the file
        ``training``. The same results are hidden from all that predicts.
    """
    results = choose_results(gaps)
    make_rng = partial(make_stream, seed, study, "capabilities")
    options: Any = {
        "families": datasets.set_index("dataset")["family"].loc[results.datasets].tolist(),
        "n_splits": n_splits,
        "held_out": HELD_OUT,
        "make_rng": partial(make_rng, "folds"),
    }
    attributes = gather_attributes(results, models, datasets)

    def predict_plainly(known: Results, rows: IntArray, columns: IntArray) -> Predictions:
        pairs, rng = Pairs(rows, columns), make_rng("factors")
        (found,) = predict_gaps([known], attributes, [pairs], rng=rng)
        return {FACTORS: found.mean} | {
            name: fit(known).predict(rows, columns) for name, fit in BASELINES.items()
        }

    plain = crossvalidate(results, predict_plainly, **options)
    tables = [plain.assign(dimension=pd.array([pd.NA] * len(plain), "Int64"))]
    for size in sorted({dimension, *dimensions}):
        start = draw_start(results, dimension=size, seed=seed, study=study)
        for distance in dict.fromkeys([PLAIN, *get_args(Distance)]):
            predict = partial(_predict_by_distance, distance, start)
            table = crossvalidate(results, predict, **options)
            tables.append(table.assign(dimension=size))
    table = join_folds(tables)
    level: Any = {"dimension": dimension, "confidence_level": confidence_level}
    return {
        "validation": list_validation(table),
        "training": list_training(table),
        "summary": summarize_folds(table, **level),
        "by_results": group_by_results(table, **level),
        "bend": locate_bends(table, **level, make_rng=partial(make_rng, "bend")),
    }


def _predict_by_distance(
    distance: str, start: FloatArray, known: Results, rows: IntArray, columns: IntArray
) -> Predictions:
    """By the distances of a fit; by the mean of the dataset where no known result connects."""
    fit = fit_embedding(known, METHODS[distance], start=start)
    is_near = are_connected(known, rows, columns)
    mean = fit_dataset_mean(known).predict(rows, columns)
    return {distance: np.where(is_near, fit.predict(rows, columns), mean)}


def locate_bends(
    folds: pd.DataFrame,
    *,
    dimension: int,
    confidence_level: float,
    make_rng: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Locate where the error of hidden results stops to fall with the results of their model.

    Parameters
    ----------
    folds : pandas.DataFrame
        Of `capmap.capabilities.crossvalidation.join_folds`.
    dimension : int
        Dimension of the embeddings.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes the random generator of a method.

    Returns
    -------
    pandas.DataFrame
        By method: ``distance``; ``bend``, the number of results from which on the error is level,
        with ``bend_low`` and ``bend_high``; ``doubling``, the change of the error with twice as
        many results, by a straight line over all of them, with ``doubling_low`` and
        ``doubling_high``; ``confidence``; ``mse_few`` and ``mse_many``, the fitted error of the
        model with fewest results and beyond the bend; ``models`` and ``predictions``. Numbers are
        NaN with fewer than 8 models that differ in their results.

    Notes
    -----
    A line that falls with the logarithm of the number of results and is level from the bend on is
    fitted to the squared errors by least squares, for every number of results that a model has as
    the bend (segmented regression: Muggeo 2003, doi:10.1002/sim.1545). An error that does not fall
    bends at the fewest results; whether it falls at all, ``doubling`` says. Intervals are
    percentiles over resampled models, each with all of its predictions. Models differ in more than
    these numbers, so that a bend is no effect of adding results.
    """
    is_shown = folds["dimension"].isna() | folds["dimension"].eq(dimension).fillna(False)
    is_hidden = (folds["set"] == "validation") & (folds["protocol"] == "random")
    hidden = folds[is_hidden & is_shown & (folds["results"] > 0)]
    rows = []
    for distance, own in hidden.groupby("distance", sort=False):
        squares = (own["prediction"] - own["truth"]) ** 2
        groups = own.assign(square=squares).groupby("model", sort=True)
        models = groups.agg(square=("square", "mean"), known=("results", "mean"))
        found = locate_bend(
            models["known"].to_numpy(np.float64),
            models["square"].to_numpy(np.float64),
            groups["model"].count().to_numpy().astype(np.float64),
            confidence_level=confidence_level,
            rng=make_rng(str(distance)),
        )
        counts = {"models": len(models), "predictions": len(own)}
        rows.append({"distance": distance, "confidence": confidence_level, **found, **counts})
    return pd.DataFrame(rows, columns=list(BENDS))


def locate_bend(
    known: FloatArray,
    errors: FloatArray,
    weights: FloatArray,
    *,
    confidence_level: float,
    rng: np.random.Generator,
) -> dict[str, float]:
    """Locate the bend of one curve.

    Parameters
    ----------
    known, errors, weights : ndarray of float64, shape (models,)
        Number of known results (above 0), mean squared error and number of predictions of each
        model.
    confidence_level : float
        Of the interval, between 0 and 1.
    rng : numpy.random.Generator
        Draws models.

    Returns
    -------
    dict
        The columns of `locate_bends` that are numbers; NaN where they cannot be estimated.
    """
    count, names = len(known), (*NUMBERS, *FITTED)
    if len(np.unique(known)) < FEWEST:
        return dict.fromkeys(names, np.nan)
    bends, levels, slopes = _fit(known, errors, weights[None])
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=N_RESAMPLES) * weights
    tail = (1 - confidence_level) / 2
    ends = [
        np.quantile(resampled, [tail, 1 - tail], method="inverted_cdf")
        for resampled in (_fit(known, errors, drawn)[0], _double(known, errors, drawn))
    ]
    doubling = _double(known, errors, weights[None])[0]
    few = levels[0] + slopes[0] * np.log(bends[0] / known.min())
    values = (bends[0], *ends[0], doubling, *ends[1], few, levels[0])
    return dict(zip(names, map(float, values), strict=True))


def _double(known: FloatArray, errors: FloatArray, weights: FloatArray) -> FloatArray:
    """Change of the error with twice as many results, by the best line of each row of weights."""
    logs = np.log2(known)
    total = weights.sum(axis=1)
    middle, mean = weights @ logs / total, weights @ errors / total
    together = weights @ (logs * errors) - total * middle * mean
    varied = weights @ logs**2 - total * middle**2
    flat = np.zeros(len(weights))
    return np.asarray(np.divide(together, varied, out=flat, where=varied > 1e-9 * total))


def _fit(
    known: FloatArray, errors: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Bend, level and slope of the best line of each row of weights."""
    total = weights.sum(axis=1)
    means = weights @ errors / total
    spread = weights @ errors**2 - total * means**2
    shape = len(weights)
    bends, levels = np.full(shape, known.min()), means.copy()
    slopes, gains = np.zeros(shape), np.zeros(shape)
    for bend in np.unique(known)[1:]:
        lacking = np.maximum(0, np.log(bend / known))
        middle = weights @ lacking / total
        varied = weights @ lacking**2 - total * middle**2
        together = weights @ (lacking * errors) - total * middle * means
        usable = (varied > 1e-12 * total) & (together > 0)
        slope = np.divide(together, varied, out=np.zeros(shape), where=usable)
        # Rounding must not make a later bend better than one that fits as well.
        better = usable & (slope * together > gains + 1e-12 * spread)
        bends[better], slopes[better] = bend, slope[better]
        levels[better] = (means - slope * middle)[better]
        gains[better] = (slope * together)[better]
    return bends, levels, slopes
