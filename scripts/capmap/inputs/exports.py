"""Which files a study reads: its exports, frozen bounds and tables of attributes."""

from glob import has_magic
from pathlib import Path

from capmap.inputs.leaderboards import (
    find_benchmark,
    find_releases,
    find_store,
    has_store,
    list_submission_files,
)
from capmap.inputs.predictions import find_dumps
from capmap.inputs.studies import Study, match_paths


def find_exports(study: Study) -> dict[str, str]:
    """Find the export files of a study.

    Parameters
    ----------
    study : Study
        Of any format. That of a tracking store has none.

    Returns
    -------
    dict of str to str
        Inputs for Snakemake by the paths or URLs that users know. Globs are expanded and sorted.

    Raises
    ------
    ConfigError
        When there is none, or Snakemake would replace a part of its name.
    """
    patterns = study.settings["exports"]
    if study.settings["format"] == "predictions":
        return {path: path for path in find_dumps(study)}
    if study.settings["format"] == "submission":
        return {path: path for path in list_submission_files(study)}
    if has_store(study):
        find_store(study)
        return {}
    if not patterns:
        raise study.refuse("exports", "name the files to read.")
    files: dict[str, str] = {}
    for pattern in [patterns] if isinstance(patterns, str) else patterns:
        if "://" in pattern:
            files[pattern] = study.open_url(pattern)
            continue
        is_glob = has_magic(pattern) and not Path(pattern).exists()
        found = match_paths(pattern, recursive=True) if is_glob else [pattern]
        found = [path for path in found if Path(path).is_file()]
        if not found:
            raise study.miss("exports", f"no file matches {pattern!r}")
        files |= {path: study.check_name("exports", path) for path in found}
    return files


def list_exports(study: Study) -> list[str]:
    """List the export files of a study as inputs."""
    return list(find_exports(study).values())


def list_names(study: Study) -> list[str]:
    """List the paths or URLs by which users know the export files of a study."""
    return list(find_exports(study))


def list_evaluations(study: Study) -> list[str]:
    """List the tables of evaluations of a study; that of a tracking store is made."""
    if has_store(study):
        return [study.place("tracking/evaluations.parquet")]
    return list_exports(study)


def find_references(study: Study) -> list[str]:
    """Find the file of frozen bounds, if a study has one.

    Raises
    ------
    ConfigError
        When it is not there, or the study itself writes it.
    """
    option = "normalization.references"
    path = study.read("normalization/references")
    if not path:
        return []
    if Path(path).resolve().is_relative_to(Path("results", study.name).resolve()):
        raise study.refuse(
            option,
            f"this study itself writes {path}. Copy the file out of results/ and name the copy.",
        )
    if "://" in path:
        return [study.open_url(path)]
    if not Path(path).is_file():
        raise study.miss(option, f"there is no file {path}")
    return [path]


def find_attributes(study: Study, kind: str) -> list[str]:
    """Find the table of what is known of the "models" or "datasets" of a study, if any.

    Raises
    ------
    ConfigError
        When it is not there, or Snakemake would replace a part of its name.
    """
    option = f"attributes.{kind}.file"
    path = study.read(f"attributes/{kind}/file")
    if path and not Path(path).is_file():
        raise study.miss(option, f"there is no file {path}")
    return [study.check_name(option, path)] if path else []


def check_files(study: Study) -> None:
    """Look for all files that a study names, before any job.

    Raises
    ------
    ConfigError
        When one is missing.
    """
    find_exports(study)
    find_references(study)
    find_attributes(study, "models")
    find_attributes(study, "datasets")
    find_benchmark(study)
    find_releases(study)
