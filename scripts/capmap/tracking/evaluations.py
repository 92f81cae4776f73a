"""The values that the runs of a tracking store logged, as a table of a study of checkpoints."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from capmap.errors import ValidationError
from capmap.exports.checkpoints import read_step
from capmap.tracking.keys import SYSTEM, Key, KeyPattern, split_key
from capmap.tracking.store import Measurement, RunTree, TrackedRun

DATASET_NAMES = ("dataset", "benchmark")
MODEL_NAMES = ("model", "backbone")
EVALUATIONS = {
    "training": "str",
    "checkpoint": "str",
    "step": "Int64",
    "model": "str",
    "seed": "str",
    "dataset": "str",
    "metric": "str",
    "split": "str",
    "value": "float64",
    "time": "str",
    "experiment": "str",
    "run_id": "str",
    "run_name": "str",
    "parent_id": "str",
    "parent_name": "str",
    "status": "str",
    "key": "str",
}
ORDER = ["training", "step", "checkpoint", "dataset", "metric", "split", "time", "run_id", "key"]


@dataclass(frozen=True)
class Evaluated:
    """What `tabulate_evaluations` finds.

    Parameters
    ----------
    table : pandas.DataFrame
        The table that it describes.
    unmatched : sequence of mapping
        Names of metrics that say no dataset, or several: ``key``, ``reason``, ``runs``, ``values``.
    renamed : mapping of str to str
        Ids of trainings that share their name with others, and what they are called instead.
    """

    table: pd.DataFrame
    unmatched: Sequence[Mapping[str, Any]]
    renamed: Mapping[str, str]


def tabulate_evaluations(
    runs: Collection[TrackedRun],
    *,
    status: Collection[str],
    patterns: Sequence[KeyPattern],
    keep: Collection[str] = (),
) -> Evaluated:
    """Tabulate all values of metrics that belong to a dataset.

    Parameters
    ----------
    runs : collection of TrackedRun
        All runs of the store, with the history of those of the given statuses.
    status : collection of str
        Statuses of the runs to tabulate.
    patterns : sequence of KeyPattern
        What the names of metrics say. The first that fits and leads to a dataset is taken.
    keep : collection of str, optional
        Tags and parameters that become columns, written ``tag.NAME`` and ``param.NAME``.

    Returns
    -------
    Evaluated
        Its table has a row per value: ``training``, ``checkpoint``, ``step``, ``model`` and
        ``seed`` (where any run says them), ``dataset``, ``metric``, ``split`` (empty where nothing
        says it), ``value``, ``time`` (ISO 8601, UTC), then ``experiment``, ``run_id``,
        ``run_name``, ``parent_id``, ``parent_name``, ``status`` and ``key`` of the run and the
        metric, then `keep`, sorted by training, step, checkpoint, dataset, metric and split.

    Notes
    -----
    The training is the outermost run, unless a tag or parameter ``training`` says another. The
    checkpoint is a tag or parameter ``checkpoint``, else the name of the run nested directly in the
    training, where that name has a number and the run logged one step only, else the step. Dataset
    and split are tags or parameters (``dataset`` or ``benchmark``, and ``split``) where the
    name of the metric does not say them, model and seed always are (``model`` or ``backbone``, and
    ``seed``). What a run does not say, the runs say that it is nested in. Trainings that share
    their name get the name of their experiment behind it, and their id where that is shared too. A
    step is empty where a checkpoint has a name and nobody gave a step; a time is empty where it is
    beyond the year 9999. What MLflow logs about the machine (``system/…``) is no evaluation. NaN
    and infinite values stay.
    """
    tree = RunTree(runs)
    names, renamed = _name_trainings(tree, status)
    rows: list[dict[str, Any]] = []
    lost = _LostKeys()
    for run in tree.runs.values():
        if run.status not in status:
            continue
        facts = _describe_run(tree, run, names, keep)
        for key, history in run.history.items():
            try:
                found = _place_key(tree, run, key, patterns)
            except ValidationError as error:
                lost.add(key, str(error), len(history))
                continue
            about = {"dataset": found.dataset, "metric": found.metric, "split": found.split}
            rows += [row | about | {"key": key} for row in _list_values(tree, run, facts, history)]
    return Evaluated(_arrange(rows, keep), lost.list_all(), renamed)


class _LostKeys:
    """Names of metrics that were left out, with their reasons."""

    def __init__(self) -> None:
        self._runs: Counter[tuple[str, str]] = Counter()
        self._values: Counter[tuple[str, str]] = Counter()

    def add(self, key: str, reason: str, values: int) -> None:
        self._runs[key, reason] += 1
        self._values[key, reason] += values

    def list_all(self) -> list[dict[str, Any]]:
        return [
            {"key": key, "reason": reason, "runs": runs, "values": self._values[key, reason]}
            for (key, reason), runs in sorted(self._runs.items())
        ]


def _name_trainings(
    tree: RunTree, status: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Name the training of each run that has values, and list the names that had to be changed."""
    roots = {
        run.run_id: tree.list_lineage(run)[-1]
        for run in tree.runs.values()
        if run.status in status and run.history
    }
    outer = {root.run_id: root for root in roots.values()}
    same_name = Counter(root.name for root in outer.values())
    same_place = Counter((root.name, root.experiment) for root in outer.values())
    renamed = {}
    for root in outer.values():
        if same_name[root.name] > 1:
            shared = same_place[root.name, root.experiment] > 1
            mark = f"{root.experiment}, {root.run_id}" if shared else root.experiment
            renamed[root.run_id] = f"{root.name} ({mark})"
    names = {
        run_id: tree.find_note(tree.runs[run_id], ["training"])
        or renamed.get(root.run_id, root.name)
        for run_id, root in roots.items()
    }
    return names, dict(sorted(renamed.items(), key=lambda item: (item[1], item[0])))


