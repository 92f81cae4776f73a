"""Names taken out of paths, keys and columns: ``runs/{model}/{dataset}.json``, ``acc_{seed}``."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from glob import escape
from typing import NamedTuple

from capmap.errors import ConfigError
from capmap.wording import quote_name

DIGITS = re.compile("([0-9]+)")
# What the path of a score dump names.
DUMP = re.compile(r"\{(model|dataset|seed)\}")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Expressions may have braces themselves.
PART = re.compile(
    r"(?P<field>\{(?P<name>[^{},]*)(?:,(?P<expression>(?:[^{}]|\{[^{}]*\})*))?\})"
    r"|(?P<folders>\*\*/)|(?P<any>\*)|(?P<literal>[^{*]+)"
)


class _Part(NamedTuple):
    """A part of a pattern: literal text, a wildcard, or a field with its expression."""

    text: str
    kind: str
    expression: str = ""


@dataclass(frozen=True)
class Pattern:
    """A text with fields, which neither they nor ``*`` cross at the separator, such as a slash.

    ``{name}`` stands for one or more characters, the same ones wherever it stands, and
    ``{name,expression}`` for what the regular expression matches, as in rules of Snakemake. ``*``
    stands for any characters, and ``**/`` for any folders; all else stands for itself.

    Examples
    --------
    >>> pattern = Pattern("runs/{model}/seed_{seed,[0-9]+}.csv", separator="/")
    >>> pattern.fields, pattern.glob
    (('model', 'seed'), 'runs/*/seed_*.csv')
    >>> pattern.match("runs/vit/seed_3.csv")
    {'model': 'vit', 'seed': '3'}
    """

    text: str
    separator: str = ""

    def __post_init__(self) -> None:
        for part in self._parts:
            try:
                re.compile(part.expression)
            except re.error as error:
                raise ConfigError(
                    f"{self.text}: the expression of {{{part.text}}} is none ({error})."
                ) from error

    @cached_property
    def _parts(self) -> tuple[_Part, ...]:
        return tuple(_split(self.text))

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of its fields, each once."""
        return tuple(dict.fromkeys(part.text for part in self._parts if part.kind == "field"))

    @cached_property
    def glob(self) -> str:
        """The glob that finds what may match it."""
        return "".join(
            {"literal": escape(part.text), "field": "*"}.get(part.kind, part.text)
            for part in self._parts
        )

    def match(self, text: str) -> dict[str, str] | None:
        """Read the fields of a text, or None; one that can be read in two ways is an error."""
        longest, shortest = (expression.fullmatch(text) for expression in self._expressions)
        if longest is None or shortest is None:
            return None
        found = longest.groupdict()
        for name, value in shortest.groupdict().items():
            if found[name] != value:
                raise ConfigError(
                    f"the {name} of {text} may be {quote_name(found[name])} or "
                    f"{quote_name(value)}. Put a fixed text or a folder between the fields of "
                    f"{self.text}, or say what {{{name}}} is made of, such as {{{name},[a-z]+}}."
                )
        return found

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        one, another = (re.compile("".join(self._write(some)), re.DOTALL) for some in ("", "?"))
        return one, another

    def _write(self, some: str) -> Iterator[str]:
        """Write it as a regular expression, which takes as much or as little as it can."""
        other = f"[^{re.escape(self.separator)}]" if self.separator else "."
        seen = set[str]()
        for part in self._parts:
            if part.kind == "literal":
                yield re.escape(part.text)
            elif part.kind == "folders":
                yield f"(?:.*{some}{re.escape(self.separator)})?{some}"
            elif part.kind == "any":
                yield f"{other}*{some}"
            elif part.text in seen:
                yield f"(?P={part.text})"
            else:
                seen.add(part.text)
                yield f"(?P<{part.text}>{part.expression or f'{other}+{some}'})"


