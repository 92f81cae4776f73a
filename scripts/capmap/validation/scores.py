"""Scores that do not fit the bounds of their dataset."""

from collections.abc import Collection

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.metrics import find_metric
from capmap.problems import Problem, Row, group_problem, list_rows, score_problem
from capmap.wording import count_things, quote_name, write_key

FRACTION = 1.5
PERCENT = 100.0
# A median in percent beside which a score of at most 1 is strange.
HIGH_PERCENT = 20.0


def find_misfits(
    runs: pd.DataFrame, bounds: pd.DataFrame, *, transformed: Collection[str] = ()
) -> list[Problem]:
    """Find percentages among fractions, and scores outside their bounds.

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

    Notes
    -----
    Scores can be percentages where the bounds are [0, 1], or [−1, 1] when their sign is left aside.
    The sign is not left aside for a metric that has no natural lower bound, such as R²: there a
    score far below 0 is a bad model, and only scores above 1 are surely percentages.

    A dataset holds percentages when its median score is above 1.5 and none is above 100, or, of a
    metric that cannot exceed 1 by its nature, when the median itself is at most 100. A single
    score is one when the metric cannot exceed 1 by its nature, the dataset's median is at most 1.5,
    and the score is above 1.5 and at most 100: fractions and percentages are mixed. Where the
    name of the metric has a percent sign, its natural bounds of 1 are refused with small scores
    too, but not with percent signs, which make fractions.

    A metric that is not bounded by its nature, and whose own rule gives the bounds as numbers, is
    declared: its scores may be as large as they like (a human-normalized score of 30, say).
    """
    facts = _gather_facts(bounds, transformed)
    position = facts.index.get_indexer(pd.Index(runs["dataset"]))
    known = position >= 0
    rows, position = (runs, position) if known.all() else (runs[known], position[known])
    score = _read_scores(rows)
    size = np.where(facts["signed"].to_numpy(dtype=bool)[position], np.abs(score), score)
    sizes = pd.Series(size).groupby(position)
    facts["median"] = sizes.median().reindex(range(len(facts))).to_numpy()
    largest = sizes.max().reindex(range(len(facts))).to_numpy()
    totals = sizes.size().reindex(range(len(facts))).to_numpy()

    is_large = (facts["median"] > FRACTION).to_numpy(dtype=bool)
    fractional, bounded, declared = (
        facts[name].to_numpy(dtype=bool) for name in ("fractional", "bounded", "declared")
    )
    impossible = fractional & bounded & is_large
    highest = np.where(impossible, facts["median"], largest)
    percent = fractional & ~declared & is_large & (highest <= PERCENT)
    is_named = facts["named"].to_numpy(dtype=bool)
    named = rows[is_named[position]]
    has_sign = named["raw"].str.contains("%", regex=False)
    percent |= is_named & ~facts.index.isin(named.loc[has_sign, "dataset"].unique())
    mixable = fractional & bounded & ~is_large
    in_percent = percent[position]
    mixed = mixable[position] & (size > FRACTION) & (size <= PERCENT)
    low, high = (facts[side].to_numpy(dtype=np.float64)[position] for side in ("low", "high"))
    floors, ceilings = (
        facts[name].str.contains(": model ").to_numpy(dtype=bool)[position]
        for name in ("low_origin", "high_origin")
    )
    # A model that others are measured by is no limit to them.
    low, high = np.where(floors, -np.inf, low), np.where(ceilings, np.inf, high)
    excess = np.maximum(low - score, score - high)
    outside = (excess > 0) & ~mixed & ~in_percent
    examples = rows[in_percent].drop_duplicates("dataset")
    return [
        *(_explain_percent(row, facts) for row in list_rows(examples)),
        *(_explain_mixed(row) for row in list_rows(rows[mixed])),
        *_explain_outside(
            rows[outside], excess[outside], facts.assign(scores=totals, impossible=impossible)
        ),
    ]


