"""How many runs are enough: widths to expect, and the cells where one more run helps most."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.comparison.score_matrix import (
    ScoreMatrix,
    arrange_runs,
)
from capmap.ranking.aggregation import TRIMMED, FloatArray, IntArray, round_significant
from capmap.ranking.resampling import Strata, stratify_runs
from capmap.ranking.scopes import has_enough_runs
from capmap.ranking.standard_errors import measure_influences, satterthwaite_freedom
from capmap.ranking.table import choose
from capmap.settings.choices import IntervalMethod

SEEDS = (3, 5, 10, 20)
DECIMALS = 12
# Spreads below this part of the largest score are floating-point noise.
QUIET = 1e-12
WIDTHS = ["model", "seeds", "width", "width_now"]
# Share of studies that are to find a difference that there is.
POWER = 0.8
DETECTABLE = ["seeds", "difference", "difference_all"]


@dataclass(frozen=True)
class Noise:
    """How the spread of each cell's runs blurs the interquartile means.

    Parameters
    ----------
    matrix : ScoreMatrix
        The cells that the policy for empty cells keeps.
    run_variances : numpy.ndarray, shape (models, datasets)
        Variance of the interquartile mean that a cell would cause with a single run; n runs cause
        the n-th part of it. 0 where a cell is empty, NaN where no cell of the study is repeated.
    shares : numpy.ndarray, shape (models, datasets)
        Weight of each of a model's datasets, in parts of their mean weight; 1 where it is empty.
    pooled : numpy.ndarray, shape (models, datasets)
        As `run_variances`, from the winsorized variances of all models on the dataset and the part
        of the cell's runs that the interquartile mean keeps.
    lost : numpy.ndarray, shape (models, datasets)
        Degrees of freedom that a cell's variance loses at the quartiles, see
        `capmap.ranking.standard_errors.Influences`, per run.
    """

    matrix: ScoreMatrix
    run_variances: FloatArray
    pooled: FloatArray
    shares: FloatArray
    lost: FloatArray


def measure_noise(runs: pd.DataFrame) -> Noise:
    """Measure how sure the interquartile means are, cell by cell.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run, at least one.

    Returns
    -------
    Noise
        The order of the rows has no influence.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

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

    Floating-point noise of equal runs counts as no variance.

    References
    ----------
    Tukey, J. W. and McLaughlin, D. H. (1963). Less vulnerable confidence and significance
    procedures for location based on a single sample: trimming/winsorization 1. Sankhyā A 25,
    331–352.
    """
    matrix = arrange_runs(runs)
    least = (QUIET * float(runs["score"].abs().max())) ** 2
    matrix = replace(matrix, variances=_drop_quiet(matrix.variances, least))
    borrowed = _pool_variances(matrix)
    places = {dataset: place for place, dataset in enumerate(matrix.datasets)}
    run_variances, scales, stays, shares, lost = (np.zeros(matrix.counts.shape) for _ in range(5))
    for row, (_, own) in enumerate(runs.groupby("model", sort=True, observed=True)):
        scores = round_significant(own["score"])
        strata = stratify_runs(scores, own["dataset"].tolist())
        columns = [places[dataset] for dataset in sorted(own["dataset"].unique())]
        shares[row, columns] = _share_weight(strata)
        lost[row, columns] = measure_influences("iqm", strata).lost / strata.draws
        own_variances = _winsorize_variances(strata, borrowed[row, columns], least=least)
        run_variances[row, columns] = own_variances
        scales[row, columns], stays[row, columns] = _scale_squared(strata), _keep_by_dataset(strata)
    return Noise(
        matrix=matrix,
        run_variances=run_variances,
        pooled=scales * stays * _pool_winsorized(matrix, run_variances, scales=scales, kept=stays),
        shares=np.where(matrix.is_filled, shares, 1),
        lost=lost,
    )


def expect_widths(
    noise: Noise, *, interval: IntervalMethod, confidence_level: float
) -> pd.DataFrame:
    """Expect how wide the intervals of the interquartile means are with more or fewer runs.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.
    interval : {"percentile", "calibrated"}
        Interval of interval, over runs.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        A row per model (by name) and number of runs per dataset (3, 5, 10 and 20): ``model``,
        ``seeds``, ``width`` (full width, both sides together) and ``width_now`` (with the runs that
        the model has). NaN where no cell of
        the study has two runs; all but the first also where fewer than half of the model's datasets
        have, as such a model has no interval.

    Notes
    -----
    The width of a calibrated interval is twice Student's t quantile times the standard error, with
    `satterthwaite_freedom`. The other intervals are those of plain resamples, which are narrower,
    and too narrow with few runs: a normal quantile replaces that of Student's t, and n runs show
    ``(n − 1) / n`` of a cell's variance.

    With as many runs on each dataset, all runs weigh the same.
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


