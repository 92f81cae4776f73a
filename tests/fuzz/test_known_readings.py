"""Exports with known answers: each is read as it was written, or refused with what to do."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from capmap.errors import CapmapError
from capmap.inputs.loading import check_configuration
from tests.fuzz.studies import read_exports_of

# By model, dataset and seed.
Known = Mapping[Any, float]

HEADER = ["model", "dataset", "metric", "seed", "score"]
SCORES: Known = {
    (model, dataset, seed): round(0.5 + place / 16 + int(seed) / 64, 6)
    for place, (model, dataset) in enumerate([("A", "D"), ("A", "E"), ("B", "D"), ("B", "E")])
    for seed in "12"
}
CELLS: Known = {key: score for key, score in SCORES.items() if key[2] == "1"}
LARGE: Known = {("A", "D", "1"): 1234.5, ("B", "D", "1"): 2345678.25, ("C", "D", "1"): 0.75}
GAIN: dict[str, Any] = {
    "metric": "gain",
    "metrics": {"gain": {"direction": "max", "low": -1e9, "high": 1e23}},
}
WIDE: dict[str, Any] = {"format": "matrix", "metric": "accuracy"}


class KnownReading(NamedTuple):
    """An export: its files, the study's settings, its runs (none: to be refused)."""

    name: str
    files: Mapping[str, bytes]
    settings: dict[str, Any]
    known: Known | None


def make_reading(
    name: str,
    content: str | bytes,
    known: Known | None = SCORES,
    *,
    file: str = "runs.csv",
    **settings: Any,
) -> KnownReading:
    """Describe an export of one file."""
    data = content.encode() if isinstance(content, str) else content
    return KnownReading(name, {file: data}, {"exports": file} | settings, known)


def list_readings() -> list[KnownReading]:
    """All exports."""
    families = [
        *(_vary_delimiters, _vary_lines, _write_numbers, _write_large, _leave_out, _write_seeds),
        _widen,
    ]
    return [reading for family in families for reading in family()]


def list_rows(known: Known = SCORES, write: Callable[[float], str] = repr) -> list[list[str]]:
    """A row per run, with its score as it is to be written."""
    return [[model, data, "accuracy", seed, write(v)] for (model, data, seed), v in known.items()]


def write_csv(
    rows: list[list[str]], header: list[str] = HEADER, delimiter: str = ",", **options: Any
) -> str:
    """A table as text."""
    text = io.StringIO()
    options = {"lineterminator": "\n"} | options
    csv.writer(text, delimiter=delimiter, **options).writerows([header, *rows])
    return text.getvalue()


def write_comma(value: float) -> str:
    """A number with a decimal comma."""
    return repr(value).replace(".", ",")


def write_by(write: Callable[[float], str], table: Mapping[int, str]) -> Callable[[float], str]:
    """A way to write numbers with some characters replaced."""
    return lambda value: write(value).translate(table)


def _list_records(known: Known = SCORES) -> list[dict[str, Any]]:
    return [
        dict(zip(HEADER, [*row[:3], int(row[3]), float(row[4])], strict=True))
        for row in list_rows(known)
    ]


def _vary_delimiters() -> Iterator[KnownReading]:
    for delimiter, name in {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}.items():
        for mark, write in {"point": repr, "comma": write_comma}.items():
            text = write_csv(list_rows(write=write), delimiter=delimiter)
            yield make_reading(f"{name}, decimal {mark}", text)
            text = write_csv(list_rows(write=write), delimiter=delimiter, quoting=csv.QUOTE_ALL)
            yield make_reading(f"{name}, decimal {mark}, all in quotes", text)
    yield make_reading("blanks", write_csv(list_rows(), delimiter=" "))
    text = "".join(",".join(row) + "\n" for row in [HEADER, *list_rows(write=write_comma)])
    yield make_reading("decimal commas between commas", text, None)


def _vary_lines() -> Iterator[KnownReading]:
    text = write_csv(list_rows())
    for name, end in {"Windows": "\r\n", "old Mac": "\r", "blank": "\n\n"}.items():
        yield make_reading(f"lines of {name}", text.replace("\n", end))
    yield make_reading("no last line end", text.rstrip("\n"))
    yield make_reading("blank lines at the end", f"{text}\n\n")
    yield make_reading("a line of blanks", f"{text} \n", None)
    yield make_reading("blank lines before", f"\n\n{text}")
    yield make_reading("comments", f"# a\n{text}# b\n", reading={"comment": "#"})
    yield make_reading("comments that were not told", f"# exported, today\n{text}", None)
    yield make_reading("blanks around", text.replace(",", " , ").replace("\n", " \n"))
    yield make_reading("a separator said", f"sep=,\n{text}")
    yield make_reading("commas at the end", text.replace("\n", ",\n"))


