"""Boxes: median and quartiles of values, with whiskers to the extremes."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd
from matplotlib.axes import Axes

Boxes = Mapping[float, "pd.Series[float]"]


def draw_boxes(
    axes: Axes,
    boxes: Boxes,
    *,
    width: float,
    box: Mapping[str, Any],
    line: Mapping[str, Any],
    median: float,
    orientation: Literal["vertical", "horizontal"] = "vertical",
) -> None:
    """Draw a box of values at each place, with whiskers like a line and a black median."""
    if not boxes:
        return
    axes.boxplot(
        [values.to_numpy(float) for values in boxes.values()],
        positions=list(boxes),
        widths=width,
        whis=(0, 100),
        orientation=orientation,
        showcaps=False,
        showfliers=False,
        patch_artist=True,
        manage_ticks=False,
        boxprops={"linewidth": line["linewidth"], **box},
        whiskerprops={**line, "solid_capstyle": "butt"},
        medianprops={"color": "black", "linewidth": median, "solid_capstyle": "butt"},
    )
