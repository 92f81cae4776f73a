"""Figures of leaderboards and of checkpoints: faithful to their tables."""

import numpy as np
import pandas as pd

from capmap.analyses.releases import track_ranks
from capmap.figures.leaderboard import label_entries
from tests.figure_checks import assert_legible, assert_same_bytes, cell_texts
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
    tables = {
        name: make_leaderboard(make_entry_runs(entries), {})[0]
        for name, entries in releases.items()
    }
    return track_ranks(tables)


def make_rows(ranks):
    """Make a history of made-up ranks, given by model and then by release."""
    rows = [
        {"release": release, "method": "", "model": model, "name": model, "rank": rank}
        for model, own in ranks.items()
        for release, rank in own.items()
    ]
    table = pd.DataFrame(rows).assign(iqm=0.5).astype({"rank": "Int64"})
    return table.sort_values("release", kind="stable", ignore_index=True)


def test_twenty_entries_in_ten_dimensions_show_scores_ranks_and_intervals():
    table = make_dimensions(name_many("Model", 20), ["All", *name_many("Dimension", 9)])
    figure = make_figure("leaderboard_dimensions", table)
    assert_legible(figure)
    texts = cell_texts(figure)
    assert len(texts) == 200
    first = table.iloc[0]
    ends = [f"{first[end]:.3f}".lstrip("0") for end in ("ci_low", "ci_high")]
    score = f"{first['iqm']:.3f}".lstrip("0")
    assert texts[0, 0] == f"{score} (1)\n{ends[0]}\N{EN DASH}{ends[1]}"


def test_partial_entries_have_a_bar_and_no_rank_and_missing_ones_are_hatched():
    runs = make_entry_runs(PAIR, missing=[("a", "w"), ("b", "y"), ("b", "z")])
    table = make_leaderboard(runs)[1]
    figure = make_figure("leaderboard_dimensions", table)
    words = assert_legible(figure)
    assert {"Bar: too few datasets to be ranked.", "Hatched: no runs."} <= set(words)
    assert not any("(1)" in text for (_, column), text in cell_texts(figure).items() if not column)


def test_methods_follow_each_other_and_share_the_rows():
    table = make_dimensions(name_many("m", 100), ["All", "Core"], methods=("frozen", "full_ft"))
    words = assert_legible(make_figure("leaderboard_dimensions", table))
    assert "The first 40 of 100 entries." in words
    assert {"m number 00", "m number 39"} <= set(words)
    assert "m number 40" not in words


def test_hostile_names_are_drawn_as_they_stand():
    entries = [(name, name, name) for name in HOSTILE]
    table = make_leaderboard(make_entry_runs(entries), {name: ["w"] for name in HOSTILE[:3]})[1]
    assert_legible(make_figure("leaderboard_dimensions", table))
    history = make_history(dict.fromkeys(HOSTILE[1:3], entries))
    assert_legible(make_figure("rank_history", history))


def test_the_order_of_rows_within_a_dimension_does_not_matter(tmp_path):
    table = make_leaderboard(make_entry_runs([*PAIR, ("c", "full_ft", "s2")]))[1]
    parts = [own.iloc[::-1] for _, own in table.groupby("dimension", sort=False)]
    assert_same_bytes(
        lambda rows: {"dimensions": make_figure("leaderboard_dimensions", rows)},
        table,
        pd.concat(parts),
        tmp_path,
    )


def test_entries_are_named_by_as_little_as_tells_them_apart():
    rows = [
        ("frozen", "1", "A", "s1"),
        ("frozen", "2", "A", "s2"),
        ("full", "3", "A", "s1"),
        ("full", "4", "B", "s1"),
        ("full", "5", "C", "s1"),
        ("full", "6", "C", "s1"),
    ]
    table = pd.DataFrame(rows, columns=["method", "model", "name", "submission"])
    labels = label_entries(pd.concat([table, table]))
    assert list(labels.values()) == [
        "A · frozen · s1",
        "A · frozen · s2",
        "A · full",
        "B",
        "5",
        "6",
    ]


def test_a_history_has_a_number_per_rank_and_names_at_both_ends():
    releases = {"2025-01": PAIR[:1], "2025-02": [PAIR[1], PAIR[0]], "current": PAIR}
    figure = make_figure("rank_history", make_history(releases))
    words = assert_legible(figure)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["1", "1", "1", "2", "2"]
    assert (words.count("a"), words.count("b")) == (2, 1)
    first, second = (list(line.get_ydata()) for line in figure.axes[0].lines)
    assert first == [0, 1, 0] or second == [0, 1, 0]


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_checkpoints(["A", "B"], 1, 5)
    axes = plan_checkpoints(tables)["curves"]().axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))
