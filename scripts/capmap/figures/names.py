"""Names from other people's files as labels: printable, short enough and never alike."""

from collections.abc import Iterable
from functools import cache
from itertools import groupby, takewhile
from pathlib import Path

import matplotlib as mpl
from matplotlib.font_manager import get_font
from matplotlib.ft2font import FT2Font, LoadFlags

ELLIPSIS = "…"
BREAKS = " _-/."


def printable_text(text: str) -> str:
    r"""Spell out each character that the figures' font lacks or that would not be seen as itself.

    Notes
    -----
    A missing glyph would be drawn as a box, and two Chinese names would look alike; a control
    character would move the text about. Both become escapes such as ``\u6a21``.

    Examples
    --------
    >>> printable_text("ResNet-50 模")
    'ResNet-50 \\u6a21'
    """
    return "".join(
        character if _can_draw(character) else character.encode("unicode_escape").decode()
        for character in text
    )


def text_width(text: str, *, size: float) -> float:
    """Width of a line of text in inches, at a font size in points, leaving kerning aside."""
    return sum(_advance(character) for character in text) * size / 72


def widest(texts: Iterable[str], *, size: float) -> float:
    """Width in inches of the widest of some lines of text; 0 when there are none."""
    return max((text_width(text, size=size) for text in texts), default=0.0)


def shorten_names(names: Iterable[str], *, width: float, size: float) -> dict[str, str]:
    """Make labels that fit a width, by an ellipsis in the middle, no two of them alike.

    Parameters
    ----------
    names : iterable of str
        Names, of any length and of any characters.
    width : float
        Room for a label, in inches.
    size : float
        Font size in points.

    Returns
    -------
    dict of str to str
        Label per name, in name order.

    Notes
    -----
    Both ends of a name are kept, as kinds and sizes stand there. Of names that would become alike,
    the part in which they differ is kept too; where it does not fit, they are numbered within the
    ellipsis. Labels depend on the set of names only, not on its order.

    Examples
    --------
    >>> shorten_names(["resnet50_pretrained_on_imagenet"], width=1.0, size=7)
    {'resnet50_pretrained_on_imagenet': 'resnet50…magenet'}
    >>> alike = ["resnet50_with_moco_on_sentinel2", "resnet50_with_dino_on_sentinel2"]
    >>> list(shorten_names(alike, width=1.0, size=7).values())
    ['resne…dino…tinel2', 'resn…moco…inel2']
    """
    texts = {name: printable_text(name) for name in sorted(set(names))}
    whole = {name for name, text in texts.items() if text_width(text, size=size) <= width}
    cut = _cut_apart({texts[name] for name in texts if name not in whole}, width, size)
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(texts, key=lambda name: (name not in whole, name)):
        label = texts[name] if name in whole else cut[texts[name]]
        count = 1
        while label in taken:
            count += 1
            label = _cut(texts[name], f"{ELLIPSIS}{count}{ELLIPSIS}", width, size)
        taken.add(label)
        labels[name] = label
    return {name: labels[name] for name in texts}


def wrap_text(text: str, *, width: float, size: float, max_lines: int = 2) -> list[str]:
    """Break text into lines that fit a width in inches; what does not fit ends in an ellipsis.

    Examples
    --------
    >>> wrap_text("Runs per model and dataset", width=1.0, size=7)
    ['Runs per model and', 'dataset']
    """
    rest = printable_text(" ".join(text.split()))
    lines: list[str] = []
    while rest:
        fitting = max(1, _count_fitting(rest, width, size))
        if fitting < len(rest) and len(lines) == max_lines - 1:
            room = width - text_width(ELLIPSIS, size=size)
            lines.append(rest[: _count_fitting(rest, room, size)].rstrip() + ELLIPSIS)
            break
        space = rest.rfind(" ", 0, fitting + 1) if fitting < len(rest) else -1
        end = space if space > 0 else fitting
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return lines


