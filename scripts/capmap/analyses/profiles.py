"""Performance profiles: on how many datasets a model is within a factor of the best."""

from typing import Any

import numpy as np
import pandas as pd

from capmap.analyses import Analysis, Figure, Step, Table
from capmap.ranking.aggregation import BoolArray, FloatArray, arrange_runs, round_significant

DECIMALS = 12
CURVES = ["model", "tau", "fraction"]


def compute_ratios(scores: FloatArray, is_max: BoolArray) -> FloatArray:
    """Best score / score where higher is better, score / best where lower is: 1 for the best.

    NaN where a cell is empty. Where higher is better, a score of 0 or less is infinitely far from a
    positive best one; where lower is better, so is any from a best score of exactly 0. Where the
    best score is no better than that, a factor means nothing, and the dataset has no ratios.

    Examples
    --------
    >>> scores = np.array([[0.8, 0.0], [0.4, 2.0], [-0.1, 3.0]])
    >>> compute_ratios(scores, np.array([True, False])).tolist()
    [[1.0, 1.0], [2.0, inf], [inf, inf]]
    """
    best = np.where(is_max, np.nanmax(scores, axis=0), np.nanmin(scores, axis=0))
    above, below = np.where(is_max, best, scores), np.where(is_max, scores, best)
    ratios = np.full(scores.shape, np.inf)
    with np.errstate(over="ignore"):
        np.divide(above, below, out=ratios, where=below > 0)
    is_finite = np.isfinite(ratios)
    ratios[is_finite] = round_significant(ratios[is_finite])
    ratios[scores == best] = 1.0
    return np.where(np.isnan(scores) | ~np.where(is_max, best > 0, best >= 0), np.nan, ratios)


def profile_models(runs: pd.DataFrame, bounds: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Trace the profiles of raw scores (Dolan and Moré 2002), and the areas under them.

    A profile is a step function with a row for tau = 1 and for each finite ratio of the model. The
    area is over log10(tau) up to the largest finite ratio of any model: the mean over the model's
    datasets of log10(largest / ratio), 0 for infinite ratios. Its share of the largest area that is
    possible tends to the fraction at 1 where all finite ratios are 1.
    """
    matrix = arrange_runs(runs.assign(score=runs["raw"]))
    limits = bounds.set_index("dataset").loc[matrix.datasets]
    is_max, ends = limits["direction"].eq("max").to_numpy(), limits[["low", "high"]].to_numpy()
    # In parts of the absolutely larger bound, where equal scores are equal.
    units = (ends[:, 1] - ends[:, 0]) / np.abs(ends).max(axis=1)
    scores = np.where(is_max, matrix.means, -matrix.means) * units
    ratios = compute_ratios(np.round(scores, DECIMALS), is_max)
    is_finite, sizes = np.isfinite(ratios), np.count_nonzero(~np.isnan(ratios), axis=1)
    logs = np.log10(ratios, out=np.zeros_like(ratios), where=is_finite)
    end = float(logs.max(initial=0.0))
    near = np.where(is_finite, 1 - logs / (end or 1.0), 0.0).sum(axis=1)
    share = np.divide(near, sizes, out=np.full(len(sizes), np.nan), where=sizes > 0)
    curves = [
        (model, tau, np.count_nonzero(row <= tau) / size)
        for model, row, size in zip(matrix.models, ratios, sizes, strict=True)
        for tau in (np.unique([1.0, *row[np.isfinite(row)]]) if size else ())
    ]
    table = pd.DataFrame({"model": matrix.models, "area": share * end, "share": share})
    rank = pd.Series(round_significant(share)).rank(ascending=False, method="min").astype("Int64")
    table = table.assign(rank=rank, datasets=sizes).sort_values(["rank", "model"])
    return {"profiles": pd.DataFrame(curves, columns=CURVES), "profile_area": table}


def find_facts(profiles: pd.DataFrame, profile_area: pd.DataFrame) -> dict[str, Any]:
    """Which models stay closest to the best; of a single one, the ends of its profile."""
    first = profile_area.loc[profile_area["rank"] == 1, "model"].tolist()
    own = profiles[profiles["model"].isin(first)].iloc[[0, -1] if len(first) == 1 else []]
    return {
        "models": len(profile_area),
        "first": first,
        "ends": own[["tau", "fraction"]].to_numpy().tolist(),
    }


ANALYSIS = Analysis(
    question="How far is each model from the best?",
    position=40,
    tables={
        "profiles": Table(
            "Share of datasets on which the raw score of a model is within a factor tau of the "
            "best.",
            " ".join(CURVES),
        ),
        "profile_area": Table(
            "Area under the performance profiles over log tau, also as a share of the largest one.",
            "model area share rank datasets",
            best={"area": "max"},
        ),
    },
    figures={
        "profiles": Figure(
            "Share of datasets on which a model is within a factor of the best; higher is better.",
            draw="capmap.figures.lines:draw_profiles",
        ),
    },
    steps={"profile_models": Step(profile_models)},
    find_facts=find_facts,
    meanings={
        "area": "Area under the profile of scores as exported.",
        "fraction": "Share of datasets, 0 to 1.",
        "profile_area.share": "Area as a share of the largest possible.",
        "tau": "Threshold of the factor to the best model.",
    },
)
