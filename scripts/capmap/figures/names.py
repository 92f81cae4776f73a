"""Names from other people's files as labels: printable, short enough and never alike."""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product, takewhile
from pathlib import Path

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.font_manager import get_font
from matplotlib.ft2font import FT2Font, LoadFlags

ELLIPSIS = "…"
BREAKS = " _-/."
PIXEL = 0.01
CLEARANCE = 0.015
STEPS = (0.0, 0.03, 0.08, 0.13, 0.19, 0.26, 0.35, 0.45, 0.57, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0)
ANGLES = 2 * np.pi * np.arange(24) / 24
# How far labels begin left of and below their point, in their own widths and heights: beside the
# point they begin or end there, above and below it they are centered.
SHIFTS = tuple(np.clip(turn(ANGLES), -0.5, 0.5) - 0.5 for turn in (np.cos, np.sin))
LEADER_FROM = 0.05
COVERED_POINT = 2.5
CROSSED_POINT = 0.2
CROSSED_LINE = 0.02
STEEP = 0.02
ROUNDS = 5
LINE_HEIGHT = 1.2 / 72
DESCENT = 0.27 / 72

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]
Point = tuple[float, float]
Line = tuple[Point, Point]


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


@dataclass(frozen=True)
class Label:
    """A text, and the points that it belongs to.

    Parameters
    ----------
    text : str
        One line.
    size : float
        Font size in points.
    color : str
        Of the text, and of a line to it.
    anchors : tuple of points
        In inches from the lower left corner of the axes; the label stands at any one of them.
    """

    text: str
    size: float
    color: str
    anchors: tuple[Point, ...]

    @property
    def box(self) -> Point:
        """Width and height in inches."""
        return text_width(self.text, size=self.size), self.size * LINE_HEIGHT


@dataclass(frozen=True)
class Place:
    """Where a label goes, in inches from the lower left corner of the axes.

    Parameters
    ----------
    corner : point
        Lower left corner of the text.
    leader : line, optional
        From the label's point to a label that stands apart from it.
    """

    corner: Point
    leader: Line | None


def place_labels(
    labels: Sequence[Label],
    *,
    area: Point,
    points: FloatArray,
    radius: float,
    lines: Sequence[Line] = (),
) -> list[Place | None]:
    """Find a place for each label: beside its point, or apart from it at the end of a line.

    Parameters
    ----------
    labels : sequence of Label
        The most important first.
    area : tuple of float
        Width and height of the axes in inches.
    points : ndarray, shape (points, 2)
        All points in inches, those without a label too.
    radius : float
        Of the points' markers, in inches.
    lines : sequence of pairs of points
        Lines between points, which labels do not cover.

    Returns
    -------
    list of Place or None
        None for a label that finds no place.

    Notes
    -----
    Each label in turn takes the best of 24 directions at 16 distances. It never covers another
    label or a line, and stays within the area; of the other places the one is best that is near
    and covers few points, and whose line crosses little. Labels without a place are tried first in
    the next of at most five rounds, of which the one counts that leaves out the least important
    labels. Nothing is random. Time grows with labels, hardly with points.

    Examples
    --------
    >>> label = Label("ResNet", 6.0, "black", ((1.0, 1.0),))
    >>> [place] = place_labels([label], area=(2, 2), points=np.ones((1, 2)), radius=0.03)
    >>> place.leader is None
    True
    """
    best: list[Place | None] = [None] * len(labels)
    order = list(range(len(labels)))
    ground = _Ground(area, points, radius, lines)
    for _ in range(ROUNDS):
        free = deepcopy(ground)
        found = {rank: free.take_place(labels[rank]) for rank in order}
        places = [found[rank] for rank in range(len(labels))]
        if _weigh_missing(places) < _weigh_missing(best):
            best = places
        order.sort(key=lambda rank: found[rank] is not None)
        if None not in places:
            break
    return best


def draw_labels(axes: Axes, labels: Sequence[Label], places: Sequence[Place | None]) -> None:
    """Draw the labels that have a place, with their lines, on axes whose unit is an inch."""
    drawn = [(label, place) for label, place in zip(labels, places, strict=True) if place]
    leaders = [(place.leader, label.color) for label, place in drawn if place.leader]
    axes.add_collection(
        LineCollection(
            [leader for leader, _ in leaders],
            colors=[color for _, color in leaders],
            linewidths=0.35,
            zorder=2,
        )
    )
    for label, place in drawn:
        x, y = place.corner
        axes.text(
            x, y + label.size * DESCENT, label.text, size=label.size, color=label.color, zorder=4
        )


def _weigh_missing(places: Sequence[Place | None]) -> int:
    """Weight of the labels without a place, the first ones weighing most."""
    return sum(len(places) - rank for rank, place in enumerate(places) if place is None)


