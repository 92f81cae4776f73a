"""Numbers that others published beside those of the study, cell by cell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.errors import ValidationError
from capmap.exports.cells import match_value
from capmap.exports.sheets import open_sheet
from capmap.ranking.aggregation import FloatArray
from capmap.tables import read_declared
from capmap.wording import count_things, list_names, quote_name

VERDICTS = ("different", "not computed", "near", "equal")
COUNTS = ["cells", "equal", "near", "different", "not_computed"]
CELLS = "published row column printed computed difference verdict"
CLAIMS = "claim beside above below estimate low high verdict note"
NUMBERS = ["column", "low", "high"]
NONE = pd.DataFrame(columns=["key", *NUMBERS])
SEPARATOR = "\n"
# Numbers that are printed with all their digits are equal where twelve of these are.
SLACK = 1e-12
# For the error of a difference itself.
ROOM = 1 + 1e-9
PLAIN = {"where": {}, "scale": 1, "tolerance": 0, "low": "", "high": "", "count": False}


def compare_published(
    *, folder: str, published: Mapping[str, Any], claims: Mapping[str, Any]
) -> dict[str, pd.DataFrame]:
    """Compare every number of published tables with the one that the study has for it.

    A number is ``equal`` if ours, rounded to the decimals of its column, is it: if they differ by
    no more than half of the last place (ties of rounding go either way), or in nothing but the last
    of 12 significant digits. It is ``near`` if they differ by no more than the ``tolerance`` of its
    column, or if it lies in the interval that the study has for it. Blank cells are none.
    """
    rows, cells = [], []
    for name, entry in published.items():
        own = list[dict[Any, Any]]()
        if entry["file"]:
            table = read_declared(f"{folder}/{entry['table']}.csv") if entry["table"] else None
            own = [{"published": name, **cell} for cell in _compare_table(name, entry, table)]
        counts = pd.Series([cell["verdict"] for cell in own], dtype="str").value_counts()
        rows.append(
            {
                "published": name,
                "beside": entry["table"] or (entry["figure"] and f"figures/{entry['figure']}"),
                "cells": len(own),
                **{verdict.replace(" ", "_"): counts.get(verdict, 0) for verdict in VERDICTS},
                "note": entry["note"],
            }
        )
        cells += own
    table = pd.DataFrame(cells, columns=CELLS.split())
    order = table["verdict"].map(VERDICTS.index).sort_values(kind="stable").index
    return {
        "published": pd.DataFrame(rows, columns=["published", "beside", *COUNTS, "note"]),
        "published_cells": table.loc[order].reset_index(drop=True),
        "published_claims": _judge_claims(claims, folder),
    }


def _judge_claims(claims: Mapping[str, Any], folder: str) -> pd.DataFrame:
    """Whether the interval of each statement lies within its range, outside, or across an end.

    A statement on a row that the study does not have is open, and one without an interval.
    """
    rows = []
    for name, claim in claims.items():
        entry = {"table": claim["table"], "where": claim.get("where", {}), "keys": {}}
        table = read_declared(f"{folder}/{claim['table']}.csv")
        found = _find_rows(table, entry, {**PLAIN, **claim, "where": {}})
        if len(found) > 1:
            raise ValidationError(
                f"claims.{name}: {claim['table']} has {count_things(len(found), 'row')} that fit "
                "`where`. Say which one is meant."
            )
        ours, low, high = found[NUMBERS].iloc[0] if len(found) else [math.nan] * 3
        least, most = claim.get("above", -math.inf), claim.get("below", math.inf)
        verdict = "holds" if least <= low and high <= most else "open"
        verdict = "fails" if high < least or low > most else verdict
        said = [claim.get(end, math.nan) for end in ("above", "below")]
        numbers = [ours, low, high, verdict, claim.get("note", "")]
        rows.append([name, claim["table"], *said, *numbers])
    return pd.DataFrame(rows, columns=CLAIMS.split())


def _compare_table(
    name: str, entry: Mapping[str, Any], table: pd.DataFrame | None
) -> Iterator[dict[Any, Any]]:
    """Compare the printed numbers of a file, column by column."""
    path, keys = entry["file"], [*entry["keys"]]
    texts = _read_texts(path)
    rest = [column for column in texts if column not in keys]
    columns = {
        column: {**PLAIN, **(rule if isinstance(rule, dict) else {"column": rule or column})}
        for column, rule in (entry["columns"] or dict.fromkeys(rest, "")).items()
    }
    _require_columns([*keys, *columns], texts, path)
    renamed = texts[keys].map(lambda part: entry["names"].get(part, part))
    rows = pd.DataFrame({"row": _join(texts[keys], " / "), "key": _join(renamed)})
    for column, rule in columns.items():
        printed = rows.assign(printed=texts[column], line=rows.index + 2)
        printed = printed[printed["printed"] != ""]
        own = NONE if table is None else _find_rows(table, entry, rule)
        beside = printed.merge(own, how="left", on="key")
        if len(twice := beside[beside.duplicated("line")]):
            raise ValidationError(
                f"published.{name}: {entry['table']} has several rows of "
                f"{list_names(twice['key'].iloc[0].split(SEPARATOR))}. "
                "Say by `where` or `keys` which of them is meant."
            )
        numbers = [
            _read_number(text, f"{path}, line {line}, column {column!r}")
            for text, line in zip(printed["printed"], printed["line"], strict=True)
        ]
        decimals = max(map(_count_decimals, texts[column]), default=0)
        compared = _compare_numbers(beside, np.array(numbers), rule, decimals)
        yield from compared.assign(column=column).to_dict("records")


def _compare_numbers(
    beside: pd.DataFrame, printed: FloatArray, rule: Mapping[str, Any], decimals: int
) -> pd.DataFrame:
    """How far numbers are from those beside them, and whether they are the same."""
    ours, low, high = rule["scale"] * beside[NUMBERS].to_numpy(dtype=np.float64).T
    apart = np.abs(ours - printed)
    ends = [end for end, name in ((low, rule["low"]), (high, rule["high"])) if name]
    # An end that is not named is NaN, which is above and below nothing.
    is_inside = ~np.isnan(ends).any(axis=0) & ~(printed < low) & ~(printed > high)
    is_near = (apart <= rule["tolerance"] * ROOM) | (is_inside & bool(ends))
    is_equal = apart <= np.maximum(0.5 * 10.0**-decimals, SLACK * np.abs(printed)) * ROOM
    verdict = np.where(is_equal, "equal", np.where(is_near, "near", "different"))
    verdict = np.where(np.isnan(ours), "not computed", verdict)
    return beside.assign(computed=ours, difference=ours - printed, verdict=verdict)


def _find_rows(
    table: pd.DataFrame, entry: Mapping[str, Any], rule: Mapping[str, Any]
) -> pd.DataFrame:
    """Rows of the study's table that the filters let through: their keys, and `NUMBERS`."""
    where = entry["where"] | rule["where"]
    keys = [*entry["keys"].values()]
    read = {part: rule[part] for part in NUMBERS if rule[part]}
    _require_columns([*keys, *where, *read.values()], table, entry["table"])
    for column, value in where.items():
        said = [match_value(text, value) for text in map(_write_text, table[column])]
        table = table[np.array(said, dtype=bool)]
    rows = pd.DataFrame({part: table[column] for part, column in read.items()})
    try:
        rows = (rows.notna() if rule["count"] else rows).astype("float64")
    except ValueError:
        raise ValidationError(
            f"{entry['table']}: of {list_names([*read.values()])}, which `published` or `claims` "
            "name, one is a column of text. Name columns of numbers, or `count: true`."
        ) from None
    rows = rows.reindex(columns=NUMBERS).assign(key=_join(table[keys].map(_write_text)))
    return rows.groupby("key", as_index=False).sum(min_count=1) if rule["count"] else rows


