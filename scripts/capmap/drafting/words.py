"""What people call the columns, folders and files of benchmark results."""

import re
from collections.abc import Collection
from pathlib import Path

from capmap.metrics import find_metric
from capmap.settings.files import read_yaml

_FOUND = read_yaml(str(Path(__file__).with_name("words.yaml")))
ROLES = {role: frozenset(text.split()) for role, text in _FOUND["roles"].items()}
# The other lists of words, by what they are.
WORDS = {kind: frozenset(text.split()) for kind, text in _FOUND["words"].items()}
# Words that mark names of models, and of datasets, wherever they stand.
KNOWN = {
    role: re.compile(f"(^|[^a-z])({'|'.join(text.split())})", re.IGNORECASE)
    for role, text in _FOUND["known"].items()
}
SPLITS = tuple(_FOUND["splits"].split())
MISSING = tuple(_FOUND["missing"])
# One minus a metric, with blanks around the sign or a known metric behind it.
COMPLEMENT = re.compile(
    r"(?:^|[\s_/(])((?:1|100|one)(?:\.0+)?%?( ?)(?:[-\u2010-\u2015\u2212]|minus) ?([^()]+))"
)


def split_words(name: str) -> list[str]:
    """Split a name into its words, in lower case.

    Examples
    --------
    >>> split_words("testMetric_1"), split_words("args.trial_seed")
    (['test', 'metric', '1'], ['args', 'trial', 'seed'])
    """
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W_]+", spaced.casefold())


def has_word(name: str, words: Collection[str]) -> bool:
    """Whether a name has one of some words."""
    return not {*split_words(name)}.isdisjoint(words)


def rate_role(name: str, role: str) -> int:
    """Rate how much a name looks like that of a role.

    Returns
    -------
    int
        3 where it is called so, 2 where its last word is, 1 where another is, else 0.

    Examples
    --------
    >>> [rate_role(name, "dataset") for name in ("Dataset name", "test dataset", "task x", "seed")]
    [3, 2, 1, 0]
    >>> rate_role("config.data.name", "dataset"), rate_role("n_seeds", "seed")
    (3, 0)
    """
    own = split_words(name)
    if len(own) > 1 and own[0] in WORDS["counted"] and role != "count":
        return 0
    parts = [word if word in ROLES[role] else word.removesuffix("s") for word in own]
    # Of nested values the last part is the name, unless it says nothing, as in data.name.
    last = split_words(name.rpartition(".")[2])
    if len(parts) > 1 and parts[-1] in WORDS["empty"] and role != "seed":
        parts.pop()
        last = parts[-1:] if len(last) == 1 else last[:-1]
    if "".join(parts) in ROLES[role] or (len(last) == 1 and last[0] in ROLES[role]):
        return 3
    return max((1 + (word is parts[-1]) for word in parts if word in ROLES[role]), default=0)


def rate_values(values: Collection[str], role: str) -> float:
    """Rate, from 0 to 1, how many of some names are those of models, datasets, metrics or seeds."""
    names = {value for value in values if value}
    if role == "metric":
        found = [bool(find_known(name)) for name in names]
    elif role == "split":
        found = [name.casefold() in {*SPLITS, *WORDS["training"]} for name in names]
    elif role == "seed":
        found = [re.fullmatch(r"\D{0,2}\d{1,6}(\.0)?", name) is not None for name in names]
    else:
        found = [KNOWN[role].search(name) is not None for name in names]
    return sum(found) / max(len(found), 1)


def find_known(name: str) -> str:
    """Find the metric that the end of a name is known as; "" where none is.

    Examples
    --------
    >>> find_known("metrics.test.accuracy"), find_known("acc_pct"), find_known("lr")
    ('accuracy', 'acc', '')
    """
    last = re.split(r"[/.] ?", name)[-1]
    plain = re.sub(r"(?i)[ _](pct|percent)$|\W*%\W*$", "", last)
    return next((part for part in (last, plain, name) if find_metric(part) is not None), "")


