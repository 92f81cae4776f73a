"""How the checkpoints of a study are to be chosen and compared, or why that cannot be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import pandas as pd

from capmap.normalization import Rules
from capmap.problems import Problem, ask_nearest
from capmap.settings.choices import Direction
from capmap.wording import count_things, list_names, quote_name, write_key

STAMP = "selected on the test split"
SPLIT = "validation"
REPORT = "test"
TRAINING = ["model", "training"]
NO_SPLITS = Problem(
    severity="warning",
    code="no_splits",
    reason="The exports name no split, so checkpoints are chosen and compared by the same values.",
    remedy="The scores of chosen checkpoints flatter them; add a column of splits if you can.",
)


class Select(TypedDict, total=False):
    """By what checkpoints are chosen; what is missing or empty is found in the data."""

    metric: str
    split: str


class Settings(TypedDict, total=False):
    """The configured ``checkpoints``."""

    select: Select
    allow_test_selection: bool
    report: Mapping[str, str]
    rankings: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Plan:
    """How the checkpoints of a study are chosen and compared.

    Parameters
    ----------
    split, report : str
        Where they are chosen and where the chosen ones are compared; empty where the exports name
        no splits.
    metrics : mapping of str to str
        The metric by which they are chosen on each dataset of the selection.
    primary : mapping of str to str
        The metric by which they are compared on each dataset of the study.
    directions : mapping of (dataset, metric) to {"max", "min"}
        Which value is better; without those of which nobody says it.
    stamp : str
        What every table says of a choice on a test split; otherwise empty.
    """

    split: str
    report: str
    metrics: Mapping[str, str]
    primary: Mapping[str, str]
    directions: Mapping[tuple[str, str], Direction]
    stamp: str

    def find_direction(self, metrics: Mapping[str, str]) -> Direction:
        """Find which mean over datasets is better: normalized ones are turned, one is raw."""
        if len(metrics) != 1:
            return "max"
        return self.directions.get(next(iter(metrics.items())), "max")


def plan_selection(
    values: pd.DataFrame, settings: Settings, *, metric: str, rules: Rules
) -> tuple[Plan, list[Problem]]:
    """Decide by what checkpoints are chosen and compared, and say what is wrong with that.

    Parameters
    ----------
    values : pandas.DataFrame
        ``model``, ``training``, ``checkpoint``, ``dataset``, ``metric``, ``split``, ``source`` and
        ``line``, a row per value.
    settings : mapping
        The configured ``checkpoints``.
    metric : str
        The study's metric, or empty.
    rules : Rules
        What is configured about metrics and datasets.

    Returns
    -------
    plan : Plan
        Of use only when there is no error.
    problems : list of Problem
        All that stands against it, and what is only odd.

    Notes
    -----
    Datasets are compared by the metric of their rule, else by the study's, else by that of the
    selection, else by the only one that they have. Checkpoints are chosen by the metric of the
    selection, else by that by which the dataset is compared; on all datasets that have the
    metric on the selection split. Values without any split have one nameless split, which
    serves for both.
    """
    select = settings.get("select", {})
    split, report, problems = _choose_splits(values, settings)
    wanted = select.get("metric", "")
    problems += _find_unknown_metrics(values, {"metric": metric, "checkpoints.select": wanted})
    reported = values[values["split"] == report]
    primary, faults = _choose_primary(reported, [metric, wanted], rules)
    problems += faults
    offered = values[values["split"] == split]
    metrics, faults = _choose_metrics(values, offered, select, primary)
    problems += faults
    directions = _find_directions(values, rules)
    problems += _find_unknown_directions(metrics, directions)
    if metrics:
        problems += _find_gaps(values, offered, metrics)
    stamp = STAMP if split and _is_test(split, settings) else ""
    return Plan(split, report, metrics, primary, directions, stamp), problems


def _choose_splits(values: pd.DataFrame, settings: Settings) -> tuple[str, str, list[Problem]]:
    split = settings.get("select", {}).get("split", SPLIT)
    report = settings.get("report", {}).get("split", REPORT)
    present = sorted(values["split"].unique())
    if present in ([""], []):
        return "", "", [NO_SPLITS] if present else []
    problems = []
    if split not in present:
        problems.append(_explain_absent_split(split, present))
    elif _is_test(split, settings) and not settings.get("allow_test_selection", False):
        problems.append(_explain_test_split(split))
    if report not in present and split in present:
        problems.append(_explain_absent_report(report, split))
        report = split
    return split, report, problems


def _is_test(split: str, settings: Settings) -> bool:
    return split.casefold() == settings.get("report", {}).get("split", REPORT).casefold()


def _find_unknown_metrics(values: pd.DataFrame, wanted: Mapping[str, str]) -> list[Problem]:
    present = sorted(values["metric"].unique())
    return [
        Problem(
            code="unknown_metric",
            value=name,
            reason=f"No checkpoint has the metric {quote_name(name)} ({place}).",
            remedy=f"{ask_nearest(name, present)}The metrics are {list_names(present)}.",
        )
        for place, name in wanted.items()
        if name and name not in present
    ]


def _choose_primary(
    reported: pd.DataFrame, usual: Sequence[str], rules: Rules
) -> tuple[dict[str, str], list[Problem]]:
    """Choose the metric by which each dataset of the report split is compared."""
    primary, problems = {}, []
    for dataset, names in reported.groupby("dataset")["metric"]:
        present = sorted(names.unique())
        own = rules.of_dataset(str(dataset)).get("metric", "")
        known = [name for name in [own, *usual] if name in present]
        if own and own not in present:
            problems.append(_explain_lack(str(dataset), own, present))
        elif known or len(present) == 1:
            primary[str(dataset)] = (known or present)[0]
        else:
            problems.append(_explain_choice(str(dataset), present))
    return primary, problems


def _choose_metrics(
    values: pd.DataFrame, offered: pd.DataFrame, select: Select, primary: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Choose the datasets, and the metric of each, by which checkpoints are chosen."""
    metric = select.get("metric", "")
    present = sorted(values["dataset"].unique())
    pairs = set(offered[["dataset", "metric"]].itertuples(index=False, name=None))
    by = {name: metric or primary.get(name, "") for name in present}
    if not metric:
        by |= _choose_only(offered, by)
    metrics = {name: by[name] for name in present if (name, by[name]) in pairs}
    if metrics or offered.empty or (metric and metric not in set(values["metric"])):
        return metrics, []
    return metrics, [_explain_unselectable(metric)]


