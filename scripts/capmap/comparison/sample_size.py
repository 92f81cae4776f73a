"""How many runs are enough: widths to expect, and the cells where one more run tells most."""

from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.comparison.score_matrix import (
    ScoreMatrix,
    arrange_runs,
    choose_common,
    count_unused,
    list_pairs,
)
from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray, round_significant
from capmap.ranking.resampling import Strata, stratify_runs
from capmap.ranking.scopes import has_enough_runs
from capmap.ranking.standard_errors import measure_influences, satterthwaite_freedom
from capmap.ranking.statistics import evaluate_runs
from capmap.settings.choices import IntervalMethod, Missing, Weights

SEEDS = (3, 5, 10, 20)
DECIMALS = 12
WIDTHS = ["model", "seeds", "width", "width_now"]
ADVICE = ["model", "dataset", "runs", "std", "gain", "share"]


@dataclass(frozen=True)
class Noise:
    """How the spread of each cell's runs blurs the interquartile means.

    Parameters
    ----------
    matrix : ScoreMatrix
        The cells that the policy for empty cells keeps.
    estimates : numpy.ndarray, shape (models,)
        Interquartile mean of each model, as reported.
    spreads : numpy.ndarray, shape (models, datasets)
        Standard deviation of each cell's runs; borrowed where there is one run, NaN where none.
    run_variances : numpy.ndarray, shape (models, datasets)
        Variance of the interquartile mean that a cell would cause with a single run; n runs cause
        the n-th part of it. 0 where a cell is empty, NaN where no cell of the study is repeated.
    shares : numpy.ndarray, shape (models, datasets)
        Weight of each of a model's datasets, in parts of their mean weight; 1 where it is empty.
    lost : numpy.ndarray, shape (models, datasets)
        Degrees of freedom that a cell's variance loses at the quartiles, see
        `capmap.ranking.standard_errors.Influences`, per run.
    cells_unused : int
        Cells with runs that the policy leaves out.
    """

    matrix: ScoreMatrix
    estimates: FloatArray
    spreads: FloatArray
    run_variances: FloatArray
    shares: FloatArray
    lost: FloatArray
    cells_unused: int

    @cached_property
    def variances(self) -> FloatArray:
        """Variance of each model's interquartile mean with the runs there are."""
        counts = np.maximum(self.matrix.counts, 1)
        return np.asarray((self.run_variances / counts).sum(axis=1))


def measure_noise(runs: pd.DataFrame, *, missing: Missing, weights: Weights) -> Noise:
    """Measure how sure the interquartile means are, cell by cell.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run, at least one.
    missing : {"pairwise", "common"}
        Policy for empty cells, as in `choose_common`.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.

    Returns
    -------
    Noise
        The order of the rows has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.
    ValidationError
        If no dataset has runs of every model under ``common``.

    Notes
    -----
    The variance of a trimmed mean is that of its winsorized runs (Tukey and McLaughlin 1963), here
    stratified by dataset: runs beyond the outermost ones that the interquartile mean keeps are
    moved to these, and a cell with variance s² of such runs contributes ``(w / k)² s² / n``, where
    w is the dataset's share of all weight and k the share that is kept. So a cell in the middle
    counts in full, one whose runs are all trimmed away counts nothing, and one at the cut counts
    in part.

    One run shows no spread. Such a cell borrows the variance pooled over the model's other cells; a
    model without any repeated cell borrows that of the same dataset pooled over the other models,
    and where there is none either, that of the whole study. It counts by the part of the run that
    is kept.

    References
    ----------
    Tukey, J. W. and McLaughlin, D. H. (1963). Less vulnerable confidence and significance
    procedures for location based on a single sample: trimming/winsorization 1. Sankhyā A 25,
    331–352.
    """
    every = arrange_runs(runs)
    matrix = choose_common(every, missing=missing)
    borrowed = _pool_variances(matrix)
    places = {dataset: place for place, dataset in enumerate(matrix.datasets)}
    kept = runs[runs["dataset"].isin(places)]
    estimates = np.empty(len(matrix.models))
    run_variances, shares, lost = (np.zeros(matrix.counts.shape) for _ in range(3))
    for row, (_, own) in enumerate(kept.groupby("model", sort=True)):
        scores = round_significant(own["score"])
        strata = stratify_runs(scores, own["dataset"].tolist(), weights=weights)
        columns = [places[dataset] for dataset in sorted(own["dataset"].unique())]
        estimates[row] = evaluate_runs("iqm", strata)
        shares[row, columns] = _share_weight(strata)
        lost[row, columns] = measure_influences("iqm", strata).lost / strata.draws
        run_variances[row, columns] = _winsorize_variances(strata, borrowed[row, columns])
    return Noise(
        matrix=matrix,
        estimates=estimates,
        spreads=np.sqrt(np.where(matrix.counts == 1, borrowed, matrix.variances)),
        run_variances=run_variances,
        shares=np.where(matrix.is_filled, shares, 1),
        lost=lost,
        cells_unused=count_unused(every, matrix),
    )


