"""Ranking expressions over metrics, such as ``0.7*accuracy - 0.3*ece``, read without running code.

Tokens are checked one by one, numbers and metrics are masked, and what remains is parsed as Python,
whose precedence it has. The grammar, in which blanks mean nothing::

    sum      = product {("+" | "-") product}
    product  = signed {("*" | "/") signed}
    signed   = "-" signed | primary
    primary  = number | name | function "(" sum {"," sum} ")" | "(" sum ")"
    name     = identifier | "`" text "`" | '"' text '"'
    function = "min" | "max" | "mean" | "abs" | "log" | "sqrt"
"""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import find_nearest, quote_name

LONGEST = 500
DEEPEST = 50
TOKENS = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<function>[^\W\d]\w*)(?=\s*\()"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<quoted>`[^`]+`|\"[^\"]+\")"
    r"|(?P<mark>[-+*/(),])"
)
Values = npt.NDArray[np.float64]

OPERATORS: dict[type[ast.operator], Callable[[Values, Values], Values]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
FUNCTIONS: dict[str, Callable[[list[Values]], Values]] = {
    "abs": lambda parts: np.abs(parts[0]),
    "log": lambda parts: np.log(parts[0]),
    "max": np.maximum.reduce,
    "mean": lambda parts: np.add.reduce(parts) / len(parts),
    "min": np.minimum.reduce,
    "sqrt": lambda parts: np.sqrt(parts[0]),
}
VARIADIC = {"max", "mean", "min"}
LEAVES = {"number", "name", "quoted"}


@dataclass(frozen=True)
class Expression:
    """An expression that was read.

    Parameters
    ----------
    tree : ast.Expression
        Its structure: sums, products, minus signs and functions of masked numbers and metrics.
    leaves : mapping of int to float or str
        The number or the metric behind each mask, by the column where it starts.
    """

    tree: ast.Expression
    leaves: Mapping[int, float | str]

    @property
    def names(self) -> list[str]:
        """The metrics that it asks for, by name."""
        return sorted({leaf for leaf in self.leaves.values() if isinstance(leaf, str)})

    def evaluate(self, values: Mapping[str, npt.ArrayLike], *, size: int) -> Values:
        """Evaluate the expression for several units at once.

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
        >>> read_expression("max(a, 0) / b").evaluate({"a": [2, 1], "b": [4, 0]}, size=2).tolist()
        [0.5, nan]
        """
        done: dict[ast.AST, Values] = {}
        # From the leaves up, without recursion, which a long chain of signs would exhaust.
        for node in reversed([*ast.walk(self.tree)]):
            with np.errstate(all="ignore"):
                match node:
                    case ast.Name(col_offset=column) if column in self.leaves:
                        leaf = self.leaves[column]
                        known = values[leaf] if isinstance(leaf, str) else np.full(size, leaf)
                        result = np.asarray(known, dtype=np.float64)
                    case ast.UnaryOp(op=ast.USub()):
                        result = -done.pop(node.operand)
                    case ast.BinOp() if type(node.op) in OPERATORS:
                        parts = done.pop(node.left), done.pop(node.right)
                        result = OPERATORS[type(node.op)](*parts)
                    case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
                        result = FUNCTIONS[name]([done.pop(part) for part in node.args])
                    case _:
                        continue
            done[node] = np.where(np.isfinite(result), result, np.nan)
        return done[self.tree.body]


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
        What to evaluate.

    Raises
    ------
    ValidationError
        If it is none, with the place of the first fault.

    Notes
    -----
    A name counts as a function only in front of a parenthesis, so a metric may be called ``mean``.
    ``-a*b`` is ``(-a)*b``, and operators of one rank are evaluated from the left.

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
    masked, leaves = _mask(text)
    # In parentheses, blanks at the start are no indentation, and a column counts from 1.
    return Expression(ast.parse(f"({masked})", mode="eval"), leaves)


def find_unknown_names(expression: Expression, known: list[str]) -> list[str]:
    """Metrics of an expression that are not known, each with what may be meant.

    Examples
    --------
    >>> find_unknown_names(read_expression("acuracy"), ["accuracy", "loss"])
    ["'acuracy' (did you mean 'accuracy'?)"]
    """
    unknown = []
    for name in expression.names:
        if name not in known:
            near = find_nearest(name, known)
            hint = f" (did you mean {quote_name(near)}?)" if near else ""
            unknown.append(quote_name(name) + hint)
    return unknown


def _split(text: str) -> Iterator[tuple[str, str, int]]:
    """Kind, text and place of each token; a mark is a kind of its own."""
    place = 0
    while place < len(text):
        match = TOKENS.match(text, place)
        if match is None:
            raise ValidationError(
                f"{quote_name(text[place])} at character {place + 1} of {quote_name(text)} is no "
                "part of an expression. Use numbers, metrics, + - * / ( ) and the functions "
                f"{', '.join(FUNCTIONS)}; other names of metrics stand in backticks."
            )
        kind, token = str(match.lastgroup), match.group()
        yield token if kind == "mark" else kind, token, place
        place = match.end()
    yield "end", "", place


def _mask(text: str) -> tuple[str, dict[int, float | str]]:
    """Put underscores in place of numbers and metrics, if each token may stand where it does."""
    masked, function, complete = "", "", False
    leaves: dict[int, float | str] = {}
    opened: list[str] = []
    for kind, token, place in list(_split(text)):
        if kind == "blank":
            masked += " " * len(token)
            continue
        if remedy := _find_fault(kind, token, opened, complete=complete):
            what = f"{quote_name(token)} at character {place + 1}" if token else "The end"
            raise ValidationError(f"{what} of {quote_name(text)} is not expected here: {remedy}.")
        if kind in LEAVES:
            name = token[1:-1] if kind == "quoted" else token
            leaves[place + 1] = float(token) if kind == "number" else name
        elif kind == "(":
            opened.append(function)
        elif kind == ")":
            opened.pop()
        masked += "_" * len(token) if kind in LEAVES else token
        complete = kind in LEAVES or kind == ")"
        function = token if kind == "function" else ""
    return masked, leaves


def _find_fault(kind: str, token: str, opened: list[str], *, complete: bool) -> str:
    """Say what should follow, complete or not as what stands before is, if the token cannot."""
    if not complete and kind not in {*LEAVES, "function", "-", "("}:
        return "a number, a metric or '(' should follow"
    if complete and opened and kind not in {*"+-*/)", *("," if opened[-1] in VARIADIC else "")}:
        return "')' should follow"
    if complete and not opened and kind not in {*"+-*/", "end"}:
        return "an operator should follow"
    if kind == "number" and not np.isfinite(float(token)):
        return "the number is too large"
    if kind == "function" and token not in FUNCTIONS:
        return f"the functions are {', '.join(FUNCTIONS)}"
    if kind == "(" and len(opened) == DEEPEST:
        return f"an expression may be {DEEPEST} levels deep"
    return ""
