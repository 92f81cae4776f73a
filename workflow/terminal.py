"""What the terminal shows of a run: each thing once, in the words of the one who found it."""

import atexit
import logging
import re
from collections.abc import Callable, Iterable
from logging.handlers import QueueHandler
from pathlib import Path

from snakemake_interface_logger_plugins.common import LogEvent

# What Snakemake says of its own work, and of a job that has already said what is wrong.
NOISE = re.compile(
    r"(DAG of jobs will be updated|Updating checkpoint dependencies|Exiting because a job"
    r"|Conda environments: ignored"
    r"|WorkflowError:\s+At least one job did not complete"
    r"|(RuleException:\s*)?CalledProcessError)"
)
CORRECT = "Correct what is said above, and run the same command again: what is finished stays."
PLACES = re.compile(r'^(WorkflowError in file .*:|  File ".*)\n?', re.MULTILINE)
# What Slurm writes into the log of a job that it ends, and what it means.
ENDINGS = {
    r"oom.kill|exceeded memory limit": "it took more memory than it had asked for (`mem_mb`)",
    r"DUE TO TIME LIMIT": "it took longer than it had asked for (`runtime`)",
    r"DUE TO NODE FAILURE": "its node failed",
    r"DUE TO PREEMPTION": "another job took its place",
}
MOST_BYTES = 100_000
REFUSED = re.compile(
    r"InputFunctionException in .*\nError:\n\s*WorkflowError:\n\s*(.*)\n", re.DOTALL
)


def quiet(
    logger: logging.Logger, *, is_local: Callable[[], bool], say_where: Callable[[], str]
) -> None:
    """Make the terminal quiet; the log files of Snakemake keep everything.

    Parameters
    ----------
    logger : logging.Logger
        That of Snakemake.
    is_local : callable
        Whether jobs run on this machine, where they have said themselves what went wrong.
    say_where : callable
        What to say last of a run that ends well.
    """
    end = End(say_where)
    atexit.register(end.say)

    def is_shown(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        failed = getattr(record, "event", None) in (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
        if failed and not is_local():
            _explain(record)
        end.follow(record, message)
        return NOISE.match(message) is None

    for handler in logger.handlers:
        if isinstance(handler, logging.FileHandler):
            continue
        handler.filters.insert(0, is_shown)
        if isinstance(handler, QueueHandler):
            _shorten(handler, is_local)


def _shorten(handler: QueueHandler, is_local: Callable[[], bool]) -> None:
    """Let a handler pass on no more than is worth showing; what it passes on is a copy."""
    prepare = handler.prepare

    def prepare_short(record: logging.LogRecord) -> logging.LogRecord:
        short: logging.LogRecord = prepare(record)
        if getattr(short, "event", None) == "job_info" and is_local():
            short.log = []
        if short.levelno >= logging.ERROR:
            refused = REFUSED.match(short.getMessage())
            short.msg = refused[1].partition("\nWildcards:")[0] if refused else short.msg
            short.msg = short.message = PLACES.sub("", str(short.msg)).strip()
        return short

    handler.prepare = prepare_short  # type: ignore[method-assign]


def _explain(record: logging.LogRecord) -> None:
    """Say of what failed on a cluster why the cluster ended it, where its log says so."""
    jobs = getattr(record, "job_error_info", None)
    named = (record.aux_logs if jobs else record.log) or []  # type: ignore[attr-defined]
    # The log of a task of an array is not the one that is named.
    number = (getattr(record, "aux", None) or {}).get("external_jobid")
    logs = [log for name in named for log in (Path(name), Path(name).with_name(f"{number}.log"))]
    if reason := find_ending(logs):
        message = {"rule_msg": f"The cluster ended this: {reason}."}
        changed = {"job_error_info": [job | message for job in jobs]} if jobs else message
        vars(record).update(changed)


def find_ending(logs: Iterable[Path]) -> str:
    """Why Slurm ended a job, by its logs; empty where they do not say."""
    for log in filter(Path.is_file, logs):
        with log.open("rb") as stream:
            stream.seek(max(0, log.stat().st_size - MOST_BYTES))
            text = stream.read().decode("utf-8", "replace")
        for pattern, reason in ENDINGS.items():
            if re.search(pattern, text, re.IGNORECASE):
                return reason
    return ""


class End:
    """The last line of the terminal: where the page is, or what to do.

    It hangs on what Snakemake logs, as `onsuccess` of a workflow that is a module is not called.
    """

    def __init__(self, say_where: Callable[[], str]) -> None:
        self.say_where = say_where
        self.has_begun, self.text = False, ""

    def follow(self, record: logging.LogRecord, message: str) -> None:
        """Learn from a record how the run ends."""
        event = getattr(record, "event", None)
        self.has_begun |= event == LogEvent.RUN_INFO
        is_done = event == LogEvent.PROGRESS and getattr(record, "done", 0) == getattr(
            record, "total", 1
        )
        if is_done or message.startswith("Nothing to be done"):
            self.text = self.say_where()
        elif self.has_begun and record.levelno >= logging.ERROR:
            self.text = CORRECT

    def say(self) -> None:
        """Say it, below all that Snakemake says."""
        if self.text:
            print(self.text, flush=True)
