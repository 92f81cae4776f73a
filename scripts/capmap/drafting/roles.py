"""What each column, part of a path and part of a header is: a name, or something beside scores."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from capmap.drafting import words
from capmap.drafting.paths import find_slots, label_slot
from capmap.drafting.tables import PART, Column, Table
from capmap.drafting.words import WORDS, has_word, rate_role, rate_values, split_words
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import is_attribute

NAMING = ("seed", "metric", "dataset", "model", "split")
SURE = 2.0
# From this difference on, names say whether rows are models or datasets.
LIKELY = 0.3
PERCENT = 100.0
# More names than that, one in each row, are identities of rows.
MOST_ROWS = 50


def name_columns(table: Table, *, taken: Collection[str] = ()) -> dict[str, Any]:
    """Find the columns whose names or values say their roles; `taken` roles have theirs already."""
    found: dict[str, Any] = {}
    for role in NAMING:
        rated = {
            name: rate_name(column, role)
            for name, column in table.columns.items()
            if name not in found.values() and role not in taken
        }
        best = max(rated, key=lambda name: rated[name], default="")
        if best and rated[best] >= SURE:
            found[role] = best
    return found


def rate_name(column: Column, role: str) -> float:
    """Rate a column of names: 2 and more are sure enough."""
    if not column.names or (column.is_number and not column.is_whole):
        return 0.0
    text = column.name if column.label is None else column.label
    # Of a header of several rows, such a corner names these rows.
    text = "" if SEPARATOR in text else re.sub(r"(?<=\S) *\([^()]*\)$", "", text)
    by_name, by_value = rate_role(text, role), rate_values(column.names, role)
    if column.is_field and text in {"data", "benchmark", "benchmarks"}:
        by_name = 0
    exact = 0.5 * (split_words(text)[-1:] == [role])
    if role == "seed":
        is_named = by_name == 3 and by_value >= 0.5
        is_number = by_value == 1 and column.is_whole
        own = (by_name + exact) * column.filled + SURE * column.is_field
        return own * (is_named or is_number)
    if role in ("metric", "split"):
        return by_name * (by_value > 0 or role == "metric") + SURE * (by_value > 0.5)
    other = rate_values(column.names, "dataset" if role == "model" else "model")
    return by_name + max(by_value - other, 0) * (1 + column.is_field) + exact


def list_scores(table: Table, taken: Collection[str]) -> list[Column]:
    """List the columns that may hold scores: numbers that are neither attributes nor spreads."""
    numbers = {name: own for name, own in table.columns.items() if own.is_number}
    return [
        column
        for name, column in numbers.items()
        if name not in taken
        and rate_role(name, "step") < 2
        and not (words.is_beside(name) or is_attribute(name))
    ]


def choose_scores(scores: Sequence[Column], roles: Mapping[str, Any]) -> list[Column]:
    """Choose the value beside a column of metrics, or the metric that each row has; else all."""
    # Large whole numbers beside shares or percentages count something.
    fine = [own for own in scores if not own.is_whole or own.largest <= PERCENT]
    if fine and all(own.largest <= PERCENT for own in fine):
        scores = [own for own in scores if own in fine or words.rate_score(own.name)]
    values = [own for own in scores if rate_role(own.name, "score") >= 2]
    if "metric" in roles and values:
        return [max(values, key=lambda own: (own.filled, words.rate_score(own.name)))]
    known = [own for own in scores if words.find_known(own.name)]
    known = [own for own in known if words.rate_score(own.name) > 1]
    rows = {own.name: frozenset(own.texts.index[own.texts != ""]) for own in known}
    every = frozenset[int]().union(*rows.values())
    chosen, covered = [], frozenset[int]()
    for own in sorted(known, key=lambda own: -own.filled):
        if rows[own.name] and not covered & rows[own.name]:
            chosen.append(own.name)
            covered |= rows[own.name]
    is_whole = len(chosen) > 1 and covered == every
    return [own for own in scores if own.name in chosen or not is_whole]


def melt(table: Table, scores: Sequence[Column], roles: Mapping[str, Any]) -> Table:
    """Give each filled cell of several columns of scores a row, and its header columns."""
    names = [own.name for own in scores]
    if len(names) == 1:
        return table
    pieces = find_slots(names)
    slots = [at for at, piece in enumerate(pieces) if not isinstance(piece, str)]
    fixed = [word for piece in pieces if isinstance(piece, str) for word in split_words(piece)]
    # What columns have in common is no part of names, as in acc_{seed}.
    is_open = len(slots) == 1 and not all(map(_says_no_name, fixed))
    if len(slots) == 1 and {"model", "dataset"} <= {*roles}:
        rated = [rate_values(pieces[slots[0]], role) for role in ("metric", "seed", "split")]
        is_open |= max(rated) <= 0.5
    if is_open:
        pieces, slots = [tuple(names)], [0]
    heads = {f"{PART}{at}": dict(zip(names, pieces[at], strict=True)) for at in slots}
    labels = {f"{PART}{at}": label_slot(pieces, at) for at in slots}
    if len(pieces) == 1 and _are_measures(names, {*roles}):
        labels[f"{PART}0"] = "metric"
    rest = [name for name in table.columns if name not in names]
    cells = table.cells.melt(rest, names, var_name=PART, value_name=SEPARATOR)
    cells = cells[cells.pop(SEPARATOR) != ""]
    for name, said in heads.items():
        cells[name] = cells[PART].map(said).astype("str")
    return Table(cells, table.options, {**table.labels, **labels}, pieces)


def _says_no_name(word: str) -> bool:
    is_value = rate_role(word, "score") > 0 or rate_role(word, "metric") > 0
    return is_value or bool(words.find_known(word)) or words.is_label(word) or word in words.SPLITS


def _are_measures(names: Sequence[str], known: Collection[str]) -> bool:
    """Whether columns are metrics: others name models and datasets, or they vary in metrics."""
    if {"model", "dataset"} <= {*known} and rate_values(names, "seed") < 1:
        return True
    if not {"model", "dataset"} & {*known} or rate_values(names, "dataset") >= LIKELY:
        return False
    parts = {*words.SPLITS, *WORDS["training"], *WORDS["averages"], "pred", "prediction"}
    split = [split_words(name) for name in names]
    found = [(own, [word for word in own if words.find_known(word)]) for own in split]
    metrics = {own[-1] for _, own in found if own}
    rests = {frozenset(every) - {*own} - parts for every, own in found if own}
    return len(metrics) > max(len(rests), 1)


def fill_gaps(table: Table, roles: dict[str, Any], *, taken: Collection[str] = ()) -> str:
    """Let parts of paths and headers, then columns of text, be what no name says.

    Returns
    -------
    str
        What has to be asked.
    """
    free = _list_free(table, roles)
    paths = [own for own in free if own.is_field and not own.name.startswith(PART)]
    heads = [own for own in free if own.name.startswith(PART)]
    rows = [own for own in free if not own.is_field]
    missing = [role for role in ("model", "dataset") if role not in {*roles, *taken}]
    if len(missing) == 1:
        rows.sort(key=lambda own: -len(own.names))
    asked = ""
    own_rows = rows[:1] if len(missing) == 2 else []
    if own_rows and len(paths) + len(heads) < 2:
        first = rows[0]
        as_model = rate_values(first.names, "model") - rate_values(first.names, "dataset")
        for other in [*paths, *heads]:
            as_model += rate_values(other.names, "dataset") - rate_values(other.names, "model")
        role = "dataset" if as_model < 0 else "model"
        roles[role] = first.name
        missing.remove(role)
    for column in dict.fromkeys([*paths, *heads, *rows]):
        others = [table.columns[roles[k]] for k in ("model", "dataset") if k in roles]
        if not missing or column.name in roles.values() or _repeat(table, column, others):
            continue
        roles[missing[0]] = column.name
        if not column.is_field and len(rows) > 1:
            asked = f"Are {column.name!r} {missing[0]}s? No name says so."
        missing = missing[1:]
    return asked


def _list_free(table: Table, roles: Mapping[str, Any]) -> list[Column]:
    """List the columns without a role that may name models or datasets."""
    return [
        own
        for name, own in table.columns.items()
        if name not in roles.values()
        and (own.is_field or not own.is_number)
        and len(own.names) > (not own.is_field)
        and (own.is_field or not _is_of_rows(own, table))
    ]


def _repeat(table: Table, column: Column, others: Sequence[Column]) -> bool:
    """Whether a column differs just as another does, so that it says the same."""
    sizes = [max(len(own.names), len(column.names)) for own in others]
    counts = [table.count([column.name, own.name]) for own in others]
    return any(size == count > 1 for size, count in zip(sizes, counts, strict=True))


def _is_of_rows(column: Column, table: Table) -> bool:
    """Whether a column of text names rows, or how models were evaluated, rather than models."""
    is_identity = len(column.names) == table.size > MOST_ROWS
    is_protocol = rate_role(column.name, "protocol") >= 2
    return is_identity or is_protocol or words.is_metadata(column.name)


def find_step(table: Table, roles: Mapping[str, Any]) -> str:
    """Find the step of a log, in which nearly all rows of the same names differ."""
    named = list(dict.fromkeys([*roles.values(), *table.labels]))
    for name, column in table.columns.items():
        is_step = column.is_number and len(column.names) > 1 and rate_role(name, "step") >= 2
        if is_step and name not in named:
            return name
    return ""


def name_split(names: Collection[str]) -> str:
    """The split that is reported, of several; "" where there is no choice."""
    ordered = sorted(names, key=lambda name: (len(name), name)) if len(names) > 1 else []
    return next((name for split in words.SPLITS for name in ordered if has_word(name, {split})), "")


def find_variants(table: Table, names: Sequence[str], *, only_fields: bool) -> list[str]:
    """Find the columns that distinguish rows of the same names, such as settings of models.

    Parts of paths come first, then columns of text, then of numbers that are settings; none is
    needed that tells no further rows apart. ``only_fields`` is whether rows of one file may repeat.
    """
    free = [
        column
        for name, column in table.columns.items()
        if name not in names and (column.is_field or (not only_fields and _may_name(column, table)))
    ]
    free.sort(key=lambda own: (not own.is_field, own.is_number, len(own.names)))
    chosen: list[str] = []
    for column in free:
        known = [*names, *chosen]
        if table.count([*known, column.name]) > table.count(known):
            chosen.append(column.name)
    return chosen


def _may_name(column: Column, table: Table) -> bool:
    """Whether a column may be part of names: words, or numbers of a setting, such as the shots."""
    count, name = len(column.names), column.name
    if words.is_metadata(name) or not 1 < count < table.size:
        return False
    if not column.is_number:
        return column.share == 0
    is_statistic = words.is_beside(name) and has_word(name, WORDS["statistics"] - {"n", "count"})
    return not (is_statistic or words.rate_score(name)) and 2 * count <= table.size


def is_part(table: Table, name: str, roles: Mapping[str, Any]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles} or len(table.columns[roles["dataset"]].names) < 2:
        return False
    of_models, of_datasets = (table.count([name, roles[role]]) for role in ("model", "dataset"))
    return table.count([name]) == of_datasets < of_models


def find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    own, found = split_words(score), dict[str, str]()
    rests: tuple[list[str], ...] = ([], own, own[:-1], own[1:])
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            said = split_words(name)
            rest = [word for word in said if word not in words.ROLES[role]]
            is_beside_it = (rest != said and rest in rests) or "".join(said) in words.ROLES[role]
            if column.is_number and name != score and is_beside_it:
                found.setdefault(role, name)
    return found if "spread" in found else {}
