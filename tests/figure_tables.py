"""Plausible tables to draw figures from, which compute nothing from them."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd

LETTERS = [*"abcdefghijklmnopqrstuvwxyz", *(f"{letter}2" for letter in "abcdefghijklmnopqrst")]


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


LEVELS = {"factors": 0.060, "l2": 0.071, "cosine": 0.094, "additive": 0.080}


def make_capabilities(models, datasets, *, n_parts=1, seed=5):
    """Make the tables of the map's figures, of parts that no result connects."""
    rng = np.random.default_rng(seed)
    names = [*models, *datasets]
    kinds = ["model"] * len(models) + ["dataset"] * len(datasets)
    x, y = rng.normal(size=(2, len(names))) * [[0.25], [0.2]]
    kept, component = rng.integers(5, 40, len(names)), np.arange(len(names)) % n_parts + 1
    table = {"kind": kinds, "name": names, "x": x, "y": y, "kept": kept, "component": component}
    return {"map": pd.DataFrame(table)}


def make_errors(*, methods=tuple(LEVELS), hidden=100):
    """Hidden results with their predictions, their errors, and the curve of errors."""
    rng = np.random.default_rng(3)
    fitted = [name for name in methods if name in ("l2", "cosine")]
    keys = [(name, size) for name in fitted for size in (2, 5)]
    keys += [(name, None) for name in methods if name not in fitted]
    summary = pd.DataFrame(keys, columns=["distance", "dimension"]).astype({"dimension": "Int64"})
    points = summary.loc[summary.index.repeat(hidden)].assign(protocol="random")
    truth = rng.beta(0.8, 1.0, len(points))
    spread = np.sqrt(points["distance"].map(LEVELS).astype(float))
    curve = pd.DataFrame({"results": [1, 2, 4, 8, 12, 16, 20], "models": range(31, 17, -2)})
    curve["mse"] = 0.05 + 0.1 / (curve["results"] + 1)
    curve["mse_additive"] = 0.08 + 0.1 / (curve["results"] + 1)
    curve["coverage"] = 0.88 + rng.uniform(-0.03, 0.03, len(curve))
    mse = summary["distance"].map(LEVELS).astype(float)
    return {
        "validation": points.reset_index(drop=True).assign(
            truth=truth, prediction=np.abs(0.14 + 0.6 * truth + rng.normal(0, spread))
        ),
        "summary": summary.assign(protocol="random", mse=mse),
        "error_curve": curve.assign(mse_low=0.8 * curve["mse"], mse_high=1.2 * curve["mse"]),
    }


def make_ranking(
    models: Sequence[str], column: str, values: np.ndarray, half_width: float
) -> pd.DataFrame:
    """Make a ranking, the best model first, with intervals of values and ranks."""
    ranks = np.arange(1, len(models) + 1)
    return pd.DataFrame(
        {
            "model": list(models),
            column: values,
            "ci_low": values - half_width,
            "ci_high": values + half_width,
            "rank": ranks,
            "rank_low": np.maximum(ranks - 2, 1),
            "rank_high": np.minimum(ranks + 2, len(models)),
            "datasets": 8,
            "tie_group": "",
        }
    )


def make_tables(
    models: Sequence[str],
    datasets: Sequence[str],
    *,
    n_seeds: int = 3,
    missing: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
) -> dict[str, pd.DataFrame]:
    """Make the tables that figures read, with made-up values between two ends.

    The values need not be right, only plausible: a figure computes nothing from them.
    """
    rng = np.random.default_rng(7)
    values = rng.uniform(low, high, (len(models), len(datasets)))
    values[rng.random(values.shape) < missing] = np.nan
    scores = pd.DataFrame(values, columns=list(datasets))
    scores.insert(0, "model", list(models))
    seeds = scores.melt("model", var_name="dataset", value_name="normalized_mean").dropna()
    seeds["n"] = n_seeds
    seeds["normalized_std"] = rng.uniform(0, 0.1, len(seeds)) if n_seeds > 1 else np.nan
    score = np.sort(rng.uniform(low, high, len(models)))[::-1]
    first = make_ranking(models, "score", score, 0.05 if n_seeds > 1 else np.nan)
    first = first.assign(group="", unit="runs", statistic="iqm", tie_group="axyz")
    if n_seeds == 1:
        first = first.assign(rank_low=np.nan, rank_high=np.nan, tie_group="")
    first = first.assign(missing=np.isnan(values).sum(axis=1))
    others = [
        first.assign(statistic=name, rank=rng.permutation(len(models)) + 1)
        for name in ("mean", "trimmed_mean", "median")
    ]
    return {
        "scores": scores,
        "seeds": seeds.reset_index(drop=True),
        "ranking": pd.concat([first, *others], ignore_index=True),
    }
