"""Which dump of predictions belongs to which model, dataset and seed, by the names of the files."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from capmap.errors import ConfigError
from capmap.patterns import Pattern

FIELD = re.compile(r"\{(model|dataset|seed)\}")


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
    return FIELD.sub(lambda match: getattr(cell, match[1]), pattern)


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
