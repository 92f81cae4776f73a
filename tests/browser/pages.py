"""Pages in a real browser that is watched."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Dialog, Page, sync_playwright

from tests.waiting import PATIENCE_FOR_ANSWERS

# Without a graphics card its emulation takes most of the time.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-extensions"]
MILLISECONDS = 1000 * PATIENCE_FOR_ANSWERS
BOARD = "#board"
SERIOUS = {"serious", "critical"}
VIEWS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}},
}


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Chromium, which must be there."""
    path = shutil.which("chromium")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=ARGUMENTS, timeout=MILLISECONDS
        )
        yield chromium
        chromium.close()


def open_watched(
    browser: Browser,
    path: Path,
    faults: list[str],
    *,
    address: str = "",
    ready: str = BOARD,
    **settings: Any,
) -> Page:
    """Open a page offline; dialogs, errors and what it asks for are put on a list."""
    viewport = {"width": 1280, "height": 900}
    context = browser.new_context(**{"viewport": viewport, "offline": True, **settings})
    context.set_default_timeout(MILLISECONDS)
    page = context.new_page()
    page.on("request", lambda request: faults.extend(_list_remote(request.url)))
    page.on("console", lambda message: faults.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda dialog: _dismiss(dialog, faults))
    page.goto(f"{path.as_uri()}{address}")
    page.wait_for_selector(ready)
    return page


def _dismiss(dialog: Dialog, faults: list[str]) -> None:
    faults.append(dialog.message)
    dialog.dismiss()


def _list_remote(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:", "blob:")) else [f"asked for {url}"]


def scan(page: Page, options: dict[str, list[str]]) -> list[str]:
    results = Axe().run(page, options=options).response
    assert "color-contrast" in [rule["id"] for rule in results["passes"]]
    return [
        f"{finding['id']}: {node['html'][:120]}"
        for finding in results["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]
