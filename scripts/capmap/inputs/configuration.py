"""All that is wrong with a configuration, found before any job and reported in one list."""

import atexit
import logging
import shutil
import socket
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, get_args
from urllib.parse import quote

import psutil
from snakemake_interface_common.exceptions import WorkflowError

from capmap.addresses import hide, hide_in_text, keep_secrets
from capmap.analyses import INDEX, list_analyses, read_setting
from capmap.errors import ConfigError, explain_machine
from capmap.inputs.analyses import check_looks, check_published
from capmap.inputs.exports import check_exports, find_dimensions, find_references, find_releases
from capmap.inputs.predictions import check_predictions
from capmap.inputs.studies import (
    Inspected,
    Settings,
    Study,
    check_config,
    inspect_config,
    list_faults,
    list_involved,
    select_studies,
)
from capmap.settings.checking import find_faults
from capmap.settings.choices import TableFormat
from capmap.settings.files import open_yaml, read_yaml
from capmap.settings.sections import DOWNLOADS
from capmap.settings.study import Study as StudySettings
from capmap.wording import ALL, join_words, write_key

# Seconds until a server has to accept a connection, and until it has to send something.
DEADLINES = (10.0, 60.0)
BLOCK = 1 << 20
LATER = "Try again later, or download the file and name the copy."
ADDRESS = "Check the address."
REMEDIES = {
    401: "It asks for a login: see --storage-http-auth.",
    403: "Ask its owner for access, or check your login (--storage-http-auth).",
    404: ADDRESS,
    410: ADDRESS,
}
LOCKS = Path(".snakemake/locks")
# A file per run, called after its host and process, that holds when the process began.
RUNS = Path(".snakemake/runs")

logger = logging.getLogger("snakemake.logging")
# What says which files are the exports.
SOURCES = ("exports", "format", "patchml")
# Settings that name a file.
FILES = ("benchmark", "attributes/models/file", "attributes/datasets/file")
# The checks of files, and the settings of a study that they need.
CHECKS: dict[Callable[[Study], object], tuple[str, ...]] = {
    check_exports: SOURCES,
    find_dimensions: ("benchmark",),
    find_references: ("normalization",),
    find_releases: ("leaderboard",),
    check_looks: ("figures", "analyses"),
    check_predictions: (*SOURCES, "predictions", "multilabel"),
    check_published: ("published", "analyses", "figures"),
}
# What decides whether a setting has an effect.
DECIDING = {"format", "preset", "analyses", "columns", "take", "summary"}

TABLES = get_args(TableFormat)
ROWS = (*TABLES, "checkpoints")
# The formats that read an option, where not all do.
FORMATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["header_rows", "multilabel/images", "multilabel/labels"], TABLES),
    **{f"columns/{name}": TABLES for name in ("step", "selection", "spread", "count")},
    **dict.fromkeys(["where", "metric"], ROWS),
    **{f"columns/{name}": ROWS for name in ("dataset", "metric", "score", "seed")},
    **dict.fromkeys(["columns/model", "decimal"], (*ROWS, "submission")),
    **{f"columns/{name}": ("checkpoints",) for name in ("training", "checkpoint", "split")},
    **dict.fromkeys(["predictions", "patchml"], ("predictions",)),
    "submission": ("submission",),
    "checkpoints": ("checkpoints",),
}
PLACED = tuple(name for name, made in INDEX.items() if made["folder"] == "capabilities")
# The analyses that read an option, where none but these do.
READERS: dict[str, tuple[str, ...]] = {
    "capabilities": PLACED,
    "attributes": (*PLACED, "frontier"),
    "frontier": ("frontier",),
    "multilabel": ("multilabel",),
    "leaderboard/releases": ("releases",),
    "checkpoints/rankings": ("checkpoints",),
    "published": ("published",),
    "claims": ("published",),
}


def fetch_files(
    downloads: Mapping[str, Mapping[str, str]], mirror: str, announce: Callable[[str], object]
) -> Iterator[str]:
    """Fetch the files that are not there yet."""
    for name, file in downloads.items():
        yield from list_faults(_fetch_file, name, file, mirror, announce)


def list_texts(settings: Any) -> list[str]:
    """List all texts in some settings."""
    if isinstance(settings, str):
        return [settings]
    if not isinstance(settings, Mapping | list):
        return []
    parts = settings.values() if isinstance(settings, Mapping) else settings
    return [text for part in parts for text in list_texts(part)]


