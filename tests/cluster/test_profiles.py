"""The profile for Slurm names what there is, and asks for more with every attempt."""

import re
import shutil
import sys

import yaml

from capmap.catalog import EVERYTHING
from tests.waiting import run_to_end
from tests.workflow.checkouts import PROJECT, copy_project

RULE = re.compile(r"^(?:rule|checkpoint) (\w+):", re.MULTILINE)
FILES = sorted((PROJECT / "workflow/rules").glob("*.smk"))
STEPS = {name for made in EVERYTHING.values() if not made.shared for name in made.steps}
RULES = STEPS.union(*(RULE.findall(file.read_text("utf-8")) for file in FILES))
PROFILE = yaml.safe_load((PROJECT / "profiles/slurm/config.yaml").read_text("utf-8"))
ARRAYS = set(PROFILE["slurm-array-jobs"].split(", "))


def test_the_profile_names_rules_that_exist() -> None:
    named = {*PROFILE["groups"], *PROFILE["set-resources"], *ARRAYS}
    assert named - RULES == set()
    assert not ARRAYS & set(PROFILE["groups"]), "a group is never submitted as an array"


def test_comparisons_and_figures_of_a_study_share_the_job_of_its_page(tmp_path) -> None:
    checkout = copy_project(tmp_path / "project")
    shutil.copytree(PROJECT / "profiles", checkout.folder / "profiles")
    command = [sys.executable, "-m", "snakemake", "-n", "--workflow-profile", "profiles/slurm"]
    run = run_to_end([*command, "--config", "run=toy"], cwd=checkout.folder)
    assert run.returncode == 0, run.stderr
    grouped = re.findall(r"^    rule (\w+):", run.stdout + run.stderr, re.MULTILINE)
    assert {"compare_models_of_toy", "plot_figures_of_toy", "write_report"} <= set(grouped)


def test_all_tasks_of_an_array_may_be_submitted_at_once() -> None:
    # The plugin forgets tasks that were not ready in one go, and waits for them for ever.
    per_second = int(PROFILE["max-jobs-per-timespan"].removesuffix("/1s"))
    assert min(PROFILE["jobs"], per_second) >= PROFILE["slurm-array-limit"]


def test_memory_and_time_grow_with_each_attempt() -> None:
    for kinds in (PROFILE["default-resources"], *PROFILE["set-resources"].values()):
        assert all(re.fullmatch(r"\d+ \* attempt", text) for text in kinds.values())
