"""What predictions are worth for models with few results: of some, most results are hidden."""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.baselines import fit_additive, predict_neighbors
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.factors import (
    Moments,
    Pairs,
    SideInformation,
    fit_factors,
    gather_attributes,
)
from capmap.capabilities.gaps import Results, choose_results
from capmap.capabilities.halves import Fitting, MakeRng
from capmap.capabilities.intervals import estimate_mean, list_features
from capmap.capabilities.placement import (
    Masking,
    calibrate_gaps,
    draw_masking,
    place_maskings,
    rehearse_placements,
)
from capmap.capabilities.stacking import (
    NESTED_CHAINS,
    choose_members,
    choose_weights,
    count_chains,
    gather_members,
)
from capmap.comparison.wilcoxon import correct_holm
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream, order_names

COUNTS = (0, 1, 2, 3, 4, 6, 9)
POOLED = (1, 4)
# Maskings to each count, and most repetitions; results that are fitted in all of them, and least
# repetitions; share of models masked at once, and most of them, unless a tenth is more.
MASKINGS = 60
REPETITIONS = 40
FITTED_RESULTS = 40_000
LEAST_REPETITIONS = 5
SHARE = 0.2
MOST = 24
# Repetitions with intervals, and starts of the many fits that these are calibrated by.
COVERED = 20
REHEARSED = 1
N_FLIPS = 9999
PLACED = "placed"
NEIGHBORS = "knn"
ADDITIVE = "additive"
COLUMNS = {
    "method": "str",
    **dict.fromkeys(("results", "results_to", "models", "predictions"), "int64"),
    **dict.fromkeys(("mse", "mse_low", "mse_high"), "float64"),
    **dict.fromkeys(("change", "change_low", "change_high", "p_adjusted"), "float64"),
    **dict.fromkeys(("coverage", "width"), "float64"),
}


class _Options(NamedTuple):
    method: str
    starts: Sequence[FloatArray]
    confidence_level: float


class _Repetition(NamedTuple):
    """What is masked at once, what is known and hidden then, and what makes random generators."""

    maskings: Sequence[Masking]
    train: Results
    test: Results
    make_rng: MakeRng


def replay_placements(
    results: Results,
    *,
    method: str,
    starts: Sequence[FloatArray],
    attributes: SideInformation,
    confidence_level: float,
    make_rng: MakeRng,
) -> pd.DataFrame:
    """Hide all but few results of some models, and predict them.

    Parameters
    ----------
    results : Results
        Of all models.
    method : str
        One of `METHODS`: the study's.
    starts : sequence of ndarray, shape (models + datasets, dimension)
        Where points start, as from `draw_starts`.
    attributes : SideInformation
        Of models and datasets, may be empty.
    confidence_level : float
        Of all intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator from names.

    Returns
    -------
    pandas.DataFrame
        A row per method and number of results that a model was left with: ``method``, that of the
        study (fitted to all known results), "placed" (`place_models`), "knn" (`predict_neighbors`)
        and "additive"; ``results`` to ``results_to``; ``models`` that were masked;
        ``predictions``; ``mse``, ``mse_low``, ``mse_high``; ``change``, ``change_low``,
        ``change_high``, of the mean squared error relative to that of "additive" (NaN for itself);
        ``p_adjusted``, of the test of no change, adjusted by Holm for all of them (NaN in the last
        row); ``coverage``, the share of truths within their prediction intervals, and ``width``,
        the mean width of these (of "placed" from at least one result, else NaN). The last row of a
        method takes 1 to 4 results together. Empty if no model has two results on datasets that
        others have too.

    Notes
    -----
    A fifth of the models, at most 24 or a tenth, are masked at once, each to 0, 1, 2, 3, 4, 6 or
    9 random results (always fewer than it has). This is repeated until each number has had 60
    turns, at most 40 times, or about 40 000 results were fitted, at least 5 times. All methods see
    the same results, and predictions are limited to 0…1. Gaps are by the bounds of all results.
    Results of masked models on datasets that no other model has are left out.

    The ensemble is one half the factors and one half the distances, as its weights are before any
    are learnt; a model without results is predicted by the factors alone, from its attributes, and
    by additive effects as the average of each dataset.

    Errors are means over predictions; models are the clusters of their intervals and tests
    (`estimate_mean`). A change is the ratio of two mean errors, minus 1, with the
    interval of the linearized ratio. Tests are those of `flip_signs`. Prediction intervals are
    calibrated in each of the first 20 repetitions by `rehearse_placements` of the models that are
    not masked, so no hidden result has a part in them.
    """
    options = _Options(method, starts, confidence_level)
    drawn = []
    for number in range(_count_repetitions(results)):
        make_own = partial(make_rng, str(number))
        maskings = _draw_maskings(results, number=number, make_rng=make_own)
        if maskings:
            hidden = np.concatenate([masking.hidden for masking in maskings])
            is_masked = np.isin(results.rows, results.rows[hidden])
            is_known = ~is_masked
            is_known[np.concatenate([masking.known for masking in maskings])] = True
            known, test = results.choose(is_known), results.choose(hidden)
            drawn.append(_Repetition(maskings, known, test, make_own))
    if not drawn:
        return pd.DataFrame(columns=list(COLUMNS)).astype(COLUMNS)
    factors: list[Moments | None] = [None] * len(drawn)
    if len(METHODS[method]) > 1:
        parts, tests = [own.train for own in drawn], [own.test for own in drawn]
        pairs = [Pairs(test.rows, test.columns) for test in tests]
        chains = count_chains(len(results.gaps), most=NESTED_CHAINS)
        rng = make_rng("factors")
        factors = [*fit_factors(parts, attributes, pairs, chains=chains, rng=rng)]
    found = [
        _predict_all(results, own, factors[place], options=options, covers=place < COVERED)
        for place, own in enumerate(drawn)
    ]
    joined = pd.concat(found, ignore_index=True)
    table = pd.DataFrame(_summarize(joined, confidence_level, make_rng=make_rng))
    tested = table["p_adjusted"].notna().to_numpy()
    table.loc[tested, "p_adjusted"] = correct_holm(table.loc[tested, "p_adjusted"])
    return table[list(COLUMNS)].astype(COLUMNS)


