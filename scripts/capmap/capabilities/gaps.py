"""The table of gaps: what each model lacks to the best one, on the datasets that are enough."""

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray, round_significant, summarize_cells
from capmap.capabilities.results import BoolArray, Results, arrange_results, explain_dropped
from capmap.errors import ValidationError

COLUMNS = ["model", "dataset", "score", "normalized", "absolute_gap", "gap", "dropped"]
FEWEST = 2


def tabulate_gaps(runs: pd.DataFrame, bounds: pd.DataFrame, *, min_results: int) -> pd.DataFrame:
    """Measure the gap of each cell to the best model of its dataset.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run, at least one.
    bounds : pandas.DataFrame
        Columns ``dataset``, ``direction`` ("max" or "min"), ``low`` and ``high`` (raw scores), a
        row per dataset.
    min_results : int
        Models and datasets with fewer results are dropped, and so on until none is left to drop.

    Returns
    -------
    pandas.DataFrame
        A row per cell with runs, by model and dataset: ``model``; ``dataset``; ``score``, the raw
        mean of its runs; ``normalized``, their normalized mean; ``absolute_gap``, the distance
        (at least 0) of the score to the best one that is kept, in the metric's unit; ``gap``, that
        divided by the distance of the worst one that is kept, from 0 (best) to 1 (worst); and
        ``dropped``, "" or why the cell is dropped (`explain_dropped`). Gaps of dropped cells are
        NaN.

    Raises
    ------
    ValidationError
        If less than two models or two datasets are left.

    Notes
    -----
    Raw scores come from normalized ones, ``low + s (high − low)`` where higher is better and
    ``high − s (high − low)`` where lower is. They and absolute gaps are rounded to 12 significant
    digits, so that they read as they were written.
    """
    cells = summarize_cells(runs)[["model", "dataset", "mean"]].rename(columns={"mean": "score"})
    reasons = explain_dropped(cells, min_results=min_results)
    kept = reasons == ""
    _require_enough(cells, kept, min_results=min_results)
    normalized = cells["score"].to_numpy(dtype=float)
    table = cells.assign(
        score=_restore_scores(cells["dataset"], normalized, bounds),
        normalized=normalized,
        absolute_gap=np.nan,
        gap=np.nan,
        dropped=reasons.astype(object),
    )
    results = arrange_results(cells[kept])
    table.loc[kept, "gap"] = results.gaps
    best = scale_scores(table).set_index("dataset")["best"].loc[table["dataset"][kept]].to_numpy()
    apart = np.abs(table["score"].to_numpy()[kept] - best)
    table.loc[kept, "absolute_gap"] = round_significant(apart)
    return table[COLUMNS]


def choose_results(gaps: pd.DataFrame) -> Results:
    """Arrange the cells that are kept.

    Parameters
    ----------
    gaps : pandas.DataFrame
        Of `tabulate_gaps`, also as read from a file, in any order of rows.

    Returns
    -------
    Results
        With models and datasets by name; scores are normalized.
    """
    kept = gaps.loc[gaps["gap"].notna(), ["model", "dataset", "normalized"]]
    return arrange_results(kept.rename(columns={"normalized": "score"}))


def scale_scores(gaps: pd.DataFrame) -> pd.DataFrame:
    """Find the raw scores between which gaps are measured.

    Parameters
    ----------
    gaps : pandas.DataFrame
        Of `tabulate_gaps`; its absolute gaps are not needed.

    Returns
    -------
    pandas.DataFrame
        A row per dataset that is kept, by name: ``dataset``, and the raw scores ``best`` of the
        gap 0 and ``worst`` of the gap 1. A gap g is the raw score
        ``best + g (worst − best)``; ``best`` is the lower one where lower is better.

    Examples
    --------
    >>> gaps = pd.DataFrame({"dataset": ["D", "D"], "score": [0.25, 0.75], "gap": [0.0, 1.0]})
    >>> scale_scores(gaps).to_dict("list")
    {'dataset': ['D'], 'best': [0.25], 'worst': [0.75]}
    """
    kept = gaps[gaps["gap"].notna()].sort_values(["dataset", "gap"], kind="stable")
    scores = kept.groupby("dataset", sort=True)["score"]
    return pd.DataFrame({"best": scores.first(), "worst": scores.last()}).reset_index()


def _restore_scores(
    datasets: "pd.Series[str]", normalized: FloatArray, bounds: pd.DataFrame
) -> FloatArray:
    """Turn normalized scores into raw ones, in a form that is exact at both bounds."""
    own = bounds.set_index("dataset").loc[datasets.tolist()]
    low, high = (own[side].to_numpy(dtype=float) for side in ("low", "high"))
    is_max = (own["direction"] == "max").to_numpy(dtype=bool)
    share = np.where(is_max, normalized, 1 - normalized)
    return round_significant(low * (1 - share) + high * share)


def _require_enough(cells: pd.DataFrame, kept: BoolArray, *, min_results: int) -> None:
    if _is_enough(cells[kept]):
        return
    setting = "`capabilities: {min_results: …}`"
    most = max(int(cells[name].value_counts().max()) for name in ("model", "dataset"))
    for least in range(min(min_results - 1, most), 0, -1):
        if _is_enough(cells[explain_dropped(cells, min_results=least) == ""]):
            remedy = f"Set {setting} to {least} or less (it is {min_results}), or add results."
            break
    else:
        remedy = (
            f"No {setting} mends this (it is {min_results}): add results of models on datasets "
            'that others have, or leave "capabilities" out of `analyses`.'
        )
    raise ValidationError(
        f"capabilities: less than {FEWEST} models or {FEWEST} datasets are left once those with "
        f"few results, and datasets whose models all tie, are dropped. {remedy}"
    )


def _is_enough(cells: pd.DataFrame) -> bool:
    return all(cells[name].nunique() >= FEWEST for name in ("model", "dataset"))
