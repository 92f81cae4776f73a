"""Trace performance profiles and score distributions."""

import logging
from functools import partial

import pandas as pd

from capmap.artifacts import read_shards, read_table
from capmap.comparison.profiles import compare_areas, compare_scores, trace_ratios, trace_scores
from capmap.comparison.score_matrix import arrange_runs, choose_common, count_unused
from capmap.prose import describe_profiles, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Missing
from capmap.tables import write_table

COLUMNS = ["kind", "model", "tau", "fraction", "ci_low", "ci_high"]

logger = logging.getLogger(__name__)


def profile_models(
    *,
    shards: list[str],
    bounds: str,
    profiles: list[str],
    profile_area: list[str],
    text: list[str],
    study: str,
    missing: Missing,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write performance profiles, the areas under them, and score distributions.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    bounds : str
        Direction and bounds of each dataset, CSV; raw scores are rebuilt with them.
    profiles : list of str
        Where to write the profiles: of the ratios of raw scores, of the ratios of normalized
        scores, and of normalized scores.
    profile_area : list of str
        Where to write the areas under the profiles of ratios, best first by raw scores, ties by
        name.
    text : list of str
        Where to write the sentences.
    study : str
        The study's name, which seeds its draws.
    missing : {"pairwise", "common"}
        Each model on the datasets it has, or all on those that all have.
    n_resamples : int
        Number of bootstrap resamples.
    confidence_level : float
        Of the bands around score distributions.
    seed : int
        The configured seed.
    """
    runs = read_shards(shards)
    every = arrange_runs(runs)
    matrix = choose_common(every, missing=missing)
    limits = read_table(bounds).set_index("dataset").loc[matrix.datasets]
    ratios, nonpositive = compare_scores(matrix.means, limits)
    tables = [trace_ratios(matrix.models, own).assign(kind=kind) for kind, own in ratios.items()]
    scores = trace_scores(
        runs[runs["dataset"].isin(matrix.datasets)],
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "profiles"),
    )
    areas = compare_areas(matrix.models, ratios)
    table = pd.concat([*tables, scores.assign(kind="scores")], ignore_index=True)[COLUMNS]
    write_table(table, profiles)
    write_table(areas, profile_area, best={"area_raw": "max", "area_normalized": "max"})
    paragraphs = describe_profiles(
        areas,
        missing=missing,
        datasets_total=runs["dataset"].nunique(),
        nonpositive=nonpositive,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        cells_unused=count_unused(every, matrix),
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d models on %d datasets", len(matrix.models), len(matrix.datasets))


if __name__ == "__main__":
    from job import run_job

    run_job(profile_models, snakemake)  # type: ignore[name-defined]
