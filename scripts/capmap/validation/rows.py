"""Rows that cannot be used, failed or repeat others, cells with no or few runs, means of items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from capmap.artifacts import number_rows, sort_rows
from capmap.exports import SEED_REMEDIES
from capmap.exports.layouts import ITEMS, REQUIRED, SCORES
from capmap.exports.reading import KEY, MEAN, ROW, SEED
from capmap.normalization import Rules, are_outcomes, find_missing
from capmap.normalization.bounds import ITEM_KEY, NO_ITEMS
from capmap.problems import Problem, RowCheck, Severity, list_rows, name_line
from capmap.settings.choices import Direction, Duplicates, Failed, Incomplete, Invalid, TableFormat
from capmap.wording import count_things, list_names, quote_name

FILE_FAULTS = ("deep_nesting", "invalid_json", "invalid_record", "no_results", "wrong_width")
ROW_FAULTS = frozenset(
    {problem.code for problem in SCORES.values()} - {"empty_score"}
    | {f"empty_{role}" for role in (*REQUIRED, *ITEMS)}
    | {"huge_score", *FILE_FAULTS}
)
LARGEST = 1e100
CONSEQUENCES = {
    "error": "Add the runs, or set incomplete to adjust, which expects what is missing from the "
    "other scores, drop_models or drop_datasets.",
    "drop_models": "The model is left out (incomplete: drop_models).",
    "drop_datasets": "The dataset is left out (incomplete: drop_datasets).",
    "adjust": "What they lack is expected from the others (incomplete: adjust); models with fewer "
    "than min_datasets are not ranked.",
}


class Rejected(NamedTuple):
    """Runs without rows that cannot be used.

    ``faults`` says why rows are left out, ``others`` what the reader found besides, and ``lines``
    of how many lines something is left out, other than for an empty score.
    """

    runs: pd.DataFrame
    faults: list[Problem]
    others: list[Problem]
    lines: int


class Deduplicated(NamedTuple):
    """Runs without repeats.

    ``problems`` are conflicts and doubts, ``left_out`` the conflicts of rows that are not used, and
    ``identical`` and ``resolved`` how many rows say the same, or are left out or averaged.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    left_out: list[Problem]
    identical: int
    resolved: int


HUGE = RowCheck(
    "huge_score",
    "score",
    f"The score is beyond ±{LARGEST:g}, too large to be computed with.",
    "Correct it, or remove the row if the run failed.",
)
SEEDLESS = RowCheck(
    "seedless_repeat",
    "score",
    "The score is that of another row of the same cell, and no seed distinguishes the two, so they "
    "count as one run ({_count} in all).",
    "{_remedy}",
    "warning",
)
CONFLICT = RowCheck(
    "duplicate",
    "score",
    "The score of {model} on {dataset}{_item}{_seed} differs from {_other} at {_place}.",
    "{_remedy}",
)


def reject_rows(runs: pd.DataFrame, found: Sequence[Problem], *, policy: Invalid) -> Rejected:
    """Leave out the rows that cannot be used: with "quarantine" that is a warning, not an error.

    Scores are kept from −1e100 to 1e100, as sums and squares of larger ones can overflow.
    """
    score = runs["score"].to_numpy(dtype=np.float64)
    usable = np.abs(score) <= LARGEST
    found = [*found, *HUGE.report(runs[np.isfinite(score) & ~usable])]
    faults = [problem for problem in found if problem.code in ROW_FAULTS]
    others = [problem for problem in found if problem.code not in ROW_FAULTS]
    if policy == "quarantine":
        faults = [replace(problem, severity="warning") for problem in faults]
    unusable = runs.loc[~usable, ["source", "line"]].itertuples(index=False, name=None)
    empty = {(problem.source, problem.line) for problem in others if problem.code == "empty_score"}
    lines = {(problem.source, problem.line) for problem in faults} | (set(unusable) - empty)
    return Rejected(
        runs if usable.all() else runs[usable], faults=faults, others=others, lines=len(lines)
    )


