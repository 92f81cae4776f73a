"""Scores that do not fit the bounds, the scale or the order of models of their dataset."""

import math
from collections.abc import Collection, Mapping
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.exports.runs import ROW
from capmap.metrics import find_metric
from capmap.normalization.precedence import Rules
from capmap.problems import Problem, RowCheck, list_rows
from capmap.rng import make_stream
from capmap.wording import count_things, write_key

FRACTION = 1.5
PERCENT = 100.0
# A median in percent beside which a score of at most 1 is strange.
HIGH_PERCENT = 20.0
# Of the test of opposite datasets: models, datasets and permutations, and its level over all.
FEWEST_MODELS, FEWEST_DATASETS, PERMUTATIONS, LEVEL = 5, 3, 20_000, 0.05
# Models from which on the normal distribution will do.
MANY_MODELS = 20

Mask = npt.NDArray[np.bool_]


# Checks of scores, and the rows at fault. A check speaks of the first of these of each dataset.
Found = list[tuple[RowCheck, Mask]]


def find_misfits(
    runs: pd.DataFrame, bounds: pd.DataFrame, *, transformed: Collection[str] = ()
) -> list[Problem]:
    """Find scores outside their bounds, and fractions, percentages and signs that do not fit.

    Parameters
    ----------
    runs : DataFrame
        With scores after transforms.
    bounds : DataFrame
        Of `resolve_bounds`.
    transformed : collection of str
        Datasets whose scores were converted; they are not taken for percentages.

    Returns
    -------
    list of Problem
        "percent", an error per dataset; "mixed_percent", an error per score; "out_of_bounds", a
        warning per dataset at the score that is farthest out; and "all_out_of_bounds", an error
        instead, where no score of a dataset is within bounds that are natural, or stated of a
        known metric, or where the median is above 100 of a metric that cannot exceed 1.
        "percent_sign", an error per dataset whose scores have percent signs, which make them
        fractions, beside a bound of 100, beside scores without a sign above 1.5, or on numbers of
        at most 1 beside fractions without a sign; and "doubtful_sign", a warning where such numbers
        stand beside larger ones with a sign, or where one model alone has signs. Of datasets with
        bounds of 0 and 100 "fractions", a warning of scores of at most 1 where all scores are, or
        the median is at least 20.

    Notes
    -----
    Scores can be percentages where the bounds are [0, 1], or [−1, 1] when their sign is left aside.
    The sign is not left aside for a metric that has no natural lower bound, such as R²: there a
    score far below 0 is a bad model, and only scores above 1 are surely percentages.

    A dataset holds percentages when its median score is above 1.5 and none is above 100, or, of a
    metric that cannot exceed 1 by its nature, when the median itself is at most 100. A single
    score is one when the metric cannot exceed 1 by its nature, the dataset's median is at most 1.5,
    and the score is above 1.5 and at most 100: fractions and percentages are mixed.

    A metric that is not bounded by its nature, and whose own rule gives the bounds as numbers, is
    declared: its scores may be as large as they like (a human-normalized score of 30, say).
    """
    facts = _gather_facts(bounds, transformed)
    place = facts.index.get_indexer(pd.Index(runs["dataset"]))
    rows, place = (runs, place) if (place >= 0).all() else (runs[place >= 0], place[place >= 0])
    score = rows["score"].to_numpy(dtype=np.float64)
    if ROW in rows:
        # Runs that stand for a row are judged by its mean.
        means = rows["score"].groupby(rows[ROW]).transform("mean").round(12)
        score = means.to_numpy(dtype=np.float64)
    signed = rows["raw"].str.contains("%", regex=False).to_numpy(dtype=bool)
    size = np.where(facts["signed"].to_numpy(dtype=bool)[place], np.abs(score), score)
    sizes = pd.Series(size).groupby(place)
    every = range(len(facts))
    facts["median"], facts["largest"], facts["scores"] = (
        values.reindex(every).to_numpy() for values in (sizes.median(), sizes.max(), sizes.size())
    )
    is_large = facts["median"] > FRACTION
    facts["impossible"] = facts["fractional"] & facts["bounded"] & is_large
    highest = facts["median"].where(facts["impossible"], facts["largest"])
    in_percent = facts["fractional"] & ~facts["declared"] & is_large & (highest <= PERCENT)
    mixable = facts["fractional"] & facts["bounded"] & ~is_large
    is_percent, is_mixable, is_plain = (
        column.to_numpy(dtype=bool)[place] for column in (in_percent, mixable, facts["plain"])
    )
    mixed = is_mixable & (size > FRACTION) & (size <= PERCENT)
    found = [(PERCENT_CHECK, is_percent)]
    if signed.any():
        wrong = _find_wrong_signs(rows["model"], place, np.abs(score), signed, facts)
        found += [(check, mask & is_plain) for check, mask in wrong]
    are_all = facts["largest"] <= 1
    unsure = facts["plain"] & facts["in_percent"] & (are_all | (facts["median"] >= HIGH_PERCENT))
    small = unsure.to_numpy(dtype=bool)[place] & ~_spread(signed, place) & (size > 0) & (size <= 1)
    return [
        *_report(rows, [*found, (FRACTIONS, small)], facts),
        *MIXED_CHECK.report(rows[mixed]),
        *_find_outside(rows, score, facts, ~mixed & ~is_percent),
    ]


