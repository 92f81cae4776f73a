"""A study's settings on their way from files to YAML with comments, and how sure each is."""

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
import yaml

from capmap.artifacts import unpack_columns
from capmap.drafting.table import correlate
from capmap.drafting.words import (
    WORDS,
    guess_direction,
    has_word,
    is_average,
    rate_values,
    split_words,
)
from capmap.exports import Exports
from capmap.inputs.studies import Study, check_config, list_exports
from capmap.metrics import find_metric
from capmap.problems import Problem
from capmap.settings.choices import Direction
from capmap.validation import Validation, check_exports
from capmap.wording import count_things, list_names, quote_name

Certainty: TypeAlias = Literal["found", "guess", "decide"]
# Warnings that only the user can answer.
REPORTED = frozenset({"other_tables", "alike_names", "selected_by_score", "fractions"}) | {
    "doubtful_dataset",
    "doubtful_sign",
    "opposite_order",
}
PERCENT = 100.0
FRACTION = 1.5
# A score this many times the median is that of a run that diverged, or stands for none.
FAR = 1000.0
# The share of datasets that speak for all, and a rank correlation of orders that are alike.
HALF, ALIKE = 0.5, 0.9
WIDTH = 100
MARK = "    # "
FIRST = ("title", "exports", "preset", "format")
HEADINGS = {"found": "", "guess": "A guess: ", "decide": "DECIDE: "}
# Folders of capmap itself in results/.
RESERVED = ("logs", "benchmarks")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass
class Draft:
    """The settings of a study, and what is to be said about them.

    Parameters
    ----------
    settings : dict
        Of one study.
    notes : dict of str to list
        Option, and the certainty and text of each note on it. "found" is what the files say,
        "guess" what is likely, and "decide" what only the user knows: the setting is a proposal.
    is_undirected : bool
        Whether no name says of the scores which way is better.
    better : {"max", "min", ""}
        Which scores are better by ranks in the files, or the order of their rows.
    runs : int
        How many runs were read as the draft says.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, list[tuple[Certainty, str]]] = field(default_factory=dict)
    is_undirected: bool = False
    better: Direction | Literal[""] = ""
    runs: int = 0

    def note(self, option: str, certainty: Certainty, text: str) -> None:
        """Add a note on an option, once."""
        notes = self.notes.setdefault(option, [])
        if text and (certainty, text) not in notes:
            notes.append((certainty, text))

    def put(self, option: str, value: Any, certainty: Certainty, text: str) -> None:
        """Set an option, or fill a section, and say why."""
        old = self.settings.get(option)
        is_section = isinstance(old, dict) and isinstance(value, Mapping)
        self.settings[option] = {**old, **value} if old and is_section else value
        self.note(option, certainty, text)

    def put_rules(self, option: str, names: Sequence[str], rule: Mapping[str, Any]) -> None:
        """Add to the rules of metrics or datasets."""
        rules = self.settings.setdefault(option, {}) if rule else {}
        rules |= {name: {**rules.get(name, {}), **rule} for name in names}

    @property
    def decisions(self) -> list[str]:
        """What the user has to decide, each with its option."""
        return [
            f"{option}: {text}"
            for option, notes in self.notes.items()
            for certainty, text in notes
            if certainty == "decide"
        ]


def name_study(exports: Sequence[str]) -> str:
    """Name a study after its file or folder.

    Examples
    --------
    >>> name_study(["runs/my results.csv"]), name_study(["*.csv"])
    ('my-results', 'study')
    """
    stem = PurePath(exports[0]).name.partition(".")[0] if exports else ""
    name = NOT_IN_NAMES.sub("-", stem).strip("-_") or "study"
    return f"{name}-study" if name in RESERVED else name


def write_draft(draft: Draft, name: str) -> str:
    """Write a draft as the YAML of a configuration, with a comment above each option.

    Parameters
    ----------
    draft : Draft
        Settings and notes.
    name : str
        The study's name.

    Returns
    -------
    str
        What only the user knows begins with "DECIDE".
    """
    lines = ["# Drafted by capmap: comments say what is a guess, and what you have to DECIDE."]
    lines += ["studies:", f"  {name}:"]
    first = [key for key in FIRST if key in draft.settings]
    for key in dict.fromkeys([*first, *draft.settings, *draft.notes]):
        for certainty, text in draft.notes.get(key, []):
            words = HEADINGS[certainty] + " ".join(text.split())
            lines += textwrap.wrap(words, WIDTH, initial_indent=MARK, subsequent_indent=MARK)
        if key in draft.settings:
            text = yaml.safe_dump(
                {key: draft.settings[key]},
                default_flow_style=None if isinstance(draft.settings[key], dict | list) else False,
                allow_unicode=True,
                sort_keys=False,
                width=WIDTH,
            )
            lines += [f"    {line}" for line in text.splitlines()]
    return "\n".join(lines) + "\n"


def settle(draft: Draft, others: Sequence[str]) -> None:
    """Read the files as a draft says, put what their scores need, and check them."""
    read, result, _ = _check(draft)
    runs = unpack_columns(read.runs)
    runs = runs[np.isfinite(runs["score"])]
    if not runs.empty:
        runs = _exclude_averages(draft, runs)
        runs = _direct_datasets(draft, runs, result.errors)
        for name, own in runs.groupby("metric", observed=True):
            _bound_metric(draft, str(name), own)
        _name_diverged(draft, runs)
        _answer(draft, read, result.errors)
    _, result, files = _check(draft)
    firsts = {problem.code: problem for problem in reversed(result.problems)}
    # The check warns of an average among the datasets also where it is left out.
    reported = REPORTED - {"doubtful_dataset" if "select" in draft.settings else ""}
    for problem in firsts.values():
        if problem.severity == "error" or problem.code in reported:
            draft.note("exports", "decide", str(problem))
    if unread := sorted({*others} - {*files}):
        draft.note("exports", "guess", f"Not read: {list_names(unread)}.")
    draft.runs = result.counts["runs"]
    counts = [count_things(result.counts[f"{k}s"], k) for k in ("run", "model", "dataset")]
    draft.note("exports", "found", ", ".join(counts) + ".")


def _check(draft: Draft) -> tuple[Exports, Validation, list[str]]:
    settings = check_config({"studies": {"draft": draft.settings}})["studies"]["draft"]
    files = list_exports(Study("draft", settings))
    read, result = check_exports(
        files, names=files, patterns=settings["exports"], settings=settings
    )
    return read, result, files


def _exclude_averages(draft: Draft, runs: pd.DataFrame) -> pd.DataFrame:
    """Leave out the datasets that are called like averages of at least two others."""
    names = runs["dataset"].unique().tolist()
    averages = sorted(filter(is_average, names))
    if not averages or len(names) <= 1 + len(averages):
        return runs
    text = f"{list_names(averages)} is called like an average."
    draft.put("select", {"datasets": {"exclude": averages}}, "guess", text)
    return runs[~runs["dataset"].isin(averages)]


def _direct_datasets(draft: Draft, runs: pd.DataFrame, errors: Sequence[Problem]) -> pd.DataFrame:
    """Ask which way is better of datasets that are called after errors, or hold 1 - error.

    Returns the runs on datasets whose bounds are not known by that.
    """
    converted = {p.value: p.reason for p in errors if p.code == "suspicious_direction"}
    for name, reason in converted.items():
        draft.put_rules("datasets", [name], {"direction": "max", "low": 0, "high": 1})
        draft.note("datasets", "decide", f"{reason} Is max right?")
    metric = draft.settings.get("metric", "")
    is_wide = len(runs["column"].unique()) > 1 and metric and guess_direction(metric) != "min"
    for name in runs["dataset"].unique() if is_wide else ():
        if guess_direction(name) == "min" and not rate_values([name], "merit"):
            text = f"{quote_name(name)} is called after an error: is lower better?"
            draft.note("datasets", "decide", text)
    return runs[~runs["dataset"].isin([*converted])]


def _bound_metric(draft: Draft, name: str, runs: pd.DataFrame) -> None:
    """Put direction and bounds of a metric, and of datasets whose scale is another."""
    known, named = find_metric(name), guess_direction(name)
    said = "" if name == "score" and draft.is_undirected else named
    datasets = runs["dataset"].unique().tolist()
    guessed = draft.better or ("max" if rate_values(datasets, "merit") > HALF else "")
    direction: Direction = (
        said or guessed or ("min" if has_word(name, {"loss", "gap", "drop"}) else "max")
    )
    rule: dict[str, Any] = {} if known else {"direction": direction}
    low, high = (known.low, known.high) if known else (None, None)
    facts = runs.groupby("dataset", observed=True)["score"].agg(["min", "median", "max"])
    is_percent = (facts["median"] > FRACTION) & (facts["max"] <= PERCENT)
    # An error of 45 is no percentage, nor is a mark from 1 to 6, or a return.
    is_merit = named == "max" and not has_word(name, {"return", "reward"})
    is_share = bool((facts["max"] <= 1).all())
    is_share |= is_merit and PERCENT / 2 < facts["max"].max() <= PERCENT
    if known and (low, high) != (None, None):
        is_share = high == 1 and low is not None and bool(is_percent.any())
    elif facts["min"].min() < 0:
        is_share = False
    if is_share:
        # The check tells which datasets have the other scale, with the bounds to give them.
        in_percent = bool(2 * is_percent.sum() >= len(facts))
        most = 100 if in_percent else 1
        draft.put_rules("metrics", [name], {**rule, "low": int(low or 0) * most, "high": most})
        draft.note("metrics", "guess", f"{name} looks like a share{' in percent' * in_percent}.")
    elif known is None or None in (low, high):
        _put_open(draft, name, (low, high), direction, runs)
    if known is None and (not said or (name == "score" and not is_share)):
        better = "higher" if direction == "max" else "lower"
        if guessed:
            source = (
                "ranks or the order of rows say" if draft.better else "is usual of these datasets"
            )
            draft.note("metrics", "guess", f"A {better} {name} is better, as {source}.")
        else:
            draft.note("metrics", "decide", f"Is a {better} {name} better?")


def _put_open(
    draft: Draft,
    name: str,
    natural: tuple[float | None, float | None],
    direction: Direction,
    runs: pd.DataFrame,
) -> None:
    """Put bounds that no definition gives: a model, the median, or observed ones."""
    worst, best = natural if direction == "max" else natural[::-1]
    worst_side, best_side = ("low", "high") if direction == "max" else ("high", "low")
    rule: dict[str, Any] = {} if find_metric(name) else {"direction": direction}
    said = f"the {'worst' if worst is None else 'best'} scores of these models end its scale"
    if worst is None and (floor := _find_baseline(runs)):
        # The score of a model that others are measured by is the low end in either direction.
        best_side = "high"
        rule["low"] = {"model": floor}
        said = f"{quote_name(floor)} counts as 0"
    elif worst is None and direction == "min":
        cells = runs.groupby(["dataset", "model"], observed=True)["score"].mean()
        for dataset, median in cells.groupby("dataset", observed=True).median().items():
            draft.put_rules("datasets", [str(dataset)], {"high": float(f"{median:.4g}")})
        said = "on each dataset the median of these models counts as 0"
    elif worst is None:
        rule[worst_side] = "observed"
    if best is None:
        is_error = direction == "min" and runs["score"].min() >= 0
        rule[best_side] = 0.0 if is_error else "observed"
    draft.put_rules("metrics", [name], rule)
    text = (
        f"{name} has no natural bounds: {said}. State numbers, or a model to compare with, if you "
        "can."
    )
    is_alike = _order_alike(runs, direction)
    text += " The order of models is nearly that of their mean ranks." * is_alike
    certainty: Certainty = "guess" if is_alike else "decide"
    draft.note("metrics" if rule else "datasets", certainty, text)


def _order_alike(runs: pd.DataFrame, direction: Direction) -> bool:
    """Whether mean ranks and means on observed scales have one leader, and nearly one order."""
    cells = runs.pivot_table("score", "model", "dataset", observed=True)
    cells = cells if direction == "max" else -cells
    scaled = (cells - cells.min()) / (cells.max() - cells.min())
    means, ranks = scaled.mean(axis=1).fillna(0), cells.rank().mean(axis=1)
    return bool(means.idxmax() == ranks.idxmax() and correlate(means, ranks) > ALIKE)


def _find_baseline(runs: pd.DataFrame) -> str:
    """Find a model that others are measured by, and that has runs on all datasets."""
    counts = runs.groupby("model", observed=True)["dataset"].nunique()
    whole = counts.index[counts == runs["dataset"].nunique()]
    # A seasonal naive forecast rather than a naive one.
    rated = {
        str(name): len({*split_words(str(name))} & WORDS["baselines"])
        for name in whole
        if {*split_words(str(name))} <= WORDS["baselines"] | WORDS["players"]
    }
    best = max(rated, key=lambda name: rated[name], default="")
    return best if rated.get(best) else ""


def _name_diverged(draft: Draft, runs: pd.DataFrame) -> None:
    """Ask about scores so far beyond the others that a run diverged, or was not made."""
    sizes = runs["score"].abs()
    usual = sizes.groupby(runs["dataset"], observed=True).transform("median")
    far = runs[(sizes > FAR * usual) & (usual > 0) & (sizes > PERCENT)]
    for row in far.head(1).to_dict("records"):
        text = (
            f"{quote_name(row['raw'])} of {quote_name(row['model'])} on {row['dataset']} is more "
            f"than {FAR:g} times the median there. If it is no score, write: values: "
            f"{{'{row['raw']}': missing}}"
        )
        draft.note("values", "decide", text)


def _answer(draft: Draft, read: Exports, problems: Sequence[Problem]) -> None:
    """Propose an answer to errors of repeated rows and empty cells."""
    errors = {problem.code: problem for problem in problems[::-1]}
    if "duplicate" in errors and read.runs["seed"].eq("").all():
        text = "Each row is taken as a run. Or is another column part of a name, or to be chosen?"
        draft.put("columns", {"seed": "row"}, "decide", f"{errors['duplicate'].reason} {text}")
    if "incomplete" in errors:
        text = "What is missing is expected from the other scores (or: drop_models, drop_datasets)."
        draft.put("incomplete", "adjust", "guess", f"{errors['incomplete'].reason} {text}")
