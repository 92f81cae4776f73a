"""Plausible tables of rank tests, profiles and ratings.

The values need not be right: a figure computes nothing from them.
"""

from itertools import combinations

import numpy as np
import pandas as pd

from tests.figure_checks import make_ranking

LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *(f"{letter}2" for letter in "abcdefghijklmnopqrst")]


def name(kind, count):
    return [f"{kind}-{number:02d}" for number in range(count)]


def make_study(models, *, n_datasets=19, seed=11):
    """Make plausible tables of all analyses of some models, the best first."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(np.linspace(0.8, 0.4, len(models))[:, None], 0.1, (len(models), n_datasets))
    means = np.sort(scores.mean(axis=1))[::-1]
    elo = make_ranking(models, "elo", 1000 + 80 * (means - 0.6) / 0.1, 60.0)
    return {
        "ranking": make_ranking(models, "score", means, 0.05).assign(
            group="", unit="runs", statistic="iqm", runs=5 * n_datasets, datasets=n_datasets
        ),
        "elo": elo.assign(separated=0.0),
        **make_rank_tables(models, scores),
        **make_profile_tables(models, scores),
    }


def make_rank_tables(models, scores):
    """Mean ranks with groups of models within a critical difference, and the tests' tables."""
    k, n = scores.shape
    mean = pd.DataFrame(scores).rank(ascending=False).mean(axis=1).to_numpy()
    order = np.argsort(mean, kind="stable")
    mean, names = mean[order], [models[place] for place in order]
    cd = 3.5 * np.sqrt(k * (k + 1) / (6 * n))
    spans = {(i, int(np.searchsorted(mean, mean[i] + cd, side="right"))) for i in range(k)}
    groups = [range(*span) for span in sorted(spans)]
    groups = [g for g in groups if not any(set(g) < set(other) for other in groups)]
    letters = [
        "".join(LETTERS[i] for i, g in enumerate(groups) if place in g) for place in range(k)
    ]
    table = {"model": names, "mean_rank": mean, "datasets": n}
    rank = dict(zip(names, mean, strict=True))
    pairs = [(a, b, rank[a] - rank[b]) for a, b in combinations(sorted(models), 2)]
    nemenyi = pd.DataFrame(pairs, columns=["model_a", "model_b", "rank_difference"])
    return {
        "mean_ranks": pd.DataFrame(table | {"nemenyi_group": letters}),
        "nemenyi": nemenyi.assign(critical_difference=cd, datasets=n),
        "friedman": pd.DataFrame({"test": ["friedman"], "p_dependent": [2e-5]}),
    }


def make_profile_tables(models, scores):
    scores, rows = np.clip(scores, 0.05, None), []
    ratios = np.sort(scores.max(axis=0) / scores, axis=1)
    for model, ratio in zip(models, ratios, strict=True):
        rows += [(model, t, np.mean(ratio <= t)) for t in np.unique(np.append(1.0, ratio))]
    return {"profiles": pd.DataFrame(rows, columns=["model", "tau", "fraction"])}
