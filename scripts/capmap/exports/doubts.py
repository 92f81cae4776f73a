"""Models and datasets that are probably none: averages, indices, attributes, other spellings."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from typing import Literal

import numpy as np
import pandas as pd

from capmap.problems import Problem, RowCheck, Severity
from capmap.wording import list_names, write_key

AVERAGE = re.compile(
    r"(macro |micro |overall |grand )?"
    r"(avg|average|mean|overall|total|mittelwert|durchschnitt|moyenne|promedio|ø|平均)"
    r"( (acc|accuracy|scores?|results?|performance|perf|all|of|on|over|across|the|\d+|datasets|"
    r"tasks|benchmarks|games))*( \([^()]*\))?"
)
SUMMARY = re.compile(
    r"std|stdev|stddev|sd|sem|se|stderr|var|variance|standard (deviation|error)|median|min|max|best"
)
# Of rows: SD, SE and VAR are models.
SPREAD = re.compile(
    r"±|([±\u03c3] ?)?\(?"
    r"(std|stdev|stddev|sem|stderr|variance|standard (deviation|error)|median|min|max|best)\)?"
)
# Of columns whose name is that of another one but for such a word.
BESIDE = re.compile(
    r"std|stdev|stddev|stderr|sd|se|sem|var|variance|rank|err|error|ci\d*|pval(ue)?|±|\+/|\u03c3|of"
)
MEANS = {"mean", "avg", "average"}
MARKS = re.compile(r"[\s*:†‡§↑↓]+$")
RANK = re.compile(r"((avg|average|mean|overall) )?rank(ing)?")
ATTRIBUTE = re.compile(
    r"(# ?|n |num |number of |no )?(of )?"
    r"(params?|parameters|flops|gflops|macs|gmacs|year|epochs?|latency|throughput|rtfx?|fps|size|"
    r"model size|batch size|resolution|index|id|row|nr|seed|fold|split|run|step|rank)"
    r"( \(?(k|m|b|g|s|ms|mb|gb|px|mio|million|%)\)?)?"
    r"|unnamed: \d+|index level \d+|level 0|idx|#|"
)
# Averages among more models or datasets than that are not looked for.
MOST = 2000
FEWEST = 3
MOST_LISTED = 20


def find_doubts(runs: pd.DataFrame, *, listed: bool) -> list[Problem]:
    """Find models and datasets that are probably none, by their names and scores.

    Columns are errors by their names, unless they are `listed` in the settings, and warnings by
    their scores alone; so are rows, and names that are spelled almost alike.
    """
    if runs.empty:
        return []
    problems = [*find_alike(runs, "model"), *find_alike(runs, "dataset"), *_find_summaries(runs)]
    doubtful = list_doubtful(runs)
    check = DATASET._replace(remedy=COLUMN) if _is_wide(runs) else DATASET
    for name, (reason, is_sure) in doubtful.items():
        row = runs[runs["dataset"] == name].head(1)
        key = write_key(row["column"].iloc[0] if _is_wide(runs) else name)
        severity: Severity = "error" if is_sure and not listed else "warning"
        problems += check._replace(severity=severity).report(row.assign(_reason=reason, _key=key))
    averages = _find_averages(runs[~runs["dataset"].isin([*doubtful])], "model")
    for name in runs["model"].unique().tolist():
        plain = _simplify(name)
        reason = "is called like an average or a spread of others"
        if name in averages:
            reason = "holds the mean of the others"
        elif not (_is_called(AVERAGE, plain) or _is_called(SPREAD, plain)):
            continue
        row = runs[runs["model"] == name].head(1)
        problems += MODEL.report(row.assign(_reason=reason, _key=write_key(name)), column="")
    return problems


DATASET = RowCheck(
    "doubtful_dataset",
    "score",
    "The dataset {dataset} {_reason}.",
    "Leave it out with `select: {{datasets: {{exclude: [{_key}]}}}}`.",
)
COLUMN = (
    "Leave it out with `columns: {{ignore: [{_key}]}}`, or list the columns that are datasets "
    "under `columns: {{datasets: […]}}`."
)
MODEL = RowCheck(
    "doubtful_model",
    "model",
    "The model {model} {_reason}.",
    "Leave it out with `select: {{models: {{exclude: [{_key}]}}}}`.",
    "warning",
)


def _is_wide(runs: pd.DataFrame) -> bool:
    """Whether several columns of scores are called like their datasets."""
    columns = {*runs["column"].unique()}
    return len(columns) > 1 and not columns.isdisjoint(runs["dataset"].unique())


def list_doubtful(runs: pd.DataFrame) -> dict[str, tuple[str, bool]]:
    """List the datasets that are probably none: why, and whether its column's name says so."""
    names = runs["dataset"].unique().tolist()
    is_wide = _is_wide(runs)
    counts = Counter(word for name in names for word in {*_simplify(name).split()})
    # Such as that of their metric.
    common = {word for word, count in counts.items() if 2 * count > len(names) > 2}
    stems = {_leave_words_out(name, lambda word: word in MEANS) for name in names}
    of_means = stems - {*map(_simplify, names)}
    doubtful: dict[str, tuple[str, bool]] = {}
    for name in names:
        plain = _simplify(name)
        stem = _leave_words_out(name, BESIDE.fullmatch)
        own = " ".join(word for word in plain.split() if word not in common)
        is_beside = stem != _leave_words_out(name, lambda _: False) and stem in stems
        # ImageNet and ImageNet-P are two datasets, ImageNet_mean and ImageNet_p are not.
        if is_wide and (is_beside or plain.removesuffix(" p") in of_means - {plain}):
            doubtful[name] = "is called like the spread or the rank of another column", is_wide
        elif _is_called(AVERAGE, plain) or _is_called(AVERAGE, own) or RANK.fullmatch(plain):
            doubtful[name] = "is called like an average or a rank of others", is_wide
        elif is_wide and is_attribute(name):
            doubtful[name] = "is called like an attribute of models or a number of rows", is_wide
    rest = runs[~runs["dataset"].isin([*doubtful])]
    averages = _find_averages(rest, "dataset")
    return doubtful | dict.fromkeys(sorted(averages), ("holds the mean of the others", False))


