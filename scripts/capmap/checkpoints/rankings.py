"""Rankings of trainings by their chosen checkpoints, and curves over their steps."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.checkpoints.selection import (
    CHECKPOINT,
    Plan,
    choose_checkpoints,
    measure_optimism,
    normalize_values,
    plan_selection,
)
from capmap.errors import ValidationError
from capmap.normalization import DatasetRule, MetricRule, Rules
from capmap.problems import ask_nearest
from capmap.ranking.aggregation import FloatArray, compute_kendall_tau, rank_competitors
from capmap.ranking.standard_errors import percentile_interval
from capmap.rng import make_stream
from capmap.wording import list_names, quote_name, write_key

ITEM = [name for name in CHECKPOINT if name != "step"]
# Metrics in an expression, in backticks or followed by no parenthesis; and all that it is made of.
METRIC = re.compile(r"`([^`]+)`|\b([^\W\d]\w*)\b(?!\s*\()")
EXPRESSION = re.compile(r"(?:`[^`]+`|[\w\s+*/(),-]|\.(?![^\W\d]))+")


def analyse_checkpoints(
    evaluations: pd.DataFrame,
    *,
    study: str,
    settings: Mapping[str, Any],
    metric: str,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Choose a checkpoint of each training, rank checkpoints, and trace curves.

    Returns the tables of the analysis.
    """
    values = evaluations.rename(columns={"value": "score"})
    rules = Rules(metrics, datasets, {}, {})
    plan, problems = plan_selection(values, settings, metric=metric, rules=rules)
    errors = [str(problem) for problem in problems if problem.severity == "error"]
    rankings = settings.get("rankings", [])
    reported = values[values["split"] == plan.report]
    if errors := errors or check_rankings(rankings, reported, plan):
        raise ValidationError("\n".join(errors))
    listed = choose_checkpoints(values, plan)
    chosen = measure_optimism(values, listed, plan)
    asked = [ranking["name"] for ranking in rankings]
    known = {ranking.get("metric") for ranking in rankings if not ranking.get("expression")}
    # Rankings are also compared with those by each metric alone.
    more = [
        {"name": name, "metric": name}
        for name in sorted({*reported["metric"]} - known - {*asked})
        if not find_fault({"metric": name}, reported, plan)
    ]
    ranked = rank_checkpoints(reported, chosen, [*rankings, *more], plan)
    return {
        "checkpoints": listed,
        "selected": chosen,
        "checkpoint_rankings": ranked[ranked["ranking"].isin(asked)].reset_index(drop=True),
        "ranking_agreement": compare_rankings(ranked),
        "curves": trace_curves(
            values,
            plan,
            n_resamples=n_resamples,
            confidence_level=confidence_level,
            make_rng=partial(make_stream, seed, study, "checkpoint_curves"),
        ),
    }


def check_rankings(
    rankings: Sequence[Mapping[str, Any]], reported: pd.DataFrame, plan: Plan
) -> list[str]:
    """Say what is wrong with the configured rankings, of values on the report split."""
    told, names = [], list[str]()
    for position, ranking in enumerate(rankings):
        fault, name = find_fault(ranking, reported, plan), ranking["name"]
        if fault or name in names:
            fault = fault or "Another ranking has this name."
            told.append(f"checkpoints.rankings[{position}] ({quote_name(name)}): {fault}")
        names.append(name)
    return told


def find_fault(ranking: Mapping[str, Any], reported: pd.DataFrame, plan: Plan) -> str:
    """Say what is wrong with a ranking and what to do about it; "" if nothing is."""
    present, metric = sorted(reported["metric"].unique()), ranking.get("metric", "")
    wanted = [metric] if metric else []
    if text := ranking.get("expression", ""):
        wanted = list_metrics(text)
        try:
            evaluate(text, pd.DataFrame(1.0, index=[0], columns=wanted))
        except ValidationError as error:
            return str(error)
        if not wanted:
            return "The expression has no metric, so all would be tied."
    for name in wanted:
        if name not in present:
            hint = ask_nearest(name, present)
            return f"The report split has no metric {quote_name(name)}. {hint}Its metrics are " + (
                f"{list_names(present)}."
            )
    if text or not metric:
        return ""
    names = reported.loc[reported["metric"] == metric, "dataset"].unique()
    directions = {plan.directions.get((name, metric)) for name in names}
    if None in directions:
        return (
            f"Nothing says whether higher or lower is better of {quote_name(metric)}. Set metrics: "
            f"{{{write_key(metric)}: {{direction: max}}}} or min."
        )
    if len(directions) > 1:
        return "Higher is better on some datasets and lower on others: rank by an expression."
    return ""


