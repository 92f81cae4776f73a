"""Performance profiles: how often a model comes within a factor of the best, or above a score."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.analyses.declarations import Analysis, Figure, Step, Table
from capmap.comparison.score_matrix import arrange_runs
from capmap.ranking.aggregation import FloatArray, IntArray, rank_competitors, round_significant
from capmap.ranking.resampling import (
    Resamples,
    Strata,
    draw_resamples,
    iterate_blocks,
    stratify_runs,
)
from capmap.ranking.scopes import has_enough_runs
from capmap.ranking.statistics import original_sample
from capmap.rng import make_stream

DECIMALS = 12
THRESHOLDS = 101
MEASURES = ["area", "share", "rank", "datasets"]


def rebuild_scores(means: npt.ArrayLike, bounds: pd.DataFrame) -> FloatArray:
    """Turn normalized scores back into raw ones, up to a positive factor for each dataset.

    Parameters
    ----------
    means : array_like, shape (models, datasets)
        Normalized cell means; NaN where a cell is empty.
    bounds : pandas.DataFrame
        Columns ``direction`` ("max" or "min"), ``low`` and ``high``, a row per dataset, in the
        order of the columns of `means`.

    Returns
    -------
    numpy.ndarray, shape (models, datasets)
        Raw scores, after transforms, in parts of the absolutely larger bound.

    Notes
    -----
    The way back from a normalized score leaves floating-point noise. The results are rounded to 12
    decimals, which are 12 significant digits of the larger bound, so a score of 0 is 0 again and
    equal scores are equal. Scores below a millionth of the bounds therefore keep few digits.

    Examples
    --------
    >>> bounds = pd.DataFrame({"direction": ["max", "min"], "low": [0.2, 0.0], "high": [0.5, 4.0]})
    >>> rebuild_scores([[1.0, 1.0], [-2 / 3, 0.5]], bounds).tolist()
    [[1.0, 0.0], [0.0, 0.5]]
    """
    low, high = (bounds[side].to_numpy(dtype=np.float64) for side in ("low", "high"))
    is_max = (bounds["direction"] == "max").to_numpy(dtype=bool)
    units = np.maximum(np.abs(low), np.abs(high))
    # Halves, because the distance of two huge bounds is beyond the largest float.
    steps = np.asarray(means, dtype=np.float64) * ((high / 2 - low / 2) / (units / 2))
    return np.asarray(
        np.round(np.where(is_max, low / units + steps, high / units - steps), DECIMALS)
    )


def compute_ratios(scores: npt.ArrayLike, *, is_max: npt.ArrayLike) -> FloatArray:
    """Compare each score with the best one on its dataset.

    Parameters
    ----------
    scores : array_like, shape (models, datasets)
        Finite scores on a scale where 0 means something; NaN where a cell is empty.
    is_max : array_like of bool, shape (datasets,)
        Whether the higher score is better.

    Returns
    -------
    numpy.ndarray, shape (models, datasets)
        ``best / score`` where higher is better and ``score / best`` where lower is better: 1 for
        the best, and at least 1. Infinite where no factor reaches the best; NaN where a cell is
        empty or its dataset has no ratios. Rounded to 12 significant digits.

    Notes
    -----
    Scores of 0 or less are no reason to give up.

    - Higher is better, and the best score is positive: a score of 0 or less has the ratio infinity.
      It stays in the denominator of its model's profile, and in nobody else's.
    - Lower is better, and the best score is exactly 0: models at 0 have the ratio 1, all others
      infinity.
    - The best score is 0 or less where higher is better, or below 0 where lower is better: a factor
      means nothing there, and the dataset has no ratios for anybody.

    Examples
    --------
    >>> compute_ratios([[0.8, 0.0], [0.4, 2.0], [-0.1, 3.0]], is_max=[True, False]).tolist()
    [[1.0, 1.0], [2.0, inf], [inf, inf]]
    """
    values, upward = np.asarray(scores, dtype=np.float64), np.asarray(is_max, dtype=bool)
    is_empty = np.isnan(values)
    highest = np.where(is_empty, -np.inf, values).max(axis=0)
    lowest = np.where(is_empty, np.inf, values).min(axis=0)
    best = np.where(upward, highest, lowest)
    above = np.where(upward, best, values)
    below = np.where(upward, values, best)
    ratios = np.full(values.shape, np.inf)
    with np.errstate(over="ignore"):
        np.divide(above, below, out=ratios, where=below > 0)
    ratios[values == best] = 1.0
    is_finite = np.isfinite(ratios)
    ratios[is_finite] = round_significant(ratios[is_finite])
    has_ratios = np.where(upward, best > 0, best >= 0)
    return np.where(is_empty | ~has_ratios, np.nan, ratios)


def compare_scores(means: npt.ArrayLike, bounds: pd.DataFrame) -> dict[str, FloatArray]:
    """Compare raw and normalized scores with the best ones on their datasets.

    Parameters
    ----------
    means, bounds : array_like, pandas.DataFrame
        As in `rebuild_scores`.

    Returns
    -------
    dict
        From `compute_ratios`: ``raw`` and ``normalized``.
    """
    scores = np.asarray(means, dtype=np.float64)
    raw, normalized = rebuild_scores(scores, bounds), np.round(scores, DECIMALS)
    return {
        "raw": compute_ratios(raw, is_max=bounds["direction"] == "max"),
        "normalized": compute_ratios(normalized, is_max=np.ones(len(bounds), dtype=bool)),
    }


def trace_ratios(models: Sequence[str], ratios: FloatArray) -> pd.DataFrame:
    """Performance profiles after Dolan and Moré, as exact step functions.

    Parameters
    ----------
    models : sequence of str
        Names, in the order of the rows of `ratios`.
    ratios : numpy.ndarray, shape (models, datasets)
        From `compute_ratios`.

    Returns
    -------
    pandas.DataFrame
        Columns ``model``, ``tau`` and ``fraction``: the fraction of the model's datasets whose
        ratio is at most tau. A row for tau = 1 and for each finite ratio of the model, ascending;
        the function is constant between them, and after the last one. By model in the order
        given.

    Notes
    -----
    Datasets without ratios and those that a model lacks are not among its datasets. An infinite
    ratio has no row: the profile ends below 1. A model without any ratio has no rows.

    References
    ----------
    Dolan, E. D. and Moré, J. J. (2002). Benchmarking optimization software with performance
    profiles. Mathematical Programming 91, 201–213.

    Examples
    --------
    >>> trace_ratios(["A"], np.array([[1.5, 1.0, np.inf, 1.5]])).to_numpy().tolist()
    [['A', 1.0, 0.25], ['A', 1.5, 0.75]]
    """
    names: list[str] = []
    taus, fractions = [np.empty(0)], [np.empty(0)]
    for model, row in zip(models, ratios, strict=True):
        own = np.sort(row[~np.isnan(row)])
        if own.size:
            steps = np.unique(np.append(own[np.isfinite(own)], 1.0))
            names += [model] * len(steps)
            taus.append(steps)
            fractions.append(np.searchsorted(own, steps, side="right") / len(own))
    return pd.DataFrame(
        {
            "model": pd.Series(names, dtype="str"),
            "tau": np.concatenate(taus),
            "fraction": np.concatenate(fractions),
        }
    )


def measure_areas(models: Sequence[str], ratios: FloatArray) -> pd.DataFrame:
    """Area under each performance profile, on a logarithmic axis.

    Parameters
    ----------
    models : sequence of str
        Names, in the order of the rows of `ratios`.
    ratios : numpy.ndarray, shape (models, datasets)
        From `compute_ratios`.

    Returns
    -------
    pandas.DataFrame
        A row per model in the order given: ``model``; ``area``, the integral of the fraction over
        log10(tau) from 1 to the largest finite ratio of any model; ``share`` of the largest area
        that is possible, in [0, 1]; ``rank`` (competition ranks, 1 for the largest area);
        ``datasets``, the number of the model's datasets with ratios. A model without any has no
        area, share and rank.

    Notes
    -----
    The profile of one ratio r is 1 from r on, so the area is the mean of
    ``log10(largest) − log10(r)`` over the model's datasets, 0 for infinite ratios. It depends on
    the pool: another model can move the best scores and the largest ratio. Compare areas within a
    study only.

    If the largest finite ratio is 1, all areas are 0, and the share is what it tends to: the
    fraction at tau = 1, which is 1 unless some ratio is infinite. Ranks are those of the shares.

    Examples
    --------
    >>> areas = measure_areas(["A", "B"], np.array([[1.0, 10.0], [100.0, 1.0]]))
    >>> areas["area"].tolist(), areas["share"].tolist()
    ([1.5, 1.0], [0.75, 0.5])
    """
    sizes = np.count_nonzero(~np.isnan(ratios), axis=1)
    is_finite = np.isfinite(ratios)
    logs = np.log10(ratios, out=np.zeros_like(ratios), where=is_finite)
    largest = float(logs.max(initial=0.0))
    parts = np.where(is_finite, 1 - logs / (largest or 1.0), 0.0).sum(axis=1)
    known = sizes > 0
    shares = np.divide(parts, sizes, out=np.full(len(sizes), np.nan), where=known)
    ranks = pd.array([pd.NA] * len(sizes), dtype="Int64")
    ranks[known] = rank_competitors(shares[known])
    return pd.DataFrame(
        {
            "model": list(models),
            "area": shares * largest,
            "share": shares,
            "rank": ranks,
            "datasets": sizes,
        }
    )


def compare_areas(models: Sequence[str], ratios: Mapping[str, FloatArray]) -> pd.DataFrame:
    """Put the areas under several kinds of profiles side by side.

    Parameters
    ----------
    models : sequence of str
        Names, in the order of the rows of the ratios.
    ratios : mapping of numpy.ndarray, shape (models, datasets)
        From `compare_scores`.

    Returns
    -------
    pandas.DataFrame
        ``model``, and the measures of `measure_areas` with the kind as suffix, such as
        ``area_raw``; by ``rank_raw``, then name.
    """
    areas = pd.DataFrame({"model": list(models)})
    for kind, own in ratios.items():
        measures = measure_areas(models, own)[MEASURES]
        areas = pd.concat([areas, measures.add_suffix(f"_{kind}")], axis=1)
    return areas.sort_values(["rank_raw", "model"], ignore_index=True)


def trace_scores(
    runs: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[[str], np.random.Generator],
) -> pd.DataFrame:
    """Score distributions: the fraction of runs above each score, with bootstrap bands.

    Parameters
    ----------
    runs : pandas.DataFrame
        Columns ``model``, ``dataset`` and ``score`` (normalized), a row per run, at least one.
    n_resamples : int
        Number of stratified bootstrap resamples of each model.
    confidence_level : float
        Of the bands at each tau, between 0 and 1.
    make_rng : callable
        The random generator of a model, by its name.

    Returns
    -------
    pandas.DataFrame
        Columns ``model``, ``tau``, ``fraction``, ``ci_low`` and ``ci_high``, by model and tau. Tau
        takes 101 even steps from the lowest score or 0 to the highest score or 1 of all models,
        rounded outwards to two decimals.

    Raises
    ------
    ValueError
        If a score is NaN or infinite.

    Notes
    -----
    The fraction is the mean over the model's datasets of the fraction of runs with a score greater
    than tau, so datasets weigh the same however many runs they have. Bands are pointwise percentile
    intervals; they are NaN for a model with fewer than half of its datasets having two or more
    runs. Scores are compared after rounding to
    12 decimals.

    References
    ----------
    Agarwal, R. et al. (2021). Deep reinforcement learning at the edge of the statistical
    precipice. NeurIPS 34.
    """
    taus = _step_scores(runs["score"].to_numpy(dtype=np.float64))
    tail = (1 - confidence_level) / 2
    levels, tables = [tail, 1 - tail], []
    for model, own in runs.groupby("model", sort=True, observed=True):
        strata = stratify_runs(own["score"], own["dataset"].tolist())
        passed = np.searchsorted(taus, np.round(strata.scores, DECIMALS), side="left")
        low = high = np.full(len(taus), np.nan)
        if has_enough_runs(strata.draws):
            rng = make_rng(str(model))
            drawn = _draw_fractions(strata, passed, n_resamples, rng=rng, steps=len(taus))
            low, high = np.quantile(drawn, levels, axis=1)
        fraction = _count_above(strata, original_sample(strata), passed, steps=len(taus))[:, 0]
        columns = {"fraction": fraction, "ci_low": low, "ci_high": high}
        tables.append(pd.DataFrame({"model": model, "tau": taus, **columns}))
    return pd.concat(tables, ignore_index=True).round({"ci_low": DECIMALS, "ci_high": DECIMALS})


def _draw_fractions(
    strata: Strata, passed: IntArray, n_resamples: int, *, rng: np.random.Generator, steps: int
) -> FloatArray:
    """Fraction of runs above each step in each resample."""
    fractions = np.empty((steps, n_resamples))
    for block in iterate_blocks(n_resamples, runs=len(passed)):
        drawn = draw_resamples(strata, n_resamples=block.stop - block.start, rng=rng)
        fractions[:, block] = _count_above(strata, drawn, passed, steps=steps)
    return fractions


def _step_scores(scores: FloatArray) -> FloatArray:
    """Even steps over all scores and [0, 1], with ends of two decimals."""
    ends = np.round([min(scores.min(), 0.0) * 100, max(scores.max(), 1.0) * 100], 9)
    low, high = np.floor(ends[0]) / 100, np.ceil(ends[1]) / 100
    return np.asarray(np.round(np.linspace(low, high, THRESHOLDS), DECIMALS))


def _count_above(
    strata: Strata, resamples: Resamples, passed: IntArray, *, steps: int
) -> FloatArray:
    """Weighted fraction of drawn runs above each step, by how many steps each run passed."""
    weights = np.zeros((steps + 1, resamples.counts.shape[1]))
    for count, weight, place in zip(
        resamples.counts, strata.run_weights.tolist(), passed.tolist(), strict=True
    ):
        weights[place] += count * weight
    above = np.cumsum(weights[:0:-1], axis=0)[::-1] / resamples.total
    return np.asarray(np.round(above, DECIMALS))


def profile_models(
    runs: pd.DataFrame,
    bounds: pd.DataFrame,
    *,
    study: str,
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, Any]:
    """Trace performance profiles and score distributions, and the areas under the profiles.

    Parameters
    ----------
    runs : pandas.DataFrame
        Normalized runs of all models.
    bounds : pandas.DataFrame
        Bounds of the datasets.
    study : str
        Name of the study, part of the names of its random streams.
    n_resamples
        As in the setting `comparison`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables ``profiles`` and ``profile_area``.
    """
    matrix = arrange_runs(runs)
    limits = bounds.set_index("dataset").loc[matrix.datasets]
    ratios = compare_scores(matrix.means, limits)
    tables = [trace_ratios(matrix.models, own).assign(kind=kind) for kind, own in ratios.items()]
    scores = trace_scores(
        runs,
        n_resamples=n_resamples,
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "profiles"),
    )
    return {
        "profiles": pd.concat([*tables, scores.assign(kind="scores")], ignore_index=True),
        "profile_area": compare_areas(matrix.models, ratios),
    }


def find_facts(profiles: pd.DataFrame, profile_area: pd.DataFrame) -> dict[str, Any]:
    """Which models stay closest to the best, and how close, by raw and by normalized scores."""
    has_bands = bool(profiles["ci_low"].notna().any())
    kinds = [_summarize(profiles, profile_area, kind) for kind in ("raw", "normalized")]
    return {"models": len(profile_area), "kinds": kinds, "has_bands": has_bands}


def _summarize(profiles: pd.DataFrame, areas: pd.DataFrame, kind: str) -> dict[str, Any]:
    """The models with the largest area; of a single one, the ends of its profile."""
    rank = areas[f"rank_{kind}"]
    first = areas.loc[rank == rank.min(), ["model", f"share_{kind}"]]
    found: dict[str, Any] = {"kind": kind, "first": first["model"].tolist(), "ends": []}
    if len(first):
        own = profiles[(profiles["kind"] == kind) & (profiles["model"] == found["first"][0])]
        found["share"] = first[f"share_{kind}"].iloc[0]
        found["ends"] = own.iloc[[0, -1]][["tau", "fraction"]].to_numpy().tolist()
    return found


ANALYSIS = Analysis(
    question="How far is each model from the best?",
    position=40,
    default=True,
    tables={
        "profiles": Table(
            "Share of datasets on which a model is within a factor tau of the best; for scores, "
            "share of runs with a normalized score above tau, with a pointwise band.",
            "kind model tau fraction ci_low ci_high",
        ),
        "profile_area": Table(
            "Area under the performance profiles over log tau, also as a share of the largest one.",
            "model area_raw share_raw rank_raw datasets_raw area_normalized share_normalized "
            "rank_normalized datasets_normalized",
            best={"area_raw": "max", "area_normalized": "max"},
        ),
    },
    figures={
        "profiles": Figure(
            "Share of datasets on which a model is within a factor of the best; higher is better.",
            draw="capmap.figures.profiles:draw_profiles",
            reads=["profiles", "profile_area"],
            order="ranking",
        ),
        "score_profiles": Figure(
            "Share of runs with a normalized score above a threshold, with a pointwise band.",
            draw="capmap.figures.profiles:draw_score_profiles",
            reads=["profiles"],
            order="ranking",
        ),
    },
    steps={
        "profile_models": Step(
            profile_models,
            tables=["profiles", "profile_area"],
            reads=["runs", "bounds"],
            options={
                "n_resamples": "bootstrap/of_comparisons",
                "confidence_level": "bootstrap/confidence",
                "seed": "bootstrap/seed",
            },
        )
    },
    find_facts=find_facts,
    meanings={
        "area_normalized": "Area under the profile of normalized scores.",
        "area_raw": "Area under the profile of scores as exported.",
        "datasets_normalized": "Datasets in the profile of normalized scores.",
        "datasets_raw": "Datasets in the profile of scores as exported.",
        "fraction": "Share of datasets, or of runs, 0 to 1.",
        "rank_normalized": "Rank by the area of normalized scores.",
        "rank_raw": "Rank by the area of scores as exported.",
        "share_normalized": "Area of normalized scores, as a share of the largest possible.",
        "share_raw": "Area of scores as exported, as a share of the largest possible.",
        "tau": "Threshold: of the factor to the best model, or of the score.",
    },
)