def _write_numbers() -> Iterator[KnownReading]:
    for name, write in {
        "with a plus": "+{:.6f}",
        "as exponents": "{:e}",
        "as large exponents": "{:.6E}",
        "without a zero": "{:.6f}",
        "with many zeros": "{:.30f}",
        "in blanks": "  {}\t",
        "in no-break blanks": "\u00a0{}\u202f",
        "in quotes": "'{}'",
        "with percent signs": "{:.4%}",
    }.items():
        text = write_csv(list_rows(write=write.format))
        yield make_reading(f"scores {name}", text.replace(",0.", ",.") if "zero" in name else text)
    yield make_reading(
        "percent signs behind blanks", write_csv(list_rows(write=lambda v: f"{100 * v} %"))
    )
    text = write_csv(list_rows(write=lambda v: f"{100 * v}%".replace(".", ",")), delimiter=";")
    yield make_reading("percent signs and commas", text)
    rows = list_rows(write=lambda v: f"{100 * v}%" if v > 0.6 else repr(v))
    yield make_reading("percent signs on some", write_csv(rows))
    others: dict[str, Callable[[float], str]] = {
        "percent without signs": lambda v: repr(100 * v),
        "percent without signs on some": lambda v: repr(100 * v if v > 0.6 else v),
        "per mille": lambda v: f"{1000 * v}‰",
        "with a unit": "{} s".format,
        "with a currency": "${}".format,
        "in brackets": "({})".format,
        "as fractions": lambda v: "{}/{}".format(*v.as_integer_ratio()),
        "in hexadecimal": float.hex,
        "of full width": lambda v: repr(v).translate({ord("0") + n: 0xFF10 + n for n in range(10)}),
        "in Arabic digits": lambda v: repr(v).translate({48 + n: 0x660 + n for n in range(10)}),
        "with a middle dot": lambda v: repr(v).replace(".", "·"),
        "with a star": "{}*".format,
        "as approximate": "~{}".format,
        "as bounds": ">{}".format,
        "as ranges": "{0}-{0}".format,
        "as complex numbers": "{}+0j".format,
        "as booleans": lambda v: str(v > 0.6),
        "as lists": "[{}]".format,
        "with both marks": lambda v: repr(v) if v > 0.6 else write_comma(v),
        "with a blank": lambda v: repr(v).replace(".", ". "),
        "with a Python underline": lambda v: f"{v:.6f}"[:4] + "_" + f"{v:.6f}"[4:],
        "as words": lambda v: "good" if v > 0.6 else "bad",
        "as formulas": "={}".format,
    }
    for name, form in others.items():
        yield make_reading(f"scores {name}", write_csv(list_rows(write=form)), None)
    signed = {("A", "D", "1"): -0.5, ("B", "D", "1"): 0.25}
    text = write_csv(list_rows(signed, lambda v: repr(v).replace("-", "\u2212")))
    yield make_reading("minus of typesetters", text, signed, **GAIN)
    for sign in "\u2013\u2014\u2010":
        text = write_csv(list_rows(signed, write_by(repr, {ord("-"): sign})))
        yield make_reading(f"minus as {sign!a}", text, None, **GAIN)
    floats = [0.1 + 0.2, 1 / 3, 5e-324, 1.0, 0.0, -0.0, 1e-17, 1 - 2**-53]
    odd = dict(zip(SCORES, floats, strict=True))
    yield make_reading("floats to the last digit", write_csv(list_rows(odd)), odd)
    text = write_csv(list_rows(write=lambda v: f"{v:.60f}"))
    yield make_reading("sixty digits", text)


