"""Names from other people's files as labels: printable, short enough and never alike."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import matplotlib as mpl
from matplotlib.font_manager import get_font
from matplotlib.ft2font import FT2Font, LoadFlags

from capmap.figures.style import FONT

ELLIPSIS = "…"


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
    Both ends of a name are kept, as kinds and sizes stand there. Names that would become alike are
    numbered within the ellipsis. Labels depend on the set of names only, not on its order.

    Examples
    --------
    >>> shorten_names(["resnet50_pretrained_on_imagenet"], width=1.0, size=7)
    {'resnet50_pretrained_on_imagenet': 'resnet50…magenet'}
    """
    texts = {name: printable_text(name) for name in sorted(set(names))}
    whole = {name for name, text in texts.items() if text_width(text, size=size) <= width}
    labels: dict[str, str] = {}
    taken: set[str] = set()
    for name in sorted(texts, key=lambda name: (name not in whole, name)):
        label = texts[name] if name in whole else _cut(texts[name], ELLIPSIS, width, size)
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
    return get_font(Path(mpl.get_data_path(), "fonts", "ttf", f"{FONT.replace(' ', '')}.ttf"))


@cache
def _glyphs() -> frozenset[int]:
    return frozenset(_font().get_charmap())


def _can_draw(character: str) -> bool:
    return character.isprintable() and ord(character) in _glyphs()


@cache
def _advance(character: str) -> float:
    """Width of a character in units of the font size."""
    font = _font()
    return font.load_char(ord(character), flags=LoadFlags.NO_SCALE).horiAdvance / font.units_per_EM
