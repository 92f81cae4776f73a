"""What a study chooses for its figures is what is drawn."""

import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from PIL import Image

from capmap.analyses import list_figures
from capmap.figures.canvas import choose_models
from capmap.figures.lines import cast_models
from capmap.figures.style import Look, model_colors, read_look, save_figure, wear_look
from capmap.settings.checking import check_settings
from capmap.settings.study import Study
from tests.curve_figure_tables import make_study
from tests.figure_checks import make_tables
from tests.steps import make_figure

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


def read_pdf(folder: Path) -> bytes:
    """The drawing of a PDF file, with the names of its fonts."""
    content = (folder / "intervals.pdf").read_bytes()
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    return content + b"".join(map(_decompress, streams))


def _decompress(stream: bytes) -> bytes:
    try:
        return zlib.decompress(stream)
    except zlib.error:
        return b""


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


def test_models_of_the_order_are_drawn_among_many() -> None:
    models = [f"m{number:02}" for number in range(50)]
    with wear_look(Look(order=("m45", "m03"))):
        chosen, (note,) = choose_models(models, models)
        cast = cast_models(models, models)
    assert chosen[:3] == ["m45", "m03", "m00"]
    assert len(chosen) == 40
    assert note == "Top 39 of 50 models, and 1 more."
    assert cast.colored[:3] == ["m45", "m03", "m00"]
    assert len(cast.colored) == 10


def test_a_color_of_a_model_is_that_of_its_marks(tmp_path: Path) -> None:
    figure = draw(tmp_path, {"colors": {"b": "tab:blue"}})
    colors = [to_hex(line.get_color()) for line in figure.axes[0].lines if line.get_marker() == "|"]
    others = model_colors(MODELS)
    assert colors == [others["a"].lower(), BLUE, others["c"].lower()]
    # 31, 119 and 180 of 255.
    assert b"0.1215686275 0.4666666667 0.7058823529 RG" in read_pdf(tmp_path)


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
    with wear_look(Look(width=width, font_size=size)):
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
    settings = check_settings({"analyses": ["pairwise"]}, Study)
    everything = list_figures(settings)
    assert {"intervals", "scores", "pairwise"} <= set(everything)
    settings["figures"]["skip"] = ["scores"]
    assert list_figures(settings) == [name for name in everything if name != "scores"]
    settings["figures"] |= {"only": ["scores", "intervals", "elo"]}
    assert list_figures(settings) == ["intervals"]
