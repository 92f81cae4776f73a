"""Whether what models do on other types of datasets helps to predict what they do on one."""

from collections.abc import Sequence
from functools import partial
from typing import Any

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
from capmap.capabilities.gaps import BoolArray, Results
from capmap.rng import make_stream

FEWEST_DATASETS = 5
ALL = "all types"
SHOWN = ERRORS | {"mse_alone": "alone"}


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

    The results of each model in each family of datasets are put into one of two random halves, and
    each is predicted from the other one (`split_type`). Gaps are measured by the best and worst
    model of all results. Intervals are over models, and do not have the chance in which halves are
    drawn.
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
            own, SHOWN, reference="mse_alone", confidence_level=confidence_level
        )
        rows.append({"tested_on": name, "datasets": own["column"].nunique()} | errors)
    columns = ANALYSIS.tables["transfer"].columns.split()
    return pd.DataFrame([row for row in rows if row["predictions"]], columns=columns)


def find_facts(transfer: pd.DataFrame) -> dict[str, Any]:
    """The errors on all types together, with and without the others."""
    known = transfer[transfer["mse_alone"].notna()]
    return {"errors": known.iloc[-1].to_dict() if len(known) else None}


ANALYSIS = Analysis(
    question="Does it carry over to other datasets?",
    position=170,
    tables={
        "transfer": Table(
            "Errors on each type of datasets, half of whose results are known, with and without "
            "results on other types.",
            "tested_on datasets models predictions mse mse_low mse_high mse_alone mse_additive "
            "difference difference_low difference_high",
        ),
    },
    steps={
        "check_transfer": Step(
            measure_transfer,
        ),
    },
    find_facts=find_facts,
    meanings={"mse_alone": "Mean squared error without results on other types."},
)
