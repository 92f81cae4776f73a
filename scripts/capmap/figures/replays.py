"""What choosing the next result well would have saved: curves of policies, replayed."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from capmap.figures.canvas import Sheet, Wording
from capmap.figures.note import draw_note
from capmap.figures.panels import (
    ERROR,
    draw_estimates,
    dress_errors,
    find_top,
    make_curve_key,
    make_panels,
    note_cut,
    read_points,
)
from capmap.figures.style import FAINT_INK, PALETTE, ModelStyle, figure_style
from capmap.wording import count_things, join_words

DATASETS_HEADING = "Choosing the next dataset for a model"
NO_DATASETS = "No model has enough results to replay the choice of datasets."
MODELS_HEADING = "Choosing the next model for a dataset"
NO_MODELS = "No dataset has enough results to replay the choice of models."
POLICIES = {
    "a_optimal": ("advised (A-optimal)", ModelStyle(PALETTE[0], "o", "-")),
    "lower_bound": ("lowest plausible gap", ModelStyle(PALETTE[0], "o", "-")),
    "best_on_average": ("best on average", ModelStyle(PALETTE[1], "s", "-")),
    "largest_variance": ("most uncertain", ModelStyle(PALETTE[1], "s", "-")),
    "most_results": ("most results", ModelStyle(PALETTE[2], "D", "-")),
    "random": ("random", ModelStyle(FAINT_INK, "X", (0, (4.0, 1.5)))),
}
BANDED = ("a_optimal", "lower_bound", "random")


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
