"""What breaks during a run or between two: nothing is lost, half-written or silently wrong."""

import os
import random
import resource
import shutil
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
    lay_out,
    read_log,
    resume,
    set_times,
    start,
    wait_until,
)
from tests.workflow.checkouts import Checkout

SECOND = 10**9


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


@pytest.mark.parametrize("moment", [0, 1])
def test_run_killed_at_a_random_moment_resumes(
    project: Checkout, finished: Checkout, moment: int
) -> None:
    forget_results(project)
    with start(project) as process:
        wait_until(lambda: read_log(project).jobs.total() > 2 * moment)
        time.sleep(random.Random(moment).random())  # noqa: S311
        kill_group(process)
    assert not find_damage(project, finished.digests())
    resume(project)
    assert project.digests() == finished.digests()
    assert not list((project.folder / "results").rglob("*.tmp"))


def test_run_goes_on_after_one_of_its_jobs_is_killed(project: Checkout, finished: Checkout) -> None:
    forget_results(project)
    with start(project) as process:
        wait_until(lambda: bool(find_jobs(process)))
        os.kill(find_jobs(process)[0], signal.SIGKILL)
        assert process.wait(120) != 0
    assert not find_damage(project, finished.digests())
    run = project.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert project.digests() == finished.digests()


def test_full_disk_leaves_nothing_half_written(project: Checkout, finished: Checkout) -> None:
    results = forget_results(project)
    whole = finished.digests()
    # Every process may write files of 2 KiB at most, so the larger ones fail as on a full disk.
    limited = subprocess.run(
        project.command(*TARGETS),
        cwd=project.folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)),
    )
    assert limited.returncode != 0
    assert not find_damage(project, whole)
    assert not list(results.rglob("*.tmp"))
    shutil.rmtree(project.folder / ".snakemake")
    run = project.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert project.digests() == whole


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
def test_full_file_system_leaves_nothing_half_written(
    project: Checkout, finished: Checkout
) -> None:
    results = forget_results(project)
    results.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(results)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a file system be mounted")
    try:
        run = project.snakemake(*TARGETS)
        assert run.status != 0
        assert not find_damage(project, finished.digests())
        subprocess.run(["mount", "-o", "remount,size=16m", str(results)], check=True)
        run = project.snakemake(*TARGETS)
        assert run.status == 0, run.output
        assert project.digests() == finished.digests()
    finally:
        subprocess.run(["umount", str(results)], check=True)


def test_second_run_in_the_same_folder_is_told_to_wait(project: Checkout) -> None:
    forget_results(project)
    with start(project) as process:
        wait_until(lambda: bool(find_jobs(process)))
        second = project.snakemake(*TARGETS)
        assert second.status != 0
        assert "lock" in second.output.lower()
        assert "Traceback" not in second.output
        assert process.wait(240) == 0, read_log(project).output


def test_flipped_byte_in_a_shard_is_found_and_only_that_part_made_again(
    project: Checkout, finished: Checkout
) -> None:
    shard = min((project.folder / "results/toy/normalized").glob("*.parquet"))
    before = shard.stat()
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    os.utime(shard, ns=(before.st_atime_ns, before.st_mtime_ns))
    run = project.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert "validate_exports study=toy" not in run.jobs
    assert sum(job.startswith("bootstrap_shard") for job in run.jobs) <= 1
    assert project.digests() == finished.digests()


@pytest.mark.parametrize("shift", [-SECOND * 86_400, SECOND * 86_400])
def test_clock_that_jumps_changes_no_result(
    project: Checkout, finished: Checkout, shift: int
) -> None:
    set_times(project.folder / "results", lambda moment: moment + shift)
    for _ in range(2):
        run = project.snakemake(*TARGETS)
        assert run.status == 0, run.output
    assert project.digests() == finished.digests()
    assert not run.jobs


def test_time_stamps_of_whole_seconds_lose_no_change(project: Checkout) -> None:
    set_times(project.folder, lambda moment: moment // SECOND * SECOND)
    assert not project.snakemake(*TARGETS).jobs
    project.edit("toy.csv", lambda text: text + "bee,x,acc,2,0.61\n")
    set_times(project.folder, lambda moment: moment // SECOND * SECOND)
    run = project.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert {"validate_exports", "normalize_runs", "bootstrap_shard", "rank_models"} <= run.rules
