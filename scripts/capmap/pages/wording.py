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
