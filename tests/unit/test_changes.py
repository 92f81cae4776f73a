"""What moved since the last run."""

from pathlib import Path

import pandas as pd
import pytest

from capmap import artifacts, changes
from track_changes import track_changes

FORMATS = ("csv", "md", "tex")


def make_iqm(**scores: float) -> pd.DataFrame:
    ordered = sorted(scores.items(), key=lambda item: -item[1])
    return pd.DataFrame(
        {
            "model": [name for name, _ in ordered],
            "iqm": [score for _, score in ordered],
            "rank": range(1, len(ordered) + 1),
            "tie_group": ["a"] * len(ordered),
        }
    )


class Study:
    """A study's folder, with the job that tracks its changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.changes = [str(folder / f"tables/changes.{suffix}") for suffix in FORMATS]

    def publish(self, **scores: float) -> None:
        """Write the incoming tables of a run."""
        table = make_iqm(**scores)
        artifacts.write_text(self.folder / "tables/iqm.csv", artifacts.render_csv(table))
        aggregate = table.rename(columns={"iqm": "mean", "rank": "rank_mean"})
        text = artifacts.render_csv(aggregate.drop(columns="tie_group"))
        artifacts.write_text(self.folder / "tables/aggregate.csv", text)

    def track(self) -> None:
        """Run the job as Snakemake does, which removes old outputs first."""
        for path in self.changes:
            Path(path).unlink(missing_ok=True)
        track_changes(
            iqm=str(self.folder / "tables/iqm.csv"),
            aggregate=str(self.folder / "tables/aggregate.csv"),
            changes=self.changes,
            former_iqm=str(self.folder / "previous/iqm.csv"),
            former_aggregate=str(self.folder / "previous/aggregate.csv"),
        )

    def run(self, **scores: float) -> None:
        """Publish and track."""
        self.publish(**scores)
        self.track()

    def read(self) -> list[list[object]]:
        """Read what moved."""
        table = artifacts.read_table(self.changes[0])
        return [[None if pd.isna(v) else v for v in row] for row in table.to_numpy().tolist()]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(tmp_path / "study")


def test_the_first_run_has_nothing_to_compare_with(study: Study) -> None:
    study.run(a=0.5)
    assert Path(study.changes[0]).read_text() == "table,model,quantity,before,after\n"


def test_scores_and_ranks_that_moved_are_listed(study: Study) -> None:
    study.run(a=0.5, b=0.25)
    study.run(a=0.5, b=0.75)
    assert study.read() == [
        ["iqm", "a", "rank", 1, 2],
        ["iqm", "b", "iqm", 0.25, 0.75],
        ["iqm", "b", "rank", 2, 1],
        ["aggregate", "a", "rank_mean", 1, 2],
        ["aggregate", "b", "mean", 0.25, 0.75],
        ["aggregate", "b", "rank_mean", 2, 1],
    ]


def test_ranks_are_printed_as_whole_numbers_in_every_format(study: Study) -> None:
    study.run(a=0.5, b=0.25)
    study.run(a=0.5, b=0.75)
    texts = [Path(path).read_text() for path in study.changes]
    assert "iqm,b,iqm,0.25,0.75\niqm,b,rank,2,1\n" in texts[0]
    assert "| iqm | b | iqm | 0.250 | 0.750 |\n| iqm | b | rank | 2 | 1 |\n" in texts[1]
    assert "iqm & b & rank & 2 & 1 \\\\" in texts[2]


def test_an_added_model_has_no_before_and_a_removed_one_no_after(study: Study) -> None:
    study.run(a=0.5, b=0.25)
    study.run(a=0.5, c=0.25)
    rows = [row for row in study.read() if row[0] == "iqm"]
    assert rows == [
        ["iqm", "b", "iqm", 0.25, None],
        ["iqm", "b", "rank", 2, None],
        ["iqm", "c", "iqm", None, 0.25],
        ["iqm", "c", "rank", None, 2],
    ]


def test_float_noise_is_no_change() -> None:
    # 0.1 + 0.2 and 0.3 differ in the last bit.
    noise = changes.compare_tables({"t": make_iqm(a=0.1 + 0.2)}, {"t": make_iqm(a=0.3)})
    assert noise.empty
    moved = changes.compare_tables({"t": make_iqm(a=0.3)}, {"t": make_iqm(a=0.300001)})
    assert moved["quantity"].tolist() == ["iqm"]


def test_an_interval_that_appears_is_a_change() -> None:
    before = pd.DataFrame({"model": ["a"], "ci_low": [float("nan")]})
    after = pd.DataFrame({"model": ["a"], "ci_low": [0.5]})
    moved = changes.compare_tables({"iqm": before}, {"iqm": after})
    assert moved[["before", "after"]].to_numpy().tolist() == [[None, 0.5]]


def test_a_column_that_only_one_run_has_is_no_change() -> None:
    before = pd.DataFrame({"model": ["a"], "mean": [0.5]})
    after = pd.DataFrame({"model": ["a"], "mean": [0.5], "median": [0.4]})
    assert changes.compare_tables({"aggregate": before}, {"aggregate": after}).empty


def test_row_order_is_no_change() -> None:
    table = make_iqm(a=0.5, b=0.25)
    assert changes.compare_tables({"iqm": table}, {"iqm": table[::-1]}).empty


def test_a_repeated_run_moves_nothing(study: Study) -> None:
    study.run(a=0.5, b=0.25)
    study.run(a=0.5, b=0.75)
    study.run(a=0.5, b=0.75)
    assert study.read() == []


def test_hostile_names_survive_the_record(study: Study) -> None:
    study.run(**{"=cmd()|x": 0.5, "<b>\n": 0.25})
    study.run(**{"=cmd()|x": 0.5, "<b>\n": 0.375})
    assert study.read()[0] == ["iqm", "<b>\n", "iqm", 0.25, 0.375]
