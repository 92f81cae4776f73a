"""Sentences on rankings by groups of datasets."""

import pandas as pd

from capmap.prose.words import describe_parts
from capmap.wording import find_statistic, format_percent, spell_statistic

UNITS = {"runs": "runs", "seeds": "seeds", "runs_and_datasets": "runs and datasets"}


def describe_groups(
    groups: pd.DataFrame,
    *,
    interval: str,
    unit: str,
    confidence_level: float,
    n_resamples: int,
) -> list[str]:
    """Say which models lead each group of datasets."""
    statistic = spell_statistic(find_statistic(groups.columns))
    methods = (
        "Models are ranked within each group of datasets by the "
        f"{statistic} of their normalized scores."
    )
    if groups["ci_low"].notna().any():
        source = "Student's t" if interval == "calibrated" else f"{n_resamples:,} resamples"
        methods += (
            f" The {format_percent(confidence_level)} {interval} intervals over {UNITS[unit]} "
            f"({source}) are not corrected for the number of groups."
        )
    leaders = groups.sort_values(["rank", "model"], kind="stable")
    leaders = pd.concat([leaders[leaders["group"] == name] for name in groups["group"].unique()])
    return [methods, describe_parts(leaders, "group", confidence_level=confidence_level)]
