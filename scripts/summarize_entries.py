"""Summarize what the entries of a leaderboard score on each dataset, and what was submitted."""

import logging

from capmap.artifacts import read_json, read_parquet, read_shards
from capmap.benchmarks import read_benchmark
from capmap.leaderboard.entries import describe_entries, summarize_submissions
from capmap.leaderboard.records import write_records
from capmap.leaderboard.scores import rank_cells, summarize_raw

logger = logging.getLogger(__name__)


def summarize_entries(
    *,
    cells: list[str],
    runs: str,
    submissions: list[str],
    benchmark: list[str],
    raw: list[str],
    normalized: list[str],
    submission_table: list[str],
) -> None:
    """Write raw and normalized scores by dataset, and the table of submissions.

    Parameters
    ----------
    cells : list of str
        Normalized estimates by model and dataset, Parquet.
    runs : str
        Table of valid runs.
    submissions : list of str
        The records of the submissions, or nothing.
    benchmark : list of str
        The definition of the benchmark, or nothing.
    raw, normalized, submission_table : list of str
        Where to write the tables.
    """
    scores = read_parquet(runs)
    records = [record for path in submissions for record in read_json(path)["submissions"]]
    models = {
        key: vars(model) for path in benchmark for key, model in read_benchmark(path).models.items()
    }
    about = describe_entries(scores, submissions=records, models=models)
    write_records(summarize_raw(scores, about), raw)
    write_records(rank_cells(read_shards(cells), about), normalized)
    write_records(summarize_submissions(scores, records), submission_table)
    logger.info("%d entries of %d submissions", len(about), len(records))


if __name__ == "__main__":
    from job import run_job

    run_job(summarize_entries, snakemake)  # type: ignore[name-defined]
