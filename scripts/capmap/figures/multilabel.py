"""Models on images with several labels: metrics, ranks, and accuracy by number of labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import (
    GAP,
    MAX_MODELS,
    MINUS,
    PADDING,
    TICKS_HEIGHT,
    NothingToDraw,
    Sheet,
    Wording,
    choose_datasets,
    make_sheet,
    plan_columns,
    write_columns,
)
from capmap.figures.marks import Mark, mark_members
from capmap.figures.names import FloatArray, Label, draw_labels, place_labels, shorten_names, widest
from capmap.figures.style import (
    FAINT_INK,
    INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    ModelStyle,
    figure_style,
    page_width,
)
from capmap.wording import format_count

LINES_HEADING = "Metrics on two datasets"
NO_METRIC = "There are no two datasets with a metric of the same models."
METRICS = {
    "top1": ("top-1", ModelStyle(PALETTE[0], "o", "-")),
    "real": ("ReaL", ModelStyle(PALETTE[3], "s", "-")),
    "asma": ("ASMA", ModelStyle(PALETTE[2], "D", "-")),
}
NAMES = {metric: name for metric, (name, _) in METRICS.items()} | {"labelwise": "label-wise"}
DASHES: Any = (0, (3.0, 1.2))
LEFT = 0.5
UPPER, LOWER, LINES_GUTTER = 1.9, 1.2, 0.12
LINES_NAME_WIDTH = 1.3
DATASET_WIDTH = 1.6
MARKED = 60

SHIFT_HEADING = "Ranks by top-1 accuracy and by {}"
NO_SHIFT = "No model has both values."
LOOKS = {
    1: ("rises", PALETTE[0], "^"),
    -1: ("falls", PALETTE[3], "v"),
    0: ("stays", FAINT_INK, "o"),
}
MAX_LABELS = 16
LABEL_WIDTH = 1.5
SHIFT_HEIGHT = 4.6
RADIUS = 0.03

COUNTS_HEADING = "Labels per image"
NO_LABEL = "No image has a label."
COUNTS_LABEL = "share of the images with labels (%)"
COUNTS_ROW_HEIGHT = 0.2
COUNTS_NAME_WIDTH = 1.8
MORE = "more"
COUNTS_COLORS = "cividis_r"
DARK = 0.45

BOXES_HEADING = "Accuracy by number of labels"
NO_SUBGROUP = "No model has an accuracy by number of labels."
BOXES_LABEL = "labels per image"
ACCURACY_LABEL = "accuracy (%)"
PANELS = {"real_subgroup": "ReaL accuracy", "subgroup": "subgroup accuracy"}
BOX_NOTE = "Boxes: median and quartiles of the models; whiskers: lowest and highest."
POINTS_NOTE = "Points: models."
BOXES_COLORS = (PALETTE[0], PALETTE[1])
BOXES_GUTTER, BOXES_HEIGHT = 0.3, 2.0
GROUP = 0.8
MAX_POINTS = 12
BOXES_DATASET_WIDTH = 2.0
# Values by their place on the axis.
Boxes = Mapping[float, "pd.Series[float]"]


def name_compared(degradation: pd.DataFrame, cells: pd.DataFrame) -> list[str]:
    """The two datasets that are compared, or the first two by name.

    Parameters
    ----------
    degradation : DataFrame
        dataset_a, dataset_b; may be empty.
    cells : DataFrame
        dataset: all that there are.
    """
    pairs = degradation[["dataset_a", "dataset_b"]].drop_duplicates().to_numpy().tolist()
    return pairs[0] if pairs else sorted(set(cells["dataset"]))[:2]


@figure_style()
def draw_metric_lines(summary: pd.DataFrame, degradation: pd.DataFrame) -> Figure:
    """Draw the metrics of all models on two datasets, and the differences below.

    Parameters
    ----------
    summary : DataFrame
        model, dataset, top1, real, asma (from 0 to 1, may be empty); rows in any order.
    degradation : DataFrame
        dataset_a, dataset_b, see `name_compared`; the first of the two datasets is drawn solid, the
        second dashed.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): the metrics in percent above, the first dataset's less the second's in
        points below, from the best model by the first dataset's top-1 accuracy (or the first
        metric that there is). Up to 40 models are named.
    """
    datasets = name_compared(degradation, summary)
    if len(datasets) < 2:
        raise NothingToDraw(NO_METRIC)
    first, second = (_take_metrics(summary, name) for name in datasets)
    models = _order_models(first, second)
    if not models:
        raise NothingToDraw(NO_METRIC)
    first, second = first.reindex(models), second.reindex(models)
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    a, b = (names[name] for name in datasets)
    metrics = [name for name in METRICS if first[name].notna().any() or second[name].notna().any()]
    labels = _name_models(models)
    upper, lower = _place_panels(_make_keys(metrics, a, b), labels, f"Below: {a} less {b}.")
    x = np.arange(1, len(models) + 1)
    marker_size = 2.2 if len(models) <= MARKED else 0.0
    for name in metrics:
        look = METRICS[name][1]
        style: dict[str, Any] = {"color": look.color, "linewidth": 0.9, "markeredgewidth": 0}
        style |= {"marker": look.marker, "markersize": marker_size}
        label = METRICS[name][0]
        for axes, values, what, dashes in (
            (upper.axes, first[name], f"{label}, {a}", "-"),
            (upper.axes, second[name], f"{label}, {b}", DASHES),
            (lower.axes, first[name] - second[name], f"{label}, {a} less {b}", "-"),
        ):
            [line] = axes.plot(x, values, **style, linestyle=dashes)
            _mark_models(line, values, what)
    lower.axes.axhline(0, color="black", linewidth=0.6, zorder=1)
    _dress_lines(upper.axes, len(models), "metric (%)")
    _dress_lines(lower.axes, len(models), "difference (points)")
    upper.axes.tick_params(labelbottom=False)
    if labels:
        lower.axes.set_xticks(x, labels, rotation=90)
    return lower.figure


def _mark_models(line: Line2D, values: "pd.Series[float]", what: str) -> None:
    """Say the model and value of each marker of a line; there is none where there is no value."""
    known = values.dropna() if line.get_markersize() else values[:0]
    marks = (Mark(str(model), text=f"{what}: {value:.3g}%") for model, value in known.items())
    mark_members(line, list(marks))


def _take_metrics(summary: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Metrics of a dataset in percent, by model."""
    own = summary[summary["dataset"] == dataset].set_index("model")
    return 100 * own[list(METRICS)].astype("float64")


