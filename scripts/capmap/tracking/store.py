"""Runs of a tracking store with those they are nested in, and an account of what it holds."""

import logging
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from capmap.errors import CapmapError, ValidationError
from capmap.tracking.locations import SQLITE, TRASH, locate_store, mirror_store
from capmap.wording import find_nearest, list_names, quote_name

if TYPE_CHECKING:
    from mlflow.entities import Experiment, Run
    from mlflow.tracking import MlflowClient

PAGE = 1000
RUN_FOLDER = re.compile(r"[0-9a-f]{32}")
PARENT = "mlflow.parentRunId"
# Nothing is sent to anybody, and a server that is not there is given up within seconds.
ENVIRONMENT = {
    "DO_NOT_TRACK": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


class Measurement(NamedTuple):
    """A value of a metric: its ``step``, ``value`` and ``time`` in milliseconds since 1970, UTC."""

    step: int
    value: float
    time: int


@dataclass(frozen=True, kw_only=True)
class TrackedRun:
    """A run of a store.

    Parameters
    ----------
    experiment, experiment_id : str
        Name and id of its experiment.
    run_id, name : str
        Its id and its name; a run without a name is called by its id.
    parent_id : str
        Id of the run that it is nested in, or empty.
    status : str
        ``FINISHED``, ``FAILED``, ``KILLED``, ``RUNNING`` or ``SCHEDULED``.
    params, tags : mapping of str to str
        Parameters and tags, MLflow's own tags included.
    metrics : mapping of str to float
        The last value of each metric.
    history : mapping of str to sequence of Measurement, optional
        All values of each metric, by step, then time; empty where it was not asked for.
    """

    experiment: str
    experiment_id: str
    run_id: str
    name: str
    parent_id: str
    status: str
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: Mapping[str, float]
    history: Mapping[str, Sequence[Measurement]]


@dataclass(frozen=True)
class Tracking:
    """What a store holds.

    Parameters
    ----------
    runs : sequence of TrackedRun
        By experiment, name and id.
    deleted : int
        Number of runs that were deleted in MLflow and are left out.
    unreadable : sequence of str
        Folders of runs, ``experiment id/run id``, that MLflow does not recognize.
    """

    runs: Sequence[TrackedRun]
    deleted: int
    unreadable: Sequence[str]


def read_store(
    store: str,
    *,
    experiments: Collection[str] = (),
    optional: Collection[str] = (),
    history_of: Collection[str] = (),
) -> Tracking:
    """Read all runs of a store, which stays as it is.

    Parameters
    ----------
    store : str
        ``sqlite:///FILE``, a folder, or the address of a server.
    experiments : collection of str, optional
        Names of the experiments to read; all by default.
    optional : collection of str, optional
        Names of more experiments to read where there are any of the name.
    history_of : collection of str, optional
        Statuses of the runs whose metrics are read with all their steps; none by default.

    Returns
    -------
    Tracking
        Runs of all statuses, nested ones included, however many there are.

    Raises
    ------
    ValidationError
        When MLflow is not installed, there is no store, it cannot be read, or it lacks a named
        experiment.

    Notes
    -----
    A score of 0 is a score. A database keeps infinity as the largest number there is, which is
    read as infinity; NaN stays NaN. A database of an older MLflow is migrated in the copy that is
    read; one of a newer MLflow is refused.
    """
    with _open_client(store) as client:
        chosen = _choose_experiments(client, experiments, optional)
        found = {
            run.info.run_id: (experiment, run)
            for experiment in chosen
            for run in _list_runs(client, experiment.experiment_id)
        }
        runs = [
            _read_run(client, experiment, run, history_of)
            for experiment, run in found.values()
            if run.info.lifecycle_stage == "active"
        ]
    ids = {str(experiment.experiment_id) for experiment in chosen} if experiments else set()
    return Tracking(
        sorted(runs, key=lambda run: (run.experiment, run.name, run.run_id)),
        len(found) - len(runs),
        _list_unreadable(locate_store(store), ids, found),
    )


@contextmanager
def _open_client(store: str) -> Iterator["MlflowClient"]:
    with _silence_mlflow(), TemporaryDirectory(prefix="capmap-") as folder:
        address = mirror_store(store, Path(folder))
        try:
            from mlflow.tracking import MlflowClient
        except ImportError as error:
            raise ValidationError(
                f"tracking.store: {quote_name(store)}: MLflow is not installed. Run `make mlflow`."
            ) from error
        engine: Any = None
        try:
            if address.startswith(SQLITE):
                _migrate(address)
            client = MlflowClient(tracking_uri=address)
            engine = getattr(client._tracking_client.store, "engine", None)
            yield client
        except CapmapError:
            raise
        except Exception as error:
            raise ValidationError(_explain_failure(store, error)) from error
        finally:
            if engine is not None:
                engine.dispose()


@contextmanager
def _silence_mlflow() -> Iterator[None]:
    """Silence MLflow's messages and telemetry as long as it is in use."""
    before = {name: os.environ.get(name) for name in ENVIRONMENT}
    level = logging.root.manager.disable
    os.environ.update(ENVIRONMENT)
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(level)
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _migrate(address: str) -> None:
    """Bring the tables of a copied database to the version of the installed MLflow."""
    from mlflow.store.db import utils
    from sqlalchemy import create_engine

    upgrade: Any = utils._upgrade_db
    engine = create_engine(address)
    try:
        upgrade(engine)
    finally:
        engine.dispose()


def _explain_failure(store: str, error: Exception) -> str:
    place = f"tracking.store: {quote_name(store)}"
    message = (str(error).strip() or type(error).__name__).splitlines()[0]
    if "Can't locate revision" in message:
        return (
            f"{place}: The database is of a newer MLflow than the installed one. Install that "
            "version, or export the runs as a table."
        )
    return f"{place}: MLflow cannot read the store ({message}). Check it with MLflow's own pages."


def _choose_experiments(
    client: "MlflowClient", wanted: Collection[str], optional: Collection[str]
) -> list["Experiment"]:
    """Choose experiments by name; a name that the store lacks is refused."""
    found: list[Experiment] = []
    token = None
    while token != "":
        page = client.search_experiments(max_results=PAGE, page_token=token)
        found += page
        token = page.token or ""
    known = {experiment.name for experiment in found}
    for name in sorted(set(wanted) - known):
        near = find_nearest(name, known)
        there = f"There are: {list_names(sorted(known))}."
        hint = f"Did you mean {quote_name(near)}?" if near else there
        raise ValidationError(
            f"tracking.experiments: the store has no experiment {quote_name(name)}. {hint}"
        )
    names = {*wanted, *optional} if wanted else known
    chosen = [experiment for experiment in found if experiment.name in names]
    return sorted(chosen, key=lambda experiment: (experiment.name, experiment.experiment_id))


def _list_runs(client: "MlflowClient", experiment_id: str) -> Iterator["Run"]:
    from mlflow.entities import ViewType

    token = None
    while token != "":
        page = client.search_runs([experiment_id], "", ViewType.ALL, PAGE, page_token=token)
        yield from page
        token = page.token or ""


def _read_run(
    client: "MlflowClient", experiment: "Experiment", run: "Run", history_of: Collection[str]
) -> TrackedRun:
    info, data = run.info, run.data
    keys = sorted(data.metrics) if info.status in history_of else []
    return TrackedRun(
        experiment=experiment.name,
        experiment_id=str(experiment.experiment_id),
        run_id=info.run_id,
        name=info.run_name or info.run_id,
        parent_id=data.tags.get(PARENT, ""),
        status=info.status,
        params=dict(sorted(data.params.items())),
        tags=dict(sorted(data.tags.items())),
        metrics={key: _restore(data.metrics[key]) for key in sorted(data.metrics)},
        history={key: _read_history(client, info.run_id, key) for key in keys},
    )


def _read_history(client: "MlflowClient", run_id: str, key: str) -> list[Measurement]:
    found = [
        Measurement(int(metric.step), _restore(metric.value), int(metric.timestamp))
        for metric in client.get_metric_history(run_id, key)
    ]
    return sorted(found, key=lambda one: (one.step, one.time, math.isnan(one.value), one.value))


def _restore(value: float) -> float:
    """Read the largest float as infinity, which is what MLflow writes for it to a database."""
    return math.copysign(math.inf, value) if abs(value) == sys.float_info.max else float(value)


def _list_unreadable(
    path: Path | None, experiments: Collection[str], known: Collection[str]
) -> list[str]:
    """List folders named like runs, in the given or all experiments, that MLflow did not list."""
    if path is None or path.is_file():
        return []
    return sorted(
        f"{folder.parent.name}/{folder.name}"
        for folder in path.glob("*/*/")
        if RUN_FOLDER.fullmatch(folder.name)
        and folder.name not in known
        and folder.parent.name != TRASH
        and (not experiments or folder.parent.name in experiments)
    )


class RunTree:
    """Runs with those that they are nested in.

    Parameters
    ----------
    runs : collection of TrackedRun
        All runs of a store, of whatever status. A parent that is not among them is none.
    """

    def __init__(self, runs: Collection[TrackedRun]) -> None:
        self.runs = {run.run_id: run for run in runs}
        self._named: dict[tuple[str, str], list[TrackedRun]] = {}
        for run in self.runs.values():
            self._named.setdefault((run.experiment, run.name), []).append(run)

    def list_named(self, experiment: str, name: str) -> list[TrackedRun]:
        """List the runs of a name in an experiment."""
        return list(self._named.get((experiment, name), []))

    def list_lineage(self, run: TrackedRun) -> list[TrackedRun]:
        """List a run, the run that it is nested in, and so on; a circle ends where it closes."""
        lineage = [run]
        while (parent := self.runs.get(lineage[-1].parent_id)) and parent not in lineage:
            lineage.append(parent)
        return lineage

    def find_note(self, run: TrackedRun, names: Collection[str]) -> str:
        """Find what a run, or the nearest one above it, was noted: a tag, else a parameter."""
        for member in self.list_lineage(run):
            for notes in (member.tags, member.params):
                for name in names:
                    if notes.get(name):
                        return notes[name]
        return ""


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
