"""Ranking expressions: what they are worth, what is refused, and that no code is ever run."""

import math
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.checkpoints.expressions import read_expression
from capmap.errors import ValidationError

MANY = settings(max_examples=200)
VALUES = {"acc": 0.8, "ece": 0.1, "top-1 error": 0.2, "mean": 3.0, "größe": 2.0, "zero": 0.0}


def work_out(text):
    values = {name: [value] for name, value in VALUES.items()}
    return float(read_expression(text).evaluate(values, size=1)[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.7*acc - 0.3*ece", 0.56 - 0.03),
        ("1 - 2 - 3", -4),
        ("8 / 2 / 2", 2),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-2 * 3", -6),
        ("2 * -3", -6),
        ("--2", 2),
        ("2 - -3", 5),
        ("min(3, 1, 2) + max(3)", 4),
        ("mean(1, 2, 6)", 3),
        ("mean * 2", 6),
        ("mean(mean, 1)", 2),
        ("abs(-2) + sqrt(16) + log(1)", 6),
        ('`top-1 error` + "top-1 error"', 0.4),
        ("größe", 2),
        ("1e-3 + .5 + 2.", 2.501),
        (" \t1\n+ 1 ", 2),
    ],
)
def test_expressions_mean_what_they_mean_on_paper(text, expected):
    assert work_out(text) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    "text",
    ["1 / zero", "log(zero)", "log(-1)", "sqrt(-1)", "1e300 * 1e300", "max(1 / zero, 1)"],
)
def test_an_undefined_part_leaves_no_value(text):
    assert math.isnan(work_out(text))


def test_a_missing_metric_leaves_its_unit_without_a_value():
    found = read_expression("max(a, b)").evaluate({"a": [1, np.nan], "b": [2, 5]}, size=2)
    np.testing.assert_array_equal(found, [2, np.nan])


def test_a_constant_has_a_value_for_each_unit():
    assert read_expression("2").evaluate({}, size=3).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    "text",
    [
        *("", "a b", "(a", "a)", "a ** b", "a % b", "exp(a)", "log(a, b)", "min()", "1.2.3", "3a"),
        *("`a", "a.b", "__import__('os').system('x')", "(lambda: 0)()", "a[0]", "+a", "True", "1j"),
        *("a" * 501, "(" * 240 + "a" + ")" * 240, "min(*a)", "max(a, key=b)", "a if b else c"),
    ],
)
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(ValidationError, match="use numbers, metrics"):
        read_expression(text)


def test_long_chains_are_no_deep_expressions():
    assert work_out("+".join(["1"] * 250)) == 250
    assert work_out("-" * 498 + "1") == 1
    assert work_out("(" * 50 + "1" + ")" * 50) == 1


@MANY
@given(st.text(alphabet='ab01.e+-*/(),`" mind\\x', max_size=30))
def test_any_text_is_an_expression_or_is_refused(text):
    with suppress(ValidationError):
        expression = read_expression(text)
        values = {name: [1.0] for name in expression.names}
        assert expression.evaluate(values, size=1).shape == (1,)
