"""What an analysis declares is made, shown and explained everywhere; nothing else is needed."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.workflow.checkouts import PROJECT, Checkout, Run, copy_project

JOBS = "validate normalize aggregate bootstrap rank compare plot report index"
EXPORT = """\
model,dataset,metric,seed,score
bee,x,acc,0,0.5
bee,x,acc,1,0.7
bee,y,acc,0,0.6
cow,x,acc,0,0.4
cow,x,acc,1,0.45
cow,y,acc,0,0.9
"""
CAPTION = "The best run of each model on each dataset, in the throw-away test."
ANALYSIS = f'''"""The best runs."""

from capmap.analyses import Analysis, Figure, Step, Table


def find_top_runs(runs):
    """Find the best run of each cell."""
    return runs.groupby(["model", "dataset"], as_index=False)["score"].max()


def find_facts(top_runs):
    """How many there are."""
    return {{"runs": len(top_runs)}}


ANALYSIS = Analysis(
    question="What is the best of all runs?",
    position=1000,
    tables={{"top_runs": Table("{CAPTION}", "model dataset score", formats="csv tex")}},
    figures={{
        "top_runs": Figure(
            "A dot per best run, in the throw-away test.",
            draw="capmap.figures.top_runs:draw_top_runs",
            options={{"size": "header_rows"}},
        )
    }},
    steps={{"find_top_runs": Step(find_top_runs)}},
    find_facts=find_facts,
)
'''
TEMPLATE = (
    "{% block top_runs_methods %}{% endblock %}"
    "{% block top_runs_answer %}There are {{ runs }} best runs.{% endblock %}"
)
FIGURE = '''"""Dots of best runs."""

from matplotlib.figure import Figure

from capmap.figures.style import figure_style


@figure_style()
def draw_top_runs(top_runs, *, order, size):
    """Draw a dot per run."""
    assert len(order) == 2
    figure = Figure(figsize=(3, 2))
    figure.subplots().plot(top_runs["model"], top_runs["score"], "o", markersize=size)
    return figure
'''


def declare_analysis(checkout: Checkout) -> None:
    """Add an analysis: its file, its template and its figure; the index is made again."""
    room = checkout.folder / "scripts/capmap"
    (room / "analyses/top_runs.py").write_text(ANALYSIS)
    (room / "analyses/top_runs.j2").write_text(TEMPLATE)
    (room / "figures/top_runs.py").write_text(FIGURE)
    (checkout.folder / "docs").mkdir()
    for name in ("make_results.py", "results.md", "make_configuration.py", "configuration.md"):
        (checkout.folder / "docs" / name).write_bytes((PROJECT / "docs" / name).read_bytes())
    subprocess.run([sys.executable, str(checkout.folder / "docs/make_results.py")], check=True)


@pytest.fixture(scope="session")
def declared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Run]:
    """A project with an analysis more, run to the end and then to Snakemake's own report."""
    checkout = copy_project(tmp_path_factory.mktemp("declared") / "project")
    declare_analysis(checkout)
    (checkout.folder / "mine.csv").write_text(EXPORT)
    study = {"exports": "mine.csv", "analyses": ["top_runs"]}
    checkout.write_studies({"mine": study | {"bootstrap": {"replicates": 100, "shards": 1}}})
    run = checkout.snakemake()
    assert run.status == 0, run.output
    report = checkout.snakemake("--report", "all.html")
    assert report.status == 0, report.output
    return checkout, run


def test_a_declared_analysis_is_made_in_the_job_of_the_comparisons(declared) -> None:
    checkout, run = declared
    assert (checkout.folder / "results/mine/figures/top_runs.pdf").is_file()
    assert run.rules == {*JOBS.split()}
    folder = checkout.folder / "results/mine/comparisons"
    table = (folder / "top_runs.csv").read_text()
    assert table.splitlines()[0] == "model,dataset,score"
    assert len(table.splitlines()) == 5
    assert r"\toprule" in (folder / "top_runs.tex").read_text()
    said = "".join(path.read_text() for path in folder.parent.glob("paper/*.tex"))
    assert "There are 4 best" in said


def test_a_declared_analysis_has_its_section_on_the_page(declared) -> None:
    checkout, _ = declared
    page = unescape((checkout.folder / "results/mine/report.html").read_text())
    section = page[page.index('<section id="analysis-top_runs"') :]
    for part in (
        *("What is the best of all runs?", "There are 4 best runs.", CAPTION),
        *(
            "A dot per best run, in the throw-away test.",
            "comparisons/top_runs.csv",
            "top_runs.pdf",
        ),
    ):
        assert part in section, part


def test_the_report_of_snakemake_has_its_table_and_its_figure(declared) -> None:
    checkout, _ = declared
    report = (checkout.folder / "all.html").read_text("utf-8")
    for path in ("comparisons/top_runs.csv", "figures/top_runs.svg", "tables/ranking.csv"):
        assert f"results/mine/{path}" in report, path


def test_a_declared_analysis_is_a_choice_and_is_explained(declared, tmp_path: Path) -> None:
    checkout, _ = declared
    checkout = checkout.copy(tmp_path / "project")
    checkout.write_studies({"mine": {"exports": "mine.csv", "analyses": ["top_run"]}})
    run = checkout.snakemake("-n")
    assert run.status != 0
    assert "top_runs" in run.output
    docs = checkout.folder / "docs"
    subprocess.run([sys.executable, str(docs / "make_configuration.py")], check=True)
    (row,) = re.findall(r"^`analyses` .*$", (docs / "configuration.md").read_text(), re.M)
    assert "`published`/`top_runs`" in row
