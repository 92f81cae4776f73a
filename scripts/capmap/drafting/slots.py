"""What differs between names of one make: paths of files, or columns of scores."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import TypeAlias

from capmap.drafting.words import is_label

SEPARATORS = re.compile(r"( / |[_\-. :=,]+|/)")
NUMBERED = re.compile(r"([A-Za-z]*)(\d+)")


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
    """Write pieces as a pattern, with the names of some slots; others become ``*``."""
    return "".join(
        piece if isinstance(piece, str) else f"{{{fields[place]}}}" if place in fields else "*"
        for place, piece in enumerate(pieces)
    )


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
    for place in (-1, 1):
        if min(map(len, rows)) < 3:
            break
        cuts = [len(row) - 1 if place < 0 else 1 for row in rows]
        left, right = (
            tuple("".join(row[part]) for row, part in zip(rows, parts, strict=True))
            for parts in (
                [slice(cut - (place < 0)) for cut in cuts],
                [slice(cut + (place > 0), None) for cut in cuts],
            )
        )
        between = {row[cut - (place < 0)] for row, cut in zip(rows, cuts, strict=True)}
        sizes = len(set(left)), len(set(right))
        is_crossed = (
            min(sizes) > 1 and len(set(zip(left, right, strict=True))) == sizes[0] * sizes[1]
        )
        letters = {_split_number(value) for value in right}
        is_numbered = place < 0 and len(letters) == 1 and None not in letters
        if len(between) == 1 and (is_crossed or is_numbered):
            return [*_find_in_part(left), *between, *_merge([_make_piece(right)])]
    return [Slot(tuple(map("".join, rows)), before)]


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
