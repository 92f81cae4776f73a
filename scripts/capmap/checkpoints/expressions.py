"""Ranking expressions over metrics, such as ``0.7*accuracy - 0.3*ece``, read without running code.

Python's parser reads them; what is no number, metric, ``+ - * /`` or one of a few functions is
refused.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import quote_name

LONGEST = 500
Values = npt.NDArray[np.float64]

OPERATORS: dict[type[ast.operator], Callable[[Values, Values], Values]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
SINGLE: dict[str, Callable[[Values], Values]] = {"abs": np.abs, "log": np.log, "sqrt": np.sqrt}
SEVERAL: dict[str, Callable[[list[Values]], Values]] = {
    "max": np.maximum.reduce,
    "mean": lambda parts: np.add.reduce(parts) / len(parts),
    "min": np.minimum.reduce,
}


@dataclass(frozen=True)
class Expression:
    """An expression that was read.

    Parameters
    ----------
    nodes : list of ast.expr
        Its parts, each before those that it is made of.
    """

    nodes: list[ast.expr]

    @property
    def names(self) -> list[str]:
        """The metrics that it asks for, by name."""
        return sorted({name for node in self.nodes if (name := _read_name(node))})

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
        done: dict[ast.expr, Values] = {}
        with np.errstate(all="ignore"):
            for node in reversed(self.nodes):
                match node:
                    case ast.UnaryOp():
                        result = -done[node.operand]
                    case ast.BinOp():
                        result = OPERATORS[type(node.op)](done[node.left], done[node.right])
                    case ast.Call(func=ast.Name(id=function), args=[part]) if function in SINGLE:
                        result = SINGLE[function](done[part])
                    case ast.Call(func=ast.Name(id=function)):
                        result = SEVERAL[function]([done[part] for part in node.args])
                    case ast.Constant(value=int() | float() as number):
                        result = np.full(size, float(number))
                    case _:
                        result = np.asarray(values[_read_name(node)], dtype=np.float64)
                done[node] = np.where(np.isfinite(result), result, np.nan)
        return done[self.nodes[0]]


def read_expression(text: str) -> Expression:
    """Read an expression over metrics.

    Parameters
    ----------
    text : str
        At most 500 characters. Names that are no identifiers stand in backticks or double quotes.

    Returns
    -------
    Expression
        What to evaluate.

    Raises
    ------
    ValidationError
        If it is none.

    Notes
    -----
    A name counts as a function only in front of a parenthesis, so a metric may be called ``mean``.

    Examples
    --------
    >>> read_expression('0.7*accuracy - 0.3*"top-1 error"').names
    ['accuracy', 'top-1 error']
    >>> read_expression("a ** b")
    Traceback (most recent call last):
    ...
    capmap.errors.ValidationError: 'a ** b' is no expression: use numbers, metrics, + - * / ( ) \
and abs, log, max, mean, min, sqrt. Other names of metrics stand in backticks.
    """
    refusal = ValidationError(
        f"{quote_name(text)} is no expression: use numbers, metrics, + - * / ( ) and "
        f"{', '.join(sorted([*SINGLE, *SEVERAL]))}. Other names of metrics stand in backticks."
    )
    try:
        # In parentheses, blanks at the start are no indentation.
        root = ast.parse(f"({text[: LONGEST + 1].replace('`', chr(34))})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise refusal from error
    nodes, level = list[ast.expr](), [root]
    while level:
        nodes += level
        level = [part for node in level for part in _list_parts(node)]
    if len(text) > LONGEST or not all(map(_is_allowed, nodes)):
        raise refusal
    return Expression(nodes)


def _list_parts(node: ast.expr) -> list[ast.expr]:
    """The expressions that one is made of, without the name of a function."""
    if isinstance(node, ast.Call):
        return node.args
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def _is_allowed(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=function), args=args, keywords=[]):
            return (function in SINGLE and len(args) == 1) or (function in SEVERAL and bool(args))
        case ast.BinOp(op=operator):
            return type(operator) in OPERATORS
        case ast.UnaryOp(op=ast.USub()):
            return True
        case ast.Constant(value=value):
            return type(value) in (int, float) or bool(_read_name(node))
        case _:
            return bool(_read_name(node))


def _read_name(node: ast.expr) -> str:
    """The metric that a part names; "" of other parts."""
    match node:
        case ast.Name(id=name) | ast.Constant(value=str(name)):
            return name
    return ""
