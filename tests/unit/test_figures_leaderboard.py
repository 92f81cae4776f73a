"""Figures of leaderboards and of checkpoints: faithful to their tables."""

import numpy as np
import pandas as pd

from tests.figure_checks import assert_legible, cell_texts
from tests.figure_plans import make_checkpoints, plan_checkpoints
from tests.leaderboard_tables import HOSTILE, make_entry_runs, make_leaderboard
from tests.steps import make_figure

PAIR = [("a", "frozen", "s1"), ("b", "frozen", "s1")]


def make_dimensions(entries, dimensions, *, methods=("full_ft",), has_interval=True):
    """Make up the table of dimensions of many entries."""
    rng = np.random.default_rng(3)
    rows = [
        {
            "method": methods[place % len(methods)],
            "dimension": dimension,
            "rank": place // len(methods) + 1,
            "model": f"{name} / {place}",
            "name": name,
            "submission": "s1",
            "iqm": iqm,
            "ci_low": iqm - 0.02 if has_interval else np.nan,
            "ci_high": iqm + 0.02 if has_interval else np.nan,
            "complete": True,
        }
        for dimension in dimensions
        for place, name in enumerate(entries)
        for iqm in [rng.uniform(0, 1)]
    ]
    return pd.DataFrame(rows).astype({"rank": "Int64"})


def name_many(kind, count):
    return [f"{kind} number {place:02}" for place in range(count)]


def make_history(releases):
    """Make a history of releases, given as entries by the name of the release."""
    return pd.concat(
        [
            make_leaderboard(make_entry_runs(entries), {})[0].assign(release=name)
            for name, entries in releases.items()
        ],
        ignore_index=True,
    )


def test_twenty_entries_in_ten_dimensions_show_scores_and_ranks():
    table = make_dimensions(name_many("Model", 20), ["All", *name_many("Dimension", 9)])
    figure = make_figure("leaderboard_dimensions", table)
    assert_legible(figure)
    texts = cell_texts(figure)
    assert len(texts) == 200
    score = f"{table['iqm'].iloc[0]:.3f}".lstrip("0")
    assert texts[0, 0] == f"{score} (1)"


def test_hostile_names_are_drawn_as_they_stand():
    entries = [(name, name, name) for name in HOSTILE]
    table = make_leaderboard(make_entry_runs(entries), {name: ["w"] for name in HOSTILE[:3]})[1]
    assert_legible(make_figure("leaderboard_dimensions", table))
    history = make_history(dict.fromkeys(HOSTILE[1:3], entries))
    assert_legible(make_figure("rank_history", history))


def test_a_history_has_a_number_per_rank_and_a_name_at_the_end():
    releases = {"2025-01": PAIR[:1], "2025-02": [PAIR[1], PAIR[0]], "current": PAIR}
    figure = make_figure("rank_history", make_history(releases))
    words = assert_legible(figure)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["1", "1", "1", "2", "2"]
    assert (words.count("a"), words.count("b")) == (1, 1)
    first, second = (list(line.get_ydata()) for line in figure.axes[0].lines)
    assert first == [0, 1, 0] or second == [0, 1, 0]


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_checkpoints(["A", "B"], 1, 5)
    axes = plan_checkpoints(tables)["curves"]().axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))
