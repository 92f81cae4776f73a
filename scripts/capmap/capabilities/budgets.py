"""The best expected model for each dataset and budget, and which models may be the best."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from capmap.attributes import read_model_attributes
from capmap.ranking.aggregation import FloatArray
from capmap.renaming import rename_column

BEST = [
    *("dataset", "budget", "model", "cost", "is_result", "score", "score_low"),
    *("score_high", "models", "candidates"),
]
CANDIDATES = [
    *("dataset", "model", "cost", "is_result", "score", "score_low", "score_high"),
    *("budget_from", "budget_to"),
]
READ = ("name", "architecture", "parameters", "cost", "date", "date_format")
MOST_BUDGETS = 8
# Widths of intervals below this count as this.
NARROWEST = 0.01


def read_costs(
    model_file: Sequence[str],
    *,
    model_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
    against: str,
) -> "pd.Series[float]":
    """Read what models cost.

    Parameters
    ----------
    model_file : sequence of str
        The table of attributes, or none.
    model_attributes, renamed : mapping
        As in the settings ``attributes`` and ``figures/names``.
    against : {"", "parameters", "cost", "date"}
        As in the setting ``frontier``; where it names no number, the cost, or else the parameters.

    Returns
    -------
    pandas.Series
        By model; empty where no cost is known.
    """
    known = read_model_attributes(
        next(iter(model_file), ""), **{name: model_attributes[name] for name in READ}
    )
    known = rename_column(known, "model", renamed).set_index("model")
    order = [against] if against in ("parameters", "cost") else ["cost", "parameters"]
    found = [known[name].dropna().astype(float) for name in order if name in known]
    return next((costs for costs in found if len(costs)), pd.Series(dtype=float))


def choose_best(
    predictions: pd.DataFrame,
    gaps: pd.DataFrame,
    costs: "pd.Series[float]",
    *,
    confidence_level: float,
) -> dict[str, pd.DataFrame]:
    """Choose the best expected model of each dataset at each budget, and those that may be best.

    Parameters
    ----------
    predictions : pandas.DataFrame
        The columns of the table of that name.
    gaps : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (raw).
    costs : pandas.Series
        Of models by name; empty for no limits. Models without a cost take no part if others have
        one.
    confidence_level : float
        Probability that the best model of a dataset is among its candidates, at all budgets at
        once, between 0 and 1.

    Returns
    -------
    dict
        ``best_models``, by dataset and budget: the model with the smallest gap, as it is or as
        predicted (of equal ones the cheapest); its score with its prediction interval, whose ends
        are missing for a result; how many ``models`` cost no more, and how many of them may be the
        best (``candidates``). ``best_candidates``, by dataset and cost: who these are, from the
        budget of their cost up to ``budget_to``, which is empty where there is no end.

    Notes
    -----
    Results count as they are. A model without a result may be the best unless a result within the
    budget is better than the lower bound of its gap, which holds for all models without a result on
    the dataset at once (Bonferroni): a conformal quantile of the errors of hidden results, each in
    widths of its interval. So the best model is lost only if its own bound fails. Where hidden
    results are too few for that quantile (models without a result on the dataset, divided by one
    minus the level), or the bound is no better than the best result there is, none is excluded.
    The assumption is that of the intervals: new results are like those that are there.
    """
    table = predictions.dropna(subset="predicted").merge(
        gaps[["model", "dataset", "score"]], on=["model", "dataset"], how="left"
    )
    table = _bound_gaps(table, confidence_level)
    table["cost"] = table["model"].map(costs) if len(costs) else np.nan
    if len(costs):
        table = table.dropna(subset="cost")
    is_result = table["is_result"]
    table.loc[is_result, ["score_low", "score_high"]] = np.nan
    table["score"] = table["score"].where(is_result, table["predicted_score"])
    table = table.sort_values(
        ["dataset", "cost", "value", "is_result", "model"],
        ascending=[True, True, True, False, True],
        ignore_index=True,
    )
    budgets = _list_budgets(table["cost"].dropna())
    best, candidates = [], []
    for _, own in table.groupby("dataset", sort=True):
        kept = _find_candidates(own)
        candidates.append(kept)
        best.append(_choose_rows(own, kept, budgets))
    return {
        "best_models": _join(best, BEST),
        "best_candidates": _join(candidates, CANDIDATES),
    }


def _bound_gaps(table: pd.DataFrame, confidence_level: float) -> pd.DataFrame:
    """Gaps, as they are or predicted, and lower bounds that hold for all models of a dataset."""
    is_result = table["observed"].notna()
    widths = (table["high"] - table["low"]).clip(lower=NARROWEST)
    hidden = is_result & table["low"].notna()
    ratios: pd.Series[float] = (table["predicted"] - table["observed"]) / widths
    excess: FloatArray = np.asarray(ratios[hidden], dtype=np.float64)
    missing = (~is_result).groupby(table["dataset"]).transform("sum").to_numpy(dtype=float)
    tails = (1 - confidence_level) / np.maximum(missing, 1)
    bound = table["predicted"] - widths * _find_quantiles(np.sort(excess), tails)
    return table.assign(
        is_result=is_result,
        value=table["observed"].where(is_result, table["predicted"]),
        bound=table["observed"].where(is_result, bound.where(bound > 0, -np.inf)),
    )


def _find_quantiles(excess: FloatArray, tails: FloatArray) -> FloatArray:
    """What a further number exceeds with a probability of at most each tail."""
    ranks = np.ceil((len(excess) + 1) * (1 - tails) - 1e-9).astype(int)
    padded = np.concatenate([np.maximum(excess, 0), [np.inf]])
    return np.asarray(padded[np.clip(ranks - 1, 0, len(excess))])


def _list_budgets(costs: "pd.Series[float]") -> list[float]:
    """Costs at which tables have rows: all, or their quantiles if they are many."""
    known = np.unique(costs.to_numpy(dtype=float))
    if not len(known):
        return [np.nan]
    if len(known) > MOST_BUDGETS:
        shares = np.arange(1, MOST_BUDGETS + 1) / MOST_BUDGETS
        known = known[(shares * len(known)).round().astype(int) - 1]
    return [float(budget) for budget in known]


def _find_candidates(own: pd.DataFrame) -> pd.DataFrame:
    """Models of a dataset that may be the best at some budget, and up to which."""
    starts, bounds = (own[name].to_numpy(dtype=float) for name in ("cost", "bound"))
    costs = np.nan_to_num(starts)
    ends = np.full(len(own), np.inf)
    is_result = own["is_result"].to_numpy(dtype=bool)
    for cost, observed in zip(costs[is_result], own.loc[is_result, "observed"], strict=True):
        ends = np.where(bounds > observed, np.minimum(ends, cost), ends)
    limits = np.where(np.isfinite(ends), ends, np.nan)
    found: pd.DataFrame = own.assign(budget_from=starts, budget_to=limits)[ends > costs]
    return found


def _choose_rows(own: pd.DataFrame, kept: pd.DataFrame, budgets: list[float]) -> pd.DataFrame:
    """The best expected model of a dataset at each budget that any model is within."""
    costs, values = np.nan_to_num(own["cost"].to_numpy(float)), own["value"].to_numpy(float)
    limits = np.array([budget for budget in np.nan_to_num(budgets) if budget >= costs[0]])
    counts = np.searchsorted(costs, limits, side="right")
    starts = np.nan_to_num(kept["budget_from"].to_numpy(float))[:, None]
    ends = kept["budget_to"].fillna(np.inf).to_numpy(float)[:, None]
    # Models are sorted by cost, value and name, so that the first of equal values is the cheapest.
    rows = own.iloc[[int(values[:count].argmin()) for count in counts]]
    return rows.assign(
        budget=limits if own["cost"].notna().all() else np.nan,
        models=counts,
        candidates=((starts <= limits) & (ends > limits)).sum(axis=0),
    )


def _join(parts: list[pd.DataFrame], columns: list[str]) -> pd.DataFrame:
    if not parts:
        return pd.DataFrame(columns=columns)
    return pd.concat(parts, ignore_index=True)[columns]