def break_name(name: str, *, width: float, size: float) -> str:
    r"""Break a name into two lines of like widths that fit; empty when it does not fit.

    Examples
    --------
    >>> break_name("land_cover maps", width=0.6, size=7)
    'land_cover\nmaps'
    >>> break_name("segmentation", width=0.6, size=7)
    ''
    """
    text = printable_text(name)
    ends = [place + 1 for place, character in enumerate(text) if character in BREAKS]
    halves = [(text[:end].removesuffix(" "), text[end:]) for end in ends]
    ways = [(widest(lines, size=size), lines) for lines in [(text,), *halves] if all(lines)]
    fitting = [way for way in ways if way[0] <= width]
    whole = [lines for _, lines in fitting if len(lines) == 1]
    return "\n".join(whole[0] if whole else min(fitting)[1]) if fitting else ""


def _cut_apart(texts: Iterable[str], width: float, size: float) -> dict[str, str]:
    """Cut texts; of those that become alike, keep the word in which they differ, or that part."""
    plain = {text: _cut(text, ELLIPSIS, width, size) for text in sorted(texts)}
    labels = dict(plain)
    for _, group in groupby(sorted(plain, key=lambda text: (plain[text], text)), plain.__getitem__):
        alike = list(group)
        if len(alike) == 1:
            continue
        head = _count_shared(alike)
        tail = _count_shared([text[head:][::-1] for text in alike])
        for text in alike:
            part = (head, len(text) - tail)
            ways = (_cut_around(text, *span, width, size) for span in (_widen(text, *part), part))
            labels[text] = next(filter(None, ways), plain[text])
    return labels


def _count_shared(texts: Iterable[str]) -> int:
    """How many characters at the start are the same in all texts."""
    return sum(
        1 for _ in takewhile(lambda column: len(set(column)) == 1, zip(*texts, strict=False))
    )


def _widen(text: str, start: int, stop: int) -> tuple[int, int]:
    """Move the ends of a part to those of its words."""
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while stop < len(text) and text[stop].isalnum():
        stop += 1
    return start, stop


def _cut_around(text: str, start: int, stop: int, width: float, size: float) -> str:
    """Keep a part of a text, and as much of both ends as fits; empty when the part does not fit."""
    part = text[start:stop]
    room = (width - text_width(ELLIPSIS + part + ELLIPSIS, size=size)) / 2
    if not part or room < 0:
        return ""
    head = min(_count_fitting(text, room, size), start)
    tail = min(_count_fitting(text[::-1], room, size), len(text) - stop)
    marks = [
        ELLIPSIS if kept < there else ""
        for kept, there in ((head, start), (tail, len(text) - stop))
    ]
    return text[:head] + marks[0] + part + marks[1] + text[len(text) - tail :]


def _cut(text: str, mark: str, width: float, size: float) -> str:
    """Keep as much of both ends of a text, around a mark, as fits."""
    room = (width - text_width(mark, size=size)) / 2
    limit = len(text) // 2
    head = min(_count_fitting(text, room, size), limit)
    tail = min(_count_fitting(text[::-1], room, size), limit)
    return text[:head] + mark + text[len(text) - tail :]


def _count_fitting(text: str, width: float, size: float) -> int:
    used = 0.0
    for count, character in enumerate(text):
        used += _advance(character) * size / 72
        if used > width:
            return count
    return len(text)


@cache
def _font() -> FT2Font:
    return get_font(Path(mpl.get_data_path(), "fonts/ttf/DejaVuSans.ttf"))


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(_font().get_charmap())


def _can_draw(character: str) -> bool:
    return character.isprintable() and ord(character) in _glyphs()


@cache
def _advance(character: str) -> float:
    """Width of a character in units of the font size."""
    glyph = _font().load_char(ord(character), flags=LoadFlags.NO_SCALE)
    return glyph.horiAdvance / _font().units_per_EM