def is_named(name: str, texts: Iterable[str]) -> bool:
    """Whether one of the texts is the path of a download, its folder, or a glob of it."""
    path = PurePosixPath(DOWNLOADS, name)
    places = {str(place) for place in (path, *path.parents)}
    return any(text.rstrip("/") in places or fnmatch(str(path), text) for text in texts)


def _fetch_file(
    name: str, file: Mapping[str, str], mirror: str, announce: Callable[[str], object]
) -> None:
    # Not above: they would slow the start of runs without downloads.
    from capmap.artifacts import digest_file, replace_file

    option, place = f"downloads.{write_key(name)}", Path(DOWNLOADS, name)
    if place.is_file():
        if digest_file(place) != file["sha256"]:
            remedy = "Remove it to fetch it anew, or correct the sha256."
            raise ConfigError(f"{option}: {place} has another SHA-256. {remedy}")
        return
    source, other = file["address"], "Or name a folder or server that has it in `mirror`."
    if mirror:
        source, other = f"{mirror.rstrip('/')}/{quote(name) if '://' in mirror else name}", ""
    shown = hide(source)
    announce(f"Fetching {shown}")
    try:
        with replace_file(place) as stream:
            for block in _read_blocks(source):
                stream.write(block)
            stream.flush()
            if digest_file(stream.name) != file["sha256"]:
                raise ConfigError(
                    "it has another SHA-256, so it is not the file that was meant. Correct the "
                    "sha256, or where the file is from."
                )
    except ConfigError as error:
        raise ConfigError(f"{option}: {shown}: {error} {other}".rstrip()) from error
    except OSError as error:
        text = f"{error.strerror}. Check the path of the mirror, and the folder {place.parent}."
        raise ConfigError(f"{option}: {shown}: {text}") from error


def _read_blocks(source: str) -> Iterator[bytes]:
    """Read a file, on this machine or from a server."""
    if "://" not in source:
        yield Path(source).read_bytes()
        return
    with ask_server(source) as answer:
        yield from answer.iter_content(BLOCK)


@contextmanager
def ask_server(address: str, verb: str = "GET", **options: Any) -> Iterator[Any]:
    """Ask a server for a file, and give its answer; a refusal or fault is a `ConfigError`."""
    # Not above: it would slow the start of runs without files on servers.
    import requests

    # Compressed on the way, a file would be of unknown size.
    options |= {"headers": {"Accept-Encoding": "identity"}, "stream": True}
    try:
        with requests.request(verb, address, timeout=DEADLINES, **options) as answer:
            if answer.status_code != requests.codes.ok:
                status = f"{answer.status_code} {answer.reason}"
                remedy = REMEDIES.get(answer.status_code, LATER)
                raise ConfigError(f"the server answers {status}. {remedy}")
            yield answer
    except (requests.RequestException, ValueError) as error:
        raise ConfigError(_explain_request(error)) from None


def _explain_request(error: Exception) -> str:
    """Say what went wrong with a request over HTTP, and what to do."""
    from requests import exceptions

    if isinstance(error, exceptions.SSLError):
        return (
            "the certificate of the server cannot be trusted. If it is your own, name its "
            "authority: export REQUESTS_CA_BUNDLE=/path/to/ca.pem"
        )
    if isinstance(error, exceptions.Timeout) or "Read timed out" in str(error):
        return f"the server does not answer in time. {LATER}"
    if isinstance(error, exceptions.ChunkedEncodingError):
        return f"the server stopped in the middle of the file. {LATER}"
    if isinstance(error, exceptions.ConnectionError):
        return f"the server cannot be reached. {ADDRESS} {LATER}"
    return f"the request fails ({type(error).__name__}). {ADDRESS}"


def load_configuration(
    given: Settings, workflow: Any, shipped: Path, prefix: str
) -> dict[str, Any]:
    """Check the configuration of a workflow, and say once per run all that is wrong.

    Returns
    -------
    dict
        Without secrets of addresses; ``run`` lists the studies that run.
    """
    if "studies" not in given:
        # By `configfile` Snakemake would say that what is given extends them.
        given = {**ask(read_yaml, str(shipped)), **given}
    if workflow.is_main_process:
        if not workflow.dryrun and (released := release_lock()):
            logger.warning(released)
        files = list(map(str, workflow.config_settings.configfiles))
        config = ask(check_configuration, given, files=files, prefix=prefix, announce=logger.info)
    else:
        config = ask(check_config, given)
    return {**keep_secrets(config), "run": select_studies(config["studies"], config["run"])}


