"""Say which ranks and scores moved since the last run, and keep the tables for next time."""

from pathlib import Path

from capmap.artifacts import read_table
from capmap.changes import close_record, compare_tables, update_record
from capmap.tables import write_table


def track_changes(*, iqm: str, aggregate: str, changes: list[str], previous: str) -> None:
    """Compare this run's rankings with those of the run before.

    Parameters
    ----------
    iqm, aggregate : str
        Tables of this run.
    changes : list of str
        Where to write what moved, a path per format.
    previous : str
        Folder that keeps the tables of the run before, and in ``seen`` those of this one.
    """
    incoming = {"iqm": Path(iqm), "aggregate": Path(aggregate)}
    before = update_record(incoming, previous)
    after = {name: read_table(path) for name, path in incoming.items()}
    write_table(compare_tables(before, after), changes)
    close_record(previous)


if __name__ == "__main__":
    from job import run_job

    run_job(track_changes, snakemake)  # type: ignore[name-defined]
