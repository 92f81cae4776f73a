"""Trace performance profiles and score distributions."""

import logging
from functools import partial

import numpy as np
import pandas as pd

from capmap.aggregation import FloatArray
from capmap.artifacts import read_parquet, read_table
from capmap.cells import Missing, arrange_runs, choose_common
from capmap.profiles import (
    DECIMALS,
    compute_ratios,
    measure_areas,
    rebuild_scores,
    trace_ratios,
    trace_scores,
)
from capmap.prose import describe_profiles, write_paragraphs
from capmap.rng import make_stream
from capmap.tables import write_table

COLUMNS = ["kind", "model", "tau", "fraction", "ci_low", "ci_high"]
MEASURES = ["area", "share", "rank", "datasets"]

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
    runs = pd.concat([read_parquet(path) for path in shards], ignore_index=True)
    matrix = choose_common(arrange_runs(runs), missing=missing)
    limits = read_table(bounds).set_index("dataset").loc[matrix.datasets]
    raw = rebuild_scores(matrix.means, limits)
    normalized = np.round(matrix.means, DECIMALS)
    ratios = {
        "raw": compute_ratios(raw, is_max=limits["direction"] == "max"),
        "normalized": compute_ratios(normalized, is_max=np.ones(len(limits), dtype=bool)),
    }
    tables = [trace_ratios(matrix.models, own).assign(kind=kind) for kind, own in ratios.items()]
    scores = trace_scores(
        runs[runs["dataset"].isin(matrix.datasets)],
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "profiles"),
    )
    areas = _join_areas(matrix.models, ratios)
    table = pd.concat([*tables, scores.assign(kind="scores")], ignore_index=True)[COLUMNS]
    write_table(table, profiles)
    write_table(areas, profile_area, best={"area_raw": "max", "area_normalized": "max"})
    paragraphs = describe_profiles(
        areas,
        missing=missing,
        datasets_total=runs["dataset"].nunique(),
        nonpositive=int(np.count_nonzero((raw <= 0) | (normalized <= 0))),
        n_resamples=n_resamples,
        confidence_level=confidence_level,
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d models on %d datasets", len(matrix.models), len(matrix.datasets))


def _join_areas(models: list[str], ratios: dict[str, FloatArray]) -> pd.DataFrame:
    areas = pd.DataFrame({"model": models})
    for kind, own in ratios.items():
        measures = measure_areas(models, own)[MEASURES]
        areas = pd.concat([areas, measures.add_suffix(f"_{kind}")], axis=1)
    return areas.sort_values(["rank_raw", "model"], ignore_index=True)


if __name__ == "__main__":
    from job import run_job

    run_job(profile_models, snakemake)  # type: ignore[name-defined]
