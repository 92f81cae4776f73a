r"""Floats of LaTeX whose tables fit the page, and names that are printed as they stand.

Widths are estimates in points: of Computer Modern in ``\footnotesize``, on the safe side.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from capmap.tables import escape_latex
from capmap.wording import LONGEST_NAME

# The text of a page in the formats of large conferences, 5.5 by 9 inches, in points.
WIDTH, HEIGHT = 397.0, 650.0
# Lines of a table that leave room for its header and its caption, upright and sideways.
LINES, LINES_SIDEWAYS = 48, 25
GAP = 6.0
NAME_WIDTH = 120.0
SEPARATORS = frozenset("_-/ .:+")
NARROW, WIDE = frozenset("ijltfrI.,:;|!'()[]/- "), frozenset("mwMW@%&")
NARROW_WIDTH, WIDE_WIDTH, UPPER_WIDTH, OTHER_WIDTH = 3.0, 7.4, 6.1, 4.5
# What stands in two letters of the font for one sign, kept apart.
LIGATURES = {"--": "-{}-", "``": "`{}`", "''": "'{}'", ",,": ",{},", "!`": "!{}`", "?`": "?{}`"}
# Letters beyond ASCII that the fonts of pdfLaTeX have: Latin ones, dashes, quotes, a few signs.
KNOWN = frozenset(map(chr, range(0xA0, 0x180)))
KNOWN -= frozenset("\u00ad\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f")
KNOWN |= frozenset("\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2020\u2021\u2022\u2026")
KNOWN |= frozenset("\u2030\u2039\u203a\u20ac\u2122\u0218\u0219\u021a\u021b")
# Greek letters by their places after alpha; what looks as a Latin letter has no command.
SMALL = """alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi . pi rho . sigma
tau upsilon phi chi psi omega"""
LARGE = """. . Gamma Delta . . . Theta . . Lambda . . Xi . Pi . . Sigma . Upsilon Phi . Psi Omega"""
GREEK = {
    chr(start + place): name
    for start, names in ((0x3B1, SMALL), (0x391, LARGE))
    for place, name in enumerate(names.split())
    if name != "."
}
SIGNS = {"\u2212": "-", "\u2264": r"\le", "\u2265": r"\ge", "\u2248": r"\approx"}
SIGNS |= {"\u221e": r"\infty", "\u2192": r"\to"}


@dataclass(frozen=True)
class Column:
    r"""A column of a float.

    Parameters
    ----------
    header : sequence of str
        Its cells in the rows of the header, in LaTeX.
    cells : sequence of str
        Its cells below, in LaTeX.
    width : float
        In points.
    align : str
        Its letter in the preamble of a ``tabular``.
    """

    header: Sequence[str]
    cells: Sequence[str]
    width: float
    align: str = "r"


@dataclass(frozen=True)
class Sheet:
    r"""A table that may be too large for one float.

    Parameters
    ----------
    front : sequence of Column
        Columns that each float repeats, such as names of models.
    columns : sequence of Column
        The others.
    caption, label : str
        In LaTeX; further floats are called after the label with a number.
    lines : sequence of int
        Lines that each row takes; empty where it is one.
    """

    front: Sequence[Column]
    columns: Sequence[Column]
    caption: str
    label: str
    lines: Sequence[int] = ()


def write_name(name: str) -> str:
    r"""Write a name of other people's files so that LaTeX prints it as it stands.

    Parameters
    ----------
    name : str
        Any text; beyond 80 letters it is cut.

    Examples
    --------
    >>> print(write_name("ViT_B--16 & co"))
    ViT\_B-{}-16 \& co
    """
    text = escape_latex(shorten(name))
    # Twice, as pairs may overlap.
    for pair, apart in [*LIGATURES.items()] * 2:
        text = text.replace(pair, apart)
    return text


def shorten(name: str) -> str:
    """Cut a name to what a table has room for.

    Examples
    --------
    >>> len(shorten("a" * 100)), shorten("a")
    (80, 'a')
    """
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


@cache
def measure(text: str) -> float:
    """Estimate how wide plain text is, in points.

    Examples
    --------
    >>> measure("0.812") > measure("0.8")
    True
    """
    return sum(map(_measure_letter, text))


def _measure_letter(letter: str) -> float:
    if letter in NARROW:
        return NARROW_WIDTH
    if letter in WIDE:
        return WIDE_WIDTH
    if letter.isascii() or letter in KNOWN:
        return UPPER_WIDTH if letter.isupper() or not letter.isalnum() else OTHER_WIDTH
    return 7 * UPPER_WIDTH


def break_name(name: str, *, width: float) -> list[str]:
    """Break a name into lines, behind separators where that fits.

    Parameters
    ----------
    name : str
        Any text.
    width : float
        Of the longest line, in points; a single letter may be wider.

    Returns
    -------
    list of str
        The lines as plain text; together they are the name.

    Examples
    --------
    >>> break_name("dataset_07_long", width=40.0)
    ['dataset_', '07_long']
    """
    lines, rest = [], name
    while rest:
        fits = next((n for n in range(len(rest), 1, -1) if measure(rest[:n]) <= width), 1)
        if fits < len(rest):
            behind = [n for n in range(2, fits + 1) if rest[n - 1] in SEPARATORS]
            fits = behind[-1] if behind else fits
        lines.append(rest[:fits])
        rest = rest[fits:]
    return lines or [""]


def write_lines(lines: Sequence[str], *, behind: str = "") -> str:
    r"""Write lines of plain text above each other, as one cell of a header.

    Parameters
    ----------
    lines : sequence of str
        Plain text.
    behind : str, optional
        What follows in the last line, in LaTeX.

    Examples
    --------
    >>> print(write_lines(["a_", "b"]))
    \begin{tabular}[b]{@{}r@{}}a\_\\b\end{tabular}
    """
    written = [write_name(line) for line in lines]
    written[-1] += behind
    if len(written) == 1:
        return written[0]
    stacked = r"\\".join(written)
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{stacked}\end{{tabular}}"


def make_name_column(
    header: Sequence[str], names: Sequence[str], marks: Sequence[str]
) -> tuple[Column, list[int]]:
    r"""Make the column of names, in which long ones are broken.

    Parameters
    ----------
    header : sequence of str
        In LaTeX.
    names : sequence of str
        Plain text.
    marks : sequence of str
        What stands behind each name, in LaTeX.

    Returns
    -------
    column : Column
    lines : list of int
        Lines that each name takes.
    """
    broken = [break_name(shorten(name), width=NAME_WIDTH) for name in names]
    cells = []
    for lines, mark in zip(broken, marks, strict=True):
        written = [write_name(line) for line in lines]
        written[-1] += mark
        inner = r"\\\quad ".join(written)
        is_long = len(written) > 1
        cells.append(
            rf"\begin{{tabular}}[t]{{@{{}}l@{{}}}}{inner}\end{{tabular}}" if is_long else inner
        )
    widths = [measure(line) for lines in broken for line in lines]
    width = max([*widths, measure("Model")]) + GAP
    return Column(header, cells, width, "l"), [len(lines) for lines in broken]


def render_sheet(sheet: Sheet) -> str:
    r"""Write a table as one float or several, each of which fits the page.

    Parameters
    ----------
    sheet : Sheet
        The whole table.

    Returns
    -------
    str
        Floats ``table``, or one ``sidewaystable`` where all columns fit the height of the page
        only; they need ``booktabs`` and ``rotating``. Where a table is split, each part says
        which one it is and has the label with its number, but for the first.
    """
    lines = list(sheet.lines) or [1] * len(sheet.front[0].cells)
    front = sum(column.width + GAP for column in sheet.front)
    whole = front + sum(column.width + GAP for column in sheet.columns)
    is_sideways = WIDTH < whole <= HEIGHT and sum(lines) <= LINES_SIDEWAYS
    bands = [list(sheet.columns)] if is_sideways else _split_columns(sheet.columns, WIDTH - front)
    blocks = _split_rows(lines)
    parts = [(band, block) for block in blocks for band in bands]
    floats = []
    for number, (band, (start, end)) in enumerate(parts, start=1):
        part = f" Part {number} of {len(parts)}." if len(parts) > 1 else ""
        caption = sheet.caption if number == 1 else _continue(sheet)
        label = sheet.label if number == 1 else f"{sheet.label}-{number}"
        floats.append(
            render_float(
                [*sheet.front, *band],
                rows=range(start, end),
                caption=caption + part,
                label=label,
                kind="sidewaystable" if is_sideways else "table",
            )
        )
    return "\n".join(floats)


def _continue(sheet: Sheet) -> str:
    return rf"Table~\ref{{{sheet.label}}} continued."


def render_float(
    columns: Sequence[Column], *, rows: Iterable[int], caption: str, label: str, kind: str
) -> str:
    """Write a float with some rows of its columns.

    Parameters
    ----------
    columns : sequence of Column
        All with as many header rows.
    rows : iterable of int
        Positions of the rows.
    caption, label : str
        In LaTeX.
    kind : {"table", "sidewaystable"}
        The environment.
    """
    place = "[tbp]" if kind == "table" else ""
    header = [_join_cells(cells) for cells in zip(*(c.header for c in columns), strict=True)]
    body = [_join_cells([column.cells[row] for column in columns]) for row in rows]
    lines = [
        rf"\begin{{{kind}}}{place}",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}\setlength{\belowcaptionskip}{5pt}",
        rf"\caption{{{caption}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{''.join(column.align for column in columns)}}}",
        r"\toprule",
        *header,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        rf"\end{{{kind}}}",
    ]
    return "\n".join(lines) + "\n"


def declare_characters(text: str) -> str:
    r"""Declare the letters of a text that pdfLaTeX lacks.

    Parameters
    ----------
    text : str
        All that is typeset.

    Returns
    -------
    str
        A line ``\DeclareUnicodeCharacter`` for each, by code; Greek letters are those of formulas,
        and what the fonts lack is printed as its code, ``U+4E2D``.
    """
    lines = []
    for letter in sorted(set(text)):
        if letter.isascii() or letter in KNOWN:
            continue
        sign = f"\\{GREEK[letter]}" if letter in GREEK else SIGNS.get(letter, "")
        shown = rf"\ensuremath{{{sign}}}" if sign else f"U+{ord(letter):04X}"
        lines.append(rf"\DeclareUnicodeCharacter{{{ord(letter):04X}}}{{{shown}}}")
    return "\n".join(lines)


def _join_cells(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _split_columns(columns: Sequence[Column], room: float) -> list[list[Column]]:
    """Split columns into bands that fit, of about as many columns each."""
    bands = max(1, len(_fill(columns, room, len(columns))))
    most = -(-len(columns) // bands)
    return _fill(columns, room, most) or [[]]


def _fill(columns: Sequence[Column], room: float, most: int) -> list[list[Column]]:
    bands: list[list[Column]] = []
    used = 0.0
    for column in columns:
        width = column.width + GAP
        if not bands or used + width > room or len(bands[-1]) >= most:
            bands.append([])
            used = 0.0
        bands[-1].append(column)
        used += width
    return bands


def _split_rows(lines: Sequence[int]) -> list[tuple[int, int]]:
    """Split rows into blocks that fit the page, of about as many lines each."""
    blocks = max(1, -(-sum(lines) // LINES))
    room = max(-(-sum(lines) // blocks), *lines, 1)
    found, start, used = [], 0, 0
    for row, own in enumerate(lines):
        if used + own > room:
            found.append((start, row))
            start, used = row, 0
        used += own
    return [*found, (start, len(lines))]
