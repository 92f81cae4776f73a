"""Scores of submissions that cannot be what they should be: out of range, or not converted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.benchmarks import Benchmark
from capmap.normalization.precedence import Rules
from capmap.normalization.rules import DatasetRule, MetricRule, convert_scores, find_transform
from capmap.problems import Problem, Row, list_rows, score_problem
from capmap.validation.study import Validation
from capmap.wording import count_things, quote_name, write_key

FRACTION, PERCENT = 1.5, 100.0
USUAL = (0.5, 1.0)
ENTRY = ["submission", "backbone", "method", "dataset"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Range = tuple[float, float]


@dataclass(frozen=True)
class Screened:
    """Runs without those whose scores cannot be right.

    Parameters
    ----------
    runs : DataFrame
        The other runs, in their order.
    problems : list of Problem
        Why some are not among them.
    """

    runs: pd.DataFrame
    problems: list[Problem]


def screen_scores(runs: pd.DataFrame, rules: Rules, benchmark: Benchmark | None) -> Screened:
    """Find scores of submissions that are out of range, or not on the scale of the benchmark.

    Parameters
    ----------
    runs : DataFrame
        Of `read_submissions`. Scores that are not finite stay: the reader has reported them.
    rules : Rules
        The rules of the study, completed by the benchmark.
    benchmark : Benchmark or None
        Says of which datasets converted errors are stored.

    Returns
    -------
    Screened
        The runs without doubt, and errors: "out_of_range" per score, "not_converted" and
        "converted_twice" per submission and dataset.

    Notes
    -----
    The range of a dataset is that of its metric by nature, widened by the numbers that the study
    gives for the dataset or the metric. Where the benchmark stores converted errors it is that of
    the conversion, and where the study converts them itself that of the error.

    Where the benchmark stores converted errors, the scores of a model on the dataset are taken for
    errors when their median is nearer to the plausible range after the conversion than before; and
    where the study converts them, for converted scores when it is nearer before. The plausible
    range is what the study gives as numbers, else the reference bounds, else 0.5 to 1. An error
    that happens to be as near to it as its conversion is not recognized. Where the other scale
    would leave [0, 1] the score is out of range and nothing else.
    """
    doubted = np.zeros(len(runs), dtype=bool)
    problems = []
    for dataset in sorted(benchmark.datasets if benchmark else ()):
        stored = benchmark.datasets[dataset].transform if benchmark else {}
        own = (runs["dataset"] == dataset).to_numpy(dtype=bool)
        if stored and own.any():
            wrong = _find_other_scale(runs, own, rules, stored)
            problems += _explain_scale(runs, own, wrong, rules, stored)
            doubted |= wrong
    low, high = _list_ranges(runs, rules, benchmark)
    score = runs["score"].to_numpy(dtype=np.float64)
    outside = ~doubted & np.isfinite(score) & ((score < low) | (score > high))
    problems += [
        _explain_range(row, (bottom, top), _find_stored(row.dataset, rules, benchmark))
        for row, bottom, top in zip(
            list_rows(runs[outside]), low[outside], high[outside], strict=True
        )
    ]
    return Screened(runs[~doubted & ~outside], problems)


def _find_other_scale(
    runs: pd.DataFrame, own: BoolArray, rules: Rules, stored: Mapping[str, Mapping[str, float]]
) -> BoolArray:
    """Find the runs of models whose median is better explained by the other scale."""
    chosen = runs[own]
    medians = chosen.groupby(ENTRY)["score"].transform("median").to_numpy(dtype=np.float64)
    dataset = str(chosen["dataset"].iloc[0])
    low, high = _find_plausible(rules, dataset)
    converted = convert_scores(medians, stored)
    before = np.maximum(low - medians, medians - high).clip(min=0)
    after = np.maximum(low - converted, converted - high).clip(min=0)
    if "transform" in rules.of_dataset(dataset):
        other, is_nearer = medians, before < after
    else:
        other, is_nearer = converted, after < before
    wrong = np.zeros(len(runs), dtype=bool)
    wrong[own] = is_nearer & (other >= 0) & (other <= 1)
    return wrong


def _find_plausible(rules: Rules, dataset: str) -> Range:
    rule = rules.of_dataset(dataset)
    low, high = rule.get("low"), rule.get("high")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return float(low), float(high)
    frozen = rules.references.get(dataset)
    return (frozen.low, frozen.high) if frozen else USUAL


def _list_ranges(
    runs: pd.DataFrame, rules: Rules, benchmark: Benchmark | None
) -> tuple[FloatArray, FloatArray]:
    """List the least and the largest score that each run can have."""
    pairs = runs[["dataset", "metric"]]
    ranges = {
        (dataset, metric): _find_range(dataset, metric, rules, benchmark)
        for dataset, metric in pairs.drop_duplicates().itertuples(index=False, name=None)
    }
    found = [ranges[pair] for pair in pairs.itertuples(index=False, name=None)]
    low, high = np.array(found, dtype=np.float64).reshape(-1, 2).T
    return low, high


def _find_range(dataset: str, metric: str, rules: Rules, benchmark: Benchmark | None) -> Range:
    natural: tuple[float | None, float | None]
    sources: list[DatasetRule | MetricRule]
    rule = rules.of_dataset(dataset)
    if stored := _find_stored(dataset, rules, benchmark):
        transform = find_transform(stored)
        natural = (transform.low, transform.high) if transform else (None, None)
        sources = [rule]
    elif "transform" in rule:
        natural, sources = _find_raw(metric), []
    else:
        natural, sources = rules.find_natural(dataset, metric), [rule, rules.of_metric(metric)]
    given = [
        bound
        for source in sources
        for bound in (source.get("low"), source.get("high"))
        if isinstance(bound, int | float)
    ]
    low, high = natural
    return (
        -np.inf if low is None else min([low, *given]),
        np.inf if high is None else max([high, *given]),
    )


def _find_raw(metric: str) -> tuple[float | None, float | None]:
    return Rules({}, {}, {}, {}).find_natural("", metric)


def _explain_scale(
    runs: pd.DataFrame,
    own: BoolArray,
    wrong: BoolArray,
    rules: Rules,
    stored: Mapping[str, Mapping[str, float]],
) -> list[Problem]:
    totals = runs[own].groupby("submission")["model"].nunique().to_dict()
    counts = runs[wrong].groupby("submission")["model"].nunique().to_dict()
    firsts = runs[wrong].drop_duplicates("submission")
    submissions = firsts["submission"].to_list()
    problems = []
    for row, submission in zip(list_rows(firsts), submissions, strict=True):
        who = f"{counts[submission]} of {count_things(totals[submission], 'model')}"
        problems.append(_explain_other_scale(row, who, rules, stored))
    return problems


def _explain_other_scale(
    row: Row, who: str, rules: Rules, stored: Mapping[str, Mapping[str, float]]
) -> Problem:
    name, options = next(iter(stored.items()))
    given = ", ".join(f"{key}: {value!r}" for key, value in options.items())
    rule = f"datasets: {{{write_key(row.dataset)}: {{transform: {{{name}: {{{given}}}}}}}}}"
    formula = _write_formula(row.metric, stored)
    dataset = quote_name(row.dataset)
    if "transform" in rules.of_dataset(row.dataset):
        code = "converted_twice"
        reason = f"The scores on {dataset} look converted already ({who})."
        remedy = f"Submit raw errors, or remove the transform from the study, {rule}."
    else:
        code = "not_converted"
        reason = f"The scores on {dataset} look like raw {row.metric}, not like {formula} ({who})."
        remedy = f"Convert them; or where all submissions hold raw errors, write {rule}."
    return score_problem(row, code, reason, remedy, severity="error")


def _write_formula(metric: str, stored: Mapping[str, Mapping[str, float]]) -> str:
    name, options = next(iter(stored.items()))
    return f"1 - {metric} * {options['std']!r}" if "std" in options else name


def _find_stored(
    dataset: str, rules: Rules, benchmark: Benchmark | None
) -> Mapping[str, Mapping[str, float]]:
    """Find how the benchmark converts errors of a dataset that the study does not convert."""
    known = benchmark.datasets.get(dataset) if benchmark else None
    return known.transform if known and "transform" not in rules.of_dataset(dataset) else {}


def _explain_range(
    row: Row, limits: Sequence[float], stored: Mapping[str, Mapping[str, float]]
) -> Problem:
    low, high = limits
    reason = f"The score is outside the range [{low:g}, {high:g}] of {quote_name(row.metric)}."
    remedy = "Correct it, or remove the runs of the dataset."
    if stored:
        formula = _write_formula(row.metric, stored)
        remedy = f"The benchmark stores {formula}: convert a raw error, or correct the score."
    elif high == 1 and FRACTION < row.score <= PERCENT:
        remedy = f'It looks like a percentage: write {row.score / PERCENT!r} or "{row.raw}%".'
    return score_problem(row, "out_of_range", reason, remedy, severity="error")


def drop_told(result: Validation, definition: Benchmark | None) -> Validation:
    """Drop warnings of what the definition of the benchmark says."""
    defined = {dataset.metric for dataset in definition.datasets.values()} if definition else set()
    problems = [
        problem
        for problem in result.problems
        if problem.code != "overruled_direction" or problem.value not in defined
    ]
    return replace(result, problems=problems)
