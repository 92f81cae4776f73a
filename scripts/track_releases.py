"""Say how ranks moved from the former releases of a leaderboard to the current one."""

import logging

from capmap.leaderboard.history import CURRENT, name_releases, read_release, track_ranks
from capmap.leaderboard.records import write_records
from capmap.prose.leaderboard import describe_releases
from capmap.prose.paragraphs import write_paragraphs

logger = logging.getLogger(__name__)


def track_releases(
    *, entries: str, releases: list[str], rank_history: list[str], text: list[str]
) -> None:
    """Write the rank of each entry in each release.

    Parameters
    ----------
    entries : str
        The current table of entries.
    releases : list of str
        Former tables of entries, which the user keeps, in any order; they are taken by name.
    rank_history : list of str
        Where to write the table.
    text : list of str
        Where to write the paragraph.
    """
    paths = sorted(releases)
    tables = {
        name: read_release(path) for name, path in zip(name_releases(paths), paths, strict=True)
    }
    history = track_ranks({**tables, CURRENT: read_release(entries)})
    write_records(history, rank_history)
    write_paragraphs(describe_releases(history), text)
    logger.info("%d former releases, %d rows", len(paths), len(history))


if __name__ == "__main__":
    from job import run_job

    run_job(track_releases, snakemake)  # type: ignore[name-defined]
