"""A study's settings on their way from files to YAML with comments, and how sure each is."""

import copy
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
from capmap.drafting.words import MISSING, WORDS, guess_direction, has_word, split_words
from capmap.exports import Exports
from capmap.exports.doubts import list_doubtful
from capmap.inputs.exports import find_exports
from capmap.inputs.studies import Study, check_config
from capmap.metrics import Metric, find_metric
from capmap.problems import Problem
from capmap.validation.study import Validation, check_exports
from capmap.wording import count_things, list_names, quote_name

Certainty: TypeAlias = Literal["found", "guess", "decide"]
# Warnings that only the user can answer.
REPORTED = frozenset({"other_tables", "alike_names", "selected_by_score", "fractions"}) | {
    "opposite_order",
    "doubtful_sign",
}
UNUSABLE = frozenset({"not_a_number", "nan_score", "infinite_score"})
ARROW = "\u2193"
UNNAMED = "score"
PERCENT = 100.0
# A score this many times the median is that of a run that diverged, or stands for none.
FAR = 1000.0
FRACTION = 1.5
# A part that is missing without a question.
FEW = 0.2
# What is proposed where rows or cells cannot be used as they are.
ANSWERS: dict[str, tuple[str, Any, str]] = {
    "duplicate": (
        "columns",
        {"seed": "row"},
        "Each row is taken as a run. Or is another column part of a name, or to be chosen (where)?",
    ),
    "incomplete": (
        "incomplete",
        "adjust",
        "What is missing is expected from the other scores; drop_models and drop_datasets leave "
        "out models or datasets.",
    ),
    "not_a_number": ("invalid", "quarantine", "Such scores are left out and listed."),
}


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
    runs : int
        How many runs were read as the draft says.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, list[tuple[Certainty, str]]] = field(default_factory=dict)
    is_undirected: bool = False
    runs: int = 0

    def note(self, option: str, certainty: Certainty, text: str) -> None:
        """Add a note on an option, once."""
        notes = self.notes.setdefault(option, [])
        if (certainty, text) not in notes:
            notes.append((certainty, text))

    def put(self, option: str, value: Any, certainty: Certainty, text: str) -> None:
        """Set an option, or fill a section, and say why."""
        old = self.settings.get(option)
        is_section = isinstance(old, dict) and isinstance(value, Mapping)
        self.settings[option] = {**old, **value} if old and is_section else value
        self.note(option, certainty, text)

    @property
    def decisions(self) -> list[str]:
        """What the user has to decide, each with its option."""
        return [
            f"{option}: {text}"
            for option, notes in self.notes.items()
            for certainty, text in notes
            if certainty == "decide"
        ]


WIDTH = 100
MARK = "    # "
FIRST = ("title", "exports", "preset", "format")
HEADINGS = {"found": "", "guess": "A guess: ", "decide": "DECIDE: "}
# Folders of capmap itself in results/.
RESERVED = ("logs", "benchmarks")
NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")


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
    runs, before = unpack_columns(read.runs), copy.deepcopy(draft.settings)
    _leave_doubtful(draft, runs)
    if draft.settings != before:
        read, result, _ = _check(draft)
        runs = unpack_columns(read.runs)
    if not runs.empty:
        runs = runs[np.isfinite(runs["score"])]
        _direct_datasets(draft, runs)
        runs = _direct_converted(draft, runs, result)
        _bound_metrics(draft, runs)
        _name_diverged(draft, runs)
        _settle_rows(draft, read, result)
    _, result, files = _check(draft)
    firsts = {problem.code: problem for problem in reversed(result.problems)}
    for problem in firsts.values():
        if problem.severity == "error" or problem.code in REPORTED:
            draft.note("exports", "decide", str(problem))
    if unread := sorted({*others} - {*files}):
        draft.note("exports", "guess", f"Not read: {list_names(unread)}.")
    draft.runs = result.counts["runs"]
    counts = [count_things(result.counts[f"{k}s"], k) for k in ("run", "model", "dataset")]
    draft.note("exports", "found", ", ".join(counts) + ".")


