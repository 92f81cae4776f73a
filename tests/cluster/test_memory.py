"""A job that Slurm ends because it takes more memory than it asked for."""

from pathlib import Path

import pytest

from tests.cluster.clusters import Cluster
from tests.cluster.runs import ClusterRun, copy_with_profiles

pytestmark = pytest.mark.slow

# Python and its 500 MB are too much for the 400 MB of the first attempt, not for 800 MB.
WORKFLOW = """
rule take_memory:
    output: "asked.txt"
    resources: mem_mb=lambda wildcards, attempt: 400 * attempt
    shell: "python3 -c 'import time; kept = bytes([1]) * 500_000_000; time.sleep(5)'"
        " && echo {resources.mem_mb} > {output}"
"""


def test_a_job_that_slurm_ends_for_its_memory_is_tried_with_more(cluster: Cluster, tmp_path: Path):
    checkout = copy_with_profiles(tmp_path / "project", "toy")
    (checkout.folder / "memory.smk").write_text(WORKFLOW)
    before = set(cluster.list_jobs())
    run = ClusterRun(checkout, cluster)
    output = run.finish(run.start("slurm", "--snakefile", "memory.smk", "asked.txt"))
    assert (checkout.folder / "asked.txt").read_text() == "800\n"
    states = [state for job, (state, _) in cluster.list_jobs().items() if job not in before]
    assert sorted(states) in (["COMPLETED", "FAILED"], ["COMPLETED", "OUT_OF_MEMORY"]), states
    assert output.count("Trying to restart job") == 1
    (log,) = (checkout.folder / "results/logs/slurm").rglob("*.log")
    assert "exceeded memory limit" in log.read_text()
