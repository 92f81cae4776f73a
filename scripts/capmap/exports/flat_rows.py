"""Nested values as rows of flat cells: names joined with points, and the columns they make."""

import json
from collections.abc import Iterable, Sequence
from types import NoneType
from typing import Any, TypeAlias

import numpy as np

from capmap.exports.cells import Cells, clean_header, make_texts
from capmap.exports.documents import DEEPEST, Array, FaultError, Numeral, Object, refuse_depth
from capmap.problems import Problem
from capmap.wording import quote_name

LONGEST_LIST = 100
WORDS = {None: "", True: "true", False: "false"}
CONTAINERS = frozenset({dict, list, Object, Array})


class Nested(str):
    """The JSON text of an object or a list that is one cell."""

    __slots__ = ()


# The cells of a record (text, `Nested`, `Numeral`, bool or None) by dotted names, and the objects
# and lists that they were in.
Flat: TypeAlias = tuple[dict[str, Any], dict[str, Any]]


def flatten(value: Any, prefix: str = "") -> Flat:
    """Flatten an object or a list.

    Parameters
    ----------
    value : dict or list
        The entries of a list count as keys "0", "1" and so on.
    prefix : str, optional
        What the names begin with.

    Returns
    -------
    Flat
        An empty object or list within, and a list of more than 100 entries, are one cell.

    Raises
    ------
    FaultError
        When two values get one name, or there are more than 100 levels.

    Examples
    --------
    >>> cells, inner = flatten({"test": {"accuracy": True}, "envs": ["a", "b"]})
    >>> cells, list(inner)
    ({'test.accuracy': True, 'envs.0': 'a', 'envs.1': 'b'}, ['test', 'envs'])
    """
    is_object = isinstance(value, dict) and not prefix
    if is_object and CONTAINERS.isdisjoint(map(type, value.values())):
        return value, {}
    flat: Flat = ({}, {})
    _put_all(flat, value, prefix, 1)
    return flat


def list_items(value: Any) -> Iterable[tuple[Any, Any]]:
    """List the keys, or positions, and the values of an object or a list."""
    return value.items() if isinstance(value, dict) else enumerate(value)


def _put_all(flat: Flat, value: Any, prefix: str, depth: int) -> None:
    cells, inner = flat
    if depth > DEEPEST:
        raise refuse_depth()
    for key, child in list_items(value):
        name = f"{prefix}{key}"
        if name in cells or name in inner:
            reason = f"Two values have the name {quote_name(name)} once objects are flattened."
            raise FaultError("duplicated_name", reason, "Rename one of them.")
        if type(child) not in CONTAINERS:
            cells[name] = child
        elif not child or (isinstance(child, list) and len(child) > LONGEST_LIST):
            cells[name] = Nested(write_json(child, depth))
        else:
            inner[name] = child
            _put_all(flat, child, f"{name}.", depth + 1)


def write_json(value: Any, depth: int = 0) -> str:
    """Write a value as JSON, its numbers as they stood in the file.

    Raises
    ------
    FaultError
        When there are more than 100 levels.

    Examples
    --------
    >>> write_json({"lr": [Numeral("1e-3"), None]})
    '{"lr": [1e-3, null]}'
    """
    if depth > DEEPEST:
        raise refuse_depth()
    if isinstance(value, dict):
        texts = [f"{write_json(key)}: {write_json(value[key], depth + 1)}" for key in value]
        return f"{{{', '.join(texts)}}}"
    if isinstance(value, list):
        are_numbers = set(map(type, value)) == {Numeral}
        texts = value if are_numbers else [write_json(child, depth + 1) for child in value]
        return f"[{', '.join(texts)}]"
    return value if isinstance(value, Numeral) else json.dumps(value, ensure_ascii=False)


class FlatRows:
    """Rows of flat records of a file, whose columns are made when they are asked for."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.lines: list[int] = []
        self.problems: list[Problem] = []
        self._keys: dict[str, None] = {}
        self._rows: list[Flat] = []

    def add(self, line: int, flat: Flat) -> None:
        """Add a record as a row."""
        self.lines.append(line)
        self._rows.append(flat)
        self._keys.update(dict.fromkeys(flat[0]))

    def share(self, start: int, stop: int, flat: Flat) -> None:
        """Give all rows of a range further cells, where no cell of their own has the name.

        Of several that share a name, the one that was given first counts.
        """
        shared, _ = flat
        self._keys.update(dict.fromkeys(shared))
        for cells, inner in self._rows[start:stop]:
            for name, value in shared.items():
                if name not in inner:
                    cells.setdefault(name, value)

    @property
    def columns(self) -> list[str]:
        """The names of all columns in the order in which they turn up, cleaned."""
        return clean_header(list(self._keys))

    def read_cells(self, names: Sequence[str]) -> Cells:
        """Make some columns; a cell that a record lacks, or that is null, is empty.

        Notes
        -----
        An object or a list of a name that is a cell in another row is a cell of JSON text.
        """
        keys = dict(zip(self.columns, self._keys, strict=True))
        texts, numeric, numerals, nested = {}, set(), {}, {}
        for name in names:
            column = self._list_cells(keys[name])
            kinds = set(map(type, column))
            if kinds <= {Numeral, NoneType}:
                numeric.add(name)
            elif Numeral in kinds:
                numerals[name] = np.array([type(cell) is Numeral for cell in column])
            if Nested in kinds:
                nested[name] = [row for row, cell in enumerate(column) if type(cell) is Nested]
            if not kinds <= {str, Numeral}:
                column = [WORDS.get(cell, cell) for cell in column]
            texts[name] = make_texts(column)
        lines = np.array(self.lines, dtype=np.int64)
        return Cells(texts, lines, frozenset(numeric), numerals, self.problems, nested)

    def _list_cells(self, key: str) -> list[Any]:
        """List the cells of a column, None where a record has none."""
        return [
            Nested(write_json(inner[key])) if key in inner else cells.get(key)
            for cells, inner in self._rows
        ]
