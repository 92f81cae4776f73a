"""A real browser without a network, and pages of small leaderboards for it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.board_tables import HOSTILE, make_board, write_board
from tests.browser.pages import MILLISECONDS, open_watched, start_browser

GROUPS = {"Core": ["d1", "d2"], "Rare": ["d3"]}
Open = Callable[..., Page]


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
