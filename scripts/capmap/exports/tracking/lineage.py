"""Runs with those that they are nested in."""

from collections.abc import Collection

from capmap.exports.tracking.store import TrackedRun


class RunTree:
    """Runs with those that they are nested in.

    Parameters
    ----------
    runs : collection of TrackedRun
        All runs of a store, of whatever status. A parent that is not among them is none.
    """

    def __init__(self, runs: Collection[TrackedRun]) -> None:
        self.runs = {run.run_id: run for run in runs}
        self._named: dict[tuple[str, str], list[TrackedRun]] = {}
        for run in self.runs.values():
            self._named.setdefault((run.experiment, run.name), []).append(run)

    def list_named(self, experiment: str, name: str) -> list[TrackedRun]:
        """List the runs of a name in an experiment."""
        return list(self._named.get((experiment, name), []))

    def list_lineage(self, run: TrackedRun) -> list[TrackedRun]:
        """List a run, the run that it is nested in, and so on; a circle ends where it closes."""
        lineage = [run]
        while (parent := self.runs.get(lineage[-1].parent_id)) and parent not in lineage:
            lineage.append(parent)
        return lineage

    def find_note(self, run: TrackedRun, names: Collection[str]) -> str:
        """Find what a run, or the nearest one above it, was noted: a tag, else a parameter."""
        for member in self.list_lineage(run):
            for notes in (member.tags, member.params):
                for name in names:
                    if notes.get(name):
                        return notes[name]
        return ""
