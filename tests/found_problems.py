"""Short ways to say what a reader found wrong."""

from typing import Any

from capmap.problems import Problem


def place(problem: Problem) -> tuple[str, int, str, str]:
    """What is wrong, and where."""
    return problem.code, problem.line, problem.column, problem.value


def places(exports: Any) -> list[tuple[str, int, str, str]]:
    """All that is wrong with exports, and where."""
    return [place(problem) for problem in exports.problems]


def only_problem(exports: Any) -> Problem:
    """The one problem of exports."""
    assert len(exports.problems) == 1, [str(problem) for problem in exports.problems]
    return exports.problems[0]
