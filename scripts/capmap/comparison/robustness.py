"""How far a ranking depends on how scores are bounded and aggregated, and on its datasets."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from capmap.claims import choose_first
from capmap.comparison.correlation import compute_kendall_tau
from capmap.comparison.rank_aggregation import aggregate_votes, dethrone
from capmap.comparison.score_matrix import BoolArray, arrange_runs, choose_common, count_unused
from capmap.ranking.aggregation import (
    AGGREGATIONS,
    FloatArray,
    Groups,
    IntArray,
    rank_competitors,
    require_finite,
    round_significant,
    summarize_cells,
)
from capmap.ranking.ranks import Ranks, rank_intervals, rank_replicates
from capmap.ranking.repeated_datasets import RepeatedDatasets
from capmap.ranking.resampling import (
    DatasetPool,
    draw_datasets,
    iterate_blocks,
    stratify_runs,
)
from capmap.rng import make_stream
from capmap.settings.choices import Aggregation, Missing, Statistic, Weights

Bounds = Literal["configured", "observed", "ranks"]

# A count of how often a dataset is taken.
COUNT_BYTES = 8

ALL_BOUNDS: tuple[Bounds, ...] = ("configured", "observed", "ranks")
IQM: Statistic = "iqm"
ALL_METHODS = (*AGGREGATIONS, IQM)

SPANS = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]
FLIPS = [
    *("model_a", "model_b", "rank_a", "rank_b", "flips", "variations", "share"),
    *("aggregations", "bounds", "left_out"),
]

STABILITY = [
    "model",
    "rank",
    "share_first",
    "share_top",
    "top",
    "rank_mean",
    "rank_low",
    "rank_high",
]


@dataclass(frozen=True)
class Variation:
    """Scores under one way to bound and aggregate.

    Parameters
    ----------
    aggregation : {"mean", "trimmed_mean", "median", "iqm"}
        Across datasets.
    bounds : {"configured", "observed", "ranks"}
        How scores of a dataset are made comparable to those of others.
    scores : numpy.ndarray, shape (1 + datasets, models)
        Scores of all models by name, 1 is best: first with all datasets, then without each, by
        name. NaN for a model without a dataset that is left.
    """

    aggregation: str
    bounds: Bounds
    scores: FloatArray


def iterate_variations(runs: pd.DataFrame, *, weights: Weights) -> Iterator[Variation]:
    """Aggregate the models in all ways.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, 1 is best), at least one row.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.

    Yields
    ------
    Variation
        Mean, trimmed mean, median and interquartile mean, each under configured bounds, observed
        bounds and ranks.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    ``configured``: scores as they are. ``observed``: the lowest run of a dataset becomes 0 and the
    highest 1; a dataset on which all runs are equal is left out. ``ranks``: the best of a dataset
    becomes 1, the worst 0 and the others lie between in equal steps, ties in the middle of theirs;
    cell means are ranked for means and medians, all runs for interquartile means. A dataset that
    only one model has is left out then.

    Mean, trimmed mean and median are those of `capmap.ranking.aggregation.aggregate_models`; the
    interquartile mean is that of the study.
    """
    datasets = sorted(runs["dataset"].unique())
    models = sorted(runs["model"].unique())
    bounded = [(bounds, *_bound_scores(runs, bounds)) for bounds in ALL_BOUNDS]
    tables = {
        bounds: _aggregate_cells(cells, models=models, datasets=datasets)
        for bounds, cells, _ in bounded
    }
    for aggregation in AGGREGATIONS:
        for bounds in ALL_BOUNDS:
            yield Variation(aggregation, bounds, tables[bounds][aggregation])
    for bounds, _, own in bounded:
        scores = _average_runs(own, models=models, datasets=datasets, weights=weights)
        yield Variation(IQM, bounds, scores)


def _bound_scores(runs: pd.DataFrame, bounds: Bounds) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells with their ``mean`` and runs with their ``score``, bounded within each dataset."""
    if bounds == "configured":
        return summarize_cells(runs), runs
    if bounds == "observed":
        scaled = _scale_scores(runs)
        return summarize_cells(scaled), scaled
    rivals = runs.groupby("dataset", observed=True)["model"].transform("nunique")
    contested = runs[rivals > 1]
    cells = summarize_cells(contested)
    return _rank_column(cells, "mean"), _rank_column(contested, "score")


def _scale_scores(runs: pd.DataFrame) -> pd.DataFrame:
    """Min–max scores over all runs of each dataset, without datasets that do not vary."""
    rounded = runs.assign(score=round_significant(runs["score"]))
    scores = rounded.groupby("dataset", observed=True)["score"]
    low, high = scores.transform("min"), scores.transform("max")
    varies = high > low
    own = runs[varies]
    share = (own["score"] - low[varies]) / (high - low)[varies]
    return own.assign(score=share)


