"""Models and datasets on a plane, where near means good."""

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
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import HEADER_HEIGHT, PADDING, Margins, Sheet, Wording, make_sheet
from capmap.figures.labels import FloatArray, Label, Line, Place, Point, draw_labels, place_labels
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.names import shorten_names
from capmap.figures.note import draw_note
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    GRID_COLOR,
    MARKERS,
    PAGE_WIDTH,
    PALETTE,
    SMALL_SIZE,
    figure_style,
)
from capmap.wording import format_count, join_words

HEADING = "Map of models and datasets"
NOTHING = "No model and no dataset has a place on the map."
NEAR = (
    "Near is good: a model's distance from a dataset stands for its gap to the best model there, "
    "as far as a plane can show it."
)
PARTS = "Shapes: parts that no result connects. Distances between two parts mean nothing."
TIMES = "\N{MULTIPLICATION SIGN}"
LINKED = f"variants that lie close ({TIMES}2: two)"
COLORS = {"model": PALETTE[0], "dataset": FAINT_INK}
LINK_COLOR = "#BDBDBD"
LOOKS: dict[str, dict[str, Any]] = {
    kind: {
        "linestyle": "none",
        "marker": "o",
        "markersize": size,
        "markerfacecolor": COLORS[kind] if kind == "model" else "white",
        "markeredgecolor": COLORS[kind],
        "markeredgewidth": 0.6,
    }
    for kind, size in (("model", 4.6), ("dataset", 3.6))
}
RADIUS = 0.035
NARROW_POINTS = 24
EDGE = 0.25
LOW_HEIGHT = 1.2
TOP_HEIGHT = 8.2
NAME_WIDTH = 1.1
CLOSE = 0.35
MAX_LABELS = 250


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
def draw_map(positions: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame) -> Figure:
    """Draw models and datasets at their places on a plane, with their names.

    Parameters
    ----------
    positions : DataFrame
        kind (model or dataset), name, x, y; rows in any order.
    models : DataFrame
        model, kept (number of results), component.
    datasets : DataFrame
        dataset, kept, component, family (may be empty).

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
        return draw_note(NOTHING, heading=HEADING)
    sheet_width = COLUMN_WIDTH if len(points) <= NARROW_POINTS else PAGE_WIDTH
    width = sheet_width - 2 * PADDING
    places, height = scale_points(points, width=width, height=TOP_HEIGHT, edge=EDGE)
    points = points.assign(x=places[:, 0], y=places[:, 1])
    groups = _group_points(points)
    lines = [line for group in groups for line in group.lines]
    labels = _label_groups(groups)
    found = place_labels(labels, area=(width, height), points=places, radius=RADIUS, lines=lines)
    notes = _write_notes(points, groups, found)
    sheet = _make_page(sheet_width, height, notes, has_lines=bool(lines))
    sheet.axes.add_collection(LineCollection(lines, colors=LINK_COLOR, linewidths=0.7, zorder=1))
    _draw_points(sheet.axes, points)
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
        for kind in COLORS
    }
    return [
        Label(texts[group.kind][group.text], SMALL_SIZE, COLORS[group.kind], group.points)
        for group in chosen
    ]


def _make_page(
    sheet_width: float, height: float, notes: tuple[str, ...], *, has_lines: bool
) -> Sheet:
    """Make the sheet with a frame, and a legend above it."""
    keys = {"model": LOOKS["model"], "dataset": LOOKS["dataset"]}
    if has_lines:
        keys[LINKED] = {**LOOKS["dataset"], "linestyle": "-", "color": LINK_COLOR}
    legend = plan_legend(list(keys), sheet_width=sheet_width)
    sheet = make_sheet(
        width=sheet_width,
        height=height,
        margins=Margins(PADDING, PADDING, head=HEADER_HEIGHT + legend.height, ticks=0.0),
        wording=Wording(HEADING, "", notes),
    )
    frame_map(sheet.axes, width=sheet.width, height=height)
    draw_legend(sheet, legend, [Line2D([], [], **look) for look in keys.values()])
    return sheet


def _draw_points(axes: Axes, points: pd.DataFrame) -> None:
    """Draw markers, those of models on top, with a shape per part of the graph of results."""
    for (kind, part), rows in points.groupby(["kind", "component"]):
        marker = MARKERS[(int(str(part)) - 1) % len(MARKERS)]
        axes.plot(rows["x"], rows["y"], **{**LOOKS[str(kind)], "marker": marker}, zorder=3)


def _write_notes(
    points: pd.DataFrame, groups: Sequence[_Group], places: Sequence[Place | None]
) -> tuple[str, ...]:
    notes = [NEAR]
    if len(set(points["component"])) > 1:
        notes.append(PARTS)
    unplaced = [group for group, place in zip_longest(groups, places) if place is None]
    counts = {kind: sum(len(g.names) for g in unplaced if g.kind == kind) for kind in COLORS}
    missing = [format_count(n, kind) for kind, n in counts.items() if n]
    if missing:
        notes.append(f"Without a name, for want of room: {join_words(missing)}.")
    return tuple(notes)
