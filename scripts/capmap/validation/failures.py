"""Runs that failed: rows without a finite score, and what they count with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from capmap.normalization.precedence import Rules
from capmap.problems import Problem
from capmap.settings.choices import Direction, Failed
from capmap.wording import quote_name

FAILURES = frozenset({"empty_score", "infinite_score", "nan_score"})
# All cells of JSON in one line have the same line; of those alike, one problem speaks of all.
PLACE = ["source", "line", "column", "raw"]


@dataclass(frozen=True)
class Failures:
    """Runs with a score for those that failed.

    Parameters
    ----------
    runs : pandas.DataFrame
        As read, with replaced scores.
    problems : list of Problem
        As the reader found them, those of failed rows replaced by warnings that say what became of
        them, or by errors where nothing can.
    """

    runs: pd.DataFrame
    problems: list[Problem]


def replace_failed(
    runs: pd.DataFrame, found: Sequence[Problem], *, failed: Failed, rules: Rules
) -> Failures:
    """Give failed runs the score that is configured, or drop them.

    Parameters
    ----------
    runs : pandas.DataFrame
        As read; a failed run has a score that is NaN or infinite.
    found : sequence of Problem
        What the reader found.
    failed : str, float or mapping
        "invalid" (nothing is replaced), "drop", "worst" (the worst score of any model on the
        dataset), a score as exported, or ``{"model": NAME}`` (that model's mean score there).
    rules : Rules
        Say which score is worse.

    Notes
    -----
    Leaving failed runs out favors models that fail where it is hard, so benchmarks of AutoML put a
    constant predictor's or the worst score in their place.

    References
    ----------
    Gijsbers, P. et al. (2024). AMLB: an AutoML benchmark. JMLR 25, 1–65.
    """
    if failed == "invalid":
        return Failures(runs, list(found))
    listed = {_place(problem): problem for problem in found if problem.code in FAILURES}
    values = runs["score"].to_numpy(dtype=np.float64, copy=True)
    is_failed = ~np.isfinite(values)
    places = [*runs.loc[is_failed, PLACE].itertuples(index=False, name=None)]
    is_failed[is_failed] = [place in listed for place in places]
    without = runs[is_failed]
    scores = _find_scores(runs, without, failed, rules)
    known = [place for place in places if place in listed]
    problems = [
        _describe(listed[place], scores[dataset])
        for place, dataset in dict.fromkeys(zip(known, without["dataset"], strict=True))
    ]
    replaced = {listed[place] for place in known}
    kept = [problem for problem in found if problem not in replaced]
    values[is_failed] = [scores[name].score for name in without["dataset"]]
    return Failures(runs.assign(score=values), [*kept, *problems])


@dataclass(frozen=True)
class _Substitute:
    """What failed runs of a dataset count with; NaN where they are left out or nothing is known."""

    score: float
    what: str
    remedy: str = ""


def _find_scores(
    runs: pd.DataFrame, without: pd.DataFrame, failed: Failed, rules: Rules
) -> Mapping[str, _Substitute]:
    sound = runs[np.isfinite(runs["score"])]
    found = {}
    for dataset, metric in dict(zip(without["dataset"], without["metric"], strict=True)).items():
        own = sound[sound["dataset"] == dataset]
        if failed == "drop":
            found[dataset] = _Substitute(np.nan, "is left out")
        elif failed == "worst":
            found[dataset] = _find_worst(own, _find_raw_direction(rules, dataset, metric))
        elif isinstance(failed, Mapping):
            model = failed["model"]
            score = own.loc[own["model"] == model, "score"].mean()
            what = f"counts with the mean score of {quote_name(model)} there"
            remedy = f"{quote_name(model)} has no score there: name a model that has in `failed`."
            found[dataset] = _Substitute(score, what, remedy)
        else:
            found[dataset] = _Substitute(float(failed), "counts with the score of `failed`")
    return found


def _find_worst(own: pd.DataFrame, direction: Direction | None) -> _Substitute:
    what = "counts with the worst score of its dataset"
    if direction is None:
        remedy = "State the metric's direction under `metrics`, so that the worst score is known."
        return _Substitute(np.nan, what, remedy)
    score = own["score"].min() if direction == "max" else own["score"].max()
    return _Substitute(score, what, "No run of the dataset has a score: give a number in `failed`.")


def _find_raw_direction(rules: Rules, dataset: str, metric: str) -> Direction | None:
    """Which score as exported is better; every transform turns errors into scores."""
    if "transform" in rules.of_dataset(dataset):
        return "min"
    return rules.find_direction(dataset, metric)[0]


def _describe(problem: Problem, used: _Substitute) -> Problem:
    if np.isnan(used.score) and used.remedy:
        reason = "The run failed, and there is no score that it could count with."
        return replace(problem, reason=reason, remedy=used.remedy, severity="error")
    number = "" if np.isnan(used.score) else f", {used.score:g}"
    return replace(
        problem,
        code="failed_run" if number else "empty_score",
        reason=f"The run failed and {used.what}{number}.",
        remedy="Repeat the run, or set `failed` otherwise.",
        severity="warning",
    )


def _place(problem: Problem) -> tuple[str, int, str, str]:
    return problem.source, problem.line, problem.column, problem.value
