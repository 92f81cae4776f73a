"""How fast the page of a leaderboard is: first paint, sort and search in a real Chromium.

Run by ``make bench``. The page has 500 models and 50 columns of scores, one per dataset, each with
its interval. Times are medians over fresh loads: first paint is counted from the start of the
navigation to the end of the frame that shows its first rows, sort and search from the reader's act
to the end of the next frame. The page draws the first rows at once and the rest in small steps;
how long that takes is told too. The first paint of a page with one line of text, loaded in between,
says what the browser and the machine cost; ``load`` is how many processes wanted one of the cores.
Results are kept in ``benchmarks/results/board.csv`` and ``.md``.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

import pandas as pd
from playwright.sync_api import Browser, Page, sync_playwright

from capmap.tables import write_table
from workflow import PROJECT, RESULTS

sys.path.insert(0, str(PROJECT / "tests"))
from board_tables import make_board, write_board  # type: ignore[import-not-found]

MODELS, DATASETS, LOADS = 500, 50, 9
BUDGET = 300
# From an act to the frame after the one that shows it.
ACT = """(act) => new Promise((done) => {
  const start = performance.now();
  act === "sort"
    ? document.querySelectorAll("#board thead button")[7].click()
    : Object.assign(document.getElementById("search"), { value: "m12" })
        .dispatchEvent(new Event("input", { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
})"""
# Runs before the page's own script: tells when the frame with the first rows is done.
WATCH = """new MutationObserver((_, watcher) => {
  if (!document.querySelector("#board tbody tr, #bare")) return;
  watcher.disconnect();
  requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
}).observe(document, { childList: true, subtree: true })"""
WHOLE = """() => new Promise((done) => {
  const look = () => document.getElementById("board").ariaBusy === "false"
    ? done(performance.now()) : setTimeout(look, 5);
  look();
})"""


def make_page(folder: Path) -> Path:
    """Write a page with 500 models and 50 columns of scores, all of them shown."""
    models = [f"m{number}" for number in range(MODELS)]
    datasets = [f"dataset {number}" for number in range(DATASETS)]
    page: Path = write_board(folder, make_board(models, datasets, methods=[""]))
    return page


def open_tab(browser: Browser, address: str) -> Page:
    """Open a page in a tab of its own, and wait until it is painted."""
    tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    tab.add_init_script(WATCH)
    tab.goto(address)
    tab.wait_for_function("window.painted")
    return tab


def measure_loads(browser: Browser, page: Path, loads: int) -> pd.DataFrame:
    """Time one act after another in fresh loads of a page, in milliseconds."""
    bare = page.with_name("bare.html")
    bare.write_text("<!DOCTYPE html><title>Bare</title><p id=bare>One line.</p>", "utf-8")
    columns = "&".join(f"column=dataset%3Adataset+{number}" for number in range(DATASETS))
    times = []
    for _ in range(loads):
        tab = open_tab(browser, bare.as_uri())
        paint = tab.evaluate("window.painted")
        tab.context.close()
        tab = open_tab(browser, f"{page.as_uri()}#columns=&{columns}")
        times.append(
            {
                "first paint of one line": paint,
                "first paint": tab.evaluate("window.painted"),
                "all rows drawn": tab.evaluate(WHOLE),
                "sort": tab.evaluate(ACT, "sort"),
                "search": tab.evaluate(ACT, "search"),
            }
        )
        tab.context.close()
    return pd.DataFrame(times)


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--loads", type=int, default=LOADS)
    options = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("No chromium on this machine: apt-get install chromium.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = make_page(Path(folder))
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        times = measure_loads(browser, page, options.loads)
        load = os.getloadavg()[0]
        browser.close()
        size = page.stat().st_size / 1e6
    rows = [
        {
            "act": act,
            "median_ms": round(median(times[act]), 1),
            "worst_ms": round(max(times[act]), 1),
            "budget_ms": BUDGET if act in ("first paint", "sort") else pd.NA,
            "models": MODELS,
            "columns": DATASETS,
            "page_mb": round(size, 2),
            "load": round(load, 1),
        }
        for act in times.columns
    ]
    table = pd.DataFrame(rows).astype({"budget_ms": "Int64"})
    write_table(table, [RESULTS / "board.csv", RESULTS / "board.md"])


if __name__ == "__main__":
    main()
