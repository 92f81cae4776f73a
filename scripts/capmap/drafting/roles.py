"""What each column of a table is: a name, a part of one, a score, or something beside them."""

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from capmap.drafting.tables import Column, Table
from capmap.drafting.words import (
    ROLES,
    SPLITS,
    WORDS,
    has_word,
    is_beside,
    is_metadata,
    rate_role,
    rate_values,
    split_words,
)
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import is_attribute
from capmap.metrics import find_metric

NAMING = ("seed", "metric", "dataset", "model", "split")
SURE = 2.0
# More names than that, one in each row, are identities of rows.
MOST_ROWS = 50
# Folders that hold everything, whatever it is of.
FOLDERS = frozenset({"data", "benchmark", "benchmarks"})
MOSTLY_APART = 0.9
TRAINING = frozenset({"train", "training"})
BESIDE_TEST = TRAINING | {"val", "valid", "validation", "dev"}
# So much worse is a column of validation, or a name that is rather something else.
CLEARLY = 0.4
MOST_VARIANTS = 10
# So often each value of a setting occurs on average.
FEW = 2


def assign_roles(table: Table, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Find the columns of names, splits and steps, by role; `taken` roles have theirs already."""
    found: dict[str, str] = {}
    for role in NAMING:
        rated = {
            name: _rate_name(column, role, table.size)
            for name, column in table.columns.items()
            if name not in found.values()
        }
        best = max(rated, key=lambda name: rated[name], default="")
        if best and rated[best] >= SURE and role not in taken:
            found[role] = best
    _fill_gaps(table, found, taken)
    named = {*found.values()} | {name for name, own in table.columns.items() if own.is_field}
    for name, column in table.columns.items():
        is_step = column.is_number and len(column.names) > 1 and rate_role(name, "step") >= 2
        is_free = name not in named and "step" not in {*taken, *found}
        # Nearly all rows of the same names differ in it.
        if is_step and is_free and table.count([*named, name]) >= MOSTLY_APART * table.size:
            found["step"] = name
    return found


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
    exact = 0.5 * (split_words(text)[-1:] == [role])
    if role == "seed":
        is_named = by_name == 3 and by_value >= 0.5
        is_number = by_value == 1 and column.is_whole
        share = sum(map(bool, column.texts)) / len(column.texts)
        return ((by_name + exact) * share + SURE * column.is_field) * (is_named or is_number)
    if role in ("metric", "split"):
        return by_name * (by_value > 0 or role == "metric") + SURE * (by_value > 0.5)
    if len(column.names) == size > MOST_ROWS and not column.is_field and by_name < 3:
        by_name = 0
    other = rate_values(column.names, "dataset" if role == "model" else "model")
    return by_name + (SURE * max(by_value - other, 0) if column.is_field else by_value) + exact


def _fill_gaps(table: Table, found: dict[str, str], taken: Collection[str]) -> None:
    """Let fields of paths and keys, then columns of text, be what nothing was found for."""
    free = [
        column
        for column in table.columns.values()
        if column.name not in found.values()
        and (column.is_field or not column.is_number)
        and len(column.names) > 1
    ]
    for column in sorted(free, key=lambda column: not column.is_field):
        missing = [role for role in ("model", "dataset") if role not in {*found, *taken}]
        other = [table.columns[found[role]] for role in ("model", "dataset") if role in found]
        # Of a wide table, other columns say what its rows are.
        is_long = len(list_scores(table, found.values())) == 1 or bool(other)
        # What differs as the other names do says the same.
        if other and table.count([column.name, other[0].name]) == len(other[0].names):
            continue
        if missing and (column.is_field or (is_long and all(own.is_field for own in other))):
            found[missing[0]] = column.name


def list_scores(table: Table, found: Collection[str]) -> list[Column]:
    """List the columns that may hold scores: numbers that are neither attributes nor spreads."""
    return [
        column
        for name, column in table.columns.items()
        if column.is_number
        and name not in found
        and not (is_beside(name) or is_attribute(name) or name.startswith("Unnamed: "))
    ]


def rate_score(column: Column) -> float:
    """Rate a column by its name as that of the scores of a row per run; 0 means it is none."""
    rating = 2.5 * bool(find_known(column.name)) or float(rate_role(column.name, "score"))
    rating = rating or SURE * bool(rate_role(column.name, "metric"))
    if not rating:
        return 0.0
    rating += 0.3 * has_word(column.name, {"test"}) - 0.2 * has_word(column.name, TRAINING)
    return rating - 1.5 * has_word(column.name, BESIDE_TEST)


def list_rivals(best: Column, scores: Sequence[Column]) -> list[str]:
    """List the columns that may as well be those of scores as the best one."""
    least = rate_score(best) and max(rate_score(best) - CLEARLY, 1e-9)
    rivals = [own.name for own in scores if own.name != best.name and rate_score(own) >= least]
    if has_word(best.name, BESIDE_TEST):
        rivals += [own.name for own in scores if has_word(own.name, TRAINING)]
    return list(dict.fromkeys(rivals))


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
    filled = {own.name: {row for row, text in enumerate(own.texts) if text} for own in known}
    every = set[int]().union(*filled.values())
    for first in sorted(filled, key=lambda name: -len(filled[name])):
        chosen, covered = [first], {*filled[first]}
        for name, rows in filled.items():
            if not covered & rows:
                chosen.append(name)
                covered |= rows
        if len(chosen) > 1 and covered == every:
            return chosen
    return []


def find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    words, found = split_words(score), dict[str, str]()
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            own = split_words(name)
            rest = [word for word in own if word not in ROLES[role]]
            is_beside_it = rest != own and rest in ([], words, words[:-1])
            is_beside_it |= "".join(own) in ROLES[role]
            if column.is_number and name != score and is_beside_it:
                found.setdefault(role, name)
    return found if "spread" in found else {}


def name_split(names: Collection[str]) -> str:
    """The split that is reported, of several; "" where there is no choice."""
    ordered = sorted(names, key=lambda name: (len(name), name)) if len(names) > 1 else []
    return next((name for split in SPLITS for name in ordered if has_word(name, {split})), "")


def find_variants(table: Table, roles: Mapping[str, str], *, only_fields: bool) -> list[str]:
    """Find the columns that distinguish rows of the same names, such as variants of models.

    As few as distinguish most rows: all parts of paths and keys that do, then one or two columns,
    rather of words than of numbers, where these distinguish all rows. ``only_fields`` is whether
    rows of one file may repeat, as those of logs do.
    """
    table, names = _select_split(table, roles)
    fields: list[str] = []
    free: list[str] = []
    for name, column in table.columns.items():
        if name in roles.values():
            continue
        if column.is_field:
            own = [*names, *fields]
            fields += [name] if table.count([*own, name]) > table.count(own) else []
        elif not is_metadata(name) and _may_name(table, column, roles):
            free.append(name)
    if only_fields:
        return fields
    free.sort(key=lambda name: (table.columns[name].kinds[0] == 1, len(table.columns[name].names)))
    groups = [(), *((name,) for name in free), *combinations(free[:MOST_VARIANTS], 2)]
    fine = (own for own in groups if table.count([*names, *fields, *own]) == table.size)
    return [*fields, *next(fine, ())]


def _select_split(table: Table, roles: Mapping[str, str]) -> tuple[Table, list[str]]:
    """Keep the rows of the split that counts, and list the columns of names."""
    if "split" in roles and (split := name_split(table.columns[roles["split"]].names)):
        table = table.select([text == split for text in table.columns[roles["split"]].texts])
    return table, [name for role, name in roles.items() if role != "split"]


def _may_name(table: Table, column: Column, roles: Mapping[str, str]) -> bool:
    """Whether a column may be part of names: words, or numbers of a setting, such as the shots."""
    if column.kinds[0] < 1:
        return 1 < len(column.names) < table.size
    if split_words(column.name)[-1:] and split_words(column.name)[-1] in WORDS["statistics"]:
        return False
    if rate_score(column) or len(column.names) < 2:
        return False
    is_long = {"model", "dataset"} <= {*roles} and any(map(rate_score, table.columns.values()))
    is_repeated = is_long and FEW * len(column.names) <= table.size
    return is_beside(column.name) or is_attribute(column.name) or is_repeated


def is_part(table: Table, name: str, roles: Mapping[str, str]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles} or len(table.columns[roles["dataset"]].names) < 2:
        return False
    of_models, of_datasets = (table.count([name, roles[role]]) for role in ("model", "dataset"))
    return table.count([name]) == of_datasets < of_models
