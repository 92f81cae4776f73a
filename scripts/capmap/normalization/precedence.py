"""Who decides on the direction and bounds of a dataset: an earlier run, a rule, or the metric."""

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeAlias

from capmap.artifacts import read_json, read_table
from capmap.errors import ConfigError
from capmap.metrics import canonical_name, find_metric, is_same_metric
from capmap.normalization.selection import (
    Bound,
    DatasetRule,
    MetricRule,
    Normalization,
    convert_bounds,
    find_transform,
)
from capmap.renaming import rename_keys
from capmap.settings.choices import Direction

REQUIRED = ("dataset", "low", "high")

Sides: TypeAlias = tuple[Bound | None, Bound | None]
OPPOSITE: dict[Direction, Direction] = {"max": "min", "min": "max"}


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


def read_references(
    path: str | Path | None = None, *, renamed: Mapping[str, str] | None = None
) -> dict[str, Reference]:
    """Read a file of frozen bounds.

    Parameters
    ----------
    path : path-like, optional
        The ``bounds.csv`` of another run, or JSON (a name ending in ``.json``) such as
        ``{"eurosat": [0.1, 0.98]}``.
    renamed : mapping of str to str, optional
        New names of datasets; the file may have either.

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
        return rename_keys(read(Path(path)), renamed or {})
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


@dataclass(frozen=True)
class Rules:
    """All that decides on directions and bounds, except the scores.

    Parameters
    ----------
    metrics : mapping
        Rules of metrics, by name; names are compared without case and separators.
    datasets : mapping
        Rules of datasets.
    normalization : mapping
        Bounds of all other datasets.
    references : mapping
        Frozen bounds of datasets.
    """

    metrics: Mapping[str, MetricRule]
    datasets: Mapping[str, DatasetRule]
    normalization: Normalization
    references: Mapping[str, Reference]

    @classmethod
    def choose(
        cls,
        settings: Mapping[str, Any],
        paths: Sequence[str] = (),
        datasets: Mapping[str, DatasetRule] | None = None,
    ) -> Self:
        """Take the rules from the settings of a study, and no file or one of frozen bounds."""
        return cls(
            settings["metrics"],
            settings["datasets"] if datasets is None else datasets,
            settings["normalization"],
            read_references(*paths, renamed=settings.get("renamed")),
        )

    def of_dataset(self, dataset: str) -> DatasetRule:
        """Find a dataset's rule; empty when it has none."""
        return self.datasets.get(dataset, {})

    def of_metric(self, metric: str) -> MetricRule:
        """Find a metric's rule; empty when it has none."""
        return self._metrics.get(canonical_name(metric), {})

    def find_direction(self, dataset: str, metric: str) -> tuple[Direction | None, str]:
        """Find which score is better and who says it.

        Returns
        -------
        direction : {"max", "min"} or None
            None when nobody says it.
        origin : str
            "dataset", "transform", "metric", "natural", or empty.
        """
        rule = self.of_dataset(dataset)
        if "direction" in rule:
            return rule["direction"], "dataset"
        if transform := find_transform(rule.get("transform")):
            return transform.direction, "transform"
        metric_rule = self.of_metric(metric)
        if "direction" in metric_rule:
            return metric_rule["direction"], "metric"
        known = find_metric(metric)
        return (known.direction, "natural") if known else (None, "")

    def list_sides(self, dataset: str, metric: str) -> list[tuple[str, Sides]]:
        """List who could give bounds, first the one that wins.

        Returns
        -------
        list of tuple
            Origin and (low, high) in raw scores after the transform, None where it gives none.
        """
        rule, metric_rule = self.of_dataset(dataset), self.of_metric(metric)
        direction, _ = self.find_direction(dataset, metric)
        if transform := rule.get("transform"):
            opposite = OPPOSITE[direction] if direction else None
            metric_sides = convert_bounds(*_order_sides(metric_rule, opposite), transform)
        else:
            metric_sides = _order_sides(metric_rule, direction)
        frozen = self.references.get(dataset)
        low, high = _order_sides(self.normalization, direction)
        return [
            ("dataset", _order_sides(rule, direction)),
            ("metric", metric_sides),
            ("references", (frozen.low, frozen.high) if frozen else (None, None)),
            ("study", (None if low == "natural" else low, None if high == "natural" else high)),
            ("natural", self.find_natural(dataset, metric)),
        ]

    def find_natural(self, dataset: str, metric: str) -> tuple[float | None, float | None]:
        """Find the bounds that a dataset's scores have by their nature, None where they have none.

        Notes
        -----
        A transform makes scores of another nature, so its bounds replace those of the metric.
        """
        known = find_transform(self.of_dataset(dataset).get("transform")) or find_metric(metric)
        return (known.low, known.high) if known else (None, None)

    @property
    def models(self) -> list[str]:
        """Names of the models whose scores are bounds."""
        named = {
            bound["model"]
            for rule in (*self.metrics.values(), *self.datasets.values(), self.normalization)
            for bound in (rule.get("low"), rule.get("high"))
            if isinstance(bound, Mapping)
        }
        return sorted(named)

    @cached_property
    def _metrics(self) -> dict[str, MetricRule]:
        return {canonical_name(name): rule for name, rule in self.metrics.items()}


def _order_sides(rule: MetricRule | Normalization, direction: Direction | None) -> Sides:
    low, high = rule.get("low"), rule.get("high")
    has_model = isinstance(low, Mapping) or isinstance(high, Mapping)
    return (high, low) if has_model and direction == "min" else (low, high)
