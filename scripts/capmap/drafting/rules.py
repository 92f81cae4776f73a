"""What is said about scores: their metric, its direction and bounds, and what cannot be used."""

from collections.abc import Callable, Sequence
from pathlib import PurePath
from typing import Any, TypeAlias

import pandas as pd

from capmap.drafting.draft import Certainty, Draft
from capmap.drafting.roles import TRAINING, find_known, list_rivals
from capmap.drafting.tables import Column
from capmap.drafting.words import (
    MISSING,
    WORDS,
    find_complement,
    guess_direction,
    has_word,
    is_change,
    rate_role,
    split_words,
)
from capmap.exports import Exports
from capmap.exports.doubts import list_doubtful, list_summaries
from capmap.inputs.exports import find_exports
from capmap.inputs.studies import Study, check_config
from capmap.metrics import find_metric
from capmap.problems import Problem
from capmap.validation.exports import check_exports
from capmap.validation.study import Validation
from capmap.wording import count_things, list_names, quote_name

# What scores are called of which no name says the metric.
UNNAMED = "score"
ARROW = "\u2193"
# Warnings that only the user can answer.
REPORTED = frozenset({"other_tables", "alike_names", "selected_by_score", "fractions"})
PERCENT = 100.0
MODELS_PER_SHARD = 50


def put_score(draft: Draft, best: Column, scores: Sequence[Column]) -> None:
    """Put the column of scores, and ask where others may be it."""
    rivals = list_rivals(best, scores)
    text = f"Scores are in {quote_name(best.name)}."
    if rivals:
        text = f"Scores are in {quote_name(best.name)}: are they, or in {list_names(rivals)}?"
    elif has_word(best.name, TRAINING):
        text = f"Scores are in {quote_name(best.name)}, of training: is there no test?"
        rivals = [best.name]
    if rivals or best.name != "score":
        draft.put("columns", {"score": best.name}, "decide" if rivals else "guess", text)


def put_summary(draft: Draft, *, counted: bool = False) -> None:
    """Put that cells stand for several runs, whose number a column may say."""
    runs = {} if counted else {"runs": 3}
    text = f"A mean with its spread{'' if counted else ', of how many runs'}: is it std or sem?"
    draft.put("summary", {**runs, "spread": "std"}, "decide", text)


def put_metric(
    draft: Draft, columns: Sequence[str], paths: Sequence[str], *, corner: str = ""
) -> None:
    """Put the metric of all files: that of their columns, of the corner above, or of paths."""
    stems = [PurePath(path).name.partition(".")[0] for path in paths]
    places = (columns, [corner], stems)
    is_one = len(columns) == 1 and not _is_plain(columns[0])
    if is_one:
        known = "" if is_change(split_words(columns[0])) else find_known(columns[0])
        metric = known or _name_metric(columns) or columns[0]
        draft.put("metric", metric, "found", "The metric is that of the column.")
    elif named := next(((_name_metric(n), n) for n in places if _name_metric(n)), None):
        metric, names = named
        # Another word is rather a part of names, such as error in error detection.
        is_sure = find_metric(metric) is not None or all(
            split_words(name)[-1:] == split_words(metric)[-1:] for name in names
        )
        text = f"Is {quote_name(metric)} the metric, or part of a name?"
        text = f"The metric is called {quote_name(metric)}." if is_sure else text
        draft.put("metric", metric, "guess" if is_sure else "decide", text)
    elif all(ARROW in name for name in columns):
        draft.put("metric", "error", "guess", "Arrows say that lower is better.")
    else:
        draft.put("metric", UNNAMED, "guess", "No metric is named; any name will do.")
        draft.is_undirected = not any(all(map(guess_direction, names)) for names in places)


def _name_metric(names: Sequence[str]) -> str:
    """Name the metric that all names speak of; "" where they speak of none."""
    complements = {find_complement(name)[0] for name in names}
    if len(complements) == 1 and complements != {""}:
        return complements.pop()
    shared = [w for w in split_words(names[0]) if all(has_word(name, {w}) for name in names)]
    if is_change(shared):
        return " ".join(shared)
    known = [word for word in shared if find_metric(word)]
    known += [word for word in shared if guess_direction(word) and not _is_plain(word)]
    return known[0] if known else ""


def _is_plain(name: str) -> bool:
    """Whether a name of scores says nothing of them."""
    return all(
        word == "test" or rate_role(word, "score") or rate_role(word, "metric")
        for word in split_words(name)
    )


def put_errors(draft: Draft, names: Sequence[str]) -> None:
    """Put the direction of datasets that are called after an error."""
    low = [name for name in names if guess_direction(name) == "min"]
    if low and guess_direction(draft.settings["metric"]) != "min":
        ends = [(split_words(name) or [""])[-1] for name in low]
        is_sure = all(ARROW in n or guess_direction(end) for n, end in zip(low, ends, strict=True))
        text = "These are called after an error, so lower is taken as better."
        text += "" if is_sure else " Is it?"
        rules = {name: {"direction": "min"} for name in low}
        draft.put("datasets", rules, "guess" if is_sure else "decide", text)


