"""What a submission says about itself: ``additional_info.json``."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from capmap.exports.files import Pairs, read_bounded, read_document, read_text, refuse
from capmap.problems import Problem, UnreadableExportError, ask_nearest
from capmap.wording import list_names, quote_name

INFORMATION = "additional_info.json"
LARGEST = 1 << 20
LONGEST_TEXT = 10_000
NEW_MODELS = "New model info"
TRIALS = "Number of HPO trials"
TEXTS = {
    "Paper Link": "paper",
    "Code Repository Link": "code",
    "License": "license",
    TRIALS: "hpo_trials",
    "Additional information about submission": "information",
    "Comments on new models in submission": "comments",
}
MODEL_KEYS = {"unique_backbone_key": "key", "model_display_name": "name", "model_size": "size"}
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
BREAKS = re.compile(r"[\t\r\n\u2028\u2029]")
JSON_FAULTS = frozenset({"invalid_json", "deep_json", "truncated_json", "binary_file"})
REMEDY = f"Write one JSON object with the keys {list_names([*TEXTS, NEW_MODELS])}."


@dataclass(frozen=True)
class NewModel:
    """A model that a submission describes: the key of its backbone, its name and its size."""

    key: str
    name: str
    size: str


@dataclass(frozen=True)
class Information:
    """What a submission says about itself.

    Parameters
    ----------
    texts : mapping of str to str
        paper, code, license, hpo_trials, information and comments, trimmed.
    models : list of NewModel
        The models that it describes, by their key.
    """

    texts: Mapping[str, str] = field(default_factory=lambda: dict.fromkeys(TEXTS.values(), ""))
    models: list[NewModel] = field(default_factory=list)


def read_information(path: str) -> tuple[Information, list[Problem]]:
    """Read ``additional_info.json``, whatever is wrong with it.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    information : Information
        What could be read; what could not is empty.
    problems : list of Problem
        Everything that is wrong, with the key as column and, where it is known, the line.

    Notes
    -----
    Keys are compared without white space around them, as real files write
    ``"Code Repository Link "``. Further keys are tolerated. The number of trials may be a number.
    A new model without any text is a placeholder and left out; otherwise all three texts are
    needed. Files beyond 1 MiB and texts beyond 10 000 characters are refused, and so are control
    characters (line breaks are allowed outside the texts of models), lone surrogates, NaN, and keys
    that stand twice.
    """
    try:
        read_bounded(path, limit=LARGEST)
        return _Reader(path).read()
    except UnreadableExportError as error:
        return Information(), [_explain_json_fault(problem) for problem in error.problems]


def _explain_json_fault(problem: Problem) -> Problem:
    """Add to a fault of JSON what this file should hold."""
    if problem.code == "too_large":
        reason = f"The file has more than {LARGEST} bytes once unpacked."
        return replace(problem, reason=reason, remedy="Shorten the texts.")
    return replace(problem, remedy=REMEDY) if problem.code in JSON_FAULTS else problem


class _Reader:
    """One file, and what was found wrong with it so far."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problems: list[Problem] = []

    def read(self) -> tuple[Information, list[Problem]]:
        document = read_document(self.path)
        self.lines = _find_lines(read_text(self.path))
        if not isinstance(document, Pairs):
            raise refuse("not_an_object", self.path, "The JSON is no object.", REMEDY, line=1)
        self._check_numbers(document)
        given = self._read_object(document, [*TEXTS, NEW_MODELS], "")
        texts = {name: self._read_text(given, key) for key, name in TEXTS.items()}
        return Information(texts, self._read_models(given.get(NEW_MODELS))), self.problems

    def _add_problem(
        self, code: str, key: str, reason: str, remedy: str, value: object = ""
    ) -> None:
        line = self.lines.get(key.partition("[")[0].strip(), 0)
        shown = value if isinstance(value, str) else _show(value)
        self.problems.append(
            Problem(
                code=code,
                source=self.path,
                line=line,
                column=make_printable(key)[:80],
                value=make_printable(shown)[:80],
                reason=reason,
                remedy=remedy,
            )
        )

    def _check_numbers(self, document: Pairs) -> None:
        """Find numbers that JSON does not have, at any depth."""
        for key, value in _walk(document):
            if isinstance(value, float) and not math.isfinite(value):
                self._add_problem(
                    "no_json_number",
                    key,
                    "NaN and infinite numbers are not JSON.",
                    "Write a text or a finite number.",
                    value,
                )

    def _read_object(self, pairs: Pairs, wanted: list[str], place: str) -> dict[str, Any]:
        """Make an object a mapping, and find keys that stand twice or are missing."""
        keys = [key.strip() for key, _ in pairs]
        for key, count in Counter(keys).items():
            if count > 1:
                self._add_problem(
                    "repeated_key",
                    place + key,
                    f"The key stands {count} times.",
                    "Keep one of them.",
                )
        for key in wanted:
            if key not in keys:
                hint = ask_nearest(key, [other for other in keys if other not in wanted])
                self._add_problem(
                    "missing_key",
                    place + key,
                    f"There is no key {quote_name(key)}.",
                    f"{hint}Add it; its text may be empty." if not place else f"{hint}Add it.",
                )
        return dict(zip(keys, (value for _, value in pairs), strict=True))

    def _read_text(self, given: Mapping[str, Any], key: str, place: str = "") -> str:
        value = given.get(key, "")
        if isinstance(value, float) and not math.isfinite(value):
            return ""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and key == TRIALS:
            value = str(value)
        if not isinstance(value, str):
            kind = "text or a number" if key == TRIALS else "text"
            self._add_problem(
                "wrong_type",
                place + key,
                f"Expected {kind}, found {_name_type(value)}.",
                "Write it in quotes.",
                value,
            )
            return ""
        if UNPRINTABLE.search(value) or (place and BREAKS.search(value.strip())):
            self._add_problem(
                "control_character",
                place + key,
                "The text has a control character or half a character.",
                "Remove it; the name of a model stands on one line.",
                value,
            )
            return ""
        if len(value) > LONGEST_TEXT:
            self._add_problem(
                "long_text",
                place + key,
                f"The text has {len(value)} characters.",
                f"Shorten it to {LONGEST_TEXT}.",
                value,
            )
            return ""
        return value.strip()

    def _read_models(self, entries: object) -> list[NewModel]:
        if entries is None:
            return []
        if not isinstance(entries, list) or isinstance(entries, Pairs):
            self._add_problem(
                "wrong_type",
                NEW_MODELS,
                f"Expected a list of objects, found {_name_type(entries)}.",
                f"Write a list of objects with the keys {list_names([*MODEL_KEYS])}.",
                entries,
            )
            return []
        models = {}
        for number, entry in enumerate(entries, start=1):
            model = self._read_model(entry, f"{NEW_MODELS}[{number}].")
            if model and model.key in models:
                self._add_problem(
                    "repeated_model",
                    f"{NEW_MODELS}[{number}].unique_backbone_key",
                    "The model is described twice.",
                    "Keep one of the descriptions.",
                    model.key,
                )
            elif model:
                models[model.key] = model
        return [models[key] for key in sorted(models)]

    def _read_model(self, entry: object, place: str) -> NewModel | None:
        """Read the description of a model; None for a placeholder and for what is at fault."""
        if not isinstance(entry, Pairs):
            self._add_problem(
                "wrong_type",
                place.rstrip("."),
                f"Expected an object, found {_name_type(entry)}.",
                f"Write an object with the keys {list_names([*MODEL_KEYS])}.",
                entry,
            )
            return None
        before = len(self.problems)
        given = self._read_object(entry, [*MODEL_KEYS], place)
        texts = {name: self._read_text(given, key, place) for key, name in MODEL_KEYS.items()}
        if len(self.problems) > before or not any(texts.values()):
            return None
        for key, name in MODEL_KEYS.items():
            if not texts[name]:
                self._add_problem(
                    "half_described",
                    place + key,
                    "The text is empty, while others of the same model are not.",
                    "Fill in all three texts of a new model, or leave all of them empty.",
                )
        return NewModel(**texts) if texts["key"] else None


def make_printable(text: str) -> str:
    r"""Write control characters and half characters as escapes.

    Examples
    --------
    >>> make_printable("a\nb\ud800")
    'a\\nb\\ud800'
    """
    escaped = BREAKS.sub(lambda found: repr(found[0])[1:-1], text)
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], escaped)


def _find_lines(text: str) -> dict[str, int]:
    """On which line each text in quotes stands first."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for found in re.findall(r'"([^"\\]*)"\s*:', line):
            lines.setdefault(found.strip(), number)
    return lines


def _walk(document: Pairs) -> Iterator[tuple[str, object]]:
    """Go through all values at any depth, each with the key of the outermost object."""
    todo: list[tuple[str, object]] = list(reversed(document))
    while todo:
        key, value = todo.pop()
        yield key, value
        if isinstance(value, Pairs):
            todo += [(key, child) for _, child in value]
        elif isinstance(value, list):
            todo += [(key, child) for child in value]


def _show(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | int | float) or value is None else ""


def _name_type(value: object) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Pairs):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "a number"
