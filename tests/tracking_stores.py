"""Tracking stores for tests, written by MLflow's own client."""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from fcntl import LOCK_EX, flock
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mlflow")

TIME = 1_700_000_000_000  # 2023-11-14T22:13:20Z


@dataclass(frozen=True)
class Logged:
    """A run to write; `parent` is the place of a run before it in the list."""

    name: str
    experiment: str = "main"
    parent: int | None = None
    status: str = "FINISHED"
    params: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    metrics: Sequence[tuple[str, float] | tuple[str, float, int]] = ()


@contextmanager
def open_store(address: str) -> Iterator[Any]:
    """Open a client that may write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        patch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
        from mlflow.tracking import MlflowClient
        from sqlalchemy import event

        client = MlflowClient(tracking_uri=address)
        engine = getattr(client._tracking_client.store, "engine", None)
        if engine is None:
            yield client
            return
        engine.dispose()
        event.listen(engine, "connect", _write_without_waiting)
        try:
            yield client
        finally:
            engine.dispose()


def _write_without_waiting(connection: sqlite3.Connection, _: object) -> None:
    """Leave it to the system when to write to the disk, for which each commit waits otherwise."""
    connection.execute("PRAGMA synchronous = OFF")


def locate(kind: str, folder: Path) -> str:
    """Address of an empty store, "sqlite" or "file"; `folder` lies in the `tmp_path` of a test."""
    if kind == "file":
        return str(folder / "mlruns")
    folder.mkdir(parents=True, exist_ok=True)
    session = folder.parents[2 if "PYTEST_XDIST_WORKER" in os.environ else 1]
    shutil.copyfile(_find_empty_database(session), folder / "mlflow.db")
    return f"sqlite:///{folder / 'mlflow.db'}"


def _find_empty_database(session: Path) -> Path:
    """Make the database once for all workers of a session: its migrations take seconds."""
    path = session / "empty.db"
    with (session / "empty.lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not path.exists():
            fresh = session / "fresh.db"
            with open_store(f"sqlite:///{fresh}"):
                pass
            fresh.rename(path)
    return path


def write_store(address: str, runs: Sequence[Logged]) -> list[str]:
    """Write runs to a store, and list their ids."""
    from mlflow.entities import Metric, Param

    with open_store(address) as client:
        known = {one.name: one.experiment_id for one in client.search_experiments()}
        ids: list[str] = []
        for run in runs:
            if run.experiment not in known:
                known[run.experiment] = client.create_experiment(run.experiment)
            tags = dict(run.tags)
            if run.parent is not None:
                tags["mlflow.parentRunId"] = ids[run.parent]
            made = client.create_run(
                known[run.experiment], start_time=TIME, tags=tags, run_name=run.name
            )
            ids.append(made.info.run_id)
            metrics = [
                Metric(key, value, TIME + sum(step), sum(step)) for key, value, *step in run.metrics
            ]
            params = [Param(*pair) for pair in run.params.items()]
            if metrics or params:
                client.log_batch(ids[-1], metrics=metrics, params=params)
            if run.status != "RUNNING":
                client.set_terminated(ids[-1], run.status, end_time=TIME + 1)
    return ids


def fill_store(folder: Path, runs: Sequence[Logged], kind: str = "file") -> str:
    """Write runs to a new store in a folder; gives its address."""
    address = locate(kind, folder / "store")
    write_store(address, runs)
    return address


def multiply_run(address: str, run_id: str, times: int) -> list[str]:
    """Copy a run, in a folder one without metrics, which is quicker than to write it as often."""
    fresh = [f"f{number:031x}" for number in range(times)]
    path = Path(address.removeprefix("sqlite:///"))
    if path.is_dir():
        (folder,) = path.glob(f"*/{run_id}")
        for one in fresh:
            copy = shutil.copytree(folder, folder.with_name(one))
            meta = copy / "meta.yaml"
            meta.write_text(meta.read_text("utf-8").replace(run_id, one), "utf-8")
        return fresh
    with closing(sqlite3.connect(path)) as database, database:
        for table in ("runs", "tags", "metrics", "latest_metrics"):
            rows = database.execute(f"SELECT * FROM {table} WHERE run_uuid = ?", [run_id])  # noqa: S608
            names = [name for name, *_ in rows.description]
            marks = ", ".join("?" * len(names))
            old = rows.fetchall()
            new = [
                [one if cell == run_id else cell for cell in row] for one in fresh for row in old
            ]
            database.executemany(f"INSERT INTO {table} VALUES ({marks})", new)  # noqa: S608
    return fresh


def set_values(address: str, values: Sequence[tuple[float, str, str, int]]) -> None:
    """Set values of metrics in a database: value, run, metric and step."""
    with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as database, database:
        database.execute("PRAGMA synchronous = OFF")
        for table in ("metrics", "latest_metrics"):
            database.executemany(
                f"UPDATE {table} SET value = ? WHERE run_uuid = ? AND key = ? AND step = ?",  # noqa: S608
                values,
            )


def digest_store(address: str) -> dict[str, str]:
    """Digest every file of a store, and name every folder."""
    path = Path(address.removeprefix("sqlite:///"))
    files = sorted(path.parent.rglob("*"))
    return {
        str(file): sha256(file.read_bytes()).hexdigest() if file.is_file() else "folder"
        for file in files
    }
