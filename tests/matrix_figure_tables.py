"""Made-up tables of the comparison analyses, to draw figures from.

The values need not be right, only plausible: a figure computes nothing from them.
"""

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from tests.figure_checks import make_ranking

AGGREGATIONS = ("mean", "trimmed_mean", "median", "iqm")
BOUNDS = ("configured", "observed", "ranks")
PAIR_COLUMNS = [
    "model_a",
    "model_b",
    "datasets",
    "cells_unused",
    "mean_difference",
    "ci_low",
    "ci_high",
    "wins",
    "ties",
    "losses",
    "wilcoxon_p",
    "wilcoxon_p_holm",
    "effect_size",
    "p_improvement",
    "p_improvement_low",
    "p_improvement_high",
    "p_a_better",
    "p_equivalent",
    "p_b_better",
    "decision",
]
PAIR_INTERVALS = ["ci_low", "ci_high", "p_improvement_low", "p_improvement_high"]


def make_comparisons(
    models: Sequence[str],
    datasets: Sequence[str],
    *,
    has_intervals: bool = True,
    missing: float = 0.0,
    spread: float = 0.2,
) -> dict[str, pd.DataFrame]:
    """Make the tables of pairs, robustness, groups and improvability of a study.

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
    pairs = _make_pairs(models, scores, rng)
    improvability = make_ranking(models, "improvability", 100 * (skill.max() - skill), 4.0)[
        ["model", "improvability", "rank"]
    ]
    tables = {
        "ranking": make_ranking(models, "score", skill, 0.05).assign(
            group="", unit="runs", statistic="iqm"
        ),
        "pairwise": pairs,
        **_make_robustness(models, datasets, rng),
        "groups": _make_groups(models, rng, missing),
        "improvability": improvability,
    }
    if not has_intervals:
        for table in tables.values():
            lows = [name for name in table if str(name).endswith(("ci_low", "ci_high"))]
            ends = [*lows, *table.columns.intersection(PAIR_INTERVALS)]
            table[ends] = np.nan
    return tables


def make_pair(**values: object) -> pd.DataFrame:
    """Make a table of the one pair (a, b), decided for a unless told otherwise."""
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
        "p_improvement": 0.75,
        "p_improvement_low": 0.5,
        "p_improvement_high": 0.875,
        "p_a_better": 0.97,
        "p_equivalent": 0.02,
        "p_b_better": 0.01,
        "decision": "a better",
    }
    return pd.DataFrame([row | values])


def make_apart() -> pd.DataFrame:
    """Make a pair without a dataset in common."""
    missing = dict.fromkeys(make_pair().columns[2:], np.nan)
    return make_pair(**(missing | {"wins": 0, "ties": 0, "losses": 0, "decision": "undecided"}))


def _make_pairs(
    models: Sequence[str], scores: np.ndarray, rng: np.random.Generator
) -> pd.DataFrame:
    rows = []
    for one, two in combinations(sorted(range(len(models)), key=lambda i: models[i]), 2):
        differences = scores[one] - scores[two]
        differences = differences[~np.isnan(differences)]
        shared, unused = len(differences), int((~np.isnan(scores[[one, two]])).sum())
        row = [models[one], models[two], shared, unused - 2 * shared]
        if not shared:
            rows.append([*row, *[np.nan] * 3, 0, 0, 0, *[np.nan] * 9, "undecided"])
            continue
        mean = differences.mean()
        wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
        strength = mean * np.sqrt(shared) / (differences.std() + 0.01)
        p = float(np.exp(-(strength**2) / 2))
        better = 1 / (1 + np.exp(-2 * strength))
        equivalent = float(rng.uniform(0, 4 * better * (1 - better)))
        a, b = better * (1 - equivalent), (1 - better) * (1 - equivalent)
        row += [mean, mean - 0.03, mean + 0.03, wins, shared - wins - losses, losses, p]
        row += [min(1, 4 * p), (wins - losses) / shared, better, better**1.2, better**0.8]
        rows.append([*row, a, equivalent, b, _decide("a better", a, equivalent, b, "b better")])
    table = pd.DataFrame(rows, columns=PAIR_COLUMNS)
    return table.sort_values(["model_a", "model_b"], ignore_index=True)


def _decide(first: str, one: float, equivalent: float, two: float, second: str) -> str:
    decided = {first: one, "equivalent": equivalent, second: two}
    best = max(decided, key=lambda name: decided[name])
    return best if decided[best] >= 0.95 else "undecided"


def _make_robustness(
    models: Sequence[str], datasets: Sequence[str], rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    count = len(models)
    summary, ranks = [], []
    for aggregation, bounds in product(AGGREGATIONS, BOUNDS):
        reported = (aggregation, bounds) == ("iqm", "configured")
        noise = 0 if reported else rng.normal(0, 1.5, count)
        shifted = np.argsort(np.argsort(np.arange(count) + noise)) + 1
        for place, model in enumerate(models):
            rank = int(shifted[place])
            low, high = max(1, rank - place % 3), min(count, rank + place % 4)
            ranks.append([model, aggregation, bounds, rank, low, high, rank - place - 1])
        for left_out in ("", *sorted(datasets)):
            tau = np.nan if count == 1 else 1 - rng.uniform(0, 0.3) * (not reported)
            summary.append([aggregation, bounds, left_out, tau, models[0], count])
    columns = ["aggregation", "bounds", "left_out", "kendall_tau", "best", "models"]
    rank_columns = ["model", "aggregation", "bounds", "rank", "rank_low", "rank_high", "shift"]
    return {
        "robustness": pd.DataFrame(summary, columns=columns),
        "robustness_ranks": pd.DataFrame(ranks, columns=rank_columns),
    }


def _make_groups(models: Sequence[str], rng: np.random.Generator, missing: float) -> pd.DataFrame:
    tables = []
    for group in ("classification", "regression", "segmentation of multispectral images"):
        present = [model for model in models if rng.random() >= missing] or [models[0]]
        iqm = np.sort(rng.uniform(0.2, 1, len(present)))[::-1]
        own = make_ranking(list(rng.permutation(present)), "score", iqm, 0.05)
        tables.append(own.assign(group=group, unit="runs", statistic="iqm"))
    return pd.concat(tables, ignore_index=True)
