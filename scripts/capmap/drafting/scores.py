"""What is said about scores: their column, their metric, and what they stand for."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from capmap.drafting.draft import Certainty, Draft
from capmap.drafting.roles import find_known
from capmap.drafting.words import split_words
from capmap.metrics import find_metric
from capmap.wording import quote_name


def put_score(draft: Draft, name: str, certainty: Certainty) -> None:
    """Put the column of scores."""
    if name != "score":
        draft.put("columns", {"score": name}, certainty, f"Scores are in {quote_name(name)}.")


def put_errors(draft: Draft, names: Sequence[str]) -> None:
    """Put the metric of datasets that are called after an error."""
    rules = {}
    for name in names:
        known = [word for word in split_words(name) if find_metric(word) is not None]
        metric = find_metric(known[-1]) if known else None
        if metric is not None and metric.direction == "min":
            rules[name] = {"metric": metric.name}
    if rules:
        draft.put("datasets", rules, "guess", "These are called after an error: lower is better.")


def put_summary(draft: Draft) -> None:
    """Put that cells stand for several runs."""
    text = "Each cell is a mean with its spread: of how many runs? Is it std or sem?"
    draft.put("summary", {"runs": 3, "spread": "std"}, "decide", text)


def put_metric(draft: Draft, known: str, paths: Sequence[str]) -> None:
    """Put the metric of all files: that of their column, or of their name."""
    if known:
        draft.put("metric", known, "found", "The metric is that of the column.")
        return
    words = split_words(PurePosixPath(paths[0]).stem)
    named = next((word for word in words if find_known(word)), "") if len(paths) == 1 else ""
    if named:
        draft.put("metric", named, "guess", "The metric is in the name of the file.")
    else:
        draft.put("metric", "score", "guess", "No metric is named; any name will do.")
