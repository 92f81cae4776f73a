"""Rankings of trainings by their chosen checkpoints."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.checkpoints.expressions import read_expression
from capmap.checkpoints.plan import Plan, Settings, plan_selection
from capmap.checkpoints.selection import (
    CHECKPOINT,
    choose_checkpoints,
    count_choices,
    find_absent_datasets,
    find_unreported,
    gather_runs,
    measure_optimism,
    normalize_values,
)
from capmap.comparison.correlation import compute_kendall_tau
from capmap.errors import ValidationError
from capmap.exports import Exports
from capmap.exports.checkpoints import check_evaluations, read_evaluations
from capmap.exports.files import check_digests
from capmap.metrics import canonical_name
from capmap.normalization import Rules
from capmap.normalization.bounds import resolve_bounds
from capmap.normalization.rules import DatasetRule, MetricRule
from capmap.normalization.selection import select_runs
from capmap.problems import Problem, ask_nearest
from capmap.ranking.aggregation import FloatArray, rank_competitors
from capmap.ranking.standard_errors import percentile_interval
from capmap.renaming import list_metrics
from capmap.rng import make_stream
from capmap.settings.choices import Direction
from capmap.validation import Policies, Validation, validate_runs
from capmap.validation.configuration import rename_runs
from capmap.validation.rows import reject_rows
from capmap.validation.scores import find_misfits
from capmap.wording import list_names, quote_name, write_key

CURVES = [
    *("training", "model", "metric", "split", "step", "mean", "ci_low", "ci_high"),
    *("datasets", "trainings"),
]
ITEM = [name for name in CHECKPOINT if name != "step"]
RANKINGS = ["ranking", "method", "rank", *ITEM, "score", "stamp"]
AGREEMENT = ["ranking_a", "ranking_b", "kendall_tau", "checkpoints", "tied_a", "tied_b", "moved"]
MOVES = ["ranking_a", "ranking_b", *ITEM, "rank_a", "rank_b", "change"]
PERCENTAGES = ("percent", "mixed_percent")
ORDER = ["model", "training", "step", "checkpoint", "dataset", "metric", "split"]
EVALUATIONS = [
    *("model", "training", "checkpoint", "step", "dataset", "metric", "split", "seed", "value"),
    *("source", "line"),
]


def trace_curves(
    values: pd.DataFrame,
    plan: Plan,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Average each metric over datasets at each step of each training, and over trainings.

    Parameters
    ----------
    values : pandas.DataFrame
        ``model``, ``training``, ``checkpoint``, ``step``, ``dataset``, ``metric``, ``split`` and
        ``score``, a row per value.
    plan : Plan
        Which values are better.
    n_resamples : int
        Number of bootstrap replicates.
    confidence_level : float
        Of the intervals, between 0 and 1.
    make_rng : callable
        Makes a random generator: ``make_rng(*datasets)`` draws from these datasets.

    Returns
    -------
    pandas.DataFrame
        The columns of `CURVES`, by metric, split, model, training and step. A model with several
        trainings has a curve of its own, whose ``training`` is "" and which says in ``trainings``
        how many it averages; elsewhere that is 1.

    Notes
    -----
    A metric with one dataset on a split keeps its raw values. With several, they are normalized: 0
    for the worst and 1 for the best value that any checkpoint of any training has on the dataset,
    0.5 where all are equal; a metric of which nobody says the direction is not turned. ``datasets``
    says how many a mean is of, so a step that lacks some is known.

    Intervals of a training are percentile intervals of the mean over datasets drawn with
    replacement. With one dataset there is none, and with few they are too narrow. Steps with the
    same datasets share their draws, so curves are compared on the same ones.

    A model's curve is the mean of its trainings at the steps that all of them have, on the same
    datasets, with Student's t interval of that mean: it says what another training might do on
    these datasets, and not what other datasets might.
    """
    tables = []
    for key, rows in values.groupby(["metric", "split"]):
        own = rows.sort_values([*CHECKPOINT, "dataset"])
        if len(own["dataset"].unique()) > 1:
            own = own.assign(score=normalize_values(own, plan.directions))
        wide = own.pivot_table(index=CHECKPOINT, columns="dataset", values="score")
        steps = _average_steps(
            wide, n_resamples=n_resamples, confidence_level=confidence_level, make_rng=make_rng
        )
        models = _average_trainings(steps, confidence_level=confidence_level)
        table = pd.concat([models, steps.assign(trainings=1)])
        table = table.sort_values(["model", "training", "step"])
        metric, split = map(str, key)
        tables.append(table.assign(metric=metric, split=split))
    return pd.concat(tables, ignore_index=True)[CURVES]


