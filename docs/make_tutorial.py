"""Write into ``docs/tutorial.md`` what its commands print: ``python docs/make_tutorial.py``.

Its pictures are of the same run, taken by Chromium, but for the map of the shipped study
``literature``, which is taken where that was run. All scores are simulated.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/tutorial.md"
IMAGES = ROOT / "docs/images"
MAP = ROOT / "results/literature/figures/capability_map.png"  # with figures: {formats: [png]}
LEVELS = {"Alder": 0.88, "Birch": 0.876, "Cedar": 0.82, "Dogwood": 0.79, "Elm": 0.786, "Fir": 0.7}
TASKS = {"crops": 0.05, "clouds": 0.02, "floods": -0.04, "roads": 0.0, "ships": -0.08, "height": 0}
HEADER = "backbone,task,metric,seed,test score\n"
FAULTS = {
    "Cedar,clouds,accuracy,2": "O.8532",
    "Dogwood,ships,accuracy,3": "nan",
    "Elm,crops,accuracy,1": "85.33",
}
BLOCK = re.compile(r"```(sh|yaml)\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)
# Of what Snakemake tells only what capmap says of the study.
SAID = re.compile(r"^\w+, \w+: ")


def simulate_rows() -> Iterator[tuple[int, str, str]]:
    """Simulate each run: its seed, what comes before the score, and the score."""
    for model, level in LEVELS.items():
        for task, ease in TASKS.items():
            key = [*f"{model}{task}".encode()]
            mean = level + ease + np.random.default_rng([*key, 2]).normal(0, 0.012)
            for seed, noise in enumerate(np.random.default_rng([*key, 10]).normal(0, 0.006, 5), 1):
                score = (
                    f"{8 * (1 - mean - noise):.3f}" if task == "height" else f"{mean + noise:.4f}"
                )
                metric = "RMSE" if task == "height" else "accuracy"
                yield seed, f"{model},{task},{metric},{seed}", score


def write_exports(folder: Path) -> None:
    """Write the file with faults, the later seeds, and the file of a colleague."""
    rows = list(simulate_rows())
    early = (f"{run},{FAULTS.get(run, score)}\n" for seed, run, score in rows if seed < 4)
    late = (f"{run},{score}\n" for seed, run, score in rows if seed > 3)
    (folder / "results.csv").write_text(HEADER + "".join(early))
    (folder / "seeds.csv").write_text("".join(late))
    tasks = [task for task in TASKS if task != "height"]
    lines = ["Model," + ",".join(tasks)]
    for model, level in (("Alder", 0.851), ("Birch", 0.858), ("Cedar", 0.80), ("Elm", 0.77)):
        cells = [f"{level + TASKS[task] + 0.004 * (len(model + task) % 3):.3f}" for task in tasks]
        lines.append(",".join([model, *(f"{cell} ± 0.006" for cell in cells)]))
    (folder / "colleague.csv").write_text("\n".join(lines) + "\n")


def run_block(block: re.Match[str], folder: Path) -> str:
    """Run the commands of a block, or write its settings, and put beneath what was printed."""
    language, text = block[1], block[2]
    head = f"```{language}\n{text}```\n"
    if language == "yaml":
        settings = folder / "results.yaml"
        is_whole = text.startswith("studies:")
        settings.write_text(text if is_whole else settings.read_text() + text)
        return head
    path = f"{folder}/bin:{Path(sys.executable).parent}:{os.environ['PATH']}"
    process = subprocess.run(
        ["/bin/sh", "-c", text], cwd=folder, env=os.environ | {"PATH": path}, **PIPES
    )
    page = folder / "results/results/report.html"
    if page.is_file() and not (folder / "tutorial.png").is_file():
        photograph(page, folder / "tutorial.png")
    said = [line for line in process.stderr.splitlines() if SAID.match(line)]
    said = said if "check" in text else []  # each run repeats them
    lines = [line for line in process.stdout.splitlines() if not line.startswith("$ ")]
    printed = "\n".join([*said, *lines]).replace(f"{folder}/", "")
    return f"{head}\n```text\n{printed}\n```\n" if printed else head


PIPES = {"capture_output": True, "text": True}


def photograph(page: Path, picture: Path) -> None:
    """Take a picture of the first screen of a page, for the documentation too."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        tab = browser.new_page(viewport={"width": 780, "height": 690})
        tab.goto(page.as_uri())
        tab.wait_for_function("!document.querySelector('[aria-busy=true]')")
        tab.screenshot(path=picture)
        browser.close()
    colors = Image.open(picture).convert("RGB")
    few = colors.quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few.save(IMAGES / picture.name, optimize=True)


def main() -> None:
    """Run the tutorial in an empty folder."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        command = folder / "bin/capmap"
        command.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT}/scripts exec {sys.executable} -m capmap.cli "$@"\n'
        )
        command.chmod(0o755)
        write_exports(folder)
        text = PAGE.read_text("utf-8")
        PAGE.write_text(BLOCK.sub(lambda block: run_block(block, folder), text), "utf-8")
    if MAP.is_file():
        picture = Image.open(MAP)
        picture.thumbnail((1000, 840), Image.Resampling.LANCZOS)
        picture.convert("RGB").save(IMAGES / "map.png", optimize=True)


if __name__ == "__main__":
    main()