def _spread(mask: Mask, place: npt.NDArray[np.intp]) -> Mask:
    """Whether the dataset of each row, at its place, has any row of the mask."""
    return np.isin(place, place[mask])


PERCENT_CHECK = RowCheck(
    "percent",
    "score",
    "The scores of the dataset {dataset} look like percentages (their median is {median:g}), but "
    "its bounds are [{low:g}, {high:g}].",
    'Write them with a percent sign ("91%"), or {_rule}: {{low: {low100:g}, high: 100}}}}. If they '
    "are no percentages, state the bounds of their metric there.",
)
MIXED_CHECK = RowCheck(
    "mixed_percent",
    "score",
    "The score looks like a percentage among the fractions of the dataset {dataset}.",
    'Write it as a fraction, or with a percent sign ("{score:g}%").',
)
ALL_OUTSIDE = RowCheck(
    "all_out_of_bounds",
    "score",
    "{_share} scores of the dataset {dataset} are outside its bounds [{low:g}, {high:g}]; this one "
    "is farthest out.",
    "Check that this column or metric is what it is taken for, and give its own bounds: "
    "metrics: {{{_metric}: {{low: …, high: …}}}}.",
)
OUTSIDE = RowCheck(
    "out_of_bounds",
    "score",
    "The dataset {dataset} has {_scores} outside its bounds [{low:g}, {high:g}]; this one is "
    "farthest out.",
    "It is kept and its normalized score leaves [0, 1]; check the score or the bounds.",
    "warning",
)


def _find_outside(
    rows: pd.DataFrame, score: npt.NDArray[np.float64], facts: pd.DataFrame, usable: Mask
) -> list[Problem]:
    """Find the scores outside the bounds, of each dataset the farthest."""
    place = facts.index.get_indexer(pd.Index(rows["dataset"]))
    low, high = (facts[side].to_numpy(dtype=np.float64)[place] for side in ("low", "high"))
    # A model that others are measured by is no limit to them.
    floors, ceilings = (
        facts[name].str.contains(": model ").to_numpy(dtype=bool)[place]
        for name in ("low_origin", "high_origin")
    )
    excess = np.maximum(
        np.where(floors, -np.inf, low - score), np.where(ceilings, -np.inf, score - high)
    )
    is_outside = (excess > 0) & usable
    outside = rows[is_outside].iloc[np.argsort(-excess[is_outside], kind="stable")]
    farthest = outside.drop_duplicates("dataset").sort_values("dataset")
    own = facts.loc[farthest["dataset"]]
    count = outside["dataset"].value_counts().reindex(own.index).to_numpy()
    are_all = count == own["scores"].to_numpy()
    is_error = own["impossible"].to_numpy(dtype=bool)
    is_error = is_error | (are_all & own["stated"].to_numpy(dtype=bool))
    own = own.assign(
        _scores=[count_things(int(number), "score") for number in count],
        _share=np.where(are_all, "All", "Most"),
    )
    return _report(farthest, [(ALL_OUTSIDE, is_error), (OUTSIDE, ~is_error)], own)


