"""One job draws a study's figures from its tables."""

from pathlib import Path

import pandas as pd
import pytest

from capmap.analyses import FIGURES, list_parameters, load_analysis, place_read
from capmap.artifacts import write_index
from capmap.errors import CapmapError, ValidationError
from capmap.figures.canvas import NothingToDraw
from capmap.pages.report import read_figures
from plot import plot
from tests.curve_figure_tables import make_study
from tests.figure_checks import make_tables
from tests.steps import put

OPTIONS = {"scores": {}, "elo": {"confidence_level": 0.95}}
TABLES = ("tables/scores", "tables/seeds", "tables/ranking", "comparisons/elo")


class Study:
    """Tables of a study in a folder, and how they are drawn."""

    def __init__(self, folder: Path, models: list[str]) -> None:
        self.folder = folder
        self.tables = make_study(models) | make_tables(models, ["D", "-1"])
        for place in TABLES:
            put(self.tables[place.partition("/")[2]], folder / f"{place}.csv")
        write_index(folder / "comparisons")

    def draw(self) -> None:
        """Draw the figures."""
        plot(
            figures=str(self.folder / "figures"),
            comparisons=str(self.folder / "comparisons"),
            folder=str(self.folder),
            drawn={name: {"options": options, "look": {}} for name, options in OPTIONS.items()},
            formats=["pdf"],
        )

    def read(self) -> dict[str, bytes]:
        """The bytes of all figures."""
        return {path.name: path.read_bytes() for path in self.folder.glob("figures/*.*")}


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path, ["a", "b", "c"])


def test_nothing_is_drawn_where_there_is_nothing_to_show(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise NothingToDraw("No run.")

    monkeypatch.setattr("plot.draw_figure", refuse)
    study.draw()
    index = "file,sha256,reason\n" + "".join(f"{name},,No run.\n" for name in OPTIONS)
    assert study.read() == {"index.csv": index.encode()}
    assert read_figures(study.folder / "figures") == ({}, {*OPTIONS})


def test_no_figure_of_tables_without_rows_is_drawn(tmp_path):
    for name, owner in FIGURES.items():
        draw = load_analysis(owner).figures[name].load()
        for read in ["ranking", *list_parameters(draw, behind_star=False)]:
            place = tmp_path / place_read(read, owner)
            put(pd.DataFrame({"model": []}), place)
    write_index(tmp_path / "comparisons")
    plot(
        figures=str(tmp_path / "figures"),
        comparisons=str(tmp_path / "comparisons"),
        folder=str(tmp_path),
        drawn={name: {"options": {}, "look": {}} for name in FIGURES},
        formats=[],
    )
    assert read_figures(tmp_path / "figures") == ({}, {*FIGURES})


def test_a_figure_that_was_removed_is_missed(study):
    study.draw()
    (study.folder / "figures/elo.svg").unlink()
    with pytest.raises(CapmapError, match=r"elo\.svg is no longer there"):
        read_figures(study.folder / "figures")


def test_a_refused_figure_fails_the_job(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise ValidationError("no model 'x'")

    monkeypatch.setattr("plot.draw_figure", refuse)
    with pytest.raises(ValidationError, match="no model 'x'"):
        study.draw()
