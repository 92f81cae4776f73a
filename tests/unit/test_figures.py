"""Figures of every ranking, and heat maps: nothing computed, and colors that agree."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from capmap.figures.style import GRID_COLOR, model_colors, save_figure
from capmap.ranking.table import choose
from tests.figure_checks import (
    assert_legible,
    draw_shown,
    drawn_words,
    make_tables,
)
from tests.figure_plans import name, plan_main
from tests.report_tables import make_ranking
from tests.steps import make_figure


def row_labels(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_vector_files_of_the_largest_study_are_small(tmp_path):
    for key, figure in draw_shown(
        plan_main(make_tables(name("some_model", 40), name("d", 60)))
    ).items():
        save_figure(figure, [tmp_path / f"{key}.svg"])
        assert (tmp_path / f"{key}.svg").stat().st_size < 250_000, key


def test_drawing_leaves_pyplot_and_the_global_random_generator_alone():
    before = np.random.get_state(legacy=False)["state"]["key"].tolist()  # noqa: NPY002
    draw_shown(plan_main(make_tables(name("m", 9), name("d", 9))))
    after = np.random.get_state(legacy=False)["state"]["key"].tolist()  # noqa: NPY002
    assert before == after
    assert not plt.get_fignums()


def test_figures_of_a_study_agree_on_colors():
    tables = make_tables(name("m", 5), name("d", 8))
    figures = draw_shown(plan_main(tables))
    expected = set(model_colors(tables["ranking"]["model"].unique()).values())
    for key in ("intervals", "rank_shift", "scores", "seed_spread"):
        lines = {to_hex(line.get_color()).upper() for line in figures[key].axes[0].lines}
        assert lines - {GRID_COLOR} == expected


def test_a_thousand_models_fall_back_to_forty_and_say_so():
    tables = make_tables(name("m", 1000), name("d", 3))
    figures = draw_shown(plan_main(tables))
    for key in ("scores", "intervals", "rank_shift"):
        assert "Top 40 of 1000 models." in drawn_words(figures[key])
        assert_legible(figures[key])
    assert_legible(figures["seed_spread"])


def test_missing_cells_of_a_heat_map_are_hatched_and_not_zero():
    tables = make_tables(name("m", 9), name("d", 9), missing=0.3)
    figure = make_figure("scores", tables["scores"])
    axes = figure.axes[0]
    drawn = axes.collections[0].get_array()
    expected = tables["scores"].drop(columns="model").isna().to_numpy()
    assert np.array_equal(np.ma.getmaskarray(drawn), expected)
    assert axes.patch.get_hatch()
    assert "Hatched: no score." in drawn_words(figure)


def test_the_best_model_is_on_top_with_its_interval():
    scopes = choose(make_tables(name("m", 3), ["d"])["ranking"])
    figure = make_figure("intervals", scopes.iloc[::-1])
    assert row_labels(figure) == name("m", 3)
    ends = figure.axes[0].lines[0].get_xdata()
    assert tuple(ends) == (scopes["ci_low"][0], scopes["ci_high"][0])
    assert figure.axes[0].get_xlabel() == "Interquartile mean of normalized scores"


def test_tied_ranks_have_the_same_number_and_places_of_their_own():
    ranks = {"iqm": [3, 1, 2], "mean": [1, 1, 3], "trimmed_mean": [3, 1, 2], "median": [3, 1, 2]}
    ranking = pd.concat(
        make_ranking(model=["a", "b", "c"], statistic=["iqm"] * 3, rank=own).assign(statistic=name)
        for name, own in ranks.items()
    )
    axes = make_figure("rank_shift", ranking).axes[0]
    heights = {tuple(line.get_ydata()) for line in axes.lines}
    # By mean a and b are tied: b stands above a because it is better by trimmed mean.
    assert heights == {(1, 2, 2, 2), (0, 0, 0, 0), (2, 1, 1, 1)}
    numbers = [text.get_text() for text in axes.texts if text.get_position()[0] == 0]
    assert sorted(numbers) == ["1", "1", "3"]


def test_a_point_stands_at_its_score_and_none_where_it_is_missing():
    scores = pd.DataFrame({"model": ["a", "b"], "d": [-0.5, np.nan], "e": [0.0, 1.25]})
    figure = make_figure("scores", scores)
    places = [list(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert places == [[-0.5, 0.0], [1.25]]
    assert "No point: no score." in drawn_words(figure)
