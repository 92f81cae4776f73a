"""What each column of a table is: a name, a part of one, a score, or something beside them."""

import re
from collections.abc import Collection, Mapping, Sequence

from capmap.drafting.paths import Piece, find_slots, label_slot, write_pattern
from capmap.drafting.tables import Column, Table
from capmap.drafting.words import (
    ROLES,
    SPLITS,
    WORDS,
    find_known,
    guess_direction,
    has_word,
    is_beside,
    is_label,
    is_metadata,
    list_ends,
    rate_role,
    rate_values,
    split_words,
)
from capmap.exports.cells import SEPARATOR
from capmap.exports.doubts import is_attribute

NAMING = ("seed", "metric", "dataset", "model", "split")
SURE = 2.0
# More names than that, one in each row, are identities of rows.
MOST_ROWS = 50
MOSTLY_APART = 0.9
BESIDE_TEST = WORDS["training"] | {"val", "valid", "validation", "dev"}
# So much worse is a column that is no rival of the best column of scores.
CLEARLY = 0.4
# A column with a smaller part of the cells of another is sparse beside it.
SPARSE = 0.5
CLASS_PATH = re.compile(r"\w+([./]\w+)+")


def assign_roles(table: Table, *, taken: Collection[str] = ()) -> dict[str, str]:
    """Find the columns of names, splits and steps, by role; `taken` roles have theirs already."""
    found: dict[str, str] = {}
    for role in NAMING:
        rated = {
            name: _rate_name(column, role, table.size)
            for name, column in table.columns.items()
            if name not in found.values() and role not in taken
        }
        best = max(rated, key=lambda name: rated[name], default="")
        if best and rated[best] >= SURE:
            found[role] = best
    _fill_gaps(table, found, taken)
    if {"model", "dataset"} <= {*found}:
        found["model"] = _narrow(table, found)
    named = {*found.values(), *table.labels}
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
    if len(column.names) == size > MOST_ROWS and not column.is_field and by_name < 3:
        by_name = 0
    other = rate_values(column.names, "dataset" if role == "model" else "model")
    return by_name + (SURE * max(by_value - other, 0) if column.is_field else by_value) + exact


def is_named(table: Table, roles: Mapping[str, str]) -> bool:
    """Whether names say which columns are models or datasets."""
    rated = [_rate_name(table.columns[roles[k]], k, table.size) for k in ("model", "dataset")]
    return max(rated) >= SURE


def _fill_gaps(table: Table, found: dict[str, str], taken: Collection[str]) -> None:
    """Let fields of paths, then columns of text with most names, be what nothing was found for."""
    free = [
        column
        for name, column in table.columns.items()
        if name not in found.values() and not column.is_number and len(column.names) > 1
    ]
    free = [own for own in free if own.is_field or not (_is_of_rows(own, table))]
    has_one = len({"model", "dataset"} & {*found, *taken}) == 1
    free.sort(key=lambda own: (not own.is_field, -len(own.names) * has_one))
    # Of a wide table, other columns say what its rows are.
    scores = list_scores(table, found.values())
    is_long = _is_long(scores)
    for column in free:
        missing = [role for role in ("model", "dataset") if role not in {*found, *taken}]
        others = [table.columns[found[role]] for role in ("model", "dataset") if role in found]
        # What differs as the other names do says the same.
        if not missing or any(
            table.count([column.name, own.name]) == max(len(own.names), len(column.names))
            for own in others
        ):
            continue
        is_row = is_long or all(own.is_field for own in others)
        if column.is_field or (is_row and (others or len(scores) == 1)):
            found[missing[0]] = column.name


def _is_long(scores: Sequence[Column]) -> bool:
    """Whether a column of scores stands out; beside many others an average does not."""
    others = [own for own in scores if not rate_score(own)]
    best = [own for own in scores if rate_score(own) >= SURE]
    is_average = len(others) > 1 and all(has_word(own.name, WORDS["averages"]) for own in best)
    return len(scores) == 1 or (bool(best) and not is_average)


def _is_of_rows(column: Column, table: Table) -> bool:
    """Whether a column of text names rows, or how models were evaluated, rather than models."""
    is_identity = len(column.names) == table.size > MOST_ROWS
    return is_identity or is_metadata(column.name) or rate_role(column.name, "protocol") >= 2


def _narrow(table: Table, found: Mapping[str, str]) -> str:
    """Take the narrower of nested columns of models, such as a short name beside a class path."""
    best = table.columns[found["model"]]
    for name, column in table.columns.items():
        if name in found.values() or column.is_number or column.is_field or best.is_field:
            continue
        is_path = all(map(CLASS_PATH.fullmatch, best.names)) and not _is_of_rows(column, table)
        is_nested = table.count([name, best.name]) == len(column.names) > len(best.names)
        is_crossed = table.count([name, found["dataset"]]) > len(column.names)
        if is_nested and is_crossed and (is_path or rate_role(name, "model") >= 2):
            best = column
    return best.name


