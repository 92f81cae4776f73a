"""Rules of metrics and datasets: who decides on directions and bounds, and what is analysed."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json, read_table
from capmap.errors import ConfigError
from capmap.metrics import Metric, canonical_name, find_metric, is_same_metric
from capmap.settings.choices import Direction, Incomplete
from capmap.wording import count_things, list_names, rename_keys

Bound: TypeAlias = float | Literal["observed", "natural"] | Mapping[str, str]
TransformRule: TypeAlias = Mapping[str, Mapping[str, float]]
Selection: TypeAlias = Literal["all"] | list[str] | Mapping[str, list[str]]

FloatArray = npt.NDArray[np.float64]
DROPPED = ("kind", "name", "reason")
MOST_VALUES = 5
FEWEST_OUTCOMES = 20
REQUIRED = ("dataset", "low", "high")

Sides: TypeAlias = tuple[Bound | None, Bound | None]
OPPOSITE: dict[Direction, Direction] = {"max": "min", "min": "max"}


# What is configured: direction, low, high and items of a metric; of a dataset also metric and
# transform.
MetricRule: TypeAlias = Mapping[str, Any]
DatasetRule: TypeAlias = MetricRule
Select: TypeAlias = Mapping[str, Selection]
# The transform `scale_rmse` maps an error r to 1 − r · std, which is 0 where it reaches 1 / std.
SCALED = Metric("scale_rmse", "max", 0.0, 1.0)


def find_transform(rule: TransformRule | None) -> Metric | None:
    """Direction and bounds of scores that a transform has made; None where a rule has none."""
    return SCALED if rule else None


def convert_scores(scores: npt.ArrayLike, rule: TransformRule) -> FloatArray:
    """Apply a transform.

    Examples
    --------
    >>> convert_scores([0.0, 0.2, 4.0], {"scale_rmse": {"std": 0.25}}).tolist()
    [1.0, 0.95, 0.0]
    """
    return 1.0 - np.asarray(scores, dtype=np.float64) * rule["scale_rmse"]["std"]


def convert_bounds(
    low: Bound | None, high: Bound | None, rule: TransformRule
) -> tuple[Bound | None, Bound | None]:
    """Carry bounds of raw scores over to converted scores.

    Notes
    -----
    A transform is decreasing, so low and high change places. Bounds that are not numbers are
    measured on converted scores later and only change places.
    """

    def convert(bound: Bound | None) -> Bound | None:
        return float(convert_scores(bound, rule)) if isinstance(bound, int | float) else bound

    return convert(high), convert(low)


def apply_transforms(runs: pd.DataFrame, datasets: Mapping[str, DatasetRule]) -> pd.DataFrame:
    """Convert the scores of the datasets whose rule names a transform."""
    score = runs["score"].to_numpy(dtype=np.float64, copy=True)
    for dataset, rule in datasets.items():
        if transform := rule.get("transform"):
            rows = (runs["dataset"] == dataset).to_numpy(dtype=bool)
            score[rows] = convert_scores(score[rows], transform)
    return runs.assign(score=score)


def select_runs(
    runs: pd.DataFrame, *, models: Selection = "all", datasets: Selection = "all"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Keep the runs of the selected models and datasets, and list what was left out."""
    dropped = []
    keep = np.ones(len(runs), dtype=bool)
    for kind, selection in (("model", models), ("dataset", datasets)):
        reasons = _find_unselected(runs[kind].unique(), selection, option=f"select.{kind}s")
        keep &= ~runs[kind].isin(list(reasons)).to_numpy(dtype=bool)
        dropped += [(kind, name, reason) for name, reason in sorted(reasons.items())]
    return runs if keep.all() else runs[keep], list_dropped(dropped)


def leave_out(
    runs: pd.DataFrame, kind: Literal["model", "dataset"], names: Collection[str]
) -> pd.DataFrame:
    """Leave out the runs of some models or datasets."""
    return runs[~runs[kind].isin(list(names))] if names else runs


