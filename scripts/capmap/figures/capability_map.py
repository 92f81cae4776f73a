"""Models and datasets on a plane, where near means good.

The map itself; the map four times, with models by architecture, date and size, and datasets by type
of task; and whether models near its center are good at most datasets.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, zip_longest
from math import dist
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from capmap.figures.canvas import (
    GAP,
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    make_sheet,
)
from capmap.figures.curves import choose_log_ticks
from capmap.figures.marks import Mark, mark_members
from capmap.figures.names import (
    FloatArray,
    Label,
    Line,
    Place,
    Point,
    draw_labels,
    place_labels,
    shorten_names,
    widest,
)
from capmap.figures.style import (
    FAINT_INK,
    GRID_COLOR,
    INK,
    MARKERS,
    PALETTE,
    SMALL_SIZE,
    column_width,
    figure_style,
    page_width,
)
from capmap.settings.choices import Projection
from capmap.wording import format_count, join_words

MAP_HEADING = "Map of models and datasets"
NO_PLACE = "No model and no dataset has a place on the map."
NEAR = (
    "Near is good: a model's distance from a dataset stands for its gap to the best model there, "
    "as far as a plane can show it."
)
PROJECTIONS: dict[Projection, str] = {
    "mds": "Projected by classical multidimensional scaling.",
    "umap": "Projected by UMAP, which keeps neighbors rather than distances.",
}
PARTS = "Shapes: parts that no result connects. Distances between two parts mean nothing."
TIMES = "\N{MULTIPLICATION SIGN}"
LINKED = f"variants that lie close ({TIMES}2: two)"
KIND_COLORS = {"model": PALETTE[0], "dataset": FAINT_INK}
LINK_COLOR = "#BDBDBD"
LOOKS: dict[str, dict[str, Any]] = {
    kind: {
        "linestyle": "none",
        "marker": "o",
        "markersize": size,
        "markerfacecolor": KIND_COLORS[kind] if kind == "model" else "white",
        "markeredgecolor": KIND_COLORS[kind],
        "markeredgewidth": 0.6,
    }
    for kind, size in (("model", 4.6), ("dataset", 3.6))
}
RADIUS = 0.035
NARROW_POINTS = 24
MAP_EDGE = 0.25
LOW_HEIGHT = 1.2
MAP_HEIGHT = 8.2
NAME_WIDTH = 1.1
CLOSE = 0.35
MAX_LABELS = 250
MOST_TOLD = 5

ATTRIBUTES_HEADING = "Attributes on the map"
PLACES = (
    "Places are those of the map of models and datasets; pale dots are the points without color."
)
GUTTER = 0.2
LEAST_WIDTH = 5.8
PANEL_HEIGHT = 3.8
PANEL_EDGE = 0.12
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
SCALE_COLORS = "cividis_r"
UNITS = (("B", 1e9), ("M", 1e6))


@dataclass(frozen=True)
class _Group:
    """A model, a dataset, or several variants of one that share a label and lines between them."""

    kind: str
    names: list[str]
    text: str
    results: float
    points: tuple[Point, ...]
    lines: list[Line]


@figure_style()
def draw_map(
    positions: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    gaps: pd.DataFrame | None = None,
    *,
    projection: Projection = "mds",
) -> Figure:
    """Draw models and datasets at their places on a plane, with their names.

    Parameters
    ----------
    positions : DataFrame
        kind (model or dataset), name, x, y; rows in any order.
    models : DataFrame
        model, kept (number of results), component.
    datasets : DataFrame
        dataset, kept, component, family (may be empty).
    gaps : DataFrame, optional
        model, dataset, gap; what pages show of a point.
    projection : {"mds", "umap"}
        What made the plane, for a note.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) up to 24 points, beyond that a page (7 in), and at most 9 in high.

    Notes
    -----
    Variants of a family that lie within 0.35 in of each other, one by one, have one label. Names
    with the most results are placed first; those that find no place are left out, and a note
    counts them. Where the graph of results has several parts, each has its shape of markers.
    """
    points = _describe_points(positions, models, datasets)
    if points.empty:
        raise NothingToDraw(NO_PLACE)
    sheet_width = column_width() if len(points) <= NARROW_POINTS else page_width()
    width = sheet_width - 2 * PADDING
    places, height = scale_points(points, width=width, height=MAP_HEIGHT, edge=MAP_EDGE)
    points = points.assign(x=places[:, 0], y=places[:, 1])
    groups = _group_points(points)
    lines = [line for group in groups for line in group.lines]
    labels = _label_groups(groups)
    found = place_labels(labels, area=(width, height), points=places, radius=RADIUS, lines=lines)
    notes = (NEAR, PROJECTIONS[projection], *_write_map_notes(points, groups, found))
    sheet = _make_page(sheet_width, height, notes, has_lines=bool(lines))
    sheet.axes.add_collection(LineCollection(lines, colors=LINK_COLOR, linewidths=0.7, zorder=1))
    _draw_points(sheet.axes, points, _mark_points(points, gaps))
    draw_labels(sheet.axes, labels, found)
    return sheet.figure


def scale_points(
    points: pd.DataFrame, *, width: float, height: float, edge: float
) -> tuple[FloatArray, float]:
    """Scale a map to a width, or to a height where it is tall, alike in both directions.

    Parameters
    ----------
    points : DataFrame
        x, y in any unit; at least one row.
    width, height : float
        Room in inches.
    edge : float
        Least distance of a point to the edge in inches.

    Returns
    -------
    ndarray, shape (points, 2)
        In inches from the lower left corner.
    float
        Height that is needed, in inches.

    Notes
    -----
    A wide map of more than 24 points is turned upright, as a page is.
    """
    places = points[["x", "y"]].to_numpy(float)
    across, up = np.ptp(places, axis=0)
    if len(points) > NARROW_POINTS and across > up:
        places = places[:, ::-1] * (-1.0, 1.0)
    low, high = places.min(axis=0), places.max(axis=0)
    span = np.maximum(high - low, 1e-9 * max(1.0, float(np.abs(places).max())))
    scale = ((np.array([width, height]) - 2 * edge) / span).min()
    needed = max(LOW_HEIGHT, float(scale * (high - low)[1]) + 2 * edge)
    return np.array([width, needed]) / 2 + scale * (places - (low + high) / 2), needed


def frame_map(axes: Axes, *, width: float, height: float) -> None:
    """Make the inch the unit of axes without ticks, in a thin frame."""
    axes.set(xlim=(0, width), ylim=(0, height), xticks=[], yticks=[])
    axes.spines[:].set(visible=True, color=GRID_COLOR)


def _describe_points(
    positions: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame
) -> pd.DataFrame:
    """Places with number of results, component and family; datasets first, as models cover them."""
    tables = {"model": models.set_index("model"), "dataset": datasets.set_index("dataset")}
    points = positions[["kind", "name", "x", "y"]].sort_values(["kind", "name"], ignore_index=True)
    places = list(zip(points["kind"], points["name"], strict=True))

    def look_up(column: str, kinds: Sequence[str]) -> dict[tuple[str, str], Any]:
        return {
            (kind, str(name)): value
            for kind in kinds
            for name, value in tables[kind][column].dropna().items()
        }

    kept, parts = (look_up(column, list(tables)) for column in ("kept", "component"))
    families = look_up("family", ["dataset"])
    return points.assign(
        kept=[float(kept.get(place, 0)) for place in places],
        component=[int(parts.get(place, 1)) for place in places],
        family=[families.get(place) or place[1] for place in places],
    )


def _group_points(points: pd.DataFrame) -> list[_Group]:
    """Groups of points that share a label, those with the most results first."""
    groups = []
    sizes = Counter(points["family"])
    for (kind, family, _), rows in points.groupby(["kind", "family", "component"]):
        places = [(float(x), float(y)) for x, y in rows[["x", "y"]].to_numpy(float)]
        parts, lines = _join_close(places)
        for part in sorted(set(parts)):
            chosen = [one for one, own in enumerate(parts) if own == part]
            names = rows["name"].iloc[chosen].tolist()
            groups.append(
                _Group(
                    kind=str(kind),
                    names=names,
                    text=_name_group(names, str(family), is_whole=len(names) == sizes[str(family)]),
                    results=float(rows["kept"].iloc[chosen].sum()),
                    points=tuple(places[one] for one in chosen),
                    lines=[(places[one], places[two]) for one, two in lines if one in chosen],
                )
            )
    return sorted(groups, key=lambda group: (-group.results, group.kind, group.names))


def _name_group(names: Sequence[str], family: str, *, is_whole: bool) -> str:
    """What a group is called: its family and number, or its only name, without a needless end."""
    if len(names) > 1:
        return f"{family} {TIMES}{len(names)}"
    return family if is_whole and names[0].startswith(family) else names[0]


def _join_close(places: Sequence[Point]) -> tuple[list[int], list[tuple[int, int]]]:
    """Number the parts of points that lie close one by one, and join each by its shortest lines."""
    pairs = sorted(
        (dist(places[one], places[two]), one, two)
        for one, two in combinations(range(len(places)), 2)
    )
    parts, lines = list(range(len(places))), []
    for length, one, two in pairs:
        if length <= CLOSE and parts[one] != parts[two]:
            lines.append((one, two))
            parts = [parts[one] if part == parts[two] else part for part in parts]
    return parts, lines


def _label_groups(groups: Sequence[_Group]) -> list[Label]:
    """Labels of the first groups; two groups of as many variants of a family have the same."""
    chosen = groups[:MAX_LABELS]
    texts = {
        kind: shorten_names(
            [group.text for group in chosen if group.kind == kind],
            width=NAME_WIDTH,
            size=SMALL_SIZE,
        )
        for kind in KIND_COLORS
    }
    return [
        Label(texts[group.kind][group.text], SMALL_SIZE, KIND_COLORS[group.kind], group.points)
        for group in chosen
    ]


def _make_page(
    sheet_width: float, height: float, notes: tuple[str, ...], *, has_lines: bool
) -> Sheet:
    """Make the sheet with a frame, and a legend above it."""
    keys = {"model": LOOKS["model"], "dataset": LOOKS["dataset"]}
    if has_lines:
        keys[LINKED] = {**LOOKS["dataset"], "linestyle": "-", "color": LINK_COLOR}
    sheet = make_sheet(
        width=sheet_width,
        height=height,
        wording=Wording(MAP_HEADING, "", notes),
        left=PADDING,
        right=PADDING,
        ticks=0.0,
        keys={name: Line2D([], [], **look) for name, look in keys.items()},
    )
    frame_map(sheet.axes, width=sheet.width, height=height)
    return sheet


def _draw_points(axes: Axes, points: pd.DataFrame, marks: Sequence[Mark]) -> None:
    """Draw markers, those of models on top, with a shape per part of the graph of results."""
    for (kind, part), rows in points.groupby(["kind", "component"]):
        marker = MARKERS[(int(str(part)) - 1) % len(MARKERS)]
        look = {**LOOKS[str(kind)], "marker": marker}
        [drawn] = axes.plot(rows["x"], rows["y"], **look, zorder=3)
        mark_members(drawn, [marks[place] for place in rows.index])


def _mark_points(points: pd.DataFrame, gaps: pd.DataFrame | None) -> list[Mark]:
    """What pages show of each point: its gaps, and when chosen what is near."""
    known = pd.DataFrame(columns=["model", "dataset", "gap"]) if gaps is None else gaps
    known = known.dropna(subset=["gap"])
    own = {
        kind: {str(name): rows.set_index(other)["gap"] for name, rows in known.groupby(kind)}
        for kind, other in (("model", "dataset"), ("dataset", "model"))
    }
    places = points[["x", "y"]].to_numpy(float)
    marks = []
    for place, (kind, name) in enumerate(zip(points["kind"], points["name"], strict=True)):
        text = _write_gaps(own[kind].get(name, pd.Series(dtype=float)))
        distances = np.hypot(*(places - places[place]).T)
        near = points.assign(distance=distances).drop(index=points.index[place])
        more = "\n".join(
            f"Nearest {other}s: {', '.join(rows['name'].iloc[:MOST_TOLD])}"
            for other, rows in near.sort_values(["distance", "name"]).groupby("kind", sort=False)
        )
        marks.append(Mark(**{kind: name}, text=text, more=more))
    return marks


def _write_gaps(gaps: "pd.Series[float]") -> str:
    """Write the smallest and the largest gaps of a model or dataset."""
    ordered = gaps.sort_index().sort_values(kind="stable")
    if len(ordered) <= 2 * MOST_TOLD:
        return "\n".join(_write_gap_list("Gaps", ordered))
    ends = (("Smallest gaps", ordered.iloc[:MOST_TOLD]), ("Largest", ordered.iloc[-MOST_TOLD:]))
    return "\n".join(line for word, some in ends for line in _write_gap_list(word, some))


def _write_gap_list(word: str, gaps: "pd.Series[float]") -> list[str]:
    listed = ", ".join(f"{name} {gap:.2f}" for name, gap in gaps.items())
    return [f"{word}: {listed}"] if listed else []


def _write_map_notes(
    points: pd.DataFrame, groups: Sequence[_Group], places: Sequence[Place | None]
) -> tuple[str, ...]:
    notes = []
    if len(set(points["component"])) > 1:
        notes.append(PARTS)
    unplaced = [group for group, place in zip_longest(groups, places) if place is None]
    counts = {kind: sum(len(g.names) for g in unplaced if g.kind == kind) for kind in KIND_COLORS}
    missing = [format_count(n, kind) for kind, n in counts.items() if n]
    if missing:
        notes.append(f"Without a name, for want of room: {join_words(missing)}.")
    return tuple(notes)


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
    points = positions.sort_values(["kind", "name"], ignore_index=True)
    width = _panel_width()
    places, height = scale_points(points, width=width, height=PANEL_HEIGHT, edge=PANEL_EDGE)
    points = points.assign(x=places[:, 0], y=places[:, 1])
    panels = _plan_panels(points, models, datasets)
    heads = [max(_measure_head(panel) for panel in panels[row : row + 2]) for row in (0, 2)]
    sheet = make_sheet(
        width=page_width(LEAST_WIDTH),
        height=2 * height + sum(heads) + GUTTER,
        wording=Wording(ATTRIBUTES_HEADING, "", (PLACES,)),
        left=PADDING,
        right=PADDING,
        head=PADDING,
        ticks=0.0,
    )
    sheet.hide_axes()
    bottoms = (height + heads[1] + GUTTER, 0.0)
    for position, panel in enumerate(panels):
        row, column = divmod(position, 2)
        left = column * (width + GUTTER)
        place = sheet.add_panel(left=left, bottom=bottoms[row], width=width, height=height)
        _draw_panel(place, panel, points, head=heads[row])
    return sheet.figure


def _panel_width() -> float:
    return (page_width(LEAST_WIDTH) - 2 * PADDING - GUTTER) / 2


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
    return max(1, int((_panel_width() + GAP) / _measure_key(panel)))


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
        [drawn] = sheet.axes.plot(rows["x"], rows["y"], **{**LOOKS["model"], **key.look})
        mark_members(drawn, [Mark(**{panel.kind: name}, text=key.text) for name in rows["name"]])
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
        cmap=SCALE_COLORS,
        edgecolors=INK,
        linewidths=0.3,
        zorder=2,
    )
    numbers = [f"{number:.4g}" for number in scale.numbers[known]]
    names = own["name"][known]
    mark_members(dots, [Mark(name, text=text) for name, text in zip(names, numbers, strict=True)])
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
