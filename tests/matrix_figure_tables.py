"""Made-up tables of the comparison analyses, to draw figures from.

The values need not be right, only plausible: a figure computes nothing from them.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from tests.figure_checks import make_ranking

PAIR_COLUMNS = [
    *("model_a", "model_b", "mean_difference", "ci_low", "ci_high", "wins", "ties", "losses"),
    *("wilcoxon_p_holm", "effect_size"),
]


def make_comparisons(
    models: Sequence[str],
    datasets: Sequence[str],
    *,
    has_intervals: bool = True,
    missing: float = 0.0,
    spread: float = 0.2,
) -> dict[str, pd.DataFrame]:
    """Make the tables of pairs and groups of a study.

    Parameters
    ----------
    models : sequence of str
        Names, the best model first.
    datasets : sequence of str
        Names.
    has_intervals : bool
        Whether cells have several runs.
    missing : float
        Share of empty cells.
    spread : float
        Standard deviation of the models' skills, in normalized scores; 0 makes all alike.
    """
    rng = np.random.default_rng(11)
    skill = 0.6 + np.sort(rng.normal(0, spread, len(models)))[::-1]
    scores = skill[:, None] + rng.normal(0, spread, (len(models), len(datasets)))
    scores[rng.random(scores.shape) < missing] = np.nan
    tables = {
        "ranking": make_ranking(models, "score", skill, 0.05).assign(
            group="", unit="runs", statistic="iqm"
        ),
        "pairwise": _make_pairs(models, scores),
        "groups": _make_groups(models, rng, missing),
    }
    if not has_intervals:
        for table in tables.values():
            table[["ci_low", "ci_high"]] = np.nan
    return tables


def make_pair(**values: object) -> pd.DataFrame:
    """Make a table of the one pair (a, b)."""
    row = {
        "model_a": "a",
        "model_b": "b",
        "mean_difference": 0.25,
        "ci_low": 0.125,
        "ci_high": 0.5,
        "wins": 7,
        "ties": 2,
        "losses": 1,
        "wilcoxon_p_holm": 0.01,
        "effect_size": 0.5,
    }
    return pd.DataFrame([row | values])


def make_apart() -> pd.DataFrame:
    """Make a pair without a dataset in common."""
    missing = dict.fromkeys(make_pair().columns[2:], np.nan)
    return make_pair(**(missing | {"wins": 0, "ties": 0, "losses": 0}))


def _make_pairs(models: Sequence[str], scores: np.ndarray) -> pd.DataFrame:
    rows = []
    for one, two in combinations(sorted(range(len(models)), key=lambda i: models[i]), 2):
        differences = scores[one] - scores[two]
        differences = differences[~np.isnan(differences)]
        shared, pair = len(differences), (models[one], models[two])
        if not shared:
            rows.append([*pair, *[np.nan] * 3, 0, 0, 0, np.nan, np.nan])
            continue
        mean = differences.mean()
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        strength = mean * np.sqrt(shared) / (differences.std() + 0.01)
        p = min(1, 4 * float(np.exp(-(strength**2) / 2)))
        counts = [wins, shared - wins - losses, losses]
        effect = (wins - losses) / shared
        rows.append([*pair, mean, mean - 0.03, mean + 0.03, *counts, p, effect])
    table = pd.DataFrame(rows, columns=PAIR_COLUMNS)
    return table.sort_values(["model_a", "model_b"], ignore_index=True)


def _make_groups(models: Sequence[str], rng: np.random.Generator, missing: float) -> pd.DataFrame:
    tables = []
    for group in ("classification", "regression", "segmentation of multispectral images"):
        present = [model for model in models if rng.random() >= missing] or [models[0]]
        iqm = np.sort(rng.uniform(0.2, 1, len(present)))[::-1]
        own = make_ranking(list(rng.permutation(present)), "score", iqm, 0.05)
        tables.append(own.assign(group=group, unit="runs", statistic="iqm"))
    return pd.concat(tables, ignore_index=True)
