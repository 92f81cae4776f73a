"""Normalize the runs of a study and spread them over shards."""

import json
import logging
import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pandas as pd

from capmap.artifacts import (
    read_parquet,
    render_csv,
    render_parquet,
    write_bytes_if_changed,
    write_text,
)
from capmap.benchmarks import complete_rules, read_benchmark
from capmap.errors import ValidationError
from capmap.normalization import (
    apply_transforms,
    drop_incomplete,
    list_dropped,
    normalize_scores,
    read_references,
    resolve_bounds,
    select_runs,
)
from capmap.normalization.rules import DatasetRule, MetricRule, Normalization, Select
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.holes import Effects, fit_effects
from capmap.ranking.scopes import resolve_statistic, resolve_unit
from capmap.settings.choices import (
    Incomplete,
    IntervalMethod,
    Statistic,
    StatisticOrAuto,
    Unit,
    UnitOrAuto,
)
from capmap.shards import split_shards

logger = logging.getLogger(__name__)

SHARD = re.compile(r"[0-9]+\.parquet")


def normalize_runs(
    *,
    runs: str,
    bounds: str,
    manifest: str,
    dropped: str,
    folder: str,
    shards: int,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    normalization: Normalization,
    select: Select,
    incomplete: Incomplete,
    unit: UnitOrAuto,
    interval: IntervalMethod,
    rank_by: StatisticOrAuto,
    references: list[str],
    benchmark: list[str],
) -> None:
    """Write the normalized runs of a study, shard by shard, and the bounds that made them.

    Parameters
    ----------
    runs : str
        Table of valid runs.
    bounds, manifest, dropped : str
        Tables to write: the bounds of each dataset, the shards, and what was left out.
    folder : str
        Where ``{shard}.parquet`` and ``scope.json`` go, what intervals generalize to and what
        ranks the models. They are
        rewritten only when their bytes change, and shards that no longer belong are deleted.
    shards : int
        Number of shards.
    metrics, datasets, normalization, select, incomplete, unit, interval, rank_by : mapping and str
        What is configured.
    references, benchmark : list of str
        No file or one with frozen bounds, and with the definition of the benchmark, whose rules of
        datasets come after those that are configured.

    Raises
    ------
    ValidationError
        When bounds cannot be resolved, or no runs are left.
    """
    found = read_parquet(runs)
    for path in benchmark:
        datasets = complete_rules(datasets, read_benchmark(path), found["dataset"].unique())
    chosen, other_datasets = select_runs(found, datasets=select.get("datasets", "all"))
    converted = apply_transforms(chosen, datasets)
    limits, problems = resolve_bounds(
        converted,
        metrics=metrics,
        datasets=datasets,
        normalization=normalization,
        references=read_references(*references),
    )
    if errors := [str(problem) for problem in problems if problem.severity == "error"]:
        raise ValidationError("\n".join(errors))
    constant = [problem for problem in problems if problem.code == "constant_dataset"]
    selected, other_models = select_runs(converted, models=select.get("models", "all"))
    normalized, gaps = drop_incomplete(normalize_scores(selected, limits), policy=incomplete)
    if normalized.empty:
        raise ValidationError(
            "No run is left to analyse. Check select, incomplete, and constant datasets."
        )
    flat = list_dropped(("dataset", problem.value, problem.reason) for problem in constant)
    left_out = [other_models, other_datasets, flat, gaps]
    logger.info(
        "%d runs of %d models on %d datasets",
        len(normalized),
        normalized["model"].nunique(),
        normalized["dataset"].nunique(),
    )
    effects = fit_effects(summarize_cells(normalized)) if incomplete == "adjust" else None
    over = resolve_unit(unit, normalized, interval=interval)
    scope = _describe_scope(normalized, over, resolve_statistic(rank_by, normalized), effects)
    index = _write_shards(normalized, Path(folder), shards)
    write_bytes_if_changed(Path(folder) / "scope.json", json.dumps(scope).encode())
    write_text(bounds, render_csv(limits))
    write_text(dropped, render_csv(pd.concat(left_out, ignore_index=True)))
    write_text(manifest, render_csv(index))


def _describe_scope(
    runs: pd.DataFrame, unit: Unit, rank_by: Statistic, effects: Effects | None
) -> dict[str, object]:
    """What all shards have to know of the study."""
    return {
        "unit": unit,
        "rank_by": rank_by,
        "datasets": sorted(runs["dataset"].unique()),
        "seeds": sorted(runs["seed"].unique()) if unit == "seeds" else [],
        "effects": effects.to_json() if effects else None,
    }


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
