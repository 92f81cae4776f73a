"""Tables of papers and web pages: pipe tables of Markdown and tabulars of LaTeX."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from capmap.exports.delimited import Record, RowSheet, check_header, name_columns
from capmap.exports.files import (
    LONGEST,
    FileOptions,
    check_text,
    has_suffix,
    read_bounded,
    recode_text,
    refuse,
)
from capmap.problems import Problem, UnreadableExportError
from capmap.wording import quote_name

MARKDOWN = frozenset({".md", ".markdown"})
LATEX = frozenset({".tex"})

PIPE = re.compile(r"(?<!\\)\|")
ALIGNMENT = re.compile(r":?-+:?")
FENCE = re.compile(r"\s*(?:`{3,}|~{3,})")
SPECIAL = re.compile(r"([!-/:-@\[-`{-~])")
ESCAPED = re.compile(rf"\\{SPECIAL.pattern}")
CODE = re.compile(r"(?<!\\)(`+)([^`]+)\1")
FOOTNOTE = re.compile(r"(?<!\\)\[\^[^\[\]]+\]")
HIDDEN_HTML = re.compile(r"(?P<begin><!--)|-->")
BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
MARKS = (
    (re.compile(r"!?(?<!\\)\[((?:\\.|[^\[\]\\])*)\]\((?:[^()]|\([^()]*\))*\)"), r"\1"),
    (re.compile(r"(?<!\\)(\*{1,3})(?=\S)((?:\\.|[^*\\])+)(?<=\S)\1"), r"\2"),
    (
        re.compile(r"(?<![\\\w])(_{1,3})(?=\S)((?:\\.|[^_\\]|(?<=\w)_(?=\w))+)(?<=\S)\1(?!\w)"),
        r"\2",
    ),
)
# Marks within marks, from the inside out; what is nested deeper stays as it is.
DEPTH = 5

# How many arguments in braces stand between the name of a tabular and its cells.
TABULARS = {
    **dict.fromkeys(["tabular", "longtable", "array", "NiceTabular"], 1),
    **dict.fromkeys(["tabular*", "tabularx", "tabulary", "xltabular"], 2),
}
ENVIRONMENT = re.compile(r"(?<!\\)(?:\\\\)*\\(begin|end)[ \t]*\{([A-Za-z]+\*?)\}")
COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)(%[^\n]*)")
HIDDEN_LATEX = re.compile(r"(?P<begin>\\begin[ \t]*\{comment\})|\\end[ \t]*\{comment\}")
# \ifthenelse takes arguments, and \iff is an arrow: neither has a \fi.
CONDITION = re.compile(
    r"(?<!\\)(?:\\\\)*\\(if(?!thenelse|f(?![A-Za-z@]))[A-Za-z@]*|else|fi)(?![A-Za-z@])"
)
BRACKET = re.compile(r"\s*\[[^\[\]{}]*\]")
GROUP = r"[ \t]*\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"
SQUARE = r"[ \t]*\[[^\[\]\n&]*\]"
RULES = re.compile(
    r"\\(?:"
    rf"(?:toprule|midrule|bottomrule|hline|hdashline|addlinespace)(?![A-Za-z])(?:{SQUARE})?"
    r"|(?:firsthline|lasthline|morecmidrules|centering|noindent)(?![A-Za-z])"
    rf"|(?:cmidrule|cline|cdashline|hhline|noalign|arrayrulecolor|Xhline|caption\*?|label|rowcolor)"
    rf"(?![A-Za-z])(?:{SQUARE}|[ \t]*\([^()\n]*\))*{GROUP}(?:{SQUARE})*"
    rf"|(?:specialrule|rowcolors\*?)(?![A-Za-z])(?:{GROUP}){{3}}"
    r")"
)
SECTION = re.compile(r"\\end(firsthead|head|foot|lastfoot)(?![A-Za-z])")
STRUCTURE = re.compile(
    rf"(\\\\\*?(?:{SQUARE})?|\\tabularnewline(?![A-Za-z]))|\\(begin|end)(?![A-Za-z])|\\.|[{{}}&]",
    re.DOTALL,
)
SPAN = re.compile(r"\\multi(column|row)(?![A-Za-z])")
SPANS = 4
COUNT = re.compile(r"\s*-?[0-9]{1,3}\s*")

TOKEN = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)|([{}$~&^_])|[^\\{}$~&^_]+|\\", re.DOTALL)


def _list_commands(count: int | str, names: str) -> dict[str, Any]:
    return dict.fromkeys(names.split(), count)


# Commands that are left out, and how many arguments in braces with them. What stands in further
# braces is read. All other commands stay as they stand.
PASSED: dict[str, int] = {
    **_list_commands(
        0,
        "textbf textit emph underline uline mathbf texttt num textsc textsf textrm textup text "
        "textnormal mathrm mathit mathsf mathtt boldsymbol bm mbox hbox makecell thead shortstack "
        "ensuremath bf it tt sc em bfseries itshape ttfamily scshape sffamily rmfamily normalfont "
        "centering raggedright raggedleft footnotemark left right displaystyle textstyle relax "
        "strut",
    ),
    **_list_commands(
        1,
        "cellcolor color textcolor colorbox rowcolor rotatebox href cite citep citet citealp "
        "footnote tablefootnote tnote textsuperscript phantom hphantom vphantom hspace vspace "
        "label begin end raisebox",
    ),
    **_list_commands(2, "resizebox rule"),
}
OPTIONAL = frozenset({"num", "makecell", "thead", "shortstack", "footnotemark"})
WORDS: dict[str, str] = {
    # Smaller figures behind a number are another number.
    **_list_commands(" ", "tiny scriptsize footnotesize small normalsize large Large"),
    **_list_commands(" ", "quad qquad hfill hfil"),
    **_list_commands("…", "ldots dots"),
    "pm": "±",
    "times": "\N{MULTIPLICATION SIGN}",
    "uparrow": "↑",
    "downarrow": "↓",
    "checkmark": "✓",
    "percent": "%",
    "textendash": "\N{EN DASH}",
    "textemdash": "\N{EM DASH}",
    "textasciitilde": "~",
    "textunderscore": "_",
    "textbackslash": "\\",
}
SYMBOLS = {
    **{character: character for character in "%_&#${}"},
    **dict.fromkeys(",;: \n\t\\", " "),
    **dict.fromkeys("!/-()", ""),
}
LOOKS = r"\\(?:mathrm|mathbf|text|textrm|textbf|rm|bf)(?![A-Za-z])"
DAGGER = rf"[\s{{}}†‡§¶,]|\\(?:dagger|ddagger|textdagger|textdaggerdbl|S|P)(?![A-Za-z])|{LOOKS}"
NOTE = rf"\*|\\(?:ast|star|bullet|diamond|textasteriskcentered)(?![A-Za-z])|{DAGGER}"
DAGGERS, NOTES = re.compile(rf"(?:{DAGGER})+"), re.compile(rf"(?:{NOTE})+")
NUMBERED = re.compile(rf"(?:[0-9]|{NOTE})+")
LETTER = re.compile(r"[^\W\d_eE]|(?<!\d)[eE]")
# What may stand behind a name: further raised text, footnotes and citations.
ENDING = re.compile(
    r"(?:[\s{}$~]|\\[,;:!]|\^\s*(?:\{[^{}]*\}|\\[A-Za-z]+|[^\\{}])"
    r"|\\(?:textsuperscript|footnote(?:mark)?|tablefootnote|tnote|cite[a-z]*|label)"
    r"(?![A-Za-z])\s*(?:\[[^\[\]]*\]\s*)?(?:\{[^{}]*\})?)*"
)
FARTHEST = 300
SPREAD = re.compile(r"[{$\s]*\\pm(?![A-Za-z])")
ALONE = re.compile(r"\$\s*(?:\{\})?\s*$")
# No footnote has such a number: it is a spread, or the power of ten.
MEASURED = re.compile(r"[{\s]*(?:[+-]?[0-9]*\.[0-9]+|[+-][0-9]+)[}\s]*")
EXPONENT = re.compile(r"[{\s]*[+-]?[0-9]+[}\s]*")
SQUARED = re.compile(r"(?<![^\W_])R$")


class Tabular(NamedTuple):
    """Where the rows of a tabular stand in a text, and whether it ends."""

    start: int
    end: int
    is_closed: bool


class Table(NamedTuple):
    """The rows of a table with its header, and what is wrong with it."""

    rows: list[Record]
    problems: list[Problem]


def open_markup(path: str, *, wanted: Collection[str], options: FileOptions) -> RowSheet:
    r"""Read a table of Markdown or LaTeX.

    Parameters
    ----------
    path : str
        The file, whose suffix says which it is.
    wanted : collection of str
        Names that the header should have.
    options : FileOptions
        The rows of its header, or its names, and its encoding.

    Returns
    -------
    RowSheet
        Of several tables, the first of those whose header has most of the wanted names. Cells are
        plain text: of LaTeX, the commands of a paper's tables are known (type, color, citations,
        footnotes), ``\multicolumn`` is followed by blank cells, ``\multirow`` repeated below the
        header, and any other command stays as it stands. Raised text is a footnote beside a number
        and, of signs or digits, behind a name; in a name it is written ``A^S``.

    Raises
    ------
    UnreadableExportError
        When the file is not text, has no table, or none with a sound header.
    """
    content = read_bounded(path, limit=LONGEST, remedy="Write the table as CSV or Parquet.")
    content = recode_text(content, path, options.encoding)
    check_text(content, path)
    text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    header_rows = 0 if options.names else options.header_rows
    if has_suffix(path, LATEX):
        found, kind, divider = _list_tabulars(text, path, header_rows), "tabular", "&"
    else:
        found, kind, divider = _list_pipe_tables(text, header_rows), "table with pipes", "|"
    sheets, faults = [], []
    for table in found:
        try:
            sheets.append(_make_sheet(table, path, options, divider))
        except UnreadableExportError as error:
            faults.append(error)
    if not sheets:
        reason, remedy = f"The file has no {kind}.", "Check that it is the file with the table."
        raise faults[0] if faults else refuse("no_table", path, reason, remedy)
    if options.sheet:
        return _choose_table(path, sheets, options.sheet)
    fits = [len({*wanted} & {*sheet.columns}) for sheet in sheets]
    best = sheets[fits.index(max(fits))]
    if fits.count(max(fits)) == 1:
        return best
    return replace(
        best, problems=[*best.problems, _warn_of_other_tables(path, fits.count(max(fits)), best)]
    )


def _choose_table(path: str, sheets: Sequence[RowSheet], number: str) -> RowSheet:
    """Choose a table by its number in the file, from 1; the only one where a sheet is named."""
    if len(sheets) == 1 and not number.isdecimal():
        return sheets[0]
    if number.isdecimal() and 0 < int(number) <= len(sheets):
        return sheets[int(number) - 1]
    reason = f"There is no table {quote_name(number)}: the file has {len(sheets)}."
    raise refuse(
        "no_sheet", path, reason, "Set `reading: {sheet: …}` to the number of one, from 1."
    )


def _warn_of_other_tables(path: str, count: int, best: RowSheet) -> Problem:
    return Problem(
        severity="warning",
        code="other_tables",
        source=path,
        line=best.rows[0].first if best.rows else 0,
        reason=f"The file has {count} tables with such a header, of which this one is read.",
        remedy="Set `reading: {sheet: …}` to the number of another one, from 1.",
    )


def _make_sheet(table: Table, path: str, options: FileOptions, divider: str) -> RowSheet:
    if table.problems and not table.rows:
        raise UnreadableExportError(*table.problems)
    header = table.rows[: 1 if options.names else options.header_rows]
    columns = name_columns(header, path, options)
    if problems := check_header(header, path, options):
        raise UnreadableExportError(*problems)
    rows = table.rows if options.names else table.rows[options.header_rows :]
    remedy = rf"Write \{divider} where it belongs to a cell, or remove the surplus cells."
    return RowSheet(path, columns, rows, problems=table.problems, remedy=remedy)


def _list_pipe_tables(text: str, header_rows: int) -> Iterator[Table]:
    """List the blocks of lines with pipes that have a row of dashes; those in fences are none."""
    block: list[Record] = []
    fence = ""
    written = [*text.split("\n"), ""]
    shown = [*_blank_hidden(text, HIDDEN_HTML).split("\n"), ""]
    for number, (line, before) in enumerate(zip(shown, written, strict=True), start=1):
        # A row of a table that is commented out does not end the table.
        if not line.strip() and PIPE.search(before):
            continue
        if match := FENCE.match(line):
            mark = match[0].strip()[0]
            fence = "" if fence == mark else fence or mark
        if PIPE.search(line) and not fence and not match:
            block.append(Record(number, number, _split_pipes(line)))
            continue
        dashes = [place for place, row in enumerate(block) if _is_alignment(row)]
        if dashes:
            above = block[: dashes[0]]
            # A header is one line, unless the options say more.
            above = above[-header_rows:] if header_rows else above
            width = len(block[dashes[0]].cells)
            rows = [*above, *(row for row in block[dashes[0] :] if not _is_alignment(row))]
            cleaned = [
                row._replace(cells=_fit([*map(_clean_markdown, row.cells)], width)) for row in rows
            ]
            yield Table([row for row in cleaned if any(row.cells)], [])
        block = []


def _split_pipes(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    *cells, last = PIPE.split(line)
    return [cell.strip() for cell in (cells if cells and not last else [*cells, last])]


def _is_alignment(row: Record) -> bool:
    return all(map(ALIGNMENT.fullmatch, row.cells))


def _fit(cells: list[str], width: int) -> list[str]:
    """Fill up a row that is short, and leave out surplus blank cells, as Markdown is shown."""
    while len(cells) > width and not cells[-1]:
        cells.pop()
    return cells + [""] * (width - len(cells))


def _clean_markdown(cell: str) -> str:
    cell = BREAK.sub(" ", FOOTNOTE.sub("", cell.replace(r"\|", "|")))
    cell = CODE.sub(lambda match: SPECIAL.sub(r"\\\1", match[2].strip()), cell)
    for _ in range(DEPTH):
        before = cell
        for mark, text in MARKS:
            cell = mark.sub(text, cell)
        if cell == before:
            break
    return ESCAPED.sub(r"\1", cell).strip()


def _list_tabulars(text: str, path: str, header_rows: int) -> Iterator[Table]:
    text = COMMENT.sub(lambda match: match[1] + _blank(match[2]), text)
    text = _blank_conditions(_blank_hidden(text, HIDDEN_LATEX))
    line, counted = 1, 0
    for tabular in _find_tabulars(text):
        line, counted = line + text.count("\n", counted, tabular.start), tabular.start
        body = RULES.sub(lambda match: _blank(match[0]), text[tabular.start : tabular.end])
        rows, problems = _read_rows(_blank_repeats(body), path, line, header_rows)
        if not tabular.is_closed:
            reason, remedy = "The tabular never ends.", r"Add its \end, or copy the file again."
            problems.append(_explain_tabular("unclosed_table", path, line, reason, remedy))
        if rows or problems:
            yield Table(rows, problems)


def _blank(text: str) -> str:
    """Put blanks in place of text, so that what follows keeps its line and place."""
    return re.sub(r"[^\n]", " ", text)


def _blank_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
    parts, last = [], 0
    for start, end in spans:
        parts += [text[last:start], _blank(text[start:end])]
        last = end
    return "".join(parts) + text[last:]


def _blank_hidden(text: str, marks: re.Pattern[str]) -> str:
    """Blank what stands between marks that begin and end a comment."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for match in marks.finditer(text):
        if match["begin"]:
            start = match.start() if start is None else start
        elif start is not None:
            spans.append((start, match.end()))
            start = None
    return _blank_spans(text, spans)


