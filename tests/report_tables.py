"""Finished tables that a report tells of."""

from typing import Any

import numpy as np
import pandas as pd


def make_ranking(**columns: list[Any]) -> pd.DataFrame:
    """Make a ranking of models that can all be separated, with some columns as given."""
    n = len(columns["model"])
    table = pd.DataFrame(
        {
            "group": "",
            "unit": "runs",
            "statistic": "iqm",
            "score": np.linspace(0.8, 0.4, n),
            "ci_low": np.linspace(0.79, 0.39, n),
            "ci_high": np.linspace(0.81, 0.41, n),
            "rank": range(1, n + 1),
            "rank_low": range(1, n + 1),
            "rank_high": range(1, n + 1),
            "rank_low_all": range(1, n + 1),
            "rank_high_all": range(1, n + 1),
            "behind": np.linspace(0.0, 0.4, n),
            "behind_low": np.linspace(-0.01, 0.39, n),
            "behind_high": np.linspace(0.01, 0.41, n),
            "runs": [6] * n,
            "datasets": [2] * n,
            "filled": 0,
            "tie_group": [chr(97 + i % 26) for i in range(n)],
            **columns,
        }
    )
    if "missing" not in columns:
        known = table["datasets"] + table["filled"]
        table["missing"] = known.max() - known
    return table[["model", *table.columns.drop("model")]]