def _choose_only(offered: pd.DataFrame, by: Mapping[str, str]) -> dict[str, str]:
    """Take the only metric of datasets that are chosen by but not compared on."""
    only = {str(name): rows.unique() for name, rows in offered.groupby("dataset")["metric"]}
    return {
        name: str(metrics[0])
        for name, metrics in only.items()
        if len(metrics) == 1 and not by[name]
    }


def _find_directions(values: pd.DataFrame, rules: Rules) -> dict[tuple[str, str], Direction]:
    pairs = values[["dataset", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    found = {pair: rules.find_direction(*pair)[0] for pair in pairs}
    return {pair: direction for pair, direction in found.items() if direction}


def _find_unknown_directions(
    metrics: Mapping[str, str], directions: Mapping[tuple[str, str], Direction]
) -> list[Problem]:
    names = sorted({name for dataset, name in metrics.items() if (dataset, name) not in directions})
    return [
        Problem(
            code="unknown_direction",
            value=name,
            reason=f"Checkpoints are chosen by the metric {quote_name(name)}, and nothing says "
            "whether its higher or its lower value is better.",
            remedy=f"Set metrics: {{{write_key(name)}: {{direction: max}}}} or min.",
        )
        for name in names
    ]


def _find_gaps(
    values: pd.DataFrame, offered: pd.DataFrame, metrics: Mapping[str, str]
) -> list[Problem]:
    """Find trainings without any checkpoint, and count checkpoints, that cannot be compared."""
    key = [*TRAINING, "checkpoint"]
    used = offered[offered["dataset"].map(metrics) == offered["metric"]]
    counts = used.groupby(key)["dataset"].nunique().rename("datasets")
    listed = values.drop_duplicates(key).merge(counts, left_on=key, right_index=True, how="left")
    listed["whole"] = listed["datasets"] == len(metrics)
    problems = []
    for _, rows in listed.groupby(TRAINING):
        first, lacking = rows.iloc[0], rows[~rows["whole"]]
        if len(lacking) == len(rows):
            has_any = bool(rows["datasets"].notna().any())
            problems.append(_explain_no_choice(first, metrics, has_any=has_any))
        elif len(lacking):
            problems.append(_explain_partial(lacking.iloc[0], len(lacking), len(rows)))
    return problems


def _explain_absent_split(split: str, present: Sequence[str]) -> Problem:
    return Problem(
        code="no_selection_split",
        value=split,
        reason=f"No value is of the split {quote_name(split)} (checkpoints.select.split).",
        remedy=f"{ask_nearest(split, present)}The splits are {list_names(present)}.",
    )


def _explain_test_split(split: str) -> Problem:
    return Problem(
        code="test_selection",
        value=split,
        reason=f"Checkpoints would be chosen on the test split {quote_name(split)}, so that "
        "what is found of them there is too good.",
        remedy="Choose them on another split (checkpoints.select.split), or set "
        "checkpoints.allow_test_selection: true, which is said in every table.",
    )


def _explain_absent_report(report: str, split: str) -> Problem:
    return Problem(
        severity="warning",
        code="no_report_split",
        value=report,
        reason=f"No value is of the split {quote_name(report)} (checkpoints.report.split), so the "
        f"chosen checkpoints are compared on {quote_name(split)}, where they were chosen.",
        remedy="Their scores there flatter them; set checkpoints.report.split to a split that had "
        "no part in the choice.",
    )


def _explain_lack(dataset: str, metric: str, present: Sequence[str]) -> Problem:
    return Problem(
        code="unknown_metric",
        value=metric,
        reason=f"The dataset {quote_name(dataset)} has no value of its metric {quote_name(metric)} "
        "on the report split.",
        remedy=f"{ask_nearest(metric, present)}Its metrics are {list_names(present)}.",
    )


def _explain_choice(dataset: str, present: Sequence[str]) -> Problem:
    return Problem(
        code="no_primary_metric",
        value=dataset,
        reason=f"The dataset {quote_name(dataset)} has the metrics {list_names(present)}, and "
        "nothing says by which of them models are compared.",
        remedy="Set metric, or datasets: "
        f"{{{write_key(dataset)}: {{metric: {write_key(present[0])}}}}}.",
    )


def _explain_unselectable(metric: str) -> Problem:
    what = f"the metric {quote_name(metric)}" if metric else "a metric to choose by"
    return Problem(
        code="no_selection_value",
        value=metric,
        reason=f"The selection split has no value of {what} of any dataset.",
        remedy="Correct checkpoints.select, or evaluate checkpoints there.",
    )


def _explain_no_choice(row: "pd.Series", metrics: Mapping[str, str], *, has_any: bool) -> Problem:
    training = quote_name(row["training"])
    names = list_names(sorted(set(metrics.values())))
    reason = (
        f"No checkpoint of the training {training} has all {count_things(len(metrics), 'dataset')} "
        "by which checkpoints are chosen."
        if has_any
        else f"The training {training} has no value of {names} on the selection split."
    )
    return Problem(
        code="no_candidate",
        source=row["source"],
        line=int(row["line"]),
        value=row["training"],
        reason=reason,
        remedy="Evaluate its checkpoints there, or leave the training out with where.",
    )


def _explain_partial(row: "pd.Series", lacking: int, total: int) -> Problem:
    return Problem(
        severity="warning",
        code="partial_checkpoint",
        source=row["source"],
        line=int(row["line"]),
        value=row["training"],
        reason=f"{lacking} of {count_things(total, 'checkpoint')} of the training "
        f"{quote_name(row['training'])} cannot be chosen: they lack datasets of the selection, as "
        f"{quote_name(row['checkpoint'])} does.",
        remedy="Evaluate them there, or leave datasets out with where.",
    )
