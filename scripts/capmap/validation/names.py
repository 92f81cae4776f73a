"""Names in the configuration that are not in the data."""

from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from capmap.metrics import canonical_name
from capmap.normalization.rules import DatasetRule, MetricRule, Select, Selection
from capmap.problems import Problem
from capmap.validation.places import blame_group, list_rows
from capmap.wording import find_nearest, quote_name

MOST_SUGGESTIONS = 20
RESERVED = "model"


def find_unknown_names(
    runs: pd.DataFrame,
    *,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    select: Select,
) -> list[Problem]:
    """Find configured names that match nothing, and rules of one metric given twice.

    Parameters
    ----------
    runs : DataFrame
        All rows as read, with the columns model, dataset and metric.
    metrics, datasets, select : mapping
        What is configured. Metrics are compared without case and separators, other names exactly.

    Returns
    -------
    list of Problem
        An error per name, with the most similar name of the data as suggestion where there is one
        (for the first 20, because each takes a search through all names).
    """
    present = {kind: set(runs[kind].unique()) for kind in ("model", "dataset", "metric")}
    spellings = {canonical_name(metric) for metric in present["metric"]}
    unknown = [
        *(("metrics", name, "metric") for name in metrics if canonical_name(name) not in spellings),
        *(("datasets", name, "dataset") for name in datasets),
        *(("select.models", name, "model") for name in _list_selected(select.get("models", "all"))),
        *(
            ("select.datasets", name, "dataset")
            for name in _list_selected(select.get("datasets", "all"))
        ),
    ]
    unknown = [item for item in unknown if item[1] not in present[item[2]]]
    problems = list(_find_twins(metrics))
    for position, (option, name, kind) in enumerate(unknown):
        nearest = find_nearest(name, present[kind]) if position < MOST_SUGGESTIONS else None
        problems.append(_explain_unknown(option, name, kind, nearest))
    return problems


def find_reserved_names(runs: pd.DataFrame) -> list[Problem]:
    """Find a dataset that is called like the column of models in the table of scores.

    Parameters
    ----------
    runs : DataFrame
        The runs of all datasets that are analysed.

    Returns
    -------
    list of Problem
        An error at its first run, if there is one.
    """
    reserved = runs[runs["dataset"] == RESERVED]
    return [
        blame_group(
            row,
            "reserved_dataset",
            f"A dataset cannot be called {quote_name(RESERVED)}, because the tables have a column "
            "of this name for the models.",
            "Rename the dataset in the export, or leave it out with select.",
            severity="error",
        )
        for row in list_rows(reserved.head(1))
    ]


def _list_selected(selection: Selection) -> Iterator[str]:
    if isinstance(selection, Mapping):
        yield from selection.get("include", [])
        yield from selection.get("exclude", [])
    elif selection != "all":
        yield from selection


def _find_twins(metrics: Iterable[str]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for name in sorted(metrics):
        twin = seen.setdefault(canonical_name(name), name)
        if twin != name:
            yield Problem(
                code="ambiguous_rule",
                reason=f"metrics: has rules for {quote_name(twin)} and {quote_name(name)}, "
                "which are one name without case and separators.",
                remedy="Keep one of them.",
                value=name,
            )


def _explain_unknown(option: str, name: str, kind: str, nearest: str | None) -> Problem:
    remedy = f"Did you mean {quote_name(nearest)}?" if nearest else "Correct the name or remove it."
    return Problem(
        code="unknown_name",
        reason=f"{option} names the {kind} {quote_name(name)}, which is not in the data.",
        remedy=remedy,
        value=name,
    )
