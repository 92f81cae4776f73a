"""Figures of the multi-label evaluation: legible and faithful."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import PathPatch, Rectangle

from capmap.figures.examples import draw_prediction_panels
from capmap.figures.multilabel import (
    draw_label_counts,
    draw_metric_lines,
    draw_metric_rank_shift,
    draw_seed_boxes,
    draw_subgroup_boxes,
)
from capmap.figures.style import save_figure
from capmap.multilabel.published import share_images, split_published
from capmap.multilabel.rankings import shift_all_ranks, summarize_models
from tests.figure_checks import assert_legible, assert_same_bytes, drawn_words
from tests.multilabel_tables import (
    SHIPPED,
    make_counts,
    make_evaluation,
    make_images,
    make_predictions,
    read_shipped_runs,
)

MODELS = [f"model-{number:03d}" for number in range(300)]
HOSTILE = ["$x_1$", "=cmd|calc", "<script>", "模型甲", "W" * 300, "line\nbreak"]


def compare(*datasets):
    """Make the table of a comparison of two datasets, or of none."""
    return pd.DataFrame([datasets] if datasets else [], columns=["dataset_a", "dataset_b"])


NONE = compare()


def plan_figures(tables, *, degradation=NONE):
    """Functions that draw each figure of an evaluation."""
    metrics, shifts = tables["metrics"], tables["rank_shift"]
    return {
        "label_counts": lambda: draw_label_counts(tables["label_counts"]),
        "metric_lines": lambda: draw_metric_lines(tables["summary"], degradation),
        "subgroup_boxes": lambda: draw_subgroup_boxes(metrics, degradation),
        "seed_boxes": lambda: draw_seed_boxes(metrics, shifts, degradation, top=5, rank_by="asma"),
        "metric_rank_shift": lambda: draw_metric_rank_shift(
            shifts, degradation, metrics, rank_by="asma"
        ),
        "prediction_panels": lambda: draw_prediction_panels(tables["predictions"], make_images()),
    }


def draw_all(tables):
    plan = plan_figures(tables, degradation=compare("V1", "V2"))
    return {key: draw() for key, draw in plan.items()}


STUDIES = {
    "hundreds of models": partial(make_evaluation, MODELS),
    "forty models": partial(make_evaluation, MODELS[:40], seeds=12, examples=9),
    "three models": partial(make_evaluation, MODELS[:3], seeds=2),
    "one model": partial(make_evaluation, MODELS[:1], seeds=1, examples=1),
    "hostile names": partial(make_evaluation, HOSTILE),
    "hostile datasets": partial(make_evaluation, MODELS[:3], datasets=(HOSTILE[3], HOSTILE[4])),
}
SENTENCES = {
    "label_counts": "No image has a label.",
    "metric_lines": "There are no two datasets with a metric of the same models.",
    "subgroup_boxes": "No model has an accuracy by number of labels.",
    "seed_boxes": "No model has an accuracy by number of labels.",
    "metric_rank_shift": "No model has both values.",
    "prediction_panels": "No image was chosen as an example.",
}


@pytest.mark.parametrize("study", STUDIES)
def test_no_text_is_cut_off_small_or_overlapping(study):
    datasets = (HOSTILE[3], HOSTILE[4]) if study == "hostile datasets" else ("V1", "V2")
    for draw in plan_figures(STUDIES[study](), degradation=compare(*datasets)).values():
        assert_legible(draw())


def test_the_published_table_of_315_models_is_legible():
    metrics = split_published(read_shipped_runs())
    summary = summarize_models(metrics)
    versions = ("ImageNetV1", "ImageNetV2")
    shifts = shift_all_ranks(metrics)
    compared = compare(*versions)
    assert_legible(draw_metric_lines(summary, compared))
    figure = draw_metric_rank_shift(shifts, compared, metrics, rank_by="asma")
    assert_legible(figure)
    assert (
        f"Named: 16 of {shifts['model'].nunique()} models, by the largest shifts."
        in drawn_words(figure)
    )
    assert_legible(draw_label_counts(share_images(pd.read_csv(SHIPPED / "label_counts.csv"))))
    words = drawn_words(draw_subgroup_boxes(metrics, compared))
    assert SENTENCES["subgroup_boxes"] in words


def test_bytes_do_not_depend_on_the_order_of_rows(tmp_path):
    tables = make_evaluation(MODELS[:30])
    shuffled = {key: table.sample(frac=1, random_state=5) for key, table in tables.items()}
    assert_same_bytes(draw_all, tables, shuffled, tmp_path)


@pytest.mark.parametrize("key", SENTENCES)
def test_an_empty_table_becomes_a_sentence(key):
    tables = make_evaluation(MODELS[:2])
    for empty in (
        {name: table.iloc[:0] for name, table in tables.items()},
        {name: pd.DataFrame(columns=list(table.columns)) for name, table in tables.items()},
    ):
        figure = plan_figures(empty)[key]()
        assert_legible(figure)
        assert SENTENCES[key] in drawn_words(figure)


def test_every_format_is_written(tmp_path):
    figure = draw_prediction_panels(make_predictions(["a"]), make_images())
    paths = [tmp_path / f"panels.{suffix}" for suffix in ("pdf", "svg", "png")]
    save_figure(figure, paths)
    assert all(path.stat().st_size for path in paths)


def list_bars(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bars_of_label_counts_are_as_long_as_the_shares():
    counts = make_counts(["A"])
    figure = draw_label_counts(counts)
    widths = [bar.get_width() for bar in list_bars(figure.axes[0])]
    # 900, 50, 9, 3 and 2 of 964 images; no image has 4 labels.
    assert widths == pytest.approx([100 * n / 964 for n in (900, 50, 9, 3, 2)])
    words = drawn_words(figure)
    assert "964" in words
    assert "93.4" in words
    assert "more labels" in words
    assert not any("Left out" in word for word in words)


def test_images_without_labels_are_counted_in_a_note():
    words = drawn_words(draw_label_counts(make_counts(["A", "B", "C"])))
    assert "Left out: 3 images without a label." in words


def test_numbers_of_labels_may_be_integers():
    table = pd.DataFrame({"dataset": "A", "labels": [1, 10, 2], "images": 5, "share": 1 / 3})
    words = drawn_words(draw_label_counts(table))
    labels = [word for word in words if word.endswith(("label", "labels"))]
    assert labels == ["1 label", "2 labels", "10 labels"]


def test_lines_show_percents_and_differences_in_points():
    tables = make_evaluation(MODELS[:5])
    figure = draw_metric_lines(tables["summary"], compare("V1", "V2"))
    upper, lower = figure.axes[1:]
    values = tables["summary"].set_index(["dataset", "model"])
    order = values.loc["V1"].sort_values("top1", ascending=False).index
    first, second = (100 * values.loc[name, "top1"].loc[order] for name in ("V1", "V2"))
    assert upper.lines[0].get_ydata() == pytest.approx(first.to_numpy())
    assert upper.lines[1].get_ydata() == pytest.approx(second.to_numpy())
    assert lower.lines[0].get_ydata() == pytest.approx((first - second).to_numpy())
    assert [text.get_text() for text in lower.get_xticklabels()] == list(order)


def test_a_metric_that_a_dataset_lacks_is_drawn_where_it_is():
    tables = make_evaluation(MODELS[:5])
    figure = draw_metric_lines(tables["summary"], compare("V1", "PatchML"))
    assert_legible(figure)
    top1 = figure.axes[2].lines[0].get_ydata()
    assert np.isnan(np.asarray(top1, dtype=float)).all()


def test_boxes_stand_for_the_models_of_each_dataset():
    tables = make_evaluation(MODELS[:30])
    figure = draw_subgroup_boxes(tables["metrics"], compare("V1", "V2"))
    for axes in figure.axes[1:]:
        assert sum(isinstance(patch, PathPatch) for patch in axes.patches) == 2 * 5
    medians = [line for line in figure.axes[2].lines if line.get_color() == "black"]
    own = tables["metrics"].query("metric == 'subgroup' and dataset == 'V1' and subgroup == 1")
    assert medians[0].get_ydata()[0] == pytest.approx(100 * own["value"].median())


@pytest.mark.parametrize(("seeds", "boxes"), [(1, 5), (3, 15), (10, 50), (11, 5)])
def test_each_seed_has_a_box_up_to_ten(seeds, boxes):
    tables = make_evaluation(MODELS[:4], seeds=seeds)
    figure = plan_figures(tables, degradation=compare("V1", "V2"))["seed_boxes"]()
    assert sum(isinstance(patch, PathPatch) for patch in figure.axes[0].patches) == boxes


def test_the_best_models_by_each_rank_are_listed_in_order():
    tables = make_evaluation(MODELS[:30])
    words = drawn_words(plan_figures(tables, degradation=compare("V1", "V2"))["seed_boxes"]())
    metrics = {"metric_a": "top1", "dataset_a": "V1", "metric_b": "asma", "dataset_b": "PatchML"}
    shifts = tables["rank_shift"].query(" and ".join(f"{k} == {v!r}" for k, v in metrics.items()))
    for header, column in (("best 5 by top-1", "rank_a"), ("best 5 by ASMA", "rank_b")):
        start = words.index(header) + 1
        expected = shifts.sort_values([column, "model"])["model"].head(5)
        assert words[start : start + 5] == list(expected)


def test_boxes_need_no_best_models():
    tables = make_evaluation(MODELS[:3])
    tables["rank_shift"] = tables["rank_shift"].iloc[:0]
    figure = plan_figures(tables, degradation=compare("V1", "V2"))["seed_boxes"]()
    assert_legible(figure)
    assert not any(word.startswith("best") for word in drawn_words(figure))


def test_without_a_comparison_the_first_two_datasets_by_name_are_drawn():
    tables = make_evaluation(MODELS[:3], datasets=("b", "a"))
    plan, named = (
        plan_figures(tables, degradation=pairs) for pairs in (NONE, compare("PatchML", "a"))
    )
    for key in ("metric_lines", "subgroup_boxes"):
        assert drawn_words(plan[key]()) == drawn_words(named[key]())


def test_ranks_are_set_against_those_of_a_dataset_that_is_not_compared():
    tables = make_evaluation(MODELS[:3])
    figures = draw_all(tables)
    words = drawn_words(figures["metric_rank_shift"])
    assert {"rank by top-1 on V1 (1 = best)", "rank by ASMA on PatchML (1 = best)"} <= set(words)
    heading = "Accuracy by number of labels, seed by seed: PatchML"
    assert heading in drawn_words(figures["seed_boxes"])


def test_the_largest_shifts_are_named_with_their_size():
    tables = make_evaluation(MODELS[:1])
    table = pd.DataFrame(
        {
            "model": ["up", "down", "same"],
            **{"metric_a": "top1", "dataset_a": "V1", "metric_b": "real", "dataset_b": "PatchML"},
            "rank_a": [3, 1, 2],
            "rank_b": [1, 3, 2],
            "shift": [2, -2, 0],
        }
    )
    given = (table, compare("V1", "V2"), tables["metrics"])
    words = drawn_words(draw_metric_rank_shift(*given, rank_by="real"))
    assert {"up +2", "down \N{MINUS SIGN}2", "same ±0"} <= set(words)
    assert {"rises (1)", "falls (1)", "stays (1)"} <= set(words)
    assert "rank by ReaL on PatchML (1 = best)" in words


def test_predictions_are_marked_right_wrong_and_missed():
    table = pd.DataFrame(
        {
            "model": "m",
            "image": "i",
            "class": ["a", "b", "c", "d"],
            "score": [0.5, 0.3, 0.15, 0.05],
            "is_predicted": [True, True, False, False],
            "is_label": [True, False, True, False],
        }
    )
    figure = draw_prediction_panels(table, {"i": np.zeros((4, 6))})
    words = drawn_words(figure)
    marks = [word for word in words if word in {"✓", "✗", "!"}]
    assert marks == ["✓", "✗", "!"]
    bars = list_bars(figure.axes[2])
    assert [bar.get_width() for bar in bars] == [0.5, 0.3, 0.15, 0.05]
    assert figure.axes[1].images[0].get_array().shape == (4, 6)


@pytest.mark.parametrize("scores", [[-3.0, -8.0], [2.0, -8.0], [0.0, 0.0], [np.inf, np.nan]])
def test_scores_of_any_scale_are_drawn(scores):
    table = pd.DataFrame(
        {
            "model": "m",
            "image": "i",
            "class": ["a", "b"],
            "score": scores,
            "is_predicted": [True, False],
            "is_label": [False, True],
        }
    )
    figure = draw_prediction_panels(table, {})
    assert_legible(figure)
    assert "no image" in drawn_words(figure)
    assert len(list_bars(figure.axes[2])) == np.isfinite(scores).sum()


def test_a_missed_label_is_shown_however_low_its_score():
    classes = [f"class-{number:02d}" for number in range(20)]
    table = make_predictions(["m"], examples=1, classes=classes)
    assert {"class-00", "class-01"} <= set(drawn_words(draw_prediction_panels(table, {})))


def test_examples_beyond_the_first_twelve_are_counted():
    table = make_predictions(["m", "n"], examples=9)
    assert "Not drawn: 6 more examples." in drawn_words(draw_prediction_panels(table, {}))
