"""Bootstrap the models of one shard."""

import logging
from collections.abc import Mapping
from typing import Any

import pandas as pd

from capmap.artifacts import read_json, read_parquet, write_parquet
from capmap.ranking.estimates import estimate_models

logger = logging.getLogger(__name__)


def bootstrap(
    *,
    runs: str,
    scope: str,
    estimates: str,
    study: str,
    shard: str,
    shards: int,
    dimensions: Mapping[str, list[str]] | None,
    **settings: Any,
) -> None:
    """Write estimates, intervals and replicates of every n-th model."""
    table = read_parquet(runs)
    models = sorted(table["model"].unique())[int(shard) :: shards]
    if not models:
        write_parquet(
            estimates, pd.DataFrame(columns=["kind", "group", "statistic", "model"], dtype="str")
        )
        return
    found = estimate_models(
        table[table["model"].isin(models)].reset_index(drop=True),
        read_json(scope),
        study=study,
        settings=settings,
        dimensions=dimensions,
    )
    write_parquet(estimates, found)
    unsure = found.loc[found["ci_low"].isna(), "model"].nunique()
    logger.info("%d models, %d without some interval", len(models), unsure)


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap, snakemake)  # type: ignore[name-defined]
