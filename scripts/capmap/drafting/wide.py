"""Tables whose columns of scores say in their names of what they are."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from capmap.drafting.draft import Certainty, Draft
from capmap.drafting.files import label_slot
from capmap.drafting.roles import doubt_score, find_known, rate_score
from capmap.drafting.scores import put_errors, put_metric, put_summary
from capmap.drafting.slots import Piece, Slot, find_slots, write_pattern
from capmap.drafting.tables import Column, Table
from capmap.drafting.words import (
    SPLITS,
    find_words,
    guess_direction,
    is_label,
    rate_role,
    rate_values,
    split_words,
)
from capmap.wording import list_names, quote_name

NUMBERED = re.compile(r"(\D*)(\d+)(\D*)")
# Words beside metrics that name no dataset.
PARTS = frozenset({*SPLITS, "train", "training", "pred", "prediction", "mean", "avg"})
# From this on, what the names of rows and columns look like is no guess.
SURE = 0.3


class _Heads(NamedTuple):
    """The names of columns as a pattern, and the roles of its fields."""

    pattern: str
    roles: frozenset[str]


def draft_wide(
    draft: Draft,
    paths: Sequence[str],
    table: Table,
    roles: dict[str, str],
    scores: Sequence[Column],
) -> None:
    """Draft a table with several columns of scores.

    Parameters
    ----------
    draft : Draft
        Gets the columns and their layout.
    paths : sequence of str
        The files.
    table : Table
        What they hold.
    roles : dict of str to str
        The columns of names; gets the first column of text where none was found.
    scores : sequence of Column
        The columns of scores.
    """
    scores = _leave_others(draft, scores)
    names = [column.name for column in scores]
    _name_rows(draft, table, roles, names)
    heads = _read_heads(names, roles)
    is_metric = rate_values(names, "metric") > 0.5 and "model" in roles
    if is_metric or _are_measures(names, roles, heads):
        best = max(scores, key=_rate_measure)
        if "metric" in roles and len(table.columns[roles["metric"]].names) == 1:
            del roles["metric"]
        others = list_names([name for name in names if name != best.name])
        doubt = doubt_score(best, scores) if is_metric else ""
        certainty: Certainty = "guess" if is_metric and not doubt else "decide"
        text = f"Other scores are in {others}." if others else "It is the only column of scores."
        draft.put("columns", {"score": best.name}, certainty, doubt or text)
        put_metric(draft, [best.name], paths)
        return
    is_turned = heads.pattern == "{model}"
    if is_turned or heads.pattern == "{dataset}":
        what = "Rows are datasets, columns models." if is_turned else "Columns are datasets."
        draft.put("format", "matrix", "found", what)
    # A matrix is turned by the name of the column of datasets, unless it is called just that.
    if heads.pattern != "{dataset}" and not (is_turned and roles.get("dataset") != "dataset"):
        text = f"Columns such as {quote_name(names[0])} hold scores."
        draft.put("columns", {"score": heads.pattern}, "found", text)
    unused = [
        column.name
        for column in table.columns.values()
        if not column.is_field and column.name not in {*roles.values(), *names}
    ]
    if unused:
        draft.put("columns", {"ignore": unused}, "guess", "What is ignored holds no scores.")
        doubtful = [name for name in unused if _has_numbers(table.columns[name])]
        if doubtful:
            text = f"Some cells of {list_names(doubtful)} are numbers: are these scores?"
            draft.note("columns", "decide", text)
    if "metric" not in heads.roles | {*roles}:
        corners = [roles[role] for role in ("dataset", "model") if role in roles]
        corner = next((name for name in corners if not table.columns[name].is_field), "")
        put_metric(draft, names, paths, corner=corner)
        if heads.pattern == "{dataset}":
            put_errors(draft, names)
    if any(column.kinds[1] for column in scores):
        put_summary(draft)


def _are_measures(names: Sequence[str], roles: Mapping[str, str], heads: _Heads) -> bool:
    """Whether columns are metrics: others name the datasets, or they vary in metrics alone."""
    if "model" not in roles or rate_values(names, "dataset") >= SURE:
        return False
    found = [(find_words(name), split_words(name)) for name in names]
    metrics = {own[-1] for own, _ in found if own}
    rests = {frozenset(words) - {*own} - PARTS for own, words in found if own}
    is_named = "dataset" in roles and "dataset" in heads.roles
    return is_named or len(metrics) > max(len(rests), 1)


def _rate_measure(column: Column) -> tuple[float, bool, bool, int]:
    words = split_words(column.name)
    is_training = not {"train", "training"}.isdisjoint(words)
    is_merit = guess_direction(column.name) == "max" and not is_training
    return rate_score(column), bool(find_words(column.name)), is_merit, sum(column.filled)


def _leave_others(draft: Draft, scores: Sequence[Column]) -> list[Column]:
    """Leave out columns of numbers that are unlike the others, such as counts and ranks."""
    numbered: dict[str, list[Column]] = {}
    for column in scores:
        found = NUMBERED.fullmatch(column.name)
        if found and is_label(found[1]):
            numbered.setdefault(f"{found[1]}#{found[3]}", []).append(column)
    runs = max(numbered.values(), key=len, default=[])
    if len(runs) > 1:
        return runs
    whole = [column for column in scores if column.is_whole and len(column.names) > 1]
    if not 0 < len(whole) < len(scores) / 2:
        return list(scores)
    names = [column.name for column in whole]
    text = f"{list_names(names)}: whole numbers, unlike the others, so not taken as scores."
    draft.note("columns", "decide", text)
    return [column for column in scores if column.name not in names]


def _has_numbers(column: Column) -> bool:
    return not column.is_number and any(
        text[:1].isdigit() and any(letter.isdigit() for letter in text) for text in column.names
    )


def _name_rows(draft: Draft, table: Table, roles: dict[str, str], names: Sequence[str]) -> None:
    """Take the first column of text as that of models, or datasets, where none is known."""
    columns = table.columns.values()
    texts = [column for column in columns if not column.is_number and column.names]
    if {"model", "dataset"} & {*roles} or not texts or any(column.is_field for column in columns):
        return
    as_models = rate_values(texts[0].names, "model") - rate_values(texts[0].names, "dataset")
    as_models += rate_values(names, "dataset") - rate_values(names, "model")
    kind = "dataset" if as_models < 0 else "model"
    roles[kind] = texts[0].name
    if abs(as_models) < SURE:
        text = f"Are the rows {kind}s? No name says so."
        draft.note("columns", "decide" if as_models else "guess", text)


def _read_heads(names: Sequence[str], roles: Mapping[str, str]) -> _Heads:
    """Find what the names of columns of scores say."""
    pieces = find_slots(names) if len(names) > 1 else [Slot((names[0],))]
    missing = [role for role in ("dataset", "model") if role not in roles]
    slots = [place for place, piece in enumerate(pieces) if isinstance(piece, Slot)]
    kinds = {place: _name_slot(pieces, place, missing, alone=len(slots) == 1) for place in slots}
    says_something = len(slots) > 1 or len(pieces) == 1 or _is_said(pieces)
    says_something |= [*kinds.values()] == ["seed"]
    if len({*kinds.values()}) < len(kinds) or not says_something:
        kind = kinds[slots[0]] if len(slots) == 1 else (missing or ["dataset"])[0]
        pieces, kinds = [Slot(tuple(names))], {0: kind}
    return _Heads(write_pattern(pieces, kinds), frozenset(kinds.values()))


def _is_said(pieces: Sequence[Piece]) -> bool:
    """Whether what columns have in common is no part of names, as in ``acc_{seed}``."""
    words = [word for piece in pieces if isinstance(piece, str) for word in split_words(piece)]
    return bool(words) and all(
        find_known(word) or is_label(word) or rate_role(word, "score") for word in words
    )


def _name_slot(pieces: Sequence[Piece], place: int, missing: Sequence[str], *, alone: bool) -> str:
    slot, label = pieces[place], label_slot(pieces, place)
    names = slot.names if isinstance(slot, Slot) else frozenset[str]()
    if rate_values(names, "metric") > 0.5 and not alone:
        return "metric"
    if rate_values(names, "seed") == 1 and (label or not missing):
        return "seed"
    return missing[0] if missing else "dataset"
