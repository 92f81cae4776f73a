"""A Slurm that all tests of the cluster share."""

from collections.abc import Iterator

import pytest

from tests.cluster.clusters import Cluster, find_obstacle, run_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A running Slurm of the nodes n1 and n2."""
    obstacle = find_obstacle()
    if obstacle:
        pytest.skip(obstacle)
    with run_cluster(tmp_path_factory.mktemp("slurm") / "cluster") as started:
        yield started
