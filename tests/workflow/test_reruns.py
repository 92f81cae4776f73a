"""Only what changed is computed again: real runs, counted jobs."""

import csv
import os
import re

import pytest
import yaml

from tests.workflow.checkouts import Checkout, copy_project

MODELS = ["bee", "cow", "fox", "ibis", "jay"]
STUDY = {"bootstrap": {"replicates": 300, "shards": 2}, "analyses": ["ranks"]}
STUDY |= {"figures": {"only": ["intervals"]}}
CONFIG = {
    "studies": {
        "alpha": {"title": "Alpha", "exports": "alpha.csv", **STUDY},
        "beta": {"title": "Beta", "exports": "beta.csv", **STUDY},
    }
}
# In their order, and without the index, which all studies share.
RULES = ["validate", "normalize", "aggregate", "bootstrap", "rank", "compare", "plot", "report"]
NEW_SEED = "bee,x,acc,3,0.61\n"


def list_jobs(*rules: str, study: str = "alpha") -> set[str]:
    """The jobs of some rules of a study, and the index."""
    shards = {f"bootstrap study={study}, shard={shard}" for shard in (0, 1)}
    others = {f"{rule} study={study}" for rule in rules if rule != "bootstrap"}
    return others | {"index"} | (shards if "bootstrap" in rules else set())


def make_export(seeds: int = 3) -> str:
    """Five models × three datasets; scores from a fixed rule, no two models alike."""
    lines = ["model,dataset,metric,seed,score"]
    for rank, model in enumerate(MODELS):
        for number, dataset in enumerate(["x", "y", "z"]):
            for seed in range(seeds):
                score = 0.5 + rank / 20 + number / 10 + (-1) ** number * seed * (rank + 1) / 1000
                lines.append(f"{model},{dataset},acc,{seed},{score:.4f}")
    return "\n".join(lines) + "\n"


def read_graph(project: Checkout) -> set[tuple[str, str]]:
    """Which rule reads what another one makes."""
    graph = project.snakemake("--rulegraph").output
    names = dict(re.findall(r'(\d+)\[label = "(\w+)', graph))
    return {(names[one], names[two]) for one, two in re.findall(r"(\d+) -> (\d+)", graph)}


