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
# What can be wrong with the choice of checkpoints: what is said, and what to do.
PROBLEMS = {
    "no_splits": (
        "The exports name no split, so checkpoints are chosen and compared by the same values.",
        "The scores of chosen checkpoints flatter them; add a column of splits if you can.",
    ),
    "no_selection_split": (
        "No value is of the split {value} (checkpoints.select.split).",
        "{hint}The splits are {present}.",
    ),
    "test_selection": (
        "Checkpoints would be chosen on the test split {value}, so that what is found of them "
        "there is too good.",
        "Choose them on another split (checkpoints.select.split), or set "
        "checkpoints.allow_test_selection: true, which is said in every table.",
    ),
    "no_report_split": (
        "No value is of the split {value} (checkpoints.report.split), so the chosen checkpoints "
        "are compared on {split}, where they were chosen.",
        "Their scores there flatter them; set checkpoints.report.split to a split that had no part "
        "in the choice.",
    ),
    "unknown_metric": ("{who} the metric {value} ({place}).", "{hint}The metrics are {present}."),
    "no_primary_metric": (
        "The dataset {value} has the metrics {present}, and nothing says by which of them models "
        "are compared.",
        "Set metric, or datasets: {{{key}: {{metric: {metric}}}}}.",
    ),
    "no_selection_value": (
        "The selection split has no value of {what} of any dataset.",
        "Correct checkpoints.select, or evaluate checkpoints there.",
    ),
    "unknown_direction": (
        "Checkpoints are chosen by the metric {value}, and nothing says whether its higher or its "
        "lower value is better.",
        "Set metrics: {{{key}: {{direction: max}}}} or min.",
    ),
    "no_candidate": (
        "{what}",
        "Evaluate its checkpoints there, or leave the training out with where.",
    ),
    "partial_checkpoint": (
        "{lacking} of {total} of the training {value} cannot be chosen: they lack datasets of the "
        "selection, as {checkpoint} does.",
        "Evaluate them there, or leave datasets out with where.",
    ),
    "no_report_value": (
        "The checkpoint {checkpoint} that is chosen of the training {value} has no value on the "
        "report split {split}.",
        "Evaluate it there, or set checkpoints.report.split.",
    ),
    "no_chosen_value": (
        "No chosen checkpoint has a value to compare on {names}{split}, though others have.",
        "Evaluate the chosen ones there, or leave these datasets out with where.",
    ),
    "one_split": (
        "Of {names} there are values on the split {here} and none on {there}, so they {lack}.",
        "Check how their splits are spelled.",
    ),
}
WARNINGS = frozenset({"no_splits", "no_report_split", "partial_checkpoint", "one_split"})


