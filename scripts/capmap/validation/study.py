"""All that is wrong with the runs of a study, found in one pass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import pandas as pd

from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports import Exports, read_exports
from capmap.exports.files import FileOptions, check_digests
from capmap.normalization import read_references
from capmap.normalization.bounds import resolve_bounds
from capmap.normalization.precedence import Rules
from capmap.normalization.rules import Select, apply_transforms
from capmap.normalization.selection import count_runs, leave_out, select_runs
from capmap.packing import sort_rows
from capmap.patterns import read_fields
from capmap.problems import Problem
from capmap.renaming import list_metrics
from capmap.settings.choices import Duplicates, Failed, Incomplete, Invalid, TableFormat
from capmap.validation.configuration import (
    find_doubtful_directions,
    find_mixed_metrics,
    find_reserved_names,
    find_unanalysed_names,
    find_unknown_names,
    name_anew,
    rename_runs,
)
from capmap.validation.rows import (
    find_identical_seeds,
    find_incomplete,
    find_single_seeds,
    reject_rows,
    replace_failed,
    resolve_duplicates,
)
from capmap.validation.scores import find_constant, find_misfits, find_mixed_scales, find_opposite

ORDER = ["model", "dataset", "seed", "source"]
READING = ["raw", "column"]
NO_RUNS = Problem(
    code="no_runs",
    reason="The exports hold no run that can be used.",
    remedy="Check exports, where and columns.",
)
NOTHING_SELECTED = Problem(
    code="nothing_selected",
    reason="No run is left to analyse.",
    remedy="Check select, and the datasets that are left out because they are constant.",
)


@dataclass(frozen=True)
class Policies:
    """What a study wants of its runs, and what to do where it does not get it.

    Parameters
    ----------
    select : mapping
        Models and datasets that are analysed.
    incomplete : {"error", "drop_models", "drop_datasets", "adjust"}
        What to do about empty cells.
    duplicates : {"error", "mean", "first", "last"}
        What to do about differing scores of one run.
    invalid : {"error", "quarantine"}
        What to do about rows that cannot be used.
    failed : str, float or mapping
        What runs without a finite score count with, as `replace_failed` takes it.
    """

    select: Select
    incomplete: Incomplete = "error"
    duplicates: Duplicates = "error"
    invalid: Invalid = "error"
    failed: Failed = "invalid"

    @classmethod
    def choose(cls, settings: Mapping[str, Any]) -> Self:
        """Take what is known here from the settings of a study."""
        names = [field.name for field in fields(cls) if field.name in settings]
        return cls(**{name: settings[name] for name in names})


@dataclass(frozen=True)
class Validation:
    """The runs of a study and what is wrong with them.

    Parameters
    ----------
    runs : DataFrame
        model, dataset, metric, seed, score, source, line, then kept columns, by model, dataset,
        seed, source and line: finite scores, one row per run. Of use only when there is no error.
    problems : list of Problem
        Errors first, then by file and line.
    left_out : list of Problem
        Those of them that are about rows which are not in `runs`.
    counts : dict
        runs, models, datasets, metrics, cells, cells_empty, duplicates_identical,
        duplicates_resolved and rows_rejected; before selection.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    left_out: list[Problem]
    counts: dict[str, int]

    @property
    def errors(self) -> list[Problem]:
        """The problems that stop the study."""
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        """The problems that are only reported."""
        return [problem for problem in self.problems if problem.severity == "warning"]

    def add_problems(self, problems: Sequence[Problem]) -> "Validation":
        """Take in what was found of more than the runs, in order."""
        return replace(self, problems=sorted([*self.problems, *problems], key=_order_problems))


def validate_runs(
    runs: pd.DataFrame,
    found: Sequence[Problem],
    *,
    rules: Rules,
    policies: Policies,
    layout: TableFormat = "long",
    named: Sequence[Mapping[str, Any]] = (),
    renamed: Mapping[str, str] | None = None,
) -> Validation:
    """Find everything that is wrong with the runs of a study.

    1. Failed runs get the score that is configured. Rows that cannot be used are left out; of
       repeated rows one is kept.
    2. Configured names are looked up in the data.
    3. Metrics, directions and bounds of the selected datasets are checked against the scores of
       all models, because bounds are made from all of them.
    4. Gaps are looked for among the selected models and datasets.

    Parameters
    ----------
    runs : DataFrame
        As read: the columns of `Row`, then kept ones, in the order of reading.
    found : sequence of Problem
        What the reader found.
    rules : Rules
        What is configured about directions and bounds.
    policies : Policies
        What is configured about everything else.
    layout : {"long", "matrix"}, optional
        How the exports are laid out, on which it depends what can be done about repeated rows.
    named : sequence of mapping, optional
        Names in the settings of analyses, as `find_unanalysed_names` takes them.
    renamed : mapping of str to str, optional
        New names, which the runs have, by those of the exports.

    Returns
    -------
    Validation
        The runs, the problems, and counts.
    """
    scored, told = replace_failed(runs, found, failed=policies.failed, rules=rules)
    rejected = reject_rows(scored, told, policy=policies.invalid)
    unique = resolve_duplicates(rejected.runs, policy=policies.duplicates, layout=layout)
    problems = [*rejected.others, *rejected.faults, *unique.problems]
    if not runs.empty:
        problems += find_unknown_names(
            runs,
            metrics=rules.metrics,
            datasets=rules.datasets,
            select=policies.select,
            failed=policies.failed,
        )
    problems += _check_selected(unique.runs, rules, policies)
    if not runs.empty:
        flat = [problem.value for problem in problems if problem.code == "constant_dataset"]
        problems += find_unanalysed_names(runs, select=policies.select, constant=flat, named=named)
    if unique.runs.empty and not any(problem.severity == "error" for problem in problems):
        problems.append(NO_RUNS)
    problems = name_anew(problems, renamed or {})
    return Validation(
        runs=_arrange(unique.runs),
        problems=sorted(problems, key=_order_problems),
        left_out=[
            *rejected.faults,
            *unique.left_out,
            *(problem for problem in rejected.others if problem.code == "empty_score"),
        ],
        counts=_count(unique.runs)
        | {
            "duplicates_identical": unique.identical,
            "duplicates_resolved": unique.resolved,
            "rows_rejected": rejected.lines,
        },
    )


