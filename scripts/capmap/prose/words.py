"""Small words: numbers, counts, tests and names as a paper's reader expects them."""

import math
import re
from collections.abc import Iterable, Sequence

import pandas as pd

from capmap.wording import quote_name

SHOWN_NAMES = 5
SMALLEST_P = 0.001
LETTER = re.compile(r"[a-z][0-9]*")
PER_MODEL = "datasets that it had runs on"
PER_PAIR = "datasets that both had runs on"


def format_count(number: float, noun: str, plural: str = "") -> str:
    """Say how many there are of something.

    Examples
    --------
    >>> format_count(1, "model"), format_count(1200, "model"), format_count(0, "run")
    ('1 model', '1,200 models', '0 runs')
    """
    return f"{number:,.0f} {noun if number == 1 else plural or noun + 's'}"


def format_value(value: float) -> str:
    """Say a number with three decimals.

    Examples
    --------
    >>> format_value(0.12345), format_value(-0.0001), format_value(float("nan"))
    ('0.123', '0.000', 'not available')
    """
    if pd.isna(value):
        return "not available"
    return f"{value:z.3f}" if math.isfinite(value) else "infinite"


def format_p(p: float) -> str:
    """Say a p-value.

    Examples
    --------
    >>> format_p(0.0432), format_p(1e-9), format_p(float("nan"))
    ('p = 0.043', 'p < 0.001', 'p not available')
    """
    if pd.isna(p):
        return "p not available"
    return f"p < {SMALLEST_P}" if p < SMALLEST_P else f"p = {p:.3f}"


def format_percent(fraction: float) -> str:
    """Say a fraction in percent.

    Examples
    --------
    >>> format_percent(0.95), format_percent(0.995), format_percent(1 - 0.95)
    ('95%', '99.5%', '5%')
    """
    return f"{100 * fraction:.4g}%"


def format_interval(low: float, high: float, *, confidence_level: float) -> str:
    """Say an interval in brackets, or nothing where there is none.

    Examples
    --------
    >>> format_interval(0.1, 0.25, confidence_level=0.95)
    ' (95% interval 0.100 to 0.250)'
    """
    if pd.isna(low) or pd.isna(high):
        return ""
    level = format_percent(confidence_level)
    return f" ({level} interval {format_value(low)} to {format_value(high)})"


def format_span(numbers: Iterable[float], noun: str, plural: str = "") -> str:
    """Say a count that differs from case to case.

    Examples
    --------
    >>> format_span([3, 5, 4], "dataset"), format_span([1, 0], "cell"), format_span([1], "cell")
    ('3 to 5 datasets', '0 to 1 cells', '1 cell')
    """
    known = [float(number) for number in numbers if not pd.isna(number)]
    low, high = min(known, default=0), max(known, default=0)
    if low == high:
        return format_count(high, noun, plural)
    return f"{low:,.0f} to {high:,.0f} {plural or noun + 's'}"


def join_words(words: Sequence[str]) -> str:
    """Join words as a list in a sentence.

    Examples
    --------
    >>> join_words(["a", "b", "c"])
    'a, b and c'
    """
    *front, end = words or [""]
    return f"{', '.join(front)} and {end}" if front else end


def join_names(names: Iterable[str]) -> str:
    """Join names in quotes, and only count those beyond the first five.

    Examples
    --------
    >>> join_names(["a", "b"]), join_names("abcdefg")
    ("'a' and 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    names = list(names)
    quoted = [quote_name(name) for name in names[:SHOWN_NAMES]]
    rest = len(names) - SHOWN_NAMES
    return join_words([*quoted, f"{rest:,} more"] if rest > 0 else quoted)


def join_sentences(*sentences: str) -> str:
    """Join those sentences that say something to a paragraph."""
    return " ".join(sentence for sentence in sentences if sentence)


def tell_policy(missing: str, *, subject: str, own: str) -> str:
    """Say on which datasets models were compared.

    Parameters
    ----------
    missing : {"pairwise", "common"}
        Policy for empty cells.
    subject : str
        Who was compared, such as ``Each pair of models was compared``.
    own : str
        The datasets under ``pairwise``: `PER_MODEL` or `PER_PAIR`.
    """
    if missing == "common":
        return f"{subject} on the datasets on which every model had runs."
    return f"{subject} on the {own}."


def tell_unused(cells: float) -> str:
    """Say what the policy for empty cells cost.

    Examples
    --------
    >>> tell_unused(1), tell_unused(0)
    ('1 cell (a model on a dataset) with runs was not used.', 'No cell with runs was left out.')
    """
    if pd.isna(cells) or not cells:
        return "No cell with runs was left out."
    was = "was" if cells == 1 else "were"
    return f"{format_count(cells, 'cell')} (a model on a dataset) with runs {was} not used."


def tell_no_interval(table: pd.DataFrame) -> str:
    """Say which models have no interval, by the column ``ci_low``."""
    without = table.loc[table["ci_low"].isna(), "model"].tolist()
    if not without:
        return ""
    if len(without) == len(table):
        return "No model had runs or datasets enough for an interval."
    were = "had no interval, for want of repeated runs or of datasets"
    return f"{format_count(len(without), 'model')} {were}: {join_names(without)}."


def share_letter(first: str | float, second: str | float) -> bool:
    """Tell whether two cells of letters, such as ``ab`` and ``b``, have one in common.

    Examples
    --------
    >>> share_letter("ab", "b"), share_letter("a", "a1"), share_letter("", float("nan"))
    (True, False, False)
    """
    if pd.isna(first) or pd.isna(second):
        return False
    return not set(LETTER.findall(str(first))).isdisjoint(LETTER.findall(str(second)))
