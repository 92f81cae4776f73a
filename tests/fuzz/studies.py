"""Submissions, checkpoints, runs, benchmarks and configurations, taken as the workflow does."""

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from capmap.artifacts import render_parquet
from capmap.benchmarks import read_benchmark
from capmap.exports.submission_information import INFORMATION
from capmap.exports.submission_results import RESULTS
from capmap.inputs.configuration import check_configuration
from capmap.settings.files import read_config
from capmap.tracking.evaluations import tabulate_evaluations
from capmap.tracking.keys import compile_keys
from capmap.tracking.store import Measurement, TrackedRun, Tracking, count_runs, list_metrics
from tests.fuzz.generated_files import GeneratedFile
from tests.fuzz.generated_studies import BENCHMARK
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


def read_tracked(path: str, *, patterns: list[str], runs: list[dict[str, Any]]) -> str:
    """Take the lines of a file as names of metrics that runs have logged."""
    keys = Path(path).read_text("utf-8", errors="replace").split("\n")
    tracked = [_make_run(str(number), keys, **run) for number, run in enumerate(runs)]
    compiled = compile_keys(patterns)
    found = tabulate_evaluations(tracked, status=["FINISHED"], patterns=compiled)
    render_parquet(found.table)
    count_runs(Tracking(tracked, 0, []), ["FINISHED"])
    list_metrics(tracked, ["FINISHED"])
    return "refused" if found.table.empty else "read"


def read_definition(path: str) -> str:
    """Read the definition of a benchmark."""
    read_benchmark(path)
    return "read"


def read_configuration(path: str) -> str:
    """Read a configuration and look for the files that it names."""
    with chdir(Path(path).parent):
        Path("runs.csv").touch()
        check_configuration(read_config(path), files=[path])
    return "read"


def _name_outputs(folder: str, *others: str) -> dict[str, Any]:
    """Name the files to write."""
    return {name: f"{folder}/{name}" for name in ("runs", "validation", "rejected", *others)}


def _make_run(number: str, keys: list[str], *, history: list[Any], **facts: Any) -> TrackedRun:
    """Make a run that logged the same values for every key."""
    values = [Measurement(*entry) for entry in sorted(history, key=lambda entry: entry[::2])]
    return TrackedRun(
        experiment="main",
        experiment_id="1",
        run_id=number,
        metrics={key: values[-1].value for key in keys if values},
        history={key: values for key in keys if values},
        **facts,
    )