def _blank_conditions(text: str) -> str:
    r"""Blank what is between \iffalse and its \else or \fi, as LaTeX leaves it out."""
    spans: list[tuple[int, int]] = []
    opened: list[str] = []
    # Where the outermost \iffalse begins, and how many conditions are open with it.
    start, depth = 0, 0
    for match in CONDITION.finditer(text):
        name = match[1]
        if name.startswith("if"):
            opened.append(name)
            if name == "iffalse" and not depth:
                start, depth = match.start(1) - 1, len(opened)
        elif depth:
            if len(opened) == depth:
                spans.append((start, match.end()))
                depth = 0
        elif name == "fi" and opened[-1:] == ["iffalse"]:
            spans.append((match.start(1) - 1, match.end()))
        if name == "fi" and opened:
            opened.pop()
    return _blank_spans(text, spans)


def _explain_tabular(code: str, path: str, line: int, reason: str, remedy: str) -> Problem:
    return Problem(code=code, source=path, reason=reason, remedy=remedy, line=line)


def _find_tabulars(text: str) -> list[Tabular]:
    """Find tabulars and those directly in them, as papers set tables side by side in a tabular."""
    found: list[Tabular] = []
    opened: list[tuple[str, int]] = []
    close = _match_braces(text)

    def end_last(end: int, *, is_closed: bool) -> None:
        _, start = opened.pop()
        if len(opened) <= 1:
            found.append(Tabular(start, end, is_closed))

    for match in ENVIRONMENT.finditer(text):
        kind, name = match.groups()
        if kind == "begin" and name in TABULARS:
            opened.append((name, _pass_groups(text, match.end(), TABULARS[name], close)))
        elif kind == "end" and any(name == other for other, _ in opened):
            while opened[-1][0] != name:
                end_last(match.start(1) - 1, is_closed=False)
            end_last(match.start(1) - 1, is_closed=True)
    while opened:
        end_last(len(text), is_closed=False)
    return sorted(found)