def rate_score(name: str) -> float:
    """Rate a name as that of a column of scores, or a metric; 0 means it is none."""
    rating = 2.5 * bool(find_known(name)) or float(rate_role(name, "score"))
    rating = rating or 2.0 * bool(rate_role(name, "metric"))
    if not rating:
        return 0.0
    rating += 0.3 * has_word(name, {"test"}) - 0.2 * has_word(name, WORDS["training"])
    return rating - 1.5 * has_word(name, WORDS["training"] | {"val", "valid", "validation", "dev"})


def is_beside(name: str) -> bool:
    """Whether a column is called like a spread, a bound, a rank, an attribute or a cost.

    Examples
    --------
    >>> [is_beside(name) for name in ("acc_stderr", "std_reward", "ci_lo", "#x", "answer rate")]
    [True, True, True, True, False]
    """
    own = split_words(name)
    words = [word for word in own if not word.isdecimal()] or own
    if not words or name.lstrip().startswith("#"):
        return bool(words)
    if words[-1] == "rate":
        return has_word(name, WORDS["rates"])
    ends = WORDS["statistics"] | WORDS["sizes"]
    is_first = len(words) > 1 and words[0] in WORDS["statistics"] | WORDS["counted"] - {"total"}
    joined = words[-1].endswith(("params", "flops", "macs"))
    return is_first or words[-1] in ends or joined or has_word(name, WORDS["spreads"])


def is_metadata(name: str) -> bool:
    """Whether a column says when, where or how long a run was, such as ``created_at``."""
    words = [word for word in split_words(name) if word not in WORDS["units"]]
    return words[-1:] != [] and words[-1] in WORDS["metadata"]


def is_label(text: str) -> bool:
    """Whether a word before a number says what it numbers, as in ``seed_3`` or ``s3``."""
    word = (split_words(text) or [""])[-1]
    is_known = word in ("s", "r", "split", "cv") or rate_role(word, "seed") > 0
    return is_known and not text.endswith("@")


def find_complement(name: str) -> tuple[str, str]:
    """Find one minus a metric at the end of a name, and that metric; nothing where it has none.

    Examples
    --------
    >>> find_complement("test 1-AUC"), find_complement("1-shot F1")
    (('1-AUC', 'AUC'), ('', ''))
    """
    found = COMPLEMENT.search(name)
    is_one = found is not None and bool(found[2] or find_metric(found[3]))
    return (found[1].strip(), found[3].strip()) if found and is_one else ("", "")


def is_change(words: Collection[str]) -> bool:
    """Whether words speak of the change of a metric, such as a drop of accuracy.

    Examples
    --------
    >>> is_change(["accuracy", "drop"]), is_change(["dice", "loss"]), is_change(["gain"])
    (True, True, False)
    """
    changes = WORDS["changes"] | WORDS["declines"]
    turned = {word for word in words if word.removesuffix("s") in changes}
    rest = [word for word in words if word not in {*turned, "loss"}]
    base = guess_direction(" ".join(rest)) if len(rest) < len(words) else ""
    return base == "max" or bool(turned and base)


def guess_direction(name: str) -> str:
    """Which way is better of a score, by its name; "" where that says nothing.

    Examples
    --------
    >>> guess_direction("Test error (%)"), guess_direction("FID ↓"), guess_direction("quality")
    ('min', 'min', '')
    >>> guess_direction("1 - AUC"), guess_direction("accuracy drop"), guess_direction("gain")
    ('min', '', 'max')
    """
    if (metric := find_metric(name)) is not None:
        return metric.direction
    if "↓" in name or "↑" in name:
        return "min" if "↓" in name else "max"
    if any(complement := find_complement(name)):
        return {"max": "min", "min": "max"}.get(guess_direction(complement[1]), "")
    own = split_words(name)
    if is_change(own):
        return ""
    words = {*own, *(word.removesuffix("s") for word in own)}
    if words & WORDS["lower"]:
        return "min"
    return "max" if words & WORDS["higher"] else ""
