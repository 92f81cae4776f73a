"""The map four times: models by architecture, date and size, and datasets by task type."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator

from capmap.figures.canvas import GAP, PADDING, Margins, Sheet, Wording
from capmap.figures.capability_map import LOOKS, NOTHING, frame_map, scale_points
from capmap.figures.curves import choose_log_ticks
from capmap.figures.names import shorten_names, widest
from capmap.figures.note import draw_note
from capmap.figures.panels import add_panel, make_backdrop
from capmap.figures.style import (
    FAINT_INK,
    INK,
    MARKERS,
    PAGE_WIDTH,
    PALETTE,
    SMALL_SIZE,
    figure_style,
)

HEADING = "Attributes on the map"
PLACES = (
    "Places are those of the map of models and datasets; pale dots are the points without color."
)
GUTTER = 0.2
WIDTH = (PAGE_WIDTH - 2 * PADDING - GUTTER) / 2
TOP_HEIGHT = 3.8
EDGE = 0.12
TITLE = 0.2
KEY_ROW = 0.125
KEY_MARK = 0.13
KEY_NAME = 1.3
SCALE_HEIGHT = 0.07
SCALE_WIDTH = 1.7
SCALE_KEY = 0.26
MAX_CATEGORIES = len(MARKERS)
OTHER = "other"
UNKNOWN = "unknown"
UNKNOWN_LOOK = {"markerfacecolor": "white", "markeredgecolor": "#8C8C8C"}
OTHER_LOOK = {"markersize": 5.4, "markerfacecolor": "#8C8C8C", "markeredgecolor": "white"}
PALE_LOOK = {"markersize": 1.6, "markerfacecolor": "#CFCFCF", "markeredgecolor": "#CFCFCF"}
COLORS = "cividis_r"
UNITS = (("B", 1e9), ("M", 1e6))


@dataclass(frozen=True)
class _Key:
    """What a color means: a text, the look of its points, and which points have it."""

    text: str
    look: dict[str, Any]
    chosen: "pd.Series[bool]"


@dataclass(frozen=True)
class _Scale:
    """Numbers as colors, and which numbers the scale of colors names in which words."""

    numbers: "pd.Series[float]"
    norm: Normalize
    ticks: dict[float, str]


@dataclass(frozen=True)
class _Panel:
    """A map of one attribute of models or datasets; without keys where nothing is known."""

    title: str
    kind: str
    keys: tuple[_Key, ...]
    scale: _Scale | None = None

    @property
    def is_empty(self) -> bool:
        return self.scale is None and not self.keys


@figure_style()
def draw_attribute_maps(
    positions: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame
) -> Figure:
    """Draw the map with models colored by what they are, and datasets by their task.

    Parameters
    ----------
    positions : DataFrame
        kind (model or dataset), name, x, y; rows in any order.
    models : DataFrame
        model, architecture, parameters (number in any unit), date (ISO text); all may be empty.
    datasets : DataFrame
        dataset, type; may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): architecture, date of publication, number of parameters, task type.

    Notes
    -----
    The seven most frequent categories, ties by name, have a color and a shape each; others are gray
    and what is not known is open. A number of parameters of 0 or less counts as not known. A panel
    whose attribute is not known of any point on the map says so.
    """
    if positions.empty:
        return draw_note(NOTHING, heading=HEADING)
    points = positions.sort_values(["kind", "name"], ignore_index=True)
    places, height = scale_points(points, width=WIDTH, height=TOP_HEIGHT, edge=EDGE)
    points = points.assign(x=places[:, 0], y=places[:, 1])
    panels = _plan_panels(points, models, datasets)
    heads = [max(_measure_head(panel) for panel in panels[row : row + 2]) for row in (0, 2)]
    sheet = make_backdrop(
        width=PAGE_WIDTH,
        height=2 * height + sum(heads) + GUTTER,
        margins=Margins(PADDING, PADDING, head=PADDING, ticks=0.0),
        wording=Wording(HEADING, "", (PLACES,)),
    )
    bottoms = (height + heads[1] + GUTTER, 0.0)
    for position, panel in enumerate(panels):
        row, column = divmod(position, 2)
        left = column * (WIDTH + GUTTER)
        place = add_panel(sheet, left=left, bottom=bottoms[row], width=WIDTH, height=height)
        _draw_panel(place, panel, points, head=heads[row])
    return sheet.figure


def _plan_panels(
    points: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame
) -> tuple[_Panel, ...]:
    known = _find_attributes(points, "model", models)
    types = _find_attributes(points, "dataset", datasets)["type"]
    return (
        _plan_categories("Models by architecture", "model", known["architecture"]),
        _plan_dates("Models by date of publication", known["date"]),
        _plan_sizes("Models by number of parameters (log scale)", known["parameters"]),
        _plan_categories("Datasets by task type", "dataset", types),
    )


def _find_attributes(points: pd.DataFrame, kind: str, table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a table for the points of a kind, in the places of these points."""
    names = points.loc[points["kind"] == kind, "name"]
    return table.set_index(kind).reindex(names).set_axis(names.index)


