"""Rows that cannot be used, and rows that say the same thing twice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd

from capmap.problems import Problem
from capmap.validation.places import Row, blame_score, list_rows
from capmap.wording import quote_name

Invalid: TypeAlias = Literal["error", "quarantine"]
Duplicates: TypeAlias = Literal["error", "mean", "first", "last"]

ROW_FAULTS = frozenset(
    {
        "ambiguous_number",
        "decimal_mark",
        "empty_dataset",
        "empty_metric",
        "empty_model",
        "infinite_score",
        "invalid_json",
        "nan_score",
        "not_a_number",
        "wrong_width",
    }
)
KEY = ["model", "dataset", "metric", "seed"]


@dataclass(frozen=True)
class Rejected:
    """Runs without rows that cannot be used.

    Parameters
    ----------
    runs : DataFrame
        The rows that can be used.
    faults : list of Problem
        Why others are left out, by the reader or here.
    others : list of Problem
        What the reader found besides. No policy makes it less.
    lines : int
        Lines of which something is left out.
    """

    runs: pd.DataFrame
    faults: list[Problem]
    others: list[Problem]
    lines: int


@dataclass(frozen=True)
class Deduplicated:
    """Runs without repeats.

    Parameters
    ----------
    runs : DataFrame
        One row per (model, dataset, metric, seed).
    problems : list of Problem
        One per row whose score differs from that of the first row of its run.
    identical : int
        Rows left out because an earlier row of the run has the same score.
    resolved : int
        Rows left out by the policy.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    identical: int
    resolved: int


def reject_rows(runs: pd.DataFrame, found: Sequence[Problem], *, policy: Invalid) -> Rejected:
    """Leave out the rows that cannot be used.

    Parameters
    ----------
    runs : DataFrame
        As read; a score that cannot be used is NaN or infinite.
    found : sequence of Problem
        What the reader found.
    policy : {"error", "quarantine"}
        Whether such rows stop the study, or only stay out of it, which makes them warnings.

    Returns
    -------
    Rejected
        The rows with a finite score, in their order, and why others are not among them.
    """
    faults = [problem for problem in found if problem.code in ROW_FAULTS]
    others = [problem for problem in found if problem.code not in ROW_FAULTS]
    if policy == "quarantine":
        faults = [replace(problem, severity="warning") for problem in faults]
    finite = np.isfinite(runs["score"].to_numpy(dtype=np.float64))
    unusable = runs.loc[~finite, ["source", "line"]].itertuples(index=False, name=None)
    lines = {(problem.source, problem.line) for problem in faults} | set(unusable)
    return Rejected(runs[finite], faults=faults, others=others, lines=len(lines))


def resolve_duplicates(runs: pd.DataFrame, *, policy: Duplicates) -> Deduplicated:
    """Keep one row of each run.

    Parameters
    ----------
    runs : DataFrame
        As read, with finite scores: model, dataset, metric, seed, score, raw, source, line and
        column, in the order of reading.
    policy : {"error", "mean", "first", "last"}
        What to keep of a run with differing scores. With "error" the first row is kept, so that
        further checks have something to look at.

    Returns
    -------
    Deduplicated
        The runs in the order of their first rows, and what was found.

    Notes
    -----
    Rows of a run with equal scores are identical, whatever the other columns say; the first of
    them stays under every policy, and counts once in the mean. Without seeds, all rows of a cell
    are one run.
    """
    key = runs.groupby(KEY, sort=False).ngroup().to_numpy()
    repeats = pd.DataFrame({"key": key, "score": runs["score"].to_numpy()}).duplicated()
    distinct, key = runs[~repeats.to_numpy()], key[~repeats.to_numpy()]
    later = pd.Series(key).duplicated().to_numpy()
    conflicts = distinct[later]
    originals = distinct[~later].iloc[key[later]]  # keys count up in the order of first rows
    problems = [
        _explain_conflict(row, original, policy)
        for row, original in zip(list_rows(conflicts), list_rows(originals), strict=True)
    ]
    return Deduplicated(
        runs=_keep_one(distinct, key, policy),
        problems=problems,
        identical=int(repeats.sum()),
        resolved=0 if policy == "error" else len(conflicts),
    )


def _keep_one(runs: pd.DataFrame, key: Any, policy: Duplicates) -> pd.DataFrame:
    order = pd.Series(key)
    if policy == "last":
        return runs[~order.duplicated(keep="last").to_numpy()]
    kept = runs[~order.duplicated().to_numpy()]
    if policy == "mean":
        scores = pd.DataFrame({"key": key, "score": runs["score"].to_numpy()})
        ordered = scores.sort_values(["key", "score"])  # sums of floats depend on their order
        kept = kept.assign(score=ordered.groupby("key")["score"].mean().to_numpy())
    return kept


def _explain_conflict(row: Row, original: Row, policy: Duplicates) -> Problem:
    place = f"line {original.line}"
    if original.source != row.source:
        place += f" of {original.source}"
    seed = f" with seed {quote_name(row.seed)}" if row.seed else ""
    remedy = f"The {policy} is used (duplicates: {policy})."
    if policy == "error":
        remedy = "Correct the export, or choose duplicates: mean, first or last."
        if not row.seed:
            remedy = (
                f"If these are runs with several seeds, write columns: {{seed: COLUMN}}. {remedy}"
            )
    return blame_score(
        row,
        "duplicate",
        f"The score of {quote_name(row.model)} on {quote_name(row.dataset)}{seed} differs from "
        f"{original.raw!r} at {place}.",
        remedy,
        severity="error" if policy == "error" else "warning",
    )