def _order_models(first: pd.DataFrame, second: pd.DataFrame) -> list[str]:
    """Models with any metric on both datasets, the best on the first one first."""
    shared = first.index.intersection(second.index)
    values = first.loc[shared]
    has = (values.notna() & second.loc[shared].notna()).any(axis=1)
    values = values[has.to_numpy()]
    keys = [name for name in METRICS if values[name].notna().any()]
    order = values.rename_axis("model").reset_index()
    columns = [*keys, "model"]
    ascending = [*[False] * len(keys), True]
    return [str(name) for name in order.sort_values(columns, ascending=ascending)["model"]]


def _name_models(models: Sequence[str]) -> list[str]:
    """Labels of few models; none of many."""
    if len(models) > MAX_MODELS:
        return []
    names = shorten_names(models, width=LINES_NAME_WIDTH, size=TEXT_SIZE)
    return [names[model] for model in models]


def _make_keys(metrics: Sequence[str], first: str, second: str) -> dict[str, Line2D]:
    keys = {
        METRICS[name][0]: Line2D([], [], color=METRICS[name][1].color, linewidth=1.2)
        for name in metrics
    }
    lines: tuple[tuple[str, Any], ...] = ((first, "-"), (second, DASHES))
    return keys | {
        label: Line2D([], [], color="black", linestyle=line, linewidth=1.0) for label, line in lines
    }


