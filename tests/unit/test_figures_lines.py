"""Figures of ranks, profiles, ratings, conditions and sample sizes: faithful to their tables."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import CARETLEFT, CARETRIGHT

from capmap.errors import ValidationError
from capmap.figures.conditions import draw_conditions
from capmap.figures.curves import cast_models
from capmap.figures.pairwise import draw_elo, draw_winrate
from capmap.figures.profiles import (
    draw_profiles,
    draw_score_profiles,
    trace_steps,
)
from capmap.figures.rank_tests import (
    draw_critical_difference,
    find_groups,
    stack_bars,
)
from capmap.figures.style import model_colors
from capmap.prose import describe_ratings
from capmap.wording import MOST_LETTERED
from tests.curve_figure_tables import make_study, name
from tests.figure_checks import assert_legible, draw_shown, drawn_texts, drawn_words
from tests.figure_plans import plan_curves


def test_the_ten_best_models_have_colors_and_the_others_are_gray():
    cast = cast_models(name("m", 12), order=name("m", 12)[::-1])
    assert cast.colored == name("m", 12)[:1:-1]
    assert cast.others == ["m-01", "m-00"]
    assert cast.notes == ("In color: the best 10. Gray: the other 2 models.",)
    assert not cast_models(name("m", 10), order=[]).notes


def test_figures_agree_on_colors_even_where_a_table_lacks_models():
    tables = make_study(name("m", 4))
    for key in ("elo", "condition_ranks", "profiles", "seed_widths"):
        tables[key] = tables[key][tables[key]["model"] != "m-00"]
    tables["profile_area"] = tables["profile_area"].drop(0)
    figures = draw_shown(plan_curves(tables))
    expected = set(list(model_colors(name("m", 4)).values())[1:])
    for key in ("elo", "profiles", "seed_widths"):
        lines = figures[key].axes[0].lines
        assert {to_hex(line.get_color()).upper() for line in lines} == expected, key
    slopes = figures["conditions"].axes[1].collections[0]
    assert {to_hex(color).upper() for color in slopes.get_color()} == expected


def test_a_profile_is_a_step_function_up_to_the_largest_ratio():
    # A model best on half of its datasets, and 2 times away from the best on the other half.
    assert trace_steps([1, 2], [0.5, 1], end=4).tolist() == [[1, 0.5], [2, 0.5], [2, 1], [4, 1]]
    rows = [("raw", "a", 1.0, 0.5), ("raw", "a", 2.0, 1.0), ("raw", "b", 1.0, 0.5)]
    rows += [("raw", "b", 4.0, 1.0)]
    profiles = pd.DataFrame(rows, columns=["kind", "model", "tau", "fraction"])
    area = pd.DataFrame({"model": ["a", "b"], "share_raw": [0.75, 0.5], "share_normalized": np.nan})
    figure = draw_profiles(profiles, area)
    best, other = figure.axes[0].lines
    assert best.get_xydata().tolist() == [[1, 0.5], [2, 0.5], [2, 1], [4, 1]]
    assert other.get_xydata()[-1].tolist() == [4, 1]
    words = drawn_words(figure)
    assert {"75%", "\N{EN DASH}", "No ratios: no best score > 0."} <= set(words)


@pytest.mark.parametrize("end", [1.0000001, 1.02, 1.7, 9.9, 1e3, 1e9, 1e300])
def test_ratios_of_any_size_have_an_axis(end):
    rows = [("raw", "a", 1.0, 0.5), ("raw", "a", end, 1.0), ("normalized", "a", 1.0, 1.0)]
    profiles = pd.DataFrame(rows, columns=["kind", "model", "tau", "fraction"])
    area = pd.DataFrame({"model": ["a"], "share_raw": [0.5], "share_normalized": [1.0]})
    figure = draw_profiles(profiles, area)
    assert_legible(figure)
    assert len(figure.axes[0].get_xticks()) >= 2


def test_bands_are_drawn_where_they_are_known():
    profiles = make_study(["a", "b"])["profiles"]
    profiles.loc[profiles["model"] == "a", ["ci_low", "ci_high"]] = np.nan
    figure = draw_score_profiles(profiles)
    bands = [band for band in figure.axes[0].collections if len(band.get_facecolor())]
    assert len(bands) == 1
    profiles[["ci_low", "ci_high"]] = np.nan
    assert not any(
        words.startswith("Bands") for words in drawn_words(draw_score_profiles(profiles))
    )


def test_endless_elo_intervals_leave_room_for_the_ratings():
    elo = make_study(["a", "b"])["elo"].assign(elo=[1100.0, 900.0])
    elo[["ci_low", "ci_high"]] = [[1000.0, 4500.0], [-2500.0, 1000.0]]
    figure = draw_elo(elo, confidence_level=0.95)
    low, high = figure.axes[0].get_xlim()
    assert 400 < low < 500
    assert 1500 < high < 1600
    assert "Arrow: the interval goes on." in drawn_words(figure)
    arrows = [line for line in figure.axes[0].lines if line.get_marker() in (CARETLEFT, CARETRIGHT)]
    assert [(*line.get_xdata(), *line.get_ydata()) for line in arrows] == [(500, 1), (1500, 0)]
    kept = draw_elo(elo.assign(ci_low=880.0, ci_high=1120.0), confidence_level=0.95)
    assert "Arrow: the interval goes on." not in drawn_words(kept)


def test_elo_ratings_that_no_battle_connects_are_told_to_mean_nothing():
    elo = make_study(["a", "b", "c"])["elo"]
    note = "Groups that never met: ratings between them mean nothing."
    assert note not in drawn_words(draw_elo(elo, confidence_level=0.95))
    words = drawn_words(draw_elo(elo.assign(component=[1, 2, 1]), confidence_level=0.95))
    assert note in words
    assert "group" in words


@pytest.mark.parametrize("confidence_level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("separated", [0.0, 0.01, 0.02, 0.06])
def test_figure_and_paragraph_warn_of_the_ridge_together(separated, confidence_level):
    # Half of what lies beyond an end: 5%, 1.25% and 0.25%.
    elo = make_study(["a", "b"])["elo"].assign(separated=separated)
    figure = draw_elo(elo, confidence_level=confidence_level)
    is_named = separated > {0.8: 0.05, 0.95: 0.0125, 0.99: 0.0025}[confidence_level]
    assert any("ridge of the fit" in words for words in drawn_words(figure)) == is_named
    assert_legible(figure)
    told = describe_ratings(
        elo,
        make_study(["a", "b"])["winrate"],
        n_resamples=100,
        confidence_level=confidence_level,
    )
    assert ("ends of intervals there depend on the ridge" in " ".join(told)) == is_named


def test_win_rates_stand_in_the_row_of_the_winner_sorted_by_their_average():
    # b wins 3 of 4 against a and always against c; a wins 60% against c; a and d never meet.
    rates = {("a", "b"): 0.25, ("b", "a"): 0.75, ("b", "c"): 1.0, ("c", "b"): 0.0}
    rates |= {("a", "c"): 0.6, ("c", "a"): 0.4, ("a", "d"): np.nan, ("d", "a"): np.nan}
    rows = [(*pair, rate) for pair, rate in rates.items()]
    figure = draw_winrate(pd.DataFrame(rows, columns=["model", "opponent", "win_rate"]))
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "a", "c", "d"]
    cells = {text.get_position(): text.get_text() for text in axes.texts if text.get_text()}
    assert cells[1.5, 0.5] == "75"
    assert cells[0.5, 1.5] == "25"
    assert len(cells) == 6
    assert "Hatched: no dataset in common." in drawn_words(figure)


def test_a_line_leads_from_the_rank_here_to_the_rank_there_and_ties_stand_below_each_other():
    ranks = pd.DataFrame({"model": list("abc"), "rank": [1, 2, 3], "rank_other": [3, 1, 1]})
    row = ("dark", "kendall_tau", -1 / 3, np.nan, np.nan, 3, 1)
    names = ["condition", "statistic", "estimate", "ci_low", "ci_high", "models", "datasets"]
    figure = draw_conditions(pd.DataFrame([row], columns=names), ranks.assign(condition="dark"))
    lines = figure.axes[1].collections[0].get_segments()
    assert [tuple(line[:, 1]) for line in lines] == [(0, 2), (1, 0), (2, 1)]
    words = drawn_words(figure)
    assert {"Other condition: dark", "Kendall's tau \N{MINUS SIGN}0.33"} <= set(words)
    assert "3 models, 1 dataset in common" in words


def test_conditions_beyond_four_are_noted_and_one_without_common_models_says_so():
    tables = make_study(name("m", 3), conditions=list("abcdef"))
    tables["condition_ranks"] = tables["condition_ranks"][
        tables["condition_ranks"]["condition"] != "b"
    ]
    is_empty = tables["conditions"]["condition"] == "b"
    tables["conditions"].loc[is_empty, ["estimate", "models"]] = np.nan, 0
    figure = plan_curves(tables)["conditions"]()
    words = drawn_words(figure)
    assert "First 4 of 6 conditions by name." in words
    assert "Kendall's tau: too little in common" in words
    assert "No model in common." in words
    assert_legible(figure)
    tables["conditions"].loc[is_empty, "models"] = 3
    assert "No dataset that all of them have in both." in drawn_words(
        plan_curves(tables)["conditions"]()
    )


def test_the_present_width_stands_over_the_present_number_of_runs():
    tables = make_study(["a", "b"])
    tables["iqm"]["runs"] = [19 * 3, 19 * 4]
    tables["seed_widths"].loc[tables["seed_widths"]["model"] == "b", "width_now"] = np.nan
    lines = plan_curves(tables)["seed_widths"]().axes[0].lines
    (marker,) = [line for line in lines if line.get_marker() != "None"]
    assert marker.get_xydata().tolist() == [[3.0, tables["seed_widths"]["width_now"][0]]]


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
