"""What every script of the workflow does around its one function: call it, log, fail well."""

import gc
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capmap.errors import CapmapError, explain_machine

# Sums in matrix products depend on how many threads share them, which must not be the number of
# cores. The libraries read this when they are loaded, so what uses NumPy imports this module first.
for library in ("OMP_NUM", "OPENBLAS_NUM", "MKL_NUM", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_THREADS"] = "1"

# Objects between two searches for garbage; Python's 700 cost a tenth of the time of imports and
# figures.
gc.set_threshold(50_000)
# Params whose entries are arguments of their own.
SPREAD = ("cfg", "checked")


def run_job(function: Callable[..., None], job: Any) -> None:
    """Call a rule's function with the job's named inputs, outputs and params."""
    arguments = {
        name: _as_plain(value)
        for names in (job.input, job.output, job.params)
        for name, value in names.items()
        if name not in ("library", *SPREAD)
    }
    for name in SPREAD:
        arguments |= job.params.get(name, {})
    log, *others = map(str, job.log)
    if others:
        arguments["rejected"] = others[0]
    study = getattr(job.wildcards, "study", "")
    place = f"{study}, {function.__name__}" if study else function.__name__
    logger = logging.getLogger(function.__name__)
    try:
        last = _log_to(Path(log), place)
        function(**arguments)
    except CapmapError as error:
        logger.error("%s", error)
        sys.exit(1)
    except Exception as error:
        if text := explain_machine(error):
            logger.error("%s", text)
        else:
            logger.exception("This is a fault of capmap, not of your data; please report it.")
        sys.exit(1)
    # Where a terminal has bars that move.
    if not sys.stderr.isatty():
        print(f"{place}: {last.text}", file=sys.stderr)


def _as_plain(value: Any) -> Any:
    """A path as text, and several as a list."""
    if isinstance(value, str):
        return str(value)
    return [str(item) for item in value] if _is_file_list(value) else value


def _is_file_list(value: Any) -> bool:
    return type(value).__name__ == "Namedlist" or type(value).__module__.startswith("snakemake")


class _Last(logging.Handler):
    """Keeps what a job said last."""

    text = "done"

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno == logging.INFO:
            self.text = record.getMessage()


def _log_to(path: Path, place: str) -> _Last:
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    told = logging.Formatter(f"{place}: {{message}}", style="{")
    terminal.setFormatter(told)
    last = _Last()
    logging.basicConfig(level=logging.INFO, handlers=[terminal, last])
    # A log that cannot be written, as the disk is full, is no fault to report beside that.
    logging.raiseExceptions = False
    path.parent.mkdir(parents=True, exist_ok=True)
    log = logging.FileHandler(path, mode="w", encoding="utf-8", errors="backslashreplace")
    log.setFormatter(told)
    logging.getLogger().addHandler(log)
    return last
