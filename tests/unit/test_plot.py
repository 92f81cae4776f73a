"""One job draws a study's figures from its tables, and only those that would come out otherwise."""

from pathlib import Path

import pytest

import plot as script
from capmap.artifacts import render_csv, write_text
from capmap.catalog import FIGURES
from capmap.errors import ValidationError
from capmap.figures.datasets import draw_runs_per_cell, draw_scores
from capmap.figures.ratings import draw_elo
from capmap.figures.style import save_figure
from capmap.sizes import note_left_out
from plot import FORMATS, plot
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
        self.code = dict.fromkeys(TABLES, "code")
        self.names = list(TABLES)
        for name in ("scores", "aggregate", "seeds", "elo", "iqm", "scopes"):
            self.write(name)

    def write(self, name: str) -> None:
        """Write a table to its file."""
        write_text(self.folder / f"tables/{name}.csv", render_csv(self.tables[name]))

    def draw(self, *, threads: int = 1) -> None:
        """Draw what has to be drawn."""
        places = {
            figure: {read: str(self.folder / f"tables/{name}.csv") for read, name in reads.items()}
            for figure, reads in TABLES.items()
        }
        plot(
            folder=str(self.folder),
            reads={name: places[name] for name in self.names},
            options={name: self.options[name] for name in self.names},
            looks={name: self.looks[name] for name in self.names},
            code={name: self.code[name] for name in self.names},
            threads=threads,
        )

    def list_drawn(self, **options: int) -> set[str]:
        """Draw, and list the figures whose files are other files than before."""
        before = self._stat_files()
        self.draw(**options)
        after = self._stat_files()
        changed = {path for path in after if after[path] != before.get(path)}
        names = {path.name.partition(".")[0] for path in changed}
        assert changed == {path for path in after if path.name.partition(".")[0] in names}
        return names

    def read(self) -> dict[str, bytes]:
        """The bytes of all figures."""
        return {path.name: path.read_bytes() for path in self._stat_files()}

    def _stat_files(self) -> dict[Path, tuple[int, int]]:
        paths = [path for path in self.folder.glob("figures/*") if path.suffix[1:] in FORMATS]
        return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


@pytest.fixture
def study(tmp_path):
    return Study(tmp_path, ["a", "b", "c"])


@pytest.mark.parametrize("threads", [1, 2])
def test_figures_have_the_bytes_of_those_that_are_drawn_from_the_tables(tmp_path, threads):
    study = Study(tmp_path, HOSTILE)
    study.draw(threads=threads)
    tables, order = study.tables, list(study.tables["aggregate"]["model"])
    figures = {
        "scores": draw_scores(tables["scores"], tables["seeds"], order=order),
        "runs_per_cell": draw_runs_per_cell(tables["seeds"], order=order),
        "elo": draw_elo(tables["elo"], order=list(tables["iqm"]["model"]), confidence_level=0.95),
    }
    expected = {}
    for name, figure in figures.items():
        paths = [tmp_path / f"{name}.{suffix}" for suffix in FORMATS]
        save_figure(figure, paths)
        expected |= {path.name: path.read_bytes() for path in paths}
    assert study.read() == expected


def test_the_sample_reads_what_the_catalog_declares():
    for name, reads in TABLES.items():
        figure = FIGURES[name]
        assert reads == {table: table for table in figure.reads} | {"order": figure.order}


def test_nothing_is_drawn_twice(study):
    assert study.list_drawn() == set(TABLES)
    assert study.list_drawn() == set()


def test_a_changed_table_an_option_or_code_redraws_its_figures_only(study):
    study.draw()
    study.tables["elo"]["elo"] += 1
    study.write("elo")
    assert study.list_drawn() == {"elo"}
    study.tables["aggregate"] = study.tables["aggregate"].iloc[::-1]
    study.write("aggregate")
    assert study.list_drawn() == {"scores", "runs_per_cell"}
    study.options["elo"]["confidence_level"] = 0.9
    assert study.list_drawn() == {"elo"}
    study.code["scores"] = "edited"
    assert study.list_drawn() == {"scores"}
    assert study.list_drawn() == set()


def test_a_lost_file_is_put_back_and_an_altered_one_is_drawn_again(study):
    study.draw()
    expected = study.read()
    for path in (study.folder / "figures").iterdir():
        path.unlink()
    assert study.list_drawn() == set(TABLES)
    assert study.read() == expected
    # What is kept is the same file, unless the file system has no hard links.
    (study.folder / "figures/elo.svg").write_bytes(b"<svg")
    assert study.list_drawn() == {"elo"}
    assert study.read() == expected


@pytest.mark.parametrize("content", ["", "[1", '{"elo": 1}'])
def test_without_a_usable_record_a_figure_is_drawn_again(study, content):
    study.draw()
    (study.folder / ".kept/elo/made_from.json").write_text(content)
    assert study.list_drawn() == {"elo"}


def test_a_refused_figure_fails_the_job(study, monkeypatch):
    def refuse(*_tables, **_options):
        raise ValidationError("no model 'x'")

    monkeypatch.setattr(script, "load_function", lambda _reference: refuse)
    with pytest.raises(ValidationError, match="no model 'x'"):
        study.draw()


def test_a_map_that_is_left_out_is_missed_only_where_it_is_drawn(tmp_path):
    note_left_out(tmp_path, "project_umap", "Left out: too large.")
    for projection, reason in (("mds", ""), ("umap", "Left out: too large.")):
        reads = {"places": str(tmp_path / f"capabilities/map/{projection}.parquet")}
        assert script._find_left_out("capability_map", reads, str(tmp_path)) == reason
