"""Examples: images with a model's highest scores, and which of them are right."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from capmap.figures.canvas import (
    GAP,
    HEADER_HEIGHT,
    PADDING,
    Margins,
    Sheet,
    Wording,
    draw_legend,
    draw_note,
    make_sheet,
    plan_legend,
)
from capmap.figures.look import page_width
from capmap.figures.names import shorten_names
from capmap.figures.style import (
    FAINT_INK,
    INK,
    PALETTE,
    SMALL_SIZE,
    TEXT_SIZE,
    figure_style,
)
from capmap.wording import format_count

HEADING = "Example predictions"
NOTHING = "No image was chosen as an example."
NOTE = (
    "As many classes are predicted as the image has labels. Bars: scores, each panel on its own "
    "scale."
)
LOOKS: dict[tuple[bool, bool], tuple[str, str, Any]] = {
    (True, True): ("right", "\N{CHECK MARK}", {"facecolor": PALETTE[0], "edgecolor": PALETTE[0]}),
    (True, False): ("wrong", "\N{BALLOT X}", {"facecolor": PALETTE[3], "edgecolor": PALETTE[3]}),
    (False, True): ("missed label", "!", {"facecolor": "white", "edgecolor": PALETTE[0]}),
    (False, False): ("not predicted", "", {"facecolor": "#C4C4C4", "edgecolor": "#C4C4C4"}),
}
MAX_PANELS = 12
MAX_ROWS = 7
COLUMNS = 2
THUMB = 1.12
ROW = 0.16
TITLE = 0.2
BETWEEN = 0.14
CLASS_WIDTH = 0.95
MARK_WIDTH = 0.12

Image = npt.NDArray[Any]


@figure_style()
def draw_prediction_panels(predictions: pd.DataFrame, images: Mapping[str, Image]) -> Figure:
    """Draw images with scores of classes, right and wrong predictions, and missed labels.

    Parameters
    ----------
    predictions : DataFrame
        model, image (its id), class (its name), score, is_predicted, is_label (booleans); rows in
        any order. Infinite and missing scores have no bar.
    images : mapping of str to ndarray
        Thumbnails by id, of shape (height, width) in gray or (height, width, 3 or 4) in color,
        either uint8 or from 0 to 1; one may be missing.

    Returns
    -------
    matplotlib.figure.Figure
        A page wide (7 in): a panel for each of the first 12 pairs of image and model by name, two
        in a row. Of at most 7 classes per panel, predicted ones and labels go first, then those
        with the highest scores.
    """
    pairs = sorted(set(zip(predictions["image"], predictions["model"], strict=True)))
    if not pairs:
        return draw_note(NOTHING, heading=HEADING)
    chosen = pairs[:MAX_PANELS]
    left_out = len(pairs) - len(chosen)
    notes = (f"Not drawn: {format_count(left_out, 'more example')}.",) if left_out else ()
    rows = -(-len(chosen) // COLUMNS)
    tall = TITLE + max(THUMB, MAX_ROWS * ROW)
    legend = plan_legend([name for name, _, _ in LOOKS.values()], sheet_width=page_width())
    sheet = make_sheet(
        width=page_width(),
        height=rows * tall + (rows - 1) * BETWEEN,
        margins=Margins(PADDING, PADDING, head=legend.height, ticks=0.0),
        wording=Wording(HEADING, "", (NOTE, *notes)),
    )
    sheet.axes.set_axis_off()
    height = sheet.height - HEADER_HEIGHT
    lowered = replace(sheet, height=height)
    draw_legend(lowered, legend, [Patch(linewidth=0.8, **look) for _, _, look in LOOKS.values()])
    width = (sheet.width - BETWEEN) / COLUMNS
    for place, (image, model) in enumerate(chosen):
        row, column = divmod(place, COLUMNS)
        left, top = column * (width + BETWEEN), sheet.height - row * (tall + BETWEEN)
        own = predictions[(predictions["image"] == image) & (predictions["model"] == model)]
        _write_title(sheet, f"{image}, {model}", left=left, top=top, width=width)
        _show_image(sheet, images.get(image), left=left, top=top - TITLE)
        bars = left + THUMB + GAP
        _draw_scores(
            sheet, _choose_rows(own), left=bars, top=top - TITLE, width=width - THUMB - GAP
        )
    return sheet.figure


def _write_title(sheet: Sheet, text: str, *, left: float, top: float, width: float) -> None:
    label = shorten_names([text], width=width, size=TEXT_SIZE)[text]
    sheet.write(label, x=left, y=top - 0.03, va="top", color=FAINT_INK)


def _show_image(sheet: Sheet, image: Image | None, *, left: float, top: float) -> None:
    """Show an image, whole, in its square; a frame with a note where there is none."""
    axes = sheet.add_axes(left=left, bottom=top - THUMB, width=THUMB, height=THUMB)
    axes.set(xticks=[], yticks=[])
    if image is None:
        axes.spines[:].set(visible=True, color=FAINT_INK)
        axes.text(0.5, 0.5, "no image", ha="center", va="center", size=SMALL_SIZE, color=FAINT_INK)
        return
    axes.set_anchor("NW")
    axes.spines[:].set_visible(False)
    axes.imshow(image, cmap="gray", interpolation="antialiased")


def _choose_rows(own: pd.DataFrame) -> pd.DataFrame:
    """The classes of a panel, the highest score first."""
    rows = own.assign(
        score=own["score"].astype("float64"),
        is_last=~(own["is_predicted"].astype(bool) | own["is_label"].astype(bool)),
    )
    rows = rows.sort_values(["is_last", "score", "class"], ascending=[True, False, True])
    rows = rows.head(MAX_ROWS)
    return rows.sort_values(["score", "class"], ascending=[False, True], ignore_index=True)


def _draw_scores(
    sheet: Sheet, rows: pd.DataFrame, *, left: float, top: float, width: float
) -> None:
    """Draw a bar per class from 0, with its name at the left and a mark at the right."""
    names = shorten_names(rows["class"], width=CLASS_WIDTH, size=SMALL_SIZE)
    height = len(rows) * ROW
    room = width - CLASS_WIDTH - GAP - MARK_WIDTH
    axes = sheet.add_axes(
        left=left + CLASS_WIDTH + GAP / 2, bottom=top - height, width=room, height=height
    )
    scores = rows["score"].to_numpy(float)
    finite = scores[np.isfinite(scores)]
    low, high = min(0.0, *finite, 0.0), max(0.0, *finite, 0.0)
    axes.set(xlim=(low, high if high > low else low + 1), ylim=(len(rows) - 0.5, -0.5))
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    axes.axvline(0, color="black", linewidth=0.6, clip_on=False)
    for place, row in enumerate(rows.to_dict("records")):
        _, mark, look = LOOKS[bool(row["is_predicted"]), bool(row["is_label"])]
        if np.isfinite(row["score"]):
            axes.barh(place, row["score"], 0.62, linewidth=0.8, **look)
        y = top - (place + 0.5) * ROW
        write: dict[str, Any] = {"size": SMALL_SIZE, "va": "center_baseline"}
        sheet.write(names[row["class"]], x=left + CLASS_WIDTH, y=y, ha="right", color=INK, **write)
        sheet.write(mark, x=left + width, y=y, ha="right", color=look["edgecolor"], **write)
