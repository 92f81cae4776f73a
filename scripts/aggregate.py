"""Summarize the runs per cell, and what seeds share."""

import logging
from collections.abc import Mapping

import pandas as pd

from capmap.artifacts import read_json, read_parquet
from capmap.normalization.precedence import DatasetRule, apply_transforms, leave_out
from capmap.ranking.aggregation import summarize_cells, unstack_cells
from capmap.tables import write_table

CELL = ["model", "dataset"]

logger = logging.getLogger(__name__)


def aggregate(
    *,
    runs: str,
    normalized: str,
    scope: str,
    scores: list[str],
    seeds: list[str],
    dependence: list[str],
    datasets: Mapping[str, DatasetRule],
) -> None:
    """Write the score matrix, the seed summaries, and what runs have in common."""
    cells = summarize_cells(read_parquet(normalized, packed=True))
    exported = read_parquet(runs, packed=True)
    # Models and datasets are left out as a whole.
    for kind in ("model", "dataset"):
        exported = leave_out(exported, kind, {*exported[kind].unique()} - {*cells[kind]})
    exported_cells = summarize_cells(apply_transforms(exported, datasets))
    both = cells[[*CELL, "mean", "std"]].rename(
        columns={"mean": "normalized_mean", "std": "normalized_std"}
    )
    write_table(exported_cells.merge(both, on=CELL), seeds)
    write_table(pd.DataFrame([read_json(scope)["dependence"]]), dependence)
    matrix = unstack_cells(cells)
    write_table(matrix, scores, best=dict.fromkeys(matrix.columns[1:], "max"))
    logger.info("%d models on %d datasets", len(matrix), matrix.shape[1] - 1)


if __name__ == "__main__":
    from job import run_job

    run_job(aggregate, snakemake)  # type: ignore[name-defined]
