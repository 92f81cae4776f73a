"""How the ranking under each variation agrees with the reported one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, IntArray, rank_competitors
from capmap.robustness.variations import Variation

VARIATIONS = ["aggregation", "bounds", "left_out", "kendall_tau", "flips", "best", "models"]
RANKS = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]
FLIPS = ["model_a", "model_b", "rank_a", "rank_b", "flips", "variations", "share"]


@dataclass(frozen=True)
class Agreement:
    """What `compare_variations` finds.

    Parameters
    ----------
    robustness, ranks, flips : pandas.DataFrame
        The tables that it describes.
    """

    robustness: pd.DataFrame
    ranks: pd.DataFrame
    flips: pd.DataFrame


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

        ``ranks``: a row per model (by reported rank, then name), aggregation and bounds: ``rank``
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
    ranks = np.array([reported[model] for model in models], dtype=np.intp)
    order = np.lexsort((np.arange(len(models)), ranks))
    is_above = ranks[:, None] < ranks
    flips, both = np.zeros_like(is_above, dtype=np.intp), np.zeros_like(is_above, dtype=np.intp)
    rows, spans = [], []
    for variation in variations:
        varied = _rank_lines(variation.scores)
        about = {"aggregation": variation.aggregation, "bounds": variation.bounds}
        for left_out, line in zip(["", *datasets], varied, strict=True):
            present = np.flatnonzero(line > 0)
            turned = is_above & (line[:, None] > line) & (line > 0)
            flips += turned
            both[np.ix_(present, present)] += 1
            leaders = order[line[order] == 1]
            rows.append(
                about
                | {
                    "left_out": left_out,
                    "kendall_tau": correlate_ranks(ranks[present], line[present]),
                    "flips": int(turned.sum()),
                    "best": models[leaders[0]] if len(leaders) else "",
                    "models": len(present),
                }
            )
        spans.append(
            _span_ranks(varied, reported=ranks, models=models, order=order).assign(**about)
        )
    spanned = pd.concat(spans, ignore_index=True)
    return Agreement(
        robustness=pd.DataFrame(rows, columns=VARIATIONS),
        ranks=spanned.sort_values("order", kind="stable", ignore_index=True)[RANKS],
        flips=_list_flips(flips, both, ranks=ranks, models=models),
    )


def correlate_ranks(one: IntArray, other: IntArray) -> float:
    """Kendall's tau-b of two rankings; NaN where one of them is tied throughout or has one item.

    Examples
    --------
    >>> round(correlate_ranks(np.array([1, 2, 3]), np.array([1, 3, 2])), 12)
    0.333333333333
    """
    first = np.sign(one[:, None] - one).astype(np.int8)
    second = np.sign(other[:, None] - other).astype(np.int8)
    untied = float(np.count_nonzero(first)) * float(np.count_nonzero(second))
    if untied == 0:
        return np.nan
    return float((first * second).sum(dtype=np.int64) / np.sqrt(untied))


def _rank_lines(scores: FloatArray) -> IntArray:
    """Rank each line among the models that have a score; 0 for the others."""
    ranks = np.zeros(scores.shape, dtype=np.intp)
    for line, values in zip(ranks, scores, strict=True):
        has_score = ~np.isnan(values)
        line[has_score] = rank_competitors(values[has_score])
    return ranks


def _span_ranks(
    varied: IntArray, *, reported: IntArray, models: list[str], order: IntArray
) -> pd.DataFrame:
    """Rank of each model with all datasets, and its range over leaving one out."""
    has_rank = varied > 0
    low = np.where(has_rank, varied, len(models) + 1).min(axis=0)
    columns = {
        "rank": varied[0],
        "rank_low": low,
        "rank_high": varied.max(axis=0),
        "shift": varied[0] - reported,
    }
    table = pd.DataFrame(
        {name: pd.array(values, dtype="Int64") for name, values in columns.items()}
    )
    table.loc[~has_rank[0], list(columns)] = pd.NA
    places = np.empty(len(models), dtype=np.intp)
    places[order] = np.arange(len(models))
    return table.assign(model=models, order=places)


def _list_flips(
    flips: IntArray, both: IntArray, *, ranks: IntArray, models: list[str]
) -> pd.DataFrame:
    above, below = np.nonzero(flips)
    count, variations = flips[above, below], both[above, below]
    order = np.lexsort((below, above, ranks[below], ranks[above], -count))
    names = np.array(models, dtype=object)
    columns = [names[above], names[below], ranks[above], ranks[below], count, variations]
    table = pd.DataFrame(dict(zip(FLIPS, [*columns, count / variations], strict=True)))
    return table.iloc[order].reset_index(drop=True)
