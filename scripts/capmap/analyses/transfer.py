"""Whether what models do on other types of datasets predicts what they do on one."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.capabilities.factors import (
    Pairs,
    SideInformation,
    fit_additive,
    gather_attributes,
    predict_gaps,
)
from capmap.capabilities.gaps import BoolArray, Results, choose_results, split_halves
from capmap.capabilities.intervals import summarize_errors
from capmap.rng import make_stream

FEWEST_DATASETS = 5
MOST_TYPES = 6
ALL = "all types"
ERRORS = ("mse", "mse_alone", "mse_additive")


def choose_types(types: Sequence[str]) -> list[str]:
    """Choose the types with enough datasets to be tested on, by name.

    Examples
    --------
    >>> choose_types(["a"] * 5 + ["b"] * 4 + [""] * 9)
    ['a']
    """
    counts = Counter(sorted(name for name in types if name))
    return sorted(
        name for name, count in counts.most_common(MOST_TYPES) if count >= FEWEST_DATASETS
    )


def predict_type(
    results: Results,
    tested: BoolArray,
    half: BoolArray,
    families: Sequence[str],
    attributes: SideInformation,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Predict each half of the results on one type from the other half, with and without others.

    Parameters
    ----------
    results : Results
        All of them.
    tested, half : ndarray of bool, shape (results,)
        What is on datasets of the type, and what is in the first half.
    families : sequence of str
        Of each dataset.
    attributes : SideInformation
        Of models and datasets, may be empty.
    rng : numpy.random.Generator
        Draws factors.

    Returns
    -------
    pandas.DataFrame
        Places of ``model`` and ``dataset``, and squared errors: ``mse``, with all datasets of other
        types known too; ``mse_alone``, without them; and ``mse_additive``, of the additive baseline
        with them. A row per result on a dataset of which the other half has some, and of a model
        that has results on other types. What a hidden model does on other variants of a family is
        hidden too.
    """
    pairs = results.rows * len(results.datasets)
    pairs = pairs + np.unique(families, return_inverse=True)[1][results.columns]
    elsewhere = results.choose(~tested).per_model > 0
    tables = [pd.DataFrame(columns=["model", "dataset", *ERRORS], dtype=float)]
    for side in (half, ~half):
        alone = results.choose(tested & side)
        hidden = tested & ~side & (alone.per_dataset > 0)[results.columns]
        hidden &= elsewhere[results.rows]
        test = results.choose(hidden)
        if not len(test.gaps):
            continue
        others = ~tested & ~np.isin(pairs, pairs[tested & ~side])
        joined = results.choose((tested & side) | others)
        asked = Pairs(test.rows, test.columns)
        known, own = (
            predict_gaps([part], attributes, [asked], rng=rng)[0].mean for part in (joined, alone)
        )
        additive = fit_additive(joined).predict(*asked)
        squares = [(found - test.gaps) ** 2 for found in (known, own, additive)]
        table = pd.DataFrame({"model": test.rows, "dataset": test.columns})
        tables.append(table.assign(**dict(zip(ERRORS, squares, strict=True))))
    return pd.concat(tables, ignore_index=True)


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

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        From `capmap.capabilities.quality.describe_results`, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        A row per type with at least 5 datasets (the 6 with the most), by name, and one for all of
        these: ``tested_on``; ``datasets``, ``models`` and ``predictions``, their numbers; the mean
        squared errors of `predict_type` with the interval ``mse_low`` to ``mse_high``; and
        ``difference``, mse − mse_alone, with its interval, below 0 where other types help. Empty
        without types.

    Notes
    -----
    The results of each model in each family of datasets are put into one of two random halves.
    Gaps are measured by the best and worst model of all results. Intervals are over models, and do
    not have the chance in which halves are drawn.
    """
    results = choose_results(gaps)
    known = datasets.set_index("dataset").loc[results.datasets]
    types, families = known["type"].fillna("").tolist(), known["family"].tolist()
    attributes = gather_attributes(results, models, datasets)
    half = split_halves(
        results, families, make_stream(seed, study, "capabilities", "transfer", "halves")
    )
    found = []
    for name in choose_types(types):
        tested = np.array([own == name for own in types])[results.columns]
        rng = make_stream(seed, study, "capabilities", "transfer", "factors", name)
        found.append((name, predict_type(results, tested, half, families, attributes, rng)))
    if found:
        found.append((ALL, pd.concat([own for _, own in found], ignore_index=True)))
    rows = []
    for name, own in found:
        errors = summarize_errors(
            own["model"].to_numpy(dtype=np.intp),
            {error: own[error].to_numpy() for error in ERRORS},
            reference="mse_alone",
            confidence_level=confidence_level,
        )
        rows.append({"tested_on": name, "datasets": own["dataset"].nunique()} | errors)
    return pd.DataFrame(
        [row for row in rows if row["predictions"]],
        columns=ANALYSIS.tables["transfer"].columns.split(),
    )


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
    figures={
        "transfer": Figure(
            "Errors on each type of datasets, half of whose results are known, with and without "
            "results on other types.",
            draw="capmap.figures.predictions:draw_transfer",
            reads=["transfer"],
        ),
    },
    steps={
        "check_transfer": Step(
            measure_transfer,
            tables=["transfer"],
            reads=["gaps", "models", "datasets"],
            options={"confidence_level": "bootstrap/confidence", "seed": "bootstrap/seed"},
        ),
    },
    find_facts=find_facts,
    meanings={"mse_alone": "Mean squared error without results on other types."},
)
