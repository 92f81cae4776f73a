"""The profiles for clusters name what there is, and ask for more with every attempt."""

import re
import shutil
import sys

import pytest
import yaml

from tests.waiting import run_to_end
from tests.workflow.checkouts import PROJECT, copy_project

RULE = re.compile(r"^(?:use rule \w+ as |rule )(\w+)", re.MULTILINE)
FILES = sorted((PROJECT / "workflow/rules").glob("*.smk"))
RULES = {name for file in FILES for name in RULE.findall(file.read_text("utf-8"))}
PROFILES = {
    name: yaml.safe_load((PROJECT / f"profiles/{name}/config.yaml").read_text("utf-8"))
    for name in ("slurm", "cluster-generic")
}
each_profile = pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)


@each_profile
def test_a_profile_names_rules_that_exist(profile):
    arrays = [name.strip() for name in profile.get("slurm-array-jobs", "").split(",") if name]
    named = {*profile["groups"], *arrays}
    assert named - RULES == set()
    # A group is never submitted as an array; of a large study this rule is taken out of its group.
    assert set(arrays) & set(profile["groups"]) <= {"bootstrap"}


@pytest.mark.parametrize("name", PROFILES)
def test_comparisons_and_figures_of_a_study_share_the_job_of_its_page(name, tmp_path):
    checkout = copy_project(tmp_path / "project")
    shutil.copytree(PROJECT / "profiles", checkout.folder / "profiles")
    command = [sys.executable, "-m", "snakemake", "-n", "--workflow-profile", f"profiles/{name}"]
    run = run_to_end([*command, "--config", "run=toy"], cwd=checkout.folder)
    assert run.returncode == 0, run.stderr
    grouped = re.findall(r"^    rule (\w+):", run.stdout + run.stderr, re.MULTILINE)
    assert {"compare", "plot", "report"} <= set(grouped)


@each_profile
def test_few_rules_are_jobs_of_their_own(profile):
    arrays = set(PROFILES["slurm"]["slurm-array-jobs"].split(", "))
    single = {"crop", "crossvalidate", "place", "index"}
    assert RULES - set(profile["groups"]) - arrays == single


def test_all_tasks_of_an_array_may_be_submitted_at_once():
    # The plugin forgets tasks that were not ready in one go, and waits for them for ever.
    profile = PROFILES["slurm"]
    per_second = int(profile["max-jobs-per-timespan"].removesuffix("/1s"))
    assert min(profile["jobs"], per_second) >= profile["slurm-array-limit"]


def test_both_profiles_agree():
    assert PROFILES["slurm"]["groups"] == PROFILES["cluster-generic"]["groups"]
