"""What the page of a leaderboard says of a model, what it downloads, and who can read it."""

import csv
import io
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.board_tables import HOSTILE, make_board, write_board

SERIOUS = {"serious", "critical"}
VIEWS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 800}},
}


def download(page: Page) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download CSV").click()
    assert waiting.value.suggested_filename == "toy-leaderboard.csv"
    return Path(waiting.value.path()).read_bytes().decode()


def hide_scores(page: Page) -> None:
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name="None: Dimensions").click()
    page.get_by_role("button", name="None: Datasets").click()


def test_a_model_opens_with_its_datasets_seeds_and_provenance(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    button = page.locator("#board button.open", has_text="Beta")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Beta")
    expect(dialog.locator("h2")).to_be_focused()
    expect(dialog.locator("dd").first).to_have_text("2 (1\N{EN DASH}3)")
    row = dialog.locator("tbody tr", has_text="accuracy").first
    # Beta, frozen, on d1: 0.85 − 1/12 = 0.76667, and 0.00005 for the seeds.
    cells = ["accuracy", "2", "76.6717 ± 0.0050", "0.767", "0.747\N{EN DASH}0.787", "2"]
    expect(row.locator("td")).to_have_text(cells, use_inner_text=True)
    dialog.locator("summary").click()
    shared = ["accuracy", "exports/results.csv", "UNet", "0.002"]
    expect(dialog.locator("details dd")).to_have_text(shared)
    runs = dialog.locator("details tbody tr")
    expect(runs).to_have_count(6)
    line = str(2 + 6)  # Alpha's three datasets and two seeds stand before.
    exact = repr(100 * (0.9 - 1 / 12 + 0 / 1000 - 0.05))
    expect(runs.first.locator("td")).to_have_text(["0", exact, line])
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_submissions_link_the_web_and_nothing_else(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.locator("#board button.open").first.click()
    links = page.locator("dialog a")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://example.org/paper")
    assert "noopener" in links.get_attribute("rel")
    expect(page.locator("dialog")).to_contain_text("javascript:alert(1)")
    expect(page.locator("dialog")).to_contain_text("<b>We</b> ran it all.")


@pytest.mark.parametrize("fixture", ["toy_page", "hostile_page"])
def test_download_of_all_entries_is_the_table_byte_for_byte(open_page, request, fixture):
    path = request.getfixturevalue(fixture)
    page = open_page(path, address="#all=1")
    hide_scores(page)
    assert download(page) == (path.parent / "entries.csv").read_bytes().decode()


def test_download_holds_the_rows_and_scores_in_view(open_page, toy_page):
    page = open_page(
        toy_page, address="#method=frozen&search=ta&sort=name&order=descending&rerank=1"
    )
    rows = list(csv.DictReader(io.StringIO(download(page))))
    assert [row["name"] for row in rows] == ["Zeta", "Delta", "Beta"]
    assert [row["rank_in_selection"] for row in rows] == ["", "2", "1"]
    assert [row["rank"] for row in rows] == ["", "4", "2"]
    with open(toy_page.parent / "dimensions.csv", encoding="utf-8") as file:
        table = {(row["model"], row["dimension"]): row["iqm"] for row in csv.DictReader(file)}
    for row in rows:
        assert row["dimension Core iqm"] == table[row["model"], "Core"]
        assert row["dimension Rare iqm"] == table.get((row["model"], "Rare"), "")


def test_hostile_names_are_shown_and_not_run(open_page, hostile_page):
    page = open_page(hostile_page, address="#all=1")
    shown = page.locator("#board button.open").evaluate_all(
        "buttons => buttons.map((button) => button.textContent)"
    )
    assert sorted(shown) == sorted(HOSTILE * 2)
    assert page.locator("img").count() == 0
    expect(page.locator("h1")).to_have_text(HOSTILE[0])
    for name in ["Models", "Submissions", "Columns"]:
        page.locator("summary", has_text=name).click()
    for name in HOSTILE:
        page.locator(f"#board button.open[data-entry='{shown.index(name)}']").first.click()
        expect(page.locator("dialog h2")).to_be_focused()
        assert page.locator("dialog h2").text_content() == name
        page.get_by_label("Compare with").select_option(index=1)
        page.locator("dialog summary").click()
        page.keyboard.press("Escape")
    page.get_by_label("Raw dataset scores").check()
    rows = list(csv.reader(io.StringIO(download(page))))
    assert len(rows) == 1 + len(shown)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "\t"))]