def _describe_run(
    tree: RunTree, run: TrackedRun, names: Mapping[str, str], keep: Collection[str]
) -> dict[str, Any]:
    parent = tree.runs.get(run.parent_id)
    kept = {}
    for column in keep:
        kind, _, name = column.partition(".")
        kept[column] = (run.tags if kind == "tag" else run.params).get(name, "")
    return {
        "training": names.get(run.run_id, ""),
        "model": tree.find_note(run, MODEL_NAMES),
        "seed": tree.find_note(run, ["seed"]),
        "experiment": run.experiment,
        "run_id": run.run_id,
        "run_name": run.name,
        "parent_id": run.parent_id,
        "parent_name": parent.name if parent else "",
        "status": run.status,
        **kept,
    }


def _place_key(tree: RunTree, run: TrackedRun, key: str, patterns: Sequence[KeyPattern]) -> Key:
    """Find dataset, metric and split of a metric of a run, by its name, else by notes."""
    if key.startswith(SYSTEM):
        raise ValidationError("It is about the machine.")
    reason = "No pattern fits."
    for pattern in patterns:
        found = split_key(key, pattern)
        if found is None:
            continue
        dataset = found.dataset or tree.find_note(run, DATASET_NAMES)
        split = found.split if pattern.has("split") else tree.find_note(run, ["split"])
        if dataset:
            return Key(split, dataset, found.metric)
        reason = "Neither the name nor a tag or parameter says the dataset."
    raise ValidationError(reason)


def _list_values(
    tree: RunTree, run: TrackedRun, facts: Mapping[str, Any], history: Sequence[Measurement]
) -> Iterator[dict[str, Any]]:
    noted = tree.find_note(run, ["checkpoint"])
    name = noted or _name_checkpoint(tree, run)
    named = bool(name) and (bool(noted) or read_step(name) is not None)
    for step, value, time in history:
        yield {
            **facts,
            "checkpoint": name if named else str(step),
            "step": None if named and step == 0 else step,
            "value": value,
            "time": _write_time(time),
        }


def _name_checkpoint(tree: RunTree, run: TrackedRun) -> str:
    """Name the run directly within the training, where a run logged no more than one step."""
    lineage = tree.list_lineage(run)
    steps = {one.step for history in run.history.values() for one in history}
    return lineage[-2].name if len(lineage) > 1 and len(steps) == 1 else ""


def _write_time(milliseconds: int) -> str:
    """Write a time; it is empty where it is beyond the year 9999."""
    try:
        time = datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return time.isoformat(timespec="milliseconds")


def _arrange(rows: Sequence[Mapping[str, Any]], keep: Collection[str]) -> pd.DataFrame:
    kinds = EVALUATIONS | dict.fromkeys(keep, "str")
    # As objects, since steps beside a missing one would become floats, which some do not fit.
    table = pd.DataFrame(rows, columns=list(kinds), dtype="object").astype(kinds)
    for column in ("model", "seed"):
        if (table[column] == "").all():
            table = table.drop(columns=column)
        else:
            table[column] = table[column].where(table[column] != "", table["training"])
    return table.sort_values(ORDER, kind="stable", ignore_index=True)
