"""What differs between names of one make, and which keys of nested files are names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeAlias

from capmap.drafting.words import guess_direction, is_label, is_size, is_statistic, rate_role
from capmap.exports.documents import Numeral
from capmap.exports.flat_rows import list_items
from capmap.metrics import find_metric

SEPARATORS = re.compile(r"( / |[_\-. :=,]+|/)")
NUMBERED = re.compile(r"([A-Za-z]*)(\d+)")
# Parts that stand beside so many others on average vary on their own.
REPEATED = 2


@dataclass(frozen=True)
class Slot:
    """A place that differs.

    Parameters
    ----------
    values : tuple of str
        What stands there in each name.
    label : str
        The word before it, such as "seed".
    """

    values: tuple[str, ...]
    label: str = ""

    @property
    def names(self) -> frozenset[str]:
        """What stands there, each once."""
        return frozenset(self.values)


Piece: TypeAlias = str | Slot


def find_slots(names: Sequence[str]) -> list[Piece]:
    """Find what differs between names.

    Parameters
    ----------
    names : sequence of str
        Of one make; parts of paths between slashes are looked at one by one.

    Returns
    -------
    list of str and Slot
        Fixed texts and slots, which make up each name; a single slot where nothing is alike.

    Examples
    --------
    >>> pieces = find_slots(["a/x_seed0.csv", "a/x_seed1.csv", "b/x_seed0.csv"])
    >>> write_pattern(pieces, {0: "model", 2: "seed"})
    '{model}/x_seed{seed}.csv'
    """
    rows = [name.split("/") for name in names]
    if len({len(row) for row in rows}) > 1:
        return [Slot(tuple(names))]
    pieces: list[Piece] = []
    for place, parts in enumerate(zip(*rows, strict=True)):
        pieces += [*(["/"] if place else []), *_find_in_part(parts)]
    return _join_texts(pieces)


def write_pattern(pieces: Sequence[Piece], fields: Mapping[int, str]) -> str:
    r"""Write pieces as a pattern, with the names of some slots; others become ``*``.

    Examples
    --------
    >>> names = ["ppo-Ant-v1", "ppo-Pong-v0", "dqn-Ant-v1", "dqn-Pong-v0"]
    >>> print(write_pattern(find_slots(names), {0: "model", 2: "dataset"}))
    {model,[^\-]+}-{dataset}
    """
    written = {place: f"{{{name}{_limit_slot(pieces, place)}}}" for place, name in fields.items()}
    return "".join(
        piece if isinstance(piece, str) else written.get(place, "*")
        for place, piece in enumerate(pieces)
    )


def _limit_slot(pieces: Sequence[Piece], place: int) -> str:
    """What a slot is made of, where the text beside it also stands in the next slot."""
    own = pieces[place]
    for step in (1, -1):
        if not 0 <= place + 2 * step < len(pieces):
            continue
        text, other = pieces[place + step], pieces[place + 2 * step]
        if isinstance(own, Slot) and isinstance(text, str) and isinstance(other, Slot):
            is_ambiguous = any(text in value for value in other.names)
            if is_ambiguous and len(text) == 1 and not any(text in value for value in own.names):
                return f",[^{re.escape(text)}]+"
    return ""


def _find_in_part(values: Sequence[str]) -> list[Piece]:
    if len(set(values)) == 1:
        return [values[0]]
    rows = [SEPARATORS.split(value) for value in values]
    if len({tuple(row[1::2]) for row in rows}) == 1:
        return _merge([_make_piece(column) for column in zip(*rows, strict=True)])
    # Names of several lengths: what all begin and end with, and the rest.
    first = _count_equal(rows)
    last = _count_equal([row[first:][::-1] for row in rows])
    head, tail = "".join(rows[0][:first]), "".join(rows[0][len(rows[0]) - last :])
    pieces = _cut([row[first : len(row) - last] for row in rows], head)
    return [*([head] if head else []), *pieces, *([tail] if tail else [])]


def _cut(rows: Sequence[Sequence[str]], before: str) -> list[Piece]:
    """Cut names in two where each part varies on its own, or a number ends all of them."""
    shared = set.intersection(*({*row[1::2]} for row in rows))
    if min(map(len, rows)) >= 3:
        cuts = [[len(row) - 2 for row in rows], [1] * len(rows)]
        for cut in (*cuts, *([row.index(mark) for row in rows] for mark in sorted(shared))):
            pairs = [*zip(rows, cut, strict=True)]
            left = tuple("".join(row[:at]) for row, at in pairs)
            right = tuple("".join(row[at + 1 :]) for row, at in pairs)
            between = {row[at] for row, at in pairs}
            if len(between) == 1 and (
                _is_crossed(left, right) or (cut is cuts[0] and _are_numbered(right))
            ):
                return [*_find_in_part(left), *between, *_merge([_make_piece(right)])]
    return [Slot(tuple(map("".join, rows)), before)]


def _is_crossed(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two parts of names vary on their own."""
    pairs, sizes = len({*zip(left, right, strict=True)}), (len({*left}), len({*right}))
    return min(sizes) > 1 and (pairs == sizes[0] * sizes[1] or pairs >= REPEATED * max(sizes))


