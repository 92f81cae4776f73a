"""How far a ranking depends on how scores are bounded and aggregated, and on its datasets."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.comparison.correlation import compute_kendall_tau
from capmap.comparison.score_matrix import BoolArray, ScoreMatrix, arrange_runs
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
from capmap.ranking.resampling import iterate_blocks, repeat_datasets, stratify_runs
from capmap.ranking.statistics import evaluate_statistic
from capmap.ranking.table import choose_ranked
from capmap.settings.choices import Aggregation, Statistic
from capmap.wording import name_statistic

Bounds = Literal["configured", "observed", "ranks"]

# A count of how often a dataset is taken.
COUNT_BYTES = 8

ALL_BOUNDS: tuple[Bounds, ...] = ("configured", "observed", "ranks")
IQM: Statistic = "iqm"

SPANS = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]
FLIPS = ["model_a", "model_b", "rank_a", "rank_b", "flips", "variations", "share"]

DETHRONING = ["leader", "model", "datasets", "removed", "left_out"]
NEGLIGIBLE = 1e-12


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


def iterate_variations(runs: pd.DataFrame) -> Iterator[Variation]:
    """Aggregate the models in all ways.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized, 1 is best), at least one row.

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
        scores = _average_runs(own, models=models, datasets=datasets)
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


def _average_runs(runs: pd.DataFrame, *, models: list[str], datasets: list[str]) -> FloatArray:
    """Interquartile means with all datasets and without each in turn."""
    scores = np.full((1 + len(datasets), len(models)), np.nan)
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist())
        names = sorted(own["dataset"].unique())
        values = np.full(1 + len(names), np.nan)
        for block in iterate_blocks(len(values), runs=COUNT_BYTES * len(own)):
            left_out = np.arange(len(values))[block] - 1
            times = (np.arange(len(names))[:, None] != left_out).astype(np.intp)
            is_left = times.any(axis=0)
            resamples = repeat_datasets(strata, times[:, is_left])
            found = evaluate_statistic(IQM, strata, resamples)
            values[np.flatnonzero(is_left) + block.start] = found
        column = scores[:, models.index(str(model))]
        column[:] = values[0]
        column[1 + _find_places(datasets, names)] = values[1:]
    return scores


@dataclass(frozen=True)
class Agreement:
    """What `compare_variations` finds.

    Parameters
    ----------
    robustness, spans, flips : pandas.DataFrame
        The tables that it describes.
    """

    robustness: pd.DataFrame
    spans: pd.DataFrame
    flips: pd.DataFrame


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
        both, and the ``share`` of flips among them.

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
    columns = [
        *(names[above], names[below], study.ranks[above], study.ranks[below]),
        *(counts, variations, counts / variations),
    ]
    return pd.DataFrame(dict(zip(FLIPS, columns, strict=True)))


def dethrone(matrix: ScoreMatrix, leader: str) -> pd.DataFrame:
    """Count how many datasets must go for each other model to reach the leader's mean score.

    Parameters
    ----------
    matrix : ScoreMatrix
        Cells of normalized scores.
    leader : str
        The model to pass.

    Returns
    -------
    pandas.DataFrame
        A row per rival that shares a dataset with the leader and can pass it, fewest first:
        ``leader``, ``model``, ``datasets`` (that both have), ``removed`` (fewest to remove, 0 where
        the rival is ahead already) and ``left_out`` (their names, by how much they count).

    Notes
    -----
    Removing the datasets on which the leader is furthest ahead is best, so the number is exact. A
    rival that is behind on every dataset cannot pass.
    """
    place = matrix.models.index(leader)
    rows = []
    for rival, model in enumerate(matrix.models):
        apart = matrix.means[place] - matrix.means[rival]
        shared = np.flatnonzero(~np.isnan(apart))
        if rival == place or not len(shared):
            continue
        order = shared[np.argsort(-apart[shared], kind="stable")]
        left = apart[order][::-1].cumsum()[::-1]
        reached = np.flatnonzero(left <= NEGLIGIBLE * np.abs(apart[order]).sum())
        if len(reached):
            gone = order[: reached[0]]
            names = " ".join(repr(matrix.datasets[column]) for column in gone)
            rows.append((leader, model, len(shared), len(gone), names))
    table = pd.DataFrame(rows, columns=DETHRONING)
    return table.sort_values(["removed", "model"], ignore_index=True)