def _place_panels(
    keys: Mapping[str, Line2D], labels: Sequence[str], note: str
) -> tuple[Sheet, Sheet]:
    """Make the figure with its legend, and the upper and the lower panel."""
    ticks = GAP + widest(labels, size=TEXT_SIZE) if labels else TICKS_HEIGHT
    sheet = make_sheet(
        width=page_width(),
        height=UPPER + LINES_GUTTER + LOWER,
        wording=Wording(LINES_HEADING, "models, the best on the first dataset first", (note,)),
        left=LEFT,
        right=2 * PADDING,
        ticks=ticks,
        keys=keys,
    )
    sheet.hide_axes()
    return (
        sheet.add_panel(left=0, bottom=LOWER + LINES_GUTTER, width=sheet.width, height=UPPER),
        sheet.add_panel(left=0, bottom=0, width=sheet.width, height=LOWER),
    )


def _dress_lines(axes: Axes, count: int, label: str) -> None:
    axes.set_xlim(0.5, count + 0.5)
    axes.set_ylabel(label)
    axes.grid(axis="y")
    axes.xaxis.set_major_locator(MaxNLocator(10, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}".replace("-", MINUS))


def choose_shifts(
    rank_shift: pd.DataFrame, degradation: pd.DataFrame, metrics: pd.DataFrame, *, rank_by: str
) -> pd.DataFrame:
    """Choose the two datasets whose ranks by top-1 accuracy and by another metric are compared.

    Parameters
    ----------
    rank_shift : DataFrame
        metric_a, dataset_a, metric_b, dataset_b.
    degradation, metrics : DataFrame
        As in `name_compared`.
    rank_by : str
        The other metric.

    Returns
    -------
    DataFrame
        The rows of the first compared dataset and of a dataset that is not compared, such as
        PatchML, where there is one.
    """
    is_asked = (rank_shift["metric_a"] == "top1") & (rank_shift["metric_b"] == rank_by)
    if not is_asked.any():
        return rank_shift.iloc[:0]
    compared = name_compared(degradation, metrics)
    first = rank_shift[is_asked & (rank_shift["dataset_a"] == compared[0])]
    other = min(set(first["dataset_b"]) - set(compared), default=compared[-1])
    return first[first["dataset_b"] == other]


@figure_style()
def draw_metric_rank_shift(
    rank_shift: pd.DataFrame, degradation: pd.DataFrame, metrics: pd.DataFrame, *, rank_by: str
) -> Figure:
    """Draw each model's rank by another metric against its rank by top-1 accuracy.

    Parameters
    ----------
    rank_shift : DataFrame
        model, metric_a, dataset_a, metric_b, dataset_b, rank_a, rank_b, shift (positive for a model
        that rises); rows in any order, also of other pairs.
    degradation, metrics, rank_by
        As in `choose_shifts`.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in); the best ranks are at the left and on top, so models above the line
        rise. The 16 largest shifts are named, as far as there is room.
    """
    rank_shift = choose_shifts(rank_shift, degradation, metrics, rank_by=rank_by)
    heading = SHIFT_HEADING.format(NAMES[rank_by])
    if rank_shift.empty:
        raise NothingToDraw(NO_SHIFT)
    size = rank_shift["shift"].abs()
    table = rank_shift.assign(size=size).sort_values(["size", "model"], ascending=[False, True])
    last = int(table[["rank_a", "rank_b"]].to_numpy().max())
    low, high = 1 - 0.04 * last, 1.04 * last
    area = (page_width() - LEFT - 2 * PADDING, SHIFT_HEIGHT)
    across, down = (table[["rank_a", "rank_b"]].to_numpy(float) - low).T / (high - low)
    points = np.column_stack([across, 1 - down]) * area
    labels = _label_shifts(table, points)
    diagonal = ((0.0, area[1]), (area[0], 0.0))
    found = place_labels(labels, area=area, points=points, radius=RADIUS, lines=[diagonal])
    keys = {
        f"{name} ({int((np.sign(table['shift']) == sign).sum())})": Line2D(
            [], [], linestyle="none", marker=marker, markersize=4, color=color
        )
        for sign, (name, color, marker) in LOOKS.items()
    }
    sheet = make_sheet(
        width=page_width(),
        height=area[1],
        wording=Wording(heading, _name_axis(table, "a"), _write_shift_notes(table, found)),
        left=LEFT,
        right=2 * PADDING,
        keys=keys,
    )
    sheet.axes.plot((low, high), (low, high), color=FAINT_INK, linewidth=0.6, zorder=1)
    for sign, (_, color, marker) in LOOKS.items():
        own = table[np.sign(table["shift"]) == sign]
        look: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "markersize": 3.5,
            "markeredgewidth": 0,
        }
        [drawn] = sheet.axes.plot(own["rank_a"], own["rank_b"], linestyle="none", alpha=0.8, **look)
        ranks = zip(own["model"], own["rank_a"], own["rank_b"], strict=True)
        text = f"{{}} by {NAMES['top1']}, {{}} by {NAMES[rank_by]}"
        mark_members(drawn, [Mark(model, text=text.format(a, b)) for model, a, b in ranks])
    sheet.axes.set(xlim=(low, high), ylim=(high, low), ylabel=_name_axis(table, "b"))
    for axis in (sheet.axes.xaxis, sheet.axes.yaxis):
        ticks = MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(1, last)
        axis.set_ticks([1, *(tick for tick in ticks if 1 < tick <= last)])
    sheet.axes.grid()
    draw_labels(sheet.add_layer(), labels, found)
    return sheet.figure


