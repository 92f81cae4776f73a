"""Rate models by their battles on datasets, and count who beats whom."""

import logging

from capmap.artifacts import read_shards
from capmap.comparison.bradley_terry import estimate_ratings
from capmap.comparison.score_matrix import arrange_runs, choose_common
from capmap.comparison.win_rates import count_wins
from capmap.problems import require_known
from capmap.prose import describe_ratings, write_paragraphs
from capmap.rng import make_stream
from capmap.settings.choices import Battles, Missing
from capmap.tables import write_table

logger = logging.getLogger(__name__)


def rate_models(
    *,
    shards: list[str],
    elo: list[str],
    winrate: list[str],
    text: list[str],
    study: str,
    missing: Missing,
    battles: Battles,
    tie_threshold: float,
    calibration: str,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> None:
    """Write ratings on the Elo scale, win rates of all pairs, and a paragraph about them.

    Parameters
    ----------
    shards : list of str
        Normalized runs, Parquet.
    elo : list of str
        Where to write the ratings.
    winrate : list of str
        Where to write the win rates, by cell means whatever `battles` is.
    text : list of str
        Where to write the paragraph.
    study : str
        Name of the study, part of the names of its random streams.
    missing : {"pairwise", "common"}
        Which datasets count.
    battles : {"means", "runs", "seeds"}
        What meets: cell means, all runs, or runs of the same seed.
    tie_threshold : float
        Normalized scores that differ by no more are a tie.
    calibration : str
        The model that is rated 1000; "" to have 1000 as mean.
    n_resamples : int
        Number of resamples of datasets and runs.
    confidence_level : float
        Of intervals of ratings and ranks.
    seed : int
        Seed of the study's random streams.
    """
    runs = read_shards(shards)
    every = arrange_runs(runs)
    if calibration:
        require_known([calibration], every.models, option="ratings.calibration", kind="model")
    matrix = choose_common(every, missing=missing)
    ratings = estimate_ratings(
        runs[runs["dataset"].isin(matrix.datasets)],
        battles=battles,
        tie_threshold=tie_threshold,
        calibration=calibration,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=lambda *names: make_stream(seed, study, "ratings", *names),
    )
    wins = count_wins(matrix, tie_threshold=tie_threshold)
    write_table(ratings, elo, best={"elo": "max"})
    write_table(wins, winrate)
    paragraphs = describe_ratings(
        ratings,
        wins,
        missing=missing,
        battles=battles,
        tie_threshold=tie_threshold,
        calibration=calibration,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        cells_unused=int(every.is_filled.sum() - ratings["datasets"].sum()),
    )
    write_paragraphs(paragraphs, text)
    logger.info("%d models, %d without interval", len(ratings), ratings["ci_low"].isna().sum())


if __name__ == "__main__":
    from job import run_job

    run_job(rate_models, snakemake)  # type: ignore[name-defined]
