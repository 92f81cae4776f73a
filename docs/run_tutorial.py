"""Write into ``docs/tutorial.md`` what its commands print: ``python docs/run_tutorial.py``.

Chromium takes its picture. The map is that of the shipped study ``literature``, where it was run.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/tutorial.md"
IMAGES = ROOT / "docs/images"
MAP = ROOT / "results/literature/figures/capability_map.png"  # with figures: {formats: [png]}
BLOCK = re.compile(r"```(sh|yaml)\n(.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)
WAITS = 3  # a draft with decisions
# Of what Snakemake tells only what capmap says of the study.
SAID = re.compile(r"^\w+, \w+: ")


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
        ["/bin/sh", "-ec", text],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )
    if process.returncode not in (0, WAITS):
        sys.exit(f"{text}{process.stderr}")
    page = folder / "results/results/report.html"
    if page.is_file() and not (folder / "tutorial.png").is_file():
        photograph(page, folder / "tutorial.png")
    said = [line for line in process.stderr.splitlines() if SAID.match(line)]
    said = said if "check" in text else []  # each run repeats them
    lines = [line for line in process.stdout.splitlines() if not line.startswith("$ ")]
    printed = "\n".join([*said, *lines]).replace(f"{folder}/", "")
    return f"{head}\n```text\n{printed}\n```\n" if printed else head


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
        folder = Path(shutil.copytree(PAGE.with_suffix(""), name, dirs_exist_ok=True))
        (folder / "bin").mkdir()
        command = folder / "bin/capmap"
        command.write_text(
            f'#!/bin/sh\nPYTHONPATH={ROOT}/scripts exec {sys.executable} -m capmap.cli "$@"\n'
        )
        command.chmod(0o755)
        text = PAGE.read_text("utf-8")
        PAGE.write_text(BLOCK.sub(lambda block: run_block(block, folder), text), "utf-8")
    if MAP.is_file():
        picture = Image.open(MAP)
        picture.thumbnail((1000, 840), Image.Resampling.LANCZOS)
        picture.convert("RGB").save(IMAGES / "map.png", optimize=True)


if __name__ == "__main__":
    main()
