"""Figures as a page embeds them: offline, within a budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capmap.catalog.declarations import EMPTY_FIGURE

# Suffixes of the files that a page links, by what it calls them.
FILES = {"PDF": ".pdf", "SVG": ".svg", "PNG": ".png"}


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
    svg : str
        Its SVG element, or "" where it is too large for the page.
    files : mapping of str to str
        Its files relative to the page, by what they are.
    is_empty : bool
        Whether it is a sentence that says that there is nothing to show.
    """

    name: str
    caption: str
    alt: str
    svg: str
    files: Mapping[str, str]
    is_empty: bool


def embed_pictures(
    texts: Mapping[str, tuple[str, str]],
    figures: Mapping[str, Path],
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
        Files by name that `capmap.figures.inline` wrote; of figures that the study skips, none.
    files : mapping of str to str
        Where the page finds each figure as PDF, by ``figures/<name>``.
    max_bytes : int
        Bytes of the page that all figures together may take.

    Returns
    -------
    dict of str to Picture
        The figures by name; those that do not fit and those with nothing to show are not embedded.
    """
    pictures = {}
    for name, (caption, alt) in texts.items():
        svg = figures[name].read_text(encoding="utf-8").strip() if name in figures else ""
        is_empty = not svg or f'id="{EMPTY_FIGURE}"' in svg
        shown = "" if is_empty or len(svg.encode()) > max_bytes else svg
        max_bytes -= len(shown.encode())
        place = Path(files.get(f"figures/{name}", ""))
        kinds = FILES.items() if place.name else ()
        linked = {kind: place.with_suffix(suffix).as_posix() for kind, suffix in kinds}
        pictures[name] = Picture(name, caption, alt, shown, linked, is_empty)
    return pictures
