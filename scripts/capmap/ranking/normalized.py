"""The runs of a study normalized, and what all of its models have in common."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from capmap.errors import ValidationError
from capmap.normalization import (
    DatasetRule,
    Rules,
    apply_transforms,
    drop_incomplete,
    leave_out,
    list_dropped,
    read_references,
    select_runs,
)
from capmap.normalization.bounds import (
    NO_ITEMS,
    find_limits,
    have_items,
    measure_resolutions,
    measure_test_sets,
    normalize_items,
    normalize_scores,
    resolve_bounds,
)
from capmap.ranking.aggregation import arrange_runs, summarize_cells, unstack_cells
from capmap.ranking.dependence import (
    Scope,
    SeedCorrelation,
    correlate_seeds,
    has_own_seeds,
    measure_dependence,
    resolve_statistic,
    resolve_unit,
    share_noise,
)
from capmap.ranking.holes import find_ranked, fit_effects

CELL = ["model", "dataset"]
NO_ITEM_ERRORS = (
    "bootstrap.unit: items needs the items of every dataset, as columns: {item: …}, or their "
    "number, as datasets: {DATASET: {items: …}}. Add them, or set unit to auto."
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Normalized:
    """The normalized runs of a study.

    Parameters
    ----------
    runs : pandas.DataFrame
        A row per run: ``model``, ``dataset``, ``seed``, ``score``, ``resolution``, that of the
        dataset (`measure_resolutions`), and ``ranked``, whether the model has datasets enough;
        ``item_variance`` (`measure_test_sets`) where numbers of items are configured.
    bounds, dropped : pandas.DataFrame
        The bounds of each dataset, and what was left out.
    scope : mapping
        What all models have in common: ``unit``, ``rank_by``, ``iqm``, ``effects``, ``dependence``
        and ``limits`` (of scores, None where there is none), as JSON.
    items : pandas.DataFrame
        Normalized scores of single items: ``model``, ``dataset``, ``item``, ``cluster``, ``score``.
    """

    runs: pd.DataFrame
    bounds: pd.DataFrame
    dropped: pd.DataFrame
    scope: Scope
    items: pd.DataFrame


def normalize_study(
    found: pd.DataFrame,
    *,
    settings: Mapping[str, Any],
    references: Sequence[str] = (),
    benchmark: Sequence[str] = (),
    items: pd.DataFrame = NO_ITEMS,
) -> Normalized:
    """Normalize the runs of a study.

    Files are none or one, of frozen bounds and of the definition of the benchmark, whose rules of
    datasets come after those that are configured.
    """
    datasets, select = settings["datasets"], settings["select"]
    for path in benchmark:
        # Not above: it loads the check of settings.
        from capmap.benchmarks import complete_rules, read_benchmark

        datasets = complete_rules(datasets, read_benchmark(path), found["dataset"].unique())
    chosen, other_datasets = select_runs(found, datasets=select.get("datasets", "all"))
    converted = apply_transforms(chosen, datasets)
    bounds, problems = resolve_bounds(
        converted,
        metrics=settings["metrics"],
        datasets=datasets,
        normalization=settings["normalization"],
        references=read_references(*references, renamed=settings.get("renamed")),
    )
    if errors := [str(problem) for problem in problems if problem.severity == "error"]:
        raise ValidationError("\n".join(errors))
    constant = [problem for problem in problems if problem.code == "constant_dataset"]
    selected, other_models = select_runs(converted, models=select.get("models", "all"))
    runs, gaps = drop_incomplete(normalize_scores(selected, bounds), policy=settings["incomplete"])
    if runs.empty:
        raise ValidationError(
            "No run is left to analyse. Check select, incomplete, and constant datasets."
        )
    resolutions = measure_resolutions(selected, bounds)
    ranked = find_ranked(runs, settings["min_datasets"])
    runs = runs.assign(
        resolution=resolutions.reindex(runs["dataset"]).to_numpy(dtype=np.float32),
        ranked=runs["model"].isin(ranked).to_numpy(),
    )
    rules = Rules(settings["metrics"], datasets, settings["normalization"], {})
    noise = measure_test_sets(selected, bounds, rules)
    if noise is not None:
        cells = pd.MultiIndex.from_frame(runs[["dataset", "model"]].astype("str"))
        runs = runs.assign(item_variance=noise.reindex(cells).to_numpy())
    items = normalize_items(items, runs, bounds, datasets)
    flat = list_dropped(("dataset", problem.value, problem.reason) for problem in constant)
    dropped = pd.concat([other_models, other_datasets, flat, gaps], ignore_index=True)
    counts = len(runs), runs["model"].nunique(), runs["dataset"].nunique()
    logger.info("%d runs of %d models on %d datasets", *counts)
    limits = [end if np.isfinite(end) else None for end in find_limits(bounds, runs)]
    scope = _describe_scope(runs, items, settings, own_seeds=has_own_seeds(found))
    return Normalized(runs, bounds, dropped, scope | {"limits": limits}, items)


def summarize_study(
    exported: pd.DataFrame,
    runs: pd.DataFrame,
    scope: Scope,
    datasets: Mapping[str, DatasetRule],
) -> dict[str, pd.DataFrame]:
    """Summarize the runs of a study: the tables ``scores``, ``seeds`` and ``dependence``."""
    cells = summarize_cells(runs)
    # Models and datasets are left out as a whole.
    for kind in ("model", "dataset"):
        exported = leave_out(exported, kind, {*exported[kind].unique()} - {*cells[kind]})
    exported_cells = summarize_cells(apply_transforms(exported, datasets))
    both = cells[[*CELL, "mean", "std"]].rename(
        columns={"mean": "normalized_mean", "std": "normalized_std"}
    )
    return {
        "scores": unstack_cells(cells),
        "seeds": exported_cells.merge(both, on=CELL),
        "dependence": pd.DataFrame([scope["dependence"]]),
    }


def _describe_scope(
    runs: pd.DataFrame, items: pd.DataFrame, settings: Mapping[str, Any], *, own_seeds: bool
) -> dict[str, Any]:
    effects = None
    if settings["incomplete"] == "adjust" and runs["ranked"].any():
        effects = fit_effects(summarize_cells(runs[runs["ranked"]]))
    ranked = runs[runs["ranked"]] if runs["ranked"].any() else runs
    seeds = correlate_seeds(runs) if own_seeds else SeedCorrelation()
    known = have_items(runs, items)
    if settings["unit"] == "items" and not known:
        raise ValidationError(NO_ITEM_ERRORS)
    unit = resolve_unit(
        settings["unit"], runs, interval=settings["interval"], shared=seeds.is_found, items=known
    )
    matrix = arrange_runs(ranked, by_seed=own_seeds)
    dependence = measure_dependence(
        matrix, paired=unit == "runs" and own_seeds and share_noise(ranked)
    )
    return {
        "unit": unit,
        "rank_by": resolve_statistic(settings["rank_by"], runs, unit=unit),
        "iqm": settings["iqm"],
        "effects": asdict(effects) if effects else None,
        "dependence": {
            "datasets": len(matrix.datasets),
            **asdict(dependence),
            **asdict(seeds),
        },
    }
