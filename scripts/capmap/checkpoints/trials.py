"""Best of n trials: what the trial that validation chooses among n is worth on the test split."""

import numpy as np
import pandas as pd
from scipy import special, stats

from capmap.checkpoints.plan import Plan
from capmap.checkpoints.selection import CHECKPOINT, MIDDLE
from capmap.ranking.aggregation import FloatArray, round_significant

BEST_OF = {
    "model": "str",
    "trials": "int64",
    "of": "int64",
    "validation": "float64",
    "test": "float64",
    "ci_low": "float64",
    "ci_high": "float64",
    "optimism": "float64",
    "optimism_low": "float64",
    "optimism_high": "float64",
    "stamp": "str",
}
# All numbers of trials up to here have a row, larger ones this many.
MOST = 500


def expect_best_trials(
    values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan, *, confidence_level: float
) -> pd.DataFrame:
    """Expect, for each number of trials, the values of the trial that validation chooses.

    Parameters
    ----------
    values : pandas.DataFrame
        As `capmap.checkpoints.selection.average_values` takes them.
    checkpoints : pandas.DataFrame
        Of `capmap.checkpoints.selection.choose_checkpoints`.
    plan : Plan
        How checkpoints were chosen, and where they are compared.
    confidence_level : float
        Of the intervals, between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        The columns of `BEST_OF`, for all trainings together (no ``model``) where there are several
        models, then by model with two trials or more, and by ``trials``, n, up to ``of``, N: the
        expected ``validation`` and ``test`` value of the chosen trial, the interval of the latter,
        and its ``optimism``, by how much better it looks on the split of the choice, with its
        interval.

    Notes
    -----
    A trial is a training with its chosen checkpoint. Both values are means over the datasets of the
    selection that the report split has by the same metric, on one scale: the raw one of the only
    dataset, or with several 0 for the worst and 1 for the best value of any checkpoint on the
    selection split, beyond which test values may lie. Trainings without all of them are left out,
    and without a report split there is nothing to expect.
    """
    trials = measure_trials(values, checkpoints, plan)
    is_max = plan.find_direction(plan.metrics) == "max"
    tables = [pd.DataFrame(columns=list(BEST_OF)).astype(BEST_OF)]
    groups = [(str(model), own) for model, own in trials.groupby("model")]
    for model, own in [*([("", trials)] if len(groups) > 1 else []), *groups]:
        if len(own) > 1:
            table = expect_best(own, is_max=is_max, confidence_level=confidence_level)
            tables.append(table.assign(model=model, stamp=plan.stamp))
    return pd.concat(tables, ignore_index=True)[list(BEST_OF)].astype(BEST_OF)


