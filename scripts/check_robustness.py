"""Check how far the reported ranking depends on choices that could have been others."""

import logging

from capmap.artifacts import read_shards, read_table, write_parquet
from capmap.comparison.robustness import compare_variations, iterate_variations, resample_ranks
from capmap.comparison.score_matrix import arrange_runs, choose_common, count_unused
from capmap.prose import describe_robustness, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Missing, Weights
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def check_robustness(
    *,
    shards: list[str],
    iqm: str,
    robustness: list[str],
    robustness_ranks: list[str],
    flips: list[str],
    rank_stability: list[str],
    rank_distribution: list[str],
    ranks: str,
    text: list[str],
    study: str,
    missing: Missing,
    top: int,
    n_resamples: int,
    confidence_level: float,
    seed: int,
    weights: Weights,
) -> None:
    """Write rankings under other aggregations, bounds and datasets, and a paragraph about them.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    iqm : str
        The reported ranking, CSV.
    robustness, robustness_ranks, flips : list of str
        Where to write agreement with the reported ranking, ranks of models and pairs that flip.
    rank_stability, rank_distribution : list of str
        Where to write ranks on resampled datasets.
    ranks : str
        Where to write the ranks of all models under every variation, Parquet.
    text : list of str
        Where to write the paragraph.
    study : str
        Name of the study, part of the names of its random streams.
    missing : {"pairwise", "common"}
        Which datasets count.
    top : int
        How many ranks count as top.
    n_resamples : int
        Number of resamples of datasets.
    confidence_level : float
        Of the intervals of ranks, between 0 and 1.
    seed : int
        Seed of the study's random streams.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.
    """
    runs = read_shards(shards)
    every = arrange_runs(runs)
    matrix = choose_common(every, missing=missing)
    used = runs[runs["dataset"].isin(matrix.datasets)]
    ranking = read_table(iqm)
    reported = dict(zip(ranking["model"], ranking["rank"].astype(int), strict=True))
    agreement = compare_variations(
        iterate_variations(used, weights=weights), reported=reported, datasets=matrix.datasets
    )
    resampled = resample_ranks(
        used,
        reported=reported,
        top=top,
        weights=weights,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=lambda *names: make_stream(seed, study, "rank_stability", *names),
    )
    write_table(agreement.robustness, robustness, best={"kendall_tau": "max"})
    write_table(agreement.spans, robustness_ranks)
    write_table(agreement.flips, flips)
    write_table(resampled.stability, rank_stability, best={"p_best": "max"})
    write_table(resampled.distribution, rank_distribution)
    write_parquet(ranks, agreement.ranks)
    paragraphs = describe_robustness(
        agreement.robustness,
        agreement.flips,
        resampled.stability,
        missing=missing,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        cells_unused=count_unused(every, matrix),
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d variations, %d pairs flip", len(agreement.robustness), len(agreement.flips))


if __name__ == "__main__":
    from job import run_job

    run_job(check_robustness, snakemake)  # type: ignore[name-defined]
