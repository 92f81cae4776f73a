"""One job draws a study's figures from its tables."""

from pathlib import Path

import pytest

import plot as script
from capmap.artifacts import render_csv, write_text
from capmap.catalog import ANALYSES, FIGURES
from capmap.errors import CapmapError, ValidationError
from capmap.figures.canvas import NothingToDraw
from capmap.figures.datasets import draw_runs_per_cell, draw_scores
from capmap.figures.pairwise import draw_elo
from capmap.figures.style import save_figure
from capmap.pages.pictures import read_figures
from plot import plot
from tests.curve_figure_tables import make_study
from tests.figure_checks import make_tables

HOSTILE = ["007", "=cmd|calc", "$x_1$ <script>", "模型甲"]
TABLES = {
    "scores": {"scores": "scores", "seeds": "seeds", "order": "aggregate"},
    "runs_per_cell": {"seeds": "seeds", "order": "aggregate"},
    "elo": {"elo": "elo", "order": "scopes"},
}


class Study:
    """Tables of a study in a folder, and how they are drawn."""

    def __init__(self, folder: Path, models: list[str]) -> None:
        self.folder = folder
        self.tables = make_study(models) | make_tables(models, ["D", "-1"])
        self.options = {name: {} for name in TABLES} | {"elo": {"confidence_level": 0.95}}
        self.looks = {name: {} for name in TABLES}
        for name in ("scores", "aggregate", "seeds", "elo", "iqm", "scopes"):
            self.write(name)

    def write(self, name: str) -> None:
        """Write a table to its file."""
        write_text(self.folder / f"tables/{name}.csv", render_csv(self.tables[name]))

    def draw(self) -> None:
        """Draw the figures."""
        places = {
            figure: {read: str(self.folder / f"tables/{name}.csv") for read, name in reads.items()}
            for figure, reads in TABLES.items()
        }
        plot(
            figures=str(self.folder / "figures"),
            folder=str(self.folder),
            reads=places,
            options=self.options,
            looks=self.looks,
            formats=["pdf"],
        )

    def read(self) -> dict[str, bytes]:
        """The bytes of all figures."""
        return {path.name: path.read_bytes() for path in self.folder.glob("figures/*.*")}


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path, ["a", "b", "c"])


def test_figures_have_the_bytes_of_those_that_are_drawn_from_the_tables(tmp_path):
    study = Study(tmp_path, HOSTILE)
    study.draw()
    tables, order = study.tables, list(study.tables["aggregate"]["model"])
    figures = {
        "scores": draw_scores(tables["scores"], tables["seeds"], order=order),
        "runs_per_cell": draw_runs_per_cell(tables["seeds"], order=order),
        "elo": draw_elo(tables["elo"], order=list(tables["iqm"]["model"]), confidence_level=0.95),
    }
    expected = {}
    for name, figure in figures.items():
        paths = [tmp_path / f"{name}.{suffix}" for suffix in ("pdf", "svg")]
        save_figure(figure, paths)
        expected |= {path.name: path.read_bytes() for path in paths}
    index = "figure,reason\n" + "".join(f"{name},\n" for name in TABLES)
    assert study.read() == expected | {"index.csv": index.encode()}


def test_nothing_is_drawn_where_there_is_nothing_to_show(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise NothingToDraw("No run.")

    monkeypatch.setattr(script, "load_function", lambda _: refuse)
    study.draw()
    index = "figure,reason\n" + "".join(f"{name},No run.\n" for name in TABLES)
    assert study.read() == {"index.csv": index.encode()}
    assert read_figures(study.folder / "figures") == ({}, {*TABLES})


def test_no_figure_of_tables_without_rows_is_drawn(tmp_path):
    table = tmp_path / "tables/empty.csv"
    write_text(table, "model\n")
    for analysis in ANALYSES:
        write_text(tmp_path / f"text/{analysis}.txt", "")
    nothing = {name: {} for name in FIGURES}
    plot(
        figures=str(tmp_path / "figures"),
        folder=str(tmp_path),
        reads={name: dict.fromkeys(figure.reads, str(table)) for name, figure in FIGURES.items()},
        options=nothing,
        looks=nothing,
        formats=[],
    )
    assert read_figures(tmp_path / "figures") == ({}, {*FIGURES})


def test_a_figure_that_was_removed_is_missed(study):
    study.draw()
    (study.folder / "figures/elo.svg").unlink()
    with pytest.raises(CapmapError, match=r"elo\.svg is no longer there"):
        read_figures(study.folder / "figures")


def test_the_sample_reads_what_the_catalog_declares():
    for name, reads in TABLES.items():
        figure = FIGURES[name]
        assert reads == {table: table for table in figure.reads} | {"order": figure.order}


def test_a_refused_figure_fails_the_job(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise ValidationError("no model 'x'")

    monkeypatch.setattr(script, "load_function", lambda _reference: refuse)
    with pytest.raises(ValidationError, match="no model 'x'"):
        study.draw()
