"""All that is wrong with a configuration, found before any job and told in one list."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from capmap.errors import ConfigError
from capmap.inputs.exports import check_files
from capmap.inputs.studies import (
    Inspected,
    Settings,
    Study,
    inspect_config,
    list_faults,
    list_involved,
    select_studies,
)
from capmap.settings.effects import find_ineffective
from capmap.settings.files import open_yaml

# What decides whether a setting has an effect.
DECIDING = {"format", "preset", "analyses", "columns", "take", "summary", "tracking"}


def check_configuration(
    given: Settings, *, files: Iterable[str] = (), prefix: str = ""
) -> dict[str, Any]:
    """Check a configuration, and look for all files that its studies name.

    Parameters
    ----------
    given : mapping
        What the user wrote. It is not changed.
    files : iterable of str
        The files in which it stands, whose keys may stand once.
    prefix : str
        What stands before ``results/`` where the workflow is a module of another.

    Returns
    -------
    dict
        As `capmap.inputs.studies.check_config` returns it.

    Raises
    ------
    ConfigError
        When anything is wrong; the message has one line per fault. Files are looked for of the
        studies that run, and of those that they are compared with. No file is read.
    """
    documents = [open_yaml(path) for path in files]
    inspected = inspect_config(given)
    names = _list_studies(given)
    faults = [
        *(fault for document in documents for fault in document.faults),
        *inspected.faults,
        *_find_rivals(names),
        *_find_useless(given, inspected),
        *_find_missing(names, inspected, prefix),
    ]
    if faults:
        raise ConfigError("\n".join(dict.fromkeys(faults)))
    return inspected.config


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
            for option, text in find_ineffective(settings, given["studies"][name] or {}):
                yield f"studies.{name}.{option}: {text}"


def _find_missing(names: list[str], inspected: Inspected, prefix: str) -> Iterator[str]:
    """Find studies and files that are named and not there."""
    studies = inspected.config["studies"]
    # A study whose settings are of no use is there nevertheless.
    known = {name: {"conditions": []} for name in names} | studies
    run = inspected.config["run"]
    yield from list_faults(select_studies, known, run)
    yield from list_faults(list_involved, known, studies)
    asked = {*known} if run == "all" else {*([run] if isinstance(run, str) else run)}
    asked |= {other for name in asked & {*studies} for other in studies[name]["conditions"]}
    for name in [name for name in studies if name in asked]:
        study = Study(name, studies[name], str, str, prefix)
        yield from list_faults(check_files, study, inspected.spoiled.get(name, ()))
