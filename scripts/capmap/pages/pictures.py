"""Figures as a page embeds them: isolated, offline, within a budget."""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from urllib.parse import quote

from PIL import Image

from capmap.catalog.declarations import EMPTY_FIGURE

DPI = 300
CSS_DPI = 96
PLAIN = ' !"$()*+,-./:;=?@[]^_`{|}~'


@dataclass(frozen=True)
class Picture:
    """A figure on a page.

    Parameters
    ----------
    name : str
        Names the figure in the page.
    caption : str
        What it shows.
    alt : str
        What a reader who cannot see it should know.
    data : str
        The image as a ``data:`` address, or "" where it is too large for the page.
    file : str
        Its PDF, relative to the page.
    width : int
        Its width on paper in CSS pixels, 96 to the inch.
    is_empty : bool
        Whether it is a sentence that says that there is nothing to show.
    """

    name: str
    caption: str
    alt: str
    data: str
    file: str
    width: int
    is_empty: bool


def embed_pictures(
    texts: Mapping[str, tuple[str, str]],
    figures: Mapping[str, Path],
    images: Mapping[str, Path],
    files: Mapping[str, str],
    *,
    max_bytes: int,
) -> dict[str, Picture]:
    """Embed figures as far as they fit.

    Parameters
    ----------
    texts : mapping of str to (str, str)
        Caption and alternative text of each figure, by name, the most important first.
    figures : mapping of str to pathlib.Path
        SVG files by name.
    images : mapping of str to pathlib.Path
        The same figures as PNG files.
    files : mapping of str to str
        Where the page finds each figure as PDF, by ``figures/<name>``.
    max_bytes : int
        Bytes of the page that all figures together may take.

    Returns
    -------
    dict of str to Picture
        The figures by name; those that do not fit have no data.

    Notes
    -----
    Figures are embedded as SVG, but for those that are not drawn or have nothing to show. If they
    are too large together, the largest become images of half the resolution one after another, and
    what still does not fit is left out.
    """
    drawn = {name: figures[name].read_text(encoding="utf-8") for name in texts if name in figures}
    empty = {name for name, svg in drawn.items() if f'<g id="{EMPTY_FIGURE}">' in svg}
    data = {name: "" if name in empty else embed_svg(svg) for name, svg in drawn.items()}
    for name in sorted(data, key=lambda name: (-len(data[name]), name)):
        if sum(map(len, data.values())) <= max_bytes:
            break
        data[name] = min(data[name], embed_png(images[name]), key=len)
    pictures = {}
    for name, (caption, alt) in texts.items():
        if name not in figures:  # the study skips it
            pictures[name] = Picture(name, caption, alt, "", "", 0, is_empty=True)
            continue
        embedded = data[name] if len(data[name]) <= max_bytes else ""
        max_bytes -= len(embedded)
        with Image.open(images[name]) as image:
            width = round(image.width * CSS_DPI / image.info.get("dpi", (DPI, DPI))[0])
        file = files[f"figures/{name}"]
        pictures[name] = Picture(name, caption, alt, embedded, file, width, name in empty)
    return pictures


def embed_png(path: Path) -> str:
    """Turn an image into an address that carries it, at half the resolution and in 64 colors."""
    with Image.open(path) as image:
        small = image.convert("RGB").reduce(2).quantize(64, method=Image.Quantize.FASTOCTREE)
    buffer = BytesIO()
    small.save(buffer, format="png")
    return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"


def embed_svg(svg: str) -> str:
    r"""Turn an SVG into an address that carries it; as an image, its scripts and ids stay inside.

    Notes
    -----
    Most characters stand for themselves, which takes a quarter less than base64. The address holds
    none of ``&``, ``<``, ``>`` and ``'``, so it may stand in single quotes as it is.

    Examples
    --------
    >>> embed_svg('<svg>\n <g id="a"/>\n</svg>')
    'data:image/svg+xml,%3Csvg%3E%3Cg id="a"/%3E%3C/svg%3E'
    """
    compact = re.sub(r">\s+<", "><", svg.strip()).replace("\n", " ")
    return f"data:image/svg+xml,{quote(compact, safe=PLAIN)}"
