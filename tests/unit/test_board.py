"""The page of a leaderboard carries its tables whole, fetches nothing and runs no name."""

import csv
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.pages import TEMPLATES, leaderboard
from tests.board_tables import HOSTILE, TABLES, make_board, write_board, write_trainings


class Elements(HTMLParser):
    """The elements of a page and the text of its scripts and styles."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.found.append((tag, dict(attrs)))
        self.inside = (dict(attrs).get("id") or tag) if tag in {"script", "style"} else ""

    def handle_endtag(self, tag: str) -> None:
        """Leave a script or style."""
        self.inside = "" if tag in {"script", "style"} else self.inside

    def handle_data(self, data: str) -> None:
        """Keep the text of scripts and styles, by tag and id."""
        if self.inside:
            self.texts[self.inside] = self.texts.get(self.inside, "") + data


def unpack(table: dict) -> pd.DataFrame:
    lists = [[column["values"][code] for code in column["codes"]] for column in table["columns"]]
    rows = list(zip(*lists, strict=True))
    assert len(rows) == table["rows"]
    return pd.DataFrame(rows, columns=[column["name"] for column in table["columns"]])


def read_content(page: Path) -> dict:
    return json.loads(Elements(page).texts["data"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    board = make_board(HOSTILE, HOSTILE, groups=dict.fromkeys(HOSTILE, HOSTILE[:2]))
    return write_board(tmp_path_factory.mktemp("hostile"), board, title=HOSTILE[0])


def test_the_page_holds_every_table_as_its_file_has_it(hostile):
    tables = read_content(hostile)["tables"]
    assert tuple(tables) == TABLES
    for name, table in tables.items():
        with open(hostile.parent / f"{name}.csv", encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        # The file has an apostrophe before each formula, the page does not.
        bare = [[re.sub(r"^'(?='*[=+\-@\t\r])", "", cell) for cell in row] for row in rows]
        expected = pd.DataFrame(bare, columns=head)
        if name in {"dimensions", "raw", "normalized"}:
            # Their models say these already, in the table of entries.
            expected = expected.drop(columns=["method", "name", "submission"])
        pd.testing.assert_frame_equal(unpack(table), expected)


def test_names_meet_no_markup(hostile):
    page = Elements(hostile)
    assert [tag for tag, _ in page.found].count("script") == 2
    assert "img" not in {tag for tag, _ in page.found}
    assert not set("<>&\u2028\u2029") & set(page.texts["data"])
    assert "data" in page.texts
    assert not any(name.startswith("on") for _, attributes in page.found for name in attributes)


def test_the_page_fetches_nothing_and_allows_only_its_own_script_and_style(hostile):
    page = Elements(hostile)
    policy = next(
        attributes["content"]
        for tag, attributes in page.found
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("style", "script"):
        digest = b64encode(sha256(page.texts[tag].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any("src" in attributes for _, attributes in page.found)
    assert "url(" not in page.texts["style"]


def test_the_script_writes_text_only():
    code = "".join((TEMPLATES / name).read_text("utf-8") for name in ("page.js", "board.js"))
    assert len(code) < 60_000
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", code)


def test_a_study_without_entries_has_a_page(tmp_path):
    board = make_board(["A"], ["d"])
    empty = {name: board[name].iloc[:0] for name in board if name != "groups"}
    page = write_board(tmp_path, {**empty, "groups": {}})
    assert read_content(page)["tables"]["entries"]["rows"] == 0


def test_trainings_are_ranked_as_asked_and_so_are_all_checkpoints(tmp_path):
    content = read_content(write_trainings(tmp_path))
    entries = unpack(content["tables"]["entries"])
    assert entries["method"].unique().tolist() == ["best", "calibration", "all checkpoints"]
    assert content["first"] == "best"
    own = entries[entries["method"] == "calibration"]
    assert own[["name", "rank", "score", "submission"]].to_numpy().tolist() == [
        ["b", "1", "0.1", "step=2"],
        ["a", "2", "0.3", "step=1"],
    ]
    # By accuracy, higher is better: of the run "a" 0.7 and 0.6, of "b" 0.5 and 0.8.
    every = entries[entries["method"] == "all checkpoints"]
    assert every[["name", "rank", "step"]].to_numpy().tolist() == [
        ["b", "1", "2"],
        ["a", "2", "1"],
        ["a", "3", "2"],
        ["b", "4", "1"],
    ]
    assert entries["model"].is_unique


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), max_size=30))
def test_packing_loses_nothing(texts):
    table = pd.DataFrame({"a": texts}, dtype="object")
    packed = json.loads(leaderboard.write_script_data(leaderboard.pack_table(table)))
    assert unpack(packed).to_numpy().tolist() == table.to_numpy().tolist()
