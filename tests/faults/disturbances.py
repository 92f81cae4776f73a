"""A small project that has run once, and ways to disturb it or a run of it."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.checkouts import Checkout, Run, copy_project, count_jobs

MODELS = ["bee", "cow", "fox", "ibis"]
# Enough of the workflow to have shards, and what gathers them.
TARGETS = ["results/toy/tables/ranking.csv", "results/toy/tables/scores.csv"]
SETTINGS = {"exports": "toy.csv", "analyses": [], "bootstrap": {"replicates": 300, "shards": 2}}


def make_export() -> str:
    """Four models × two datasets × two seeds; scores from a fixed rule."""
    lines = ["model,dataset,metric,seed,score"]
    for rank, model in enumerate(MODELS):
        for number, dataset in enumerate(["x", "y"]):
            for seed in range(2):
                score = 0.5 + rank / 20 + number / 10 + seed * (rank + 1) / 1000
                lines.append(f"{model},{dataset},acc,{seed},{score:.4f}")
    return "\n".join(lines) + "\n"


def lay_out(folder: Path, **settings: Any) -> Checkout:
    """Lay out a project with one study that has not run yet."""
    checkout = copy_project(folder)
    checkout.write_studies({"toy": SETTINGS | settings})
    (folder / "toy.csv").write_text(make_export())
    return checkout


def forget_results(checkout: Checkout) -> Path:
    """Remove all that a run has made, and return the folder of results."""
    results = checkout.folder / "results"
    shutil.rmtree(results)
    shutil.rmtree(checkout.folder / ".snakemake")
    return results


@contextmanager
def start(checkout: Checkout, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start a run in a process group of its own, which is killed at the end of the block."""
    with (checkout.folder / "run.log").open("w") as log:
        process = subprocess.Popen(
            checkout.command(*TARGETS, *arguments),
            cwd=checkout.folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill_group(process)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a run with all of its jobs."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def find_jobs(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes of a run that run a script of a rule."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_own = os.getpgid(int(folder.name)) == process.pid
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if is_own and b"/scripts/tmp" in command:
            found.append(int(folder.name))
    return sorted(found)


def kill_job(process: subprocess.Popen[bytes]) -> bool:
    """End a job of a run as the kernel does for want of memory; tell whether there was one."""
    for job in find_jobs(process):
        with suppress(ProcessLookupError):
            os.kill(job, signal.SIGKILL)
            return True
    return False


def read_log(checkout: Checkout) -> Run:
    """What a started run has said so far."""
    output = (checkout.folder / "run.log").read_text()
    return Run(0, output, count_jobs(output))


def resume(checkout: Checkout) -> Run:
    """Run a project to its end whose run was killed, and which it has left locked perhaps."""
    is_locked = any((checkout.folder / ".snakemake/locks").glob("*"))
    run = checkout.snakemake(*TARGETS)
    assert run.status == 0, run.output
    assert ("its lock is released" in run.output) == is_locked
    return run


def find_damage(checkout: Checkout, whole: dict[str, str]) -> list[str]:
    """The results that are there but are not those of a whole run, logs apart."""
    found = {path: digest for path, digest in checkout.digests().items() if whole[path] != digest}
    return sorted(path for path in found if not path.endswith("rejected.csv"))


@contextmanager
def mounted(folder: Path, *arguments: str) -> Iterator[None]:
    """Mount a file system on a folder; the test is skipped where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("mounting a file system needs root")
    mount = ["mount", *arguments, str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let a file system be mounted")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
