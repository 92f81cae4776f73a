"""Columns of short texts at the right of a figure's rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from capmap.figures.canvas import GAP, Sheet
from capmap.figures.names import widest
from capmap.figures.style import FAINT_INK, TEXT_SIZE

COLUMN_GAP = 1.5 * GAP
MINUS = "\N{MINUS SIGN}"
RANK_NOTE = "In brackets: confidence set of the rank."


@dataclass(frozen=True)
class SideColumns:
    """Texts by the header of their column, the widths of the columns, and all of it in inches."""

    texts: Mapping[str, Sequence[str]]
    widths: list[float]
    width: float


def plan_columns(texts: Mapping[str, Sequence[str]]) -> SideColumns:
    """Measure columns; those without any text are left out.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        Texts of the rows from the top, by the header of their column.
    """
    kept = {header: rows for header, rows in texts.items() if any(rows)}
    widths = [widest([header, *rows], size=TEXT_SIZE) for header, rows in kept.items()]
    return SideColumns(kept, widths, sum(widths) + COLUMN_GAP * len(widths))


def write_columns(sheet: Sheet, columns: SideColumns) -> None:
    """Write planned columns at the right of a sheet's axes, whose rows have one height."""
    x = sheet.width
    for (header, texts), width in zip(columns.texts.items(), columns.widths, strict=True):
        x += COLUMN_GAP
        sheet.write(header, x=x, y=sheet.height + 0.02, color=FAINT_INK, va="bottom")
        for row, text in enumerate(texts):
            y = sheet.height * (1 - (row + 0.5) / len(texts))
            sheet.write(text, x=x, y=y, va="center_baseline")
        x += width


def format_decimal(value: float, decimals: int = 2) -> str:
    """Write a number without the zero in front and with a true minus; empty when missing.

    Examples
    --------
    >>> format_decimal(0.534), format_decimal(-0.5), format_decimal(1.0), format_decimal(-0.001)
    ('.53', '\N{MINUS SIGN}.50', '1.00', '.00')
    """
    if value != value:
        return ""
    text = f"{value:z.{decimals}f}"
    text = text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
    return text.replace("-", MINUS)


def format_p(value: float) -> str:
    """Write a p value with three decimals, as ``<.001`` below; empty when missing.

    Examples
    --------
    >>> format_p(0.0304), format_p(0.0001), format_p(1.0)
    ('.030', '<.001', '1.000')
    """
    return "<.001" if value < 0.001 else format_decimal(value, 3)


def format_interval(low: float, high: float) -> str:
    """Write the interval of a whole number, such as ``2–4``; empty when missing.

    Examples
    --------
    >>> format_interval(2, 4), format_interval(3, 3), format_interval(float("nan"), 4)
    ('2–4', '3', '')
    """
    if low != low or high != high:
        return ""
    return f"{low:.0f}" if low == high else f"{low:.0f}\N{EN DASH}{high:.0f}"


def write_ranks(table: pd.DataFrame) -> list[str]:
    """Write the column rank with rank_low and rank_high, such as ``3 (2–4)``, where they are."""
    ranks = table[["rank", "rank_low", "rank_high"]].astype(float).to_numpy()
    return [
        ("" if rank != rank else f"{rank:.0f}")
        + (f" ({ends})" if (ends := format_interval(low, high)) else "")
        for rank, low, high in ranks
    ]
