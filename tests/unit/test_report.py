"""The page of a study says what its tables say, to everybody, without a network."""

import re
from html.parser import HTMLParser
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from capmap import artifacts
from capmap.catalog import MAIN
from capmap.claims import list_claims, ranks_apart
from capmap.figures.canvas import draw_note
from capmap.figures.style import save_figure
from capmap.pages import accounts
from capmap.pages.analyses import Outcome
from capmap.pages.report import Results, tell_headline
from capmap.pages.views import make_view
from tests.report_tables import COVERAGE, make_ranking
from tests.toy_settings import make_settings
from write_index import write_index
from write_report import write_report

TABLES = list(MAIN.tables)
FIGURES = ["scores", "intervals", "rank_shift", "runs_per_cell", "seed_spread"]
MAX_PAGE = 2_000_000
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://evil.example")',
    "</script><script>alert(2)</script>",
    "{{ 7*7 }}",
    "a\"b'c,d\nsecond line",
    "W" * 300,
]


def draw_noise(size: int) -> bytes:
    """Make an image that compresses badly; half of it in 64 colors has about size² / 6 bytes."""
    buffer = BytesIO()
    pixels = np.random.default_rng(0).integers(256, size=(size, size, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(buffer, format="png")
    return buffer.getvalue()


NOISE = draw_noise(1600)


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


def make_tables(models: list[str], datasets: list[str]) -> dict[str, pd.DataFrame]:
    rng = np.random.default_rng(0)
    scopes = make_ranking(model=models)
    iqm = scopes.drop(columns=["unit", "statistic"]).rename(columns={"score": "iqm"})
    aggregate = iqm[["model"]].assign(mean=iqm["iqm"], rank_mean=iqm["rank"], datasets=2)
    values = rng.random((len(models), len(datasets)))
    cells = pd.MultiIndex.from_product([models[:200], datasets], names=["model", "dataset"])
    intervals = iqm.rename(columns={"iqm": "estimate"}).drop(columns=["runs", "datasets", "ties"])
    return {
        "iqm": iqm,
        "scopes": pd.concat([scopes, scopes.assign(unit="runs_and_datasets")]),
        "shared_seeds": pd.DataFrame({"correlation": [0.02], "p": [0.4], "models": len(models)}),
        "intervals": intervals.assign(statistic="iqm"),
        "aggregate": aggregate,
        "scores": pd.DataFrame(values, columns=datasets).assign(model=models)[["model", *datasets]],
        "seeds": cells.to_frame(index=False).assign(n=3, mean=rng.random(len(cells)), std=0.1),
        "coverage": COVERAGE.assign(datasets=len(datasets)),
        "changes": pd.DataFrame(
            [["iqm", models[0], "rank", 2, 1], ["iqm", models[0], "iqm", 0.5, 0.8]],
            columns=["table", "model", "quantity", "before", "after"],
            dtype="object",
        ),
        "bounds": pd.DataFrame(
            {
                "dataset": datasets,
                "metric": "accuracy",
                "direction": "max",
                "low": 0.0,
                "high": 1.0,
                "low_origin": "natural",
                "high_origin": "natural",
            }
        ),
        "dropped": pd.DataFrame(
            [["model", models[-1], "no runs"]], columns=["kind", "name", "reason"]
        ),
    }


def make_validation(name: str = "D1") -> dict[str, Any]:
    problem = {
        "severity": "warning",
        "code": "few_seeds",
        "source": "data/x.csv",
        "line": 0,
        "column": "",
        "value": name,
        "reason": f"{name} has one run.",
        "remedy": "Add runs.",
    }
    kinds = [*accounts.ROWS, "files", "models", "datasets", "metrics", "cells", "cells_empty"]
    return {
        "ok": True,
        "files": [{"path": "data/x.csv", "sha256": "0" * 64, "bytes": 7, "rows": 12}],
        "counts": dict.fromkeys(kinds, 1),
        "seeds_per_cell": {"min": 1, "median": 3.0, "max": 5},
        "metrics": {"accuracy": 2},
        "rejected": {"not_a_number": 2},
        "warnings": [problem],
        "warnings_total": 1,
        "conversions": {"percent_signs": 0, "decimal_commas": 0},
    }


def write_study(
    folder: Path,
    models: list[str],
    datasets: list[str],
    *,
    title: str = "A study",
    figure: bytes = b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    image: bytes = b"",
    tables: dict[str, pd.DataFrame] | None = None,
) -> str:
    tables = tables or make_tables(models, datasets)
    for name, table in tables.items():
        artifacts.write_text(folder / f"tables/{name}.csv", artifacts.render_csv(table))
    for name in FIGURES:
        artifacts.write_bytes(folder / f"figures/{name}.svg", figure)
        artifacts.write_bytes(folder / f"figures/{name}.png", image or NOISE)
    artifacts.write_json(folder / "validation.json", make_validation(datasets[0]))
    write_report(
        study="study",
        title=title,
        tables=[str(folder / f"tables/{name}.csv") for name in TABLES],
        bounds=str(folder / "tables/bounds.csv"),
        dropped=str(folder / "tables/dropped.csv"),
        validation=str(folder / "validation.json"),
        figures=[str(folder / f"figures/{name}.svg") for name in FIGURES],
        images=[str(folder / f"figures/{name}.png") for name in FIGURES],
        texts=[],
        report=str(folder / "report.html"),
        headline=str(folder / "text/headline.txt"),
        claims=str(folder / "text/claims.csv"),
        analyses=[],
        settings=make_settings(),
        version="1.2.3",
    )
    return (folder / "report.html").read_text()


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
        fetched = [
            a[key] for _, a in page.elements for key in ("src", "srcset", "action") if key in a
        ]
        assert all(str(address).startswith("data:image/svg+xml,%3Csvg") for address in fetched)
        links = [str(a["href"]) for _, a in page.elements if "href" in a]
        assert all(
            re.match(r"#|data:,|\.\./index\.html$|(tables|figures|paper)/", link) for link in links
        )
        assert "@import" not in text
        assert "url(" not in text


def test_the_page_can_be_read_by_everybody(plain: str) -> None:
    page = Page(plain)
    assert page.find("html") == [{"lang": "en"}]
    assert all(image["alt"] for image in page.find("img"))
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
    save_figure(draw_note("One model."), [tmp_path / "note.svg"])
    figure = (tmp_path / "note.svg").read_bytes()
    page = Page(write_study(tmp_path, ["A", "B"], ["D1"], tables=tables, figure=figure))
    assert page.find("img") == []
    assert not any("What changed since" in word for word in page.words)
    assert not any("Models and datasets left out" in word for word in page.words)


def test_the_page_answers_in_order(plain: str) -> None:
    titles = re.findall(r"<h2[^>]*>(.*?)</h2>", plain)
    assert titles == [
        "Which model is best, and how sure is that?",
        "Does the order depend on the aggregation?",
        "How does each model score on each dataset?",
        "What changed since the last run?",
        "What was read, and what was dropped?",
        "How was every number computed, and from what?",
    ]


def test_hostile_names_are_shown_and_not_run(hostile: str) -> None:
    page = Page(hostile)
    assert len(page.find("script")) == 1
    assert not any("onerror" in attributes for _, attributes in page.elements)
    words = "".join(page.words)
    assert all(name in words for name in HOSTILE)
    assert "49" not in re.findall(r"<th scope=\"row\"[^>]*>(.*?)<", hostile)


def test_ranks_and_exact_scores_stand_in_the_changes(plain: str) -> None:
    changes = plain.split('<table id="table-changes"')[1].split("</table>")[0]
    assert "<td>2<td>1</tr>" in changes
    assert '<td data-v="0.5">0.500<td data-v="0.8">0.800</tr>' in changes


def test_versions_and_settings_are_told(plain: str) -> None:
    assert ">capmap<td" in plain
    assert "1.2.3" in plain
    assert "interval: calibrated" in plain


def test_a_study_of_single_runs_has_no_columns_of_intervals(tmp_path: Path) -> None:
    tables = make_tables(["A", "B"], ["D1", "D2"])
    uncertain = ["ci_low", "ci_high", "rank_low", "rank_high", "ties"]
    tables["scopes"] = tables["scopes"].assign(**dict.fromkeys(uncertain), runs=2)
    tables["coverage"] = tables["coverage"].assign(expected=np.nan)
    text = write_study(tmp_path, ["A", "B"], ["D1", "D2"], tables=tables)
    ranking = text.split('<table id="table-ranking"')[1].split("</table>")[0]
    assert re.findall('data-name="(.*?)"', ranking) == ["rank", "model", "iqm", "runs", "datasets"]
    assert "no measure of uncertainty" in text


@pytest.mark.slow
@pytest.mark.parametrize(("models", "datasets"), [(5000, 50), (10, 5000)])
def test_a_large_study_fits_on_a_page(models: int, datasets: int, tmp_path: Path) -> None:
    text = write_study(
        tmp_path,
        [f"a-model-with-a-<long>-name-{i:04d}" for i in range(models)],
        [f"dataset {i:04d}" for i in range(datasets)],
        figure=b"x" * 250_000,
    )
    assert len(text.encode()) < MAX_PAGE
    assert 'All of it is in <a href="tables/scores.csv">' in text
    assert f"of {max(models, datasets):,}" in text


def test_a_figure_that_does_not_fit_is_linked(tmp_path: Path) -> None:
    text = write_study(tmp_path, ["A"], ["D1"], figure=b"x" * 500_000)
    # 1.95 MB hold three figures of 500 kB beside the tables; the two others are left out.
    assert text.count("data:image") == 3
    assert text.count("This figure is left out to keep the page small.") == 2
    assert text.count('.pdf">PDF</a>') == 5


def test_a_figure_too_large_as_svg_is_shown_as_an_image(tmp_path: Path) -> None:
    text = write_study(tmp_path, ["A"], ["D1"], figure=b"x" * 500_000, image=draw_noise(200))
    assert text.count("data:image/svg+xml") == 3
    assert text.count("data:image/png;base64,") == 2
    assert "left out to keep" not in text


def test_a_view_keeps_every_digit_beside_the_rounded_number() -> None:
    table = pd.DataFrame({"model": ["A"], "iqm": [1 / 3], "rank": [1]})
    view = make_view(table, name="t", caption="", max_bytes=1000)
    cells = view.rows[0].cells
    assert [(cell.text, cell.exact) for cell in cells] == [
        ("A", ""),
        ("0.333", "0.3333333333333333"),
        ("1", ""),
    ]


def test_a_view_says_what_was_cut() -> None:
    table = pd.DataFrame({"model": list("abcdefghij"), **{f"d{i}": 0.5 for i in range(69)}})
    view = make_view(table, name="t", caption="", max_bytes=3000)
    rows = len(view.rows)
    assert 0 < rows < 10
    assert view.note == f"Shown here: the first {rows} of 10 rows and the first 60 of 70 columns."


def test_a_view_counts_the_rows_that_its_table_lacks() -> None:
    table = pd.DataFrame({"reason": ["a", "b"]})
    view = make_view(table, name="t", caption="", max_bytes=600, total=1501)
    assert view.note == "Shown here: the first 2 of 1,501 rows."


def test_a_page_has_one_ranking_that_of_the_leaderboard_where_it_ranks_apart() -> None:
    tables = make_tables(["A", "B"], ["D1"])
    names = {"model": ["a", "b"], "name": ["<A>", "B"], "iqm": [0.8, 0.7], "rank": [1, 2]}
    entries = pd.DataFrame({**names, "ties": ["a", "ab"], "method": "", "complete": True})
    one = "Of 1 complete entry"
    for board, told in (
        (entries, "On these 2 datasets A is best"),
        (
            entries.assign(method=["<x>", "y"], rank=1),
            f"{one} with the method <x>, <A> has the highest IQM, 0.800. {one} with the method y",
        ),
        (entries.assign(complete=[True, False]), f"{one}, <A> has the highest IQM, 0.800."),
        (entries.assign(complete=False), "No entry is complete enough to be ranked."),
    ):
        results = Results(
            tables={**tables, "leaderboard/entries": board},
            validation=make_validation(),
            figures={},
            images={},
            files={},
            outcomes=[Outcome("leaderboard", ["How."])],
            settings=make_settings(),
            versions={},
        )
        headline = tell_headline(results).striptags()
        assert headline.startswith(told)
        assert ranks_apart(results.tables) == (" is best" not in headline)
        claims = list_claims(results.tables, results.settings)
        assert ("is best" in set(claims["relation"])) == (not ranks_apart(results.tables))


def test_the_index_links_the_studies_with_their_verdict(tmp_path: Path) -> None:
    names = {"one": "A", "two": "<b>", "three": "C"}
    for name, model in names.items():
        artifacts.write_text(tmp_path / f"{name}/text/headline.txt", f"{model} is best.\n")

    def describe(name: str, title: str, *, board: bool = False, is_old: bool = False) -> dict:
        return {"name": name, "title": title, "board": board, "is_old": is_old}

    write_index(
        reports=[str(tmp_path / f"{name}/report.html") for name in ("one", "two")],
        headlines=[str(tmp_path / f"{name}/text/headline.txt") for name in ("one", "two")],
        studies=[describe("one", "First"), describe("two", "<i>Second</i>", board=True)],
        others=[describe("three", "Third", is_old=True)],
        index=str(tmp_path / "index.html"),
    )
    page = Page((tmp_path / "index.html").read_text())
    links = [a["href"] for a in page.find("a")]
    for name in names:
        assert links.count(f"{name}/report.html") == 2
        assert {f"{name}/tables/", f"{name}/figures/"} <= set(links)
    assert [link for link in links if "leaderboard" in link] == ["two/leaderboard/index.html"]
    assert [word for word in page.words if "Older" in word] == ["Older than its exports:"]
    assert "<i>Second</i>" in page.words
    assert "<b> is best." in page.words
