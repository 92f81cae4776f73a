"""What each column of a table is: a name, a part of one, a score, or something beside them."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from capmap.drafting.tables import Column, Table
from capmap.drafting.words import (
    BOUNDS,
    ROLES,
    SPLITS,
    is_metadata,
    is_size,
    is_statistic,
    rate_role,
    rate_values,
    split_words,
)
from capmap.exports.cells import SEPARATOR, make_texts
from capmap.exports.doubts import is_attribute
from capmap.exports.numbers import parse_numbers
from capmap.metrics import find_metric
from capmap.patterns import Pattern
from capmap.settings.presets import list_presets
from capmap.wording import list_names, quote_name

NAMING = ("seed", "metric", "dataset", "model", "split")
# More names than that, one in each row, are identities of rows.
MOST_ROWS = 50
SURE = 2.0
# Folders that hold everything, whatever it is of.
FOLDERS = frozenset({"data", "benchmark", "benchmarks"})
MOSTLY_APART = 0.9
TRAINING = frozenset({"train", "training"})
BESIDE_TEST = TRAINING | {"val", "valid", "validation", "dev"}
# What a name of several words is rated lower.
LONGER = 0.2
EPS = 1e-9


def assign_roles(table: Table, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Find the columns of names, splits and steps.

    Parameters
    ----------
    table : Table
        What the files hold.
    taken : collection of str
        Roles that have their columns already.

    Returns
    -------
    dict of str to str
        Role and column; those that no column fills are not in it.
    """
    found: dict[str, str] = {}
    for role in NAMING:
        if role in taken:
            continue
        rated = [
            (_rate_name(column, role, table.size), -place, name)
            for place, (name, column) in enumerate(table.columns.items())
            if name not in found.values()
        ]
        best = max(rated, default=(0.0, 0, ""))
        if best[0] >= SURE:
            found[role] = best[2]
    _fill_gaps(table, found, taken)
    if "step" not in taken:
        steps = [
            name
            for name, column in table.columns.items()
            if column.is_number
            and len(column.names) > 1
            and name not in found.values()
            and rate_role(name, "step") >= 2
            and _counts_steps(table, found, name)
        ]
        found |= {"step": steps[0]} if steps else {}
    return found


def _counts_steps(table: Table, found: Mapping[str, str], name: str) -> bool:
    """Whether nearly all rows of the same names differ in a column."""
    names = {*found.values(), name} | {own for own in table.columns if table.columns[own].is_field}
    rows = {*zip(*(table.columns[own].texts for own in sorted(names)), strict=True)}
    return len(rows) >= MOSTLY_APART * table.size


def _rate_name(column: Column, role: str, size: int) -> float:
    """Rate a column of names: 2 and more are sure enough."""
    if not column.names or (column.is_number and not column.is_whole):
        return 0.0
    text = column.label if column.is_field else column.name
    # Of a header of several rows, such a corner names these rows.
    text = "" if SEPARATOR in text else re.sub(r"(?<=\S) *\([^()]*\)$", "", text)
    by_name, by_value = rate_role(text, role), rate_values(column.names, role)
    if column.is_field and text in FOLDERS:
        by_name = 0
    if role == "seed":
        is_named = by_name == 3 and by_value >= 0.5
        if not is_named and (by_value < 1 or not column.is_whole):
            return 0.0
        share = sum(column.filled) / len(column.filled)
        return (by_name + 0.5 * (split_words(text)[-1:] == [role])) * share + SURE * column.is_field
    if role in ("metric", "split"):
        return by_name * (by_value > 0 or role == "metric") + SURE * (by_value > 0.5)
    is_identity = len(column.names) == size > MOST_ROWS and not column.is_field
    by_name = 0 if is_identity and by_name < 3 else by_name
    other = rate_values(column.names, "dataset" if role == "model" else "model")
    values = SURE * max(by_value - other, 0) if column.is_field else by_value
    return by_name + values + 0.5 * (split_words(text)[-1:] == [role])


def _fill_gaps(table: Table, found: dict[str, str], taken: Collection[str]) -> None:
    """Let fields of paths and keys, then columns of text, be what nothing was found for."""
    free = [
        column
        for column in table.columns.values()
        if column.name not in found.values()
        and (column.is_field or not column.is_number)
        and len(column.names) > 1
    ]
    for fields in (True, False):
        for column in free:
            missing = [role for role in ("model", "dataset") if role not in {*found, *taken}]
            other = {"model", "dataset"} & {*found}
            # Of a wide table, other columns say what its rows are.
            is_long = fields or len(list_scores(table, found.values())) == 1
            wide = any(not table.columns[found[role]].is_field for role in other)
            if (
                column.is_field == fields
                and missing
                and (is_long or other)
                and (fields or not wide)
            ):
                found[missing[0]] = column.name


def list_scores(table: Table, found: Collection[str]) -> list[Column]:
    """List the columns that may hold scores: numbers that are neither attributes nor spreads."""
    return [
        column
        for column in table.columns.values()
        if column.is_number
        and column.name not in found
        and not _is_statistic(table, column)
        and not is_attribute(column.name)
        and not is_size(column.name)
        and not column.name.startswith("Unnamed: ")
    ]


