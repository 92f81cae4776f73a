"""Put the tables and figures of a study on one page, and write the folder of its paper."""

from pathlib import Path
from typing import Any

from capmap.artifacts import read_json, read_parquet, render_csv, write_text
from capmap.catalog import ANALYSES, list_analyses
from capmap.changes import list_ranks, save_state, track_changes
from capmap.claims import list_claims
from capmap.folders import read_index
from capmap.pages.analyses import Outcome
from capmap.pages.pictures import read_figures
from capmap.pages.rendering import relate_path
from capmap.pages.report import (
    Results,
    describe_result,
    list_versions,
    read_sheets,
    render_report,
)
from capmap.paper.document import write_paper


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
    frames, sheets = read_sheets(files, folder)
    read, ranks = read_parquet(runs, packed=True), list_ranks(frames["scopes"])
    frames["changes"] = track_changes(read, settings, ranks, previous=previous, changes=changes)
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
        versions=list_versions(version),
    )
    write_text(headline, describe_result(results).striptags() + "\n")
    write_text(claims, render_csv(list_claims(results.tables, settings)))
    write_paper(paper, claims, frames, settings, title=title, figures=[*pictures])
    write_text(report, render_report(results, study=study, title=title))
    save_state(previous, read, settings, ranks)


if __name__ == "__main__":
    from job import run_job

    run_job(report, snakemake)  # type: ignore[name-defined]
