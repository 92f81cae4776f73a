"""The recipe of a board in a repository of its own: its steps run as GitHub would run them."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.workflow.checkouts import PROJECT

RECIPE = PROJECT / "data/board"
STEPS = yaml.safe_load((RECIPE / ".github/workflows/board.yml").read_text())["jobs"]
COMMAND = f'#!/bin/sh\nexec {sys.executable} -m capmap.cli "$@"\n'


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the recipe and three submissions, beside a command ``capmap``."""
    folder = tmp_path_factory.mktemp("recipe")
    command = folder / "bin/capmap"
    command.parent.mkdir()
    command.write_text(COMMAND)
    command.chmod(0o755)
    shutil.copytree(RECIPE, folder / "board")
    shutil.copytree(PROJECT / "data/submissions", folder / "board/submissions")
    shutil.copy(PROJECT / "data/submissions_references.json", folder / "board/bounds.json")
    shutil.copy(PROJECT / "data/benchmarks/geobench2.yaml", folder / "board/benchmark.yaml")
    return folder / "board"


def run_steps(board: Path, job: str) -> tuple[int, str]:
    """Run the commands of a job but the one that installs, until one fails."""
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")}
    environment["PATH"] = (
        f"{board.parent / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    )
    said = ""
    for step in STEPS[job]["steps"]:
        if "run" in step and step["name"] != "Install":
            call = ["bash", "-eo", "pipefail", "-c", step["run"]]
            run = subprocess.run(
                call, cwd=board, env=environment, capture_output=True, text=True, check=False
            )
            said += run.stdout + run.stderr
            if run.returncode:
                return run.returncode, said
    return 0, said


def test_a_faulty_submission_fails_the_check_and_a_sound_one_passes(board: Path) -> None:
    faulty = board / "submissions/faulty"
    shutil.copytree(board / "submissions/meadow", faulty)
    (faulty / "additional_info.json").unlink()
    status, said = run_steps(board, "check")
    assert status != 0
    assert "The submission has no file additional_info.json." in said
    shutil.rmtree(faulty)
    status, said = run_steps(board, "check")
    assert status == 0, said


def test_the_main_branch_is_published_as_a_site(board: Path) -> None:
    assert STEPS["publish"]["needs"] == "check"
    status, said = run_steps(board, "publish")
    assert status == 0, said
    site = board / "site"
    page = (site / "board/leaderboard/index.html").read_text()
    assert "Northlight-ViT-S" in page
    # What the page links is there.
    for name in ("index.html", "board/report.html", "board/leaderboard/entries.csv"):
        assert (site / name).is_file()