def read_changes(project: Checkout) -> list[list[str]]:
    """What changed, but for ranks."""
    with (project.folder / "results/alpha/changes.csv").open(newline="") as stream:
        return [row for row in csv.reader(stream) if row[0] not in ("kind", "rank")]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project with two studies, run once to the end."""
    checkout = copy_project(tmp_path_factory.mktemp("finished") / "project")
    (checkout.folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    for study in CONFIG["studies"]:
        (checkout.folder / f"{study}.csv").write_text(make_export())
    before = read_graph(checkout)
    run = checkout.snakemake()
    assert run.status == 0, run.output
    assert read_graph(checkout) == before
    assert {name for edge in before for name in edge} == {*RULES, "index", "all"}
    return checkout


def test_every_rule_says_what_it_does(finished: Checkout) -> None:
    listed = finished.snakemake("--list-rules").output
    for name in RULES:
        assert re.search(rf"^{name} \(\S.* → .*\.\)$", listed, re.MULTILINE), name


def test_a_touched_export_is_no_change(project: Checkout) -> None:
    os.utime(project.folder / "alpha.csv")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert not run.jobs


def test_a_new_seed_reruns_its_study_once_and_is_named_after_a_killed_report(
    project: Checkout,
) -> None:
    project.edit("alpha.csv", lambda text: text + NEW_SEED)
    project.edit("beta.csv", lambda text: text + NEW_SEED)
    (project.folder / "results/alpha/paper/mine.tex").write_text("Mine.")
    script = project.folder / "scripts/report.py"
    before = script.read_text()
    killed = "    __import__('os').kill(__import__('os').getpid(), 9)\n    save_state("
    script.write_text(before.replace("    save_state(", killed))
    page = project.folder / "results/alpha/report.html"
    run = project.snakemake("--config", "run=alpha")
    assert run.status != 0
    assert set(run.jobs) == list_jobs(*RULES) - {"index"}
    assert set(run.jobs.values()) == {1}
    assert not page.exists()
    script.write_text(before)
    run = project.snakemake("--config", "run=alpha")
    assert run.status == 0, run.output
    assert set(run.jobs) == list_jobs("report")
    assert not project.snakemake("--config", "run=alpha").jobs
    changes = [["run", "bee on x, seed 3", "", "0.61"]]
    assert read_changes(project) == changes
    assert "1 new run" in page.read_text()
    assert set(project.snakemake("--config", "run=alpha", "--forcerun", "report").jobs) == (
        list_jobs("report")
    )
    assert read_changes(project) == changes
    assert (project.folder / "results/alpha/paper/mine.tex").read_text() == "Mine."


def test_a_removed_model_leaves_nothing_behind(project: Checkout) -> None:
    project.edit("alpha.csv", lambda text: re.sub("^bee,.*\n", "", text, flags=re.MULTILINE))
    run = project.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs) == list_jobs(*RULES)
    for path in (project.folder / "results/alpha/tables").glob("*.csv"):
        assert "bee" not in path.read_text()
    assert read_changes(project) == [["model", "bee", "bee", ""]]


@pytest.mark.parametrize(
    ("edited", "rules"),
    [
        ("ranking/resampling.py", RULES),
        ("analyses/ranks.py", ["compare", "plot", "report"]),
        ("figures/comparison.py", ["plot", "report"]),
        ("pages/templates/page.css", ["report"]),
    ],
)
def test_an_edited_module_runs_its_stage_and_what_follows(
    project: Checkout, edited: str, rules: list[str]
) -> None:
    comment = "\n/* edited */\n" if edited.endswith(".css") else "\n# edited\n"
    project.edit(f"scripts/capmap/{edited}", lambda text: text + comment)
    expected = {job for study in CONFIG["studies"] for job in list_jobs(*rules, study=study)}
    assert set(project.snakemake("-n").jobs) == expected


@pytest.mark.parametrize(
    ("path", "value", "rules"),
    [
        ("title", "New", ["report"]),
        ("figures", {"width": 5.0}, ["plot", "report"]),
        ("bootstrap", STUDY["bootstrap"] | {"seed": 1}, RULES[3:]),
        ("min_datasets", 1, RULES[1:]),
    ],
)
def test_a_changed_setting_runs_its_stage_and_what_follows(
    project: Checkout, path: str, value: object, rules: list[str]
) -> None:
    project.change_settings(lambda study: study.update({path: value}))
    assert set(project.snakemake("-n").jobs) == list_jobs(*rules)


def test_comparisons_are_forced_without_what_is_before_them(finished: Checkout) -> None:
    run = finished.snakemake("-n", "--forcerun", "compare")
    assert run.rules == {"compare", "plot", "report", "index"}


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("tables/ranking.csv", ["rank", "compare", "plot", "report"]),
        ("paper/methods.tex", ["report"]),
        ("claims.csv", ["report"]),
    ],
)
def test_a_deleted_result_is_made_again(project: Checkout, name: str, rules: list[str]) -> None:
    (project.folder / "results/alpha" / name).unlink()
    assert set(project.snakemake("-n").jobs) == list_jobs(*rules)


def test_a_lost_table_stops_the_page_with_what_to_do(project: Checkout) -> None:
    folder = project.folder / "results/alpha/comparisons"
    (folder / "friedman.csv").unlink()
    project.change_settings(lambda study: study.update(title="New"))
    run = project.snakemake()
    assert run.status != 0
    assert "Traceback" not in run.output
    (told,) = re.findall(r"^alpha, report: (.*)$", run.output, re.MULTILINE)
    assert told == (
        "results/alpha/comparisons/friedman.csv is no longer there. Make the folder again: remove "
        "results/alpha/comparisons, and run the same command."
    )
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    run = project.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs) == list_jobs("compare", "plot", "report")
    assert (folder / "friedman.csv").is_file()
