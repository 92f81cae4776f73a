"""Records of nested files (JSON lines, JSON, YAML) as rows of a sheet."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import PurePath
from typing import Any, NamedTuple

from capmap.errors import ConfigError
from capmap.exports.documents import FaultError, Parts, list_json, list_yaml
from capmap.exports.files import LONGEST, check_text, has_suffix, read_bounded, recode_text
from capmap.exports.flat_rows import LONGEST_LIST, Flat, FlatRows, flatten, list_items
from capmap.patterns import Pattern
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.wording import list_names, quote_name

YAML = frozenset({".yaml", ".yml"})
LINES = frozenset({".jsonl", ".ndjson"})
SCORE = "score"
COMPARED = 1_000
MOST_FAULTS = 1_000


def open_records(path: str, *, records: str = "", encoding: str = "utf-8") -> FlatRows:
    """Read nested values as rows of flat cells.

    Parameters
    ----------
    path : str
        JSON lines (``.jsonl``, ``.ndjson``), YAML (``.yaml``, ``.yml``) or JSON:
        a list, one object, or JSON lines.
    records : str, optional
        Where the records are: a `Pattern` for each key from the top of the file (of JSON lines, of
        each line), with points between them. Points within braces divide nothing, and a key that
        has points is matched as a whole. Positions in lists count as keys. By default a record is
        each line, each entry of a list at the top, or the file.
    encoding : str, optional
        How the text is encoded.

    Returns
    -------
    FlatRows
        A row per record, whose nested values have dotted names, see `flatten`.

    Raises
    ------
    UnreadableExportError
        When the file is not text, is larger than 1 GiB (64 Mi characters if it is read as a whole),
        or has no record.
    ConfigError
        When `records` is no pattern.

    Notes
    -----
    Where the pattern ends, an object is a record, a list is one whose names are positions, and a
    plain value is one with the column ``score``. Fields are columns, and so is what stands beside
    the path in the objects that it goes through, for all records beneath these. Its names begin
    with the keys of the path that the pattern spells out; keys that a field or wildcard stands for
    are left out, so that ``*.results.{dataset}`` finds the ``model`` of each entry under this name.
    A name nearer to the record wins.

    A record has the line where it begins, or where the value begins that has lines of its own (of
    JSON, one that the pattern goes through; of YAML any).

    Numbers keep their text; true and false are these words, null is empty.
    """
    walker = _Walker(records)
    is_whole = has_suffix(path, YAML)
    content = read_bounded(path, limit=LONGEST) if is_whole else read_bounded(path)
    content = recode_text(content, path, encoding)
    check_text(content, path)
    rows = FlatRows(path)
    try:
        for part in _list_parts(content.decode("utf-8-sig"), path, walker):
            if isinstance(part, FaultError):
                rows.problems.append(part.explain(path))
            else:
                _add_part(rows, *part, walker)
            if len(rows.problems) > MOST_FAULTS:
                reason = f"More than {MOST_FAULTS} values are at fault; the rest is not read."
                raise FaultError("too_many_faults", reason, "Check `reading: {records: …}`.")
    except FaultError as fault:
        rows.problems.append(fault.explain(path))
    if not rows.lines:
        raise UnreadableExportError(*(rows.problems[:1] or [walker.explain_end(path)]))
    rows.problems += walker.explain_misses(path)
    return rows


def list_values(path: str, *, most: int) -> tuple[list[Any], bool]:
    """List the first values of a nested file, and say whether they are the entries of a list.

    Otherwise they are its lines, or the file itself.

    Raises
    ------
    UnreadableExportError
        When it has none that can be read.
    """
    content = read_bounded(path)
    check_text(content, path)
    try:
        parts = islice(_list_parts(content.decode("utf-8-sig"), path, _Walker("*")), most)
        found = [part for part in parts if not isinstance(part, FaultError)]
    except FaultError as fault:
        raise UnreadableExportError(fault.explain(path)) from fault
    return [value for _, _, value in found], any(place for _, place, _ in found)


def _list_parts(text: str, path: str, walker: "_Walker") -> Parts:
    suffix = PurePath(path.lower().removesuffix(".gz")).suffix
    needs_objects = not walker.steps
    if suffix in YAML:
        return list_yaml(text, needs_objects=needs_objects)
    steps = [partial(_fits, step) for step in walker.steps]
    return list_json(text, lines=suffix in LINES, steps=steps, needs_objects=needs_objects)


def _fits(step: Pattern, key: str) -> bool:
    try:
        return _match_key(step, key) is not None
    except FaultError:
        return False


class _Found(NamedTuple):
    """A value where the pattern has ended, and what the keys on the way said."""

    line: int
    fields: Mapping[str, str]
    value: Any


class _End(NamedTuple):
    """Where the pattern matched no key, and the keys that are there."""

    path: Sequence[str]
    keys: Sequence[str]
    line: int


def _add_part(rows: FlatRows, line: int, position: str, value: Any, walker: "_Walker") -> None:
    try:
        if not walker.steps:
            rows.add(line, flatten(value))
            return
        walker.walk(value, line, position)
    except FaultError as fault:
        rows.problems.append(fault.explain(rows.path, line))
        return
    firsts = []
    for found in walker.found:
        firsts.append(len(rows.lines))
        try:
            rows.add(found.line, _flatten_record(found))
        except FaultError as fault:
            rows.problems.append(fault.explain(rows.path, found.line))
    firsts.append(len(rows.lines))
    for start, stop, flat in walker.beside:
        rows.share(firsts[start], firsts[stop], flat)


def _flatten_record(found: _Found) -> Flat:
    value = found.value
    is_short = isinstance(value, list) and 0 < len(value) <= LONGEST_LIST
    cells, inner = flatten(value if is_short or isinstance(value, dict) else {SCORE: value})
    for name, text in found.fields.items():
        if name in inner or cells.get(name) not in (None, "", text):
            reason = f"The field {{{name}}} of the pattern is also a name in the record."
            remedy = "Give the field another name in `reading: {records: …}`."
            raise FaultError("duplicated_name", reason, remedy)
    return {**found.fields, **cells, **found.fields}, inner


class _Walker:
    """The ways through nested values along which all keys match the steps of a pattern."""

    def __init__(self, records: str) -> None:
        self.records = records
        self.steps = _split_steps(records) if records else ()
        self.found: list[_Found] = []
        # What stands beside the path of a range of what is found; nearer to the records first.
        self.beside: list[tuple[int, int, Flat]] = []
        self._end = _End((), (), 0)
        self._misses: list[int] = []

    def walk(self, value: Any, line: int, position: str) -> None:
        """Find the records of a part and what stands beside their paths."""
        self.found, self.beside = [], []
        path = (position,) if position else ()
        fields = self._match(0, position, {}) if path else {}
        if fields is None:
            self._note((), path, line)
        elif not self._walk(value, line, path, fields):
            self._misses.append(line)

    def _walk(
        self, value: Any, line: int, path: tuple[str, ...], fields: Mapping[str, str]
    ) -> bool:
        """Walk on from a value, and say whether any record is beneath it."""
        if len(path) == len(self.steps):
            self.found.append(_Found(line, fields, value))
            return True
        start, beside = len(self.found), {}
        children = list(_list_children(value, line))
        for key, child, place in children:
            bound = self._match(len(path), key, fields)
            if bound is None or not self._walk(child, place, (*path, key), bound):
                beside[key] = child
        if len(self.found) == start:
            self._note(path, [key for key, *_ in children[:COMPARED]], line)
            return False
        if beside and isinstance(value, dict):
            steps = zip(path, self.steps, strict=False)
            prefix = "".join(f"{key}." for key, step in steps if key == step.text)
            self.beside.append((start, len(self.found), flatten(beside, prefix)))
        return True

    def _match(self, place: int, key: str, fields: Mapping[str, str]) -> Mapping[str, str] | None:
        """Read the fields of a key on top of those above it, if it matches."""
        found = _match_key(self.steps[place], key)
        if not found:
            return None if found is None else fields
        if any(fields.get(name, text) != text for name, text in found.items()):
            return None
        return {**fields, **found}

    def _note(self, path: Sequence[str], keys: Sequence[str], line: int) -> None:
        if not self._end.line or len(path) > len(self._end.path):
            self._end = _End(path, keys, line)

    def explain_end(self, path: str) -> Problem:
        """Explain that there is no record, and where the walk came closest to one."""
        above, keys, line = self._end
        reason, remedy = "The file holds no record.", "Export it again, or leave it out."
        if line:
            step = self.steps[len(above)].text
            place = f"under {quote_name('.'.join(above))}" if above else "at the top"
            reason = (
                f"Nothing matches the records {quote_name(self.records)}: {place}, no key that "
                f"matches {quote_name(step)} leads to one."
            )
            remedy = f"{ask_nearest(step, keys)}The keys there are {list_names(keys)}."
            remedy = remedy if keys else "No keys are there; the pattern has too many steps."
            if all(key.isdecimal() for key in keys) and keys:
                remedy += " They are positions in a list; the step * stands for all of them."
        return Problem(code="no_records", source=path, reason=reason, remedy=remedy, line=line)

    def explain_misses(self, path: str) -> Iterator[Problem]:
        """Warn that some lines or entries hold no record, if any do not."""
        if self._misses:
            yield Problem(
                severity="warning",
                code="no_records",
                source=path,
                reason=f"Nothing matches the records {quote_name(self.records)} here, nor in "
                f"{len(self._misses) - 1} others of the lines or entries.",
                remedy="If runs are missing, change `reading: {records: …}`.",
                line=self._misses[0],
            )


def _list_children(value: Any, line: int) -> Iterator[tuple[str, Any, int]]:
    if not isinstance(value, dict | list):
        return
    lines = getattr(value, "lines", None) or [line] * len(value)
    for (key, child), place in zip(list_items(value), lines, strict=True):
        yield str(key), child, place


@lru_cache(maxsize=100)
def _split_steps(records: str) -> tuple[Pattern, ...]:
    """Split a pattern at the points outside braces."""
    steps, depth = [""], 0
    for letter in records:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "." and depth <= 0:
            steps.append("")
        else:
            steps[-1] += letter
    return tuple(map(Pattern, steps))


@lru_cache(maxsize=10_000)
def _match_key(step: Pattern, key: str) -> dict[str, str] | None:
    """Read the fields of a key, if it matches."""
    try:
        return step.match(key)
    except ConfigError as error:
        reason = f"The key {quote_name(key)} can be read in several ways: {error}"
        raise FaultError("ambiguous_key", reason, "Change `reading: {records: …}`.") from error
