"""Replays of choosing results by several policies, and how many results each policy saves."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import gammaln

from capmap.capabilities.baselines import fit_additive
from capmap.capabilities.beliefs import (
    ROUNDING,
    Belief,
    Knowledge,
    exchange_roles,
    expect_gaps,
    form_belief,
    form_beliefs,
    learn_result,
    learn_results,
    measure_variance,
    prefer_offsets,
    spread_out,
    start_knowledge,
)
from capmap.capabilities.candidates import read_costs
from capmap.capabilities.choices import choose_datasets, order_models
from capmap.capabilities.embedding import METHODS, Embedding, draw_starts, fit_starts
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import Results, bound_scores, choose_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.intervals import estimate_mean
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import make_stream

Fit = Callable[[Results], Sequence[Embedding]]
Believe = Callable[[Sequence[Results]], Sequence[Belief]]
MakeRng = Callable[..., np.random.Generator]

MODEL_POLICIES = ("best_on_average", "lower_bound", "random")
LEAST_RESULTS = 8
LEAST_TRIED = 10
MOST = 150
MOST_RESULTS = 16
SPLITS = 20
ORDERS = 8
FITTED_RESULTS = 20_000
FEWEST_FOLDS = 5
CHEAP = 4
WIDE = 3.0

SAVED_AT = (4, 6, 8, 12, 16)
FEWEST = 5
N_RESAMPLES = 1000
SAVINGS = {
    "policy": "str",
    "results": "int64",
    "needed": "float64",
    "needed_low": "float64",
    "needed_high": "float64",
    "saving": "float64",
    "models": "int64",
}


class Offer(NamedTuple):
    """What a policy chooses datasets by.

    Parameters
    ----------
    belief : Belief
        About the model.
    pool : ndarray of int
        Places of the datasets to choose from, in order.
    counts, costs : ndarray, shape (datasets,)
        Results of other models on each dataset, and what a result there costs.
    """

    belief: Belief
    pool: IntArray
    counts: IntArray
    costs: FloatArray


Policy = Callable[[Offer, int], IntArray]


def choose_informative(offer: Offer, count: int) -> IntArray:
    """Choose datasets by `choose_datasets`."""
    start = start_knowledge(offer.belief).covariance
    chosen = choose_datasets(offer.belief, start, offer.pool, count=count, costs=offer.costs)
    return np.array([choice.column for choice in chosen], dtype=np.intp)


def choose_popular(offer: Offer, count: int) -> IntArray:
    """Choose the datasets with the most results of other models."""
    order = np.argsort(-offer.counts[offer.pool], kind="stable")
    return np.asarray(offer.pool[order[:count]])


CHANCE = "random"
POLICIES: dict[str, Policy] = {"a_optimal": choose_informative, "most_results": choose_popular}
DATASET_POLICIES = (*POLICIES, CHANCE)


class Curves(NamedTuple):
    """What each policy reached, by the number of results it chose.

    Parameters
    ----------
    reached : mapping of str to ndarray, shape (things, choices)
        Of each policy: a row per model or dataset that was taken as new.
    choices : ndarray of int, shape (choices,)
        Numbers of chosen results.
    candidates : ndarray of int, shape (things,)
        How many results each had to choose from.
    """

    reached: dict[str, FloatArray]
    choices: IntArray
    candidates: IntArray


def replay_datasets(
    results: Results,
    *,
    believe: Believe,
    make_rng: MakeRng,
    policies: Mapping[str, Policy] = POLICIES,
    costs: FloatArray | None = None,
) -> Curves:
    """Choose datasets for models as if they were new.

    Parameters
    ----------
    results : Results
        All of them, of at least two models and two datasets.
    believe : callable
        Forms beliefs from parts of the results.
    make_rng : callable
        Makes the random generator of the model whose name it is given.
    policies : mapping
        How datasets are chosen, beside the random policy.
    costs : ndarray, shape (datasets,), optional
        What a result on each dataset costs, above 0; all the same by default.

    Returns
    -------
    Curves
        Mean squared errors of predictions for models with 0, 1, 2, … chosen results, at most 16.
        A model of which all candidates are known keeps its error. With costs, those that can be
        paid by as many times the mean cost of the candidates.

    Notes
    -----
    Models with at least 8 results take part, 150 of them at most (evenly spaced by name). A model
    is left out of the fit. A random third of its results is to be predicted, and from the others
    each policy chooses one after the other; what is predicted is the expectation of the belief
    (`form_belief`) after the chosen results, limited to 0 … 1. That is repeated for 20 random
    thirds, and the random policy also for 8 orders of each.

    With many results, several models are left out of the same fit: about 20 000 results are fitted
    in all, and there are at least 5 fits. Gaps are measured by the best and worst of all models,
    the new one included.
    """
    taken = spread_out(np.flatnonzero(results.per_model >= LEAST_RESULTS), most=MOST)
    sizes = results.per_model[taken]
    candidates = sizes - sizes // 3
    longest = min(int(candidates.max(initial=0)), MOST_RESULTS)
    prices = np.ones(len(results.datasets)) if costs is None else costs
    names = [*policies, CHANCE]
    curves = {policy: np.full((len(taken), longest + 1), np.nan) for policy in names}
    folds = [*split_folds(len(taken), results=len(results.gaps))]
    parts = [results.choose(~np.isin(results.rows, taken[fold])) for fold in folds]
    for fold, part, belief in zip(folds, parts, believe(parts), strict=True):
        for place in fold.tolist():
            own = results.choose(results.rows == taken[place])
            offer = Offer(belief, np.unique(own.columns), part.per_dataset, prices)
            rng = make_rng(results.models[taken[place]])
            found = _replay_model(own, offer, policies, rng=rng, longest=longest)
            for policy in names:
                curves[policy][place] = found[policy]
    return Curves(curves, np.arange(longest + 1), candidates)


def replay_models(results: Results, *, fit: Fit) -> Curves:
    """Choose models for datasets as if they were new.

    Parameters
    ----------
    results : Results
        All of them, of at least two models and two datasets.
    fit : callable
        Fits some of the results.

    Returns
    -------
    Curves
        Regrets: the gap of the best model among the 1, 2, … 10 that were tried.

    Notes
    -----
    Datasets with at least 10 results take part, 150 of them at most (evenly spaced by name), and
    models with a result there are the candidates. A dataset is left out of the fit, together with
    others as in `replay_datasets`.

    ``random`` is the expectation over all orders. ``best_on_average`` takes models by their
    effects in the additive baseline, the best first. ``lower_bound`` is `order_models` by the
    belief about a further dataset, after the scores of those tried. What the best and worst score
    of a new dataset will be is not known, so that its scores become gaps by the median range of the
    other datasets, up to a constant that is estimated with a very wide prior.
    """
    taken = spread_out(np.flatnonzero(results.per_dataset >= LEAST_TRIED), most=MOST)
    curves = {policy: np.full((len(taken), LEAST_TRIED), np.nan) for policy in MODEL_POLICIES}
    for fold in split_folds(len(taken), results=len(results.gaps)):
        train = results.choose(~np.isin(results.columns, taken[fold]))
        belief = form_belief(*exchange_roles(fit(train), train))
        effects = fit_additive(train).models
        scale = _find_range(train)
        for place in fold.tolist():
            own = results.choose(results.columns == taken[place])
            tried = {
                "best_on_average": np.argsort(effects[own.rows], kind="stable"),
                "lower_bound": _try_models(belief, own.rows, -own.scores / scale),
            }
            for policy, order in tried.items():
                regrets = np.minimum.accumulate(own.gaps[order[:LEAST_TRIED]])
                curves[policy][place] = regrets
            curves["random"][place] = expect_minima(own.gaps, count=LEAST_TRIED)
    choices = np.arange(1, LEAST_TRIED + 1)
    return Curves(curves, choices, results.per_dataset[taken])


def split_folds(count: int, *, results: int) -> Iterator[IntArray]:
    """Split things that are left out into folds, with fewer folds the more results there are.

    Examples
    --------
    >>> [fold.tolist() for fold in split_folds(12, results=100_000)][:2]
    [[0, 5, 10], [1, 6, 11]]
    """
    folds = min(count, max(FEWEST_FOLDS, FITTED_RESULTS // max(results, 1)))
    for fold in range(folds):
        yield np.arange(fold, count, folds)


def expect_minima(values: FloatArray, *, count: int) -> FloatArray:
    """Expected smallest of 1, 2, … values that are drawn without replacement.

    Parameters
    ----------
    values : ndarray, shape (values,)
        What to draw from.
    count : int
        Most draws, at most the number of values.

    Returns
    -------
    ndarray, shape (count,)
        The i-th smallest of n values is the smallest of k with probability
        C(n − i, k − 1) / C(n, k).

    Examples
    --------
    >>> expect_minima(np.array([3.0, 0.0, 6.0]), count=3).round(9).tolist()
    [3.0, 1.0, 0.0]
    """
    total = len(values)
    draws = np.arange(1, count + 1)[:, None]
    above = np.arange(total - 1, -1, -1)[None, :]
    possible = above >= draws - 1
    logs = _log_choose(np.maximum(above, draws - 1), draws - 1) - _log_choose(total, draws)
    return np.where(possible, np.exp(logs), 0.0) @ np.sort(values)


def _log_choose(total: IntArray | int, chosen: IntArray) -> FloatArray:
    return np.asarray(gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1))


def _find_range(results: Results) -> float:
    """The median distance of the best score to the worst of a dataset."""
    worst, best = bound_scores(results.scores, results.columns, len(results.datasets))
    ranges = (best - worst)[np.nan_to_num(best - worst) > 0]
    return float(np.median(ranges)) if len(ranges) else 1.0


def _replay_model(
    own: Results,
    offer: Offer,
    policies: Mapping[str, Policy],
    *,
    rng: np.random.Generator,
    longest: int,
) -> dict[str, FloatArray]:
    """Mean errors by policy after what 0, 1, … results cost on average."""
    found: dict[str, list[FloatArray]] = {policy: [] for policy in (*policies, CHANCE)}
    gaps = np.full(len(offer.belief.mean), np.nan)
    gaps[own.columns] = own.gaps
    for _ in range(SPLITS):
        mixed = rng.permutation(own.columns)
        test, pool = mixed[: len(mixed) // 3], np.sort(mixed[len(mixed) // 3 :])
        costs = offer.costs[pool]
        # Cheap results may be more than the budget buys at the mean cost.
        count = longest if np.ptp(costs) == 0 else CHEAP * longest
        budgets = np.arange(longest + 1) * costs.mean() * (1 + ROUNDING)
        turn = offer._replace(pool=pool)
        orders = [choose(turn, count) for choose in policies.values()]
        orders += [rng.permutation(pool)[:count] for _ in range(ORDERS)]
        names = [*policies, *[CHANCE] * ORDERS]
        traced = _trace_errors(offer.belief, np.array(orders), gaps, test)
        for policy, order, errors in zip(names, orders, traced, strict=True):
            paid = np.searchsorted(np.cumsum(offer.costs[order]), budgets, side="right")
            found[policy].append(errors[paid])
    return {policy: np.mean(errors, axis=0) for policy, errors in found.items()}


def _trace_errors(belief: Belief, orders: IntArray, gaps: FloatArray, test: IntArray) -> FloatArray:
    """Mean squared error of the test results after 0, 1, … results in each order."""
    tested = replace(belief, mean=belief.mean[test], loadings=belief.loadings[test])
    start = start_knowledge(belief)
    known = Knowledge(*(np.repeat(part[None], len(orders), axis=0) for part in start))
    errors = np.empty((len(orders), orders.shape[1] + 1))
    for place in range(orders.shape[1] + 1):
        expected = np.clip(expect_gaps(tested, known), 0, 1)
        errors[:, place] = np.mean((expected - gaps[test]) ** 2, axis=1)
        if place < orders.shape[1]:
            columns = orders[:, place]
            known = learn_result(belief, known, columns, gaps[columns])
    return errors


def _try_models(belief: Belief, rows: IntArray, costs: FloatArray) -> IntArray:
    """Try candidates one by one, each after the costs (gaps up to a constant) of those before."""
    free = replace(belief, loadings=np.pad(belief.loadings, ((0, 0), (0, 1)), constant_values=WIDE))
    order = [int(np.argmin(belief.mean[rows]))]
    left = np.delete(np.arange(len(rows)), order)
    while len(order) < LEAST_TRIED:
        tried = rows[order]
        level = np.mean(costs[order] - belief.mean[tried])
        known = learn_results(free, tried, costs[order] - level)
        variance = measure_variance(free, known.covariance) + belief.noise
        waiting = rows[left]
        first = order_models(expect_gaps(free, known)[waiting], np.sqrt(variance[waiting]))[0]
        order.append(int(left[first]))
        left = np.delete(left, first)
    return np.array(order)


def tabulate_curves(
    curves: Curves, *, choices: str, value: str, things: str, confidence_level: float
) -> pd.DataFrame:
    """Average curves over the models or datasets that were taken as new.

    Parameters
    ----------
    curves : Curves
        Of `replay_datasets` or `replay_models`.
    choices, value, things : str
        Names of columns: number of chosen results, what was reached with them, and number of models
        or datasets.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        Columns ``policy``, that of the number of results, that of the mean with ``…_low`` and
        ``…_high``, Student's interval over models or datasets (it ends at 0; NaN for a single
        one), and their number. By policy and number of results, as far as at least half of them
        had as many candidates.
    """
    kinds = {
        "policy": "str",
        choices: "int64",
        **dict.fromkeys((value, f"{value}_low", f"{value}_high"), "float64"),
        things: "int64",
    }
    total = len(curves.candidates)
    shown = [
        (place, int(choice))
        for place, choice in enumerate(curves.choices)
        if 0 < total <= 2 * np.count_nonzero(curves.candidates >= choice)
    ]

    def estimate(reached: FloatArray) -> tuple[float, float, float]:
        mean, low, high = estimate_mean(reached, confidence_level=confidence_level)
        return mean, float(np.maximum(low, 0)), high

    rows = [
        (policy, choice, *estimate(values[:, place]), total)
        for policy, values in sorted(curves.reached.items())
        for place, choice in shown
    ]
    return pd.DataFrame(rows, columns=list(kinds)).astype(kinds)


def measure_savings(
    curves: Curves,
    *,
    confidence_level: float,
    rng: np.random.Generator,
    reference: str = CHANCE,
) -> pd.DataFrame:
    """Measure how many results each policy needs to get as far as another one.

    Parameters
    ----------
    curves : Curves
        Of `replay_datasets`.
    confidence_level : float
        Of the intervals, between 0 and 1.
    rng : numpy.random.Generator
        Resamples the models.
    reference : str
        The other policy, random choice by default.

    Returns
    -------
    pandas.DataFrame
        For each policy but that one, and 4, 6, 8, 12 and 16 ``results`` that it has, if at least
        5 models had as many to choose from: ``policy``; ``results``; ``needed``, the number with
        which the policy reaches the same mean error, interpolated; ``needed_low`` and
        ``needed_high``, its interval; ``saving``, 1 − needed / results; ``models``, how
        many had as many candidates, over which errors are averaged; and ``confidence``, the level
        of the interval. By policy and results.

    Notes
    -----
    The interval is the percentile one of 1000 bootstrap samples of the models. A model of which all
    candidates are known keeps its error, so that curves go on to 16 results or to the most that any
    model has. If the policy does not get there, ``needed``, ``saving`` and the interval are NaN. An
    end of the interval that too many samples do not get to is NaN: it is open.
    """
    rows: list[tuple[object, ...]] = []
    tail = (1 - confidence_level) / 2
    for results in SAVED_AT:
        chosen = np.flatnonzero(curves.candidates >= results)
        if len(chosen) < FEWEST:
            continue
        samples = rng.integers(len(chosen), size=(N_RESAMPLES, len(chosen)))
        level, levels = _average(curves.reached[reference][chosen], samples)
        for policy in sorted(set(curves.reached) - {reference}):
            curve, replicates = _average(curves.reached[policy][chosen], samples)
            needed = float(count_needed(curve[None], level[results, None])[0])
            others = count_needed(replicates, levels[:, results])
            found = np.quantile(others, [tail, 1 - tail], method="inverted_cdf")
            ends = np.where(np.isinf(found), np.nan, found).tolist()
            if np.isinf(needed):
                needed, ends = np.nan, [np.nan, np.nan]
            rows.append((policy, results, needed, *ends, 1 - needed / results, len(chosen)))
    table = pd.DataFrame(rows, columns=list(SAVINGS)).astype(SAVINGS)
    table["confidence"] = confidence_level
    return table.sort_values(["policy", "results"], ignore_index=True)


def count_needed(curves: FloatArray, levels: FloatArray) -> FloatArray:
    """Count the results after which curves first reach a level.

    Parameters
    ----------
    curves : ndarray, shape (curves, results + 1)
        Errors with 0, 1, 2, … results.
    levels : ndarray, shape (curves,)
        What each has to reach.

    Returns
    -------
    ndarray, shape (curves,)
        Interpolated between the last error above the level and the first one that is not; infinite
        if there is none.

    Examples
    --------
    >>> count_needed(np.array([[4.0, 2.0, 1.0]] * 3), np.array([5.0, 1.5, 0.5])).tolist()
    [0.0, 1.5, inf]
    """
    reached = curves <= levels[:, None]
    first = np.argmax(reached, axis=1)
    rows = np.arange(len(curves))
    before, after = curves[rows, np.maximum(first - 1, 0)], curves[rows, first]
    drop = np.where(before > after, before - after, 1.0)
    found = np.where(first > 0, first - 1 + (before - levels) / drop, 0.0)
    return np.where(reached.any(axis=1), found, np.inf)


def _average(curves: FloatArray, samples: IntArray) -> tuple[FloatArray, FloatArray]:
    """The mean curve, and that of each sample of models."""
    weights = np.zeros((len(samples), len(curves)))
    np.add.at(weights, (np.arange(len(samples))[:, None], samples), 1 / len(curves))
    return curves.mean(axis=0), weights @ curves


def replay_choices(
    gaps: pd.DataFrame,
    models: pd.DataFrame,
    datasets: pd.DataFrame,
    dataset_file: Sequence[str],
    *,
    study: str,
    method: str,
    dimension: int,
    n_starts: int,
    confidence_level: float,
    seed: int,
    dataset_attributes: Mapping[str, str],
    renamed: Mapping[str, str],
) -> dict[str, pd.DataFrame]:
    """Replay how soon each policy of running results gets there.

    Parameters
    ----------
    gaps : pandas.DataFrame
        From `capmap.capabilities.gaps.tabulate_gaps`.
    models, datasets : pandas.DataFrame
        The finished tables of these names, for their attributes.
    dataset_file : sequence of str
        The table of attributes of datasets, or none.
    study : str
        Name of the study, part of the names of its random streams.
    method, dimension, n_starts
        As in the setting `capabilities`.
    confidence_level, seed
        As in the setting `bootstrap`.
    dataset_attributes : mapping
        As in the setting `attributes`.
    renamed : mapping of str to str
        New names of datasets by those of the exports.

    Returns
    -------
    dict
        The tables ``dataset_replay``, ``dataset_savings`` and ``model_replay``.
    """
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=dimension, starts=n_starts, seed=seed, study=study)
    make_rng = partial(make_stream, seed, study, "capabilities", "choices")
    errors = replay_datasets(
        results,
        believe=partial(
            form_beliefs,
            fitting=Fitting(METHODS[method], starts),
            attributes=gather_attributes(results, models, datasets),
            rng=make_rng("factors"),
        ),
        make_rng=partial(make_rng, "model"),
        costs=read_costs(results.datasets, dataset_file, dataset_attributes, renamed),
    )
    fit = partial(fit_starts, methods=prefer_offsets(METHODS[method]), starts=starts)
    regrets = replay_models(results, fit=fit)
    tabulate = partial(tabulate_curves, confidence_level=confidence_level)
    return {
        "dataset_savings": measure_savings(
            errors, confidence_level=confidence_level, rng=make_rng("savings")
        ),
        "dataset_replay": tabulate(errors, choices="results", value="error", things="models"),
        "model_replay": tabulate(regrets, choices="tried", value="regret", things="datasets"),
    }
