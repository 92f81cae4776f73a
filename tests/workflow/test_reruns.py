"""Only what changed is computed again: real runs, counted jobs."""

import os

import pytest
import yaml

from tests.workflow.checkouts import STUDY_PAGES, Checkout, copy_project

# Their hashes put bee and fox into shards of their own, the others together into the third.
MODELS = ["bee", "cow", "fox", "ibis", "jay"]
SETTINGS = {"replicates": 300, "shards": 3}
STUDY = {"bootstrap": SETTINGS, "analyses": []}
CONFIG = {
    "studies": {
        "alpha": {"title": "Alpha", "exports": "alpha.csv", **STUDY},
        "beta": {"title": "Beta", "exports": "beta.csv", **STUDY},
    }
}
GATHERS = {
    "aggregate_scores study=alpha",
    "rank_models study=alpha",
    "plot study=alpha",
    "track_changes study=alpha",
    *(f"{page} study=alpha" for page in STUDY_PAGES),
    "write_index",
}
READING = {"validate_exports study=alpha", "normalize_runs study=alpha"}


def make_export(seeds: int = 3) -> str:
    """Five models × three datasets; scores from a fixed rule, no two models alike."""
    lines = ["model,dataset,metric,seed,score"]
    for rank, model in enumerate(MODELS):
        for number, dataset in enumerate(["x", "y", "z"]):
            for seed in range(seeds):
                score = 0.5 + rank / 20 + number / 10 + (-1) ** number * seed * (rank + 1) / 1000
                lines.append(f"{model},{dataset},acc,{seed},{score:.4f}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project with two studies, run once to the end."""
    checkout = copy_project(tmp_path_factory.mktemp("finished") / "project")
    (checkout.folder / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    for study in CONFIG["studies"]:
        (checkout.folder / f"{study}.csv").write_text(make_export())
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


def shard_of(checkout: Checkout, model: str) -> str:
    """The shard that holds a model of study alpha."""
    import pyarrow.parquet as pq

    folder = checkout.folder / "results/alpha/normalized"
    found = [p for p in folder.glob("*.parquet") if model in pq.read_table(p)["model"].to_pylist()]
    assert len(found) == 1
    return found[0].stem


def test_a_touched_export_is_no_change(project: Checkout) -> None:
    os.utime(project.folder / "alpha.csv")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert not run.jobs


def test_new_seed_reruns_its_shard_and_the_gathers_of_its_study(project: Checkout) -> None:
    shard = shard_of(project, "bee")
    project.edit("alpha.csv", lambda text: text + "bee,x,acc,3,0.61\n")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs) == READING | {f"bootstrap_shard study=alpha, shard={shard}"} | GATHERS
    assert set(run.jobs.values()) == {1}
    assert not project.snakemake().jobs


def test_removed_model_leaves_nothing_behind(project: Checkout) -> None:
    shard = shard_of(project, "bee")

    def remove(text: str) -> str:
        lines = text.splitlines(keepends=True)
        return "".join(line for line in lines if not line.startswith("bee,"))

    project.edit("alpha.csv", remove)
    run = project.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs) == READING | GATHERS
    assert not (project.folder / f"results/alpha/normalized/{shard}.parquet").exists()
    assert "\nbee," not in (project.folder / "results/alpha/tables/iqm.csv").read_text()


def test_new_title_rewrites_the_pages_only(project: Checkout) -> None:
    project.edit("config.yaml", lambda text: text.replace("title: Alpha", "title: New"))
    run = project.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs) == {f"{rule} study=alpha" for rule in STUDY_PAGES} | {"write_index"}


def test_edited_library_module_reruns_the_rules_that_use_it(project: Checkout) -> None:
    module = "scripts/capmap/ranking/resampling.py"
    project.edit(module, lambda text: text + "\n# edited\n")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert {"bootstrap_shard", "rank_models"} <= run.rules
    assert "validate_exports" not in run.rules


def test_edited_template_rewrites_the_pages_only(project: Checkout) -> None:
    template = "scripts/capmap/pages/templates/page.css"
    project.edit(template, lambda text: text + "\n/* edited */\n")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert run.rules == STUDY_PAGES | {"write_index"}


def test_run_option_leaves_other_studies_alone(project: Checkout) -> None:
    for study in CONFIG["studies"]:
        project.edit(f"{study}.csv", lambda text: text + "bee,x,acc,3,0.61\n")
    run = project.snakemake("--config", "run=beta")
    assert run.status == 0, run.output
    assert not any("study=alpha" in job for job in run.jobs)