def _label_shifts(table: pd.DataFrame, points: FloatArray) -> list[Label]:
    """Labels of the largest shifts, such as ``ResNet-50 +12``."""
    chosen = table.head(MAX_LABELS)
    names = shorten_names(chosen["model"], width=LABEL_WIDTH, size=SMALL_SIZE)
    return [
        Label(
            f"{names[model]} {f'{shift:+d}'.replace('-', MINUS) if shift else '±0'}",
            SMALL_SIZE,
            LOOKS[int(np.sign(shift))][1],
            ((float(x), float(y)),),
        )
        for model, shift, (x, y) in zip(chosen["model"], chosen["shift"], points, strict=False)
    ]


def _name_axis(table: pd.DataFrame, side: str) -> str:
    """Label of an axis; a dataset's name is shortened to what an axis has room for."""
    metric, dataset = map(str, table[[f"metric_{side}", f"dataset_{side}"]].iloc[0])
    short = shorten_names([dataset], width=DATASET_WIDTH, size=SMALL_SIZE)[dataset]
    return f"rank by {NAMES[metric]} on {short} (1 = best)"


def _write_shift_notes(table: pd.DataFrame, found: Sequence[object]) -> tuple[str, ...]:
    named = sum(place is not None for place in found)
    if named == len(table):
        return ()
    return (f"Named: {named} of {format_count(len(table), 'model')}, by the largest shifts.",)