def _leave_words_out(name: str, is_left_out: Callable[[str], object]) -> str:
    """A simplified name without some of its words, signs and brackets."""
    plain = re.sub(r"(±|\+/|\u03c3)|[()]", r" \1 ", _simplify(name).replace("p val", "pval"))
    return " ".join(word for word in plain.split() if not is_left_out(word))


def is_attribute(name: str) -> bool:
    """Whether a column is called like an attribute of models or a number of rows.

    Examples
    --------
    >>> is_attribute("params (M)"), is_attribute("ImageNet 1k")
    (True, False)
    """
    return ATTRIBUTE.fullmatch(_simplify(name)) is not None


def _simplify(name: str) -> str:
    """A name as it looks, in lower case, with single blanks for separators, in one Unicode form."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    plain = "".join(mark for mark in plain if unicodedata.category(mark) != "Cf")
    return re.sub(r"[\s_.\-\u2010-\u2015]+", " ", plain).strip()


def _is_called(kind: re.Pattern[str], plain: str) -> bool:
    """Whether a name is one of a kind, but for marks of footnotes and arrows behind it."""
    return kind.fullmatch(MARKS.sub("", plain)) is not None


def fold_spelling(name: str) -> str:
    """Fold a name to what it shares with others that are spelled otherwise only.

    Separators say something between digits only: 3.1 and 31 are two versions.

    Examples
    --------
    >>> fold_spelling("5-Shot"), fold_spelling("5 shot"), fold_spelling("v3.1")
    ('5shot', '5shot', 'v3 1')
    """
    return re.sub(r"(?<!\d) | (?!\d)", "", _simplify(name))


def find_alike(runs: pd.DataFrame, kind: str) -> list[Problem]:
    """Find names that differ in case, white space, separators or invisible characters only."""
    problems = []
    firsts = runs.drop_duplicates(kind)
    folded = firsts[kind].astype("str").map(fold_spelling)
    firsts = firsts[folded.duplicated(keep=False)]
    for _, alike in firsts.groupby(folded, sort=False):
        said = alike.iloc[1:2].assign(_kind=kind, _names=list_names(sorted(alike[kind])))
        problems += ALIKE._replace(column=kind).report(said, column="")
    return problems


ALIKE = RowCheck(
    "alike_names",
    "",
    "The {_kind}s {_names} differ in case, white space, separators or invisible characters only, "
    "and count as different.",
    "If they are one, write it one way in the export.",
    "warning",
)
SUMMARY_SEED = RowCheck(
    "summary_seed",
    "seed",
    "The seeds {_found} are called like summaries of others.",
    "Remove these rows, or read the others only with `where: {{seed: [{_kept}]}}`, by the name of "
    "their column.",
)


def _find_summaries(runs: pd.DataFrame) -> list[Problem]:
    """Find seeds that are called like a mean, a spread or a bound of others."""
    plain = {seed: _simplify(seed) for seed in runs["seed"].unique().tolist()}
    found = [s for s, own in plain.items() if AVERAGE.fullmatch(own) or SUMMARY.fullmatch(own)]
    others = sorted(plain.keys() - {*found, ""})
    if not found or not others:
        return []
    first = runs[runs["seed"].isin(found)].head(1)
    kept = ", ".join(map(write_key, others)) if len(others) <= MOST_LISTED else "…"
    return SUMMARY_SEED.report(first.assign(_found=list_names(found), _kept=kept), column="")


def _find_averages(runs: pd.DataFrame, kind: Literal["model", "dataset"]) -> set[str]:
    """Find the models or datasets that are the mean of the others, arithmetic or harmonic.

    A printed mean is rounded, and so may be the scores that it is the mean of.
    """
    other = "dataset" if kind == "model" else "model"
    sizes = runs[kind].nunique(), runs[other].nunique()
    if sizes[0] > MOST or min(sizes) < FEWEST:
        return set()
    cells = runs.groupby([other, kind], observed=True)["score"].mean().unstack()  # noqa: PD010
    cells = cells.where(np.isfinite(cells)).dropna(thresh=3)
    means = [average_others(cells)]
    if (cells.fillna(1) > 0).all(axis=None):
        means.append(1 / average_others(1 / cells))
    distance = np.min([(cells - mean).abs().max() for mean in means], axis=0)
    spread = cells.max() - cells.min()
    found = (distance < spread / 4) & (cells.notna().sum() >= FEWEST)
    if not found.any():
        return set()
    raw = runs.groupby(kind, observed=True)["raw"]
    digits = raw.apply(_measure_digit).loc[cells.columns]
    rounding = digits + (digits.sum() - digits) / (len(digits) - 1)
    near = [(distance <= digit) & (spread > 4 * digit) for digit in (digits, rounding)]
    return {*cells.columns[found & np.any(near, axis=0)]}


def average_others(cells: pd.DataFrame) -> pd.DataFrame:
    """The mean of all others of its row in the place of each cell."""
    return cells.rsub(cells.sum(axis=1), axis=0).div(cells.notna().sum(axis=1) - 1, axis=0)


def _measure_digit(raw: "pd.Series[str]") -> float:
    """Half a unit of the last digit that is printed of some scores."""
    decimals = raw.str.extract(r"[.,](\d+)", expand=False).str.len().max()
    scale = 100 if raw.str.contains("%", regex=False).any() else 1
    digits = 0 if np.isnan(decimals) else float(decimals)
    return float(0.5 * 10**-digits / scale * (1 + 1e-6) + 1e-12)
