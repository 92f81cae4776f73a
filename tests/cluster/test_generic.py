"""The profile for any scheduler, with the commands of Slurm."""

import subprocess
from pathlib import Path

import pytest

from tests.cluster.runs import ClusterRun, copy_with_profiles
from tests.workflow.checkouts import PROJECT

pytestmark = pytest.mark.slow
STATUS = PROJECT / "profiles/cluster-generic/status.sh"


def ask_status(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> str:
    """What the status command says where the tools of Slurm are these scripts."""
    for name, script in scripts.items():
        tool = folder / name
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return subprocess.check_output([STATUS, "7"], text=True).strip()


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("PENDING", "running"),
        ("RUNNING", "running"),
        ("COMPLETING", "running"),
        ("COMPLETED", "success"),
        ("FAILED", "failed"),
        ("OUT_OF_MEMORY", "failed"),
        ("NODE_FAIL", "failed"),
        ("CANCELLED", "failed"),
        ("TIMEOUT", "failed"),
        ("SIGNALING", "running"),
        ("CANCELLED by 7", "failed"),
        ("", "failed"),
    ],
)
def test_every_state_of_a_job_is_one_of_three(tmp_path, monkeypatch, state, said):
    assert ask_status(tmp_path, monkeypatch, squeue=":", sacct=f"echo '{state}'") == said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("slurm_load_jobs error: Invalid job id specified", "failed"),
        ("slurm_load_jobs error: Unable to contact slurm controller", "running"),
    ],
)
def test_a_scheduler_that_does_not_answer_has_not_lost_the_job(
    tmp_path, monkeypatch, message, said
):
    squeue = f"echo '{message}' >&2; exit 1"
    assert ask_status(tmp_path, monkeypatch, squeue=squeue, sacct="exit 1") == said


def test_a_job_script_and_its_status_command_run_a_study(cluster, tmp_path):
    checkout = copy_with_profiles(tmp_path / "project", "toy")
    before = set(cluster.list_jobs())
    run = ClusterRun(checkout, cluster)
    target = "results/toy/tables/iqm.csv"
    run.finish(run.start("cluster-generic", target))
    found = {job: at for job, at in cluster.list_jobs().items() if job not in before}
    assert {state for state, _ in found.values()} == {"COMPLETED"}
    made = (checkout.folder / target).read_bytes()
    local = copy_with_profiles(tmp_path / "local", "toy")
    assert local.snakemake(target).status == 0
    assert made == (local.folder / target).read_bytes()
