"""Who decides on the direction and the bounds of a dataset."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from capmap.metrics import Direction, canonical_name, find_metric
from capmap.normalization.references import Reference
from capmap.normalization.rules import Bound, DatasetRule, MetricRule, Normalization
from capmap.normalization.transforms import convert_bounds, find_transform

Sides: TypeAlias = tuple[Bound | None, Bound | None]
OPPOSITE: dict[Direction, Direction] = {"max": "min", "min": "max"}


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