Answer: TypeAlias = Callable[[Draft, list[Problem], Exports], None]


def settle(draft: Draft) -> None:
    """Read the files as a draft says, and put what they need: first what counts, then bounds."""
    for answers in (COUNTED, COUNTED, RULES):
        read, result = _check(draft)
        for codes, answer in answers:
            if found := [problem for problem in result.problems if problem.code in codes]:
                answer(draft, found, read)
    _, result = _check(draft)
    firsts = {problem.code: problem for problem in reversed(result.problems)}
    for problem in firsts.values():
        if problem.severity == "error" or problem.code in REPORTED:
            draft.note("exports", "decide", str(problem))
    draft.runs = result.counts["runs"]
    if (shards := result.counts["models"] // MODELS_PER_SHARD) > 1:
        text = "So many models are resampled side by side."
        draft.put("bootstrap", {"shards": shards}, "found", text)
    counts = [count_things(result.counts[f"{k}s"], k) for k in ("run", "model", "dataset")]
    draft.note("exports", "found", ", ".join(counts) + ".")


def _check(draft: Draft) -> tuple[Exports, Validation]:
    settings = check_config({"studies": {"draft": draft.settings}})["studies"]["draft"]
    files = find_exports(Study("draft", settings, open_url=str))
    return check_exports(
        list(files.values()),
        names=list(files),
        patterns=settings["exports"],
        settings=settings,
    )


def _leave_doubtful(draft: Draft, _problems: list[Problem], read: Exports) -> None:
    """Leave out averages, ranks and attributes: columns of a wide table, datasets of others."""
    runs = read.runs
    for name, (reason, is_column) in list_doubtful(runs).items():
        text = f"The dataset {quote_name(name)} {reason}."
        if is_column:
            _ignore(draft, runs["column"][runs["dataset"] == name].iloc[0], text)
            continue
        known = draft.settings.get("select", {}).get("datasets", {}).get("exclude", [])
        value = {"datasets": {"exclude": list(dict.fromkeys([*known, name]))}}
        draft.put("select", value, "guess", text)


def _leave_words(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Leave out columns of a wide table that hold words."""
    if len(read.runs["column"].unique()) > 1:
        for problem in problems:
            _ignore(draft, problem.column, f"{problem.column!r} holds no scores.")


def _ignore(draft: Draft, column: str, reason: str) -> None:
    ignored = [*draft.settings.get("columns", {}).get("ignore", []), column]
    draft.put("columns", {"ignore": list(dict.fromkeys(ignored))}, "guess", reason)
    draft.settings.get("datasets", {}).pop(column, None)


def _leave_summaries(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Leave out rows that summarize runs."""
    seeds = sorted({*read.runs["seed"]} - {*list_summaries(read.runs["seed"])})
    column = draft.settings.get("columns", {}).get("seed", "seed")
    draft.put("where", {column: seeds}, "guess", problems[0].reason)


def _choose_metric(draft: Draft, _problems: list[Problem], read: Exports) -> None:
    """Keep one metric of each dataset: the one that most datasets have."""
    counts = read.runs.drop_duplicates(["dataset", "metric"])["metric"].value_counts()
    known = [name for name in counts.index if find_metric(name) is not None] or [*counts.index]
    best = max(known, key=lambda name: (has_word(name, {"test"}), int(counts[name])))
    columns = draft.settings.get("columns", {})
    if not isinstance(columns.get("score"), list):
        text = f"A dataset has one metric, of {list_names(sorted(counts.index))}."
        certainty: Certainty = "decide" if len(known) > 1 else "guess"
        draft.put("where", {columns.get("metric", "metric"): best}, certainty, text)


def _number_rows(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Let each of repeated rows be a run, unless seeds say which run it is."""
    if read.runs["seed"].ne("").any():
        return
    text = (
        f"{count_things(len(problems), 'row')} repeat the names of others: each is taken as a run. "
        "Or is another column part of a name, or to be chosen by `where`?"
    )
    draft.put("columns", {"seed": "row"}, "decide", text)


def _bound_metrics(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Put direction and bounds of metrics that have none by nature."""
    for problem in problems:
        name = problem.value
        rule = _guess_rule(draft, name, read.runs["score"][read.runs["metric"] == name])
        _put_rules(draft, "metrics", [name], rule)
        texts = []
        if is_open := "observed" in rule.values():
            ends = {"low": "worst", "high": "best"}
            known = find_metric(name)
            if (known.direction if known else rule["direction"]) == "min":
                ends = {"low": "best", "high": "worst"}
            which = [ends[side] for side in ("low", "high") if rule.get(side) == "observed"]
            texts.append(
                f"{name} has no natural bounds: the {' and '.join(which)} scores of these models "
                "are taken (observed), and move with them. State numbers if you can."
            )
        is_unsaid = not guess_direction(name) or (
            name == UNNAMED and (draft.is_undirected or is_open)
        )
        if "direction" in rule and is_unsaid:
            better = "higher" if rule["direction"] == "max" else "lower"
            texts.append(f"Is a {better} {name} better?")
        text = " ".join(texts) or f"{name} looks like a share."
        draft.note("metrics", "decide" if texts else "guess", text)


def _guess_rule(draft: Draft, name: str, scores: "pd.Series[float]") -> dict[str, Any]:
    known = find_metric(name)
    declines = has_word(name, WORDS["declines"] | {"loss"})
    direction = guess_direction(name) or ("min" if declines else "max")
    rule: dict[str, Any] = {} if known else {"direction": direction}
    if scores.min() >= 0 and (known is None or (known.low, known.high) == (None, None)):
        if scores.max() <= 1:
            return {**rule, "low": 0, "high": 1}
        # An error of 45 is no percentage, nor is a mark from 1 to 6, or a return.
        is_merit = guess_direction(name) == "max" and not has_word(name, {"return", "reward"})
        is_merit = is_merit and "take" not in draft.settings
        if is_merit and PERCENT / 2 < scores.max() <= PERCENT:
            return {**rule, "low": 0, "high": 100}
    sides = {"low": known.low, "high": known.high} if known else {"low": None, "high": None}
    return rule | {side: "observed" for side, bound in sides.items() if bound is None}


def _put_rules(draft: Draft, option: str, names: Sequence[str], rule: dict[str, Any]) -> None:
    """Add to the rules of metrics or datasets."""
    rules = draft.settings.setdefault(option, {})
    rules |= {name: {**rules.get(name, {}), **rule} for name in names}


def _allow_percent(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Bound scores in percent by 100, of a metric where all its datasets are."""
    found = _list_datasets(problems, read.runs)
    metrics = read.runs.drop_duplicates("dataset").set_index("dataset")["metric"]
    for metric, own in metrics.groupby(metrics, observed=True):
        percent = [name for name in own.index if name in found]
        option = "metrics" if len(percent) == len(own) else "datasets"
        names = [str(metric)] if option == "metrics" else percent
        if percent:
            _put_rules(draft, option, names, {"low": 0, "high": 100})
            draft.note(option, "guess", f"In percent: {list_names(names)}.")


def _list_datasets(problems: Sequence[Problem], runs: pd.DataFrame) -> list[str]:
    """List the datasets of the scores at the places of problems."""
    place = ["source", "line", "column", "raw"]
    rows = runs.drop_duplicates(["dataset", *place]).set_index(place)["dataset"].astype(str)
    keys = [(own.source, own.line, own.column, own.value) for own in problems]
    return [str(rows.loc[[key]].iloc[0]) for key in keys]


def _turn_direction(draft: Draft, problems: list[Problem], read: Exports) -> None:
    """Say which way is better of errors that look like merits.

    Where all datasets of the metric do, they were probably converted; where only some do, they are
    errors that happen to lie there.
    """
    errors = {problem.value: problem for problem in problems if problem.severity == "error"}
    metrics = read.runs.drop_duplicates("dataset").set_index("dataset")["metric"]
    for dataset, problem in errors.items():
        same = metrics.index[metrics == metrics[dataset]]
        direction = "max" if {*same} <= {*errors} else "min"
        _put_rules(draft, "datasets", [dataset], {"direction": direction})
        draft.note("datasets", "decide", f"{problem.reason} Is {direction} right?")


def _allow_holes(draft: Draft, problems: list[Problem], _read: Exports) -> None:
    """Say what becomes of empty cells."""
    text = (
        f"{count_things(len(problems), 'model')} without runs on some dataset. adjust expects what "
        "is missing from the other scores; drop_models and drop_datasets leave out."
    )
    draft.put("incomplete", "adjust", "decide", text)


def _leave_failures(draft: Draft, problems: list[Problem], _read: Exports) -> None:
    """Leave out runs that have no score."""
    errors = [problem for problem in problems if problem.severity == "error"]
    marks = sorted({problem.value.strip() for problem in errors} & {*MISSING})
    if marks:
        text = f"{list_names(marks)} stands for a run that was not made."
        draft.put("values", dict.fromkeys(marks, "missing"), "guess", text)
    if left := [problem for problem in errors if problem.value.strip() not in marks]:
        text = f"{count_things(len(left), 'row')} cannot be used: they are left out and listed."
        draft.put("invalid", "quarantine", "decide", text)


# What is found on files read as drafted, and what becomes of it.
COUNTED: tuple[tuple[frozenset[str], Answer], ...] = (
    (frozenset({"doubtful_dataset"}), _leave_doubtful),
    (frozenset({"no_numbers"}), _leave_words),
    (frozenset({"summary_seed"}), _leave_summaries),
    (frozenset({"mixed_metrics"}), _choose_metric),
)
RULES: tuple[tuple[frozenset[str], Answer], ...] = (
    (frozenset({"duplicate"}), _number_rows),
    (frozenset({"unknown_metric", "unbounded_metric"}), _bound_metrics),
    (frozenset({"percent"}), _allow_percent),
    (frozenset({"suspicious_direction"}), _turn_direction),
    (frozenset({"incomplete"}), _allow_holes),
    (frozenset({"not_a_number", "nan_score", "infinite_score"}), _leave_failures),
)
