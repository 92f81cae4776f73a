"""Submissions to a leaderboard: a folder each, with a table of results and a description."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from capmap.artifacts import unpack_columns
from capmap.exports.cells import Mapped, check_columns, list_columns
from capmap.exports.reading import Exports, describe_file, read_exports
from capmap.exports.records import read_document
from capmap.exports.sheets import open_sheet
from capmap.problems import Problem, UnreadableExportError
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
# What the reader says of any table, and what is said of a submission instead.
SHARPENED: dict[str, dict[str, Any]] = {
    "empty_score": {
        "severity": "error",
        "reason": "The score is empty.",
        "remedy": "Fill it in, or remove all rows of the dataset if it was not evaluated.",
    },
    "overruled_metric": {
        "severity": "error",
        "reason": "This is not the metric of the dataset.",
        "remedy": "Evaluate it with the metric of the benchmark, or correct the cell.",
    },
}
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _escape(text: str) -> str:
    """Trim a text, and write control characters but breaks, and half characters, as escapes."""
    return UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text.strip())


Text = Annotated[str, Field(max_length=10_000), AfterValidator(_escape)]


class NewModel(BaseModel):
    """A model that a submission describes."""

    key: Text = Field(alias="unique_backbone_key")
    name: Text = Field(alias="model_display_name")
    size: Text = Field(alias="model_size")


class Information(BaseModel):
    """What a submission says of itself."""

    paper: Text = Field(alias="Paper Link")
    code: Text = Field(alias="Code Repository Link")
    license: Text = Field(alias="License")
    hpo_trials: Text = Field(alias="Number of HPO trials")
    information: Text = Field(alias="Additional information about submission")
    comments: Text = Field(alias="Comments on new models in submission")
    models: list[NewModel] = Field(alias="New model info")


KEYS = [str(field.alias) for field in Information.model_fields.values()]
NO_SUBMISSIONS = Problem(
    code="no_submissions",
    reason="There is no submission.",
    remedy=f"Add a folder with the files {RESULTS} and {INFORMATION}.",
)


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
    model = [name for name in list_columns(columns or {}, "model") if name]
    model = [BACKBONE, METHOD, NAME] if model in ([], ["model"]) else model
    read = read_exports(
        [*fields],
        fields=[*fields.values()],
        columns={"model": model, **ROLES, "keep": [*KEPT]},
        decimal=decimal,
        dataset_metrics=metrics or {},
    )
    problems += [replace(own, **SHARPENED.get(own.code, {})) for own in read.problems]
    runs = unpack_columns(read.runs).rename(columns=KEPT)
    files_read = [*read.files, *(file for path in others for file in describe_file(path, 0))]
    return replace(read, runs=runs, problems=problems, files=files_read), listed


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
    nothing = {**dict.fromkeys(Information.model_fields, ""), "models": []}
    if path is None:
        return nothing, []
    try:
        said = Information.model_validate(_trim_keys(read_document(path))).model_dump()
    except UnreadableExportError as error:
        return nothing, error.problems
    except ValidationError as error:
        faults = [(fault["loc"], fault["msg"].partition(" or inst")[0]) for fault in error.errors()]
        return nothing, [_explain(path, place, f"{reason}.") for place, reason in faults]
    models, problems = {}, []
    for number, own in enumerate(said["models"]):
        if all(own.values()):
            models[own["key"]] = own
        elif any(own.values()):
            reason = "A text is empty, while others of the same model are not."
            problems.append(_explain(path, (KEYS[-1], number), reason))
    return {**said, "models": [*models.values()]}, problems


def _trim_keys(value: Any) -> Any:
    """Trim the keys of the objects of a document."""
    if isinstance(value, dict):
        return {key.strip(): _trim_keys(entry) for key, entry in value.items()}
    return [*map(_trim_keys, value)] if isinstance(value, list) else value


def _explain(path: str, place: Sequence[str | int], reason: str) -> Problem:
    """Tell a fault at a place such as ``New model info[1].model_size``."""
    parts = (f"[{part + 1}]" if isinstance(part, int) else f".{part}" for part in place)
    column, remedy = "".join(parts).removeprefix("."), f"Write one object with {list_names(KEYS)}."
    code = "wrong_information"
    return Problem(code=code, source=path, column=column, reason=reason, remedy=remedy)


def _find_absent(path: str, *, strict: bool) -> tuple[dict[str, str] | None, list[Problem]]:
    """Say what stands for the columns that a table lacks; None if it cannot be read without."""
    try:
        present = open_sheet(path, wanted=REQUIRED).columns
    except UnreadableExportError as error:
        return None, error.problems
    spared = frozenset[str]() if strict else SPARED.difference(present)
    wishes = [("a submission needs it", name) for name in REQUIRED if name not in spared]
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
