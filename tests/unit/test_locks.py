"""A lock is released only where every run that may hold it is gone."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from capmap.artifacts import write_text

sys.path.append(str(Path(__file__).parents[2] / "workflow"))
from locks import LOCKS, RUNS, release_lock

HOST = socket.gethostname()
THIS = psutil.Process()


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
