"""Which few datasets give the ranking of all: chosen on some models, tested on others."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse, special
from scipy.sparse import csgraph

from capmap.comparison.correlation import compute_kendall_tau
from capmap.comparison.score_matrix import BoolArray, ScoreMatrix
from capmap.ranking.aggregation import FloatArray, IntArray
from capmap.rng import order_names

CURVE = [
    *("datasets", "kendall_tau", "ci_low", "ci_high", "kendall_tau_random"),
    *("difference", "difference_low", "difference_high"),
]
CHOSEN = ["order", "dataset", "share"]
FEWEST_MODELS, FEWEST_DATASETS = 8, 3
MOST_DATASETS = 50
# Sizes beyond ten grow by this factor.
GROWTH = 1.3
PARTITIONS = 10
RANDOM_SUBSETS = 20
DECIMALS = 12


class Reduction(NamedTuple):
    """What `reduce_benchmark` finds.

    Parameters
    ----------
    curve, chosen : pandas.DataFrame
        The columns of `CURVE` and of `CHOSEN`.
    """

    curve: pd.DataFrame
    chosen: pd.DataFrame


class _Levels(NamedTuple):
    """Scores of models less the effects of datasets, 0 where there are none."""

    apart: FloatArray
    filled: BoolArray

    @property
    def mean(self) -> FloatArray:
        return _average(self.apart.sum(axis=1), self.filled.sum(axis=1))


def reduce_benchmark(
    matrix: ScoreMatrix, *, confidence_level: float, rng: np.random.Generator
) -> Reduction:
    """Choose few datasets whose mean scores order models as those of all datasets do.

    Parameters
    ----------
    matrix : ScoreMatrix
        May have empty cells.
    confidence_level : float
        Of the intervals, between 0 and 1.
    rng : numpy.random.Generator
        Splits models, and draws random subsets.

    Returns
    -------
    Reduction
        ``curve``, a row per number of datasets, up to 50: Kendall's tau-b of the two rankings of
        models that took no part in the choice, with its interval; the tau of random subsets of the
        same size; and the difference. ``chosen``: the datasets in the order of their choice with
        all models, and in what share of the splits each was among as many. Both are empty with
        fewer than 8 models or 3 datasets, where all models have one level, or where models fall
        into groups without a common dataset.

    Notes
    -----
    Models are split into halves, ten times; datasets are chosen on one half and tested on the
    other, both ways. Forward choice: the next dataset is that with which the mean of the chosen
    ones correlates most with the mean of all. Intervals are Student's over the splits, whose
    variance allows for what they share (Nadeau and Bengio). They are about choices on half of the
    models; those on all of them should do better, if anything.

    Where cells are empty, what is averaged are scores less the effects of their datasets, of an
    additive model of the models to choose on; one without results on the chosen datasets is
    predicted to be average.

    References
    ----------
    Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
    239–281.
    """
    n_models, n_datasets = matrix.means.shape
    nothing = Reduction(pd.DataFrame(columns=CURVE), pd.DataFrame(columns=CHOSEN))
    if n_models < FEWEST_MODELS or n_datasets < FEWEST_DATASETS:
        return nothing
    whole = _level_scores(matrix.means, np.ones(n_models, dtype=bool))
    if not _varies(whole.mean) or not _is_connected(matrix.is_filled):
        return nothing
    sizes = _list_sizes(n_datasets)
    taus, randoms, choices = [], [], []
    for _ in range(PARTITIONS):
        is_first = np.zeros(n_models, dtype=bool)
        is_first[order_names(matrix.models, rng)[: n_models // 2]] = True
        for is_known in (is_first, ~is_first):
            known = _level_scores(matrix.means, is_known)
            own = _choose_forward(known, is_known, sizes[-1])
            orders = [own, *(order_names(matrix.datasets, rng) for _ in range(RANDOM_SUBSETS))]
            found = _test_orders(known, whole.mean, ~is_known, orders, sizes)
            taus.append(found[0])
            randoms.append(np.nanmean(found[1:], axis=0))
            choices.append(own)
    curve = _tabulate_curve(np.array(taus), np.array(randoms), sizes, confidence_level)
    order = _choose_forward(whole, np.ones(n_models, dtype=bool), sizes[-1])
    chosen = pd.DataFrame(
        {
            "order": np.arange(1, len(order) + 1),
            "dataset": [matrix.datasets[place] for place in order],
            "share": [
                np.mean([place in own[: number + 1] for own in choices])
                for number, place in enumerate(order)
            ],
        }
    )
    return Reduction(curve, chosen)


def _level_scores(means: FloatArray, is_known: BoolArray) -> _Levels:
    """Take off the effects of datasets, as the known models have them, whose mean is then 0."""
    filled = ~np.isnan(means)
    scores, cells = np.where(filled, means, 0)[is_known], filled[is_known].astype(float)
    counts = cells.sum(axis=0)
    effects = _average(scores.sum(axis=0), counts)
    if not cells.all():
        effects = _fit_effects(scores, cells)
        levels = _average(scores.sum(axis=1) - cells @ effects, cells.sum(axis=1))
        effects += levels[cells.any(axis=1)].mean()
    usable = filled & (counts > 0)
    return _Levels(np.where(usable, means - effects, 0), usable)


def _fit_effects(scores: FloatArray, cells: FloatArray) -> FloatArray:
    """Effects of columns by least squares, beside those of rows; the fewer of both are solved."""
    totals, counts = scores.sum(axis=0), cells.sum(axis=0)
    if len(cells) < len(cells.T):
        return _average(totals - cells.T @ _fit_effects(scores.T, cells.T), counts)
    shares = cells / np.maximum(cells.sum(axis=1, keepdims=True), 1)
    normal = np.diag(counts) - cells.T @ shares
    return np.asarray(
        np.linalg.lstsq(normal, totals - shares.T @ scores.sum(axis=1), rcond=None)[0]
    )


def _choose_forward(levels: _Levels, is_known: BoolArray, count: int) -> IntArray:
    """Places of datasets, each that with which the mean correlates most with that of all."""
    apart, filled = levels.apart[is_known], levels.filled[is_known].astype(float)
    target = levels.mean[is_known]
    target = target - target.mean()
    sums, counts = np.zeros((2, len(target), 1))
    chosen: list[int] = []
    for _ in range(count):
        means = _average(sums + apart, counts + filled)
        means -= means.mean(axis=0)
        lengths = np.linalg.norm(means, axis=0)
        gains = np.round(target @ means / np.maximum(lengths, 10.0**-DECIMALS), DECIMALS)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        sums, counts = sums + apart[:, chosen[-1:]], counts + filled[:, chosen[-1:]]
    return np.array(chosen)


def _test_orders(
    levels: _Levels,
    target: FloatArray,
    is_tested: BoolArray,
    orders: list[IntArray],
    sizes: IntArray,
) -> FloatArray:
    """Kendall's tau of the first datasets of each order with all, shape (orders, sizes)."""
    predicted = []
    for order in orders:
        first = order[: sizes[-1]]
        sums = levels.apart[np.ix_(is_tested, first)].cumsum(axis=1)
        counts = levels.filled[np.ix_(is_tested, first)].cumsum(axis=1)
        predicted.append(_average(sums, counts)[:, sizes - 1])
    columns = np.round(np.concatenate(predicted, axis=1), DECIMALS)
    others = np.broadcast_to(np.round(target[is_tested, None], DECIMALS), columns.shape)
    taus = compute_kendall_tau(columns, others)  # type: ignore[arg-type]
    known = np.where(np.isnan(taus), 0, taus)
    return known.reshape(len(orders), len(sizes))