def _rank_column(table: pd.DataFrame, column: str) -> pd.DataFrame:
    """Turn a column into ranks within its dataset, from 0 (worst) to 1 (best)."""
    values = pd.Series(round_significant(table[column]), index=table.index)
    groups = values.groupby(table["dataset"])
    shares = (groups.rank(method="average") - 1) / (groups.transform("size") - 1)
    return table.assign(**{column: shares})


def _aggregate_cells(
    cells: pd.DataFrame, *, models: list[str], datasets: list[str]
) -> dict[Aggregation, FloatArray]:
    """Scores by each aggregation, with all datasets and without each in turn."""
    rows, columns = _find_places(models, cells["model"]), _find_places(datasets, cells["dataset"])
    means = require_finite(cells["mean"])
    order = np.lexsort((means, rows))
    rows, columns, means = rows[order], columns[order], means[order]
    shape = (1 + len(datasets), len(models))
    scores = {name: np.full(shape, np.nan) for name in AGGREGATIONS}
    for line in range(shape[0]):
        is_left = columns != line - 1
        counts = np.bincount(rows[is_left], minlength=len(models))
        present = np.flatnonzero(counts)
        if len(present):
            sizes = counts[present]
            groups = Groups(means[is_left], np.cumsum(sizes) - sizes, sizes)
            for name, aggregate in AGGREGATIONS.items():
                scores[name][line, present] = aggregate(groups)
    return scores


def _find_places(names: list[str], some: Iterable[str]) -> IntArray:
    """Places of some names among sorted names."""
    return np.searchsorted(np.array(names, dtype=object), np.array(list(some), dtype=object))


def _average_runs(
    runs: pd.DataFrame, *, models: list[str], datasets: list[str], weights: Weights
) -> FloatArray:
    """Interquartile means with all datasets and without each in turn."""
    scores = np.full((1 + len(datasets), len(models)), np.nan)
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist(), weights=weights)
        names = sorted(own["dataset"].unique())
        repeated, values = RepeatedDatasets(strata), np.full(1 + len(names), np.nan)
        for block in iterate_blocks(len(values), runs=COUNT_BYTES * len(own)):
            left_out = np.arange(len(values))[block] - 1
            times = (np.arange(len(names))[:, None] != left_out).astype(np.intp)
            is_left = times.any(axis=0)
            values[np.flatnonzero(is_left) + block.start] = repeated.trim(times[:, is_left])
        column = scores[:, models.index(str(model))]
        column[:] = values[0]
        column[1 + _find_places(datasets, names)] = values[1:]
    return scores


@dataclass(frozen=True)
class Agreement:
    """What `compare_variations` finds.

    Parameters
    ----------
    robustness, spans, flips, ranks : pandas.DataFrame
        The tables that it describes.
    """

    robustness: pd.DataFrame
    spans: pd.DataFrame
    flips: pd.DataFrame
    ranks: pd.DataFrame


@dataclass(frozen=True)
class _Study:
    """Models by name with their reported ranks, their places by rank, then name, and datasets."""

    models: list[str]
    ranks: IntArray
    order: IntArray
    datasets: list[str]


@dataclass(frozen=True)
class _Ranking:
    """Ranks under one way to bound and aggregate, as `Variation` has scores; 0 without a score."""

    aggregation: str
    bounds: str
    lines: IntArray


