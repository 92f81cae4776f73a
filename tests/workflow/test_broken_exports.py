"""Broken exports through a real run: each yields its message and nothing half-written."""

from pathlib import Path

import pytest
import yaml

from tests.broken_exports import CATALOG
from tests.workflow.checkouts import Checkout, Run, copy_project

# The unit tests refuse all of them.
SOME = CATALOG[::4]


@pytest.fixture(scope="session")
def refused(tmp_path_factory: pytest.TempPathFactory) -> tuple[Checkout, Run]:
    """One run over a study per broken export, of some of them."""
    checkout = copy_project(tmp_path_factory.mktemp("broken") / "project")
    studies = {}
    for broken in SOME:
        folder = checkout.folder / "exports" / broken.name
        folder.mkdir(parents=True)
        studies[broken.name] = broken.settings(folder)
    (checkout.folder / "my.yaml").write_text(yaml.safe_dump({"studies": studies}))
    targets = [f"results/{name}/validation.json" for name in studies]
    return checkout, checkout.snakemake(*targets, "--configfile", "my.yaml")


def test_run_fails_without_a_traceback(refused: tuple[Checkout, Run]) -> None:
    _, run = refused
    assert run.status != 0
    assert "Traceback" not in run.output
    assert len(CATALOG) >= 30


@pytest.mark.parametrize("broken", SOME, ids=lambda broken: broken.name)
def test_broken_export_is_named_and_leaves_nothing(refused, broken) -> None:
    checkout, run = refused
    results = checkout.folder / "results" / broken.name
    for fragment in broken.fragments:
        assert fragment in run.output
    assert not (results / "runs.parquet").exists()
    assert not (results / "validation.json").exists()
    assert not list(Path(results).rglob("*.tmp"))
