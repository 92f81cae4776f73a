"""Say which ranks and scores moved since the last run, and keep the tables for next time."""

from pathlib import Path

from capmap.artifacts import read_table, write_bytes
from capmap.changes import compare_tables
from capmap.tables import write_table


def track_changes(
    *, iqm: str, aggregate: str, changes: list[str], former_iqm: str, former_aggregate: str
) -> None:
    """Compare this run's rankings with those of the run before."""
    places = {"iqm": (iqm, former_iqm), "aggregate": (aggregate, former_aggregate)}
    after = {name: read_table(path) for name, (path, _) in places.items()}
    before = {
        name: read_table(former) for name, (_, former) in places.items() if Path(former).is_file()
    }
    write_table(compare_tables(before, after), changes)
    for path, former in places.values():
        write_bytes(former, Path(path).read_bytes())


if __name__ == "__main__":
    from job import run_job

    run_job(track_changes, snakemake)  # type: ignore[name-defined]
