"""Names of metrics taken apart: of which dataset, on which split, which metric."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from capmap.errors import ValidationError
from capmap.wording import quote_name

FIELDS = ("split", "dataset", "metric")
FIELD = re.compile(r"\{([^{}]*)\}")
USUAL_KEYS = ("{split}/{dataset}/{metric}", "{split}/{metric}", "{metric}")
# What MLflow logs about the machine.
SYSTEM = "system/"


@dataclass(frozen=True)
class Key:
    """What the name of a metric says; ``split`` and ``dataset`` are empty where it does not."""

    split: str
    dataset: str
    metric: str


@dataclass(frozen=True)
class KeyPattern:
    """A compiled pattern of names, from `compile_keys`."""

    text: str
    shortest: re.Pattern[str]
    longest: re.Pattern[str]

    def has(self, field: str) -> bool:
        """Whether the pattern has a field."""
        return field in self.shortest.groupindex


def compile_keys(patterns: Sequence[str], *, datasets: Collection[str] = ()) -> list[KeyPattern]:
    """Compile patterns of the names of metrics.

    Parameters
    ----------
    patterns : sequence of str
        Texts with the field ``{metric}``, and perhaps ``{split}`` and ``{dataset}``, each once. A
        field stands for one or more characters other than ``/``.
    datasets : collection of str, optional
        The only names that ``{dataset}`` may stand for; any by default.

    Returns
    -------
    list of KeyPattern
        In the given order.

    Raises
    ------
    ValidationError
        When a pattern has an unknown field, a field twice or no ``{metric}``; all are named.
    """
    faults = []
    for pattern in patterns:
        fields = FIELD.findall(pattern)
        wrong = sorted({name for name in fields if name not in FIELDS or fields.count(name) > 1})
        if wrong or "metric" not in fields or set("{}") & set(FIELD.sub("", pattern)):
            faults.append(
                f"tracking.keys: {quote_name(pattern)} is no pattern. It needs {{metric}}, and may "
                "have {split} and {dataset}, each once."
            )
    if faults:
        raise ValidationError("\n".join(faults))
    return [
        KeyPattern(
            pattern,
            *(re.compile(_write_regex(pattern, many, datasets)) for many in ("[^/]+?", "[^/]+")),
        )
        for pattern in patterns
    ]


def split_key(key: str, pattern: KeyPattern) -> Key | None:
    """Take the name of a metric apart.

    Parameters
    ----------
    key : str
        Name of a metric, as it was logged.
    pattern : KeyPattern
        From `compile_keys`.

    Returns
    -------
    Key or None
        None where the pattern does not fit.

    Raises
    ------
    ValidationError
        When the pattern fits in several ways, as ``{dataset}_{metric}`` does with ``a_b_c``.

    Examples
    --------
    >>> slashes, lines = compile_keys(["{split}/{dataset}/{metric}", "{split}_{dataset}_{metric}"])
    >>> split_key("val/burn_scars/IoU", slashes)
    Key(split='val', dataset='burn_scars', metric='IoU')
    >>> split_key("val_eurosat_accuracy", lines)
    Key(split='val', dataset='eurosat', metric='accuracy')
    """
    first, last = pattern.shortest.fullmatch(key), pattern.longest.fullmatch(key)
    if first is None or last is None:
        return None
    if first.groupdict() != last.groupdict():
        raise ValidationError(f"{quote_name(pattern.text)} fits in several ways.")
    found = first.groupdict()
    return Key(found.get("split", ""), found.get("dataset", ""), found["metric"])


def _write_regex(pattern: str, many: str, datasets: Collection[str]) -> str:
    """Write a pattern as a regular expression whose fields take as little or as much as they can.

    The two differ if and only if the pattern fits in several ways: one finds the first, the other
    the last of them in the order of the lengths of the fields.
    """
    named = sorted(datasets, key=lambda name: (len(name), name))
    if many == "[^/]+":
        named.reverse()
    known = "|".join(map(re.escape, named))
    parts = []
    for position, part in enumerate(FIELD.split(pattern)):
        if position % 2 == 0:
            parts.append(re.escape(part))
        else:
            parts.append(f"(?P<{part}>{known if part == 'dataset' and known else many})")
    return "".join(parts)