def find_mixed_scales(
    runs: pd.DataFrame, bounds: pd.DataFrame, *, transformed: Collection[str] = ()
) -> list[Problem]:
    """Find fractions among percentages where the bounds allow both.

    Parameters
    ----------
    runs, bounds, transformed
        As in `find_misfits`.

    Returns
    -------
    list of Problem
        "percent_sign", an error per dataset whose scores have percent signs, which make them
        fractions, beside a bound of 100 or scores without a sign above 1.5; of datasets with
        bounds of 0 and 100 "fractions", a warning where all scores are at most 1, and "fraction"
        where some are and the median is at least 20.
    """
    facts = bounds[~bounds["dataset"].isin(list(transformed))].set_index("dataset")
    facts = facts[~(facts["low"].isin([-1.0, 0.0]) & (facts["high"] == 1))]
    place = facts.index.get_indexer(pd.Index(runs["dataset"]))
    rows, place = runs[place >= 0], place[place >= 0]
    if rows.empty:
        return []
    size, is_signed = rows["score"].abs(), rows["raw"].str.contains("%", regex=False)
    known, place = np.unique(place, return_inverse=True)
    sizes = size.groupby(place)
    facts = facts.iloc[known].assign(
        median=sizes.median().to_numpy(),
        largest=sizes.max().to_numpy(),
        has_signed=is_signed.groupby(place).any().to_numpy(),
        in_percent=lambda own: own["low"].isin([-PERCENT, 0.0]) & (own["high"] == PERCENT),
    )
    in_percent, has_signed = (
        facts[name].to_numpy()[place] for name in ("in_percent", "has_signed")
    )
    clashes = (is_signed & in_percent) | (has_signed & ~is_signed & (size > FRACTION))
    may_be = facts["in_percent"] & ~facts["has_signed"]
    may_be &= (facts["largest"] <= 1) | (facts["median"] >= HIGH_PERCENT)
    small = rows[may_be.to_numpy()[place] & (size > 0) & (size <= 1)]
    counts = small["dataset"].value_counts()
    return [
        *map(_explain_sign, list_rows(rows[clashes].drop_duplicates("dataset"))),
        *(
            _explain_fraction(
                row, counts[row.dataset], all_of_it=facts["largest"][row.dataset] <= 1
            )
            for row in list_rows(small.drop_duplicates("dataset"))
        ),
    ]


def _explain_sign(row: Row) -> Problem:
    return score_problem(
        row,
        "percent_sign",
        f'Scores of the dataset {quote_name(row.dataset)} with a percent sign are fractions ("91%" '
        "is 0.91), beside a bound of 100 or scores without a sign.",
        "Write all of them in one way, with bounds of that scale.",
        severity="error",
    )


def _explain_fraction(row: Row, count: int, *, all_of_it: bool) -> Problem:
    scores = "All scores" if all_of_it else count_things(count, "score")
    are = "are" if all_of_it or count > 1 else "is"
    return score_problem(
        row,
        "fractions" if all_of_it else "fraction",
        f"{scores} of the dataset {quote_name(row.dataset)} {are} at most 1, where bounds are 0 "
        "and 100.",
        "If these are fractions, write them in percent, or give the dataset its own bounds: "
        f"datasets: {{{write_key(row.dataset)}: {{low: 0, high: 1}}}}.",
        severity="warning",
    )