def _check(draft: Draft) -> tuple[Exports, Validation, dict[str, str]]:
    settings = check_config({"studies": {"draft": draft.settings}})["studies"]["draft"]
    files = find_exports(Study("draft", settings, open_url=str))
    read, result = check_exports(
        list(files.values()),
        names=list(files),
        patterns=settings["exports"],
        settings=settings,
    )
    return read, result, files


def _leave_doubtful(draft: Draft, runs: pd.DataFrame) -> None:
    """Leave out columns or datasets that are called like averages; ask about means of others."""
    columns = runs.groupby("dataset", observed=True)["column"].unique()
    is_wide = len(runs["column"].unique()) > 1
    doubtful = list_doubtful(runs)
    for name in map(str, columns.index):
        own = {word for word in split_words(name) if not find_metric(word)}
        if own - {"score"} and (own <= WORDS["averages"] or own & {"avg", "wavg"}):
            doubtful[name] = ("is called like an average", True)
    for name, (reason, is_sure) in doubtful.items():
        text = f"The dataset {quote_name(name)} {reason}."
        is_column = is_wide and len(columns[name]) == 1
        section, option = ("columns", "ignore") if is_column else ("select", "datasets")
        left = str(columns[name][0]) if is_column else name
        if is_sure or has_word(name, WORDS["averages"]):
            old = draft.settings.get(section, {}).get(option, [])
            known = [*(old if is_column else dict(old).get("exclude", [])), left]
            value = {option: known if is_column else {"exclude": known}}
            draft.put(section, value, "guess", text)
        else:
            option = f"ignore: [{left}]" if is_column else f"datasets: {{exclude: [{left}]}}"
            text += f" Is it an average? Then: {section}: {{{option}}}"
            draft.note("datasets", "decide", text)


def _bound_metrics(draft: Draft, runs: pd.DataFrame) -> None:
    """Put direction and bounds of metrics, and of datasets whose scale is another."""
    for name in map(str, runs["metric"].unique()):
        own = runs[runs["metric"] == name]
        known = find_metric(name)
        usual = "min" if has_word(name, {"loss", "gap", "drop"}) else "max"
        direction = known.direction if known else guess_direction(name) or usual
        rule: dict[str, Any] = {} if known else {"direction": direction}
        scores = own.groupby("dataset", observed=True)["score"]
        facts = scores.agg(["min", "median", "max"])
        percent = facts[(facts["median"] > FRACTION) & (facts["max"] <= PERCENT)].index.tolist()
        whole = [
            n for n in percent if not own.loc[own["dataset"] == n, "raw"].str.contains("[.,]").any()
        ]
        if whole and 2 * len(percent) < len(facts):
            text = f"{list_names(whole)} hold whole numbers: are these scores?"
            draft.note("datasets", "decide", text)
        is_share = _are_shares(name, known, facts, percent)
        if is_share:
            _put_shares(draft, name, known, rule, percent, facts.index.tolist())
        elif known is None or None in (known.low, known.high):
            _put_open(draft, name, known, rule, own)
        is_unsaid = name == UNNAMED and (draft.is_undirected or not is_share)
        if known is None and (is_unsaid or not guess_direction(name)):
            better = "higher" if direction == "max" else "lower"
            draft.note("metrics", "decide", f"Is a {better} {name} better?")


def _are_shares(
    name: str, known: Metric | None, facts: pd.DataFrame, percent: Sequence[str]
) -> bool:
    """Whether scores are shares, of which some datasets may be in percent."""
    if known and known.high == 1 and known.low is not None:
        return bool(percent)
    if (known and (known.low, known.high) != (None, None)) or facts["min"].min() < 0:
        return False
    if (facts["max"] <= 1).all():
        return True
    # An error of 45 is no percentage, nor is a mark from 1 to 6, or a return.
    is_merit = guess_direction(name) == "max" and not has_word(name, {"return", "reward"})
    is_percent = PERCENT / 2 < facts["max"].max() <= PERCENT
    return is_merit and is_percent


