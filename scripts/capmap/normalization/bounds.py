"""The raw scores that map to 0 and 1, what can be wrong with them, and the scores they make."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import sort_rows
from capmap.errors import ValidationError
from capmap.metrics import find_metric, suggest
from capmap.normalization import (
    Bound,
    DatasetRule,
    MetricRule,
    Reference,
    Rules,
    apply_transforms,
)
from capmap.problems import Problem, ask_nearest
from capmap.settings.choices import Direction
from capmap.wording import count_things, list_names, quote_name, write_key

COLUMNS = ("dataset", "metric", "direction", "low", "high", "low_origin", "high_origin")
# Who may give a number as a bound, and the numbers that end a share.
CONFIGURED, SHARES = ("dataset", "metric", "study"), (0, 1, 100)
# How many times beyond all others the worst scores are those of diverged runs.
FAR = 10
# Decimals that scores are written with, and how near a number is to one of so many.
MOST_DECIMALS, TOLERANCE = 6, 1e-6
ITEM_KEY = ("model", "dataset", "item", "cluster")
NO_ITEMS = pd.DataFrame({name: pd.Series(dtype="str") for name in ITEM_KEY}).assign(score=0.0)
# The ends of the scales of shares.
SCALES = (1.0, 100.0)
Row: TypeAlias = tuple[str, str, Direction, float, float, str, str]


@dataclass(frozen=True)
class Evidence:
    """A dataset's runs in short: the place of the first, extreme scores, means of some models."""

    dataset: str
    metric: str
    source: str
    line: int
    lowest: float
    highest: float
    means: Mapping[str, float]


def gather_evidence(runs: pd.DataFrame, *, models: Collection[str]) -> Iterator[Evidence]:
    """Summarize the runs of each dataset, by dataset, with the means of some models.

    A summary is the same, except for the place, whatever the order of the rows.
    """
    own = runs[runs["model"].isin(list(models))].sort_values("score")  # sums depend on their order
    cells: Any = own.groupby(["dataset", "model"], observed=True)["score"].mean().to_dict()
    means: dict[str, dict[str, float]] = {}
    for (dataset, model), mean in cells.items():
        means.setdefault(dataset, {})[model] = mean
    by_dataset = runs.groupby("dataset", sort=True, observed=True)
    table = by_dataset[["metric", "source", "line"]].first()
    table = table.assign(lowest=by_dataset["score"].min(), highest=by_dataset["score"].max())
    records: Any = table.reset_index().to_dict("records")
    for record in records:
        yield Evidence(**record, means=means.get(record["dataset"], {}))


@dataclass(frozen=True)
class _Side:
    """One bound: what was asked for, who asked, and the number (None when there is none)."""

    bound: Bound | None
    origin: str
    value: float | None

    @property
    def is_measured(self) -> bool:
        """Whether the number comes from scores."""
        return self.bound == "observed" or isinstance(self.bound, Mapping)


@dataclass
class _Findings:
    """What `resolve_bounds` collects on its way through the datasets."""

    rows: list[Row] = field(default_factory=list)
    told: dict[Problem, list[Evidence]] = field(default_factory=dict)

    def tell(self, evidence: Evidence, **said: Any) -> None:
        """Say what is wrong with a dataset; of several with the same fault, once."""
        self.told.setdefault(Problem(**said), []).append(evidence)

    def list_problems(self) -> list[Problem]:
        """List the faults, each at the first of its datasets and with the names of all."""
        return [
            replace(
                problem,
                source=found[0].source,
                line=found[0].line,
                reason=f"{problem.reason} ({count_things(len(found), 'dataset')}: "
                f"{list_names([item.dataset for item in found])}).",
            )
            for problem, found in self.told.items()
        ]


