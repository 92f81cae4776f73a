"""Accuracy over models by the number of labels: of two datasets, and of the seeds of one."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from capmap.figures.canvas import GAP, HEADER_HEIGHT, PADDING, Margins, Sheet, Wording, make_sheet
from capmap.figures.legend import draw_legend, plan_legend
from capmap.figures.metric_lines import name_compared
from capmap.figures.metric_rank_shift import choose_shifts
from capmap.figures.names import shorten_names, widest
from capmap.figures.note import draw_note
from capmap.figures.style import FAINT_INK, PAGE_WIDTH, PALETTE, TEXT_SIZE, figure_style

HEADING = "Accuracy by number of labels"
SEED_HEADING = "Accuracy by number of labels, seed by seed"
NOTHING = "No model has an accuracy by number of labels."
X_LABEL = "labels per image"
Y_LABEL = "accuracy (%)"
PANELS = {"real_subgroup": "ReaL accuracy", "subgroup": "subgroup accuracy"}
BOX_NOTE = "Boxes: median and quartiles of the models; whiskers: lowest and highest."
LINES_NOTE = "Lines: the best models, means over seeds."
POINTS_NOTE = "Points: models."
COLORS = (PALETTE[0], PALETTE[1])
TOPS = {"top1": ("top-1", PALETTE[0], "o"), "asma": ("ASMA", PALETTE[3], "D")}
LEFT, GUTTER, HEIGHT, SEED_HEIGHT = 0.5, 0.3, 2.0, 2.6
GROUP = 0.8
MAX_POINTS = 12
MAX_SEEDS = 10
NAME_WIDTH = 1.7
DATASET_WIDTH = 2.0
LINE = 0.15
MARK = 0.14

Boxes = Mapping[float, "pd.Series[float]"]


@figure_style()
def draw_subgroup_boxes(metrics: pd.DataFrame, degradation: pd.DataFrame) -> Figure:
    """Draw ReaL accuracy and subgroup accuracy of all models by the number of labels.

    Parameters
    ----------
    metrics : DataFrame
        model, dataset, metric, subgroup (number of labels), value (from 0 to 1); rows in any
        order, also of other metrics. Several seeds are averaged.
    degradation : DataFrame
        As in `capmap.figures.metric_lines.name_compared`: the boxes of the two datasets stand
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
        return draw_note(NOTHING, heading=HEADING)
    groups = sorted(set(cells["subgroup"]))
    points = cells["model"].nunique() <= MAX_POINTS
    names = shorten_names(datasets, width=DATASET_WIDTH, size=TEXT_SIZE)
    legend = plan_legend([names[name] for name in datasets], sheet_width=PAGE_WIDTH)
    notes = f"{BOX_NOTE} {POINTS_NOTE}" if points else BOX_NOTE
    sheet = make_sheet(
        width=PAGE_WIDTH,
        height=HEIGHT,
        margins=Margins(LEFT, 2 * PADDING, head=HEADER_HEIGHT + legend.height),
        wording=Wording(HEADING, X_LABEL, (notes,)),
    )
    sheet.axes.set(frame_on=False, xticks=[], yticks=[])
    draw_legend(sheet, legend, [Patch(color=color) for color in COLORS[: len(datasets)]])
    width = (sheet.width - GUTTER) / 2
    for position, (metric, title) in enumerate(PANELS.items()):
        left = position * (width + GUTTER)
        axes = sheet.add_axes(left=left, bottom=0, width=width, height=HEIGHT)
        sheet.write(title, x=left, y=HEIGHT + 0.05)
        for place, (dataset, color) in enumerate(zip(datasets, COLORS, strict=False)):
            own = cells[(cells["metric"] == metric) & (cells["dataset"] == dataset)]
            shift = GROUP * (place - 0.5) / 2
            boxes = {groups.index(g) + shift: rows["value"] for g, rows in own.groupby("subgroup")}
            _draw_boxes(axes, boxes, width=0.85 * GROUP / 2, color=color, points=points)
        _dress_axes(axes, groups)
        _limit_values(axes, cells["value"])
        axes.tick_params(labelleft=position == 0)
        axes.set_ylabel(Y_LABEL if position == 0 else "")
    return sheet.figure


