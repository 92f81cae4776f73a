"""Figures as a page embeds them: isolated, offline, within a budget."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

PLAIN = ' !"$()*+,-./:;=?@[]^_`{|}~'

DESCRIPTIONS = {
    "intervals": (
        "Interquartile mean of each model with its interval, best on top.",
        "Plot of the interquartile mean of each model with its interval. The ranking table "
        "holds the same numbers.",
    ),
    "rank_shift": (
        "Rank of each model by each aggregation; lines that cross are models whose order depends "
        "on it.",
        "Plot of the rank of each model by each aggregation. The aggregation table holds the "
        "same numbers.",
    ),
    "scores": (
        "Normalized score of each model on each dataset, averaged over runs.",
        "Plot of the normalized score of each model on each dataset. The scores table holds "
        "the same numbers.",
    ),
    "seed_spread": (
        "Spread of the runs on each dataset: where it is wide, single runs say little.",
        "Plot of the standard deviation over runs on each dataset. The table of cells holds the "
        "same numbers.",
    ),
    "runs_per_cell": (
        "Number of runs of each model on each dataset; empty cells have none.",
        "Plot of the number of runs of each model on each dataset. The table of cells holds "
        "the same numbers.",
    ),
}


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
        The SVG as a ``data:`` address, or "" where it is too large for the page.
    file : str
        Its PDF, relative to the page.
    """

    name: str
    caption: str
    alt: str
    data: str
    file: str


def embed_pictures(
    texts: Mapping[str, tuple[str, str]],
    figures: Mapping[str, str],
    files: Mapping[str, str],
    *,
    max_bytes: int,
) -> dict[str, Picture]:
    """Embed figures, the most important first, as long as they fit.

    Parameters
    ----------
    texts : mapping of str to (str, str)
        Caption and alternative text of each figure, by name.
    figures : mapping of str to str
        SVG by name.
    files : mapping of str to str
        Where the page finds each figure as PDF, by ``figures/<name>``.
    max_bytes : int
        Bytes of the page that all figures together may take.

    Returns
    -------
    dict of str to Picture
        The figures by name; those that do not fit have no data.
    """
    pictures = {}
    for name, (caption, alt) in texts.items():
        data = embed_svg(figures[name])
        data = data if len(data) <= max_bytes else ""
        max_bytes -= len(data)
        pictures[name] = Picture(name, caption, alt, data, files[f"figures/{name}"])
    return pictures


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
