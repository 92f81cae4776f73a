"""What is said about scores: their column, their metric, and what they stand for."""

import re
from collections.abc import Collection, Sequence
from pathlib import PurePath

from capmap.drafting.draft import Certainty, Draft
from capmap.drafting.roles import find_known
from capmap.drafting.words import (
    CHANGES,
    ROLES,
    find_complement,
    find_words,
    guess_direction,
    split_words,
)
from capmap.metrics import find_metric, is_same_metric
from capmap.wording import list_names, quote_name

# What scores are called of which no name says the metric.
UNNAMED = "score"
ERRORS = ("error", "errors", "loss")
LESS = "\u2193"


def put_score(
    draft: Draft, name: str, certainty: Certainty, *, others: Sequence[str] = (), doubt: str = ""
) -> None:
    """Put the column of scores, and say which others hold metrics, or what is in doubt."""
    if doubt:
        draft.put("columns", {"score": name}, "decide", doubt)
    elif name != "score":
        draft.put("columns", {"score": name}, certainty, f"Scores are in {quote_name(name)}.")
    if others:
        draft.note("columns", "guess", f"Other metrics are in {list_names(others)}.")


def put_errors(draft: Draft, names: Sequence[str]) -> None:
    """Put the metric of datasets that are called after an error."""
    rules: dict[str, dict[str, str]] = {}
    if guess_direction(draft.settings["metric"]) == "min":
        return
    for name in names:
        known = find_words(name)
        metric = find_metric(known[-1]) if known else None
        if (metric is None or find_complement(name)) and guess_direction(name) == "min":
            rules[name] = {"direction": "min"}
        elif metric is None or is_same_metric(metric.name, draft.settings["metric"]):
            continue
        elif metric.direction == "min":
            rules[name] = {"metric": metric.name}
    if not rules:
        return
    if all("metric" in rule or _ends_low(name) for name, rule in rules.items()):
        draft.put("datasets", rules, "guess", "These are called after an error: lower is better.")
    else:
        text = "A word in these names speaks of errors, so lower is taken as better: is it?"
        draft.put("datasets", rules, "decide", text)


def put_summary(draft: Draft, *, counted: bool = False) -> None:
    """Put that cells stand for several runs, whose number a column may say."""
    if counted:
        draft.put("summary", {"spread": "std"}, "decide", "Is the spread std or sem?")
    else:
        text = "Each cell is a mean with its spread: of how many runs? Is it std or sem?"
        draft.put("summary", {"runs": 3, "spread": "std"}, "decide", text)


def put_turned(draft: Draft, metrics: Collection[str], column: str) -> None:
    """Put that a column of errors holds errors, whatever their metric is called."""
    rules = {
        name: {"direction": "min"} for name in sorted(metrics) if guess_direction(name) == "max"
    }
    if rules:
        text = (
            f"Scores are in {quote_name(column)}, so lower is taken as better, although more of "
            f"{list_names(list(rules))} is better by name."
        )
        draft.put("metrics", rules, "decide", text)


def put_metric(
    draft: Draft, columns: Sequence[str], paths: Sequence[str], *, corner: str = ""
) -> None:
    """Put the metric of all files: that of their columns, or of their names.

    Parameters
    ----------
    draft : Draft
        Gets the metric.
    columns : sequence of str
        The columns of scores.
    paths : sequence of str
        The files.
    corner : str, optional
        What stands above the names of rows.
    """
    is_change = bool(columns) and bool(_name_change(split_words(columns[0])))
    if len(columns) == 1 and not is_change and (metric := find_known(columns[0])):
        draft.put("metric", metric, "found", "The metric is that of the column.")
    elif named := (
        _name_metric(columns) or _name_metric([corner]) or _name_metric(paths, are_paths=True)
    ):
        metric, certainty = named
        word = quote_name(metric)
        is_open = certainty == "decide"
        text = f"Is {word} the metric, or part of a name?"
        draft.put("metric", metric, certainty, text if is_open else f"The metric is called {word}.")
    elif len(columns) == 1 and not _is_plain(columns[0]):
        draft.put("metric", columns[0], "guess", "The metric is called like the column.")
    elif columns and all(LESS in name for name in columns):
        draft.put("metric", "error", "guess", "Arrows say that lower is better.")
    else:
        draft.put("metric", UNNAMED, "guess", "No metric is named; any name will do.")
        stems = [PurePath(path).stem for path in paths]
        draft.is_undirected = not any(
            names and all(map(guess_direction, names)) for names in (columns, [corner], stems)
        )


def _name_metric(places: Sequence[str], *, are_paths: bool = False) -> tuple[str, Certainty] | None:
    """Name the metric that all columns, or paths, speak of."""
    if not places:
        return None
    shared = set.intersection(*(set(split_words(name)) for name in places))
    words = [word for word in split_words(places[0]) if word in shared]
    stems = [PurePath(name).name.partition(".")[0] for name in places] if are_paths else places
    if other := _find_complement(stems) or _name_change(words):
        return other, "guess"
    known = [word for word in words if find_metric(word) is not None]
    if known:
        return known[0], "guess"
    if are_paths:
        # Folders are called after anything: time-series, cost-sensitive.
        lower = [word for word in split_words(stems[0]) if guess_direction(word) == "min"]
        metrics = [word for word in words if word in {*ERRORS, *lower}]
    else:
        metrics = [word for word in words if guess_direction(word) and not _is_plain(word)]
    if not metrics:
        return None
    return metrics[0], "guess" if not are_paths and all(map(_ends_low, places)) else "decide"


def _find_complement(names: Sequence[str]) -> str:
    """Find one minus a metric, which is all of a name or the end of several."""
    first, several = names[0], len(names) > 1
    starts = [0] + [match.end() for match in re.finditer(r"[\s_/(]", first) if several]
    ends = (first[start:] for start in starts)
    shared = (end for end in ends if all(name.endswith(end) for name in names))
    return next((end for end in shared if find_complement(end)), "")


def _name_change(words: Sequence[str]) -> str:
    """Name the change of a metric that words speak of, such as "accuracy drop"; "" if of none."""
    changes = [word for word in words if word in CHANGES | {"loss"}]
    known = [word for word in words if guess_direction(word) and word not in changes]
    own = [word for word in words if word in {*known[:1], *changes}]
    is_change = bool(known and changes) and not guess_direction(" ".join(own))
    return " ".join(own) if is_change else ""


def _ends_low(name: str) -> bool:
    """Whether a name ends with a word or an arrow that says that lower is better."""
    words = split_words(name)
    return LESS in name or bool(words and guess_direction(words[-1]) == "min")


def _is_plain(name: str) -> bool:
    """Whether a name of scores says nothing of them."""
    return not set(split_words(name)) - ROLES["score"] - ROLES["metric"] - {"test"}
