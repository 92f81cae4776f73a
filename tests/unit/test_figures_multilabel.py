"""Figures of the multi-label evaluation: legible and faithful."""

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from capmap.figures.canvas import NothingToDraw
from capmap.multilabel import published, rankings
from tests.figure_checks import assert_legible, drawn_words
from tests.figure_plans import compare, name
from tests.multilabel_tables import (
    SHIPPED,
    make_counts,
    make_evaluation,
    read_shipped_runs,
)
from tests.steps import make_figure


def test_the_published_table_of_315_models_is_legible():
    metrics = published.split_published(read_shipped_runs())
    summary = rankings.summarize_models(metrics)
    versions = ("ImageNetV1", "ImageNetV2")
    shifts = rankings.shift_all_ranks(metrics)
    compared = compare(*versions)
    assert_legible(make_figure("metric_lines", summary, compared))
    figure = make_figure("metric_rank_shift", shifts, compared, metrics, rank_by="asma")
    assert_legible(figure)
    assert (
        f"Named: 16 of {shifts['model'].nunique()} models, by the largest shifts."
        in drawn_words(figure)
    )
    assert_legible(
        make_figure(
            "label_counts", published.share_images(pd.read_csv(SHIPPED / "label_counts.csv"))
        )
    )
    with pytest.raises(NothingToDraw, match="No model has an accuracy by number of labels"):
        make_figure("subgroup_boxes", metrics, compared)


def list_bars(axes):
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def test_bars_of_label_counts_are_as_long_as_the_shares():
    counts = make_counts(["A"])
    figure = make_figure("label_counts", counts)
    widths = [bar.get_width() for bar in list_bars(figure.axes[0])]
    # 900, 50, 9, 3 and 2 of 964 images; no image has 4 labels.
    assert widths == pytest.approx([100 * n / 964 for n in (900, 50, 9, 3, 2)])
    words = drawn_words(figure)
    assert "964" in words
    assert "93.4" in words
    assert "more labels" in words
    assert not any("Left out" in word for word in words)


def test_lines_show_percents_and_differences_in_points():
    tables = make_evaluation(name("m", 5))
    figure = make_figure("metric_lines", tables["summary"], compare("V1", "V2"))
    upper, lower = figure.axes[1:]
    values = tables["summary"].set_index(["dataset", "model"])
    order = values.loc["V1"].sort_values("top1", ascending=False).index
    first, second = (100 * values.loc[name, "top1"].loc[order] for name in ("V1", "V2"))
    assert upper.lines[0].get_ydata() == pytest.approx(first.to_numpy())
    assert upper.lines[1].get_ydata() == pytest.approx(second.to_numpy())
    assert lower.lines[0].get_ydata() == pytest.approx((first - second).to_numpy())
    assert [text.get_text() for text in lower.get_xticklabels()] == list(order)
