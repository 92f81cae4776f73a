"""The page of a leaderboard: its views, what it says of an entry, and who can read it."""

import csv
import io
import re

import pytest
from playwright.sync_api import Page, expect

from tests.board_tables import HOSTILE, make_board, write_board, write_trainings
from tests.browser.conftest import VIEWS, scan

# Scores follow from tests/board_tables.py. On each dataset the models are evenly spaced, in turn
# from Alpha down and from Zeta down: d1 and d3 have Alpha first, d2 has Zeta first. So the mean of
# three datasets falls from Alpha to Epsilon; Zeta lacks d3 and is not ranked.
RANKED = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]


def read_names(page: Page) -> list[str]:
    return page.locator("#board button.open:visible").all_inner_texts()


def read_ranks(page: Page) -> list[str]:
    return page.locator("#board td.rank:visible").evaluate_all(
        "cells => cells.map((cell) => cell.firstChild.textContent)"
    )


def read_heads(page: Page) -> list[str]:
    return page.locator("#board thead button:visible").all_inner_texts()


def click_head(page: Page, label: str) -> None:
    page.locator("#board thead button", has_text=label).first.click()


def test_the_page_opens_on_one_method_and_says_who_leads(open_page, toy_page):
    page = open_page(toy_page)
    assert read_names(page) == [*RANKED, "Zeta"]
    assert read_ranks(page) == ["1", "2", "3", "4", "5", "not ranked"]
    expect(page.locator("#board tbody tr").last.locator("th small")).to_have_text("2/3")
    lead = page.locator("#lead")
    # The first two share a letter; those after them have "ab" as well.
    expect(lead).to_contain_text("Alpha leads 5 ranked entries of method frozen on 3 datasets, ")
    expect(lead).to_contain_text("0.712 (95% interval 0.692 to 0.732). Not significantly")
    page.get_by_label("Method").select_option("full_ft")
    expect(lead).to_contain_text("of method full_ft on 3 datasets")
    page.get_by_label("Dataset group").select_option("Rare")
    expect(lead).to_contain_text("on 1 dataset,")
    assert read_heads(page)[0] == "Rank in Rare"


def test_trainings_have_a_switch_of_rankings_and_list_their_checkpoints(open_page, tmp_path):
    page = open_page(write_trainings(tmp_path))
    assert read_names(page) == ["b", "a"]
    expect(page.locator("#lead")).to_contain_text(
        "b leads 2 ranked entries of ranking best, score 0.800. These ranks"
    )
    page.get_by_label("Ranking").select_option("all checkpoints")
    assert read_names(page) == ["b", "a", "a", "b"]
    for control in ["#raw", "#intervals", "#group"]:
        expect(page.locator(control)).to_be_hidden()
    page.locator("#board button.open").first.click()
    rows = page.locator("dialog tbody tr")
    expect(rows).to_have_text(["step=110.5000", "step=220.8000yes"])


def test_dimensions_and_datasets_are_described(open_page, tmp_path):
    told = {"datasets": {"d": "Crops."}, "dimensions": {"Core": "The core."}}
    board = make_board(["A", "B"], ["d"], groups={"Core": ["d"]})
    page = open_page(write_board(tmp_path, board, descriptions=told))
    head = page.locator("#board thead th", has_text="Core")
    expect(head).to_have_attribute("title", "Core: The core.\nd")
    assert page.locator("section dd").all_inner_texts() == ["The core. d", "Crops."]


def test_the_page_says_how_to_take_part(open_page, tmp_path):
    models = ["Alpha", "Beta", "Gamma"]
    groups = {"Core": ["d1", "d2"], "Rare": ["d3"]}
    about = "See https://example.org/submit for <the> form."
    board = make_board(models, ["d1", "d2", "d3"], groups=groups)
    page = open_page(write_board(tmp_path, board, about=about))
    expect(page.get_by_text(about)).to_be_visible()
    expect(page.get_by_role("link", name="https://example.org/submit")).to_have_count(1)
    hrefs = page.locator("header a").evaluate_all("all => all.map((a) => a.getAttribute('href'))")
    assert hrefs == ["../../index.html", "../report.html"]


def test_every_score_has_its_interval_and_every_rank_its_own(open_page, toy_page):
    page = open_page(toy_page)
    first = page.locator("#board tbody tr").first
    # Alpha, frozen: d1 0.85, d2 0.85 - 5/12 + 0.001, d3 0.852; two seeds add 0.00005.
    mean = (0.85 + 0.85 - 5 / 12 + 0.001 + 0.852) / 3 + 0.00005
    interval = f"[{mean - 0.02:.3f}, {mean + 0.02:.3f}]"
    assert first.locator("td.score").first.text_content() == f"{mean:.3f} {interval}"
    other = first.locator("td.score:visible").nth(1)
    expect(other).to_have_attribute("title", re.compile(r"^\[0\.\d{3}, 0\.\d{3}\]$"))
    page.get_by_label("All intervals").check()
    assert re.fullmatch(r"0\.\d{3} \[0\.\d{3}, 0\.\d{3}\]", other.text_content())
    twin = open_page(toy_page, address=f"#{page.url.partition('#')[2]}")
    assert twin.get_by_label("All intervals").is_checked()
    expect(first.locator("td.rank")).to_have_text("1 [1, 2]")


