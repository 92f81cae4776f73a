"""The choices of analyses, the captions and the page follow from the catalog."""

import pandas as pd

from capmap.catalog import (
    ANALYSES,
    EVERYTHING,
    FIGURES,
    MAIN,
    STEPS,
    TABLES,
    list_analyses,
    list_captions,
    list_figures,
    list_tables,
)
from capmap.report.analyses import Outcome, show_analyses
from capmap.settings.sections import write_schema
from capmap.settings.study import Config

SCHEMA = write_schema(Config)
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]["properties"]


def test_the_choices_of_analyses_are_those_of_the_catalog():
    assert STUDY["analyses"]["items"] == {"enum": list(ANALYSES)}
    assert STUDY["analyses"]["default"] == [
        *("pairwise", "ranks", "profiles", "robustness", "groups", "conditions", "sample_size")
    ]


def test_a_name_stands_for_one_table_figure_or_step():
    for found, kind in ((TABLES, "tables"), (FIGURES, "figures"), (STEPS, "steps")):
        assert len(found) == sum(len(getattr(made, kind)) for made in EVERYTHING.values())
    # Results of both are kept in one folder, by name.
    shared = {step for made in EVERYTHING.values() if made.shared for step in made.steps}
    assert not shared & set(FIGURES)


def test_captions_are_plain_text():
    # The page of a study shows them as they are, and fills in nothing.
    captions = list_captions()
    assert set(captions) == {*TABLES, *(f"figures/{name}" for name in FIGURES)}
    for name, caption in captions.items():
        assert caption.strip(), name
        assert "{" not in caption, name


def test_analyses_without_their_settings_are_left_out():
    settings = {"analyses": ["groups", "ranks", "conditions"], "groups": {}, "conditions": []}
    assert list_analyses(settings) == ["ranks"]
    settings |= {"groups": {"g": {"datasets": ["x"]}}, "conditions": ["other"]}
    assert list_analyses(settings) == ["ranks", "groups", "conditions"]
    tables = [*MAIN.tables, "friedman", "nemenyi", "mean_ranks"]
    tables += ["groups", "group_intervals", "group_coverage", "conditions", "condition_ranks"]
    assert list_tables(settings) == [f"tables/{name}" for name in tables]
    assert list_figures({"analyses": []}) == list(MAIN.figures)


def test_drift_needs_dates_and_its_tables_have_a_folder_of_their_own():
    settings = {"analyses": ["drift"], "attributes": {"models": {"date": ""}}}
    assert list_analyses(settings) == []
    settings["attributes"]["models"]["date"] = "published"
    assert list_tables(settings)[len(MAIN.tables) :] == [
        "capabilities/newcomers",
        "capabilities/drift",
    ]


def test_a_section_holds_its_text_figures_and_tables():
    (section,) = show_analyses(
        [Outcome("ratings", ["Elo was fitted."])],
        {
            "tables/elo": pd.DataFrame({"model": ["A"], "elo": [1000.0]}),
            "tables/winrate": pd.DataFrame(columns=["model", "opponent", "win_rate"]),
        },
        files={f"tables/{name}": f"{name}.csv" for name in ("elo", "winrate")}
        | {"text/ratings": "ratings.tex"},
    )
    assert section.heading == ANALYSES["ratings"].question
    assert section.latex == "ratings.tex"
    assert section.figures == ["elo", "winrate"]
    assert [view.caption for view in section.views] == [
        table.caption for table in ANALYSES["ratings"].tables.values()
    ]
    assert [len(view.rows) for view in section.views] == [1, 0]
    assert section.views[0].columns[1].label == "Elo"
