"""Which color is which model, in as many columns as the figure has room for, above the axes."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.artist import Artist

from capmap.figures.canvas import HEADER_HEIGHT, PADDING, Sheet
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import TEXT_SIZE

KEY_WIDTH = 0.3
LINE_HEIGHT = 0.14


@dataclass(frozen=True)
class Legend:
    """Texts of a legend in order, its columns, and its height in inches with its margin."""

    texts: list[str]
    columns: int
    height: float


def plan_legend(models: Sequence[str], *, sheet_width: float) -> Legend:
    """Arrange models in rows that fit a sheet; names too long for one row are shortened."""
    room = sheet_width - 2 * PADDING
    labels = shorten_names(models, width=room - KEY_WIDTH, size=TEXT_SIZE)
    width = widest(labels.values(), size=TEXT_SIZE) + KEY_WIDTH
    columns = max(1, min(len(models), int(room / width)))
    rows = -(-len(models) // columns)
    return Legend([labels[model] for model in models], columns, rows * LINE_HEIGHT + PADDING)


def draw_legend(sheet: Sheet, legend: Legend, keys: Sequence[Artist]) -> None:
    """Draw a planned legend, read line by line, above the header of a sheet's axes."""
    _, sheet_height = sheet.figure.get_size_inches()
    bottom = sheet.bottom + sheet.height + HEADER_HEIGHT
    by_column = [
        position
        for column in range(legend.columns)
        for position in range(column, len(keys), legend.columns)
    ]
    sheet.figure.legend(
        [keys[position] for position in by_column],
        [legend.texts[position] for position in by_column],
        loc="lower left",
        bbox_to_anchor=(0.0, bottom / sheet_height),
        ncols=legend.columns,
        frameon=False,
        borderpad=0,
        borderaxespad=PADDING * 72 / TEXT_SIZE,
        handlelength=1.3,
        handleheight=0.8,
        handletextpad=0.5,
        columnspacing=1.0,
        labelspacing=0.35,
    )
