"""Tables as analyses declare them: made by their steps, kept as CSV, JSON and LaTeX."""

import json
import logging
import math
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import (
    FOLDER,
    MOST_MODELS,
    STEPS,
    TABLES,
    TOO_MANY,
    Best,
    Step,
    find_table,
    load_analysis,
    place_read,
)
from capmap.analyses.columns import list_text_columns
from capmap.artifacts import read_parquet, read_table, render_csv, write_parquet, write_text
from capmap.wording import find_statistic, format_count

DECIMALS = 3
# What rounding errors leave of a 0 stays below it.
NEGLIGIBLE = 1e-9
MOST_ROWS, MOST_CELLS = 20_000, 400_000
MOST_DECIMALS = 6
# From there on a column is printed with exponents.
LARGEST, SMALLEST = 1e7, 1e-5
NUMBERS = {"integer", "floating", "mixed-integer-float"}
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",
    "*": "{*}",
    **{character: f"\\{character}" for character in "_%&#${}"},
}

NONE_RANKED = "No model has results on enough datasets to be ranked."

logger = logging.getLogger("analyse")
_LATEX_CODES = str.maketrans(LATEX)
_BREAKS = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


def write_table(
    table: pd.DataFrame, paths: Sequence[str | Path], *, best: Best | None = None
) -> None:
    """Write one table to files as their suffixes say, with the best values of columns in bold.

    Nobody reads 20 000 rows or 400 000 cells: in place of a larger table LaTeX says how large it
    is, and that all of it is in the CSV.

    Notes
    -----
    Nobody reads 20 000 rows or 400 000 cells: in place of a larger table LaTeX says how
    large it is, and that all of it is in the CSV.
    """
    shown = table
    if len(table) > MOST_ROWS or table.size > MOST_CELLS:
        rows, columns = map(format_count, table.shape, ("row", "column"))
        name = Path(paths[0]).stem
        shown = pd.DataFrame({name: [f"{rows} and {columns}, too large to print: see {name}.csv"]})
    render: dict[str, Callable[[], str]] = {
        ".csv": lambda: render_csv(table),
        ".tex": lambda: render_latex(shown, best=best),
        ".json": lambda: render_json(table),
    }
    for path in paths:
        write_text(path, render[Path(path).suffix]())


def write_declared(table: pd.DataFrame, place: str, folder: str | Path) -> None:
    """Write a table as its analysis declares it: columns in order, formats, what is bold.

    `place` is its name with folder, such as ``comparisons/elo``. Columns that are not declared are
    left out, unless more may follow.
    """
    declared = load_analysis(TABLES[place]).tables[place.partition("/")[2]]
    names = declared.columns.split()
    if "iqm" in names and "iqm" not in table:
        names[names.index("iqm")] = find_statistic(table.columns)
    chosen = table if declared.more else table[list(dict.fromkeys(names))]
    paths = [Path(folder, f"{place}.{suffix}") for suffix in declared.formats.split()]
    write_table(chosen, paths, best=declared.best)


def read_declared(path: str | Path, place: str = "") -> pd.DataFrame:
    """Read a table from CSV: what its analysis declares as text stays text.

    `place` is its name with folder; by default that of the path. If a table is kept as JSON too,
    text that is missing is "".
    """
    place = place or f"{Path(path).parent.name}/{Path(path).stem}"
    texts = list_text_columns(place)
    table = read_table(path, names=texts)
    declared = find_table(place)
    if declared and "json" in declared.formats:
        texts = [name for name in texts if name in table]
        table = table.fillna(dict.fromkeys(texts, "")).astype(dict.fromkeys(texts, "str"))
    return table


def run_steps(
    study: str, folder: str, steps: Mapping[str, Mapping[str, Any]], inputs: Mapping[str, Any]
) -> dict[str, str]:
    """Run steps by their names and options; give why tables have no rows, by their files.

    `inputs` are the paths that steps read themselves.
    """
    content: dict[str, pd.DataFrame] = {}
    reasons: dict[str, str] = {}
    for name, options in steps.items():
        step, owner = load_analysis(STEPS[name]).steps[name], STEPS[name]
        known: dict[str, Any] = {"study": study, "folder": folder, **options}
        known |= {path: inputs[path] for path in step.paths}
        for read in step.reads:
            place = f"{folder}/{place_read(read, owner)}"
            if place not in content:
                content[place] = read_place(place)
            known[read] = content[place]
        if load_analysis(owner).folder == FOLDER and "ranked" in known.get("runs", ()):
            known["runs"] = known["runs"][known["runs"]["ranked"]]
            if reason := _find_obstacle(step, known["runs"]):
                logger.warning("%s: %s", name, reason)
                _write(name, _make_empty(name), folder)
                reasons |= {f"{table}.csv": reason for table in step.tables}
                continue
        made = call_with(step.run, known)
        if isinstance(made, pd.DataFrame):
            made = dict.fromkeys([*step.tables, *step.files], made)
        _write(name, made, folder)
        parts = [*step.tables, *step.files]
        counts = ", ".join(f"{len(made[part])} rows of {part}" for part in parts)
        logger.info("%s: %s", name, counts)
    logger.info("%d steps done", len(steps))
    return reasons


