"""One look for all figures: settings, colors of models, and files that depend on values only.

Nothing here touches pyplot, a display or a user's matplotlibrc, so a figure has the same bytes
wherever it is drawn with the same versions.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib as mpl
from fontTools.subset import Options  # type: ignore[import-untyped]
from matplotlib.backends.backend_pdf import Op, PdfFile, PdfPages
from matplotlib.figure import Figure

from capmap.artifacts import write_bytes
from capmap.catalog.declarations import INLINE
from capmap.figures.look import BASE_SIZE, FONT, current_look
from capmap.figures.marks import render_inline
from capmap.looks import sample_palette

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
    "savefig.dpi": DPI,
    "svg.fonttype": "path",
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
    "svg": {"Creator": None, "Date": None},
}

# A PDF places glyphs itself: to cut down what fonts say of layout took a third of the drawing.
_LAYOUT = ["BASE", "GDEF", "GPOS", "GSUB", "MATH"]
Options._drop_tables_default = [*Options._drop_tables_default, *_LAYOUT]

# Compressing harder takes twice the time and saves 5%.
_OPTIONS: dict[str, Any] = {"png": {"pil_kwargs": {"compress_level": 1}}}


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
    is Type 42 (TrueType), as publishers ask; SVG text is drawn as outlines, each glyph stored once,
    so it looks the same on a machine without the font.
    """
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_SETTINGS)
        mpl.rcParams["font.family"] = list(dict.fromkeys([current_look().font, FONT]))
        yield


def model_styles(models: Iterable[str]) -> dict[str, ModelStyle]:
    """Give each model of a study its color, marker and line style.

    Parameters
    ----------
    models : iterable of str
        Every model of the study, in any order; repeats do not matter.

    Returns
    -------
    dict of str to ModelStyle
        In name order. The style depends on the set of names only, so all figures agree.

    Notes
    -----
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
    ModelStyle(color='#0072B2', marker='o', line='-')
    """
    look = current_look()
    names = sorted(set(models))
    palette = sample_palette(look.palette, len(names)) if look.palette else PALETTE
    styles = {}
    for position, model in enumerate(names):
        lap, place = divmod(position, len(palette))
        lap %= len(MARKERS)
        color = look.colors.get(model, palette[place])
        styles[model] = ModelStyle(color, MARKERS[lap], LINE_STYLES[lap])
    return styles


def model_colors(models: Iterable[str]) -> dict[str, str]:
    """Give each model of a study its color, as in `model_styles`.

    Examples
    --------
    >>> model_colors(["b", "a"])
    {'a': '#0072B2', 'b': '#E69F00'}
    """
    return {model: style.color for model, style in model_styles(models).items()}


def save_figure(figure: Figure, paths: Sequence[str | Path]) -> None:
    """Write a figure atomically to each path, in the format that its suffix names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure; drawn in memory first.
    paths : sequence of path
        Files ending in ``.pdf``, ``.svg`` or ``.png`` (300 dpi), or in ``.inline.svg``, see
        `capmap.figures.marks`.

    Raises
    ------
    ValueError
        When a path ends in anything else; nothing is written then.

    Notes
    -----
    The files hold no time stamp and no version, so equal figures give equal bytes.
    """
    formats = {path: Path(path).suffix.removeprefix(".") for path in paths}
    for path, name in formats.items():
        if name not in _METADATA:
            raise ValueError(f"{path}: figures are written as .pdf, .svg or .png.")
    for path, name in formats.items():
        with figure_style():
            if str(path).endswith(INLINE):
                scale = current_look().choose_scale(float(figure.get_size_inches()[0]))
                title = Path(path).name.removesuffix(INLINE)
                write_bytes(path, render_inline(figure, name=title, scale=scale))
            else:
                write_bytes(path, _render(figure, name))


def _render(figure: Figure, name: str) -> bytes:
    """Render a figure in a format, as large as the look that is worn asks for."""
    look = current_look()
    scale = look.choose_scale(float(figure.get_size_inches()[0]))
    buffer = BytesIO()
    options: dict[str, Any] = {"format": name, **_OPTIONS.get(name, {})}
    if name == "png":
        options["dpi"] = look.dpi * scale
        options["pil_kwargs"] = {**options["pil_kwargs"], "dpi": (look.dpi, look.dpi)}
    elif look.dpi != DPI or scale != 1:
        options["dpi"] = look.dpi * scale
    if name == "pdf" and scale != 1:
        with _LargerPdf(buffer, scale) as pages:
            figure.savefig(pages, **options)
    else:
        figure.savefig(buffer, metadata=_METADATA[name], **options)
    content = buffer.getvalue()
    return _enlarge_svg(content, scale) if name == "svg" and scale != 1 else content


class _LargerPdf(PdfPages):
    """A PDF file whose page is larger than the figure, and all that is drawn on it with it."""

    def __init__(self, file: BytesIO, scale: float) -> None:
        super().__init__(file, metadata=_METADATA["pdf"])
        self.scale = scale

    def _ensure_file(self) -> PdfFile:
        if self._file is None:
            self._file = _LargerPage(  # type: ignore[no-untyped-call]
                self._filename, metadata=self._metadata
            )
            self._file.scale = self.scale
        return self._file


class _LargerPage(PdfFile):
    scale = 1.0

    def newPage(self, width: float, height: float) -> None:  # noqa: N802 - matplotlib's
        super().newPage(width * self.scale, height * self.scale)  # type: ignore[no-untyped-call]
        self.output(self.scale, 0, 0, self.scale, 0, 0, Op.concat_matrix)  # type: ignore[no-untyped-call]


def _enlarge_svg(content: bytes, scale: float) -> bytes:
    """Change the size at which an SVG file is shown; what is drawn has the units of its box."""
    head, mark, rest = content.partition(b" viewBox=")
    sizes = re.compile(rb'(?<==")[0-9.]+(?=pt")')
    return sizes.sub(lambda size: b"%.6g" % (scale * float(size[0])), head) + mark + rest
