"""Numbers, intervals, lists and leaders in the sentences of analyses."""

import math
from collections.abc import Callable, Iterable

import pandas as pd

from capmap.claims import find_rivals
from capmap.wording import (
    find_statistic,
    format_count,
    format_percent,
    join_words,
    name_first,
    quote_name,
)

SHOWN_NAMES = 3


def format_value(value: float) -> str:
    """Write a number with three decimals.

    Examples
    --------
    >>> format_value(0.12345), format_value(-0.0001), format_value(float("nan"))
    ('0.123', '0.000', 'not available')
    """
    if pd.isna(value):
        return "not available"
    return f"{value:z.3f}" if math.isfinite(value) else "infinite"


def format_error(value: float) -> str:
    """Write an error of predictions, or a difference of two, with four decimals.

    Examples
    --------
    >>> format_error(0.06451), format_error(-0.00001), format_error(float("nan"))
    ('0.0645', '0.0000', 'not available')
    """
    return "not available" if pd.isna(value) else f"{value:z.4f}"


def format_share(share: float) -> str:
    """Write a share in whole percent.

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
    kind: str = "",
    write: Callable[[float], str] = format_value,
) -> str:
    """Write an interval in brackets, or nothing where there is none.

    Examples
    --------
    >>> format_interval(0.1, 0.25, confidence_level=0.95, kind="pointwise")
    ' (pointwise 95% interval 0.100 to 0.250)'
    """
    if pd.isna(low) or pd.isna(high):
        return ""
    before = f"{kind} " if kind else ""
    level = format_percent(confidence_level)
    return f" ({before}{level} interval {write(low)} to {write(high)})"


def describe_error(row: "pd.Series", name: str, *, confidence_level: float) -> str:
    """Write an error, or a difference of two, with its interval if it has one."""
    ends = format_interval(
        row[f"{name}_low"],
        row[f"{name}_high"],
        confidence_level=confidence_level,
        write=format_error,
    )
    return format_error(row[name]) + ends


def format_span(low: float, high: float, write: Callable[[float], str] = format_value) -> str:
    """Write the lowest and the highest of some numbers, or the one that they all are.

    Examples
    --------
    >>> format_span(0.1, 0.3), format_span(0.1, 0.1)
    ('0.100 to 0.300', '0.100')
    """
    ends = [write(low), write(high)]
    return ends[0] if ends[0] == ends[1] else " to ".join(ends)


def join_names(names: Iterable[str]) -> str:
    """Join names in quotes, and only count those beyond the first three.

    Examples
    --------
    >>> join_names(["a", "b"]), join_names("abcde")
    ("'a' and 'b'", "'a', 'b', 'c' and 2 more")
    """
    return join_some([quote_name(name) for name in names])


def join_some(words: list[str]) -> str:
    """Join words as a list in a sentence, and only count those beyond the first three."""
    rest = len(words) - SHOWN_NAMES
    return join_words([*words[:SHOWN_NAMES], f"{rest:,} more"] if rest > 0 else words)


def join_sentences(*sentences: str) -> str:
    """Join those sentences that say something to a paragraph."""
    return " ".join(sentence for sentence in sentences if sentence)


def describe_leader(
    table: pd.DataFrame,
    column: str,
    subject: str,
    *,
    confidence_level: float,
    write: Callable[[float], str] = format_value,
) -> str:
    """Say which models have the first rank, with their value and its interval, if it has one."""
    first = table[table["rank"] == table["rank"].min()]
    row = first.iloc[0]
    value = f"{subject}, {write(row[column])}"
    if len(first) > 1:
        return f"{join_names(first['model'])} share {value}."
    ends = format_interval(
        row["ci_low"],
        row["ci_high"],
        confidence_level=confidence_level,
        kind="pointwise",
        write=write,
    )
    return f"{quote_name(row['model'])} has {value}{ends}."


def describe_parts(table: pd.DataFrame, key: str, *, confidence_level: float) -> str:
    """Say who leads each part of a table that ranks within parts, and where that is not certain."""
    statistic = find_statistic(table.columns)
    first_in, unsure = [], []
    for part, own in table[table["rank"].notna()].groupby(key, sort=False):
        first = own[own["rank"] == own["rank"].min()]
        score = format_value(first[statistic].iloc[0])
        first_in.append(f"{join_names(first['model'])} in {quote_name(str(part))} ({score})")
        if find_rivals(own):
            unsure.append(quote_name(str(part)))
    if not first_in:
        return "No model has results on enough datasets to be ranked."
    level = f"{format_percent(confidence_level)} confidence within each"
    doubt = f"Other models cannot be separated from the first in {join_some(unsure)} ({level})."
    if table["ci_low"].isna().all():
        doubt = "Without intervals, these differences may be chance."
    elif not unsure:
        doubt = ""
    return join_sentences(
        f"{name_first(statistic).capitalize().replace('iqm', 'IQM')}: {join_some(first_in)}.", doubt
    )


def count_of(part: int, total: int, noun: str) -> str:
    """Write how many of some things.

    Examples
    --------
    >>> count_of(0, 3, "pair"), count_of(2, 1200, "pair")
    ('none of 3 pairs', '2 of 1,200 pairs')
    """
    return f"{f'{part:,}' if part else 'none'} of {format_count(total, noun)}"
