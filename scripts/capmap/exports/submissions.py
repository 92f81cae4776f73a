"""Submissions to a leaderboard: a folder each, with a table of results and a description."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from jsonschema import Draft202012Validator

from capmap.artifacts import digest_file
from capmap.exports.cells import Mapped, Wish, check_columns, list_columns, trim
from capmap.exports.files import read_bounded
from capmap.exports.reading import ExportFile, Exports, read_exports
from capmap.exports.records import read_document
from capmap.exports.sheets import open_sheet
from capmap.packing import unpack_columns
from capmap.problems import Problem, Severity, UnreadableExportError, ask_nearest, shorten
from capmap.settings.choices import Decimal
from capmap.settings.files import leads_out
from capmap.wording import list_names

RESULTS, INFORMATION = "results_and_parameters.csv", "additional_info.json"
NAME, BACKBONE, METHOD, DATASET = "submission", "backbone", "frozen_or_full_ft", "dataset"
METRIC, SCORE, SEED = "Metric", "test metric", "Seed"
IDENTITY = (BACKBONE, METHOD, DATASET, METRIC, SCORE, SEED)
PARAMETERS = (
    *("experiment_name", "decoder", "n_trials", "batch_size", "lr", "weight_decay"),
    *("data_percentages", "early_stop_patience", "batch_size_selection", "partition name"),
)
REQUIRED = (*IDENTITY, *PARAMETERS)
# What a file may lack, unless the board is strict, and the method of a file that does not say it.
SPARED = frozenset({METHOD, "decoder", "partition name", "data_percentages"})
ASSUMED = "full_ft"
# What is kept of a run, and the name of its column.
KEPT = {NAME: NAME, BACKBONE: BACKBONE, METHOD: "method", **{name: name for name in PARAMETERS}}
KEPT["partition name"] = "partition_name"
# What the reader of tables says, and `check_rows` says better of a submission.
REPORTED = frozenset(
    {
        *("empty_model", "empty_dataset", "empty_metric", "empty_seed", "overruled_metric"),
        *("confused_name", "no_metric"),
    }
)
FILL_IN = "Fill in the score, or remove all rows of the dataset if it was not evaluated."
LARGEST = {RESULTS: 1 << 27, INFORMATION: 1 << 20}

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
KNOWN = [*TEXTS, "Number of repeated seeds trials", NEW_MODELS]
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
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Submissions(NamedTuple):
    """Submissions that were read.

    Parameters
    ----------
    exports : Exports
        Runs with the columns of `KEPT`, problems and files.
    rows : pandas.DataFrame
        All rows: the columns of `REQUIRED` as trimmed text, missing where the file lacks one, then
        ``submission``, ``source`` and ``line``.
    listed : list of dict
        By name: what each submission says of itself, and its ``models``, by key.
    """

    exports: Exports
    rows: pd.DataFrame
    listed: list[dict[str, Any]]


def read_submissions(
    folders: Sequence[str],
    *,
    files: Sequence[str],
    columns: Mapped | None = None,
    metrics: Mapping[str, str] | None = None,
    decimal: Decimal = "auto",
    strict: bool = False,
) -> Submissions:
    """Read the submissions of a study, whatever is wrong with them.

    Parameters
    ----------
    folders : sequence of str
        A folder per submission, which is called after it.
    files : sequence of str
        The files that were found in them; others of a folder are missing.
    columns : mapping, optional
        Only "model" matters: the columns that make up the name of a model, joined with " / ", by
        default ``backbone``, ``frozen_or_full_ft`` and ``submission``.
    metrics : mapping of str to str, optional
        The metric of datasets, which wins over what the files say.
    decimal : {"auto", ".", ","}, optional
        Decimal mark of numbers.
    strict : bool, optional
        Whether every column must be there, and no other key in a description.

    Returns
    -------
    Submissions
        What was read.
    """
    distinct = list(dict.fromkeys(str(Path(folder)) for folder in folders))
    problems, readable = _check_folders(distinct)
    found, listed = {str(Path(file)) for file in files}, []
    tables, fields, others = [_make_empty()], {}, []
    for folder in sorted(readable, key=lambda folder: Path(folder).name):
        name, (paths, faults) = Path(folder).name, _list_files(folder, found)
        described, doubts = read_information(paths.get(INFORMATION), strict=strict)
        problems += [*faults, *doubts]
        listed.append({"name": name, "folder": folder, **described})
        others += [path for file, path in paths.items() if file == INFORMATION]
        if path := paths.get(RESULTS):
            try:
                rows, absent, faults = _read_rows(path, strict=strict)
            except UnreadableExportError as error:
                problems += error.problems
                others.append(path)
            else:
                problems += faults
                fields[path] = {**absent, NAME: name}
                tables.append(rows.assign(**{NAME: name, "source": path}))
    rows = pd.concat(tables, ignore_index=True)
    read = _read_runs(rows, fields, columns or {}, metrics or {}, decimal)
    files_read = [*read.files, *map(_describe_file, others)]
    exports = replace(read, problems=[*problems, *read.problems], files=files_read)
    return Submissions(exports, rows, listed)


def _describe_file(path: str) -> ExportFile:
    size = Path(path).stat().st_size
    return {"path": path, "sha256": digest_file(path), "bytes": size, "rows": 0}


def _check_folders(folders: Sequence[str]) -> tuple[list[Problem], list[str]]:
    """Find folders that cannot be told apart, and return the others."""
    if not folders:
        remedy = f"Add a folder with the files {RESULTS} and {INFORMATION}."
        reason = "There is no submission."
        return [Problem(code="no_submissions", reason=reason, remedy=remedy)], []
    names = [Path(folder).name for folder in folders]
    bad = [
        folder
        for folder, name in zip(folders, names, strict=True)
        if names.count(name) > 1 or not name.isprintable()
    ]
    problems = [
        Problem(
            code="bad_folder",
            source=repr(folder)[1:-1],
            reason="The name of the folder has characters that cannot be shown, or is that of "
            "another submission.",
            remedy="Rename the folder; its name is that of the submission.",
        )
        for folder in bad
    ]
    return problems, [folder for folder in folders if folder not in bad]


def _list_files(folder: str, found: set[str]) -> tuple[dict[str, str], list[Problem]]:
    """Find the two files of a submission; a link out of its folder is not read."""
    paths, problems = {}, []
    for name in (RESULTS, INFORMATION):
        path = Path(folder) / name
        reason = f"The submission has no file {name}."
        if str(path) in found:
            reason = "The file is a link out of the folder of its submission, and not followed."
            if not leads_out(path, path.parent):
                paths[name] = str(path)
                continue
        remedy = "Add the file, or move the folder elsewhere if it is no submission."
        problems.append(
            Problem(code="missing_file", source=str(path), reason=reason, remedy=remedy)
        )
    return paths, problems


def read_information(path: str | None, *, strict: bool) -> tuple[dict[str, Any], list[Problem]]:
    """Read what a submission says of itself, whatever is wrong with it.

    Parameters
    ----------
    path : str or None
        ``additional_info.json``, of 1 MiB at most; None where there is none.
    strict : bool
        Whether unknown keys are errors.

    Returns
    -------
    described : dict
        paper, code, license, hpo_trials, information and comments as text, and ``models``: a dict
        with key, name and size of each new one.
    problems : list of Problem
        Everything that is wrong, with the key as column.

    Notes
    -----
    Keys are compared without white space around them, as real files write
    ``"Code Repository Link "``. A new model without any text is a placeholder. Control characters
    are written as escapes.
    """
    nothing = {**dict.fromkeys(TEXTS.values(), ""), "models": []}
    if path is None:
        return nothing, []
    try:
        read_bounded(path, limit=LARGEST[INFORMATION], remedy="Shorten the texts.")
        document = _trim_keys(read_document(path))
    except UnreadableExportError as error:
        return nothing, error.problems
    errors = sorted(Draft202012Validator(SCHEMA).iter_errors(document), key=lambda one: one.path)
    if errors:
        return nothing, [
            _explain(path, _write_place(error.absolute_path), f"{shorten(error.message)}.")
            for error in errors
        ]
    problems = _find_unknown_keys(path, document, KNOWN, "", strict=strict)
    models: dict[str, dict[str, str]] = {}
    for number, entry in enumerate(document[NEW_MODELS], start=1):
        place = f"{NEW_MODELS}[{number}]"
        problems += _find_unknown_keys(path, entry, [*MODEL_KEYS], f"{place}.", strict=strict)
        own = {name: _escape(entry[key]) for key, name in MODEL_KEYS.items()}
        if any(own.values()) and (own["key"] in models or not all(own.values())):
            reason = "A text of the model is empty, or the model is described twice."
            problems.append(
                _explain(path, place, reason, "Fill in all three, for each model once.")
            )
        elif own["key"]:
            models[own["key"]] = own
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


def _explain(
    path: str, place: str, reason: str, remedy: str = REMEDY, severity: Severity = "error"
) -> Problem:
    code = "wrong_information"
    return Problem(
        severity=severity, code=code, source=path, column=place, reason=reason, remedy=remedy
    )


def _find_unknown_keys(
    path: str, entry: Mapping[str, Any], known: Sequence[str], place: str, *, strict: bool
) -> list[Problem]:
    return [
        _explain(
            path,
            place + shorten(_escape(key)),
            "The key is unknown, and what it says is not read.",
            f"{ask_nearest(key, known)}The keys are {list_names(known)}.",
            "error" if strict else "warning",
        )
        for key in entry
        if key not in known
    ]


def _escape(text: str) -> str:
    """Trim a text, and write control characters but breaks, and half characters, as escapes."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.strip())