def resolve_duplicates(
    runs: pd.DataFrame, *, policy: Duplicates, layout: TableFormat = "long"
) -> Deduplicated:
    """Keep one row of each run.

    Notes
    -----
    The mean is of all rows. Otherwise the first row of a run stays (with "last" the last), with
    "error" too, so that further checks have something to look at; another one with its score is a
    repeat, whatever the other columns say. Without seeds, all rows of a cell are one run, so two
    runs that happen to have the same score count as one.
    Rows that stand for several runs are judged by their means, and stay or go with all their runs;
    the mean is of the runs of one number.
    """
    if policy == "mean" or ROW not in runs:
        return _judge_repeats(runs, policy, layout)
    rows = runs.drop_duplicates(ROW)
    rows = rows.assign(score=rows[MEAN], seed=rows[SEED])
    judged = _judge_repeats(rows, policy, layout)
    return judged._replace(runs=runs[runs[ROW].isin(judged.runs[ROW])])


def _judge_repeats(runs: pd.DataFrame, policy: Duplicates, layout: TableFormat) -> Deduplicated:
    """Compare all other rows of each run with the one that stays."""
    names = [*KEY, "item"] if "item" in runs else KEY
    number = number_rows(runs, names)
    stays: Literal["first", "last"] = "last" if policy == "last" else "first"
    is_other = pd.Series(number).duplicated(keep=stays).to_numpy()
    if not is_other.any():
        return Deduplicated(runs, [], [], 0, 0)
    kept, others = runs[~is_other], runs[is_other]
    winners = kept.iloc[pd.Index(number[~is_other]).get_indexer(pd.Index(number[is_other]))]
    differs = others["score"].to_numpy() != winners["score"].to_numpy()
    conflicts = _find_conflicts(others[differs], winners[differs], policy, layout)
    identical, resolved = int((~differs).sum()), 0 if policy == "error" else len(conflicts)
    if policy == "mean":
        return Deduplicated(_average(runs, names), conflicts, [], identical, resolved)
    repeats = others[~differs]
    seedless = repeats[repeats["seed"] == ""]
    said = seedless.head(1).assign(
        _count=count_things(len(seedless), "repeat"), _remedy=SEED_REMEDIES[layout]
    )
    return Deduplicated(kept, [*conflicts, *SEEDLESS.report(said)], conflicts, identical, resolved)


def _find_conflicts(
    rows: pd.DataFrame, winners: pd.DataFrame, policy: Duplicates, layout: TableFormat
) -> list[Problem]:
    """Tell each row that differs from the row of its run that stays."""
    said = []
    for row, winner in zip(list_rows(rows), list_rows(winners), strict=True):
        is_elsewhere = winner.source != row.source
        remedy = f"The {policy} is used (duplicates: {policy})."
        if policy == "error":
            remedy = "Correct the export, or choose duplicates: mean, first or last."
            is_told = row.seed or "item" in rows
            remedy = remedy if is_told else f"{SEED_REMEDIES[layout]} {remedy}"
        if policy == "error" and is_elsewhere:
            remedy = (
                "If each file is of another model, dataset or seed, take it from the file's name: "
                "exports: runs/{model}/{dataset}-{seed}.csv. Otherwise remove one of the rows."
            )
        seed = f" with seed {quote_name(row.seed)}" if row.seed else ""
        place = name_line(winner.source, winner.line)
        place += f" of {winner.source}" if is_elsewhere else ""
        said.append((seed, repr(winner.raw), place, remedy))
    told = pd.DataFrame(said, rows.index, ["_seed", "_other", "_place", "_remedy"])
    told["_item"] = (
        [f", item {quote_name(name)}," for name in rows["item"]] if "item" in rows else ""
    )
    check = CONFLICT._replace(severity="error" if policy == "error" else "warning")
    return check.report(pd.concat([rows, told], axis=1))