def call_with(function: Callable[..., Any], known: Mapping[str, Any]) -> Any:
    """Call a function with what its parameters are called after."""
    names = [name for name in signature(function).parameters if name in known]
    return function(**{name: known[name] for name in names})


def read_place(place: str) -> pd.DataFrame:
    """Read a table, or a file of one, where its analysis has it."""
    if not place.endswith(".parquet"):
        return read_declared(place)
    return read_parquet(place, packed="/normalized/" in place)


def _find_obstacle(step: Step, runs: pd.DataFrame) -> str:
    """Say why the runs of ranked models cannot be compared; empty if they can."""
    if runs.empty:
        return NONE_RANKED
    return TOO_MANY if step.pairs and runs["model"].nunique() > MOST_MODELS else ""


def _make_empty(name: str) -> dict[str, pd.DataFrame]:
    """What a step makes, without a row."""
    owner = load_analysis(STEPS[name])
    step = owner.steps[name]
    tables = {
        table: pd.DataFrame(columns=owner.tables[table].columns.split()) for table in step.tables
    }
    return tables | {file: pd.DataFrame() for file in step.files}


def _write(name: str, made: Mapping[str, pd.DataFrame], folder: str) -> None:
    """Write what a step makes."""
    owner = load_analysis(STEPS[name])
    for table in owner.steps[name].tables:
        write_declared(made[table], f"{owner.folder}/{table}", folder)
    for file, place in owner.steps[name].files.items():
        write_parquet(f"{folder}/{place}", made[file])


