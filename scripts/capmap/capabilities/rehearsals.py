"""Placing models of a study as if they were new, to learn how far such predictions are off."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.aggregation import FloatArray, IntArray
from capmap.capabilities.embedding import Embedding, fit_starts
from capmap.capabilities.halves import Fitting, MakeRng
from capmap.capabilities.intervals import Calibration, calibrate, list_features
from capmap.capabilities.placement import place_models
from capmap.capabilities.results import BoolArray, Results, bound_scores, measure_gaps

GROUPS = 5
# Known results of a model that is placed: these numbers, and a share of all.
COUNTS = (1, 2, 3, 4, 6, 9, 13, 20, 30, 45, 70)
SHARE = 0.8
# Gaps beyond these count as these where a model is placed or errors are learned from.
LIMITS = (-1.0, 2.0)
KINDS = {
    **dict.fromkeys(("model", "masking", "known", "per_dataset"), "int64"),
    **dict.fromkeys(("variance", "prediction", "truth"), "float64"),
}


class Masking(NamedTuple):
    """Results of one model, by their places: which are known, and which are hidden."""

    known: IntArray
    hidden: IntArray


class Predicted(NamedTuple):
    """Predictions averaged over fits, from 0 to 1, and their variance between the fits."""

    gaps: FloatArray
    variance: FloatArray


def rehearse_placements(
    results: Results, *, fitting: Fitting, make_rng: MakeRng, strict: bool
) -> pd.DataFrame:
    """Leave models out, place them by some of their results, and predict the others.

    Parameters
    ----------
    results : Results
        Of all models.
    fitting : Fitting
        How maps are fitted.
    make_rng : callable
        Makes random generators: ``make_rng("groups")`` splits the models, and
        ``make_rng("model", name)`` chooses results of a model.
    strict : bool
        Whether gaps are by the bounds of the models that are not left out, as those of a newcomer
        are, or by the bounds of all.

    Returns
    -------
    pandas.DataFrame
        A row per hidden result of each masking: place of the ``model``; number of the ``masking``;
        ``known``, results that the model was placed by; ``per_dataset``, results of the dataset in
        the fit; ``variance`` of the predictions between fits; ``prediction``, from 0 to 1; and
        ``truth``. Empty if no model has two results on datasets that others have too.

    Notes
    -----
    Models with at least two results are split into five random groups (fewer if models are fewer).
    Each group is left out of a fit, and each of its models is placed (`place_models`) by 1, 2, 3,
    4, 6, 9, 13, 20, 30, 45 and 70 random results, as far as it has more, and by 80% of them. If
    ``strict``, gaps beyond −1…2 count as −1 or 2, and datasets on which the models that are not
    left out tie have no part.
    """
    models = np.flatnonzero(results.per_model >= 2)
    order = models[make_rng("groups").permutation(len(models))]
    tables = [pd.DataFrame(columns=list(KINDS)).astype(KINDS)]
    count = 0
    for first in range(min(GROUPS, len(order))):
        left_out = np.isin(results.rows, order[first::GROUPS])
        train = results.choose(~left_out)
        usable = left_out & (train.per_dataset > 0)[results.columns]
        shown = results
        if strict:
            worst, best = bound_scores(train.scores, train.columns, len(results.datasets))
            train, shown = (_bound_gaps(part, worst, best) for part in (train, results))
            usable &= (worst < best)[results.columns]
        maskings = _draw_maskings(results, usable, make_rng)
        if maskings:
            fits = fit_starts(train, fitting.methods, starts=fitting.starts)
            predicted = place_maskings(fits, shown, maskings)
            table = _tabulate(shown, train, maskings, predicted)
            tables.append(table.assign(masking=table["masking"] + count).astype(KINDS))
            count += len(maskings)
    return pd.concat(tables, ignore_index=True)


def place_maskings(
    fits: Sequence[Embedding], results: Results, maskings: Sequence[Masking]
) -> Predicted:
    """Place models by their known results, and predict their hidden ones.

    Parameters
    ----------
    fits : sequence of Embedding
        Of other models, with results of all datasets that the maskings have.
    results : Results
        All of them.
    maskings : sequence of Masking
        At least one.

    Returns
    -------
    Predicted
        Of the hidden results, one masking after the other.
    """
    known = np.concatenate([masking.known for masking in maskings])
    hidden = np.concatenate([masking.hidden for masking in maskings])
    problems = replace(
        results.choose(known),
        models=[""] * len(maskings),
        rows=_number([len(masking.known) for masking in maskings]),
    )
    placed = [place_models(fit, problems).fit for fit in fits]
    rows = _number([len(masking.hidden) for masking in maskings])
    return average_fits(placed, rows, results.columns[hidden])


def average_fits(fits: Sequence[Embedding], rows: IntArray, columns: IntArray) -> Predicted:
    """Predict the gaps of some pairs of model and dataset, by their places."""
    found = np.stack([fit.predict(rows, columns) for fit in fits])
    return Predicted(found.mean(axis=0).clip(0, 1), found.var(axis=0))


def draw_masking(places: IntArray, *, known: int, rng: np.random.Generator) -> Masking:
    """Leave random ones of a model's results known, and hide the others."""
    order = rng.permutation(places)
    return Masking(np.sort(order[:known]), np.sort(order[known:]))