def _join(table: pd.DataFrame, separator: str = SEPARATOR) -> list[str]:
    """The texts of each row, joined."""
    return [separator.join(parts) for _, *parts in table.itertuples(name=None)]


def _read_texts(path: str) -> pd.DataFrame:
    """The cells of a file as they are written there."""
    sheet = open_sheet(path, wanted=())
    cells = sheet.read_cells([*dict.fromkeys(sheet.columns)])
    texts = {name: column.to_pylist() for name, column in cells.columns.items()}
    return pd.DataFrame(texts, dtype=object).map(str.strip)


def _require_columns(names: Sequence[str], present: pd.DataFrame, place: str) -> None:
    missing = [name for name in names if name not in present]
    if missing:
        raise ValidationError(
            f"{place}: there is no column {quote_name(missing[0])}, which `published` names. The "
            f"columns are {list_names([*map(str, present)])}."
        )


def _read_number(text: str, place: str) -> float:
    try:
        number = float(text.replace("\N{MINUS SIGN}", "-").replace("_", " ").removesuffix("%"))
        if not math.isfinite(number):
            raise ValueError(text)
        return number
    except ValueError:
        raise ValidationError(
            f"{place}: {text!r} is no number. Leave the cell empty if it is none."
        ) from None


def _count_decimals(text: str) -> int:
    """How many decimals a number is printed with; more than any where it is no plain decimal."""
    digits, _, exponent = text.removesuffix("%").lower().partition("e")
    shift = int(exponent) if exponent.lstrip("+-").isdecimal() else 0
    return len(digits.partition(".")[2]) - shift


