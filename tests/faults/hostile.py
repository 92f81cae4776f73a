"""A study whose names were chosen to do harm, and what harm there is in its results."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

from tests.faults.disturbances import lay_out
from tests.workflow.checkouts import Checkout

TITLE = "<script>alert(2)</script> {{ 7 * 7 }}"
FORMULA = re.compile(r"[=@\t\r\uff1d\uff20]|[+-][^\d.i]")


def lay_out_names(folder: Path, models: Sequence[str], datasets: Sequence[str]) -> Checkout:
    """Lay out a project with a study of such names that has not run yet.

    Each dataset has a metric of its own, which is called like it and has a number, as rules of
    metrics may not differ in separators only.
    """
    metrics = {dataset: f"{dataset}x{number}" for number, dataset in enumerate(datasets)}
    rules = {metric: {"direction": "max", "low": 0, "high": 9} for metric in metrics.values()}
    settings = {"exports": "toy.jsonl", "metrics": rules, "analyses": ["pairwise", "ratings"]}
    checkout = lay_out(folder, title=TITLE, **settings)
    with (folder / "toy.jsonl").open("w", encoding="utf-8") as stream:
        for rank, model in enumerate(models):
            for number, (dataset, metric) in enumerate(metrics.items()):
                for seed in range(2):
                    score = 0.3 + rank / 30 + number / 10 + seed * (rank + 1) / 1000
                    run = {"model": model, "dataset": dataset, "metric": metric}
                    stream.write(json.dumps({**run, "seed": seed, "score": score}) + "\n")
    return checkout


def find(results: Path, suffix: str) -> list[Path]:
    """All results of a kind; there must be some."""
    found = sorted(results.rglob(f"*{suffix}"))
    assert found, suffix
    return found


def find_files(results: Path) -> Iterator[str]:
    """Files that a name has become, and what its command has made."""
    for path in [*results.rglob("*"), *results.parent.glob("owned")]:
        if path.name == "owned" or not re.fullmatch(r"[.\w-]+", path.name):
            yield str(path)


def find_markup(results: Path) -> Iterator[str]:
    """Tags of names on pages, and what a template has computed."""
    for path in find(results, ".html"):
        text = path.read_text("utf-8")
        # Attributes within a tag of ours cannot be told by a pattern, but tags of theirs can.
        for tag in ("<script>alert", "<img src=x", "<svg onload", "<body onload", "<a href=java"):
            if tag in text:
                yield f"{path}: {tag}"
        if "49" in "".join(re.findall(r"<title>(.*?)</title>", text)):
            yield f"{path}: 49"


def find_scripts(results: Path) -> Iterator[str]:
    """Figures that no program can read, or with scripts."""
    for path in find(results, ".svg"):
        try:
            elements = [*ElementTree.parse(path).iter()]  # noqa: S314 (a file of our own)
        except ElementTree.ParseError as error:
            yield f"{path}: {error}"
            continue
        for element in elements:
            harmful = [name for name in element.attrib if name.startswith("on")]
            if harmful or str(element.tag).endswith("script"):
                yield f"{path}: {element.tag}"


def find_formulas(results: Path) -> Iterator[str]:
    """Cells that a spreadsheet runs."""
    for path in find(results, ".csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            for row in csv.reader(stream):
                yield from (f"{path}: {cell}" for cell in row if FORMULA.match(cell))


def find_commands(results: Path) -> Iterator[str]:
    """What LaTeX would run or set as markup."""
    for path in find(results, ".tex"):
        text = path.read_text("utf-8")
        if path.name == "main.tex":
            text = re.sub(r"^\\input\{\w+\}$", "", text, flags=re.MULTILINE)
        harmful = re.search(r"\\input|\\write18|(?<!\\)\$\(touch|[^\\]&[cb]_[cd]", text)
        if harmful or "\0" in text:
            yield f"{path}: {harmful and harmful[0]}"


def find_documents(results: Path) -> Iterator[str]:
    """Documents that no program can read."""
    for path in find(results, ".json"):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            yield str(path)


CHECKS = {
    "files": find_files,
    "html": find_markup,
    "svg": find_scripts,
    "csv": find_formulas,
    "tex": find_commands,
    "json": find_documents,
}
