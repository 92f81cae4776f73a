"""Test whether the models' ranks differ: Friedman, Nemenyi and Wilcoxon groups."""

import logging

from capmap.artifacts import read_shards
from capmap.comparison.cliques import tabulate_mean_ranks
from capmap.comparison.rank_tests import compare_mean_ranks, tabulate_rank_tests
from capmap.comparison.score_matrix import arrange_runs
from capmap.prose import describe_rank_tests, write_paragraphs
from capmap.settings.choices import Missing
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def compare_ranks(
    *,
    shards: list[str],
    friedman: list[str],
    nemenyi: list[str],
    mean_ranks: list[str],
    text: list[str],
    missing: Missing,
    alpha: float,
) -> None:
    """Write rank tests of all models, of all pairs, and mean ranks with groups.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    friedman : list of str
        Where to write the tests of the hypothesis that all models are equal.
    nemenyi : list of str
        Where to write Nemenyi's test of all pairs.
    mean_ranks : list of str
        Where to write mean ranks and groups of models that cannot be separated.
    text : list of str
        Where to write the paragraph.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    alpha : float
        Significance level, between 0 and 1.
    """
    runs = read_shards(shards)
    matrix = arrange_runs(runs)
    tests = tabulate_rank_tests(matrix, missing=missing)
    pairs = compare_mean_ranks(matrix, alpha=alpha)
    models = tabulate_mean_ranks(matrix, missing=missing, alpha=alpha)
    write_table(tests, friedman)
    write_table(pairs, nemenyi)
    write_table(models, mean_ranks, best={"mean_rank": "min"})
    paragraphs = describe_rank_tests(tests, pairs, models, missing=missing, alpha=alpha)
    write_paragraphs(paragraphs, text)
    logger.info("%d models, %d pairs separated", len(models), pairs["separated"].sum())


if __name__ == "__main__":
    from job import run_job

    run_job(compare_ranks, snakemake)  # type: ignore[name-defined]
