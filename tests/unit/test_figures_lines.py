"""Figures of ranks, profiles, ratings, conditions and sample sizes: faithful to their tables."""

import pandas as pd
from matplotlib.markers import CARETLEFT, CARETRIGHT

from capmap.figures.lines import trace_steps
from tests.curve_figure_tables import make_study, name
from tests.figure_checks import drawn_words
from tests.steps import make_figure


def test_a_profile_is_a_step_function_up_to_the_largest_ratio():
    # A model best on half of its datasets, and 2 times away from the best on the other half.
    assert trace_steps([1, 2], [0.5, 1], end=4).tolist() == [[1, 0.5], [2, 0.5], [2, 1], [4, 1]]
    rows = [("a", 1.0, 0.5), ("a", 2.0, 1.0), ("b", 1.0, 0.5), ("b", 4.0, 1.0)]
    figure = make_figure("profiles", pd.DataFrame(rows, columns=["model", "tau", "fraction"]))
    best, other = figure.axes[0].lines
    assert best.get_xydata().tolist() == [[1, 0.5], [2, 0.5], [2, 1], [4, 1]]
    assert other.get_xydata()[-1].tolist() == [4, 1]


def test_endless_elo_intervals_leave_room_for_the_ratings():
    elo = make_study(["a", "b"])["elo"].assign(elo=[1100.0, 900.0])
    elo[["ci_low", "ci_high"]] = [[1000.0, 4500.0], [-2500.0, 1000.0]]
    figure = make_figure("elo", elo, confidence_level=0.95)
    low, high = figure.axes[0].get_xlim()
    assert 400 < low < 500
    assert 1500 < high < 1600
    assert "Arrow: the interval goes on." in drawn_words(figure)
    arrows = [line for line in figure.axes[0].lines if line.get_marker() in (CARETLEFT, CARETRIGHT)]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in arrows] == [(500, 1), (1500, 0)]
    kept = make_figure("elo", elo.assign(ci_low=880.0, ci_high=1120.0), confidence_level=0.95)
    assert "Arrow: the interval goes on." not in drawn_words(kept)


def draw_critical(tables):
    names = ("mean_ranks", "nemenyi", "friedman")
    return make_figure("critical_difference", *map(tables.get, names), alpha=0.05)


def bar_spans(figure):
    """Ends of the group bars, which are the thick lines."""
    bars = [lines for lines in figure.axes[0].collections if lines.get_linewidth() == [2.2]]
    return sorted((line[0][0], line[1][0]) for lines in bars for line in lines.get_segments())


def test_the_critical_difference_is_as_long_as_its_bracket():
    tables = make_study(name("Model", 4), n_datasets=7)
    # Demšar (2006), section 3.2.2: 4 classifiers, CD 1.25 at 0.05 on 14 datasets.
    tables["nemenyi"] = tables["nemenyi"].assign(critical_difference=1.25, datasets=14)
    figure = draw_critical(tables)
    words = drawn_words(figure)
    assert "CD = 1.25 (\N{GREEK SMALL LETTER ALPHA} = 0.05)" in words
    assert "Nemenyi: depends on which models are compared." in words
    assert "Mean ranks over the 14 datasets common to all models." in " ".join(words)
    segments = [line for lines in figure.axes[0].collections for line in lines.get_segments()]
    assert [1.0, 2.25] in [segment[:, 0].tolist() for segment in segments]


def test_critical_differences_are_drawn_at_the_ranks_of_the_common_datasets():
    # Over the common datasets a, b and c have mean ranks 1.5, 1.75 and 2.75.
    rows = [("a", "b", -0.25), ("a", "c", -1.25), ("b", "c", -1.0)]
    nemenyi = pd.DataFrame(rows, columns=["model_a", "model_b", "rank_difference"])
    ranks = pd.DataFrame({"model": list("bca"), "mean_rank": [1.2, 1.4, 2.9], "nemenyi_group": "a"})
    figure = make_figure(
        "critical_difference",
        ranks.assign(datasets=9),
        nemenyi.assign(critical_difference=1.6, datasets=4),
        pd.DataFrame({"test": ["friedman"], "p": [0.01]}),
        alpha=0.05,
    )
    assert bar_spans(figure) == [(1.5, 2.75)]
    assert {"1.50", "1.75", "2.75"} <= set(drawn_words(figure))


def test_a_line_leads_from_the_rank_here_to_the_rank_there_and_ties_stand_below_each_other():
    ranks = pd.DataFrame({"model": list("abc"), "rank": [1, 2, 3], "rank_other": [3, 1, 1]})
    row = ("dark", -1 / 3, 3, 1)
    names = ["condition", "kendall_tau", "models", "datasets"]
    figure = make_figure(
        "conditions", pd.DataFrame([row], columns=names), ranks.assign(condition="dark")
    )
    heights = [tuple(line.get_ydata()) for line in figure.axes[0].lines]
    assert heights == [(0, 2), (1, 0), (2, 1)]
    assert "tau \N{MINUS SIGN}0.33, 3 models, 1 dataset in common" in " ".join(drawn_words(figure))
