"""Which results may be run next, and what they cost."""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from capmap.attributes import read_dataset_attributes, read_model_attributes
from capmap.capabilities.gaps import BoolArray
from capmap.exports.cells import SEPARATOR
from capmap.ranking.aggregation import FloatArray
from capmap.renaming import rename_column


def read_costs(
    datasets: Sequence[str],
    dataset_file: Sequence[str],
    dataset_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
) -> FloatArray | None:
    """Read what a result on each dataset costs.

    Parameters
    ----------
    datasets : sequence of str
        Names of the datasets.
    dataset_file : sequence of str
        The table of attributes, or none.
    dataset_attributes : mapping
        As in the setting `attributes`.
    renamed : mapping of str to str
        New names of datasets by those of the exports; the table may have either.

    Returns
    -------
    ndarray, shape (datasets,), or None
        Above 0, in any unit. A dataset whose cost is not known has the median of the others; None
        if the cost of none is.
    """
    path = next(iter(dataset_file), "")
    table = read_dataset_attributes(path, **_list_columns(dataset_attributes))
    if "cost" not in table:
        return None
    costs = _find(rename_column(table, "dataset", renamed), "dataset", datasets)["cost"]
    known = costs.astype(float)
    return None if known.isna().all() else np.asarray(known.fillna(known.median()))


def allow_pairs(
    models: Sequence[str],
    datasets: Sequence[str],
    of_models: pd.DataFrame,
    of_datasets: pd.DataFrame,
    *,
    feasible: Sequence[str],
    chosen: Sequence[str] = (),
) -> BoolArray:
    """Which models may be run on which datasets.

    Parameters
    ----------
    models, datasets : sequence of str
        Names.
    of_models, of_datasets : pandas.DataFrame
        Columns ``model`` or ``dataset``, and those of `feasible`: text, a row per name. What is not
        known of a dataset by its name is that of the part of its name before " / ".
    feasible : sequence of str
        Attributes that must match. A cell may hold several values, divided by commas or semicolons;
        a model may be run on a dataset if it has all values of the dataset. Case does not count. A
        blank cell forbids nothing.
    chosen : sequence of str
        The datasets that may be run; all if empty.

    Returns
    -------
    ndarray of bool, shape (models, datasets)

    Examples
    --------
    >>> of_models = pd.DataFrame({"model": ["A", "B"], "modality": ["text", "image, text"]})
    >>> of_datasets = pd.DataFrame({"dataset": ["D", "E"], "modality": ["Text", "image; text"]})
    >>> allow_pairs("AB", "DE", of_models, of_datasets, feasible=["modality"]).tolist()
    [[True, False], [True, True]]
    """
    allowed = np.ones((len(models), len(datasets)), dtype=bool)
    if chosen:
        allowed &= np.isin(np.array(datasets, dtype=object), list(chosen))
    for column in feasible:
        able = [_split(cell) for cell in _find(of_models, "model", models)[column]]
        asked = [_split(cell) for cell in _find(of_datasets, "dataset", datasets)[column]]
        matches = [not own or need <= own for own in able for need in asked]
        allowed &= np.array(matches, dtype=bool).reshape(allowed.shape)
    return allowed


def read_allowed(
    models: Sequence[str],
    datasets: Sequence[str],
    files: Mapping[str, Sequence[str]],
    *,
    attributes: Mapping[str, Mapping[str, str]],
    renamed: Mapping[str, str],
    feasible: Sequence[str],
    chosen: Sequence[str],
) -> BoolArray:
    """Which models may be run on which datasets, by tables of attributes (`allow_pairs`).

    Parameters
    ----------
    models, datasets : sequence of str
        Names.
    files : mapping
        The tables of "models" and "datasets", each in a sequence, or none.
    attributes : mapping
        As in the setting `attributes`.
    renamed : mapping of str to str
        New names of models and datasets by those of the exports; the tables may have either.
    feasible, chosen
        As in the setting `next`.
    """
    paths = {kind: next(iter(paths), "") for kind, paths in files.items()}
    columns = {kind: _list_columns(own) for kind, own in attributes.items()}
    of_models = read_model_attributes(paths["models"], **columns["models"], feasible=feasible)
    of_datasets = read_dataset_attributes(
        paths["datasets"], **columns["datasets"], feasible=feasible
    )
    return allow_pairs(
        models,
        datasets,
        rename_column(of_models, "model", renamed),
        rename_column(of_datasets, "dataset", renamed),
        feasible=feasible,
        chosen=[renamed.get(name, name) for name in chosen],
    )


def _list_columns(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: column for name, column in attributes.items() if name != "file"}


def _find(table: pd.DataFrame, kind: str, names: Sequence[str]) -> pd.DataFrame:
    """Attributes of some names, in order; what is unknown of a dataset is that of its family."""
    known = table.set_index(kind)
    found = known.reindex(list(names)).reset_index(drop=True)
    if kind == "model":
        return found
    fronts = [name.split(SEPARATOR)[0] for name in names]
    return found.where(found.notna(), known.reindex(fronts).reset_index(drop=True))


def _split(cell: object) -> frozenset[str]:
    """The values of a cell; none if it is blank."""
    values = re.split("[,;]", str(cell)) if isinstance(cell, str) else []
    return frozenset(value.strip().casefold() for value in values) - {""}