@figure_style()
def draw_label_counts(label_counts: pd.DataFrame) -> Figure:
    """Draw the shares of images with one, two and more labels, a bar per dataset.

    Parameters
    ----------
    label_counts : DataFrame
        dataset, labels (the number, or ``more``), images, share (from 0 to 1; empty for 0
        labels); rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): a row for each of at most 60 datasets by name, with its number of
        images with labels. Shares that have room for it are written in percent.

    Notes
    -----
    Colors go from light to dark with the number of labels. Images without labels are left out; a
    note counts them.
    """
    counts = label_counts.assign(labels=label_counts["labels"].astype("str"))
    known = counts[(counts["images"] > 0) & (counts["labels"] != "0")]
    if known.empty:
        raise NothingToDraw(NO_LABEL)
    datasets, notes = choose_datasets(known["dataset"])
    known = known[known["dataset"].isin(datasets)]
    numbers = sorted(set(known["labels"]), key=_order_labels)
    cells = known.set_index(["dataset", "labels"])
    totals = cells["images"].groupby("dataset").sum()
    names = shorten_names(datasets, width=COUNTS_NAME_WIDTH, size=TEXT_SIZE)
    side = plan_columns({"images": [f"{totals[name]:,}" for name in datasets]})
    colors = _choose_colors(len(numbers))
    empty = counts.loc[(counts["labels"] == "0") & counts["dataset"].isin(datasets), "images"].sum()
    left_out = (f"Left out: {format_count(empty, 'image')} without a label.",) if empty else ()
    sheet = make_sheet(
        width=page_width(),
        height=len(datasets) * min(COUNTS_ROW_HEIGHT, 8 / len(datasets)),
        wording=Wording(COUNTS_HEADING, COUNTS_LABEL, (*notes, *left_out)),
        left=PADDING + max(widest(names.values(), size=TEXT_SIZE), 0.45) + GAP,
        right=2 * PADDING + side.width,
        keys={
            name: Patch(color=color)
            for name, color in zip(_name_numbers(numbers), colors, strict=True)
        },
    )
    shares = np.array([[cells["share"].get((d, n), 0.0) for n in numbers] for d in datasets])
    _stack_shares(sheet.axes, 100 * shares, colors, width=sheet.width)
    sheet.label_rows([names[name] for name in datasets], header="dataset", names=datasets)
    write_columns(sheet, side)
    return sheet.figure


def _order_labels(labels: str) -> tuple[bool, int]:
    return labels == MORE, 0 if labels == MORE else int(labels)


def _name_numbers(numbers: Sequence[str]) -> list[str]:
    """Write numbers of labels for the legend; the last may be all beyond those before it."""
    return [
        ("more labels" if number == MORE else f"{number} label" + "s" * (number != "1"))
        for number in numbers
    ]


def _choose_colors(count: int) -> list[str]:
    """Colors from light to dark, as many as there are numbers of labels."""
    colors = mpl.colormaps[COUNTS_COLORS]
    return [to_hex(colors(place)) for place in np.linspace(0.05, 0.95, count)]


def _stack_shares(axes: Axes, percents: np.ndarray, colors: Sequence[str], *, width: float) -> None:
    """Draw the parts of each row one after the other, with their percents where they fit."""
    rows = np.arange(len(percents))
    starts = np.cumsum(percents, axis=1) - percents
    for part, color in enumerate(colors):
        axes.barh(
            rows, percents[:, part], 0.78, starts[:, part], color=color, edgecolor="white", lw=0.3
        )
        ink = "white" if float(np.dot(to_rgb(color), (0.3, 0.59, 0.11))) < DARK else INK
        for row, percent in enumerate(percents[:, part]):
            text = f"{percent:.1f}"
            if widest([text], size=SMALL_SIZE) + GAP / 2 < width * percent / 100:
                middle = starts[row, part] + percent / 2
                look: dict[str, Any] = {"ha": "center", "va": "center_baseline", "size": SMALL_SIZE}
                axes.text(middle, row, text, color=ink, **look)
    axes.set_xlim(0, 100)
    axes.xaxis.set_major_locator(FixedLocator(range(0, 101, 20)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))