def _are_numbered(names: Sequence[str]) -> bool:
    """Whether names are numbers after the same letters, but for those of versions."""
    letters = {*map(_split_number, names)}
    return len(letters) == 1 and letters.isdisjoint({None, "v"})


def _split_number(text: str) -> str | None:
    """The letters before the number that a text ends with; None where it has none."""
    found = NUMBERED.fullmatch(text)
    return None if found is None else found[1]


def _count_equal(rows: Sequence[Sequence[str]]) -> int:
    """Count the leading parts that all rows share, leaving one part to each."""
    columns = zip(*(row[:-1] for row in rows), strict=False)
    count = sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))
    return count - count % 2


def _make_piece(column: Sequence[str]) -> Piece:
    return column[0] if len(set(column)) == 1 else Slot(tuple(column))


def _merge(pieces: Sequence[Piece]) -> list[Piece]:
    """Join slots that do not vary on their own, and numbers with what they are part of."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
            continue
        before = "".join(item for item in found[-2:] if isinstance(item, str))
        start = _find_start(found, piece)
        if start is not None:
            parts = [item if isinstance(item, Slot) else None for item in found[start:]]
            texts = [item if isinstance(item, str) else "" for item in found[start:]]
            rows = zip(*(part.values for part in [*filter(None, parts), piece]), strict=True)
            found[start:] = [Slot(tuple(_write_row(row, parts, texts) for row in rows))]
            continue
        letters = {_split_number(value) for value in piece.values}
        if len(letters) == 1 and (label := letters.pop()) and is_label(label):
            numbers = tuple(value.removeprefix(label) for value in piece.values)
            found += [label, Slot(numbers, label)]
        else:
            found.append(Slot(piece.values, before))
    return found


def _write_row(row: Sequence[str], parts: Sequence[Slot | None], texts: Sequence[str]) -> str:
    values = iter(row)
    return "".join(
        [text if part is None else next(values) for part, text in zip(parts, texts, strict=True)]
        + [next(values)]
    )


def _find_start(found: Sequence[Piece], slot: Slot) -> int | None:
    """Find where the name begins that a slot is the end of; None where it is one by itself."""
    for place in range(len(found) - 1, -1, -1):
        piece = found[place]
        if isinstance(piece, Slot):
            pairs = len(set(zip(piece.values, slot.values, strict=True)))
            dependent = pairs <= max(len(piece.names), len(slot.names))
            return place if dependent else None
        is_number = all(value.isdecimal() for value in slot.names)
        if SEPARATORS.fullmatch(piece) is None and is_number:
            # A number belongs to the fixed word before it where there is nothing else to be a name.
            is_alone = not any(isinstance(item, Slot) for item in found)
            return place if is_alone and not is_label(piece) else None
    return None


def _join_texts(pieces: Sequence[Piece]) -> list[Piece]:
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if isinstance(piece, str) and isinstance(last, str):
            joined[-1] = last + piece
        else:
            joined.append(piece)
    return joined


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
