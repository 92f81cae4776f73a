"""A draft tried on its files: what validation refuses is answered, as far as it can be."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pandas as pd

from capmap.drafting.draft import Draft
from capmap.drafting.scores import UNNAMED
from capmap.drafting.words import DECLINES, MISSING, guess_direction, split_words
from capmap.exports import Exports
from capmap.exports.doubts import list_summaries
from capmap.inputs.exports import find_exports
from capmap.inputs.studies import Study, check_config
from capmap.metrics import find_metric
from capmap.problems import Problem
from capmap.validation.exports import check_exports
from capmap.validation.study import Validation
from capmap.wording import count_things, list_names

ROUNDS = 12
# Warnings that only the user can answer.
REPORTED = ("other_tables", "alike_names", "selected_by_score", "fractions")
PERCENT = 100.0

Answer: TypeAlias = Callable[[Draft, list[Problem], Exports], bool]


def try_draft(draft: Draft) -> Validation:
    """Read the files as a draft says, answer what is refused, and try again.

    Parameters
    ----------
    draft : Draft
        Gets what it lacks, such as bounds, and ``incomplete``.

    Returns
    -------
    Validation
        The last one; its errors are those that have no answer.
    """
    for _ in range(ROUNDS):
        read, result = _read(draft)
        problems = [*result.errors, *(p for p in result.warnings if p.code == "doubtful_dataset")]
        by_code: dict[str, list[Problem]] = {}
        for problem in problems:
            by_code.setdefault(problem.code, []).append(problem)
        if not any(
            ANSWERS[code](draft, by_code[code], read) for code in ANSWERS if code in by_code
        ):
            break
    for problem in {problem.code: problem for problem in reversed(result.errors)}.values():
        draft.note("exports", "decide", str(problem))
    for problem in result.warnings:
        if problem.code in REPORTED:
            draft.note("exports", "decide", str(problem))
    counts = result.counts
    draft.runs = counts["runs"]
    draft.note(
        "exports",
        "found",
        ", ".join(count_things(counts[f"{kind}s"], kind) for kind in ("run", "model", "dataset"))
        + ".",
    )
    return result


def _read(draft: Draft) -> tuple[Exports, Validation]:
    settings = check_config({"studies": {"draft": draft.settings}})["studies"]["draft"]
    files = find_exports(Study("draft", settings, open_url=str, find_manifest=str))
    return check_exports(
        list(files.values()),
        names=list(files),
        patterns=settings["exports"],
        settings=settings,
    )


def _ignore_doubtful(draft: Draft, problems: list[Problem], _read: Exports) -> bool:
    """Leave out averages, ranks and attributes."""
    for problem in problems:
        name = problem.reason.split("'")[1]
        if problem.severity == "warning":
            select = draft.settings.get("select", {}).get("datasets", {}).get("exclude", [])
            if name in select:
                return False
            draft.put("select", {"datasets": {"exclude": [*select, name]}}, "guess", problem.reason)
        else:
            _ignore(draft, problem.column, problem.reason)
    return True


def _ignore_words(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Leave out columns of a wide table that hold words."""
    if read.runs["column"].nunique() < 2:
        return False
    for problem in problems:
        _ignore(draft, problem.column, f"{problem.column!r} holds no scores.")
    return True


def _ignore(draft: Draft, column: str, reason: str) -> None:
    ignored = [*draft.settings.get("columns", {}).get("ignore", []), column]
    draft.put("columns", {"ignore": list(dict.fromkeys(ignored))}, "guess", reason)
    draft.settings.get("datasets", {}).pop(column, None)


def _choose_metric(draft: Draft, _problems: list[Problem], read: Exports) -> bool:
    """Keep one metric of each dataset: the one that most datasets have."""
    counts = read.runs.drop_duplicates(["dataset", "metric"])["metric"].value_counts()
    known = [name for name in counts.index if find_metric(name) is not None]
    best = max(
        known or counts.index, key=lambda name: ("test" in split_words(name), int(counts[name]))
    )
    columns = draft.settings.get("columns", {})
    column = columns.get("metric", "metric")
    if column in draft.settings.get("where", {}) or isinstance(columns.get("score"), list):
        return False
    text = (
        f"A dataset has one metric; the others are {list_names(sorted({*counts.index} - {best}))}."
    )
    draft.put("where", {column: best}, "guess", text)
    return True