def _write_large() -> Iterator[KnownReading]:
    for name, mark, divider in [
        ("English", ".", ","),
        ("German", ",", "."),
        ("French", ",", "\u202f"),
        ("Polish", ",", "\u00a0"),
        ("thin", ".", "\u2009"),
        ("no", ".", ""),
        ("no, comma", ",", ""),
    ]:
        table = {ord(","): divider, ord("."): mark}
        rows = list_rows(LARGE, write_by("{:,.2f}".format, table))
        yield make_reading(f"{name} thousands", write_csv(rows), LARGE, **GAIN)
    swiss = write_csv(list_rows(LARGE, lambda v: f"{v:,}".replace(",", "'")))
    yield make_reading("Swiss thousands", swiss, None, **GAIN)
    yield make_reading("Swiss thousands, curly", swiss.replace("'", "\u2019"), None, **GAIN)
    blank = write_csv(list_rows(LARGE, lambda v: f"{v:,}".replace(",", " ")))
    yield make_reading("thousands by blanks", blank, None, **GAIN)
    indian = swiss.replace("2'345'678", "23,45,678").replace("1'234.5", "1234.5")
    indian = indian.replace("23,45,678.25", '"23,45,678.25"')
    yield make_reading("Indian thousands", indian, None, **GAIN)
    doubtful = {("A", "D", "1"): 1234.0, ("B", "D", "1"): 1.234}
    for mark, written in {".": ("1,234", "1.234"), ",": ("1.234", "1,234")}.items():
        rows = [["A", "D", "x", "1", written[0]], ["B", "D", "x", "1", written[1]]]
        yield make_reading(f"either mark of {mark}", write_csv(rows), None, **GAIN)
        yield make_reading(f"mark {mark} said", write_csv(rows), doubtful, decimal=mark, **GAIN)
    records = [
        {"model": "A", "dataset": "D", "score": 1.234},
        {"model": "B", "dataset": "D", "score": "1.234,5"},
    ]
    known = {("A", "D", ""): 1.234, ("B", "D", ""): 1234.5}
    yield make_reading("JSON numbers by texts", json.dumps(records), known, file="a.json", **GAIN)
    huge = {("A", "D", "1"): 1e22, ("B", "D", "1"): 2.0**60}
    rows = list_rows(huge, lambda v: f"{v:.0f}")
    yield make_reading("long whole numbers", write_csv(rows), huge, **GAIN)
    yield make_reading("beyond floats", write_csv(list_rows(huge, lambda _: "1e400")), None, **GAIN)


def _leave_out() -> Iterator[KnownReading]:
    kept = {key: score for key, score in SCORES.items() if key != ("B", "E", "2")}
    last = repr(SCORES["B", "E", "2"])
    text = write_csv(list_rows())
    assert text.count(last) == 1
    absent = ["NA", "N/A", "#N/A", "null", "None", "<NA>", "-", "—"]
    for word in ["NaN", "nan", "-nan", "inf", "n.d.", "OOM", *absent]:
        other, missing = text.replace(last, word), {word: "missing"}
        yield make_reading(f"score {word}", other, kept if word in absent else None)
        yield make_reading(f"score {word} as missing", other, kept, values=missing)
    yield make_reading("score empty", text.replace(last, ""), kept)
    yield make_reading("score of blanks", text.replace(last, " \u00a0"), kept)
    yield make_reading("score empty in quotes", text.replace(last, '""'), kept)
    *others, record = _list_records()
    for value, known in {None: kept, np.nan: None, True: None, "": kept}.items():
        runs = json.dumps([*others, record | {"score": value}])
        yield make_reading(f"JSON score {value!r}", runs, known, file="a.json")
    del record["score"]
    yield make_reading("JSON without a score", json.dumps([*others, record]), kept, file="a.json")
    yield make_reading("quarantined", text.replace(last, "OOM"), kept, invalid="quarantine")
    worst = text.replace(last, "pass").replace("0.5", "fail", 1)
    known = {**SCORES, ("B", "E", "2"): 1.0}
    yield make_reading("words for scores", text.replace(last, "pass"), known, values={"pass": 1})
    yield make_reading("words, one not told", worst, None, values={"pass": 1})
    rows = [*list_rows(), ["", "", "", "", ""], ["mean", "", "", "", "0.7"]]
    yield make_reading("a mean below", write_csv(rows), None)


def _write_seeds() -> Iterator[KnownReading]:
    for name, seeds in {
        "dates": ("2024-01-01", "2024-02-01"),
        "dates of Europe": ("1.2.2024", "2.1.2024"),
        "dates of America": ("1/2/2024", "2/1/2024"),
        "times": ("10:00", "10:01"),
        "long": ("12345678901234567890", "12345678901234567891"),
        "commits": ("1e5a", "0x1f"),
        "words": ("first", "second"),
        "negative": ("-1", "1"),
        "fractions": ("1.5", "1.25"),
    }.items():
        known = {(*key[:2], seeds[int(key[2]) - 1]): score for key, score in SCORES.items()}
        yield make_reading(f"seeds are {name}", write_csv(list_rows(known)), known)
    text = write_csv(list_rows())
    for name, seed in {"floats": "{}.0", "zeros": "00{}", "signs": "+{}"}.items():
        rows = [[*row[:3], seed.format(row[3]), row[4]] for row in list_rows()]
        yield make_reading(f"seeds with {name}", write_csv(rows))
    same = [[*row[:3], "1.0" if row[3] == "2" else row[3], row[4]] for row in list_rows()]
    yield make_reading("one seed, written in two ways", write_csv(same), None)
    bare = write_csv([[*row[:3], row[4]] for row in list_rows()], [*HEADER[:3], "score"])
    yield make_reading("no seeds, several runs", bare, None)
    mean = {
        (model, dataset, ""): (SCORES[model, dataset, "1"] + SCORES[model, dataset, "2"]) / 2
        for model, dataset, _ in CELLS
    }
    yield make_reading("no seeds, averaged", bare, mean, duplicates="mean")
    yield make_reading("twice the same", text + text.partition("\n")[2], SCORES)
    yield make_reading("twice and different", text + "A,D,accuracy,1,0.9\n", None)
    first = text + "A,D,accuracy,1,0.9\n"
    yield make_reading("the first counts", first, duplicates="first")
    last = {**SCORES, ("A", "D", "1"): 0.9}
    yield make_reading("the last counts", first, last, duplicates="last")