def _match_braces(text: str) -> dict[int, int]:
    """Find where each group in braces ends, by where it begins."""
    close: dict[int, int] = {}
    opened: list[int] = []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            close[opened.pop()] = match.start()
    return close


def _pass_groups(text: str, position: int, count: int, close: dict[int, int]) -> int:
    """Find where some arguments in braces end, and those in brackets before each."""
    for _ in range(count):
        position = _pass_brackets(text, position)
        start = _skip_blanks(text, position)
        if start not in close:
            break
        position = close[start] + 1
    return position


def _pass_brackets(text: str, position: int) -> int:
    while match := BRACKET.match(text, position):
        position = match.end()
    return position


def _skip_blanks(text: str, position: int) -> int:
    while text[position : position + 1].isspace():
        position += 1
    return position


def _blank_repeats(body: str) -> str:
    """Leave out the head and foot that a long table repeats on each page."""
    marks = [*SECTION.finditer(body)]
    if not marks:
        return body
    kept = "firsthead" if any(mark[1] == "firsthead" for mark in marks) else "head"
    parts, start = [], 0
    for mark in marks:
        part = body[start : mark.start()]
        parts += [part if mark[1] == kept else _blank(part), _blank(mark[0])]
        start = mark.end()
    return "".join(parts) + body[start:]


