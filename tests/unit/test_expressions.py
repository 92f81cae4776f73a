"""Ranking expressions: what they are worth, what is refused, and that no code is ever run."""

import math
import operator
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capmap.checkpoints.expressions import find_unknown_names, read_expression
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
    ("text", "message"),
    [
        ("", "The end of '' is not expected here: a number, a metric or '(' should follow"),
        ("a b", "'b' at character 3 of 'a b' is not expected here: an operator should follow"),
        ("(a", "The end of '(a' is not expected here: ')' should follow"),
        ("a)", "')' at character 2"),
        ("a ** b", "'*' at character 4"),
        ("a % b", "'%' at character 3 of 'a % b' is no part of an expression"),
        ("exp(a)", "the functions are abs, log, max, mean, min, sqrt"),
        ("log(a, b)", "',' at character 6 of 'log(a, b)' is not expected here: ')' should follow"),
        ("min()", "')' at character 5"),
        ("min(a,)", "')' at character 7"),
        ("1e999", "the number is too large"),
        ("1.2.3", "is no part of an expression"),
        ("3a", "'3' at character 1"),
        ("`a", "'`' at character 1"),
        ("a.b", "'.' at character 2"),
        ("__import__('os').system('x')", '"\'" at character 12'),
        ("(lambda: 0)()", "':' at character 8"),
        ("a[0]", "'[' at character 2"),
        ("+a", "'+' at character 1"),
        ("a" * 501, "has 501 characters; at most 500 are allowed"),
        ("(" * 60 + "a" + ")" * 60, "may be 50 levels deep"),
        ("abs(" * 60 + "a" + ")" * 60, "may be 50 levels deep"),
    ],
)
def test_what_is_no_expression_is_refused_with_its_place(text, message):
    with pytest.raises(ValidationError) as caught:
        read_expression(text)
    assert message in str(caught.value)


def test_long_chains_are_no_deep_expressions():
    assert work_out("+".join(["1"] * 250)) == 250
    assert work_out("-" * 498 + "1") == 1
    assert work_out("(" * 50 + "1" + ")" * 50) == 1


def test_unknown_metrics_are_told_with_the_nearest_known_one():
    expression = read_expression("accurcy + xyz + ece")
    assert expression.names == ["accurcy", "ece", "xyz"]
    told = find_unknown_names(expression, ["accuracy", "ece"])
    assert told == ["'accurcy' (did you mean 'accuracy'?)", "'xyz'"]


OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: a / b if b else math.nan,
}
LEAVES = st.one_of(
    st.sampled_from(sorted(VALUES)).map(lambda name: (f"`{name}`", VALUES[name])),
    st.integers(0, 9).map(lambda number: (str(number), float(number))),
)


def join(parts):
    """Write and work out an operation on two parts that are worked out already."""
    (left, a), mark, (right, b) = parts
    return f"({left} {mark} {right})", OPERATORS[mark](a, b)


def call(parts):
    name, arguments = parts
    texts, numbers = zip(*arguments, strict=True)
    known = any(map(math.isnan, numbers))
    results = {"min": min, "max": max, "mean": lambda values: sum(values) / len(values)}
    return f"{name}({', '.join(texts)})", math.nan if known else results[name](numbers)


def turn(part):
    return f"-{part[0]}", -part[1]


TREES = st.recursive(
    LEAVES,
    lambda parts: st.one_of(
        st.tuples(parts, st.sampled_from(sorted(OPERATORS)), parts).map(join),
        st.tuples(
            st.sampled_from(["min", "max", "mean"]), st.lists(parts, min_size=1, max_size=3)
        ).map(call),
        parts.map(turn),
    ),
    max_leaves=12,
)


@MANY
@given(TREES)
def test_any_tree_is_worth_what_its_nodes_are_worth(tree):
    text, expected = tree
    if len(text) > 500:
        return
    found = work_out(text)
    assert found == pytest.approx(expected, rel=1e-12, nan_ok=True) or not math.isfinite(expected)


@MANY
@given(st.text(alphabet='ab01.e+-*/(),`" mind\\x', max_size=30))
def test_any_text_is_an_expression_or_is_refused(text):
    with suppress(ValidationError):
        expression = read_expression(text)
        values = {name: [1.0] for name in expression.names}
        assert expression.evaluate(values, size=1).shape == (1,)


@given(st.lists(st.sampled_from(["+", "-", "*"]), min_size=1, max_size=20))
def test_chains_follow_the_order_of_operators_of_python(marks):
    # The numbers are small and whole, so sums and products are exact.
    text = "2" + "".join(f"{mark}{place % 3 + 1}" for place, mark in enumerate(marks))
    terms, sign = [], 1
    product, position = 2, 1
    for mark in marks:
        number = (position - 1) % 3 + 1
        position += 1
        if mark == "*":
            product *= number
        else:
            terms.append(sign * product)
            sign, product = (1 if mark == "+" else -1), number
    assert work_out(text) == sum(terms) + sign * product