def list_scores(table: Table, taken: Collection[str]) -> list[Column]:
    """List the columns that may hold scores: numbers that are neither attributes nor spreads."""
    numbers = {name: own for name, own in table.columns.items() if own.is_number}
    ends = list_ends(numbers)
    return [
        column
        for name, column in numbers.items()
        if name not in {*taken, *ends}
        and not (is_beside(name) or is_attribute(name) or name.startswith("Unnamed: "))
    ]


def rate_score(column: Column) -> float:
    """Rate a column by its name as that of the scores of a row per run; 0 means it is none."""
    rating = 2.5 * bool(find_known(column.name)) or float(rate_role(column.name, "score"))
    rating = rating or SURE * bool(rate_role(column.name, "metric"))
    if not rating:
        return 0.0
    rating += 0.3 * has_word(column.name, {"test"}) - 0.2 * has_word(column.name, WORDS["training"])
    return rating - 1.5 * has_word(column.name, BESIDE_TEST)


def choose_score(table: Table, roles: Mapping[str, str], scores: Sequence[Column]) -> list[str]:
    """Choose the column, or the columns, of scores of a row per run; none of a wide table."""
    named = {"model", "dataset"} & {*roles}
    values = [own for own in scores if rate_role(own.name, "score") >= 2]
    # The value beside a column of names of quantities is what these name.
    if "metric" in roles and values and table.count([roles["metric"]]) > 1:
        return [max(values, key=lambda own: (own.filled, rate_score(own))).name]
    others = [own for own in scores if not rate_score(own)]
    called = [own for own in values if rate_role(own.name, "score") == 3] or values
    is_value = len(called) == 1 and bool(named) and not others
    if len(named) < 2 and len(scores) > 1 and not is_value:
        return []
    if several := _split_by_metric(scores):
        return several
    most = max(own.filled for own in scores)
    dense = [own for own in scores if own.filled >= SPARSE * most]
    best = max(dense, key=rate_score)
    return [best.name] if rate_score(best) or len(dense) == 1 else []


def _split_by_metric(columns: Sequence[Column]) -> list[str]:
    """Find columns of known metrics of which each row fills one: the metric of its dataset."""
    known = [own for own in columns if find_known(own.name) and rate_score(own) > 1]
    rows = {own.name: frozenset(own.texts.index[own.texts != ""]) for own in known}
    every = frozenset[int]().union(*rows.values())
    for first in sorted(rows, key=lambda name: -len(rows[name])):
        chosen, covered = [first], rows[first]
        for name, own in rows.items():
            if own and not covered & own:
                chosen.append(name)
                covered |= own
        if len(chosen) > 1 and covered == every:
            return chosen
    return []


def list_rivals(best: Column, scores: Sequence[Column]) -> list[str]:
    """List the columns that may as well be those of scores as the best one."""
    least = rate_score(best) and max(rate_score(best) - CLEARLY, 1e-9)
    rivals = [own.name for own in scores if own.name != best.name and rate_score(own) >= least]
    if has_word(best.name, BESIDE_TEST):
        rivals += [own.name for own in scores if has_word(own.name, WORDS["training"])]
    return [name for name in dict.fromkeys(rivals) if name != best.name]


def find_spread(table: Table, score: str) -> dict[str, str]:
    """Find the columns of the spread and the number of the runs behind a column of means."""
    words, found = split_words(score), dict[str, str]()
    rests = ([], words, words[:-1], words[1:])
    for role in ("spread", "count"):
        for name, column in table.columns.items():
            own = split_words(name)
            rest = [word for word in own if word not in ROLES[role]]
            is_beside_it = (rest != own and rest in rests) or "".join(own) in ROLES[role]
            if column.is_number and name != score and is_beside_it:
                found.setdefault(role, name)
    return found if "spread" in found else {}


def name_split(names: Collection[str]) -> str:
    """The split that is reported, of several; "" where there is no choice."""
    ordered = sorted(names, key=lambda name: (len(name), name)) if len(names) > 1 else []
    return next((name for split in SPLITS for name in ordered if has_word(name, {split})), "")


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
    for name in chosen[:-1]:
        rest = [other for other in chosen if other != name]
        if table.count([*names, *rest]) == table.count([*names, *chosen]):
            chosen = rest
    return chosen


