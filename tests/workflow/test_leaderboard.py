"""Leaderboards in real runs: published, added to, and refused."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml

from capmap.analyses import load_analysis
from capmap.artifacts import read_table
from capmap.ranking import choose
from capmap.tables import read_declared
from tests.workflow.checkouts import PROJECT, Checkout, Run, copy_project

FEW: dict[str, Any] = {
    "bootstrap": {"replicates": 200, "unit": "runs"},
}
BOARD = "results/leaderboard/leaderboard"
# What a new submission makes again, up to the board, and then up to the page.
TABLES = {"validate_submissions", "normalize", "bootstrap", "lead", "board"}
PAGES = {"aggregate", "rank", "compare", "plot", "report"}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The shipped studies of leaderboards with fewer replicates, run once to the end."""
    studies = ["leaderboard", "trainings"]
    checkout = copy_project(tmp_path_factory.mktemp("boards") / "project", take=studies)
    shipped = yaml.safe_load((PROJECT / "config.yaml").read_text())["studies"]
    checkout.write_studies({name: shipped[name] | FEW for name in studies})
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


def add_submission(checkout: Checkout, name: str) -> Path:
    """Add a submission with better runs of the new model of a shipped one."""
    target = checkout.folder / "data/submissions" / name
    shutil.copytree(checkout.folder / "data/submissions/northlight", target)
    path = target / "results_and_parameters.csv"
    table = pd.read_csv(path, dtype=str)
    table = table[table["backbone"] == "northlight_vit_s"]
    scores = [f"{float(score) ** 0.8:.6f}" for score in table["test metric"]]
    table.assign(**{"test metric": scores}).to_csv(path, index=False)
    return target


def digest_kept(checkout: Checkout, pattern: str) -> dict[str, str]:
    """Digests of the results whose paths a pattern finds."""
    found = {path: hash_ for path, hash_ in checkout.digests().items() if re.search(pattern, path)}
    assert found
    return found


def reverse_rows(text: str) -> str:
    header, *rows = text.splitlines(keepends=True)
    return header + "".join(reversed(rows))


def assert_told_once(run: Run, fragments: Sequence[str]) -> None:
    """Each fragment of a message is told in one line, and nothing of the machinery."""
    assert run.status != 0
    assert "Traceback" not in run.output
    for fragment in fragments:
        assert len([line for line in run.output.splitlines() if fragment in line]) == 1, fragment


def test_every_table_figure_and_page_is_made(finished: Checkout) -> None:
    for study, name in (("leaderboard", "leaderboard"), ("trainings", "checkpoints")):
        folder, made = finished.folder / "results" / study, load_analysis(name)
        for table, declared in made.tables.items():
            for suffix in declared.formats.split():
                assert (folder / f"{made.folder}/{table}.{suffix}").stat().st_size > 0
            assert len(read_table(folder / f"{made.folder}/{table}.csv")) > 0
        for figure in made.figures:
            for suffix in ("pdf", "svg"):
                assert (folder / f"figures/{figure}.{suffix}").stat().st_size > 1000
        assert f'<section id="analysis-{name}"' in (folder / "report.html").read_text()
    rows = json.loads((finished.folder / BOARD / "entries.json").read_text())
    assert len(rows) == len(read_table(finished.folder / BOARD / "entries.csv"))
    page = (finished.folder / BOARD / "index.html").read_text()
    assert "Northlight-ViT-S" in page
    trainings = finished.folder / "results/trainings/leaderboard/index.html"
    assert "Dense-L-run2" in trainings.read_text()
    assert len(page.encode()) < 2_000_000


def test_the_board_and_the_main_ranking_agree(finished: Checkout) -> None:
    entries = read_table(finished.folder / BOARD / "entries.csv")
    main = choose(read_declared(finished.folder / "results/leaderboard/tables/ranking.csv"))
    both = entries.merge(main, on="model", suffixes=("", "_main"))
    assert len(both) == len(entries) == len(main)
    assert both["iqm"].to_numpy() == pytest.approx(both["score"].to_numpy(), abs=1e-12)


def test_nothing_runs_again(finished: Checkout) -> None:
    run = finished.snakemake()
    assert run.status == 0, run.output
    assert not run.jobs


