"""The exports of a study read and validated, as its settings say."""

from collections.abc import Mapping, Sequence
from typing import Any

from capmap.benchmarks import complete_rules, read_benchmark
from capmap.exports import Exports, read_exports
from capmap.exports.files import FileOptions, check_digests
from capmap.normalization import Rules, read_references
from capmap.patterns import read_fields
from capmap.problems import Problem
from capmap.validation.study import Policies, Validation, validate_runs

POLICIES = ("select", "min_seeds", "incomplete", "duplicates", "invalid", "failed")


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

    Returns
    -------
    Exports
        What was read.
    Validation
        Its runs and problems.
    """
    datasets, layout = settings["datasets"], settings["format"]
    read = read_exports(
        [
            name if name.startswith(f"{path}/") else path
            for path, name in zip(exports, names, strict=True)
        ],
        layout=layout,
        options=FileOptions(header_rows=settings["header_rows"], **settings["reading"]),
        fields=[{**settings["fields"], **read_fields(name, patterns)} for name in names],
        dataset_metrics={
            name: rule["metric"] for name, rule in datasets.items() if "metric" in rule
        },
        **{
            name: settings[name]
            for name in ("columns", "where", "metric", "decimal", "values", "take", "summary")
        },
    )
    for path in benchmark:
        datasets = complete_rules(datasets, read_benchmark(path), read.runs["dataset"].unique())
    result = validate_runs(
        read.runs,
        [*read.problems, *found, *check_digests(exports, settings["checksums"], names=names)],
        rules=Rules(
            settings["metrics"], datasets, settings["normalization"], read_references(*references)
        ),
        policies=Policies(**{name: settings[name] for name in POLICIES}),
        layout=layout,
        named=named,
    )
    return read, result
