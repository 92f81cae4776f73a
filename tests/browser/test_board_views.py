"""The page of a leaderboard sorts, searches, filters, ranks again and remembers its views."""

import re

from playwright.sync_api import Page, expect

from tests.board_tables import make_board, write_board

# Scores follow from tests/board_tables.py. On each dataset the models are evenly spaced, in turn
# from Alpha down and from Zeta down: d1 and d3 have Alpha first, d2 has Zeta first. So the mean of
# three datasets falls from Alpha to Epsilon; Zeta lacks d3 and is not ranked.
RANKED = ["Alpha", "Beta", "Gamma", "Delta", "Epsilon"]


def read_names(page: Page) -> list[str]:
    page.wait_for_selector("#board[aria-busy=false]")
    return page.locator("#board button.open").all_inner_texts()


def read_ranks(page: Page) -> list[str]:
    page.wait_for_selector("#board[aria-busy=false]")
    return page.locator("#board td.rank").evaluate_all(
        "cells => cells.map((cell) => cell.firstChild.textContent)"
    )


def read_heads(page: Page) -> list[str]:
    return page.locator("#board thead button").all_inner_texts()


def click_head(page: Page, label: str) -> None:
    page.locator("#board thead button", has_text=label).first.click()


def test_entries_of_the_first_method_stand_by_rank_and_partial_ones_last(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    assert read_names(page) == [*RANKED, "Zeta"]
    assert read_ranks(page) == ["1", "2", "3", "4", "5", "not ranked"]
    last = page.locator("#board tbody tr").last
    expect(last.locator(".badge")).to_have_text("2/3")
    expect(page.locator("#status")).to_have_text("6 of 12 entries")


def test_the_page_opens_on_all_methods_the_best_first_and_unranked_ones_last(open_page, toy_page):
    page = open_page(toy_page)
    names, ranks = read_names(page), read_ranks(page)
    overall = page.locator("#board tbody tr td.score:nth-of-type(2)").all_inner_texts()
    scores = [float(text.split()[0]) for text in overall]
    assert sorted(names[:10]) == sorted(2 * RANKED)
    assert scores[:10] == sorted(scores[:10], reverse=True)
    assert sorted(ranks[:10]) == sorted(2 * "12345")
    assert (names[10:], ranks[10:]) == (["Zeta"] * 2, ["not ranked"] * 2)
    assert scores[10] > scores[11]
    assert page.url.partition("#")[2] == ""


def test_a_dimension_ranks_by_itself(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Dataset group").select_option("Core")
    assert read_heads(page)[0] == "Rank in Core"
    # Zeta lacks d3 only, which is not in Core.
    assert "not ranked" not in read_ranks(page)
    page.get_by_label("Dataset group").select_option("Rare")
    assert read_names(page) == [*RANKED, "Zeta"]
    assert read_ranks(page)[-1] == "not ranked"


def test_raw_scores_show_the_columns_of_datasets(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Raw dataset scores").check()
    assert {"d1", "d2", "d3"} <= set(read_heads(page))


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
    page = open_page(toy_page, address="#method=frozen")
    first = page.locator("#board tbody tr").first
    # Alpha, frozen: d1 0.85, d2 0.85 − 5/12 + 0.001, d3 0.852; two seeds add 0.00005.
    mean = (0.85 + 0.85 - 5 / 12 + 0.001 + 0.852) / 3 + 0.00005
    overall = first.locator("td.score").first
    interval = f"{mean - 0.02:.3f}\N{EN DASH}{mean + 0.02:.3f}"
    assert overall.text_content() == f"{mean:.3f} ({interval})"
    expect(first.locator("td.score").nth(1)).to_have_attribute(
        "title", re.compile(r"^0\.\d{3}.0\.\d{3}$")
    )
    page.get_by_label("All intervals").check()
    assert overall.text_content() == f"{mean:.3f}\n{interval}"
    assert "\n" in first.locator("td.score").nth(1).text_content()
    twin = open_page(toy_page, address=f"#{page.url.partition('#')[2]}")
    assert twin.get_by_label("All intervals").is_checked()
    expect(first.locator("td.rank small")).to_have_text("1\N{EN DASH}2")


def test_a_row_is_one_line_until_all_intervals_are_asked_for(open_page, toy_page):
    page = open_page(toy_page)
    heights = "rows => rows.map((row) => row.getBoundingClientRect().height)"
    assert max(page.locator("#board tbody tr").evaluate_all(heights)) < 36
    page.get_by_label("All intervals").check()
    assert min(page.locator("#board tbody tr").evaluate_all(heights)) > 48


def test_scores_stand_against_sizes_and_a_point_opens_its_entry(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    marks = page.locator("#plot .mark")
    expect(marks).to_have_count(6)
    names = marks.evaluate_all("marks => marks.map((mark) => mark.ariaLabel)")
    assert names[0].startswith(
        "Alpha \N{MIDDLE DOT} frozen: 0.712 (0.692\N{EN DASH}0.732), size 100M"
    )
    places = [mark.bounding_box() for mark in marks.all()]
    # Sizes grow from Alpha to Zeta, and the scores of the five that are ranked fall.
    assert sorted(places, key=lambda box: box["x"]) == places
    assert sorted(places[:5], key=lambda box: box["y"]) == places[:5]
    marks.first.hover()
    expect(page.locator(".tip")).to_contain_text("0.712")
    marks.nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.locator("#model-title")).to_have_text("Beta")
    page.keyboard.press("Escape")
    page.get_by_label("Search", exact=True).fill("alpha")
    expect(page.locator("#plot")).to_be_hidden()


def test_a_point_without_an_interval_is_told_none(open_page, tmp_path):
    board = make_board(["Alpha", "Beta"], ["d1"], methods=[""], intervals=False)
    page = open_page(write_board(tmp_path, board))
    names = page.locator("#plot .mark").evaluate_all("marks => marks.map((one) => one.ariaLabel)")
    assert len(names) == 2
    assert all(re.fullmatch(r"(Alpha|Beta): 0\.\d{3}, size 10[01]M", name) for name in names)


def test_two_entries_are_compared_side_by_side(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.locator("#board button.open").first.click()
    page.get_by_label("Compare with").select_option(label="Epsilon \N{MIDDLE DOT} frozen")
    table = page.locator("dialog table").first
    expect(table.locator("caption")).to_have_text("Side by side, normalized scores")
    overall = table.locator("tbody tr").first.locator("td")
    assert overall.first.text_content() == "0.712"
    assert len(overall.all()) == 4
    expect(page.locator("#verdict")).to_contain_text("these two")
    twin = open_page(toy_page, address=f"#{page.url.partition('#')[2]}")
    expect(twin.locator("dialog table").first.locator("caption")).to_contain_text("Side by side")
    page.get_by_label("Compare with").select_option(label="Epsilon \N{MIDDLE DOT} full_ft")
    expect(page.locator("#verdict")).to_contain_text("was not tested")
    page.keyboard.press("Escape")
    page.wait_for_function("!location.hash.includes('beside')")


def test_columns_are_dimensions_until_others_are_picked(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    assert read_heads(page) == ["Rank", "Model", "Overall", "Size", "Tie group", "Core", "Rare"]
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("d2", exact=True).check()
    page.get_by_label("Core", exact=True).uncheck()
    assert read_heads(page) == ["Rank", "Model", "Overall", "Size", "Tie group", "Rare", "d2"]
    page.get_by_role("button", name="None: Dimensions").click()
    assert read_heads(page)[-1] == "d2"
    page.get_by_label("Raw dataset scores").check()
    # Alpha on d2: 100 · (0.85 − 5/12 + 0.001 + 0.00005), SEM of two seeds 0.01 apart is 0.005.
    cell = page.locator("#board tbody tr").first.locator("td").last
    assert cell.text_content() == "43.4383"
    page.get_by_label("All intervals").check()
    assert cell.text_content() == "43.4383\n± 0.0050"


def test_a_click_sorts_best_first_then_turns_round_then_restores(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
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
    expect(page.locator("#status")).to_have_text("6 of 12 entries")


def test_the_keyboard_sorts_and_keeps_its_place(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.locator("#board thead button", has_text="Model").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert read_names(page) == ["Zeta", "Gamma", "Epsilon", "Delta", "Beta", "Alpha"]
    assert page.evaluate("document.activeElement.textContent") == "Model"
    expect(page.locator("#status")).to_contain_text("sorted by Model, descending")


def test_search_and_filters_leave_ranks_alone(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Search", exact=True).fill("ta")
    assert read_names(page) == ["Beta", "Delta", "Zeta"]
    assert read_ranks(page) == ["2", "4", "not ranked"]
    expect(page.locator("#status")).to_have_text("3 of 12 entries")
    page.locator("summary", has_text="Sizes").click()
    page.get_by_label("103M", exact=True).check()
    assert read_names(page) == ["Delta"]
    page.get_by_role("button", name="Clear: Sizes").click()
    assert read_names(page) == ["Beta", "Delta", "Zeta"]
    page.get_by_role("button", name="Reset").click()
    assert len(read_names(page)) == 12


def test_ranks_change_within_the_selection_only_when_asked_and_say_so(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Search", exact=True).fill("ta")
    page.get_by_label("Re-rank within selection").check()
    assert read_ranks(page) == ["1", "2", "not ranked"]
    assert read_heads(page)[0] == "Rank in selection"
    cells = ["was 2", "was 4", "was not ranked"]
    expect(page.locator("#board td.rank small")).to_have_text(cells)
    expect(page.locator("#banner")).to_contain_text("within the 3 entries shown")
    page.get_by_label("Re-rank within selection").uncheck()
    assert read_ranks(page) == ["2", "4", "not ranked"]
    expect(page.locator("#banner")).to_be_hidden()


def test_a_dataset_group_shows_its_score_and_datasets_and_can_rank(open_page, toy_page):
    page = open_page(toy_page, address="#all=1")
    page.get_by_label("Dataset group").select_option("Core")
    assert read_heads(page)[-3:] == ["Core", "d1", "d2"]
    page.get_by_label("Re-rank within selection").check()
    expect(page.locator("#banner")).to_contain_text("the score on Core")
    # Zeta is complete on Core. All frozen entries are tied there (the means of d1 and d2 are
    # equal up to rounding), so all that is told apart are the methods: 1–6 and 7–12.
    ranks = [int(rank) for rank in read_ranks(page)]
    methods = page.locator("#board tbody tr td.text:nth-of-type(3)").all_inner_texts()
    assert sorted(ranks)[0] == 1
    assert max(ranks) <= 12
    first = [method for rank, method in zip(ranks, methods, strict=True) if rank <= 6]
    assert first == ["full_ft"] * 6


def test_methods_are_chosen_one_at_a_time_or_together(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Method").select_option("full_ft")
    expect(page.locator("#board tbody tr")).to_have_count(6)
    scores = page.locator("#board tbody td.score")
    first = scores.first.inner_text().split()[0]
    page.get_by_label("Method").select_option("All methods")
    expect(page.locator("#board tbody tr")).to_have_count(12)
    assert "Method" in read_heads(page)
    assert float(first) == float(scores.first.inner_text().split()[0])


def test_an_address_leads_to_its_view_and_back_leaves_it(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    page.get_by_label("Method").select_option("full_ft")
    click_head(page, "Rare")
    page.get_by_label("Search", exact=True).fill("eta")
    page.locator("#board button.open", has_text="Beta").click()
    expect(page.locator("dialog")).to_be_visible()
    address = page.url.partition("#")[2]
    twin = open_page(toy_page, address=f"#{address}")
    expect(twin.locator("dialog h2")).to_have_text("Beta")
    expect(twin.get_by_label("Method")).to_have_value("1")
    assert read_names(twin) == ["Beta", "Zeta"]
    page.go_back()
    expect(page.locator("dialog")).to_be_hidden()
    assert read_names(page) == ["Beta", "Zeta"]
    page.go_back()
    expect(page.locator("#board th[aria-sort]")).to_have_count(0)
    page.go_forward()
    expect(page.locator("#board th[aria-sort]")).to_have_attribute("aria-sort", "descending")


def test_nonsense_in_an_address_is_left_out(open_page, toy_page):
    page = open_page(toy_page, address="#method=%3Cb%3E&sort=__proto__&open=x&group=y&column=%zz")
    assert len(read_names(page)) == 12


def test_heat_has_steps_by_score_and_can_be_switched_off(open_page, toy_page):
    page = open_page(toy_page, address="#method=frozen")
    classes = page.locator("#board td.score:nth-last-child(1)").evaluate_all(
        "cells => cells.map((cell) => cell.className)"
    )
    # Five evenly spaced scores on d3 in eight steps: 1, 3/4, 1/2, 1/4, 0 of the range.
    steps = [int(re.findall(r"h(\d)", name)[0]) for name in classes[:-1]]
    assert steps[0] == 7
    assert steps[-1] == 0
    assert steps == sorted(steps, reverse=True)
    assert not re.findall(r"h\d", classes[-1])
    color = "cell => getComputedStyle(cell).backgroundColor"
    cell = page.locator("#board td.score.h7").first
    warm = cell.evaluate(color)
    page.get_by_label("Heat colors").uncheck()
    assert cell.evaluate(color) != warm
