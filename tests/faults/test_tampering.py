"""Twelve kinds of tampering with every kind of artifact: each is seen, and made again."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from capmap.digests import find_altered
from tests.faults.disturbances import lay_out
from tests.workflow.checkouts import Checkout

STUDY = "results/toy"
DAY = 86_400 * 10**9
YESTERDAY = -DAY


@pytest.fixture(scope="session")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A project whose pages, figures and archive are made."""
    checkout = lay_out(tmp_path_factory.mktemp("complete") / "project")
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


def flip(place: float) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    return change


def rewrite(change: Callable[[bytes], bytes], age: int = 0) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        stamp = path.stat().st_mtime_ns
        path.write_bytes(change(path.read_bytes()))
        os.utime(path, ns=(stamp + age, stamp + age))

    return write


def put_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_elsewhere(path: Path) -> None:
    path.unlink()
    path.symlink_to(__file__)


def link_to_copy(path: Path) -> None:
    copy = shutil.copy2(path, path.parent.parent / f"{path.name}.copy")
    path.unlink()
    path.symlink_to(Path(copy).absolute())


TAMPERINGS: dict[str, Callable[[Path], None]] = {
    "first bit": flip(0),
    "middle bit": flip(0.5),
    "last bit": flip(1),
    "emptied, old": rewrite(lambda _: b"", YESTERDAY),
    "emptied, new": rewrite(lambda _: b"", DAY),
    "cut": rewrite(lambda content: content[:-1]),
    "longer": rewrite(lambda content: content + b"\n"),
    "other text, old": rewrite(lambda _: b"model,iqm\nA,0.9\n", YESTERDAY),
    "other text, same time": rewrite(lambda _: b"model,iqm\nA,0.9\n"),
    "folder": put_folder,
    "link to another file": link_elsewhere,
    "link to a copy": link_to_copy,
}


def list_artifacts(study: Path) -> list[Path]:
    """One artifact of each kind: what stands in one folder and has one suffix."""
    kinds: dict[tuple[Path, str], Path] = {}
    for path in sorted(study.rglob("*")):
        inner = path.relative_to(study)
        if path.is_file() and not inner.parts[0].startswith("."):
            kinds.setdefault((inner.parent, "".join(path.suffixes)), path)
    return list(kinds.values())


@pytest.mark.parametrize("kind", TAMPERINGS)
def test_what_was_altered_is_found_whatever_was_done_to_it(complete, kind, tmp_path):
    study = shutil.copytree(complete.folder / STUDY, tmp_path / "toy")
    assert find_altered(study) == []
    artifacts = list_artifacts(study)
    assert len(artifacts) > 15
    for path in artifacts:
        TAMPERINGS[kind](path)
    assert set(find_altered(study)) == set(artifacts)


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
    for path in study.glob("previous/**/*.csv"):
        path.write_bytes(b"\xff\xfe")
    run = project.snakemake()
    assert run.status == 0, run.output
    assert "Altered since capmap made it" in run.output
    assert {name: digest for name, digest in project.digests().items() if name in before} == before
    assert find_altered(study) == []