def test_a_new_submission_reruns_what_it_must_and_the_changes_name_it(project: Checkout) -> None:
    ranking = project.folder / "results/leaderboard/tables/ranking.csv"
    before = choose(read_table(ranking)).set_index("model")["rank"]
    other = digest_kept(project, "^trainings/")
    add_submission(project, "fourth")
    run = project.snakemake(f"{BOARD}/index.html")
    assert run.status == 0, run.output
    assert run.rules == TABLES
    assert set(run.jobs.values()) == {1}
    run = project.snakemake("results/leaderboard/changes.csv")
    assert run.status == 0, run.output
    assert run.rules == PAGES
    after = choose(read_table(ranking)).set_index("model")["rank"]
    new = set(after.index) - set(before.index)
    assert new == {"northlight_vit_s / full_ft / fourth"}
    changes = read_table(project.folder / "results/leaderboard/changes.csv")
    assert set(changes.loc[changes["kind"] == "model", "after"]) == new
    assert not set(changes["kind"]) - {"model", "rank"}
    moved = changes[(changes["kind"] == "rank") & changes["before"].notna()].set_index("name")
    expected = before[before.notna() & (before != after[before.index])]
    assert len(expected) > 0
    assert moved["before"].sort_index().tolist() == expected.sort_index().tolist()
    entries = read_table(project.folder / BOARD / "entries.csv")
    assert new == set(entries.loc[entries["submission"] == "fourth", "model"])
    assert '"fourth"' in (project.folder / BOARD / "index.html").read_text()
    assert digest_kept(project, "^trainings/") == other


def test_a_faulty_submission_stops_and_the_page_stays(project: Checkout) -> None:
    kept = "^leaderboard/(leaderboard|tables|comparisons|figures)/|report.html$"
    published = digest_kept(project, kept)
    folder = add_submission(project, "faulty")
    (folder / "additional_info.json").unlink()
    path = folder / "results_and_parameters.csv"
    lines = path.read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:-2], "abc", cells[-1]])
    path.write_text("\n".join(lines) + "\n")
    run = project.snakemake()
    assert {"validate_submissions"} == run.rules
    assert_told_once(
        run,
        [
            "The submission has no file additional_info.json.",
            "faulty/results_and_parameters.csv, line 2, column 'test metric', value 'abc': The",
        ],
    )
    assert digest_kept(project, kept) == published
    rejected = read_table(project.folder / "results/leaderboard/rejected.csv")
    assert rejected["source"].str.contains("faulty").all()


def test_another_release_adds_to_the_history(project: Checkout) -> None:
    history = "results/leaderboard/comparisons"
    (project.folder / "releases").mkdir()
    entries = project.folder / BOARD / "entries.csv"
    shutil.copy(entries, project.folder / "releases/2025-01.csv")
    releases = {"releases": "releases/*.csv"}
    project.change_settings(lambda study: study.update(leaderboard=releases))
    run = project.snakemake(history)
    assert run.status == 0, run.output
    assert run.rules == {"compare"}
    shutil.copy(entries, project.folder / "releases/2025-02.csv")
    assert project.snakemake(history).rules == {"compare"}
    table = read_table(project.folder / history / "rank_history.csv")
    assert table["release"].unique().tolist() == ["2025-01", "2025-02", "current"]
    assert len(table) == 3 * table["model"].nunique()


def test_shards_rows_and_submissions_in_another_order_change_no_byte(project: Checkout) -> None:
    tables = r"leaderboard/[a-z_]+\.(csv|json|md|tex)$"
    page = "^leaderboard/leaderboard/index.html$"
    before, shown = digest_kept(project, tables), digest_kept(project, page)

    def rearrange(study: dict[str, Any]) -> None:
        study["bootstrap"]["shards"] = 3
        names = ["northlight", "baseline", "meadow"]
        study["exports"] = [f"data/submissions/{name}" for name in names]

    project.change_settings(rearrange)
    project.edit("data/checkpoints/evaluations.csv", reverse_rows)
    targets = [f"{BOARD}/index.html", "results/trainings/comparisons"]
    run = project.snakemake("--forceall", *targets)
    assert run.status == 0, run.output
    assert digest_kept(project, tables) == before
    assert digest_kept(project, page) == shown
