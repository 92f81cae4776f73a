"""Collect a submission from a tracking store as terratorch-iterate leaves it."""

import logging
from pathlib import Path
from typing import Any

from capmap.addresses import reveal
from capmap.artifacts import render_csv, write_bytes, write_json, write_text
from capmap.benchmarks import read_benchmark
from capmap.errors import ValidationError
from capmap.tracking.store import count_runs
from capmap.tracking.terratorch import collect_runs, read_submission_store
from capmap.wording import count_things, quote_name

logger = logging.getLogger(__name__)


def collect_submission(
    *,
    store: str,
    experiments: list[str],
    status: list[str],
    information: list[str],
    results: str,
    description: str,
    incomplete: str,
    account: str,
    benchmark: list[str],
    seeds_per_cell: int,
) -> None:
    """Write the results and parameters of a submission, and what it lacks.

    Parameters
    ----------
    store : str
        ``sqlite:///FILE``, a folder, or the address of a server. It is not changed. Where it is
        a folder and ``STORE_repeated_exp`` stands beside it, both are read.
    experiments : list of str
        Names of the experiments to read; all where there are none. An experiment brings along the
        one with ``_repeated_exp`` behind its name.
    status : list of str
        Statuses of the seed runs that count.
    information : list of str
        No file or one ``additional_info.json``.
    results : str
        ``results_and_parameters.csv`` to write.
    description : str
        Copy of the information to write, where there is any.
    incomplete : str
        Table of cells without all their seeds, CSV, written in any case.
    account : str
        What was found, what was left out, and which parameters nobody noted, JSON, written in any
        case.
    benchmark : list of str
        No file or one definition of a benchmark, for its datasets and their metrics.
    seeds_per_cell : int
        Seeds that a backbone should have on each dataset.

    Raises
    ------
    ValidationError
        When the store cannot be read or has no seed run with a test score.
    """
    metrics = {
        name: dataset.metric
        for path in benchmark
        for name, dataset in read_benchmark(path).datasets.items()
    }
    tracking = read_submission_store(reveal(store), experiments=experiments)
    found = collect_runs(
        tracking.runs, status=status, metrics=metrics, seeds_per_cell=seeds_per_cell
    )
    content: dict[str, Any] = {
        "store": store,
        **count_runs(tracking, status),
        "rows": found.rows,
        "not_found": found.not_found,
        "other_runs": found.other_runs,
    }
    write_json(account, content)
    write_text(incomplete, render_csv(found.incomplete))
    if found.results.empty:
        raise ValidationError(
            f"tracking: none of {count_things(len(tracking.runs), 'run')} is a finished run called "
            f"dataset_seed with a test score. See {account} and {incomplete}."
        )
    write_text(results, render_csv(found.results))
    for path in information:
        write_bytes(description, _read_information(path))
    logger.info("%d rows, %d incomplete cells", len(found.results), len(found.incomplete))


def _read_information(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise ValidationError(
            f"tracking.information: {quote_name(path)} cannot be read ({error.strerror}). Check "
            "its path."
        ) from error


if __name__ == "__main__":
    from job import run_job

    run_job(collect_submission, snakemake)  # type: ignore[name-defined]
