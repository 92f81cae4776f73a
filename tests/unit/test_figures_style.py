"""Colors, names and files of figures."""

import itertools
import os
import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from capmap.figures.style import (
    PALETTE,
    break_name,
    model_styles,
    printable_text,
    save_figure,
    shorten_names,
    text_width,
    wrap_text,
)
from tests.figure_checks import make_tables
from tests.steps import make_figure

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
HOSTILE = [
    "$x_1$",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "_private",
    "back\\slash\\alpha",
    "模型甲",
    "模型乙",
    "a" * 150 + "X" + "b" * 149,
    "a" * 150 + "Y" + "b" * 149,
    "W" * 300,
    "50% & more #1",
    "line\nbreak\tand tab",
    "émile-ß-Ω",
    "-->",
    "\u202eright to left",
    "\ud800 lone surrogate",
]


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


def test_forty_models_all_look_different():
    styles = model_styles(f"m{number}" for number in range(40))
    looks = {(style.color, style.marker) for style in styles.values()}
    lines = {(style.color, style.line) for style in styles.values()}
    assert len(looks) == len(lines) == 40


@pytest.mark.parametrize("width", [0.8, 2.0])
def test_labels_fit_are_printable_and_differ(width):
    labels = shorten_names(HOSTILE, width=width, size=7)
    assert set(labels) == set(HOSTILE)
    assert len(set(labels.values())) == len(HOSTILE)
    assert all(label.isprintable() for label in labels.values())
    assert max(text_width(label, size=7) for label in labels.values()) <= width


def test_names_that_would_be_cut_alike_keep_the_word_in_which_they_differ():
    names = [f"vision_transformer_{way}_pretrained_on_sentinel2" for way in ("mae", "moco", "dino")]
    labels = shorten_names(names, width=1.3, size=7)
    for name, way in zip(names, ("mae", "moco", "dino"), strict=True):
        assert f"…{way}…" in labels[name]


def test_a_name_is_broken_where_its_lines_are_most_alike():
    assert break_name("segmentation of images", width=1.0, size=7) == "segmentation\nof images"
    assert break_name("land", width=1.0, size=7) == "land"
    assert break_name("W" * 30, width=1.0, size=7) == ""
    assert break_name("W" * 30 + " a", width=1.0, size=7) == ""


def test_characters_without_a_glyph_are_spelled_out():
    assert printable_text("模\n\u202e😀é") == "\\u6a21\\n\\u202e😀é"


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


def test_wrapped_text_breaks_at_spaces_and_ends_in_an_ellipsis():
    lines = wrap_text("word " * 100, width=2.0, size=7, max_lines=2)
    assert len(lines) == 2
    assert lines[0].endswith("word")
    assert lines[1].endswith("…")
    assert max(text_width(line, size=7) for line in lines) <= 2.0


def test_drawing_leaves_the_settings_of_the_process_alone():
    before = dict(mpl.rcParams)
    make_figure("scores", make_tables(["a"], ["d"])["scores"])
    assert dict(mpl.rcParams) == before


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