def find_incomplete(
    runs: pd.DataFrame, counts: pd.DataFrame, *, policy: Incomplete
) -> list[Problem]:
    """Find models with empty cells, or datasets where these are dropped, at their first rows.

    Where models keep their places, one problem speaks of all of them.
    """
    kind, other = ("dataset", "model") if policy == "drop_datasets" else ("model", "dataset")
    table = counts.T if kind == "dataset" else counts
    missing = find_missing(table)
    reasons = {
        name: f"The {kind} {quote_name(name)} has no run for "
        f"{count_things(len(lacks), other)}: {list_names(lacks)}."
        for name, lacks in missing.items()
    }
    if missing and policy == "adjust":
        worst = max(missing, key=lambda name: (len(missing[name]), name))
        reason = (
            f"{len(missing)} of {count_things(len(counts), 'model')} have no run on some dataset; "
            f"{quote_name(worst)} lacks most, {count_things(len(missing[worst]), 'dataset')}: "
            f"{list_names(missing[worst])}."
        )
        reasons = {worst: reason}
    rows = runs[runs[kind].isin([*reasons])].drop_duplicates(kind)
    severity: Severity = "error" if policy == "error" else "warning"
    check = RowCheck("incomplete", kind, "{_reason}", CONSEQUENCES[policy], severity)
    said = rows.assign(_reason=[reasons[name] for name in rows[kind]])
    problems = check.report(said, column="")
    if policy.startswith("drop") and missing and len(missing) == len(table):
        reason = f"No {kind} has a run for every {other}, so incomplete: {policy} leaves nothing."
        remedy = "Choose another policy, or select models and datasets that are complete."
        problems.append(Problem(code="nothing_left", reason=reason, remedy=remedy))
    return problems


def find_identical_seeds(runs: pd.DataFrame) -> list[Problem]:
    """Find out that no model's score depends on the seed, of two cells or more with several runs.

    Of outcomes of a few values that is no wonder.
    """
    cells = runs.groupby(["model", "dataset"], observed=True)["score"].agg(["size", "min", "max"])
    repeated = cells[cells["size"] > 1]
    differ = (repeated["min"] < repeated["max"]).any()
    if len(repeated) < 2 or differ or are_outcomes(runs["score"]):
        return []
    return [
        Problem(
            code="identical_seeds",
            reason="Every model has the same score with every seed: was the seed applied?",
            remedy="Run with seeds that differ; copies of a run make intervals too narrow.",
            severity="warning",
        )
    ]


def find_single_seeds(counts: pd.DataFrame) -> list[Problem]:
    """Find models without a second run anywhere, a warning, in the counts of `count_runs`."""
    single = counts.index[counts.to_numpy().max(axis=1, initial=0) <= 1].tolist()
    if not single:
        return []
    are_all = len(single) == len(counts)
    who = "Every model has" if are_all else f"Some models ({list_names(single)}) have"
    return [
        Problem(
            code="one_seed",
            reason=f"{who} one run per dataset, so no interval over seeds can be given.",
            remedy="Add runs with further seeds to learn how sure the ranking is on these "
            "datasets.",
            severity="warning",
        )
    ]


FAILURES = frozenset({"empty_score", "nan_score"})


def replace_failed(
    runs: pd.DataFrame, found: Sequence[Problem], *, failed: Failed, rules: Rules
) -> tuple[pd.DataFrame, list[Problem]]:
    """Give failed runs the score that is configured, or drop them.

    `failed` is "invalid" (nothing is replaced), "drop", "worst" (the worst score of any model on
    the dataset), a score as exported, or ``{"model": NAME}`` (that model's mean score there).
    Problems of failed rows are replaced by warnings that say what became of them, or by errors
    where nothing can.

    Leaving failed runs out favors models that fail where it is hard, so benchmarks of AutoML put a
    constant predictor's or the worst score in their place (Gijsbers et al. 2024, JMLR 25, 1–65).
    """
    if failed == "invalid":
        return runs, list(found)
    if failed == "drop":
        found = [
            replace(problem, severity="warning") if problem.code == "no_results" else problem
            for problem in found
        ]
    listed = {(p.source, p.line, p.column, p.value): p for p in found if p.code in FAILURES}
    scores = runs["score"].to_numpy(dtype=np.float64, copy=True)
    sound, failing = runs[np.isfinite(scores)], np.flatnonzero(~np.isfinite(scores))
    used: dict[str, tuple[float, str, str]] = {}
    replaced = set[Problem]()
    problems: list[Problem] = []
    for place, row in zip(failing.tolist(), list_rows(runs.iloc[failing]), strict=True):
        problem = listed.get((row.source, row.line, row.column, row.raw))
        if problem is None:
            continue
        if row.dataset not in used:
            direction = rules.find_direction(row.dataset, row.metric)[0]
            # Every transform turns errors into scores.
            direction = "min" if "transform" in rules.of_dataset(row.dataset) else direction
            own = sound[sound["dataset"] == row.dataset]
            used[row.dataset] = _substitute(own, failed, direction)
        scores[place] = used[row.dataset][0]
        replaced.add(problem)
        run = f"{quote_name(row.model)} on {quote_name(row.dataset)}"
        problems.append(_describe(problem, run, *used[row.dataset]))
    # Cells of JSON in one line have the same line; of those alike, one problem speaks of all.
    kept = [problem for problem in found if problem not in replaced]
    return runs.assign(score=scores), [*kept, *dict.fromkeys(problems)]


