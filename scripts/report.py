"""Put the tables and figures of a study on one page, and write the folder of its paper."""

import logging
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

from capmap.artifacts import read_json, read_parquet, read_table, render_csv, write_text
from capmap.catalog import ANALYSES, list_analyses
from capmap.changes import list_ranks, save_state, track_changes
from capmap.claims import COLUMNS, list_claims
from capmap.folders import read_index
from capmap.pages.analyses import Outcome
from capmap.pages.pictures import read_figures
from capmap.pages.rendering import relate_path
from capmap.pages.report import Results, describe_result, render_report
from capmap.paper.document import render_paper
from capmap.paper.folder import write_folder
from capmap.tables import read_declared

PACKAGES = ["matplotlib", "numpy", "pandas", "pillow", "pyarrow", "scipy", "seaborn", "snakemake"]
# Folders whose tables are called by their name alone.
PLAIN = ("tables/", "normalized/", "comparisons/")

logger = logging.getLogger(__name__)


def report(
    *,
    study: str,
    settings: dict[str, Any],
    runs: str,
    validation: str,
    comparisons: str,
    figures: str,
    report: str,
    headline: str,
    claims: str,
    changes: str,
    previous: str,
    paper: list[str],
    version: str,
    **places: str | list[str],
) -> None:
    """Write a study's page, its claims, what changed since the former run, and its paper."""
    folder, title = Path(report).parent, settings["title"] or study
    files = [Path(comparisons, name) for name in read_index(comparisons)["file"]]
    for place in places.values():
        files += map(Path, [place] if isinstance(place, str) else place)
    names = {path.relative_to(folder).with_suffix("").as_posix(): path for path in files}
    sheets = {name: path for name, path in names.items() if path.with_suffix(".csv").is_file()}
    frames = {name: read_declared(path.with_suffix(".csv"), name) for name, path in sheets.items()}
    sheets = {name: path.with_suffix(".csv") for name, path in sheets.items()}
    for name in [name for name in frames if name.startswith(PLAIN)]:
        plain = name.partition("/")[2]
        frames[plain], sheets[plain] = frames[name], sheets[name]
    ranks = list_ranks(frames["scopes"])
    frames["changes"] = track_changes(
        read_parquet(runs, packed=True), settings, ranks, previous=previous, changes=changes
    )
    pictures, nothing = read_figures(figures)
    texts = {
        name: folder / f"{ANALYSES[name].folder}/{name}.txt" for name in list_analyses(settings)
    }
    linked = {
        **sheets,
        "changes": Path(changes),
        **{f"figures/{name}": path for name, path in pictures.items()},
        **{f"text/{name}": path.with_name(f"{name}_text.tex") for name, path in texts.items()},
    }
    results = Results(
        tables=frames,
        validation=read_json(validation),
        figures=pictures,
        nothing=nothing,
        files={name: relate_path(str(path), report) for name, path in linked.items()},
        outcomes=[
            Outcome(name, path.read_text(encoding="utf-8").split("\n\n"))
            for name, path in texts.items()
        ],
        settings=settings,
        versions=_list_versions(version),
    )
    write_text(headline, describe_result(results).striptags() + "\n")
    stated = list_claims(results.tables, settings)
    write_text(claims, render_csv(stated))
    _write_paper(paper, claims, results, title)
    write_text(report, render_report(results, study=study, title=title))
    save_state(previous, read_parquet(runs, packed=True), settings, ranks)
    logger.info("%d claims", len(stated))


def _list_versions(own: str) -> dict[str, str]:
    """Versions of capmap, which is given, of Python and of the packages that compute and draw."""
    versions = {"capmap": own, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = find_version(name)
        except PackageNotFoundError:
            continue
    return versions


def _write_paper(paths: list[str], claims: str, results: Results, title: str) -> None:
    settings, tables = results.settings, results.tables
    read = {name: tables[name] for name in ("scopes", "seeds", "bounds")}
    if "leaderboard/entries" in tables:
        read["entries"] = tables["leaderboard/entries"]
    files = render_paper(
        {**read, "claims": read_table(claims, names=[name for name in COLUMNS if name != "level"])},
        title=title,
        analyses=list_analyses(settings),
        figures=[*results.figures],
        **{name: settings[name] for name in ("bootstrap", "comparison", "failed", "incomplete")},
    )
    write_folder(paths, files)


if __name__ == "__main__":
    from job import run_job

    run_job(report, snakemake)  # type: ignore[name-defined]
