"""Which checkpoint of each training is chosen, and how much the choice flatters it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from capmap.checkpoints.plan import Plan, tell
from capmap.problems import Problem
from capmap.ranking.aggregation import FloatArray, round_significant
from capmap.settings.choices import Direction, Incomplete
from capmap.wording import list_names, quote_name

TRAINING = ["model", "training"]
CHECKPOINT = [*TRAINING, "step", "checkpoint"]
MIDDLE = 0.5
CHECKPOINTS = [
    *("training", "model", "checkpoint", "step", "selection", "chosen", "datasets"),
    *("split", "stamp"),
]
SELECTED = [
    *("model", "training", "checkpoint", "step", "selection", "report", "checkpoints"),
    *("mean", "last", "optimism_mean", "optimism_last", "gain_report", "stamp"),
]
RUNS = ["model", "dataset", "metric", "seed", "score", "raw", "source", "line", "column"]


def average_values(
    values: pd.DataFrame,
    metrics: Mapping[str, str],
    *,
    split: str,
    directions: Mapping[tuple[str, str], Direction],
) -> pd.DataFrame:
    """Average each checkpoint's values over datasets.

    Parameters
    ----------
    values : pandas.DataFrame
        ``model``, ``training``, ``checkpoint``, ``step``, ``dataset``, ``metric``, ``split`` and
        ``score``, a row per value.
    metrics : mapping of str to str
        The metric to take on each dataset.
    split : str
        The split to take.
    directions : mapping
        As in `Plan`; where nobody says it, higher is taken as better.

    Returns
    -------
    pandas.DataFrame
        ``model``, ``training``, ``step``, ``checkpoint``, ``value`` and ``datasets`` (how many it
        has) of each checkpoint that has any, by model, training and step.

    Notes
    -----
    One dataset: its raw value. Several: the mean of normalized values, 0 for the worst and 1 for
    the best value that any checkpoint of any training has on the dataset, split and metric. A
    dataset on which all values are equal says nothing and counts as 0.5 for all of them. The ends
    are those of the study, so with several datasets a training that is added or diverges changes
    the weight of a dataset for all others, and with it may change their choice.
    """
    wanted = values["dataset"].map(metrics) == values["metric"]
    rows = values[wanted & (values["split"] == split)].sort_values([*CHECKPOINT, "dataset"])
    scores = rows["score"].to_numpy(dtype=np.float64)
    if len(metrics) > 1:
        scores = normalize_values(rows, directions)
    means = rows[CHECKPOINT].assign(value=scores).groupby(CHECKPOINT, as_index=False)
    return means.agg(value=("value", "mean"), datasets=("value", "size"))


def normalize_values(
    rows: pd.DataFrame, directions: Mapping[tuple[str, str], Direction]
) -> FloatArray:
    """Map the values of each dataset and metric to 0 (worst) to 1 (best).

    Parameters
    ----------
    rows : pandas.DataFrame
        ``dataset``, ``metric`` and ``score``, of one split.
    directions : mapping
        As in `Plan`; where nobody says it, higher is taken as better.

    Returns
    -------
    numpy.ndarray, shape (rows,)
        0.5 where all values of a dataset and metric are equal.

    Examples
    --------
    >>> rows = pd.DataFrame({"dataset": ["D"] * 3, "metric": "loss", "score": [1.0, 3.0, 2.0]})
    >>> normalize_values(rows, {("D", "loss"): "min"}).tolist()
    [1.0, 0.0, 0.5]
    """
    groups = rows.groupby(["dataset", "metric"])["score"]
    low = groups.transform("min").to_numpy(dtype=np.float64)
    width = groups.transform("max").to_numpy(dtype=np.float64) - low
    share = np.full(len(rows), MIDDLE)
    raw = rows["score"].to_numpy(dtype=np.float64)
    np.divide(raw - low, width, out=share, where=width > 0)
    pairs = zip(rows["dataset"], rows["metric"], strict=True)
    is_error = np.array([directions.get(pair) == "min" for pair in pairs], dtype=bool)
    return np.where(is_error, 1 - share, share)


def choose_checkpoints(values: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """List all checkpoints with the value that they are chosen by, and choose one per training.

    Parameters
    ----------
    values : pandas.DataFrame
        As `average_values` takes them.
    plan : Plan
        By what to choose.

    Returns
    -------
    pandas.DataFrame
        The columns of `CHECKPOINTS`, by model, training, step and name. ``selection`` is empty for
        a checkpoint that lacks a dataset of the selection; it is not chosen. ``datasets`` says how
        many it has.

    Notes
    -----
    Of checkpoints with equal values, up to 12 significant digits, the earliest is chosen.
    """
    averages = average_values(
        values, plan.metrics, split=plan.split, directions=plan.directions
    ).rename(columns={"value": "selection"})
    listed = values[CHECKPOINT].drop_duplicates().merge(averages, on=CHECKPOINT, how="left")
    listed = listed.sort_values(CHECKPOINT, ignore_index=True)
    listed["datasets"] = listed["datasets"].fillna(0).astype("int64")
    listed.loc[listed["datasets"] < len(plan.metrics), "selection"] = np.nan
    whole = listed[listed["selection"].notna()]
    sign = -1.0 if plan.find_direction(plan.metrics) == "max" else 1.0
    order = whole[CHECKPOINT].assign(key=round_significant(sign * whole["selection"]))
    best = order.sort_values([*TRAINING, "key", "step", "checkpoint"]).drop_duplicates(TRAINING)
    table = listed.assign(chosen=listed.index.isin(best.index), split=plan.split, stamp=plan.stamp)
    return table[CHECKPOINTS]


def measure_optimism(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """What was chosen of each training, and how much the choice flatters it.

    Parameters
    ----------
    values : pandas.DataFrame
        As `average_values` takes them.
    checkpoints : pandas.DataFrame
        Of `choose_checkpoints`.
    plan : Plan
        By what they were chosen, and where they are compared.

    Returns
    -------
    pandas.DataFrame
        The columns of `SELECTED`, by model and training. ``selection``, ``mean`` and ``last`` are
        the best, mean and last of the ``checkpoints`` that were compared, on the selection split;
        ``report`` is the value of the chosen one on the report split, empty where it lacks one of
        the study's datasets there.

        Differences are positive where the chosen checkpoint is better: ``optimism_mean`` than the
        mean and ``optimism_last`` than the last on the selection split, ``gain_report`` than the
        last on the report split, which is 0 where both are equal to 12 significant digits.

    Notes
    -----
    The best of several values that differ by noise only is above their mean: by 0.56, 1.16 and 1.54
    standard deviations for 2, 5 and 10 checkpoints. What of the optimism is real shows on a split
    that had no part in the choice, where the gain over the last checkpoint is unbiased.
    """
    whole = checkpoints[checkpoints["selection"].notna()].sort_values(CHECKPOINT)
    groups = whole.groupby(TRAINING)["selection"]
    chosen = whole[whole["chosen"]].set_index(TRAINING)
    last = whole.drop_duplicates(TRAINING, keep="last").set_index(TRAINING)
    report = read_report(values, plan)
    sign = 1.0 if plan.find_direction(plan.metrics) == "max" else -1.0
    report_sign = 1.0 if plan.find_direction(plan.primary) == "max" else -1.0
    best, final = (_look_up(report, table.reset_index()) for table in (chosen, last))
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
    return table.reset_index()[SELECTED]


def read_report(values: pd.DataFrame, plan: Plan) -> "pd.Series[float]":
    """Values on the report split of the checkpoints that have all datasets there."""
    averages = average_values(
        values, plan.primary, split=plan.report, directions=plan.directions
    ).set_index(CHECKPOINT)
    return averages.loc[averages["datasets"] == len(plan.primary), "value"]


def _look_up(report: "pd.Series[float]", checkpoints: pd.DataFrame) -> FloatArray:
    keys = pd.MultiIndex.from_frame(checkpoints[CHECKPOINT])
    return np.asarray(report.reindex(keys), dtype=np.float64)


def gather_runs(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Take the chosen checkpoints on the report split as runs.

    Parameters
    ----------
    values : pandas.DataFrame
        As `average_values` takes them, with the other columns of runs.
    checkpoints : pandas.DataFrame
        Of `choose_checkpoints`.
    plan : Plan
        Where they are compared, and by which metrics.

    Returns
    -------
    pandas.DataFrame
        The columns that `capmap.validation.validate_runs` takes, then ``training``,
        ``checkpoint`` and ``step`` as text: a row per training and dataset, in the order of
        reading.
    """
    chosen = checkpoints.loc[checkpoints["chosen"], CHECKPOINT]
    is_primary = values["dataset"].map(plan.primary) == values["metric"]
    rows = values[is_primary & (values["split"] == plan.report)]
    runs = rows.merge(chosen, on=CHECKPOINT, how="inner", validate="many_to_one")
    runs["step"] = runs["step"].astype("str")
    return runs[[*RUNS, "training", "checkpoint", "step"]]