def ask(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function of the library finds; what it refuses ends the run in one message."""
    try:
        return function(*arguments, **options)
    except ConfigError as error:
        raise WorkflowError(hide_in_text(str(error))) from None
    except OSError as error:
        if text := explain_machine(error):
            raise WorkflowError(text) from None
        raise


def check_configuration(
    given: Settings,
    *,
    files: Iterable[str] = (),
    prefix: str = "",
    announce: Callable[[str], object] = str,
) -> dict[str, Any]:
    """Check a configuration, fetch its downloads, and look for all files that its studies name."""
    files = list(files)
    documents = [open_yaml(path) for path in files]
    inspected = inspect_config(given)
    names, config = _list_studies(given), inspected.config
    named = list_texts([config["studies"][name] for name in _list_asked(names, inspected)])
    downloads = {
        name: file for name, file in config.get("downloads", {}).items() if is_named(name, named)
    }
    unfetched = [*fetch_files(downloads, config.get("mirror", ""), announce)]
    faults = [
        *(fault for document in documents for fault in document.faults),
        *inspected.faults,
        *_find_rivals(names),
        *_find_useless(given, inspected),
        *_find_uninstalled(names, inspected),
        *(unfetched or _find_missing(names, inspected, prefix)),
    ]
    if faults:
        lines = {
            place: f"{path}, line {line}: "
            for path, document in zip(files, documents, strict=True)
            for place, line in document.lines.items()
        }
        raise ConfigError(
            "\n".join(_find_line(fault, lines) + fault for fault in dict.fromkeys(faults))
        )
    return config


def _find_line(fault: str, lines: Mapping[str, str]) -> str:
    """Say in which line of which file a setting stands, or what is around one that is missing."""
    place = fault.partition(": ")[0]
    while place and place not in lines:
        place = place.rpartition(".")[0]
    return lines.get(place, "")


def _list_studies(given: Settings) -> list[str]:
    studies = given.get("studies")
    return [*map(str, studies)] if isinstance(studies, Mapping) else []


def _find_rivals(names: list[str]) -> Iterator[str]:
    """Find studies that would write to one folder where file systems do not tell cases apart."""
    firsts: dict[str, str] = {}
    for name in names:
        first = firsts.setdefault(name.casefold(), name)
        if first != name:
            yield (
                f"studies.{name}: results/{name} and results/{first} are one folder on some file "
                "systems. Rename one of the studies."
            )


def _find_useless(given: Settings, inspected: Inspected) -> Iterator[str]:
    """Find settings without effect."""
    for name, settings in inspected.config["studies"].items():
        if DECIDING.isdisjoint(inspected.spoiled.get(name, ())):
            written = given["studies"][name] or {}
            for option, text in (*find_ineffective(settings, written), *_find_unusable(settings)):
                yield f"studies.{name}.{option}: {text}"


def _find_unusable(settings: Settings) -> Iterator[tuple[str, str]]:
    """Find analyses of another format, a name that is taken, and an attribute without column."""
    asked, against = list_analyses(settings), settings["frontier"]["against"]
    if "checkpoints" in asked and settings["format"] != "checkpoints":
        text = "checkpoints need format: checkpoints. Set it, or leave the analysis out."
        yield "analyses", text
    if "leaderboard" in asked and ALL in settings["groups"]:
        text = "the leaderboard calls all datasets together so; choose another name."
        yield f"groups.{ALL}", text
    if against and not settings["attributes"]["models"][against]:
        column = f"attributes.models.{against}"
        yield "frontier.against", f"name the column of {against!r}, {column}, and the file."


def _find_uninstalled(names: list[str], inspected: Inspected) -> Iterator[str]:
    """Find maps by UMAP where the package for it is not installed."""
    for name in _list_asked(names, inspected):
        settings = inspected.config["studies"][name]
        is_mapped = "capabilities" in settings["analyses"]
        if is_mapped and settings["capabilities"]["map"] == "umap" and not find_spec("umap"):
            yield (
                f"studies.{name}.capabilities.map: umap needs the package umap-learn, which is "
                f"not installed. Run: {sys.executable} -m pip install umap-learn. Or set map: mds."
            )


def _list_asked(names: list[str], inspected: Inspected) -> list[str]:
    """List the studies that run, and those that they are compared with."""
    studies, run = inspected.config["studies"], inspected.config["run"]
    asked = {*names} if run == "all" else {*([run] if isinstance(run, str) else run)}
    asked |= {other for name in asked & {*studies} for other in studies[name]["conditions"]}
    return [name for name in studies if name in asked]


def _find_missing(names: list[str], inspected: Inspected, prefix: str) -> Iterator[str]:
    """Find studies and files that are named and not there."""
    studies = inspected.config["studies"]
    # A study whose settings are of no use is there nevertheless.
    known = {name: {"conditions": []} for name in names} | studies
    yield from list_faults(select_studies, known, inspected.config["run"])
    yield from list_faults(list_involved, known, studies)
    for name in _list_asked(names, inspected):
        study = Study(name, studies[name], prefix=prefix)
        yield from check_files(study, inspected.spoiled.get(name, ()))


def check_files(study: Study, spoiled: Container[str] = ()) -> Iterator[str]:
    """Look for all files that a study names in settings that are not spoiled."""
    absent = set()
    for path in FILES:
        section, file = path.partition("/")[0], study.read(path)
        if file and section not in spoiled:
            found = list_faults(study.find_file, path.replace("/", "."), file)
            absent |= {section} if found else set()
            yield from found
    for check, needed in CHECKS.items():
        if not any(key in spoiled or key in absent for key in needed):
            yield from list_faults(check, study)


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


def find_ineffective(
    settings: Mapping[str, Any], written: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Find settings that change nothing, and those without which others cannot be followed.

    Parameters
    ----------
    settings : mapping
        Of a study, checked and with defaults.
    written : mapping
        What the user wrote of them. What a preset says, and what is as by default, is no mistake.

    Yields
    ------
    option : str
        Such as ``columns.ignore``.
    message : str
        Why it has no effect, and what to do.

    Notes
    -----
    Settings of an analysis that is not asked for are reported only where `analyses` is left out: a
    list of one's own may leave some out for a while.
    """
    given = [path for path in [*FORMATS, *READERS] if _is_given(path, settings, written)]
    kind = settings["format"]
    for path in given:
        known = FORMATS.get(path, (kind,))
        section = path.partition("/")[0]
        if section != path and kind not in FORMATS.get(section, (kind,)):
            continue  # the whole section is reported
        if kind not in known:
            yield (
                path.replace("/", "."),
                f"it has no effect with format: {kind}, only with {join_words(known)}. "
                "Leave it out, or set the format that you mean.",
            )
    if kind in TABLES:
        yield from _find_unread_columns(settings, written)
    if "analyses" not in written:
        yield from _find_unasked([path for path in given if path in READERS], settings)


def _is_given(path: str, settings: Mapping[str, Any], written: Mapping[str, Any]) -> bool:
    """Whether the user wrote a setting, and other than it is by default."""
    section: Any = written
    for key in path.split("/"):
        if not isinstance(section, Mapping) or key not in section:
            return False
        section = section[key]
    return bool(read_setting(settings, path) != read_setting(_read_defaults(), path))


@cache
def _read_defaults() -> dict[str, Any]:
    """A study of which nothing is set."""
    return find_faults({}, StudySettings)[0]


def _find_unasked(given: list[str], settings: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find settings of analyses that are not made by default."""
    asked = set(list_analyses(settings))
    for path in given:
        # The metrics of predictions are their scores.
        is_scored = path == "multilabel" and settings["format"] == "predictions"
        is_read = settings["format"] in FORMATS.get(path.partition("/")[0], (settings["format"],))
        if asked.isdisjoint(READERS[path]) and is_read and not is_scored:
            yield (
                path.replace("/", "."),
                f"no analysis that is made by default reads it. List {READERS[path][0]} under "
                "analyses, with the others that you want, or leave it out.",
            )


def _find_unread_columns(
    settings: Mapping[str, Any], written: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Find columns of tables that are not read, and those that are needed and not named."""
    columns, take, summary = settings["columns"], settings["take"], settings["summary"]
    is_wide = settings["format"] == "matrix" or "{" in str(columns["score"])
    is_summarized = summary["runs"] > 1 or bool(columns["count"])
    needs = "Set summary.runs to the number of runs behind a row, or name their column in count."
    rules = {
        "columns/ignore": (is_wide, "format: long with a column of scores", "Set format: matrix"),
        "columns/datasets": (is_wide, "format: long with a column of scores", "Set format: matrix"),
        "columns/step": (take == "last", f"take: {take}", "Set take: last"),
        "columns/selection": (take in ("best", "lowest"), f"take: {take}", "Set take: best"),
    }
    for path, (is_read, reason, remedy) in rules.items():
        if not is_read and _is_given(path, settings, written):
            option = path.replace("/", ".")
            yield option, f"it has no effect with {reason}. {remedy}, or leave it out."
    for path in ("columns/spread", "summary/spread"):
        if not is_summarized and _is_given(path, settings, written):
            yield path.replace("/", "."), f"it has no effect on rows that are one run. {needs}"
    if take in ("best", "lowest") and not columns["selection"]:
        yield "columns.selection", f"take: {take} needs it. Name the column."
