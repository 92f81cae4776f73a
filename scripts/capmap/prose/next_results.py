"""Sentences on which result to run next, and on what such choices would have saved."""

import math
from collections.abc import Mapping

import pandas as pd

from capmap.prose.gap_errors import find_level, format_error
from capmap.prose.words import (
    format_interval,
    format_share,
    format_value,
    join_names,
    join_sentences,
    join_some,
)
from capmap.wording import format_count, format_percent, join_words, quote_name

POLICIES = {
    "a_optimal": "the largest expected reduction of variance",
    "most_results": "the dataset with the most results",
    "random": "random choice",
    "best_on_average": "the best model on average",
    "lower_bound": "the lowest plausible gap",
}
RANDOM, ADVISED, SOUGHT, AVERAGE = "random", "a_optimal", "lower_bound", "best_on_average"
SHOWN_RESULTS = 8
SHOWN_TRIES = (1, 3, 5)
HALF_PERCENT = 0.005


def describe_next_results(
    next: pd.DataFrame,  # noqa: A002
    next_models: pd.DataFrame,
    dataset_replay: pd.DataFrame,
    dataset_savings: pd.DataFrame,
    model_replay: pd.DataFrame,
) -> list[str]:
    """Say what to run next, and whether choosing so saved results in a replay.

    Parameters
    ----------
    next, next_models, dataset_replay, dataset_savings, model_replay : pandas.DataFrame
        The columns of ``capabilities/next.csv`` and of the tables of these names there; any may be
        empty.

    Returns
    -------
    list of str
        What is advised, then the replay of choosing datasets and that of choosing models.
        Intervals have 95%.
    """
    advice = join_sentences(_describe_datasets(next), _describe_models(next_models))
    return [
        advice,
        join_sentences(
            _describe_savings(dataset_savings, dataset_replay), _describe_errors(dataset_replay)
        ),
        _describe_regrets(model_replay),
    ]


def _describe_datasets(table: pd.DataFrame) -> str:
    if table.empty:
        return "No model lacks a result on a dataset that it may be run on."
    first = table[table["rank"] == 1]
    counts = first["dataset"].value_counts()
    top = sorted(counts.index[counts == counts.max()])
    row = first.sort_values(["share", "model"], ascending=[False, True]).iloc[0]
    for_cost = " for its cost" if table["cost"].notna().any() else ""
    models, times = format_count(len(first), "model"), format_count(counts.max(), "time")
    return (
        "For each model, the next dataset is the one whose result lowers the variance of all of "
        f"its predictions most{for_cost}, whatever the result will be. "
        f"Over {models}, {join_names(top)} came first most often "
        f"({times}{' each' if len(top) > 1 else ''}); most is to be learnt from "
        f"{quote_name(row['model'])} on {quote_name(row['dataset'])}, which takes away "
        f"{format_share(row['share'])} of that variance."
    )


def _describe_models(table: pd.DataFrame) -> str:
    if table.empty:
        return "There is no model to choose for a dataset."
    first = table[table["rank"] == 1]
    counts = first["model"].value_counts()
    top = sorted(counts.index[counts == counts.max()])
    shown = format_count(counts.max(), "dataset")
    return (
        "For each dataset, the next model is the one with the lowest plausible gap, its prediction "
        f"less a standard deviation; most often that is {join_names(top)} ({shown}"
        f"{' each' if len(top) > 1 else ''} of {len(first):,})."
    )


def _describe_savings(savings: pd.DataFrame, replay: pd.DataFrame) -> str:
    """Say how many results the advised choice needs to be as accurate as random choice."""
    known = savings[savings["results"] <= SHOWN_RESULTS].sort_values("results", kind="stable")
    own = known[known["policy"] == ADVISED]
    if own.empty:
        wanted = (
            "replay the choice of datasets"
            if replay.empty
            else "estimate what the advised choice saves"
        )
        return f"Too few models had results enough to {wanted}."
    row = own.iloc[-1]
    number = format_count(row["results"], "result")
    shape = f"In a replay, {format_count(row['models'], 'model')} were taken as new in turn."
    if pd.isna(row["needed"]):
        return (
            f"{shape} The advised choice never reached the error of random choice with {number}, "
            "so it saves nothing here."
        )
    return join_sentences(
        f"{shape} The error of random choice with {number} was reached by the advised choice with "
        f"{_write(row['needed'])}{_describe_ends(row)}, {_describe_saving(row)}.",
        _list_savings(own.iloc[:-1]),
        _name_better(known[known["results"] == row["results"]], row["needed"]),
    )


