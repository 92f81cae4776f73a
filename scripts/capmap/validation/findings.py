"""All that is wrong with the runs of a study, found in one pass, and what is said of it."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from operator import attrgetter, itemgetter
from typing import Any, Self

import pandas as pd

from capmap.artifacts import render_csv, sort_rows, write_text
from capmap.errors import ValidationError
from capmap.exports import Exports, read_exports
from capmap.exports.reading import MEAN, ROW, SEED, check_digests
from capmap.exports.records import FileOptions
from capmap.normalization import Rules, Select, apply_transforms, count_runs, leave_out, select_runs
from capmap.normalization.bounds import NO_ITEMS, resolve_bounds
from capmap.patterns import read_fields
from capmap.problems import Problem
from capmap.settings.choices import Duplicates, Failed, Incomplete, Invalid, TableFormat
from capmap.validation.contradictions import (
    RESERVED,
    find_doubtful_directions,
    find_misfits,
    find_mixed_metrics,
    find_opposite,
    find_unknown_names,
    rename_runs,
)
from capmap.validation.rows import (
    average_items,
    find_identical_seeds,
    find_incomplete,
    find_single_seeds,
    reject_rows,
    replace_failed,
    resolve_duplicates,
)
from capmap.wording import count_things, list_metrics

ORDER = ["model", "dataset", "seed", "source"]
READING = ["raw", "column", ROW, MEAN, SEED]
NO_RUNS = Problem(
    code="no_runs",
    reason="No run is left to analyse.",
    remedy="Check exports, where, columns and select, and which datasets are constant.",
)


@dataclass(frozen=True)
class Policies:
    """What a study wants of its runs, and what to do where it does not get it.

    ``select`` are the models and datasets that are analysed. What to do about empty cells,
    differing scores of one run, and rows that cannot be used is in the next three; ``failed`` says
    what runs without a finite score count with, as `replace_failed` takes it.
    """

    select: Select
    incomplete: Incomplete = "error"
    duplicates: Duplicates = "error"
    invalid: Invalid = "error"
    failed: Failed = "invalid"

    @classmethod
    def choose(cls, settings: Mapping[str, Any]) -> Self:
        """Take what is known here from the settings of a study."""
        names = [own.name for own in fields(cls) if own.name in settings]
        return cls(**{name: settings[name] for name in names})


@dataclass(frozen=True)
class Validation:
    """The runs of a study and what is wrong with them.

    ``runs``, of use only when there is no error, has finite scores and one row per run: model,
    dataset, metric, seed, score, source, line, then kept columns, by model, dataset, seed, source
    and line. ``problems`` has errors first, then by file and line; ``left_out`` are those of them
    about rows which are not in ``runs``. ``counts`` are those before selection, and ``items`` the
    scores of single items, see `average_items`.
    """

    runs: pd.DataFrame
    problems: list[Problem]
    left_out: list[Problem]
    counts: dict[str, int]
    items: pd.DataFrame = field(default_factory=NO_ITEMS.copy)

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
) -> Validation:
    """Find everything that is wrong with the runs of a study.

    1. Failed runs get the score that is configured. Rows that cannot be used are left out; of
       repeated rows one is kept. Scores of items become runs, their means.
    2. Configured names are looked up in the data.
    3. Metrics, directions and bounds of the selected datasets are checked against the scores of
       all models, because bounds are made from all of them.
    4. Gaps are looked for among the selected models and datasets.
    """
    scored, told = replace_failed(runs, found, failed=policies.failed, rules=rules)
    rejected = reject_rows(scored, told, policy=policies.invalid)
    unique = resolve_duplicates(rejected.runs, policy=policies.duplicates, layout=layout)
    averaged, items, faults = average_items(unique.runs)
    problems = [*rejected.others, *rejected.faults, *unique.problems, *faults]
    found = _check_selected(averaged, rules, policies)
    # Items say how sure the ranking is on these datasets.
    counted = [*rules.datasets.values(), *rules.metrics.values()]
    has_items = not items.empty or any("items" in rule for rule in counted)
    problems += [problem for problem in found if problem.code != "one_seed" or not has_items]
    if not runs.empty:
        flat = [problem.value for problem in problems if problem.code == "constant_dataset"]
        problems += find_unknown_names(
            runs, rules, policies.select, policies.failed, named=named, constant=flat
        )
    if NO_RUNS in problems and sum(problem.severity == "error" for problem in problems) > 1:
        problems.remove(NO_RUNS)
    return Validation(
        runs=sort_rows(averaged.drop(columns=READING, errors="ignore"), ORDER, "line"),
        items=items,
        problems=sorted(problems, key=_order_problems),
        left_out=[
            *rejected.faults,
            *unique.left_out,
            *(problem for problem in rejected.others if problem.code == "empty_score"),
        ],
        counts=_count(averaged)
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
    problems += RESERVED.report(selected[selected["dataset"] == "model"].head(1), column="")
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
    problems += [*faults, *find_misfits(converted, bounds, converted=transformed)]
    constant = [fault.value for fault in faults if fault.code == "constant_dataset"]

    analysed, _ = select_runs(selected, models=policies.select.get("models", "all"))
    analysed = leave_out(analysed, "dataset", constant)
    if analysed.empty:
        return [*problems, NO_RUNS]
    counts = count_runs(analysed)
    return [
        *problems,
        *find_opposite(analysed, rules),
        *find_incomplete(analysed, counts, policy=policies.incomplete),
        *find_identical_seeds(analysed),
        *find_single_seeds(counts),
    ]


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
    renamed: Mapping[str, str] | None = None,
) -> tuple[Exports, Validation]:
    """Read tables of runs and find all that is wrong with them.

    `names` have the path or URL by which each file is configured; one in an archive is named by a
    path below it. Their fields are filled by the configured `patterns`. `settings` are all options
    that reading and validation know. `references` and `benchmark` are no file or one, with frozen
    bounds and with the definition of the benchmark, whose rules of datasets come after those that
    are configured. `named` are names in the settings of analyses, as `find_unknown_names` takes
    them. `renamed` has new names of models and datasets by those of the exports; the settings have
    the new ones, other files either.
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
        # Not above: it loads the check of settings.
        from capmap.benchmarks import complete_rules, read_benchmark

        definition = read_benchmark(path)
        fixed = list(definition.datasets)
        datasets = complete_rules(datasets, definition, read.runs["dataset"].unique())
    runs, misnamed = rename_runs(read.runs, renamed, fixed=fixed)
    result = validate_runs(
        runs,
        [*read.problems, *misnamed, *check_digests(exports, settings["checksums"], names=names)],
        rules=Rules.choose({**settings, "renamed": renamed}, references, datasets),
        policies=Policies.choose(settings),
        layout=layout,
        named=named,
    )
    return read, result


