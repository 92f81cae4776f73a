"""What a reader would complain about in a figure, measured; and tables to draw figures from."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.transforms import Bbox

from capmap.figures.canvas import NothingToDraw
from capmap.figures.style import save_figure

DPI = 100
SLACK = 0.75


class DrawnText(NamedTuple):
    """A line of text as it was drawn: its size in points, and its box in pixels from below."""

    words: str
    size: float
    box: Bbox


class TextRecorder(RendererAgg):
    """Measures like Agg, and remembers every line of text in place of drawing anything."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__(width, height, DPI)  # type: ignore[no-untyped-call]
        self.texts: list[DrawnText] = []
        for shape in ("path", "path_collection", "markers", "quad_mesh", "image"):
            setattr(self, f"draw_{shape}", lambda *_arguments, **_options: None)

    def draw_text(
        self,
        gc: Any,  # noqa: ARG002
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        *_rest: Any,
        **_options: Any,
    ) -> None:
        """Remember a line of text whose baseline starts at a place in pixels from above."""
        size = self.get_text_width_height_descent(s, prop, False)  # type: ignore[no-untyped-call]
        width, height, descent = size
        y_up = self.height - y
        if angle == 90:
            box = Bbox.from_bounds(x - height + descent, y_up, height, width)
        else:
            box = Bbox.from_bounds(x, y_up - descent, width, height)
        if s.strip():
            self.texts.append(DrawnText(s, prop.get_size_in_points(), box))


def drawn_texts(figure: Figure) -> list[DrawnText]:
    """Draw a figure at 100 dpi and list the lines of text that appeared."""
    figure.set_dpi(DPI)
    recorder = TextRecorder(*FigureCanvasAgg(figure).get_width_height())
    figure.draw(recorder)
    return recorder.texts


def drawn_words(figure: Figure) -> list[str]:
    """All lines of text that a figure shows."""
    return [text.words for text in drawn_texts(figure)]


def cell_texts(figure: Figure) -> dict[tuple[int, int], str]:
    """Texts in the cells of a heat map, by (row, column), the empty ones left out."""
    return {
        (int(text.get_position()[1]), int(text.get_position()[0])): text.get_text()
        for text in figure.axes[0].texts
        if text.get_text()
    }


def draw_shown(plan: Mapping[str, Callable[[], Figure]]) -> dict[str, Figure]:
    """Draw figures by name, without those that have nothing to show."""
    drawn = {}
    for name, draw in plan.items():
        with suppress(NothingToDraw):
            drawn[name] = draw()
    return drawn


def assert_legible(figure: Figure, *, widths: Sequence[float] = (3.4, 7.0)) -> list[str]:
    """Fail unless a figure is as wide as a column or page, and its texts can all be read.

    No text is smaller than 6 points, leaves the figure, or overlaps another one. Returns all lines
    of text, as `drawn_words` does.
    """
    width, height = figure.get_size_inches()
    assert float(width) in widths
    assert height < 11
    texts = drawn_texts(figure)
    for text in texts:
        assert text.size >= 6, text
        assert min(text.box.min) >= -SLACK, text
        assert text.box.x1 <= width * DPI + SLACK, text
        assert text.box.y1 <= height * DPI + SLACK, text
    left, bottom, right, top = np.array([text.box.extents for text in texts]).T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    up = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom)
    overlaps = np.argwhere(np.triu((across >= SLACK) & (up >= SLACK), k=1))
    assert not overlaps.size, [(texts[one].words, texts[two].words) for one, two in overlaps]
    return [text.words for text in texts]


def assert_same_bytes(
    draw_all: Callable[[Any], Mapping[str, Figure]],
    tables: Any,
    others: Any,
    folder: Path,
    *,
    formats: Sequence[str] = ("svg",),
) -> None:
    """Fail unless the figures of two versions of a study's tables have the same bytes."""
    for version, source in (("a", tables), ("b", others)):
        for key, figure in draw_all(source).items():
            save_figure(figure, [folder / version / f"{key}.{suffix}" for suffix in formats])
    files = sorted((folder / "a").iterdir())
    assert files
    for path in files:
        assert path.read_bytes() == (folder / "b" / path.name).read_bytes(), path.name


def make_ranking(
    models: Sequence[str], column: str, values: np.ndarray, half_width: float
) -> pd.DataFrame:
    """Make a ranking, the best model first, with intervals of values and ranks."""
    ranks = np.arange(1, len(models) + 1)
    return pd.DataFrame(
        {
            "model": list(models),
            column: values,
            "ci_low": values - half_width,
            "ci_high": values + half_width,
            "rank": ranks,
            "rank_low": np.maximum(ranks - 2, 1),
            "rank_high": np.minimum(ranks + 2, len(models)),
            "datasets": 8,
            "tie_group": "",
        }
    )


def make_tables(
    models: Sequence[str],
    datasets: Sequence[str],
    *,
    n_seeds: int = 3,
    missing: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
) -> dict[str, pd.DataFrame]:
    """Make the tables that figures read, with made-up values between two ends.

    The values need not be right, only plausible: a figure computes nothing from them.
    """
    rng = np.random.default_rng(7)
    values = rng.uniform(low, high, (len(models), len(datasets)))
    values[rng.random(values.shape) < missing] = np.nan
    scores = pd.DataFrame(values, columns=list(datasets))
    scores.insert(0, "model", list(models))
    seeds = scores.melt("model", var_name="dataset", value_name="normalized_mean").dropna()
    seeds["n"] = n_seeds
    seeds["normalized_std"] = rng.uniform(0, 0.1, len(seeds)) if n_seeds > 1 else np.nan
    first = _make_ranking(models, rng, low, high, has_intervals=n_seeds > 1)
    first = first.assign(missing=np.isnan(values).sum(axis=1))
    others = [
        first.assign(statistic=name, rank=rng.permutation(len(models)) + 1)
        for name in ("mean", "trimmed_mean", "median")
    ]
    return {
        "scores": scores,
        "seeds": seeds.reset_index(drop=True),
        "ranking": pd.concat([first, *others], ignore_index=True),
    }


def _make_ranking(
    models: Sequence[str],
    rng: np.random.Generator,
    low: float,
    high: float,
    *,
    has_intervals: bool,
) -> pd.DataFrame:
    score = np.sort(rng.uniform(low, high, len(models)))[::-1]
    ranks = np.arange(1, len(models) + 1)
    table = pd.DataFrame({"model": list(models), "score": score, "rank": ranks})
    table = table.assign(group="", unit="runs", statistic="iqm")
    table["ci_low"] = score - 0.05 if has_intervals else np.nan
    table["ci_high"] = score + 0.05 if has_intervals else np.nan
    table["rank_low"] = np.maximum(ranks - 1, 1) if has_intervals else np.nan
    table["rank_high"] = np.minimum(ranks + 1, len(models)) if has_intervals else np.nan
    letters = [chr(ord("a") + rank % 26) + "xyz" for rank in ranks]
    table["tie_group"] = letters if has_intervals else ""
    return table
