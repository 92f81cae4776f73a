"""Ranking expressions over metrics, such as ``0.7*accuracy - 0.3*ece``, read without running code.

The grammar, in which blanks mean nothing::

    sum      = product {("+" | "-") product}
    product  = signed {("*" | "/") signed}
    signed   = "-" signed | primary
    primary  = number | name | function "(" sum {"," sum} ")" | "(" sum ")"
    name     = identifier | "`" text "`" | '"' text '"'
    function = "min" | "max" | "mean" | "abs" | "log" | "sqrt"
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import find_nearest, quote_name

LONGEST = 500
DEEPEST = 50
TOKENS = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>`[^`]+`|\"[^\"]+\")"
    r"|(?P<mark>[-+*/(),])"
)
Values = npt.NDArray[np.float64]
Operation = Callable[[list[Values]], Values]

OPERATIONS: dict[str, Operation] = {
    "+": lambda parts: parts[0] + parts[1],
    "-": lambda parts: parts[0] - parts[1],
    "*": lambda parts: parts[0] * parts[1],
    "/": lambda parts: parts[0] / parts[1],
    "negative": lambda parts: -parts[0],
    "abs": lambda parts: np.abs(parts[0]),
    "log": lambda parts: np.log(parts[0]),
    "sqrt": lambda parts: np.sqrt(parts[0]),
    "min": lambda parts: np.minimum.reduce(parts),
    "max": lambda parts: np.maximum.reduce(parts),
    "mean": lambda parts: np.add.reduce(parts) / len(parts),
}
UNARY = frozenset({"abs", "log", "sqrt"})
FUNCTIONS = UNARY | {"min", "max", "mean"}


class _Step(NamedTuple):
    """One step of a stack machine: push a number or a name, or do an operation on the top."""

    kind: str
    value: Any
    arguments: int = 0


class _Token(NamedTuple):
    kind: str
    text: str
    place: int


@dataclass(frozen=True)
class Expression:
    """An expression that was read.

    Parameters
    ----------
    text : str
        As it was written.
    steps : tuple
        What a stack machine does to work it out.
    """

    text: str
    steps: tuple[_Step, ...]

    @property
    def names(self) -> list[str]:
        """The metrics that it asks for, by name."""
        return sorted({step.value for step in self.steps if step.kind == "name"})

    def work_out(self, values: Mapping[str, npt.ArrayLike], *, size: int) -> Values:
        """Work the expression out for several units at once.

        Parameters
        ----------
        values : mapping of str to array_like of shape (size,)
            The values of each metric in `names`; NaN where a unit lacks one.
        size : int
            Number of units.

        Returns
        -------
        numpy.ndarray, shape (size,)
            NaN where any part has no finite value: a division by zero, the logarithm of 0 or less,
            the root of a negative number, an overflow, or a metric that is missing.

        Examples
        --------
        >>> read_expression("max(a, 0) / b").work_out({"a": [2, 1], "b": [4, 0]}, size=2).tolist()
        [0.5, nan]
        """
        stack: list[Values] = []
        for step in self.steps:
            if step.kind == "number":
                result = np.full(size, step.value)
            elif step.kind == "name":
                result = np.array(values[step.value], dtype=np.float64)
            else:
                parts = stack[-step.arguments :]
                del stack[-step.arguments :]
                with np.errstate(all="ignore"):
                    result = OPERATIONS[step.value](parts)
            stack.append(np.where(np.isfinite(result), result, np.nan))
        return stack[0]


def read_expression(text: str) -> Expression:
    """Read an expression over metrics.

    Parameters
    ----------
    text : str
        At most 500 characters and 50 levels deep. Names that are no identifiers stand in backticks
        or double quotes.

    Returns
    -------
    Expression
        What to work out.

    Raises
    ------
    ValidationError
        If it is none, with the place of the first fault.

    Notes
    -----
    A name counts as a function only in front of a parenthesis, so a metric may be called ``mean``.
    ``-a*b`` is ``(-a)*b``, and operators of one rank are worked out from the left.

    Examples
    --------
    >>> read_expression('0.7*accuracy - 0.3*"top-1 error"').names
    ['accuracy', 'top-1 error']
    >>> read_expression("a + * b")
    Traceback (most recent call last):
    ...
    capmap.errors.ValidationError: '*' at character 5 of 'a + * b' is not expected here: a number, \
