"""Which files a draft is of, and what their paths say."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path, PurePosixPath

from capmap.drafting.slots import find_slots, label_slot, write_pattern
from capmap.drafting.words import WORDS, has_word
from capmap.errors import ConfigError
from capmap.exports.markdown import MARKDOWN
from capmap.exports.sheets import NESTED, open_sheet
from capmap.exports.workbooks import WORKBOOKS
from capmap.inputs.studies import match_paths
from capmap.problems import UnreadableExportError
from capmap.wording import quote_name

LOGS = frozenset({".txt", ".dat", ".log", ".out"})
TEXTS = LOGS | {".csv", ".tsv", ".parquet", ".pq"}
READABLE = TEXTS | NESTED | MARKDOWN | WORKBOOKS
# Files of more names than that are of one make.
MOST_NAMES = 20
# Files that share this many of their columns are of one make.
ALIKE = 0.3
FIELD = re.compile(r"\{\w*\}")


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
        if path.is_file():
            found.append(str(path))
        elif path.is_dir():
            inside = match_paths("**/*" if text == "." else f"{path}/**/*", recursive=True)
            found += [name for name in inside if _find_suffix(name) in READABLE]
        elif has_magic(text):
            found += match_paths(str(path), recursive=True)
        elif "{" in text:
            raise ConfigError(
                f"{text}: a draft finds out by itself what differs between paths. Name files, "
                f"folders or globs: {FIELD.sub('*', text)}"
            )
        else:
            raise ConfigError(
                f"{text}: there is no such file or folder. Paths are relative to {Path.cwd()}."
            )
    found = [name for name in dict.fromkeys(found) if Path(name).is_file()]
    if not found:
        raise ConfigError(
            f"{', '.join(exports)}: no file here has a suffix that is read, such as .csv or .json."
        )
    stems = {path: PurePosixPath(path).stem for path in found}
    likely = [path for path in found if not has_word(stems[path], WORDS["settings"])] or found
    counts = Counter(map(_find_suffix, likely))
    suffix = max(counts, key=lambda kind: (counts[kind], kind in TEXTS, kind))
    groups = _group([path for path in likely if _find_suffix(path) == suffix])
    chosen = max(groups, key=lambda own: (len(own), has_word(stems[own[0]], WORDS["results"])))
    return chosen, [path for path in found if path not in chosen]


def _group(paths: Sequence[str]) -> list[list[str]]:
    """Group tables of some names by what they hold; nested files are of one make, as are many."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(PurePosixPath(path).name, []).append(path)
    if not 1 < len(by_name) <= MOST_NAMES or _find_suffix(paths[0]) in LOGS | NESTED:
        return [list(paths)]
    groups: list[tuple[set[str], list[str]]] = []
    for own in by_name.values():
        try:
            columns = {*open_sheet(own[0], wanted=()).columns}
        except UnreadableExportError:
            columns = set()
        for known, group in groups:
            if len(known & columns) >= ALIKE * len(known | columns):
                group += own
                break
        else:
            groups.append((columns, list(own)))
    return [sorted(group) for _, group in groups]


def name_file(path: str) -> str:
    """Name what a file is of, after its stem without words that all such files have.

    Examples
    --------
    >>> name_file("out/results-imagenet.csv"), name_file("results.csv")
    ('imagenet', 'results')
    """
    stem = PurePosixPath(path).name.partition(".")[0]
    words = [word for word in re.split(r"[_\- ]+", stem) if not has_word(word, WORDS["results"])]
    return "-".join(words) or stem


def _find_suffix(path: str) -> str:
    return PurePosixPath(path.lower().removesuffix(".gz")).suffix


class Paths:
    """What differs between the paths of files, by temporary names such as "path2".

    Parameters
    ----------
    paths : sequence of str
        Those that are read.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = list(paths)
        self.pieces = find_slots(paths) if len(paths) > 1 else [paths[0]]
        self._slots = {
            f"path{place}": (place, piece)
            for place, piece in enumerate(self.pieces)
            if not isinstance(piece, str)
        }
        self.labels = {name: label_slot(self.pieces, at) for name, (at, _) in self._slots.items()}

    def read_fields(self, number: int) -> dict[str, str]:
        """What the path of a file says, by temporary names."""
        return {name: values[number] for name, (_, values) in self._slots.items()}

    def write(self, roles: Mapping[str, str]) -> str | list[str]:
        """Write the exports, with the roles of temporary names; other parts are any text.

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
        fields = {at: roles[name] for name, (at, _) in self._slots.items() if name in roles}
        pattern = write_pattern(self.pieces, fields)
        is_wide = not fields and {*match_paths(pattern, recursive=True)} > {*self.paths}
        return self.paths if is_wide else pattern