def rank_checkpoints(
    reported: pd.DataFrame,
    selected: pd.DataFrame,
    rankings: Sequence[Mapping[str, Any]],
    plan: Plan,
) -> pd.DataFrame:
    """Rank the chosen checkpoints in each configured way, by their values on the report split.

    - ``single``: the mean over datasets of one metric's raw values; its direction says which end is
      first.
    - ``best``: the value ``report`` of `measure_optimism`.
    - ``custom``: the value of an expression for the mean over datasets of each metric's raw values;
      higher is better.

    A checkpoint that lacks any of what it is ranked by has no score and no rank, and stands last.
    Checkpoints with equal scores, up to 12 significant digits, share the best rank (1, 2, 2, 4).
    """
    chosen = selected.sort_values(CHECKPOINT, ignore_index=True)
    scores: Any
    keys = pd.MultiIndex.from_frame(chosen[CHECKPOINT])
    tables = []
    for ranking in rankings:
        metric, text = ranking.get("metric", ""), ranking.get("expression", "")
        method, scores, best = "best", chosen["report"], plan.find_direction(plan.primary)
        if text:
            means = {name: _average_metric(reported, name, keys) for name in list_metrics(text)}
            method, scores, best = "custom", evaluate(text, pd.DataFrame(means)), "max"
        elif metric:
            name = reported.loc[reported["metric"] == metric, "dataset"].iloc[0]
            method, scores = "single", _average_metric(reported, metric, keys)
            best = plan.directions.get((name, metric), "max")
        rows = chosen.assign(score=scores, ranking=ranking["name"], method=method)
        known = rows.loc[rows["score"].notna(), "score"]
        ranks = pd.Series(rank_competitors(known, best=best), known.index, dtype="Int64")
        rows = rows.assign(rank=ranks.reindex(rows.index))
        tables.append(rows.sort_values(["rank", *CHECKPOINT], na_position="last"))
    return pd.concat(tables, ignore_index=True)


def _average_metric(reported: pd.DataFrame, metric: str, keys: pd.MultiIndex) -> FloatArray:
    """Mean of each checkpoint that has all datasets on which any chosen one has the metric."""
    rows = reported[reported["metric"] == metric].set_index(CHECKPOINT)
    rows = rows[rows.index.isin(keys)].sort_values([*CHECKPOINT, "dataset"])
    groups = rows.groupby(CHECKPOINT)["score"]
    means = groups.mean()[groups.size() == rows["dataset"].nunique()]
    return np.asarray(means.reindex(keys), dtype=np.float64)


def compare_rankings(rankings: pd.DataFrame) -> pd.DataFrame:
    """Compare each pair of rankings, by ranks among the checkpoints that both rank.

    Tau-b allows for ties: 1 where both have the same order and the same ties (Kendall 1945). It is
    empty with fewer than two checkpoints, or where all are equal in one of the rankings.
    """
    ranks = {
        str(name): rows.set_index(ITEM)["rank"].astype("int64")
        for name, rows in rankings.dropna(subset="rank").groupby("ranking", sort=False)
    }
    agreement = []
    for a, b in combinations(ranks, 2):
        both = pd.concat([ranks[a], ranks[b]], axis=1, join="inner").to_numpy()
        ours, theirs = (rank_competitors(own, best="min") for own in both.T)
        tau = compute_kendall_tau(ours, theirs)
        agreement.append((a, b, tau, len(both), int((ours != theirs).sum())))
    stamp = str(rankings["stamp"].iloc[0]) if len(rankings) else ""
    names = ["ranking_a", "ranking_b", "kendall_tau", "checkpoints", "moved"]
    return pd.DataFrame(agreement, columns=names).assign(stamp=stamp)


