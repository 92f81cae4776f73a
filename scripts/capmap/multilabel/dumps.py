"""Which dump of predictions belongs to which model, dataset and seed, by the names of the files."""

import re
from collections.abc import Iterable, Sequence
from glob import escape
from typing import NamedTuple

from capmap.errors import ConfigError
from capmap.wording import quote_name

FIELD = re.compile(r"\{(model|dataset|seed)\}")


class Cell(NamedTuple):
    """Whose predictions a dump has; the seed is empty where datasets have none."""

    model: str
    dataset: str
    seed: str = ""


def write_glob(pattern: str) -> str:
    """Write the glob that finds the files of a pattern.

    Examples
    --------
    >>> write_glob("dumps [1]/{model}/{dataset}.npy")
    'dumps [[]1]/*/*.npy'
    """
    parts = FIELD.split(pattern)
    return "".join("*" if place % 2 else escape(part) for place, part in enumerate(parts))


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

    Parameters
    ----------
    pattern : str
        A path with ``{model}``, ``{dataset}`` and perhaps ``{seed}``. Each stands for one or more
        characters without a slash, and for the same ones wherever it stands.
    paths : iterable of str
        Paths; those that do not match are left out.

    Returns
    -------
    dict of str to Cell
        By path, in the order of the cells.

    Raises
    ------
    ConfigError
        If the pattern lacks a field, a path can be read in two ways, or two paths are of one cell.

    Examples
    --------
    >>> match_dumps("d/{model}/{dataset}.npy", ["d/b/V1.npy", "d/a/V1.npy", "d/a/V1.txt"])
    {'d/a/V1.npy': Cell(model='a', dataset='V1', seed=''), \
'd/b/V1.npy': Cell(model='b', dataset='V1', seed='')}
    """
    fields = FIELD.findall(pattern)
    for name in ("model", "dataset"):
        if name not in fields:
            raise ConfigError(
                f"{pattern} has no {{{name}}}. Write where it stands in the paths of the "
                "score dumps, such as dumps/{model}/{dataset}.npy."
            )
    cells: dict[Cell, str] = {}
    for path in sorted(set(paths)):
        cell = _match_path(pattern, path)
        if cell is None:
            continue
        if cell in cells:
            raise ConfigError(
                f"{cells[cell]} and {path} are of the same model, dataset and seed. "
                "Remove one of them."
            )
        cells[cell] = path
    return {path: cell for cell, path in sorted(cells.items())}


def _match_path(pattern: str, path: str) -> Cell | None:
    found = [re.fullmatch(_write_expression(pattern, some), path) for some in ("+", "+?")]
    if found[0] is None or found[1] is None:
        return None
    if found[0].groupdict() != found[1].groupdict():
        names = [quote_name(match["model"]) for match in found if match]
        raise ConfigError(
            f"the model of {path} may be {' or '.join(names)}. Put the fields into folders"
            " of their own, such as dumps/{model}/{dataset}.npy, or rename the file."
        )
    return Cell(**found[0].groupdict())


def _write_expression(pattern: str, some: str) -> str:
    parts: list[str] = []
    seen: set[str] = set()
    for place, part in enumerate(FIELD.split(pattern)):
        if place % 2 == 0:
            parts.append(re.escape(part))
        elif part in seen:
            parts.append(f"(?P={part})")
        else:
            parts.append(f"(?P<{part}>[^/]{some})")
            seen.add(part)
    return "".join(parts)


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
