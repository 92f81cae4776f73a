"""Put the tables and figures of a study on one page, and write the folder of its paper."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from capmap.analyses import load_analysis
from capmap.analyses.rendering import describe_analysis, tell_words, write_plain
from capmap.artifacts import (
    read_index,
    read_json,
    read_parquet,
    read_reasons,
    render_csv,
    write_json,
    write_text,
)
from capmap.claims import list_claims
from capmap.pages import relate_path
from capmap.pages.report import (
    Results,
    describe_result,
    list_ranks,
    list_versions,
    read_figures,
    read_sheets,
    render_report,
    save_state,
    track_changes,
)
from capmap.paper import render_paper, write_paper

# Files and folders that are not tables of the page.
OWN = ["runs", "validation", "comparisons", "figures"]
OWN += ["headline", "words", "claims", "changes", "previous"]
logger = logging.getLogger(__name__)


def report(
    *,
    study: str,
    settings: dict[str, Any],
    options: dict[str, dict[str, Any]],
    version: str,
    report: str,
    paper: list[str],
    **places: Any,
) -> None:
    """Write a study's page, its claims, what changed since the former run, and its paper."""
    own = {name: places.pop(name) for name in OWN}
    comparisons, title = own["comparisons"], settings["title"] or study
    files = [Path(comparisons, name) for name in read_index(comparisons)["file"]]
    for place in places.values():
        files += map(Path, [place] if isinstance(place, str) else place)
    frames, sheets = read_sheets(files, Path(report).parent)
    read, ranks = read_parquet(own["runs"], packed=True), list_ranks(frames["ranking"])
    previous, changes = own["previous"], own["changes"]
    frames["changes"] = track_changes(read, settings, ranks, previous=previous, changes=changes)
    pictures, nothing = read_figures(own["figures"])
    reasons = read_reasons(comparisons)
    said = {
        name: describe_analysis(name, frames, given, _find_reason(name, reasons))
        for name, given in options.items()
    }
    linked = {
        **sheets,
        "changes": Path(changes),
        **{f"figures/{name}": path for name, path in pictures.items()},
    }
    results = Results(
        tables=frames,
        validation=read_json(own["validation"]),
        figures=pictures,
        nothing=nothing,
        files={name: relate_path(str(path), report) for name, path in linked.items()},
        words=said,
        settings=settings,
        versions=list_versions(version),
    )
    write_text(own["headline"], write_plain(describe_result(results)) + "\n")
    write_json(own["words"], {name: tell_words(told) for name, told in said.items()})
    write_text(own["claims"], render_csv(list_claims(results.tables, settings)))
    level = settings["bootstrap"]["confidence"]
    written = render_paper(frames, said, title=title, figures=[*pictures], level=level)
    write_paper(paper, written)
    write_text(report, render_report(results, study=study, title=title))
    save_state(previous, read, settings, ranks)
    logger.info("%d tables and %d figures on the page", len({*sheets.values()}), len(pictures))


def _find_reason(name: str, reasons: Mapping[str, str]) -> str:
    """Why the tables of an analysis are empty; "" if they are not."""
    told = [reasons.get(f"{table}.csv", "") for table in load_analysis(name).tables]
    return next(filter(None, told), "")


if __name__ == "__main__":
    from job import run_job

    run_job(report, snakemake)  # type: ignore[name-defined]
