"""How alike rankings of checkpoints by different metrics are, and who moves between them."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from capmap.checkpoints.selection import CHECKPOINT
from capmap.comparison.correlation import compute_kendall_tau
from capmap.ranking.aggregation import rank_competitors

ITEM = [name for name in CHECKPOINT if name != "step"]
AGREEMENT = {
    "ranking_a": "str",
    "ranking_b": "str",
    "kendall_tau": "float64",
    "checkpoints": "int64",
    "tied_a": "int64",
    "tied_b": "int64",
    "moved": "int64",
    "stamp": "str",
}
MOVES = {
    "ranking_a": "str",
    "ranking_b": "str",
    **dict.fromkeys(ITEM, "str"),
    **dict.fromkeys(("rank_a", "rank_b", "change"), "int64"),
    "stamp": "str",
}


def add_metric_rankings(
    rankings: Sequence[Mapping[str, Any]], metrics: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Add a ranking by each metric alone that no configured ranking has, called after it."""
    known = {ranking.get("metric") for ranking in rankings if not ranking.get("expression")}
    taken = known | {ranking["name"] for ranking in rankings}
    added = [{"name": name, "metric": name} for name in metrics]
    return [*rankings, *(one for one in added if one["name"] not in taken)]


def compare_rankings(rankings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compare each pair of rankings of the same checkpoints.

    Parameters
    ----------
    rankings : pandas.DataFrame
        Of `capmap.checkpoints.rankings.rank_checkpoints`.

    Returns
    -------
    dict
        ``ranking_agreement``, a row per pair in the order of the rankings: ``kendall_tau``, how
        many ``checkpoints`` both rank, how many of these share a rank with another (``tied_a``,
        ``tied_b``), and how many have another rank (``moved``). ``ranking_moves``, a row per
        checkpoint that the first ranking and another one rank: ``rank_a``, ``rank_b`` and
        ``change`` (``rank_a − rank_b``, positive for one that rises), the largest changes first.

    Notes
    -----
    Ranks are competition ranks (1, 2, 2, 4) among the checkpoints that both rankings have. Tau-b
    allows for ties: 1 where both have the same order and the same ties. It is empty with fewer than
    two checkpoints, or where all are equal in one of the rankings.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.
    """
    known = rankings.dropna(subset="rank")
    ranks = {
        str(name): rows.set_index(ITEM)["rank"].astype("int64")
        for name, rows in known.groupby("ranking", sort=False)
    }
    first = next(iter(ranks), "")
    agreement, moves = [], [pd.DataFrame(columns=list(MOVES)).astype(MOVES)]
    for a, b in combinations(ranks, 2):
        both = pd.concat({"rank_a": ranks[a], "rank_b": ranks[b]}, axis=1, join="inner")
        for side in both:
            both[side] = rank_competitors(both[side], best="min")
        tau = compute_kendall_tau(both[["rank_a"]].to_numpy(), both[["rank_b"]].to_numpy())
        both["change"] = both["rank_a"] - both["rank_b"]
        agreement.append(
            {
                **{"ranking_a": a, "ranking_b": b, "kendall_tau": tau[0], "checkpoints": len(both)},
                "tied_a": both["rank_a"].duplicated(keep=False).sum(),
                "tied_b": both["rank_b"].duplicated(keep=False).sum(),
                "moved": (both["change"] != 0).sum(),
            }
        )
        if a == first:
            both["size"] = -both["change"].abs()
            order = both.reset_index().sort_values(["size", *ITEM])
            moves.append(order.assign(ranking_a=a, ranking_b=b))
    stamp = str(rankings["stamp"].iloc[0]) if len(rankings) else ""
    table = pd.DataFrame(agreement, columns=list(AGREEMENT)).assign(stamp=stamp)
    moved = pd.concat(moves, ignore_index=True).assign(stamp=stamp)
    return {
        "ranking_agreement": table.astype(AGREEMENT),
        "ranking_moves": moved[list(MOVES)].astype(MOVES),
    }