def measure_trials(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Measure the chosen checkpoints on both splits, on one scale.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``training``, ``selection``, ``validation`` and ``test`` of each training that
        has all values.
    """
    names = ["selection", "validation", "test"]
    wanted = values[values["dataset"].map(plan.metrics) == values["metric"]]
    sides = {
        name: wanted[wanted["split"] == split].set_index([*CHECKPOINT, "dataset"])["score"]
        for name, split in (("validation", plan.split), ("test", plan.report))
    }
    both = pd.DataFrame(sides).sort_index()
    shared = both["test"].dropna().index.get_level_values("dataset").unique()
    if plan.split == plan.report or shared.empty:
        return pd.DataFrame(columns=["model", "training", *names])
    both = both[both.index.get_level_values("dataset").isin(shared)]
    if len(plan.metrics) > 1:
        both = _scale(both, plan)
    means = both.dropna().groupby(CHECKPOINT)
    whole = means.mean()[means.size() == len(shared)].reset_index()
    chosen = checkpoints.loc[checkpoints["chosen"], [*CHECKPOINT, "selection"]]
    trials = chosen.merge(whole, on=CHECKPOINT).sort_values(CHECKPOINT, ignore_index=True)
    return trials[["model", "training", *names]]


def _scale(both: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Map both splits of each dataset to 0 and 1 for the worst and the best on the first."""
    names = both.index.get_level_values("dataset")
    groups = both["validation"].groupby("dataset")
    low, high = (groups.transform(end).to_numpy()[:, None] for end in ("min", "max"))
    shares = np.full(both.shape, MIDDLE)
    np.divide(both.to_numpy() - low, high - low, out=shares, where=high > low)
    is_error = [plan.directions.get((name, plan.metrics[name])) == "min" for name in names]
    turned = np.where(np.array(is_error, dtype=bool)[:, None], 1 - shares, shares)
    return pd.DataFrame(turned, both.index, both.columns).where(both.notna())


def expect_best(trials: pd.DataFrame, *, is_max: bool, confidence_level: float) -> pd.DataFrame:
    """Expect the values of the best of n trials by validation, over all subsets of n of them.

    Parameters
    ----------
    trials : pandas.DataFrame
        ``selection`` (by which one is chosen), ``validation`` and ``test``; at least two rows.
    is_max : bool
        Whether higher is better.
    confidence_level : float
        Between 0 and 1.

    Returns
    -------
    pandas.DataFrame
        The columns of `BEST_OF` without ``model`` and ``stamp``.

    Notes
    -----
    Of N trials, that of place r from the best is the best of n drawn without replacement with
    probability C(N − r, n − 1) / C(N, n). The mean with these weights is the mean over all subsets,
    which is unbiased for a new sweep of n trials from the same search space; drawing with
    replacement, as Dodge et al. do, is not. Trials that are equal by ``selection``, to 12
    digits, share their weights.

    Intervals are Student's t of the jackknife over trials, up to n = N / 2: beyond, subsets overlap
    too much to say how another sweep would differ. In simulated sweeps of 6 to 30 trials, 95%
    intervals held the expected test value in 94 to 96% of cases with n = 1, in 88 to 94% at N / 3
    and in 84 to 90% at N / 2. They are of new trials on the same test data.

    References
    ----------
    Dodge, J., Gururangan, S., Card, D., Schwartz, R. and Smith, N. A. (2019). Show your work:
    improved reporting of experimental results. EMNLP, 2185–2194.

    Tang, R., Lee, J., Xin, J., Liu, X., Yu, Y. and Lin, J. (2020). Showing your work doesn't always
    work. ACL, 2766–2772.

    Examples
    --------
    >>> scores = [[0.9, 0.9, 0.6], [0.7, 0.7, 0.8]]
    >>> trials = pd.DataFrame(scores, columns=["selection", "validation", "test"])
    >>> table = expect_best(trials, is_max=True, confidence_level=0.95)
    >>> table[["trials", "validation", "test", "optimism"]].round(3).to_numpy().tolist()
    [[1.0, 0.8, 0.7, 0.1], [2.0, 0.9, 0.6, 0.3]]
    """
    total, sign = len(trials), 1.0 if is_max else -1.0
    key = pd.Series(round_significant(-sign * trials["selection"].to_numpy(np.float64)))
    order = np.argsort(key, kind="stable")
    values = trials[["validation", "test"]].reset_index(drop=True)
    values = values.assign(optimism=sign * (values["validation"] - values["test"]))
    ordered = values.groupby(key).transform("mean").to_numpy(np.float64)[order]
    n = np.unique(np.rint(np.geomspace(1, total, MOST)).astype(np.int64))
    n = np.arange(1, total + 1) if total <= MOST else n
    expected = _weigh_places(total, n).T @ ordered
    own = values.to_numpy(np.float64)[order]
    places = np.asarray(key, dtype=np.float64)[order]
    half = _jackknife(places, own, ordered, n, confidence_level=confidence_level)
    half[n > total / 2] = np.nan
    table = pd.DataFrame(expected, columns=["validation", "test", "optimism"])
    for place, name in ((1, "ci"), (2, "optimism")):
        table[f"{name}_low"] = expected[:, place] - half[:, place]
        table[f"{name}_high"] = expected[:, place] + half[:, place]
    return table.assign(trials=n, of=total)


def _weigh_places(total: int, n: np.ndarray) -> FloatArray:
    """Chance of each place from the best (rows) to be the best of n drawn (columns)."""
    worse = np.arange(total)[::-1, None].astype(np.float64)
    with np.errstate(invalid="ignore"):
        logs = _log_choose(worse, n - 1.0) - _log_choose(np.float64(total), n.astype(np.float64))
    return np.where(worse >= n - 1, np.exp(logs), 0.0)


def _log_choose(total: FloatArray | np.float64, n: FloatArray) -> FloatArray:
    left = np.maximum(total - n, 0)
    found = special.gammaln(total + 1) - special.gammaln(n + 1) - special.gammaln(left + 1)
    return np.asarray(found, dtype=np.float64)


def _jackknife(
    key: FloatArray, own: FloatArray, shared: FloatArray, n: np.ndarray, *, confidence_level: float
) -> FloatArray:
    """Half widths of the intervals, shape (n, values), of trials in the order of their key.

    Trials with the same key have `shared` in common, the mean of what is their own.
    """
    total = len(key)
    weights = _weigh_places(total - 1, np.minimum(n, total - 1))
    first, last = (np.searchsorted(key, key, side=side) for side in ("left", "right"))
    sums = np.vstack([0 * weights[:1], np.cumsum(weights, axis=0)])
    others = (sums[last - 1] - sums[first]) / np.maximum(last - first - 1, 1)[:, None]
    halves = []
    for column, single in zip(shared.T, own.T, strict=True):
        # Without a trial, those after it move up a place.
        before = np.vstack([0 * weights[:1], np.cumsum(column[:-1, None] * weights, axis=0)])
        after = np.cumsum((column[1:, None] * weights)[::-1], axis=0)[::-1]
        without = before + np.vstack([after, 0 * weights[:1]])
        without += (column - single)[:, None] * others
        halves.append(np.sqrt((total - 1) * without.var(axis=0)))
    return np.transpose(halves) * stats.t.ppf((1 + confidence_level) / 2, total - 1)
