"""Models on images with several labels: metrics, ranks, and accuracy by number of labels."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from capmap.figures.canvas import (
    GAP,
    MINUS,
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    choose_datasets,
    make_sheet,
    number_axis,
    plan_columns,
    write_columns,
)
from capmap.figures.lines import make_panels
from capmap.figures.marks import Mark, mark_members
from capmap.figures.scatter import Label, name_points
from capmap.figures.style import (
    FAINT_INK,
    PAGE_WIDTH,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    FloatArray,
    figure_style,
    page_width,
    shorten_names,
    widest,
)
from capmap.patterns import split_digits
from capmap.wording import format_count

METRICS = {"top1": "top-1", "real": "ReaL", "asma": "ASMA"}
NAMES = METRICS | {"labelwise": "label-wise"}
DASHES: Any = (0, (3.0, 1.2))
LEFT = 0.5
DATASET_WIDTH = 1.6
MARKED = 60
MOST_LISTED = 6

LOOKS = {
    1: ("rises", PALETTE[0], "^"),
    -1: ("falls", PALETTE[3], "v"),
    0: ("stays", FAINT_INK, "o"),
}
MAX_LABELS = 16
LEAST_MODELS = 8
LABEL_WIDTH = 1.5
SHIFT_HEIGHT = 4.6
RADIUS = 0.03

COUNTS_ROW_HEIGHT = 0.2
MORE = "more"
COUNTS_COLORS = "cividis_r"

PANELS = {"real_subgroup": "ReaL accuracy", "subgroup": "subgroup accuracy"}
BOX_NOTE = "Points: models; boxes: their median and quartiles; whiskers: lowest and highest."
BOXES_COLORS = (PALETTE[0], PALETTE[1])
# Of the room of a place on the axis.
BOXES_SHARE = 0.8
MOST_TICKS = 15


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
    """Draw the metrics of all models on two datasets.

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
        A page wide (7 in), a panel per metric in percent: from the best model by the first
        dataset's top-1 accuracy (or the first metric that there is).
    """
    datasets = name_compared(degradation, summary)
    wide = 100 * summary.set_index("model")[list(METRICS)].astype("float64")
    sides = [wide[(summary["dataset"] == name).to_numpy()] for name in datasets]
    known = []
    if len(sides) == 2:
        first, second = sides[0].align(sides[1], join="inner", axis=0)
        is_shared = first.notna() & second.notna()
        first = first[is_shared.any(axis=1)].sort_index()
        first = first.sort_values(list(METRICS), ascending=False, kind="stable")
        known = [name for name in METRICS if is_shared[name].any()]
    if not known:
        raise NothingToDraw("There are no two datasets with a metric of the same models.")
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    lines = dict(zip(datasets, ("-", DASHES), strict=True))
    listed = ", ".join(f"{place} {model}" for place, model in enumerate(first.index, 1))
    notes = (f"Models: {listed}.",) if len(first) <= MOST_LISTED else ()
    panels = make_panels(
        [METRICS[name] for name in known],
        wording=Wording("Metrics on two datasets", "models, best by the solid line first", notes),
        keys=[
            Line2D([], [], color="black", linestyle=lines[name], label=names[name])
            for name in datasets
        ],
    )
    x = np.arange(1, len(first) + 1)
    size = 2.2 if len(x) <= MARKED else 0.0
    for name, sheet, color in zip(known, panels, PALETTE, strict=False):
        for dataset, side in zip(datasets, sides, strict=True):
            values = side.loc[first.index, name]
            look: dict[str, Any] = {"marker": "o", "markersize": size, "linewidth": 0.9}
            [line] = sheet.axes.plot(x, values, linestyle=lines[dataset], color=color, **look)
            shown = values.dropna() if size else values[:0]
            text = f"{METRICS[name]}, {names[dataset]}"
            mark_members(
                line, [Mark(str(model), text=f"{text}: {v:.3g}%") for model, v in shown.items()]
            )
        sheet.axes.set_xlim(0.5, len(x) + 0.5)
        sheet.axes.xaxis.set_major_locator(MaxNLocator(4, integer=True, min_n_ticks=1))
    _share_values(panels, pd.concat([side[name] for side in sides for name in known]))
    return panels[0].figure


def _share_values(panels: Sequence[Sheet], values: "pd.Series[float]") -> None:
    """Give the axes of values in percent the same limits, with room for all of them."""
    margin = 0.04 * (values.max() - values.min()) or 1.0
    for sheet in panels:
        sheet.axes.set_ylim(values.min() - margin, values.max() + margin)
        number_axis(sheet.axes.yaxis, most=5)
        sheet.axes.grid(axis="y")
    panels[0].axes.set_ylabel("value (%)")


@figure_style()
def draw_metric_rank_shift(rank_shift: pd.DataFrame, *, rank_by: str) -> Figure:
    """Draw each model's rank by another metric against its rank by top-1 accuracy.

    Parameters
    ----------
    rank_shift : DataFrame
        model, metric_a, dataset_a, metric_b, dataset_b, rank_a, rank_b, shift (positive for a model
        that rises); rows in any order, also of other pairs.
    rank_by : str
        The other metric: on a dataset without top-1 accuracy, such as PatchML, where there is one.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in); the best ranks are at the left and on top, so models above the line
        rise. The 16 largest shifts are named, fewer in a smaller figure.
    """
    own = rank_shift[(rank_shift["metric_a"] == "top1") & (rank_shift["metric_b"] == rank_by)]
    if own.empty:
        raise NothingToDraw("No model has both values.")
    if own["model"].nunique() < LEAST_MODELS:
        raise NothingToDraw(f"Fewer than {LEAST_MODELS} models have both ranks.")
    first = min(own["dataset_a"])
    other = min({*own["dataset_b"]} - {*own["dataset_a"]}, default=first)
    own = own[(own["dataset_a"] == first) & (own["dataset_b"] == other)]
    heading = f"Ranks by top-1 accuracy and by {NAMES[rank_by]}"
    table = own.assign(size=own["shift"].abs()).sort_values(
        ["size", "model"], ascending=[False, True]
    )
    most = round(MAX_LABELS * min(1.0, page_width() / PAGE_WIDTH))
    last = int(table[["rank_a", "rank_b"]].to_numpy().max())
    low, high = 1 - 0.04 * last, 1.04 * last
    notes = (f"Named: the {most} largest shifts, where there is room.",)
    signs = np.sign(table["shift"])
    style: dict[str, Any] = {"linestyle": "none", "markeredgewidth": 0}
    sheet = make_sheet(
        width=page_width(),
        height=min(SHIFT_HEIGHT, page_width() - LEFT),
        wording=Wording(heading, _name_axis(table, "a"), notes * (len(table) > most)),
        left=LEFT,
        right=2 * PADDING,
        keys={
            f"{name} ({(signs == sign).sum()})": Line2D(
                [], [], marker=marker, markersize=4, color=color, **style
            )
            for sign, (name, color, marker) in LOOKS.items()
        },
    )
    sheet.axes.plot((low, high), (low, high), color=FAINT_INK, linewidth=0.6, zorder=1)
    for sign, (_, color, marker) in LOOKS.items():
        own = table[signs == sign]
        style |= {"color": color, "marker": marker, "markersize": 3.5, "alpha": 0.8}
        [drawn] = sheet.axes.plot(own["rank_a"], own["rank_b"], **style)
        ranks = zip(own["model"], own["rank_a"], own["rank_b"], strict=True)
        text = f"{{}} by {NAMES['top1']}, {{}} by {NAMES[rank_by]}"
        mark_members(drawn, [Mark(model, text=text.format(a, b)) for model, a, b in ranks])
    sheet.axes.set(xlim=(low, high), ylim=(high, low), ylabel=_name_axis(table, "b"))
    ticks = MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]).tick_values(1, last)
    for axis in (sheet.axes.xaxis, sheet.axes.yaxis):
        axis.set_ticks([1, *(tick for tick in ticks if 1 < tick <= last)])
    sheet.axes.grid()
    points = table[["rank_a", "rank_b"]].to_numpy(float)
    first = table["model"][:most]
    names = shorten_names(first, width=LABEL_WIDTH, size=SMALL_SIZE)
    labels = []
    for model, shift, (x, y) in zip(first, table["shift"], points.tolist(), strict=False):
        text = f"{shift:+d}".replace("-", MINUS) if shift else "±0"
        color = LOOKS[int(np.sign(shift))][1]
        labels.append(Label(f"{names[model]} {text}", color, (x, y)))
    diagonal = [((low, low), (high, high))]
    name_points(sheet, labels, points=points, radius=RADIUS, lines=diagonal)
    return sheet.figure


def _name_axis(table: pd.DataFrame, side: str) -> str:
    """Label of an axis; a dataset's name is shortened to what an axis has room for."""
    metric, dataset = map(str, table[[f"metric_{side}", f"dataset_{side}"]].iloc[0])
    short = shorten_names([dataset], width=DATASET_WIDTH, size=SMALL_SIZE)[dataset]
    return f"rank by {NAMES[metric]} on {short} (1 = best)"


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
        images with labels and the percentage of these that have several.

    Notes
    -----
    Colors go from light to dark with the number of labels. Images without labels are left out; a
    note counts them.
    """
    counts = label_counts.assign(labels=label_counts["labels"].astype("str"))
    is_empty = counts["labels"] == "0"
    datasets, notes = choose_datasets(counts.loc[~is_empty & (counts["images"] > 0), "dataset"])
    if not datasets:
        raise NothingToDraw("No image has a label.")
    counts = counts[counts["dataset"].isin(datasets)]
    if empty := counts.loc[is_empty, "images"].sum():
        notes = (*notes, f"Left out: {format_count(empty, 'image')} without a label.")
    known = counts[~is_empty & (counts["images"] > 0)]
    images = known.pivot_table("images", "dataset", "labels", aggfunc="sum", fill_value=0)
    numbers = sorted(map(str, images), key=lambda number: (number == MORE, number.zfill(9)))
    totals = images.loc[datasets].sum(axis=1)
    shares = 100 * images.loc[datasets, numbers].div(totals, axis=0)
    several = shares[[number for number in numbers if number != "1"]].sum(axis=1)
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    columns = {"several labels": several.map("{:.1f}%".format), "images": totals.map("{:,}".format)}
    side = plan_columns({name: own.tolist() for name, own in columns.items()})
    colors = map(to_hex, mpl.colormaps[COUNTS_COLORS](np.linspace(0.05, 0.95, len(numbers))))
    looks = dict(zip(numbers, colors, strict=True))
    sheet = make_sheet(
        width=page_width(),
        height=len(datasets) * min(COUNTS_ROW_HEIGHT, 8 / len(datasets)),
        wording=Wording("Labels per image", "share of the images with labels (%)", notes),
        left=PADDING + max(widest(names.values(), size=TEXT_SIZE), 0.45) + GAP,
        right=2 * PADDING + side.width,
        keys={
            f"{number} label{'s' * (number != '1')}": Patch(color=color)
            for number, color in looks.items()
        },
    )
    starts = np.zeros(len(datasets))
    for number, color in looks.items():
        widths = shares[number].to_numpy()
        rows = range(len(datasets))
        sheet.axes.barh(rows, widths, 0.78, starts, color=color, edgecolor="white", lw=0.3)
        starts += widths
    sheet.axes.set_xlim(0, 100)
    number_axis(sheet.axes.xaxis, most=5)
    sheet.label_rows([names[name] for name in datasets], header="dataset", names=datasets)
    write_columns(sheet, side)
    return sheet.figure


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
        A page wide (7 in): ReaL accuracy at the left, subgroup accuracy at the right.
    """
    datasets = name_compared(degradation, metrics)
    known = metrics[metrics["metric"].isin(list(PANELS)) & metrics["dataset"].isin(datasets)]
    known = known.dropna(subset=["value", "subgroup"]).sort_values("value")
    if known.empty:
        raise NothingToDraw("No model has an accuracy by number of labels.")
    by = ["model", "dataset", "metric", "subgroup"]
    cells = known.groupby(by)["value"].mean().reset_index()
    places = sorted(set(cells["subgroup"]))
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    colors = dict(zip(datasets, BOXES_COLORS, strict=False))
    style: dict[str, Any] = {"linestyle": "none", "marker": "s", "markersize": 5}
    keys = [Line2D([], [], color=colors[name], label=names[name], **style) for name in datasets]
    sheets = make_panels(
        list(PANELS.values()),
        wording=Wording("Accuracy by number of labels", "labels per image", (BOX_NOTE,)),
        keys=keys if len(datasets) > 1 else [],
    )
    room, step = BOXES_SHARE / len(datasets), -(-len(places) // MOST_TICKS)
    for sheet, metric in zip(sheets, PANELS, strict=True):
        for position, (name, color) in enumerate(colors.items()):
            own = cells[(cells["metric"] == metric) & (cells["dataset"] == name)]
            shift = room * (position - (len(datasets) - 1) / 2)
            x = np.array([places.index(place) + shift for place in own["subgroup"]])
            _draw_column(sheet.axes, x, own, color, 0.85 * room)
        sheet.axes.set_xticks(range(0, len(places), step), [f"{one:g}" for one in places[::step]])
        sheet.axes.set_xlim(-0.5, len(places) - 0.5)
    _share_values(sheets, 100 * cells["value"])
    return sheets[0].figure


@figure_style()
def draw_seed_boxes(metrics: pd.DataFrame) -> Figure:
    """Draw the ASMA of all models on composed images, a box per seed, a column wide (3.4 in)."""
    is_seeded = (metrics["metric"] == "asma") & (metrics["seed"].fillna("") != "")
    known = metrics[is_seeded].dropna(subset="value").sort_values(["model", "seed", "value"])
    dataset = min(known["dataset"], default="")
    own = known[known["dataset"] == dataset].astype({"seed": "str"})
    seeds = sorted(set(own["seed"]), key=split_digits)
    if len(seeds) < 2:
        raise NothingToDraw("No dataset has an ASMA of several seeds.")
    name = shorten_names([dataset], width=DATASET_WIDTH, size=TEXT_SIZE)[dataset]
    wording = Wording(f"ASMA on {name} by seed", "seed", (BOX_NOTE,))
    [sheet] = make_panels(["ASMA"], wording=wording, keys=[])
    places, step = range(len(seeds)), -(-len(seeds) // MOST_TICKS)
    _draw_column(sheet.axes, own["seed"].map(seeds.index).to_numpy(), own, PALETTE[0], BOXES_SHARE)
    labels = shorten_names(seeds, width=sheet.width / len(seeds[::step]), size=TEXT_SIZE)
    sheet.axes.set_xticks(places[::step], [labels[seed] for seed in seeds[::step]])
    sheet.axes.set_xlim(-0.5, len(seeds) - 0.5)
    _share_values([sheet], 100 * own["value"])
    return sheet.figure


def _draw_column(axes: Axes, x: FloatArray, cells: pd.DataFrame, color: str, width: float) -> None:
    """Draw the boxes of a dataset: median, quartiles, whiskers to the extremes; and its models."""
    # Not above: its import takes as long as some figures.
    import seaborn as sns

    y = 100 * cells["value"].to_numpy(float)
    sns.boxplot(
        x=x,
        y=y,
        ax=axes,
        native_scale=True,
        vert=None,  # of its own, which matplotlib has deprecated
        width=width,
        whis=(0, 100),
        showcaps=False,
        showfliers=False,
        boxprops={"facecolor": color, "edgecolor": color, "alpha": 0.35, "linewidth": 0.6},
        whiskerprops={"color": color, "linewidth": 0.6},
        medianprops={"color": "black", "linewidth": 1.0},
    )
    look: dict[str, Any] = {"marker": "o", "markersize": 2.2, "markeredgewidth": 0, "alpha": 0.7}
    [points] = axes.plot(x, y, linestyle="none", color=color, zorder=3, **look)
    pairs = zip(cells["model"], y, strict=True)
    mark_members(points, [Mark(str(model), text=f"{value:.3g}%") for model, value in pairs])