def _put_shares(
    draft: Draft,
    name: str,
    known: Metric | None,
    rule: dict[str, Any],
    percent: Sequence[str],
    datasets: Sequence[str],
) -> None:
    """Put bounds of 1 and 100: by metric where most datasets have them, else by dataset."""
    is_natural = known is not None and known.high == 1
    low = known.low if known and known.low else 0
    scales = {1: [n for n in datasets if n not in percent], 100: list(percent)}
    most = 1 if is_natural or len(scales[1]) > len(percent) else 100
    most = 100 if not scales[1] else most
    if not (is_natural and most == 1):
        bounds = {"low": int(low * most), "high": most}
        _put_rules(draft, "metrics", [name], {**rule, **bounds})
        draft.note("metrics", "guess", f"{name} looks like a share{' in percent' * (most > 1)}.")
    for high, names in scales.items():
        if high != most and names:
            _put_rules(draft, "datasets", names, {"low": int(low * high), "high": high})
            scale = "in percent" if high > 1 else "fractions"
            text = f"Scores on {list_names(names)} are {scale}, unlike those on others."
            draft.note("datasets", "guess" if high > 1 else "decide", text)


def _put_open(
    draft: Draft, name: str, known: Metric | None, rule: dict[str, Any], runs: pd.DataFrame
) -> None:
    """Put bounds that no definition gives: a model, the median, or observed ones."""
    low, high = (known.low, known.high) if known else (None, None)
    is_error = (known.direction if known else rule["direction"]) == "min"
    if is_error:
        worst, best = high, 0.0 if low is None and runs["score"].min() >= 0 else low
    else:
        worst, best = low, high
    floor = _find_baseline(runs)
    sides = ("high", "low") if is_error else ("low", "high")
    text = f"{name} has no natural bounds: "
    if worst is None and floor:
        sides = ("low", "high")
        rule |= {"low": {"model": floor}}
        text += f"scores are measured from those of {quote_name(floor)}."
    elif worst is None and is_error:
        cells = runs.groupby(["dataset", "model"], observed=True)["score"].mean()
        for dataset, median in cells.groupby("dataset", observed=True).median().items():
            _put_rules(draft, "datasets", [str(dataset)], {"high": float(f"{median:.4g}")})
        text += "on each dataset the median of these models counts as 0."
    elif worst is None:
        rule |= {"low": "observed"}
        text += "the worst scores of these models are taken, and move with them."
    if best is None:
        rule |= {sides[1]: "observed"}
        text += " The best ones are taken as well." if worst is None else "the best are taken."
    elif known is None:
        rule |= {sides[1]: best}
    if rule:
        _put_rules(draft, "metrics", [name], rule)
    text += " State numbers, or a model to compare with, if you can."
    draft.note("metrics" if rule else "datasets", "decide", text)


def _find_baseline(runs: pd.DataFrame) -> str:
    """Find a model that others are measured by, and that has runs on all datasets."""
    counts = runs.groupby("model", observed=True)["dataset"].nunique()
    whole = counts.index[counts == runs["dataset"].nunique()]
    # A seasonal naive forecast rather than a naive one.
    rated = {str(name): len({*split_words(str(name))} & WORDS["baselines"]) for name in whole}
    best = max(rated, key=lambda name: rated[name], default="")
    return best if rated.get(best) else ""


def _put_rules(draft: Draft, option: str, names: Sequence[str], rule: dict[str, Any]) -> None:
    """Add to the rules of metrics or datasets."""
    rules = draft.settings.setdefault(option, {})
    rules |= {name: {**rules.get(name, {}), **rule} for name in names}


