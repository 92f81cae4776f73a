"""Tracking stores of other versions of MLflow, and those that a server has."""

import json
import sqlite3
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from capmap.errors import ValidationError
from capmap.tracking import store as stores
from capmap.tracking.store import Measurement, read_store
from tests.tracking_stores import TIME, digest_store

RUNS = [
    {
        "info": {
            "run_id": f"{n:032x}",
            "run_name": f"run {n}",
            "experiment_id": "7",
            "status": "FINISHED",
            "lifecycle_stage": "active",
        },
        "data": {"metrics": [{"key": "v/d/m", "value": n / 10, "step": 3, "timestamp": TIME}]},
    }
    for n in range(5)
]


class Server(BaseHTTPRequestHandler):
    """What a tracking server answers, two runs a page."""

    def do_POST(self):
        """Answer a search."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or "{}")
        if self.path.endswith("experiments/search"):
            self._answer({"experiments": [{"experiment_id": "7", "name": "main"}]})
        else:
            first = int(asked.get("page_token") or 0)
            more = {"next_page_token": str(first + 2)} if first + 2 < len(RUNS) else {}
            self._answer({"runs": RUNS[first : first + 2], **more})

    def do_GET(self):
        """Answer a question for a history, or for the server's version."""
        if "get-history" in self.path:
            (run,) = (run for run in RUNS if run["info"]["run_id"] in self.path)
            self._answer(run["data"])
        elif "experiments/search" in self.path:
            self._answer({"experiments": [{"experiment_id": "7", "name": "main"}]})
        else:
            self.send_error(404)

    def log_message(self, *_):
        """Say nothing."""

    def _answer(self, content):
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def run_server():
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_server_is_read_page_by_page():
    with run_server() as address:
        tracking = read_store(address, history_of=["FINISHED"])
    assert [run.name for run in tracking.runs] == [f"run {n}" for n in range(5)]
    assert [run.history["v/d/m"] for run in tracking.runs] == [
        [Measurement(3, n / 10, TIME)] for n in range(5)
    ]


def test_a_server_that_does_not_answer_is_told_in_one_line(monkeypatch):
    with run_server() as address:
        pass
    monkeypatch.setitem(stores.ENVIRONMENT, "MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(ValidationError, match="MLflow cannot read the store") as caught:
        read_store(address)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_database_of_an_older_mlflow_is_migrated_in_a_copy(tmp_path):
    from alembic import command
    from alembic.script import ScriptDirectory
    from mlflow.store.db import utils
    from mlflow.store.tracking.dbmodels.initial_models import Base
    from sqlalchemy import create_engine

    path = tmp_path / "old.db"
    engine = create_engine(f"sqlite:///{path}")
    Base.metadata.create_all(engine)
    engine.dispose()
    config = utils._get_alembic_config(f"sqlite:///{path}")
    steps = [one.revision for one in ScriptDirectory.from_config(config).walk_revisions()]
    command.upgrade(config, steps[len(steps) // 2])
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(
            "INSERT INTO experiments (experiment_id, name, lifecycle_stage) "
            "VALUES (3, 'e', 'active')"
        )
        database.execute(
            "INSERT INTO runs (run_uuid, name, experiment_id, status, lifecycle_stage, start_time, "
            "source_type, artifact_uri, user_id) "
            "VALUES ('ab', 'old run', 3, 'FINISHED', 'active', 1, 'LOCAL', 'x', 'u')"
        )
        for table in ("metrics", "latest_metrics"):
            database.execute(
                f"INSERT INTO {table} (key, value, timestamp, run_uuid, step, is_nan) "  # noqa: S608
                "VALUES ('v/d/m', 0.5, 1000, 'ab', 2, 0)"
            )
    before = digest_store(f"sqlite:///{path}")
    (run,) = read_store(f"sqlite:///{path}", history_of=["FINISHED"]).runs
    assert (run.experiment, run.name) == ("e", "old run")
    assert run.history == {"v/d/m": [Measurement(2, 0.5, 1000)]}
    assert digest_store(f"sqlite:///{path}") == before
