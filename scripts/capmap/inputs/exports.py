"""Which files a study reads: its exports, frozen bounds and tables of attributes."""

import os
from collections.abc import Callable, Container, Iterable
from functools import partial
from glob import has_magic
from pathlib import Path
from typing import get_args

from capmap.errors import ConfigError
from capmap.inputs.analyses import check_looks, check_published
from capmap.inputs.leaderboards import (
    check_sources,
    find_benchmark,
    find_dimensions,
    find_releases,
    list_submission_files,
)
from capmap.inputs.predictions import check_predictions, find_dumps
from capmap.inputs.studies import Study, list_faults, match_paths
from capmap.patterns import Pattern, has_fields
from capmap.settings.choices import TableFormat
from capmap.wording import find_nearest, quote_name

# What says which files are the exports.
SOURCES = ("exports", "format", "patchml")


def find_exports(study: Study) -> dict[str, str]:
    """Find the export files of a study."""
    patterns = study.settings["exports"]
    if study.settings["format"] == "predictions":
        return {path: path for path in find_dumps(study)}
    if study.settings["format"] == "submission":
        return {path: path for path in list_submission_files(study)}
    if not patterns:
        raise study.refuse("exports", "name the files to read.")
    files: dict[str, str] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if "://" in pattern:
            files[pattern] = study.fetch("exports", pattern)
            continue
        if has_fields(pattern):
            files |= {path: path for path in _match_fields(study, pattern)}
            continue
        files |= {path: path for path in _match_files(study, pattern)}
    return files


def _match_files(study: Study, pattern: str) -> list[str]:
    """List the files that a path or a glob names."""
    is_glob = has_magic(pattern) and not Path(pattern).exists()
    found = match_paths(pattern, recursive=True) if is_glob else [pattern]
    found = [path for path in found if Path(path).is_file()]
    if not found and Path(pattern).is_dir():
        raise study.refuse(
            "exports", f"{pattern} is a folder. Name its files, such as {Path(pattern)}/*.csv."
        )
    if not found:
        raise study.miss("exports", f"no file matches {pattern!r}", pattern)
    return [study.check_name("exports", path) for path in found]


def _match_fields(study: Study, text: str) -> list[str]:
    """List the files that match a pattern; one that is like it but does not match is refused."""
    if study.settings["format"] not in get_args(TableFormat):
        raise study.refuse("exports", f"{text}: only long and matrix exports take names in braces.")
    try:
        pattern = Pattern(text, "/")
        paths = [path for path in match_paths(pattern.glob, recursive=True) if Path(path).is_file()]
        others = [path for path in paths if pattern.match(path) is None]
    except ConfigError as error:
        raise study.refuse("exports", str(error)) from error
    if others:
        raise study.refuse(
            "exports",
            f"{others[0]} lies where {text} looks and does not match it"
            + (f", nor do {len(others) - 1} more" if len(others) > 1 else "")
            + ". Move it elsewhere, or correct the pattern.",
        )
    if not paths:
        beginning = text.partition("{")[0].rpartition("/")[0]
        near = match_paths(str(Path(beginning, "**/*.*")), recursive=True)[:1]
        raise study.miss(
            "exports", f"no file matches {text!r}" + (f"; there is {near[0]}" if near else ""), text
        )
    return [study.check_name("exports", path) for path in paths]


def list_exports(study: Study) -> list[str]:
    """List the export files of a study as inputs."""
    return list(find_exports(study).values())


def list_names(study: Study) -> list[str]:
    """List the paths or URLs by which users know the export files of a study."""
    return list(find_exports(study))


def list_patterns(study: Study) -> str | list[str]:
    """Give the paths, globs and patterns of the exports as they are configured."""
    patterns: str | list[str] = study.settings["exports"]
    return patterns


def read_renames(study: Study) -> dict[str, str]:
    """Give the names for readers of models and datasets, by those of the exports."""
    names: dict[str, str] = study.settings["figures"]["names"]
    return names


def find_references(study: Study) -> list[str]:
    """Find the file of frozen bounds, if a study has one."""
    option = "normalization.references"
    path = study.read("normalization/references")
    if not path:
        return []
    if Path(path).resolve().is_relative_to(study.folder.resolve()):
        raise study.refuse(
            option,
            f"this study itself writes {path}. Copy the file out of results/ and name the copy.",
        )
    if "://" in path:
        return [study.fetch(option, path)]
    return [study.find_file(option, path)]


def find_attributes(study: Study, kind: str) -> list[str]:
    """Find the table of what is known of the "models" or "datasets" of a study, if any."""
    against = study.read("frontier/against")
    if kind == "models" and against and not study.read(f"attributes/models/{against}"):
        raise study.refuse(
            "frontier.against",
            f"name the column of {quote_name(against)}, attributes.models.{against}, and the file.",
        )
    option = f"attributes.{kind}.file"
    path = study.read(f"attributes/{kind}/file")
    return [study.find_file(option, path)] if path else []


def check_files(study: Study, spoiled: Container[str] = ()) -> None:
    """Look for all files that a study names, and for settings that exclude each other."""
    checks: dict[Callable[[Study], object], tuple[str, ...]] = {
        _look_for_exports: SOURCES,
        check_sources: (*SOURCES, "analyses", "groups"),
        find_dimensions: ("benchmark",),
        find_references: ("normalization",),
        partial(find_attributes, kind="models"): ("attributes",),
        partial(find_attributes, kind="datasets"): ("attributes",),
        find_benchmark: ("benchmark",),
        find_releases: ("leaderboard",),
        check_looks: ("figures", "analyses"),
        check_predictions: (*SOURCES, "predictions", "multilabel"),
        check_published: ("published", "analyses", "figures"),
    }
    faults = [
        fault
        for check, needed in checks.items()
        if not any(key in spoiled for key in needed)
        for fault in list_faults(check, study)
    ]
    if faults:
        raise ConfigError("\n".join(dict.fromkeys(faults)))


def _look_for_exports(study: Study) -> None:
    """Look for the exports, and refuse those named twice and those that the study itself writes."""
    exports = study.settings["exports"]
    patterns = [exports] if isinstance(exports, str) else list(exports)
    for pattern in patterns:
        if os.path.abspath(pattern).startswith(f"{study.folder.absolute()}{os.sep}"):  # noqa: PTH100
            raise study.refuse(
                "exports", f"this study itself writes {pattern}. Name what it is made of."
            )
    # A pattern that is repeated finds its files once.
    _refuse_spellings(study, [pattern for pattern in patterns if pattern])
    names = list_names(study)
    _refuse_spellings(study, names)
    for name in study.settings["checksums"]:
        if name not in names:
            near = find_nearest(name, names)
            hint = f"Did you mean {near}?" if near else "Name a file as exports has it."
            raise study.refuse("checksums", f"{quote_name(name)} is no export. {hint}")


def _refuse_spellings(study: Study, names: Iterable[str]) -> None:
    """Refuse files that are found under two paths, each of which would be read."""
    found: dict[str, str] = {}
    for name in names:
        path = name if "://" in name else os.path.abspath(name)  # noqa: PTH100
        if path in found:
            raise study.refuse(
                "exports", f"{found[path]} and {name} are one file. Keep one of them."
            )
        found[path] = name