def compare_variations(
    variations: Iterable[Variation], *, reported: Mapping[str, int], datasets: list[str]
) -> Agreement:
    """Compare the ranking under each variation with the reported one.

    Parameters
    ----------
    variations : iterable of Variation
        From `iterate_variations`.
    reported : mapping of str to int
        The reported rank of each model.
    datasets : list of str
        All datasets by name.

    Returns
    -------
    Agreement
        ``robustness``: a row per variation and dataset left out (first none), with ``kendall_tau``
        to the reported ranking, ``flips`` (pairs in the opposite order), ``best`` (of several best
        models the one reported highest, then the first by name; empty without a model) and
        ``models`` (how many have a score).

        ``spans``: a row per model (by reported rank, then name), aggregation and bounds: ``rank``
        with all datasets, ``rank_low`` and ``rank_high`` (over all datasets and each left out) and
        ``shift`` (rank less the reported one), missing where it has no score.

        ``flips``: a row per pair that is in the opposite order at least once, the most frequent
        first, then by rank and name: ``model_a`` is reported above ``model_b``; ``variations`` of
        both, and the ``share`` of flips among them. What flips the pair when all else is as
        reported stands in ``aggregations`` and ``bounds``, each with all datasets, and in
        ``left_out``, the datasets of which leaving out any one flips it; empty where nothing does.

        ``ranks``: the ``rank`` of each ``model`` (by reported rank, then name) for each
        ``aggregation``, ``bounds`` and ``left_out``; a model without a score has no row.

    Notes
    -----
    Kendall's tau-b over the models that have a score; NaN where all of them are tied, or there are
    fewer than two. Pairs tied on either side do not flip.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.
    """
    models = sorted(reported)
    places = np.array([reported[model] for model in models], dtype=np.intp)
    order = np.lexsort((np.arange(len(models)), places))
    study = _Study(models, places, order, datasets)
    rankings = [
        _Ranking(variation.aggregation, variation.bounds, _rank_lines(variation.scores))
        for variation in variations
    ]
    spans = pd.concat([_span_ranks(ranking, study) for ranking in rankings], ignore_index=True)
    return Agreement(
        robustness=pd.concat(
            [_compare_ranking(ranking, study) for ranking in rankings], ignore_index=True
        ),
        spans=spans.sort_values("order", kind="stable", ignore_index=True)[SPANS],
        flips=_list_flips(rankings, study),
        ranks=pd.concat([_list_ranks(ranking, study) for ranking in rankings], ignore_index=True),
    )


def _rank_lines(scores: FloatArray) -> IntArray:
    """Rank each line among the models that have a score; 0 for the others."""
    ranks = np.zeros(scores.shape, dtype=np.intp)
    for line, values in zip(ranks, scores, strict=True):
        has_score = ~np.isnan(values)
        line[has_score] = rank_competitors(values[has_score])
    return ranks


def _compare_ranking(ranking: _Ranking, study: _Study) -> pd.DataFrame:
    """Agreement of each line with the reported ranking."""
    lines = ranking.lines
    leads = lines[:, study.order] == 1
    leaders = np.array(study.models, dtype=object)[study.order[leads.argmax(axis=1)]]
    return pd.DataFrame(
        {
            "aggregation": ranking.aggregation,
            "bounds": ranking.bounds,
            "left_out": ["", *study.datasets],
            "kendall_tau": _correlate_lines(lines, study.ranks),
            "flips": [np.count_nonzero(turned) for turned in _reversed_pairs(lines, study.ranks)],
            "best": np.where(leads.any(axis=1), leaders, ""),
            "models": np.count_nonzero(lines, axis=1),
        }
    )


def _correlate_lines(lines: IntArray, reported: IntArray) -> FloatArray:
    """Kendall's tau-b of each line with the reported ranks, among the models that have a score."""
    taus = np.empty(len(lines))
    patterns, codes = np.unique(lines > 0, axis=0, return_inverse=True)
    for code, present in enumerate(patterns):
        alike = codes.ravel() == code
        ranks = lines[np.ix_(alike, present)].T
        taus[alike] = compute_kendall_tau(np.repeat(reported[present, None], alike.sum(), 1), ranks)
    return taus


def _reversed_pairs(lines: IntArray, reported: IntArray) -> Iterator[BoolArray]:
    """Pairs of models (row above column as reported) that each line ranks the other way."""
    is_above = reported[:, None] < reported
    for line in lines:
        yield is_above & (line[:, None] > line) & (line > 0)


def _span_ranks(ranking: _Ranking, study: _Study) -> pd.DataFrame:
    """Rank of each model with all datasets, and its range over leaving one out."""
    lines, has_rank = ranking.lines, ranking.lines > 0
    columns = {
        "rank": lines[0],
        "rank_low": np.where(has_rank, lines, len(study.models) + 1).min(axis=0),
        "rank_high": lines.max(axis=0),
        "shift": lines[0] - study.ranks,
    }
    table = pd.DataFrame(
        {name: pd.array(values, dtype="Int64") for name, values in columns.items()}
    )
    table.loc[~has_rank[0], list(columns)] = pd.NA
    return table.assign(
        model=study.models,
        aggregation=ranking.aggregation,
        bounds=ranking.bounds,
        order=np.argsort(study.order),
    )


def _list_ranks(ranking: _Ranking, study: _Study) -> pd.DataFrame:
    ranks = ranking.lines[:, study.order]
    lines, columns = np.nonzero(ranks)
    names = np.array(study.models, dtype=object)[study.order]
    return pd.DataFrame(
        {
            "aggregation": ranking.aggregation,
            "bounds": ranking.bounds,
            "left_out": np.array(["", *study.datasets], dtype=object)[lines],
            "model": names[columns],
            "rank": ranks[lines, columns],
        }
    )