def _plan_categories(title: str, kind: str, values: "pd.Series[Any]") -> _Panel:
    known = values.dropna()[lambda texts: texts != ""].astype(str)
    counts = known.value_counts()
    ranked = sorted(counts.index, key=lambda text: (-counts[text], text))
    chosen = ranked[:MAX_CATEGORIES]
    labels = shorten_names(chosen, width=KEY_NAME, size=SMALL_SIZE)
    keys = []
    for text, marker, color in zip(chosen, MARKERS, PALETTE, strict=False):
        look = {**OTHER_LOOK, "marker": marker, "markerfacecolor": color}
        keys.append(_Key(labels[text], look, values == text))
    if not keys:
        return _Panel(title, kind, ())
    keys.append(_Key(OTHER, OTHER_LOOK, values.isin(ranked[MAX_CATEGORIES:])))
    keys.append(_Key(UNKNOWN, UNKNOWN_LOOK, ~values.isin(ranked)))
    return _Panel(title, kind, tuple(key for key in keys if key.chosen.any()))


def _plan_dates(title: str, values: "pd.Series[Any]") -> _Panel:
    dates = pd.to_datetime(values, errors="coerce", format="ISO8601")
    years = (dates.dt.year + (dates.dt.day_of_year - 1) / 366).astype(float)
    low, high = np.floor(years.min()), np.floor(years.max()) + 1
    if years.isna().all():
        return _Panel(title, "model", ())
    ticks = MaxNLocator(4, integer=True).tick_values(low, high)
    named = {float(year): f"{year:.0f}" for year in ticks if low <= year <= high}
    return _plan_scale(title, _Scale(years, Normalize(low, high), named))


def _plan_sizes(title: str, values: "pd.Series[Any]") -> _Panel:
    sizes = values.astype(float).where(lambda sizes: sizes > 0)
    if sizes.isna().all():
        return _Panel(title, "model", ())
    low, high = sizes.min(), sizes.max()
    if low == high:
        low, high = low / 2, high * 2
    named = {size: _write_size(size) for size in choose_log_ticks(low, high, count=4)}
    return _plan_scale(title, _Scale(sizes, LogNorm(low, high), named))


def _plan_scale(title: str, scale: _Scale) -> _Panel:
    unknown = _Key(UNKNOWN, UNKNOWN_LOOK, scale.numbers.isna())
    return _Panel(title, "model", (unknown,) if unknown.chosen.any() else (), scale)


def _write_size(size: float) -> str:
    """Write a number shortly.

    Examples
    --------
    >>> _write_size(86e6), _write_size(1.8e9), _write_size(2500), _write_size(0.5)
    ('86M', '1.8B', '2,500', '0.5')
    """
    for unit, factor in UNITS:
        if size >= factor:
            return f"{size / factor:,.4g}{unit}"
    return f"{size:,.4g}"


