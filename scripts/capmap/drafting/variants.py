"""What distinguishes rows of the same names: parts of names, and settings."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from capmap.drafting.roles import name_split, rate_score
from capmap.drafting.tables import Column, Table
from capmap.drafting.words import is_metadata, is_size, is_statistic
from capmap.exports.doubts import is_attribute

MOST_VARIANTS = 10
# So often each value of a setting occurs on average.
FEW = 2


def find_variants(
    table: Table, roles: Mapping[str, str], *, only_fields: bool = False
) -> list[str]:
    """Find the columns that distinguish rows of the same names, such as variants of models.

    Parameters
    ----------
    table : Table
        What the files hold; of several splits only one counts.
    roles : mapping of str to str
        The columns of names.
    only_fields : bool, optional
        Whether rows of one file may repeat, as those of logs do, so that only paths and keys count.

    Returns
    -------
    list of str
        As few columns as distinguish most rows: all parts of paths and keys that do, then one or
        two columns, rather of words than of numbers, where these distinguish all rows.
    """
    codes = _number_names(table, roles)
    size = len(next(iter(codes.values()))) if codes else 0
    names = [codes[name] for role, name in roles.items() if role != "split"]
    used = {*roles.values()}
    fields = []
    for column in table.columns.values():
        keys = [*names, codes[column.name]]
        is_free = column.is_field and column.name not in used
        if is_free and _count_keys(keys) > _count_keys(names):
            fields.append(column.name)
            names = keys
    if only_fields:
        return fields
    free = [
        column.name
        for column in table.columns.values()
        if column.name not in used
        and not column.is_field
        and not is_metadata(column.name)
        and (_is_setting(table, column, roles) if column.kinds[0] == 1 else _is_name(column, size))
    ]
    free.sort(key=lambda name: (table.columns[name].kinds[0] == 1, codes[name].max()))
    groups = [[], *([name] for name in free), *map(list, combinations(free[:MOST_VARIANTS], 2))]
    for group in groups:
        if _count_keys([*names, *(codes[name] for name in group)]) == size:
            return [*fields, *group]
    return fields


def _number_names(table: Table, roles: Mapping[str, str]) -> dict[str, npt.NDArray[np.intp]]:
    """Number the cells of each column that are alike, in the rows of the split that counts."""
    rows = np.ones(table.size, dtype=bool)
    if "split" in roles and (split := name_split(table.columns[roles["split"]].names)):
        rows = np.array(table.columns[roles["split"]].texts) == split
    return {
        name: np.unique(np.array(column.texts)[rows], return_inverse=True)[1]
        for name, column in table.columns.items()
    }


def _is_name(column: Column, size: int) -> bool:
    return 1 < len(column.names) < size


def _is_setting(table: Table, column: Column, roles: Mapping[str, str]) -> bool:
    """Whether numbers are those of a setting, such as the shots, and no scores."""
    if is_statistic(column.name) or rate_score(column) or len(column.names) < 2:
        return False
    if is_size(column.name) or is_attribute(column.name):
        return True
    is_long = {"model", "dataset"} <= {*roles} and any(map(rate_score, table.columns.values()))
    return is_long and FEW * len(column.names) <= table.size


def list_varying(table: Table, roles: Mapping[str, str], used: Collection[str]) -> list[str]:
    """List the columns in which rows of the same names differ, and that are not used.

    Parameters
    ----------
    table : Table
        What the files hold.
    roles : mapping of str to str
        The columns of names.
    used : collection of str
        Columns that are looked at otherwise, such as those of scores.

    Returns
    -------
    list of str
        Without scores, spreads, and what says of a run when, where and how long it was.
    """
    codes = _number_names(table, roles)
    names = [codes[name] for role, name in roles.items() if role != "split"]
    return [
        column.name
        for column in table.columns.values()
        if column.name not in {*roles.values(), *used}
        and not is_metadata(column.name)
        and not is_statistic(column.name)
        and not rate_score(column)
        and _count_keys([*names, codes[column.name]]) > _count_keys(names)
    ]


def is_part(table: Table, name: str, roles: Mapping[str, str]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles}:
        return False
    own = table.columns[name]
    pairs = {
        role: len({*zip(own.texts, table.columns[roles[role]].texts, strict=True)})
        for role in ("model", "dataset")
    }
    is_nested = pairs["dataset"] == len({*own.texts}) < pairs["model"]
    return is_nested and len(table.columns[roles["dataset"]].names) > 1


def _count_keys(columns: Sequence[npt.NDArray[np.intp]]) -> int:
    return len(np.unique(np.column_stack(columns), axis=0)) if columns else 1