def drop_incomplete(runs: pd.DataFrame, *, policy: Incomplete) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Leave out models or datasets with empty cells, and list them with the reason.

    "error" and "adjust" leave all runs in; validation has stopped the first.

    Notes
    -----
    A model is complete when it has a run on each dataset that any model has a run on; the same
    for datasets. Models are dropped all at once, not one by one, so no order matters.
    """
    if policy in ("error", "adjust"):
        return runs, list_dropped([])
    kind: Literal["model", "dataset"]
    kind, other = ("model", "dataset") if policy == "drop_models" else ("dataset", "model")
    counts = count_runs(runs)
    missing = find_missing(counts if kind == "model" else counts.T)
    reasons = [
        (kind, name, f"No runs for {count_things(len(holes), other)}: {list_names(holes)}.")
        for name, holes in missing.items()
    ]
    return leave_out(runs, kind, missing), list_dropped(reasons)


def list_dropped(rows: Iterable[tuple[str, str, str]]) -> pd.DataFrame:
    """Make the table of what was left out: kind, name, reason."""
    return pd.DataFrame(list(rows), columns=list(DROPPED), dtype="str")


def count_runs(runs: pd.DataFrame) -> pd.DataFrame:
    """Count the runs of each cell: a row per model and a column per dataset, both by name."""
    row, models = pd.factorize(runs["model"], sort=True)
    column, datasets = pd.factorize(runs["dataset"], sort=True)
    shape = (len(models), len(datasets))
    counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
    return pd.DataFrame(counts.reshape(shape), index=models, columns=datasets)


def are_outcomes(scores: "pd.Series[float]") -> bool:
    """Whether scores, at least 20, have at most five values, 0 and 1 among them."""
    values = set(scores.unique())
    is_outcome = len(values) <= MOST_VALUES and {0.0, 1.0} <= values
    return is_outcome and len(scores) >= FEWEST_OUTCOMES


def find_missing(counts: pd.DataFrame) -> dict[str, list[str]]:
    """List, for each row of a table of counts that has zeros, the columns where they are."""
    empty = counts.to_numpy() == 0
    return {
        str(name): counts.columns[holes].tolist()
        for name, holes in zip(counts.index, empty, strict=True)
        if holes.any()
    }


def _find_unselected(names: Iterable[str], selection: Selection, *, option: str) -> dict[str, str]:
    if selection == "all":
        return {}
    if isinstance(selection, Mapping):
        excluded = {*selection["exclude"]}
        return {name: f"Excluded by {option}." for name in names if name in excluded}
    return {name: f"Not included by {option}." for name in names if name not in {*selection}}


@dataclass(frozen=True)
class Reference:
    """Bounds that a file gives for a dataset, raw values after transforms, low below high.

    Metric and direction are what they were made for, empty where the file does not say it.
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
    """Read a file of frozen bounds by dataset, under old or new names; a fault has its place.

    It is the ``bounds.csv`` of another run, or JSON such as ``{"eurosat": [0.1, 0.98]}``.
    """
    if path is None:
        return {}
    references: dict[str, Reference] = {}
    try:
        for place, row in _list_references(Path(path)):
            dataset = _text(row["dataset"])
            if not dataset:
                raise ValueError(f"{place} has no dataset.")
            if dataset in references:
                raise ValueError(f"{place} repeats the dataset {dataset!r}.")
            bounds = _check_bounds(row["low"], row["high"], place=place)
            said = [_text(row.get(name)) for name in ("metric", "direction")]
            references[dataset] = Reference(*bounds, *said)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"The references in {path} cannot be read: {error} Give the bounds.csv of another "
            'run, or JSON such as {"DATASET": [0, 1]}.'
        ) from error
    return rename_keys(references, renamed or {})


def _list_references(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """List what a file says of datasets, with the place of each."""
    if path.suffix.lower() == ".json":
        content: Any = read_json(path)
        if not isinstance(content, dict):
            raise ValueError("It is not a JSON object.")
        for dataset, bounds in content.items():
            if not isinstance(bounds, list) or len(bounds) != 2:
                raise ValueError(f"Dataset {dataset!r} is not a list of two numbers.")
            yield f"Dataset {dataset!r}", {"dataset": dataset, "low": bounds[0], "high": bounds[1]}
        return
    table = read_table(path)
    if absent := [name for name in REQUIRED if name not in table.columns]:
        raise ValueError(f"It has no column {absent[0]!r}.")
    for line, row in enumerate(table.to_dict("records"), start=2):
        yield f"Line {line}", {str(name): value for name, value in row.items()}


def _check_bounds(low: Any, high: Any, *, place: str) -> tuple[float, float]:
    for bound in (low, high):
        is_number = isinstance(bound, int | float) and not isinstance(bound, bool)
        if not is_number or not math.isfinite(bound):
            raise ValueError(f"{place} has {bound!r} where a finite number should be.")
    first, second = float(low), float(high)
    if not first < second:
        raise ValueError(f"{place} has the lower bound {first!r}, not below {second!r}.")
    return first, second


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Rules:
    """All that decides on directions and bounds, except the scores.

    Names of metrics are compared without case and separators; `normalization` has the bounds of all
    other datasets, `references` frozen ones.
    """

    metrics: Mapping[str, MetricRule]
    datasets: Mapping[str, DatasetRule]
    normalization: MetricRule
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
        """Find which score is better and who says it; None and "" where nobody does."""
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
        """List who could give bounds after the transform, first the one that wins."""
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


def _order_sides(rule: MetricRule, direction: Direction | None) -> Sides:
    low, high = rule.get("low"), rule.get("high")
    has_model = isinstance(low, Mapping) or isinstance(high, Mapping)
    return (high, low) if has_model and direction == "min" else (low, high)
