"""Models and datasets with few results: errors of their predictions, and which result to get next.

The errors are those of models that have few results, and of models left with few; the curves of
policies show what choosing the next result well would have saved.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from capmap.figures.canvas import Sheet, Wording, draw_note
from capmap.figures.names import widest
from capmap.figures.panels import (
    ERROR,
    draw_estimates,
    dress_errors,
    find_top,
    make_curve_key,
    make_method_key,
    make_panels,
    note_cut,
    order_methods,
    read_points,
    spread_evenly,
    style_method,
)
from capmap.figures.side_columns import format_interval
from capmap.figures.style import FAINT_INK, PALETTE, TEXT_SIZE, ModelStyle, figure_style
from capmap.wording import count_things, join_words

BINS_HEADING = "Error by the number of results of a model"
BINS_LABEL = "results of the model that were known; below: models"
NO_RESULTS = "No result was hidden and predicted."
REPLAY_HEADING = "Predictions for models with few results"
REPLAY_LABEL = "results left to the model; below: models"
NO_REPLAY = "No model has enough results to hide some of them."
COVERAGE_TITLE = "hidden results within their interval"
SHOWN = ("ensemble", "l2", "additive")
INTERVALS = "Bars: intervals, wide where models are few."
ERROR_COLUMNS = ["mse", "mse_low", "mse_high"]
STEP = 0.11
WIDE_GAP = 0.5

DATASETS_HEADING = "Choosing the next dataset for a model"
NO_DATASETS = "No model has enough results to replay the choice of datasets."
MODELS_HEADING = "Choosing the next model for a dataset"
NO_MODELS = "No dataset has enough results to replay the choice of models."
POLICIES = {
    "a_optimal": ("advised (A-optimal)", ModelStyle(PALETTE[0], "o", "-")),
    "lower_bound": ("lowest plausible gap", ModelStyle(PALETTE[0], "o", "-")),
    "best_on_average": ("best on average", ModelStyle(PALETTE[1], "s", "-")),
    "most_results": ("most results", ModelStyle(PALETTE[2], "D", "-")),
    "random": ("random", ModelStyle(FAINT_INK, "X", (0, (4.0, 1.5)))),
}
BANDED = ("a_optimal", "lower_bound", "random")


@figure_style()
def draw_error_by_results(by_results: pd.DataFrame, *, method: str) -> Figure:
    """Draw the error over the number of results that a model has.

    Parameters
    ----------
    by_results : DataFrame
        distance (a method or baseline), results_from, results_to (NA where open), models, mse,
        mse_low, mse_high (may be empty). Rows in any order.
    method : str
        The study's own, which is drawn beside ensemble, l2 and additive.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in).

    Notes
    -----
    Methods stand beside each other, and the number of models below each number of results. An
    interval beyond 1.6 times the largest error is cut at the top, which a note says.
    """
    known = by_results.dropna(subset="mse")
    bins = _label_bins(known[known["distance"].isin({*SHOWN, method})])
    if bins.empty:
        return draw_note(NO_RESULTS, heading=BINS_HEADING)
    methods = order_methods(bins["method"])
    top = find_top(bins[["mse"]], bins["mse_high"])
    [panel] = make_panels(
        [""],
        wording=Wording(BINS_HEADING, BINS_LABEL, _write_notes(bins, top)),
        keys=[make_method_key(name) for name in methods],
        tick_lines=2,
    )
    _draw_groups(panel, bins, methods, ERROR_COLUMNS)
    dress_errors(panel.axes, top)
    panel.axes.set_ylabel(ERROR)
    return panel.figure


@figure_style()
def draw_placement_replay(placement_replay: pd.DataFrame, *, confidence_level: float) -> Figure:
    """Draw error and coverage over the number of results that were left to a model.

    Parameters
    ----------
    placement_replay : DataFrame
        method, results, results_to, models, mse, mse_low, mse_high (may be empty), coverage (share
        of hidden results within their prediction interval, 0 to 1; empty for methods without
        intervals). Rows in any order.
    confidence_level : float
        Nominal coverage, 0 to 1: a line.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in), or a column (3.4 in) where no method has prediction intervals.
    """
    known = _label_replay(placement_replay)
    if known.empty:
        return draw_note(NO_REPLAY, heading=REPLAY_HEADING)
    methods = order_methods(known["method"])
    covered = known.dropna(subset="coverage")
    top = find_top(known[["mse"]], known["mse_high"])
    notes = _write_notes(known, top)
    if not covered.empty:
        notes = (*notes, f"Dashed line: nominal coverage, {confidence_level:.4g}.")
    panels = make_panels(
        ["error"] if covered.empty else ["error", COVERAGE_TITLE],
        wording=Wording(REPLAY_HEADING, REPLAY_LABEL, notes),
        keys=[make_method_key(method) for method in methods],
        gap=WIDE_GAP,
        tick_lines=2,
    )
    _draw_groups(panels[0], known, methods, ERROR_COLUMNS)
    dress_errors(panels[0].axes, top)
    panels[0].axes.set_ylabel(ERROR)
    if not covered.empty:
        columns = ["coverage", "none", "none"]
        _draw_groups(panels[1], covered.assign(none=np.nan), methods, columns)
        _dress_coverage(panels[1], covered["coverage"].min(), confidence_level)
    return panels[0].figure


def _write_notes(errors: pd.DataFrame, top: float) -> tuple[str, ...]:
    bars = (INTERVALS,) if errors["mse_high"].notna().any() else ()
    return bars + note_cut(errors["mse_high"], top)


def _label_bins(bins: pd.DataFrame) -> pd.DataFrame:
    """Give each group of numbers of results its place, from the left, and its label."""
    starts = sorted(set(bins["results_from"]))
    labels = [
        f"{start:.0f}+" if pd.isna(end) else format_interval(start, end)
        for start, end in zip(bins["results_from"], bins["results_to"], strict=True)
    ]
    places = [starts.index(start) for start in bins["results_from"]]
    return bins.assign(place=places, label=labels, method=bins["distance"])


def _label_replay(replay: pd.DataFrame) -> pd.DataFrame:
    is_single = replay["results"] == replay["results_to"]
    known = replay[is_single].dropna(subset="mse")
    labels = [f"{count:.0f}" for count in known["results"]]
    return known.assign(place=known["results"], label=labels)


def _draw_groups(
    panel: Sheet, table: pd.DataFrame, methods: Sequence[str], columns: Sequence[str]
) -> None:
    """Draw curves over places, the methods beside each other, with the models of each place."""
    present = [method for method in methods if (table["method"] == method).any()]
    for position, method in enumerate(present):
        rows = table[table["method"] == method]
        points = read_points(rows, ["place", *columns])
        points[:, 0] += spread_evenly(position, len(present), step=STEP)
        draw_estimates(panel.axes, points, style_method(method))
    groups = table.groupby("place").agg({"label": "first", "models": "max"})
    places = groups.index.to_numpy(float)
    panel.axes.set_xlim(places.min() - 0.5, places.max() + 0.5)
    texts = [
        f"{label}\n{models:.0f}"
        for label, models in zip(groups["label"], groups["models"], strict=True)
    ]
    words = [word for text in texts for word in text.split("\n")]
    unit = panel.width / (places.max() - places.min() + 1)
    every = int(np.ceil((widest(words, size=TEXT_SIZE) + 0.06) / unit))
    kept = [row for row in range(len(places)) if (places[row] - places[0]) % every == 0]
    panel.axes.set_xticks(places[kept], [texts[row] for row in kept], linespacing=1.15)


def _dress_coverage(panel: Sheet, lowest: float, confidence_level: float) -> None:
    """Let the y axis end at 100% and start where all shares and the nominal one have room."""
    start = min(lowest, confidence_level) - 0.05
    bottom = max(0.0, np.floor(10 * min(start, 0.7)) / 10)
    panel.axes.axhline(
        confidence_level, color=FAINT_INK, linestyle=(0, (4, 2)), linewidth=0.8, zorder=1
    )
    panel.axes.set_ylim(bottom - 0.01, 1.01)
    panel.axes.set_yticks(np.linspace(bottom, 1, 1 + round(10 * (1 - bottom))))
    panel.axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    panel.axes.grid(axis="y")


@dataclass(frozen=True)
class _Axes:
    """Names of the columns: place, estimate, its ends, and what was averaged; and the labels."""

    x: str
    y: str
    things: str
    x_label: str
    y_label: str

    @property
    def columns(self) -> list[str]:
        """Place, estimate and the ends of its interval."""
        return [self.x, self.y, f"{self.y}_low", f"{self.y}_high"]


@figure_style()
def draw_dataset_replay(replay_datasets: pd.DataFrame) -> Figure:
    """Draw how fast a model's predictions get better, by how its datasets are chosen.

    Parameters
    ----------
    replay_datasets : DataFrame
        policy, results (known so far), error (mean squared error), error_low, error_high (may be
        empty), models (averaged over). Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in): a curve per policy, with bands for the intervals of the advised
        choice and of random choice, which is dashed.
    """
    axes = _Axes("results", "error", "model", "results of the model", ERROR)
    return _draw_replay(replay_datasets, axes, DATASETS_HEADING, NO_DATASETS)


@figure_style()
def draw_model_replay(replay_models: pd.DataFrame) -> Figure:
    """Draw how far the best model tried so far is from the best, by how models are chosen.

    Parameters
    ----------
    replay_models : DataFrame
        policy, tried (number of models), regret (smallest gap of those tried, 0 to 1), regret_low,
        regret_high (may be empty), datasets (averaged over). Rows in any order.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in): a curve per policy, with bands for the intervals of the lowest
        plausible gap and of random choice, which is dashed.
    """
    regret = "regret (\N{GREEK CAPITAL LETTER DELTA} of the best model tried)"
    axes = _Axes("tried", "regret", "dataset", "models tried", regret)
    return _draw_replay(replay_models, axes, MODELS_HEADING, NO_MODELS)


def _draw_replay(replay: pd.DataFrame, axes: _Axes, heading: str, nothing: str) -> Figure:
    known = replay.dropna(subset=axes.y)
    if known.empty:
        return draw_note(nothing, heading=heading)
    policies = sorted(set(known["policy"]), key=list(POLICIES).index)
    high = known[f"{axes.y}_high"].where(known["policy"].isin(BANDED))
    top = find_top(known[[axes.y]], high)
    notes = [f"Averages over {_count_range(known[f'{axes.things}s'], axes.things)}."]
    if high.notna().any():
        banded = [POLICIES[policy][0] for policy in policies if policy in BANDED]
        notes.append(f"Bands: intervals of {join_words(banded)}.")
    notes += note_cut(high, top, interval="band")
    [panel] = make_panels(
        [""],
        wording=Wording(heading, axes.x_label, tuple(notes)),
        keys=[make_curve_key(*POLICIES[policy]) for policy in policies],
    )
    for policy in policies:
        points = read_points(known[known["policy"] == policy], axes.columns)
        if policy not in BANDED:
            points[:, 2:] = np.nan
        draw_estimates(panel.axes, points, POLICIES[policy][1], band=True)
    dress_errors(panel.axes, top)
    _dress_counts(panel, known[axes.x])
    panel.axes.set_ylabel(axes.y_label)
    return panel.figure


def _count_range(counts: "pd.Series[int]", thing: str) -> str:
    """Say over how many things, where their number may differ from place to place."""
    low, high = int(counts.min()), int(counts.max())
    number = count_things(high, thing)
    return number if low == high else f"{low} to {number}"


def _dress_counts(panel: Sheet, counts: "pd.Series[int]") -> None:
    low, high = float(counts.min()), float(counts.max())
    edge = max(0.03 * (high - low), 0.3)
    panel.axes.set_xlim(low - edge, high + edge)
    count = max(1, int(panel.width / 0.3))
    panel.axes.xaxis.set_major_locator(MaxNLocator(count, integer=True, steps=[1, 2, 5, 10]))
