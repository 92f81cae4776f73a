"""What was read, dropped and changed: sentences and small tables made from a study's records."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from capmap.pages.wording import NAME, join_names, join_words
from capmap.wording import format_count

ROWS = {
    "rows": "rows in the exports",
    "rows_filtered": "rows left out by the filter of the settings",
    "rows_empty_score": "empty scores",
    "rows_rejected": "rows rejected, in whole or in part",
    "duplicates_identical": "repeats of a run with the same score, counted once",
    "duplicates_resolved": "repeats of a run with another score, resolved as configured",
    "runs": "usable runs",
}
CONVERSIONS = {
    "percent_signs": "scores with a percent sign, divided by 100",
    "decimal_commas": "scores with a decimal comma, read as a point",
}
WARNING = ["reason", "remedy", "source", "line", "column", "value"]


def describe_counts(validation: Mapping[str, Any]) -> str:
    """Say in a line how large a study is.

    Examples
    --------
    >>> describe_counts({"counts": {"models": 3, "datasets": 1, "runs": 9, "files": 2}})
    '3 models, 1 dataset, 9 runs, from 2 files'
    """
    counts = validation["counts"]
    *parts, files = (
        format_count(counts[f"{kind}s"], kind) for kind in ("model", "dataset", "run", "file")
    )
    return f"{', '.join(parts)}, from {files}"


def is_uneven(validation: Mapping[str, Any]) -> bool:
    """Whether cells differ in their number of runs."""
    seeds = validation["seeds_per_cell"]
    return bool(validation["counts"]["cells_empty"] or seeds["min"] != seeds["max"])


def describe_reading(validation: Mapping[str, Any]) -> Markup:
    """Say how many runs a cell has, how many cells are empty, and which columns were read."""
    counts, seeds = validation["counts"], validation["seeds_per_cell"]
    empty, spread = counts["cells_empty"], ""
    if seeds["min"] != seeds["max"]:
        spread = f"{seeds['min']} to "
    runs = f"Each cell with a score has {spread}{format_count(seeds['max'], 'run')}"
    cells = format_count(counts["cells"] + empty, "cell")
    text = Markup("{}; {:,} of {} {} empty.").format(
        runs, empty, cells, "is" if empty == 1 else "are"
    )
    if summarized := validation["conversions"].get("summarized", 0):
        text += Markup(" {} made up from published means and standard deviations.").format(
            format_count(summarized, "run is", "runs are")
        )
    return text + _describe_columns(validation.get("readings", []))


def _describe_columns(readings: Sequence[Mapping[str, Any]]) -> Markup:
    """Say which columns were taken for what, in the most frequent way of reading."""
    if not readings:
        return Markup("")
    first = max(readings, key=lambda reading: reading["files"])
    parts = [
        Markup("{} from {}").format(role, join_names(names))
        for role, names in first["names"].items()
    ]
    count, scores = first["columns"], join_names(first["scores"])
    such = "" if count == len(first["scores"]) else f"{count:,} columns such as "
    parts.append(Markup("score from {}{}").format(such, scores))
    rest = sum(reading["files"] for reading in readings) - first["files"]
    others = f" {format_count(rest, 'file has', 'files have')} other columns." if rest else ""
    return Markup(" Columns: {}.{}").format(join_words(parts), others)


def describe_changes(changes: pd.DataFrame) -> Markup:
    """Say what came, went and moved since the former run, or nothing if nothing changed."""
    parts = []
    for kind in ("model", "dataset", "run", "setting"):
        own = changes[changes["kind"] == kind]
        is_new, is_gone = own["before"].isna(), own["after"].isna()
        ways = {"new": is_new, "removed": is_gone, "changed": ~is_new & ~is_gone}
        if kind == "setting":
            ways = {"changed": own["name"].notna()}
        for verb, chosen in ways.items():
            if chosen.any():
                noun = format_count(chosen.sum(), f"{verb} {kind}")
                parts.append(Markup("{} ({})").format(noun, join_names(own.loc[chosen, "name"])))
    text = Markup("Since the former run: {}.").format(join_words(parts)) if parts else Markup("")
    ranks = changes[changes["kind"] == "rank"].dropna(subset=["before", "after"])
    if ranks.empty:
        return text
    ranks = ranks.astype({"before": int, "after": int})
    row = ranks.iloc[int((ranks["after"] - ranks["before"]).abs().argmax())]
    return text + Markup(" Largest move: {}, from rank {} to {}.").format(
        NAME.format(row["name"]), row["before"], row["after"]
    )


def tabulate_rows(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate what became of the exports' rows.

    Parameters
    ----------
    validation : mapping
        The content of ``validation.json``.

    Returns
    -------
    pandas.DataFrame
        Columns ``what`` and ``number``; every way of dropping rows or runs has its line, zeros
        included.
    """
    counts, conversions = validation["counts"], validation["conversions"]
    lines = [(label, counts[key]) for key, label in ROWS.items()]
    lines += [(label, conversions[key]) for key, label in CONVERSIONS.items()]
    return pd.DataFrame(lines, columns=["what", "number"])


def count_rejected(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate why rows were rejected.

    Parameters
    ----------
    validation : mapping
        The content of ``validation.json``.

    Returns
    -------
    pandas.DataFrame
        Columns ``reason`` and ``rows``, the most frequent first.
    """
    rejected = sorted(validation["rejected"].items(), key=lambda item: (-item[1], item[0]))
    reasons = [(reason.replace("_", " "), rows) for reason, rows in rejected]
    return pd.DataFrame(reasons, columns=["reason", "rows"])


def list_warnings(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the warnings.

    Parameters
    ----------
    validation : mapping
        The content of ``validation.json``.

    Returns
    -------
    pandas.DataFrame
        A row per warning with its reason, remedy and place. The first of each kind come first,
        then the second, so that a cut leaves no kind out; columns without any content are left
        out.
    """
    table = pd.DataFrame(validation["warnings"], columns=["code", *WARNING])
    table = table.iloc[table.groupby("code").cumcount().argsort(kind="stable")]
    table["line"] = table["line"].where(table["line"] != 0).astype("Int64")
    filled = [name for name in WARNING if table[name].replace("", None).notna().any()]
    return table[filled or WARNING].reset_index(drop=True)


def list_files(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the exports with their size and digest.

    Parameters
    ----------
    validation : mapping
        The content of ``validation.json``.

    Returns
    -------
    pandas.DataFrame
        Columns ``path``, ``bytes``, ``rows`` and ``sha256``.
    """
    return pd.DataFrame(validation["files"], columns=["path", "bytes", "rows", "sha256"])