def _find_wrong_signs(
    models: "pd.Series[str]",
    place: npt.NDArray[np.intp],
    size: npt.NDArray[np.float64],
    signed: Mask,
    facts: pd.DataFrame,
) -> Found:
    """Find percent signs that do not fit the other scores of their dataset."""
    in_one, in_percent = (facts[name].to_numpy()[place] for name in ("in_one", "in_percent"))
    unsigned_large = ~signed & (size > FRACTION) & ~in_one
    clashes = signed & in_percent | _spread(signed, place) & unsigned_large
    is_tiny = size * PERCENT <= 1 + 1e-9
    small = signed & (size > 0) & is_tiny
    clashes |= small & _spread(~signed & (size > 0) & (size <= 1), place)
    doubtful = small & _spread(signed & ~is_tiny, place) & ~clashes
    of_one_model = models[signed].nunique() == 1 < models.nunique()
    alone = signed & _spread(~signed, place) & of_one_model
    doubtful |= alone & ~_spread(clashes | doubtful, place)
    return [(WRONG_SIGN, clashes), (WRONG_SIGN._replace(**DOUBTFUL), doubtful)]


WRONG_SIGN = RowCheck(
    "percent_sign",
    "score",
    'Scores of the dataset {dataset} with a percent sign are fractions ("91%" is 0.91, "0.69%" is '
    "0.0069), but this one does not fit the scores or bounds beside it.",
    "Check the sign, and write all scores of the dataset in one way, with bounds of that scale.",
)
DOUBTFUL: Mapping[str, Any] = {
    "code": "doubtful_sign",
    "reason": 'Some scores of the dataset {dataset} alone have a percent sign ("0.69%" is 0.0069), '
    "or are below 1% with it; this one is of {model}.",
    "severity": "warning",
}
FRACTIONS = RowCheck(
    "fractions",
    "score",
    "Scores of the dataset {dataset} are at most 1, such as this one, where bounds are 0 and 100.",
    "If these are fractions, write them in percent, or give the dataset its own bounds: "
    "datasets: {{{_key}: {{low: 0, high: 1}}}}.",
    "warning",
)


def find_opposite(runs: pd.DataFrame, rules: Rules) -> list[Problem]:
    """Find datasets that order the models against all others, as a wrong direction does.

    Parameters
    ----------
    runs : DataFrame
        The runs that are analysed.
    rules : Rules
        Say which score is better.

    Returns
    -------
    list of Problem
        A warning per dataset on which the order of models correlates negatively with their mean
        rank on the others (Spearman; a permutation test at 5% over all datasets).
    """
    firsts = runs.drop_duplicates("dataset")
    signs = {
        row.dataset: -1.0 if rules.find_direction(row.dataset, row.metric)[0] == "min" else 1.0
        for row in list_rows(firsts)
    }
    cells = runs.groupby(["model", "dataset"], observed=True)["score"].mean().unstack()  # noqa: PD010
    count = cells.shape[1]
    if len(cells) < FEWEST_MODELS or not FEWEST_DATASETS <= count <= LEVEL * PERMUTATIONS:
        return []
    ranks = (cells * pd.Series(signs)).rank(pct=True)
    others = ranks.rsub(ranks.sum(axis=1), axis=0).div(ranks.notna().sum(axis=1) - 1, axis=0)
    pairs = [
        table.where(np.isfinite(others)).rank() for table in (ranks, others.where(ranks.notna()))
    ]
    own, rest = ((table - table.mean()) / table.std(ddof=0) for table in pairs)
    correlations = (own * rest).mean()
    rng = make_stream(0, "validation", "opposite")
    found = {}
    for name in correlations.index[correlations <= -0.5]:
        pair = np.column_stack([own[name].dropna(), rest[name].dropna()])
        p = _test_opposite(pair, correlations[name], rng)
        if len(pair) >= FEWEST_MODELS and p * count <= LEVEL:
            found[str(name)] = float(correlations[name])
    rows = firsts.set_index(firsts["dataset"].astype("str")).loc[[*found]]
    ways = [("lower", "max") if signs[name] < 0 else ("higher", "min") for name in found]
    rows = rows.assign(
        _correlation=[*found.values()],
        _now=[now for now, _ in ways],
        _other=[other for _, other in ways],
        _key=[*map(write_key, found)],
    )
    return OPPOSITE.report(rows, column="")


