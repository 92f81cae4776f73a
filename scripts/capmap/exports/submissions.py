"""Submissions to a leaderboard: a folder each, with a table of results and a description."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from capmap.artifacts import unpack_columns
from capmap.exports.cells import Mapped, Wish, check_columns, list_columns
from capmap.exports.reading import Exports, describe_file, read_exports
from capmap.exports.records import read_bounded, read_document
from capmap.exports.sheets import open_sheet
from capmap.problems import Problem, UnreadableExportError, shorten
from capmap.settings.choices import Decimal
from capmap.settings.files import leads_out
from capmap.wording import list_names

RESULTS, INFORMATION = "results_and_parameters.csv", "additional_info.json"
NAME, BACKBONE, METHOD = "submission", "backbone", "frozen_or_full_ft"
ROLES = {"dataset": "dataset", "metric": "Metric", "score": "test metric", "seed": "Seed"}
IDENTITY = frozenset({BACKBONE, METHOD, *ROLES.values()})
PARAMETERS = (
    *("experiment_name", "decoder", "n_trials", "batch_size", "lr", "weight_decay"),
    *("data_percentages", "early_stop_patience", "batch_size_selection", "partition name"),
)
REQUIRED = (BACKBONE, METHOD, *ROLES.values(), *PARAMETERS)
# What a file may lack, unless the board is strict, and the method of a file that does not say it.
SPARED = frozenset({METHOD, "decoder", "partition name", "data_percentages"})
ASSUMED = "full_ft"
# What is kept of a run, and the name of its column.
KEPT = {NAME: NAME, BACKBONE: BACKBONE, METHOD: "method", **{name: name for name in PARAMETERS}}
KEPT["partition name"] = "partition_name"
FILL_IN = "Fill in the score, or remove all rows of the dataset if it was not evaluated."
# What the reader says of any table, and what is said of a submission instead.
SHARPENED: dict[str, dict[str, Any]] = {
    "empty_score": {"severity": "error", "reason": "The score is empty.", "remedy": FILL_IN},
    "nan_score": {"remedy": FILL_IN},
    "infinite_score": {"remedy": FILL_IN},
    "not_a_number": {"remedy": FILL_IN},
    "overruled_metric": {
        "severity": "error",
        "reason": "This is not the metric of the dataset.",
        "remedy": "Evaluate it with the metric of the benchmark, or correct the cell.",
    },
}
LARGEST = 1 << 20

TRIALS, NEW_MODELS = "Number of HPO trials", "New model info"
TEXTS = {
    "Paper Link": "paper",
    "Code Repository Link": "code",
    "License": "license",
    TRIALS: "hpo_trials",
    "Additional information about submission": "information",
    "Comments on new models in submission": "comments",
}
MODEL_KEYS = {"unique_backbone_key": "key", "model_display_name": "name", "model_size": "size"}
REMEDY = f"Write one JSON object with the keys {list_names([*TEXTS, NEW_MODELS])}."
TEXT = {"type": "string", "maxLength": 10_000}
MODEL = {"type": "object", "required": [*MODEL_KEYS], "properties": dict.fromkeys(MODEL_KEYS, TEXT)}
SCHEMA = {
    "type": "object",
    "required": [*TEXTS, NEW_MODELS],
    "properties": {
        **dict.fromkeys(TEXTS, TEXT),
        TRIALS: {"type": ["string", "integer"]},
        NEW_MODELS: {"type": "array", "items": MODEL},
    },
}
NO_SUBMISSIONS = Problem(
    code="no_submissions",
    reason="There is no submission.",
    remedy=f"Add a folder with the files {RESULTS} and {INFORMATION}.",
)
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def read_submissions(
    folders: Sequence[str],
    *,
    files: Sequence[str],
    columns: Mapped | None = None,
    metrics: Mapping[str, str] | None = None,
    decimal: Decimal = "auto",
    strict: bool = False,
) -> tuple[Exports, list[dict[str, Any]]]:
    """Read the submissions of a study, whatever is wrong with them.

    `files` are those that were found in the folders; `columns` may say what makes up the name of a
    model, by default backbone, method and submission; `metrics` of datasets win over the files;
    `strict` asks for every column. Returns runs with the columns of `KEPT`, problems and files, and
    by name what each submission says of itself.
    """
    problems = [] if folders else [NO_SUBMISSIONS]
    found, listed = {str(Path(file)) for file in files}, []
    fields, others = dict[str, dict[str, str]](), list[str]()
    for folder in sorted({str(Path(path)) for path in folders}):
        name, (paths, faults) = Path(folder).name, _list_files(folder, found)
        described, doubts = read_information(paths.get(INFORMATION))
        problems += [*faults, *doubts]
        listed.append({"name": name, "folder": folder, **described})
        others += [path for file, path in paths.items() if file == INFORMATION]
        if path := paths.get(RESULTS):
            absent, faults = _find_absent(path, strict=strict)
            problems += faults
            if absent is None:
                others.append(path)
            else:
                fields[path] = {**absent, NAME: name}
    read = _read_runs(fields, columns or {}, metrics or {}, decimal)
    files_read = [*read.files, *(file for path in others for file in describe_file(path, 0))]
    return replace(read, problems=[*problems, *read.problems], files=files_read), listed


def _list_files(folder: str, found: set[str]) -> tuple[dict[str, str], list[Problem]]:
    """Find the two files of a submission; a link out of its folder is not read."""
    paths, problems = {}, []
    for name in (RESULTS, INFORMATION):
        path = Path(folder) / name
        if str(path) not in found:
            code, reason = "missing_file", f"The submission has no file {name}."
            remedy = "Add it, or move the folder elsewhere if it is no submission."
        elif leads_out(path, path.parent):
            code, reason = "foreign_file", "The file is a link out of the folder of its submission."
            remedy = "Put a copy of the file in its place; the link is not followed."
        else:
            paths[name] = str(path)
            continue
        problems.append(Problem(code=code, source=str(path), reason=reason, remedy=remedy))
    return paths, problems


def read_information(path: str | None) -> tuple[dict[str, Any], list[Problem]]:
    """Read what a submission says of itself: texts, and ``models`` with key, name and size.

    Keys are compared without white space around them, as real files write
    ``"Code Repository Link "``. A new model without any text is a placeholder. Control characters
    are written as escapes.
    """
    nothing = {**dict.fromkeys(TEXTS.values(), ""), "models": []}
    if path is None:
        return nothing, []
    try:
        read_bounded(path, limit=LARGEST, remedy="Shorten the texts.")
        document = _trim_keys(read_document(path))
    except UnreadableExportError as error:
        return nothing, error.problems
    errors = sorted(Draft202012Validator(SCHEMA).iter_errors(document), key=lambda one: one.path)
    problems = [
        _explain(path, _write_place(error.absolute_path), f"{shorten(error.message)}.")
        for error in errors
    ]
    if problems:
        return nothing, problems
    models = {}
    for number, entry in enumerate(document[NEW_MODELS], start=1):
        own = {name: _escape(entry[key]) for key, name in MODEL_KEYS.items()}
        if all(own.values()):
            models[own["key"]] = own
        elif any(own.values()):
            reason = "A text is empty, while others of the same model are not."
            problems.append(_explain(path, f"{NEW_MODELS}[{number}]", reason))
    texts = {name: _escape(str(document[key])) for key, name in TEXTS.items()}
    return {**texts, "models": [*models.values()]}, problems


def _trim_keys(value: Any) -> Any:
    """Trim the keys of the objects of a document."""
    if isinstance(value, dict):
        return {key.strip(): _trim_keys(entry) for key, entry in value.items()}
    return [*map(_trim_keys, value)] if isinstance(value, list) else value


def _write_place(path: Sequence[str | int]) -> str:
    """Write where a value is, such as ``New model info[1].model_size``."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def _explain(path: str, place: str, reason: str) -> Problem:
    code = "wrong_information"
    return Problem(code=code, source=path, column=place, reason=reason, remedy=REMEDY)


