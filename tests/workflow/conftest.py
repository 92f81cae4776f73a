"""What the tests of whole runs share."""

from pathlib import Path

import pytest

from tests.workflow.checkouts import Checkout, copy_project


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project without results."""
    return copy_project(tmp_path / "project")


@pytest.fixture
def project(finished: Checkout, tmp_path: Path) -> Checkout:
    """A copy of a module's finished project to disturb; time stamps are those of the original."""
    return finished.copy(tmp_path / "project")
