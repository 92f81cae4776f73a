"""What choosing the next result well would have saved: curves of policies, replayed."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from capmap.figures.canvas import Sheet, Wording
from capmap.figures.dimensions import (
    ERROR,
    draw_estimates,
    dress_errors,
    find_top,
    make_curve_key,
    make_panels,
    read_points,
)
from capmap.figures.note import draw_note
from capmap.figures.style import FAINT_INK, MARKERS, PALETTE, ModelStyle, figure_style
from capmap.wording import count_things

DATASETS_HEADING = "Choosing the next dataset for a model"
NO_DATASETS = "No model has enough results to replay the choice of datasets."
MODELS_HEADING = "Choosing the next model for a dataset"
NO_MODELS = "No dataset has enough results to replay the choice of models."
BAND_NOTE = "Bands: intervals."
CUT_NOTE = "A band that reaches the top goes on."
CHANCE = "random"


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
        A column wide (3.4 in): a curve per policy, random choice dashed.
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
        A column wide (3.4 in): a curve per policy, random choice dashed.
    """
    regret = "regret (\N{GREEK CAPITAL LETTER DELTA} of the best model tried)"
    axes = _Axes("tried", "regret", "dataset", "models tried", regret)
    return _draw_replay(replay_models, axes, MODELS_HEADING, NO_MODELS)


def _draw_replay(replay: pd.DataFrame, axes: _Axes, heading: str, nothing: str) -> Figure:
    known = replay.dropna(subset=axes.y)
    if known.empty:
        return draw_note(nothing, heading=heading)
    styles = _style_policies(known["policy"])
    high = known[f"{axes.y}_high"]
    top = find_top(known[[axes.y]], high)
    notes = [f"Averages over {_count_range(known[f'{axes.things}s'], axes.things)}."]
    if high.notna().any():
        notes.append(BAND_NOTE)
    if (high > top).any():
        notes.append(CUT_NOTE)
    sheet, (panel,) = make_panels(
        [""],
        wording=Wording(heading, axes.x_label, (" ".join(notes),)),
        keys=[make_curve_key(look, label=_name(policy)) for policy, look in styles.items()],
    )
    for policy, look in styles.items():
        rows = known[known["policy"] == policy]
        draw_estimates(panel.axes, read_points(rows, axes.columns), look, band=True)
    dress_errors(panel.axes, top)
    _dress_counts(panel, known[axes.x])
    panel.axes.set_ylabel(axes.y_label)
    return sheet.figure


def _style_policies(policies: Iterable[str]) -> dict[str, ModelStyle]:
    """Give each policy a look, by name; random choice is gray, dashed and last."""
    names = sorted(set(policies), key=lambda name: (name == CHANCE, name))
    styles = {
        name: ModelStyle(PALETTE[place % len(PALETTE)], MARKERS[place % len(MARKERS)], "-")
        for place, name in enumerate(names)
    }
    if CHANCE in styles:
        styles[CHANCE] = ModelStyle(FAINT_INK, "X", (0, (4.0, 1.5)))
    return styles


def _name(policy: str) -> str:
    return policy.replace("_", " ")


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