OPPOSITE = RowCheck(
    "opposite_order",
    "dataset",
    "The dataset {dataset} orders the models opposite to the others (rank correlation "
    "{_correlation:.2f}), with {_now} scores taken as better.",
    "If that is wrong, write datasets: {{{_key}: {{direction: {_other}}}}}.",
    "warning",
)


def _test_opposite(
    pair: npt.NDArray[np.float64], correlation: float, rng: np.random.Generator
) -> float:
    """How probable so low a correlation is by chance: the normal one of many, else permutations."""
    p = NormalDist().cdf(correlation * math.sqrt(len(pair) - 1))
    if len(pair) >= MANY_MODELS:
        return p
    shuffled = rng.permuted(np.tile(pair[:, 0], (PERMUTATIONS, 1)), axis=1) @ pair[:, 1] / len(pair)
    return float(1 + np.sum(shuffled <= correlation + 1e-12)) / (1 + PERMUTATIONS)


def _report(rows: pd.DataFrame, found: Found, facts: pd.DataFrame) -> list[Problem]:
    """Make the problems of checks, with what is known of each dataset."""
    alike = (facts["median"] > FRACTION).groupby(facts["metric"]).transform("all")
    facts = facts.assign(
        _rule=[
            f"metrics: {{{write_key(metric)}" if whole else f"datasets: {{{write_key(name)}"
            for name, metric, whole in zip(facts.index, facts["metric"], alike, strict=True)
        ],
        _metric=[write_key(metric) for metric in facts["metric"]],
        _key=[write_key(name) for name in facts.index],
        low100=PERCENT * facts["low"],
    )
    return [
        problem
        for check, mask in found
        for problem in check.report(rows[mask].drop_duplicates("dataset"), facts=facts)
    ]


def _gather_facts(bounds: pd.DataFrame, transformed: Collection[str]) -> pd.DataFrame:
    """What its bounds say about the scores of each dataset."""
    facts = bounds.set_index("dataset")
    known = [find_metric(metric) for metric in facts["metric"]]
    bounded = np.array([metric is not None and metric.high == 1 for metric in known], dtype=bool)
    endless = np.array([metric is not None and metric.low is None for metric in known], dtype=bool)
    is_known = np.array([metric is not None for metric in known], dtype=bool)
    in_one = facts["low"].isin([-1.0, 0.0]) & (facts["high"] == 1)
    origins = facts[["low_origin", "high_origin"]]
    explicit = origins.isin(["dataset", "metric"]).all(axis=1)
    natural = origins.apply(lambda side: side.str.contains("natural")).all(axis=1)
    stated = ~origins.apply(lambda side: side.str.contains("observed|model |reference")).any(axis=1)
    return facts.assign(
        plain=~facts.index.isin(list(transformed)),
        in_one=in_one,
        in_percent=facts["low"].isin([-PERCENT, 0.0]) & (facts["high"] == PERCENT),
        stated=stated & (natural | is_known),
        fractional=in_one & ~facts.index.isin(list(transformed)),
        signed=(facts["low"] < 0) & ~endless,
        bounded=bounded,
        declared=explicit & ~bounded,
    )
