"""What a submission says about itself: ``additional_info.json``."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jsonschema import Draft202012Validator

from capmap.exports.files import read_bounded, read_text, refuse
from capmap.problems import Problem, UnreadableExportError, shorten
from capmap.wording import list_names

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
REMEDY = f"Write one JSON object with the keys {list_names([*TEXTS, NEW_MODELS])}."
TEXT = {"type": "string", "maxLength": LONGEST_TEXT}
SCHEMA = {
    "type": "object",
    "required": [*TEXTS, NEW_MODELS],
    "properties": {
        **dict.fromkeys(TEXTS, TEXT),
        TRIALS: {"type": ["string", "integer"]},
        NEW_MODELS: {
            "type": "array",
            "items": {
                "type": "object",
                "required": [*MODEL_KEYS],
                "properties": dict.fromkeys(MODEL_KEYS, TEXT),
            },
        },
    },
}


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
        The file, of 1 MiB at most.

    Returns
    -------
    information : Information
        What could be read; nothing where the file has a fault.
    problems : list of Problem
        Everything that is wrong, with the key as column.

    Notes
    -----
    Keys are compared without white space around them, as real files write
    ``"Code Repository Link "``. Further keys are tolerated. The number of trials may be a number.
    A new model without any text is a placeholder and left out; otherwise all three texts are
    needed. Control characters are written as escapes.
    """
    try:
        read_bounded(path, limit=LARGEST, remedy="Shorten the texts.")
        document = _parse(path)
    except UnreadableExportError as error:
        return Information(), list(error.problems)
    errors = sorted(Draft202012Validator(SCHEMA).iter_errors(document), key=lambda one: one.path)
    if errors:
        return Information(), [
            _explain(path, _write_place(error.absolute_path), f"{error.message}.")
            for error in errors
        ]
    texts = {name: _escape(str(document[key]).strip()) for key, name in TEXTS.items()}
    models, problems = _list_models(path, document[NEW_MODELS])
    return Information(texts, models), problems


def _parse(path: str) -> Any:
    try:
        return json.loads(read_text(path), object_pairs_hook=_pair, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 0)
        reason = f"The file cannot be read ({shorten(str(error))})."
        raise refuse("invalid_json", path, reason, REMEDY, line=line) from error


def _pair(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key.strip() in found:
            raise ValueError(f"the key {make_printable(key.strip())!r} stands twice")
        found[key.strip()] = value
    return found


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _write_place(path: Sequence[str | int]) -> str:
    """Write where a value is, such as ``New model info[1].model_size``."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _explain(path: str, place: str, reason: str, remedy: str = REMEDY) -> Problem:
    return Problem(
        code="wrong_information",
        source=path,
        column=make_printable(place)[:80],
        reason=make_printable(shorten(reason)),
        remedy=remedy,
    )


def _list_models(path: str, entries: list[dict[str, Any]]) -> tuple[list[NewModel], list[Problem]]:
    """List the described models by their key, and what is wrong with them."""
    models: dict[str, NewModel] = {}
    problems = []
    for number, entry in enumerate(entries, start=1):
        own = {name: make_printable(entry[key].strip()) for key, name in MODEL_KEYS.items()}
        place = f"{NEW_MODELS}[{number}]"
        if any(own.values()) and not all(own.values()):
            reason = "A text is empty, while others of the same model are not."
            problems.append(_explain(path, place, reason, "Fill in all three, or none of them."))
        elif own["key"] in models:
            reason = f"The model {own['key']!r} is described twice."
            problems.append(_explain(path, place, reason, "Keep one of the descriptions."))
        elif own["key"]:
            models[own["key"]] = NewModel(**own)
    return [models[key] for key in sorted(models)], problems


def make_printable(text: str) -> str:
    r"""Write control characters and half characters as escapes.

    Examples
    --------
    >>> make_printable("a\nb\ud800")
    'a\\nb\\ud800'
    """
    return BREAKS.sub(lambda found: repr(found[0])[1:-1], _escape(text))


def _escape(text: str) -> str:
    """Write control characters but line breaks, and half characters, as escapes."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)
