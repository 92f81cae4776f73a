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

from capmap.artifacts import read_parquet, read_table
from capmap.catalog import ANALYSES
from tests.workflow.checkouts import PAGES, PROJECT, STUDY_PAGES, Checkout, Run, copy_project

FEW: dict[str, Any] = {
    "bootstrap": {"replicates": 200, "shards": 3, "unit": "runs"},
}
BOARD = "results/leaderboard/leaderboard"
TABLES = {
    *("validate_submissions", "normalize_runs", "rank_entries", "summarize_entries"),
    *("aggregate_scores", "rank_models", "track_changes"),
}
SHARDED = {"bootstrap_shard"}
TRACKED = [
    "results/pretraining/comparisons/selected.csv",
    "results/iterate/leaderboard/entries.csv",
]
FIGURES = {"plot"}


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


def find_shards(checkout: Checkout, models: set[str]) -> set[str]:
    """The shards that hold some models."""
    return {
        path.stem
        for path in (checkout.folder / "results/leaderboard/normalized").glob("*.parquet")
        if models & set(read_parquet(path)["model"])
    }


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
        folder = finished.folder / "results" / study
        for table in ANALYSES[name].tables:
            for suffix in ("csv", "json", "md", "tex"):
                assert (folder / f"leaderboard/{table}.{suffix}").stat().st_size > 0
            rows = json.loads((folder / f"leaderboard/{table}.json").read_text())
            assert len(rows) == len(read_table(folder / f"leaderboard/{table}.csv")) > 0
        for figure in ANALYSES[name].figures:
            for suffix in ("pdf", "svg"):
                assert (folder / f"figures/{figure}.{suffix}").stat().st_size > 1000
        assert len((folder / f"text/{name}.txt").read_text()) > 100
        assert f'<section id="analysis-{name}"' in (folder / "report.html").read_text()
    page = (finished.folder / BOARD / "index.html").read_text()
    assert "Northlight-ViT-S" in page
    assert len(page.encode()) < 2_000_000


def test_the_board_and_the_main_ranking_agree(finished: Checkout) -> None:
    entries = read_table(finished.folder / BOARD / "entries.csv")
    main = read_table(finished.folder / "results/leaderboard/tables/iqm.csv")
    both = entries.merge(main, on="model", suffixes=("", "_main"))
    assert len(both) == len(entries) == len(main)
    assert both["iqm"].to_numpy() == pytest.approx(both["iqm_main"].to_numpy(), abs=1e-12)


def test_nothing_runs_again(finished: Checkout) -> None:
    run = finished.snakemake()
    assert run.status == 0, run.output
    assert not run.jobs


def test_a_new_submission_reruns_what_it_must_and_the_changes_name_it(project: Checkout) -> None:
    ranking = project.folder / "results/leaderboard/tables/iqm.csv"
    before = read_table(ranking).set_index("model")["rank"]
    other = digest_kept(project, "^trainings/")
    add_submission(project, "fourth")
    run = project.snakemake(f"{BOARD}/index.html", "results/leaderboard/tables/changes.csv")
    assert run.status == 0, run.output
    assert run.rules == TABLES | SHARDED | {"write_leaderboard"}
    assert set(run.jobs.values()) == {1}
    later = FIGURES | PAGES | {"track_releases", "write_leaderboard"}
    assert project.snakemake("-n").rules == later - {"write_leaderboard"}
    after = read_table(ranking).set_index("model")["rank"]
    new = set(after.index) - set(before.index)
    assert new == {"northlight_vit_s / full_ft / fourth"}
    shards = find_shards(project, new)
    for rule in SHARDED:
        jobs = {job for job in run.jobs if job.startswith(f"{rule} ")}
        assert jobs == {f"{rule} study=leaderboard, shard={shard}" for shard in shards}
    changes = read_table(project.folder / "results/leaderboard/tables/changes.csv")
    ranks = changes[(changes["table"] == "iqm") & (changes["quantity"] == "rank")]
    assert set(ranks.loc[ranks["before"].isna(), "model"]) == new
    moved = ranks[ranks["before"].notna()].set_index("model")
    expected = before[before.notna() & (before != after[before.index])]
    assert len(expected) > 0
    assert moved["before"].sort_index().tolist() == expected.sort_index().tolist()
    entries = read_table(project.folder / BOARD / "entries.csv")
    assert new == set(entries.loc[entries["submission"] == "fourth", "model"])
    assert '"fourth"' in (project.folder / BOARD / "index.html").read_text()
    assert digest_kept(project, "^trainings/") == other


