"""Bootstrap the models of one shard."""

import logging
from collections.abc import Mapping
from typing import Any

from capmap.artifacts import read_json, read_parquet, write_parquet
from capmap.ranking.estimates import estimate_models

logger = logging.getLogger(__name__)


def bootstrap_shard(
    *,
    shard: str,
    scope: str,
    estimates: str,
    study: str,
    dimensions: Mapping[str, list[str]] | None,
    **settings: Any,
) -> None:
    """Write estimates, intervals and replicates of the models of one shard."""
    table = estimate_models(
        read_parquet(shard),
        read_json(scope),
        study=study,
        settings=settings,
        dimensions=dimensions,
    )
    write_parquet(estimates, table)
    unsure = table.loc[table["ci_low"].isna(), "model"].nunique()
    logger.info("%d models, %d without some interval", table["model"].nunique(), unsure)


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap_shard, snakemake)  # type: ignore[name-defined]
