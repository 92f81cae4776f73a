"""Where the records of nested files are, and which of their keys are names."""

from collections.abc import Mapping, Sequence
from typing import Any

from capmap.drafting.slots import Piece, Slot
from capmap.drafting.words import rate_values
from capmap.exports.documents import Numeral
from capmap.exports.flat_rows import list_items

ALIKE = 0.5
DEEPEST = 8


def find_records(values: Sequence[Any]) -> list[Piece]:
    """Find the way from the top of a file to its scores.

    Parameters
    ----------
    values : sequence
        The files, or the lines or entries of one.

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
    slots = sum(isinstance(piece, Slot) for piece in way)
    # A line whose keys are all names is a row of a table.
    return way if slots > (len(values) > 1) else []


def _walk(node: Any, depth: int) -> list[Piece] | None:
    """Walk from a node to numbers; None where it is a record, or holds no number."""
    if depth > DEEPEST or not isinstance(node, dict | list) or not node:
        return None
    items = [(str(key), child) for key, child in list_items(node)]
    children = [child for _, child in items]
    slot = Slot(tuple(key for key, _ in items))
    if all(map(_is_number, children)):
        is_record = (
            isinstance(node, dict) and depth == 0 and rate_values(slot.names, "metric") > ALIKE
        )
        return None if is_record else [slot]
    if isinstance(node, list) and all(isinstance(child, dict) for child in children):
        return ["*"] if depth else None
    if _are_alike(children):
        below = _walk(children[0], depth + 1)
        return [slot, *(below or [])]
    if isinstance(node, dict):
        ways = {key: _walk(child, depth + 1) for key, child in items if _is_branch(child)}
        long = {key: way for key, way in ways.items() if way}
        if long and depth < DEEPEST:
            key = max(long, key=lambda key: (_rate(key), len(long[key])))
            return [key, *long[key]]
    return None


def _rate(key: str) -> int:
    return int(key.casefold() in ("results", "scores", "metrics", "test", "runs"))


def _is_number(value: Any) -> bool:
    return isinstance(value, Numeral)


def _is_branch(value: Any) -> bool:
    return isinstance(value, dict | list) and len(value) > 0


def _are_alike(children: Sequence[Any]) -> bool:
    """Tell whether nested values are of one make: all lists, or objects with the same keys."""
    if len(children) < 2 or not all(map(_is_branch, children)):
        return False
    if all(isinstance(child, list) for child in children):
        return True
    if not all(isinstance(child, Mapping) for child in children):
        return False
    keys = [set(child) for child in children]
    return len(set.intersection(*keys)) >= ALIKE * len(set.union(*keys))
