"""The page of a study answers to the pointer, to the keyboard and to readers of all kinds."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import VIEWS, Open, scan
from tests.report_pages import draw_study

MODELS = ["Alpha", "Beta <b>", "Gamma & Co", *(f"Model {place:02d}" for place in range(9))]
DATASETS = [f"Dataset {place}" for place in range(10)]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="session")
def study_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return draw_study(tmp_path_factory.mktemp("study"), MODELS, DATASETS)


@pytest.fixture
def page(open_page: Open, study_page: Path) -> Page:
    shown = open_page(study_page, ready=".chosen")
    for summary in shown.locator("main summary").all():
        summary.click()
    return shown


def find_plot(page: Page, name: str) -> Locator:
    return page.locator(f"#figure-{name} .plot")


def read_grid(plot: Locator) -> dict:
    return plot.evaluate(
        """(plot) => {
          const svg = plot.querySelector("svg");
          const grid = JSON.parse(svg.querySelector("metadata").textContent);
          const scale = svg.clientWidth / svg.viewBox.baseVal.width;
          const at = svg.getBoundingClientRect();
          const from = plot.getBoundingClientRect();
          const place = [at.x - from.x, at.y - from.y];
          return { ...grid, scale, place };
        }"""
    )


def find_cell(plot: Locator, row: int, column: int = 0) -> dict[str, float]:
    """Where the middle of a cell of a figure is, from the corner of its frame."""
    grid = read_grid(plot)
    x, y, width, height = grid["box"]
    wide, high = width / len(grid.get("columns", "1")), height / len(grid["rows"])
    left, top = grid["place"]
    return {
        "x": left + grid["scale"] * (x + (column + 0.5) * wide),
        "y": top + grid["scale"] * (y + (row + 0.5) * high),
    }


def test_hover_tells_the_estimate_with_its_interval(page):
    plot = find_plot(page, "intervals")
    plot.hover(position=find_cell(plot, 1))
    expect(page.locator(".tip")).to_have_text("Beta <b>\n0.764 [0.754, 0.774]")
    page.mouse.move(5, 5)
    expect(page.locator(".tip")).to_be_hidden()


def test_hover_tells_the_value_of_a_cell(page):
    plot = find_plot(page, "scores")
    grid = read_grid(plot)
    plot.hover(position=find_cell(plot, 2, 3))
    told = f"Gamma & Co · Dataset 3\n{grid['texts'][2][3]}"
    expect(page.locator(".tip")).to_have_text(told)


def list_picked(page: Page) -> set[str]:
    rows = page.locator("tr.picked").all()
    names = {row.locator("th").inner_text() for row in rows if row.is_visible()}
    return names | set(
        page.locator(".plot .picked").evaluate_all("all => all.map((e) => e.dataset.model)")
    )


def test_a_click_highlights_a_model_in_every_figure_and_table(page):
    plot = find_plot(page, "intervals")
    plot.click(position=find_cell(plot, 2))
    assert list_picked(page) == {"Gamma & Co"}
    for name in ("intervals", "scores"):
        assert find_plot(page, name).locator("rect.band").count() == 1
    assert find_plot(page, "rank_shift").locator(".picked").count() >= 1
    faint = find_plot(page, "rank_shift").locator("[data-model='Alpha']").first
    assert float(faint.evaluate("e => getComputedStyle(e).opacity")) < 0.5
    assert page.locator("#table-headline tr.picked").count() == 1
    page.get_by_role("button", name="Clear").click()
    assert list_picked(page) == set()
    assert page.locator("rect.band").count() == 0
    assert faint.evaluate("e => getComputedStyle(e).opacity") == "1"


def test_a_click_on_a_row_highlights_its_model_in_the_figures(page):
    page.locator("#table-headline tbody tr").nth(1).click()
    assert list_picked(page) == {"Beta <b>"}
    assert find_plot(page, "scores").locator("rect.band").count() == 1


def test_a_list_takes_models_out_of_the_figures(page):
    page.locator(".chosen summary").click()
    page.get_by_label("Find a model").fill("gamma")
    assert page.locator(".list li:visible").count() == 1
    page.get_by_label("Show Gamma & Co").uncheck()
    marks = page.locator(".plot [data-model='Gamma & Co']")
    assert set(marks.evaluate_all("all => all.map((e) => getComputedStyle(e).visibility)")) == {
        "hidden"
    }
    assert find_plot(page, "intervals").locator("rect.cover").count() == 1
    page.get_by_label("Show Gamma & Co").check()
    assert page.locator("rect.cover").count() == 0
    expect(marks.first).to_have_css("visibility", "visible")


def test_a_map_zooms_pans_and_tells_what_is_near(page):
    figure = page.locator("#figure-rank_shift")
    svg = figure.locator("svg")
    whole = svg.get_attribute("viewBox")
    point = figure.locator("use[data-model='Alpha']")
    point.hover()
    expect(page.locator(".tip")).to_contain_text("Alpha")
    point.click()
    expect(figure.locator(".reading")).to_contain_text("Nearest models: Beta <b>, Gamma & Co")
    figure.get_by_label("Zoom in").click()
    width = float(svg.get_attribute("viewBox").split()[2])
    assert width == pytest.approx(float(whole.split()[2]) / 1.5, rel=1e-3)
    before = svg.get_attribute("viewBox")
    box = svg.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 140, box["y"] + 110, steps=4)
    page.mouse.up()
    assert svg.get_attribute("viewBox") != before
    figure.get_by_label("Whole map").click()
    assert [float(x) for x in svg.get_attribute("viewBox").split()] == [
        float(x) for x in whole.split()
    ]


def test_the_keyboard_does_the_same(page):
    plot = find_plot(page, "intervals")
    plot.focus()
    for _ in range(2):
        page.keyboard.press("ArrowDown")
    told = page.locator("#figure-intervals .reading")
    expect(told).to_have_text("Beta <b>\n0.764 [0.754, 0.774]")
    expect(told).to_have_attribute("aria-live", "polite")
    assert plot.locator("rect.cursor").count() == 1
    page.keyboard.press("Enter")
    assert list_picked(page) == {"Beta <b>"}
    page.keyboard.press("Escape")
    assert list_picked(page) == set()
    scores = find_plot(page, "scores")
    scores.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    value = read_grid(scores)["texts"][1][1]
    expect(page.locator("#figure-scores .reading")).to_have_text(f"Beta <b> · Dataset 1\n{value}")


def test_the_scores_follow_the_ranking_sort_and_lose_columns(page):
    names = page.locator("#ranking table").evaluate_all("all => all.map((table) => table.id)")
    assert names.index("table-raw") == names.index("table-headline") + 1
    table = page.locator("#table-raw")
    values = [float(text.split()[0]) for text in table.locator("td:nth-child(2)").all_inner_texts()]
    assert table.locator("td:nth-child(2).best").inner_text().startswith(f"{max(values):.3f}")
    table.get_by_role("button", name="Dataset 0").click()
    first = table.locator("tbody td:nth-child(2)").first
    expect(first).to_have_class("best")
    tools = page.locator(".table", has=table).locator(".tools")
    tools.locator("summary").click()
    tools.get_by_label("Dataset 0", exact=True).uncheck()
    expect(first).to_be_hidden()
    page.keyboard.press("Escape")
    expect(tools.locator(".panel")).to_be_hidden()
    tools.get_by_label("Filter").fill("gamma")
    expect(table.locator("tbody tr:visible")).to_have_count(1)


def test_a_dataset_lists_all_models(page):
    strips = page.locator("#strips .plot")
    assert strips.locator("circle").count() == len(MODELS) * len(DATASETS)
    strips.locator("text[data-dataset='Dataset 3']").click()
    told = page.locator("#strips .reading").inner_text().splitlines()
    assert told[0] == "Dataset 3"
    assert [line.split(".")[0] for line in told[-len(MODELS) :]] == [
        str(place) for place in range(1, len(MODELS) + 1)
    ]
    page.locator("#table-headline tbody tr").nth(1).click()
    assert strips.locator(".picked").count() == len(DATASETS)


def test_on_a_phone_nothing_is_wider_than_the_screen_and_text_can_be_read(open_page, study_page):
    page = open_page(study_page, ready=".chosen", **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    cut = page.locator("#table-headline tbody th").evaluate_all(
        "all => all.filter((e) => e.scrollWidth > e.clientWidth || e.offsetHeight > 60).length"
    )
    assert cut == 0
    sizes = page.locator(".plot text").evaluate_all(
        """(all) => all.filter((e) => e.checkVisibility()).map(
          (e) => parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a)"""
    )
    assert min(size for size in sizes if size) > 8


def test_dark_figures_have_light_ink(open_page, study_page):
    page = open_page(study_page, ready=".chosen", color_scheme="dark")
    ink = page.locator("#figure-intervals text").first.evaluate("e => getComputedStyle(e).fill")
    assert min(map(int, re.findall(r"\d+", ink))) > 200


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(open_page, study_page, view):
    page = open_page(study_page, ready=".chosen", bypass_csp=True, **VIEWS[view])
    page.locator("#strips summary").click()
    page.locator(".tools .fold summary").first.click()
    assert scan(page, {"runOnly": ["color-contrast"]} if view == "dark" else {}) == []
