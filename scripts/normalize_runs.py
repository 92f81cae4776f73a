"""Normalize the runs of a study and spread them over shards."""

import json
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import (
    read_parquet,
    render_csv,
    render_parquet,
    write_bytes_if_changed,
    write_text,
)
from capmap.ranking.normalized import normalize_study
from capmap.shards import split_shards

SHARD = re.compile(r"[0-9]+\.parquet")


def normalize_runs(
    *,
    runs: str,
    bounds: str,
    manifest: str,
    dropped: str,
    folder: str,
    shards: int,
    references: list[str],
    benchmark: list[str],
    **settings: Any,
) -> None:
    """Write the normalized runs of a study, shard by shard, and the bounds that made them.

    Parameters
    ----------
    runs : str
        Table of valid runs.
    bounds, manifest, dropped : str
        Tables to write: the bounds of each dataset, the shards, and what was left out.
    folder : str
        Where ``{shard}.parquet`` and ``scope.json`` (what intervals generalize to and what ranks
        the models) go. They are rewritten only when their bytes change, and shards that no longer
        belong are deleted.
    shards : int
        Number of shards.
    references, benchmark : list of str
        As `normalize_study` takes them.
    **settings
        The settings that it knows.

    Raises
    ------
    ValidationError
        When bounds cannot be resolved, or no runs are left.
    """
    found = normalize_study(
        read_parquet(runs, packed=True),
        settings=settings,
        references=references,
        benchmark=benchmark,
    )
    index = _write_shards(found.runs, Path(folder), shards)
    write_bytes_if_changed(Path(folder) / "scope.json", json.dumps(found.scope).encode())
    write_text(bounds, render_csv(found.bounds))
    write_text(dropped, render_csv(found.dropped))
    write_text(manifest, render_csv(index))


def _write_shards(runs: pd.DataFrame, folder: Path, shards: int) -> pd.DataFrame:
    """Write each model's runs to its shard, delete shards without models, and list the rest."""
    rows = []
    for shard, models in split_shards(runs["model"].unique(), shards).items():
        table = runs[runs["model"].isin(models)]
        content = render_parquet(table)
        write_bytes_if_changed(folder / f"{shard}.parquet", content)
        rows.append((str(shard), sha256(content).hexdigest(), len(models), len(table)))
    written = {f"{row[0]}.parquet" for row in rows}
    for path in folder.iterdir():
        if SHARD.fullmatch(path.name) and path.name not in written and path.is_file():
            path.unlink()
    return pd.DataFrame(rows, columns=["shard", "sha256", "models", "rows"])


if __name__ == "__main__":
    from job import run_job

    run_job(normalize_runs, snakemake)  # type: ignore[name-defined]
