"""One look for all figures: settings, colors of models, and files that depend on values only.

Nothing here touches pyplot, a display or a user's matplotlibrc, so a figure has the same bytes
wherever it is drawn with the same versions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from os.path import commonprefix
from pathlib import Path
from typing import Any
from zlib import crc32

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from fontTools import subset  # type: ignore[import-untyped]
from matplotlib.artist import Artist
from matplotlib.backends.backend_pdf import Op
from matplotlib.colors import get_named_colors_mapping, is_color_like, to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font
from matplotlib.ft2font import FT2Font, LoadFlags
from matplotlib.transforms import Bbox

from capmap.artifacts import write_bytes
from capmap.errors import ConfigError
from capmap.figures.marks import render_svg
from capmap.wording import quote_name, suggest

FONT = "DejaVu Sans"
BASE_SIZE = 7.0
COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0
TEXT_SIZE = BASE_SIZE
SMALL_SIZE = 6.0
DPI = 300
INK = "#222222"
FAINT_INK = "#595959"
GRID_COLOR = "#E4E4E4"

PALETTE = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#7A3FE0",
    "#56B4E9",
    "#CC79A7",
    "#000000",
)
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
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
LINE_STYLES = (
    "-",
    (0, (4.0, 1.5)),
    (0, (1.2, 1.2)),
    (0, (6.0, 1.5, 1.2, 1.5)),
    (0, (2.5, 2.5)),
    (0, (8.0, 2.0)),
    (0, (4.0, 1.2, 1.2, 1.2, 1.2, 1.2)),
)

_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": False,
    "axes.labelcolor": INK,
    "axes.labelpad": 3.0,
    "axes.labelsize": TEXT_SIZE,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.dpi": DPI,
    "font.family": [FONT],
    "font.size": TEXT_SIZE,
    "grid.color": GRID_COLOR,
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.4,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,  # The PDF backend reads it too, and embeds fewer parts of a font.
    "savefig.dpi": DPI,
    "svg.fonttype": "none",
    "svg.hashsalt": "capmap",
    "text.color": INK,
    "text.hinting": "no_hinting",
    "text.parse_math": False,
    "xtick.color": INK,
    "xtick.labelsize": TEXT_SIZE,
    "xtick.major.pad": 2.0,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.color": INK,
    "ytick.labelsize": TEXT_SIZE,
    "ytick.major.pad": 3.0,
    "ytick.major.size": 0.0,
    "ytick.major.width": 0.6,
}

_METADATA: dict[str, dict[str, None]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}

# A PDF places glyphs itself, by their numbers: reading what fonts say of layout, characters and
# names of glyphs took half of the drawing.
_UNUSED = {"BASE", "GDEF", "GPOS", "GSUB", "MATH", "OS/2", "cmap", "kern", "name", "post"}
_load_font = subset.load_font
ELLIPSIS = "…"
BREAKS = " _-/."

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Look:
    """The look of a figure; as by default where nothing is chosen.

    Parameters
    ----------
    width : float
        Of the file, in inches, if there is room for its text; 0: as the figure needs.
    font_size : float
        Of most text, in points. Rows, lines and marks grow with it.
    palette : str or tuple of str
        A name or colors, see `sample_palette`; empty: those of `figures.style`.
    colors : mapping of str to str
        Colors of some models.
    order : tuple of str
        Models that stand first where a figure lists models.
    """

    width: float = 0.0
    font_size: float = BASE_SIZE
    palette: str | tuple[str, ...] = ""
    colors: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def enlarged(self) -> float:
        """How much larger text and all that goes with it is than by default."""
        return self.font_size / BASE_SIZE


_is_styled: ContextVar[bool] = ContextVar("is_styled", default=False)
_worn: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 - it is frozen


def current_look() -> Look:
    """The look that figures are drawn with now."""
    return _worn.get()


@contextmanager
def wear_look(look: Look) -> Iterator[None]:
    """Draw and save figures with a look."""
    token = _worn.set(look)
    try:
        yield
    finally:
        _worn.reset(token)


def column_width() -> float:
    """Width, in inches, in which a small figure is laid out: 3.4, if nothing else is asked for.

    Notes
    -----
    Layouts are made for text of 7 points, and the file is larger where text is to be larger.
    """
    look = current_look()
    return (look.width or COLUMN_WIDTH) / look.enlarged


def page_width(least: float = 0.0) -> float:
    """Width, in inches, in which a large figure is laid out: 7, if nothing else is asked for.

    Parameters
    ----------
    least : float
        What the layout needs, as text keeps its size: the figure is at least so wide.
    """
    look = current_look()
    return max((look.width or PAGE_WIDTH) / look.enlarged, least if look.width else 0.0)


def arrange_models(models: Iterable[str]) -> list[str]:
    """Put the models first that a study wants to stand first; the others stay as they are."""
    names = list(models)
    places = {model: place for place, model in enumerate(current_look().order)}
    return sorted(names, key=lambda model: places.get(model, len(places)))


def read_look(options: Mapping[str, Any]) -> Look:
    """Make a look of what is configured.

    Parameters
    ----------
    options : mapping
        The settings ``figures`` of a study for one figure; those that are absent are as by default.

    Raises
    ------
    ConfigError
        When a palette or color is not there.
    """
    chosen = {key: value for key, value in options.items() if value != ""}
    faults = list(find_unknown_colors(chosen))
    if faults:
        raise ConfigError("\n".join(f"figures.{key}: {text}" for key, text in faults))
    palette = chosen.get("palette", "")
    return Look(
        width=chosen.get("width", 0.0),
        font_size=chosen.get("font_size", BASE_SIZE),
        palette=palette if isinstance(palette, str) else tuple(map(read_color, palette)),
        colors={model: read_color(color) for model, color in chosen.get("colors", {}).items()},
        order=tuple(chosen.get("order", ())),
    )


def find_unknown_colors(look: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find palettes and colors of figures that are none: the option, and what was meant."""
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
    """List the colors of a palette of seaborn, a color map of matplotlib, or a list of colors.

    Of a gradient `count` colors are taken, at most 20; other palettes have their own number.

    Examples
    --------
    >>> sample_palette(["black", "#E69F00"], 5)
    ('#000000', '#e69f00')
    """
    if not isinstance(palette, str):
        return tuple(map(read_color, palette))
    if palette in PALETTES:
        return tuple(map(read_color, PALETTES[palette].split()))
    if palette not in mpl.colormaps:
        known = [name for name in (*mpl.colormaps, *PALETTES) if not name.endswith("_r")]
        remedy = "Name a palette of seaborn or a color map of matplotlib, or list colors."
        hint = suggest(palette, known, remedy)
        raise ConfigError(f"there is no palette {quote_name(palette)}. {hint}")
    colors = mpl.colormaps[palette]
    if colors.N <= MOST_COLORS:
        return tuple(to_hex(colors(place)) for place in range(colors.N))
    # Without both ends, which are often as pale as the paper.
    steps = min(max(count, 1), MOST_STEPS)
    return tuple(to_hex(colors((step + 1) / (steps + 1))) for step in range(steps))


