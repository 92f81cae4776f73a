"""Rankings of trainings by their chosen checkpoints."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from capmap.checkpoints.curves import trace_curves
from capmap.checkpoints.expressions import Expression, find_unknown_names, read_expression
from capmap.checkpoints.plan import Plan, Settings, plan_selection
from capmap.checkpoints.selection import CHECKPOINT, choose_checkpoints, measure_optimism
from capmap.comparison.correlation import compute_kendall_tau
from capmap.errors import ValidationError
from capmap.normalization import Rules
from capmap.normalization.rules import DatasetRule, MetricRule
from capmap.problems import Problem, ask_nearest
from capmap.ranking.aggregation import FloatArray, rank_competitors
from capmap.rng import make_stream
from capmap.settings.choices import Direction
from capmap.wording import list_names, quote_name, write_key

ITEM = [name for name in CHECKPOINT if name != "step"]
AGREEMENT = {
    "ranking_a": "str",
    "ranking_b": "str",
    "kendall_tau": "float64",
    "checkpoints": "int64",
    "tied_a": "int64",
    "tied_b": "int64",
    "moved": "int64",
    "stamp": "str",
}
MOVES = {
    "ranking_a": "str",
    "ranking_b": "str",
    **dict.fromkeys(ITEM, "str"),
    **dict.fromkeys(("rank_a", "rank_b", "change"), "int64"),
    "stamp": "str",
}

RANKINGS = {
    "ranking": "str",
    "method": "str",
    "rank": "Int64",
    "model": "str",
    "training": "str",
    "checkpoint": "str",
    "score": "float64",
    "stamp": "str",
}


def check_rankings(
    rankings: Sequence[Mapping[str, Any]], values: pd.DataFrame, plan: Plan
) -> list[Problem]:
    """Find what is wrong with the configured rankings.

    Parameters
    ----------
    rankings : sequence of mapping
        The configured rankings: ``name``, and a ``metric``, an ``expression`` or neither.
    values : pandas.DataFrame
        ``dataset``, ``metric`` and ``split``, a row per value.
    plan : Plan
        Where chosen checkpoints are compared.

    Returns
    -------
    list of Problem
        Errors with the code "bad_ranking", and the number of the ranking as column.
    """
    reported = values[values["split"] == plan.report]
    names = [ranking.get("name", "") for ranking in rankings]
    problems = []
    for position, ranking in enumerate(rankings):
        faults = list(_check_ranking(ranking, reported, plan))
        if names[position] in names[:position]:
            faults.append(("Another ranking has this name.", "Give it a name of its own."))
        problems += [
            Problem(
                code="bad_ranking",
                column=f"checkpoints.rankings[{position}]",
                value=names[position],
                reason=reason,
                remedy=remedy,
            )
            for reason, remedy in faults
        ]
    return problems


def rank_checkpoints(
    values: pd.DataFrame,
    checkpoints: pd.DataFrame,
    selected: pd.DataFrame,
    rankings: Sequence[Mapping[str, Any]],
    plan: Plan,
) -> pd.DataFrame:
    """Rank the chosen checkpoints in each configured way.

    Parameters
    ----------
    values : pandas.DataFrame
        ``model``, ``training``, ``checkpoint``, ``step``, ``dataset``, ``metric``, ``split`` and
        ``score``, a row per value.
    checkpoints, selected : pandas.DataFrame
        Of `choose_checkpoints` and `measure_optimism`.
    rankings : sequence of mapping
        The configured rankings, in which `check_rankings` found nothing wrong.
    plan : Plan
        How checkpoints were chosen, and where they are compared.

    Returns
    -------
    pandas.DataFrame
        The columns of `RANKINGS`: ranking by ranking, best first, ties by model, training and step.
        What has no score has no rank and stands last.

    Raises
    ------
    ValidationError
        If a ranking has a fault after all.

    Notes
    -----
    A row is the chosen checkpoint of a training, on the report split.

    - ``single``: the mean over datasets of one metric's raw values; its direction says which end is
      first.
    - ``best``: the value ``report`` of `measure_optimism`.
    - ``custom``: the value of an expression for the mean over datasets of each metric's raw values;
      higher is better.

    A checkpoint that lacks any of what it is ranked by has no score. Checkpoints with equal scores,
    up to 12 significant digits, share the best rank (1, 2, 2, 4).
    """
    if problems := check_rankings(rankings, values, plan):
        raise ValidationError("\n".join(map(str, problems)))
    chosen = checkpoints.loc[checkpoints["chosen"], CHECKPOINT].sort_values(CHECKPOINT)
    reported = values[values["split"] == plan.report].merge(chosen, on=CHECKPOINT)
    keys = pd.MultiIndex.from_frame(chosen)
    tables = [pd.DataFrame(columns=list(RANKINGS)).astype(RANKINGS)]
    for ranking in rankings:
        best: Direction = "max"
        method = _name_method(ranking)
        if method == "best":
            order = selected.sort_values(CHECKPOINT)
            rows = order[CHECKPOINT].assign(score=order["report"])
            best = plan.find_direction(plan.primary)
        else:
            rows = chosen.assign(score=_score_chosen(ranking, reported, keys))
            if method == "single":
                best = _find_common_direction(ranking["metric"], reported, plan) or "max"
        tables.append(_rank_rows(rows, best).assign(ranking=ranking["name"], method=method))
    table = pd.concat(tables, ignore_index=True).assign(stamp=plan.stamp)
    return table[list(RANKINGS)].astype(RANKINGS)


def _name_method(ranking: Mapping[str, Any]) -> str:
    if ranking.get("expression"):
        return "custom"
    return "single" if ranking.get("metric") else "best"


def _rank_rows(rows: pd.DataFrame, best: Direction) -> pd.DataFrame:
    """Rank what has a score; the rest follows without a rank."""
    known = rows[rows["score"].notna()]
    ranks = pd.Series(rank_competitors(known["score"], best=best), known.index, dtype="Int64")
    table = rows.assign(rank=ranks.reindex(rows.index))
    return table.sort_values(["rank", *CHECKPOINT], na_position="last")


def _score_chosen(
    ranking: Mapping[str, Any], reported: pd.DataFrame, keys: pd.MultiIndex
) -> FloatArray:
    """Score each chosen checkpoint by one metric or an expression."""
    if _name_method(ranking) == "single":
        return _average_metric(reported, ranking["metric"], keys)
    read = read_expression(ranking["expression"])
    means = {name: _average_metric(reported, name, keys) for name in read.names}
    return read.evaluate(means, size=len(keys))


def _average_metric(reported: pd.DataFrame, metric: str, keys: pd.MultiIndex) -> FloatArray:
    """Mean of each checkpoint that has all datasets on which any of them has the metric."""
    rows = reported[reported["metric"] == metric].sort_values([*CHECKPOINT, "dataset"])
    groups = rows.groupby(CHECKPOINT)["score"]
    means = groups.mean()[groups.size() == rows["dataset"].nunique()]
    return np.asarray(means.reindex(keys), dtype=np.float64)


def _check_ranking(
    ranking: Mapping[str, Any], reported: pd.DataFrame, plan: Plan
) -> Iterator[tuple[str, str]]:
    """Say what is wrong with a ranking, and what to do about it."""
    method = _name_method(ranking)
    if method == "single":
        yield from _check_single(ranking, reported, plan)
    elif method == "custom":
        yield from _check_expression(ranking["expression"], sorted(reported["metric"].unique()))


def _check_single(
    ranking: Mapping[str, Any], reported: pd.DataFrame, plan: Plan
) -> Iterator[tuple[str, str]]:
    present, metric = sorted(reported["metric"].unique()), ranking["metric"]
    if metric not in present:
        yield (
            f"The report split has no metric {quote_name(metric)}.",
            f"{ask_nearest(metric, present)}Its metrics are {list_names(present)}.",
        )
        return
    pairs = [(dataset, metric) for dataset in _list_datasets(metric, reported)]
    if any(pair not in plan.directions for pair in pairs):
        yield (
            f"Nothing says whether higher or lower is better of {quote_name(metric)}.",
            f"Set metrics: {{{write_key(metric)}: {{direction: max}}}} or min.",
        )
    elif not _find_common_direction(metric, reported, plan):
        yield (
            f"Of the metric {quote_name(metric)}, higher is better on some datasets and lower on "
            "others.",
            "Rank by an expression of several metrics, or make a study of each.",
        )


def _check_expression(expression: str, present: list[str]) -> Iterator[tuple[str, str]]:
    remedy = f"The metrics of the report split are {list_names(present)}."
    try:
        read: Expression = read_expression(expression)
    except ValidationError as error:
        yield str(error), remedy
        return
    if unknown := find_unknown_names(read, present):
        yield f"The expression has unknown metrics: {', '.join(unknown)}.", remedy
    if not read.names:
        yield "The expression has no metric, so all would be tied.", remedy


def _find_common_direction(metric: str, reported: pd.DataFrame, plan: Plan) -> Direction | None:
    """Find the direction that a metric has on all datasets, if it has one."""
    found = {plan.directions.get((name, metric)) for name in _list_datasets(metric, reported)}
    return found.pop() if len(found) == 1 else None


def _list_datasets(metric: str, reported: pd.DataFrame) -> list[str]:
    return sorted(reported.loc[reported["metric"] == metric, "dataset"].unique())


def analyse_checkpoints(
    evaluations: pd.DataFrame,
    *,
    study: str,
    settings: Settings,
    metric: str,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, Any]:
    """Choose a checkpoint of each training, rank checkpoints, and trace curves.

    Parameters
    ----------
    evaluations : pandas.DataFrame
        Columns of evaluations of checkpoints, with ``value``.
    study : str
        Name of the study, part of the names of its random streams.
    settings : mapping
        The setting `checkpoints`.
    metric, metrics, datasets
        The settings of these names.
    n_resamples
        As in the setting `comparison`.
    confidence_level, seed
        As in the setting `bootstrap`.

    Returns
    -------
    dict
        The tables of the analysis, and the splits ``split`` and ``report``.
    """
    values = evaluations.rename(columns={"value": "score"})
    plan, problems = plan_selection(
        values, settings, metric=metric, rules=Rules(metrics, datasets, {}, {})
    )
    if errors := [problem for problem in problems if problem.severity == "error"]:
        raise ValidationError("\n".join(map(str, errors)))
    listed = choose_checkpoints(values, plan)
    chosen = measure_optimism(values, listed, plan)
    rankings = settings.get("rankings", [])
    reported = values[values["split"] == plan.report]
    compared = [
        ranking
        for ranking in add_metric_rankings(rankings, sorted(reported["metric"].unique()))
        if not [*_check_ranking(ranking, reported, plan)]
    ]
    ranked = rank_checkpoints(values, listed, chosen, compared, plan)
    asked = ranked["ranking"].isin([ranking["name"] for ranking in rankings])
    return {
        "checkpoints": listed,
        "selected": chosen,
        "checkpoint_rankings": ranked[asked].reset_index(drop=True),
        **compare_rankings(ranked),
        "curves": trace_curves(
            values,
            plan,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=partial(make_stream, seed, study, "checkpoint_curves"),
        ),
        "split": plan.split,
        "report": plan.report,
    }


def add_metric_rankings(
    rankings: Sequence[Mapping[str, Any]], metrics: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Add a ranking by each metric alone that no configured ranking has, called after it."""
    known = {ranking.get("metric") for ranking in rankings if not ranking.get("expression")}
    taken = known | {ranking["name"] for ranking in rankings}
    added = [{"name": name, "metric": name} for name in metrics]
    return [*rankings, *(one for one in added if one["name"] not in taken)]