def advise_runs(noise: Noise) -> pd.DataFrame:
    """List the cells where one more run makes the interquartile means surest.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.

    Returns
    -------
    pandas.DataFrame
        A row per cell that has runs and where one more would help, most helpful first and then by
        model and dataset: ``model``, ``dataset``, ``runs`` (there are now) and ``share`` (by which
        the sum of the models' variances falls). Empty where no cell of the study has two runs.

    Notes
    -----
    Neyman allocation with pooled standard deviations: one more run of n lowers the variance by
    ``v / (n (n + 1))``, v being `Noise.pooled`, with the weights of datasets held as they are. The
    spread of few runs, and which models are close, are too uncertain to follow: of simulated
    studies, advice that looked for the pairs most likely in the wrong order was no better than a
    further run everywhere.

    References
    ----------
    Neyman, J. (1934). On the two different aspects of the representative method. Journal of the
    Royal Statistical Society 97, 558–625.
    """
    counts = noise.matrix.counts
    n, v = np.maximum(counts, 1), noise.pooled
    gains = v / (n * (n + 1))
    rows, columns = np.nonzero((counts > 0) & (gains > 0))
    gain = round_significant(gains[rows, columns])
    table = pd.DataFrame(
        {
            "model": [noise.matrix.models[row] for row in rows],
            "dataset": [noise.matrix.datasets[column] for column in columns],
            "runs": counts[rows, columns],
            "gain": gain,
            "share": gain / (v / n).sum(),
        }
    )
    by = ["gain", "model", "dataset"]
    table = table.sort_values(by, ascending=[False, True, True], ignore_index=True)
    return table.drop(columns="gain")


def find_detectable(noise: Noise, *, confidence_level: float) -> pd.DataFrame:
    """Find which differences a study of so many runs would detect.

    Parameters
    ----------
    noise : Noise
        From `measure_noise`.
    confidence_level : float
        Of the intervals: 1 less this is the level of the tests.

    Returns
    -------
    pandas.DataFrame
        A row per number of runs per dataset: ``seeds``, ``difference`` (the least between two
        typical models that a t test finds in 80% of studies) and ``difference_all`` (allowing for
        all pairs, Bonferroni). Empty for a single model, and where no cell of the study has two
        runs.

    Notes
    -----
    The sum of the quantiles of Student's t at 1 − α / 2 and at the power, times the standard error
    of a difference; variance and degrees of freedom (`satterthwaite_freedom`) are the medians of
    the models' ones. As the runs there are may show too small a variance, its upper limit is taken,
    with the power as its one-sided level and the present degrees of freedom of a pair: with 4
    datasets and 3 runs, 54 to 63% of studies found what 80% were to find without this.

    References
    ----------
    Bloom, H. S. (1995). Minimum detectable effects. Evaluation Review 19, 547–556.

    Browne, R. H. (1995). On the use of a pilot sample for sample size determination. Statistics in
    Medicine 14, 1933–1940.
    """
    even = noise.run_variances / noise.shares**2
    per_run = float(np.median(even.sum(axis=1)))
    models = len(noise.matrix.models)
    if models < 2 or not per_run > 0:
        return pd.DataFrame(columns=DETECTABLE)
    freedom_now = 2 * _find_present_freedom(noise)
    per_run *= freedom_now / float(special.chdtri(freedom_now, POWER))
    alpha = 1 - confidence_level

    def measure(seeds: int, tests: int) -> float:
        own = [
            _find_freedom(variances[has_runs], np.full(has_runs.sum(), seeds), lost[has_runs])
            for variances, has_runs, lost in zip(
                even, noise.matrix.is_filled, noise.lost, strict=True
            )
        ]
        freedom = 2 * float(np.median(own))
        quantiles = special.stdtrit(freedom, [1 - alpha / (2 * tests), POWER])
        return float(quantiles.sum() * np.sqrt(2 * per_run / seeds))

    pairs = models * (models - 1) // 2
    rows = [(seeds, measure(seeds, 1), measure(seeds, pairs)) for seeds in SEEDS]
    return pd.DataFrame(rows, columns=DETECTABLE)


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
        reach = special.stdtrit(_find_freedom(variances, draws, lost), level)
    else:
        reach = special.ndtri(level)
        variances = variances * (draws - 1) / draws
    return float(2 * reach * np.sqrt(variances.sum()))


