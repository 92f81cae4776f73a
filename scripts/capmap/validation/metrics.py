"""Metrics and directions that contradict what is known of them."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from capmap.metrics import Metric, find_metric
from capmap.normalization.precedence import Rules
from capmap.problems import Problem
from capmap.validation.places import Row, blame_group, list_rows
from capmap.wording import count_things, list_names, quote_name, write_key

CONVERTED = 0.5
CONVERTED_SHARE = 0.9
MOST = 0.9
HALF = 0.5
CONVERSIONS = "errors converted to 1 - error (none is above 1 and nearly all are at least"


def find_mixed_metrics(runs: pd.DataFrame) -> list[Problem]:
    """Find datasets with more than one metric.

    Parameters
    ----------
    runs : DataFrame
        As read.

    Returns
    -------
    list of Problem
        An error per such dataset (as value), at the first row of its second metric.
    """
    firsts = runs.drop_duplicates(["dataset", "metric"])
    mixed = firsts[firsts.duplicated("dataset", keep=False)]
    return [_explain_mixed(list(list_rows(rows))) for _, rows in mixed.groupby("dataset")]


def find_doubtful_directions(runs: pd.DataFrame, rules: Rules) -> list[Problem]:
    """Find errors that do not look like errors, and directions that contradict the registry.

    Parameters
    ----------
    runs : DataFrame
        With raw scores; one metric per dataset.
    rules : Rules
        What is configured.

    Returns
    -------
    list of Problem
        "suspicious_direction", an error where nobody chose the direction and a warning where the
        chosen one is that of the name, and "overruled_direction", a warning.

    Notes
    -----
    A metric that the registry knows as lower-is-better from 0 upwards (RMSE, log loss, …) is
    suspected on a dataset when its scores look

    - negated: at least half of them are below 0, where no such error can be; or
    - converted to 1 − error: none is above 1 and at least 90% are 0.5 or more. Errors start at
      0, so those of good models crowd near 0, and what is left of 1 crowds near 1.

    An ordinary column of errors, such as 0.02 to 0.4, or one with any error above 1, is not
    suspected. One that happens to lie between 0.5 and 1 is. That costs its owner one line of
    configuration; a direction that is silently wrong reverses the ranking. A dataset with a
    transform is not suspected, because the transform says what its raw scores are.

    An error that cannot exceed 1 (error rate, ECE, …) may well lie between 0.5 and 1. It is
    suspected of being converted, by a warning, when none of its scores is above 1, at least 90%
    are 0.9 or more, and nobody chose the direction.
    """
    score = runs["score"]
    shares = pd.DataFrame(
        {
            "near_one": score >= CONVERTED,
            "at_one": score >= CONVERTED_SHARE,
            "negative": score < 0,
            "within": score <= 1,
        }
    )
    looks = shares.groupby(runs["dataset"]).mean().to_dict("index")
    problems: list[Problem] = []
    overruled: dict[tuple[str, str], list[Row]] = {}
    for row in list_rows(runs.drop_duplicates("dataset")):
        known = find_metric(row.metric)
        if known is None or rules.of_dataset(row.dataset).get("transform"):
            continue
        direction, origin = rules.find_direction(row.dataset, row.metric)
        if direction != known.direction:
            overruled.setdefault((row.metric, str(direction)), []).append(row)
        elif appearance := _describe_errors(known, looks[row.dataset]):
            problems.append(_explain_suspicion(row, appearance, chosen=origin != "natural"))
        elif origin == "natural" and _look_converted(known, looks[row.dataset]):
            problem = _explain_suspicion(row, f"{CONVERSIONS} 0.9)", chosen=False)
            problems.append(replace(problem, severity="warning"))
    return problems + [
        _explain_overruled(metric, direction, rows)
        for (metric, direction), rows in overruled.items()
    ]


def _describe_errors(known: Metric, shares: Mapping[Hashable, Any]) -> str:
    if (known.direction, known.low, known.high) != ("min", 0.0, None):
        return ""
    if shares["negative"] >= HALF:
        return "negated errors (most are below 0)"
    if shares["within"] == 1 and shares["near_one"] >= MOST:
        return f"{CONVERSIONS} 0.5)"
    return ""


def _look_converted(known: Metric, shares: Mapping[Hashable, Any]) -> bool:
    """Tell whether the scores of an error that cannot exceed 1 nearly all lie at 1."""
    is_share = (known.direction, known.low, known.high) == ("min", 0.0, 1.0)
    return bool(is_share and shares["within"] == 1 and shares["at_one"] >= MOST)


def _explain_mixed(rows: Sequence[Row]) -> Problem:
    first, second = rows[:2]
    places = "; ".join(
        f"{quote_name(row.metric)} at line {row.line} of {row.source}" for row in rows[:5]
    )
    return blame_group(
        second,
        "mixed_metrics",
        f"The dataset {quote_name(first.dataset)} has {len(rows)} metrics: {places}.",
        f"Choose one, such as where: {{METRIC_COLUMN: {write_key(first.metric)}}}, or make a "
        "dataset of each: columns: {dataset: [DATASET_COLUMN, METRIC_COLUMN]}.",
        severity="error",
    )


def _explain_suspicion(row: Row, appearance: str, *, chosen: bool) -> Problem:
    dataset, metric = quote_name(row.dataset), quote_name(row.metric)
    reason = (
        f"Lower is better by its name for the metric {metric} of the dataset {dataset}, but its "
        f"scores look like {appearance}, where higher is better."
    )
    key = write_key(row.dataset)
    if chosen:
        reason += " The configuration says min, so the lowest score is taken as the best."
        remedy = f"If that is wrong, write datasets: {{{key}: {{direction: max}}}}."
    else:
        remedy = (
            f"Write datasets: {{{key}: {{direction: max}}}} if they were converted, or "
            f"datasets: {{{key}: {{direction: min}}}} if they are plain errors."
        )
    return blame_group(
        row, "suspicious_direction", reason, remedy, severity="warning" if chosen else "error"
    )


def _explain_overruled(metric: str, direction: str, rows: Sequence[Row]) -> Problem:
    names = list_names([row.dataset for row in rows])
    usual = "lower" if direction == "max" else "higher"
    return blame_group(
        rows[0],
        "overruled_direction",
        f"The configuration says {direction} for the metric {quote_name(metric)}, of which "
        f"{usual} is better by its name ({count_things(len(rows), 'dataset')}: {names}).",
        "The configuration is followed; correct it if the scores are what the name says.",
        severity="warning",
        value=metric,
    )
