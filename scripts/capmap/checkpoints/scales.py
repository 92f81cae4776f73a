"""Values that choose and compare checkpoints, held against the bounds of their metrics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pandas as pd

from capmap.checkpoints.plan import Plan
from capmap.metrics import find_metric
from capmap.normalization import Rules
from capmap.normalization.bounds import resolve_bounds
from capmap.problems import Problem
from capmap.validation.scores import find_misfits, find_mixed_scales
from capmap.wording import quote_name

# Each is reported of a whole dataset, on whichever split.
SCALES = frozenset({"percent", "percent_sign", "fractions"})
SINGLE, OUTSIDE = "mixed_percent", "out_of_bounds"
CODES = SCALES | {SINGLE, OUTSIDE, "all_out_of_bounds", "fraction"}
# A line is not enough: JSON may have all values in one.
Place: TypeAlias = tuple[str, int, str, str]
SHARE_LOWS, SHARE_HIGHS = (-100.0, -1.0, 0.0), (1.0, 100.0)


def find_misfit_values(
    values: pd.DataFrame, plan: Plan, rules: Rules, *, reported: Sequence[Problem]
) -> list[Problem]:
    """Find values of any checkpoint that cannot be, as `find_misfits` does of runs.

    Parameters
    ----------
    values : pandas.DataFrame
        The columns of `capmap.problems.Row` and ``split``, a row per value.
    plan : Plan
        Which values choose, and which ones compare.
    rules : Rules
        What is configured about bounds.
    reported : sequence of Problem
        What was found of the chosen checkpoints, which is not reported again.

    Returns
    -------
    list of Problem
        As of `find_misfits`, with "percent_sign" and "fractions" of `find_mixed_scales`: untrained
        checkpoints may have less than 1 %. Where a dataset is not compared by the metric by which
        checkpoints are chosen, its scale as a whole is no fault: it has no part in the choice.

    Notes
    -----
    Looked at are metrics with two natural bounds, and unknown ones that are configured as shares.
    Other bounds say what maps to 0 and 1, and an untrained or diverged checkpoint may be beyond:
    they are widened to the natural ones, or the dataset is left out, as one with a transform is.
    """
    known = [problem for problem in reported if problem.code in CODES]
    found: list[Problem] = []
    for split, metrics in ((plan.split, plan.metrics), (plan.report, plan.primary)):
        if problems := _check_split(values, split, metrics, plan.primary, rules):
            new = _leave_out_told(problems, [*known, *found], values)
            found += [_explain_place(problem, split) for problem in new]
    return found


def _find_places(values: pd.DataFrame) -> dict[Place, tuple[str, str]]:
    """Dataset and split of each cell."""
    cells, names = (
        values[columns].itertuples(index=False, name=None)
        for columns in (["source", "line", "column", "raw"], ["dataset", "split"])
    )
    return dict(zip(cells, names, strict=True))


def _place(problem: Problem) -> Place:
    return problem.source, problem.line, problem.column, problem.value


def _leave_out_told(
    problems: Sequence[Problem], reported: Sequence[Problem], values: pd.DataFrame
) -> list[Problem]:
    """Leave out what is known of a value, of a dataset on a split, or of a dataset's scale."""
    places = _find_places(values)
    cells = {_place(one) for one in reported}
    known = {(*places.get(_place(one), ("", "")), one.code == SINGLE) for one in reported}
    scales = {(places.get(_place(one), ("", ""))[0], one.code) for one in reported}
    new = []
    for problem in problems:
        cell = _place(problem)
        place, is_single = places[cell], problem.code == SINGLE
        is_known = (*place, False) in known or (not is_single and (*place, True) in known)
        is_scale = problem.code in SCALES and (place[0], problem.code) in scales
        if not (is_known or is_scale or cell in cells):
            new.append(problem)
    return new


def _check_split(
    values: pd.DataFrame,
    split: str,
    metrics: Mapping[str, str],
    primary: Mapping[str, str],
    rules: Rules,
) -> list[Problem]:
    """Check one metric of each dataset on a split."""
    is_used = (values["split"] == split) & (values["dataset"].map(metrics) == values["metric"])
    converted = [name for name, rule in rules.datasets.items() if "transform" in rule]
    rows = values[is_used & ~values["dataset"].isin(converted)]
    other = {name for name, metric in metrics.items() if primary.get(name, metric) != metric}
    bounds, _ = resolve_bounds(
        rows,
        metrics=rules.metrics,
        datasets={name: rule for name, rule in rules.datasets.items() if name not in other},
        normalization=rules.normalization,
        references={name: one for name, one in rules.references.items() if name not in other},
    )
    bounds = _widen(bounds)
    if bounds.empty:
        return []
    problems = find_misfits(rows, bounds)
    problems += [
        problem for problem in find_mixed_scales(rows, bounds) if problem.code != "fraction"
    ]
    places = _find_places(rows[rows["dataset"].isin(other)])
    return [
        problem
        for problem in problems
        if _place(problem) not in places or problem.code in (SINGLE, OUTSIDE)
    ]


def _widen(bounds: pd.DataFrame) -> pd.DataFrame:
    """Keep the bounds that are limits, with the natural ones where these are wider."""
    known = [find_metric(metric) for metric in bounds["metric"]]
    low, high = (
        np.array([getattr(one, side, None) for one in known], dtype=np.float64)
        for side in ("low", "high")
    )
    wide = bounds.assign(
        low=np.fmin(bounds["low"].to_numpy(), low), high=np.fmax(bounds["high"].to_numpy(), high)
    )
    is_natural = ((wide["low"] == low) & (wide["high"] == high)).to_numpy()
    is_share = (wide["low"].isin(SHARE_LOWS) & wide["high"].isin(SHARE_HIGHS)).to_numpy()
    is_known = np.array([one is not None for one in known], dtype=bool)
    is_endless = is_known & (np.isnan(low) | np.isnan(high))
    return wide[(is_natural | is_share) & ~is_endless]


def _explain_place(problem: Problem, split: str) -> Problem:
    """Name the split, and say what comes of a value that is out of bounds."""
    where = f" (on the split {quote_name(split)})" if split else ""
    reason = f"{problem.reason.removesuffix('.')}{where}."
    if problem.code != OUTSIDE:
        return replace(problem, reason=reason)
    remedy = "It is kept among the values of checkpoints; check the score or the bounds."
    return replace(problem, reason=reason, remedy=remedy)
