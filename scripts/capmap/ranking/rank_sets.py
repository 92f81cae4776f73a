"""Ranks with their uncertainty, from the joint replicates of all models."""

import math
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from capmap.ranking.aggregation import BoolArray, FloatArray, IntArray, rank_competitors
from capmap.ranking.resampling import STATISTICS
from capmap.settings.choices import Statistic
from capmap.wording import MOST_LETTERED

NEGLIGIBLE = 1e-12
FEW_DEGREES = 5
Ranks = npt.NDArray[np.signedinteger[Any]]

INTERVAL_ENDS = ["ci_low", "ci_high", "boot_low", "boot_high"]
BEHIND = ["behind", "behind_low", "behind_high"]
RANK_SETS = ["rank_low", "rank_high", "rank_low_all", "rank_high_all"]
RANKED = dict.fromkeys(["rank", *RANK_SETS], "Int64") | {"tie_group": "str"}


@dataclass(frozen=True)
class SamplingErrors:
    """How far apart chance may put the estimates of two models.

    Parameters
    ----------
    variances, freedom : numpy.ndarray, shape (models,)
        Squared standard error of each model, and the degrees of freedom of what of it is the
        model's own.
    parts : numpy.ndarray, shape (models, parts), optional
        Independent parts of each model's error that models have in common, such as the influences
        of datasets: the variance of a difference is the sum of the squared differences of parts,
        and what of either variance is beyond its squared parts. None means that models err
        independently.
    parts_freedom : numpy.ndarray, shape (models,), optional
        Degrees of freedom of the parts, without which they are those of `freedom`.
    """

    variances: FloatArray
    freedom: FloatArray
    parts: FloatArray | None = None
    parts_freedom: FloatArray | None = None

    @cached_property
    def _own(self) -> FloatArray:
        """Variances beyond the parts that models have in common."""
        if self.parts is None:
            return self.variances
        own: FloatArray = self.variances - (self.parts**2).sum(axis=1)
        own[own <= NEGLIGIBLE * self.variances] = 0
        return own

    def compare(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Standard errors of the differences from a model, and their degrees of freedom.

        Degrees of freedom are those of Welch and Satterthwaite.
        """
        least = np.minimum(self.freedom, self.freedom[place])
        own = self._own + self._own[place]
        spread = self._own**2 / self.freedom
        spread = spread + spread[place]
        if self.parts is None:
            freedom = np.divide(own**2, spread, out=least.copy(), where=spread > 0)
            # A variance of few degrees of freedom may be so small by chance that others count.
            is_few = least < FEW_DEGREES
            return np.sqrt(own), np.where(is_few, least, np.maximum(freedom, least))
        known = self.freedom if self.parts_freedom is None else self.parts_freedom
        common = np.minimum(known, known[place])
        apart = self.parts - self.parts[place]
        squares = np.einsum("mp,mp->m", apart, apart)
        total, spread = squares + own, spread + squares**2 / common
        return np.sqrt(total), np.divide(total**2, spread, out=common.copy(), where=spread > 0)


@dataclass(frozen=True)
class RankSets:
    """What simultaneous comparisons say of each model's rank.

    Parameters
    ----------
    low, high : numpy.ndarray of int, shape (models,)
        Best and worst rank of each model's own confidence set.
    low_all, high_all : numpy.ndarray of int, shape (models,)
        The same for all models at once: with the level's probability all of them hold.
    behind : numpy.ndarray, shape (3, models)
        How far each model is behind the first one, and the ends of an interval at the level at
        which the last of the model's own pairs was tested.
    separated : numpy.ndarray of bool, shape (models, models), or None
        Which pairs differ, allowing for all pairs; None for more than 200 models.
    """

    low: IntArray
    high: IntArray
    low_all: IntArray
    high_all: IntArray
    behind: FloatArray
    separated: BoolArray | None


def find_rank_sets(
    scores: FloatArray, errors: SamplingErrors, *, confidence_level: float
) -> RankSets:
    """Confidence sets of ranks (Mogstad et al. 2024); higher scores are better.

    Differences are tested with Student's t and Holm's steps: a model's own pairs together for its
    own set, all pairs together for the sets of all. A model may be the best if its own set
    holds rank 1. Where two models have no error at all, any difference
    separates them. Simulated critical values of the largest difference, which allow for pairs that
    share a model, made the sets 2 to 5% narrower.

    Examples
    --------
    >>> errors = SamplingErrors(np.full(3, 0.01), np.full(3, 20.0))
    >>> sets = find_rank_sets(np.array([0.9, 0.8, 0.1]), errors, confidence_level=0.95)
    >>> sets.low.tolist(), sets.high.tolist()
    ([1, 1, 3], [2, 2, 3])
    """
    n, alpha = len(scores), 1 - confidence_level
    rounding = NEGLIGIBLE * float(np.abs(scores).max(initial=0))
    apart = scores - scores[:, None]
    apart[np.abs(apart) <= rounding] = 0
    p, first = np.empty((n, n)), int(scores.argmax())
    reaches = np.empty((2, n))
    for place in range(n):
        spread, freedom = errors.compare(place)
        with np.errstate(divide="ignore"):
            ratios = np.divide(apart[place], spread, out=np.zeros(n), where=apart[place] != 0)
        p[place] = 2 * scipy.special.stdtr(freedom, -np.abs(ratios))
        reaches[:, place] = spread[first], freedom[first]
    level_all = find_level(p[np.triu_indices(n, k=1)], alpha)
    own, together = np.empty((2, n), dtype=np.intp), np.empty((2, n), dtype=np.intp)
    levels = np.empty(n)
    for place in range(n):
        levels[place] = find_level(np.delete(p[place], place), alpha)
        own[:, place] = _bound_rank(apart[place], p[place] <= levels[place])
        together[:, place] = _bound_rank(apart[place], p[place] <= level_all)
    reach = -scipy.special.stdtrit(reaches[1], levels / 2) * reaches[0]
    behind = apart[:, first] + np.array([np.zeros(n), -reach, reach])
    behind[1:, first] = np.nan
    pairs = p <= level_all if n <= MOST_LETTERED else None
    return RankSets(own[0], own[1], together[0], together[1], behind, pairs)


def find_level(p: FloatArray, alpha: float) -> float:
    """The level at which Holm's steps end: `alpha` over the number of p-values not rejected.

    Examples
    --------
    >>> find_level(np.array([0.001, 0.01, 0.04, 0.5]), 0.06)
    0.03
    """
    steps = alpha / np.arange(len(p), 0, -1)
    rejected = int(np.append(np.sort(p) > steps, True).argmax())
    return alpha / max(len(p) - rejected, 1)


def _bound_rank(apart: FloatArray, differs: BoolArray) -> tuple[int, int]:
    above, below = (int((differs & (side * apart > 0)).sum()) for side in (1, -1))
    return 1 + above, len(apart) - below


def rank_models(
    estimates: pd.DataFrame,
    statistic: Statistic,
    *,
    confidence_level: float,
    limits: tuple[float, float] = (-math.inf, math.inf),
) -> pd.DataFrame:
    """Rank models, with confidence sets of ranks and groups of models that cannot be separated.

    Models come by rank, then name, and last those that are not ranked. Without an interval all new
    columns but ``rank`` are missing; letters are empty of more than 200 models.

    Models without an interval count as not separated from any other.
    """
    best = STATISTICS[statistic].best
    ranked, others = estimates[estimates["ranked"]], estimates[~estimates["ranked"]]
    ranked = ranked.assign(rank=rank_competitors(ranked["estimate"], best=best))
    order = np.lexsort((ranked["model"].astype(object), ranked["rank"]))
    table = pd.concat([ranked.iloc[order], others.sort_values("model")], ignore_index=True)
    sure = table[table["ranked"] & table["standard_error"].notna()]
    table = table.drop(columns=["replicates", "parts"], errors="ignore")
    table = table.assign(**dict.fromkeys([*RANK_SETS, *BEHIND], np.nan), tie_group="")
    if len(sure):
        scores = sure["estimate"].to_numpy(dtype=np.float64)
        sets = find_rank_sets(
            scores if best == "max" else -scores,
            _read_errors(sure),
            confidence_level=confidence_level,
        )
        unsure = len(ranked) - len(sure)
        ends = [sets.low, sets.high + unsure, sets.low_all, sets.high_all + unsure, *sets.behind]
        table.loc[sure.index, [*RANK_SETS, *BEHIND]] = np.array(ends, dtype=np.float64).T
        if sets.separated is not None:
            table.loc[sure.index, "tie_group"] = display_letters(~sets.separated)
    return keep_within(table.astype(RANKED), limits, statistic=statistic)


def _read_errors(models: pd.DataFrame) -> SamplingErrors:
    """The errors of estimates; parts are NaN for models without any where others have some."""
    size = max(map(len, models["parts"]))
    parts = [row if len(row) else np.full(size, np.nan) for row in models["parts"]]
    return SamplingErrors(
        variances=models["standard_error"].to_numpy() ** 2,
        freedom=models["own_freedom" if size else "freedom"].to_numpy(),
        parts=np.array(parts) if size else None,
        parts_freedom=models["parts_freedom"].to_numpy(),
    )


def keep_within(
    table: pd.DataFrame, limits: tuple[float, float], *, statistic: Statistic
) -> pd.DataFrame:
    """Let no interval go beyond what scores can be, which keeps its coverage.

    A gap is what a score lacks to 1. Intervals of expected scores (``filled``), which may be
    anything, stay.
    """
    low, high = limits
    if statistic == "optimality_gap":
        low, high = max(0.0, 1 - high), 1 - low
    own = table.columns.intersection(INTERVAL_ENDS)
    is_filled = table.get("filled", pd.Series(0, table.index)) > 0
    return table.assign(
        **{name: table[name].clip(low, high).where(~is_filled, table[name]) for name in own}
    )


def list_groups(tied: BoolArray) -> list[list[int]]:
    """List groups of models in which all pairs are tied, so that they cover all such pairs.

    Models are in order, best first. Each pair that no group covers yet starts one, which then takes
    in every model, from the best on, that is tied with all members: a compact letter display
    (Piepho 2004). A model that is tied with none is a group of its own.

    Examples
    --------
    >>> list_groups(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    [[0, 1], [1, 2]]
    """
    covered = np.eye(len(tied), dtype=np.bool_)
    groups = []
    for first in range(len(tied)):
        while (uncovered := np.flatnonzero(tied[first] & ~covered[first])).size:
            group = {first, second := int(uncovered[0])}
            allowed = tied[first] & tied[second]
            for member in range(len(tied)):
                if allowed[member]:
                    group.add(member)
                    allowed &= tied[member]
            groups.append(sorted(group))
            covered[np.ix_(groups[-1], groups[-1])] = True
        if covered[first].sum() == 1:
            groups.append([first])
    return sorted(groups)


def display_letters(tied: BoolArray) -> list[str]:
    """Letters of the groups of tied models that each belongs to: a compact letter display.

    Groups are named a, b, …, z, a2, b2, …, and a model's names stand side by side (``"ab"``).

    Examples
    --------
    >>> display_letters(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool))
    ['a', 'ab', 'b']
    """
    letters = [""] * len(tied)
    for number, group in enumerate(list_groups(tied)):
        turn, letter = divmod(number, len(ascii_lowercase))
        for place in group:
            letters[place] += ascii_lowercase[letter] + (str(turn + 1) if turn else "")
    return letters
