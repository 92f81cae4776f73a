"""The catalog of analyses agrees with the schema, the captions and the page."""

from itertools import chain
from pathlib import Path

import pandas as pd
import pytest

from capmap.report.analyses import HEADINGS, Outcome, show_analyses
from capmap.schema import load_schema
from workflow.analyses import ANALYSES, MAIN, list_analyses, list_figures, list_tables

ROOT = Path(__file__).parents[2]
SCHEMA = load_schema(ROOT / "workflow/schemas/config.schema.yaml")
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]["properties"]
EVERYTHING = [MAIN, *ANALYSES.values()]


def test_catalog_schema_and_page_know_the_same_analyses():
    assert list(ANALYSES) == STUDY["analyses"]["items"]["enum"] == list(HEADINGS)
    assert set(STUDY["analyses"]["default"]) < set(ANALYSES)


@pytest.mark.parametrize("kind", ["tables", "figures"])
def test_every_table_and_figure_has_one_name_and_one_caption(kind):
    names = list(chain.from_iterable(getattr(analysis, kind) for analysis in EVERYTHING))
    assert len(set(names)) == len(names)
    captions = {path.stem for path in (ROOT / "workflow/report" / kind).glob("*.rst")}
    assert captions == set(names)


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
    names = ["elo", "winrate"]
    (section,) = show_analyses(
        [Outcome("ratings", ["Elo was fitted."], names, names)],
        {
            "elo": pd.DataFrame({"model": ["A"], "elo": [1000.0]}),
            "winrate": pd.DataFrame(columns=["model", "opponent", "win_rate"]),
        },
        captions={f"tables/{name}": f"Table {name}." for name in names},
        files={name: f"tables/{name}.csv" for name in names} | {"text/ratings": "ratings.tex"},
    )
    assert section.heading == HEADINGS["ratings"]
    assert section.latex == "ratings.tex"
    assert section.figures == names
    assert [view.caption for view in section.views] == ["Table elo.", "Table winrate."]
    assert [len(view.rows) for view in section.views] == [1, 0]
    assert section.views[0].columns[1].label == "Elo"
