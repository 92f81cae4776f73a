"""Small words: numbers, counts and names as a reader expects them in a sentence."""

from collections.abc import Iterable

from markupsafe import Markup

NAME = Markup('<bdi class="name">{}</bdi>')
SHOWN = 4


def join_words(words: Iterable[str]) -> Markup:
    """Join words as a list in a sentence.

    Examples
    --------
    >>> str(join_words(["a", "b", "c"]))
    'a, b and c'
    """
    escaped = [Markup.escape(word) for word in words]
    front, end = Markup(", ").join(escaped[:-1]), Markup("").join(escaped[-1:])
    return front + Markup(" and ") + end if front else end


def join_some(words: Iterable[str], *, shown: int = SHOWN) -> Markup:
    """Join words as a list in a sentence, and only count those beyond the first few.

    Examples
    --------
    >>> str(join_some(["a", "b", "c", "d", "e", "f"], shown=2))
    'a, b and 4 more'
    """
    words = list(words)
    if len(words) <= shown + 1:
        return join_words(words)
    return join_words([*words[:shown], f"{len(words) - shown:,} more"])


def join_names(names: Iterable[str], *, shown: int = SHOWN) -> Markup:
    """Join names of models, marked up as names, and only count those beyond the first few.

    Examples
    --------
    >>> join_names(["a", "b", "c", "d", "e", "f"], shown=2).striptags()
    'a, b and 4 more'
    """
    return join_some((NAME.format(name) for name in names), shown=shown)


def format_percentile(share: float) -> str:
    """Say which percentile has a share of the numbers below it.

    Examples
    --------
    >>> [format_percentile(share) for share in (0.01, 0.025, 0.95, 0.975, 0.99)]
    ['1st', '2.5th', '95th', '97.5th', '99th']
    """
    percent = round(100 * share, ndigits=6)
    return format_ordinal(int(percent)) if percent.is_integer() else f"{percent:g}th"


def format_ordinal(rank: int) -> str:
    """Say a rank in words.

    Examples
    --------
    >>> [format_ordinal(rank) for rank in (1, 2, 3, 11, 22)]
    ['1st', '2nd', '3rd', '11th', '22nd']
    """
    if 10 < rank % 100 < 20:
        return f"{rank}th"
    return f"{rank}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(rank % 10, 'th') }"