def _substitute(
    own: pd.DataFrame, failed: Failed, direction: Direction | None
) -> tuple[float, str, str]:
    """Find what failed runs of a dataset count with, what that is, and a remedy if it is NaN."""
    if failed == "drop":
        return np.nan, "is left out", ""
    if isinstance(failed, Mapping):
        name = quote_name(failed["model"])
        remedy = f"{name} has no score there: name a model that has in `failed`."
        score = own.loc[own["model"] == failed["model"], "score"].mean()
        return float(score), f"counts with the mean score of {name} there", remedy
    if failed != "worst":
        return float(failed), "counts with the score of `failed`", ""
    what = "counts with the worst score of its dataset"
    if direction is None:
        remedy = "State the metric's direction under `metrics`, so that the worst score is known."
        return np.nan, what, remedy
    score = own["score"].min() if direction == "max" else own["score"].max()
    return float(score), what, "No run of the dataset has a score: give a number in `failed`."


def _describe(problem: Problem, run: str, score: float, what: str, remedy: str) -> Problem:
    if np.isnan(score) and remedy:
        reason = f"The run of {run} failed, and there is no score that it could count with."
        return replace(problem, reason=reason, remedy=remedy, severity="error")
    number = "" if np.isnan(score) else f", {score:g}"
    return replace(
        problem,
        code="failed_run" if number else "empty_score",
        reason=f"The run of {run} failed and {what}{number}.",
        remedy="Repeat the run, or set `failed` otherwise.",
        severity="warning",
    )


TORN = RowCheck(
    "torn_cluster",
    "cluster",
    "The item {item} of {dataset} is in the cluster {cluster} here and in another one elsewhere.",
    "Write one cluster for each item of a dataset.",
)
UNEVEN = RowCheck(
    "uneven_items",
    "item",
    "{model} has {_count} of the {_all} items of {dataset}: its score is the mean of those.",
    "Add the others, or give failed items a score with `failed`.",
    "warning",
)


def average_items(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, list[Problem]]:
    """Average the scores of items to runs, each at the place of the first of its items.

    Returns the runs, the items that they are means of, and what is wrong with these.
    An item without a cluster is its own; its score is the mean of a model's runs.
    """
    if "item" not in rows:
        return rows, NO_ITEMS.copy(), []
    if "cluster" not in rows:
        rows = rows.assign(cluster=rows["item"])
    clusters = rows.drop_duplicates(["dataset", "item", "cluster"])
    torn = clusters[clusters.duplicated(["dataset", "item"])]
    own, every = (
        rows.groupby(names, observed=True)["item"].transform("nunique")
        for names in (["dataset", "model"], ["dataset"])
    )
    uneven = rows.assign(_count=own, _all=every)[own < every]
    problems = [
        *TORN.report(torn.drop_duplicates(["dataset", "item"])),
        *UNEVEN.report(uneven.drop_duplicates(["dataset", "model"])),
    ]
    items = _average(rows, ["model", "dataset", "item"])[[*ITEM_KEY, "score"]]
    runs = _average(rows, KEY).drop(columns=list(ITEMS))
    return runs, sort_rows(items, ITEM_KEY[:3], "score"), problems


def _average(rows: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The first row of each set of names, with the mean score; sums depend on their order."""
    numbers = number_rows(rows, names)
    table = pd.DataFrame({"number": numbers, "score": rows["score"].to_numpy()})
    means = table.sort_values(["number", "score"]).groupby("number")["score"].mean()
    first = ~pd.Series(numbers).duplicated().to_numpy()
    return rows[first].assign(score=means.loc[pd.Index(numbers[first])].to_numpy())
