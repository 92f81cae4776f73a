"""Prediction intervals of gaps that hold for small and for large ones, and model by model."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from capmap.capabilities.intervals import Calibration, calibrate
from capmap.ranking.aggregation import FloatArray, IntArray

# Errors of the nearest predictions that an interval is made of: this share of all, but not fewer.
SHARE, LEAST = 0.1, 100
CENTERS = 25
# Shares of the misses that are below the interval, of which the one with narrow intervals is taken.
TAILS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Weight of the mean squared error of all in that of a model or dataset, in results.
SHRINKAGE = 5.0
REWEIGHTINGS = 3


class Hidden(NamedTuple):
    """Predictions of gaps, and what their errors depend on.

    Parameters
    ----------
    rows, columns : ndarray of int, shape (predictions,)
        Places of models and datasets.
    gaps : ndarray, shape (predictions,)
        Predicted, from 0 to 1.
    features : ndarray, shape (predictions, features)
        Not negative, such as those of `capmap.capabilities.intervals.list_features`.
    """

    rows: IntArray
    columns: IntArray
    gaps: FloatArray
    features: FloatArray

    def choose(self, chosen: IntArray) -> "Hidden":
        """Some of the predictions."""
        return Hidden(
            self.rows[chosen], self.columns[chosen], self.gaps[chosen], self.features[chosen]
        )


@dataclass(frozen=True)
class LocalCalibration:
    """Errors of predictions, by which those of others are judged.

    Parameters
    ----------
    hidden : Hidden
        The predictions.
    errors : ndarray, shape (predictions,)
        Truth, from 0 to 1, minus prediction.
    base, scale : Calibration
        Of the size of errors by their features, and also by model and dataset.
    """

    hidden: Hidden
    errors: FloatArray
    base: Calibration
    scale: Calibration

    def find_intervals(
        self, predictions: Hidden, *, confidence_level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Find the ends of the prediction intervals.

        Parameters
        ----------
        predictions : Hidden
            Of other results.
        confidence_level : float
            Share of truths that are to be within, between 0 and 1.

        Returns
        -------
        low, high : ndarray, shape (predictions,)
            From 0 to 1; 0 and 1 where the errors are too few to tell (less than 9 for 90%).

        Notes
        -----
        Errors are divided by their standard deviations. Of those of the tenth of results (100 at
        least) whose predictions are nearest, the ends are conformal quantiles: those whose rank is
        that of n + 1 errors. Which share of the misses is on either side is the choice (of five)
        with the narrowest intervals, so that next to 0 or 1 all of them are on the other side; as
        the same errors make the choice, 1 or 2% more truths are missed. Equal predictions have
        the same errors nearby, however many they are.
        """
        low, high = np.zeros(len(predictions.gaps)), np.ones(len(predictions.gaps))
        count = len(self.errors)
        if not count or not len(low):
            return low, high
        deviations = self._measure_deviations(predictions)
        own = self._measure_deviations(self.hidden, own_errors=True)
        order = np.lexsort((self.errors, self.hidden.gaps))
        known, ratios = self.hidden.gaps[order], (self.errors / own)[order]
        size = min(count, max(LEAST, int(np.ceil(SHARE * count))))
        spans = _choose_spans(known, size)
        middles = np.array([np.median(known[start:stop]) for start, stop in spans])
        nearest = np.searchsorted((middles[1:] + middles[:-1]) / 2, predictions.gaps)
        for place, (start, stop) in enumerate(spans):
            chosen = np.flatnonzero(nearest == place)
            nearby = order[start:stop]
            ends = _choose_ends(
                np.sort(ratios[start:stop]),
                self.hidden.gaps[nearby],
                own[nearby],
                1 - confidence_level,
            )
            reach = deviations[chosen, None] * ends
            found = (predictions.gaps[chosen, None] + reach).clip(0, 1)
            low[chosen], high[chosen] = found[:, 0], found[:, 1]
        return low, high

    def _measure_deviations(self, predictions: Hidden, *, own_errors: bool = False) -> FloatArray:
        known = self.hidden, self.errors, self.base
        return self.scale.measure_deviations(_extend(*known, predictions, own_errors=own_errors))


