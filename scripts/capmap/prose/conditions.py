"""Sentences on how much the order of models depends on the condition."""

import pandas as pd

from capmap.prose.words import format_interval, format_value, join_names, join_sentences
from capmap.wording import format_count, format_percent, quote_name

SHOWN_CONDITIONS = 3


def describe_conditions(
    conditions: pd.DataFrame,
    condition_ranks: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
) -> list[str]:
    """Say how well the order of models agrees with that of other studies."""
    methods = join_sentences(
        "The models that both conditions have are ranked by the IQM on the datasets that both "
        "have. Noise alone lowers the "
        "agreement, even where conditions agree.",
        f"The {format_percent(confidence_level)} intervals, not simultaneous, are percentiles of "
        f"{n_resamples:,} resamples of the datasets."
        if conditions["ci_low"].notna().any()
        else "",
    )
    taus = conditions[conditions["statistic"] == "kendall_tau"]
    shown = taus.sort_values("estimate", kind="stable").head(SHOWN_CONDITIONS)
    rest = len(taus) - len(shown)
    results = join_sentences(
        *(_describe_condition(row, confidence_level) for _, row in shown.iterrows()),
        f"{format_count(rest, 'more condition agrees', 'more conditions agree')} better."
        if rest
        else "",
        _describe_changes(condition_ranks),
    )
    return [methods, results]


def _describe_condition(row: "pd.Series", confidence_level: float) -> str:
    name = quote_name(row["condition"])
    if pd.isna(row["estimate"]):
        return f"With {name}, too few models or datasets are in common for a correlation."
    ends = format_interval(row["ci_low"], row["ci_high"], confidence_level=confidence_level)
    return f"Kendall's tau with {name} is {format_value(row['estimate'])}{ends}."


def _describe_changes(ranks: pd.DataFrame) -> str:
    moved = ranks[ranks["change"].fillna(0) != 0]
    if moved.empty:
        return "No model changes its rank."
    most = int(moved["change"].abs().max())
    movers = sorted({*moved.loc[moved["change"].abs() == most, "model"]})
    return f"Ranks change by at most {format_count(most, 'place')} ({join_names(movers)})."
