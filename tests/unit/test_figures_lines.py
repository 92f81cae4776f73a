"""Figures of ranks, profiles, ratings, conditions and sample sizes: legible and faithful."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.markers import CARETLEFT, CARETRIGHT

from capmap.figures.conditions import draw_conditions
from capmap.figures.curves import cast_models
from capmap.figures.pairwise import draw_elo, draw_winrate
from capmap.figures.profiles import (
    draw_profiles,
    draw_score_profiles,
    trace_steps,
)
from capmap.figures.style import model_colors
from capmap.prose import describe_ratings
from tests.curve_figure_tables import make_study, name
from tests.figure_checks import assert_legible, draw_shown, drawn_words
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
