"""The mark scatter: named points that no name covers, such as a map of models and datasets."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

from capmap.figures.canvas import (
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    format_decimal,
    make_sheet,
    number_axis,
)
from capmap.figures.lines import METHODS, make_panels, scale_by_log
from capmap.figures.marks import Mark, mark_members, write_estimates
from capmap.figures.style import (
    FAINT_INK,
    GRID_COLOR,
    INK,
    MARKERS,
    PALETTE,
    SMALL_SIZE,
    FloatArray,
    column_width,
    figure_style,
    page_width,
    shorten_names,
    text_width,
)
from capmap.settings.choices import Projection
from capmap.wording import format_count

CLEARANCE = 0.015
STEPS = (0.0, 0.03, 0.08, 0.13, 0.19, 0.26, 0.35, 0.45, 0.57, 0.7, 0.85, 1.0, 1.2, 1.4, 1.7, 2.0)
ANGLES = 2 * np.pi * np.arange(24) / 24
LEADER_FROM = 0.05
COVERED_POINT = 2.5
STEEP = 0.02
SAMPLED = 0.005
LINE_HEIGHT, DESCENT = SMALL_SIZE * 1.2 / 72, SMALL_SIZE * 0.27 / 72
LEADER: dict[str, Any] = {"arrowstyle": "-", "linewidth": 0.35, "shrinkA": 0}

HEADING = "Score against {}"
LABELS = {
    "parameters": "number of parameters",
    "cost": "cost",
    "date": "year of publication",
}
LEAST_MODELS = 3
NO_COST = "Of fewer than three ranked models the cost is known."
FRONT, OTHERS = PALETTE[0], "#8C8C8C"
HEIGHT, WIDE_HEIGHT, LEFT, RADIUS = 2.4, 3.6, 0.5, 0.035
NAME_WIDTH, NARROW_MODELS, MOST_NAMED = 1.2, 12, 60
LOG_FROM = 10.0
UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))

NEAR = (
    "Near is good: a model's distance from a dataset stands for its gap to the best model there, "
    "as far as a plane can show it."
)
PROJECTIONS: dict[Projection, str] = {
    "mds": "Projected by classical multidimensional scaling.",
    "umap": "Projected by UMAP, which keeps neighbors rather than distances.",
}
PARTS = "Shapes: parts that no result connects. Distances between two parts mean nothing."
KIND_COLORS = {"model": PALETTE[0], "dataset": FAINT_INK}
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
MOST_TOLD = 5
NARROW_POINTS = 24
MAP_MARGIN, LEAST_MAP, MAP_HEIGHT = 0.03, 5.5, 8.2
MAX_LABELS = 250
SHOWN = ("factors", "l2", "additive")
MAX_POINTS = 4000

BoolArray = npt.NDArray[np.bool_]
Point = tuple[float, float]
Line = tuple[Point, Point]


class Label(NamedTuple):
    """A name in a color, and its point in the units of the axes."""

    text: str
    color: str
    point: Point


def name_points(
    sheet: Sheet,
    labels: Sequence[Label],
    *,
    points: FloatArray,
    radius: float,
    lines: Sequence[Line] = (),
) -> None:
    """Name points of axes with scales and limits, the most important first, where there is room.

    No label covers another or one of the lines. The radius is that of the markers, in inches.
    """
    layer = sheet.add_layer()

    def place(data: Any) -> FloatArray:
        shown = sheet.axes.transData.transform(np.asarray(data, float).reshape(-1, 2))
        return np.asarray(layer.transData.inverted().transform(shown))

    spots = place([label.point for label in labels])
    sizes = [(text_width(label.text, size=SMALL_SIZE), LINE_HEIGHT) for label in labels]
    paths = [_sample(start, end, radius) for start, end in place(lines).reshape(-1, 2, 2)]
    area, covered = (sheet.width, sheet.height), place(points)
    found = place_labels(spots, sizes, area=area, points=covered, radius=radius, paths=paths)
    for label, spot, size, (corner, is_apart) in zip(labels, spots, sizes, found, strict=True):
        if corner is not None:
            at = tuple(((spot - corner) / size).clip(0, 1))
            line = LEADER | {"color": label.color, "relpos": at, "shrinkB": 72 * radius}
            layer.annotate(
                label.text,
                spot,
                corner + np.array([0, DESCENT]),
                size=SMALL_SIZE,
                color=label.color,
                arrowprops=line if is_apart else None,
            )


def place_labels(
    spots: FloatArray,
    sizes: Sequence[Point],
    *,
    area: Point,
    points: FloatArray,
    radius: float,
    paths: Sequence[FloatArray],
) -> list[tuple[FloatArray | None, bool]]:
    """Find the lower left corner of each label, and whether a line leads to it; all in inches.

    Each label in turn takes the best of 24 directions at 16 distances: the nearest that covers the
    fewest points. It never covers another label or a path, and stays within the area; None is for
    one that finds no place.
    """
    step, angle = np.repeat(STEPS, len(ANGLES)), np.tile(ANGLES, len(STEPS))
    turn = np.column_stack([np.cos(angle), np.sin(angle)])
    taken, blocked = np.empty((0, 2, 2)), np.concatenate([np.empty((0, 2)), *paths])
    places: list[tuple[FloatArray | None, bool]] = []
    for spot, size in zip(spots, sizes, strict=True):
        # Beside its point a label begins or ends there, above and below it is centered.
        shift = (np.clip(turn, -0.5, 0.5) - 0.5) * size
        low = spot + (radius + 2 * CLEARANCE + step)[:, None] * turn + shift
        boxes = np.stack([low, low + size], axis=1)
        covered = _overlap(boxes, _box(points, radius)).sum(axis=1)
        cost = step + STEEP * np.abs(turn[:, 1]) + COVERED_POINT * covered
        inside = (low >= 0).all(axis=1) & (boxes[:, 1] <= area).all(axis=1)
        free = inside & ~_overlap(boxes, taken, (CLEARANCE, 0.0)).any(axis=1)
        place: tuple[FloatArray | None, bool] = None, False
        for box in boxes[free][np.argsort(cost[free], kind="stable")]:
            end = spot.clip(box[0] - CLEARANCE, box[1] + CLEARANCE)
            is_apart = bool(np.hypot(*(end - spot)) > radius + CLEARANCE + LEADER_FROM)
            path = _sample(spot, end, radius) if is_apart else blocked[:0]
            covers = _overlap(box[None], _box(blocked)).any()
            if not covers and not _overlap(taken, _box(path)).any():
                place = box[0], is_apart
                taken, blocked = np.append(taken, [box], axis=0), np.append(blocked, path, axis=0)
                break
        places.append(place)
    return places


def _box(points: FloatArray, radius: float = 0.0) -> FloatArray:
    return np.stack([points - radius, points + radius], axis=1)


def _overlap(boxes: FloatArray, others: FloatArray, room: Point = (0.0, 0.0)) -> BoolArray:
    """Whether each box, with room around it, overlaps each other one."""
    apart_low = boxes[:, None, 0] - room >= others[None, :, 1]
    apart_high = boxes[:, None, 1] + room <= others[None, :, 0]
    return np.asarray(~(apart_low | apart_high).any(axis=2))


def _sample(start: FloatArray, end: FloatArray, radius: float) -> FloatArray:
    """Points along a line, without its start, which a marker covers."""
    length = float(np.hypot(*(end - start)))
    along = np.arange(radius, length, SAMPLED) / max(length, SAMPLED)
    return np.asarray(start + along[:, None] * (end - start))


@figure_style()
def draw_frontier(frontier: pd.DataFrame, *, against: str) -> Figure:
    """Draw each model's score with its interval against its cost, and the Pareto front.

    Parameters
    ----------
    frontier : DataFrame
        model, cost, score, ci_low, ci_high, on_front, missing (number of datasets); rows in any
        order; cost and the ends of intervals may be empty.
    against : {"parameters", "cost", "date"}
        What a model costs.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) up to 12 models, beyond that a page (7 in). The axis of costs is
        logarithmic where they span a factor of 10.

    Notes
    -----
    Models on the front have a color and are named first; names that find no place are left out. A
    note counts models whose cost is not known.
    """
    table = frontier.dropna(subset="cost").sort_values(
        ["on_front", "score", "model"], ascending=[False, False, True], ignore_index=True
    )
    if len(table) < LEAST_MODELS:
        raise NothingToDraw(NO_COST)
    is_log = against != "date" and table["cost"].max() >= LOG_FROM * table["cost"].min()
    low, high = table["score"].min(), table["score"].max()
    room = (high - low) or 0.1
    ends = table[["ci_low", "ci_high"]].clip(low - room, high + room)
    notes = ["Colored: no model scores as high at the same cost or less. Line: the front."]
    lacking = len(frontier) - len(table)
    notes += [f"Without a known cost: {format_count(lacking, 'model')}."] * bool(lacking)
    is_cut = not ends.equals(table[["ci_low", "ci_high"]])
    notes += ["A bar that reaches the edge goes on."] * is_cut
    is_narrow = len(table) <= NARROW_MODELS
    sheet = make_sheet(
        width=column_width() if is_narrow else page_width(),
        height=HEIGHT if is_narrow else WIDE_HEIGHT,
        wording=Wording(
            HEADING.format(LABELS[against]),
            f"{LABELS[against]}{' (log scale)' if is_log else ''}",
            tuple(notes),
        ),
        left=LEFT,
        right=2 * PADDING,
    )
    _draw_models(sheet, table.assign(low=ends["ci_low"], high=ends["ci_high"]))
    front = table.loc[table["on_front"].astype(bool), ["cost", "score"]].sort_values("cost")
    _dress_axes(sheet, is_log=is_log, is_cut=is_cut)
    points = table[["cost", "score"]].to_numpy(float)
    names = shorten_names(table["model"], width=NAME_WIDTH, size=SMALL_SIZE)
    shown = zip(table["model"], table["on_front"], points.tolist(), strict=True)
    labels = [
        Label(names[model], FRONT if is_front else FAINT_INK, (x, y))
        for model, is_front, (x, y) in shown
    ]
    lines = _trace_front(front.itertuples(index=False, name=None))
    name_points(sheet, labels[:MOST_NAMED], points=points, radius=RADIUS, lines=lines)
    return sheet.figure


def _trace_front(points: Iterable[Point]) -> list[Line]:
    """The lines of the front: from each of its points to the right, then up to the next."""
    return [
        line
        for (x, y), (right, high) in pairwise(points)
        for line in (((x, y), (right, y)), ((right, y), (right, high)))
    ]


def _draw_models(sheet: Sheet, table: pd.DataFrame) -> None:
    """Draw the front, then all models with their intervals above their markers."""
    front = table[table["on_front"].astype(bool)].sort_values("cost")
    step: Any = {"color": FRONT, "linewidth": 0.9, "alpha": 0.6, "zorder": 1.5}
    sheet.axes.step(front["cost"], front["score"], where="post", **step)
    known = table.dropna(subset=["low", "high"])
    bars = sheet.axes.vlines(known["cost"], known["low"], known["high"], color=INK, linewidth=0.7)
    bars.set_zorder(3.5)
    mark_members(bars, [Mark(name) for name in known["model"]])
    for is_front, color in ((False, OTHERS), (True, FRONT)):
        own = table[table["on_front"].astype(bool) == is_front]
        [drawn] = sheet.axes.plot(
            own["cost"], own["score"], "o", color=color, markersize=4, linestyle="none", zorder=3
        )
        texts = write_estimates(own[["score", "ci_low", "ci_high"]])
        marks = [
            Mark(model, text=f"{text}\ncost {cost:.6g}")
            for model, text, cost in zip(own["model"], texts, own["cost"], strict=True)
        ]
        mark_members(drawn, marks)


def _dress_axes(sheet: Sheet, *, is_log: bool, is_cut: bool) -> None:
    axes = sheet.axes
    axes.margins(x=0.06, y=0.0 if is_cut else 0.06)
    if is_log:
        axes.set_xscale("log")
        scale_by_log(sheet)
    else:
        sheet.limit_ticks()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _write_cost(value)))
    number_axis(axes.yaxis, most=5)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim(), ylabel="normalized score")
    axes.grid()


def _write_cost(value: float) -> str:
    """Write a cost shortly.

    Examples
    --------
    >>> [_write_cost(value) for value in (0.5, 86, 12e6, 2024.5)]
    ['0.5', '86', '12M', '2024.5']
    """
    for size, sign in UNITS:
        if value >= 10 * size or (value >= size and size > UNITS[-1][0]):
            return f"{value / size:.4g}{sign}"
    return f"{value:.6g}"


@figure_style()
def draw_map(places: pd.DataFrame, *, projection: Projection = "mds") -> Figure:
    """Draw models and datasets at their places on a plane, with their names.

    Parameters
    ----------
    places : DataFrame
        kind (model or dataset), name, x, y, kept (number of results), component; rows in any order.
    projection : {"mds", "umap"}
        What made the plane, for a note.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) up to 24 points, beyond that a page (7 in; of another
        width, at least 5.5), and a little higher.

    Notes
    -----
    Names with the most results are placed first; those that find no place are left out.
    Where the graph of results has several parts, each has its shape of markers. A wide map is
    turned upright, as a page is.
    """
    points = places.sort_values(
        ["kept", "kind", "name"], ascending=[False, True, True], ignore_index=True
    )
    if points.empty:
        raise NothingToDraw("No model and no dataset has a place on the map.")
    if np.ptp(points["x"]) > np.ptp(points["y"]):
        points = points.assign(x=-points["y"], y=points["x"])
    width = column_width() if len(points) <= NARROW_POINTS else page_width(LEAST_MAP)
    notes = (NEAR, PROJECTIONS[projection], *([PARTS] if points["component"].max() > 1 else []))
    sheet = make_sheet(
        width=width,
        height=min(1.2 * width, MAP_HEIGHT),
        wording=Wording("Map of models and datasets", "", notes),
        left=PADDING,
        right=PADDING,
        ticks=0.0,
        keys={kind: Line2D([], [], **look) for kind, look in LOOKS.items()},
    )
    sheet.axes.spines[:].set(visible=True, color=GRID_COLOR)
    # Models cover datasets.
    for (kind, _), rows in points.groupby(["kind", "component"]):
        part = int(rows["component"].iloc[0]) - 1
        look = LOOKS[str(kind)] | {"marker": MARKERS[part % len(MARKERS)]}
        [drawn] = sheet.axes.plot(rows["x"], rows["y"], **look, zorder=3)
        mark_members(drawn, [_mark_point(place, points) for place in rows.index])
    sheet.axes.set(xticks=[], yticks=[])
    sheet.axes.margins(MAP_MARGIN)
    sheet.axes.set_aspect("equal", adjustable="datalim")
    sheet.axes.apply_aspect()
    named = points[:MAX_LABELS]
    names = shorten_names(named["name"], width=NAME_WIDTH, size=SMALL_SIZE)
    spots = named[["name", "kind", "x", "y"]].itertuples(index=False)
    labels = [Label(names[name], KIND_COLORS[kind], (x, y)) for name, kind, x, y in spots]
    name_points(sheet, labels, points=points[["x", "y"]].to_numpy(float), radius=RADIUS)
    return sheet.figure


def _mark_point(place: int, points: pd.DataFrame) -> Mark:
    """A point with what is nearest to it; the page can zoom into a figure with such marks."""
    row = points.loc[place].to_dict()
    places = points[["x", "y"]].to_numpy(float)
    apart = np.hypot(*(places - places[points.index.get_loc(place)]).T)
    nearest = points.assign(apart=apart).drop(index=place).sort_values("apart", kind="stable")
    more = "\n".join(
        f"Nearest {kind}s: {', '.join(own['name'].iloc[:MOST_TOLD])}"
        for kind, own in nearest.groupby("kind", sort=False)
    )
    text = format_count(int(row["kept"]), "result")
    return Mark(**{str(row["kind"]): str(row["name"])}, text=text, more=more)


@figure_style()
def draw_fit(validation: pd.DataFrame, summary: pd.DataFrame, *, dimension: int) -> Figure:
    """Draw predicted against true gaps of hidden results, a panel per method.

    Parameters
    ----------
    validation : DataFrame
        distance, dimension (NA where a method has none), protocol (random is drawn), truth,
        prediction; rows in any order.
    summary : DataFrame
        distance, dimension, protocol, mse (may be empty): written above the panels.
    dimension : int
        Of the L2 distances that are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): factors, L2 distances, additive effects.

    Notes
    -----
    More than 4000 points are an image in PDF and SVG.
    """
    points, errors = (
        table[table["protocol"].eq("random") & table["dimension"].fillna(dimension).eq(dimension)]
        for table in (validation, summary)
    )
    points = points.dropna(subset=["truth", "prediction"]).sort_values(["truth", "prediction"])
    methods = [name for name in SHOWN if name in set(points["distance"])]
    if not methods:
        raise NothingToDraw("No result was hidden and predicted.")
    known = errors.set_index("distance")
    wording = Wording("Predicted and true gaps of hidden results", "true gap (0 = best, 1 = worst)")
    panels = make_panels(["" for _ in methods], wording=wording, keys=[])
    ends = min(points["prediction"].min(), 0) - 0.05, max(points["prediction"].max(), 1) + 0.05
    for panel, method in zip(panels, methods, strict=True):
        own = points[points["distance"] == method]
        panel.axes.plot((0, 1), (0, 1), color=FAINT_INK, linewidth=0.7, zorder=1)
        panel.axes.scatter(
            own["truth"],
            own["prediction"],
            5,
            color=METHODS[method][1].color,
            alpha=0.5,
            linewidths=0,
            rasterized=len(own) > MAX_POINTS,
        )
        panel.axes.set(xlim=(-0.05, 1.05), ylim=ends)
        number_axis(panel.axes.xaxis, most=4)
        number_axis(panel.axes.yaxis, most=5)
        panel.axes.grid()
        error = format_decimal(known["mse"].get(method, np.nan), 3) or "\N{EN DASH}"
        heading = f"{METHODS[method][0]}: mean squared error {error}"
        panel.write(heading, x=0, y=panel.height + 0.05, size=SMALL_SIZE)
    panels[0].axes.set_ylabel("predicted gap")
    return panels[0].figure
