"""Numbers that others published beside those of the study, cell by cell."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from capmap.analyses.declarations import Analysis, Step, Table
from capmap.errors import ValidationError
from capmap.exports.cells import match_value
from capmap.exports.sheets import open_sheet
from capmap.tables import read_declared
from capmap.wording import count_things, list_names, quote_name

VERDICTS = ("different", "not computed", "near", "equal")
COUNTS = ["cells", "equal", "near", "different", "not_computed"]
CELLS = "published row column printed computed difference verdict"
CLAIMS = "claim beside above below estimate low high verdict note"
ENDS = ("low", "high")
# Numbers that are printed with all their digits are equal where twelve of these are.
SLACK = 1e-12
# For the error of a difference itself.
ROOM = 1 + 1e-9
PLAIN: dict[str, Any] = {
    **{"where": {}, "scale": 1, "tolerance": 0, "low": "", "high": "", "count": False},
}


def compare_published(
    *, folder: str, published: Mapping[str, Any], claims: Mapping[str, Any]
) -> dict[str, pd.DataFrame]:
    """Compare every number of published tables with the one that the study has for it.

    Parameters
    ----------
    folder : str
        That of the study, with its tables.
    published, claims : mapping
        The settings of these names.

    Returns
    -------
    dict
        The tables ``published`` (a row per entry), ``published_cells`` (a row per number, those
        first that differ) and ``published_claims`` (a row per statement).

    Raises
    ------
    ValidationError
        When a file or a table lacks a column, when a cell is no number, or when several rows of the
        study stand beside one.

    Notes
    -----
    A number is ``equal`` if ours, rounded to the decimals of its column, is it: if they differ by
    no more than half of the last place (ties of rounding go either way), or in nothing but the last
    of 12 significant digits. It is ``near`` if they differ by no more than the ``tolerance`` of its
    column, or if it lies in the interval that the study has for it. Blank cells are none.
    """
    rows, cells = [], []
    for name, entry in published.items():
        own = list[dict[str, Any]]()
        if entry["file"]:
            table = read_declared(f"{folder}/{entry['table']}.csv") if entry["table"] else None
            own = list(_compare_table(name, entry, entry["file"], table))
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
        "published": pd.DataFrame(rows),
        "published_cells": table.loc[order].reset_index(drop=True),
        "published_claims": _judge_claims(claims, folder),
    }


def _judge_claims(claims: Mapping[str, Any], folder: str) -> pd.DataFrame:
    """Whether the interval of each statement lies within its range, outside, or across an end.

    A statement on a row that the study does not have is open, and one without an interval.
    """
    rows = []
    for name, claim in claims.items():
        path = f"{folder}/{claim['table']}.csv"
        entry = {"table": claim["table"], "where": claim.get("where", {}), "keys": {}}
        rule = {"low": "", "high": "", **claim, "where": {}}
        found = _find_rows(read_declared(path), entry, rule).get((), [])
        if len(found) > 1:
            raise ValidationError(
                f"claims.{name}: {claim['table']} has {count_things(len(found), 'row')} that fit "
                "`where`. Say which one is meant."
            )
        row = found[0] if found else {}
        ours = float(row.get(claim["column"], math.nan))
        low, high = (float(row.get(rule[end], math.nan)) for end in ENDS)
        least, most = claim.get("above", -math.inf), claim.get("below", math.inf)
        verdict = "holds" if least <= low and high <= most else "open"
        verdict = "fails" if high < least or low > most else verdict
        said = {end: claim.get(end, math.nan) for end in ("above", "below")}
        numbers = {"estimate": ours, "low": low, "high": high, "verdict": verdict}
        note = claim.get("note", "")
        rows.append({"claim": name, "beside": claim["table"], **said, **numbers, "note": note})
    return pd.DataFrame(rows, columns=CLAIMS.split())


def _compare_table(
    name: str, entry: Mapping[str, Any], path: str, table: pd.DataFrame | None
) -> Iterator[dict[str, Any]]:
    texts = _read_texts(path)
    keys = entry["keys"]
    rest = [column for column in texts if column not in keys]
    columns = {
        column: {**PLAIN, **(rule if isinstance(rule, dict) else {"column": rule or column})}
        for column, rule in (entry["columns"] or dict.fromkeys(rest, "")).items()
    }
    _require_columns([*keys, *columns], texts, path)
    for column, rule in columns.items():
        decimals = max(map(_count_decimals, texts[column]), default=0)
        own = {} if table is None else _find_rows(table, entry, rule)
        for number, text in enumerate(texts[column]):
            if not text:
                continue
            shown = [texts[part][number] for part in keys]
            key = tuple(entry["names"].get(part, part) for part in shown)
            if len(rows := own.get(key, [])) > 1:
                raise ValidationError(
                    f"published.{name}: {entry['table']} has several rows of {list_names([*key])}. "
                    "Say by `where` or `keys` which of them is meant."
                )
            place = f"{path}, line {number + 2}, column {column!r}"
            row = rows[0] if rows else None
            yield {
                "published": name,
                "row": " / ".join(shown),
                "column": column,
                "printed": text,
                **_compare_cell(_read_number(text, place), row, rule, decimals),
            }


def _compare_cell(
    number: float, row: Mapping[Hashable, Any] | None, rule: Mapping[str, Any], decimals: int
) -> dict[str, Any]:
    """What stands beside a number, how far from it, and whether it is the same."""

    def read(column: str) -> float:
        return float("nan") if row is None or not column else rule["scale"] * float(row[column])

    ours, low, high = read(rule["column"]), read(rule["low"]), read(rule["high"])
    apart = abs(ours - number)
    is_near = apart <= rule["tolerance"] * ROOM
    named = [end for end, name in ((low, rule["low"]), (high, rule["high"])) if name]
    is_known = bool(named) and not any(map(math.isnan, named))
    # An end that is not named is NaN, which is above and below nothing.
    is_near |= is_known and not (number < low or number > high)
    if math.isnan(ours):
        verdict = "not computed"
    elif apart <= max(0.5 * 10.0**-decimals, SLACK * abs(number)) * ROOM:
        verdict = "equal"
    else:
        verdict = "near" if is_near else "different"
    return {"computed": ours, "difference": ours - number, "verdict": verdict}


def _find_rows(
    table: pd.DataFrame, entry: Mapping[str, Any], rule: Mapping[str, Any]
) -> dict[tuple[str, ...], list[dict[Hashable, Any]]]:
    """Rows of the study's table by their keys, those that the filters let through."""
    where = entry["where"] | rule["where"]
    keys = [*entry["keys"].values()]
    read = [name for name in (rule["column"], rule["low"], rule["high"]) if name]
    _require_columns([*keys, *where, *read], table, entry["table"])
    texts = {column: list(map(_write_text, table[column])) for column in {*keys, *where}}
    chosen = [
        number
        for number in range(len(table))
        if all(match_value(texts[column][number], value) for column, value in where.items())
    ]
    rows = table.loc[chosen, list(dict.fromkeys(read))]
    try:
        rows = (rows.notna() if rule.get("count") else rows).astype("float64")
    except ValueError:
        raise ValidationError(
            f"{entry['table']}: of {list_names(read)}, which `published` or `claims` name, one is "
            "a column of text. Name columns of numbers, or `count: true`."
        ) from None
    found: dict[tuple[str, ...], list[dict[Hashable, Any]]] = {}
    for number, row in zip(chosen, rows.to_dict("records"), strict=True):
        found.setdefault(tuple(texts[part][number] for part in keys), []).append(row)
    if rule.get("count"):
        sums = {key: pd.DataFrame(own).sum().to_dict() for key, own in found.items()}
        return {key: [own] for key, own in sums.items()}
    return found


def _read_texts(path: str) -> dict[str, list[str]]:
    """The cells of a file as they are written there, by column."""
    sheet = open_sheet(path, wanted=())
    cells = sheet.read_cells([*dict.fromkeys(sheet.columns)])
    return {
        name: [text.strip() for text in column.to_pylist()]
        for name, column in cells.columns.items()
    }


def _require_columns(
    names: Sequence[str], present: Mapping[str, Any] | pd.DataFrame, place: str
) -> None:
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
    needs="published",
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
            tables=["published", "published_cells", "published_claims"],
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
