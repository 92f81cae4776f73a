"""Scores of submissions that cannot be what they should be: out of range, or not converted."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.benchmarks import Benchmark
from capmap.metrics import find_metric
from capmap.normalization.precedence import Rules
from capmap.normalization.rules import convert_scores, find_transform
from capmap.problems import Problem, Row, list_rows, score_problem
from capmap.wording import count_things, quote_name, write_key

FRACTION, PERCENT = 1.5, 100.0
USUAL = (0.5, 1.0)
ENTRY = ["submission", "backbone", "method", "dataset"]

BoolArray = npt.NDArray[np.bool_]
Range = tuple[float, float]
Stored = Mapping[str, Mapping[str, float]]


def screen_scores(
    runs: pd.DataFrame, rules: Rules, benchmark: Benchmark | None
) -> tuple[pd.DataFrame, list[Problem]]:
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
    runs : DataFrame
        The runs without doubt, in their order.
    problems : list of Problem
        Errors: "out_of_range" per score, "not_converted" and "converted_twice" per submission and
        dataset.

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
    known = benchmark.datasets if benchmark else {}
    stored = {name: known[name].transform for name in sorted(known) if known[name].transform}
    doubted = np.zeros(len(runs), dtype=bool)
    problems = []
    for dataset, transform in stored.items():
        own = (runs["dataset"] == dataset).to_numpy(dtype=bool)
        wrong = _find_other_scale(runs, own, rules, transform)
        problems += _explain_scale(runs[own], runs[wrong], rules, transform)
        doubted |= wrong
    unsettled = {
        name: transform
        for name, transform in stored.items()
        if "transform" not in rules.of_dataset(name)
    }
    pairs = list(runs[["dataset", "metric"]].itertuples(index=False, name=None))
    ranges = {
        (dataset, metric): _find_range(dataset, metric, rules, unsettled)
        for dataset, metric in {*pairs}
    }
    low, high = np.array([ranges[pair] for pair in pairs], dtype=np.float64).reshape(-1, 2).T
    score = runs["score"].to_numpy(dtype=np.float64)
    outside = ~doubted & np.isfinite(score) & ((score < low) | (score > high))
    problems += [
        _explain_range(row, ranges[row.dataset, row.metric], unsettled.get(row.dataset, {}))
        for row in list_rows(runs[outside])
    ]
    return runs[~doubted & ~outside], problems


def _find_other_scale(
    runs: pd.DataFrame, own: BoolArray, rules: Rules, stored: Stored
) -> BoolArray:
    """Find the runs of models whose median is better explained by the other scale."""
    wrong = np.zeros(len(runs), dtype=bool)
    if not own.any():
        return wrong
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
    wrong[own] = is_nearer & (other >= 0) & (other <= 1)
    return wrong


def _find_plausible(rules: Rules, dataset: str) -> Range:
    rule = rules.of_dataset(dataset)
    low, high = rule.get("low"), rule.get("high")
    if isinstance(low, int | float) and isinstance(high, int | float):
        return float(low), float(high)
    frozen = rules.references.get(dataset)
    return (frozen.low, frozen.high) if frozen else USUAL


def _find_range(dataset: str, metric: str, rules: Rules, stored: Mapping[str, Stored]) -> Range:
    """Find the least and the largest score that runs on a dataset can have."""
    rule = rules.of_dataset(dataset)
    sources = [rule, rules.of_metric(metric)]
    natural = find_transform(stored.get(dataset)) or find_metric(metric)
    if "transform" in rule:
        sources = []
    elif dataset in stored:
        sources = [rule]
    bounds = [(source.get("low"), source.get("high")) for source in sources]
    given = [bound for pair in bounds for bound in pair if isinstance(bound, int | float)]
    low, high = (natural.low, natural.high) if natural else (None, None)
    return (
        -np.inf if low is None else min([low, *given]),
        np.inf if high is None else max([high, *given]),
    )


def _explain_scale(
    runs: pd.DataFrame, wrong: pd.DataFrame, rules: Rules, stored: Stored
) -> list[Problem]:
    """Say which submissions have the scores of some models on the other scale."""
    totals, counts = (rows.groupby("submission")["model"].nunique() for rows in (runs, wrong))
    name, options = next(iter(stored.items()))
    given = ", ".join(f"{key}: {value!r}" for key, value in options.items())
    firsts = wrong.drop_duplicates("submission")
    problems = []
    for row, submission in zip(list_rows(firsts), firsts["submission"], strict=True):
        who = f"{counts[submission]} of {count_things(int(totals[submission]), 'model')}"
        rule = f"datasets: {{{write_key(row.dataset)}: {{transform: {{{name}: {{{given}}}}}}}}}"
        code = "not_converted"
        reason = f"look like raw {row.metric}, not like {_write_formula(row.metric, stored)}"
        remedy = f"Convert them; or where all submissions hold raw errors, write {rule}."
        if "transform" in rules.of_dataset(row.dataset):
            code, reason = "converted_twice", "look converted already"
            remedy = f"Submit raw errors, or remove the transform from the study, {rule}."
        reason = f"The scores on {quote_name(row.dataset)} {reason} ({who})."
        problems.append(score_problem(row, code, reason, remedy, severity="error"))
    return problems


def _write_formula(metric: str, stored: Stored) -> str:
    name, options = next(iter(stored.items()))
    return f"1 - {metric} * {options['std']!r}" if "std" in options else name


def _explain_range(row: Row, limits: Range, stored: Stored) -> Problem:
    low, high = limits
    reason = f"The score is outside the range [{low:g}, {high:g}] of {quote_name(row.metric)}."
    remedy = "Correct it, or remove the runs of the dataset."
    if stored:
        formula = _write_formula(row.metric, stored)
        remedy = f"The benchmark stores {formula}: convert a raw error, or correct the score."
    elif high == 1 and FRACTION < row.score <= PERCENT:
        remedy = f'It looks like a percentage: write {row.score / PERCENT!r} or "{row.raw}%".'
    return score_problem(row, "out_of_range", reason, remedy, severity="error")
