"""Sixty hostile names as models, datasets and metrics, in every output and in Chromium.

One study of 60 × 60 is run to its page, paper and archive; a leaderboard is written for the same
names. Looked for are scripts, formulas, commands, broken files and names of files; the names must
come back from tables, and be legible and different on the pages, whose buttons are all pressed.
Prints the faults per output; any ends the script with an error.
"""

import sys
import tempfile
from pathlib import Path

import pandas as pd
from attacks import record_attack
from playwright.sync_api import Browser, Page

from capmap.tables import read_declared, render_markdown
from tests.board_tables import make_board, write_board
from tests.browser.pages import open_watched, start_browser
from tests.faults.hostile import CHECKS, lay_out_names
from tests.hostile_names import NAMES


def compare_tables(study: Path) -> list[str]:
    """The names that do not come back from tables."""
    bounds = read_declared(study / "normalized/bounds.csv", "normalized/bounds")
    found = {
        "models": read_declared(study / "tables/iqm.csv")["model"],
        "datasets": bounds["dataset"],
        "metrics": bounds["metric"],
    }
    known = {kind: set(NAMES) for kind in ("models", "datasets")}
    known["metrics"] = {f"{name}x{number}" for number, name in enumerate(NAMES)}
    return [f"{kind}: {name!a}" for kind, names in known.items() for name in names ^ {*found[kind]}]


def compare_shown(shown: list[str]) -> list[str]:
    """The names that a page does not show, or like another one; a line end is any white space."""
    known = {" ".join(name.split()) for name in NAMES}
    return [f"page: {name!a}" for name in known ^ {" ".join(text.split()) for text in shown}]


def press_all(page: Page) -> None:
    """Open what is folded, and press each button that is seen, once."""
    for place in page.locator("summary, main button").all()[:200]:
        if place.is_visible() and place.is_enabled():
            place.click()
            page.keyboard.press("Escape")


def look_at_pages(browser: Browser, results: Path, board: Path) -> tuple[list[str], list[str]]:
    """What a browser complains of, runs or asks for; and names that are not shown as they are."""
    faults: list[str] = []
    report = open_watched(browser, results / "toy/report.html", faults, ready=".chosen")
    shown = report.locator("#table-ranking tbody th").all_inner_texts()
    press_all(report)
    open_watched(browser, results / "index.html", faults, ready="main")
    entries = open_watched(browser, board, faults)
    listed = entries.locator("#board button.open").all_inner_texts()
    entries.locator("#board button.open").first.click()
    entries.keyboard.press("Escape")
    press_all(entries)
    return faults, [*compare_shown(shown), *compare_shown(listed)]


def main() -> None:
    """Run, look at all outputs, print what was found and record the counts."""
    with tempfile.TemporaryDirectory() as folder, start_browser() as browser:
        checkout = lay_out_names(Path(folder) / "project", NAMES, NAMES)
        run = checkout.snakemake(cores=1)
        if run.status:
            sys.exit(run.output)
        results = checkout.folder / "results"
        found = {output: [*check(results)] for output, check in CHECKS.items()}
        found["names in tables"] = compare_tables(results / "toy")
        board = make_board(NAMES, NAMES[:12], groups=dict.fromkeys(NAMES[:6], NAMES[:3]))
        page = write_board(Path(folder) / "board", board, study="toy", title=NAMES[0])
        found["Chromium"], found["names in Chromium"] = look_at_pages(browser, results, page)
    rows = [
        {"output": output, "names": len(NAMES), "faults": len(faults)}
        for output, faults in found.items()
    ]
    table = pd.DataFrame(rows)
    print(render_markdown(table), end="")
    misread = sum(len(faults) for output, faults in found.items() if output.startswith("names"))
    lost = int(table["faults"].sum()) - misread
    record_attack(
        "hostile names in outputs", tries=int(table["names"].sum()), lost=lost, misread=misread
    )
    if lost or misread:
        sys.exit("\n".join(fault for faults in found.values() for fault in faults))


if __name__ == "__main__":
    main()