def _check_selected(runs: pd.DataFrame, rules: Rules, policies: Policies) -> list[Problem]:
    """Check the datasets that are analysed, with all models; then the cells, without the others."""
    selected, _ = select_runs(runs, datasets=policies.select.get("datasets", "all"))
    problems = find_mixed_metrics(selected)
    mixed = [problem.value for problem in problems]
    problems += find_reserved_names(selected)
    sound = leave_out(selected, "dataset", mixed)
    problems += find_doubtful_directions(sound, rules)
    converted = apply_transforms(sound, rules.datasets)
    bounds, faults = resolve_bounds(
        converted,
        metrics=rules.metrics,
        datasets=rules.datasets,
        normalization=rules.normalization,
        references=rules.references,
    )
    transformed = [name for name, rule in rules.datasets.items() if "transform" in rule]
    problems += [*faults, *find_misfits(converted, bounds, transformed=transformed)]
    problems += find_mixed_scales(converted, bounds, transformed=transformed)
    constant = [fault.value for fault in faults if fault.code == "constant_dataset"]

    analysed, _ = select_runs(selected, models=policies.select.get("models", "all"))
    analysed = leave_out(analysed, "dataset", constant)
    if analysed.empty:
        return problems if runs.empty else [*problems, NOTHING_SELECTED]
    counts = count_runs(analysed)
    return [
        *problems,
        *find_constant(analysed),
        *find_opposite(analysed, rules),
        *find_incomplete(analysed, counts, policy=policies.incomplete),
        *find_single_seeds(counts),
        *find_identical_seeds(analysed),
    ]


def _arrange(runs: pd.DataFrame) -> pd.DataFrame:
    return sort_rows(runs.drop(columns=READING), ORDER, "line")


def _count(runs: pd.DataFrame) -> dict[str, int]:
    models, datasets = runs["model"].nunique(), runs["dataset"].nunique()
    cells = len(runs[["model", "dataset"]].drop_duplicates())
    return {
        "runs": len(runs),
        "models": models,
        "datasets": datasets,
        "metrics": runs["metric"].nunique(),
        "cells": cells,
        "cells_empty": models * datasets - cells,
    }


def _order_problems(problem: Problem) -> tuple[str, str, int, str, str]:
    return (problem.severity, problem.source, problem.line, problem.column, problem.code)


def check_exports(
    exports: Sequence[str],
    *,
    names: Sequence[str],
    patterns: str | Sequence[str],
    settings: Mapping[str, Any],
    references: Sequence[str] = (),
    benchmark: Sequence[str] = (),
    named: Sequence[Mapping[str, Any]] = (),
    found: Sequence[Problem] = (),
    renamed: Mapping[str, str] | None = None,
) -> tuple[Exports, Validation]:
    """Read tables of runs and find all that is wrong with them.

    Parameters
    ----------
    exports : sequence of str
        The files to read.
    names : sequence of str
        The path or URL by which each is configured; one in an archive is named by a path below it.
    patterns : str or sequence of str
        The configured exports, whose fields the names of files fill.
    settings : mapping
        The options of a study that reading and validation know, all of them.
    references, benchmark : sequence of str
        No file or one with frozen bounds, and with the definition of the benchmark, whose rules of
        datasets come after those that are configured.
    named : sequence of mapping, optional
        Names in the settings of analyses, as `find_unanalysed_names` takes them.
    found : sequence of Problem, optional
        What is wrong with other files.
    renamed : mapping of str to str, optional
        New names of models and datasets by those of the exports. The settings have the new ones,
        other files either.

    Returns
    -------
    Exports
        What was read.
    Validation
        Its runs and problems.
    """
    datasets, layout, renamed = settings["datasets"], settings["format"], renamed or {}
    read = read_exports(
        [
            name if name.startswith(f"{path}/") else path
            for path, name in zip(exports, names, strict=True)
        ],
        layout=layout,
        options=FileOptions(header_rows=settings["header_rows"], **settings["reading"]),
        fields=[{**settings["fields"], **read_fields(name, patterns)} for name in names],
        dataset_metrics=list_metrics(datasets, renamed),
        **{
            name: settings[name]
            for name in ("columns", "where", "metric", "decimal", "values", "take", "summary")
        },
    )
    fixed: Sequence[str] = ()
    for path in benchmark:
        definition = read_benchmark(path)
        fixed = list(definition.datasets)
        datasets = complete_rules(datasets, definition, read.runs["dataset"].unique())
    runs, misnamed = rename_runs(read.runs, renamed, fixed=fixed)
    result = validate_runs(
        runs,
        [
            *(*read.problems, *found, *misnamed),
            *check_digests(exports, settings["checksums"], names=names),
        ],
        rules=Rules(
            settings["metrics"],
            datasets,
            settings["normalization"],
            read_references(*references, renamed=renamed),
        ),
        policies=Policies.choose(settings),
        layout=layout,
        named=named,
        renamed=renamed,
    )
    return read, result
