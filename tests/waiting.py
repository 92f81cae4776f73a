"""Waiting for what really runs: long enough for a busy machine, and a failure says for what."""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Seconds. Whoever waits gives up only where nothing will come: other processes may want the cores.
PATIENCE = 1800.0
PATIENCE_FOR_ANSWERS = 300.0
TAIL = 4000


def run_to_end(command: Sequence[str], **settings: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, whatever its status, and give what it printed."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, text=True, stdout=pipe, stderr=pipe, **settings) as process:
        output, errors = communicate(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def communicate(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process prints until its end; it is killed when that does not come."""
    try:
        return process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired as late:
        process.kill()
        parts = [part for part in (late.stdout, late.stderr) if part]
        text = "".join(part if isinstance(part, str) else part.decode() for part in parts)
        raise AssertionError(_complain(f"the end of {_name(process)}", text)) from None


def wait_for_end(process: subprocess.Popen[bytes], log: Path) -> int:
    """The status of a process that prints into a log."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        text = log.read_text("utf-8")
        raise AssertionError(_complain(f"the end of {_name(process)}", text)) from None


def wait_until(
    condition: Callable[[], object],
    what: str,
    *,
    process: subprocess.Popen[Any] | None = None,
    pause: float = 0.02,
) -> None:
    """Wait until something holds, which cannot come any more once the process has ended."""
    end = time.monotonic() + PATIENCE
    while True:
        has_ended = process is not None and process.poll() is not None
        if condition():
            return
        assert not has_ended, f"The run ended before {what}."
        assert time.monotonic() < end, _complain(what)
        time.sleep(pause)


def _name(process: subprocess.Popen[Any]) -> str:
    command: Any = process.args
    return command if isinstance(command, str) else " ".join(map(str, command))


def _complain(what: str, text: str = "") -> str:
    printed = f" It printed at last:\n{text[-TAIL:]}" if text else ""
    return f"Waited {PATIENCE:g} s for {what}.{printed}"
