"""Rankings of named groups of datasets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import pandas as pd

from capmap.aggregation import aggregate_models, summarize_cells
from capmap.bootstrap.datasets import DatasetPool
from capmap.bootstrap.models import Options, bootstrap_model
from capmap.bootstrap.ranks import rank_estimates
from capmap.errors import ValidationError
from capmap.normalization import count_runs, drop_incomplete, find_missing
from capmap.normalization.rules import Incomplete
from capmap.problems import require_known
from capmap.rng import make_stream
from capmap.wording import LISTED_NAMES, count_things, list_names, quote_name

RANKING = {
    "group": "str",
    "model": "str",
    "iqm": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "rank": "int64",
    "rank_low": "Int64",
    "rank_high": "Int64",
    "ties": "str",
    "mean": "float64",
    "rank_mean": "int64",
    "runs": "int64",
    "datasets": "int64",
}
COVERAGE = {
    "group": "str",
    "incomplete": "str",
    "datasets": "int64",
    "models": "int64",
    "datasets_dropped": "int64",
    "models_dropped": "int64",
    "cells_unused": "int64",
}


class Definition(TypedDict):
    """A configured group: its datasets, and what becomes of models or datasets with empty cells."""

    datasets: list[str]
    incomplete: Incomplete


@dataclass(frozen=True)
class Group:
    """The runs of a group of datasets, as far as its rule for empty cells keeps them.

    Parameters
    ----------
    name : str
        Name of the group.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run, at least one.
    coverage : mapping of str to str or int
        What was kept and what was left out: the columns of the table of coverage.
    """

    name: str
    runs: pd.DataFrame
    coverage: Mapping[str, str | int]


def choose_groups(runs: pd.DataFrame, definitions: Mapping[str, Definition]) -> list[Group]:
    """Choose the runs of each group.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, normalized, of the whole study.
    definitions : mapping
        The configured groups, by name.

    Returns
    -------
    list of Group
        By name.

    Raises
    ------
    ValidationError
        If a dataset is unknown, a group has nothing left, or a group with ``incomplete: error`` has
        empty cells. All groups with a fault are named.

    Notes
    -----
    The rules are those of the study. ``drop_models`` leaves out models that lack one of the group's
    datasets, ``drop_datasets`` leaves out datasets that one of the models with any run in the group
    lacks, and ``keep`` ranks each model by the datasets that it has. ``error`` refuses every empty
    cell, also those of models without any run in the group; otherwise these are left out.
    """
    groups, faults = [], []
    for name, definition in sorted(definitions.items()):
        try:
            groups.append(_choose_group(name, runs, definition))
        except ValidationError as error:
            faults.append(str(error))
    if faults:
        raise ValidationError("\n".join(faults))
    return groups


def rank_group(group: Group, *, study: str, seed: int, options: Options) -> pd.DataFrame:
    """Rank the models of a group by interquartile mean.

    Parameters
    ----------
    group : Group
        From `choose_groups`.
    study : str
        Name of the study, part of the names of the random streams.
    seed : int
        Seed of the random streams.
    options : Options
        How to bootstrap.

    Returns
    -------
    pandas.DataFrame
        Columns ``group``, ``model``, ``iqm``, ``ci_low``, ``ci_high``, ``rank``, ``rank_low``,
        ``rank_high``, ``ties``, ``mean`` (of the means of datasets), ``rank_mean``, ``runs`` and
        ``datasets``; best first, ties by name. Interval, rank interval and ties are empty for a
        model without an interval.

    Notes
    -----
    This is the ranking of the study (`bootstrap_model`, `rank_estimates`) with the group's datasets
    as the only ones. Each model has a random stream of its own for each group.
    """
    datasets = group.runs["dataset"].unique().tolist()
    rows, replicates = [], []
    for model, runs in group.runs.groupby("model", sort=True):
        pool = DatasetPool(datasets, make_stream(seed, study, "datasets"))
        [iqm] = bootstrap_model(
            runs["score"],
            runs["dataset"].tolist(),
            statistics=["iqm"],
            options=options,
            rng=make_stream(seed, study, "groups", group.name, str(model)),
            pool=pool if options.unit == "runs_and_datasets" else None,
        )
        rows.append((model, iqm.estimate, iqm.low, iqm.high, len(runs)))
        replicates.append(iqm.replicates)
    models = pd.DataFrame(rows, columns=["model", "estimate", "ci_low", "ci_high", "runs"])
    ranking = rank_estimates(models, replicates, confidence_level=options.confidence_level)
    means = aggregate_models(summarize_cells(group.runs), aggregations=["mean"])
    table = ranking.merge(means, on="model", validate="one_to_one")
    table = table.rename(columns={"estimate": "iqm"}).assign(group=group.name)
    return table[list(RANKING)].astype(RANKING)


def rank_groups(
    groups: list[Group], *, study: str, seed: int, options: Options
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rank the models of all groups.

    Parameters
    ----------
    groups : list of Group
        From `choose_groups`; may be empty.
    study, seed, options : str, int, Options
        As in `rank_group`.

    Returns
    -------
    ranking : pandas.DataFrame
        The tables of `rank_group`, group after group.
    coverage : pandas.DataFrame
        A row per group: ``group``, ``incomplete`` (its rule), ``datasets`` and ``models`` (ranked),
        ``datasets_dropped``, ``models_dropped`` (of the study's models) and ``cells_unused``
        (cells of the group's datasets that have runs and are left out).
    """
    tables = [rank_group(group, study=study, seed=seed, options=options) for group in groups]
    ranking = pd.concat([pd.DataFrame(columns=list(RANKING)).astype(RANKING), *tables])
    coverage = pd.DataFrame([group.coverage for group in groups], columns=list(COVERAGE))
    return ranking.reset_index(drop=True), coverage.astype(COVERAGE)


