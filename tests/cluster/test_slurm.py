"""Shipped studies on a real Slurm of two nodes: same bytes, and what breaks is made again."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster.clusters import NODES, Cluster
from tests.cluster.runs import STUDIES, ClusterRun, copy_with_profiles
from tests.waiting import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Digests of the results on one machine."""
    checkout = copy_with_profiles(tmp_path_factory.mktemp("local") / "project", *STUDIES)
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout.digests()


@pytest.fixture
def run(cluster: Cluster, tmp_path: Path) -> ClusterRun:
    """A fresh copy of the project on the cluster."""
    return ClusterRun(copy_with_profiles(tmp_path / "project", *STUDIES), cluster)


def find_busy_node(cluster: Cluster, process: subprocess.Popen[str]) -> str:
    """Wait for a node that has a job of a run."""
    found: list[str] = []
    wait_until(
        lambda: found.extend(cluster.list_running().values()) or found,
        "a job on a node",
        process=process,
        pause=0.2,
    )
    return min(found)


def is_down(cluster: Cluster) -> bool:
    """Whether a node is down."""
    return "down" in " ".join(cluster.list_states())


@contextmanager
def drained(cluster: Cluster, node: str) -> Iterator[None]:
    """Give a node no more jobs."""
    cluster.ask("scontrol", "update", f"NodeName={node}", "State=DRAIN", "Reason=test")
    try:
        yield
    finally:
        cluster.ask("scontrol", "update", f"NodeName={node}", "State=RESUME")


def test_slurm_gives_the_same_bytes_from_few_jobs_on_both_nodes(run, expected):
    before = set(run.cluster.list_jobs())
    run.finish(run.start("slurm"))
    jobs = {job: at for job, at in run.cluster.list_jobs().items() if job not in before}
    assert run.checkout.digests() == expected
    assert {state for state, _ in jobs.values()} == {"COMPLETED"}
    assert {node for _, node in jobs.values()} == set(NODES)
    # One job reads, an array of two resamples the shards, one finishes.
    assert len(jobs) == 4
    # Of good jobs only the logs of arrays stay.
    logs = {log.parent.name for log in (run.checkout.folder / "results/logs/slurm").rglob("*.log")}
    assert logs == {"rule_bootstrap"}
    assert not run.cluster.list_running()


def test_a_killed_run_is_taken_up_by_the_next_start(run, expected):
    target = "results/toy/tables/ranking.csv"
    process = run.start("slurm", target)
    find_busy_node(run.cluster, process)
    process.kill()
    process.communicate()
    # As docs/cluster.md says; here the jobs are cancelled in the middle of their work.
    run.cluster.ask("scancel", "--user=root")
    wait_until(lambda: not run.cluster.list_running(), "the end of the jobs", pause=0.2)
    run.finish(run.start("slurm", target))
    made = run.checkout.digests()
    assert made == {path: expected[path] for path in [target.removeprefix("results/"), *made]}


def test_a_killed_node_and_a_drained_one_cost_time_but_no_result(run, expected):
    process = run.start("slurm", "results/toy/tables/ranking.csv")
    try:
        victim = find_busy_node(run.cluster, process)
        run.cluster.kill_node(victim)
        wait_until(lambda: is_down(run.cluster), "the node's end", pause=0.2)
        run.cluster.start_node(victim)
        wait_until(lambda: not is_down(run.cluster), "the node", pause=0.2)
        other = next(node for node in NODES if node != victim)
        with drained(run.cluster, other):
            output = run.finish(process)
    finally:
        process.kill()
    assert "Trying to restart job" in output
    made = run.checkout.digests()
    assert "toy/tables/ranking.csv" in made
    assert made == {path: expected[path] for path in made}
