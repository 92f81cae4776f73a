"""How well the map predicts beyond what it has seen: later models, and other types of datasets."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.capabilities.crossvalidation import (
    ERRORS,
    Split,
    crossvalidate,
    gather_known,
    hide_results,
    share_family,
    split_halves,
    summarize_errors,
)
from capmap.capabilities.gaps import BoolArray, Results, are_connected
from capmap.rng import make_stream

STEPS = 10
FEWEST_DATASETS = 5
ALL = "all types"
DRIFT_COLUMNS = (
    "date models results newcomers predictions mse mse_low mse_high mse_additive "
    "difference difference_low difference_high"
)
TRANSFER_COLUMNS = (
    "tested_on datasets models predictions mse mse_low mse_high mse_alone mse_additive "
    "difference difference_low difference_high"
)


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
    """Measure the errors on models that are published later, a row per step.

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
    return pd.DataFrame(rows, columns=DRIFT_COLUMNS.split())


def split_type(
    results: Results, tested: BoolArray, side: BoolArray, families: Sequence[str]
) -> list[Split]:
    """Hide a half of the results on one type, with all datasets of other types known, and without.

    Hidden results are on datasets of which the other half has some, and of models that have results
    on other types. What a hidden model does on other variants of a family is not known either.
    """
    alone = tested & side
    hidden = tested & ~side & (results.choose(alone).per_dataset > 0)[results.columns]
    hidden &= (results.choose(~tested).per_model > 0)[results.rows]
    others = ~tested & ~share_family(results, tested & ~side, families)
    return [hide_results(results, hidden, known) for known in (alone | others, alone)]


def measure_transfer(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Measure how much results on other types of datasets help to predict those on one.

    A row per type with at least 5 datasets, and one for all of these. The results of each model in
    each family of datasets are put into one of two random halves, and each is predicted from the
    other one (`split_type`). Gaps are measured by the best and worst model of all results.
    Intervals are over models, and do not have the chance in which halves are drawn.
    """
    results, families, attributes = gather_known(gaps, models, datasets)
    types = datasets.set_index("dataset")["type"].loc[results.datasets].fillna("")
    make_rng = partial(make_stream, seed, study, "capabilities", "transfer")
    half = split_halves(results, families, make_rng("halves"))
    found = {}
    counts = types[types != ""].value_counts()
    for name in sorted(counts[counts >= FEWEST_DATASETS].index):
        tested, rng = types.eq(name).to_numpy()[results.columns], make_rng("factors", name)
        parts = []
        for side in (half, ~half):
            joined, alone = split_type(results, tested, side, families)
            part = crossvalidate([joined], attributes, rng=rng)
            own = crossvalidate([alone], attributes, rng=rng)
            parts.append(part.assign(alone=own["prediction"]))
        found[name] = pd.concat(parts)
    if found:
        found[ALL] = pd.concat(found.values())
    rows = []
    for name, own in found.items():
        errors = summarize_errors(
            own,
            ERRORS | {"mse_alone": "alone"},
            reference="mse_alone",
            confidence_level=confidence_level,
        )
        rows.append({"tested_on": name, "datasets": own["column"].nunique()} | errors)
    return pd.DataFrame(
        [row for row in rows if row["predictions"]], columns=TRANSFER_COLUMNS.split()
    )


def find_drift(drift: pd.DataFrame) -> dict[str, Any]:
    """The dates, and the errors on the first and the last newcomers that were predicted."""
    errors = drift.dropna(subset="mse").to_dict("records")
    return {"dates": drift["date"].tolist(), "errors": errors}


def find_transfer(transfer: pd.DataFrame) -> dict[str, Any]:
    """The errors on all types together, with and without the others."""
    known = transfer[transfer["mse_alone"].notna()]
    return {"errors": known.iloc[-1].to_dict() if len(known) else None}


DRIFT = Analysis(
    question="How well are later models predicted?",
    position=160,
    needs="attributes/models/date",
    tables={"drift": Table("Errors on models that are added by date.", DRIFT_COLUMNS)},
    steps={"track_drift": Step(measure_drift)},
    find_facts=find_drift,
    meanings={"newcomers": "Models that were added."},
)
TRANSFER = Analysis(
    question="Does it carry over to other datasets?",
    position=170,
    tables={
        "transfer": Table(
            "Errors on each type of datasets, half of whose results are known, with and "
            "without results on other types.",
            TRANSFER_COLUMNS,
        ),
    },
    steps={"check_transfer": Step(measure_transfer)},
    find_facts=find_transfer,
    meanings={"mse_alone": "Mean squared error without results on other types."},
)
ANALYSES = {"drift": DRIFT, "transfer": TRANSFER}