def _measure_head(panel: _Panel) -> float:
    """Height of a panel's title and keys in inches."""
    if panel.scale or panel.is_empty:
        return TITLE + SCALE_KEY
    return TITLE + -(-len(panel.keys) // _count_columns(panel)) * KEY_ROW + PADDING


def _count_columns(panel: _Panel) -> int:
    return max(1, int((WIDTH + GAP) / _measure_key(panel)))


def _measure_key(panel: _Panel) -> float:
    return KEY_MARK + widest((key.text for key in panel.keys), size=SMALL_SIZE) + GAP


def _draw_panel(sheet: Sheet, panel: _Panel, points: pd.DataFrame, *, head: float) -> None:
    frame_map(sheet.axes, width=sheet.width, height=sheet.height)
    sheet.write(panel.title, x=0, y=sheet.height + head - TITLE + 0.06)
    pale = points if panel.is_empty else points[points["kind"] != panel.kind]
    sheet.axes.plot(pale["x"], pale["y"], **{**LOOKS["dataset"], **PALE_LOOK}, zorder=1)
    own = points[points["kind"] == panel.kind]
    if panel.is_empty:
        text = "Not known of any point on the map."
        y = sheet.height + head - TITLE - SMALL_SIZE / 72 + 0.02
        sheet.write(text, x=0, y=y, size=SMALL_SIZE, color=FAINT_INK)
    if panel.scale:
        _draw_scale(sheet, panel.scale, own)
    for key in sorted(panel.keys, key=lambda key: -key.chosen.sum()):
        rows = own[key.chosen.to_numpy()]
        sheet.axes.plot(rows["x"], rows["y"], **{**LOOKS["model"], **key.look})
    _draw_keys(sheet, panel, head)


def _draw_keys(sheet: Sheet, panel: _Panel, head: float) -> None:
    """Draw the keys line by line under the title, or one beside a scale."""
    axes = sheet.add_axes(left=0, bottom=sheet.height, width=sheet.width, height=head)
    axes.set(xlim=(0, sheet.width), ylim=(0, head))
    axes.set_axis_off()
    columns, width = _count_columns(panel), _measure_key(panel)
    start = (SCALE_WIDTH + 3 * GAP, head - TITLE - 0.03) if panel.scale else (0.0, head - TITLE)
    for position, key in enumerate(panel.keys):
        row, column = divmod(position, columns)
        x, y = start[0] + column * width, start[1] - (row + 0.3) * KEY_ROW
        axes.plot(x + KEY_MARK / 2, y, **{**LOOKS["model"], **key.look})
        axes.text(x + KEY_MARK + 0.02, y, key.text, size=SMALL_SIZE, va="center_baseline")


def _draw_scale(sheet: Sheet, scale: _Scale, own: pd.DataFrame) -> None:
    """Draw the points whose number is known, and the scale of colors above the panel."""
    known = scale.numbers.notna().to_numpy()
    dots = sheet.axes.scatter(
        own["x"][known],
        own["y"][known],
        s=LOOKS["model"]["markersize"] ** 2,
        c=scale.numbers[known],
        norm=scale.norm,
        cmap=COLORS,
        edgecolors=INK,
        linewidths=0.3,
        zorder=2,
    )
    bottom = sheet.height + SCALE_KEY - SCALE_HEIGHT - 0.01
    bar = sheet.figure.colorbar(
        dots,
        cax=sheet.add_axes(left=GAP, bottom=bottom, width=SCALE_WIDTH, height=SCALE_HEIGHT),
        orientation="horizontal",
    )
    bar.outline.set_linewidth(0)
    bar.ax.xaxis.set_minor_locator(NullLocator())
    bar.set_ticks(list(scale.ticks), labels=list(scale.ticks.values()))
    bar.ax.tick_params(length=1.5, pad=1.5, labelsize=SMALL_SIZE)
    if bar.solids is not None:
        bar.solids.set_rasterized(True)
