"""Named groups of datasets, and the runs that each keeps by the study's rule for empty cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from capmap.errors import ValidationError
from capmap.normalization import drop_incomplete
from capmap.problems import require_known
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.holes import Effects, find_ranked, fit_effects, require_connected
from capmap.settings.choices import Incomplete
from capmap.wording import PLAIN_KEY, quote_name


@dataclass(frozen=True)
class Group:
    """The runs of a group of datasets, as far as the rule for empty cells keeps them.

    Parameters
    ----------
    name : str
        Name of the group.
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, a row per run, at least one.
    effects : Effects or None
        What gives models scores on the datasets that they lack.
    """

    name: str
    runs: pd.DataFrame
    effects: Effects | None


def choose_groups(
    runs: pd.DataFrame,
    definitions: Mapping[str, Mapping[str, Any]],
    *,
    incomplete: Incomplete,
    min_datasets: str | float,
) -> list[Group]:
    """Choose the runs of each group.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score``, normalized, of all models that are ranked.
    definitions : mapping
        The setting ``groups``: ``datasets`` by the name of the group.
    incomplete, min_datasets
        The settings of these names.

    Returns
    -------
    list of Group
        By name; none where no model is ranked.

    Raises
    ------
    ValidationError
        If a dataset is unknown, or a group has nothing left. All groups with a fault are named.

    Notes
    -----
    ``drop_models`` leaves out models that lack one of the group's datasets, ``drop_datasets``
    leaves out datasets that one of the models with any run in the group lacks, and ``adjust`` ranks
    each model that has enough of the datasets with the scores that are expected on the others as
    well. Models without any run in the group are left out; with ``error``, the others have all.
    """
    if runs.empty:
        return []
    policy: Incomplete = "drop_models" if incomplete == "error" else incomplete
    groups, faults = [], []
    for name, definition in sorted(definitions.items()):
        try:
            groups.append(_choose_group(name, runs, definition["datasets"], policy, min_datasets))
        except ValidationError as error:
            faults.append(str(error))
    if faults:
        raise ValidationError("\n".join(faults))
    return groups


def _choose_group(
    name: str,
    runs: pd.DataFrame,
    datasets: list[str],
    policy: Incomplete,
    min_datasets: str | float,
) -> Group:
    wanted, option = sorted(set(datasets)), f"groups.{_write_name(name)}"
    require_known(wanted, set(runs["dataset"]), option=f"{option}.datasets", kind="dataset")
    inside = runs[runs["dataset"].isin(wanted)]
    kept, _ = drop_incomplete(inside, policy=policy)
    if kept.empty:
        raise ValidationError(_explain_empty(option, policy))
    effects = None
    if policy == "adjust":
        kept = kept[kept["model"].isin(find_ranked(kept, min_datasets))]
        if kept.empty:
            raise ValidationError(f"{option}: no model has min_datasets of the group's datasets.")
        try:
            require_connected(kept)
        except ValidationError as error:
            raise ValidationError(f"{option}: {error}") from error
        effects = fit_effects(summarize_cells(kept))
    return Group(name, kept, effects)


def _write_name(name: str) -> str:
    """Write a group's name as part of an option: in quotes unless it is a plain word."""
    quoted = quote_name(name)
    return quoted[1:-1] if PLAIN_KEY.fullmatch(name) else quoted


def _explain_empty(option: str, policy: Incomplete) -> str:
    kept, other, rule = (
        ("model", "datasets", "drop_datasets")
        if policy == "drop_models"
        else ("dataset", "models", "drop_models")
    )
    return (
        f"{option}: no {kept} has runs for all of the group's {other}, so its rule {policy} "
        f"leaves nothing. Set incomplete to adjust or {rule}, or choose other datasets."
    )
