"""Memory is bounded by configuration: a stage fits under a limit of the operating system."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")

SCRIPTS = Path(__file__).parents[2] / "scripts"
MODELS, REPLICATES = 400, 10_000
MIB = 2**20
# MiB of the replicates of one statistic, 8 bytes each.
SIZE = MODELS * REPLICATES * 8 / MIB
PROGRAM = """
import json
import resource
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bootstrap_shard import bootstrap_shard
from capmap.artifacts import write_parquet
from rank_models import rank_models


def simulate(path, models, first=0):
    rows = [(f"m{first + i}", f"d{j}", s) for i in range(models) for j in (0, 1) for s in (0, 1)]
    runs = pd.DataFrame(rows, columns=["model", "dataset", "seed"])
    write_parquet(path, runs.assign(score=np.linspace(0, 1, len(runs))))


about = {"unit": "runs", "rank_by": "iqm", "datasets": ["d0", "d1"], "seeds": []}
about |= {"effects": None, "limits": [0, 1]}
Path("scope").write_text(json.dumps(about))


def bootstrap(number, replicates):
    bootstrap_shard(
        shard=f"runs{number}", estimates=f"replicates{number}", scope="scope", study="s",
        replicates=replicates, confidence=0.95, interval="percentile",
        weights="equal", statistics=["iqm"], dimensions=None, seed=0,
    )


def rank(numbers):
    shards = [f"replicates{number}" for number in numbers]
    tables = {name: [f"{name}.csv"] for name in ("iqm", "scopes", "intervals")}
    rank_models(shards=shards, scope="scope", **tables, confidence_level=0.95)


stage, models, replicates, shards, limit = sys.argv[1], *map(int, sys.argv[2:])
simulate("runs-1", 3)
bootstrap(-1, 100)
rank([-1])  # everything is loaded, and all threads are there
for number in range(shards):
    simulate(f"runs{number}", models // shards, number * models)
if stage == "bootstrap":
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + limit * 2**20,) * 2)
for number in range(shards):
    bootstrap(number, replicates)
if stage == "rank":
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + limit * 2**20,) * 2)
    rank(range(shards))
"""


def run_limited(stage: str, folder: Path, *, shards: int, limit: float) -> str:
    """Run a stage that may take so many MiB beyond what its process has; return its last words."""
    environment = os.environ | {
        "PYTHONPATH": str(SCRIPTS),
        "MALLOC_ARENA_MAX": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    numbers = map(str, (MODELS, REPLICATES, shards, round(limit)))
    command = [sys.executable, "-c", PROGRAM, stage, *numbers]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def test_a_shard_fits_where_all_models_together_do_not(tmp_path: Path) -> None:
    # The replicates of all models alone are larger than the limit, those of a shard a quarter.
    limit = 0.8 * SIZE
    assert "Error" in run_limited("bootstrap", tmp_path, shards=1, limit=limit)
    assert run_limited("bootstrap", tmp_path, shards=4, limit=limit) == ""


def test_ranking_fits_into_four_times_the_replicates(tmp_path: Path) -> None:
    assert run_limited("rank", tmp_path, shards=4, limit=4 * SIZE) == ""
