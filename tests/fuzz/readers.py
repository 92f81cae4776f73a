"""Every reader of people's files, behind one call that says how the file was taken."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

from capmap.artifacts import render_csv, write_parquet
from capmap.errors import CapmapError
from capmap.exports import read_exports
from capmap.exports.label_files import open_scores, read_labels
from capmap.exports.records import FileOptions
from capmap.normalization import Rules
from capmap.validation import Policies, validate_runs
from capmap.validation.findings import list_rejected
from tests.fuzz.generated_files import (
    GeneratedFile,
    arrays,
    damaged,
    delimited,
    json_lines,
    labels,
    mostly,
    parquet,
)

GRID = ["model", "D", "E", "F"]
LABELS = ["image", "label"]
POLICIES = st.fixed_dictionaries(
    {
        "incomplete": st.sampled_from(["adjust", "drop_models", "drop_datasets"]),
        "duplicates": st.sampled_from(["error", "mean", "first"]),
        "invalid": st.sampled_from(["error", "quarantine"]),
    }
)
LONG = st.fixed_dictionaries(
    {
        "layout": st.just("long"),
        "columns": mostly({}, {"model": ["model", "seed"]}, {"seed": "metric"}, {"keep": ["A"]}),
        "where": mostly({}, {"seed": "1"}, {"metric": ["A", 2, True]}),
        "metric": mostly("", "accuracy", "rmse"),
        "decimal": mostly("auto", ".", ","),
        "policies": POLICIES,
    }
)
MATRIX = LONG.flatmap(
    lambda settings: st.fixed_dictionaries(
        {
            **{name: st.just(value) for name, value in settings.items()},
            "layout": st.just("matrix"),
            "options": mostly(FileOptions(), FileOptions(header_rows=2)),
            "metric": st.just("accuracy"),
            "where": mostly({}, {"D": "0.5"}),
            "columns": mostly({}, {"ignore": ["E"]}, {"datasets": ["D"]}, {"score": "x"}),
        }
    )
)


NOTHING: st.SearchStrategy[dict[str, Any]] = st.just({})


class Case(NamedTuple):
    """A file, the name of the reader that is to take it, and how it is called."""

    reader: str
    file: GeneratedFile
    settings: dict[str, Any]


def _study(
    *files: st.SearchStrategy[GeneratedFile], settings: st.SearchStrategy[dict[str, Any]] = LONG
) -> st.SearchStrategy[Case]:
    return st.builds(Case, st.just("exports"), damaged(st.one_of(*files)), settings)


def _other(
    reader: str,
    *files: st.SearchStrategy[GeneratedFile],
    settings: st.SearchStrategy[dict[str, Any]] = NOTHING,
) -> st.SearchStrategy[Case]:
    return st.builds(Case, st.just(reader), damaged(st.one_of(*files)), settings)


CASES = {
    "delimited": _study(delimited()),
    "json lines": _study(json_lines()),
    "parquet": _study(parquet()),
    "matrices": _study(delimited(header=GRID), parquet(header=GRID), settings=MATRIX),
    "arrays": _other("scores", arrays()),
    "labels": _other("labels", labels(), delimited(header=LABELS), parquet(header=LABELS)),
}


def take(case: Case, folder: Path) -> str:
    """Read a file.

    Parameters
    ----------
    case : Case
        The file and its reader.
    folder : Path
        Where the file is written.

    Returns
    -------
    str
        "read" or "refused".

    Raises
    ------
    Exception
        Whatever a reader raises that is no error for users; that is the fault to be found.
    """
    path = folder / case.file.name
    path.write_bytes(case.file.content)
    try:
        return READERS[case.reader](str(path), **case.settings)
    except CapmapError:
        return "refused"
    finally:
        path.unlink()


def _read_study(path: str, **settings: Any) -> str:
    """Read and validate an export, and write what the workflow would write of it."""
    policies = Policies({}, **settings.pop("policies"))
    read = read_exports([path], **settings)
    if settings["layout"] == "long":
        # What is neither a run nor counted as left out has a problem of its own, or the whole file
        # has an error, as where nothing names the metric.
        lost = read.counts["rows"] - read.counts["rows_filtered"] - len(read.runs)
        is_refused = any(own.line == 0 and own.severity == "error" for own in read.problems)
        assert lost >= 0
        assert is_refused or lost <= len({problem.line for problem in read.problems})
    if read.runs.empty and read.problems:
        return "refused"
    result = validate_runs(
        read.runs,
        read.problems,
        rules=Rules({}, {}, {}, {}),
        policies=policies,
        layout=settings["layout"],
    )
    render_csv(list_rejected(result)).encode()
    write_parquet(path, result.runs)
    return "refused" if result.errors else "read"


def _read_scores(path: str) -> str:
    dump = open_scores(path)
    assert len(dump.scores) > 0
    return "read"


def _read_labels(path: str) -> str:
    return _try_each(lambda: read_labels(path, is_single=True), lambda: read_labels(path))


def _try_each(*readers: Any) -> str:
    """Try several readers on one file; the last decides."""
    for reader in readers[:-1]:
        with suppress(CapmapError):
            reader()
    readers[-1]()
    return "read"


READERS: dict[str, Callable[..., str]] = {
    "exports": _read_study,
    "scores": _read_scores,
    "labels": _read_labels,
}
