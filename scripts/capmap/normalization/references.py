"""Frozen bounds of an earlier run, so that a new model never moves an old number."""

import math
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capmap.artifacts import read_json, read_table
from capmap.errors import ConfigError
from capmap.metrics import is_same_metric

REQUIRED = ("dataset", "low", "high")


@dataclass(frozen=True)
class Reference:
    """Bounds that a file gives for a dataset.

    Parameters
    ----------
    low, high : float
        Raw values after transforms, ``low < high``.
    metric, direction : str
        What the bounds were made for; empty where the file does not say it.
    """

    low: float
    high: float
    metric: str = ""
    direction: str = ""

    def disagrees(self, metric: str, direction: str) -> bool:
        """Whether the bounds were made for another metric or direction."""
        return bool(
            (self.metric and not is_same_metric(self.metric, metric))
            or (self.direction and self.direction != direction)
        )


def read_references(path: str | Path | None = None) -> dict[str, Reference]:
    """Read a file of frozen bounds.

    Parameters
    ----------
    path : path-like, optional
        The ``bounds.csv`` of another run, or JSON (a name ending in ``.json``) such as
        ``{"eurosat": [0.1, 0.98]}``.

    Returns
    -------
    dict
        The reference of each dataset; empty without a file.

    Raises
    ------
    ConfigError
        When the file cannot be read, lacks columns, repeats a dataset, or has bounds that are not
        finite numbers with low < high; the message has the file and the line or dataset.
    """
    if path is None:
        return {}
    read = _read_json if Path(path).suffix.lower() == ".json" else _read_csv
    try:
        return read(Path(path))
    except (OSError, EOFError, ValueError, OverflowError, RecursionError, zlib.error) as error:
        raise ConfigError(
            f"The references in {path} cannot be read: {error} Give the bounds.csv of another "
            'run, or JSON such as {"DATASET": [0, 1]}.'
        ) from error


def _read_csv(path: Path) -> dict[str, Reference]:
    table = read_table(path)
    if absent := [name for name in REQUIRED if name not in table.columns]:
        raise ValueError(f"It has no column {absent[0]!r}.")
    references: dict[str, Reference] = {}
    for line, row in enumerate(table.to_dict("records"), start=2):
        place = f"Line {line}"
        dataset = _text(row["dataset"])
        if not dataset:
            raise ValueError(f"{place} has no dataset.")
        if dataset in references:
            raise ValueError(f"{place} repeats the dataset {dataset!r}.")
        references[dataset] = Reference(
            *_check_bounds(row["low"], row["high"], place=place),
            metric=_text(row.get("metric")),
            direction=_text(row.get("direction")),
        )
    return references


def _read_json(path: Path) -> dict[str, Reference]:
    content: Any = read_json(path)
    if not isinstance(content, dict):
        raise ValueError("It is not a JSON object.")
    references = {}
    for dataset, bounds in content.items():
        place = f"Dataset {dataset!r}"
        if not isinstance(bounds, list) or len(bounds) != 2:
            raise ValueError(f"{place} is not a list of two numbers.")
        references[dataset] = Reference(*_check_bounds(*bounds, place=place))
    return references


def _check_bounds(low: object, high: object, *, place: str) -> tuple[float, float]:
    first, second = (_check_number(bound, place=place) for bound in (low, high))
    if not first < second:
        raise ValueError(f"{place} has the lower bound {first!r}, not below {second!r}.")
    return first, second


def _check_number(bound: object, *, place: str) -> float:
    if isinstance(bound, int | float) and not isinstance(bound, bool) and math.isfinite(bound):
        return float(bound)
    raise ValueError(f"{place} has {bound!r} where a finite number should be.")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