def _read_rows(
    body: str, path: str, line: int, header_rows: int
) -> tuple[list[Record], list[Problem]]:
    """Read the rows of a tabular whose cells begin on a line."""
    rows: list[Record] = []
    spans: list[tuple[int, int, int]] = []
    problems: list[Problem] = []
    counted = 0
    for places, is_closed in _split_rows(body):
        if not body[places[0] : places[-1]].strip(" \t\n&"):
            continue
        start = _skip_blanks(body, places[0])
        line, counted = line + body.count("\n", counted, start), start
        if not is_closed:
            reason, remedy = "A brace that opens in this row is never closed.", "Close it."
            problems.append(_explain_tabular("unclosed_brace", path, line, reason, remedy))
            continue
        cells: list[str] = []
        for first, end in pairwise(places):
            cell, width, height = _expand_spans(body[first:end].removeprefix("&"))
            if abs(height) > 1:
                spans.append((len(rows), len(cells), height))
            cells += [_clean_latex(cell), *[""] * (width - 1)]
        last = line + body.count("\n", start, places[-1])
        rows.append(Record(line, last, cells))
    _fill_spans(rows, spans, header_rows)
    return rows, problems


def _split_rows(body: str) -> Iterator[tuple[list[int], bool]]:
    """List where the cells of each row begin and where the last one ends; whether braces close."""
    places, braces, nested = [0], 0, 0
    for match in STRUCTURE.finditer(body):
        is_open = braces == nested == 0
        if match[2]:
            nested = max(nested + (1 if match[2] == "begin" else -1), 0)
        elif match[0] in "{}":
            braces = max(braces + (1 if match[0] == "{" else -1), 0)
        elif match[0] == "&" and is_open:
            places.append(match.start())
        elif match[1] and is_open:
            yield [*places, match.start()], True
            places = [match.end()]
    yield [*places, len(body)], braces == 0


