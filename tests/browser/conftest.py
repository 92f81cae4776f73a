"""A real browser without a network, and pages of small leaderboards for it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from tests.board_tables import HOSTILE, make_board, write_board
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
GROUPS = {"Core": ["d1", "d2"], "Rare": ["d3"]}
Open = Callable[..., Page]


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


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    if shutil.which("chromium") is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with start_browser() as chromium:
        expect.set_options(timeout=MILLISECONDS)
        yield chromium


@pytest.fixture(scope="session")
def toy_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make six models by two methods on three datasets; Zeta has no run on d3."""
    models = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"]
    board = make_board(models, ["d1", "d2", "d3"], groups=GROUPS, gaps=[("Zeta", "d3")])
    return write_board(tmp_path_factory.mktemp("toy"), board)


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make models, datasets, groups and a study called by markup, formulas and worse."""
    groups = dict.fromkeys(HOSTILE, HOSTILE[:2])
    board = make_board(HOSTILE, HOSTILE, groups=groups, submission=HOSTILE[1], methods=HOSTILE[:2])
    folder = tmp_path_factory.mktemp("hostile")
    return write_board(folder, board, study="toy", title=HOSTILE[0])


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open a page offline; the test fails when it asks for anything or logs an error."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_one(path: Path, **settings: Any) -> Page:
        page = open_watched(browser, path, faults, **settings)
        contexts.append(page.context)
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert faults == []
