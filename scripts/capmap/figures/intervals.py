"""Interquartile means with their intervals, the best model on top."""

from itertools import groupby

import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    PADDING,
    ROW_HEIGHT,
    Margins,
    Sheet,
    Wording,
    choose_models,
    fit_labels,
    make_sheet,
)
from capmap.figures.names import shorten_names, widest
from capmap.figures.style import (
    COLUMN_WIDTH,
    FAINT_INK,
    PAGE_WIDTH,
    TEXT_SIZE,
    ModelStyle,
    figure_style,
    model_styles,
)

MIN_AXES = 1.3
WIDE_LABEL = 2.6
LETTERS_WIDTH = 0.6


@figure_style()
def draw_intervals(iqm: pd.DataFrame) -> Figure:
    """Draw each model's interquartile mean with its interval, rank and tie groups.

    Parameters
    ----------
    iqm : DataFrame
        model, iqm, ci_low, ci_high (normalized scores), rank, rank_low, rank_high, ties; rows in
        any order. Ends of intervals and ties may be empty.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    A model without an interval has an open marker, and a note says so. At the right stand the
    rank with its interval and the letters of the model's tie groups. Of more than 40 models the
    best 40 are drawn.
    """
    styles = model_styles(iqm["model"])
    table = iqm.sort_values(["rank", "model"]).set_index("model")
    models, notes = choose_models(table.index, list(table.index))
    table = table.loc[models]
    labels = fit_labels(models, narrow=WIDE_LABEL, wide=WIDE_LABEL)
    columns = _describe_columns(table)
    widths = [widest([header, *texts], size=TEXT_SIZE) for header, texts in columns.items()]
    margins = Margins(
        left=PADDING + max(labels.width, 0.35) + GAP,
        right=PADDING + sum(widths) + 1.5 * GAP * len(widths),
    )
    narrow = COLUMN_WIDTH - margins.left - margins.right >= MIN_AXES
    sheet = make_sheet(
        width=COLUMN_WIDTH if narrow else PAGE_WIDTH,
        height=len(models) * ROW_HEIGHT,
        margins=margins,
        wording=Wording(
            heading="Interquartile mean with interval",
            x_label="Interquartile mean of normalized scores",
            notes=notes + _explain_marks(table),
        ),
    )
    _draw_points(sheet, table, styles)
    sheet.axes.grid()
    sheet.limit_ticks()
    sheet.label_rows(labels.texts, header="model")
    _write_columns(sheet, columns, widths)
    return sheet.figure


def _draw_points(sheet: Sheet, table: pd.DataFrame, styles: dict[str, ModelStyle]) -> None:
    for row, (model, ends) in enumerate(zip(table.index, _finite_ends(table), strict=True)):
        look = styles[model]
        if ends:
            sheet.axes.plot(ends, (row, row), color=look.color, linewidth=1.4)
        sheet.axes.plot(
            table["iqm"].iloc[row],
            row,
            marker=look.marker,
            markersize=4,
            color=look.color,
            markerfacecolor=look.color if ends else "white",
        )


def _finite_ends(table: pd.DataFrame) -> list[tuple[float, float] | None]:
    ends = table[["ci_low", "ci_high"]].to_numpy(float)
    return [None if low != low or high != high else (low, high) for low, high in ends]


def _explain_marks(table: pd.DataFrame) -> tuple[str, ...]:
    notes = []
    if None in _finite_ends(table):
        notes.append("Open marker: no interval.")
    if table["rank_low"].notna().any():
        notes.append("In brackets: interval of the rank.")
    if any(_list_ties(table)):
        notes.append("Models that share a letter cannot be separated.")
    return (" ".join(notes),) if notes else ()


def _describe_columns(table: pd.DataFrame) -> dict[str, list[str]]:
    """Texts of the columns at the right margin, by their header."""
    ranks = [
        f"{rank:.0f}"
        if low != low or high != high
        else f"{rank:.0f} ({low:.0f}\N{EN DASH}{high:.0f})"
        for rank, low, high in table[["rank", "rank_low", "rank_high"]].to_numpy(float)
    ]
    columns = {"rank": ranks}
    spans = [_join_spans(ties) for ties in _list_ties(table)]
    if any(spans):
        short = shorten_names(spans, width=LETTERS_WIDTH, size=TEXT_SIZE)
        columns["ties"] = [short[span] for span in spans]
    return columns


def _list_ties(table: pd.DataFrame) -> list[str]:
    return [ties if isinstance(ties, str) else "" for ties in table["ties"]]


def _join_spans(letters: str) -> str:
    """Write three or more consecutive letters as a span: ``abcdf`` becomes ``a\N{EN DASH}df``."""
    if not letters.isalpha():
        return letters
    runs = groupby(enumerate(letters), key=lambda item: ord(item[1]) - item[0])
    parts = ["".join(letter for _, letter in run) for _, run in runs]
    return "".join(f"{part[0]}\N{EN DASH}{part[-1]}" if len(part) > 2 else part for part in parts)


def _write_columns(sheet: Sheet, columns: dict[str, list[str]], widths: list[float]) -> None:
    x = sheet.width
    row_height = sheet.height / len(columns["rank"])
    for (header, texts), width in zip(columns.items(), widths, strict=True):
        x += 1.5 * GAP
        above = sheet.height + 0.02
        sheet.write(header, x=x, y=above, color=FAINT_INK, va="bottom")
        for row, text in enumerate(texts):
            y = sheet.height - (row + 0.5) * row_height
            sheet.write(text, x=x, y=y, va="center_baseline")
        x += width
