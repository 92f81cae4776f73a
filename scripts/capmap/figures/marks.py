"""Figures as SVG: what is drawn of which model and dataset, and text as text.

A page embeds the very file. Its content policy allows no ``style`` attributes, so what they say
stands in attributes of its own, which the page's style sheet can change for a dark screen.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from weakref import WeakKeyDictionary
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

KINDS = ("model", "dataset")
# Of a curve that a page writes.
MOST_POINTS = 5
SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}href"
# Of the text, where a page has no fonts of its own.
FONTS = "DejaVu Sans, Verdana, sans-serif"
WIDE = 300
NUMBER = re.compile(r"-?\d+\.\d+")
REFERENCE = re.compile(r"url\(#([^)]+)\)")
NO_TURN = re.compile(r"rotate\(-?0 ")
HIDDEN = (f"{SVG}metadata", f"{SVG}style")
# What XML cannot hold, as JSON writes it.
CODES = (*range(9), 0xB, 0xC, *range(0xE, 0x20), 0xFFFE, 0xFFFF)
OUTSIDE_XML = {code: f"\\u{code:04x}" for code in CODES}
DROPPED = ("font-family", "stroke-miterlimit")
PAPER = "paper"
# Matplotlib leaves out what fills a marker by default, which style sheets cannot know.
BLACK = "#000000"
IMAGE_DPI = 200
Element = ElementTree.Element


@dataclass(frozen=True)
class Mark:
    """What something that is drawn stands for.

    Parameters
    ----------
    model, dataset : str
        Of which model and dataset; empty: of none, or of all.
    text : str
        What a page shows of it besides the names, such as an estimate with its interval.
    more : str
        What a page shows of it when it is chosen.
    """

    model: str = ""
    dataset: str = ""
    text: str = ""
    more: str = ""


@dataclass(frozen=True)
class Grid:
    """Rows, or cells, that fill axes.

    Parameters
    ----------
    rows, columns : sequence of str
        Names from the top and from the left; of rows alone there are no columns.
    kinds : (str, str)
        What the rows and the columns are, "model", "dataset" or anything else.
    texts : sequence
        What a page shows of each row or, if there are columns, in each row of each cell.
    """

    rows: Sequence[str]
    columns: Sequence[str]
    kinds: tuple[str, str]
    texts: Sequence[Any]


_marks: WeakKeyDictionary[Artist, list[Mark]] = WeakKeyDictionary()
_grids: WeakKeyDictionary[Axes, Grid] = WeakKeyDictionary()


def mark(artist: Artist, model: str = "", *, dataset: str = "", text: str = "") -> None:
    """Say what an artist stands for."""
    _marks[artist] = [Mark(model, dataset, text)]


def mark_members(artist: Artist, members: Sequence[Mark]) -> None:
    """Say what each line of a collection, or each marker of a line, stands for, in their order."""
    _marks[artist] = list(members)


def mark_rows(axes: Axes, names: Sequence[str], *, kind: str, texts: Sequence[str] = ()) -> None:
    """Say what each row of axes stands for, from the top; nothing of other kinds than `KINDS`."""
    if kind in KINDS:
        _grids[axes] = Grid(list(names), [], (kind, ""), list(texts))


def mark_cells(
    axes: Axes, rows: Sequence[str], columns: Sequence[str], *, kinds: tuple[str, str], texts: Any
) -> None:
    """Say what each cell of axes stands for.

    Parameters
    ----------
    axes : Axes
        Filled by the cells.
    rows, columns : sequence of str
        Names from the top and from the left.
    kinds : (str, str)
        What they are.
    texts : sequence of sequence of str
        What a page shows of each cell, by rows.
    """
    _grids[axes] = Grid(list(rows), list(columns), kinds, texts)


def find_marks(artist: Artist) -> list[Mark]:
    """What an artist stands for; empty where nothing was said."""
    return _marks.get(artist, [])


def find_grid(axes: Axes) -> Grid | None:
    """The rows or cells of axes, if they have any."""
    return _grids.get(axes)


def write_points(points: npt.ArrayLike) -> str:
    r"""Write a point of a curve per line; of many, some from the first to the last.

    Parameters
    ----------
    points : array_like, shape (points, 2)
        From the left; of points one above the other, the last counts. NaN where missing.

    Examples
    --------
    >>> write_points([[1, 0.25], [2, 0.5], [2, 0.75]])
    '1: 0.25\n2: 0.75'
    """
    known = {float(x): float(y) for x, y in np.asarray(points, float) if x == x and y == y}
    chosen = np.unique(
        np.linspace(0, len(known) - 1, min(MOST_POINTS, len(known))).round().astype(int)
    )
    pairs = list(known.items())
    return "\n".join(f"{pairs[place][0]:.3g}: {pairs[place][1]:.3g}" for place in chosen)


def write_estimates(values: npt.ArrayLike) -> list[str]:
    """Write estimates with their ends, such as ``0.652 [0.643, 0.663]``; empty where missing.

    Parameters
    ----------
    values : array_like, shape (rows, 3)
        Estimate, low and high; NaN where missing.

    Examples
    --------
    >>> write_estimates([[0.5, 0.4, 0.6], [0.5, float("nan"), 0.6]])
    ['0.500 [0.400, 0.600]', '0.500']
    """
    texts = []
    for estimate, low, high in np.asarray(values, float):
        text = "" if estimate != estimate else f"{estimate:.3f}"
        has_ends = text and np.isfinite([low, high]).all()
        texts.append(f"{text} [{low:.3f}, {high:.3f}]" if has_ends else text)
    return texts


def render_svg(figure: Figure, *, name: str, scale: float = 1.0) -> bytes:
    """Write a figure as an SVG element, for a page of HTML or a file of its own.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        A finished figure.
    name : str
        Begins all ids, so that figures may share a page.
    scale : float
        How much larger it is shown than it is laid out.

    Returns
    -------
    bytes
        The element. What `capmap.figures.marks` was given stands in ``data-model``,
        ``data-dataset``, ``data-text`` and ``data-more``; of a grid in ``metadata``, as JSON. They
        have the names of the tables, whatever the figure calls them. The paper is not drawn.
    """
    drawn = list(figure.findobj())
    marked = {f"marked-{place}": one for place, one in enumerate(drawn) if find_marks(one)}
    patches = [figure.patch, *(axes.patch for axes in figure.axes)]
    plain = [patch for patch in patches if not patch.get_hatch()]
    changed = [*marked.items(), *((PAPER, patch) for patch in plain)]
    before = [artist.get_gid() for _, artist in changed]
    for key, artist in changed:
        artist.set_gid(key)
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, dpi=IMAGE_DPI)
    for (_, artist), own in zip(changed, before, strict=True):
        artist.set_gid(own)
    root = ElementTree.fromstring(buffer.getvalue())  # noqa: S314 - written just above
    for group in list(root.iter(f"{SVG}g")):
        if group.get("id") in marked:
            _write_marks(group, find_marks(marked[group.get("id", "")]))
    shown = _clean(root, _name_references(root, name))
    shown.attrib = _describe_root(figure, scale)
    for grid in _place_grids(figure):
        known = ElementTree.SubElement(shown, "metadata")
        text = json.dumps(grid, ensure_ascii=False, separators=(",", ":"))
        known.text = text.translate(OUTSIDE_XML)
    return (ElementTree.tostring(shown, encoding="unicode") + "\n").encode()


def _describe_root(figure: Figure, scale: float) -> dict[str, str]:
    width, height = (72 * float(inches) for inches in figure.get_size_inches())
    return {
        "xmlns": SVG[1:-1],
        "viewBox": f"0 0 {width:.6g} {height:.6g}",
        "width": f"{width * scale:.6g}pt",
        "height": f"{height * scale:.6g}pt",
        "class": "wide" if width * scale > WIDE else "narrow",
        "font-family": FONTS,
        "stroke-linejoin": "round",
    }


def _write_marks(group: Element, marks: list[Mark]) -> None:
    """Say in attributes what a group, or each of its members, stands for."""
    members = [group]
    if len(marks) > 1:
        hidden = {id(one) for defs in group.iter(f"{SVG}defs") for one in defs.iter()}
        paths = [one for one in group.iter(f"{SVG}path") if id(one) not in hidden]
        members = list(group.iter(f"{SVG}use")) or paths
    for member, known in zip(members, marks, strict=True):
        for key, value in vars(known).items():
            if value:
                member.set(f"data-{key}", value.translate(OUTSIDE_XML))


def _name_references(root: Element, name: str) -> dict[str, str]:
    """New ids of what is referred to, in the order of the references."""
    targets = []
    for element in root.iter():
        if element.get(HREF, "").startswith("#"):
            targets.append(element.get(HREF, "")[1:])
        for value in element.attrib.values():
            targets += REFERENCE.findall(value)
    known = dict.fromkeys([*targets])
    return {target: f"{name}-{place}" for place, target in enumerate(known)}


def _clean(element: Element, ids: dict[str, str]) -> Element:
    """Copy what is shown: attributes in place of styles, no idle ids, groups or digits."""
    copy = Element(element.tag.removeprefix(SVG), dict(_clean_attributes(element, ids)))
    if element.tag == f"{SVG}text":
        copy.text = element.text
    if element.tag == f"{SVG}use":
        copy.attrib.setdefault("fill", BLACK)
    for child in element:
        if child.tag in HIDDEN or child.get("id") == PAPER:
            continue
        shown = _clean(child, ids)
        if shown.tag == "g" and not shown.attrib:
            copy.extend(shown)
        elif len(shown) or shown.tag != "defs":
            copy.append(shown)
    return copy


def _clean_attributes(element: Element, ids: dict[str, str]) -> Iterator[tuple[str, str]]:
    for key, value in _list_attributes(element):
        if key in DROPPED or (key == "transform" and NO_TURN.match(value)):
            continue
        if key == "id":
            if value in ids:
                yield key, ids[value]
        elif key == HREF:
            place = value.removeprefix("#")
            yield "href", f"#{ids[place]}" if place in ids else "".join(value.split())
        elif key.startswith("data-"):
            yield key, value
        else:
            shown = REFERENCE.sub(lambda found: f"url(#{ids[found[1]]})", " ".join(value.split()))
            yield key, shown if key == "transform" else NUMBER.sub(_shorten, shown)


def _list_attributes(element: Element) -> Iterator[tuple[str, str]]:
    for key, value in element.attrib.items():
        if key == "style":
            for part in filter(None, value.split(";")):
                name, _, shown = part.partition(":")
                yield name.strip(), shown.strip()
        else:
            yield key, value


def _shorten(number: re.Match[str]) -> str:
    return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")


def _place_grids(figure: Figure) -> Iterator[dict[str, Any]]:
    """What the page needs of each grid; rows reach as far as the figure if no other has any."""
    axes = [one for one in figure.axes if find_grid(one)]
    width, height = (72 * float(inches) for inches in figure.get_size_inches())
    for one in axes:
        grid = find_grid(one)
        if grid is None:
            continue
        x0, y0, x1, y1 = _find_box(one, width, height)
        band = (0.0, width) if len(axes) == 1 else (x0, x1)
        known = {
            "box": [round(number, 1) for number in (x0, y0, x1 - x0, y1 - y0)],
            "band": [round(number, 1) for number in band],
            **vars(grid),
        }
        yield {key: value for key, value in known.items() if len(value)}


def _find_box(axes: Axes, width: float, height: float) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of axes, in points from the upper left corner."""
    box = axes.get_position()
    return width * box.x0, height * (1 - box.y1), width * box.x1, height * (1 - box.y0)
