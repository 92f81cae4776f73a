"""The map of models and datasets, the gaps it is fitted to, and how well they are predicted."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from capmap.figures.canvas import (
    LINE_HEIGHT,
    PADDING,
    TICKS_HEIGHT,
    NothingToDraw,
    Wording,
    format_decimal,
    make_sheet,
)
from capmap.figures.lines import (
    ERROR,
    HEIGHT,
    LEFT,
    METHODS,
    make_method_key,
    make_panels,
    number_axis,
)
from capmap.figures.marks import Mark, mark_members
from capmap.figures.scatter import Label, name_points
from capmap.figures.style import (
    FAINT_INK,
    GRID_COLOR,
    MARKERS,
    PALETTE,
    SMALL_SIZE,
    FloatArray,
    column_width,
    figure_style,
    page_width,
    shorten_names,
)
from capmap.settings.choices import Projection
from capmap.wording import format_count

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
RADIUS = 0.035
MOST_TOLD = 5
NARROW_POINTS = 24
MAP_EDGE = 0.25
LEAST_MAP = 5.5
LOW_HEIGHT = 1.2
MAP_HEIGHT = 8.2
NAME_WIDTH = 1.1
MAX_LABELS = 250
FIT_HEADING = "Predicted and true gaps of hidden results"
TRUE = "true gap (0 = best, 1 = worst)"
NO_METHOD = "No result was hidden and predicted."
CURVE_HEADING = "Predictions for models with few results"
CURVE_LABEL = "results left to the model; below: models"
NO_CURVE = "No model has enough results to hide some of them."
SHOWN = ("factors", "l2", "additive")
LEAST, MOST = -0.5, 2.0
MAX_POINTS = 4000
APART = 0.05


@figure_style()
def draw_map(
    places: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    projection: Projection = "mds",
) -> Figure:
    """Draw models and datasets at their places on a plane, with their names.

    Parameters
    ----------
    places : DataFrame
        kind (model or dataset), name, x, y; rows in any order.
    models : DataFrame
        model, kept (number of results), component.
    datasets : DataFrame
        dataset, kept, component.
    projection : {"mds", "umap"}
        What made the plane, for a note.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) up to 24 points, beyond that a page (7 in; of another
        width, at least 5.5), and at most 9 in high.

    Notes
    -----
    Names with the most results are placed first; those that find no place are left out.
    Where the graph of results has several parts, each has its shape of markers.
    """
    points = _describe_points(places, models, datasets)
    if points.empty:
        raise NothingToDraw(NO_PLACE)
    sheet_width = column_width() if len(points) <= NARROW_POINTS else page_width(LEAST_MAP)
    width = sheet_width - 2 * PADDING
    marks, height = scale_points(points, width=width, height=MAP_HEIGHT, edge=MAP_EDGE)
    points = points.assign(x=marks[:, 0], y=marks[:, 1])
    notes = (NEAR, PROJECTIONS[projection], *([PARTS] if points["component"].max() > 1 else []))
    sheet = make_sheet(
        width=sheet_width,
        height=height,
        wording=Wording(MAP_HEADING, "", notes),
        left=PADDING,
        right=PADDING,
        ticks=0.0,
        keys={kind: Line2D([], [], **look) for kind, look in LOOKS.items()},
    )
    sheet.axes.set(xlim=(0, sheet.width), ylim=(0, height), xticks=[], yticks=[])
    sheet.axes.spines[:].set(visible=True, color=GRID_COLOR)
    # Models cover datasets.
    for (kind, _), rows in points.groupby(["kind", "component"]):
        look = LOOKS[str(kind)] | {
            "marker": MARKERS[int(rows["component"].iloc[0] - 1) % len(MARKERS)]
        }
        [drawn] = sheet.axes.plot(rows["x"], rows["y"], **look, zorder=3)
        mark_members(drawn, [_mark_point(place, points) for place in rows.index])
    name_points(sheet, _make_labels(points), points=marks, radius=RADIUS)
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


def scale_points(
    points: pd.DataFrame, *, width: float, height: float, edge: float
) -> tuple[FloatArray, float]:
    """Scale a map to a width, or to a height where it is tall, alike in both directions.

    Returns the points in inches from the lower left corner, and the height that is needed. A wide
    map of more than 24 points is turned upright, as a page is.
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


def _describe_points(
    positions: pd.DataFrame, models: pd.DataFrame, datasets: pd.DataFrame
) -> pd.DataFrame:
    """Places with number of results and component, those with the most results first."""
    described = pd.concat(
        [
            table.rename(columns={kind: "name"})[["name", "kept", "component"]].assign(kind=kind)
            for kind, table in (("model", models), ("dataset", datasets))
        ]
    )
    points = positions.merge(described, on=["kind", "name"]).astype({"component": int})
    return points.sort_values(
        ["kept", "kind", "name"], ascending=[False, True, True], ignore_index=True
    )


