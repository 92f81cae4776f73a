"""What every script of the workflow does around its one function: call it, log, fail well."""

import gc
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capmap.errors import CapmapError

# Objects between two searches for garbage; Python's 700 cost a tenth of the time of a figure.
COLLECT_AFTER = 50_000


def run_job(function: Callable[..., None], job: Any) -> None:
    """Call a rule's function with the job's named inputs, outputs and params.

    Parameters
    ----------
    function : callable
        Takes each name of the job as a keyword: a path, a list of paths, or a param's value. The
        params ``library`` and ``state``, which only make a job depend on the code it uses and on
        what lies outside the workflow, are left out.
    job : snakemake.script.Snakemake
        The job as Snakemake hands it to a script.

    Raises
    ------
    SystemExit
        With status 1 when the function raises a `CapmapError`; its message is logged, to the log
        file of the rule and to the terminal. Other exceptions are logged with their traceback.
    """
    arguments = {
        name: _as_plain(value)
        for names in (job.input, job.output, job.params)
        for name, value in names.items()
        if name not in ("library", "state")
    }
    _log_to(Path(str(job.log)))
    gc.set_threshold(COLLECT_AFTER)
    logger = logging.getLogger(function.__name__)
    try:
        function(**arguments)
    except CapmapError as error:
        logger.error("%s", error)
        sys.exit(1)
    except Exception:
        logger.exception("This is a fault of capmap, not of your data; please report it.")
        sys.exit(1)


def _as_plain(value: Any) -> Any:
    if isinstance(value, str):
        return str(value)
    return [str(item) for item in value] if _is_file_list(value) else value


def _is_file_list(value: Any) -> bool:
    return type(value).__name__ == "Namedlist" or type(value).__module__.startswith("snakemake")


def _log_to(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    logging.basicConfig(
        level=logging.INFO,
        format="%(name)s: %(message)s",
        handlers=[logging.FileHandler(path, mode="w", encoding="utf-8"), terminal],
    )