def _count_masked(results: Results) -> int:
    """How many models are masked at once."""
    models = int(np.count_nonzero(results.per_model))
    return min(max(MOST, models // 10), max(1, int(SHARE * models)))


def _count_repetitions(results: Results) -> int:
    affordable = max(LEAST_REPETITIONS, FITTED_RESULTS // max(len(results.gaps), 1))
    return min(REPETITIONS, affordable, -(-len(COUNTS) * MASKINGS // _count_masked(results)))


def _draw_maskings(results: Results, *, number: int, make_rng: MakeRng) -> list[Masking]:
    """Choose models, and which of their results stay known."""
    rng, masked = make_rng("models"), _count_masked(results)
    candidates = np.flatnonzero(results.per_model)
    names = [results.models[model] for model in candidates]
    models = candidates[order_names(names, rng)[:masked]]
    is_masked = np.isin(results.rows, models)
    usable = is_masked & (results.choose(~is_masked).per_dataset > 0)[results.columns]
    found = []
    for place, model in enumerate(models):
        own = np.flatnonzero(usable & (results.rows == model))
        wanted = COUNTS[(number * masked + place) % len(COUNTS)]
        if len(own) > 1:
            known = max(count for count in COUNTS if count <= min(wanted, len(own) - 1))
            own_rng = make_rng("results", results.models[model])
            found.append(draw_masking(own, known=known, rng=own_rng))
    return found


def _predict_all(
    results: Results,
    repetition: _Repetition,
    moments: Moments | None,
    *,
    options: _Options,
    covers: bool,
) -> pd.DataFrame:
    """Predict hidden results by all methods: a row per method and hidden result."""
    maskings, train, test, make_rng = repetition
    others = results.choose(~np.isin(results.rows, test.rows))
    own = Fitting(METHODS[options.method], options.starts)
    counts = np.repeat(
        [len(masking.known) for masking in maskings], [len(masking.hidden) for masking in maskings]
    )
    placed = place_maskings(fit_starts(others, own.methods, starts=own.starts), results, maskings)
    reach = unknown = np.full(len(counts), np.nan)
    if covers:
        brief = own._replace(starts=own.starts[:REHEARSED])
        rehearsed = rehearse_placements(others, fitting=brief, make_rng=make_rng, strict=False)
        features = list_features(counts, others.per_dataset[test.columns], placed.variance)
        calibration = calibrate_gaps(rehearsed)
        reach = calibration.measure_reach(features, confidence_level=options.confidence_level)
        reach = np.where(counts > 0, reach, np.nan)
    predicted = {
        options.method: _refit(train, test, own, moments),
        PLACED: placed.gaps,
        NEIGHBORS: predict_neighbors(train, test.rows, test.columns),
        ADDITIVE: fit_additive(train).predict(test.rows, test.columns).clip(0, 1),
    }
    tables = [
        _tabulate(test, gaps, reach if name == PLACED else unknown).assign(
            method=name, results=counts
        )
        for name, gaps in predicted.items()
    ]
    return pd.concat(tables, ignore_index=True)


def _refit(train: Results, test: Results, fitting: Fitting, moments: Moments | None) -> FloatArray:
    """Predict by all members, with the weights that they have before any are learnt."""
    methods = choose_members(fitting.methods)
    fits = fit_starts(train, methods, starts=fitting.starts)
    members = gather_members(train, Pairs(test.rows, test.columns), methods, fits, moments)
    weights = choose_weights(np.zeros((0, members.gaps.shape[1])), np.zeros(0))
    found = members.weigh(weights)[0]
    if moments is None:
        return found
    return np.where(train.per_model[test.rows] == 0, moments.mean.clip(0, 1), found)


def _tabulate(test: Results, predicted: FloatArray, reach: FloatArray) -> pd.DataFrame:
    low, high = (predicted - reach).clip(0, 1), (predicted + reach).clip(0, 1)
    covered = (low <= test.gaps) & (test.gaps <= high)
    return pd.DataFrame(
        {
            "model": test.rows,
            "square": (predicted - test.gaps) ** 2,
            "covered": np.where(np.isnan(reach), np.nan, covered),
            "width": high - low,
        }
    )


def _summarize(
    found: pd.DataFrame, confidence_level: float, *, make_rng: MakeRng
) -> list[dict[str, object]]:
    counts = [(count, count) for count in sorted(set(found["results"]))]
    rows = []
    for method in dict.fromkeys(found["method"]):
        for first, last in [*counts, POOLED]:
            within = found[found["results"].between(first, last)]
            own, plain = (within[within["method"] == name] for name in (method, ADDITIVE))
            if own.empty:
                continue
            p = np.nan
            if method != ADDITIVE and first == last:
                apart = own["square"].to_numpy() - plain["square"].to_numpy()
                sums = pd.Series(apart).groupby(own["model"].to_numpy()).sum()
                p = flip_signs(sums.to_numpy(), rng=make_rng("signs", method, str(first)))
            rows.append(
                {
                    "method": method,
                    "results": first,
                    "results_to": last,
                    "models": own["model"].nunique(),
                    "predictions": len(own),
                    **_estimate_errors(own, plain, confidence_level),
                    "p_adjusted": p,
                    "coverage": own["covered"].mean(),
                    "width": own["width"].mean(),
                }
            )
    return rows


def flip_signs(sums: FloatArray, *, rng: np.random.Generator) -> float:
    """Test whether differences are as often on one side of 0 as on the other, as far away.

    Parameters
    ----------
    sums : ndarray, shape (models,)
        Differences of two errors, summed over the predictions of each model.
    rng : numpy.random.Generator
        Draws signs.

    Returns
    -------
    float
        The two-sided p-value of the sum of all: the share of 9999 random assignments of signs to
        models whose sum is as far from 0, these counted with the one at hand. It is valid whatever
        the distribution, as predictions of one model stay together, and 1 without differences.
    """
    signs = rng.integers(2, size=(N_FLIPS, len(sums))) * 2 - 1
    least = abs(sums.sum()) - 1e-12 * np.abs(sums).sum()
    return float((1 + np.count_nonzero(np.abs(signs @ sums) >= least)) / (1 + N_FLIPS))


def _estimate_errors(
    own: pd.DataFrame, plain: pd.DataFrame, confidence_level: float
) -> dict[str, float]:
    """Errors and their change, of rows about the same results in the same order."""
    squares, before = own["square"].to_numpy(), plain["square"].to_numpy()
    estimate = partial(estimate_mean, clusters=own["model"], confidence_level=confidence_level)
    mse, low, high = estimate(squares)
    change = np.full(3, np.nan)
    if own["method"].iloc[0] != ADDITIVE and before.any():
        ratio = mse / before.mean()
        residuals = (squares - ratio * before) / before.mean()
        change = ratio - 1 + np.array(estimate(residuals))
    return {
        "mse": mse,
        "mse_low": np.maximum(low, 0),
        "mse_high": high,
        "change": change[0],
        "change_low": np.maximum(change[1], -1),
        "change_high": change[2],
    }


def replay_few_results(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    seed: int,
    confidence_level: float,
) -> pd.DataFrame:
    """Replay placements of models whose results are hidden but for a few.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        The finished tables of these names, for their attributes.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts, confidence_level
        As in the setting `capabilities`.
    seed
        As in the setting `bootstrap`.

    Returns
    -------
    pandas.DataFrame
        The table ``placement_replay``.
    """
    results = choose_results(gaps)
    return replay_placements(
        results,
        method=method,
        starts=draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study),
        attributes=gather_attributes(results, models, datasets),
        confidence_level=confidence_level,
        make_rng=partial(make_stream, seed, study, "capabilities", "placement_replay"),
    )
