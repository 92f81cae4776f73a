"""Which files a draft is of, and what differs between their paths, or between names of columns."""

import os
import re
from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from capmap.drafting.words import WORDS, has_word, is_label, rate_values, split_words
from capmap.errors import ConfigError
from capmap.exports.files import has_suffix
from capmap.exports.markdown import MARKDOWN
from capmap.exports.records import list_values
from capmap.exports.sheets import NESTED, open_sheet
from capmap.exports.workbooks import WORKBOOKS
from capmap.inputs.studies import match_paths
from capmap.problems import UnreadableExportError

TABLES = frozenset({".csv", ".tsv", ".parquet", ".pq"})
READABLE = TABLES | {".txt", ".dat", ".log", ".out"} | NESTED | MARKDOWN | WORKBOOKS
# Files with this share of their columns in common are of one kind; of more names, all are.
ALIKE = 0.3
MOST_NAMES = 50
SEPARATOR = re.compile(r" / |__|[_\-. :=,@()]+|/")
LABELLED = re.compile(r"(\D+)(\d+)")
# So often a part of a name has to repeat beside each other part, to vary on its own.
REPEATED = 2

# A text that all names share, or what stands at one place of each of them.
Piece: TypeAlias = str | tuple[str, ...]


def list_files(exports: Sequence[str]) -> tuple[list[str], list[str]]:
    """List the files of the commonest kind that paths, globs and folders name, and the others."""
    found: list[str] = []
    for text in exports:
        path = Path(text).expanduser()
        if path.is_dir():
            inside = match_paths("**/*" if text == "." else f"{path}/**/*", recursive=True)
            found += [name for name in inside if _find_suffix(name) in READABLE]
        elif path.is_file():
            found.append(str(path))
        elif has_magic(text):
            found += match_paths(str(path), recursive=True)
        else:
            remedy = f"Paths are relative to {Path.cwd()}."
            if "{" in text:
                remedy = f"A draft finds out what differs: {re.sub('{[^}]*}', '*', text)}"
            raise ConfigError(f"{text}: there is no such file or folder. {remedy}")
    found = [name for name in dict.fromkeys(found) if Path(name).is_file()]
    if not found:
        raise ConfigError(f"{', '.join(exports)}: there is no file of results, such as .csv.")
    groups = _group(found)
    chosen = max(groups, key=_rate_group)
    return sorted(chosen), [path for path in found if path not in chosen]


def _rate_group(paths: Sequence[str]) -> tuple[bool, int, bool]:
    settings, results = (
        sum(_is_called(p, kind) for p in paths) for kind in ("settings", "results")
    )
    return settings < len(paths), len(paths), 2 * results > len(paths)


def _group(paths: Sequence[str]) -> list[list[str]]:
    """Group files by suffix and, where they have few names, by the columns or keys they share."""
    names = {PurePosixPath(path).name: path for path in paths}
    is_small = len(names) <= MOST_NAMES
    heads = {name: _read_head(path) if is_small else set() for name, path in names.items()}
    groups: list[tuple[str, set[str], list[str]]] = []
    for path in paths:
        suffix, columns = _find_suffix(path), heads[PurePosixPath(path).name]
        for kind, known, group in groups:
            if kind == suffix and len(known & columns) >= ALIKE * len(known | columns):
                group.append(path)
                break
        else:
            groups.append((suffix, columns, [path]))
    return [group for _, _, group in groups]


def _read_head(path: str) -> set[str]:
    """Read the columns of a table, or the keys of a nested file."""
    try:
        if has_suffix(path, NESTED):
            [value, *_], _ = list_values(path, most=1)
            return {*map(str, value)} if isinstance(value, dict) else set()
        return {*open_sheet(path, wanted=()).columns} if _find_suffix(path) in TABLES else set()
    except (UnreadableExportError, ValueError):
        return set()


def _is_called(path: str, kind: str) -> bool:
    return has_word(PurePosixPath(path).stem, WORDS[kind])


def _find_suffix(path: str) -> str:
    return PurePosixPath(path.lower().removesuffix(".gz")).suffix


def name_file(path: str) -> str:
    """Name what a file is of, after its stem without words that such files have."""
    stem = PurePosixPath(path).name.partition(".")[0]
    words = [word for word in re.split(r"[_\- ]+", stem) if not has_word(word, WORDS["results"])]
    return "-".join(words) or stem


def find_slots(names: Sequence[str]) -> list[Piece]:
    """Find what differs between names, as fixed texts and slots that make up each name.

    Examples
    --------
    >>> pieces = find_slots(["a/x_seed0.csv", "a/x_seed1.csv", "b/x_seed0.csv"])
    >>> write_pattern(pieces, {0: "model", 2: "seed"})
    '{model}/x_seed{seed}.csv'
    """
    rows = [re.split("(?<! )/(?! )", name) for name in names]
    if len({len(row) for row in rows}) > 1:
        return [tuple(names)]
    pieces: list[Piece] = []
    for place, parts in enumerate(zip(*rows, strict=True)):
        for piece in ["/"] * (place > 0) + _cut(parts):
            if pieces and isinstance(piece, str) and isinstance(pieces[-1], str):
                pieces[-1] += piece
            else:
                pieces.append(piece)
    return pieces


