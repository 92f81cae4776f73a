"""Which files a study reads: exports, frozen bounds, submissions, benchmarks and releases."""

import os
from collections.abc import Iterable, Mapping
from glob import has_magic
from pathlib import Path
from typing import Any, get_args

from capmap.analyses import list_analyses
from capmap.benchmarks import Benchmark, read_benchmark
from capmap.errors import ConfigError
from capmap.inputs.predictions import find_dumps
from capmap.inputs.studies import Study, match_paths
from capmap.patterns import Pattern, has_fields
from capmap.settings.choices import TableFormat
from capmap.settings.files import leads_out
from capmap.wording import find_nearest, quote_name

RESULTS = "results_and_parameters.csv"
INFORMATION = "additional_info.json"


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


def check_exports(study: Study) -> None:
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


def list_submissions(study: Study) -> list[str]:
    """List the folders of submissions of a study.

    Parameters
    ----------
    study : Study
        Its exports are folders, each of which is a submission or holds some.

    Returns
    -------
    list of str
        Each once; those of one export are sorted.

    Raises
    ------
    ConfigError
        When there is none, or Snakemake would replace a part of its name.
    """
    patterns = study.settings["exports"]
    if not patterns:
        raise study.refuse("exports", "name a folder of submissions.")
    folders: list[Path] = []
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        found = sorted(path for path in map(Path, match_paths(pattern)) if path.is_dir())
        if not found:
            raise study.miss("exports", f"no folder matches {pattern!r}", pattern)
        for folder in found:
            below = _look_into(folder)
            if outside := [path for path in below if leads_out(path, folder)]:
                raise study.refuse(
                    "exports",
                    f"{outside[0]} is a link out of {folder}. If it is yours, name where it leads.",
                )
            folders += below
    if not folders:
        raise study.refuse(
            "exports",
            f"{patterns!r} holds no folder of a submission, that is with "
            f"{RESULTS} and {INFORMATION}. Name the folder of one or of several.",
        )
    return [study.check_name("exports", path.as_posix()) for path in dict.fromkeys(folders)]


def list_submission_files(study: Study) -> list[str]:
    """List the files of all submissions of a study, as far as they are there."""
    folders = list_submissions(study)
    files = [f"{folder}/{name}" for folder in folders for name in [RESULTS, INFORMATION]]
    return [path for path in files if Path(path).is_file()]


def list_descriptions(study: Study) -> list[str]:
    """Name the file of what the submissions of a study say of themselves, if it has any."""
    is_submission = study.settings["format"] == "submission"
    return [study.place("submissions.json")] if is_submission else []


def find_benchmark_rules(study: Study) -> list[str]:
    """Find the definition of the benchmark, where its rules hold for the exports."""
    path, kind = study.settings["benchmark"], study.settings["format"]
    return [path] if path and kind in ("long", "matrix", "submission") else []


def _read_benchmark(study: Study) -> Benchmark | None:
    """Read the definition of the benchmark of a study, if it names one."""
    if not study.settings["benchmark"]:
        return None
    try:
        return read_benchmark(study.settings["benchmark"])
    except ConfigError as error:
        faults = [str(study.refuse("benchmark", line)) for line in str(error).splitlines()]
        raise ConfigError("\n".join(faults)) from error


def find_dimensions(study: Study) -> dict[str, Any]:
    """Find the datasets of each dimension of a study: of its benchmark, and its groups."""
    defined = _read_benchmark(study)
    groups: Mapping[str, Any] = study.settings["groups"]
    own = {name: group["datasets"] for name, group in groups.items()}
    return {**(defined.dimensions if defined else {}), **own}


def find_descriptions(study: Study) -> dict[str, dict[str, str]]:
    """Find what the benchmark of a study says of its datasets and dimensions."""
    defined = _read_benchmark(study)
    datasets = defined.datasets.items() if defined else ()
    return {
        "datasets": {name: dataset.description for name, dataset in datasets},
        "dimensions": defined.described if defined else {},
    }


def find_estimated(study: Study) -> dict[str, Any] | None:
    """Find the dimensions of the leaderboard of a study; None without one."""
    return find_dimensions(study) if "leaderboard" in list_analyses(study.settings) else None


def find_releases(study: Study) -> list[str]:
    """Find the tables that the user kept of former releases of a study, sorted.

    Raises
    ------
    ConfigError
        When there is none although the study names some.
    """
    pattern = study.read("leaderboard/releases")
    found = [path for path in match_paths(pattern) if Path(path).is_file()]
    if pattern and not found:
        raise study.refuse(
            "leaderboard.releases",
            f"no file matches {pattern!r}. When you publish, copy "
            f"results/{study.name}/leaderboard/entries.csv there.",
        )
    return [study.check_name("leaderboard.releases", path) for path in found]


def _look_into(folder: Path) -> list[Path]:
    if any((folder / name).is_file() for name in [RESULTS, INFORMATION]):
        return [folder]
    # A link to nowhere is a submission that has lost its files.
    below = [path for path in folder.iterdir() if not path.is_file()]
    return sorted(path for path in below if not path.name.startswith("."))
