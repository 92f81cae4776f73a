r"""Floats of LaTeX whose tables fit the page, names printed as they stand, and references.

Widths are estimates in points: of Computer Modern in ``\footnotesize``, on the safe side.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from capmap.tables import escape_latex
from capmap.wording import shorten

# Of the text in the formats of large conferences, 5.5 inches, in points.
WIDTH = 397.0
# Lines of a table that leave room for its header and its caption.
LINES, LINE_HEIGHT = 48, 9.5
GAP, ARROW_WIDTH = 6.0, 8.0
NAME_WIDTH = 120.0
ARROWS = {"": "", "max": r"\,$\uparrow$", "min": r"\,$\downarrow$"}
# Turned with their text by 90 degrees, they point up and down.
TURNED_ARROWS = {"": "", "max": r"\,$\rightarrow$", "min": r"\,$\leftarrow$"}
SEPARATORS = frozenset("_-/ .:+")
WORD = re.compile(r"[^_\-/ .:+]*[_\-/ .:+]*")
NARROW, WIDE = frozenset("ijltfrI.,:;|!'()[]/- "), frozenset("mwMW@%&")
NARROW_WIDTH, WIDE_WIDTH, UPPER_WIDTH, OTHER_WIDTH = 3.0, 7.4, 6.1, 4.5
# What stands in two letters of the font for one sign, kept apart.
LIGATURES = {"--": "-{}-", "``": "`{}`", "''": "'{}'", ",,": ",{},", "!`": "!{}`", "?`": "?{}`"}
# Letters beyond ASCII that the fonts of pdfLaTeX have: Latin ones, dashes, quotes, a few signs.
KNOWN = frozenset(map(chr, range(0xA0, 0x180)))
KNOWN -= frozenset("\u00ad\u0126\u0127\u0138\u013f\u0140\u0149\u0166\u0167\u017f")
KNOWN |= frozenset("\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2020\u2021\u2022\u2026")
KNOWN |= frozenset("\u2030\u2039\u203a\u20ac\u2122\u0218\u0219\u021a\u021b")


FLOAT = r"""\begin{{table}}[tbp]
\centering\footnotesize\setlength{{\tabcolsep}}{{3pt}}\setlength{{\belowcaptionskip}}{{5pt}}
\caption{{{caption}}}
\label{{{label}}}
\begin{{tabular}}{{{align}}}
\toprule
{header}
\midrule
{body}
\bottomrule
\end{{tabular}}
\end{{table}}
"""
CITED = re.compile(r"\\cite[pt]?\{([^}]*)\}")
ENTRY = re.compile(r"@\w+\{(\w+),\n.*?\n\}\n", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """A column of a float; widths are those of the widest cell and spread, in points.

    `header` is plain text, its name and in a second line its unit. `spreads` stand behind the
    cells, or below them where there is little room.
    """

    header: Sequence[str]
    cells: Sequence[str]
    width: float
    spreads: Sequence[str] = ()
    spread_width: float = 0.0
    direction: str = ""
    align: str = "r"


@dataclass(frozen=True)
class Sheet:
    """A table that may be too large for one float.

    Each float repeats the columns of `front`, and is called after `label` with a number; `lines`
    are those that each row takes.
    """

    front: Sequence[Column]
    columns: Sequence[Column]
    caption: str
    label: str
    lines: Sequence[int]


@dataclass(frozen=True)
class Layout:
    """How columns are set: spreads below their cells, and headers turned by 90 degrees."""

    is_stacked: bool = False
    is_turned: bool = False

    def measure(self, column: Column) -> float:
        """The width of a column, in points."""
        parts = column.width, column.spread_width
        width = max(parts) if self.is_stacked else sum(parts)
        if not self.is_turned:
            lines = _break_header(column)
            arrow = ARROW_WIDTH if column.direction else 0.0
            width = max(width, *map(measure, lines), measure(lines[-1]) + arrow)
        return max(width, LINE_HEIGHT) + GAP

    def write_header(self, column: Column) -> str:
        """The cell of the header."""
        if self.is_turned:
            text = write_name(", ".join(column.header)) + TURNED_ARROWS[column.direction]
            return rf"\rotatebox{{90}}{{{text}}}"
        written = [write_name(line) for line in _break_header(column)]
        written[-1] += ARROWS[column.direction]
        return _stack(written, f"[b]{{@{{}}{column.align}@{{}}}}")

    def write_cell(self, column: Column, row: int) -> str:
        """A cell, with what stands behind it or below it."""
        spread = column.spreads[row] if column.spreads else ""
        if self.is_stacked and spread:
            return _stack([column.cells[row], spread], "[t]{@{}r@{}}")
        return column.cells[row] + spread


def _break_header(column: Column) -> list[str]:
    """The lines of a header: broken behind separators, never inside a word that fits."""
    lines = []
    for text in column.header:
        words = [word for word in WORD.findall(text) if word]
        longest = max(map(measure, words), default=0.0)
        width = max(column.width + column.spread_width, min(longest, NAME_WIDTH))
        lines += break_name(text, width=width)
    return lines


def _stack(lines: Sequence[str], form: str) -> str:
    """Lines of LaTeX above each other, as one cell."""
    if len(lines) == 1:
        return lines[0]
    stacked = r"\\".join(lines)
    return rf"\begin{{tabular}}{form}{stacked}\end{{tabular}}"


def write_name(name: str) -> str:
    r"""Write a name of other people's files so that LaTeX prints it as it is, up to 80 letters.

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
    """Break a name into lines of at most a width in points, behind separators where that fits.

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


def make_name_column(names: Sequence[str]) -> tuple[Column, list[int]]:
    r"""Make the column of models, in which long names are broken, and count the lines of each."""
    broken = [break_name(shorten(name), width=NAME_WIDTH) for name in names]
    cells = []
    for lines in broken:
        first, *others = (write_name(line) for line in lines)
        cells.append(_stack([first, *(rf"\quad {line}" for line in others)], "[t]{@{}l@{}}"))
    width = max(measure(line) for lines in broken for line in lines) + GAP
    return Column(["Model"], cells, width, align="l"), [len(lines) for lines in broken]


def render_sheet(sheet: Sheet) -> str:
    r"""Write a table as one float or several, each of which fits the page upright.

    They need ``booktabs`` and ``graphicx``. The plainest layout is taken in which all columns fit
    beside each other; else the table is split.
    """
    columns = [*sheet.front, *sheet.columns]
    spread = any(column.spread_width for column in sheet.columns)
    layouts = [Layout(), *[Layout(is_stacked=True)] * spread]
    layouts.append(Layout(is_stacked=spread, is_turned=True))
    fits = (own for own in layouts if sum(map(own.measure, columns)) <= WIDTH)
    layout = next(fits, layouts[-1])
    room = WIDTH - sum(map(layout.measure, sheet.front))
    bands = _split([layout.measure(own) for own in sheet.columns], room)
    lines = [max(own, 1 + (layout.is_stacked and spread)) for own in sheet.lines]
    header = max(measure(", ".join(own.header)) for own in columns) if layout.is_turned else 0.0
    blocks = _split(lines, LINES - round(header / LINE_HEIGHT))
    parts = [(band, block) for block in blocks for band in bands]
    floats = []
    for number, (band, (start, end)) in enumerate(parts, start=1):
        part = f" Part {number} of {len(parts)}." if len(parts) > 1 else ""
        caption = sheet.caption if number == 1 else rf"Table~\ref{{{sheet.label}}} continued."
        label = sheet.label if number == 1 else f"{sheet.label}-{number}"
        shown = [*sheet.front, *sheet.columns[slice(*band)]]
        cells = [[layout.write_cell(own, row) for own in shown] for row in range(start, end)]
        body = [" & ".join(row) + r" \\" for row in cells]
        header_row = " & ".join(map(layout.write_header, shown)) + r" \\"
        align = "".join(column.align for column in shown)
        floats.append(
            FLOAT.format(
                caption=caption + part,
                label=label,
                align=align,
                header=header_row,
                body="\n".join(body),
            )
        )
    return "\n".join(floats)


def declare_characters(text: str) -> str:
    r"""Declare letters that pdfLaTeX lacks, so that it prints their codes, such as ``U+4E2D``."""
    codes = [f"{ord(letter):04X}" for letter in sorted({*text} - KNOWN) if not letter.isascii()]
    return "\n".join(rf"\DeclareUnicodeCharacter{{{code}}}{{U+{code}}}" for code in codes)


def _split(sizes: Sequence[float], room: float) -> list[tuple[int, int]]:
    """Split columns or rows into parts that fit, by their sizes, of about the same size each."""
    parts = max(1, math.ceil(sum(sizes) / room))
    most = sum(sizes) / parts
    found, start, used = [], 0, 0.0
    for place, own in enumerate(sizes):
        if used + own > min(room, most + own / 2) and place > start:
            found.append((start, place))
            start, used = place, 0.0
        used += own
    return [*found, (start, len(sizes))]


@cache
def read_references() -> dict[str, str]:
    """Read the entries by their keys."""
    text = Path(__file__).with_name("references.bib").read_text(encoding="utf-8")
    return {entry[1]: entry[0] for entry in ENTRY.finditer(text)}


def list_cited(text: str) -> list[str]:
    r"""List the keys that a text cites, sorted.

    Examples
    --------
    >>> list_cited(r"by \citep{holm1979,agarwal2021} and \citet{holm1979}")
    ['agarwal2021', 'holm1979']
    """
    return sorted({key.strip() for keys in CITED.findall(text) for key in keys.split(",")})


def render_references(text: str) -> str:
    """Write the entries of exactly the keys that a text cites, as BibTeX."""
    return "\n".join(read_references()[key] for key in list_cited(text))


def name_reference(key: str) -> str:
    """Name a publication as in running text.

    Examples
    --------
    >>> name_reference("holm1979"), name_reference("dolan2002")
    ('Holm 1979', 'Dolan and More 2002')
    """
    fields = dict(re.findall(r"(\w+) = \{(.*)\},", read_references()[key]))
    authors = re.sub(r"\{?\\.\{?\\?(\w)\}+|[{}]", r"\1", fields["author"]).split(" and ")
    names = [author.partition(",")[0] for author in authors]
    first = " and ".join(names) if len(names) == 2 else names[0]
    if len(names) > 2 or names[-1] == "others":
        first = f"{names[0]} et al."
    return f"{first} {fields['year']}"