def _expand_spans(cell: str) -> tuple[str, int, int]:
    """Take a cell out of what makes it several columns wide or several rows high."""
    size = {"column": 1, "row": 1}
    for _ in range(SPANS):
        match = SPAN.search(cell)
        if match is None:
            break
        close = _match_braces(cell)
        position, arguments = match.end(), []
        for _ in range(3):
            argument, position = _read_argument(cell, position, close)
            arguments.append(argument)
        if not COUNT.fullmatch(arguments[0]):
            break
        size[match[1]] = int(arguments[0])
        cell = f"{cell[: match.start()]}{arguments[2]}{cell[position:]}"
    return cell, max(size["column"], 1), size["row"]


def _read_argument(text: str, position: int, close: dict[int, int]) -> tuple[str, int]:
    """Read what stands in the next braces, or the next character, and where it ends."""
    start = _skip_blanks(text, _pass_brackets(text, position))
    if start in close:
        return text[start + 1 : close[start]], close[start] + 1
    return text[start : start + 1], start + 1


def _fill_spans(
    rows: list[Record], spans: Sequence[tuple[int, int, int]], header_rows: int
) -> None:
    """Repeat cells that are several rows high into the blank ones below or, if negative, above."""
    for row, place, height in spans:
        step = 1 if height > 0 else -1
        for other in range(row + step, row + height, step):
            if not header_rows <= other < len(rows):
                continue
            cells = rows[other].cells
            if place >= len(cells) or cells[place]:
                break
            cells[place] = rows[row].cells[place]