def _tabulate_curve(
    taus: FloatArray, randoms: FloatArray, sizes: IntArray, confidence_level: float
) -> pd.DataFrame:
    low, high = _bound_mean(taus, confidence_level)
    gains = taus - randoms
    gain_low, gain_high = _bound_mean(gains, confidence_level)
    columns = (
        *(sizes, taus.mean(axis=0), np.maximum(low, -1), np.minimum(high, 1)),
        *(randoms.mean(axis=0), gains.mean(axis=0), gain_low, gain_high),
    )
    return pd.DataFrame(dict(zip(CURVE, columns, strict=True)))


def _bound_mean(values: FloatArray, confidence_level: float) -> tuple[FloatArray, FloatArray]:
    """Interval of the mean over splits into halves."""
    count = len(values)
    error = values.std(axis=0, ddof=1) * np.sqrt(1 / count + 1)
    half = special.stdtrit(count - 1, (1 + confidence_level) / 2) * error
    return values.mean(axis=0) - half, values.mean(axis=0) + half


def _list_sizes(datasets: int) -> IntArray:
    most = min(datasets, MOST_DATASETS)
    sizes = [*range(1, min(most, 10) + 1)]
    while sizes[-1] < most:
        sizes.append(min(int(np.ceil(sizes[-1] * GROWTH)), most))
    return np.array(sizes)


def _average(sums: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    return np.asarray(sums / np.maximum(counts, 1))


def _is_connected(filled: BoolArray) -> bool:
    few = (filled if len(filled) <= len(filled.T) else filled.T).astype(float)
    return bool(csgraph.connected_components(sparse.csr_array(few @ few.T))[0] == 1)


def _varies(levels: FloatArray) -> bool:
    return bool(np.ptp(np.round(levels, DECIMALS)) > 0)
