"""Twelve kinds of tampering with every kind of artifact: each is seen, and made again."""

import shutil

import pytest

from capmap.digests import find_altered
from capmap.errors import ConfigError
from tests.faults.disturbances import lay_out
from tests.faults.tampering import (
    DAY,
    TAMPERINGS,
    YESTERDAY,
    link_elsewhere,
    list_artifacts,
    put_folder,
    rewrite,
)
from tests.workflow.checkouts import Checkout

STUDY = "results/toy"


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project whose pages, figures and archive are made."""
    checkout = lay_out(tmp_path_factory.mktemp("complete") / "project")
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_what_was_altered_is_found_whatever_was_done_to_it(complete, kind, tmp_path):
    study = shutil.copytree(complete.folder / STUDY, tmp_path / STUDY)
    assert find_altered(study) == []
    artifacts = list_artifacts(study)
    assert len(artifacts) > 15
    for path in artifacts:
        TAMPERINGS[kind](path)
        assert find_altered(study, among=[str(path)]) == [path]
    assert len(find_altered(study)) > 15


def test_the_next_run_makes_again_what_was_altered_or_deleted(complete, tmp_path):
    project = complete.copy(tmp_path / "project")
    before, study = project.digests(), project.folder / STUDY
    shards = sorted(study.glob("bootstrap/*.parquet"))
    rewrite(lambda _: b"", YESTERDAY)(shards[0])
    rewrite(lambda content: content.replace(b"0.", b"0.9"), DAY)(study / "tables/iqm.csv")
    rewrite(lambda content: content.replace(b"0.", b"0.9"))(study / "tables/scores.md")
    put_folder(study / "tables/aggregate.csv")
    link_elsewhere(study / "figures/intervals.svg")
    for name in ("report.html", "runs.parquet", "normalized/bounds.csv", shards[-1]):
        (study / name).unlink()
    # What nothing asks for as long as the page and the archive are there.
    for name in ("figures/scores.inline.svg", "text/claims.csv", "paper/references.bib"):
        (study / name).unlink()
    shutil.rmtree(study / ".kept/intervals")
    (study / ".kept/intervals").write_bytes(b"")
    for path in study.glob("previous/**/*.csv"):
        path.write_bytes(b"\xff\xfe")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert "Altered since capmap made it" in run.output
    assert {name: digest for name, digest in project.digests().items() if name in before} == before
    assert find_altered(study) == []


@pytest.mark.parametrize("kind", ["emptied, old", "first bit", "folder", "link to another file"])
def test_a_damaged_record_is_told_with_what_to_do(complete, kind, tmp_path):
    study = shutil.copytree(complete.folder / STUDY, tmp_path / STUDY)
    record = min(study.glob(".digests/*.json"))
    TAMPERINGS[kind](record)
    with pytest.raises(ConfigError, match=rf"{record.name} is damaged.*Remove {study} and run"):
        find_altered(study)