def _describe_ends(row: "pd.Series") -> str:
    """Say the interval of the results needed; its upper end is missing if it has none."""
    if pd.notna(row["needed_low"]) and pd.isna(row["needed_high"]):
        least = _write(row["needed_low"])
        return f" ({format_percent(find_level(row))} interval over models from {least} upward)"
    ends = (row["needed_low"], row["needed_high"])
    return format_interval(*ends, confidence_level=find_level(row), over="models", write=_write)


def _describe_saving(row: "pd.Series") -> str:
    saving = 1 - row["needed"] / row["results"]
    difference = f"{_write_percent(abs(saving))} {'fewer' if saving >= 0 else 'more'}"
    if pd.isna(row["needed_low"]):
        return f"{difference}, without an interval to judge by"
    high = math.inf if pd.isna(row["needed_high"]) else row["needed_high"]
    if row["needed_low"] > row["results"]:
        return f"{difference}: it does worse than random choice"
    certain = 1 - high / row["results"]
    if certain < HALF_PERCENT:
        return f"{difference}, which could not be separated from random choice"
    return f"{difference}, a saving of at least {_write_percent(certain)} by the interval"


def _name_better(rows: pd.DataFrame, needed: float) -> str:
    """Name the simpler policies that needed fewer results."""
    better = rows[rows["needed"] < needed].sort_values(["needed", "policy"])
    if better.empty:
        return ""
    parts = [
        f"{POLICIES.get(row['policy'], row['policy'])} ({_write(row['needed'])})"
        for _, row in better.iterrows()
    ]
    return f"Fewer still were needed by {join_words(parts)}."


def _list_savings(rows: pd.DataFrame) -> str:
    known = rows.dropna(subset="needed")
    if known.empty:
        return ""
    parts = [
        f"{_write(row['needed'])} instead of {row['results']:.0f}{_describe_ends(row)}"
        for _, row in known.iterrows()
    ]
    return f"For the errors of fewer it needed {join_some(parts)}."


def _describe_errors(replay: pd.DataFrame) -> str:
    """Compare the policies' errors with a few results."""
    if replay.empty:
        return ""
    shown = replay[replay["results"] <= SHOWN_RESULTS]
    spread = shown.groupby("results")["error"].agg(["min", "max"])
    apart = spread.index[spread["max"] > spread["min"]]
    if apart.empty:
        return ""
    last = apart.max()
    rows = replay[replay["results"] == last].sort_values(["error", "policy"], kind="stable")
    parts = [
        f"{format_error(row['error'])} by {POLICIES.get(row['policy'], row['policy'])}"
        for _, row in rows.iterrows()
    ]
    start = replay.loc[replay["results"] == 0, "error"]
    before = f"from {format_error(start.iloc[0])} without any, " if len(start) else ""
    return (
        f"With {format_count(last, 'result')} the mean squared error was, {before}"
        f"{join_words(parts)}."
    )


def _describe_regrets(replay: pd.DataFrame) -> str:
    """Say how far the best model tried is from the best, beside random choice and the average."""
    curves = {
        str(policy): {int(row["tried"]): row for _, row in own.iterrows()}
        for policy, own in replay.dropna(subset="regret").groupby("policy")
    }
    if SOUGHT not in curves:
        return "No dataset had results enough to replay the choice of models."
    own = curves[SOUGHT]
    shown = [tried for tried in SHOWN_TRIES if tried in own] or [min(own)]
    values = [f"{format_value(own[tried]['regret'])} after {tried}" for tried in shown]
    return join_sentences(
        f"In a replay on {format_count(own[shown[0]]['datasets'], 'dataset')}, each taken as new, "
        f"the gap of the best model tried was {join_words(values)} by the advised choice.",
        _compare_regrets(curves, RANDOM, shown[-1]),
        _compare_regrets(curves, AVERAGE, shown[-1]),
    )


def _compare_regrets(
    curves: "Mapping[str, Mapping[int, pd.Series]]", policy: str, tried: int
) -> str:
    """Compare two regrets; only intervals that lie apart say which is better."""
    if tried not in curves.get(policy, {}):
        return ""
    own, other = curves[SOUGHT][tried], curves[policy][tried]
    is_lower = own["regret"] < other["regret"]
    first, second = (own, other) if is_lower else (other, own)
    verdict = "which could not be separated from it"
    if first["regret_high"] < second["regret_low"]:
        verdict = f"so the advice is {'better' if is_lower else 'worse'}"
    subject = POLICIES[policy].capitalize()
    return f"{subject} had {format_value(other['regret'])} after {tried}, {verdict}."


def _write(number: float) -> str:
    return f"{number:.1f}"


def _write_percent(share: float) -> str:
    return f"{100 * share:.0f}%"
