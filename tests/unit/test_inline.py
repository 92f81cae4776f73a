"""Figures as pages embed them: what marks say, and nothing that a page may not hold."""

import json
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from capmap.figures import marks
from capmap.figures.style import figure_style
from tests.report_tables import make_ranking
from tests.steps import make_figure

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ["<b>&amp;", "a--b ]]>", '"quoted"', "line\nbreak", "</svg><script>"]


@figure_style()
def read(figure: Figure, name: str = "f") -> ElementTree.Element:
    return ElementTree.fromstring(marks.render_svg(figure, name=name))  # noqa: S314 - our own


def find_marked(root: ElementTree.Element, **told: str) -> list[ElementTree.Element]:
    wanted = {f"data-{key}": value for key, value in told.items()}
    return [one for one in root.iter() if wanted.items() <= one.attrib.items()]


@figure_style()
def draw_lines(names):
    """Draw three kinds of marks: a line, markers, and a collection."""
    figure = Figure(figsize=(3, 2))
    axes = figure.add_axes((0.2, 0.2, 0.7, 0.7))
    [line] = axes.plot([0, 1], [0, 1])
    marks.mark(line, names[0], dataset=names[1], text=names[2])
    [markers] = axes.plot([0, 0.5, 1], [1, 0.5, 0], "o", linestyle="none")
    marks.mark_members(
        markers,
        [marks.Mark(names[0]), marks.Mark(dataset=names[1]), marks.Mark(names[2], more=names[0])],
    )
    lines = LineCollection([[(0, 0), (1, 0.2)], [(0, 0.4), (1, 0.6)]])
    marks.mark_members(lines, [marks.Mark(names[1]), marks.Mark(names[2])])
    axes.add_collection(lines)
    return figure


def test_lines_markers_and_members_say_what_they_stand_for():
    for names in (["a", "b", "c"], HOSTILE[:3], HOSTILE[2:]):
        root = read(draw_lines(names))
        [line] = find_marked(root, model=names[0], dataset=names[1], text=names[2])
        assert [child.tag for child in line] == [f"{SVG}path"]
        [marker] = find_marked(root, model=names[2], more=names[0])
        assert marker.tag == f"{SVG}use"
        assert len(find_marked(root, dataset=names[1])) == 2
        assert len(find_marked(root, model=names[1])) == 1


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=3, max_size=3))
def test_any_name_comes_back_as_it_was(names):
    root = read(draw_lines([f"{place}{name}" for place, name in enumerate(names)]))
    assert len(find_marked(root, model=f"0{names[0]}", text=f"2{names[2]}")) == 1


def test_text_is_text_and_nothing_needs_a_style_or_a_foreign_id():
    table = pd.DataFrame({"model": HOSTILE, "D <1>": 0.5, "D 2": [0.1, np.nan, 0.3, 0.4, 0.5]})
    figures = {
        "scores": make_figure("scores", table, order=HOSTILE),
        "intervals": make_figure("intervals", make_ranking(model=HOSTILE)),
    }
    ids = []
    for name, figure in figures.items():
        root = read(figure, name)
        used = {key for one in root.iter() for key in one.attrib}
        assert "style" not in used
        assert not any(key.startswith("on") for key in used)
        assert {one.tag.removeprefix(SVG) for one in root.iter()} <= {
            *("svg", "g", "path", "use", "defs", "text", "image", "clipPath", "rect"),
            *("pattern", "metadata", "linearGradient", "stop"),
        }
        own = [one.get("id") for one in root.iter() if one.get("id")]
        assert all(str(one).startswith(f"{name}-") for one in own)
        ids += own
        texts = "".join(root.itertext())
        assert "a--b ]]>" in texts
    assert len(ids) == len(set(ids))


def test_rows_and_cells_are_told_with_their_place():
    models = ["a", "b", "c", "d"]
    table = make_ranking(model=models)
    [grid] = [
        json.loads(one.text) for one in read(make_figure("intervals", table)).iter(f"{SVG}metadata")
    ]
    assert (grid["rows"], grid["kinds"]) == (models, ["model", ""])
    assert grid["texts"][0] == "0.800 [0.790, 0.810]"
    assert grid["band"] == [0.0, 244.8]
    many = [f"m{place}" for place in range(12)]
    scores = pd.DataFrame({"model": many, **{f"D{i}": np.arange(12) / 8 for i in range(9)}})
    root = read(make_figure("scores", scores, order=many))
    [grid] = [json.loads(one.text) for one in root.iter(f"{SVG}metadata")]
    assert grid["kinds"] == ["model", "dataset"]
    assert (len(grid["rows"]), len(grid["columns"])) == (12, 9)
    assert grid["texts"][1][0] == "0.125"
    image = next(root.iter(f"{SVG}image"))
    place = [float(image.get(key, 0)) for key in ("x", "width")]
    assert np.allclose(place, [grid["box"][0], grid["box"][2]], atol=1.5)


@pytest.mark.parametrize(
    ("ends", "text"),
    [((0.25, 0.75), "0.500 [0.250, 0.750]"), ((np.nan, 1), "0.500"), ((0, np.inf), "0.500")],
)
def test_estimates_have_their_ends_if_both_are_known(ends, text):
    assert marks.write_estimates([[0.5, *ends]]) == [text]
    assert marks.write_estimates([[np.nan, *ends]]) == [""]
