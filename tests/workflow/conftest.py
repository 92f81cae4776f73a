"""What the tests of whole runs share."""

from pathlib import Path

import pytest

from tests.workflow.checkouts import Checkout, copy_project


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A fresh copy of the project without results."""
    return copy_project(tmp_path / "project")
