"""All that is wrong with a configuration, found before any job and reported in one list."""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError

from capmap.addresses import hide_in_text, keep_secrets
from capmap.analyses import INDEX, list_analyses, read_setting
from capmap.downloads import fetch_file, is_named, list_texts
from capmap.errors import ConfigError, explain_machine
from capmap.inputs.analyses import check_looks, check_published
from capmap.inputs.studies import (
    TABLES,
    Inspected,
    Settings,
    Study,
    check_config,
    check_exports,
    check_predictions,
    find_dimensions,
    find_references,
    find_releases,
    inspect_config,
    list_faults,
    suggest_study,
)
from capmap.settings.checking import find_faults, read_place
from capmap.settings.files import find_line, open_yaml, read_yaml
from capmap.settings.study import Study as StudySettings
from capmap.wording import ALL, join_words

logger = logging.getLogger("snakemake.logging")
# What says which files are the exports.
SOURCES = ("exports", "format", "patchml")
# What decides whether a setting has an effect.
DECIDING = {"format", "preset", "analyses", "columns", "take", "summary"}

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
# What has no effect unless an analysis reads it.
READ = (
    *("capabilities", "attributes", "frontier", "multilabel", "leaderboard/releases"),
    *("checkpoints/rankings", "published", "claims"),
)
# What only some tables have.
COLUMNS = ("columns/ignore", "columns/datasets", "summary/spread")


def load_configuration(given: Settings, workflow: Any, shipped: Path, prefix: str) -> Settings:
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
        files = list(map(str, workflow.config_settings.configfiles))
        config = ask(check_configuration, given, files=files, prefix=prefix, announce=logger.info)
    else:
        config = ask(check_config, given)
    return {**keep_secrets(config), "run": _list_run(config["run"], config["studies"])}


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
    documents = {path: open_yaml(path) for path in files}
    inspected = inspect_config(given)
    config, studies = inspected.config, given.get("studies")
    # Also of those whose settings are of no use.
    names = [*map(str, studies)] if isinstance(studies, Mapping) else []
    asked = _list_asked(names, config)
    texts = list_texts([config["studies"][name] for name in asked])
    unfetched = [
        fault
        for name, file in config.get("downloads", {}).items()
        if is_named(name, texts)
        for fault in list_faults(fetch_file, name, file, config.get("mirror", ""), announce)
    ]
    faults = [
        *(fault for document in documents.values() for fault in document.faults),
        *inspected.faults,
        *_find_rivals(names),
        *_find_useless(given, inspected),
        *unfetched,
    ]
    if not unfetched:
        faults += _find_unknown(names, config)
        for name in asked:
            study = Study(name, config["studies"][name], prefix)
            faults += check_files(study, inspected.spoiled.get(name, ()))
    if faults:
        told = [find_line(documents, fault.partition(": ")[0]) + fault for fault in faults]
        raise ConfigError("\n".join(dict.fromkeys(told)))
    return config


def _list_run(run: str | list[str], names: Iterable[str]) -> list[str]:
    """List the studies that ``run:`` asks for: "all", one or several of `studies`."""
    if run == "all":
        return list(names)
    return [run] if isinstance(run, str) else run


def _list_asked(names: list[str], config: Settings) -> list[str]:
    """List the studies that run, and those that they are compared with."""
    studies, asked = config["studies"], {*_list_run(config["run"], names)}
    asked |= {other for name in asked & {*studies} for other in studies[name]["conditions"]}
    return [name for name in studies if name in asked]


def _find_unknown(names: list[str], config: Settings) -> Iterator[str]:
    """Find studies that are asked for and not there."""
    for name in _list_run(config["run"], names):
        if name not in names:
            yield f"run: there {suggest_study(name, names)}"
    for name, study in config["studies"].items():
        others = [other for other in names if other != name]
        for other in study["conditions"]:
            if other not in others:
                itself = "a study cannot be compared with itself. Name another one."
                text = itself if other == name else f"there {suggest_study(other, others)}"
                yield f"studies.{name}.conditions: {text}"


def _find_rivals(names: list[str]) -> Iterator[str]:
    """Find studies that would write to one folder where file systems do not tell cases apart."""
    firsts: dict[str, str] = {}
    for name in names:
        first = firsts.setdefault(name.casefold(), name)
        if first != name:
            text = f"results/{name} and results/{first} are one folder on some file systems"
            yield f"studies.{name}: {text}. Rename one of the studies."


