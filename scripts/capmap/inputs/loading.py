"""A configuration with its downloads: all that is wrong is told in one list before any job."""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError

from capmap.analyses import has_work, list_analyses, name_needs
from capmap.errors import ConfigError, explain_machine
from capmap.inputs import check_looks, check_published
from capmap.inputs.studies import (
    TABLES,
    Settings,
    Study,
    check_config,
    check_exports,
    check_predictions,
    find_dimensions,
    find_references,
    find_releases,
    list_faults,
    suggest_study,
)
from capmap.settings.checking import read_place
from capmap.settings.files import find_line, open_yaml, read_yaml
from capmap.wording import ALL, join_words, write_key

logger = logging.getLogger("snakemake.logging")
ROWS = (*TABLES, "checkpoints")
# The formats that read an option, where not all do.
FORMATS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(["failed", "fields", "header_rows", "reading", "values"], TABLES),
    **dict.fromkeys(["summary", "take", "multilabel/images", "multilabel/labels"], TABLES),
    **{f"columns/{name}": TABLES for name in ("step", "selection", "spread", "count")},
    **dict.fromkeys(["where", "metric"], ROWS),
    **{f"columns/{name}": ROWS for name in ("dataset", "metric", "score", "seed")},
    **dict.fromkeys(["columns/model", "decimal"], (*ROWS, "submission")),
    **{f"columns/{name}": ("checkpoints",) for name in ("training", "checkpoint", "split")},
    **{name: (name,) for name in ("predictions", "submission", "checkpoints")},
    "patchml": ("predictions",),
}
DOWNLOADS = "downloads"
# Seconds until a server has to accept a connection, and until it has to send something.
DEADLINES = (10.0, 60.0)
BLOCK = 1 << 20
REMEDY = (
    "Check the address and your login (--storage-http-auth), try again later, or download the file "
    "and name the copy."
)


def load_configuration(given: Settings, workflow: Any, shipped: Path, prefix: str) -> Settings:
    """Check the configuration of a workflow, and say once per run all that is wrong.

    Returns
    -------
    dict
        With defaults; ``run`` lists the studies that run.
    """
    if "studies" not in given:
        # By `configfile` Snakemake would say that what is given extends them.
        given = {**ask(read_yaml, str(shipped)), **given}
    if workflow.is_main_process:
        files = list(map(str, workflow.config_settings.configfiles))
        config = ask(check_configuration, given, files=files, prefix=prefix, announce=logger.info)
    else:
        config = ask(check_config, given)
    return {**config, "run": _list_run(config["run"], config["studies"])}


