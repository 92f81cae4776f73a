"""How well models are predicted that are published later: cross-validation by date."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.capabilities.crossvalidation import (
    ERRORS,
    crossvalidate,
    gather_known,
    hide_results,
    split_halves,
    summarize_errors,
)
from capmap.capabilities.gaps import are_connected
from capmap.rng import make_stream

STEPS = 10


def group_dates(dates: Sequence[str]) -> list[str]:
    """Cut dates into at most 10 groups of about as many models: the last date of each.

    Models of one date stay together; "" is a date that is not known.

    Examples
    --------
    >>> group_dates(["2021-01-01", "2020-01-01", "", "2021-01-01"])
    ['2020-01-01', '2021-01-01']
    """
    known = sorted(date for date in dates if date)
    ends = [-(-len(known) * (step + 1) // STEPS) - 1 for step in range(STEPS)]
    return sorted({known[end] for end in ends}) if known else []


def measure_drift(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Measure the errors on models that are published later.

    Models are added in at most 10 steps by date; those without a date are there from the start. At
    a step, the results of each newcomer are split at random into two halves, a family of datasets
    always in one of them, and each half is predicted from the other one and all earlier results.
    Gaps are measured by the best and worst model of all times, as published ones are; so newcomers
    that set a record do not stretch the scale at their step. Intervals are over models.
    """
    results, families, attributes = gather_known(gaps, models, datasets)
    dates = models.set_index("model")["date"].fillna("").loc[results.models].tolist()
    make_rng = partial(make_stream, seed, study, "capabilities", "drift")
    half = split_halves(results, families, make_rng("halves"))
    ends = group_dates(dates)
    rows = []
    for before, end in zip(ends[:1] + ends, ends, strict=False):
        earlier, known = (
            np.array([date <= last for date in dates])[results.rows] for last in (before, end)
        )
        new, splits = known & ~earlier, []
        for side in (half, ~half):
            train = earlier | (new & side)
            is_near = are_connected(results.choose(train), results.rows, results.columns)
            splits.append(hide_results(results, new & ~side & is_near, train))
        found = crossvalidate(splits, attributes, rng=make_rng("factors"))
        errors = summarize_errors(
            found, ERRORS, reference="mse_additive", confidence_level=confidence_level
        )
        of_models, of_newcomers = (len(np.unique(results.rows[own])) for own in (known, new))
        counts = {"models": of_models, "results": int(known.sum()), "newcomers": of_newcomers}
        rows.append(errors | {"date": end} | counts)
    return pd.DataFrame(rows, columns=ANALYSIS.tables["drift"].columns.split())


def find_facts(drift: pd.DataFrame) -> dict[str, Any]:
    """The dates, and the errors on the first and the last newcomers that were predicted."""
    errors = drift.dropna(subset="mse").to_dict("records")
    return {"dates": drift["date"].tolist(), "errors": errors}


ANALYSIS = Analysis(
    question="How well are later models predicted?",
    position=160,
    needs="attributes/models/date",
    tables={
        "drift": Table(
            "Errors on models that are added by date.",
            "date models results newcomers predictions mse mse_low mse_high mse_additive "
            "difference difference_low difference_high",
        ),
    },
    steps={
        "track_drift": Step(
            measure_drift,
        ),
    },
    find_facts=find_facts,
    meanings={"newcomers": "Models that were added."},
)
