"""What differs between names of one make: paths of files, or columns of scores."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from capmap.drafting.words import is_label

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
