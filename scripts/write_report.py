"""Put the tables and figures of a study on one page that needs no network."""

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

from capmap.artifacts import read_json, write_text
from capmap.claims import list_claims
from capmap.pages.analyses import Outcome
from capmap.pages.pictures import read_figures
from capmap.pages.rendering import relate_path
from capmap.pages.report import Results, describe_result, render_report
from capmap.tables import read_declared, write_table

PACKAGES = ["matplotlib", "numpy", "pandas", "pillow", "pyarrow", "scipy", "seaborn", "snakemake"]


def write_report(
    *,
    study: str,
    title: str,
    tables: list[str],
    bounds: str,
    dropped: str,
    validation: str,
    figures: str,
    texts: list[str],
    report: str,
    headline: str,
    claims: str,
    analyses: list[str],
    settings: dict[str, Any],
    version: str,
) -> None:
    """Write a study's page."""
    sheets = {_locate(path): path for path in tables}
    main = {Path(path).stem: path for path in [bounds, dropped]}
    main |= {name.removeprefix("tables/"): path for name, path in sheets.items()}
    sheets |= main
    frames = {path: read_declared(path) for path in set(sheets.values())}
    pictures, nothing = read_figures(figures)
    accounts = {Path(path).stem: Path(path) for path in texts}
    papers = {
        f"figures/{name}": str(path.with_name(f"{name}.pdf")) for name, path in pictures.items()
    }
    papers |= {f"text/{name}": str(path.with_suffix(".tex")) for name, path in accounts.items()}
    results = Results(
        tables={name: frames[path] for name, path in sheets.items()},
        validation=read_json(validation),
        figures=pictures,
        nothing=nothing,
        files={name: relate_path(path, report) for name, path in {**sheets, **papers}.items()},
        outcomes=[
            Outcome(name, accounts[name].read_text(encoding="utf-8").split("\n\n"))
            for name in analyses
        ],
        settings=settings,
        versions=_list_versions(version),
    )
    write_text(headline, describe_result(results).striptags() + "\n")
    write_table(list_claims(results.tables, settings), [claims])
    write_text(report, render_report(results, study=study, title=title))


def _list_versions(own: str) -> dict[str, str]:
    """Versions of capmap, which is given, of Python and of the packages that compute and draw."""
    versions = {"capmap": own, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = find_version(name)
        except PackageNotFoundError:
            continue
    return versions


def _locate(path: str) -> str:
    return f"{Path(path).parent.name}/{Path(path).stem}"


if __name__ == "__main__":
    from job import run_job

    run_job(write_report, snakemake)  # type: ignore[name-defined]