def calibrate_gaps(rehearsed: pd.DataFrame) -> Calibration:
    """Learn how large errors of predictions are, by `list_features`."""
    return calibrate(
        rehearsed["prediction"] - rehearsed["truth"],
        list_features(rehearsed["known"], rehearsed["per_dataset"], rehearsed["variance"]),
    )


def calibrate_means(rehearsed: pd.DataFrame) -> Calibration:
    """Learn how large errors of mean predictions are, by `list_mean_features`.

    Parameters
    ----------
    rehearsed : pandas.DataFrame
        Of `rehearse_placements`.

    Returns
    -------
    Calibration
        Of the mean prediction of all hidden results of a masking.
    """
    errors = rehearsed.assign(error=rehearsed["prediction"] - rehearsed["truth"])
    maskings = errors.groupby("masking").agg(
        error=("error", "mean"), known=("known", "first"), hidden=("error", "size")
    )
    features = list_mean_features(maskings["known"], maskings["hidden"])
    return calibrate(maskings["error"], features)


def list_mean_features(known: npt.ArrayLike, averaged: npt.ArrayLike) -> FloatArray:
    """List what the error of a model's mean prediction depends on.

    Parameters
    ----------
    known, averaged : array_like of int, shape (models,)
        Known results, and predictions that are averaged; at least one of these.

    Returns
    -------
    ndarray, shape (models, 3)
        1, 1 / (known + 1), and 1 / averaged.
    """
    shares = 1 / (np.asarray(known) + 1.0), 1 / np.asarray(averaged, dtype=float)
    return np.stack([np.ones_like(shares[0]), *shares], axis=1)


def measure_noise(rehearsed: pd.DataFrame) -> float:
    """Measure how far results are from predictions for models whose place is well known.

    Parameters
    ----------
    rehearsed : pandas.DataFrame
        Of `rehearse_placements`.

    Returns
    -------
    float
        Mean squared error from the most known results of each model, truths limited to 0…1 as
        predictions are; NaN without any.

    Notes
    -----
    Errors of the fit itself would be too small: the fit has seen those results, and has about as
    many coordinates as results. These errors are of hidden results, and a little too large: a
    model's place is not known exactly, nor are those of datasets.
    """
    most = rehearsed.groupby("model")["known"].transform("max")
    errors = rehearsed["prediction"] - rehearsed["truth"].clip(0, 1)
    errors = errors[rehearsed["known"] == most]
    return float((errors**2).mean())


def _bound_gaps(results: Results, worst: FloatArray, best: FloatArray) -> Results:
    gaps = measure_gaps(results.scores, results.columns, worst, best)
    return replace(results, gaps=gaps.clip(*LIMITS))


def _draw_maskings(results: Results, usable: BoolArray, make_rng: MakeRng) -> list[Masking]:
    """Maskings of all models with at least two usable results."""
    places = np.flatnonzero(usable)
    starts = np.flatnonzero(np.diff(results.rows[places])) + 1
    found = []
    for own in np.split(places, starts):
        total = len(own)
        counts = {count for count in (*COUNTS, int(np.ceil(SHARE * total))) if count < total}
        if counts:
            rng = make_rng("model", results.models[results.rows[own[0]]])
            found += [draw_masking(own, known=count, rng=rng) for count in sorted(counts)]
    return found


def _tabulate(
    results: Results, train: Results, maskings: Sequence[Masking], predicted: Predicted
) -> pd.DataFrame:
    sizes = [len(masking.hidden) for masking in maskings]
    hidden = np.concatenate([masking.hidden for masking in maskings])
    return pd.DataFrame(
        {
            "model": results.rows[hidden],
            "masking": _number(sizes),
            "known": np.repeat([len(masking.known) for masking in maskings], sizes),
            "per_dataset": train.per_dataset[results.columns[hidden]],
            "variance": predicted.variance,
            "prediction": predicted.gaps,
            "truth": results.gaps[hidden],
        }
    )


def _number(sizes: Sequence[int]) -> IntArray:
    """0 as many times as the first size says, then 1, and so on."""
    return np.repeat(np.arange(len(sizes)), sizes)
