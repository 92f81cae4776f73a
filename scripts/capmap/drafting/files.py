"""Which files a draft is of, and what their paths say."""

import re
from collections import Counter
from collections.abc import Sequence
from glob import has_magic
from pathlib import Path, PurePosixPath

from capmap.drafting.slots import Piece, Slot, find_slots, write_pattern
from capmap.drafting.words import RESULTS, SETTINGS, split_words
from capmap.errors import ConfigError
from capmap.exports.markdown import MARKDOWN
from capmap.exports.sheets import NESTED, open_sheet
from capmap.inputs.studies import match_paths
from capmap.problems import UnreadableExportError
from capmap.wording import quote_name

BOOKS = frozenset({".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"})
TEXTS = frozenset({".csv", ".tsv", ".txt", ".dat", ".log", ".out", ".parquet", ".pq"})
LOGS = frozenset({".txt", ".dat", ".log", ".out"})
MOST_NAMES = 20
FIELD = re.compile(r"\{\w*\}")
NUMBER = re.compile(r"[-+.\d]+")
ALIKE = 0.3
READABLE = TEXTS | NESTED | MARKDOWN | BOOKS


def list_files(exports: Sequence[str]) -> tuple[list[str], list[str]]:
    """List the files that paths, globs and folders stand for.

    Returns
    -------
    list of str
        Those of the kind that is most frequent, in order.
    list of str
        The others that could be read.

    Raises
    ------
    ConfigError
        When a path is not there, or nothing can be read.
    """
    found: list[str] = []
    for text in exports:
        path = Path(text).expanduser()
        if path.is_dir():
            inside = match_paths("**/*" if text == "." else f"{path}/**/*", recursive=True)
            found += [name for name in inside if Path(name).is_file() and _is_readable(name)]
        elif path.is_file():
            found.append(str(path))
        elif has_magic(text) and (matches := match_paths(str(path), recursive=True)):
            found += [name for name in matches if Path(name).is_file()]
        elif "{" in text:
            raise ConfigError(
                f"{text}: a draft finds out by itself what differs between paths. Name files, "
                f"folders or globs: {FIELD.sub('*', text)}"
            )
        else:
            raise ConfigError(
                f"{text}: there is no such file or folder. Paths are relative to {Path.cwd()}."
            )
    found = list(dict.fromkeys(found))
    if not found:
        raise ConfigError(
            f"{', '.join(exports)}: no file here has a suffix that is read, such as .csv or .json."
        )
    likely = [path for path in found if not _sounds_like(path, SETTINGS)] or found
    counts = Counter(map(_find_suffix, likely))
    suffix = max(counts, key=lambda kind: (counts[kind], kind in TEXTS, kind))
    alike = [path for path in likely if _find_suffix(path) == suffix]
    groups = _group(alike)
    chosen = max(groups, key=lambda group: (len(group), _sounds_like(group[0], RESULTS)))
    return chosen, [path for path in found if path not in {*chosen}]


def _group(paths: Sequence[str]) -> list[list[str]]:
    """Group files of some names by what they hold; of many names all are of one make."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(PurePosixPath(path).name, []).append(path)
    if not 1 < len(by_name) <= MOST_NAMES or _find_suffix(paths[0]) in LOGS:
        return [list(paths)]
    groups: list[tuple[set[str], int, list[str]]] = []
    for own in by_name.values():
        try:
            columns = list(open_sheet(own[0], wanted=()).columns)
        except UnreadableExportError:
            columns = []
        top = {name.partition(".")[0] for name in columns}
        # Names of columns that are names of datasets, or numbers, differ from file to file.
        is_free = _find_suffix(own[0]) in NESTED or any(NUMBER.fullmatch(name) for name in columns)
        for known, count, group in groups:
            is_alike = len(known & top) >= ALIKE * len(known | top)
            if is_alike or (is_free and count == len(columns)):
                group += own
                break
        else:
            groups.append((top, len(columns), list(own)))
    return [sorted(group) for _, _, group in groups]


def _sounds_like(path: str, words: frozenset[str]) -> bool:
    return not words.isdisjoint(split_words(PurePosixPath(path).stem))


def name_file(path: str) -> str:
    """Name what a file is of, after its stem without words that all such files have.

    Examples
    --------
    >>> name_file("out/results-imagenet.csv"), name_file("results.csv")
    ('imagenet', 'results')
    """
    stem = PurePosixPath(path).name.partition(".")[0]
    words = [word for word in re.split(r"[_\- ]+", stem) if word.casefold() not in RESULTS]
    return "-".join(words) or stem


def _find_suffix(path: str) -> str:
    return PurePosixPath(path.lower().removesuffix(".gz")).suffix


def _is_readable(path: str) -> bool:
    return _find_suffix(path) in READABLE


class Paths:
    """What differs between the paths of files, by temporary names.

    Parameters
    ----------
    paths : sequence of str
        Those that are read.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self.pieces: list[Piece] = find_slots(paths) if len(paths) > 1 else [paths[0]]
        self.names = {
            f"path{place}": place
            for place, piece in enumerate(self.pieces)
            if isinstance(piece, Slot)
        }

    @property
    def labels(self) -> dict[str, str]:
        """The word before each part that differs, by its temporary name."""
        return {name: label_slot(self.pieces, place) for name, place in self.names.items()}

    def read_fields(self, number: int) -> dict[str, str]:
        """What the path of a file says, by temporary names."""
        return {
            name: piece.values[number]
            for name, place in self.names.items()
            if isinstance(piece := self.pieces[place], Slot)
        }

    def write(self, roles: dict[str, str]) -> str:
        """Write the pattern of the exports; parts without a role are any text.

        Raises
        ------
        ConfigError
            When a path holds a brace.
        """
        if len(self.paths) == 1:
            return self.paths[0]
        texts = "".join(piece for piece in self.pieces if isinstance(piece, str))
        if "{" in texts or "}" in texts:
            raise ConfigError(f"{quote_name(texts)}: paths with braces cannot be read; rename it.")
        fields = {self.names[name]: role for name, role in roles.items() if name in self.names}
        return write_pattern(self.pieces, fields)


def label_slot(pieces: Sequence[Piece], place: int) -> str:
    """The word before a slot, such as the name of its folder."""
    before = pieces[place - 1] if place else ""
    words = split_words(before) if isinstance(before, str) else []
    return words[-1] if words else ""
