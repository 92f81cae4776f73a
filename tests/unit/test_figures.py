"""Figures of every ranking, and heat maps: nothing computed, and colors that agree."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from capmap.figures.canvas import NothingToDraw
from capmap.figures.style import figure_style, model_colors, save_figure
from capmap.multilabel import summaries
from capmap.ranking import choose
from tests.figure_checks import (
    HOSTILE,
    assert_legible,
    assert_same_bytes,
    cell_texts,
    compare,
    draw_shown,
    drawn_words,
    make_checkpoints,
    name,
    plan_checkpoints,
    plan_comparisons,
    plan_curves,
    plan_errors,
    plan_labels,
    plan_main,
    plan_map,
)
from tests.figure_tables import (
    make_apart,
    make_capabilities,
    make_comparisons,
    make_errors,
    make_pair,
    make_study,
    make_tables,
)
from tests.leaderboard_tables import HOSTILE as ENTRIES
from tests.leaderboard_tables import make_entry_runs, make_leaderboard
from tests.multilabel_tables import SHIPPED, make_counts, make_evaluation, read_shipped_runs
from tests.report_pages import make_ranking
from tests.steps import make_figure


def row_labels(figure):
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_vector_files_of_the_largest_study_are_small(tmp_path):
    for key, figure in draw_shown(
        plan_main(make_tables(name("some_model", 40), name("d", 60)))
    ).items():
        save_figure(figure, [tmp_path / f"{key}.svg"])
        assert (tmp_path / f"{key}.svg").stat().st_size < 250_000, key


def test_figures_of_a_study_agree_on_colors():
    tables = make_tables(name("m", 5), name("d", 8))
    figures = draw_shown(plan_main(tables))
    expected = set(model_colors(tables["ranking"]["model"].unique()).values())
    for key in ("intervals", "rank_shift", "scores"):
        lines = {to_hex(line.get_color()).upper() for line in figures[key].axes[0].lines}
        assert expected <= lines


def test_a_thousand_models_fall_back_to_forty_and_say_so():
    tables = make_tables(name("m", 1000), name("d", 3))
    figures = draw_shown(plan_main(tables))
    for key in ("scores", "intervals", "rank_shift"):
        assert "Top 40 of 1000 models." in drawn_words(figures[key])
        assert_legible(figures[key])


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


BACKBONES = [f"vision_backbone_of_any_size_{kind:02d}" for kind in range(20)]
VARIANTS = [f"Family-{number // 4} / variant {number % 4}" for number in range(92)]
MODELS = name("m", 9)
# How the tables of a study are made, by what draws them: arguments and options.
STUDIES = {
    (plan_main, make_tables): [
        (MODELS[:5], name("D", 8)),
        (["only"], ["one"]),
        (name("Model", 18), ["only"]),
        (name("some_model", 40), name("some_dataset", 60), {"missing": 0.1}),
        (HOSTILE, HOSTILE[:10], {"missing": 0.1}),
        (MODELS, MODELS, {"missing": 0.5}),
        (MODELS, MODELS, {"low": 0.5, "high": 0.5}),
        (MODELS[:4], MODELS[:4], {"low": 0, "high": 0}),
        (MODELS[:4], MODELS[:4], {"low": -3, "high": -1}),
        (MODELS, MODELS, {"low": -15, "high": 40}),
        (MODELS[:4], MODELS[:4], {"low": -1e9, "high": 1e9}),
        (MODELS[:5], MODELS[:6], {"n_seeds": 1}),
        (MODELS[:3], name("d", 19), {"n_seeds": 100}),
    ],
    (plan_comparisons, make_comparisons): [
        (MODELS[:3], name("d", 8)),
        (BACKBONES, name("d", 19), {"missing": 0.03}),
        (["only"], ["d", "e"]),
        (["b", "a"], ["d"], {"has_intervals": False}),
        (HOSTILE[:13], HOSTILE[:4], {"missing": 0.1}),
        (MODELS[:4], ["d", "e"], {"missing": 0.5}),
        (MODELS[:4], MODELS[:4], {"spread": 0.0}),
    ],
    (plan_curves, make_study): [
        (MODELS[:3],),
        (["only"],),
        (MODELS[:4], {"n_datasets": 1}),
        (BACKBONES,),
        (HOSTILE[:14],),
        (name("m", 60),),
    ],
    (plan_map, make_capabilities): [
        (["a"], ["D"]),
        (name("backbone", 15), VARIANTS[:40]),
        (MODELS, VARIANTS[:9], {"n_parts": 2}),
        (HOSTILE, [*HOSTILE, " / ", "two / parts / more"]),
        ([], ["D"]),
        (name("a model of many", 90), name("set", 100)),
    ],
    (plan_errors, make_errors): [
        ({},),
        ({"methods": ("l2",)},),
        ({"methods": ()},),
    ],
    (plan_labels, make_evaluation): [
        (name("model", 300),),
        (name("model", 40), {"seeds": 12}),
        (MODELS[:3], {"seeds": 2}),
        (MODELS[:1], {"seeds": 1}),
        (HOSTILE[:13],),
    ],
    (plan_checkpoints, make_checkpoints): [
        (["only"], 1, 1),
        (MODELS[:4], 3, 6),
        (HOSTILE[:13], 2, 4),
        (name("m", 25), 2, 3),
    ],
}
CASES = [(*how, given) for how, studies in STUDIES.items() for given in studies]
# Of a size that shows what depends on the order of rows.
SHUFFLED = {
    plan_main: (MODELS, MODELS[:3], {"missing": 0.1}),
    plan_comparisons: (MODELS[:4], MODELS[:2], {"missing": 0.5}),
    plan_curves: (name("m", 11), {"n_datasets": 5}),
    plan_map: (MODELS[:6], VARIANTS[:9]),
    plan_errors: ({"methods": ("l2", "factors")},),
    plan_labels: (name("m", 30),),
    plan_checkpoints: (HOSTILE[:7], 2, 4),
}


def make(tables, given):
    options = given[-1] if isinstance(given[-1], dict) else {}
    return tables(*(one for one in given if one is not options), **options)


@pytest.mark.parametrize(("plan", "tables", "given"), CASES)
def test_no_text_is_cut_off_small_or_overlapping(plan, tables, given):
    for figure in draw_shown(plan(make(tables, given))).values():
        with figure_style():
            assert_legible(figure)


@pytest.mark.parametrize(("plan", "tables"), STUDIES)
def test_bytes_do_not_depend_on_the_order_of_rows(plan, tables, tmp_path):
    made = make(tables, SHUFFLED[plan])
    # The ranking's order is what it says: the headline's rows come first, best first.
    shuffled = {
        key: table if key == "ranking" else table.sample(frac=1, random_state=3)
        for key, table in made.items()
    }
    formats = ("pdf", "svg", "png") if plan is plan_main else ("svg",)
    assert_same_bytes(lambda own: draw_shown(plan(own)), made, shuffled, tmp_path, formats=formats)


def test_points_of_a_fit_are_those_of_the_table_at_its_dimension():
    tables = make_errors(methods=("cosine", "l2", "factors"))
    figure = plan_errors(tables)["fit"]()
    assert_legible(figure)
    table = tables["validation"]
    # Axes: one below all panels, then the panels.
    for axes, method in zip(figure.axes[1:], ("factors", "l2"), strict=True):
        chosen = table[(table["dimension"].fillna(5) == 5) & (table["distance"] == method)]
        expected = chosen.sort_values(["truth", "prediction"])[["truth", "prediction"]]
        assert np.allclose(axes.collections[0].get_offsets(), expected.to_numpy())
        assert axes.lines[0].get_xydata().tolist() == [[0, 0], [1, 1]]


MINUS = "\N{MINUS SIGN}"


def marked_cells(figure):
    """Cells, as (row, column), that have a corner."""
    paths = figure.axes[0].collections[1].get_paths()
    corners = [np.floor(path.vertices.mean(axis=0)).astype(int) for path in paths]
    return {(int(row), int(column)) for column, row in corners}


def test_the_comparison_matrix_shows_row_minus_column_and_marks_what_is_significant():
    figure = make_figure("pairwise", make_pair(), order=["b", "a"], alpha=0.05)
    assert cell_texts(figure) == {(0, 1): f"{MINUS}.250\n1/2/7", (1, 0): ".250\n7/2/1"}
    assert marked_cells(figure) == {(0, 1), (1, 0)}
    mesh = figure.axes[0].collections[0]
    # Blue where the row is better, orange where it is worse, and as strong.
    assert to_hex(mesh.to_rgba(0.25)) == "#2b6cb0"
    assert to_hex(mesh.to_rgba(-0.25)) == "#d98200"


def test_a_pair_without_a_dataset_in_common_is_hatched_and_said_to_be():
    apart = make_apart()
    figure = make_figure("pairwise", apart, alpha=0.05)
    drawn = figure.axes[0].collections[0].get_array()
    assert np.ma.getmaskarray(drawn).tolist() == [[False, True], [True, False]]
    assert "Hatched: no dataset in common." in drawn_words(figure)
    assert not cell_texts(figure)
    pairs = pd.concat([apart, make_pair(model_b="c")])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    assert "no dataset in common" in " ".join(drawn_words(figure))
    assert_legible(figure)


def test_groups_have_scores_with_ranks_and_mark_the_best():
    groups = pd.DataFrame(
        [
            ("", "b", 0.6, 1),
            ("", "a", 0.4, 2),
            ("g", "a", 0.5, 2),
            ("g", "b", 0.75, 1),
            ("h", "b", 0.25, 1),
        ],
        columns=["group", "model", "score", "rank"],
    ).assign(unit="runs", statistic="iqm")
    figure = make_figure("groups", groups)
    # b is the first of the headline; h leaves a out.
    assert cell_texts(figure) == {(0, 0): ".750 (1)", (0, 1): ".250 (1)", (1, 0): ".500 (2)"}
    assert marked_cells(figure) == {(0, 0), (0, 1)}
    assert "Hatched: no score." in drawn_words(figure)


def test_the_reference_is_compared_with_the_difference_of_the_model():
    pairs = pd.concat([make_pair(), make_pair(model_b="c", mean_difference=0.75)])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    line, interval, point, *_ = figure.axes[0].lines
    assert list(line.get_xdata()) == [0, 0]
    assert tuple(interval.get_xdata()) == (-0.5, -0.125)
    assert list(point.get_xdata()) == [-0.25]
    assert {"1/2/7", ".010", f"{MINUS}.50"} <= set(drawn_words(figure))


def test_an_interval_beyond_the_scale_does_not_hide_the_others():
    wide = {"ci_low": -0.1, "ci_high": 4.0, "wilcoxon_p_holm": 1.0}
    pairs = pd.concat([make_pair(**wide), make_pair(model_b="c", **wide)])
    figure = make_figure("pairwise_reference", pairs, reference="a")
    _, interval, *_ = figure.axes[0].lines
    assert interval.get_xdata().tolist() == [-1, 0.1]
    words = drawn_words(figure)
    assert "An interval that reaches \N{PLUS-MINUS SIGN}1 goes on." in words
    assert "p (Holm)" not in words


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
            make_leaderboard(make_entry_runs(entries), {})["entries"].assign(release=name)
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
    entries = [(name, name, name) for name in ENTRIES]
    groups = {name: ["w"] for name in ENTRIES[:3]}
    table = make_leaderboard(make_entry_runs(entries), groups)["dimensions"]
    assert_legible(make_figure("leaderboard_dimensions", table))
    history = make_history(dict.fromkeys(ENTRIES[1:3], entries))
    assert_legible(make_figure("rank_history", history))


def test_a_history_has_a_number_per_rank_and_a_name_at_the_end():
    releases = {"2025-01": PAIR[:1], "2025-02": [PAIR[1], PAIR[0]], "current": PAIR}
    figure = make_figure("rank_history", make_history(releases))
    words = assert_legible(figure)
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["1", "1", "1", "2", "2"]
    assert [words.count(f"{name} / frozen / s1") for name in "ab"] == [1, 1]
    first, second = (list(line.get_ydata()) for line in figure.axes[0].lines)
    assert first == [0, 1, 0] or second == [0, 1, 0]


def test_markers_stand_at_the_chosen_checkpoints():
    tables = make_checkpoints(["A", "B"], 1, 5)
    axes = plan_checkpoints(tables)["curves"]().axes[0]
    marks = [line.get_xydata() for line in axes.lines if line.get_marker() not in ("None", None)]
    chosen = tables["selected"].sort_values("model")
    found = np.concatenate([points for points in marks if len(points)])
    np.testing.assert_allclose(found, chosen[["step", "selection"]].to_numpy(float))


def test_a_profile_is_a_step_function_up_to_the_largest_ratio():
    # A model best on half of its datasets, and 2 times away from the best on the other half.
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


def test_the_published_tables_are_legible():
    metrics = summaries.split_published(read_shipped_runs())
    compared = compare("ImageNetV1", "ImageNetV2")
    assert_legible(make_figure("metric_lines", summaries.summarize_models(metrics), compared))
    figure = make_figure("metric_rank_shift", summaries.shift_all_ranks(metrics), rank_by="asma")
    assert_legible(figure)
    assert "Named: the 16 largest shifts, where there is room." in drawn_words(figure)
    counts = summaries.share_images(pd.read_csv(SHIPPED / "label_counts.csv"))
    figure = make_figure("label_counts", counts)
    assert_legible(figure)
    # What the paper is about: 15.9% of the images of V1 and 48.5% of those of V2.
    assert {"15.9%", "48.5%"} <= set(drawn_words(figure))
    with pytest.raises(NothingToDraw, match="No model has an accuracy by number of labels"):
        make_figure("subgroup_boxes", metrics, compared)


def test_bars_of_label_counts_are_as_long_as_the_shares():
    figure = make_figure("label_counts", make_counts(["A"]))
    bars = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    # 900, 50, 9, 3 and 2 of 964 images; no image has 4 labels.
    assert [bar.get_width() for bar in bars] == pytest.approx(
        [100 * n / 964 for n in (900, 50, 9, 3, 2)]
    )
    assert {"964", "6.6%", "more labels"} <= set(drawn_words(figure))


def test_lines_are_percents_from_the_best_model_on():
    tables = make_evaluation(name("m", 5))
    values = 100 * tables["summary"].set_index(["dataset", "model"])["top1"]
    figure = make_figure("metric_lines", tables["summary"], compare("V1", "V2"))
    order = values.loc["V1"].sort_values(ascending=False).index
    for line, dataset in zip(figure.axes[1].lines, ("V1", "V2"), strict=False):
        assert line.get_ydata() == pytest.approx(values.loc[dataset, order].to_numpy())