class _Ground:
    """The area in pixels: what it costs to write on each of them, or to cross it with a line."""

    def __init__(
        self, area: Point, points: FloatArray, radius: float, lines: Sequence[Line]
    ) -> None:
        self.radius = radius
        self.shape = (int(area[1] / PIXEL), int(area[0] / PIXEL))
        self.to_write = np.zeros(self.shape)
        self.to_cross = np.zeros(self.shape)
        for x, y in points.tolist():
            pixels = self._cut((x - radius, y - radius), (2 * radius, 2 * radius))
            count = max(self.to_write[pixels].size, 1)
            self.to_write[pixels] += COVERED_POINT / count
            self.to_cross[pixels] += CROSSED_POINT
        for line in lines:
            self._add_line(line)

    def take_place(self, label: Label) -> Place | None:
        """Take the cheapest place for a label, if there is one."""
        best, taken = np.inf, None
        places = _list_places(label, self.radius)
        for step, steep, x, y, left, bottom in places[self._may_hold(places, label.box)].tolist():
            if step >= best:
                break
            anchor, corner = (x, y), (left, bottom)
            cost = step + STEEP * steep + float(self.to_write[self._cut(corner, label.box)].sum())
            leader = (anchor, _find_end(anchor, corner, label.box)) if step > LEADER_FROM else None
            if leader and cost < best:
                cost += self.to_cross[self._trace(leader)].sum()
            if cost < best:
                best, taken = cost, Place(corner, leader)
        if taken:
            self._fill(taken, label.box)
        return taken

    def _may_hold(self, places: FloatArray, box: Point) -> BoolArray:
        """Which boxes lie inside and, as far as a few of their pixels show, on free ground."""
        low = places[:, 4:]
        inside = (low >= 0) & (low + box <= PIXEL * np.array(self.shape[::-1]))
        may = np.asarray(inside.all(axis=1))
        for across, up in product(np.linspace(0.02, 0.98, 7), (0.1, 0.5, 0.9)):
            columns, rows = ((low[may] + np.multiply(box, (across, up))) / PIXEL).astype(np.intp).T
            may[may] = np.isfinite(self.to_write[rows, columns])
        return may

    def _fill(self, place: Place, box: Point) -> None:
        left, bottom = place.corner
        pixels = self._cut((left - CLEARANCE, bottom), (box[0] + 2 * CLEARANCE, box[1]))
        self.to_write[pixels] = self.to_cross[pixels] = np.inf
        if place.leader:
            self._add_line(place.leader)

    def _add_line(self, line: Line) -> None:
        rows, columns = self._trace(line)
        self.to_write[rows, columns] = np.inf
        self.to_cross[rows, columns] += CROSSED_LINE

    def _cut(self, corner: Point, box: Point) -> tuple[slice, slice]:
        """The pixels that a box touches."""
        across, up = (
            slice(max(int(low / PIXEL), 0), max(int(np.ceil((low + length) / PIXEL)), 0))
            for low, length in zip(corner, box, strict=True)
        )
        return up, across

    def _trace(self, line: Line) -> tuple[IntArray, IntArray]:
        """The pixels of a line, without its start, which a marker covers."""
        (x, y), (x_end, y_end) = line
        length = float(np.hypot(x_end - x, y_end - y))
        steps = np.arange(self.radius, length, PIXEL / 2) / max(length, PIXEL)
        rows = ((y + steps * (y_end - y)) / PIXEL).astype(np.intp)
        columns = ((x + steps * (x_end - x)) / PIXEL).astype(np.intp)
        inside = np.minimum(rows, self.shape[0] - 1), np.minimum(columns, self.shape[1] - 1)
        flat = np.unique(inside[0] * self.shape[1] + inside[1])
        return flat // self.shape[1], flat % self.shape[1]


def _list_places(label: Label, radius: float) -> FloatArray:
    """Distance, steepness, point and lower left corner of all places of a label, nearest first."""
    width, height = label.box
    step, anchor, turn = np.meshgrid(
        STEPS, np.arange(len(label.anchors)), np.arange(len(ANGLES)), indexing="ij"
    )
    x, y = np.array(label.anchors)[anchor.ravel()].T
    distance, angle = radius + 2 * CLEARANCE + step.ravel(), ANGLES[turn.ravel()]
    left = x + distance * np.cos(angle) + SHIFTS[0][turn.ravel()] * width
    bottom = y + distance * np.sin(angle) + SHIFTS[1][turn.ravel()] * height
    return np.column_stack([step.ravel(), np.abs(np.sin(angle)), x, y, left, bottom])


def _find_end(anchor: Point, corner: Point, box: Point) -> Point:
    """The point nearest to another one on the edge of a box with a little clearance."""
    across, up = (
        min(max(place, low - CLEARANCE), low + length + CLEARANCE)
        for place, low, length in zip(anchor, corner, box, strict=True)
    )
    return across, up