def _make_labels(points: pd.DataFrame) -> list[Label]:
    """Labels of the first points."""
    chosen = points[:MAX_LABELS]
    texts = {
        kind: shorten_names(rows["name"], width=NAME_WIDTH, size=SMALL_SIZE)
        for kind, rows in chosen.groupby("kind")
    }
    return [
        Label(texts[kind][name], SMALL_SIZE, KIND_COLORS[kind], (x, y))
        for kind, name, x, y in chosen[["kind", "name", "x", "y"]].itertuples(index=False)
    ]


@figure_style()
def draw_fit(validation: pd.DataFrame, summary: pd.DataFrame, *, dimension: int) -> Figure:
    """Draw predicted against true gaps of hidden results, a panel per method.

    Parameters
    ----------
    validation : DataFrame
        distance, dimension (NA where a method has none), protocol (random is drawn), truth,
        prediction; rows in any order.
    summary : DataFrame
        distance, dimension, protocol, mse, pearson (may be empty): written above the panels.
    dimension : int
        Of the L2 distances that are drawn.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): factors, L2 distances, additive effects.

    Notes
    -----
    Predictions below −0.5 or above 2 are drawn at the edge, and a note counts them. More than 4000
    points are an image in PDF and SVG.
    """
    points, errors = (
        table[table["protocol"].eq("random") & table["dimension"].fillna(dimension).eq(dimension)]
        for table in (validation, summary)
    )
    points = points.dropna(subset=["truth", "prediction"]).sort_values(["truth", "prediction"])
    methods = [name for name in SHOWN if name in set(points["distance"])]
    if not methods:
        raise NothingToDraw(NO_METHOD)
    shown = points["prediction"].clip(LEAST, MOST)
    outside = int((shown != points["prediction"]).sum())
    notes = (f"Predictions beyond the edge, drawn there: {outside}.",) if outside else ()
    known = errors.set_index("distance")
    panels = make_panels(["" for _ in methods], wording=Wording(FIT_HEADING, TRUE, notes), keys=[])
    ends = min(shown.min(), 0.0) - 0.05, max(shown.max(), 1.0) + 0.05
    for panel, method in zip(panels, methods, strict=True):
        own = points[points["distance"] == method]
        panel.axes.plot((0, 1), (0, 1), color=FAINT_INK, linewidth=0.7, zorder=1)
        panel.axes.scatter(
            own["truth"],
            shown[own.index],
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
        mse, r = (known[name].get(method, np.nan) for name in ("mse", "pearson"))
        numbers = [format_decimal(mse, 3), format_decimal(r, 2)]
        texts = [text or "\N{EN DASH}" for text in numbers]
        heading = f"{METHODS[method][0]}: MSE {texts[0]}, r {texts[1]}"
        panel.write(heading, x=0, y=panel.height + 0.05, size=SMALL_SIZE)
    panels[0].axes.set_ylabel("predicted gap")
    return panels[0].figure


@figure_style()
def draw_error_curve(error_curve: pd.DataFrame) -> Figure:
    """Draw the error of predictions over the number of results that were left to a model.

    Parameters
    ----------
    error_curve : DataFrame
        results, models, mse, mse_low, mse_high (may be empty), mse_additive. Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).
    """
    known = error_curve.dropna(subset="mse").sort_values("results")
    if known.empty:
        raise NothingToDraw(NO_CURVE)
    sheet = make_sheet(
        width=column_width(),
        height=HEIGHT,
        wording=Wording(CURVE_HEADING, CURVE_LABEL),
        left=LEFT,
        right=2 * PADDING,
        ticks=TICKS_HEIGHT + LINE_HEIGHT,
        keys={name: make_method_key(name) for name in ("factors", "additive")},
    )
    places = np.arange(len(known), dtype=float)
    for name, column, apart in (("additive", "mse_additive", APART), ("factors", "mse", -APART)):
        look = METHODS[name][1]
        if column == "mse":
            ends = known[["mse_low", "mse_high"]].to_numpy(float)
            there = np.isfinite(ends).all(axis=1)
            x = places[there] + apart
            sheet.axes.vlines(x, *ends[there].T, color=look.color, linewidth=0.8)
        line: dict[str, Any] = {"color": look.color, "linestyle": look.line, "linewidth": 1.1}
        values = known[column].to_numpy(float)
        sheet.axes.plot(places + apart, values, marker=look.marker, markersize=3.2, **line)
    largest = np.nanmax(known[["mse", "mse_additive"]].to_numpy(float))
    highest = np.nanmax(known["mse_high"].to_numpy(float), initial=largest)
    sheet.axes.set_ylim(0, 1.05 * min(highest, 1.6 * largest) or 1.0)
    labels = [f"{row.results:.0f}\n{row.models:.0f}" for row in known.itertuples()]
    sheet.axes.set_xticks(places, labels, linespacing=1.15)
    number_axis(sheet.axes.yaxis, most=5)
    sheet.axes.set_ylabel(ERROR)
    sheet.axes.grid(axis="y")
    return sheet.figure
