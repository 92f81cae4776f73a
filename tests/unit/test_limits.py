"""What normalized scores can be, by where the bounds of their datasets come from."""

import numpy as np
import pandas as pd
import pytest

from capmap.normalization.bounds import find_limits
from capmap.ranking.estimates import read_limits
from capmap.ranking.normalized import normalize_study
from tests.toy_settings import make_settings

EVERYTHING = (-np.inf, np.inf)


def make_bounds(*rows):
    columns = ["dataset", "metric", "direction", "low", "high", "low_origin", "high_origin"]
    return pd.DataFrame(rows, columns=columns)


def find(*rows, scores=(0.2, 0.9)):
    runs = pd.DataFrame({"dataset": [row[0] for row in rows for _ in scores]})
    return find_limits(make_bounds(*rows), runs.assign(score=[*scores] * len(rows)))


NATURAL = ("a", "accuracy", "max", 0.0, 1.0, "natural", "natural")


@pytest.mark.parametrize(
    ("row", "limits"),
    [
        # The mean of new runs may be beyond the best or worst run seen.
        (("b", "RMSE", "min", 0.0, 7.3, "natural", "metric: observed"), (-np.inf, 1)),
        (("b", "RMSE", "min", 0.2, 100.0, "metric: observed", "dataset"), EVERYTHING),
        (("b", "quality", "max", 0.0, 100.0, "metric", "metric"), (0, 1)),
        (("b", "accuracy", "max", 0.0, 100.0, "dataset", "dataset"), (0, 1)),
        # Chance, a human, a frozen reference and a model can be left behind.
        (("b", "accuracy", "max", 0.1, 1.0, "dataset", "natural"), (-np.inf, 1)),
        (("b", "reward", "max", 0.0, 100.0, "metric", "metric"), EVERYTHING),
        (("b", "quality", "max", 0.0, 7.5, "study", "study"), (0, np.inf)),
        (("b", "accuracy", "max", 0.0, 1.0, "references", "references"), EVERYTHING),
        (("b", "RMSE", "min", 0.0, 2.0, "natural", "metric: model baseline"), (-np.inf, 1)),
        (("b", "RMSE", "min", 0.0, 100.0, "natural", "metric"), (-np.inf, 1)),
    ],
)
def test_only_bounds_that_no_score_can_pass_are_limits(row, limits):
    assert find(NATURAL, row) == limits
    assert find(row, NATURAL) == limits


def test_scores_beyond_a_bound_show_that_it_is_no_limit():
    assert find(NATURAL, scores=(0.2, 1.1)) == (0, np.inf)
    assert find(NATURAL, scores=(-0.1, 0.5)) == (-np.inf, 1)


def test_a_study_keeps_its_limits():
    runs = pd.DataFrame(
        {
            "model": ["m", "n"] * 2,
            "dataset": ["x", "x", "y", "y"],
            "metric": "accuracy",
            "seed": "0",
            "score": [0.98, 0.97, 0.5, 0.6],
            "source": "r.csv",
            "line": [2, 3, 4, 5],
        }
    )
    settings = make_settings()
    scope = normalize_study(runs, settings={**settings, **settings["bootstrap"]}).scope
    assert read_limits(scope) == (0, 1)
