"""Colors, names and files of figures."""

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path
from PIL import Image

from capmap.analyses import FIGURES, list_figures, list_parameters, load_analysis, place_read
from capmap.artifacts import write_index
from capmap.errors import CapmapError, ValidationError
from capmap.figures import marks
from capmap.figures.canvas import NothingToDraw
from capmap.figures.style import (
    PALETTE,
    figure_style,
    model_colors,
    read_look,
    save_figure,
    shorten_names,
    text_width,
    wear_look,
)
from capmap.pages.report import read_figures
from plot import plot
from tests.figure_tables import make_study, make_tables
from tests.report_pages import make_ranking
from tests.steps import make_figure, put
from tests.toy_settings import make_settings

# Machado, Oliveira and Fernandes (2009), severity 1.0, acting on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(color: str) -> np.ndarray:
    rgb = np.array(mpl.colors.to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB of linear RGB (sRGB primaries, D65)."""
    to_xyz = [[0.4125, 0.3576, 0.1804], [0.2127, 0.7152, 0.0722], [0.0193, 0.1192, 0.9503]]
    xyz = np.array(to_xyz) @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.0888]
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_any_two_colors_of_models_stay_apart_for_color_blind_eyes(vision):
    # A difference of 2.3 in CIELAB is just noticeable; 15 is clear at a glance.
    seen = [lab(np.array(VISION[vision]) @ linear(color)) for color in PALETTE]
    distances = [np.linalg.norm(one - two) for one, two in itertools.combinations(seen, 2)]
    assert min(distances) > 15


def test_names_that_would_be_cut_alike_keep_the_word_in_which_they_differ():
    names = [f"vision_transformer_{way}_pretrained_on_sentinel2" for way in ("mae", "moco", "dino")]
    labels = shorten_names(names, width=1.3, size=7)
    for name, way in zip(names, ("mae", "moco", "dino"), strict=True):
        assert f"…{way}_" in labels[name]


@settings(derandomize=True, deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=60), unique=True, max_size=12))
def test_any_names_get_distinct_labels_that_fit(names):
    labels = shorten_names(names, width=1.0, size=7)
    assert labels == shorten_names(names[::-1], width=1.0, size=7)
    assert len(set(labels.values())) == len(names)
    assert all(text_width(label, size=7) <= 1.0 for label in labels.values())


def test_text_width_agrees_with_matplotlib():
    # Matplotlib measures ink and kerning, so it may be narrower by a little.
    for text in ("satlas_resnet50_sentinel2_si_ms", "Interquartile mean", "(12) …"):
        font = FontProperties(family="DejaVu Sans", size=7)
        width = text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72
        assert text_width(text, size=7) == pytest.approx(width, rel=0.03)


def test_an_unknown_suffix_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"\.pdf, \.svg or \.png"):
        save_figure(Figure(), [tmp_path / "a.pdf", tmp_path / "a.jpg"])
    assert not list(tmp_path.iterdir())


def test_files_hold_no_date_no_version_and_true_type_fonts(tmp_path):
    figure = make_figure("scores", make_tables(["a", "b"], ["d"])["scores"])
    paths = [tmp_path / f"f.{suffix}" for suffix in ("pdf", "svg", "png")]
    save_figure(figure, paths)
    pdf, svg, png = (path.read_bytes() for path in paths)
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf
    assert b"<text" in svg
    for content in (pdf, svg, png):
        for word in (b"Matplotlib v", b"Software", b"Producer"):
            assert word not in content
    # 300 dots per inch are 11811 per meter, in the chunk pHYs.
    place = png.index(b"pHYs") + 4
    assert int.from_bytes(png[place : place + 4], "big") == 11811


def test_environment_and_user_settings_do_not_change_a_byte(tmp_path):
    script = (
        "import sys; import pandas as pd; from capmap.figures.datasets import draw_scores;"
        "from capmap.figures.style import save_figure;"
        "save_figure(draw_scores(pd.read_json(sys.argv[1])), sys.argv[2:])"
    )
    scores = pd.DataFrame({"model": list("abcdefghi"), "d": np.arange(9) / 8, "e": 0.5})
    scores.to_json(tmp_path / "scores.json")
    settings_file = tmp_path / "matplotlibrc"
    settings_file.write_text("font.size: 20\nsavefig.dpi: 50\nsvg.fonttype: path\n")
    here, there = (
        [tmp_path / place / f"f.{suffix}" for suffix in ("pdf", "svg", "png")]
        for place in ("here", "there")
    )
    save_figure(make_figure("scores", scores), here)
    environment = os.environ | {
        "MPLBACKEND": "TkAgg",
        "MATPLOTLIBRC": str(settings_file),
        "SOURCE_DATE_EPOCH": "1",
        "PYTHONHASHSEED": "1",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    command = [sys.executable, "-c", script, str(tmp_path / "scores.json"), *map(str, there)]
    subprocess.run(command, check=True, env=environment)
    assert [path.read_bytes() for path in here] == [path.read_bytes() for path in there]


SVG = "{http://www.w3.org/2000/svg}"
MARKUP = ["<b>&amp;", "a--b ]]>", '"quoted"', "line\nbreak", "</svg><script>"]


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
    for names in (["a", "b", "c"], MARKUP[:3], MARKUP[2:]):
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
    table = pd.DataFrame({"model": MARKUP, "D <1>": 0.5, "D 2": [0.1, np.nan, 0.3, 0.4, 0.5]})
    figures = {
        "scores": make_figure("scores", table, order=MARKUP),
        "intervals": make_figure("intervals", make_ranking(model=MARKUP)),
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


MODELS = ["a", "b", "c"]
FORMATS = ("pdf", "png", "svg")
# matplotlib's blue, in another notation.
BLUE = "#1f77b4"


def draw(folder: Path, options: dict[str, Any], *, models: list[str] | None = None) -> Figure:
    """Draw the intervals of some models with a look, and write them in all formats."""
    scopes = make_tables(models or MODELS, ["D", "-1"])["ranking"]
    with wear_look(read_look(options)):
        figure = make_figure("intervals", scopes)
        save_figure(figure, [folder / f"intervals.{suffix}" for suffix in FORMATS])
    return figure


def read_sizes(folder: Path) -> dict[str, tuple[float, float]]:
    """Width and height in inches that the files say they have."""
    pdf = (folder / "intervals.pdf").read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf)
    svg = re.search(
        r'width="([\d.]+)pt" height="([\d.]+)pt"', (folder / "intervals.svg").read_text("utf-8")
    )
    assert box
    assert svg
    with Image.open(folder / "intervals.png") as image:
        dots = image.info["dpi"]
        png = image.width / dots[0], image.height / dots[1]
    points = {"pdf": box.groups(), "svg": svg.groups()}
    sizes = {name: tuple(float(side) / 72 for side in sides) for name, sides in points.items()}
    return {name: (across, up) for name, (across, up) in sizes.items()} | {"png": png}


def list_texts(figure: Figure) -> list[str]:
    texts = [text.get_text() for text in figure.texts]
    return [*texts, *(label.get_text() for axes in figure.axes for label in axes.get_yticklabels())]


@pytest.mark.parametrize(
    "options",
    [
        {"width": 3.5},
        {"width": 7},
        {"width": 2.1, "font_size": 9},
        {"width": 3.5, "font_size": 8},
        {"width": 12, "font_size": 14},
    ],
)
def test_all_files_have_the_size_that_is_asked_for(tmp_path: Path, options: dict[str, Any]) -> None:
    draw(tmp_path, options)
    sizes = read_sizes(tmp_path)
    for size in sizes.values():
        assert size == pytest.approx((options["width"], sizes["pdf"][1]), abs=0.02)


def test_models_stand_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    assert list_texts(draw(tmp_path, {}))[-3:] == ["a", "b", "c"]
    assert list_texts(draw(tmp_path, {"order": ["c"]}))[-3:] == ["c", "a", "b"]


def test_models_of_the_order_are_drawn_among_many(tmp_path: Path) -> None:
    models = [f"m{number:02}" for number in range(50)]
    texts = list_texts(draw(tmp_path, {"order": ["m45", "m03"]}, models=models))
    assert "Top 39 of 50 models, and 1 more." in texts
    assert [text for text in texts if text in models][:3] == ["m45", "m03", "m00"]


def test_a_color_of_a_model_is_that_of_its_marks(tmp_path: Path) -> None:
    figure = draw(tmp_path, {"colors": {"b": "tab:blue"}})
    colors = [to_hex(line.get_color()) for line in figure.axes[0].lines if line.get_marker() == "|"]
    others = model_colors(MODELS)
    assert colors == [others["a"].lower(), BLUE, others["c"].lower()]


@pytest.mark.parametrize(
    ("palette", "expected"),
    [
        (["black", "#E69F00"], "000000 e69f00"),
        # seaborn.color_palette("colorblind")
        ("colorblind", "0173b2 de8f05 029e73 d55e00 cc78bc ca9161 fbafe4 949494 ece133 56b4e9"),
        # seaborn.color_palette("viridis", 3)
        ("viridis", "3a528b 20908d 5dc962"),
    ],
)
def test_a_palette_colors_the_models(palette: Any, expected: str) -> None:
    with wear_look(read_look({"palette": palette})):
        colors = set(model_colors(MODELS).values())
    known = [bytes.fromhex(color) for color in expected.split()]
    assert len(colors) == min(len(MODELS), len(known))
    for color in colors:
        parts = bytes.fromhex(color[1:])
        assert min(max(abs(a - b) for a, b in zip(parts, own, strict=True)) for own in known) <= 3


def test_another_model_changes_few_colors() -> None:
    before = model_colors([f"backbone {number}" for number in range(5)])
    changes = 0
    for number in range(5, 55):
        after = model_colors([*before, f"backbone {number}"])
        changes += sum(after[model] != color for model, color in before.items())
    assert 0 < changes < 0.1 * 50 * len(before)


@pytest.mark.parametrize("width", [2.0, 3.5, 7.0, 12.0])
@pytest.mark.parametrize("size", [6, 8, 12])
def test_no_label_reaches_over_the_edge(width: float, size: float) -> None:
    models = [f"a_model_with_a_long_name_{number}" for number in range(5)]
    tables = make_study(models) | make_tables(models, ["D", "-1"])
    with wear_look(read_look({"width": width, "font_size": size})):
        figures = [
            make_figure("intervals", tables["ranking"]),
            make_figure("rank_shift", tables["ranking"]),
            make_figure("scores", tables["scores"]),
        ]
        for figure in figures:
            figure.canvas.draw()
            box = figure.bbox
            for axes in figure.axes:
                for label in axes.get_yticklabels():
                    assert label.get_window_extent().x0 >= box.x0
            for text in figure.texts:
                assert text.get_window_extent().x1 <= box.x1 + 1


def test_figures_are_chosen() -> None:
    settings = make_settings(analyses=["pairwise"])
    everything = list_figures(settings)
    assert {"intervals", "scores", "pairwise"} <= set(everything)
    settings["figures"] |= {"only": ["intervals", "elo"]}
    assert list_figures(settings) == ["intervals"]


OPTIONS = {"scores": {}, "elo": {"confidence_level": 0.95}}
TABLES = ("tables/scores", "tables/seeds", "tables/ranking", "comparisons/elo")


class Drawn:
    """Tables of a study in a folder, and how they are drawn."""

    def __init__(self, folder: Path, models: list[str]) -> None:
        self.folder = folder
        self.tables = make_study(models) | make_tables(models, ["D", "-1"])
        for place in TABLES:
            put(self.tables[place.partition("/")[2]], folder / f"{place}.csv")
        write_index(folder / "comparisons")

    def draw(self) -> None:
        """Draw the figures."""
        plot(
            figures=str(self.folder / "figures"),
            comparisons=str(self.folder / "comparisons"),
            folder=str(self.folder),
            drawn={name: {"options": options, "look": {}} for name, options in OPTIONS.items()},
            formats=["pdf"],
        )

    def read(self) -> dict[str, bytes]:
        """The bytes of all figures."""
        return {path.name: path.read_bytes() for path in self.folder.glob("figures/*.*")}


@pytest.fixture
def study(tmp_path):
    return Drawn(tmp_path, ["a", "b", "c"])


def test_nothing_is_drawn_where_there_is_nothing_to_show(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise NothingToDraw("No run.")

    monkeypatch.setattr("plot.draw_figure", refuse)
    study.draw()
    index = "file,sha256,reason\n" + "".join(f"{name},,No run.\n" for name in OPTIONS)
    assert study.read() == {"index.csv": index.encode()}
    assert read_figures(study.folder / "figures") == ({}, {*OPTIONS})


def test_no_figure_of_tables_without_rows_is_drawn(tmp_path):
    for name, owner in FIGURES.items():
        draw = load_analysis(owner).figures[name].load()
        for read in ["ranking", *list_parameters(draw, behind_star=False)]:
            place = tmp_path / place_read(read, owner)
            put(pd.DataFrame({"model": []}), place)
    write_index(tmp_path / "comparisons")
    plot(
        figures=str(tmp_path / "figures"),
        comparisons=str(tmp_path / "comparisons"),
        folder=str(tmp_path),
        drawn={name: {"options": {}, "look": {}} for name in FIGURES},
        formats=[],
    )
    assert read_figures(tmp_path / "figures") == ({}, {*FIGURES})


def test_a_figure_that_was_removed_is_missed(study):
    study.draw()
    (study.folder / "figures/elo.svg").unlink()
    with pytest.raises(CapmapError, match=r"elo\.svg is no longer there"):
        read_figures(study.folder / "figures")


def test_a_refused_figure_fails_the_job(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise ValidationError("no model 'x'")

    monkeypatch.setattr("plot.draw_figure", refuse)
    with pytest.raises(ValidationError, match="no model 'x'"):
        study.draw()