def _list_flips(rankings: Sequence[_Ranking], study: _Study) -> pd.DataFrame:
    shape = (len(study.models), len(study.models))
    flips, both = np.zeros(shape, dtype=np.intp), np.zeros(shape)
    for ranking in rankings:
        for turned in _reversed_pairs(ranking.lines, study.ranks):
            flips += turned
        has_rank = (ranking.lines > 0).astype(np.float64)
        both += has_rank.T @ has_rank
    above, below = np.nonzero(flips)
    counts, variations = flips[above, below], both[above, below].astype(np.intp)
    order = np.lexsort((below, above, study.ranks[below], study.ranks[above], -counts))
    above, below, counts, variations = (
        values[order] for values in (above, below, counts, variations)
    )
    names = np.array(study.models, dtype=object)
    lines = {(ranking.aggregation, ranking.bounds): ranking.lines for ranking in rankings}
    by_method = np.array([lines[method, "configured"][0] for method in ALL_METHODS])
    by_bounds = np.array([lines["iqm", bounds][0] for bounds in ALL_BOUNDS])
    columns = [
        *(names[above], names[below], study.ranks[above], study.ranks[below]),
        *(counts, variations, counts / variations),
        _join_reversed(by_method, ALL_METHODS, above, below, separator=", "),
        _join_reversed(by_bounds, ALL_BOUNDS, above, below, separator=", "),
        _join_reversed(
            lines["iqm", "configured"][1:], study.datasets, above, below, separator="; "
        ),
    ]
    return pd.DataFrame(dict(zip(FLIPS, columns, strict=True)))


def _join_reversed(
    lines: IntArray, names: Sequence[str], above: IntArray, below: IntArray, *, separator: str
) -> list[str]:
    """Names of the lines in which each of some pairs is the other way round."""
    turning: list[list[str]] = [[] for _ in above]
    for line, name in zip(lines, names, strict=True):
        is_turned = (line[above] > line[below]) & (line[below] > 0)
        for pair in np.flatnonzero(is_turned).tolist():
            turning[pair].append(name)
    return [separator.join(some) for some in turning]


@dataclass(frozen=True)
class Stability:
    """What `resample_ranks` finds.

    Parameters
    ----------
    stability, distribution : pandas.DataFrame
        The tables that it describes.
    """

    stability: pd.DataFrame
    distribution: pd.DataFrame


