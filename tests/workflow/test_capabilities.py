"""The capability embedding in real runs: made when asked for, and again only where needed."""

import re
from typing import Any

import pytest
import yaml

from capmap.analyses import find_table, list_tables
from tests.whole_studies import FEW_RESULTS
from tests.workflow.checkouts import PROJECT, Checkout, check_figures, copy_project

CONFIG = yaml.safe_load((PROJECT / "config.yaml").read_text("utf-8"))
SHIPPED = CONFIG["studies"]["literature"]
SETTINGS: dict[str, Any] = SHIPPED | FEW_RESULTS | {"figures": {"formats": ["svg"]}}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A part of the shipped example, run once to the end."""
    checkout = copy_project(tmp_path_factory.mktemp("mapped") / "project", take=["literature"])
    checkout.write_studies({"literature": SETTINGS})
    run = checkout.snakemake()
    assert run.status == 0, run.output
    assert set(run.jobs.values()) == {1}
    return checkout


def test_every_table_and_figure_is_made(finished: Checkout) -> None:
    folder = finished.folder / "results/literature"
    for name in list_tables(SETTINGS):
        for suffix in find_table(name).formats.split():
            assert (folder / f"{name}.{suffix}").stat().st_size > 0
    check_figures(folder, SETTINGS)
    page = (folder / "report.html").read_text()
    assert re.findall(r'<section id="analysis-(\w+)"', page) == SETTINGS["analyses"]
    assert len(page.encode()) < 2_000_000


def test_row_order_and_number_of_shards_change_no_byte(project: Checkout) -> None:
    before = project.digests()

    def reverse(text: str) -> str:
        dataset, variant, *rows = text.splitlines(keepends=True)
        return dataset + variant + "".join(reversed(rows))

    project.edit("data/capabilities/data.csv", reverse)
    project.change_settings(lambda study: study.update(bootstrap={"shards": 1}))
    target = "results/literature/capabilities/summary.csv"
    run = project.snakemake("--forceall", target)
    assert run.status == 0, run.output
    after = project.digests()
    same = [path for path in before if re.search("/capabilities/", path)]
    assert len(same) > 10
    assert {path: after[path] for path in same} == {path: before[path] for path in same}
