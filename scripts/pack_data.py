"""Pack the tables, paragraphs, settings and digests of a study into one archive."""

from pathlib import Path
from typing import Any

from capmap.artifacts import read_json, write_bytes
from capmap.provenance import list_versions, pack_study
from capmap.tables import read_declared


def pack_data(
    *,
    study: str,
    title: str,
    tables: list[str],
    bounds: str,
    dropped: str,
    claims: str,
    texts: list[str],
    paper: list[str],
    validation: str,
    headline: str,
    lock: list[str],
    archive: str,
    settings: dict[str, Any],
    version: str,
) -> None:
    """Write a study's archive.

    Parameters
    ----------
    study, title : str
        Name and heading of the study.
    tables : list of str
        Its tables, as CSV.
    bounds, dropped, claims : str
        The bounds of its datasets, what was left out, and what is claimed, as CSV.
    texts, paper : list of str
        Its paragraphs, and the files of its paper.
    validation : str
        What was read and rejected, as JSON.
    headline : str
        Which model is best, as plain text.
    lock : list of str
        The pinned dependencies, if they are known.
    archive : str
        Where to write it.
    settings : dict
        The study's settings.
    version : str
        Version of capmap.
    """
    folder = Path(archive).parent
    tables = [*tables, bounds, dropped, claims]
    made = [*tables, *texts, *paper, validation, headline]
    paths = {str(Path(path).relative_to(folder)): path for path in made}
    paths |= {Path(path).name: path for path in lock}
    packed = pack_study(
        study,
        title=title,
        headline=Path(headline).read_text("utf-8").strip(),
        tables={place: read_declared(path) for place, path in paths.items() if path in tables},
        files={place: Path(path).read_bytes() for place, path in paths.items()},
        settings=settings,
        sources=read_json(validation)["files"],
        versions=list_versions(version),
    )
    write_bytes(archive, packed)


if __name__ == "__main__":
    from job import run_job

    run_job(pack_data, snakemake)  # type: ignore[name-defined]
