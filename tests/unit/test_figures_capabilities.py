"""Figures of the map: legible, faithful to their tables, whatever the order of rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection

from capmap.figures.capabilities import scale_points
from capmap.figures.scatter import Label, place_labels
from tests.capability_figure_tables import make_errors
from tests.figure_checks import assert_legible, draw_shown
from tests.figure_plans import plan_errors

points_in_area = st.lists(
    st.tuples(st.floats(0.1, 2.9), st.floats(0.1, 1.9)), min_size=1, max_size=25
)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(points_in_area)
def test_labels_overlap_neither_each_other_nor_lines_and_stay_inside(places):
    labels = [Label(f"label {i}", 6.0, "black", place) for i, place in enumerate(places)]
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


def test_missing_numbers_leave_everything_else_where_it_is():
    tables = make_errors(methods=("l2",))
    for table in tables.values():
        ends = [name for name in table.columns if name.endswith(("_low", "_high"))]
        table[ends] = np.nan
    tables["summary"]["pearson"] = np.nan
    tables["error_curve"]["coverage"] = np.nan
    figures = draw_shown(plan_errors(tables))
    words = {key: assert_legible(figure) for key, figure in figures.items()}
    for key, figure in figures.items():
        bars = [own for axes in figure.axes for own in axes.collections]
        assert not any(len(own.get_segments()) for own in bars if isinstance(own, LineCollection))
        assert not any("ntervals" in text for text in words[key])
    assert "L2: MSE .071, r \N{EN DASH}" in words["fit"]


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
