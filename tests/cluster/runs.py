"""Runs of the project on a cluster, in a copy of it."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster.clusters import Cluster
from tests.waiting import communicate
from tests.workflow.checkouts import PROJECT, Checkout, copy_project

# A shipped study with two shards and no further analyses: every job starts Snakemake anew.
STUDIES = ("toy",)
ANALYSES: list[str] = []


@dataclass(frozen=True)
class ClusterRun:
    """A copy of the project with a small study, and the cluster that it runs on."""

    checkout: Checkout
    cluster: Cluster

    def start(self, profile: str, *arguments: str) -> subprocess.Popen[str]:
        """Start snakemake with a profile."""
        snakemake = [sys.executable, "-m", "snakemake"]
        return subprocess.Popen(
            [*snakemake, *arguments, "--workflow-profile", f"profiles/{profile}"],
            cwd=self.checkout.folder,
            env=self.cluster.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def finish(self, process: subprocess.Popen[str]) -> str:
        """Wait for a run, which has to succeed, and give what it printed."""
        try:
            output, _ = communicate(process)
        finally:
            process.kill()
        assert process.returncode == 0, output
        return output


def write_studies(checkout: Checkout, *names: str) -> None:
    """Keep only these of the shipped studies, with two shards and no analyses."""
    shipped = yaml.safe_load((PROJECT / "config.yaml").read_text())["studies"]
    studies = {name: {**shipped[name], "analyses": ANALYSES} for name in names}
    for settings in studies.values():
        settings.pop("conditions", None)
        settings["bootstrap"] = {**settings.get("bootstrap", {}), "shards": 2}
    checkout.write_studies(studies)


def copy_with_profiles(folder: Path, *names: str) -> Checkout:
    """A copy of the project, with its profiles and only these of the shipped studies."""
    checkout = copy_project(folder)
    shutil.copytree(PROJECT / "profiles", folder / "profiles")
    # As docs/cluster.md has it of a large study.
    profile = folder / "profiles/slurm/config.yaml"
    profile.write_text(profile.read_text().replace("  bootstrap: read\n", ""))
    write_studies(checkout, *names)
    return checkout
