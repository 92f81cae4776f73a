"""What studies may choose for their figures by a name that matplotlib knows, and what is none.

Rules read this module, so matplotlib is imported only where something is asked of it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from capmap.errors import ConfigError
from capmap.wording import find_nearest, quote_name

# Of colors that have no order; a palette with more is a gradient.
MOST_COLORS = 24
# Colors that are taken of a gradient before they repeat with another marker.
MOST_STEPS = 20
# The palettes of seaborn 0.13, whose import would take a second.
PALETTES = {
    "deep": "#4C72B0 #DD8452 #55A868 #C44E52 #8172B3 #937860 #DA8BC3 #8C8C8C #CCB974 #64B5CD",
    "muted": "#4878D0 #EE854A #6ACC64 #D65F5F #956CB4 #8C613C #DC7EC0 #797979 #D5BB67 #82C6E2",
    "pastel": "#A1C9F4 #FFB482 #8DE5A1 #FF9F9B #D0BBFF #DEBB9B #FAB0E4 #CFCFCF #FFFEA3 #B9F2F0",
    "bright": "#023EFF #FF7C00 #1AC938 #E8000B #8B2BE2 #9F4800 #F14CC1 #A3A3A3 #FFC400 #00D7FF",
    "dark": "#001C7F #B1400D #12711C #8C0800 #591E71 #592F0D #A23582 #3C3C3C #B8850A #006374",
    "colorblind": "#0173B2 #DE8F05 #029E73 #D55E00 #CC78BC #CA9161 #FBAFE4 #949494 #ECE133 #56B4E9",
}


def find_faults(look: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find names in the look of figures that mean nothing.

    Parameters
    ----------
    look : mapping
        Any of ``palette`` and ``colors``, as configured.

    Yields
    ------
    option : str
        Such as ``palette``.
    message : str
        What is wrong, and what was probably meant.
    """
    if look.get("palette"):
        try:
            sample_palette(look["palette"], 1)
        except ConfigError as error:
            yield "palette", str(error)
    for model, color in look.get("colors", {}).items():
        try:
            read_color(color)
        except ConfigError as error:
            yield f"colors.{model}", str(error)


def sample_palette(palette: str | Sequence[str], count: int) -> tuple[str, ...]:
    """List the colors of a palette.

    Parameters
    ----------
    palette : str or sequence of str
        A name of a palette of seaborn's or a color map of matplotlib's, or colors.
    count : int
        How many colors are wanted of a gradient, at most 20; other palettes have their own number.

    Returns
    -------
    tuple of str
        As hexadecimal numbers.

    Raises
    ------
    ConfigError
        When there is no such palette or color; the message names a similar one.

    Examples
    --------
    >>> sample_palette(["black", "#E69F00"], 5)
    ('#000000', '#e69f00')
    """
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    if not isinstance(palette, str):
        return tuple(map(read_color, palette))
    if palette in PALETTES:
        return tuple(map(read_color, PALETTES[palette].split()))
    if palette not in mpl.colormaps:
        known = [name for name in (*mpl.colormaps, *PALETTES) if not name.endswith("_r")]
        raise ConfigError(
            f"there is no palette {quote_name(palette)}. {_suggest(palette, known)}"
            "Name a palette of seaborn or a color map of matplotlib, or list colors."
        )
    colors = mpl.colormaps[palette]
    if colors.N <= MOST_COLORS:
        return tuple(to_hex(colors(place)) for place in range(colors.N))
    # Without both ends, which are often as pale as the paper.
    steps = min(max(count, 1), MOST_STEPS)
    return tuple(to_hex(colors((step + 1) / (steps + 1))) for step in range(steps))


def read_color(color: str) -> str:
    """Write a color as a hexadecimal number.

    Raises
    ------
    ConfigError
        When it is none; the message names a similar one.

    Examples
    --------
    >>> read_color("tab:blue")
    '#1f77b4'
    """
    from matplotlib.colors import get_named_colors_mapping, is_color_like, to_hex

    if is_color_like(color):
        return to_hex(color)
    raise ConfigError(
        f"{quote_name(color)} is no color. {_suggest(color, get_named_colors_mapping())}"
        'Write a name that matplotlib knows, or six digits such as "#0072B2", in quotes.'
    )


def _suggest(name: str, known: Iterable[str]) -> str:
    near = find_nearest(name, known)
    return f"Did you mean {quote_name(near)}? " if near else ""
