"""Trainings: a checkpoint of each is chosen, the chosen ones are ranked, and curves over steps."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import scipy

from capmap.errors import ValidationError
from capmap.normalization import DatasetRule, MetricRule, Rules
from capmap.problems import Problem, Severity, ask_nearest
from capmap.ranking.aggregation import (
    FloatArray,
    compute_kendall_tau,
    rank_competitors,
    round_significant,
)
from capmap.ranking.standard_errors import percentile_interval
from capmap.rng import make_stream
from capmap.settings.choices import Direction
from capmap.wording import list_names, quote_name, write_key

STAMP = "selected on the test split"
SPLIT, REPORT = "validation", "test"
TRAINING = ["model", "training"]
CHECKPOINT = [*TRAINING, "step", "checkpoint"]
MIDDLE = 0.5
RUNS = ["model", "dataset", "metric", "seed", "score", "raw", "source", "line", "column"]
ITEM = [name for name in CHECKPOINT if name != "step"]
# Metrics in an expression, in backticks or followed by no parenthesis; and all that it is made of.
METRIC = re.compile(r"`([^`]+)`|\b([^\W\d]\w*)\b(?!\s*\()")
EXPRESSION = re.compile(r"(?:`[^`]+`|[\w\s+*/(),-]|\.(?![^\W\d]))+")
# What can be wrong with the choice of checkpoints: what is said, and what to do.
PROBLEMS = {
    "no_splits": (
        "The exports name no split, so checkpoints are chosen and compared by the same values.",
        "The scores of chosen checkpoints flatter them; add a column of splits if you can.",
    ),
    "no_split": (
        "No value is of the split {value} (checkpoints.{place}.split).",
        "{hint}The splits are {present}.",
    ),
    "test_selection": (
        "Checkpoints would be chosen on the test split {value}, so that what is found of them "
        "there is too good.",
        "Choose them on another split (checkpoints.select.split), or set "
        "checkpoints.allow_test_selection: true, which is said in every table.",
    ),
    "unknown_metric": (
        "No checkpoint has a value of the metric {value} ({place}).",
        "{hint}The metrics are {present}.",
    ),
    "no_primary_metric": (
        "The dataset {value} has the metrics {present}, and nothing says by which of them models "
        "are compared.",
        "Set metric, or datasets: {{{key}: {{metric: {metric}}}}}.",
    ),
    "no_selection_value": (
        "The selection split has no value of {what} of any dataset.",
        "Correct checkpoints.select, or evaluate checkpoints there.",
    ),
    "unknown_direction": (
        "Checkpoints are chosen by the metric {value}, and nothing says whether its higher or its "
        "lower value is better.",
        "Set metrics: {{{key}: {{direction: max}}}} or min.",
    ),
    "no_candidate": (
        "{lacking} of {total} checkpoints of the training {value} cannot be chosen: they lack "
        "datasets of the selection, as {checkpoint} does.",
        "Evaluate them there, or leave datasets or the training out with where.",
    ),
    "no_report_value": (
        "The checkpoint {checkpoint} that is chosen of the training {value} has no value on the "
        "report split {split}.",
        "Evaluate it there, or set checkpoints.report.split.",
    ),
    "not_compared": (
        "Models are not compared on {names}: no chosen checkpoint has a value there on the report "
        "split {split}.",
        "Check how splits are spelled, or evaluate the chosen checkpoints there.",
    ),
}


def tell(code: str, value: str = "", severity: Severity = "error", **said: Any) -> Problem:
    """Make a problem of `PROBLEMS`, whose sentences say more than the value."""
    reason, remedy = (text.format(value=quote_name(value), **said) for text in PROBLEMS[code])
    return Problem(severity=severity, code=code, value=value, reason=reason, remedy=remedy)


@dataclass(frozen=True)
class Plan:
    """How the checkpoints of a study are chosen and compared.

    Parameters
    ----------
    split, report : str
        Where they are chosen and where the chosen ones are compared; empty where the exports name
        no splits.
    metrics : mapping of str to str
        The metric by which they are chosen on each dataset of the selection.
    primary : mapping of str to str
        The metric by which they are compared on each dataset of the study.
    directions : mapping of (dataset, metric) to {"max", "min"}
        Which value is better; without those of which nobody says it.
    stamp : str
        What every table says of a choice on a test split; otherwise empty.
    """

    split: str
    report: str
    metrics: Mapping[str, str]
    primary: Mapping[str, str]
    directions: Mapping[tuple[str, str], Direction]
    stamp: str

    def find_direction(self, metrics: Mapping[str, str]) -> Direction:
        """Find which mean over datasets is better: normalized ones are turned, one is raw."""
        if len(metrics) != 1:
            return "max"
        return self.directions.get(next(iter(metrics.items())), "max")


def plan_selection(
    values: pd.DataFrame, settings: Mapping[str, Any], *, metric: str, rules: Rules
) -> tuple[Plan, list[Problem]]:
    """Decide by what checkpoints are chosen and compared, and say what is wrong with that.

    Datasets are compared by the metric of their rule, else by the study's, else by that of the
    selection, else by the only one that they have. Checkpoints are chosen by the metric of the
    selection, else by that by which the dataset is compared; on all datasets that have the
    metric on the selection split. Values without any split have one nameless split, which
    serves for both. The plan is of use only when there is no error.
    """
    wanted = settings.get("select", {}).get("metric", "")
    split, report, problems = _choose_splits(values, settings)
    present = sorted(values["metric"].unique())
    own = {f"datasets.{name}": rule.get("metric", "") for name, rule in rules.datasets.items()}
    for place, name in {"metric": metric, "checkpoints.select": wanted, **own}.items():
        if name and name not in present:
            hint, listed = ask_nearest(name, present), list_names(present)
            problems.append(tell("unknown_metric", name, place=place, hint=hint, present=listed))
    reported = values[values["split"] == report]
    primary, faults = _choose_primary(reported, [metric, wanted], rules)
    problems += faults
    offered = values[values["split"] == split]
    by = dict.fromkeys(values["dataset"], wanted) if wanted else primary
    pairs = {*offered[["dataset", "metric"]].itertuples(index=False, name=None)}
    metrics = {name: by[name] for name in sorted(by) if (name, by[name]) in pairs}
    if not metrics and len(offered) and (not wanted or wanted in present):
        what = f"the metric {quote_name(wanted)}" if wanted else "a metric to choose by"
        problems.append(tell("no_selection_value", wanted, what=what))
    directions = find_directions(values, rules)
    problems += [
        tell("unknown_direction", name, key=write_key(name))
        for name in sorted({pair[1] for pair in metrics.items() if pair not in directions})
    ]
    stamp = STAMP if split and split.casefold() == report.casefold() else ""
    return Plan(split, report, metrics, primary, directions, stamp), problems


def find_directions(values: pd.DataFrame, rules: Rules) -> dict[tuple[str, str], Direction]:
    """Find which value of each dataset and metric is better, where somebody says it."""
    pairs = {*values[["dataset", "metric"]].itertuples(index=False, name=None)}
    found = {pair: rules.find_direction(*pair)[0] for pair in pairs}
    return {pair: direction for pair, direction in found.items() if direction}


def _choose_splits(
    values: pd.DataFrame, settings: Mapping[str, Any]
) -> tuple[str, str, list[Problem]]:
    split = settings.get("select", {}).get("split", SPLIT)
    report = settings.get("report", {}).get("split", REPORT)
    present = sorted(values["split"].unique())
    if present in ([""], []):
        return "", "", [tell("no_splits", severity="warning")] if present else []
    problems = []
    for place, name in (("select", split), ("report", report)):
        if name not in present:
            hint, listed = ask_nearest(name, present), list_names(present)
            problems.append(tell("no_split", name, place=place, hint=hint, present=listed))
    if split.casefold() == report.casefold() and not settings.get("allow_test_selection", False):
        problems.append(tell("test_selection", split))
    return split, report, problems


def _choose_primary(
    reported: pd.DataFrame, usual: Sequence[str], rules: Rules
) -> tuple[dict[str, str], list[Problem]]:
    """Choose the metric by which each dataset of the report split is compared."""
    primary, problems = {}, []
    for dataset, names in reported.groupby("dataset")["metric"]:
        name, present = str(dataset), sorted(names.unique())
        wanted = [rules.of_dataset(name).get("metric", ""), *usual]
        known = [metric for metric in wanted if metric in present]
        if known or len(present) == 1:
            primary[name] = (known or present)[0]
        else:
            key, metric = write_key(name), write_key(present[0])
            listed = list_names(present)
            problems.append(tell("no_primary_metric", name, present=listed, key=key, metric=metric))
    return primary, problems


def average_values(
    values: pd.DataFrame, plan: Plan, metrics: Mapping[str, str], split: str
) -> pd.DataFrame:
    """Average each checkpoint's values on a split over datasets, and count these.

    One dataset: its raw value. Several: the mean of normalized values, see `normalize_values`. The
    ends are those of the study, so with several datasets a training that is added or diverges
    changes the weight of a dataset for all others, and with it may change their choice.
    """
    wanted = values["dataset"].map(metrics) == values["metric"]
    rows = values[wanted & (values["split"] == split)].sort_values([*CHECKPOINT, "dataset"])
    scores = rows["score"].to_numpy(dtype=np.float64)
    if len(metrics) > 1:
        scores = normalize_values(rows, plan.directions)
    means = rows[CHECKPOINT].assign(value=scores).groupby(CHECKPOINT, as_index=False)
    return means.agg(value=("value", "mean"), datasets=("value", "size"))


def normalize_values(
    rows: pd.DataFrame, directions: Mapping[tuple[str, str], Direction]
) -> FloatArray:
    """Map the values of each dataset and metric to 0 (worst of any checkpoint) to 1 (best).

    Where all are equal it is 0.5; where nobody says which is better, higher is taken as better.

    Examples
    --------
    >>> rows = pd.DataFrame({"dataset": ["D"] * 3, "metric": "loss", "score": [1.0, 3.0, 2.0]})
    >>> normalize_values(rows, {("D", "loss"): "min"}).tolist()
    [1.0, 0.0, 0.5]
    """
    groups = rows.groupby(["dataset", "metric"])["score"]
    low, high = groups.transform("min"), groups.transform("max")
    share = ((rows["score"] - low) / (high - low).where(high > low)).fillna(MIDDLE).to_numpy()
    pairs = zip(rows["dataset"], rows["metric"], strict=True)
    is_error = np.array([directions.get(pair) == "min" for pair in pairs], dtype=bool)
    return np.where(is_error, 1 - share, share)


def choose_checkpoints(values: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """List all checkpoints with the value that they are chosen by, and choose one per training.

    ``selection`` is empty for a checkpoint that lacks a dataset of the selection; it is not
    chosen. Of checkpoints with equal values, up to 12 significant digits, the earliest is chosen.
    """
    averages = average_values(values, plan, plan.metrics, plan.split)
    averages = averages.rename(columns={"value": "selection"})
    listed = values[CHECKPOINT].drop_duplicates().merge(averages, on=CHECKPOINT, how="left")
    listed = listed.sort_values(CHECKPOINT, ignore_index=True)
    listed["datasets"] = listed["datasets"].fillna(0).astype("int64")
    listed.loc[listed["datasets"] < len(plan.metrics), "selection"] = np.nan
    whole = listed[listed["selection"].notna()]
    sign = -1.0 if plan.find_direction(plan.metrics) == "max" else 1.0
    order = whole[CHECKPOINT].assign(key=round_significant(sign * whole["selection"]))
    best = order.sort_values([*TRAINING, "key", "step", "checkpoint"]).drop_duplicates(TRAINING)
    return listed.assign(chosen=listed.index.isin(best.index), split=plan.split, stamp=plan.stamp)


def measure_optimism(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """What was chosen of each training, and how much the choice flatters it.

    ``selection``, ``mean`` and ``last`` are the best, mean and last of the ``checkpoints`` that
    were compared, on the selection split; ``report`` is the value of the chosen one on the report
    split, empty where it lacks one of the study's datasets there. Differences are positive where
    the chosen checkpoint is better: ``optimism_mean`` than the mean and ``optimism_last`` than the
    last on the selection split, ``gain_report`` than the last on the report split, which is 0 where
    both are equal to 12 significant digits.

    The best of several values that differ by noise only is above their mean: by 0.56, 1.16 and 1.54
    standard deviations for 2, 5 and 10 checkpoints. What of the optimism is real shows on a split
    that had no part in the choice, where the gain over the last checkpoint is unbiased.
    """
    whole = checkpoints[checkpoints["selection"].notna()].sort_values(CHECKPOINT)
    groups = whole.groupby(TRAINING)["selection"]
    chosen = whole[whole["chosen"]].set_index(TRAINING)
    last = whole.drop_duplicates(TRAINING, keep="last").set_index(TRAINING)
    averages = average_values(values, plan, plan.primary, plan.report)
    is_complete = averages["datasets"] == len(plan.primary)
    report = averages[is_complete].set_index(CHECKPOINT)["value"]
    best, final = (
        report.reindex(pd.MultiIndex.from_frame(own.reset_index()[CHECKPOINT])).to_numpy()
        for own in (chosen, last)
    )
    sign = 1.0 if plan.find_direction(plan.metrics) == "max" else -1.0
    report_sign = 1.0 if plan.find_direction(plan.primary) == "max" else -1.0
    is_equal = round_significant(best) == round_significant(final)
    table = chosen.assign(
        report=best,
        checkpoints=groups.size(),
        mean=groups.mean(),
        last=last["selection"],
        gain_report=np.where(is_equal, 0.0, report_sign * (best - final)),
    )
    table["optimism_mean"] = sign * (table["selection"] - table["mean"])
    table["optimism_last"] = sign * (table["selection"] - table["last"])
    return table.reset_index()


def gather_runs(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Take the chosen checkpoints on the report split as runs, in the order of reading."""
    chosen = checkpoints.loc[checkpoints["chosen"], CHECKPOINT]
    is_primary = values["dataset"].map(plan.primary) == values["metric"]
    rows = values[is_primary & (values["split"] == plan.report)]
    runs = rows.merge(chosen, on=CHECKPOINT, how="inner", validate="many_to_one")
    runs["step"] = runs["step"].astype("str")
    return runs[[*RUNS, "training", "checkpoint", "step"]]