@figure_style()
def draw_subgroup_boxes(metrics: pd.DataFrame, degradation: pd.DataFrame) -> Figure:
    """Draw ReaL accuracy and subgroup accuracy of all models by the number of labels.

    Parameters
    ----------
    metrics : DataFrame
        model, dataset, metric, subgroup (number of labels), value (from 0 to 1); rows in any
        order, also of other metrics. Several seeds are averaged.
    degradation : DataFrame
        As in `name_compared`: the boxes of the two datasets stand
        beside each other.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): ReaL accuracy at the left, subgroup accuracy at the right. Up to 12
        models are points too.
    """
    datasets = name_compared(degradation, metrics)
    cells = _average_seeds(metrics[metrics["dataset"].isin(list(datasets))])
    if cells.empty:
        raise NothingToDraw(NO_SUBGROUP)
    groups = sorted(set(cells["subgroup"]))
    points = cells["model"].nunique() <= MAX_POINTS
    names = shorten_names(datasets, width=BOXES_DATASET_WIDTH, size=TEXT_SIZE)
    notes = f"{BOX_NOTE} {POINTS_NOTE}" if points else BOX_NOTE
    sheet = make_sheet(
        width=page_width(),
        height=BOXES_HEIGHT,
        wording=Wording(BOXES_HEADING, BOXES_LABEL, (notes,)),
        left=LEFT,
        right=2 * PADDING,
        keys={
            names[name]: Patch(color=color)
            for name, color in zip(datasets, BOXES_COLORS, strict=False)
        },
    )
    sheet.hide_axes()
    width = (sheet.width - BOXES_GUTTER) / 2
    for position, (metric, title) in enumerate(PANELS.items()):
        left = position * (width + BOXES_GUTTER)
        axes = sheet.add_axes(left=left, bottom=0, width=width, height=BOXES_HEIGHT)
        sheet.write(title, x=left, y=BOXES_HEIGHT + 0.05)
        for place, (dataset, color) in enumerate(zip(datasets, BOXES_COLORS, strict=False)):
            own = cells[(cells["metric"] == metric) & (cells["dataset"] == dataset)]
            shift = GROUP * (place - 0.5) / 2
            boxes = {
                groups.index(g) + shift: 100 * rows["value"] for g, rows in own.groupby("subgroup")
            }
            _draw_boxes(axes, boxes, color)
            if points:
                _draw_points(axes, boxes, color)
        _dress_boxes(axes, groups)
        _limit_values(axes, cells["value"])
        axes.tick_params(labelleft=position == 0)
        axes.set_ylabel(ACCURACY_LABEL if position == 0 else "")
    return sheet.figure


def _average_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds of each accuracy by number of labels."""
    known = metrics[metrics["metric"].isin(list(PANELS))].dropna(subset=["value", "subgroup"])
    keys = ["model", "dataset", "metric", "subgroup"]
    cells = known.sort_values("value").groupby(keys)["value"].mean().reset_index()
    return cells.astype({"subgroup": "int64", "value": "float64"})


def _draw_boxes(axes: Axes, boxes: Boxes, color: str) -> None:
    """Draw a box of values at each place: median, quartiles, and whiskers to the extremes."""
    # Not above: its import takes as long as some figures.
    import seaborn as sns

    line = {"color": color, "linewidth": 0.6, "solid_capstyle": "butt"}
    places = [place for place, values in boxes.items() for _ in range(len(values))]
    sns.boxplot(
        x=places,
        y=[value for values in boxes.values() for value in values],
        ax=axes,
        native_scale=True,
        vert=None,  # of its own, which matplotlib has deprecated
        width=0.85 * GROUP / 2,
        whis=(0, 100),
        showcaps=False,
        showfliers=False,
        boxprops={"facecolor": color, "edgecolor": color, "alpha": 0.35, "linewidth": 0.6},
        whiskerprops=line,
        medianprops={"color": "black", "linewidth": 1.0, "solid_capstyle": "butt"},
    )


def _draw_points(axes: Axes, boxes: Boxes, color: str) -> None:
    """Draw the models of each box."""
    look: dict[str, Any] = {"marker": "o", "markersize": 2.2, "markeredgewidth": 0}
    for place, values in boxes.items():
        y = np.sort(values.to_numpy(float))
        axes.plot(np.full(len(y), place), y, linestyle="none", color=color, zorder=3, **look)


def _dress_boxes(axes: Axes, groups: Sequence[int]) -> None:
    axes.set_xlim(-0.5, len(groups) - 0.5)
    step = -(-len(groups) // 15)
    axes.set_xticks(range(0, len(groups), step), [str(group) for group in groups[::step]])
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.grid(axis="y")


def _limit_values(axes: Axes, values: "pd.Series[float]") -> None:
    """Give an axis of percents room for all values, and a little more."""
    low, high = 100 * float(values.min()), 100 * float(values.max())
    margin = 0.04 * (high - low) or 1.0
    axes.set_ylim(low - margin, high + margin)
