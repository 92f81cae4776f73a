"""Numbers as people write them."""

import math

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.exports.numbers import Kind, parse_numbers


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
@given(st.lists(FLOATS, min_size=1))
def test_a_decimal_comma_reads_as_the_point_does(values):
    texts = [repr(value).replace(".", ",") for value in values]
    assert parse(*texts, decimal=",").values.tolist() == values


@settings(max_examples=100)
@given(st.lists(st.text(), min_size=1))
def test_any_text_has_a_kind_and_only_numbers_have_a_finite_value(texts):
    numbers = parse(*texts)
    for value, kind in zip(numbers.values, numbers.kinds, strict=True):
        assert math.isfinite(value) == (kind == Kind.NUMBER)


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["0.5", "1,234", "0,5", "7", "1.234", "1.234,5"])), st.randoms())
def test_the_order_of_cells_does_not_matter(texts, random):
    shuffled = list(texts)
    random.shuffle(shuffled)
    before = sorted(zip(texts, parse(*texts).values.astype(str), strict=True))
    after = sorted(zip(shuffled, parse(*shuffled).values.astype(str), strict=True))
    assert before == after