def tell(code: str, value: str = "", row: Any = None, **said: str) -> Problem:
    """Make a problem of `PROBLEMS`, whose sentences say more than the value, perhaps at a row."""
    reason, remedy = PROBLEMS[code]
    said["value"] = quote_name(value)
    return Problem(
        severity="warning" if code in WARNINGS else "error",
        code=code,
        source=str(row["source"]) if row is not None else "",
        line=int(row["line"]) if row is not None else 0,
        value=value,
        reason=reason.format_map(said),
        remedy=remedy.format_map(said),
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
    problems += [
        tell("unknown_direction", name, key=write_key(name))
        for name in sorted({pair[1] for pair in metrics.items() if pair not in directions})
    ]
    if metrics:
        problems += _find_gaps(values, offered, metrics)
    stamp = STAMP if split and _is_test(split, settings) else ""
    return Plan(split, report, metrics, primary, directions, stamp), problems


def _choose_splits(values: pd.DataFrame, settings: Settings) -> tuple[str, str, list[Problem]]:
    split = settings.get("select", {}).get("split", SPLIT)
    report = settings.get("report", {}).get("split", REPORT)
    present = sorted(values["split"].unique())
    if present in ([""], []):
        return "", "", [tell("no_splits")] if present else []
    problems = []
    if split not in present:
        hint, listed = ask_nearest(split, present), list_names(present)
        problems.append(tell("no_selection_split", split, hint=hint, present=listed))
    elif _is_test(split, settings) and not settings.get("allow_test_selection", False):
        problems.append(tell("test_selection", split))
    if report not in present and split in present:
        problems.append(tell("no_report_split", report, split=quote_name(split)))
        report = split
    return split, report, problems


def _is_test(split: str, settings: Settings) -> bool:
    return split.casefold() == settings.get("report", {}).get("split", REPORT).casefold()


def _find_unknown_metrics(values: pd.DataFrame, wanted: Mapping[str, str]) -> list[Problem]:
    present = sorted(values["metric"].unique())
    return [
        _explain_metric(name, present, who="No checkpoint has", place=place)
        for place, name in wanted.items()
        if name and name not in present
    ]


def _explain_metric(name: str, present: Sequence[str], *, who: str, place: str) -> Problem:
    hint, listed = ask_nearest(name, present), list_names(present)
    return tell("unknown_metric", name, who=who, place=place, hint=hint, present=listed)


def _choose_primary(
    reported: pd.DataFrame, usual: Sequence[str], rules: Rules
) -> tuple[dict[str, str], list[Problem]]:
    """Choose the metric by which each dataset of the report split is compared."""
    primary, problems = {}, []
    for dataset, names in reported.groupby("dataset")["metric"]:
        name, present = str(dataset), sorted(names.unique())
        own = rules.of_dataset(name).get("metric", "")
        known = [metric for metric in [own, *usual] if metric in present]
        if own and own not in present:
            who = f"The dataset {quote_name(name)} has no value of"
            problems.append(_explain_metric(own, present, who=who, place="on the report split"))
        elif known or len(present) == 1:
            primary[name] = (known or present)[0]
        else:
            key, metric = write_key(name), write_key(present[0])
            said = {"present": list_names(present), "key": key, "metric": metric}
            problems.append(tell("no_primary_metric", name, **said))
    return primary, problems


def _choose_metrics(
    values: pd.DataFrame, offered: pd.DataFrame, select: Select, primary: Mapping[str, str]
) -> tuple[dict[str, str], list[Problem]]:
    """Choose the datasets, and the metric of each, by which checkpoints are chosen."""
    metric = select.get("metric", "")
    by = dict.fromkeys(values["dataset"], metric) | ({} if metric else dict(primary))
    for name, own in offered.groupby("dataset")["metric"]:
        # A dataset that is chosen by but not compared on has its only metric.
        if not by[str(name)] and len(own.unique()) == 1:
            by[str(name)] = str(own.iloc[0])
    pairs = {*offered[["dataset", "metric"]].itertuples(index=False, name=None)}
    metrics = {name: by[name] for name in sorted({*values["dataset"]}) if (name, by[name]) in pairs}
    if metrics or offered.empty or (metric and metric not in set(values["metric"])):
        return metrics, []
    what = f"the metric {quote_name(metric)}" if metric else "a metric to choose by"
    return metrics, [tell("no_selection_value", metric, what=what)]


def _find_directions(values: pd.DataFrame, rules: Rules) -> dict[tuple[str, str], Direction]:
    pairs = values[["dataset", "metric"]].drop_duplicates().itertuples(index=False, name=None)
    found = {pair: rules.find_direction(*pair)[0] for pair in pairs}
    return {pair: direction for pair, direction in found.items() if direction}


def _find_gaps(
    values: pd.DataFrame, offered: pd.DataFrame, metrics: Mapping[str, str]
) -> list[Problem]:
    """Find trainings without any checkpoint, and count checkpoints, that cannot be compared."""
    key = [*TRAINING, "checkpoint"]
    used = offered[offered["dataset"].map(metrics) == offered["metric"]]
    counts = used.groupby(key)["dataset"].nunique().rename("datasets")
    listed = values.drop_duplicates(key).merge(counts, left_on=key, right_index=True, how="left")
    problems = []
    for _, rows in listed.groupby(TRAINING):
        lacking = rows[rows["datasets"] != len(metrics)]
        name = rows["training"].iloc[0]
        if len(lacking) == len(rows):
            what = f"The training {quote_name(name)} has no value of "
            what += f"{list_names(sorted(set(metrics.values())))} on the selection split."
            if rows["datasets"].notna().any():
                what = f"No checkpoint of the training {quote_name(name)} has all "
                what += f"{count_things(len(metrics), 'dataset')} by which checkpoints are chosen."
            problems.append(tell("no_candidate", name, rows.iloc[0], what=what))
        elif len(lacking):
            said = {
                "lacking": str(len(lacking)),
                "total": count_things(len(rows), "checkpoint"),
                "checkpoint": quote_name(lacking["checkpoint"].iloc[0]),
            }
            problems.append(tell("partial_checkpoint", name, lacking.iloc[0], **said))
    return problems
