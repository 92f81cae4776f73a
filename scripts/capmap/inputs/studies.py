"""A study as the rules see it: its settings, the places of its results, and its shards."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path
from typing import Any, TypeAlias, get_args

from capmap.addresses import hide
from capmap.analyses import read_setting
from capmap.errors import ConfigError
from capmap.patterns import order_paths
from capmap.settings.checking import Fault, drop_faulty, find_faults
from capmap.settings.choices import TableFormat
from capmap.settings.files import fill_preset
from capmap.settings.study import Config
from capmap.settings.study import Study as StudySettings
from capmap.wording import find_nearest, join_words, write_key

Settings: TypeAlias = Mapping[str, Any]
# What the name of an input must not hold, as Snakemake would replace it.
TABLES_ONLY = ("failed", "fields", "reading", "values", "summary", "take")
# Kinds of addresses that the workflow loads by itself.
GUARDED = ("http", "https", "s3")
REPLACED = re.compile(r"[{}]|<[a-z][a-z0-9_]*>")
OPTIONS = [*StudySettings.model_fields]


@dataclass(frozen=True)
class Study:
    """A study, and how to reach what only the workflow can."""

    name: str
    settings: Settings
    open_url: Callable[[str], str] = str
    prefix: str = ""

    def read(self, path: str) -> Any:
        """Give a setting by its path, such as ``bootstrap/replicates``."""
        return read_setting(self.settings, path)

    def find(self, what: str | Callable[..., Any], **given: Any) -> Any:
        """Give what a function finds for the study, or the setting of a path."""
        return self.read(what) if isinstance(what, str) else what(self, **given)

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

    def miss(self, option: str, message: str, path: str) -> ConfigError:
        """Write the error of an option that names what is not there."""
        is_absolute = Path(path).is_absolute()
        here = "Check it." if is_absolute else f"Paths are relative to {Path.cwd()}."
        return self.refuse(option, f"{message}. {_suggest_path(path)}{here}".rstrip())

    def fetch(self, option: str, url: str) -> str:
        """Give the input for a URL, which has a secret only where it is kept from Snakemake."""
        if url.partition("://")[0].lower() not in GUARDED and hide(url) != url:
            raise self.refuse(
                option,
                f"{hide(url)}: this kind of address cannot have a password or a token. "
                "Give it to the plugin, or name a copy of the file.",
            )
        return self.open_url(url)

    def find_file(self, option: str, path: str) -> str:
        """Give a path to a file that is there, whose name Snakemake would not replace."""
        if Path(path).is_file():
            return self.check_name(option, path)
        if Path(path).is_dir():
            raise self.refuse(option, f"{path} is a folder. Name a file.")
        raise self.miss(option, f"there is no file {path}", path)

    def find_folder(self, option: str, path: str) -> str:
        """Give a path to a folder that is there, whose name Snakemake would not replace."""
        if Path(path).is_dir():
            return self.check_name(option, path)
        if Path(path).exists():
            raise self.refuse(option, f"{path} is a file. Name a folder.")
        raise self.miss(option, f"there is no folder {path}", path)

    def check_name(self, option: str, path: str) -> str:
        """Give a path without braces and <names>, which Snakemake would replace, and of Unicode."""
        if not path.isascii() and any("\ud800" <= character <= "\udfff" for character in path):
            raise self.refuse(option, f"rename {path!a}; the name of the file is not Unicode.")
        if REPLACED.search(path):
            raise self.refuse(option, f"rename {path}; a name cannot have braces or <words>.")
        return path


def check_config(given: Settings) -> dict[str, Any]:
    """Check a configuration against its schema and fill in the defaults."""
    checked = inspect_config(given)
    if checked.faults:
        raise ConfigError("\n".join(checked.faults))
    return checked.config


@dataclass(frozen=True)
class Inspected:
    """A configuration, and what is wrong with it in itself."""

    config: dict[str, Any]
    faults: list[str]
    spoiled: Mapping[str, set[str]]


def inspect_config(given: Settings) -> Inspected:
    """Fill in the defaults, and find all that is wrong with a configuration in itself."""
    filled, faults = _fill_presets(given)
    checked, found = find_faults(filled, Config)
    spoiled: dict[str, set[str]] = {}
    for fault in [*faults, *found]:
        if fault.place[0] == "studies":
            name, key = (*map(str, fault.place[1:3]), "", "")[:2]
            meant = key if key in OPTIONS else find_nearest(key, OPTIONS)
            spoiled.setdefault(name, set()).add(meant or "")
    if found:
        checked = find_faults(drop_faulty(filled, Config), Config)[0]
        checked = {"run": "all", "studies": {}, **checked}
    refused = []
    for name, study in checked["studies"].items():
        written = given["studies"][name] or {}
        refused += [f"studies.{name}.{text}" for text in _find_conflicts(study, written)]
        # A leaderboard lists what is not complete, without a rank.
        if study["format"] == "submission":
            defaults = {"incomplete": "adjust", "min_datasets": "all"}
            study |= {key: value for key, value in defaults.items() if key not in written}
    return Inspected(checked, [*map(str, [*faults, *found]), *refused], spoiled)


def _fill_presets(given: Settings) -> tuple[Settings, list[Fault]]:
    studies = given.get("studies")
    if not isinstance(studies, Mapping):
        return given, []
    filled, faults = dict(studies), []
    for name, study in studies.items():
        if isinstance(study, Mapping):
            try:
                filled[name] = fill_preset(study)
            except ConfigError as error:
                place = ("studies", name, "preset")
                faults += [
                    Fault(place, line.removeprefix("preset: ")) for line in str(error).splitlines()
                ]
    return {**given, "studies": filled}, faults


def _find_conflicts(study: Settings, written: Settings) -> Iterator[str]:
    """Find settings that exclude each other, or of which others know."""
    if study["format"] not in get_args(TableFormat):
        wrong = [name for name in TABLES_ONLY if name in written]
        for name in wrong:
            yield f"{name}: only exports of the formats long and matrix know it. Leave it out."
    yield from _find_reversed(study)
    for name, rule in study["metrics"].items():
        for key in {"metric", "transform"} & {*rule}:
            yield f"metrics.{write_key(name)}.{key}: only datasets have it. Put it under datasets."
    for number, ranking in enumerate(study["checkpoints"]["rankings"], 1):
        if ranking["metric"] and ranking["expression"]:
            place = f"checkpoints.rankings item {number}"
            yield f"{place}: it has a metric and an expression. Keep one of them."
    if study["bootstrap"]["interval"] == "calibrated":
        return
    if study["bootstrap"]["unit"] == "seeds":
        yield (
            "bootstrap.unit: only calibrated intervals can be over seeds. Set interval "
            "to calibrated, or unit to auto."
        )
    if study["incomplete"] == "adjust" and study["min_datasets"] != "all":
        yield (
            "incomplete: only calibrated intervals allow for scores of empty cells. "
            "Set bootstrap: {interval: calibrated}, or another policy."
        )


def _find_reversed(study: Settings) -> Iterator[str]:
    """Find lower bounds that are not below the upper ones."""
    rules = {"normalization": study["normalization"]}
    for kind in ("metrics", "datasets"):
        rules |= {f"{kind}.{write_key(name)}": rule for name, rule in study[kind].items()}
    for place, rule in rules.items():
        low, high = rule.get("low"), rule.get("high")
        if isinstance(low, int | float) and isinstance(high, int | float) and low >= high:
            yield (
                f"{place}: low {low} is not below high {high}. Give the lower score as low, also "
                "where it is the better one; direction says which is better."
            )


def find_study(
    known: Mapping[str, Settings], name: str, open_url: Callable[[str], str], prefix: str
) -> Study:
    """Give one of the studies, of which a result was asked for."""
    if name not in known:
        raise ConfigError(f"There {_suggest_study(name, list(known))}")
    return Study(name, known[name], open_url, prefix)


def match_studies(config: Settings, *formats: str) -> str:
    """Write a pattern of the studies whose exports have one of these formats."""
    known = config["studies"].items()
    names = [name for name, settings in known if settings["format"] in formats]
    return "|".join(map(re.escape, names)) or "(?!)"


def select_studies(studies: Mapping[str, Settings], names: str | list[str]) -> list[str]:
    """List the studies that ``run:`` asks for: "all", one or several of `studies`."""
    if names == "all":
        return list(studies)
    selected = [names] if isinstance(names, str) else names
    if unknown := [name for name in selected if name not in studies]:
        raise ConfigError(
            "\n".join(f"run: there {_suggest_study(name, list(studies))}" for name in unknown)
        )
    return selected


def _suggest_study(name: str, known: list[str]) -> str:
    near = find_nearest(name, known)
    return (
        f"is no study {name!r}. {f'Did you mean {near}?' if near else _list_known(known)}".rstrip()
    )


def _list_known(known: list[str]) -> str:
    return f"There {'is' if len(known) == 1 else 'are'} {join_words(known)}." if known else ""


def list_involved(studies: Mapping[str, Settings], names: Iterable[str]) -> list[str]:
    """List some of the studies, and then those whose rankings they are compared with."""
    names = list(names)
    others = [(name, other) for name in names for other in studies[name]["conditions"]]
    faults = [
        f"studies.{name}.conditions: {_explain_condition(name, other, list(studies))}"
        for name, other in others
        if other == name or other not in studies
    ]
    if faults:
        raise ConfigError("\n".join(faults))
    return list(dict.fromkeys([*names, *(other for _, other in others)]))


def _suggest_path(path: str) -> str:
    """Ask for what may be meant by a path that is not there, if anything."""
    if "\\" in path:
        return f"Write {path.replace(chr(92), '/')}, with / between folders. "
    folder, rest = Path(path).parent, Path(path).name
    while not folder.is_dir() and folder != folder.parent:
        folder, rest = folder.parent, f"{folder.name}/{rest}"
    name, _, inner = rest.partition("/")
    if has_magic(name) or not folder.is_dir():
        return ""
    # By their stems, as suffixes make short names alike.
    stems = {own.stem: own for own in sorted(folder.iterdir())}
    near = find_nearest(Path(name).stem, stems)
    return f"Did you mean {stems[near] / inner}? " if near else ""


def _explain_condition(name: str, other: str, known: list[str]) -> str:
    known.remove(name)
    if other != name:
        return f"there {_suggest_study(other, known)}"
    return (
        f"a study cannot be compared with itself. Name another one. {_list_known(known)}".rstrip()
    )


def list_faults(check: Callable[..., object], *arguments: object) -> list[str]:
    """List what a function refuses, a line for each fault."""
    try:
        check(*arguments)
    except ConfigError as error:
        return str(error).splitlines()
    return []


def match_paths(pattern: str, *, recursive: bool = False) -> list[str]:
    """List the paths that a glob matches, in order; ``**`` stands for folders if `recursive`."""
    # Of an absolute pattern, too, and with the spelling of the pattern, unlike Path.glob.
    return order_paths(glob(pattern, recursive=recursive))  # noqa: PTH207


def count_resamples(study: Study, most: int) -> int:
    """Count the bootstrap replicates of an analysis, which takes no more than it needs."""
    return min(most, int(study.read("bootstrap/replicates")))


def count_of_images(study: Study) -> int:
    """Count the bootstrap replicates over images."""
    return count_resamples(study, 1000)
