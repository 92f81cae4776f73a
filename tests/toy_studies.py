"""Short ways to validate small tables of runs."""

from capmap.normalization import Rules
from capmap.problems import Problem
from capmap.validation import Policies, validate_runs
from tests.toy_runs import make_runs


def validate(
    runs,
    found=(),
    *,
    metrics=None,
    datasets=None,
    normalization=None,
    references=None,
    select=None,
    layout="long",
    named=(),
    **policies,
):
    rules = Rules(metrics or {}, datasets or {}, normalization or {}, references or {})
    return validate_runs(
        runs,
        found,
        rules=rules,
        policies=Policies(select=select or {}, **policies),
        layout=layout,
        named=named,
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
    return make_runs(*((f"M{n}", "D", score) for n, score in enumerate(scores)), metric=metric)


def fault(code, *, line=3, severity="error"):
    return Problem(
        severity=severity,
        code=code,
        source="runs.csv",
        line=line,
        column="score",
        value="x",
        reason="It is bad.",
        remedy="Mend it.",
    )


GOOD = make_runs(("A", "D", 0.1), ("A", "E", 0.2), ("B", "D", 0.3), ("B", "E", 0.4))