def _find_freedom(variances: FloatArray, draws: IntArray, lost: FloatArray) -> float:
    """Degrees of freedom of the sum of variances; single runs borrow theirs from the others."""
    many = draws > 1
    noise = (variances * draws * (draws - 1))[many]
    borrowed = noise * (variances[~many].sum() / (noise.sum() or 1))
    freedom = np.maximum(draws * (1 - lost) - 1, 1)[many]
    return satterthwaite_freedom(variances[many] + borrowed, freedom)


def _find_present_freedom(noise: Noise) -> float:
    """Median degrees of freedom of the models' variances, of those with repeated cells."""
    counts = noise.matrix.counts
    variances = noise.run_variances / np.maximum(counts, 1)
    found = [
        _find_freedom(variances[place, draws > 0], draws[draws > 0], noise.lost[place, draws > 0])
        for place, draws in enumerate(counts)
        if (draws > 1).any()
    ]
    return float(np.median(found))


def _share_weight(strata: Strata) -> FloatArray:
    """Weight of each dataset in parts of the mean weight."""
    weights = strata.draws * strata.dataset_weights
    return np.asarray(weights / weights.mean())


def _drop_quiet(variances: FloatArray, least: float) -> FloatArray:
    return np.where(variances <= least, 0, variances)


def _winsorize_variances(strata: Strata, borrowed: FloatArray, *, least: float) -> FloatArray:
    """Variance of the interquartile mean per single run of each of a model's datasets."""
    shares = _keep_shares(strata)
    kept = strata.scores[shares > 0]
    variances = np.empty(len(strata.draws))
    first = 0
    for part in strata.parts:
        last = first + part.scores.size
        if part.draws > 1:
            moved = np.clip(part.scores, kept.min(), kept.max())
            variances[part.datasets] = _drop_quiet(moved.var(axis=0, ddof=1), least)
        else:
            variances[part.datasets] = borrowed[part.datasets] * shares[first:last] ** 2
        first = last
    return variances * _scale_squared(strata)


def _scale_squared(strata: Strata) -> FloatArray:
    """Variance of the interquartile mean by that of the winsorized runs of each dataset."""
    kept_weight = float(_keep_shares(strata) @ strata.run_weights) / float(strata.run_weights.sum())
    return np.asarray((_share_weight(strata) / (len(strata.draws) * kept_weight)) ** 2)


def _keep_by_dataset(strata: Strata) -> FloatArray:
    """Part of each dataset's runs that the interquartile mean keeps."""
    kept = np.bincount(strata.datasets, _keep_shares(strata), minlength=len(strata.draws))
    return np.asarray(kept / strata.draws)


def _pool_winsorized(
    matrix: ScoreMatrix, run_variances: FloatArray, *, scales: FloatArray, kept: FloatArray
) -> FloatArray:
    """Winsorized variance per dataset, by the part of runs kept, pooled over models."""
    freedom = np.maximum(matrix.counts - 1, 0)
    repeated = freedom > 0
    variances = np.divide(run_variances, scales, out=np.zeros_like(kept), where=repeated)
    squares, weights = variances * freedom, kept * freedom
    pooled = _divide(squares.sum(axis=0), weights.sum(axis=0))
    every = _divide(squares.sum(), weights.sum())
    return np.asarray(np.nan_to_num(np.where(np.isnan(pooled), every, pooled)))


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
    own = _divide(squares.sum(axis=1), freedom.sum(axis=1))
    borrowed = np.where(np.isnan(own)[:, None], _pool_datasets(matrix), own[:, None])
    return np.where(matrix.counts > 0, borrowed, np.nan)


