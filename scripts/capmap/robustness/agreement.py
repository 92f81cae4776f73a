"""How the ranking under each variation agrees with the reported one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray, rank_competitors
from capmap.cells import BoolArray
from capmap.correlation import compute_kendall_tau
from capmap.robustness.variations import ALL_BOUNDS, ALL_METHODS, Variation

SPANS = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]
FLIPS = [
    *("model_a", "model_b", "rank_a", "rank_b", "flips", "variations", "share"),
    *("aggregations", "bounds", "left_out"),
]


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
        From `capmap.robustness.variations.iterate_variations`.
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
            "flips": [np.count_nonzero(turned) for turned in _turn_pairs(lines, study.ranks)],
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


def _turn_pairs(lines: IntArray, reported: IntArray) -> Iterator[BoolArray]:
    """Which models (rows) are reported above which others (columns) and below them in a line."""
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
        for turned in _turn_pairs(ranking.lines, study.ranks):
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
        _join_turning(by_method, ALL_METHODS, above, below, separator=", "),
        _join_turning(by_bounds, ALL_BOUNDS, above, below, separator=", "),
        _join_turning(lines["iqm", "configured"][1:], study.datasets, above, below, separator="; "),
    ]
    return pd.DataFrame(dict(zip(FLIPS, columns, strict=True)))


def _join_turning(
    lines: IntArray, names: Sequence[str], above: IntArray, below: IntArray, *, separator: str
) -> list[str]:
    """Names of the lines in which each of some pairs is the other way round."""
    turning: list[list[str]] = [[] for _ in above]
    for line, name in zip(lines, names, strict=True):
        is_turned = (line[above] > line[below]) & (line[below] > 0)
        for pair in np.flatnonzero(is_turned).tolist():
            turning[pair].append(name)
    return [separator.join(some) for some in turning]
