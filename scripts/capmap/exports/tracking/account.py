"""What a tracking store holds, counted: what is read, and what is left out and why."""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from capmap.exports.tracking.store import TrackedRun, Tracking


def count_runs(tracking: Tracking, status: Collection[str]) -> dict[str, Any]:
    """Count the runs of a store.

    Parameters
    ----------
    tracking : Tracking
        From `read_store`.
    status : collection of str
        Statuses of the runs that are read.

    Returns
    -------
    dict
        ``runs``: how many were ``found`` (deleted ones apart), ``read``, ``left_out`` by their
        status, read ``without_metrics``, and ``deleted``. ``experiments``, by name: ``experiment``,
        ``runs``, ``read``, ``without_metrics``, and ``status`` with a count each. ``left_out``:
        ``experiment``, ``status``, ``runs`` and ``reason``. ``unreadable``: folders of runs.
    """
    experiments: list[dict[str, Any]] = []
    left_out: list[dict[str, Any]] = []
    for name in sorted({run.experiment for run in tracking.runs}):
        own = [run for run in tracking.runs if run.experiment == name]
        read = [run for run in own if run.status in status]
        counts = dict(sorted(Counter(run.status for run in own).items()))
        experiments.append(
            {
                "experiment": name,
                "runs": len(own),
                "read": len(read),
                "without_metrics": sum(not run.metrics for run in read),
                "status": counts,
            }
        )
        left_out += [
            {"experiment": name, "status": one, "runs": count, "reason": "status"}
            for one, count in counts.items()
            if one not in status
        ]
    runs = {
        "found": len(tracking.runs),
        "read": sum(one["read"] for one in experiments),
        "left_out": sum(one["runs"] for one in left_out),
        "without_metrics": sum(one["without_metrics"] for one in experiments),
        "deleted": tracking.deleted,
    }
    return {
        "runs": runs,
        "experiments": experiments,
        "left_out": left_out,
        "unreadable": list(tracking.unreadable),
    }


def list_metrics(runs: Sequence[TrackedRun], status: Collection[str]) -> list[dict[str, Any]]:
    """List the metrics of the runs that are read: ``key``, ``runs`` and ``values``, by key."""
    counts: Counter[str] = Counter()
    values: Counter[str] = Counter()
    for run in runs:
        if run.status in status:
            counts.update(run.history.keys())
            values.update({key: len(history) for key, history in run.history.items()})
    return [{"key": key, "runs": counts[key], "values": values[key]} for key in sorted(counts)]
