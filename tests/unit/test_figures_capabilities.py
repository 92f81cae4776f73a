"""Figures of the map: legible, faithful to their tables, whatever the order of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.figures.capability_map import scale_points
from capmap.figures.names import Label, place_labels
from tests.capability_figure_tables import make_capabilities
from tests.figure_checks import drawn_words
from tests.figure_plans import name
from tests.steps import make_figure

points_in_area = st.lists(
    st.tuples(st.floats(0.1, 2.9), st.floats(0.1, 1.9)), min_size=1, max_size=25
)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(points_in_area)
def test_labels_overlap_neither_each_other_nor_lines_and_stay_inside(places):
    labels = [Label(f"label {i}", 6.0, "black", (place,)) for i, place in enumerate(places)]
    found = place_labels(labels, area=(3.0, 2.0), points=np.array(places), radius=0.03)
    kept = [(label.box, place) for label, place in zip(labels, found, strict=True) if place]
    boxes = np.array([(*place.corner, *np.add(place.corner, box)) for box, place in kept])
    assert (boxes[:, :2] >= 0).all()
    assert (boxes[:, 2:] <= (3.0, 2.0)).all()
    for i, box in enumerate(boxes):
        apart = (boxes[:, :2] >= box[2:]).any(axis=1) | (boxes[:, 2:] <= box[:2]).any(axis=1)
        assert apart[np.arange(len(boxes)) != i].all()
    for leader in (place.leader for _, place in kept if place.leader):
        line = np.linspace(*leader, 200)[:, None, :]
        # A line is known to a pixel of 0.01 in, so it may touch the edge of a box.
        inside = (line > boxes[:, :2] + 0.011) & (line < boxes[:, 2:] - 0.011)
        assert not inside.all(axis=2).any()


def test_a_map_is_scaled_alike_in_both_directions():
    rng = np.random.default_rng(3)
    for count in (3, 40):
        table = pd.DataFrame(rng.normal(size=(count, 2)) * (5, 1), columns=["x", "y"])
        places, height = scale_points(table, width=6.9, height=8.0, edge=0.25)
        gaps = [np.linalg.norm(each - each[0], axis=1)[1:] for each in (places, table.to_numpy())]
        ratios = gaps[0] / gaps[1]
        assert ratios == pytest.approx(np.full(count - 1, ratios[0]))
        assert places.min() >= 0.25 - 1e-9
        assert (places.max(axis=0) <= np.array([6.9, height]) - 0.25 + 1e-9).all()
        # A wide map of many points is turned upright.
        assert (np.ptp(places[:, 1]) > np.ptp(places[:, 0])) == (count == 40)


def place_by_hand(datasets, families):
    """Tables of one model and of datasets at given places."""
    rows = [("model", "M", 0.0, 0.0)]
    rows += [("dataset", dataset, *place) for dataset, place in datasets.items()]
    positions = pd.DataFrame(rows, columns=["kind", "name", "x", "y"])
    models = pd.DataFrame({"model": ["M"], "kept": [5], "component": [1]})
    table = {"dataset": list(datasets), "kept": 5, "component": 1, "family": families}
    return positions, models, pd.DataFrame(table)


def test_variants_share_a_name_where_they_lie_close():
    # The map is 2.9 in wide for a distance of 10: 0.35 in are 1.2 units.
    datasets = {"A / 1%": (9.0, 0.0), "A / 2%": (9.9, 0.0), "A / 3%": (1.0, 5.0)}
    datasets |= {"B / OA": (10.0, 5.0), "C": (5.0, 5.0)}
    tables = place_by_hand(datasets, ["A", "A", "A", "B", np.nan])
    figure = make_figure("capability_map", *tables)
    words = drawn_words(figure)
    assert {"M", "A \N{MULTIPLICATION SIGN}2", "A / 3%", "B", "C"} <= set(words)
    assert not {"A / 1%", "A / 2%", "B / OA"} & set(words)
    assert any(word.startswith("variants") for word in words)


def test_the_most_frequent_categories_have_colors_and_the_rest_is_other_or_unknown():
    tables = make_capabilities(name("m", 46), name("d", 4))
    # 9 + 8 + … + 3 = 42 models of the first seven kinds, 3 of the other two, and 1 unknown.
    kinds = [f"kind {number}" for number in range(9) for _ in range(9 - number)]
    models = pd.DataFrame({"model": name("m", 46), "architecture": [*kinds, None]})
    models = models.assign(parameters=np.nan, date=np.nan)
    figure = make_figure("capability_attributes", tables["map"], models, tables["datasets"])
    words = drawn_words(figure)
    shown = [word for word in words if word.startswith("kind") or word in {"other", "unknown"}]
    assert shown == [*(f"kind {number}" for number in range(7)), "other", "unknown"]
    sizes = [len(line.get_xdata()) for line in figure.axes[1].lines]
    assert sizes == [4, *range(9, 2, -1), 3, 1]