def _escape(text: str) -> str:
    """Trim a text, and write control characters but breaks, and half characters, as escapes."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.strip())


def _find_absent(path: str, *, strict: bool) -> tuple[dict[str, str] | None, list[Problem]]:
    """Say what stands for the columns that a table lacks; None if it cannot be read without."""
    try:
        present = open_sheet(path, wanted=REQUIRED).columns
    except UnreadableExportError as error:
        return None, error.problems
    spared = frozenset[str]() if strict else SPARED.difference(present)
    wishes = [Wish("a submission needs it", name) for name in REQUIRED if name not in spared]
    problems = check_columns(wishes, present, path)
    if any(fault.code != "missing_column" or fault.column in IDENTITY for fault in problems):
        return None, problems
    absent = {name: ASSUMED if name == METHOD else "" for name in REQUIRED if name not in present}
    if METHOD in absent:
        problems.append(
            Problem(
                severity="warning",
                code="assumed_method",
                source=path,
                column=METHOD,
                reason=f"The file has no column {METHOD}; its rows count as {ASSUMED}.",
                remedy="Add the column, with frozen or full_ft.",
            )
        )
    return absent, problems


def _read_runs(
    fields: Mapping[str, Mapping[str, str]],
    columns: Mapped,
    metrics: Mapping[str, str],
    decimal: Decimal,
) -> Exports:
    """Read the tables of results, with the fields of each."""
    model = [name for name in list_columns(columns, "model") if name]
    default = [BACKBONE, METHOD, NAME]
    roles = {"model": default if model in ([], ["model"]) else model, **ROLES, "keep": [*KEPT]}
    read = read_exports(
        [*fields],
        fields=[*fields.values()],
        columns=roles,
        decimal=decimal,
        dataset_metrics=metrics,
    )
    problems = [
        replace(problem, **SHARPENED.get(problem.code, {}))
        for problem in read.problems
        if problem.code != "confused_name"
    ]
    runs = unpack_columns(read.runs).rename(columns=KEPT)
    return replace(read, runs=runs, problems=problems)