def _may_name(column: Column, table: Table) -> bool:
    """Whether a column may be part of names: words, or numbers of a setting, such as the shots."""
    count = len(column.names)
    if is_metadata(column.name) or not 1 < count < table.size:
        return False
    if not column.is_number:
        return column.share == 0
    is_statistic = split_words(column.name)[-1:] and is_beside(column.name)
    is_statistic = is_statistic and has_word(column.name, WORDS["statistics"] - {"n", "count"})
    has_scores = any(rate_score(own) for own in table.columns.values() if own.is_number)
    return not is_statistic and not rate_score(column) and has_scores and 2 * count <= table.size


def is_part(table: Table, name: str, roles: Mapping[str, str]) -> bool:
    """Whether what a column names is of one dataset each, but of several models."""
    if not {"model", "dataset"} <= {*roles} or len(table.columns[roles["dataset"]].names) < 2:
        return False
    of_models, of_datasets = (table.count([name, roles[role]]) for role in ("model", "dataset"))
    return table.count([name]) == of_datasets < of_models


def choose_numbered(scores: Sequence[Column]) -> list[Column]:
    """Choose the columns of numbered runs, where most are, or else all."""
    numbered: dict[str, list[Column]] = {}
    for column in scores:
        found = re.fullmatch(r"(\D*)(\d+)(\D*)", column.name)
        if found and is_label(found[1]):
            numbered.setdefault(f"{found[1]}#{found[3]}", []).append(column)
    runs = max(numbered.values(), key=len, default=[])
    return runs if 2 * len(runs) >= len(scores) and len(runs) > 1 else list(scores)


def read_heads(names: Sequence[str], roles: Mapping[str, str]) -> tuple[str, dict[str, set[str]]]:
    """Read names of columns of scores as a pattern, and list what its fields say by role."""
    pieces: list[Piece] = find_slots(names) if len(names) > 1 else [(names[0],)]
    missing = [role for role in ("dataset", "model") if role not in roles]
    slots = [place for place, piece in enumerate(pieces) if not isinstance(piece, str)]
    alone = len(slots) == 1
    kinds: dict[int, str] = {}
    for place in sorted(slots, key=lambda at: -rate_values(pieces[at], "metric")):
        left = [role for role in missing if role not in kinds.values()]
        kinds[place] = _name_slot(pieces, place, left, alone=alone)
    fixed = [word for piece in pieces if isinstance(piece, str) for word in split_words(piece)]
    # What columns have in common is no part of names, as in acc_{seed}.
    is_said = bool(fixed) and all(
        find_known(word) or is_label(word) or word in SPLITS or _is_value(word) for word in fixed
    )
    is_said |= not alone or len(pieces) == 1 or [*kinds.values()] == ["seed"]
    if len({*kinds.values()}) < len(kinds) or not is_said:
        kinds = {0: kinds[slots[0]] if alone else (missing or ["dataset"])[0]}
        pieces = [tuple(names)]
    said = {kind: {*map(str, pieces[place])} for place, kind in kinds.items()}
    return write_pattern(pieces, kinds), said


def _is_value(word: str) -> bool:
    return rate_role(word, "score") > 0 or rate_role(word, "metric") > 0


def _name_slot(pieces: Sequence[Piece], place: int, missing: Sequence[str], *, alone: bool) -> str:
    names = {*pieces[place]}
    if rate_values(names, "split") > 0.5:
        return "split"
    if rate_values(names, "metric") > 0.5 and not (alone and missing):
        return "metric"
    is_below = pieces[place - 1 : place] in ([SEPARATOR], ["."])
    is_free = bool(label_slot(pieces, place)) or is_below or not missing
    is_seed = rate_values(names, "seed") == 1 and is_free
    return "seed" if is_seed else (missing or ["dataset"])[0]


def are_measures(names: Sequence[str], roles: Mapping[str, str], said: Collection[str]) -> bool:
    """Whether columns are metrics: others name the datasets, or they vary in metrics alone."""
    if "model" not in roles or rate_values(names, "dataset") >= 0.3:
        return False
    if "metric" in said and len(said) > 1:
        return False
    if rate_values(names, "metric") > 0.5 or ("dataset" in roles and "dataset" in said):
        return True
    found = [(split_words(n), [word for word in split_words(n) if find_known(word)]) for n in names]
    parts = {*SPLITS, *WORDS["training"], *WORDS["averages"], "pred", "prediction"}
    metrics = {own[-1] for _, own in found if own}
    rests = {frozenset(words) - {*own} - parts for words, own in found if own}
    return len(metrics) > max(len(rests), 1)


def rate_measure(column: Column) -> tuple[float, bool, bool, float]:
    """Rate one of several columns of metrics as that of the scores."""
    is_merit = guess_direction(column.name) == "max" and not has_word(column.name, {"train"})
    has_metric = any(map(find_known, split_words(column.name)))
    return rate_score(column), has_metric, is_merit, column.filled