def _cut(values: Sequence[str]) -> list[Piece]:
    """Cut what all names begin and end with from what differs."""
    if len({*values}) == 1:
        return [values[0]]
    head = _find_shared(values)
    tail = _find_shared([value[len(head) :][::-1] for value in values])[::-1]
    inner = [value[len(head) : len(value) - len(tail)] for value in values]
    if not all(inner):
        return [tuple(values)]
    return [*filter(None, [head]), *_divide(inner), *filter(None, [tail])]


def _find_shared(values: Sequence[str]) -> str:
    shared = os.path.commonprefix(values)  # noqa: RUF071
    ends = [match.end() for match in SEPARATOR.finditer(shared)]
    return shared[: ends[-1]] if ends else ""


def _divide(values: Sequence[str]) -> list[Piece]:
    """Divide names where each part varies on its own, or a numbered label such as s3 ends them."""
    marks = set.intersection(*({*SEPARATOR.findall(value)} for value in values))
    for mark in sorted(marks, key=lambda text: (-len(text), text)):
        for partition in (str.rpartition, str.partition):
            left, _, right = zip(*(partition(value, mark) for value in values), strict=True)
            is_fine = all(left) and all(right)
            is_last = mark == "." and rate_values(right, "metric") > 0.5
            if is_fine and (is_last or _find_label(right) or _is_crossed(left, right)):
                return [*_cut(left), mark, *_cut(right)]
    if label := _find_label(values):
        return [label, tuple(value.removeprefix(label) for value in values)]
    return [tuple(values)]


def _find_label(values: Sequence[str]) -> str:
    """Find the word before the number of each value, if it is one such as "seed"."""
    found = [LABELLED.fullmatch(value) for value in values]
    labels = {match[1] if match else "" for match in found}
    label = labels.pop()
    return label if not labels and label and is_label(label) else ""


def _is_crossed(left: Sequence[str], right: Sequence[str]) -> bool:
    pairs, sizes = len({*zip(left, right, strict=True)}), (len({*left}), len({*right}))
    return min(sizes) > 1 and (pairs == sizes[0] * sizes[1] or pairs >= REPEATED * max(sizes))


def write_pattern(pieces: Sequence[Piece], fields: Mapping[int, str]) -> str:
    r"""Write pieces as a pattern, with the names of some slots; others become ``*``.

    Examples
    --------
    >>> names = ["ppo-Ant-v1", "ppo-Pong-v0", "dqn-Ant-v1", "dqn-Pong-v0"]
    >>> print(write_pattern(find_slots(names), {0: "model", 2: "dataset"}))
    {model,[^\-]+}-{dataset}
    """
    texts = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            texts.append(piece)
        elif place in fields:
            texts.append(f"{{{fields[place]}{_limit_slot(pieces, place)}}}")
        else:
            texts.append("*")
    return "".join(texts)


def _limit_slot(pieces: Sequence[Piece], place: int) -> str:
    """What a slot is made of, where the mark beside it also stands in the next slot."""
    for step in (1, -1):
        if 0 <= place + 2 * step < len(pieces):
            mark, other = str(pieces[place + step]), pieces[place + 2 * step]
            is_ambiguous = len(mark) == 1 and any(mark in value for value in other)
            if is_ambiguous and not any(mark in value for value in pieces[place]):
                return f",[^{re.escape(mark)}]+"
    return ""


def label_slot(pieces: Sequence[Piece], place: int) -> str:
    """The word before a slot, such as the name of its folder."""
    before = pieces[place - 1] if place else ""
    words = split_words(before) if isinstance(before, str) else []
    return words[-1] if words else ""


class Paths:
    """What differs between the paths of files, by temporary names such as "path2"."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self.pieces = find_slots(paths) if len(paths) > 1 else [paths[0]]
        places = [at for at, piece in enumerate(self.pieces) if not isinstance(piece, str)]
        self.labels = {f"path{at}": label_slot(self.pieces, at) for at in places}

    def read_fields(self, number: int) -> dict[str, str]:
        """What the path of a file says, by temporary names."""
        return {name: self.pieces[int(name.removeprefix("path"))][number] for name in self.labels}

    def write(self, roles: Mapping[str, str]) -> str | list[str]:
        """Write the exports, with roles of temporary names; a list where a pattern finds others."""
        if len(self.paths) == 1:
            return self.paths[0]
        fields = {int(n.removeprefix("path")): roles[n] for n in self.labels if n in roles}
        pattern = write_pattern(self.pieces, fields)
        is_wide = not fields and {*match_paths(pattern, recursive=True)} > {*self.paths}
        return self.paths if is_wide else pattern