def trace_curves(
    values: pd.DataFrame,
    plan: Plan,
    *,
    n_resamples: int,
    confidence_level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Average each metric over datasets at each step of each training, and over trainings.

    A metric with one dataset on a split keeps its raw values; with several they are normalized, see
    `normalize_values`. Intervals of a training are percentile intervals of the mean over datasets
    drawn with replacement: none with one dataset, too narrow with few. Steps with the same datasets
    share their draws (``make_rng(*datasets)``), so curves are compared on the same ones.

    A model with several trainings has a curve of its own, whose ``training`` is "": the mean at the
    steps that all of them have on the same datasets, with Student's t interval of that mean. It
    says what another training might do on these datasets, and not what other datasets might.
    """
    tables = []
    for key, rows in values.groupby(["metric", "split"]):
        metric, split = map(str, key)
        own = rows.sort_values([*CHECKPOINT, "dataset"])
        if len(own["dataset"].unique()) > 1:
            own = own.assign(score=normalize_values(own, plan.directions))
        wide = own.pivot_table(index=CHECKPOINT, columns="dataset", values="score")
        steps = _average_steps(wide, n_resamples, confidence_level, make_rng)
        models = _average_trainings(steps, confidence_level)
        table = pd.concat([models, steps.assign(trainings=1)])
        table = table.sort_values(["model", "training", "step"])
        tables.append(table.assign(metric=metric, split=split))
    return pd.concat(tables, ignore_index=True)


def _average_steps(
    wide: pd.DataFrame,
    n_resamples: int,
    level: float,
    make_rng: Callable[..., np.random.Generator],
) -> pd.DataFrame:
    """Means and intervals of the rows of a table with a column per dataset, and their pattern."""
    scores = wide.to_numpy(dtype=np.float64)
    known = np.isfinite(scores)
    mean, low, high = np.full((3, len(scores)), np.nan)
    patterns, owner = np.unique(known, axis=0, return_inverse=True)
    owner = owner.reshape(-1)
    for number, pattern in enumerate(patterns):
        places, count = np.flatnonzero(owner == number), int(pattern.sum())
        own = scores[places][:, pattern]
        mean[places] = own.mean(axis=1)
        if count > 1:
            rng = make_rng(*wide.columns[pattern])
            # The share of each dataset in each replicate.
            drawn = rng.multinomial(count, np.full(count, 1 / count), size=n_resamples)
            replicates = own @ np.asarray(drawn.T / count, dtype=np.float64)
            ends = [percentile_interval(row, confidence_level=level) for row in replicates]
            low[places], high[places] = np.transpose(ends)
    steps = wide.index.to_frame(index=False).assign(pattern=owner)
    return steps.assign(mean=mean, ci_low=low, ci_high=high, datasets=known.sum(axis=1))


def _average_trainings(steps: pd.DataFrame, confidence_level: float) -> pd.DataFrame:
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


def list_metrics(text: str) -> list[str]:
    """List the metrics that an expression asks for, by name.

    Examples
    --------
    >>> list_metrics("0.7*accuracy - 0.3*sqrt(`top-1 error`)")
    ['accuracy', 'top-1 error']
    """
    return sorted({quoted or plain for quoted, plain in METRIC.findall(text)})


def evaluate(text: str, values: pd.DataFrame) -> FloatArray:
    """Evaluate an expression for each row from the values of its metrics, as pandas does.

    NaN where it has no finite value, such as a division by zero, or where a metric is missing.

    Examples
    --------
    >>> evaluate("log(a) / b", pd.DataFrame({"a": [1, 1], "b": [4, 0]})).tolist()
    [0.0, nan]
    """
    try:
        if not EXPRESSION.fullmatch(text):
            raise ValueError(text)
        with np.errstate(all="ignore"):
            found = values.eval(text.replace("\n", " ").strip(), engine="python")
        scores = np.broadcast_to(np.asarray(found, dtype=np.float64), len(values))
    # What is no expression raises nearly anything.
    except Exception as error:
        raise ValidationError(
            f"{quote_name(text)} is no expression: use numbers, metrics, + - * / ( ) and functions "
            "such as abs, exp, log and sqrt. Other names of metrics stand in backticks."
        ) from error
    return np.where(np.isfinite(scores), scores, np.nan)
