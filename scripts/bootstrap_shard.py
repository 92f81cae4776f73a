"""Bootstrap the models of one shard."""

import logging

import pandas as pd

from capmap.artifacts import read_parquet, read_table, write_parquet
from capmap.ranking.models import Options, bootstrap_model
from capmap.ranking.resampling import DatasetPool
from capmap.ranking.statistics import STATISTICS
from capmap.rng import make_stream
from capmap.settings.choices import IntervalMethod, Statistic, Unit, Weights

COLUMNS = {
    "model": "model",
    "statistic": "statistic",
    "estimate": "estimate",
    "low": "ci_low",
    "high": "ci_high",
    "runs": "runs",
    "datasets": "datasets",
    "replicates": "replicates",
}

logger = logging.getLogger(__name__)


def bootstrap_shard(
    *,
    shard: str,
    replicates: str,
    datasets: list[str],
    study: str,
    n_resamples: int,
    confidence_level: float,
    interval: IntervalMethod,
    unit: Unit,
    weights: Weights,
    statistics: list[Statistic],
    seed: int,
) -> None:
    """Write estimates, intervals and replicates of the models of one shard.

    Parameters
    ----------
    shard : str
        Normalized runs, Parquet.
    replicates : str
        Where to write a row per model and statistic, Parquet.
    datasets : list of str
        The table of the study's datasets, if they are resampled; else empty.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples, confidence_level, interval, unit, weights : int, float, str, str, str
        As in `capmap.ranking.models.Options`.
    statistics : list of str
        What to estimate; the interquartile mean always is.
    seed : int
        Seed of the study's random streams.
    """
    options = Options(n_resamples, confidence_level, interval, unit, weights)
    wanted = [name for name in sorted(STATISTICS) if name == "iqm" or name in statistics]
    names = [name for path in datasets for name in read_table(path)["dataset"]]
    rows = []
    for model, runs in read_parquet(shard).groupby("model", sort=True):
        pool = DatasetPool(names, make_stream(seed, study, "datasets"))
        estimates = bootstrap_model(
            runs["score"],
            runs["dataset"].tolist(),
            statistics=wanted,
            options=options,
            rng=make_stream(seed, study, "bootstrap", str(model)),
            pool=pool if names else None,
        )
        about = {"model": model, "runs": len(runs), "datasets": runs["dataset"].nunique()}
        rows += [about | vars(estimate) for estimate in estimates]
    table = pd.DataFrame(rows)[list(COLUMNS)].rename(columns=COLUMNS)
    write_parquet(replicates, table)
    logger.info("%d models, %d without interval", *_count_models(table))


def _count_models(table: pd.DataFrame) -> tuple[int, int]:
    iqm = table[table["statistic"] == "iqm"]
    return len(iqm), int(iqm["ci_low"].isna().sum())


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap_shard, snakemake)  # type: ignore[name-defined]