def expect_widths(
    noise: Noise, *, interval: IntervalMethod, confidence_level: float
) -> pd.DataFrame:
    """Expect how wide the intervals of the interquartile means are with more or fewer runs.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.
    interval : {"percentile", "basic", "bca", "calibrated"}
        Interval of interval, over runs.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        A row per model (by name) and number of runs per dataset (3, 5, 10 and 20): ``model``,
        ``seeds``, ``width`` (full width, both sides together) and ``width_now`` (with the runs that
        the model has). NaN where no cell of the study has two runs; ``width_now`` also where fewer
        than half of the model's datasets have, as such a model has no interval.

    Notes
    -----
    The width of a calibrated interval is twice Student's t quantile times the standard error, with
    `satterthwaite_freedom`. The other intervals are those of plain resamples, which are narrower,
    and too narrow with few runs: a normal quantile replaces that of Student's t, and n runs show
    ``(n − 1) / n`` of a cell's variance.

    With as many runs on each dataset, all weigh the same, whatever the weights are now.
    """
    even = noise.run_variances / noise.shares**2
    rows = []
    for place, model in enumerate(noise.matrix.models):
        has_runs = noise.matrix.counts[place] > 0
        draws, lost = noise.matrix.counts[place, has_runs], noise.lost[place, has_runs]
        measure = partial(_measure_width, interval=interval, confidence_level=confidence_level)
        now = np.nan
        if has_enough_runs(draws):
            now = measure(noise.run_variances[place, has_runs], draws, lost)
        for seeds in SEEDS:
            expected = measure(even[place, has_runs], np.full(len(draws), seeds), lost)
            rows.append((model, seeds, expected, now))
    return pd.DataFrame(rows, columns=WIDTHS)


def count_misordered(noise: Noise) -> float:
    """Expect how many pairs of models are in the wrong order.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.

    Returns
    -------
    float
        Sum over all pairs of ``Φ(−|Δ| / SE)``, with the difference Δ of their interquartile means
        and its standard error SE. 0.5 for a pair exactly tied; NaN where no cell of the study has
        two runs and there are two or more models.

    Notes
    -----
    Errors are taken as normal and models as independent. A difference is rounded to 12 decimals,
    so that floating-point noise unties no pair.
    """
    apart = _compare(noise)
    first, second = list_pairs(len(apart))
    chances = _misorder_probability(
        apart[first, second], noise.variances[first] + noise.variances[second]
    )
    return float(chances.sum())


def advise_runs(noise: Noise) -> pd.DataFrame:
    """List the cells where one more run is expected to put most pairs into the right order.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.

    Returns
    -------
    pandas.DataFrame
        A row per cell that has runs and where one more would help, most helpful first and then by
        model and dataset: ``model``, ``dataset``, ``runs`` (there are now), ``std`` (of its runs;
        borrowed where there is one, see `measure_noise`), ``gain`` (misordered pairs fewer, see
        `count_misordered`) and ``share`` (of all those expected now). Empty for a single model, and
        where no cell of the study has two runs.

    Notes
    -----
    One more run lowers the variance of the model's interquartile mean by ``v / (n (n + 1))``, v
    being the cell's `Noise.run_variances`, with the weights of datasets held as they are. Each cell
    is looked at alone: after following the advice once, ask again. A pair exactly tied gains
    nothing. Gains are rounded to 12 decimals, so that
    floating-point noise makes no order.
    """
    apart, variances = _compare(noise), noise.variances
    counts = np.maximum(noise.matrix.counts, 1)
    fewer = noise.run_variances / (counts * (counts + 1))
    gains = np.zeros(counts.shape)
    for place, distances in enumerate(apart):
        others = np.arange(len(apart)) != place
        together = (variances[place] + variances)[others]
        after = np.maximum(together - fewer[place][:, None], 0)
        now = _misorder_probability(distances[others], together)
        gains[place] = (now - _misorder_probability(distances[others], after)).sum(axis=1)
    gains = np.round(gains, DECIMALS)
    rows, columns = np.nonzero(gains > 0)
    table = pd.DataFrame(
        {
            "model": [noise.matrix.models[row] for row in rows],
            "dataset": [noise.matrix.datasets[column] for column in columns],
            "runs": noise.matrix.counts[rows, columns],
            "std": noise.spreads[rows, columns],
            "gain": gains[rows, columns],
        }
    )
    table = table.assign(share=table["gain"] / count_misordered(noise))[ADVICE]
    by = ["gain", "model", "dataset"]
    return table.sort_values(by, ascending=[False, True, True], ignore_index=True)