def _write_text(value: Any) -> str:
    """A key as it would be printed: whole numbers without a point, nothing where there is none."""
    if pd.isna(value):
        return ""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def find_facts(published: pd.DataFrame, published_claims: pd.DataFrame) -> dict[str, Any]:
    """How many published numbers are ours, where others are, and which statements hold."""
    claims = published_claims.groupby("verdict")["claim"].agg(list)
    return {
        "numbers": published[COUNTS].sum().astype(int).to_dict(),
        "differing": published.loc[published["different"] > 0, "published"].tolist(),
        "claims": len(published_claims),
        **{name: claims.get(name, []) for name in ("holds", "fails", "open")},
    }


ANALYSIS = Analysis(
    question="Are the published numbers those that come out here?",
    position=220,
    folder="tables",
    needs="published claims",
    tables={
        "published": Table(
            "Published tables and figures, and how many of their numbers are equal to ours, near, "
            "different or not computed here.",
            "published beside cells equal near different not_computed note",
            text="published beside note",
            formats="csv tex",
        ),
        "published_cells": Table(
            "Every published number and ours, those that differ first.",
            CELLS,
            text="published row column printed verdict",
        ),
        "published_claims": Table(
            "Statements of the publication as ranges of numbers, beside our intervals.",
            CLAIMS,
            text="claim beside verdict note",
        ),
    },
    steps={
        "compare_published": Step(
            compare_published,
            options={"published": "published", "claims": "claims"},
        ),
    },
    find_facts=find_facts,
    meanings={
        "above": "The statement says that the number is no lower than this.",
        "below": "The statement says that the number is no higher than this.",
        "beside": "The table or figure of this study that stands beside it.",
        "cells": "Published numbers that were compared.",
        "claim": "The statement of the publication.",
        "column": "The column as printed.",
        "computed": "The number of this study, on the scale of the printed one.",
        "different": "Published numbers that differ from those of this study.",
        "equal": "Published numbers that are those of this study, as printed.",
        "near": "Published numbers within a stated tolerance or our interval.",
        "not_computed": "Published numbers that this study has none for.",
        "note": "Why numbers differ or are not computed.",
        "printed": "The number as printed.",
        "published": "The published table or figure.",
        "row": "The row as printed.",
        "verdict": "Whether numbers are equal, near or different, or a statement holds or fails.",
    },
)