@figure_style()
def draw_seed_boxes(
    metrics: pd.DataFrame, rank_shift: pd.DataFrame, degradation: pd.DataFrame, *, top: int
) -> Figure:
    """Draw subgroup accuracy of all models by the number of labels and seed, and the best models.

    Parameters
    ----------
    metrics : DataFrame
        model, dataset, seed, metric, subgroup (number of labels), value (from 0 to 1); rows in any
        order, also of other metrics.
    rank_shift : DataFrame
        model, dataset_top1, dataset_asma, top1_rank, asma_rank; may be empty.
    degradation : DataFrame
        As in `capmap.figures.metric_rank_shift.choose_shifts`, whose second dataset is drawn.
    top : int
        How many of the best models by each rank are drawn, ties by name.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): a box per seed, those with the same number of labels side by side; over
        them the best models by top-1 accuracy and by ASMA, listed at the right. Of more than 10
        seeds, the means are drawn.
    """
    compared = name_compared(degradation, metrics)
    rank_shift = choose_shifts(rank_shift, degradation, metrics)
    dataset = compared[-1] if rank_shift.empty else rank_shift["dataset_asma"].iloc[0]
    own = metrics[(metrics["dataset"] == dataset) & (metrics["metric"] == "subgroup")]
    means = _average_seeds(own)
    if means.empty:
        return draw_note(NOTHING, heading=SEED_HEADING)
    groups = sorted(set(means["subgroup"]))
    seeds = own.dropna(subset="value").fillna({"seed": ""})
    if seeds["seed"].nunique() > MAX_SEEDS:
        seeds = means.assign(seed="")
    best = {key: _choose_best(rank_shift, f"{key}_rank", top) for key in TOPS}
    sheet, listed = _make_page(dataset, best, seeds["seed"].nunique())
    names = sorted(set(seeds["seed"]), key=lambda seed: (len(seed), seed))
    step = GROUP / len(names)
    for place, seed in enumerate(names):
        rows = seeds[seeds["seed"] == seed]
        shift = step * (place - (len(names) - 1) / 2)
        boxes = {groups.index(g) + shift: values["value"] for g, values in rows.groupby("subgroup")}
        _draw_boxes(sheet.axes, boxes, width=0.8 * step, color=FAINT_INK)
    for key, (_, color, marker) in TOPS.items():
        for model in best[key]:
            curve = means[means["model"] == model].set_index("subgroup")["value"].sort_index()
            look: dict[str, Any] = {"marker": marker, "markersize": 3.2, "markeredgewidth": 0}
            x = [groups.index(g) + (MARK if key == "asma" else -MARK) for g in curve.index]
            sheet.axes.plot(x, 100 * curve, color=color, linewidth=0.7, alpha=0.85, **look)
    _dress_axes(sheet.axes, groups)
    _limit_values(sheet.axes, seeds["value"])
    sheet.axes.set_ylabel(Y_LABEL)
    _list_best(sheet, best, listed)
    return sheet.figure


def _average_seeds(metrics: pd.DataFrame) -> pd.DataFrame:
    """Mean over seeds of each accuracy by number of labels."""
    known = metrics[metrics["metric"].isin(list(PANELS))].dropna(subset=["value", "subgroup"])
    keys = ["model", "dataset", "metric", "subgroup"]
    cells = known.sort_values("value").groupby(keys)["value"].mean().reset_index()
    return cells.astype({"subgroup": "int64", "value": "float64"})


def _draw_boxes(
    axes: Axes, boxes: Boxes, *, width: float, color: str, points: bool = False
) -> None:
    """Draw a box of percents at each place, and its models where they are few."""
    if not boxes:
        return
    axes.boxplot(
        [100 * values.to_numpy(float) for values in boxes.values()],
        positions=list(boxes),
        widths=width,
        whis=(0, 100),
        showcaps=False,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"facecolor": color, "alpha": 0.35, "edgecolor": color, "linewidth": 0.6},
        whiskerprops={"color": color, "linewidth": 0.6},
        medianprops={"color": "black", "linewidth": 1.0},
    )
    for place, values in boxes.items() if points else ():
        y = np.sort(100 * values.to_numpy(float))
        look: dict[str, Any] = {"marker": "o", "markersize": 2.2, "markeredgewidth": 0}
        axes.plot(np.full(len(y), place), y, linestyle="none", color=color, zorder=3, **look)


def _dress_axes(axes: Axes, groups: Sequence[int]) -> None:
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


def _choose_best(rank_shift: pd.DataFrame, column: str, top: int) -> list[str]:
    ranked = rank_shift.dropna(subset=column).sort_values([column, "model"])
    return [str(model) for model in ranked["model"].head(top)]


def _make_page(
    dataset: str, best: Mapping[str, Sequence[str]], seeds: int
) -> tuple[Sheet, dict[str, str]]:
    """Make the figure with room at the right for the best models, and their labels."""
    models = sorted({model for names in best.values() for model in names})
    labels = shorten_names(models, width=NAME_WIDTH, size=TEXT_SIZE)
    headers = [_head_best(key, best[key]) for key in TOPS] if models else []
    room = max(widest([*labels.values()], size=TEXT_SIZE), widest(headers, size=TEXT_SIZE))
    lines = sum(len(names) + 1.5 for names in best.values()) if models else 0
    keys: dict[str, Artist] = {
        ("models, a box per seed" if seeds > 1 else "models"): Patch(color=FAINT_INK, alpha=0.35)
    }
    for name, color, marker in TOPS.values() if models else ():
        key = Line2D([], [], color=color, marker=marker, markersize=3.2, linewidth=0.7)
        keys[f"best by {name}"] = key
    legend = plan_legend(list(keys), sheet_width=PAGE_WIDTH)
    name = shorten_names([dataset], width=DATASET_WIDTH, size=TEXT_SIZE)[dataset]
    sheet = make_sheet(
        width=PAGE_WIDTH,
        height=max(SEED_HEIGHT, lines * LINE),
        margins=Margins(
            LEFT,
            2 * PADDING + (room + 2 * GAP if models else 0.0),
            head=HEADER_HEIGHT + legend.height,
        ),
        wording=Wording(
            f"{SEED_HEADING if seeds > 1 else HEADING}: {name}",
            X_LABEL,
            (f"{BOX_NOTE} {LINES_NOTE}" if models else BOX_NOTE,),
        ),
    )
    draw_legend(sheet, legend, list(keys.values()))
    return sheet, labels


def _head_best(key: str, models: Sequence[str]) -> str:
    return f"best {len(models)} by {TOPS[key][0]}"


def _list_best(sheet: Sheet, best: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> None:
    """List the best models at the right of the axes, the very best first."""
    y = sheet.height - LINE / 2
    for key, models in best.items() if labels else ():
        x = sheet.width + 2 * GAP
        sheet.write(_head_best(key, models), x=x, y=y, color=TOPS[key][1], va="center_baseline")
        for model in models:
            y -= LINE
            sheet.write(labels[model], x=x, y=y, va="center_baseline")
        y -= 1.5 * LINE
