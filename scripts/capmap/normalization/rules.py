"""The shapes of the configured rules that say which raw scores are worst and best."""

from collections.abc import Mapping
from typing import Literal, TypeAlias, TypedDict

from capmap.metrics import Direction

Bound: TypeAlias = float | Literal["observed", "natural"] | Mapping[str, str]
TransformRule: TypeAlias = Mapping[str, Mapping[str, float]]
Selection: TypeAlias = Literal["all"] | list[str] | Mapping[str, list[str]]
Incomplete: TypeAlias = Literal["error", "drop_models", "drop_datasets", "keep"]


class MetricRule(TypedDict, total=False):
    """What is configured for a metric."""

    direction: Direction
    low: Bound
    high: Bound


class DatasetRule(MetricRule, total=False):
    """What is configured for a dataset."""

    metric: str
    transform: TransformRule


class Normalization(TypedDict, total=False):
    """What is configured for every dataset without rules of its own."""

    low: Bound
    high: Bound
    references: str


class Select(TypedDict, total=False):
    """What is configured to be analysed."""

    models: Selection
    datasets: Selection
