"""The page of a study says what its tables say, to everybody, without a network."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap import artifacts
from capmap.artifacts import read_index, write_index
from capmap.errors import CapmapError
from capmap.pages import contents
from capmap.pages.contents import make_view
from index import index
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
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.words.append(data)

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
    assert not any("since the former run" in word for word in page.words)
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
    artifacts.write_text(table, "model\nA\n")
    write_index(table.parent)
    assert read_index(table.parent)["file"].tolist() == ["elo.csv"]
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


@pytest.mark.parametrize(
    "columns", [["low", "high"], ["dataset", "low", "high"], ["iqm", "ci_low"], ["ci_high", "iqm"]]
)
def test_ends_of_nothing_stay_columns(columns: list[str]) -> None:
    table = pd.DataFrame({"model": ["A"], **{name: [0.5] for name in columns}})
    table = table.astype({"dataset": "str"}) if "dataset" in columns else table
    view = make_view(table, name="t", caption="")
    assert [column.name for column in view.columns] == list(table.columns)


def test_rows_of_numbers_alone_have_no_name() -> None:
    table = pd.DataFrame({"datasets": [6], "correlation": [1 / 3]})
    view = make_view(table, name="t", caption="", marked={"6"})
    assert (view.header, view.rows[0].marked) == (None, False)
    assert make_view(table.assign(kind="a"), name="t", caption="").header == 2


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
        artifacts.write_text(tmp_path / f"{name}/headline.txt", f"{model} is best.\n")
        artifacts.write_text(tmp_path / f"{name}/report.html", f"<title>{titles[name]}</title>")
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


def test_warnings_of_a_rare_kind_come_before_repeats_of_a_frequent_one() -> None:
    blank = {"remedy": "", "source": "x.csv", "line": 0, "column": "", "value": ""}
    kinds = ["empty", "empty", "empty", "one_seed", "one_seed"]
    warnings = [{"code": kind, "reason": f"{kind} {n}", **blank} for n, kind in enumerate(kinds)]
    table = contents.list_warnings({"warnings": warnings})
    assert list(table.columns) == ["reason", "source"]
    assert table["reason"].tolist() == ["empty 0", "one_seed 3", "empty 1", "one_seed 4", "empty 2"]
    assert contents.list_warnings({"warnings": []}).empty
