"""Numbers as people write them."""

import json
import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.exports import read_exports
from capmap.exports.cells import Kind, parse_numbers, parse_summaries


def parse(*texts, decimal="auto"):
    return parse_numbers(pa.array(texts, pa.large_string()), decimal=decimal)


def kinds(*texts, decimal="auto"):
    return [Kind(kind).name for kind in parse(*texts, decimal=decimal).kinds]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.91", 0.91),
        (" 0.91\t", 0.91),
        ("91%", 0.91),
        ("91.3 %", 0.913),
        ("91.3\u00a0%", 0.913),
        ("-3e-4", -0.0003),
        ("+1E5", 100000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("\u22120.5", -0.5),
        ("\u00a00.5\u202f", 0.5),
        ("'0.5'", 0.5),
        ('"0.5"', 0.5),
        ("1,234.5", 1234.5),
        ("1,234,567", 1234567.0),
        ("1.234", 1.234),
        ("1\u00a0234.5", 1234.5),
        ("1\u202f234\u202f567", 1234567.0),
    ],
)
def test_a_number_is_read_however_it_is_written(text, value):
    numbers = parse(text)
    assert numbers.values.tolist() == [value]
    assert numbers.kinds.tolist() == [Kind.NUMBER]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "EMPTY"),
        (" \u00a0", "EMPTY"),
        ('""', "EMPTY"),
        ("NaN", "NAN"),
        ("-nan", "NAN"),
        ("N/A", "EMPTY"),
        ("None", "EMPTY"),
        ("Infinity", "INFINITE"),
        ("-inf", "INFINITE"),
        ("1e400", "INFINITE"),
        ("abc", "TEXT"),
        ("0.9 ± 0.1", "TEXT"),
        ("1_000", "TEXT"),
        ("\uff11", "TEXT"),
        ("0x1F", "TEXT"),
        ("1.2.3", "TEXT"),
        ("1,2,3", "TEXT"),
        ("12 34", "TEXT"),
        ("9e1%", "TEXT"),
        ("%", "TEXT"),
        (".", "TEXT"),
        ("=1+1", "TEXT"),
        ("1,234", "AMBIGUOUS"),
    ],
)
def test_what_is_no_finite_number_has_its_own_kind(text, kind):
    assert kinds(text) == [kind]
    assert kinds(text, "0.5") == [kind, "NUMBER"]


def test_conversions_are_counted_once_per_cell():
    numbers = parse("91,5%", "91,5%", "0,5", "7", "abc%")
    assert (numbers.percent_signs, numbers.decimal_commas) == (2, 3)


FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=100)
@given(st.lists(FLOATS, min_size=1))
def test_every_float_comes_back_exactly(values):
    assert parse(*map(repr, values)).values.tolist() == values


@settings(max_examples=100)
@given(st.lists(st.text(), min_size=1))
def test_any_text_has_a_kind_and_only_numbers_have_a_finite_value(texts):
    numbers = parse(*texts)
    for value, kind in zip(numbers.values, numbers.kinds, strict=True):
        assert math.isfinite(value) == (kind == Kind.NUMBER)


@pytest.mark.parametrize("split", [False, True])
def test_numbers_beside_scores_stay_beside_texts_with_commas(tmp_path, split):
    rows = [
        {"model": "a", "dataset": "d", "score": 1.5, "std": 1.234, "n": 3},
        {"model": "b", "dataset": "d", "score": 1.5, "std": "1.234,5", "n": "3,0"},
    ]
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    parts = [rows[:1], rows[1:]] if split else [rows, []]
    for path, part in zip(paths, parts, strict=True):
        path.write_text("\n".join(map(json.dumps, part)))
    read = read_exports(
        [str(path) for path, part in zip(paths, parts, strict=True) if part],
        metric="gain",
        columns={"spread": "std", "count": "n"},
        summary={"runs": 1, "spread": "std"},
    )
    assert [problem for problem in read.problems if problem.severity == "error"] == []
    found = read.runs.groupby("model", observed=True)["score"].std()
    assert found.to_numpy() == pytest.approx([1.234, 1234.5])
    assert read.runs.groupby("model", observed=True).size().tolist() == [3, 3]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('A,d,"0.5"9', True),
        ('A,d,""9', True),
        ('A,d,"0""5"9', True),
        ('"A\\"x",d,0.5', True),
        ('"A,\n"x,d,0.5', True),
        ('"A" ,d,"0.5"', True),
        ('A 5" x,d,0.5', False),
        ('"a,"",\n""b","d\n","0.5"', False),
    ],
)
@pytest.mark.parametrize("divider", [",", "\t"])
def test_text_behind_a_closing_quote_is_told(tmp_path, row, told, divider):
    text = f"model,dataset,score\nB,d,0.25\n{row}\n".replace(",", divider)
    (tmp_path / "runs.csv").write_text(text)
    read = read_exports([str(tmp_path / "runs.csv")], metric="accuracy")
    found = [(problem.code, problem.line) for problem in read.problems]
    assert found == ([("text_behind_quote", 3)] if told else [])
    assert read.runs["score"].tolist() == ([0.25] if told else [0.25, 0.5])


@pytest.mark.parametrize("text", ["0.912(3)", "0.91 (5)", "91.2(3)%", "91,2 (12 %)"])
def test_a_spread_in_units_of_the_last_digit_is_ambiguous(text):
    for other, kind in {text: Kind.UNCLEAR, "0.91 (0)": Kind.NUMBER, "91 (2)": 0}.items():
        assert parse_summaries(pa.array([other], pa.large_string())).kinds.tolist() == [kind]