def test_hostile_names_do_not_widen_the_page(open_page, hostile_page):
    for view in ("light", "phone"):
        page = open_page(hostile_page, **VIEWS[view])
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0
        widest = page.locator("#board th.name").first.evaluate("cell => cell.offsetWidth")
        assert widest < 260


def test_a_phone_keeps_the_first_columns_while_scores_scroll(open_page, toy_page):
    page = open_page(toy_page, **VIEWS["phone"])
    page.locator("#main").evaluate("box => box.scrollTo(400, 0)")
    assert page.locator("#main").evaluate("box => box.scrollLeft") > 0
    left = page.locator("#board th.name").nth(1).evaluate("cell => cell.getBoundingClientRect().x")
    assert 0 <= left < 120


def test_what_a_study_does_not_have_is_not_offered(open_page, tmp_path):
    board = make_board(["Only"], ["one"], methods=[""], submission="", intervals=False)
    page = open_page(write_board(tmp_path, board))
    heads = ["Rank", "Model", "Overall", "one"]
    expect(page.locator("#board thead button")).to_have_text(heads)
    for control in ["#method", "#group", "#best"]:
        expect(page.locator(control)).to_be_hidden()
    expect(page.locator("#facets summary")).to_have_text(["Models", "Columns"])
    page.locator("#board button.open").click()
    expect(page.locator("dialog")).to_contain_text("1 of 1")
    expect(page.locator("dialog h3")).to_have_count(0)


def test_best_per_model_keeps_the_better_of_two_submissions(open_page, tmp_path):
    board = make_board(["A", "B", "C"], ["d"], methods=["frozen"])
    board["best"] = board["best"].iloc[[0, 2]]
    page = open_page(write_board(tmp_path, board))
    page.get_by_label("Best per model").check()
    expect(page.locator("#board button.open")).to_have_text(["A", "C"])
    expect(page.locator("#board td.rank b")).to_have_text(["1", "3"])


def test_a_long_table_is_drawn_to_its_end_and_in_print(open_page, tmp_path):
    board = make_board([f"m{i}" for i in range(150)], ["d"], methods=[""])
    page = open_page(write_board(tmp_path, board))
    expect(page.locator("#board tbody tr")).to_have_count(150)
    page.emulate_media(media="print")
    expect(page.locator("#tools")).to_be_hidden()
    assert page.locator("#main").evaluate("box => getComputedStyle(box).overflow") == "visible"
    # On all pages but the first, Chromium leaves buttons out of the repeated headings.
    heading = page.locator("#board thead button").first
    assert heading.evaluate("button => getComputedStyle(button).display") == "contents"


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(open_page, toy_page, view):
    page = open_page(toy_page, bypass_csp=True, **VIEWS[view])
    # In the dark only the colors are others.
    options = {"runOnly": ["color-contrast"]} if view == "dark" else {}
    page.locator("summary", has_text="Columns").click()
    found = scan(page, options)
    page.keyboard.press("Escape")
    page.get_by_label("Re-rank within selection").check()
    page.locator("#board button.open").first.click()
    page.get_by_label("Compare with").select_option(index=1)
    page.locator("dialog summary").click()
    found += scan(page, options)
    assert found == []


def scan(page: Page, options: dict[str, list[str]]) -> list[str]:
    results = Axe().run(page, options=options).response
    assert "color-contrast" in [rule["id"] for rule in results["passes"]]
    return [
        f"{finding['id']}: {node['html'][:120]}"
        for finding in results["violations"]
        if finding["impact"] in SERIOUS
        for node in finding["nodes"]
    ]
