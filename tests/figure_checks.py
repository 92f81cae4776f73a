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
from capmap.ranking import choose
from tests.steps import make_figure

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
        super().__init__(width, height, DPI)
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
        size = self.get_text_width_height_descent(s, prop, False)
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


HOSTILE = (
    ["$x_1$", "=cmd|calc", "<script>", "_private", "back\\slash\\alpha", "模型甲", "模型乙", "007"]
    + ["a" * 150 + middle + "b" * 149 for middle in "XY"]
    + ["W" * 300, "50% & more", "line\nbreak", "-->", "\u202eevil", "😀 emoji", "émile"]
)


def name(kind, count):
    return [f"{kind}-{number:02d}" for number in range(count)]


def compare(*datasets):
    """Make the table of a comparison of two datasets, or of none."""
    return pd.DataFrame([datasets] if datasets else [], columns=["dataset_a", "dataset_b"])


VERSIONS = compare("V1", "V2")


def plan_main(tables):
    order = list(choose(tables["ranking"])["model"])
    return {
        "scores": lambda: make_figure("scores", tables["scores"], order=order),
        "intervals": lambda: make_figure("intervals", tables["ranking"]),
        "rank_shift": lambda: make_figure("rank_shift", tables["ranking"]),
    }


def plan_comparisons(tables):
    order = list(choose(tables["ranking"])["model"])
    pairs, against = tables["pairwise"], {"reference": order[0], "order": order}
    plan = {
        "pairwise": lambda: make_figure("pairwise", pairs, order=order, alpha=0.05),
        "pairwise_reference": lambda: make_figure("pairwise_reference", pairs, **against),
    }
    others = {
        "groups": lambda: make_figure("groups", tables["groups"]),
    }
    return others if pairs.empty else plan | others


def plan_curves(tables):
    order = list(choose(tables["ranking"])["model"])
    tests = (tables["mean_ranks"], tables["nemenyi"], tables["friedman"])
    return {
        "critical_difference": lambda: make_figure("critical_difference", *tests, alpha=0.05),
        "profiles": lambda: make_figure("profiles", tables["profiles"], order=order),
        "elo": lambda: make_figure("elo", tables["elo"], order=order, confidence_level=0.95),
    }


def plan_map(tables):
    return {"map": lambda: make_figure("capability_map", tables["map"])}


def plan_errors(tables):
    points = tables["validation"], tables["summary"]
    return {
        "fit": lambda: make_figure("prediction_fit", *points, dimension=5),
        "curve": lambda: make_figure("error_curve", tables["error_curve"]),
    }


def plan_labels(tables, *, degradation=VERSIONS):
    metrics = tables["metrics"]
    return {
        "label_counts": lambda: make_figure("label_counts", tables["label_counts"]),
        "metric_lines": lambda: make_figure("metric_lines", tables["summary"], degradation),
        "subgroup_boxes": lambda: make_figure("subgroup_boxes", metrics, degradation),
        "seed_boxes": lambda: make_figure("seed_boxes", metrics),
        "metric_rank_shift": lambda: make_figure(
            "metric_rank_shift", tables["rank_shift"], rank_by="asma"
        ),
    }


def plan_checkpoints(tables, *, metric="accuracy", order=()):
    curves = (tables["curves"], tables["selected"], tables["checkpoints"])
    return {
        "curves": lambda: make_figure("checkpoint_curves", *curves, metric=metric, order=order),
    }


def make_checkpoints(models, runs, steps, *, split="validation"):
    """Make plausible tables of trainings of each model."""
    rng = np.random.default_rng(5)
    curves = pd.DataFrame(
        [
            (f"{model} run{run}", model, "accuracy", split, 100 * step, rng.random())
            for model in models
            for run in range(runs)
            for step in range(1, steps + 1)
        ],
        columns=["training", "model", "metric", "split", "step", "mean"],
    )
    curves = curves.assign(ci_low=curves["mean"] - 0.1, ci_high=curves["mean"] + 0.1, datasets=4)
    curves["trainings"] = 1
    best = curves.sort_values("mean").drop_duplicates("training", keep="last")
    groups = curves.groupby("training")["mean"]
    selected = best[["model", "training", "step"]].assign(selection=best["mean"])
    selected["checkpoints"] = steps
    selected["mean"] = selected["training"].map(groups.mean())
    selected["last"] = selected["training"].map(groups.last())
    keys = ["model", "metric", "split", "step"]
    means = curves.groupby(keys, as_index=False)[["mean", "ci_low", "ci_high"]].mean()
    means = means.assign(training="", datasets=4, trainings=runs).iloc[: None if runs > 1 else 0]
    return {
        "curves": pd.concat([curves, means], ignore_index=True),
        "selected": selected.reset_index(drop=True),
        "checkpoints": selected.assign(split=split, metric="accuracy"),
    }