def _choose_group(name: str, runs: pd.DataFrame, definition: Definition) -> Group:
    wanted, policy = sorted(set(definition["datasets"])), definition["incomplete"]
    option = f"groups.{name}.datasets"
    require_known(wanted, set(runs["dataset"]), option=option, kind="dataset")
    inside = runs[runs["dataset"].isin(wanted)]
    if policy == "error":
        _refuse_holes(name, inside, models=runs["model"].unique().tolist())
    kept, dropped = drop_incomplete(inside, policy=policy)
    if kept.empty:
        raise ValidationError(_explain_empty(name, policy, dropped))
    cells, kept_cells = (int(np.count_nonzero(count_runs(part))) for part in (inside, kept))
    models, datasets = kept["model"].nunique(), kept["dataset"].nunique()
    coverage: dict[str, str | int] = {
        "group": name,
        "incomplete": policy,
        "datasets": datasets,
        "models": models,
        "datasets_dropped": len(wanted) - datasets,
        "models_dropped": runs["model"].nunique() - models,
        "cells_unused": cells - kept_cells,
    }
    return Group(name, kept, coverage)


def _refuse_holes(name: str, inside: pd.DataFrame, *, models: list[str]) -> None:
    counts = count_runs(inside).reindex(sorted(models), fill_value=0)
    holes = [
        f"{quote_name(model)} has no runs for {list_names(datasets)}"
        for model, datasets in find_missing(counts).items()
    ]
    if holes:
        raise ValidationError(
            f"groups.{name}: {count_things(len(holes), 'model')} with empty cells. "
            f"{_list_first(holes)}. Set its incomplete to drop_models, drop_datasets or keep, or "
            "add the runs."
        )


def _explain_empty(name: str, policy: Incomplete, dropped: pd.DataFrame) -> str:
    kept, other, rule = (
        ("model", "datasets", "drop_datasets")
        if policy == "drop_models"
        else ("dataset", "models", "drop_models")
    )
    reasons = [
        f"{quote_name(row['name'])}: {row['reason'].rstrip('.')}"
        for row in dropped.to_dict("records")
    ]
    return (
        f"groups.{name}: no {kept} has runs for all of the group's {other}, so its rule {policy} "
        f"leaves nothing. {_list_first(reasons)}. Set its incomplete to {rule} or keep, or choose "
        "other datasets."
    )


def _list_first(sentences: list[str]) -> str:
    rest = len(sentences) - LISTED_NAMES
    listed = "; ".join(sentences[:LISTED_NAMES])
    return f"{listed}; and {rest} more" if rest > 0 else listed
