"""Where the records of nested files are, and which of their keys are names."""

from collections.abc import Mapping, Sequence
from typing import Any

from capmap.drafting.slots import Piece, Slot
from capmap.drafting.words import guess_direction, is_size, is_statistic, rate_role
from capmap.exports.documents import Numeral
from capmap.exports.flat_rows import list_items
from capmap.metrics import find_metric

ALIKE = 0.5
DEEPEST = 8


def find_records(values: Sequence[Any], *, is_list: bool = False) -> list[Piece]:
    """Find the way from the top of a file to its scores.

    Parameters
    ----------
    values : sequence
        The file, or the lines or entries of one.
    is_list : bool, optional
        Whether they are the entries of a list.

    Returns
    -------
    list of str and Slot
        The keys on the way, those that are names as slots, and ``*`` for positions that are not;
        nothing where each value is a record by itself.

    Examples
    --------
    >>> one, two = Numeral("1"), Numeral("2")
    >>> find_records([{"Alien": [one, two], "Pong": [two, one]}])[0].values
    ('Alien', 'Pong')
    """
    way = (_walk(values[0], 0) if values else None) or []
    # A line whose keys are all names is a row of a table.
    if len(way) == 1 and isinstance(way[0], Slot) and (is_list or len(values) > 1):
        return []
    if not any(isinstance(piece, Slot) or piece == "*" for piece in way):
        return []
    return ["*", *way] if is_list else way


def _walk(node: Any, depth: int) -> list[Piece] | None:
    """Walk from a node to records; [] where it is one, None where it holds no number."""
    if depth > DEEPEST or not isinstance(node, dict | list) or not node:
        return None
    items = [(str(key), child) for key, child in list_items(node)]
    children = [child for _, child in items]
    slot = Slot(tuple(key for key, _ in items))
    if all(map(_is_number, children)):
        return [slot] if isinstance(node, list) or not _is_record(slot.names) else []
    if isinstance(node, list) and all(isinstance(child, dict) for child in children):
        return ["*", *(_walk(children[0], depth + 1) or [])] if depth else None
    if _are_alike(children):
        return [slot, *(_walk(children[0], depth + 1) or [])]
    if isinstance(node, list):
        return None
    ways = {key: _walk(child, depth + 1) for key, child in items if _is_branch(child)}
    # Numbers beside names, such as the sizes of layers, are a list within a record.
    long = {key: way for key, way in ways.items() if way and (len(way) > 1 or _is_worth(key, node))}
    if not long:
        return []
    key = max(long, key=lambda key: (_rate(key), len(long[key])))
    return [key, *long[key]]


def _is_record(names: frozenset[str]) -> bool:
    """Whether the keys of numbers are what a record has, not names of things."""
    return any(
        find_metric(name) is not None
        or is_statistic(name)
        or is_size(name)
        or guess_direction(name)
        for name in names
    )


def _is_worth(key: str, node: Mapping[str, Any]) -> bool:
    """Whether a list or an object of numbers holds the scores, not settings of a record."""
    known = find_metric(key) is not None or rate_role(key, "score") or rate_role(key, "seed")
    return bool(known or _rate(key)) or (
        node[key] and isinstance(node[key], list) and isinstance(node[key][0], dict)
    )


def _rate(key: str) -> int:
    return int(key.casefold() in ("results", "scores", "metrics", "test", "runs"))


def _is_number(value: Any) -> bool:
    return isinstance(value, Numeral)


def _is_branch(value: Any) -> bool:
    return isinstance(value, dict | list) and len(value) > 0


def _are_alike(children: Sequence[Any]) -> bool:
    """Whether nested values are of one make: all lists, or objects with the same keys."""
    if len(children) < 2 or not all(map(_is_branch, children)):
        return False
    if all(isinstance(child, list) for child in children):
        return True
    if not all(isinstance(child, Mapping) for child in children):
        return False
    keys = [set(child) for child in children]
    return len(set.intersection(*keys)) >= ALIKE * len(set.union(*keys))
