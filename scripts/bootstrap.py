"""Bootstrap the models of one shard."""

import logging
from collections.abc import Mapping
from typing import Any

import pandas as pd

from capmap.artifacts import read_json, read_parquet, write_parquet
from capmap.normalization.bounds import NO_ITEMS
from capmap.ranking.clusters import measure_items
from capmap.ranking.estimates import choose_groups, estimate_models, list_parts

NONE = pd.DataFrame(columns=["kind", "group", "unit", "statistic", "model"], dtype="str")

logger = logging.getLogger(__name__)


def bootstrap(
    *,
    runs: str,
    scope: str,
    estimates: str,
    study: str,
    shard: str,
    groups: Mapping[str, Any],
    item_scores: str = "",
    **settings: Any,
) -> None:
    """Write estimates, intervals and replicates of every n-th model."""
    table = read_parquet(runs)
    models = sorted(table["model"].unique())[int(shard) :: settings["shards"]]
    if not models:
        write_parquet(estimates, NONE)
        return
    given = read_parquet(item_scores, packed=True) if item_scores else NO_ITEMS
    parts = list_parts(
        table,
        read_json(scope),
        study=study,
        settings=settings,
        groups=choose_groups(table[table["ranked"]], **groups) if groups else [],
        dimensions=settings["dimensions"],
        items=measure_items(given, table),
    )
    found = estimate_models(parts, models=models)
    write_parquet(estimates, found)
    logger.info("%d models", len(models))


if __name__ == "__main__":
    from job import run_job

    run_job(bootstrap, snakemake)  # type: ignore[name-defined]
