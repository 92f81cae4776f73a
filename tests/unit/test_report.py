"""The page of a study says what its tables say, to everybody, without a network."""

import csv
import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from capmap.artifacts import read_table, write_index, write_text
from capmap.errors import CapmapError
from capmap.pages import TEMPLATES, contents, leaderboard
from capmap.pages.contents import make_view
from index import index
from tests.board_tables import HOSTILE as ENTRIES
from tests.board_tables import TABLES, make_board, write_board, write_trainings
from tests.report_pages import FIGURES, make_tables, run_report, write_study

MAX_PAGE = 2_000_000
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://evil.example")',
    "</script><script>alert(2)</script>",
    "{{ 7*7 }}",
    "a\"b'c,d\nsecond line",
    "W" * 300,
]


class Page(HTMLParser):
    """What a page consists of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.texts: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a text, that of scripts and styles by their id or tag."""
        self.words.append(data)
        tag, attributes = self.elements[-1] if self.elements else ("", {})
        if tag in {"script", "style"}:
            self.texts.setdefault(attributes.get("id") or tag, data)

    def find(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_study(tmp_path_factory.mktemp("plain"), ["A", "B", "C"], ["D1", "D2"])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> str:
    names = [f"{name} D" for name in HOSTILE]
    return write_study(tmp_path_factory.mktemp("hostile"), HOSTILE, names, title=HOSTILE[0])


def test_equal_results_give_equal_bytes(plain: str, tmp_path: Path) -> None:
    assert write_study(tmp_path, ["A", "B", "C"], ["D1", "D2"]) == plain


def test_the_page_asks_nothing_of_a_network(plain: str, hostile: str) -> None:
    for text in (plain, hostile):
        page = Page(text)
        policy = page.find("meta")[2]["content"]
        assert policy is not None
        assert policy.startswith("default-src 'none'; img-src data:;")
        asking = ("src", "srcset", "action", "style")
        assert not [key for _, found in page.elements for key in asking if key in found]
        links = [str(a["href"]) for _, a in page.elements if "href" in a]
        assert all(
            re.match(
                r"#|data:,|\.\./index\.html$|(changes|normalized/\w+)\.csv$|(tables|figures|paper)/",
                link,
            )
            for link in links
        )
        assert "@import" not in text
        assert "url(" not in text


def test_the_page_can_be_read_by_everybody(plain: str) -> None:
    page = Page(plain)
    assert page.find("html") == [{"lang": "en"}]
    plots = [found for found in page.find("div") if found.get("class") == "plot"]
    assert plots
    assert all(plot["role"] == "img" and plot["aria-label"] for plot in plots)
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    names = [a["id"] for _, a in page.elements if "id" in a]
    assert len(names) == len(set(names))
    labels = [a["aria-labelledby"] for _, a in page.elements if "aria-labelledby" in a]
    targets = [str(a["href"])[1:] for a in page.find("a") if str(a["href"]).startswith("#")]
    assert set(labels) | set(targets) <= set(names)
    assert all("aria-labelledby" in table for table in page.find("table"))


def test_what_has_nothing_to_show_is_left_out(tmp_path: Path) -> None:
    tables = make_tables(["A", "B"], ["D1"])
    tables |= {name: tables[name].head(0) for name in ("changes", "dropped")}
    page = Page(write_study(tmp_path, ["A", "B"], ["D1"], tables=tables, nothing=FIGURES))
    assert page.find("svg") == []
    assert not any("Since the former run" in word for word in page.words)
    assert not any("Models and datasets left out" in word for word in page.words)


def test_the_page_answers_first_and_says_how_at_the_end(plain: str) -> None:
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", plain)
    assert (titles[0], titles[-1]) == ("Which model is best?", "Methods")


def test_hostile_names_are_shown_and_not_run(hostile: str) -> None:
    page = Page(hostile)
    assert len(page.find("script")) == 1
    assert not any("onerror" in attributes for _, attributes in page.elements)
    words = "".join(page.words)
    assert all(name in words for name in HOSTILE)
    assert "49" not in re.findall(r"<th scope=\"row\"[^>]*>(.*?)<", hostile)


def test_ranks_and_exact_scores_stand_in_the_changes(plain: str) -> None:
    changes = plain.split('<table id="table-changes"')[1].split("</table>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)", changes)
    assert cells == ["A", "2", "1", "A on D", "0.5", "0.8"]


def test_changes_stay_until_there_are_others(tmp_path: Path) -> None:
    write_study(tmp_path, ["A", "B"], ["D1"])
    listed = (tmp_path / "changes.csv").read_text()
    assert "rank,A,2,1" in listed
    run_report(tmp_path, title="A study", analyses=[])
    assert (tmp_path / "changes.csv").read_text() == listed
    run_report(tmp_path, title="Another", analyses=[])
    listed = (tmp_path / "changes.csv").read_text()
    assert listed == "kind,name,before,after\nsetting,title,A study,Another\n"


def test_a_lost_or_edited_table_is_missed(tmp_path: Path) -> None:
    write_study(tmp_path, ["A", "B"], ["D1"])
    table = tmp_path / "comparisons/elo.csv"
    write_text(table, "model\nA\n")
    write_index(table.parent)
    assert read_table(table.parent / "index.csv")["file"].tolist() == ["elo.csv"]
    table.write_text("model\nB\n")
    with pytest.raises(CapmapError, match=r"elo\.csv was edited\. Make the folder again: remove"):
        run_report(tmp_path, analyses=[])
    table.unlink()
    with pytest.raises(CapmapError, match=r"elo\.csv is no longer there\."):
        run_report(tmp_path, analyses=[])


def test_a_study_of_single_runs_has_no_columns_of_intervals(tmp_path: Path) -> None:
    tables = make_tables(["A", "B"], ["D1", "D2"])
    uncertain = ["ci_low", "ci_high", "rank_low", "rank_high", "tie_group"]
    tables["ranking"] = tables["ranking"].assign(**dict.fromkeys(uncertain), runs=2)
    text = write_study(tmp_path, ["A", "B"], ["D1", "D2"], tables=tables)
    ranking = text.split('<table id="table-headline"')[1].split("</table>")[0]
    assert re.findall('data-name="(.*?)"', ranking) == ["rank", "model", "iqm", "runs", "datasets"]
    assert "Repeated runs are too few for intervals" in text


@pytest.mark.slow
@pytest.mark.parametrize(("models", "datasets"), [(5000, 50), (10, 2000)])
def test_a_large_study_fits_on_a_page(models: int, datasets: int, tmp_path: Path) -> None:
    text = write_study(
        tmp_path,
        [f"a-model-with-a-<long>-name-{i:04d}" for i in range(models)],
        [f"dataset {i:04d}" for i in range(datasets)],
        figure=b"x" * 250_000,
    )
    assert len(text.encode()) < MAX_PAGE
    assert f"of {models:,} rows" in text or models == 10


def test_a_figure_that_does_not_fit_is_linked(tmp_path: Path) -> None:
    figure = b"<svg>" + b"x" * 500_000 + b"</svg>"
    text = write_study(tmp_path, ["A"], ["D1"], figure=figure)
    # 1.95 MB hold at most three figures of 500 kB beside the tables; others are left out.
    drawn = text.count("<svg>")
    assert 1 < drawn < 4
    assert text.count('.svg">SVG</a>') > drawn


def test_the_ends_of_an_interval_stand_in_the_cell_of_the_estimate() -> None:
    table = pd.DataFrame(
        {
            "model": ["A", "B"],
            "iqm": [2 / 3, 0.5],
            "ci_low": [0, np.nan],
            "ci_high": [0.7, np.nan],
            "rank": [1, 2],
            "rank_low": [1, 1],
            "rank_high": [2, 2],
            "width": [0.1, 0.1],
        }
    )
    view = make_view(table, name="t", caption="", best={"iqm": "max"})
    assert [column.name for column in view.columns] == ["model", "iqm", "rank", "width"]
    texts = [[cell.text for cell in row.cells] for row in view.rows]
    assert texts == [
        ["A", "0.667 [0.000,\u00a00.700]", "1 [1,\u00a02]", "0.100"],
        ["B", "0.500", "2 [1,\u00a02]", "0.100"],
    ]
    assert [row.cells[1].is_best for row in view.rows] == [True, False]


def test_scores_stand_in_the_units_of_their_metrics_best_in_bold() -> None:
    cells = [["A", "d", 3.0, 0.25], ["B", "d", 2.0, np.nan], ["A", "e", 80.0, 0.25]]
    tables = {
        "seeds": pd.DataFrame(cells, columns=["model", "dataset", "mean", "std"]),
        "bounds": pd.DataFrame(
            [["d", "rmse", "min"], ["e", "acc", "max"]], columns=["dataset", "metric", "direction"]
        ),
    }
    view = contents.show_scores(["B", "A"], tables, {})
    assert [column.first for column in view.columns] == ["", "ascending", "descending"]
    found = [[(cell.text, cell.is_best) for cell in row.cells] for row in view.rows]
    assert found == [
        [("B", False), ("2.00", True), ("", False)],
        [("A", False), ("3.00 ±\u00a00.25", False), ("80.0 ±\u00a00.2", False)],
    ]


def test_only_warnings_that_touch_the_ranking_stand_above_it(plain: str) -> None:
    assert 'class="warning"' not in plain
    warnings = [{"code": code} for code in ("one_seed", "failed_run", "failed_run")]
    assert contents.list_doubts({"warnings": warnings}) == ["failed run"]


def test_rows_that_are_cut_count_for_decimals_and_for_the_best():
    table = pd.DataFrame({"model": [f"m{place}" for place in range(200)], "score": 1.0})
    table.loc[199, "score"] = 2.5
    table.loc[3, "score"] = 0.0
    for direction, best in (("max", []), ("min", ["0.000"])):
        view = make_view(table, name="t", caption="", best={"score": direction})
        assert 3 < len(view.rows) < 199
        assert [row.cells[1].text for row in view.rows][:4] == ["1.000", "1.000", "1.000", "0.000"]
        assert [row.cells[1].text for row in view.rows if row.cells[1].is_best] == best


def test_the_index_links_the_studies_with_their_verdict(tmp_path: Path) -> None:
    names = {"one": "A", "two": "<b>", "three": "C"}
    titles = {"one": "First", "two": "&lt;i>Second&lt;/i>", "three": "C &amp; D"}
    for name, model in names.items():
        write_text(tmp_path / f"{name}/headline.txt", f"{model} is best.\n")
        write_text(tmp_path / f"{name}/report.html", f"<title>{titles[name]}</title>")
    index(
        reports=[str(tmp_path / f"{name}/report.html") for name in ("one", "two")],
        boards=[str(tmp_path / "two/leaderboard/index.html")],
        index=str(tmp_path / "index.html"),
    )
    page = Page((tmp_path / "index.html").read_text())
    links = [a["href"] for a in page.find("a")]
    for name in names:
        assert links.count(f"{name}/report.html") == 2
        assert {f"{name}/tables/", f"{name}/figures/"} <= set(links)
    assert [link for link in links if "leaderboard" in link] == ["two/leaderboard/index.html"]
    assert "C & D" in page.words
    assert "<i>Second</i>" in page.words
    assert "<b> is best." in page.words


def unpack(table: dict) -> pd.DataFrame:
    lists = [[column["values"][code] for code in column["codes"]] for column in table["columns"]]
    rows = list(zip(*lists, strict=True))
    assert len(rows) == table["rows"]
    return pd.DataFrame(rows, columns=[column["name"] for column in table["columns"]])


def read_page(page: Path) -> Page:
    return Page(page.read_text("utf-8"))


def read_content(page: Path) -> dict:
    return json.loads(read_page(page).texts["data"])


@pytest.fixture(scope="module")
def hostile_board(tmp_path_factory):
    board = make_board(ENTRIES, ENTRIES, groups=dict.fromkeys(ENTRIES, ENTRIES[:2]))
    return write_board(tmp_path_factory.mktemp("hostile"), board, title=ENTRIES[0])


def test_the_page_holds_every_table_as_its_file_has_it(hostile_board):
    tables = read_content(hostile_board)["tables"]
    assert tuple(tables) == TABLES
    for name, table in tables.items():
        with open(hostile_board.parent / f"{name}.csv", encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
        # The file has an apostrophe before each formula, the page does not.
        bare = [[re.sub(r"^'(?='*[=+\-@\t\r])", "", cell) for cell in row] for row in rows]
        expected = pd.DataFrame(bare, columns=head)
        if name in {"dimensions", "raw", "normalized"}:
            # Their models say these already, in the table of entries.
            expected = expected.drop(columns=["method", "name", "submission"])
        pd.testing.assert_frame_equal(unpack(table), expected)


def test_names_meet_no_markup(hostile_board):
    page = read_page(hostile_board)
    assert [tag for tag, _ in page.elements].count("script") == 2
    assert "img" not in {tag for tag, _ in page.elements}
    assert not set("<>&\u2028\u2029") & set(page.texts["data"])
    assert "data" in page.texts
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)


def test_the_page_fetches_nothing_and_allows_only_its_own_script_and_style(hostile_board):
    page = read_page(hostile_board)
    policy = next(
        attributes["content"]
        for tag, attributes in page.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    )
    for tag in ("style", "script"):
        digest = b64encode(sha256(page.texts[tag].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not any("src" in attributes for _, attributes in page.elements)
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