def rank_trainings(
    evaluations: pd.DataFrame,
    *,
    settings: Mapping[str, Any],
    metric: str,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
) -> dict[str, pd.DataFrame]:
    """Choose a checkpoint of each training and rank the chosen ones: all tables but the curves."""
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
    evaluations: pd.DataFrame,
    *,
    study: str,
    metrics: Mapping[str, MetricRule],
    datasets: Mapping[str, DatasetRule],
    n_resamples: int,
    confidence_level: float,
    seed: int,
) -> pd.DataFrame:
    """Average each metric over datasets at each step of each training, and over trainings.

    A metric with one dataset on a split keeps its raw values; with several they are normalized, see
    `normalize_values`. Intervals of a training are percentile intervals of the mean over datasets
    drawn with replacement: none with one dataset, too narrow with few. Steps with the same datasets
    share their draws, so curves are compared on the same ones.

    A model with several trainings has a curve of its own, whose ``training`` is "": the mean at the
    steps that all of them have on the same datasets, with Student's t interval of that mean. It
    says what another training might do on these datasets, and not what other datasets might.
    """
    values = evaluations.rename(columns={"value": "score"})
    directions = find_directions(values, Rules(metrics, datasets, {}, {}))
    make_rng = partial(make_stream, seed, study, "checkpoint_curves")
    tables = []
    for key, rows in values.groupby(["metric", "split"]):
        metric, split = map(str, key)
        own = rows.sort_values([*CHECKPOINT, "dataset"])
        if len(own["dataset"].unique()) > 1:
            own = own.assign(score=normalize_values(own, directions))
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
