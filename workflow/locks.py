"""The lock that a killed run has left, released where every run that may hold it is gone."""

import atexit
import shutil
import socket
from pathlib import Path

import psutil

LOCKS = Path(".snakemake/locks")
# A file per run, called after its host and process, that holds when the process began.
RUNS = Path(".snakemake/runs")


def release_lock() -> str:
    """Register this run, and release the lock that runs left which no longer are.

    Notes
    -----
    Runs register before they look. Of two that start at once, each sees the other, and neither
    releases what the other may have locked meanwhile.
    """
    host, this = socket.gethostname(), psutil.Process()
    mine = RUNS.absolute() / f"{host}.{this.pid}"
    try:
        RUNS.mkdir(parents=True, exist_ok=True)
        mine.write_text(str(this.create_time()), encoding="utf-8")
    except OSError:
        return ""  # Snakemake says that it cannot write here
    atexit.register(mine.unlink, missing_ok=True)
    others = [path for path in RUNS.iterdir() if path.name != mine.name]
    gone = [path for path in others if _is_gone(path, host)]
    is_left = bool(gone) and gone == others and any(LOCKS.glob("*"))
    if is_left:
        shutil.rmtree(LOCKS, ignore_errors=True)
    for path in gone:
        path.unlink(missing_ok=True)
    pids = ", ".join(path.name.rpartition(".")[2] for path in gone)
    return f"The run before was killed (process {pids}): its lock is released." * is_left


def _is_gone(run: Path, host: str) -> bool:
    """Whether the process of a registered run is gone; a later one may have its number."""
    name, _, pid = run.name.rpartition(".")
    if name != host or not pid.isdecimal():
        return False
    try:
        process = psutil.Process(int(pid))
        is_other = str(process.create_time()) != run.read_text("utf-8")
        return is_other or process.status() == psutil.STATUS_ZOMBIE
    except (psutil.NoSuchProcess, FileNotFoundError):
        return True
