"""What leaderboards are made of: submissions, benchmarks and former releases."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from capmap.analyses import list_analyses
from capmap.benchmarks import Benchmark, read_benchmark
from capmap.errors import ConfigError
from capmap.inputs.studies import Study, match_paths
from capmap.settings.files import leads_out
from capmap.wording import ALL

RESULTS = "results_and_parameters.csv"
INFORMATION = "additional_info.json"


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


def find_benchmark(study: Study) -> list[str]:
    """Find the definition of the benchmark of a study, if it names one.

    Raises
    ------
    ConfigError
        When it is not there, or Snakemake would replace a part of its name.
    """
    path = study.settings["benchmark"]
    return [study.find_file("benchmark", path)] if path else []


def find_benchmark_rules(study: Study) -> list[str]:
    """Find the same, where its metrics and directions hold for the exports."""
    is_table = study.settings["format"] in ("long", "matrix", "submission")
    return find_benchmark(study) if is_table else []


def _read_benchmark(study: Study) -> Benchmark | None:
    """Read the definition of the benchmark of a study, if it names one."""
    for path in find_benchmark(study):
        try:
            return read_benchmark(path)
        except ConfigError as error:
            faults = [str(study.refuse("benchmark", line)) for line in str(error).splitlines()]
            raise ConfigError("\n".join(faults)) from error
    return None


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


def read_choice(study: Study) -> dict[str, Any]:
    """Say how a study chooses checkpoints, without how it ranks them."""
    settings = study.settings["checkpoints"]
    return {name: value for name, value in settings.items() if name != "rankings"}


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


def check_sources(study: Study) -> None:
    """Report settings that do not go together, before any job.

    Raises
    ------
    ConfigError
        When the format and the analyses exclude each other.
    """
    faults = [str(study.refuse(option, text)) for option, text in _find_exclusive(study)]
    if faults:
        raise ConfigError("\n".join(faults))


def _find_exclusive(study: Study) -> Iterator[tuple[str, str]]:
    kind, analyses = study.settings["format"], list_analyses(study.settings)
    if "checkpoints" in analyses and kind != "checkpoints":
        yield (
            "analyses",
            "checkpoints need format: checkpoints. Set it, or leave the analysis out.",
        )
    if "leaderboard" in analyses and ALL in study.settings["groups"]:
        yield (
            f"groups.{ALL}",
            "the leaderboard calls all datasets together so; choose another name.",
        )


def _look_into(folder: Path) -> list[Path]:
    if any((folder / name).is_file() for name in [RESULTS, INFORMATION]):
        return [folder]
    # A link to nowhere is a submission that has lost its files.
    below = [path for path in folder.iterdir() if not path.is_file()]
    return sorted(path for path in below if not path.name.startswith("."))
