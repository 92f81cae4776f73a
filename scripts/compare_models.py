"""Compare all pairs of models: differences, tests, probabilities of improvement, equivalence."""

import logging
from collections.abc import Mapping
from functools import partial

import pandas as pd

from capmap.artifacts import read_shards, read_table
from capmap.comparison.improvement import estimate_improvement
from capmap.comparison.pairwise import compare_pairs
from capmap.comparison.rope import compare_equivalence
from capmap.comparison.score_matrix import arrange_runs, choose_common
from capmap.problems import require_known
from capmap.prose import describe_pairwise, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Missing, Unit
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def compare_models(
    *,
    shards: list[str],
    iqm: str,
    bounds: str,
    pairwise: list[str],
    rope: list[str],
    text: list[str],
    study: str,
    missing: Missing,
    reference: str,
    rope_width: float | Mapping[str, float],
    alpha: float,
    probability: float,
    n_samples: int,
    n_resamples: int,
    confidence_level: float,
    unit: Unit,
    seed: int,
) -> None:
    """Write the table of all pairs, the sensitivity to the region of equivalence, and a paragraph.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    iqm : str
        The reported ranking.
    bounds : str
        Bounds of each dataset, to tell raw units.
    pairwise, rope, text : list of str
        Where to write the pairs, the comparisons with the reference, and the paragraph.
    study : str
        Name of the study, part of the names of its random streams.
    missing : {"pairwise", "common"}
        Policy for empty cells.
    reference : str
        The model to compare all others with; empty for the best of the ranking.
    rope_width : float or mapping of float
        Half-width of the region of practical equivalence: of normalized scores, or by metric in its
        raw units.
    alpha : float
        Significance level of the signed-rank tests, between 0 and 1.
    probability : float
        What a decision needs at least, more than 0.5.
    n_samples : int
        Posterior samples of the Bayesian signed-rank test.
    n_resamples : int
        Bootstrap replicates of the probability of improvement.
    confidence_level : float
        Of all intervals.
    unit : {"runs", "runs_and_datasets"}
        What intervals generalize to.
    seed : int
        Seed of the study's random streams.

    Raises
    ------
    ValidationError
        If the reference is unknown, half-widths do not fit the metrics, or no dataset is common to
        all.
    """
    runs = read_shards(shards)
    matrix = arrange_runs(runs)
    if not reference:
        reference = str(read_table(iqm)["model"].iloc[0])
    require_known([reference], matrix.models, option="comparison.reference", kind="model")
    kept = choose_common(matrix, missing=missing)
    pairs = compare_pairs(matrix, missing=missing, unit=unit, confidence_level=confidence_level)
    improvement = estimate_improvement(
        runs[runs["dataset"].isin(kept.datasets)],
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        unit=unit,
        make_rng=partial(make_stream, seed, study, "improvement"),
        make_dataset_rng=lambda names: make_stream(seed, study, "improvement_datasets", *names),
    )
    posterior, ropes = compare_equivalence(
        kept,
        rope=rope_width,
        bounds=read_table(bounds),
        reference=reference,
        probability=probability,
        n_samples=n_samples,
        make_rng=lambda datasets: make_stream(seed, study, "signed_rank", str(datasets)),
    )
    # All three have a row per pair in the same order.
    pairs = pd.concat([pairs, improvement.iloc[:, 2:], posterior], axis=1)
    write_table(pairs, pairwise)
    write_table(ropes, rope)
    paragraphs = describe_pairwise(
        pairs,
        ropes,
        missing=missing,
        unit=unit,
        alpha=alpha,
        probability=probability,
        n_samples=n_samples,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        rope_setting=rope_width,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d pairs, %d without a shared dataset", len(pairs), (pairs["datasets"] == 0).sum())


if __name__ == "__main__":
    from job import run_job

    run_job(compare_models, snakemake)  # type: ignore[name-defined]