def _make_empty() -> pd.DataFrame:
    return pd.DataFrame(columns=[*REQUIRED, NAME, "source", "line"], dtype="object")


def _read_rows(path: str, *, strict: bool) -> tuple[pd.DataFrame, dict[str, str], list[Problem]]:
    """Read the needed columns of all rows as text, and say what stands for those that it lacks.

    Raises
    ------
    UnreadableExportError
        When the file cannot be opened, is larger than 128 MiB, has a needed column twice, or lacks
        one of backbone, dataset, Metric, test metric and Seed.
    """
    read_bounded(path, limit=LARGEST[RESULTS], remedy="Keep the rows of this submission only.")
    sheet = open_sheet(path, wanted=REQUIRED)
    spared = frozenset[str]() if strict else SPARED - {*sheet.columns}
    wishes = [Wish("a submission needs it", name) for name in REQUIRED if name not in spared]
    problems = check_columns(wishes, sheet.columns, path)
    if any(fault.code != "missing_column" or fault.column in IDENTITY for fault in problems):
        raise UnreadableExportError(*problems)
    cells = sheet.read_cells([column for column in REQUIRED if column in sheet.columns])
    texts = {column: trim(cells.columns[column]).to_pylist() for column in cells.columns}
    absent = {column: "" for column in REQUIRED if column not in sheet.columns}
    if METHOD in absent:
        absent[METHOD] = ASSUMED
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
    said = {column: text or None for column, text in absent.items()}
    return pd.DataFrame(texts, dtype="object").assign(**said, line=cells.lines), absent, problems


