"""The best entry of each backbone across submissions."""

import pandas as pd

from capmap.aggregation import rank_competitors

BEST_COLUMNS = [
    *("method", "rank", "backbone", "name", "size", "submission"),
    *("iqm", "ci_low", "ci_high", "submissions"),
]


def choose_best(entries: pd.DataFrame) -> pd.DataFrame:
    """Choose the best complete entry of each backbone within each method, and rank these anew.

    Parameters
    ----------
    entries : pandas.DataFrame
        Columns ``method``, ``model``, ``name``, ``backbone``, ``size``, ``submission``, ``iqm``,
        ``ci_low``, ``ci_high`` and ``complete``, a row per entry.

    Returns
    -------
    pandas.DataFrame
        By method, rank and name: ``method``, ``rank`` (competition rank by IQM), ``backbone``,
        ``name``, ``size``, ``submission``, ``iqm``, ``ci_low``, ``ci_high`` and ``submissions``:
        how many submissions have an entry of this backbone and method, complete or not.

    Notes
    -----
    Of entries whose IQM is equal to 12 significant digits the one whose submission comes first by
    name is chosen, then the one whose model does. A backbone without a complete entry has no row.
    The interval is that of the chosen entry; it does not know that the best of several was chosen,
    so for a backbone with many submissions the score is on the high side.
    """
    keys = ["method", "backbone"]
    offered = entries.groupby(keys)["submission"].nunique().rename("submissions").reset_index()
    chosen = []
    for _, own in entries[entries["complete"]].groupby(keys, sort=True):
        first = own[rank_competitors(own["iqm"]) == 1]
        chosen.append(first.sort_values(["submission", "model"]).iloc[[0]])
    table = pd.concat([entries.iloc[:0], *chosen], ignore_index=True)
    table = table.merge(offered, on=keys, how="left", validate="one_to_one")
    ranks = pd.Series(0, index=table.index, dtype="int64")
    for _, own in table.groupby("method"):
        ranks[own.index] = rank_competitors(own["iqm"])
    table = table.assign(rank=ranks).astype({"submissions": "int64"})
    table = table.sort_values(["method", "rank", "name", "backbone"], ignore_index=True)
    ranking: pd.DataFrame = table[BEST_COLUMNS]
    return ranking