def compare_rankings(rankings: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Compare each pair of rankings of the same checkpoints.

    Parameters
    ----------
    rankings : pandas.DataFrame
        Of `capmap.checkpoints.rankings.rank_checkpoints`.

    Returns
    -------
    dict
        ``ranking_agreement``, a row per pair in the order of the rankings: ``kendall_tau``, how
        many ``checkpoints`` both rank, how many of these share a rank with another (``tied_a``,
        ``tied_b``), and how many have another rank (``moved``). ``ranking_moves``, a row per
        checkpoint that the first ranking and another one rank: ``rank_a``, ``rank_b`` and
        ``change`` (``rank_a − rank_b``, positive for one that rises), the largest changes first.

    Notes
    -----
    Ranks are competition ranks (1, 2, 2, 4) among the checkpoints that both rankings have. Tau-b
    allows for ties: 1 where both have the same order and the same ties. It is empty with fewer than
    two checkpoints, or where all are equal in one of the rankings.

    References
    ----------
    Kendall, M. G. (1945). The treatment of ties in ranking problems. Biometrika 33, 239–251.
    """
    known = rankings.dropna(subset="rank")
    ranks = {
        str(name): rows.set_index(ITEM)["rank"].astype("int64")
        for name, rows in known.groupby("ranking", sort=False)
    }
    first = next(iter(ranks), "")
    agreement, moves = [], [pd.DataFrame(columns=list(MOVES)).astype(MOVES)]
    for a, b in combinations(ranks, 2):
        both = pd.concat({"rank_a": ranks[a], "rank_b": ranks[b]}, axis=1, join="inner")
        for side in both:
            both[side] = rank_competitors(both[side], best="min")
        tau = compute_kendall_tau(both[["rank_a"]].to_numpy(), both[["rank_b"]].to_numpy())
        both["change"] = both["rank_a"] - both["rank_b"]
        agreement.append(
            {
                **{"ranking_a": a, "ranking_b": b, "kendall_tau": tau[0], "checkpoints": len(both)},
                "tied_a": both["rank_a"].duplicated(keep=False).sum(),
                "tied_b": both["rank_b"].duplicated(keep=False).sum(),
                "moved": (both["change"] != 0).sum(),
            }
        )
        if a == first:
            both["size"] = -both["change"].abs()
            order = both.reset_index().sort_values(["size", *ITEM])
            moves.append(order.assign(ranking_a=a, ranking_b=b))
    stamp = str(rankings["stamp"].iloc[0]) if len(rankings) else ""
    table = pd.DataFrame(agreement, columns=list(AGREEMENT)).assign(stamp=stamp)
    moved = pd.concat(moves, ignore_index=True).assign(stamp=stamp)
    return {
        "ranking_agreement": table.astype(AGREEMENT),
        "ranking_moves": moved[list(MOVES)].astype(MOVES),
    }