def _separate_rows(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Find columns that distinguish repeated rows; without any, rows are runs."""
    columns = draft.settings.setdefault("columns", {})
    has_seeds = read.runs["seed"].ne("").any()
    if columns.get("seed") == "row" or draft.settings.get("duplicates"):
        return False
    if not has_seeds:
        text = f"{count_things(len(problems), 'row')} repeat the names of others: each is a run."
        if draft.unused:
            text += f" Or are these parts of names, or to be chosen: {list_names(draft.unused)}?"
        draft.put("columns", {"seed": "row"}, "decide" if draft.unused else "guess", text)
        return True
    return False


def _leave_summaries(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Leave out rows that summarize runs."""
    seeds = sorted({*read.runs["seed"]} - set(list_summaries(read.runs["seed"])))
    column = draft.settings.get("columns", {}).get("seed", "seed")
    if column in draft.settings.get("where", {}) or not isinstance(column, str):
        return False
    draft.put("where", {column: seeds}, "guess", problems[0].reason)
    return True


def _bound_metric(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Say direction and bounds of metrics that have none."""
    for problem in problems:
        runs = read.runs[read.runs["metric"] == problem.value]
        rule = draft.settings.setdefault("metrics", {})
        rule[problem.value] = {**rule.get(problem.value, {}), **_guess_rule(draft, problem, runs)}
        certainty, text = _explain_rule(draft, problem, rule[problem.value])
        draft.note("metrics", certainty, text)
    return True


def _guess_rule(draft: Draft, problem: Problem, runs: pd.DataFrame) -> dict[str, Any]:
    known, scores = find_metric(problem.value), runs["score"]
    declines = not (DECLINES | {"loss"}).isdisjoint(split_words(problem.value))
    direction = guess_direction(problem.value) or ("min" if declines else "max")
    rule: dict[str, Any] = {} if known else {"direction": direction}
    low, high = (known.low, known.high) if known else (None, None)
    if low is None and high is None and scores.min() >= 0:
        if scores.max() <= 1:
            return {**rule, "low": 0, "high": 1}
        may_be_percent = "take" not in draft.settings and not _is_return(problem.value)
        # An error of 45 is no percentage, nor is a mark from 1 to 6.
        is_merit = guess_direction(problem.value) == "max" and scores.max() > PERCENT / 2
        if may_be_percent and is_merit and scores.max() <= PERCENT:
            return {**rule, "low": 0, "high": 100}
    rule |= {} if low is not None else {"low": "observed"}
    return rule | ({} if high is not None else {"high": "observed"})


def _is_return(name: str) -> bool:
    return not {"return", "reward"}.isdisjoint(split_words(name))


def _explain_rule(draft: Draft, problem: Problem, rule: Mapping[str, Any]) -> tuple[Any, str]:
    name = problem.value
    is_asked = _is_asked(draft, name, rule)
    if open_bounds := [bound for bound in ("low", "high") if rule.get(bound) == "observed"]:
        known = find_metric(name)
        direction = rule.get("direction") or (known.direction if known else "max")
        worst = "low" if direction == "max" else "high"
        if len(open_bounds) == 2:
            which = "natural bounds: the worst and best scores of these models stand for 0 and 1"
        elif open_bounds == [worst]:
            which = "bound for the worst: the worst scores of these models stand for 0"
        else:
            which = "bound for the best: the best scores of these models stand for 1"
        return "decide", (
            f"{name} has no {which} (observed), and move with them. State numbers if you can."
            + (f" {_ask_direction(name, direction)}" if is_asked else "")
        )
    if not is_asked:
        better = "higher" if rule.get("direction") != "min" else "lower"
        return "guess", f"{name} looks like a share, of which {better} is better."
    return "decide", _ask_direction(name, rule["direction"])


def _ask_direction(name: str, direction: str) -> str:
    return f"Is a {'higher' if direction == 'max' else 'lower'} {name} better?"


def _is_asked(draft: Draft, name: str, rule: Mapping[str, Any]) -> bool:
    """Whether the direction of a metric is anybody's guess."""
    is_open = draft.is_undirected or "observed" in (rule.get("low"), rule.get("high"))
    return "direction" in rule and (not guess_direction(name) or (is_open and name == UNNAMED))


def _allow_percent(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Bound scores in percent by 100."""
    metrics = read.runs.drop_duplicates("dataset").set_index("dataset")["metric"]
    for problem in problems:
        dataset = problem.reason.split("'")[1]
        metric = str(metrics[dataset])
        mine = metrics.index[metrics == metric]
        names = {other.reason.split("'")[1] for other in problems}
        if {*mine} <= names:
            rules = draft.settings.setdefault("metrics", {})
            rules[metric] = {**rules.get(metric, {}), "low": 0, "high": 100}
            draft.note("metrics", "guess", f"{metric} is in percent.")
        else:
            rules = draft.settings.setdefault("datasets", {})
            rules[dataset] = {**rules.get(dataset, {}), "low": 0, "high": 100}
            draft.note("datasets", "guess", f"Scores on {dataset} are in percent.")
    return True


def _turn_direction(draft: Draft, problems: list[Problem], read: Exports) -> bool:
    """Say which way is better of errors that look like merits.

    Where all datasets of the metric do, they were probably converted; where only some do, they are
    errors that happen to lie there.
    """
    firsts = read.runs.drop_duplicates("dataset").set_index("dataset")["metric"]
    rules = draft.settings.setdefault("datasets", {})
    found = [
        next(name for name in firsts.index if f"dataset '{name}'" in p.reason) for p in problems
    ]
    for dataset, problem in zip(found, problems, strict=True):
        same = firsts.index[firsts == firsts[dataset]]
        direction = "max" if {*same} <= {*found} else "min"
        rules[dataset] = {**rules.get(dataset, {}), "direction": direction}
        draft.note("datasets", "decide", f"{problem.reason} Is {direction} right?")
    return True


def _widen_bounds(draft: Draft, problems: list[Problem], _read: Exports) -> bool:
    """Take observed bounds where all scores are outside the natural ones."""
    for problem in problems:
        dataset = problem.reason.split("'")[1]
        rules = draft.settings.setdefault("datasets", {})
        rules[dataset] = {**rules.get(dataset, {}), "low": "observed", "high": "observed"}
        draft.note("datasets", "decide", f"{problem.reason} What are its bounds?")
    return True


def _allow_holes(draft: Draft, problems: list[Problem], _read: Exports) -> bool:
    """Say what becomes of empty cells."""
    if "incomplete" in draft.settings:
        return False
    text = (
        f"{count_things(len(problems), 'model')} without runs on some dataset. adjust expects what "
        "is missing from the other scores; drop_models and drop_datasets leave out."
    )
    draft.put("incomplete", "adjust", "decide", text)
    return True


def _count_failures(draft: Draft, problems: list[Problem], _read: Exports) -> bool:
    """Leave out runs that have no score."""
    marks = sorted({problem.value.strip() for problem in problems} & {*MISSING})
    if marks and "values" not in draft.settings:
        text = f"{list_names(marks)} stands for a run that was not made."
        draft.put("values", dict.fromkeys(marks, "missing"), "guess", text)
        return True
    if "invalid" in draft.settings:
        return False
    text = f"{count_things(len(problems), 'row')} cannot be used: they are left out and listed."
    draft.put("invalid", "quarantine", "decide", text)
    return True


# In the order in which they are given.
ANSWERS: dict[str, Answer] = {
    "doubtful_dataset": _ignore_doubtful,
    "no_numbers": _ignore_words,
    "summary_seed": _leave_summaries,
    "mixed_metrics": _choose_metric,
    "duplicate": _separate_rows,
    "unknown_metric": _bound_metric,
    "unbounded_metric": _bound_metric,
    "percent": _allow_percent,
    "suspicious_direction": _turn_direction,
    "all_out_of_bounds": _widen_bounds,
    "incomplete": _allow_holes,
    "not_a_number": _count_failures,
    "nan_score": _count_failures,
    "infinite_score": _count_failures,
    "empty_score": _count_failures,
}