def read_color(color: str) -> str:
    """Write a color as a hexadecimal number; what is none is refused with a similar one.

    Examples
    --------
    >>> read_color("tab:blue")
    '#1f77b4'
    """
    if is_color_like(color):
        return to_hex(color)
    remedy = 'Write a name that matplotlib knows, or six digits such as "#0072B2", in quotes.'
    hint = suggest(color, get_named_colors_mapping(), remedy)
    raise ConfigError(f"{quote_name(color)} is no color. {hint}")


def _load_bare_font(path: Any, options: Any) -> Any:
    """Open a font for matplotlib, which embeds a part of it in a PDF, without the rest."""
    font = _load_font(path, options)
    for table in _UNUSED.intersection(font.keys()):
        del font[table]
    return font


subset.load_font = _load_bare_font


@dataclass(frozen=True)
class ModelStyle:
    """How a model looks in every figure of a study."""

    color: str
    marker: str
    line: str | tuple[float, tuple[float, ...]]


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw with capmap's settings and nobody else's; also usable as a decorator.

    Notes
    -----
    Matplotlib's own defaults come first, so a user's matplotlibrc or an earlier change of
    ``rcParams`` has no say. Text is never read as mathematics, so names need no escapes. PDF text
    is Type 42 (TrueType), as publishers ask; SVG text is text.
    """
    if _is_styled.get():
        yield
        return
    token = _is_styled.set(True)
    try:
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(_SETTINGS)
            yield
    finally:
        _is_styled.reset(token)


def model_styles(models: Iterable[str]) -> dict[str, ModelStyle]:
    """Give each model of a study its color, marker and line style, by its name.

    Parameters
    ----------
    models : iterable of str
        Every model of the study, in any order; repeats do not matter.

    Returns
    -------
    dict of str to ModelStyle
        In name order.

    Notes
    -----
    A name decides on the style, and of models with the same one the second takes the next that is
    free. So all figures of a study agree, and another model or another name changes few colors.

    The eight colors are Okabe and Ito's without yellow, which is too faint on white, and with a
    violet. Models beyond eight use the colors again with the next marker and line style: 56
    models look different, even in one color. Beyond that styles repeat, beside the
    names. A study may choose another palette, and colors of single models.

    References
    ----------
    Okabe and Ito (2008), Color universal design, https://jfly.uni-koeln.de/color/

    Examples
    --------
    >>> model_styles(["b", "a"])["a"]
    ModelStyle(color='#D55E00', marker='o', line='-')
    """
    look = current_look()
    numbers = {model: crc32(model.encode("utf-8", "surrogatepass")) for model in set(models)}
    palette = sample_palette(look.palette, len(numbers)) if look.palette else PALETTE
    taken: set[int] = set()
    styles = {}
    for model in sorted(numbers, key=lambda model: (numbers[model], model)):
        turned = [(numbers[model] + step) % len(palette) for step in range(len(palette))]
        places = [lap * len(palette) + place for lap in range(len(MARKERS)) for place in turned]
        free = next((place for place in places if place not in taken), places[0])
        taken.add(free)
        lap, place = divmod(free, len(palette))
        color = look.colors.get(model, palette[place])
        styles[model] = ModelStyle(color, MARKERS[lap], LINE_STYLES[lap])
    return dict(sorted(styles.items()))


def model_colors(models: Iterable[str]) -> dict[str, str]:
    """Give each model of a study its color, as in `model_styles`.

    Examples
    --------
    >>> model_colors(["b", "a"])
    {'a': '#D55E00', 'b': '#E69F00'}
    """
    return {model: style.color for model, style in model_styles(models).items()}


def save_figure(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write a figure atomically to each path, in the format that its suffix names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; drawn in memory first.
    paths : sequence of path
        Files ending in ``.svg`` (see `capmap.figures.marks`), ``.pdf`` or ``.png`` (300 dpi).

    Raises
    ------
    ValueError
        When a path ends in anything else; nothing is written then.

    Notes
    -----
    The files hold no time stamp and no version, so equal figures give equal bytes.
    """
    formats = {Path(path): Path(path).suffix.removeprefix(".") for path in paths}
    for path, name in formats.items():
        if name not in ("svg", *_METADATA):
            raise ValueError(f"{path}: figures are written as .pdf, .svg or .png.")
    scale = current_look().enlarged
    with figure_style():
        for path, name in formats.items():
            if name == "svg":
                write_bytes(path, render_svg(figure, name=path.stem, scale=scale))
            else:
                write_bytes(path, _render(figure, name, scale))


