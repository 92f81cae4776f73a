"""The catalog of analyses agrees with the schema, the captions and the page."""

from itertools import chain
from pathlib import Path

import pandas as pd
from workflow.analyses import ANALYSES, MAIN, list_analyses, list_figures, list_tables

from capmap.report.analyses import HEADINGS, Outcome, show_analyses
from capmap.settings.sections import write_schema
from capmap.settings.study import ANALYSES as OFFERED
from capmap.settings.study import Config

ROOT = Path(__file__).parents[2]
SCHEMA = write_schema(Config)
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]["properties"]
EVERYTHING = [MAIN, *ANALYSES.values()]


def test_catalog_schema_and_page_know_the_same_analyses():
    assert list(ANALYSES) == OFFERED == STUDY["analyses"]["items"]["enum"] == list(HEADINGS)
    assert set(STUDY["analyses"]["default"]) < set(ANALYSES)


def test_every_table_and_figure_has_one_place_and_one_caption():
    made = {
        "tables": [table for analysis in EVERYTHING for table in analysis.locate_tables()],
        "figures": [f"figures/{name}" for analysis in EVERYTHING for name in analysis.figures],
    }
    names = [*chain.from_iterable(made.values())]
    assert len(set(names)) == len(names)
    files = (ROOT / "workflow/report").glob("*/*.rst")
    assert {f"{path.parent.name}/{path.stem}" for path in files} == set(names)


def test_captions_are_plain_text():
    # The page of a study shows them as they are, and fills in nothing.
    for path in (ROOT / "workflow/report").glob("*/*.rst"):
        caption = path.read_text("utf-8")
        assert caption.strip(), path.name
        assert "{" not in caption, path.name


def test_analyses_without_their_settings_are_left_out():
    settings = {"analyses": ["groups", "ranks", "conditions"], "groups": {}, "conditions": []}
    assert list_analyses(settings) == ["ranks"]
    settings |= {"groups": {"g": {"datasets": ["x"]}}, "conditions": ["other"]}
    assert list_analyses(settings) == ["ranks", "groups", "conditions"]
    tables = [*MAIN.tables, "friedman", "nemenyi", "mean_ranks"]
    tables += ["groups", "group_intervals", "group_coverage", "conditions", "condition_ranks"]
    assert list_tables(settings) == [f"tables/{name}" for name in tables]
    assert list_figures({"analyses": []}) == MAIN.figures


def test_drift_needs_dates_and_its_tables_have_a_folder_of_their_own():
    settings = {"analyses": ["drift"], "attributes": {"models": {"date": ""}}}
    assert list_analyses(settings) == []
    settings["attributes"]["models"]["date"] = "published"
    assert list_tables(settings)[len(MAIN.tables) :] == [
        "capabilities/newcomers",
        "capabilities/drift",
    ]


def test_a_section_holds_its_text_figures_and_tables():
    names = ["tables/elo", "tables/winrate"]
    (section,) = show_analyses(
        [Outcome("ratings", ["Elo was fitted."], names, names)],
        {
            "tables/elo": pd.DataFrame({"model": ["A"], "elo": [1000.0]}),
            "tables/winrate": pd.DataFrame(columns=["model", "opponent", "win_rate"]),
        },
        captions={name: f"Table {name.removeprefix('tables/')}." for name in names},
        files={name: f"{name}.csv" for name in names} | {"text/ratings": "ratings.tex"},
    )
    assert section.heading == HEADINGS["ratings"]
    assert section.latex == "ratings.tex"
    assert section.figures == names
    assert [view.caption for view in section.views] == ["Table elo.", "Table winrate."]
    assert [len(view.rows) for view in section.views] == [1, 0]
    assert section.views[0].columns[1].label == "Elo"
