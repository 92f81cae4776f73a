"""A study as the rules see it: its settings, the places of its results, and its shards."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from glob import glob
from pathlib import Path
from typing import Any, TypeAlias, get_args

from capmap.catalog import read_setting
from capmap.errors import ConfigError
from capmap.settings.checking import check_settings
from capmap.settings.choices import TableFormat
from capmap.settings.presets import fill_preset
from capmap.settings.sections import write_schema
from capmap.settings.study import Config
from capmap.wording import find_nearest

Settings: TypeAlias = Mapping[str, Any]
# What the name of an input must not hold, as Snakemake would replace it.
TABLES_ONLY = ("failed", "fields", "reading", "values", "summary", "take")
REPLACED = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")


@dataclass(frozen=True)
class Study:
    """A study, and how to reach what only the workflow can.

    Parameters
    ----------
    name : str
        Its key in the configuration.
    settings : mapping
        Its settings, checked and with defaults.
    open_url : callable
        Turns a URL into an input that the workflow fetches.
    find_manifest : callable
        Gives the list of shards of a study by its name, once `normalize_runs` has made it.
    prefix : str, optional
        What stands before ``results/`` where the workflow is a module of another.
    """

    name: str
    settings: Settings
    open_url: Callable[[str], str]
    find_manifest: Callable[[str], str]
    prefix: str = ""

    @property
    def title(self) -> str:
        """Its title, or its name where it has none."""
        return str(self.settings["title"] or self.name)

    def read(self, path: str) -> Any:
        """Give a setting by its path, such as ``bootstrap/replicates``."""
        return read_setting(self.settings, path)

    def place(self, path: str) -> str:
        """Name one of its results for a rule, which puts the prefix before it."""
        return f"results/{self.name}/{path}"

    @property
    def folder(self) -> Path:
        """Where its results are."""
        return Path(f"{self.prefix}results", self.name)

    def refuse(self, option: str, message: str) -> ConfigError:
        """Write the error of an option, which is called ``normalization.references``."""
        return ConfigError(f"studies.{self.name}.{option}: {message}")

    def miss(self, option: str, message: str) -> ConfigError:
        """Write the error of an option that names what is not there."""
        return self.refuse(option, f"{message}. Paths are relative to {Path.cwd()}.")

    def check_name(self, option: str, path: str) -> str:
        """Give a path without braces and <names>, which Snakemake would replace."""
        if REPLACED.search(path):
            raise self.refuse(option, f"rename {path}; a name cannot have braces or <words>.")
        return path


def check_config(given: Settings) -> dict[str, Any]:
    """Check a configuration against its schema and fill in the defaults.

    Parameters
    ----------
    given : mapping
        What the user wrote. It is not changed.

    Returns
    -------
    dict
        A copy with every option.

    Raises
    ------
    ConfigError
        When anything is wrong; the message has one line per fault.
    """
    given = _fill_presets(given)
    checked = check_settings(given, write_schema(Config))
    for name, study in checked["studies"].items():
        if study["bootstrap"]["interval"] != "calibrated":
            _refuse_calibrated_only(study, f"studies.{name}")
        if study["format"] not in get_args(TableFormat):
            _refuse_tables_only(study, given["studies"][name], f"studies.{name}")
        # A leaderboard shows and marks what is not complete.
        if study["format"] == "submission" and "incomplete" not in given["studies"][name]:
            study["incomplete"] = "keep"
    return checked


def _fill_presets(given: Settings) -> Settings:
    studies = given.get("studies")
    if not isinstance(studies, Mapping):
        return given
    filled = dict(studies)
    for name, study in studies.items():
        if isinstance(study, Mapping):
            try:
                filled[name] = fill_preset(study)
            except ConfigError as error:
                raise ConfigError(f"studies.{name}.{error}") from error
    return {**given, "studies": filled}


def _refuse_tables_only(study: Settings, given: Settings, place: str) -> None:
    """Refuse settings of which only tables of runs know."""
    wrong = [name for name in TABLES_ONLY if name in given]
    wrong += ["duplicates"] if study["duplicates"] == "sum" else []
    if wrong:
        raise ConfigError(
            f"{place}.{wrong[0]}: only exports of the formats long and matrix know it. "
            "Leave it out."
        )


def _refuse_calibrated_only(study: Settings, place: str) -> None:
    if study["bootstrap"]["unit"] == "seeds":
        raise ConfigError(
            f"{place}.bootstrap.unit: only calibrated intervals can be over seeds. Set interval "
            "to calibrated, or unit to auto."
        )
    groups = {f".groups.{name}": group for name, group in study["groups"].items()}
    for where, own in {"": study, **groups}.items():
        if own["incomplete"] == "adjust":
            raise ConfigError(
                f"{place}{where}.incomplete: only calibrated intervals allow for expected scores. "
                "Set bootstrap: {interval: calibrated}, or another policy."
            )


def select_studies(studies: Mapping[str, Settings], names: str | list[str]) -> list[str]:
    """List the studies that ``run:`` asks for: "all", one or several of `studies`.

    Raises
    ------
    ConfigError
        When there is no study of a name.
    """
    if names == "all":
        return list(studies)
    selected = [names] if isinstance(names, str) else names
    for name in selected:
        if name not in studies:
            known = get_close_matches(name, studies, 1) or studies
            raise ConfigError(f"run: there is no study {name!r}. Did you mean {', '.join(known)}?")
    return selected


def explain_unknown(name: str, known: Iterable[str]) -> str:
    """Say that there is no study of a name, of which a result was asked for."""
    near = find_nearest(name, known)
    hint = f"Did you mean {near}?" if near else f"There are: {', '.join(known)}."
    return f"There is no study {name!r}. {hint}"


def list_involved(studies: Mapping[str, Settings], names: Iterable[str]) -> list[str]:
    """List some of the studies, and then those whose rankings they are compared with.

    Raises
    ------
    ConfigError
        When one is to be compared with itself or with what is no study.
    """
    names = list(names)
    others = [(name, other) for name in names for other in studies[name]["conditions"]]
    for name, other in others:
        if other == name or other not in studies:
            raise ConfigError(
                f"studies.{name}.conditions: {other!r} is not another study of this file. "
                f"Its studies are {', '.join(studies)}."
            )
    return list(dict.fromkeys([*names, *(other for _, other in others)]))


def match_paths(pattern: str, *, recursive: bool = False) -> list[str]:
    """List the paths that a glob matches, sorted; ``**`` stands for folders if `recursive`."""
    # Of an absolute pattern, too, and with the spelling of the pattern, unlike Path.glob.
    return sorted(glob(pattern, recursive=recursive))  # noqa: PTH207


def find_folder(study: Study) -> str:
    """Name the folder of a study's results."""
    return str(study.folder)


def list_shards(study: Study, folder: str) -> list[str]:
    """List the files in a folder of a study, one per shard that its runs were written to."""
    return _list_shards(study, study.name, folder)


def list_shards_of_conditions(study: Study) -> list[str]:
    """List the normalized shards of the studies that a study is compared with."""
    return [
        shard
        for other in study.settings["conditions"]
        for shard in _list_shards(study, other, "normalized")
    ]


def find_scope(study: Study) -> str:
    """Name the file that says what intervals generalize to; `normalize_runs` writes it."""
    study.find_manifest(study.name)
    return study.place("normalized/scope.json")


def _list_shards(study: Study, name: str, folder: str) -> list[str]:
    with open(study.find_manifest(name), encoding="utf-8") as manifest:
        shards = [line.split(",")[0] for line in manifest][1:]
    return [f"results/{name}/{folder}/{shard}.parquet" for shard in shards]
