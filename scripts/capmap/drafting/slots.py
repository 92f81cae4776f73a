"""What differs between names of one make, such as paths, columns and keys."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from capmap.drafting.words import is_label, split_words

SEPARATORS = re.compile(r"( / |[_\-. :=,]+|/)")
NUMBERED = re.compile(r"([A-Za-z]*)(\d+)")
# Parts that stand beside so many others on average vary on their own.
REPEATED = 2

# A text that all names share, or a slot: what stands at a place of each of them.
Piece: TypeAlias = str | tuple[str, ...]


def find_slots(names: Sequence[str]) -> list[Piece]:
    """Find what differs between names.

    Parameters
    ----------
    names : sequence of str
        Of one make; parts of paths between slashes are looked at one by one.

    Returns
    -------
    list of str and tuple
        Fixed texts and slots, which make up each name; a single slot where nothing is alike.

    Examples
    --------
    >>> pieces = find_slots(["a/x_seed0.csv", "a/x_seed1.csv", "b/x_seed0.csv"])
    >>> write_pattern(pieces, {0: "model", 2: "seed"})
    '{model}/x_seed{seed}.csv'
    """
    rows = [name.split("/") for name in names]
    if len({len(row) for row in rows}) > 1:
        return [tuple(names)]
    joined: list[Piece] = []
    for place, parts in enumerate(zip(*rows, strict=True)):
        for piece in [*(["/"] if place else []), *_find_in_part(parts)]:
            last = joined[-1] if joined else None
            if isinstance(piece, str) and isinstance(last, str):
                joined[-1] = last + piece
            else:
                joined.append(piece)
    return joined


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


def label_slot(pieces: Sequence[Piece], place: int) -> str:
    """The word before a slot, such as the name of its folder."""
    before = pieces[place - 1] if place else ""
    words = split_words(before) if isinstance(before, str) else []
    return words[-1] if words else ""


def _limit_slot(pieces: Sequence[Piece], place: int) -> str:
    """What a slot is made of, where the text beside it also stands in the next slot."""
    for step in (1, -1):
        if 0 <= place + 2 * step < len(pieces):
            text, other = pieces[place + step], pieces[place + 2 * step]
            if not isinstance(text, str) or len(text) > 1:
                continue
            is_ambiguous = any(text in value for value in other)
            if is_ambiguous and not any(text in value for value in pieces[place]):
                return f",[^{re.escape(text)}]+"
    return ""


def _find_in_part(values: Sequence[str]) -> list[Piece]:
    rows = [SEPARATORS.split(value) for value in values]
    if len({tuple(row[1::2]) for row in rows}) == 1:
        return _merge([_make_piece(column) for column in zip(*rows, strict=True)])
    # Names of several lengths: what all begin and end with, and the rest.
    first = _count_equal(rows)
    last = _count_equal([row[first:][::-1] for row in rows])
    head, tail = "".join(rows[0][:first]), "".join(rows[0][len(rows[0]) - last :])
    return [
        *filter(None, [head]),
        *_cut([r[first : len(r) - last] for r in rows]),
        *filter(None, [tail]),
    ]


def _cut(rows: Sequence[Sequence[str]]) -> list[Piece]:
    """Cut names in two where each part varies on its own, or a number ends all of them."""
    whole = tuple(map("".join, rows))
    if min(map(len, rows)) < 3:
        return [whole]
    shared = sorted(set.intersection(*({*row[1::2]} for row in rows)))
    ends = [len(row) - 2 for row in rows]
    for cut in (ends, [1] * len(rows), *([row.index(mark) for row in rows] for mark in shared)):
        pairs = [*zip(rows, cut, strict=True)]
        left = tuple("".join(row[:at]) for row, at in pairs)
        right = tuple("".join(row[at + 1 :]) for row, at in pairs)
        between = {row[at] for row, at in pairs}
        letters = {*map(_split_number, right)}
        are_numbered = cut is ends and len(letters) == 1 and letters.isdisjoint({None, "v"})
        if len(between) == 1 and (are_numbered or _is_crossed(left, right)):
            return [*_find_in_part(left), *between, *_merge([_make_piece(right)])]
    return [whole]


def _is_crossed(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two parts of names vary on their own."""
    pairs, sizes = len({*zip(left, right, strict=True)}), (len({*left}), len({*right}))
    return min(sizes) > 1 and (pairs == sizes[0] * sizes[1] or pairs >= REPEATED * max(sizes))


def _split_number(text: str) -> str | None:
    """The letters before the number that a text ends with; None where it has none."""
    found = NUMBERED.fullmatch(text)
    return None if found is None else found[1]


def _count_equal(rows: Sequence[Sequence[str]]) -> int:
    """Count the leading parts that all rows share, leaving one part to each."""
    count = 0
    for column in zip(*(row[:-1] for row in rows), strict=False):
        if len({*column}) > 1:
            break
        count += 1
    return count - count % 2


def _make_piece(column: Sequence[str]) -> Piece:
    return column[0] if len({*column}) == 1 else tuple(column)


def _merge(pieces: Sequence[Piece]) -> list[Piece]:
    """Join slots that do not vary on their own, and numbers with what they are part of."""
    found: list[Piece] = []
    for piece in pieces:
        start = None if isinstance(piece, str) else _find_start(found, piece)
        letters = {None} if isinstance(piece, str) else {*map(_split_number, piece)}
        label = letters.pop() if len(letters) == 1 else None
        if start is not None:
            first, *texts = found[start:]
            firsts = [first] * len(piece) if isinstance(first, str) else first
            between = "".join(map(str, texts))
            found[start:] = [tuple(f"{a}{between}{b}" for a, b in zip(firsts, piece, strict=True))]
        elif label and is_label(label):
            found += [label, tuple(value.removeprefix(label) for value in piece)]
        else:
            found.append(piece)
    return found


def _find_start(found: Sequence[Piece], slot: tuple[str, ...]) -> int | None:
    """Find where the name begins that a slot is the end of; None where it is one by itself."""
    slots = [place for place, piece in enumerate(found) if not isinstance(piece, str)]
    if slots:
        before = found[slots[-1]]
        pairs = len({*zip(before, slot, strict=True)})
        return slots[-1] if pairs <= max(len({*before}), len({*slot})) else None
    # A number belongs to the fixed word before it where there is nothing else to be a name.
    words = [place for place, text in enumerate(found) if split_words(str(text))]
    is_number = all(value.isdecimal() for value in slot)
    return words[-1] if words and is_number and not is_label(str(found[words[-1]])) else None