def read_fields(path: str, patterns: str | Sequence[str]) -> dict[str, str]:
    """Read the fields of a path by the first pattern that it matches; {} where none has fields.

    Examples
    --------
    >>> read_fields("runs/vit/3.csv", ["old.csv", "runs/{model}/{seed}.csv"])
    {'model': 'vit', 'seed': '3'}
    """
    for text in [patterns] if isinstance(patterns, str) else patterns:
        if has_fields(text) and (found := _parse_path(text).match(path)) is not None:
            return found
    return {}


@cache
def _parse_path(text: str) -> Pattern:
    return Pattern(text, "/")


def has_fields(text: str) -> bool:
    """Whether a text has braces, so that it is a pattern.

    Examples
    --------
    >>> has_fields("runs/{model}.csv"), has_fields("runs/*.csv")
    (True, False)
    """
    return "{" in text


def split_digits(name: str) -> list[tuple[int, str]]:
    """Split a name into texts and numbers, so that img2 comes before img10.

    A number is its length and its digits, which compare as numbers do, however long they are.

    Examples
    --------
    >>> sorted(["log_10", "log_2", "log"], key=split_digits)
    ['log', 'log_2', 'log_10']
    """
    parts = DIGITS.split(name)
    return [
        (len(part.lstrip("0")), part.lstrip("0")) if place % 2 else (0, part)
        for place, part in enumerate(parts)
    ]


def order_paths(paths: Iterable[str]) -> list[str]:
    """Sort paths, by the numbers in them where their texts are equal."""
    return sorted(sorted(paths), key=split_digits)


def _split(text: str) -> Iterator[_Part]:
    position = 0
    while position < len(text):
        found = PART.match(text, position)
        if found is None:
            raise ConfigError(f"{text}: the brace at character {position + 1} is never closed.")
        if found["field"] and not NAME.fullmatch(found["name"]):
            raise ConfigError(
                f"{text}: {{{found['name']}}} is no field. A field has a name of letters, such as "
                "{model}."
            )
        text_of = found["name"] if found["field"] else found[0]
        yield _Part(text_of, str(found.lastgroup), found["expression"] or "")
        position = found.end()


class Cell(NamedTuple):
    """Whose predictions a dump has; the seed is empty where datasets have none."""

    model: str
    dataset: str
    seed: str = ""


def fill_pattern(pattern: str, cell: Cell) -> str:
    """Fill the names of a cell into a pattern; other braces stay.

    Examples
    --------
    >>> fill_pattern("{dataset}/{seed}/labels.json", Cell("a", "{model}", "3"))
    '{model}/3/labels.json'
    """
    return DUMP.sub(lambda match: getattr(cell, match[1]), pattern)


def match_dumps(pattern: str, paths: Iterable[str]) -> dict[str, Cell]:
    """Find the model, dataset and seed of each dump from its path.

    Examples
    --------
    >>> match_dumps("d/{model}/{dataset}.npy", ["d/a/V1.npy", "d/a/V1.txt"])
    {'d/a/V1.npy': Cell(model='a', dataset='V1', seed='')}
    """
    parsed = Pattern(pattern, "/")
    usual = "such as dumps/{model}/{dataset}.npy"
    for name in ("model", "dataset"):
        if name not in parsed.fields:
            raise ConfigError(
                f"{pattern} has no {{{name}}}. Write where it stands in the paths of the score "
                f"dumps, {usual}."
            )
    if others := [name for name in parsed.fields if name not in Cell._fields]:
        raise ConfigError(f"{pattern}: {{{others[0]}}} is no field of score dumps, {usual}.")
    found = {path: parsed.match(path) for path in sorted(set(paths))}
    return {path: Cell(**fields) for path, fields in found.items() if fields is not None}


def list_paths(patterns: Sequence[str], cells: Iterable[Cell]) -> list[str]:
    """List the files that some patterns name for some cells, each once; empty patterns name none.

    Examples
    --------
    >>> list_paths(["labels.json", "ids/{dataset}.txt", ""], [Cell("a", "V1"), Cell("b", "V1")])
    ['labels.json', 'ids/V1.txt']
    """
    return list(
        dict.fromkeys(fill_pattern(path, cell) for cell in cells for path in patterns if path)
    )