def _read_scores(runs: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Scores; those of runs that stand for the mean of a row are that mean."""
    score = runs["score"]
    if "summary" in runs:
        # Rows of JSON in one line have the same number of line.
        places = [runs[name] for name in ("source", "line", "column", "model", "dataset", "metric")]
        own = runs["seed"].astype("str").str.replace(r"\d+$", "", regex=True)
        means = score.groupby([*places, own], observed=True)
        score = score.where(~runs["summary"].astype(bool), means.transform("mean").round(12))
    return score.to_numpy(dtype=np.float64)


def find_constant(runs: pd.DataFrame) -> list[Problem]:
    """Find datasets on which all runs of several models have one score.

    Parameters
    ----------
    runs : DataFrame
        The runs that are analysed.

    Returns
    -------
    list of Problem
        A warning per dataset.
    """
    table = runs.groupby("dataset", observed=True).agg(
        low=("score", "min"), high=("score", "max"), models=("model", "nunique")
    )
    constant = table.index[(table["low"] == table["high"]) & (table["models"] > 1)]
    return [
        group_problem(
            row,
            "equal_scores",
            f"All scores of the dataset {quote_name(row.dataset)} are {row.score!r}, so it "
            "does not distinguish models.",
            "Check the export, or leave the dataset out with select.",
            severity="warning",
        )
        for row in list_rows(runs[runs["dataset"].isin(constant)].drop_duplicates("dataset"))
    ]


def _gather_facts(bounds: pd.DataFrame, transformed: Collection[str]) -> pd.DataFrame:
    """What its bounds say about the scores of each dataset."""
    facts = bounds.set_index("dataset")
    known = [find_metric(metric) for metric in facts["metric"]]
    bounded = np.array([metric is not None and metric.high == 1 for metric in known], dtype=bool)
    endless = np.array([metric is not None and metric.low is None for metric in known], dtype=bool)
    explicit = facts[["low_origin", "high_origin"]].isin(["dataset", "metric"]).all(axis=1)
    in_one = facts["low"].isin([-1.0, 0.0]) & (facts["high"] == 1)
    origins = facts[["low_origin", "high_origin"]]
    natural = origins.apply(lambda side: side.str.contains("natural")).all(axis=1)
    stated = ~origins.apply(lambda side: side.str.contains("observed|model |reference")).any(axis=1)
    return facts.assign(
        stated=stated & (natural | np.array([metric is not None for metric in known], dtype=bool)),
        fractional=in_one & ~facts.index.isin(list(transformed)),
        signed=(facts["low"] < 0) & ~endless,
        bounded=bounded,
        declared=explicit & ~bounded,
        named=in_one
        & ~explicit
        & facts["metric"].astype("str").str.contains("%", regex=False).to_numpy(),
    )


def _explain_percent(row: Row, facts: pd.DataFrame) -> Problem:
    fact = facts.loc[row.dataset]
    metric, low, high = write_key(row.metric), fact["low"], fact["high"]
    remedy = (
        f'Write them with a percent sign ("91%"), or metrics: {{{metric}: '
        f"{{low: {PERCENT * low:g}, high: {PERCENT:g}}}}}."
    )
    if not fact["bounded"]:
        rule = f"metrics: {{{metric}: {{low: {low:g}, high: {high:g}}}}}"
        remedy += f" If they are no percentages, confirm the bounds with {rule}."
    look = f"look like percentages (their median is {fact['median']:g})"
    said = "are percentages by the name of the metric"
    return score_problem(
        row,
        "percent",
        f"The scores of the dataset {quote_name(row.dataset)} {said if fact['named'] else look}, "
        f"but its bounds are [{low:g}, {high:g}].",
        remedy,
        severity="error",
    )


def _explain_mixed(row: Row) -> Problem:
    return score_problem(
        row,
        "mixed_percent",
        "The score looks like a percentage among the fractions of the dataset "
        f"{quote_name(row.dataset)}.",
        f'Write it as a fraction, or with a percent sign ("{row.score:g}%").',
        severity="error",
    )


def _explain_outside(
    runs: pd.DataFrame, excess: np.ndarray[tuple[int], np.dtype[np.float64]], facts: pd.DataFrame
) -> list[Problem]:
    counts = runs["dataset"].value_counts().to_dict()
    order = np.argsort(-excess, kind="stable")
    farthest = runs.iloc[order].drop_duplicates("dataset").sort_values("dataset")
    bounds = facts[["low", "high", "scores", "stated", "impossible"]].to_dict("index")
    problems = []
    for row in list_rows(farthest):
        fact, count = bounds[row.dataset], counts[row.dataset]
        low, high = fact["low"], fact["high"]
        if fact["impossible"] or (count == fact["scores"] and fact["stated"]):
            share = "All" if count == fact["scores"] else "Most"
            problems.append(_explain_all_outside(row, low, high, share))
            continue
        problems.append(
            score_problem(
                row,
                "out_of_bounds",
                f"The dataset {quote_name(row.dataset)} has {count_things(count, 'score')} outside "
                f"its bounds [{low:g}, {high:g}]; this one is farthest out.",
                "It is kept and its normalized score leaves [0, 1]; check the score or the bounds.",
                severity="warning",
            )
        )
    return problems


def _explain_all_outside(row: Row, low: float, high: float, share: str) -> Problem:
    name, metric = quote_name(row.dataset), write_key(row.metric)
    return score_problem(
        row,
        "all_out_of_bounds",
        f"{share} scores of the dataset {name} are outside its bounds [{low:g}, {high:g}]; this "
        "one is farthest out.",
        "Check that this column or metric is what it is taken for, and give its own bounds: "
        f"metrics: {{{metric}: {{low: …, high: …}}}}.",
        severity="error",
    )
