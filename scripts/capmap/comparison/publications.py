"""Results that several publications report: how far they are apart."""

import pandas as pd

from capmap.ranking.aggregation import round_significant

CELL = ["model", "dataset"]
RUN = [*CELL, "seed"]
RESULTS = [*CELL, "publication", "n", "score", "normalized", "others", "difference"]
AND = "; "


def compare_publications(runs: pd.DataFrame, exported: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compare what publications report of the same model on the same dataset.

    Parameters
    ----------
    runs : pandas.DataFrame
        model, dataset, seed and score (normalized), a row per run.
    exported : pandas.DataFrame
        The same runs, and perhaps more, with scores as exported, and ``publication``, empty where
        it is not reported.

    Returns
    -------
    dict of pandas.DataFrame
        ``publications``, a row per cell and publication, by name: the number ``n`` and mean
        ``score`` of its runs, as exported and ``normalized``, the mean ``normalized`` score of the
        cell's other publications (``others``, NaN without any), and the ``difference`` from it.
        ``disagreements``, a row per cell with several, the widest ``range`` of normalized scores
        first, with its ends and who reports them; of equal ends the first by name.

    Notes
    -----
    Each publication weighs the same in ``others``, however many runs it reports.
    """
    reported = exported[[*RUN, "publication", "score"]]
    joined = runs[[*RUN, "score"]].merge(reported, on=RUN, suffixes=("_normalized", ""))
    results = joined.groupby([*CELL, "publication"], as_index=False).agg(
        n=("score", "size"), score=("score", "mean"), normalized=("score_normalized", "mean")
    )
    of_cell = results.groupby(CELL)["normalized"]
    others = of_cell.transform("size") - 1
    total = of_cell.transform("sum") - results["normalized"]
    results["others"] = round_significant(total / others.where(others > 0))
    results["difference"] = results["normalized"] - results["others"]
    return {"publications": results[RESULTS], "disagreements": _span_cells(results)}


def _span_cells(results: pd.DataFrame) -> pd.DataFrame:
    """The ends of each cell with several publications, and who reports them."""
    shared = results[results["others"].notna()].sort_values("publication")
    cells = shared.groupby(CELL)["normalized"]
    lowest, highest = (
        shared.loc[places].set_index(CELL) for places in (cells.idxmin(), cells.idxmax())
    )
    table = pd.DataFrame(
        {
            "publications": cells.size(),
            "range": highest["normalized"] - lowest["normalized"],
            "low": lowest["normalized"],
            "low_publication": lowest["publication"],
            "high": highest["normalized"],
            "high_publication": highest["publication"],
        }
    )
    return table.reset_index().sort_values(
        ["range", *CELL], ascending=[False, True, True], ignore_index=True
    )


def list_publications(exported: pd.DataFrame) -> pd.DataFrame:
    """List the publications of each cell.

    Parameters
    ----------
    exported : pandas.DataFrame
        model, dataset and ``publication`` of each run.

    Returns
    -------
    pandas.DataFrame
        model, dataset and ``reported_by``, the names in order, with semicolons between them.
    """
    known = exported.loc[:, [*CELL, "publication"]].drop_duplicates().sort_values("publication")
    joined = known.groupby(CELL)["publication"].agg(lambda names: AND.join(filter(None, names)))
    return joined.rename("reported_by").reset_index()
