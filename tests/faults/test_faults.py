"""What breaks during a run or between two: nothing is lost, half-written or silently wrong."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.faults.disturbances import (
    TARGETS,
    find_damage,
    find_jobs,
    forget_results,
    kill_group,
    kill_job,
    lay_out,
    mounted,
    read_log,
    resume,
    start,
)
from tests.waiting import wait_for_end, wait_until
from tests.workflow.checkouts import Checkout


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project that has run once to the end."""
    checkout = lay_out(tmp_path_factory.mktemp("finished") / "project")
    run = checkout.snakemake(*TARGETS)
    assert run.status == 0, run.output
    return checkout


@pytest.fixture
def project(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of the finished project to disturb; time stamps are those of the original."""
    return finished.copy(tmp_path / "project")


def test_run_killed_at_a_random_moment_resumes(project: Checkout, finished: Checkout) -> None:
    forget_results(project)
    with start(project) as process:
        wait_until(lambda: read_log(project).jobs.total() > 2, "a few jobs", process=process)
        time.sleep(random.Random(1).random())  # noqa: S311
        kill_group(process)
    assert not find_damage(project, finished.digests())
    resume(project)
    assert project.digests() == finished.digests()
    assert not list((project.folder / "results").rglob("*.tmp"))


@pytest.mark.parametrize("retries", [0, 1])
def test_job_killed_as_for_want_of_memory_is_made_again(
    project: Checkout, finished: Checkout, retries: int
) -> None:
    # The kernel ends what takes too much memory by the same signal.
    forget_results(project)
    with start(project, "--retries", str(retries)) as process:
        wait_until(lambda: kill_job(process), "a job to kill", process=process)
        status = wait_for_end(process, project.folder / "run.log")
        assert (status == 0) == (retries == 1), read_log(project).output
    assert not find_damage(project, finished.digests())
    run = project.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert bool(run.jobs) == (retries == 0)
    assert project.digests() == finished.digests()


def test_full_disk_leaves_nothing_half_written(project: Checkout, finished: Checkout) -> None:
    results = forget_results(project)
    results.mkdir()
    with mounted(results, "-t", "tmpfs", "-o", "size=12k", "tmpfs"):
        run = project.snakemake(*TARGETS)
        assert run.status != 0
        assert "No space left on device" in run.output
        assert "Traceback" not in run.output
        assert "report it" not in run.output
        assert not find_damage(project, finished.digests())
        subprocess.run(["mount", "-o", "remount,size=16m", str(results)], check=True)
        run = project.snakemake(*TARGETS)
        assert run.status == 0, run.output
        assert project.digests() == finished.digests()


def test_results_that_cannot_be_written_are_named_and_stay(
    project: Checkout, finished: Checkout
) -> None:
    results = project.folder / "results"
    with mounted(results, "--bind", str(results)):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(results)], check=True)
        idle = project.snakemake(*TARGETS)
        assert (idle.status, idle.jobs.total()) == (0, 0), idle.output
        project.edit("toy.csv", lambda text: text + "bee,x,acc,2,0.61\n")
        run = project.snakemake(*TARGETS)
        assert run.status != 0
        assert "Traceback" not in run.output
        assert project.digests() == finished.digests()


def test_second_run_in_the_same_folder_is_told_to_wait(project: Checkout) -> None:
    forget_results(project)
    with start(project) as process:
        wait_until(lambda: find_jobs(process), "a job", process=process)
        os.killpg(process.pid, signal.SIGSTOP)
        second = project.snakemake(*TARGETS)
        os.killpg(process.pid, signal.SIGCONT)
        assert second.status != 0
        assert "lock" in second.output.lower()
        assert "Traceback" not in second.output
        status = wait_for_end(process, project.folder / "run.log")
        assert status == 0, read_log(project).output


@pytest.mark.parametrize("place", ["config.yaml", "other.yaml"])
def test_tag_in_a_configuration_makes_no_object(project: Checkout, place: str) -> None:
    studies = "studies:\n  toy: {exports: toy.csv, title: !!python/object/apply:os.system [id>x]}\n"
    (project.folder / place).write_text(studies)
    options = [] if place == "config.yaml" else ["--configfile", place]
    run = project.snakemake("--dry-run", *options)
    assert run.status != 0
    told = "Config file is not valid JSON or YAML." if options else "line 2, column"
    assert told in run.output
    assert "Traceback" not in run.output
    assert not (project.folder / "x").exists()