def render_latex(table: pd.DataFrame, *, best: Best | None = None) -> str:
    r"""Write a table as a booktabs tabular.

    Notes
    -----
    Values are compared as printed, so all that read the same as the best are bold. Letters beyond
    ASCII stay as they are, for XeLaTeX, LuaLaTeX or pdfLaTeX's UTF-8 input.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["a_b", "c"], "iqm": [0.81249, -0.5]})
    >>> print(render_latex(table, best={"iqm": "max"}), end="")
    \begin{tabular}{lr}
    \toprule
    model & iqm \\
    \midrule
    a\_b & \textbf{0.812} \\
    c & $-$0.500 \\
    \bottomrule
    \end{tabular}
    """
    columns = [
        _render_column(table.iloc[:, i], (best or {}).get(str(name)))
        for i, name in enumerate(table.columns)
    ]
    align = "".join("r" if is_number(table.iloc[:, i]) else "l" for i in range(table.shape[1]))
    header = [escape_latex(str(name)) for name in table.columns]
    body = [f"{' & '.join(row)} \\\\" for row in zip(*columns, strict=True)]
    lines = [
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        f"{' & '.join(header)} \\\\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def render_json(table: pd.DataFrame) -> str:
    r"""Write a table as a JSON array with an object per row, each on a line of its own.

    Notes
    -----
    Missing values and infinite ones are null, numbers have their shortest exact form, and names
    stand as they are: JSON has no formulas to fear.

    Examples
    --------
    >>> table = pd.DataFrame({"model": ["=a", "b"], "rank": pd.array([1, None], dtype="Int64")})
    >>> print(render_json(table), end="")
    [
    {"model": "=a", "rank": 1},
    {"model": "b", "rank": null}
    ]
    """
    names = [str(name) for name in table.columns]
    columns = [[_as_plain(value) for value in table[name].tolist()] for name in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    return "[\n" + ",\n".join(lines) + ("\n" if lines else "") + "]\n"


def escape_latex(text: str) -> str:
    r"""Write text so that LaTeX prints it as it stands, on one line.

    Examples
    --------
    >>> print(escape_latex(r"50% \alpha_1"))
    50\% \textbackslash{}alpha\_1
    """
    return _BREAKS.sub(" ", text).translate(_LATEX_CODES)


def format_numbers(values: pd.Series, *, decimals: int | None = None) -> list[str]:
    """Print a column of numbers for a reader; "" where missing.

    Three decimals, none where the whole column holds whole numbers, or as many as show two digits
    of the largest where all would be 0.000. In a column of mixed kinds, integers stay integers.

    Examples
    --------
    >>> format_numbers(pd.Series([0.12345, None, -0.0001]))
    ['0.123', '', '0.000']
    >>> format_numbers(pd.Series([3.0, None]))
    ['3', '']
    >>> format_numbers(pd.Series([3, 0.5], dtype="object"))
    ['3', '0.500']
    >>> format_numbers(pd.Series([0.000123, 0.00002]))
    ['0.00012', '0.00002']
    """
    decimals = count_decimals(values) if decimals is None else decimals
    plain, whole = f"z.{decimals}f", "z.0f"
    return [
        "" if missing else format(value, whole if isinstance(value, int) else plain)
        for value, missing in zip(values.tolist(), values.isna().tolist(), strict=True)
    ]


def count_decimals(values: pd.Series) -> int:
    """Count the decimals with which `format_numbers` prints a column."""
    known = values.dropna().to_numpy(dtype=np.float64)
    if (known == np.floor(known)).all() and np.isfinite(known).all():
        return 0
    largest = np.abs(known).max()
    is_tiny = NEGLIGIBLE < largest < 0.5 * 10**-DECIMALS
    return 1 - math.floor(math.log10(largest)) if is_tiny else DECIMALS


def find_decimals(means: pd.Series) -> int:
    """Find how many decimals distinguish the mean scores of models on a dataset.

    So many that the largest has three digits and the range of all has two, at most six; -1 where
    numbers are so large or small that they need exponents.

    Examples
    --------
    >>> find_decimals(pd.Series([0.84, 0.71])), find_decimals(pd.Series([84.1, 71.2]))
    (3, 1)
    >>> find_decimals(pd.Series([0.9541, 0.9558])), find_decimals(pd.Series([3e9, 1.0]))
    (4, -1)
    """
    largest, spread = means.abs().max(), means.max() - means.min()
    if not largest > 0:
        return 3
    if largest >= LARGEST or largest < SMALLEST:
        return -1
    size = 3 - math.ceil(math.log10(largest))
    # Rounding noise is no range.
    is_spread = spread > 1e-9 * largest
    range_size = 1 - math.floor(math.log10(spread)) if is_spread else size
    return max(0, min(max(size, min(range_size, size + 2)), MOST_DECIMALS))


def write_scores(scores: pd.DataFrame, direction: str) -> list[tuple[str, str, int]]:
    """Write the mean scores of models on a dataset and their deviations, "" where missing.

    The third of each triple is 1 or 2 for all that read the same as the best and the next; nothing
    is marked where the direction is not known.

    Examples
    --------
    >>> write_scores(pd.DataFrame({"mean": [0.5, 0.8], "std": [0.01, None]}), "max")
    [('0.500', '0.010', 2), ('0.800', '', 1)]
    """
    decimals = find_decimals(scores["mean"])
    form = "z.2e" if decimals < 0 else f"z.{decimals}f"
    means, spreads = (
        ["" if pd.isna(value) else format(value, form) for value in scores[name]]
        for name in ("mean", "std")
    )
    known = sorted({float(text) for text in means if text}, reverse=direction == "max")
    is_marked = bool(direction) and sum(map(bool, means)) > 1
    places = {value: place for place, value in enumerate(known[:2], 1) if is_marked}
    return [
        (mean, spread if mean else "", places.get(float(mean), 0) if mean else 0)
        for mean, spread in zip(means, spreads, strict=True)
    ]


def is_number(values: "pd.Series[Any]") -> bool:
    """Whether a column holds numbers, integers and decimals mixed or not, rather than text."""
    return pd.api.types.infer_dtype(values, skipna=True) in NUMBERS or (
        pd.api.types.is_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype)
    )


def _render_column(values: "pd.Series[Any]", direction: str | None) -> list[str]:
    if not is_number(values):
        cells = zip(values.tolist(), values.isna().tolist(), strict=True)
        return ["" if missing else escape_latex(str(value)) for value, missing in cells]
    printed = format_numbers(values)
    winner = find_best(printed, direction)
    signed = [(text, text.replace("-", "$-$")) for text in printed]
    return [rf"\textbf{{{shown}}}" if text and text == winner else shown for text, shown in signed]


def find_best(printed: list[str], direction: str | None) -> str | None:
    """The best of some printed numbers, if one direction ("max" or "min") is better."""
    present = [text for text in printed if text]
    if direction is None or not present:
        return None
    return max(present, key=float) if direction == "max" else min(present, key=float)


def _as_plain(value: Any) -> Any:
    if pd.isna(value) or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value
