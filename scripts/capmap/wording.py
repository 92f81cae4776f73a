"""Names, numbers and lists as they stand in sentences, and the names that a study gives."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import pandas as pd

# The setting that gives models and datasets other names.
OPTION = "figures.names"
KINDS = ("model", "dataset")
# All datasets together, among the dimensions of a leaderboard.
ALL = "All"
LONGEST_NAME = 80
LISTED_NAMES = 10
# Letters of tie groups of more models would be hundreds per model.
MOST_LETTERED = 200
SIMILAR = 0.65
# Characters times characters: a tenth of a second.
COMPARED = 2_000_000
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
LETTER = re.compile(r"[a-z][0-9]*")
SMALLEST_P = 0.001
Value = TypeVar("Value")
SHARED_LETTERS = "Models that share a letter cannot be separated, allowing for all pairs."
AGGREGATION_NAMES = {
    "mean": "mean",
    "trimmed_mean": "trimmed mean",
    "median": "median",
    "iqm": "IQM",
    "optimality_gap": "optimality gap",
}
LABEL_METRICS = {
    "top1": "top-1 accuracy",
    "real": "ReaL accuracy",
    "asma": "ASMA",
    "labelwise": "label-wise accuracy",
}


def find_statistic(columns: Iterable[str]) -> str:
    """The column of a ranking that holds what ranks the models: the first that can.

    Examples
    --------
    >>> find_statistic(["group", "model", "mean", "ci_low"])
    'mean'
    """
    return next(name for name in columns if name in AGGREGATION_NAMES)


def name_statistic(statistic: str) -> str:
    """The short name of a statistic.

    Examples
    --------
    >>> name_statistic("iqm"), name_statistic("optimality_gap")
    ('IQM', 'optimality gap')
    """
    return AGGREGATION_NAMES[statistic]


def spell_statistic(statistic: str) -> str:
    """The full name of a statistic.

    Examples
    --------
    >>> spell_statistic("iqm"), spell_statistic("mean")
    ('interquartile mean (IQM)', 'mean')
    """
    return "interquartile mean (IQM)" if statistic == "iqm" else name_statistic(statistic)


def label_scores(statistic: str) -> str:
    """What the colors of a grid of scores stand for.

    Examples
    --------
    >>> label_scores("iqm")
    'interquartile mean of normalized scores'
    """
    return f"{spell_statistic(statistic).removesuffix(' (IQM)')} of normalized scores"


def name_most(statistic: str) -> str:
    """What the best score is: the highest, or of optimality gaps the lowest."""
    return "lowest" if statistic == "optimality_gap" else "highest"


def name_first(statistic: str) -> str:
    """What the first of a ranking has.

    Examples
    --------
    >>> name_first("iqm"), name_first("optimality_gap")
    ('the highest IQM', 'the lowest optimality gap')
    """
    return f"the {name_most(statistic)} {name_statistic(statistic)}"


def shorten(text: str) -> str:
    """Shorten a text to the 80 characters that a sentence or a table has room for.

    Examples
    --------
    >>> shorten("a" * 100) == "a" * 79 + "…"
    True
    """
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def quote_name(name: str) -> str:
    r"""Put a name into quotes, escaped and shortened to what a sentence has room for.

    Examples
    --------
    >>> quote_name("a\tb")
    "'a\\tb'"
    """
    return repr(shorten(name))


def list_names(names: Sequence[str]) -> str:
    """List names in quotes, the first ten of them where there are more.

    Examples
    --------
    >>> list_names(["A", "B"])
    "'A', 'B'"
    """
    listed = ", ".join(quote_name(name) for name in names[:LISTED_NAMES])
    rest = len(names) - LISTED_NAMES
    return f"{listed} and {rest} more" if rest > 0 else listed


def find_nearest(name: str, names: Iterable[str]) -> str | None:
    """Find the one of some names that is spelled most like a name, whatever its case, if any is.

    Examples
    --------
    >>> find_nearest("Modle", ["model", "dataset"]), find_nearest("seed", ["model", "dataset"])
    ('model', None)
    """
    own = name.casefold()
    # Comparing two names takes the product of their lengths; of many long ones some are compared.
    most = max(10, COMPARED // (len(own) + 1) ** 2)
    folded = {candidate.casefold(): candidate for candidate in sorted(names)[:most]}
    nearest = get_close_matches(own, folded, n=1, cutoff=SIMILAR)
    return folded[nearest[0]] if nearest else None


def suggest(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """Ask whether the one of some names was meant that is spelled most like a name, if any is.

    Examples
    --------
    >>> suggest("Modle", ["model", "dataset"]), suggest("seed", ["model"], "Name a column.")
    ("Did you mean 'model'?", 'Name a column.')
    """
    nearest = find_nearest(name, names)
    return otherwise if nearest is None else f"Did you mean {quote_name(nearest)}?"


def write_key(name: str) -> str:
    """Write a name as a YAML key or value, in quotes unless it is a plain word.

    Examples
    --------
    >>> write_key("RMSE"), write_key("test metric"), write_key("no")
    ('RMSE', '"test metric"', '"no"')
    """
    if PLAIN_KEY.fullmatch(name) and name.lower() not in YAML_WORDS:
        return name
    return json.dumps(name, ensure_ascii=False)


def count_things(count: int, thing: str) -> str:
    """Say how many there are.

    Examples
    --------
    >>> count_things(1, "run"), count_things(1200, "run")
    ('1 run', '1200 runs')
    """
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def format_count(number: float, noun: str, plural: str = "") -> str:
    """Say how many there are of something, to a reader of a report or paper.

    Examples
    --------
    >>> format_count(1, "model"), format_count(1200, "model"), format_count(0, "run")
    ('1 model', '1,200 models', '0 runs')
    """
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def format_percent(fraction: float) -> str:
    """Say a fraction in percent.

    Examples
    --------
    >>> format_percent(0.95), format_percent(0.995), format_percent(1 - 0.95)
    ('95%', '99.5%', '5%')
    """
    return f"{100 * fraction:.4g}%"


def format_p(p: float) -> str:
    """Say a p-value; that there is none, where it is NaN.

    Examples
    --------
    >>> format_p(0.0432), format_p(1e-9), format_p(float("nan"))
    ('p = 0.043', 'p < 0.001', 'p not available')
    """
    if p != p:
        return "p not available"
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p = {p:.3f}"


def can_separate(datasets: int, *, pairs: int, alpha: float) -> bool:
    """Whether signed-rank tests of so many datasets can separate models, allowing for all pairs.

    Examples
    --------
    >>> can_separate(7, pairs=10, alpha=0.05), can_separate(9, pairs=10, alpha=0.05)
    (False, True)
    """
    return pairs * 2.0 ** (1 - datasets) < alpha


def join_words(words: Sequence[str]) -> str:
    """Join words as a list in a sentence.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    *front, end = words or [""]
    return f"{', '.join(front)} and {end}" if front else end