def find_unreported(values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan) -> list[Problem]:
    """Find trainings whose chosen checkpoint has no value on the report split.

    Parameters
    ----------
    values, checkpoints, plan
        As `gather_runs` takes them.

    Returns
    -------
    list of Problem
        An error per such training, with the code "no_report_value".
    """
    chosen = checkpoints.loc[checkpoints["chosen"], [*TRAINING, "checkpoint"]]
    reported = gather_runs(values, checkpoints, plan)[[*TRAINING, "checkpoint"]]
    known = set(reported.itertuples(index=False, name=None))
    return [
        tell(
            "no_report_value",
            training,
            checkpoint=quote_name(checkpoint),
            split=quote_name(plan.report),
        )
        for model, training, checkpoint in chosen.itertuples(index=False, name=None)
        if (model, training, checkpoint) not in known
    ]


def find_absent_datasets(
    values: pd.DataFrame,
    checkpoints: pd.DataFrame,
    plan: Plan,
    *,
    incomplete: Incomplete,
) -> list[Problem]:
    """Find datasets that have no part in the choice, or on which nothing chosen is compared.

    Parameters
    ----------
    values : pandas.DataFrame
        As `gather_runs` takes them, of the datasets that are analysed.
    checkpoints, plan
        As `gather_runs` takes them.
    incomplete : str
        The policy on empty cells.

    Returns
    -------
    list of Problem
        A warning "one_split" for all datasets with values on the selection split only and for all
        with values on the report split only, unless no dataset has both; and "no_chosen_value" for
        all on which no chosen checkpoint has a value to compare, an error where empty cells are.
    """
    compared = set(gather_runs(values, checkpoints, plan)["dataset"])
    unseen = sorted(set(values["dataset"]).intersection(plan.primary) - compared)
    problems = []
    if unseen and compared:
        split = f" on the split {quote_name(plan.report)}" if plan.report else ""
        problem = tell("no_chosen_value", unseen[0], names=list_names(unseen), split=split)
        is_error = incomplete == "error"
        problems.append(problem if is_error else replace(problem, severity="warning"))
    offered, reported = (
        set(values.loc[values["split"] == split, "dataset"]) for split in (plan.split, plan.report)
    )
    splits = [quote_name(plan.split), quote_name(plan.report)]
    for names, (here, there), lack in (
        (sorted(offered - reported), splits, "are not compared"),
        (sorted(reported - offered), splits[::-1], "have no part in the choice"),
    ):
        if names and offered & reported:
            said = {"names": list_names(names), "here": here, "there": there, "lack": lack}
            problems.append(tell("one_split", names[0], **said))
    return problems


def count_choices(
    values: pd.DataFrame, checkpoints: pd.DataFrame, plan: Plan
) -> dict[str, int | str]:
    """Count what was chosen, and of what.

    Parameters
    ----------
    values, checkpoints, plan
        As `gather_runs` takes them.

    Returns
    -------
    dict
        ``trainings``, ``checkpoints``, ``candidates`` (checkpoints with all datasets of the
        selection), ``values``, ``selection_split``, ``report_split`` and ``stamp``.
    """
    return {
        "trainings": len(checkpoints[TRAINING].drop_duplicates()),
        "checkpoints": len(checkpoints),
        "candidates": int(checkpoints["selection"].notna().sum()),
        "values": len(values),
        "selection_split": plan.split,
        "report_split": plan.report,
        "stamp": plan.stamp,
    }