def _direct_datasets(draft: Draft, runs: pd.DataFrame) -> None:
    """Say which way is better of datasets that are called after errors."""
    metric = draft.settings.get("metric", "")
    if len(runs["column"].unique()) == 1 or not metric or guess_direction(metric) == "min":
        return
    for name in map(str, runs["dataset"].unique()):
        if guess_direction(name) != "min":
            continue
        last = (split_words(name) or [""])[-1]
        is_sure = ARROW in name or last in WORDS["errors"]
        is_sure |= find_metric(name) is not None or find_metric(last) is not None
        text = f"{quote_name(name)} is called after an error"
        if is_sure or guess_direction(last) == "min":
            _put_rules(draft, "datasets", [name], {"direction": "min"})
            text += ", so lower is taken as better"
        text += "." if is_sure else ": is it?"
        draft.note("datasets", "guess" if is_sure else "decide", text)


def _direct_converted(draft: Draft, runs: pd.DataFrame, result: Validation) -> pd.DataFrame:
    """Ask about datasets whose errors look converted to merits; return runs on the others."""
    found = {p.value: p for p in result.errors if p.code == "suspicious_direction"}
    metrics = runs.drop_duplicates("dataset").set_index("dataset")["metric"]
    for dataset, problem in found.items():
        same = metrics.index[metrics == metrics[dataset]]
        # Where all datasets of the metric look so, they were converted.
        direction = "max" if {*same} <= {*found} else "min"
        bounds = {"low": 0, "high": 1} if direction == "max" else {}
        _put_rules(draft, "datasets", [dataset], {"direction": direction, **bounds})
        draft.note("datasets", "decide", f"{problem.reason} Is {direction} right?")
        runs = runs if direction == "min" else runs[runs["dataset"] != dataset]
    return runs


def _name_diverged(draft: Draft, runs: pd.DataFrame) -> None:
    """Ask about scores so far beyond the others that a run diverged, or was not made."""
    sizes = runs["score"].abs()
    usual = sizes.groupby(runs["dataset"], observed=True).transform("median")
    is_far = (sizes > FAR * usual) & (usual > 0) & (sizes > PERCENT)
    for row in runs[is_far].head(1).to_dict("records"):
        place = f"{quote_name(row['raw'])} of {quote_name(row['model'])} on {row['dataset']}"
        text = (
            f"{place} is more than {FAR:g} times the median there ({int(is_far.sum())} of such "
            f"scores). If the run diverged or this stands for none: values: {{'{row['raw']}': "
            f"missing}}, or select: {{models: {{exclude: [{row['model']}]}}}}"
        )
        draft.note("select", "decide", text)


def _settle_rows(draft: Draft, read: Exports, result: Validation) -> None:
    """Say what becomes of repeated rows, empty cells and scores that cannot be used."""
    found: dict[str, list[Problem]] = {code: [] for code in ANSWERS}
    for problem in result.problems:
        if problem.code in UNUSABLE and problem.value.strip() in MISSING:
            text = f"{quote_name(problem.value.strip())} stands for a run that was not made."
            draft.put("values", {problem.value.strip(): "missing"}, "guess", text)
        elif problem.code in {*ANSWERS, *UNUSABLE} and problem.severity == "error":
            found.get(problem.code, found["not_a_number"]).append(problem)
    if read.runs["seed"].ne("").any():
        del found["duplicate"]
    runs = read.runs.drop_duplicates(["model", "dataset"])
    cells = runs["model"].nunique() * runs["dataset"].nunique()
    is_sparse = len(runs) < (1 - FEW) * cells
    for code, problems in found.items():
        for first in problems[:1]:
            option, value, text = ANSWERS[code]
            certainty: Certainty = "decide" if code != "incomplete" or is_sparse else "guess"
            place = f"{first.source}, line {first.line}" if first.line else first.value
            count = count_things(len(problems), "problem")
            said = f", {quote_name(first.value)}" if first.value else ""
            text = f"{count}, such as {place}{said}: {first.reason} {text}"
            draft.put(option, value, certainty, text)