def _average_steps(
    wide: pd.DataFrame,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Means and intervals of the rows of a table with a column per dataset, and their pattern."""
    scores = wide.to_numpy(dtype=np.float64)
    known = np.isfinite(scores)
    numbers = np.full((3, len(scores)), np.nan)
    patterns, found = np.unique(known, axis=0, return_inverse=True)
    owner = found.reshape(-1)
    for number, pattern in enumerate(patterns):
        places = np.flatnonzero(owner == number)
        own = scores[places][:, pattern]
        numbers[0, places] = own.mean(axis=1)
        if pattern.sum() > 1:
            datasets: Sequence[str] = wide.columns[pattern].tolist()
            shares = _draw_shares(len(datasets), n_resamples, make_rng(*datasets))
            ends = [
                percentile_interval(replicates, confidence_level=confidence_level)
                for replicates in own @ shares
            ]
            numbers[1:, places] = np.transpose(ends)
    mean, low, high = numbers
    steps = wide.index.to_frame(index=False).assign(pattern=owner)
    return steps.assign(mean=mean, ci_low=low, ci_high=high, datasets=known.sum(axis=1))


def _average_trainings(steps: pd.DataFrame, *, confidence_level: float) -> pd.DataFrame:
    """Means over the trainings of models that have several, at the steps that all of them have."""
    totals = steps.groupby("model")["training"].transform("nunique")
    groups = steps[totals > 1].assign(total=totals).groupby(["model", "step"], as_index=False)
    table = groups.agg(
        mean=("mean", "mean"),
        spread=("mean", "std"),
        datasets=("datasets", "first"),
        trainings=("mean", "size"),
        total=("total", "first"),
        patterns=("pattern", "nunique"),
    )
    table = table[(table["trainings"] == table["total"]) & (table["patterns"] == 1)]
    quantile = scipy.stats.t.ppf((1 + confidence_level) / 2, table["trainings"] - 1)
    half = quantile * table["spread"] / np.sqrt(table["trainings"])
    return table.assign(training="", ci_low=table["mean"] - half, ci_high=table["mean"] + half)


def _draw_shares(count: int, n_resamples: int, rng: np.random.Generator) -> FloatArray:
    """Share of each dataset (rows) in each replicate (columns)."""
    drawn = rng.multinomial(count, np.full(count, 1 / count), size=n_resamples)
    return np.asarray(drawn.T / count, dtype=np.float64)


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
    for position, (name, ranking) in enumerate(zip(names, rankings, strict=True)):
        faults = [_find_fault(ranking, reported, plan)]
        if name in names[:position]:
            faults.append(("Another ranking has this name.", "Give it a name of its own."))
        problems += [
            Problem(
                code="bad_ranking",
                column=f"checkpoints.rankings[{position}]",
                value=name,
                reason=reason,
                remedy=remedy,
            )
            for reason, remedy in filter(None, faults)
        ]
    return problems


def _find_fault(
    ranking: Mapping[str, Any], reported: pd.DataFrame, plan: Plan
) -> tuple[str, str] | None:
    """Say what is wrong with a ranking, and what to do about it."""
    present, metric = sorted(reported["metric"].unique()), ranking.get("metric", "")
    if text := ranking.get("expression", ""):
        return _find_fault_of_expression(text, present)
    if metric and metric not in present:
        remedy = f"{ask_nearest(metric, present)}Its metrics are {list_names(present)}."
        return f"The report split has no metric {quote_name(metric)}.", remedy
    directions = _list_directions(metric, reported, plan)
    if metric and None in directions:
        return (
            f"Nothing says whether higher or lower is better of {quote_name(metric)}.",
            f"Set metrics: {{{write_key(metric)}: {{direction: max}}}} or min.",
        )
    if len(directions) > 1:
        return (
            f"Of the metric {quote_name(metric)}, higher is better on some datasets and lower on "
            "others.",
            "Rank by an expression of several metrics, or make a study of each.",
        )
    return None


def _find_fault_of_expression(text: str, present: list[str]) -> tuple[str, str] | None:
    remedy = f"The metrics of the report split are {list_names(present)}."
    try:
        read = read_expression(text)
    except ValidationError as error:
        return str(error), remedy
    if unknown := [name for name in read.names if name not in present]:
        hint = ask_nearest(unknown[0], present)
        return f"The expression has unknown metrics: {list_names(unknown)}.", hint + remedy
    return None if read.names else ("The expression has no metric, so all would be tied.", remedy)


def _list_directions(metric: str, reported: pd.DataFrame, plan: Plan) -> set[Direction | None]:
    """The directions that a metric has on its datasets."""
    names = reported.loc[reported["metric"] == metric, "dataset"].unique()
    return {plan.directions.get((name, metric)) for name in names}


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
    chosen = checkpoints.loc[checkpoints["chosen"], CHECKPOINT].sort_values(CHECKPOINT)
    reported = values[values["split"] == plan.report].merge(chosen, on=CHECKPOINT)
    keys = pd.MultiIndex.from_frame(chosen)
    tables = [pd.DataFrame(columns=RANKINGS)]
    for ranking in rankings:
        method, rows = "best", selected.assign(score=selected["report"])
        best: Direction = "max"
        if text := ranking.get("expression"):
            read, method = read_expression(text), "custom"
            means = {name: _average_metric(reported, name, keys) for name in read.names}
            rows = chosen.assign(score=read.evaluate(means, size=len(keys)))
        elif metric := ranking.get("metric"):
            method, rows = "single", chosen.assign(score=_average_metric(reported, metric, keys))
            best = _list_directions(metric, reported, plan).pop() or "max"
        else:
            best = plan.find_direction(plan.primary)
        known = rows.loc[rows["score"].notna(), "score"]
        ranks = pd.Series(rank_competitors(known, best=best), known.index, dtype="Int64")
        rows = rows.assign(rank=ranks.reindex(rows.index), ranking=ranking["name"], method=method)
        tables.append(rows.sort_values(["rank", *CHECKPOINT], na_position="last"))
    table = pd.concat(tables[1:] or tables, ignore_index=True)
    return table.assign(stamp=plan.stamp)[RANKINGS]


def _average_metric(reported: pd.DataFrame, metric: str, keys: pd.MultiIndex) -> FloatArray:
    """Mean of each checkpoint that has all datasets on which any of them has the metric."""
    rows = reported[reported["metric"] == metric].sort_values([*CHECKPOINT, "dataset"])
    groups = rows.groupby(CHECKPOINT)["score"]
    means = groups.mean()[groups.size() == rows["dataset"].nunique()]
    return np.asarray(means.reindex(keys), dtype=np.float64)


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
    rankings = settings.get("rankings", [])
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors := errors or check_rankings(rankings, values, plan):
        raise ValidationError("\n".join(map(str, errors)))
    listed = choose_checkpoints(values, plan)
    chosen = measure_optimism(values, listed, plan)
    reported = values[values["split"] == plan.report]
    compared = [
        ranking
        for ranking in add_metric_rankings(rankings, sorted(reported["metric"].unique()))
        if _find_fault(ranking, reported, plan) is None
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
    agreement, moves = [], [pd.DataFrame(columns=MOVES)]
    for a, b in combinations(ranks, 2):
        both = pd.concat({"rank_a": ranks[a], "rank_b": ranks[b]}, axis=1, join="inner")
        for side in both:
            both[side] = rank_competitors(both[side], best="min")
        tau = compute_kendall_tau(both[["rank_a"]].to_numpy(), both[["rank_b"]].to_numpy())
        both["change"] = both["rank_a"] - both["rank_b"]
        tied = [int(both[side].duplicated(keep=False).sum()) for side in ("rank_a", "rank_b")]
        agreement.append((a, b, tau[0], len(both), *tied, int((both["change"] != 0).sum())))
        if a == first:
            order = both.assign(size=-both["change"].abs()).reset_index()
            moves.append(order.sort_values(["size", *ITEM]).assign(ranking_a=a, ranking_b=b))
    stamp = str(rankings["stamp"].iloc[0]) if len(rankings) else ""
    return {
        "ranking_agreement": pd.DataFrame(agreement, columns=AGREEMENT).assign(stamp=stamp),
        "ranking_moves": pd.concat(moves[1:] or moves, ignore_index=True)[MOVES].assign(
            stamp=stamp
        ),
    }


def check_checkpoints(
    exports: Sequence[str],
    *,
    names: Sequence[str],
    checkpoints: Settings,
    **settings: Any,
) -> tuple[Exports, Validation, dict[str, Any]]:
    """Read values of checkpoints, choose one per training, and find everything that is wrong."""
    rules, renamed = Rules.choose(settings, settings["references"]), settings["renamed"]
    read = read_evaluations(
        exports,
        dataset_metrics=list_metrics(settings["datasets"], renamed),
        **{name: settings[name] for name in ("columns", "where", "metric", "decimal")},
    )
    table, misnamed = rename_runs(read.table, renamed)
    sound = reject_rows(table, read.exports.problems, policy=settings["invalid"])
    values, faults = check_evaluations(sound.runs, read.columns, duplicates=settings["duplicates"])
    plan, doubts = plan_selection(values, checkpoints, metric=settings["metric"], rules=rules)
    listed = choose_checkpoints(values, plan)
    if values.empty:
        doubts = []  # the files are at fault, and not the settings
    elif not any(problem.severity == "error" for problem in doubts):
        doubts += check_rankings(settings["rankings"], values, plan)
    analysed, _ = select_runs(values, datasets=settings["select"].get("datasets", "all"))
    compared = gather_runs(values, listed, plan)
    # The rules of metrics that checkpoints are chosen, but not compared by, say nothing of runs.
    read_only = {*map(canonical_name, values["metric"].unique())}
    read_only -= {*map(canonical_name, compared["metric"].unique())}
    kept = {
        name: rule for name, rule in rules.metrics.items() if canonical_name(name) not in read_only
    }
    result = validate_runs(
        compared,
        [
            *check_digests(exports, settings["checksums"], names=names),
            *(*sound.faults, *sound.others, *misnamed, *faults, *doubts),
            *find_unreported(values, listed, plan),
            *find_absent_datasets(analysed, listed, plan, incomplete=settings["incomplete"]),
        ],
        rules=replace(rules, metrics=kept),
        policies=Policies.choose(settings),
        named=settings["named"],
        renamed=renamed,
    )
    evaluations = values.sort_values(ORDER, ignore_index=True)
    made = {
        "evaluations": evaluations.rename(columns={"score": "value"})[EVALUATIONS],
        "validation": {"checkpoints": count_choices(values, listed, plan)},
    }
    return read.exports, _look_at_all(result, values, plan, rules), made


def _look_at_all(result: Validation, values: pd.DataFrame, plan: Plan, rules: Rules) -> Validation:
    """Look for percentages among fractions in the values of all checkpoints, not of chosen ones."""
    is_compared = values["dataset"].map(plan.primary) == values["metric"]
    rows = values[is_compared & values["split"].isin([plan.split, plan.report])]
    bounds, _ = resolve_bounds(
        rows,
        metrics=rules.metrics,
        datasets=rules.datasets,
        normalization=rules.normalization,
        references=rules.references,
    )
    converted = [name for name, rule in rules.datasets.items() if "transform" in rule]
    found: list[Problem] = [
        problem
        for problem in find_misfits(rows, bounds, transformed=converted)
        if problem.code in PERCENTAGES
    ]
    others = [problem for problem in result.problems if problem.code not in PERCENTAGES]
    return replace(result, problems=others).add_problems(found)
