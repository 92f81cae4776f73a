"""Names of other people's data inside sentences and YAML."""

import json
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_NAME = 80
LISTED_NAMES = 10
SIMILAR = 0.65
PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
YAML_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})


def quote_name(name: str) -> str:
    r"""Put a name into quotes, escaped and shortened to what a sentence can bear.

    Examples
    --------
    >>> quote_name("a\tb")
    "'a\\tb'"
    """
    return repr(name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…")


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
    folded = {candidate.casefold(): candidate for candidate in sorted(names)}
    nearest = get_close_matches(name.casefold(), folded, n=1, cutoff=SIMILAR)
    return folded[nearest[0]] if nearest else None


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
