"""The profile for any scheduler: on Slurm, and with stand-ins for others."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.runs import ClusterRun, copy_with_profiles
from tests.waiting import run_to_end
from tests.workflow.checkouts import PROJECT

pytestmark = pytest.mark.slow
SCRIPTS = PROJECT / "profiles/cluster-generic"

# A job that asks for less than 500 MB is ended for its memory; the others run at once.
QSUB = """\
case "$*" in *h_vmem=*M*) ;; *) exit 1 ;; esac
for script; do :; done
memory=$(echo "$*" | sed 's/.*h_vmem=\\([0-9]*\\)M.*/\\1/')
number=$(($(ls {jobs} | wc -l) + 1))
code=137
[ "$memory" -lt 500 ] || {{ sh "$script" >{jobs}.log 2>&1; code=$?; }}
printf 'failed   0\\nexit_status  %s\\nmaxvmem  499M\\n' $code >{jobs}/$number
echo $number"""
BSUB = """\
for script; do :; done
memory=$(echo "$*" | sed 's/.*-M \\([0-9]*\\)MB.*/\\1/')
number=$(($(ls {jobs} | wc -l) + 1))
state=EXIT
[ "$memory" -lt 500 ] || {{ sh "$script" >{jobs}.log 2>&1 && state=DONE; }}
echo $state >{jobs}/$number
echo "Job <$number> is submitted to default queue <normal>.\""""
SCHEDULERS = {
    "sge": {
        "qsub": QSUB,
        "qstat": 'echo "Following jobs do not exist: $2"; exit 1',
        "qacct": "cat {jobs}/$2",
    },
    "lsf": {
        "bsub": BSUB,
        "bjobs": """\
case "$3" in
stat) cat {jobs}/$4 ;;
*) echo "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit" ;;
esac""",
    },
}
REASONS = {"sge": "maxvmem  499M", "lsf": "TERM_MEMLIMIT"}
WORKFLOW = """
rule ask:
    output: "asked.txt"
    resources: mem_mb=lambda wildcards, attempt: 400 * attempt, runtime=7
    shell: "echo {resources.mem_mb} > {output}"
"""


def lay_tools(folder: Path, **scripts: str) -> str:
    """Write tools as shell scripts; the path where they come first."""
    for name, script in scripts.items():
        tool = folder / name
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
    return f"{folder}:/usr/bin:/bin"


def ask_status(folder: Path, monkeypatch: pytest.MonkeyPatch, **scripts: str) -> str:
    """What the status command says where the tools of Slurm are these scripts."""
    monkeypatch.setenv("PATH", lay_tools(folder, **scripts))
    return subprocess.check_output([SCRIPTS / "slurm.sh", "status", "7"], text=True).strip()


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
    target = "results/toy/tables/ranking.csv"
    run.finish(run.start("cluster-generic", target))
    found = {job: at for job, at in cluster.list_jobs().items() if job not in before}
    assert {state for state, _ in found.values()} == {"COMPLETED"}
    made = (checkout.folder / target).read_bytes()
    local = copy_with_profiles(tmp_path / "local", "toy")
    assert local.snakemake(target).status == 0
    assert made == (local.folder / target).read_bytes()


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_job_that_a_scheduler_ended_is_told_and_tried_with_more(name, tmp_path, monkeypatch):
    folder, jobs, tools = tmp_path / "project", tmp_path / "jobs", tmp_path / "tools"
    shutil.copytree(SCRIPTS, folder / "profiles/cluster-generic")
    profile = folder / "profiles/cluster-generic/config.yaml"
    profile.write_text(profile.read_text().replace("slurm.sh", f"{name}.sh"))
    (folder / "Snakefile").write_text(WORKFLOW)
    jobs.mkdir()
    tools.mkdir()
    scripts = {tool: text.format(jobs=jobs) for tool, text in SCHEDULERS[name].items()}
    monkeypatch.setenv("PATH", lay_tools(tools, **scripts))
    options = ["--workflow-profile", "profiles/cluster-generic", "--latency-wait", "5"]
    run = run_to_end([sys.executable, "-m", "snakemake", *options], cwd=folder)
    assert run.returncode == 0, run.stderr
    assert (folder / "asked.txt").read_text() == "800\n"
    assert run.stderr.count(REASONS[name]) == 1, run.stderr
    assert len(list(jobs.iterdir())) == 2