def resolve_bounds(
    runs: pd.DataFrame,
    *,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    normalization: MetricRule,
    references: Mapping[str, Reference],
) -> tuple[pd.DataFrame, list[Problem]]:
    """Decide for each dataset which score is better and which scores map to 0 and 1.

    Each side of the bounds comes from the first of these that gives it: the dataset's rule, its
    metric's rule, the references, the study's normalization unless that is "natural", and the
    natural bound of the metric. The direction comes from the dataset's rule, its transform, its
    metric's rule, or the registry of metrics.

    Runs are those of all models, also of those that are not analysed, with the scores that
    `apply_transforms` made, which are finite. Datasets with errors and constant datasets are not in
    the table; a constant dataset is a warning with the code "constant_dataset".

    Notes
    -----
    A number is a raw score, whatever the direction. "observed" is the lowest or highest score of
    any run. ``{model: NAME}`` is the mean score of that model's runs on the dataset, as the floor
    (``low``, maps to 0) or the ceiling (``high``, maps to 1): where lower is better, the two
    bounds of a rule with a model change places, so the ceiling is the lower raw score; where the
    other one is a number, either may be written as ``low``. Worst scores that are far beyond all
    others, as of a diverged run, are not observed bounds, see `count_diverged`.

    A metric's rule is about the metric's raw scores and is carried over to converted scores where
    a dataset has a transform; all other bounds are about converted scores, as their origins in
    the table are.
    """
    rules = Rules(metrics, datasets, normalization, references)
    findings, models = _Findings(), sorted(runs["model"].unique())
    for evidence in gather_evidence(runs, models=rules.models):
        _resolve_dataset(evidence, rules, findings, models)
    problems = [*_set_aside_diverged(runs, findings), *findings.list_problems()]
    texts = [name for name in COLUMNS if name not in ("low", "high")]
    table = pd.DataFrame(findings.rows, columns=list(COLUMNS)).astype(dict.fromkeys(texts, "str"))
    return table.astype({"low": "float64", "high": "float64"}), sorted(problems)


def _set_aside_diverged(runs: pd.DataFrame, findings: _Findings) -> list[Problem]:
    """Leave worst scores that are far beyond all others out of observed bounds, and say so."""
    problems = []
    places: Mapping[Any, Any] = {}
    for place, row in enumerate(findings.rows):
        dataset, metric, direction, low, high, *origins = row
        worse = 1 if direction == "min" else 0
        if not origins[worse].endswith("observed"):
            continue
        places = places or runs.groupby("dataset", observed=True).indices
        own = runs.iloc[places[dataset]]
        own = own.sort_values("score", ascending=direction == "min", kind="stable")
        count = count_diverged(own["score"].to_numpy(dtype=np.float64))
        if not count:
            continue
        kept, diverged = own.iloc[:-count], own.iloc[-count:]
        bound = float(kept["score"].iloc[-1])
        low, high = (low, bound) if worse else (bound, high)
        findings.rows[place] = (dataset, metric, direction, low, high, origins[0], origins[1])
        first = diverged.iloc[-1]
        models = list_names(diverged["model"].drop_duplicates().tolist())
        problems.append(
            Problem(
                severity="warning",
                code="diverged",
                source=str(first["source"]),
                line=int(first["line"]),
                value=f"{first['score']:g}",
                reason=f"{count_things(count, 'score')} of {models} on {quote_name(dataset)} "
                f"{'is' if count == 1 else 'are'} far beyond all others, as of a diverged run or a "
                f"mark for none, so the observed bound is the next one, {bound:g}.",
                remedy="Correct the score, leave the run out, or say what it counts with: "
                'values: {"SCORE": missing}.',
            )
        )
    return problems


