"""What to run next: the least certain results of models that may be near the best."""

from typing import Any

import pandas as pd

from capmap.analyses import Analysis, Step, Table
from capmap.settings.choices import PREDICTION_LEVEL

# A result matters if its gap may be this small: the model may be near the best on the dataset.
NEAR = 0.1
MOST = 10
COLUMNS = "rank model dataset predicted low high width"


def choose_next_results(
    predictions: pd.DataFrame, placement_predictions: pd.DataFrame
) -> pd.DataFrame:
    """Choose the results to run next, of all models and datasets.

    A result that is not there matters if its prediction interval reaches a gap of 0.1 or less: the
    model may be near the best one on the dataset. Of those that matter, the one with the widest
    interval comes first: it is the one that is known least.

    Examples
    --------
    >>> row = {"model": "A", "dataset": "D", "observed": None, "predicted": 0.3}
    >>> table = pd.DataFrame([row | {"low": 0.05, "high": 0.5}, row | {"low": 0.2, "high": 0.9}])
    >>> choose_next_results(table, table.iloc[:0])["width"].tolist()
    [0.45]
    """
    parts = [part for part in (predictions, placement_predictions) if len(part)]
    found = pd.concat(parts or [predictions], ignore_index=True)
    found = found[found["observed"].isna() & (found["low"] <= NEAR)]
    found = found.assign(width=found["high"] - found["low"])
    found = found.sort_values(["width", "model", "dataset"], ascending=[False, True, True])
    found = found[found.groupby("model").cumcount() < MOST].reset_index(drop=True)
    found = found.assign(rank=found.index + 1)[COLUMNS.split()]
    return found.astype({"model": "str", "dataset": "str"})


def find_facts(next: pd.DataFrame) -> dict[str, Any]:  # noqa: A002
    """The first results to run."""
    return {
        "cells": next[["model", "dataset"]].to_numpy().tolist(),
        "first": next.iloc[0].to_dict() if len(next) else None,
        "near": NEAR,
        "prediction_level": PREDICTION_LEVEL,
    }


ANALYSIS = Analysis(
    question="Which result should be run next?",
    position=150,
    tables={
        "next": Table(
            "Missing results that may be near the best, widest prediction interval first.",
            COLUMNS,
        ),
    },
    steps={
        "choose_results": Step(
            choose_next_results,
        ),
    },
    find_facts=find_facts,
)