def _is_statistic(table: Table, column: Column) -> bool:
    """Whether a column is a spread, a count, or a bound of what another column holds."""
    *rest, last = split_words(column.name) or [""]
    if not rest or last not in BOUNDS:
        return is_statistic(column.name)
    beside = [
        other
        for other in table.columns.values()
        if split_words(other.name) in (rest, *([*rest, word] for word in BOUNDS - {last}))
    ]
    return any(_is_ordered(column, other) for other in beside)


def _is_ordered(column: Column, other: Column) -> bool:
    """Whether one column is nowhere larger, or nowhere smaller, than another."""
    pairs = [pair for pair in zip(column.texts, other.texts, strict=True) if all(pair)]
    values = [parse_numbers(make_texts([*side])).values for side in zip(*pairs, strict=True)]
    if len(values) < 2:
        return False
    apart = values[0] - values[1]
    return bool((apart >= 0).all() or (apart <= 0).all())


def rate_score(column: Column) -> float:
    """Rate a column by its name as that of the scores of a row per run; 0 means it is none."""
    words = split_words(column.name)
    rating = float(rate_role(column.name, "score"))
    if find_known(column.name):
        rating = max(rating, 2.5)
    elif not rating and rate_role(column.name, "metric"):
        rating = 2.0
    if not rating:
        return 0.0
    rating += 0.3 * ("test" in words) - 1.5 * (not BESIDE_TEST.isdisjoint(words))
    rating -= 0.2 * (not TRAINING.isdisjoint(words))
    return rating - LONGER * (len(words) > 1)


def doubt_score(column: Column, others: Sequence[Column]) -> str:
    """Ask whether a column is that of scores; "" where the names of others leave no doubt.

    Parameters
    ----------
    column : Column
        The one that is taken.
    others : sequence of Column
        All columns of scores.
    """
    rivals = [
        other.name
        for other in others
        if other.name != column.name
        and 0 < rate_score(other) >= rate_score(column) - LONGER * _is_other(column, other) - EPS
    ]
    if rivals:
        return f"Scores are in {quote_name(column.name)}: are they, or in {list_names(rivals)}?"
    words = {*split_words(column.name)}
    trained = [other.name for other in others if not TRAINING.isdisjoint(split_words(other.name))]
    if not TRAINING.isdisjoint(words):
        return f"Scores are in {quote_name(column.name)}, of training: is there no test?"
    if trained and not BESIDE_TEST.isdisjoint(words):
        return f"Scores are in {quote_name(column.name)}, of validation: is there no test?"
    return ""


def _is_other(column: Column, other: Column) -> bool:
    """Whether two columns are of two known metrics."""
    first, second = (find_metric(find_known(own.name)) for own in (column, other))
    return first is not None and second is not None and first != second


def find_known(name: str) -> str:
    """Find the metric that the end of a name is known as; "" where none is.

    Examples
    --------
    >>> find_known("metrics.test.accuracy"), find_known("lr")
    ('accuracy', '')
    """
    parts = [*re.split(r"[/.] ?", name)[-1:], name]
    return next((part for part in parts if find_metric(part) is not None), "")


def split_by_metric(columns: Sequence[Column]) -> list[str]:
    """Find columns of known metrics of which each row fills one: the metric of its dataset."""
    known = [column for column in columns if find_known(column.name) and rate_score(column) > 1]
    known.sort(key=lambda column: -sum(column.filled))
    filled = [np.array(column.filled) for column in known]
    for first, rows in enumerate(filled):
        chosen, covered = [first], rows.copy()
        for place, own in enumerate(filled):
            if not (covered & own).any():
                chosen.append(place)
                covered |= own
        if len(chosen) > 1 and (covered == np.any(filled, axis=0)).all():
            return [known[place].name for place in chosen]
    return []


def find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    words = split_words(score)
    found = {}
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            own = split_words(name)
            rest = [word for word in own if word not in ROLES[role]]
            is_beside = own != rest and rest in ([], words, words[:-1])
            is_beside |= "".join(own) in ROLES[role]
            if column.is_number and name != score and is_beside and role not in found:
                found[role] = name
    return found if "spread" in found else {}


def name_split(names: Collection[str]) -> str:
    """The split that is reported, of several; "" where there is no choice."""
    if len(names) < 2:
        return ""
    words = {name: split_words(name) for name in sorted(names, key=lambda name: (len(name), name))}
    return next((name for split in SPLITS for name in words if split in words[name]), "")


def find_preset(columns: Collection[str]) -> str:
    """Find the preset for files with some columns; "" where there is none.

    Examples
    --------
    >>> find_preset(["model", "img_size", "top1", "top1_err"])
    'timm'
    """
    for name, preset in list_presets().items():
        wanted = [Pattern(text) for text in preset.get("known_by", ())]
        if wanted and all(
            any(pattern.match(column) is not None for column in columns) for pattern in wanted
        ):
            return name
    return ""


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
