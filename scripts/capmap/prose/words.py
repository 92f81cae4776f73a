"""Small words: numbers, leaders and policies as a paper's reader expects them."""

import math
from collections.abc import Callable, Iterable

import pandas as pd

from capmap.wording import format_count, format_percent, join_words, quote_name

SHOWN_NAMES = 5
PER_MODEL = "datasets that it had runs on"
PER_PAIR = "datasets that both had runs on"


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


def format_share(share: float) -> str:
    """Say a share in whole percent.

    Examples
    --------
    >>> [format_share(share) for share in (0, 0.001, 0.128, 0.999, 1)]
    ['0%', 'less than 1%', '13%', 'more than 99%', '100%']
    """
    if 0 < share < 0.005:
        return "less than 1%"
    return "more than 99%" if 0.995 <= share < 1 else f"{100 * share:.0f}%"


def format_interval(
    low: float,
    high: float,
    *,
    confidence_level: float,
    over: str = "",
    write: Callable[[float], str] = format_value,
) -> str:
    """Say an interval in brackets, or nothing where there is none.

    Parameters
    ----------
    low, high : float
        Its ends.
    confidence_level : float
        Between 0 and 1.
    over : str, optional
        What the interval generalizes to, such as ``runs``.
    write : callable, optional
        Writes an end.

    Examples
    --------
    >>> format_interval(0.1, 0.25, confidence_level=0.95, over="runs")
    ' (95% interval over runs 0.100 to 0.250)'
    """
    if pd.isna(low) or pd.isna(high):
        return ""
    kind = f"{format_percent(confidence_level)} interval{' over ' if over else ''}{over}"
    return f" ({kind} {write(low)} to {write(high)})"


def format_span(numbers: Iterable[float], noun: str) -> str:
    """Say a count that differs from case to case.

    Examples
    --------
    >>> format_span([3, 5, 4], "dataset"), format_span([1, 0], "cell"), format_span([1], "cell")
    ('3 to 5 datasets', '0 to 1 cells', '1 cell')
    """
    known = [float(number) for number in numbers if not pd.isna(number)]
    low, high = min(known, default=0), max(known, default=0)
    return format_count(high, noun) if low == high else f"{low:,.0f} to {high:,.0f} {noun}s"


def join_names(names: Iterable[str]) -> str:
    """Join names in quotes, and only count those beyond the first five.

    Examples
    --------
    >>> join_names(["a", "b"]), join_names("abcdefg")
    ("'a' and 'b'", "'a', 'b', 'c', 'd', 'e' and 2 more")
    """
    return join_some([quote_name(name) for name in names])


def join_some(words: list[str]) -> str:
    """Join words as a list in a sentence, and only count those beyond the first five."""
    rest = len(words) - SHOWN_NAMES
    return join_words([*words[:SHOWN_NAMES], f"{rest:,} more"] if rest > 0 else words)


def join_sentences(*sentences: str) -> str:
    """Join those sentences that say something to a paragraph."""
    return " ".join(sentence for sentence in sentences if sentence)


def describe_unused(cells: float) -> str:
    """Say how many cells were not used.

    Examples
    --------
    >>> describe_unused(1), describe_unused(0)
    ('1 cell of the models and datasets analyzed was not used.', 'No cell analyzed was left out.')
    """
    if not cells:
        return "No cell analyzed was left out."
    was = "was" if cells == 1 else "were"
    return f"{format_count(cells, 'cell')} of the models and datasets analyzed {was} not used."


def describe_no_interval(table: pd.DataFrame) -> str:
    """Say which models have no interval, by the column ``ci_low``."""
    without = table.loc[table["ci_low"].isna(), "model"].tolist()
    if not without:
        return ""
    if len(without) == len(table):
        return "No model had runs or datasets enough for an interval."
    were = "had no interval, for want of repeated runs or of datasets"
    return f"{format_count(len(without), 'model')} {were}: {join_names(without)}."


def name_covered(name: str, datasets: float, total: float) -> str:
    """Name a model, with its number of datasets where that is not the full one.

    Examples
    --------
    >>> name_covered("a", 3, 11), name_covered("a", 11, 11)
    ("'a' (on 3 of 11 datasets)", "'a'")
    """
    cover = f" (on {datasets:,.0f} of {total:,.0f} datasets)" if datasets < total else ""
    return f"{quote_name(name)}{cover}"


def describe_leader(
    table: pd.DataFrame,
    column: str,
    subject: str,
    *,
    total: int,
    confidence_level: float,
    over: str = "",
    write: Callable[[float], str] = format_value,
) -> str:
    """Say which models are first, with their value.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``model``, ``datasets``, ``rank``, ``ci_low``, ``ci_high`` and `column`; at least
        one row.
    column : str
        Where the value stands.
    subject : str
        What the first has, such as ``the highest IQM``.
    total : int
        Number of datasets that a model can have.
    confidence_level : float
        Of the interval.
    over : str, optional
        What the interval generalizes to, such as ``runs``.
    write : callable, optional
        Writes a value.
    """
    first = table[table["rank"] == table["rank"].min()]
    row = first.iloc[0]
    names = join_some(
        [
            name_covered(name, datasets, total)
            for name, datasets in zip(first["model"], first["datasets"], strict=True)
        ]
    )
    value = write(row[column])
    if len(first) > 1:
        return f"{names} shared {subject}, {value}."
    ends = format_interval(
        row["ci_low"], row["ci_high"], confidence_level=confidence_level, over=over, write=write
    )
    return f"{names} had {subject}, {value}{ends}."