def ask(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """What a function of the library finds; what it refuses ends the run in one message."""
    try:
        return function(*arguments, **options)
    except ConfigError as error:
        raise WorkflowError(str(error)) from None
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
    """Check a configuration; once it holds, fetch its downloads and look for all named files."""
    documents = {path: open_yaml(path) for path in files}
    config: dict[str, Any] = {}
    try:
        config = check_config(given)
        faults = []
    except ConfigError as error:
        faults = str(error).splitlines()
    faults = [*(fault for document in documents.values() for fault in document.faults), *faults]
    if not faults:
        studies = config["studies"]
        asked = _list_asked(config)
        read = str([studies[name] for name in asked])
        unfetched = [
            fault
            for name, file in config["downloads"].items()
            if str(Path(DOWNLOADS, name).parent) in read
            for fault in list_faults(fetch_file, name, file, announce)
        ]
        faults = [*_find_rivals([*studies]), *_find_unknown(config), *unfetched]
        for name in asked if not unfetched else ():
            study = Study(name, studies[name], prefix)
            written = given["studies"][name] or {}
            faults += [
                *(f"studies.{name}.{fault}" for fault in find_ineffective(study.settings, written)),
                *(fault for check in CHECKS for fault in list_faults(check, study)),
            ]
            option = f"studies.{name}.analyses"
            for text in find_skipped(study.settings, written):
                announce(f"{find_line(documents, option)}{option}: {text}")
    if faults:
        told = [find_line(documents, fault.partition(": ")[0]) + fault for fault in faults]
        raise ConfigError("\n".join(dict.fromkeys(told)))
    return config


def _list_run(run: str | list[str], names: Iterable[str]) -> list[str]:
    """List the studies that ``run:`` asks for: "all", one or several of `studies`."""
    if run == "all":
        return list(names)
    return [run] if isinstance(run, str) else run


def _list_asked(config: Settings) -> list[str]:
    """List the studies that run, and those that they are compared with."""
    studies, asked = config["studies"], {*_list_run(config["run"], config["studies"])}
    asked |= {other for name in asked & {*studies} for other in studies[name]["conditions"]}
    return [name for name in studies if name in asked]


def _find_unknown(config: Settings) -> Iterator[str]:
    """Find studies that are asked for and not there."""
    names = [*config["studies"]]
    for name in _list_run(config["run"], names):
        if name not in names:
            yield f"run: there {suggest_study(name, names)}"
    for name, study in config["studies"].items():
        for other in study["conditions"]:
            if other == name:
                yield f"studies.{name}.conditions: it cannot be compared with itself. Name others."
            elif other not in names:
                yield f"studies.{name}.conditions: there {suggest_study(other, names)}"


def _find_rivals(names: list[str]) -> Iterator[str]:
    """Find studies that would write to one folder where file systems do not tell cases apart."""
    firsts: dict[str, str] = {}
    for name in names:
        first = firsts.setdefault(name.casefold(), name)
        if first != name:
            text = f"results/{name} and results/{first} are one folder on some file systems"
            yield f"studies.{name}: {text}. Rename one of the studies."


def check_analyses(study: Study) -> Iterator[ConfigError]:
    """Refuse analyses of another format, a name that is taken, and what is not installed."""
    settings, asked = study.settings, list_analyses(study.settings)
    against = settings["frontier"]["against"]
    if "checkpoints" in asked and settings["format"] != "checkpoints":
        text = "checkpoints need format: checkpoints. Set it, or leave the analysis out."
        yield study.refuse("analyses", text)
    if "leaderboard" in asked and ALL in settings["groups"]:
        text = "the leaderboard calls all datasets together so; choose another name."
        yield study.refuse(f"groups.{ALL}", text)
    if against and not settings["attributes"]["models"][against]:
        text = f"name the column of {against!r}, attributes.models.{against}, and the file."
        yield study.refuse("frontier.against", text)
    is_mapped = "capabilities" in asked and settings["capabilities"]["map"] == "umap"
    if is_mapped and not find_spec("umap"):
        remedy = f"Run: {sys.executable} -m pip install umap-learn. Or set map: mds."
        text = f"umap needs the package umap-learn, which is not installed. {remedy}"
        yield study.refuse("capabilities.map", text)


def check_attributes(study: Study) -> Iterator[ConfigError]:
    """Look for the tables of attributes."""
    for kind, own in study.settings["attributes"].items():
        yield from study.look_for(f"attributes.{kind}.file", own["file"])


CHECKS: list[Callable[[Study], object]] = [
    check_attributes,
    check_analyses,
    check_exports,
    find_dimensions,
    find_references,
    find_releases,
    check_looks,
    check_predictions,
    check_published,
]


def find_skipped(settings: Settings, written: Settings) -> Iterator[str]:
    """Find the analyses that the user named and that lack the setting which they need."""
    named = written.get("analyses", "all")
    for name in () if named == "all" else named:
        if not has_work(settings, name):
            yield f"{name} is skipped, as it needs {name_needs(name)}."


def find_ineffective(settings: Settings, written: Settings) -> Iterator[str]:
    """Find what the user wrote that the format of the exports does not read, or lacks."""
    kind, take = settings["format"], settings["take"]
    for path, known in FORMATS.items():
        section = path.partition("/")[0]
        # Of a section that another format reads, only that is told.
        is_told = path == section or section not in FORMATS
        if kind not in known and is_told and read_place(written, path.split("/")) is not None:
            text = f"it has no effect with format: {kind}, only with {join_words(known)}."
            yield f"{path.replace('/', '.')}: {text} Leave it out, or set the format that you mean."
    if kind in TABLES and take in ("best", "lowest") and not settings["columns"]["selection"]:
        yield f"columns.selection: take: {take} needs it. Name the column."
    item, cluster = (settings["columns"][name] for name in ("item", "cluster"))
    if cluster and not item:
        yield "columns.cluster: it says what items have in common. Name the column of `item` too."
    if item and (take != "all" or settings["summary"]["runs"] > 1):
        yield "columns.item: each row is an item of a run. Leave out `take` and `summary`."


def fetch_file(name: str, file: Mapping[str, str], announce: Callable[[str], object]) -> None:
    """Fetch a file that is not there yet."""
    # Not above: they would slow the start of runs without downloads.
    from capmap.artifacts import digest_file, replace_file

    option, place = f"downloads.{write_key(name)}", Path(DOWNLOADS, name)
    if place.is_file():
        if digest_file(place) != file["sha256"]:
            remedy = "Remove it to fetch it anew, or correct the sha256."
            raise ConfigError(f"{option}: {place} has another SHA-256. {remedy}")
        return
    announce(f"Fetching {file['address']}")
    try:
        with replace_file(place) as stream:
            with ask_server(file["address"]) as answer:
                stream.writelines(answer.iter_content(BLOCK))
            stream.flush()
            if digest_file(stream.name) != file["sha256"]:
                raise ConfigError("it has another SHA-256. Correct that or the address.")
    except ConfigError as error:
        text = f"{option}: {file['address']}: {error} Or copy the file to {place}."
        raise ConfigError(text) from error


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
                raise ConfigError(f"the server answers {status}. {REMEDY}")
            yield answer
    except requests.exceptions.SSLError as error:
        raise ConfigError(
            "the certificate of the server cannot be trusted. If it is your own, name its "
            "authority: export REQUESTS_CA_BUNDLE=/path/to/ca.pem"
        ) from error
    except (requests.RequestException, ValueError) as error:
        # Its text may name other addresses, to which the server has redirected.
        raise ConfigError(f"the request fails ({type(error).__name__}). {REMEDY}") from None
