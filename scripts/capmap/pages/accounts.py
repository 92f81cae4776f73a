"""What was read, dropped and changed, from a study's records."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

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


def is_uneven(validation: Mapping[str, Any]) -> bool:
    """Whether cells differ in their number of runs."""
    seeds = validation["seeds_per_cell"]
    return bool(validation["counts"]["cells_empty"] or seeds["min"] != seeds["max"])


def find_reading(validation: Mapping[str, Any]) -> dict[str, Any]:
    """Which columns were taken for what, in the most frequent way of reading."""
    readings = validation.get("readings", [])
    if not readings:
        return {}
    first = max(readings, key=lambda reading: reading["files"])
    others = sum(reading["files"] for reading in readings) - first["files"]
    return {**first, "others": others}


def find_changes(changes: pd.DataFrame) -> dict[str, Any]:
    """What came, went and changed since the former run, and the largest move of a rank."""
    parts = []
    for kind in ("model", "dataset", "run", "setting"):
        own = changes[changes["kind"] == kind]
        is_new, is_gone = own["before"].isna(), own["after"].isna()
        ways = {"new": is_new, "removed": is_gone, "changed": ~is_new & ~is_gone}
        if kind == "setting":
            ways = {"changed": own["name"].notna()}
        found = {f"{way} {kind}": own.loc[chosen, "name"].tolist() for way, chosen in ways.items()}
        parts += [(noun, names) for noun, names in found.items() if names]
    ranks = changes[changes["kind"] == "rank"].dropna(subset=["before", "after"])
    ranks = ranks.astype({"before": int, "after": int})
    moves = (ranks["after"] - ranks["before"]).abs().to_numpy()
    largest = ranks.iloc[int(moves.argmax())].to_dict() if len(ranks) else {}
    return {"parts": parts, "largest": largest}


def tabulate_rows(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate what became of the exports' rows; zeros are included."""
    counts, conversions = validation["counts"], validation["conversions"]
    lines = [(label, counts[key]) for key, label in ROWS.items()]
    lines += [(label, conversions[key]) for key, label in CONVERSIONS.items()]
    return pd.DataFrame(lines, columns=["what", "number"])


def count_rejected(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate why rows were rejected, the most frequent reason first."""
    rejected = sorted(validation["rejected"].items(), key=lambda item: (-item[1], item[0]))
    reasons = [(reason.replace("_", " "), rows) for reason, rows in rejected]
    return pd.DataFrame(reasons, columns=["reason", "rows"])


def list_warnings(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the warnings: the first of each kind, then the second, so that a cut loses none."""
    table = pd.DataFrame(validation["warnings"], columns=["code", *WARNING])
    table = table.iloc[table.groupby("code").cumcount().argsort(kind="stable")]
    table["line"] = table["line"].where(table["line"] != 0).astype("Int64")
    filled = [name for name in WARNING if table[name].replace("", None).notna().any()]
    return table[filled or WARNING].reset_index(drop=True)


def list_files(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the exports with their size and digest."""
    return pd.DataFrame(validation["files"], columns=["path", "bytes", "rows", "sha256"])
