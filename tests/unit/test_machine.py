"""Faults of the machine are told as such, in one line with what to do."""

import errno
import logging
import os
import re
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import psutil
import pyarrow as pa
import pytest
from snakemake.iocontainers import Namedlist

import job
from capmap.artifacts import write_text
from capmap.errors import ConfigError
from capmap.inputs.studies import Study

sys.path.append(str(Path(__file__).parents[2] / "workflow"))
from locks import LOCKS, RUNS, release_lock

TOO_MUCH = 1 << 50

HOST = socket.gethostname()
THIS = psutil.Process()


def allocate_array() -> None:
    np.empty(TOO_MUCH)


def allocate_buffer() -> None:
    pa.allocate_buffer(TOO_MUCH)


def raise_later() -> None:
    try:
        raise OSError(errno.ENOSPC, "No space left on device", "results/a.csv")
    except OSError as error:
        raise ValueError("the table cannot be written") from error


def fail(number: int, name: str | None = "results/a.csv"):
    def raise_error() -> None:
        raise OSError(number, os.strerror(number), name)

    return raise_error


FAULTS = {
    "full": (fail(errno.ENOSPC), r"No space left on device \(results/a\.csv\)\. Make room\."),
    "quota": (fail(errno.EDQUOT, None), r"Disk quota exceeded\. Make room\."),
    "wrapped": (raise_later, r"No space left on device"),
    "read-only": (fail(errno.EROFS), r"Read-only file system \(results/a\.csv\)\. Check"),
    "denied": (fail(errno.EACCES), r"Permission denied"),
    "open files": (fail(errno.EMFILE), r"ulimit -n"),
    "disk": (fail(errno.EIO), r"Input/output error"),
    "memory": (allocate_array, r"There is too little memory\. Close other programs"),
    "memory of Arrow": (allocate_buffer, r"There is too little memory"),
}


def run(function, folder: Path, capsys, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a job with a function says on the terminal."""
    monkeypatch.setattr(logging, "root", logging.RootLogger(logging.WARNING))
    monkeypatch.setattr(logging.Logger, "root", logging.root)
    monkeypatch.setattr(logging.Logger, "manager", logging.Manager(logging.root))
    monkeypatch.setattr(logging, "raiseExceptions", True)
    empty = Namedlist()
    given = SimpleNamespace(
        input=empty, output=empty, params=empty, threads=1, wildcards=None, log=[folder / "a.log"]
    )
    with pytest.raises(SystemExit) as ended:
        job.run_job(function, given)
    for handler in logging.root.handlers:
        handler.close()
    assert ended.value.code == 1
    return capsys.readouterr().err


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_machine_is_one_line_with_what_to_do(name, tmp_path, capsys, monkeypatch):
    function, message = FAULTS[name]
    told = run(function, tmp_path, capsys, monkeypatch)
    assert len(told.splitlines()) == 1
    assert "report" not in told
    assert re.search(message, told), told
    assert (tmp_path / "a.log").read_text("utf-8") == told


@pytest.mark.parametrize(
    "error",
    [ZeroDivisionError(), ValueError("[Errno 28]"), FileNotFoundError(2, "x")],
)
def test_a_fault_of_capmap_is_still_told_as_such(error, tmp_path, capsys, monkeypatch):
    def fail_so() -> None:
        raise error

    told = run(fail_so, tmp_path, capsys, monkeypatch)
    assert "please report it" in told
    assert "Traceback" in told


def test_a_log_that_cannot_be_opened_is_one_line_too(tmp_path, capsys, monkeypatch):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "results/logs")

    monkeypatch.setattr(Path, "mkdir", refuse)
    told = run(allocate_array, tmp_path, capsys, monkeypatch)
    assert "Read-only file system (results/logs)" in told
    assert len(told.splitlines()) == 1


def test_an_export_whose_name_is_no_unicode_is_refused():
    study = Study("s", {})
    with pytest.raises(ConfigError, match=r"rename 'runs/.udcff\.csv'; the name .* not Unicode"):
        study.check_name("exports", os.fsdecode(b"runs/\xff.csv"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(LOCKS / "0.input.lock", "a.csv\n")


def register(pid: int, began: float, host: str = HOST) -> None:
    write_text(RUNS / f"{host}.{pid}", str(began))


def leave_dead() -> None:
    register(2**22 + 1, 1.0)  # no process has such a number


def reuse_number() -> None:
    register(THIS.ppid(), 1.0)


@pytest.mark.parametrize("leave", [leave_dead, reuse_number])
def test_lock_of_a_run_that_is_gone_is_released(leave: Callable[[], None]) -> None:
    leave()
    assert "was killed" in release_lock()
    assert not LOCKS.exists()
    assert [path.name for path in RUNS.iterdir()] == [f"{HOST}.{THIS.pid}"]
    assert release_lock() == ""


def stay_at_work() -> None:
    parent = psutil.Process(THIS.ppid())
    register(parent.pid, parent.create_time())


def run_elsewhere() -> None:
    register(2**22 + 1, 1.0, host="other")


def run_unregistered() -> None:
    pass


@pytest.mark.parametrize("other", [stay_at_work, run_elsewhere, run_unregistered])
def test_lock_that_may_be_held_stays(other: Callable[[], None]) -> None:
    if other is not run_unregistered:
        leave_dead()
    other()
    assert release_lock() == ""
    assert any(LOCKS.iterdir())


def test_without_a_lock_nothing_is_said() -> None:
    (LOCKS / "0.input.lock").unlink()
    leave_dead()
    assert release_lock() == ""
    assert len(list(RUNS.iterdir())) == 1
