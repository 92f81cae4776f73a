"""Figures as a page embeds them: offline, within a budget."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capmap.analyses import FIGURES
from capmap.folders import read_index

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
    svg : str
        Its SVG element, or "" where it is too large for the page.
    files : mapping of str to str
        Its files relative to the page, by what they are.
    is_empty : bool
        Whether it has nothing to show, or is not asked for.
    """

    name: str
    caption: str
    svg: str
    files: Mapping[str, str]
    is_empty: bool


def read_figures(folder: str | Path) -> tuple[dict[str, Path], set[str]]:
    """Find the figures that a study's folder holds, by its index.

    Returns
    -------
    figures : dict of str to pathlib.Path
        The SVG files of figures by name, in the order of the page.
    nothing : set of str
        Figures with nothing to show, of which there are no files.
    """
    index = read_index(folder)
    files = {*index["file"]}
    figures = {name: Path(folder, f"{name}.svg") for name in FIGURES if f"{name}.svg" in files}
    return figures, {*index.loc[index["sha256"] == "", "file"]}


def embed_pictures(
    captions: Mapping[str, str],
    figures: Mapping[str, Path],
    files: Mapping[str, str],
    *,
    max_bytes: int,
) -> dict[str, Picture]:
    """Embed figures as far as they fit.

    Parameters
    ----------
    captions : mapping of str to str
        What each figure shows, by name, the most important first.
    figures : mapping of str to pathlib.Path
        SVG files by name, of figures that show something; other formats stand beside them.
    files : mapping of str to str
        Where the page finds each figure, by ``figures/<name>``.
    max_bytes : int
        Bytes of the page that all figures together may take.

    Returns
    -------
    dict of str to Picture
        The figures by name; those that do not fit and those with nothing to show are not embedded.
    """
    pictures = {}
    for name, caption in captions.items():
        svg = figures[name].read_text(encoding="utf-8").strip() if name in figures else ""
        shown = "" if len(svg.encode()) > max_bytes else svg
        max_bytes -= len(shown.encode())
        place = Path(files.get(f"figures/{name}", ""))
        linked = {
            kind: place.with_suffix(suffix).as_posix()
            for kind, suffix in FILES.items()
            if svg and figures[name].with_suffix(suffix).is_file()
        }
        pictures[name] = Picture(name, caption, shown, linked, not svg)
    return pictures