def resample_ranks(
    runs: pd.DataFrame,
    *,
    reported: Mapping[str, int],
    top: int,
    weights: Weights,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> Stability:
    """Rank the models by interquartile mean on resampled datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, higher is better), at least one
        row.
    reported : mapping of str to int
        The reported rank of each model.
    top : int
        How many ranks ``share_top`` takes in, at least 1.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.
    n_resamples : int
        Number of resamples, at least 1.
    confidence_level : float
        Share of the resamples between the ends of the interval of ranks, between 0 and 1.
    make_rng : callable
        Makes a random generator: ``make_rng()`` of the study, ``make_rng(model)`` of a model.

    Returns
    -------
    Stability
        ``stability``: a row per model, by reported rank, then name: ``rank`` (reported),
        ``share_first``, ``share_top``, ``top``, ``rank_mean``, and the ends ``rank_low`` and
        ``rank_high`` of the interval of ranks, rounded outwards.

        ``distribution``: ``model``, ``rank`` and ``share`` of the resamples, in the same order,
        then by rank; shares of 0 are left out.

    Notes
    -----
    Datasets are drawn as in `capmap.ranking.resampling.draw_datasets`, the same for all models,
    each with all its runs: those are not resampled. Models that tie share their ranks equally: two
    best models have rank 1 and 2 half the time each. So ``share_first`` sums to 1 over all models
    and ``share_top`` to `top`, unless there are fewer models. The interval of ranks reaches from
    the best to the worst of the ranks that are shared.
    """
    models = sorted(reported)
    ranks = _rank_resamples(runs, weights=weights, n_resamples=n_resamples, make_rng=make_rng)
    shares = distribute_ranks(ranks)
    reached = np.cumsum(shares, axis=1)
    low, _ = rank_intervals(ranks, confidence_level=confidence_level)
    _, high = rank_intervals(ranks + count_tied(ranks) - 1, confidence_level=confidence_level)
    places = np.arange(1, len(models) + 1)
    table = pd.DataFrame(
        {
            "model": models,
            "rank": [reported[model] for model in models],
            "share_first": shares[:, 0],
            "share_top": np.minimum(reached[:, min(top, len(models)) - 1], 1),
            "top": top,
            "rank_mean": shares @ places,
            "rank_low": low,
            "rank_high": high,
        }
    )
    order = np.lexsort((np.arange(len(models)), table["rank"]))
    rows, columns = np.nonzero(shares[order])
    names = np.array(models, dtype=object)[order]
    distribution = {"model": names[rows], "rank": places[columns]}
    return Stability(
        stability=table.iloc[order].reset_index(drop=True)[STABILITY],
        distribution=pd.DataFrame(distribution | {"share": shares[order][rows, columns]}),
    )


def distribute_ranks(ranks: Ranks) -> FloatArray:
    """Share of resamples in which each model has each rank.

    Parameters
    ----------
    ranks : numpy.ndarray of int, shape (models, resamples)
        Competition ranks.

    Returns
    -------
    numpy.ndarray, shape (models, models)
        Models by rank; rows and columns sum to 1, because ties share their ranks equally.

    Examples
    --------
    >>> distribute_ranks(np.array([[1, 1], [1, 2]])).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    n, resamples = ranks.shape
    tied = count_tied(ranks)
    targets = ranks.astype(np.intp) - 1 + n * np.arange(n)[:, None]
    total = np.zeros(n * n)
    for further in range(int(tied.max())):
        is_sharing = tied > further
        total += np.bincount(targets[is_sharing] + further, 1 / tied[is_sharing], minlength=n * n)
    return np.asarray(total.reshape(n, n) / resamples)


def count_tied(ranks: Ranks) -> IntArray:
    """How many models share each model's rank in each resample, itself among them.

    Examples
    --------
    >>> count_tied(np.array([[1, 1], [1, 2]])).tolist()
    [[2, 1], [2, 1]]
    """
    n, resamples = ranks.shape
    cells = (ranks.astype(np.intp) - 1) * resamples + np.arange(resamples)
    tied: IntArray = np.bincount(cells.ravel(), minlength=n * resamples)[cells]
    return tied


def _rank_resamples(
    runs: pd.DataFrame,
    *,
    weights: Weights,
    n_resamples: int,
    make_rng: Callable[..., np.random.Generator],
) -> Ranks:
    """Ranks of all models by name in each resample of datasets, shape (models, n_resamples)."""
    datasets = sorted(runs["dataset"].unique())
    replicates = []
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist(), weights=weights)
        names = sorted(own["dataset"].unique())
        pool, rng = DatasetPool(datasets, make_rng()), make_rng(str(model))
        repeated, row = RepeatedDatasets(strata), np.empty(n_resamples)
        for block in iterate_blocks(n_resamples, runs=len(own)):
            width = block.stop - block.start
            row[block] = repeated.trim(draw_datasets(names, pool=pool, n_resamples=width, rng=rng))
        replicates.append(row)
    return rank_replicates(replicates, np.zeros(len(replicates)))


def check_robustness(
    runs: pd.DataFrame,
    scopes: pd.DataFrame,
    *,
    study: str,
    missing: Missing,
    top: int,
    n_resamples: int,
    confidence_level: float,
    seed: int,
    weights: Weights,
) -> dict[str, Any]:
    """Rank the models under other choices and on resampled datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    scopes : pandas.DataFrame
        The reported ranking.
    study : str
        Name of the study, part of the names of its random streams.
    missing, n_resamples
        As in the setting `comparison`.
    top
        As in the setting `robustness`.
    confidence_level, seed, weights
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``robustness``, ``robustness_ranks``, ``flips``, ``rank_stability``,
        ``rank_distribution``, ``votes`` and ``dethroning``, the file ``ranks``, and
        ``cells_unused``.
    """
    every = arrange_runs(runs)
    matrix = choose_common(every, missing=missing)
    used = runs[runs["dataset"].isin(matrix.datasets)]
    ranking = choose_first(scopes)
    reported = dict(zip(ranking["model"], ranking["rank"].astype(int), strict=True))
    agreement = compare_variations(
        iterate_variations(used, weights=weights), reported=reported, datasets=matrix.datasets
    )
    resampled = resample_ranks(
        used,
        reported=reported,
        top=top,
        weights=weights,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "rank_stability"),
    )
    return {
        "robustness": agreement.robustness,
        "robustness_ranks": agreement.spans,
        "flips": agreement.flips,
        "rank_stability": resampled.stability,
        "rank_distribution": resampled.distribution,
        "votes": aggregate_votes(matrix),
        "dethroning": dethrone(matrix, str(ranking["model"].iloc[0])),
        "ranks": agreement.ranks,
        "cells_unused": count_unused(every, matrix),
    }
