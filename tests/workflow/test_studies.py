"""Whole runs: the shipped examples against the published tables, and real exports of others."""

import re
import warnings
from pathlib import Path

import nbformat
import pandas as pd
import pytest
import yaml
from nbclient import NotebookClient

import capmap
from capmap.analyses import ANALYSES, find_table, list_analyses, list_tables, place_read
from capmap.ranking import choose
from capmap.settings.sections import OF_SCORES
from tests.toy_settings import make_settings
from tests.workflow.checkouts import PROJECT, Checkout, check_figures, copy_project

SHARED = PROJECT.parent / "shared"
STUDIES = Path(__file__).parent / "studies"
TUTORIAL = ["toy", "benchmark", "seeded"]
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the real exports and published tables lie beside the checkout"
)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The shipped examples of rankings, run to the end; others have tests of their own."""
    checkout = copy_project(tmp_path_factory.mktemp("examples") / "project", take=TUTORIAL)
    run = checkout.snakemake("--config", f"run={TUTORIAL}")
    assert run.status == 0, run.output
    return checkout


def run_real_study(
    name: str, folder: Path, *targets: str, replicates: int | None = None
) -> Checkout:
    """Run a committed study on the real export that it names, to some results or all."""
    checkout = copy_project(folder / "project")
    (folder / "shared").symlink_to(SHARED)
    config = yaml.safe_load((STUDIES / f"{name}.yaml").read_text())
    for study in config["studies"].values():
        if replicates:
            study["bootstrap"] = study.get("bootstrap", {}) | {"replicates": replicates}
    (checkout.folder / "my.yaml").write_text(yaml.safe_dump(config))
    run = checkout.snakemake(*targets, "--configfile", "my.yaml")
    assert run.status == 0, run.output
    return checkout


def list_targets(study: str, *tables: str) -> list[str]:
    """The files of some tables of a study."""
    return [f"results/{study}/{table}" for table in tables]


def read(checkout: Checkout, study: str, table: str) -> pd.DataFrame:
    """A table of a study's results, by model."""
    path = checkout.folder / f"results/{study}/tables/{table}.csv"
    return pd.read_csv(path, index_col="model")


@pytest.mark.parametrize("name", TUTORIAL)
def test_a_table_in_memory_has_the_bytes_of_the_workflow(examples: Checkout, name: str) -> None:
    settings = yaml.safe_load((PROJECT / "config.yaml").read_text())["studies"][name]
    frame = pd.read_csv(PROJECT / settings.pop("exports"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one run per cell
        study = capmap.Study(frame, name=name, **settings)
    finished = capmap.load(examples.folder / "results" / name)
    asked = ["main", *list_analyses(make_settings(**settings))]
    # Of another study, which a table does not have.
    for analysis in [name for name in asked if name != "conditions"]:
        own, theirs = study.analysis(analysis), finished.analysis(analysis)
        assert own.text == theirs.text
        assert own.methods == theirs.methods
        assert [*own.figures] == [*theirs.figures]
        for table in theirs.tables:
            place = place_read(table, analysis)
            assert (study.folder / place).read_bytes() == (finished.folder / place).read_bytes()
        for figure in theirs.figures:
            assert own.plot(figure)._repr_svg_() == theirs.plot(figure)._repr_svg_()


def test_the_cells_of_the_page_on_notebooks_run(
    examples: Checkout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(PROJECT / "scripts"))
    frame = pd.read_csv(PROJECT / "data/tutorial/toy.csv")
    names = {"model": "backbone", "dataset": "task", "score": "test score"}
    frame.rename(columns=names).to_csv(tmp_path / "results.csv", index=False)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/mine").symlink_to(examples.folder / "results/toy")
    page = (PROJECT / "docs/notebook.md").read_text()
    cells = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs[-1].data for cell in notebook.cells if cell.outputs]
    assert len(shown) >= 2
    assert "<svg" in shown[0]["text/html"]


def test_every_result_of_the_examples_exists(examples: Checkout) -> None:
    studies = yaml.safe_load((PROJECT / "config.yaml").read_text())["studies"]
    papers = [yaml.safe_load(path.read_text())["studies"] for path in PROJECT.glob("papers/*.yaml")]
    asked = [
        study.get("analyses", ["items"]) for some in (studies, *papers) for study in some.values()
    ]
    names = {name for own in asked for name in (OF_SCORES if own == "all" else own)}
    assert names == set(ANALYSES)
    for study, settings in ((name, studies[name]) for name in TUTORIAL):
        folder = examples.folder / "results" / study
        settings = make_settings(**settings)
        assert 0 < (folder / "report.html").stat().st_size < 2_000_000
        check_figures(folder, settings)
        for name in list_tables(settings):
            for suffix in find_table(name).formats.split():
                assert (folder / f"{name}.{suffix}").is_file()


@needs_shared
def test_sparse_study_with_several_variants_runs_through(tmp_path: Path) -> None:
    checkout = run_real_study("rtdl", tmp_path, replicates=1000)
    scores = read(checkout, "rtdl", "scores")
    assert scores.shape == (12, 11)
    assert int(scores.isna().sum().sum()) == 17
    folder = checkout.folder / "results/rtdl"
    assert (folder / "report.html").stat().st_size < 2_000_000
    written = [*folder.glob("tables/*"), *folder.glob("comparisons/*"), *folder.glob("paper/*.tex")]
    for old, new in {"catboost": "CatBoost", "adult": "Adult income"}.items():
        for path in [folder / "report.html", *written]:
            if path.suffix == ".parquet":
                continue
            # The page shows the settings too.
            assert not re.search(rf"\b{old}\b(?!: {new})", path.read_text("utf-8")), path
        assert f"{old}: {new}" in (folder / "report.html").read_text("utf-8")
    pairs = pd.read_csv(folder / "comparisons/pairwise.csv")
    # One of 12 models has fewer than half of the datasets, and is not ranked.
    assert len(pairs) == 55
    assert (pairs["datasets"] <= 11).all()
    assert (pairs[["wins", "ties", "losses"]].sum(axis=1) == pairs["datasets"]).all()
    tests = pd.read_csv(folder / "comparisons/friedman.csv")
    assert tests["test"].tolist() == ["skillings_mack"]


@needs_shared
def test_wide_study_without_seeds_runs_through(tmp_path: Path) -> None:
    targets = list_targets("openclip", "tables/scores.csv", "tables/ranking.csv")
    checkout = run_real_study("openclip", tmp_path, *targets, replicates=1000)
    scores = read(checkout, "openclip", "scores")
    assert scores.shape == (121, 38)
    ranking = choose(read(checkout, "openclip", "ranking"))
    assert set(ranking["unit"]) == {"runs_and_datasets"}
    assert ranking["ci_low"].notna().all()
    assert 1 < (ranking["rank_low"] == 1).sum() < 121
