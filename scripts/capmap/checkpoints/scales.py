"""Percentages among fractions in the values of checkpoints, which would decide the choice."""

from collections.abc import Mapping, Sequence

import pandas as pd

from capmap.checkpoints.plan import Plan
from capmap.normalization import Rules
from capmap.normalization.bounds import resolve_bounds
from capmap.problems import Problem
from capmap.validation.scores import find_misfits

WHOLE, SINGLE = "percent", "mixed_percent"
CELL = ["source", "line", "column", "raw"]


def find_misfit_values(
    values: pd.DataFrame, plan: Plan, rules: Rules, *, reported: Sequence[Problem]
) -> list[Problem]:
    """Find percentages among fractions in the values of any checkpoint, as `find_misfits` does.

    Parameters
    ----------
    values : pandas.DataFrame
        The columns of `capmap.problems.Row` and ``split``, a row per value.
    plan : Plan
        Where checkpoints are chosen and compared. Only values of the metric by which a dataset is
        compared are looked at.
    rules : Rules
        What is configured about bounds.
    reported : sequence of Problem
        What was found of the chosen checkpoints, which is not reported again.

    Returns
    -------
    list of Problem
        Errors with the codes "percent" and "mixed_percent".
    """
    is_compared = values["dataset"].map(plan.primary) == values["metric"]
    rows = values[is_compared & values["split"].isin([plan.split, plan.report])]
    bounds, _ = resolve_bounds(
        rows,
        metrics=rules.metrics,
        datasets=rules.datasets,
        normalization=rules.normalization,
        references=rules.references,
    )
    converted = [name for name, rule in rules.datasets.items() if "transform" in rule]
    cells = rows[CELL].itertuples(index=False, name=None)
    datasets = dict(zip(cells, rows["dataset"], strict=True))
    told = {_identify(problem, datasets) for problem in reported}
    return [
        problem
        for problem in find_misfits(rows, bounds, transformed=converted)
        if problem.code in (WHOLE, SINGLE) and _identify(problem, datasets) not in told
    ]


def _identify(
    problem: Problem, datasets: Mapping[tuple[str, int, str, str], str]
) -> tuple[str | int, ...]:
    """The value that a problem is of, or the dataset whose scale it is of."""
    place = (problem.source, problem.line, problem.column, problem.value)
    return (WHOLE, datasets.get(place, "")) if problem.code == WHOLE else place