def check_robustness(runs: pd.DataFrame, ranking: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Rank the models under other choices and without some datasets.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    ranking : pandas.DataFrame
        The reported ranking.

    Returns
    -------
    dict
        The tables ``robustness``, ``robustness_ranks``, ``flips`` and ``dethroning``.
    """
    matrix = arrange_runs(runs)
    ranked = choose_ranked(ranking)
    reported = dict(zip(ranked["model"], ranked["rank"].astype(int), strict=True))
    agreement = compare_variations(
        iterate_variations(runs), reported=reported, datasets=matrix.datasets
    )
    return {
        "robustness": agreement.robustness,
        "robustness_ranks": agreement.spans,
        "flips": agreement.flips,
        "dethroning": dethrone(matrix, str(ranked["model"].iloc[0])),
    }


def find_facts(
    robustness: pd.DataFrame, flips: pd.DataFrame, dethroning: pd.DataFrame
) -> dict[str, Any]:
    """Who is first in most variations, which variation and which pair change most."""
    best = robustness.loc[robustness["best"] != "", "best"].dropna()
    counts = best.value_counts()
    known = robustness.dropna(subset="kendall_tau").fillna({"left_out": ""})
    worst = known[known["kendall_tau"] == known["kendall_tau"].min()].iloc[:1]
    pair = flips.sort_values(["share", "model_a", "model_b"], ascending=[False, True, True])
    nearest = dethroning[dethroning["removed"] == dethroning["removed"].min()]
    columns = ["kendall_tau", "aggregation", "bounds", "left_out"]
    worst = worst.assign(aggregation=worst["aggregation"].map(name_statistic))
    return {
        "models": int(robustness["models"].max()) if len(robustness) else 0,
        "aggregations": [name_statistic(name) for name in robustness["aggregation"].unique()],
        "leaves_out": bool(known["left_out"].ne("").any()),
        "variations": len(best),
        "first": sorted(counts.index[counts == counts.max()]),
        "times": int(counts.max()) if len(counts) else 0,
        "worst": worst[columns].to_numpy().tolist(),
        "flipped": len(flips),
        "pair": pair[["model_a", "model_b", "share"]].to_numpy().tolist()[:1],
        "rivals": nearest["model"].tolist(),
        "reach": nearest[["leader", "removed", "datasets"]].to_numpy().tolist()[:1],
    }


ANALYSIS = Analysis(
    question="What would change the order?",
    position=80,
    default=True,
    tables={
        "robustness": Table(
            "Agreement with the reported ranking under other aggregations, bounds and datasets.",
            "aggregation bounds left_out kendall_tau flips best models",
            best={"kendall_tau": "max"},
        ),
        "robustness_ranks": Table(
            "Rank of each model by aggregation and bounds, with its range over leave-one-out.",
            "model aggregation bounds rank rank_low rank_high shift",
        ),
        "flips": Table(
            "Pairs of models that change their order under some of these variations.",
            "model_a model_b rank_a rank_b flips variations share",
        ),
        "dethroning": Table(
            "Fewest datasets to leave out for a model to reach the leader's mean score.",
            "leader model datasets removed left_out",
        ),
    },
    figures={
        "robustness": Figure(
            "Rank of each model by aggregation and bounds, with its range over leaving out one "
            "dataset; colors show the distance from the reported rank.",
            draw="capmap.figures.rankings:draw_robustness",
            reads=["robustness", "robustness_ranks", "flips"],
            order="ranking",
        )
    },
    steps={
        "check_robustness": Step(
            check_robustness,
            tables=["robustness", "robustness_ranks", "flips", "dethroning"],
            reads=["runs", "ranking"],
            pairs=True,
        )
    },
    find_facts=find_facts,
    meanings={
        "aggregation": "How scores were averaged over datasets.",
        "bounds": "Between which bounds scores were normalized.",
        "flips": "Pairs of models in the opposite order.",
        "removed": "Fewest datasets to leave out for the model to reach the leader's mean.",
        "variations": "Number of variations.",
        "flips.share": "Share of the variations in which the pair is in the other order.",
        "robustness_ranks.shift": "This rank less the reported one.",
    },
)
