"""A study whose names were chosen to do harm, from the export to the report."""

import pytest

from tests.faults.hostile import CHECKS, lay_out_names
from tests.hostile_names import NAMES
from tests.workflow.checkouts import Checkout


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The project after a run over such a study."""
    folder = tmp_path_factory.mktemp("hostile") / "project"
    checkout = lay_out_names(folder, [NAMES[0], "a\rb", *NAMES[3::4]], NAMES[::20])
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


@pytest.mark.parametrize("kind", CHECKS)
def test_no_name_does_harm(hostile: Checkout, kind: str) -> None:
    assert [*CHECKS[kind](hostile.folder / "results")] == []