def _widen() -> Iterator[KnownReading]:
    rows = [[m, *(repr(CELLS[m, data, "1"]) for data in "DE")] for m in "AB"]
    known = {(model, data, ""): score for (model, data, _), score in CELLS.items()}
    text = write_csv(rows, ["model", "D", "E"])
    yield make_reading("matrix", text, known, **WIDE)
    yield make_reading("matrix in tabs", text.replace(",", "\t"), known, **WIDE)
    comma = text.replace(",", ";").replace(".", ",")
    yield make_reading("matrix with commas", comma, known, **WIDE)
    yield make_reading("matrix read as rows", text, None)
    yield make_reading("rows read as a matrix", write_csv(list_rows()), None, **WIDE)
    _, *by_dataset = zip(*rows, strict=True)
    lines = [[name, *line] for name, line in zip("DE", by_dataset, strict=True)]
    turned = write_csv(lines, ["task", "A", "B"])
    yield make_reading("matrix, turned", turned, known, columns={"dataset": "task"}, **WIDE)
    yield make_reading("matrix, turned, not told", turned, None, **WIDE)
    index = write_csv([[str(n), *row] for n, row in enumerate(rows)], ["", "model", "D", "E"])
    yield make_reading("matrix with an index", index, None, **WIDE)
    ignored = WIDE | {"columns": {"ignore": ["Unnamed: 0"]}}
    index = index.replace(",model", "Unnamed: 0,model", 1)
    yield make_reading("matrix, index ignored", index, known, **ignored)
    for name, extra in {
        "average": [repr((float(row[1]) + float(row[2])) / 2) for row in rows],
        "rank": ["2", "1"],
        "params": ["86", "304"],
        "license": ["MIT", "BSD"],
        "year": ["2023", "2024"],
    }.items():
        longer = [[*row, cell] for row, cell in zip(rows, extra, strict=True)]
        more = write_csv(longer, ["model", "D", "E", name])
        yield make_reading(f"matrix with {name}", more, None, **WIDE)
        ignored = {"columns": {"ignore": [name]}}
        yield make_reading(f"matrix, {name} ignored", more, known, **WIDE | ignored)
        listed = {"columns": {"datasets": ["D", "E"]}}
        yield make_reading(f"matrix, {name} is none", more, known, **WIDE | listed)
    header = write_csv([["", "x", "y"], *rows], ["model", "D", ""])
    two = {(m, f"D / {'xy'['DE'.index(data)]}", ""): v for (m, data, _), v in CELLS.items()}
    yield make_reading("matrix, two rows of names", header, two, header_rows=2, **WIDE)
    yield make_reading("matrix, two rows not told", header, None, **WIDE)
    percents = [[row[0], *(f"{100 * float(cell)}%" for cell in row[1:])] for row in rows]
    percent = write_csv(percents, ["model", "D", "E"])
    yield make_reading("matrix of percent", percent, known, **WIDE)


def read_known(reading: KnownReading) -> str:
    """Read an export in the present folder whose answer is known, and judge what was read.

    Returns
    -------
    str
        "read", "refused", "misread", or "lost" where a message names no file or nothing to do.
    """
    for name, content in reading.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content)
    study = {"incomplete": "adjust"} | reading.settings
    try:
        _, result = read_exports_of(check_configuration({"studies": {"toy": study}}), "toy")
    except CapmapError as error:
        return (
            "refused"
            if any(name in str(error) for name in ("studies.toy", *reading.files))
            else "lost"
        )
    if result.errors:
        told = all(
            problem.remedy and "fault of capmap" not in str(problem) for problem in result.errors
        )
        return "refused" if told else "lost"
    keys = result.runs[["model", "dataset", "seed"]].itertuples(index=False, name=None)
    found = dict(zip(keys, result.runs["score"], strict=True))
    if reading.known is None or found.keys() != reading.known.keys():
        return "misread"
    # What stands for several runs is computed; all else is the number that was written.
    distance = max(abs(found[key] - score) for key, score in reading.known.items())
    return "read" if distance <= (1e-15 if "summary" in reading.settings else 0) else "misread"


READINGS = list_readings()


@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_an_export_is_read_as_it_was_written_or_refused(
    reading: KnownReading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert read_known(reading) == ("refused" if reading.known is None else "read")