def _find_useless(given: Settings, inspected: Inspected) -> Iterator[str]:
    """Find settings without effect."""
    for name, settings in inspected.config["studies"].items():
        if DECIDING.isdisjoint(inspected.spoiled.get(name, ())):
            for option, text in find_ineffective(settings, given["studies"][name] or {}):
                yield f"studies.{name}.{option}: {text}"


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


# The checks of a study, and the settings that they need.
CHECKS: dict[Callable[[Study], object], tuple[str, ...]] = {
    check_attributes: ("attributes",),
    check_analyses: (*DECIDING, "groups", "frontier", "attributes", "capabilities"),
    check_exports: SOURCES,
    find_dimensions: ("benchmark",),
    find_references: ("normalization",),
    find_releases: ("leaderboard",),
    check_looks: ("figures", "analyses"),
    check_predictions: (*SOURCES, "predictions", "multilabel"),
    check_published: ("published", "analyses", "figures"),
}


def check_files(study: Study, spoiled: Iterable[str] = ()) -> Iterator[str]:
    """Look for all that a study names in settings that are not spoiled."""
    for check, needed in CHECKS.items():
        if {*needed}.isdisjoint(spoiled):
            yield from list_faults(check, study)


def find_ineffective(settings: Settings, written: Settings) -> Iterator[tuple[str, str]]:
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
    kind = settings["format"]
    for path in [*FORMATS, *READ, *COLUMNS]:
        section = path.partition("/")[0]
        # Of a section that another format reads, only that is told.
        known = FORMATS.get(path, FORMATS.get(section, (kind,)))
        if not _is_given(path, settings, written):
            continue
        if kind not in known:
            if path == section or section not in FORMATS:
                text = f"it has no effect with format: {kind}, only with {join_words(known)}."
                remedy = "Leave it out, or set the format that you mean."
                yield path.replace("/", "."), f"{text} {remedy}"
        elif text := _explain_useless(path, settings, written):
            yield path.replace("/", "."), text
    take = settings["take"]
    if kind in TABLES and take in ("best", "lowest") and not settings["columns"]["selection"]:
        yield "columns.selection", f"take: {take} needs it. Name the column."


def _is_given(path: str, settings: Settings, written: Settings) -> bool:
    """Whether the user wrote a setting, and other than it is by default."""
    is_written = read_place(written, (*path.split("/"),)) is not None
    return is_written and read_setting(settings, path) != read_setting(_read_defaults(), path)


@cache
def _read_defaults() -> dict[str, Any]:
    """A study of which nothing is set."""
    return find_faults({}, StudySettings)[0]


def _explain_useless(path: str, settings: Settings, written: Settings) -> str:
    """Say why a setting that the format reads has no effect; "" of one that has."""
    columns, take = settings["columns"], settings["take"]
    reason = remedy = ""
    if path.endswith("/spread") and settings["summary"]["runs"] == 1 and not columns["count"]:
        remedy = "Set summary.runs to the number of runs behind a row, or name their column"
        return f"it has no effect on rows that are one run. {remedy} in count."
    if path in ("columns/ignore", "columns/datasets"):
        if settings["format"] == "long" and "{" not in str(columns["score"]):
            reason, remedy = "format: long with a column of scores", "format: matrix"
    elif path == "columns/step" and take != "last":
        reason, remedy = f"take: {take}", "take: last"
    elif path == "columns/selection" and take not in ("best", "lowest"):
        reason, remedy = f"take: {take}", "take: best"
    if reason:
        return f"it has no effect with {reason}. Set {remedy}, or leave it out."
    # The metrics of predictions are their scores.
    is_scored = path == "multilabel" and settings["format"] == "predictions"
    readers = _list_readers(path) if path in READ and "analyses" not in written else []
    if readers and not is_scored and {*readers}.isdisjoint(list_analyses(settings)):
        remedy = f"List {' or '.join(readers)} under analyses, with the others that you want"
        return f"no analysis that is made by default reads it. {remedy}, or leave it out."
    return ""


def _list_readers(path: str) -> list[str]:
    """List the analyses that read a setting, or a part of a section."""
    readers = []
    for name, made in INDEX.items():
        options = [option for step in made["steps"].values() for option in step.values()]
        named = [f"{option}/" for option in (*options, made["needs"])]
        if any(one.startswith(f"{path}/") or f"{path}/".startswith(one) for one in named):
            readers.append(name)
    return readers
