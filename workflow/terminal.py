"""What the terminal shows of a run: each thing once, in the words of the one who found it."""

import atexit
import logging
import re
from collections.abc import Callable
from logging.handlers import QueueHandler

# What Snakemake says of its own work, and of a job that has already said what is wrong.
NOISE = re.compile(
    r"(DAG of jobs will be updated|Updating checkpoint dependencies|Exiting because a job"
    r"|WorkflowError:\s+At least one job did not complete"
    r"|(RuleException:\s*)?CalledProcessError)"
)
PLACES = re.compile(r'^(WorkflowError in file .*:|  File ".*)\n?', re.MULTILINE)
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
        What to say last of a run that had nothing to do.
    """

    def is_shown(record: logging.LogRecord) -> bool:
        message = record.getMessage()
        if message.startswith("Nothing to be done"):
            say_last(say_where())
        return NOISE.match(message) is None

    for handler in logger.handlers:
        if isinstance(handler, logging.FileHandler):
            continue
        handler.addFilter(is_shown)
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


def say_last(text: str) -> None:
    """Say something below all that Snakemake says."""
    if text:
        atexit.register(print, text)
