"""Exports by http:// and s3://, with real servers on this machine."""

import sys
import time
from pathlib import Path

import pytest

from tests.remote.conftest import KEYS
from tests.remote.servers import DAY, require_keys, serve_exports
from tests.workflow.checkouts import Checkout, copy_project

sys.path.append(str(Path(__file__).parents[2] / "workflow"))

TOY = (Path(__file__).parents[2] / "data/tutorial/toy.csv").read_bytes()
METRICS = {"rmse": {"low": 0, "high": 100}}
TARGETS = ["results/first/runs.parquet", "results/second/runs.parquet"]
PAST = time.time() - 30 * DAY


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project without results."""
    return copy_project(tmp_path / "project")


def write_studies(checkout: Checkout, **exports: str) -> None:
    checkout.write_studies(
        {name: {"exports": url, "metrics": METRICS} for name, url in exports.items()}
    )


def test_a_redirection_to_another_server_is_followed(checkout, server):
    with serve_exports() as other:
        other.files = {"/b.csv": (TOY, PAST)}
        server.moved = {"/a.csv": f"{other.url}/b.csv"}
        study = {"exports": f"{server.url}/a.csv", "metrics": METRICS}
        checkout.write_studies({"first": study})
        run = checkout.snakemake(TARGETS[0])
        assert run.status == 0, run.output


def test_an_export_over_http_is_loaded_once_and_again_only_when_it_changes(checkout, server):
    server.files = {"/a.csv": (TOY, PAST), "/b.csv": (TOY, PAST)}
    server.undated = {"/b.csv"}
    write_studies(checkout, first=f"{server.url}/a.csv", second=f"{server.url}/b.csv")
    run = checkout.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert run.jobs == {"validate study=first": 1, "validate study=second": 1}
    assert server.count("GET", "/a.csv") == server.count("GET", "/b.csv") == 1
    before = checkout.digests()

    again = checkout.snakemake(*TARGETS)
    assert (again.status, again.rules) == (0, set()), again.output
    assert server.count("GET", "/a.csv") == 1

    for path in ("/a.csv", "/b.csv"):
        server.files[path] = (TOY.replace(b"0.8", b"0.7"), time.time())
    changed = checkout.snakemake(*TARGETS)
    assert changed.jobs == {"validate study=first": 1}, changed.output
    after = checkout.digests()
    assert before["second/runs.parquet"] == after["second/runs.parquet"]
    assert before["first/runs.parquet"] != after["first/runs.parquet"]

    # Of a file without a date nobody can tell; docs/limits.md says what to do.
    (checkout.folder / "results/second/runs.parquet").unlink()
    reloaded = checkout.snakemake(*TARGETS)
    assert reloaded.jobs == {"validate study=second": 1}, reloaded.output
    last = checkout.digests()
    assert last["second/runs.parquet"] != before["second/runs.parquet"]
    assert last["first/runs.parquet"] == after["first/runs.parquet"]


def test_an_export_on_s3_is_loaded_once_and_again_only_when_it_changes(checkout, s3):
    for key in ("a.csv", "b.csv"):
        s3.put_object(Bucket="runs", Key=key, Body=TOY)
    write_studies(checkout, first="s3://runs/a.csv", second="s3://runs/b.csv")
    arguments = [*TARGETS, "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    run = checkout.snakemake(*arguments)
    assert run.jobs == {"validate study=first": 1, "validate study=second": 1}
    assert checkout.snakemake(*arguments).rules == set()

    time.sleep(1.1)  # S3 counts whole seconds
    s3.put_object(Bucket="runs", Key="b.csv", Body=TOY.replace(b"0.8", b"0.7"))
    changed = checkout.snakemake(*arguments)
    assert changed.jobs == {"validate study=second": 1}, changed.output


@pytest.mark.parametrize(
    ("fault", "reason", "remedy"),
    [
        (404, "the server answers 404 Not Found.", "Check the address"),
        (403, "the server answers 403 Forbidden.", "Check the address and your login"),
    ],
)
def test_a_fault_of_a_server_is_one_message_and_leaves_nothing(
    checkout, server, fault, reason, remedy
):
    server.files = {"/a.csv": (TOY, PAST)}
    server.faults = {"/a.csv": fault}
    write_studies(checkout, first=f"{server.url}/a.csv")
    run = checkout.snakemake(TARGETS[0])
    require_one_message(run, f"{server.url}/a.csv: {reason} {remedy}")
    require_nothing_left(checkout)


def test_a_file_that_was_cut_is_loaded_whole_by_the_next_run(checkout, server):
    server.files = {"/a.csv": (TOY, PAST)}
    server.faults = {"/a.csv": "cut"}
    write_studies(checkout, first=f"{server.url}/a.csv")
    run = checkout.snakemake(TARGETS[0])
    require_one_message(run, f"{server.url}/a.csv: the request fails (ChunkedEncodingError). Check")
    require_nothing_left(checkout)

    server.faults = {}
    assert checkout.snakemake(TARGETS[0]).status == 0


def test_a_server_that_is_not_there_is_one_message(checkout):
    write_studies(checkout, first="http://127.0.0.1:9/a.csv")  # discard: nobody listens
    run = checkout.snakemake(TARGETS[0])
    require_one_message(run, "http://127.0.0.1:9/a.csv: the request fails (ConnectionError). Check")
    require_nothing_left(checkout)


def test_a_missing_object_and_a_missing_bucket_are_one_message(checkout, s3):
    arguments = [TARGETS[0], "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    for url in ("s3://runs/a.csv", "s3://absent/a.csv"):
        write_studies(checkout, first=url)
        run = checkout.snakemake(*arguments)
        require_one_message(run, f"{url}: An error occurred (404) ")
        assert "Check the address, --storage-s3-endpoint-url" in run.output
    require_nothing_left(checkout)


def test_keys_that_are_refused_or_absent_are_one_message(checkout, s3, monkeypatch):
    s3.put_object(Bucket="runs", Key="a.csv", Body=TOY)
    url = "s3://runs/a.csv"
    write_studies(checkout, first=url)
    arguments = [TARGETS[0], "--storage-s3-endpoint-url", s3.meta.endpoint_url]
    with require_keys(s3.meta.endpoint_url):
        run = checkout.snakemake(*arguments)
    require_one_message(run, f"{url}: An error occurred (403) ")
    for key in KEYS:
        monkeypatch.delenv(f"SNAKEMAKE_STORAGE_S3_{key}")
    run = checkout.snakemake(*arguments)
    require_one_message(run, f"{url}: Unable to locate credentials. Check the address")
    require_nothing_left(checkout)


def require_one_message(run, message: str) -> None:
    """The run fails, says so once, and shows no line of code."""
    assert run.status != 0
    assert run.output.count(message) == 1, run.output
    assert 'File "' not in run.output
    assert "Traceback" not in run.output


def require_nothing_left(checkout: Checkout) -> None:
    """Neither a result nor part of a file is left."""
    for folder in ("results", ".snakemake/storage"):
        files = [path for path in checkout.folder.glob(f"{folder}/**/*") if path.is_file()]
        assert [path for path in files if "logs" not in path.parts] == []
