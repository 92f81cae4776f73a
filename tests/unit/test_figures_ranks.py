"""Diagrams of mean ranks: bars, brackets and names where they belong."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.figures.rank_tests import (
    draw_critical_difference,
    find_groups,
    stack_bars,
)
from capmap.wording import MOST_LETTERED
from tests.curve_figure_tables import make_study, name
from tests.figure_checks import assert_legible, drawn_texts, drawn_words


def draw_critical(tables, *, highlight=()):
    names = ("mean_ranks", "nemenyi", "friedman")
    return draw_critical_difference(*map(tables.get, names), highlight=highlight, alpha=0.05)


def draw_diagram(letters, *, highlight=()):
    """Draw models m-00, m-01, … of mean ranks 1, 2, … with the letters of Nemenyi's groups."""
    models = name("m", len(letters))
    ranks = np.arange(1.0, len(letters) + 1)
    pairs = [
        (*pair, float(a - b))
        for pair, (a, b) in zip(combinations(models, 2), combinations(ranks, 2), strict=True)
    ]
    nemenyi = pd.DataFrame(pairs, columns=["model_a", "model_b", "rank_difference"])
    return draw_critical_difference(
        pd.DataFrame({"model": models, "mean_rank": ranks, "nemenyi_group": letters}),
        nemenyi.assign(critical_difference=1.0, datasets=8),
        pd.DataFrame({"test": ["friedman"], "p": [0.01]}),
        highlight=highlight,
        alpha=0.1,
    )


def bar_spans(figure):
    """Ends of the group bars, which are the thick lines."""
    bars = [lines for lines in figure.axes[0].collections if lines.get_linewidth() == [2.2]]
    return sorted((line[0][0], line[1][0]) for lines in bars for line in lines.get_segments())


def test_a_bar_spans_the_members_of_a_group_from_the_best_to_the_worst():
    figure = draw_diagram(["ab", "a", "b", "c2"])
    assert bar_spans(figure) == [(1.0, 2.0), (1.0, 3.0)]


def test_groups_within_others_and_of_one_model_have_no_bar():
    assert find_groups(["ab", "abc", "a", "z9", "z9"]) == [[0, 1, 2], [3, 4]]
    assert find_groups([np.nan, "", "a"]) == []


def draw_many(groups, *, count=60, highlight=()):
    """Draw models with the letters of groups, which are given as ranges of places."""
    letters = [
        "".join(f"a{i}" for i, group in enumerate(groups) if m in group) for m in range(count)
    ]
    return draw_diagram(letters, highlight=highlight)


def test_a_bar_that_goes_on_among_models_that_are_not_drawn_ends_in_an_arrow():
    figure = draw_many([range(3), range(30, 40), range(38, 50), range(39, 60)])
    # The last group joins only one of the forty models that are drawn.
    assert bar_spans(figure) == [(1.0, 3.0), (31.0, 40.0), (39.0, 40.0)]
    (arrow,) = figure.axes[0].lines
    assert (arrow.get_marker(), list(arrow.get_xdata())) == (">", [40.0])
    assert "Arrow: the group goes on among models that are not drawn." in drawn_words(figure)
    assert_legible(figure)


def test_highlighted_models_are_drawn_in_place_of_the_last_ones():
    figure = draw_many([range(38, 60)], highlight=["m-59", "m-00", "m-38"])
    words = drawn_words(figure)
    assert "Top 39 of 60 models, and 1 in bold." in words
    assert {"m-00", "m-38", "m-59"} <= set(words)
    assert "m-39" not in words
    assert bar_spans(figure) == [(39.0, 60.0)]
    assert not figure.axes[0].lines
    assert_legible(figure)


def test_of_more_than_twelve_bars_the_longest_are_drawn():
    groups = [range(start, start + 2 + start) for start in range(14)]
    figure = draw_many(groups, count=30)
    assert len(bar_spans(figure)) == 12
    assert min(end - start for start, end in bar_spans(figure)) == 3
    note = "The 12 longest of 14 bars: models without one need not be separated."
    assert note in drawn_words(figure)
    assert_legible(figure)


def test_bars_of_a_level_never_touch():
    rng = np.random.default_rng(2)
    ranks = np.sort(rng.uniform(1, 30, 30)).tolist()
    groups = [sorted(rng.choice(30, 2, replace=False).tolist()) for _ in range(40)]
    bars = stack_bars(groups, ranks)
    for one, two in combinations(bars, 2):
        start = max(ranks[one.members[0]], ranks[two.members[0]])
        end = min(ranks[one.members[-1]], ranks[two.members[-1]])
        assert one.level != two.level or start > end


def test_lines_of_the_rank_diagram_stay_clear_of_names_and_each_other():
    models = [f"vision_backbone_of_any_size_{kind:02d}" for kind in range(20)]
    figure = draw_critical(make_study(models))
    texts = drawn_texts(figure)
    axes = figure.axes[0]
    box = axes.get_window_extent()
    names = [text for text in texts if "backbone" in text.words]
    assert len(names) == 20
    assert all(text.box.x1 < box.x0 or text.box.x0 > box.x1 for text in names)
    left, right = axes.get_xlim()
    elbows = [line for lines in axes.collections for line in lines.get_segments() if len(line) == 3]
    assert len(elbows) == 20
    # Two elbows cross when a level part meets another's upright part: it would be as low as the
    # level part, and between its ends.
    for one in elbows:
        for two in elbows:
            low, high = sorted((one[1][0], one[2][0]))
            assert not (low < two[0][0] < high and two[1][1] < one[1][1])
    assert {line[2][0] for line in elbows} == {left, right}


def test_the_best_rank_is_at_the_left_and_highlighted_models_are_bold():
    figure = draw_diagram(["", "", "", ""], highlight=["m-02"])
    places = {text.words: text.box.x0 for text in drawn_texts(figure)}
    assert places["m-00"] < places["m-03"]
    assert "\N{LEFTWARDS ARROW} better    mean rank" in places
    bold = {text.get_text() for text in figure.texts if text.get_weight() == "bold"}
    assert bold == {"m-02", "3.00"}


def test_highlighted_models_that_do_not_exist_are_refused():
    tables = make_study(["Model-a", "Model-b"])
    look = {"highlight": ["Model-a", "Model-bb"]}
    with pytest.raises(ValidationError, match=r"comparison\.highlight.*Did you mean 'Model-b'"):
        draw_critical(tables, **look)


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
    figure = draw_critical_difference(
        ranks.assign(datasets=9),
        nemenyi.assign(critical_difference=1.6, datasets=4),
        pd.DataFrame({"test": ["friedman"], "p": [0.01]}),
        alpha=0.05,
    )
    assert bar_spans(figure) == [(1.5, 2.75)]
    assert {"1.50", "1.75", "2.75"} <= set(drawn_words(figure))


def test_a_critical_difference_longer_than_the_axis_fits():
    tables = make_study(name("Model", 3), n_datasets=2)
    tables["nemenyi"]["critical_difference"] = 40.0
    assert_legible(draw_critical(tables))


def test_without_a_significant_friedman_test_the_diagram_says_so():
    tables = make_study(name("Model", 3))
    tables["friedman"]["p"] = 0.3
    words = " ".join(drawn_words(draw_critical(tables)))
    assert "Friedman test: p = 0.300: no evidence that mean ranks differ." in words


def test_without_letters_the_diagram_does_not_look_as_if_all_were_separated():
    figure = draw_diagram([""] * (MOST_LETTERED + 1))
    words = " ".join(drawn_words(figure))
    assert "no bars say which are not separated" in words
    assert "Bars join" not in words
    assert bar_spans(figure) == []