def _measure_width(
    run_variances: FloatArray,
    draws: IntArray,
    lost: FloatArray,
    *,
    interval: IntervalMethod,
    confidence_level: float,
) -> float:
    """Full width of a model's interval, by what `Noise` knows of its cells and numbers of runs."""
    level = (1 + confidence_level) / 2
    variances = run_variances / draws
    if interval == "calibrated":
        freedom = np.where(draws > 1, np.maximum(draws * (1 - lost) - 1, 1), 0)
        reach = special.stdtrit(satterthwaite_freedom(variances, freedom), level)
    else:
        reach = special.ndtri(level)
        variances = variances * (draws - 1) / draws
    return float(2 * reach * np.sqrt(variances.sum()))


def _share_weight(strata: Strata) -> FloatArray:
    """Weight of each dataset in parts of the mean weight."""
    weights = strata.draws * strata.dataset_weights
    return np.asarray(weights / weights.mean())


def _winsorize_variances(strata: Strata, borrowed: FloatArray) -> FloatArray:
    """Variance of the interquartile mean per single run of each of a model's datasets."""
    shares = _keep_shares(strata)
    kept = strata.scores[shares > 0]
    kept_weight = float(shares @ strata.run_weights) / float(strata.run_weights.sum())
    scale = _share_weight(strata) / (len(strata.draws) * kept_weight)
    variances = np.empty(len(strata.draws))
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        if part.draws > 1:
            moved = np.clip(part.scores, kept.min(), kept.max())
            variances[part.datasets] = moved.var(axis=0, ddof=1)
        else:
            variances[part.datasets] = borrowed[part.datasets] * shares[first:last] ** 2
        first = last
    return variances * scale**2


def _keep_shares(strata: Strata) -> FloatArray:
    """Part of each run that the interquartile mean keeps; equal scores share alike."""
    values, codes = np.unique(strata.scores, return_inverse=True)
    weights = np.bincount(codes, strata.run_weights, minlength=len(values))
    runs = len(strata.scores)
    total = strata.run_weights.sum()
    cut = np.floor(TRIMMED * runs) / runs * total
    reached = np.clip(np.cumsum(weights) - cut, 0, total - 2 * cut)
    shares = np.clip(np.round(np.diff(reached, prepend=0) / weights, DECIMALS), 0, 1)
    return np.asarray(shares[codes])


def _pool_variances(matrix: ScoreMatrix) -> FloatArray:
    """Pooled variance, for cells with one run."""
    freedom = np.maximum(matrix.counts - 1, 0)
    squares = np.where(freedom > 0, matrix.variances, 0) * freedom
    pooled = [_divide(squares.sum(axis=axis), freedom.sum(axis=axis)) for axis in (1, 0, None)]
    own, same_dataset, study = pooled
    others = np.where(np.isnan(same_dataset), study, same_dataset)
    borrowed = np.where(np.isnan(own)[:, None], others, own[:, None])
    return np.where(matrix.counts > 0, borrowed, np.nan)


def _divide(squares: FloatArray, freedom: FloatArray) -> FloatArray:
    return np.where(freedom > 0, squares / np.maximum(freedom, 1), np.nan)


def _compare(noise: Noise) -> FloatArray:
    """Absolute differences of the interquartile means, shape (models, models)."""
    distances = np.abs(noise.estimates[:, None] - noise.estimates)
    return np.asarray(np.round(distances, DECIMALS))


def _misorder_probability(distances: FloatArray, variances: FloatArray) -> FloatArray:
    """Probability that noise of these variances reverses differences; ½ where there is none."""
    distances, variances = np.broadcast_arrays(distances, variances)
    ratios = np.full(distances.shape, np.inf)
    np.divide(distances, np.sqrt(variances), out=ratios, where=variances != 0)
    return np.where(distances > 0, special.ndtr(-ratios), 0.5)


def advise_sample_size(
    runs: pd.DataFrame,
    *,
    missing: Missing,
    interval: IntervalMethod,
    weights: Weights,
    confidence_level: float,
) -> dict[str, Any]:
    """Expect widths of intervals with more seeds, and find where the next one helps.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    missing
        As in the setting `comparison`.
    interval, weights, confidence_level
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``seed_widths`` and ``next_seeds``, and ``cells_unused``.
    """
    noise = measure_noise(runs, missing=missing, weights=weights)
    return {
        "seed_widths": expect_widths(noise, interval=interval, confidence_level=confidence_level),
        "next_seeds": advise_runs(noise),
        "cells_unused": noise.cells_unused,
    }
