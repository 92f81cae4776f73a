"""Figures of the multi-label evaluation: legible and faithful."""

import pandas as pd
import pytest
from matplotlib.patches import Rectangle

from capmap.figures.canvas import NothingToDraw
from capmap.multilabel import rankings
from tests.figure_checks import assert_legible, drawn_words
from tests.figure_plans import compare, name
from tests.multilabel_tables import SHIPPED, make_counts, make_evaluation, read_shipped_runs
from tests.steps import make_figure


def test_the_published_tables_are_legible():
    metrics = rankings.split_published(read_shipped_runs())
    compared = compare("ImageNetV1", "ImageNetV2")
    assert_legible(make_figure("metric_lines", rankings.summarize_models(metrics), compared))
    figure = make_figure("metric_rank_shift", rankings.shift_all_ranks(metrics), rank_by="asma")
    assert_legible(figure)
    assert "Named: the 16 largest shifts, where there is room." in drawn_words(figure)
    counts = rankings.share_images(pd.read_csv(SHIPPED / "label_counts.csv"))
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