def _read_runs(
    rows: pd.DataFrame,
    fields: Mapping[str, Mapping[str, str]],
    columns: Mapped,
    metrics: Mapping[str, str],
    decimal: Decimal,
) -> Exports:
    """Read the scores of the tables of results, and give each run what its row says."""
    model = [name for name in list_columns(columns, "model") if name]
    parts = (BACKBONE, METHOD, NAME)
    read = read_exports(
        [*fields],
        fields=[*fields.values()],
        columns={
            "model": parts if model in ([], ["model"]) else model,
            **{"dataset": DATASET, "metric": METRIC, "score": SCORE, "seed": SEED},
        },
        decimal=decimal,
        dataset_metrics=metrics,
    )
    place = ["source", "line"]
    kept = rows[[*place, *KEPT]].fillna("").astype("str").astype({"line": "int64"})
    runs = unpack_columns(read.runs).merge(kept, on=place, how="left")
    problems = [_sharpen(problem) for problem in read.problems if problem.code not in REPORTED]
    return replace(read, runs=runs.rename(columns=KEPT), problems=problems, readings=[])


def _sharpen(problem: Problem) -> Problem:
    """Make an error of an empty score, and never advise to leave one empty."""
    if problem.code == "empty_score":
        return replace(problem, severity="error", reason="The score is empty.", remedy=FILL_IN)
    if problem.code in {"nan_score", "infinite_score", "not_a_number"}:
        return replace(problem, remedy=FILL_IN)
    return problem
