"""Say how wide intervals get with more runs, and which cells need one more run most."""

import logging

from capmap.artifacts import read_shards
from capmap.comparison.sample_size import advise_runs, expect_widths, measure_noise
from capmap.prose import describe_sample_size, write_paragraphs
from capmap.settings.choices import IntervalMethod, Missing, Weights
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def advise_sample_size(
    *,
    shards: list[str],
    seed_widths: list[str],
    next_seeds: list[str],
    text: list[str],
    missing: Missing,
    interval: IntervalMethod,
    weights: Weights,
    confidence_level: float,
) -> None:
    """Write expected interval widths, and the advice where to run next.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    seed_widths : list of str
        Where to write the widths to expect with 3, 5, 10 and 20 runs per dataset.
    next_seeds : list of str
        Where to write the cells by what one more run would gain.
    text : list of str
        Where to write the paragraph, plain and as LaTeX.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    interval : {"percentile", "basic", "bca", "calibrated"}
        Kind of interval; widths are those of intervals over runs.
    weights : {"datasets", "runs"}
        What weighs the same in interquartile means.
    confidence_level : float
        Of the intervals.
    """
    runs = read_shards(shards)
    noise = measure_noise(runs, missing=missing, weights=weights)
    widths = expect_widths(noise, interval=interval, confidence_level=confidence_level)
    advice = advise_runs(noise)
    write_table(widths, seed_widths)
    write_table(advice, next_seeds)
    paragraphs = describe_sample_size(
        widths,
        advice,
        interval=interval,
        confidence_level=confidence_level,
        missing=missing,
        cells_unused=noise.cells_unused,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d cells would gain from one more run", len(advice))


if __name__ == "__main__":
    from job import run_job

    run_job(advise_sample_size, snakemake)  # type: ignore[name-defined]