def count_diverged(scores: npt.NDArray[np.float64]) -> int:
    """Count the worst scores, at most a third, that are far beyond all others.

    The gap before them is ten times the range of the others, and the distance from the best ten
    times as large as any of these.

    Examples
    --------
    >>> [count_diverged(np.array(scores)) for scores in ([2.0, 2.1, 2.5, 2.4e13], [0.8, 0.81, 0.5])]
    [1, 0]
    """
    for kept in range(len(scores) - len(scores) // 3, len(scores)):
        others, worst = scores[:kept], scores[kept]
        span, largest = abs(others[-1] - others[0]), np.abs(others).max()
        is_apart = abs(worst - others[-1]) > FAR * span > 0
        if is_apart and abs(worst - others[0]) > FAR * largest:
            return len(scores) - kept
    return 0


def normalize_scores(
    runs: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    names: Sequence[str] = ("model", "dataset", "seed"),
) -> pd.DataFrame:
    """Map scores so that 0 and 1 are the bounds and 1 is best; leave out datasets without bounds.

    The column raw has the raw score in parts of the distance of the bounds, negative where lower is
    better. It keeps what the normalized score rounds off near a bound.

    Notes
    -----
    The normalized score is (score − low) / (high − low), and one minus that where lower is
    better. It is not clipped, so it may leave [0, 1].
    """
    rules = bounds.set_index("dataset")
    position = rules.index.get_indexer(pd.Index(runs["dataset"]))
    if (position < 0).any():
        runs, position = runs[position >= 0], position[position >= 0]
    low, high = (rules[side].to_numpy(dtype=np.float64) for side in ("low", "high"))
    flip = (rules["direction"] == "min").to_numpy(dtype=bool)[position]
    found, spans = runs["score"].to_numpy(dtype=np.float64), (high - low)[position]
    score = (found - low[position]) / spans
    score[flip] = 1.0 - score[flip]
    raw = np.where(flip, -1.0, 1.0) * found / spans
    return sort_rows(runs[[*names]].assign(score=score, raw=raw), names, "score")


def _resolve_dataset(
    evidence: Evidence, rules: Rules, findings: _Findings, models: Sequence[str]
) -> None:
    dataset, metric = evidence.dataset, evidence.metric
    direction, _ = rules.find_direction(dataset, metric)
    low, high = (_resolve_side(side, evidence, rules) for side in ("low", "high"))
    if direction == "min" and _are_turned(low, high):
        low, high = high, low
    for model in {side.bound["model"] for side in (low, high) if isinstance(side.bound, Mapping)}:
        if model not in evidence.means:
            findings.tell(evidence, **_explain_absent(model, models))
    wanted = {"direction": direction, "low": low.bound, "high": high.bound}
    if lacks := [name for name, found in wanted.items() if found is None]:
        findings.tell(evidence, **_explain_missing(metric, lacks))
    frozen = rules.references.get(dataset)
    if rules.references and not frozen:
        findings.tell(
            evidence,
            severity="warning",
            code="unreferenced_dataset",
            reason="The references have no bounds for this; those of the study or of the metric "
            "apply",
            remedy="Freeze new bounds if scores must stay comparable.",
        )
    if direction is None or low.value is None or high.value is None:
        return
    if frozen and "references" in (low.origin, high.origin) and frozen.disagrees(metric, direction):
        findings.tell(
            evidence,
            code="reference_mismatch",
            value=dataset,
            reason=f"The references are for the metric {quote_name(frozen.metric)} with direction "
            f"{frozen.direction}, the study has {quote_name(metric)} with {direction}",
            remedy="Make both studies agree, or freeze new bounds.",
        )
    elif low.value < high.value and math.isfinite(high.value - low.value):
        row = (dataset, metric, direction, low.value, high.value, low.origin, high.origin)
        findings.rows.append(row)
    elif evidence.lowest == evidence.highest and (low.is_measured or high.is_measured):
        findings.tell(
            evidence,
            severity="warning",
            code="constant_dataset",
            value=dataset,
            reason=f"All scores are {evidence.lowest!r}, so observed bounds are equal and the "
            "dataset is left out",
            remedy="Give it numbers as bounds to keep it.",
        )
    else:
        findings.tell(
            evidence,
            code="bad_bounds",
            value=dataset,
            reason=f"The bounds, low {low.value!r} ({low.origin}) and high {high.value!r} "
            f"({high.origin}), are not two numbers with low < high and a finite difference",
            remedy="Give the lower raw score as low also where it is the better one; the direction "
            "says which is better.",
        )


def _explain_missing(metric: str, lacks: Sequence[str]) -> dict[str, str]:
    """Say that neither the configuration nor the registry knows a metric's direction or bounds."""
    values = {"direction": "max", "low": "NUMBER", "high": "NUMBER"}
    yaml = ", ".join(f"{key}: {values[key]}" for key in lacks)
    rule = f"metrics: {{{write_key(metric)}: {{{yaml}}}}}"
    if "direction" in lacks:
        nearest = suggest(metric)
        known = f" (the nearest known metric is {quote_name(nearest)})" if nearest else ""
        reason = f"Whether a higher {quote_name(metric)} is better is not known{known}"
        remedy = f"Write {rule}, with min in place of max if lower is better."
        return {"code": "unknown_metric", "value": metric, "reason": reason, "remedy": remedy}
    sides = " or ".join({"low": "lower", "high": "upper"}[side] for side in lacks)
    reason = f"The metric {quote_name(metric)} has no natural {sides} bound"
    remedy = f"Write {rule}; a bound may also be observed or {{model: NAME}}."
    return {"code": "unbounded_metric", "value": metric, "reason": reason, "remedy": remedy}


def _explain_absent(model: str, models: Sequence[str]) -> dict[str, str]:
    """Say that a model whose score is a bound has none on a dataset."""
    reason = f"The model {quote_name(model)} is a bound, but has no run here"
    remedy = "Add its runs, or give these datasets bounds of their own."
    if model not in models:
        remedy = ask_nearest(model, models).rstrip() or "Correct its name."
    return {"code": "absent_model", "value": model, "reason": reason, "remedy": remedy}


def _resolve_side(side: Literal["low", "high"], evidence: Evidence, rules: Rules) -> _Side:
    position = ("low", "high").index(side)
    for origin, sides in rules.list_sides(evidence.dataset, evidence.metric):
        bound = sides[position]
        if bound is None:
            continue
        if bound == "natural":
            natural = rules.find_natural(evidence.dataset, evidence.metric)[position]
            return _Side(natural, f"{origin}: natural", natural)
        if bound == "observed":
            value = evidence.lowest if side == "low" else evidence.highest
            return _Side(bound, f"{origin}: observed", value)
        if isinstance(bound, Mapping):
            return _Side(
                bound, f"{origin}: model {bound['model']}", evidence.means.get(bound["model"])
            )
        return _Side(bound, origin, float(bound))
    return _Side(None, "", None)


def _are_turned(low: _Side, high: _Side) -> bool:
    """Whether a number and a model's score, given by one rule, are in the wrong order."""
    bounds = [side.bound for side in (low, high)]
    kinds = {isinstance(bound, Mapping) for bound in bounds if not isinstance(bound, str | None)}
    if kinds != {True, False} or low.value is None or high.value is None:
        return False
    return low.origin.partition(":")[0] == high.origin.partition(":")[0] and low.value > high.value


def find_limits(bounds: pd.DataFrame, runs: pd.DataFrame) -> tuple[float, float]:
    """Find what normalized scores can be on any dataset like these: 0 and 1, or else −∞ and ∞.

    A bound is a limit where it is that of the metric, or the end of a share of a metric that is not
    known to go farther: 0, 1 or 100; on every dataset, and with no score beyond it. The best or
    worst score observed, which the mean of new runs may exceed, the score of a model, a frozen
    reference or another number is none.
    """
    used = bounds[bounds["dataset"].isin(runs["dataset"].unique())]
    are_limits: dict[bool, bool] = {False: True, True: True}
    for row in used.itertuples(index=False):
        known = find_metric(str(row.metric))
        for side in ("low", "high"):
            is_best = (side == "high") == (row.direction == "max")
            origin, value = str(getattr(row, f"{side}_origin")), getattr(row, side)
            is_open = known is not None and getattr(known, side) is None
            is_share = origin in CONFIGURED and value in SHARES and not is_open
            is_limit = origin.rpartition(": ")[2] == "natural" or is_share
            are_limits[is_best] &= is_limit
    low = 0.0 if are_limits[False] and runs["score"].min() >= 0 else -np.inf
    high = 1.0 if are_limits[True] and runs["score"].max() <= 1 else np.inf
    return low, high


def measure_resolutions(runs: pd.DataFrame, bounds: pd.DataFrame) -> "pd.Series[float]":
    """The unit of the last decimal of each dataset's scores, on the normalized scale.

    It is 0 where scores have more than six decimals, as means of others do. Scores that are all the
    same do not show theirs, and take the median of the other datasets.

    Examples
    --------
    >>> scores = [85.2, 86, 1e-9, 2e-9, 0.25, 0.3, 0, 0]
    >>> runs = pd.DataFrame({"dataset": list("aabbccdd"), "score": scores})
    >>> bounds = pd.DataFrame({"dataset": list("abcd"), "low": 0, "high": [100, 1e-8, 1, 1]})
    >>> measure_resolutions(runs, bounds).tolist()
    [0.001, 0.0, 0.01, 0.001]
    """
    codes, names = pd.factorize(runs["dataset"])
    scores = runs["score"].to_numpy(dtype=np.float64)
    low, high = (runs.groupby(codes)["score"].agg(end).to_numpy() for end in ("min", "max"))
    # Of scores that are all tiny, decimals count as well.
    largest = np.maximum(np.abs(low), np.abs(high))[codes]
    units = np.zeros(len(names))
    for decimals in range(MOST_DECIMALS, -1, -1):
        scaled = scores * 10.0**decimals
        tolerance = TOLERANCE * np.minimum(largest * 10.0**decimals, 1)
        is_more = np.abs(scaled - np.rint(scaled)) > tolerance
        is_written = np.bincount(codes[is_more], minlength=len(names)) == 0
        if not is_written.any():
            break
        units[is_written] = 10.0**-decimals
    spans = bounds.set_index("dataset")[["low", "high"]].reindex(names).to_numpy(dtype=np.float64)
    resolutions = units / np.abs(spans[:, 1] - spans[:, 0])
    if (high > low).any():
        resolutions[high == low] = np.median(resolutions[high > low])
    return pd.Series(resolutions, index=names)


def normalize_items(
    items: pd.DataFrame, runs: pd.DataFrame, bounds: pd.DataFrame, datasets: Mapping[str, Any]
) -> pd.DataFrame:
    """Normalize the items of the runs that are analysed, as the runs are."""
    kept = items
    for kind in ("model", "dataset"):
        kept = kept[kept[kind].isin(runs[kind].unique())]
    converted = apply_transforms(kept, datasets)
    return normalize_scores(converted, bounds, names=ITEM_KEY).drop(columns="raw")


def measure_test_sets(
    runs: pd.DataFrame, bounds: pd.DataFrame, rules: Rules
) -> "pd.Series[float] | None":
    """Variance of normalized scores that are shares of a number of items, the setting ``items``.

    By dataset and model it is p (1 - p) / n with p the cell's share with a success and a failure
    more; None where no dataset has the setting.
    """
    tables = []
    names = bounds[["dataset", "metric"]].astype("str").itertuples(index=False, name=None)
    spans = (bounds["high"] - bounds["low"]).tolist()
    for (dataset, metric), span in zip(names, spans, strict=True):
        rule = rules.of_dataset(dataset)
        n = rule.get("items") or rules.of_metric(metric).get("items")
        own = runs[runs["dataset"] == dataset]
        if n is None or own.empty:
            continue
        scores = own["score"]
        scale = next((end for end in SCALES if scores.between(0, end).all()), None)
        if scale is None or "transform" in rule:
            raise ValidationError(
                f"datasets.{write_key(dataset)}.items: the scores from {scores.min():g} "
                f"to {scores.max():g} are no shares of items, from 0 to 1 or to 100. Leave the "
                "setting out, or export the items."
            )
        share = (own.groupby("model", observed=True)["score"].mean() / scale * n + 1) / (n + 2)
        variances = share * (1 - share) / n * (scale / span) ** 2
        tables.append(pd.concat({dataset: variances}, names=["dataset"]))
    return pd.concat(tables) if tables else None


def have_items(runs: pd.DataFrame, items: pd.DataFrame) -> bool:
    """Whether the items of every dataset are known, or how many they are."""
    known = {*items["dataset"].unique()}
    if "item_variance" in runs:
        known |= {*runs.loc[runs["item_variance"].notna(), "dataset"].unique()}
    return set(runs["dataset"].unique()) <= known