def _render(figure: Figure, name: str, scale: float) -> bytes:
    """Render a figure as PDF or PNG, enlarged by a factor."""
    buffer = BytesIO()
    options: dict[str, Any] = {"format": name, "metadata": _METADATA[name]}
    if name == "png":
        # Compressing harder takes twice the time and saves 5%.
        options |= {"dpi": DPI * scale, "pil_kwargs": {"compress_level": 1, "dpi": (DPI, DPI)}}
    elif scale != 1:
        figure.add_artist(enlarge := _Enlarge(scale))
        options["bbox_inches"] = Bbox.from_bounds(0, 0, *scale * figure.get_size_inches())
    figure.savefig(buffer, **options)
    if name == "pdf" and scale != 1:
        enlarge.remove()
    return buffer.getvalue()


class _Enlarge(Artist):
    """Enlarges what is drawn in a PDF after it, which is all but the paper."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.set(zorder=-1e9, in_layout=False)

    def draw(self, renderer: Any) -> None:
        """Write the factor into the PDF."""
        renderer.file.output(self.scale, 0, 0, self.scale, 0, 0, Op.concat_matrix)


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
    Both ends of a name are kept, as kinds and sizes stand there. Names that would become alike keep
    their start and the word in which they differ; those that are still alike are numbered within
    the ellipsis. Labels depend on the set of names only, not on its order.

    Examples
    --------
    >>> shorten_names(["resnet50_pretrained_on_imagenet"], width=1.0, size=7)
    {'resnet50_pretrained_on_imagenet': 'resnet50…magenet'}
    >>> alike = ["resnet50_with_moco_on_sentinel2", "resnet50_with_dino_on_sentinel2"]
    >>> list(shorten_names(alike, width=1.0, size=7).values())
    ['resnet5…dino_on…', 'resnet5…moco_o…']
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
    """Cut texts; those that become alike lack what stands before the word in which they differ."""
    labels = {text: _cut(text, ELLIPSIS, width, size) for text in sorted(texts)}
    for label, count in Counter(labels.values()).items():
        alike = [text for text in labels if labels[text] == label] if count > 1 else []
        shared = commonprefix(alike)  # noqa: RUF071 - of characters, as wanted
        start = max(shared.rfind(sign) for sign in BREAKS) + 1 or len(shared)
        room = width / 2 - text_width(ELLIPSIS, size=size)
        for text in alike:
            head = text[: min(start, _count_fitting(text, room, size))]
            rest = text[start:]
            tail = rest[: _count_fitting(rest, room, size)]
            marks = [
                ELLIPSIS * (len(kept) < there) for kept, there in ((head, start), (tail, len(rest)))
            ]
            labels[text] = head + marks[0] + tail + marks[1]
    return labels


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
