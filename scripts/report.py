"""Put the tables and figures of a study on one page, and write the folder of its paper."""

import logging
import platform
from hashlib import sha256
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import read_json, read_parquet, read_table, render_csv, write_text
from capmap.catalog import ANALYSES, list_analyses
from capmap.changes import COLUMNS as CHANGES
from capmap.changes import find_changes, save_state
from capmap.claims import COLUMNS, choose_first, list_claims
from capmap.folders import read_index
from capmap.pages.analyses import Outcome
from capmap.pages.pictures import read_figures
from capmap.pages.rendering import relate_path
from capmap.pages.report import Results, describe_result, render_report
from capmap.paper.document import render_paper
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
    frames["changes"] = _track_changes(runs, settings, frames["scopes"], previous, changes)
    pictures, nothing = read_figures(figures)
    texts = {
        name: folder / f"{ANALYSES[name].folder}/{name}.txt" for name in list_analyses(settings)
    }
    linked = {
        **sheets,
        "changes": Path(changes),
        **{f"figures/{name}": path.with_name(f"{name}.pdf") for name, path in pictures.items()},
        **{f"text/{name}": path.with_suffix(".tex") for name, path in texts.items()},
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
    ranks = _list_ranks(frames["scopes"])
    save_state(previous, read_parquet(runs, packed=True), settings, ranks)
    logger.info("%d claims", len(stated))


def _track_changes(
    runs: str, settings: dict[str, Any], scopes: pd.DataFrame, previous: str, changes: str
) -> pd.DataFrame:
    """Say what changed since the former run; a run without any change leaves the list as it is."""
    found = pd.DataFrame(columns=CHANGES)
    if Path(previous).is_file():
        found = find_changes(
            previous, read_parquet(runs, packed=True), settings, _list_ranks(scopes)
        )
    if len(found) or not Path(changes).is_file():
        write_text(changes, render_csv(found))
    return read_table(changes, names=CHANGES)


def _list_ranks(scopes: pd.DataFrame) -> dict[str, int]:
    ranked = choose_first(scopes).dropna(subset="rank")
    return dict(zip(ranked["model"], ranked["rank"].astype(int), strict=True))


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
    for path in map(Path, paths):
        _put_aside(path)
        text = files[path.stem]
        write_text(path, f"{_sign(text)}\n{text}")


def _sign(text: str) -> str:
    """The first line of a file, which says by the digest of the others whether it was edited."""
    digest = sha256(text.encode()).hexdigest()[:16]
    return f"% Written by capmap ({digest}), and again in the next run: include it, do not edit it."


def _put_aside(path: Path) -> None:
    """Rename a file that was edited by hand, so that the edit is not lost."""
    if not path.is_file():
        return
    first, _, rest = path.read_text("utf-8").partition("\n")
    if first != _sign(rest):
        names = (f"{path.stem}.edited{number or ''}{path.suffix}" for number in count())
        aside = next(path.with_name(name) for name in names if not path.with_name(name).exists())
        path.rename(aside)
        logger.warning(
            "%s was edited by hand. It is written again; the edit is in %s.", path, aside
        )


if __name__ == "__main__":
    from job import run_job

    run_job(report, snakemake)  # type: ignore[name-defined]
