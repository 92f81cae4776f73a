"""How good the leader is, given that it was chosen for its score: inference on winners."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.analyses import Analysis, Step, Table
from capmap.artifacts import read_json
from capmap.ranking.aggregation import FloatArray, rank_competitors
from capmap.ranking.estimates import join_estimates, read_limits
from capmap.ranking.rank_sets import keep_within

COLUMNS = [
    *("unit", "statistic", "model", "models", "score"),
    *("estimate", "ci_low", "ci_high", "filled"),
]
# Part of the error for the simultaneous interval that bounds the conditional one. Andrews et al.
# take a tenth; the few degrees of freedom of benchmarks make its t quantile very wide (simulated).
SIMULTANEOUS = 0.5
NEGLIGIBLE = 1e-9


def bound_selection(scores: FloatArray, slopes: FloatArray, leader: int) -> tuple[float, float]:
    """Between what scores of the leader it leads, given what others have that it does not share.

    `slopes` say by how much each model is expected to rise where the leader's error raises its own
    by 1. Ends are infinite where nothing bounds it.
    """
    others = np.arange(len(scores)) != leader
    rest, slack = scores - slopes * scores[leader], 1 - slopes
    low, high = others & (slack > NEGLIGIBLE), others & (slack < -NEGLIGIBLE)
    return (
        float((rest[low] / slack[low]).max(initial=-math.inf)),
        float((rest[high] / slack[high]).min(initial=math.inf)),
    )


def correct_score(
    score: float,
    error: float,
    freedom: float,
    *,
    selected: tuple[float, float],
    models: int,
    confidence_level: float,
) -> tuple[float, float, float]:
    """Hybrid estimate and confidence interval of the score of a model that was chosen for it.

    The estimate is as often too high as too low; the interval is made to hold the score (Andrews,
    Kitagawa and McCloskey 2024).

    Given that it was chosen and is within its simultaneous interval (Bonferroni), the score has a
    t distribution truncated at both; the ends are the true scores under which it would be at the
    quantiles of half the error left, the estimate that under which it would be the median. The
    estimate is by the normal distribution: heavy tails of t, which stand for what is not known of
    the standard error, would pull it far below the true score.

    Examples
    --------
    >>> alone = correct_score(
    ...     0.8, 0.01, 30, selected=(0.5, np.inf), models=20, confidence_level=0.95
    ... )
    >>> close = correct_score(
    ...     0.8, 0.01, 30, selected=(0.795, np.inf), models=20, confidence_level=0.95
    ... )
    >>> [round(value, 3) for value in (*alone, *close)]
    [0.8, 0.777, 0.823, 0.789, 0.765, 0.822]
    """
    alpha = 1 - confidence_level
    beta = SIMULTANEOUS * alpha
    tail = (alpha - beta) / (1 - beta) / 2

    def find(share: float, df: float) -> float:
        """The true score under which a share of scores as selected would be higher."""
        reach = error * float(scipy.special.stdtrit(df, 1 - beta / 2 / models))

        def count_higher(truth: float) -> float:
            ends = max(selected[0], truth - reach), min(selected[1], truth + reach)
            above, beyond, own = scipy.special.stdtr(df, (truth - np.array([*ends, score])) / error)
            if above <= beyond:
                return share - float(truth > score)
            return share - float((own - beyond) / (above - beyond))

        return float(scipy.optimize.brentq(count_higher, score - reach, score + reach))

    low, high = find(tail, freedom), find(1 - tail, freedom)
    return find(0.5, math.inf), min(low, score), max(high, score)


def correct_leaders(
    estimates: Sequence[str], scope: Sequence[str], *, confidence_level: float
) -> pd.DataFrame:
    """Correct the leader's score in both scopes, if one model leads others and has an interval."""
    common, rows = read_json(scope[0]), []
    statistics = {common["unit"]: common["rank_by"]}
    # As in the ranking, means decide over datasets where the headline is over something else.
    statistics.setdefault("runs_and_datasets", "mean")
    for unit, statistic in statistics.items():
        where = {"kind": "study", "group": "", "unit": unit, "statistic": statistic}
        models = join_estimates(estimates, where)
        if row := correct_leader(models[models["ranked"]], confidence_level):
            rows.append({"unit": unit, **row})
    table = pd.DataFrame(rows, columns=COLUMNS)
    table = keep_within(table, read_limits(common), statistic=common["rank_by"])
    return table.assign(estimate=table["estimate"].clip(table["ci_low"], table["ci_high"]))


def correct_leader(models: pd.DataFrame, confidence_level: float) -> dict[str, Any]:
    """Correct the leader of one scope: a row but for its unit; empty where it cannot be."""
    if len(models) < 2:
        return {}
    is_first = rank_competitors(models["estimate"]) == 1
    leader = int(is_first.argmax())
    own = models.iloc[leader]
    if is_first.sum() > 1 or not own["standard_error"] > 0:
        return {}
    variance = own["standard_error"] ** 2
    shared = [parts @ own["parts"] if len(parts) else 0.0 for parts in models["parts"]]
    slopes = np.nan_to_num(np.array(shared) / variance)
    scores = models["estimate"].to_numpy(dtype=np.float64)
    estimate, low, high = correct_score(
        scores[leader],
        own["standard_error"],
        own["freedom"],
        selected=bound_selection(scores, slopes, leader),
        models=len(models),
        confidence_level=confidence_level,
    )
    row = {name: own[name] for name in ("statistic", "model", "filled")}
    row |= {"models": len(models), "score": own["estimate"]}
    return row | {"estimate": estimate, "ci_low": low, "ci_high": high}


def find_facts(winners_curse: pd.DataFrame) -> dict[str, Any]:
    """The leader of each scope with its corrected score."""
    return {"leaders": winners_curse.to_dict("records")}


ANALYSIS = Analysis(
    question="How good is the leader, given that it was chosen?",
    position=85,
    tables={
        "winners_curse": Table(
            "Score of the leader, corrected for having been chosen, in both scopes. Empty without "
            "a single leader that has an interval.",
            " ".join(COLUMNS),
        ),
    },
    steps={"correct_leaders": Step(correct_leaders, paths=["estimates", "scope"])},
    find_facts=find_facts,
    meanings={
        "estimate": "Median-unbiased estimate of the leader's score.",
        "filled": "Cells of the leader that were empty and filled in, as the study asks for.",
        "models": "Number of models that it was chosen from.",
        "score": "Score of the leader in the ranking.",
    },
)