def calibrate_locally(hidden: Hidden, errors: FloatArray) -> LocalCalibration:
    """Learn how errors depend on the prediction, the model, the dataset and the features.

    Parameters
    ----------
    hidden : Hidden
        Predictions of results that had no part in them; may be empty.
    errors : ndarray, shape (predictions,)
        Truth minus prediction.

    Returns
    -------
    LocalCalibration
        The variance of an error is σ² (a + b M + c D + d M D). In σ² the features and p (1 − p) of
        the prediction p, and in the bracket M and D, have weights that are not negative (those of
        `calibrate`). M and D are the mean squares of error / σ of the other results of the model
        and of the dataset, both as if 5 further results had that of all.

    References
    ----------
    Papadopoulos et al. (2002), ECML; Lei and Wasserman (2014), Journal of the Royal Statistical
    Society B 76:71-96, for conformal intervals from nearby errors; Vovk et al. (2003), Mondrian
    confidence machine.
    """
    base = calibrate(errors, _add_spread(hidden), reweightings=REWEIGHTINGS)
    features = _extend(hidden, errors, base, hidden, own_errors=True)
    scale = calibrate(errors, features, reweightings=REWEIGHTINGS)
    return LocalCalibration(hidden, errors, base, scale)


def _add_spread(predictions: Hidden) -> FloatArray:
    """The features, and the variance that a gap from 0 to 1 with that mean has at most."""
    spread = predictions.gaps * (1 - predictions.gaps)
    return np.concatenate([predictions.features, spread[:, None]], axis=1)


def _extend(
    known: Hidden,
    errors: FloatArray,
    base: Calibration,
    predictions: Hidden,
    *,
    own_errors: bool,
) -> FloatArray:
    """Variances by the features, times what other errors (if it is one, less the own) tell."""
    variances = base.measure_deviations(_add_spread(predictions)) ** 2
    squares = (errors / base.measure_deviations(_add_spread(known))) ** 2
    mean = squares.mean() if len(squares) else 0.0
    own = squares if own_errors else 0.0
    ratios = []
    for theirs, places in ((known.rows, predictions.rows), (known.columns, predictions.columns)):
        size = int(max(theirs.max(initial=0), places.max(initial=0))) + 1
        sums = np.bincount(theirs, squares, minlength=size)[places] - own
        counts = np.bincount(theirs, minlength=size)[places] - own_errors
        ratios.append((sums + SHRINKAGE * mean) / (counts + SHRINKAGE))
    products = np.stack([np.ones(len(variances)), *ratios, ratios[0] * ratios[1]], axis=1)
    return np.asarray((variances[:, None] * products).clip(min=0))


def _choose_spans(gaps: FloatArray, size: int) -> IntArray:
    """Starts and stops of up to 25 spans of sorted predictions, which part no equal ones."""
    starts = np.linspace(0, len(gaps) - size, CENTERS).round().astype(np.intp)
    first = np.searchsorted(gaps, gaps[starts])
    last = np.searchsorted(gaps, gaps[starts + size - 1], side="right")
    return np.unique(np.stack([first, last], axis=1), axis=0)


def _choose_ends(
    ratios: FloatArray, gaps: FloatArray, deviations: FloatArray, miss: float
) -> FloatArray:
    """Both ends in standard deviations, so that intervals of nearby results are narrow."""
    options = []
    for tail in TAILS:
        ends = np.array(
            [-_find_quantile(-ratios[::-1], miss * tail), _find_quantile(ratios, miss * (1 - tail))]
        )
        found = (gaps[:, None] + deviations[:, None] * ends).clip(0, 1)
        options.append((float(np.diff(found, axis=1).mean()), ends))
    return min(options, key=lambda option: option[0])[1]


def _find_quantile(ratios: FloatArray, miss: float) -> float:
    """What a further ratio exceeds with a probability of at most ``miss``."""
    rank = int(np.ceil((len(ratios) + 1) * (1 - miss) - 1e-9))
    return float(ratios[rank - 1]) if 0 < rank <= len(ratios) else np.inf