def test_columns_are_dimensions_until_others_are_picked(open_page, toy_page):
    page = open_page(toy_page)
    assert read_heads(page) == ["Rank", "Model", "Overall", "Size", "Tie group", "Core", "Rare"]
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("d2", exact=True).check()
    page.get_by_label("Core", exact=True).uncheck()
    assert read_heads(page) == ["Rank", "Model", "Overall", "Size", "Tie group", "Rare", "d2"]
    page.get_by_role("button", name="None: Dimensions").click()
    assert read_heads(page)[-1] == "d2"
    page.keyboard.press("Escape")
    page.get_by_label("Raw dataset scores").check()
    # Alpha on d2: 100 · (0.85 − 5/12 + 0.001 + 0.00005), SEM of two seeds 0.01 apart is 0.005.
    cell = page.locator("#board tbody tr").first.locator("td:visible").last
    assert cell.text_content() == "43.4383"
    page.get_by_label("All intervals").check()
    assert cell.text_content() == "43.4383 ± 0.0050"


def test_a_click_sorts_best_first_then_turns_round_then_restores(open_page, toy_page):
    page = open_page(toy_page)
    click_head(page, "Core")
    head = page.locator("#board th[aria-sort]")
    # Core is d1 and d2, whose orders cancel: all means are equal, so the order stays.
    expect(head).to_have_attribute("aria-sort", "descending")
    click_head(page, "Rare")
    assert read_names(page) == [*RANKED, "Zeta"]
    click_head(page, "Rare")
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert read_names(page) == [*RANKED[::-1], "Zeta"], "missing scores stay last"
    click_head(page, "Rare")
    expect(head).to_have_count(0)


def test_the_keyboard_sorts_and_keeps_its_place(open_page, toy_page):
    page = open_page(toy_page)
    page.locator("#board thead button", has_text="Model").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert read_names(page) == ["Zeta", "Gamma", "Epsilon", "Delta", "Beta", "Alpha"]
    assert page.evaluate("document.activeElement.textContent") == "Model"
    expect(page.locator("#board th[aria-sort=descending]")).to_have_text("Model")


def test_a_filter_leaves_ranks_alone(open_page, toy_page):
    page = open_page(toy_page)
    page.get_by_label("Filter").fill("ta")
    assert read_names(page) == ["Beta", "Delta", "Zeta"]
    assert read_ranks(page) == ["2", "4", "not ranked"]
    expect(page.locator(".tools output")).to_have_text("3 of 6 rows")
    page.get_by_label("Filter").fill("ta 103M")
    assert read_names(page) == ["Delta"]
    page.get_by_role("button", name="Reset").click()
    assert len(read_names(page)) == 6


def test_an_address_leads_to_its_view_and_back_leaves_it(open_page, toy_page):
    page = open_page(toy_page)
    page.get_by_label("Method").select_option("full_ft")
    click_head(page, "Rare")
    page.get_by_label("Filter").fill("eta")
    page.locator("#board button.open", has_text="Beta").click()
    expect(page.locator("dialog")).to_be_visible()
    address = page.url.partition("#")[2]
    twin = open_page(toy_page, address=f"#{address}")
    expect(twin.locator("dialog h2")).to_have_text("Beta")
    expect(twin.get_by_label("Method")).to_have_value("full_ft")
    assert read_names(twin) == ["Beta", "Zeta"]
    page.go_back()
    expect(page.locator("dialog")).to_be_hidden()
    assert read_names(page) == ["Beta", "Zeta"]
    page.go_back()
    expect(page.locator("#board th[aria-sort]")).to_have_count(0)
    page.go_forward()
    expect(page.locator("#board th[aria-sort]")).to_have_attribute("aria-sort", "descending")


def test_nonsense_in_an_address_is_left_out(open_page, toy_page):
    page = open_page(
        toy_page, address="#method=%3Cb%3E&sort=__proto__&open=x&group=y&columns=%zz&__proto__=1"
    )
    assert len(read_names(page)) == 6


def test_heat_grows_with_the_score_and_can_be_switched_off(open_page, toy_page):
    page = open_page(toy_page)
    cells = page.locator("#board td.score:nth-last-child(4)")
    shares = cells.evaluate_all("all => all.map((cell) => cell.style.getPropertyValue('--heat'))")
    # Of five evenly spaced scores on d3; the last model has none.
    assert shares == ["100%", "75%", "50%", "25%", "0%", ""]
    color = "cell => getComputedStyle(cell).backgroundColor"
    warm = cells.first.evaluate(color)
    page.get_by_label("Without colors").check()
    assert cells.first.evaluate(color) != warm


