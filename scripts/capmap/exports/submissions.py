"""Submissions to a leaderboard: a folder each, with a table of results and a description."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

from capmap.artifacts import digest_file
from capmap.benchmarks import Benchmark
from capmap.exports.cells import Mapped, list_columns
from capmap.exports.layouts import read_table
from capmap.exports.reading import ExportFile, Exports, join_runs
from capmap.exports.runs import Metrics, Part
from capmap.exports.submission_information import (
    INFORMATION,
    Information,
    make_printable,
    read_information,
)
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
from capmap.problems import Problem, UnreadableExportError
from capmap.settings.paths import leads_out

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
    sheet, missing = open_submission(path, name=name, strict=demands.strict, method=demands.method)
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
