"""Figures of ranks, profiles and ratings: faithful to their tables."""

import pandas as pd
import pytest

from capmap.figures.canvas import NothingToDraw
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


def test_ratings_that_hang_on_the_ridge_of_the_fit_are_not_drawn():
    elo = make_study(["a", "b"])["elo"].assign(separated=0.026)
    with pytest.raises(NothingToDraw, match=r"2\.6% of the resamples"):
        make_figure("elo", elo, confidence_level=0.95)


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
    tables["nemenyi"] = tables["nemenyi"].assign(critical_difference=9.5)
    assert "longer than the axis" in " ".join(drawn_words(draw_critical(tables)))


def test_critical_differences_are_drawn_at_the_ranks_of_the_common_datasets():
    # Over the common datasets a, b and c have mean ranks 1.5, 1.75 and 2.75.
    rows = [("a", "b", -0.25), ("a", "c", -1.25), ("b", "c", -1.0)]
    nemenyi = pd.DataFrame(rows, columns=["model_a", "model_b", "rank_difference"])
    ranks = pd.DataFrame({"model": list("bca"), "mean_rank": [1.2, 1.4, 2.9], "nemenyi_group": "a"})
    figure = make_figure(
        "critical_difference",
        ranks.assign(datasets=9),
        nemenyi.assign(critical_difference=1.6, datasets=4),
        pd.DataFrame({"test": ["friedman"], "p_dependent": [0.01]}),
        alpha=0.05,
    )
    assert bar_spans(figure) == [(1.5, 2.75)]
    assert {"1.50", "1.75", "2.75"} <= set(drawn_words(figure))