a metric or '(' should follow.
    """
    if len(text) > LONGEST:
        raise ValidationError(
            f"The expression {quote_name(text)} has {len(text)} characters; at most {LONGEST} are "
            "allowed. Use weights, or fewer metrics."
        )
    reader = _Reader(text, _split(text))
    reader.read_sum(depth=0)
    if reader.next.kind != "end":
        raise reader.refuse("an operator should follow")
    return Expression(text, tuple(reader.steps))


def find_unknown_names(expression: Expression, known: list[str]) -> list[str]:
    """Say which metrics of an expression are not known, each with what may be meant.

    Examples
    --------
    >>> find_unknown_names(read_expression("acuracy"), ["accuracy", "loss"])
    ["'acuracy' (did you mean 'accuracy'?)"]
    """
    told = []
    for name in expression.names:
        if name not in known:
            near = find_nearest(name, known)
            told.append(quote_name(name) + (f" (did you mean {quote_name(near)}?)" if near else ""))
    return told


def _split(text: str) -> list[_Token]:
    tokens, place = [], 0
    while place < len(text):
        match = TOKENS.match(text, place)
        if match is None:
            raise ValidationError(
                f"{quote_name(text[place])} at character {place + 1} of {quote_name(text)} is no "
                "part of an expression. Use numbers, metrics, + - * / ( ) and the functions "
                f"{', '.join(sorted(FUNCTIONS))}; other names of metrics stand in backticks."
            )
        if match.lastgroup != "blank":
            tokens.append(_Token(str(match.lastgroup), match.group(), place))
        place = match.end()
    return [*tokens, _Token("end", "", len(text))]


@dataclass
class _Reader:
    """A recursive descent through the tokens of an expression."""

    text: str
    tokens: list[_Token]
    position: int = 0
    steps: list[_Step] = field(default_factory=list)

    @property
    def next(self) -> _Token:
        """The token that is read next."""
        return self.tokens[self.position]

    def take(self, *marks: str) -> str:
        """Take the next token if it is one of some marks; otherwise nothing."""
        token = self.next
        if token.kind != "mark" or token.text not in marks:
            return ""
        self.position += 1
        return token.text

    def refuse(self, remedy: str) -> ValidationError:
        """Say that the next token cannot stand where it does."""
        token = self.next
        what = (
            f"{quote_name(token.text)} at character {token.place + 1}" if token.text else "The end"
        )
        return ValidationError(f"{what} of {quote_name(self.text)} is not expected here: {remedy}.")

    def read_sum(self, *, depth: int) -> None:
        """Read products with + or - between them."""
        if depth > DEEPEST:
            raise self.refuse(f"an expression may be {DEEPEST} levels deep")
        self.read_product(depth=depth)
        while mark := self.take("+", "-"):
            self.read_product(depth=depth)
            self.steps.append(_Step("operation", mark, 2))

    def read_product(self, *, depth: int) -> None:
        """Read signed parts with * or / between them."""
        self.read_signed(depth=depth)
        while mark := self.take("*", "/"):
            self.read_signed(depth=depth)
            self.steps.append(_Step("operation", mark, 2))

    def read_signed(self, *, depth: int) -> None:
        """Read a part with any number of minus signs in front."""
        signs = 0
        while self.take("-"):
            signs += 1
        self.read_primary(depth=depth)
        self.steps += [_Step("operation", "negative", 1)] * (signs % 2)

    def read_primary(self, *, depth: int) -> None:
        """Read a number, a metric, a function or a part in parentheses."""
        token = self.next
        if self.take("("):
            self.read_sum(depth=depth + 1)
            self._close()
        elif token.kind == "number":
            self._read_number(token)
        elif token.kind == "name" and self.tokens[self.position + 1].text == "(":
            self._read_call(token, depth)
        elif token.kind in {"name", "quoted"}:
            self.position += 1
            name = token.text[1:-1] if token.kind == "quoted" else token.text
            self.steps.append(_Step("name", name))
        else:
            raise self.refuse("a number, a metric or '(' should follow")

    def _read_number(self, token: _Token) -> None:
        number = float(token.text)
        if not np.isfinite(number):
            raise self.refuse("the number is too large")
        self.position += 1
        self.steps.append(_Step("number", number))

    def _read_call(self, token: _Token, depth: int) -> None:
        if token.text not in FUNCTIONS:
            raise self.refuse(f"the functions are {', '.join(sorted(FUNCTIONS))}")
        self.position += 2
        self.read_sum(depth=depth + 1)
        count = 1
        while token.text not in UNARY and self.take(","):
            self.read_sum(depth=depth + 1)
            count += 1
        self._close()
        self.steps.append(_Step("operation", token.text, count))

    def _close(self) -> None:
        if not self.take(")"):
            raise self.refuse("')' should follow")