def test_a_faulty_submission_stops_and_the_page_stays(project: Checkout) -> None:
    kept = "^leaderboard/(leaderboard|tables|figures)/|report.html$"
    published = digest_kept(project, kept)
    folder = add_submission(project, "faulty")
    (folder / "additional_info.json").unlink()
    path = folder / "results_and_parameters.csv"
    lines = path.read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:-2], "abc", cells[-1]])
    path.write_text("\n".join([*lines, lines[-1]]) + "\n")
    run = project.snakemake()
    last = len(lines) + 1
    assert {"validate_submissions"} == run.rules
    assert_told_once(
        run,
        [
            "data/submissions/faulty, value 'additional_info.json': The submission has no file",
            "faulty/results_and_parameters.csv, line 2, column 'test metric', value 'abc': The",
            f"faulty/results_and_parameters.csv, line {last}, column 'Seed', value",
        ],
    )
    assert digest_kept(project, kept) == published
    rejected = read_table(project.folder / "results/leaderboard/rejected.csv")
    assert rejected["source"].str.contains("faulty").all()


def test_another_release_adds_to_the_history(project: Checkout) -> None:
    history = "results/leaderboard/comparisons/rank_history.csv"
    (project.folder / "releases").mkdir()
    entries = project.folder / BOARD / "entries.csv"
    shutil.copy(entries, project.folder / "releases/2025-01.csv")
    releases = {"releases": "releases/*.csv"}
    project.change_settings(lambda study: study.update(leaderboard=releases))
    run = project.snakemake(history)
    assert run.status == 0, run.output
    assert run.rules == {"track_releases"}
    shutil.copy(entries, project.folder / "releases/2025-02.csv")
    assert project.snakemake(history).rules == {"track_releases"}
    table = read_table(project.folder / history)
    assert table["release"].unique().tolist() == ["2025-01", "2025-02", "current"]
    assert len(table) == 3 * table["model"].nunique()


def test_a_title_and_a_ranking_rerun_what_shows_them(project: Checkout) -> None:
    more = {"name": "error", "method": "single", "metric": "ece"}
    project.change_settings(lambda study: study.update(title="Another title"))
    project.change_settings(
        lambda study: study["checkpoints"]["rankings"].append(more), "trainings"
    )
    assert set(project.snakemake("-n").jobs) == {
        *("write_leaderboard study=leaderboard", "write_index"),
        *("rank_checkpoints study=trainings", "plot study=trainings"),
        *(f"{page} study=trainings" for page in STUDY_PAGES),
        *(f"{page} study=leaderboard" for page in STUDY_PAGES),
    }


def test_shards_rows_and_submissions_in_another_order_change_no_byte(project: Checkout) -> None:
    tables = r"leaderboard/[a-z_]+\.(csv|json|md|tex)$"
    page = "^leaderboard/leaderboard/index.html$"
    before, shown = digest_kept(project, tables), digest_kept(project, page)

    def rearrange(study: dict[str, Any]) -> None:
        study["bootstrap"]["shards"] = 1
        names = ["northlight", "baseline", "meadow"]
        study["exports"] = [f"data/submissions/{name}" for name in names]

    project.change_settings(rearrange)
    project.edit("data/checkpoints/evaluations.csv", reverse_rows)
    targets = [f"{BOARD}/index.html", "results/trainings/comparisons/selected.csv"]
    run = project.snakemake("--forceall", *targets)
    assert run.status == 0, run.output
    assert digest_kept(project, tables) == before
    assert digest_kept(project, page) == shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"exports": "data/nowhere"}, "studies.leaderboard.exports: no folder matches"),
        ({"leaderboard": {"releases": "old/*.csv"}}, "leaderboard.releases: no file matches"),
        ({"analyses": ["checkpoints"]}, "checkpoints need format: checkpoints"),
    ],
)
def test_a_setting_at_fault_is_told_before_any_job(
    finished: Checkout, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    study = yaml.safe_load((finished.folder / "config.yaml").read_text())["studies"]["leaderboard"]
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"studies": {"leaderboard": {**study, **change}}}))
    run = finished.snakemake("-n", "--configfile", str(path))
    assert not run.jobs
    assert_told_once(run, [message])
