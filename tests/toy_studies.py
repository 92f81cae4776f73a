"""Small studies as a reader hands them over, and short ways to validate them."""

import numpy as np
import pandas as pd

from capmap.normalization import Rules
from capmap.problems import Problem
from capmap.validation import Policies, validate_runs


def read(*rows, metric="accuracy"):
    """Make runs as a reader does, from (model, dataset, score[, seed[, metric]])."""
    full = [(*row, *("1", metric)[len(row) - 3 :]) for row in rows]
    runs = pd.DataFrame(full, columns=["model", "dataset", "score", "seed", "metric"])
    return runs[["model", "dataset", "metric", "seed", "score"]].assign(
        score=runs["score"].astype(float),
        raw=runs["score"].astype(str),
        source="runs.csv",
        line=np.arange(len(runs)) + 2,
        column="score",
    )


def validate(
    runs,
    found=(),
    *,
    metrics=None,
    datasets=None,
    normalization=None,
    references=None,
    select=None,
    **policies,
):
    rules = Rules(metrics or {}, datasets or {}, normalization or {}, references or {})
    return validate_runs(
        runs, found, rules=rules, policies=Policies(select=select or {}, **policies)
    )


def find(runs, code, **rules):
    """Validate and return the problems with a code."""
    return [problem for problem in validate(runs, **rules).problems if problem.code == code]


def find_one(runs, code, **rules):
    (problem,) = find(runs, code, **rules)
    return problem


def codes(runs, *, ignore=("one_seed",), **rules):
    """Validate and return the codes of all problems, apart from some."""
    return [
        problem.code for problem in validate(runs, **rules).problems if problem.code not in ignore
    ]


def column(*scores, metric):
    """Make runs of one dataset, one model per score."""
    return read(*((f"M{n}", "D", score) for n, score in enumerate(scores)), metric=metric)


def fault(code, *, line=3, severity="error"):
    return Problem(severity, code, "runs.csv", line, "score", "x", "It is bad.", "Mend it.")


GOOD = read(("A", "D", 0.1), ("A", "E", 0.2), ("B", "D", 0.3), ("B", "E", 0.4))