def split_letters(cell: object) -> list[str]:
    """Split the letters of tie groups; there are none in a missing cell.

    Examples
    --------
    >>> split_letters("ab2"), split_letters(""), split_letters(float("nan"))
    (['a', 'b2'], [], [])
    """
    return LETTER.findall(cell) if isinstance(cell, str) else []


def have_common_letter(first: object, second: object) -> bool:
    """Whether two cells of letters, such as ``ab`` and ``b``, have one in common.

    Examples
    --------
    >>> have_common_letter("ab", "b"), have_common_letter("a", "a1")
    (True, False)
    >>> have_common_letter("", float("nan"))
    False
    """
    return not set(split_letters(first)).isdisjoint(split_letters(second))


def depends_on_ridge(separated: float, *, confidence_level: float) -> bool:
    """Whether so many resamples are separated that ends of percentile intervals hang on the ridge.

    Their share exceeds half of what lies beyond an end of the intervals; close to that share,
    chance decides where the end is.
    """
    return separated > (1 - confidence_level) / 4


def find_bad_renames(
    names: Mapping[str, str], present: Mapping[str, Iterable[str]], *, fixed: Iterable[str] = ()
) -> Iterator[tuple[str, str, str]]:
    """Find names that cannot be given: the name of the export, what is wrong, and what to do.

    It is not in the exports, becomes the name of another one, or is that of a `fixed` dataset,
    which a benchmark defines. Two names may be exchanged.
    """
    known = {kind: set(found) for kind, found in present.items()}
    everyone = set().union(*known.values())
    defined = known["dataset"] & set(fixed)
    for old, new in names.items():
        if old not in everyone:
            text = f"names the model or dataset {quote_name(old)}, which is not in the exports."
            yield old, text, suggest(old, everyone, "Correct the name.")
        elif old in defined:
            text = f"names {quote_name(old)}, a dataset of the benchmark."
            yield old, text, "Leave it out: a benchmark defines the names of its datasets."
        elif new not in names and any({old, new} <= found for found in known.values()):
            text = f"would call {quote_name(old)} as another one is called, {quote_name(new)}."
            yield old, text, "Give it another name."


def rename_column(table: "pd.DataFrame", column: str, names: Mapping[str, str]) -> "pd.DataFrame":
    """Give the models or datasets of a table beside the exports their names.

    Notes
    -----
    The table may have the new names already; of two rows for one the first counts.
    """
    if not names:
        return table
    chosen = [_choose(name, names) for name in table[column]]
    return table.assign(**{column: chosen}).drop_duplicates(column, ignore_index=True)


def rename_keys(values: Mapping[str, Value], names: Mapping[str, str]) -> dict[str, Value]:
    """Give the datasets of a mapping their names, which it may have already."""
    return {_choose(name, names): value for name, value in values.items()}


def list_metrics(
    rules: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, str]:
    """List the metrics that rules of datasets name, by the names that exports have."""
    olds = {new: old for old, new in names.items()}
    return {
        olds.get(name, name): rule["metric"] for name, rule in rules.items() if "metric" in rule
    }


def _choose(name: str, names: Mapping[str, str]) -> str:
    return name if name in names.values() else names.get(name, name)