def _pool_datasets(matrix: ScoreMatrix) -> FloatArray:
    """Variance pooled over models of each dataset, or that of the study; shape (datasets,)."""
    freedom = np.maximum(matrix.counts - 1, 0)
    squares = np.where(freedom > 0, matrix.variances, 0) * freedom
    pooled = _divide(squares.sum(axis=0), freedom.sum(axis=0))
    return np.where(np.isnan(pooled), _divide(squares.sum(), freedom.sum()), pooled)


def _divide(squares: FloatArray, freedom: FloatArray) -> FloatArray:
    known = np.asarray(freedom) > 0
    return np.asarray(np.divide(squares, freedom, out=np.full(known.shape, np.nan), where=known))


def advise_sample_size(
    runs: pd.DataFrame,
    *,
    interval: IntervalMethod,
    confidence_level: float,
) -> dict[str, Any]:
    """Expect widths of intervals with more seeds, and find where the next one helps.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    interval, confidence_level
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``seed_widths``, ``next_seeds`` and ``detectable``.
    """
    noise = measure_noise(runs)
    return {
        "seed_widths": expect_widths(noise, interval=interval, confidence_level=confidence_level),
        "next_seeds": advise_runs(noise),
        "detectable": find_detectable(noise, confidence_level=confidence_level),
    }


def find_facts(
    seed_widths: pd.DataFrame,
    next_seeds: pd.DataFrame,
    detectable: pd.DataFrame,
    ranking: pd.DataFrame,
) -> dict[str, Any]:
    """How many runs tell the first two models apart, and where one more run helps most."""
    ranked = choose(ranking, statistic="iqm").dropna(subset="rank")
    first = ranked[["model", "score"]].to_numpy().tolist()[:2] if len(ranked) > 1 else []
    apart = first[0][1] - first[1][1] if first else 0.0
    enough = detectable.loc[detectable["difference_all"] <= apart, "seeds"]
    return {
        "has_widths": bool(seed_widths["width"].notna().any()),
        "first": first if apart > 0 else [],
        "enough": int(enough.min()) if len(enough) else 0,
        "detectable": detectable[DETECTABLE].to_numpy().tolist(),
        "next": next_seeds[["model", "dataset", "runs", "share"]].to_numpy().tolist()[:1],
        "power": POWER,
    }


ANALYSIS = Analysis(
    question="What should be run next?",
    position=120,
    default=True,
    tables={
        "seed_widths": Table(
            "Expected width of each model's interval over runs with 3, 5, 10 and 20 runs per "
            "dataset.",
            "model seeds width width_now",
        ),
        "next_seeds": Table(
            "Where one more run helps most: by which share the sum of variances falls.",
            "model dataset runs share",
        ),
        "detectable": Table(
            "Minimum detectable difference in IQM of two typical models by runs per dataset.",
            "seeds difference difference_all",
        ),
    },
    figures={
        "seed_widths": Figure(
            "Expected width of each model's interval over runs, by runs per dataset.",
            draw="capmap.figures.profiles:draw_seed_widths",
            reads=["seed_widths", "ranking"],
        )
    },
    steps={
        "advise_sample_size": Step(
            advise_sample_size,
            tables=["seed_widths", "next_seeds", "detectable"],
            reads=["runs"],
            options={"interval": "bootstrap/interval", "confidence_level": "bootstrap/confidence"},
        )
    },
    find_facts=find_facts,
    meanings={
        "difference_all": "Minimum detectable difference, allowing for all pairs.",
        "width_now": "Width with the runs that there are.",
        "detectable.difference": "Minimum detectable difference of two models.",
        "next_seeds.share": "Share of the variances that one more run saves, 0 to 1.",
    },
)
