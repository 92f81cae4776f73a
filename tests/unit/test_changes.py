"""What came, went and moved since the former run."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from capmap.changes import find_changes, save_state

RUNS = {("a", "x", "1"): 0.5, ("a", "y", "1"): 0.25, ("b", "x", "1"): 0.75, ("b", "y", ""): 1.0}
SETTINGS = {"title": "T", "strict": False, "bootstrap": {"seed": 0, "interval": "calibrated"}}
RANKS = {"b": 1, "a": 2}
HOSTILE = ["=cmd()|x", "<b>\n", "a, seed 1", "007", ""]


def make_runs(cells: dict[tuple[str, str, str], float]) -> pd.DataFrame:
    rows = [(*key, score) for key, score in cells.items()]
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "score"])


def compare(folder: Path, **now: Any) -> list[list[Any]]:
    """What changes from the state above to that with some parts of it changed."""
    before = {"runs": RUNS, "settings": SETTINGS, "ranks": RANKS}
    after = before | now
    save_state(folder / "runs.parquet", **before | {"runs": make_runs(RUNS)})
    found = find_changes(folder / "runs.parquet", **after | {"runs": make_runs(after["runs"])})
    assert found.columns.tolist() == ["kind", "name", "before", "after"]
    return found.to_numpy().tolist()


def drop(place: int, name: str) -> dict[tuple[str, str, str], float]:
    return {key: score for key, score in RUNS.items() if key[place] != name}


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ({}, []),
        ({"runs": dict(reversed(RUNS.items())), "ranks": {"a": 2, "b": 1}}, []),
        ({"runs": drop(0, "b")}, [["model", "b", "b", ""]]),
        ({"runs": drop(1, "y")}, [["dataset", "y", "y", ""]]),
        ({"runs": RUNS | {("c", "x", "1"): 0.1}}, [["model", "c", "", "c"]]),
        (
            {"runs": RUNS | {("x", "y", "1"): 0.1, ("a", "x", "1"): 0.6}},
            [["model", "x", "", "x"], ["run", "a on x, seed 1", 0.5, 0.6]],
        ),
        ({"runs": RUNS | {("a", "x", "1"): 0.6}}, [["run", "a on x, seed 1", 0.5, 0.6]]),
        ({"runs": RUNS | {("b", "y", "2"): 0.6}}, [["run", "b on y, seed 2", "", 0.6]]),
        ({"runs": drop(2, "")}, [["run", "b on y", 1.0, ""]]),
        ({"ranks": {"a": 1, "b": 2}}, [["rank", "a", 2, 1], ["rank", "b", 1, 2]]),
        ({"ranks": {"a": 1}}, [["rank", "a", 2, 1], ["rank", "b", 1, ""]]),
        ({"settings": SETTINGS | {"strict": True}}, [["setting", "strict", False, True]]),
        (
            {"settings": SETTINGS | {"bootstrap": {"seed": 1}}},
            [
                ["setting", "bootstrap.interval", "calibrated", ""],
                ["setting", "bootstrap.seed", 0, 1],
            ],
        ),
        ({"settings": SETTINGS | {"groups": {}}}, [["setting", "groups", "", {}]]),
    ],
)
def test_what_changed_is_listed(tmp_path: Path, now: dict[str, Any], expected: list[Any]) -> None:
    assert compare(tmp_path, **now) == expected


def test_hostile_names_are_told_as_they_are(tmp_path: Path) -> None:
    more = {(name, name, name): 0.5 for name in HOSTILE}
    rows = compare(tmp_path, runs=RUNS | more, ranks=RANKS | {HOSTILE[0]: 3})
    for kind in ("model", "dataset"):
        assert [row for row in rows if row[0] == kind] == [
            [kind, name, "", name] for name in sorted(HOSTILE)
        ]
    assert rows[-1] == ["rank", HOSTILE[0], "", 3]
