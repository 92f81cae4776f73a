"""The exports of a study read and validated, as its settings say."""

from collections.abc import Mapping, Sequence
from typing import Any

from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports import Exports, read_exports
from capmap.exports.files import FileOptions, check_digests
from capmap.normalization import Rules, read_references
from capmap.patterns import read_fields
from capmap.problems import Problem
from capmap.renaming import list_metrics
from capmap.validation.configuration import rename_runs
from capmap.validation.study import Policies, Validation, validate_runs


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