def _clean_latex(cell: str) -> str:
    """Turn LaTeX into plain text."""
    close = _match_braces(cell)
    texts: list[str] = []
    position = 0
    while match := TOKEN.match(cell, position):
        position = match.end()
        command, symbol, special = match.groups()
        if command is not None:
            text, position = _read_command(cell, match, close, texts)
        elif symbol is not None:
            text = SYMBOLS.get(symbol, match[0])
            if symbol == "\\" and (option := BRACKET.match(cell, position)):
                position = option.end()
        elif special is None:
            text = match[0]
        elif special in "^_":
            text, position = _read_script(cell, match, close, texts)
        else:
            text = " " if special in "~&" else ""
        texts.append(text)
    return " ".join("".join(texts).split())


def _read_command(
    cell: str, match: re.Match[str], close: dict[int, int], texts: Sequence[str]
) -> tuple[str, int]:
    """Read a command: what it says, and where the text goes on."""
    name, position = match[1], match.end()
    if name == "textsubscript":
        return "" if SPREAD.match(cell, position) else "_", position
    if name in WORDS:
        return WORDS[name], position
    if name not in PASSED:
        end = position
        while (start := _skip_blanks(cell, end)) in close:
            end = close[start] + 1
        return cell[match.start() : end], end
    count = PASSED[name]
    if name == "begin" and (begun := ENVIRONMENT.match(cell, match.start())):
        count += TABULARS.get(begun[2], 0)
    if name in OPTIONAL:
        position = _pass_brackets(cell, position)
    end = _pass_groups(cell, position, count, close)
    return _read_raised(cell, position, end, texts) if name == "textsuperscript" else ("", end)


def _read_raised(cell: str, position: int, end: int, texts: Sequence[str]) -> tuple[str, int]:
    """Read a raised group, as `_read_script` does, but for lone digits, which mark footnotes."""
    if SPREAD.match(cell, position):
        return "", position
    if _is_square(cell[position:end], texts):
        return "2", end
    if _is_in_name(texts):
        is_note = _is_footnote(cell, position, end)
    else:
        is_note = not MEASURED.fullmatch(cell, position, end)
    return ("", end) if is_note else ("^", position)


def _read_script(
    cell: str, match: re.Match[str], close: dict[int, int], texts: Sequence[str]
) -> tuple[str, int]:
    """Read what is raised or lowered, which is dropped if it is the mark of a footnote."""
    start = _skip_blanks(cell, match.end())
    token = TOKEN.match(cell, start)
    if token is None:
        return match[0], match.end()
    end = close[start] + 1 if start in close else start + 1
    end = token.end() if token[1] else end
    script = cell[start:end]
    if SPREAD.match(script):
        return "", start
    if match[0] == "_":
        return "_", match.end()
    if _is_square(script, texts):
        return "2", end
    is_alone = ALONE.search(cell, max(match.start() - 9, 0), match.start()) is not None
    if _is_in_name(texts):
        is_note = _is_footnote(cell, start, end, is_alone=is_alone)
        return ("", end) if is_note else ("^", match.end())
    is_power = EXPONENT.fullmatch(script) and "".join(texts[-3:]).rstrip()[-1:].isdigit()
    is_number = is_power or MEASURED.fullmatch(script)
    is_mark = NOTES.fullmatch(script) or (is_alone and not is_number)
    return ("", end) if is_mark else ("^", match.end())


def _is_in_name(texts: Sequence[str]) -> bool:
    """Whether letters were read that belong to no number."""
    return any(map(LETTER.search, texts[-FARTHEST:]))


def _is_footnote(cell: str, start: int, end: int, *, is_alone: bool = True) -> bool:
    """Whether what is raised in a name marks a footnote: signs and numbers behind it do."""
    if DAGGERS.fullmatch(cell, start, end):
        return True
    marks = NUMBERED if is_alone else NOTES
    behind = ENDING.match(cell, end, end + FARTHEST)
    is_last = behind is not None and behind.end() == len(cell)
    return is_last and marks.fullmatch(cell, start, end) is not None


def _is_square(script: str, texts: Sequence[str]) -> bool:
    """Whether this is the square of R²."""
    said = "".join(texts[-3:]).rstrip()
    return script.strip("{} ") == "2" and SQUARED.search(said) is not None
