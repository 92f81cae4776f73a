"""Submissions to a leaderboard: a folder each, with a table of results and a description."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
from jsonschema import Draft202012Validator

from capmap.artifacts import digest_file
from capmap.benchmarks import Benchmark
from capmap.exports.cells import Mapped, list_columns
from capmap.exports.files import read_bounded, read_text, refuse
from capmap.exports.layouts import read_table
from capmap.exports.reading import ExportFile, Exports, join_runs
from capmap.exports.runs import Metrics, Part
from capmap.exports.submission_results import (
    BACKBONE,
    DATASET,
    KEPT,
    METHOD,
    METRIC,
    NAME,
    REQUIRED,
    RESULTS,
    SCORE,
    SEED,
    Demands,
    Rows,
    check_rows,
    open_submission,
)
from capmap.packing import unpack_columns
from capmap.problems import Problem, UnreadableExportError, shorten
from capmap.settings.files import leads_out
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


FILL_IN = "Fill in the score, or remove all rows of the dataset if it was not evaluated."
MODEL = (BACKBONE, METHOD, NAME)
# What the reader of long tables says, and `check_rows` says better of a submission.
REPORTED = frozenset(
    {
        *("empty_model", "empty_dataset", "empty_metric", "empty_seed", "overruled_metric"),
        *("confused_name", "no_metric"),
    }
)


class Model(TypedDict):
    """A model of a submission: the key of its backbone, its name and its size."""

    key: str
    name: str
    size: str


class Submission(TypedDict):
    """A submission as it stands in ``submissions.json``."""

    name: str
    folder: str
    paper: str
    code: str
    license: str
    hpo_trials: str
    information: str
    comments: str
    models: list[Model]
    runs: int
    sha256: dict[str, str]


@dataclass(frozen=True)
class _Read:
    """One submission: its runs, what it says about itself, and its files."""

    part: Part | None
    problems: list[Problem]
    submission: Submission
    files: list[ExportFile]


def read_submissions(
    folders: Sequence[str],
    *,
    files: Sequence[str],
    columns: Mapped | None = None,
    demands: Demands | None = None,
) -> tuple[Exports, list[Submission]]:
    """Read the submissions of a study, whatever is wrong with them.

    Parameters
    ----------
    folders : sequence of str
        A folder per submission. The name of a submission is that of its folder.
    files : sequence of str
        The files that were found in them; others of a folder are missing.
    columns : mapping, optional
        Only "model" matters: the columns that make up the name of a model, joined with " / ", by
        default ``backbone``, ``frozen_or_full_ft`` and ``submission``.
    demands : Demands, optional
        What submissions are held against.

    Returns
    -------
    exports : Exports
        Runs with the kept columns submission, backbone, method, experiment_name, decoder, n_trials,
        batch_size, lr, weight_decay, data_percentages, early_stop_patience, batch_size_selection
        and partition_name (text); problems; files. Rows of datasets that the benchmark does not
        have, and all but the first row of a seed, are not among the runs.
    submissions : list of Submission
        By name. A model is named as the benchmark has it, else as the submission describes it, else
        by its key.

    Notes
    -----
    Rows are read as in `read_exports`; nothing in a file is ever executed. Cells are trimmed.
    """
    demands = demands or Demands()
    mapped = _map_columns(columns or {})
    problems, readable = _check_folders(folders)
    found = {Path(file) for file in files}
    reads = [_read(folder, found, mapped, demands) for folder in sorted(readable)]
    parts = [read.part for read in reads if read.part]
    exports = Exports(
        runs=unpack_columns(
            join_runs([part.runs for part in parts], list_columns(mapped, "keep"))
        ).rename(columns=KEPT),
        problems=[
            *problems,
            *(problem for read in reads for problem in read.problems),
        ],
        files=[file for read in reads for file in read.files],
        rows=sum(part.rows for part in parts),
        rows_filtered=0,
        rows_empty_score=sum(part.rows_empty_score for part in parts),
        percent_signs=sum(part.percent_signs for part in parts),
        decimal_commas=sum(part.decimal_commas for part in parts),
    )
    submissions = [read.submission for read in reads]
    return exports, sorted(submissions, key=lambda submission: submission["name"])


def _map_columns(columns: Mapped) -> dict[str, str | Sequence[str]]:
    model = [name for name in list_columns(columns, "model") if name]
    return {
        "model": list(MODEL) if model in ([], ["model"]) else model,
        "dataset": DATASET,
        "metric": METRIC,
        "score": SCORE,
        "seed": SEED,
        "keep": list(KEPT),
    }


def _check_folders(folders: Sequence[str]) -> tuple[list[Problem], list[str]]:
    """Find folders that cannot be told apart or whose names are no text; return the others."""
    distinct = list(dict.fromkeys(str(Path(folder)) for folder in folders))
    if not distinct:
        reason = "There is no submission."
        remedy = f"Add a folder with the files {RESULTS} and {INFORMATION}."
        return [Problem(code="no_submissions", reason=reason, remedy=remedy)], []
    counts = Counter(Path(folder).name for folder in distinct)
    problems, readable = [], []
    for folder in distinct:
        name = Path(folder).name
        if not name.isprintable():
            reason = "The name of the folder has characters that cannot be shown."
        elif counts[name] > 1:
            reason = f"{counts[name]} submissions have a folder of this name."
        else:
            readable.append(folder)
            continue
        problems.append(
            Problem(
                code="bad_folder",
                source=make_printable(folder),
                reason=reason,
                remedy="Rename the folder; its name is that of the submission.",
            )
        )
    return problems, readable


def _read(
    folder: str, found: set[Path], columns: Mapping[str, str | Sequence[str]], demands: Demands
) -> _Read:
    paths = {name: Path(folder) / name for name in (RESULTS, INFORMATION)}
    problems = _list_missing(folder, [name for name, path in paths.items() if path not in found])
    foreign = {path for path in found & {*paths.values()} if leads_out(path, path.parent)}
    found = found - foreign
    problems += [_explain_link(path) for path in sorted(foreign)]
    information, part, rows = Information(), None, 0
    backbones: list[str] = []
    if paths[INFORMATION] in found:
        information, faults = read_information(str(paths[INFORMATION]))
        problems += faults
    if paths[RESULTS] in found:
        try:
            part, backbones, faults = _read_results(
                str(paths[RESULTS]), Path(folder).name, columns, demands, information
            )
        except UnreadableExportError as error:
            faults = error.problems
        problems += faults
        rows = part.rows if part else 0
    counts = {RESULTS: rows, INFORMATION: 0}
    files = [_describe(path, counts[name]) for name, path in paths.items() if path in found]
    return _Read(
        part,
        problems,
        {
            "name": Path(folder).name,
            "folder": folder,
            **information.texts,  # type: ignore[typeddict-item]
            "models": _name_models(backbones, information, demands.benchmark),
            "runs": len(part.runs) if part else 0,
            "sha256": {Path(file["path"]).name: file["sha256"] for file in files},
        },
        files,
    )


def _explain_link(path: Path) -> Problem:
    return Problem(
        code="foreign_file",
        source=str(path),
        reason="The file is a link out of the folder of its submission, and is not read.",
        remedy="Put a copy of the file in its place.",
    )


def _read_results(
    path: str,
    name: str,
    columns: Mapping[str, str | Sequence[str]],
    demands: Demands,
    information: Information,
) -> tuple[Part, list[str], list[Problem]]:
    sheet, missing = open_submission(path, name=name, strict=demands.strict)
    table = sheet.read_rows()
    absent = {*REQUIRED} - {*sheet.sheet.columns}
    described = {model.key for model in information.models}
    faults = check_rows(Rows(table, path, absent), demands, described=described)
    part = read_table(
        sheet,
        path,
        columns=columns,
        where={},
        metrics=Metrics(by_dataset=demands.metrics or {}),
        decimal=demands.decimal,
    )
    problems = [_sharpen(problem) for problem in part.problems if problem.code not in REPORTED]
    kept = part.runs.to_pandas()
    if demands.benchmark:
        kept = kept[kept["dataset"].isin(list(demands.benchmark.datasets))]
    kept = kept.drop_duplicates([BACKBONE, METHOD, "dataset", "seed"])
    part = replace(part, runs=part.runs.take(pa.array(kept.index)))
    backbones = sorted(set(table[BACKBONE]) - {""})
    return part, backbones, [*missing, *faults, *problems]


def _sharpen(problem: Problem) -> Problem:
    """Make an error of an empty score, and never advise to leave one empty."""
    if problem.code == "empty_score":
        return replace(problem, severity="error", reason="The score is empty.", remedy=FILL_IN)
    if problem.code in {"nan_score", "infinite_score", "not_a_number"}:
        return replace(problem, remedy=FILL_IN)
    return problem


def _list_missing(folder: str, names: Sequence[str]) -> list[Problem]:
    if len(names) > 1:
        reason = f"The folder has neither {names[0]} nor {names[1]}."
        remedy = "Add them, or move the folder elsewhere if it is no submission."
        return [Problem(code="missing_file", source=folder, reason=reason, remedy=remedy)]
    return [
        Problem(
            code="missing_file",
            source=folder,
            reason=f"The submission has no file {name}.",
            remedy="Add it; a submission is a folder with both files, see the documentation.",
            value=name,
        )
        for name in names
    ]


def _describe(path: Path, rows: int) -> ExportFile:
    size = path.stat().st_size
    return {"path": str(path), "sha256": digest_file(path), "bytes": size, "rows": rows}


def _name_models(
    backbones: Sequence[str], information: Information, benchmark: Benchmark | None
) -> list[Model]:
    described = {model.key: (model.name, model.size) for model in information.models}
    known = benchmark.models if benchmark else {}
    models: list[Model] = []
    for key in backbones:
        name, size = described.get(key, (key, ""))
        if key in known:
            name, size = known[key].name, known[key].size
        models.append({"key": key, "name": name or key, "size": size})
    return models
