"""Submissions, checkpoints, benchmarks and configurations, taken as the workflow does."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from capmap.attributes import find_attribute_faults
from capmap.benchmarks import read_benchmark
from capmap.exports import Exports
from capmap.exports.submission_results import RESULTS
from capmap.exports.submissions import INFORMATION
from capmap.inputs import analyses, exports
from capmap.inputs.configuration import check_configuration
from capmap.inputs.studies import Study
from capmap.settings.files import read_config
from capmap.validation import Validation
from capmap.validation.exports import check_exports
from tests.fuzz.generated_files import BENCHMARK, GeneratedFile
from tests.submissions import RULES
from validate_checkpoints import validate_checkpoints
from validate_submissions import validate_submissions


def read_submission(
    path: str, *, name: str, document: GeneratedFile, is_known: bool, policies: dict[str, Any]
) -> str:
    """Read a table of results as that of a submission."""
    with TemporaryDirectory(dir=Path(path).parent) as folder:
        own = Path(folder) / name
        own.mkdir()
        (own / RESULTS).write_bytes(Path(path).read_bytes())
        (own / INFORMATION).write_bytes(document.content)
        benchmark = Path(folder) / "benchmark.yaml"
        benchmark.write_text(yaml.safe_dump(BENCHMARK), "utf-8")
        settings = RULES | policies | _name_outputs(folder, "submissions")
        validate_submissions(
            files=[str(own / RESULTS), str(own / INFORMATION)],
            folders=[str(own)],
            benchmark=[str(benchmark)] if is_known else [],
            references=[],
            checksums={},
            names=[],
            submission={"seeds_per_cell": 1},
            **settings,
        )
    return "read"


def read_checkpoints(path: str, *, rankings: list[Any], policies: dict[str, Any]) -> str:
    """Read a table of values of checkpoints."""
    with TemporaryDirectory(dir=Path(path).parent) as folder:
        settings = RULES | policies | _name_outputs(folder, "evaluations")
        validate_checkpoints(
            exports=[path],
            references=[],
            checksums={},
            names=[],
            where={},
            metric="",
            min_seeds=1,
            checkpoints={"rankings": rankings},
            **settings,
        )
    return "read"


def read_definition(path: str) -> str:
    """Read the definition of a benchmark."""
    read_benchmark(path)
    return "read"


def read_exports_of(config: Mapping[str, Any], study: str) -> tuple[Exports, Validation]:
    """Read and validate the exports of a checked study, as its first job does."""
    settings = config["studies"][study]
    known = Study(study, settings, str, str)
    return check_exports(
        exports.list_exports(known),
        names=exports.list_names(known),
        patterns=settings["exports"],
        settings=settings,
        named=analyses.list_named(known),
        found=find_attribute_faults(analyses.read_attributes(known)),
        renamed=known.read("figures/names"),
    )


def read_configuration(path: str) -> str:
    """Read a configuration and look for the files that it names."""
    with chdir(Path(path).parent):
        Path("runs.csv").touch()
        check_configuration(read_config(path), files=[path])
    return "read"


def _name_outputs(folder: str, *others: str) -> dict[str, Any]:
    """Name the files to write."""
    return {name: f"{folder}/{name}" for name in ("runs", "validation", "rejected", *others)}