# Of each kind: how many remedies are printed, and how many further places of each.
CAUSES = 3
PLACES = 3
KEPT = 1000
REJECTED = ["source", "line", "column", "value", "reason", "remedy"]


def list_rejected(validation: Validation) -> pd.DataFrame:
    """List all errors, and all rows that are left out, as the table ``rejected.csv``."""
    left_out = set(map(id, validation.left_out))
    listed = [
        problem
        for problem in validation.problems
        if problem.severity == "error" or id(problem) in left_out
    ]
    rows = sorted(map(attrgetter(*REJECTED), listed))
    return pd.DataFrame(rows, columns=REJECTED)


def count_codes(problems: Iterable[Problem]) -> dict[str, int]:
    """Count problems by their code, the most frequent first."""
    return dict(Counter(sorted(problem.code for problem in problems)).most_common())


def group_problems(problems: Iterable[Problem]) -> list[tuple[str, list[Problem]]]:
    """Group problems of one cause, that is of one kind and with one remedy, under a sentence.

    There are three groups of a kind at most, the last of which has all others of it.
    """
    groups: dict[tuple[str, str], dict[str, list[Problem]]] = {}
    for problem in problems:
        kind = groups.setdefault((problem.severity, problem.code), {})
        is_named = problem.remedy in kind or len(kind) < CAUSES
        cause = problem.remedy if is_named else next(reversed(kind))
        kind.setdefault(cause, []).append(problem)
    found = [group for kind in groups.values() for group in kind.values()]
    return [(_describe_group(group), group) for group in found]


def _describe_group(group: Sequence[Problem]) -> str:
    first, *others = group
    if not others:
        return str(first)
    # Each is placed as far as that differs from the first.
    differences = (
        ", ".join(part for part in other.places if part and part not in first.places)
        for other in others
    )
    places = list(dict.fromkeys(filter(None, differences)))
    listed = "; ".join(places[:PLACES]) + (" …" if len(places) > PLACES else "")
    return f"{first} And {len(others)} more like this{': ' if places else ''}{listed}."


def write_message(problems: Sequence[Problem], *, place: str, files: int, rows: int) -> str:
    """Say what is wrong: a headline with counts, a line for each cause, and where all is listed."""
    errors = [problem for problem in problems if problem.severity == "error"]
    codes = ", ".join(f"{count} {code}" for code, count in count_codes(errors).items())
    warnings = len(problems) - len(errors)
    lines = [
        f"{count_things(len(errors), 'error')} ({codes}) and {count_things(warnings, 'warning')} "
        f"in {count_things(files, 'file')} with {count_things(rows, 'row')}."
    ]
    lines += [f"  {text}" for text, _ in group_problems(problems)]
    lines.append(f"All errors are in {place}.")
    return "\n".join(lines)


def _summarize_seeds(runs: pd.DataFrame) -> dict[str, float]:
    sizes = runs.groupby(["model", "dataset"], observed=True).size()
    if sizes.empty:
        return {"min": 0, "median": 0, "max": 0}
    return {"min": int(sizes.min()), "median": float(sizes.median()), "max": int(sizes.max())}


def report_problems(
    result: Validation, *, rejected: str, files: int, rows: int, logger: logging.Logger
) -> None:
    """Write the table of what is rejected, stop at an error, and log the warnings.

    A warning for each cause is shown; at most 1000 others of it are for the log file.
    """
    write_text(rejected, render_csv(list_rejected(result)))
    if result.errors:
        raise ValidationError(
            write_message(result.problems, place=rejected, files=files, rows=rows)
        )
    for text, group in group_problems(result.warnings):
        logger.warning("%s", text)
        for problem in group[1:KEPT]:
            logger.info("%s", problem)


def describe_exports(read: Exports, result: Validation) -> dict[str, Any]:
    """Describe a study's exports and runs as the content of ``validation.json``."""
    counts = {name: read.counts[name] for name in ("rows", "rows_filtered", "rows_empty_score")}
    codes = pd.Series([problem.code for problem in result.warnings], dtype="str")
    counted = zip(result.warnings, codes.groupby(codes).cumcount(), strict=True)
    return {
        "files": sorted(read.files, key=itemgetter("path")),
        "counts": {"files": len(read.files), **counts, **result.counts},
        "seeds_per_cell": _summarize_seeds(result.runs),
        "rejected": count_codes(result.left_out),
        "warnings": [asdict(problem) for problem, number in counted if number < KEPT],
        "conversions": {"summarized": int(result.runs.get("summary", pd.Series(dtype=int)).sum())},
    }
