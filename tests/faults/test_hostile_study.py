"""A study whose names were chosen to do harm, from the export to the report."""

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.faults.disturbances import lay_out
from tests.workflow.checkouts import Checkout

MODELS = [
    *("../../../tmp/x", "/etc/passwd", "-rf", "$(touch owned)", "{wildcard}", "=cmd|'/c calc'!A0"),
    *("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', r"\input{/etc/passwd}"),
    *("x" * 300, "line\nbreak", "${{7*7}}", "{% raw %}", "a|b&c_d#e"),
]
DATASETS = ["<svg onload=alert(1)>", "@SUM(1)", "../y"]
TITLE = "<script>alert(2)</script> {{ 7 * 7 }}"


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The project after a run over such a study."""
    checkout = lay_out(tmp_path_factory.mktemp("hostile") / "project", title=TITLE)
    with (checkout.folder / "toy.csv").open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["model", "dataset", "metric", "seed", "score"])
        for rank, model in enumerate(MODELS):
            for number, dataset in enumerate(DATASETS):
                for seed in range(2):
                    score = 0.3 + rank / 30 + number / 10 + seed * (rank + 1) / 1000
                    writer.writerow([model, dataset, "acc", seed, f"{score:.4f}"])
    run = checkout.snakemake()
    assert run.status == 0, run.output
    return checkout


def find(checkout: Checkout, suffix: str) -> list[Path]:
    found = sorted((checkout.folder / "results").rglob(f"*{suffix}"))
    assert found
    return found


def test_no_name_becomes_a_path_or_a_command(hostile: Checkout) -> None:
    assert not (hostile.folder / "owned").exists()
    names = [path.name for path in (hostile.folder / "results").rglob("*")]
    assert all(re.fullmatch(r"[.\w-]+", name) for name in names)
    assert not (hostile.folder.parent / "tmp").exists()


def test_no_page_has_markup_of_a_name(hostile: Checkout) -> None:
    for path in find(hostile, ".html"):
        text = path.read_text(encoding="utf-8")
        # Attributes within a tag of ours cannot be told by a pattern, but tags of theirs can.
        for tag in ("<script>alert", "<img src=x", "<svg onload"):
            assert tag not in text
        assert "49" not in "".join(re.findall(r"<title>(.*?)</title>", text))


def test_no_figure_has_a_script(hostile: Checkout) -> None:
    for path in find(hostile, ".svg"):
        for element in ElementTree.parse(path).iter():  # noqa: S314 (a file of our own)
            assert not str(element.tag).endswith("script")
            assert not any(name.startswith("on") for name in element.attrib)


def test_no_table_has_a_formula(hostile: Checkout) -> None:
    for path in find(hostile, ".csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            cells = [cell for row in csv.reader(stream) for cell in row]
        harmful = [cell for cell in cells if re.match(r"[=@\t\r]|[+-][^\d.i]", cell)]
        assert not harmful, path


def test_no_latex_or_markdown_has_a_command_of_a_name(hostile: Checkout) -> None:
    for path in find(hostile, ".tex"):
        text = path.read_text("utf-8")
        if path.name == "main.tex":
            text = re.sub(r"^\\input\{\w+\}$", "", text, flags=re.MULTILINE)
        assert not re.search(r"\\input|(?<!\\)\$\(touch|[^\\]&c_d", text), path
    for path in find(hostile, ".md"):
        text = path.read_text("utf-8")
        assert "<script>" not in text
        assert "<img" not in text