def test_a_model_opens_with_its_datasets(open_page, toy_page):
    page = open_page(toy_page)
    button = page.locator("#board button.open", has_text="Beta")
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Beta")
    expect(dialog.locator("h2")).to_be_focused()
    expect(dialog.locator("dd").first).to_have_text("2 [1, 3]")
    row = dialog.locator("tbody tr", has_text="accuracy").first
    # Beta, frozen, on d1: 0.85 − 1/12 = 0.76667, and 0.00005 for the seeds.
    cells = ["accuracy", "2", "76.6717 ± 0.0050", "0.767", "[0.747, 0.787]", "2"]
    expect(row.locator("td")).to_have_text(cells, use_inner_text=True)
    page.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_submissions_link_the_web_and_nothing_else(open_page, toy_page):
    page = open_page(toy_page)
    page.locator("#board button.open").first.click()
    links = page.locator("dialog a")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://example.org/paper")
    assert "noopener" in links.get_attribute("rel")
    expect(page.locator("dialog")).to_contain_text("javascript:alert(1)")
    expect(page.locator("dialog")).to_contain_text("<b>We</b> ran it all.")


COPY = """(format) => new Promise((done) => {
  document.addEventListener("copy", (event) => setTimeout(() => done(text)), { once: true });
  const set = DataTransfer.prototype.setData;
  let text = "";
  DataTransfer.prototype.setData = (type, data) => { text = data; };
  [...document.querySelectorAll(".tools button")].find((b) => b.textContent === format).click();
  DataTransfer.prototype.setData = set;
})"""


def copy(page: Page, form: str) -> str:
    return page.evaluate(COPY, f"Copy {form}")


def test_the_rows_and_columns_in_view_are_copied(open_page, toy_page):
    page = open_page(toy_page)
    page.locator("summary", has_text="Columns").click()
    page.get_by_role("button", name="None: Dimensions").click()
    page.get_by_role("button", name="None: About the entries").click()
    page.get_by_label("Filter").fill("alpha")
    rows = list(csv.reader(io.StringIO(copy(page, "CSV"))))
    assert rows == [["Rank", "Model", "Overall"], ["1 [1, 2]", "Alpha", "0.712 [0.692, 0.732]"]]
    assert copy(page, "Markdown").splitlines() == [
        "| Rank | Model | Overall |",
        "| --: | :-- | --: |",
        "| 1 [1, 2] | Alpha | 0.712 [0.692, 0.732] |",
    ]
    assert "Rank & Model & Overall \\\\" in copy(page, "LaTeX")


def test_hostile_names_are_shown_and_not_run(open_page, hostile_page):
    page = open_page(hostile_page)
    shown = page.locator("#board button.open").evaluate_all(
        "buttons => buttons.map((button) => button.textContent)"
    )
    assert sorted(shown) == sorted(HOSTILE)
    assert page.locator("img").count() == 0
    expect(page.locator("h1")).to_have_text(HOSTILE[0])
    page.locator("summary", has_text="Columns").click()
    page.keyboard.press("Escape")
    for place, name in enumerate(shown):
        page.locator("#board button.open").nth(place).click()
        expect(page.locator("dialog h2")).to_be_focused()
        assert page.locator("dialog h2").text_content() == name
        page.keyboard.press("Escape")
    page.get_by_label("Raw dataset scores").check()
    rows = list(csv.reader(io.StringIO(copy(page, "CSV"))))
    assert len(rows) == 1 + len(shown)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "@", "\t"))]


def test_hostile_names_do_not_widen_the_page(open_page, hostile_page):
    for view in ("light", "phone"):
        page = open_page(hostile_page, **VIEWS[view])
        width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert width <= 0
        widest = page.locator("#board tbody th").first.evaluate("cell => cell.offsetWidth")
        assert widest < 340


def test_what_a_study_does_not_have_is_not_offered(open_page, tmp_path):
    board = make_board(["Only"], ["one"], methods=[""], submission="", intervals=False)
    page = open_page(write_board(tmp_path, board))
    assert read_heads(page) == ["Rank", "Model", "Score", "one"]
    for control in ["#method", "#group", "#best", "#intervals"]:
        expect(page.locator(control)).to_be_hidden()
    page.locator("#board button.open").click()
    expect(page.locator("dialog")).to_contain_text("1 of 1")
    expect(page.locator("dialog h3")).to_have_count(0)


def test_best_per_model_keeps_the_better_of_two_submissions(open_page, tmp_path):
    board = make_board(["A", "B", "C"], ["d"], methods=["frozen"])
    board["best"] = board["best"].iloc[[0, 2]]
    page = open_page(write_board(tmp_path, board))
    page.get_by_label("Best per model").check()
    expect(page.locator("#board button.open")).to_have_text(["A", "C"])
    assert read_ranks(page) == ["1", "3"]


def test_a_long_table_is_printed_whole(open_page, tmp_path):
    board = make_board([f"m{i}" for i in range(150)], ["d"], methods=[""])
    page = open_page(write_board(tmp_path, board))
    expect(page.locator("#board tbody tr")).to_have_count(150)
    page.emulate_media(media="print")
    expect(page.locator("#controls")).to_be_hidden()
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
    page.locator("#board button.open").first.click()
    found += scan(page, options)
    assert found == []
