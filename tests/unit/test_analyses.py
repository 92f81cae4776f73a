"""The declarations of analyses hold together, and agree with settings, library and page."""

import os
import subprocess
import sys
from collections import Counter
from inspect import signature
from pathlib import Path
from runpy import run_path
from typing import Any

import pandas as pd
import pytest
from markupsafe import Markup

from capmap import analyses
from capmap.analyses import columns, load_analysis
from capmap.inputs import WORKED_OUT
from capmap.pages.contents import show_analysis
from capmap.settings.checking import read_schema
from capmap.settings.sections import Config
from tests.steps import find_draw, find_step
from tests.toy_settings import make_settings

PROJECT = Path(__file__).parents[2]
SCHEMA = read_schema(Config)
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]["properties"]
DECLARED = {name: load_analysis(name) for name in analyses.INDEX}
TABLES = {
    f"{made.folder}/{name}": table
    for made in DECLARED.values()
    for name, table in made.tables.items()
}


def test_declarations_and_settings_know_the_same_analyses():
    assert STUDY["analyses"]["anyOf"][1]["items"]["enum"] == analyses.ANALYSES
    chosen = [name for name in analyses.ANALYSES if DECLARED[name].default]
    assert chosen == STUDY["analyses"]["default"]
    asked = make_settings(analyses="all")["analyses"]
    assert {*chosen} < {*asked}


@pytest.mark.parametrize("kind", ["tables", "figures", "steps"])
def test_nothing_is_declared_twice(kind):
    names = [
        f"{analysis.folder}/{name}" if kind == "tables" else name
        for analysis in DECLARED.values()
        for name in getattr(analysis, kind)
    ]
    assert Counter(names).most_common(1)[0][1] == 1


def test_captions_are_plain_text():
    # The page of a study shows them as they are, and fills in nothing.
    for made in DECLARED.values():
        for name, declared in (made.tables | made.figures).items():
            assert declared.caption.strip(), name
            assert not {"{", "}"} & set(declared.caption), name


@pytest.mark.parametrize("place", TABLES)
def test_columns_are_declared_once_and_what_is_said_of_columns_is_of_these(place):
    table = TABLES[place]
    names = table.columns.split()
    assert names
    assert len(set(names)) == len(names)
    assert set(table.formats.split()) <= {"csv", "tex", "json"}
    if not table.more:
        assert {*table.best, *table.text.split()} <= set(names)
        labels = {name: columns.spell_column(name) for name in names}
        assert all(labels.values())
        assert len(set(labels.values())) == len(labels)


@pytest.mark.parametrize("name", analyses.STEPS)
def test_a_step_is_given_what_its_function_takes(name):
    step, owner = find_step(name), analyses.STEPS[name]
    given = {"study", "folder", *step.reads, *step.paths, *step.options}
    assert _list_needed(step.run) <= given
    assert {*step.tables} <= DECLARED[owner].tables.keys()
    assert all(analyses.place_read(read, owner) for read in step.reads)
    _check_settings(step.options)


def _list_needed(function):
    parameters = signature(function).parameters.items()
    return {name for name, parameter in parameters if parameter.default is parameter.empty}


def _check_settings(options):
    for path in options.values():
        if path not in WORKED_OUT:
            analyses.read_setting(make_settings(), path)


@pytest.mark.parametrize("name", DECLARED)
def test_the_facts_of_an_analysis_are_found_in_tables_and_settings(name):
    declared = DECLARED[name]
    options = analyses.INDEX[name]["options"]
    for parameter in signature(declared.find_facts).parameters:
        place = analyses.place_read(parameter, name)
        assert parameter in {*options, "settings"} or place.endswith(".csv"), parameter
    _check_settings(options)


def test_every_table_of_an_analysis_is_made_by_one_step():
    for name in analyses.ANALYSES:
        steps = DECLARED[name].steps.values()
        made = [table for step in steps for table in step.tables]
        assert sorted(made) == sorted(DECLARED[name].tables)


@pytest.mark.parametrize("name", analyses.FIGURES)
def test_a_figure_is_given_what_its_function_takes(name):
    owner, draw = analyses.FIGURES[name], find_draw(name)
    options = analyses.INDEX[owner]["figures"][name]
    reads = analyses.list_parameters(draw, behind_star=False)
    assert _list_needed(draw) <= {"order", *reads, *options}
    assert {*options} <= {*analyses.list_parameters(draw, behind_star=True)}
    assert all(analyses.place_read(read, owner) for read in reads)
    _check_settings(options)


def test_analyses_without_their_settings_are_left_out():
    settings = {"analyses": ["groups", "ranks", "conditions"], "groups": {}, "conditions": []}
    assert analyses.list_analyses(settings) == ["ranks"]
    settings |= {"groups": {"g": {"datasets": ["x"]}}, "conditions": ["other"]}
    assert analyses.list_analyses(settings) == ["ranks", "groups", "conditions"]
    tables = ["friedman", "nemenyi", "mean_ranks"]
    tables += ["conditions", "condition_ranks"]
    expected = [*(f"tables/{name}" for name in DECLARED["main"].tables)]
    found = analyses.list_tables(settings)
    assert found == [*expected, *(f"comparisons/{name}" for name in tables)]
    assert analyses.list_figures({"analyses": []}) == list(DECLARED["main"].figures)
    settings = {"analyses": ["drift"], "attributes": {"models": {"date": ""}}}
    assert analyses.list_analyses(settings) == []


def test_a_name_means_the_table_of_the_own_folder_before_one_of_the_ranking():
    assert analyses.place_read("datasets", "drift") == "capabilities/datasets.csv"
    assert analyses.place_read("ranking", "drift") == "tables/ranking.csv"
    assert analyses.place_read("normalized", "leaderboard") == "leaderboard/normalized.csv"
    assert analyses.place_read("runs", "ratings") == "normalized/runs.parquet"
    assert analyses.place_read("nothing", "ratings") == ""


def test_text_is_what_a_table_declares():
    assert columns.list_text_columns("comparisons/elo") == ["model"]
    assert columns.list_text_columns("leaderboard/dimensions")[-1] == "dimension"
    # Elsewhere a dimension is a number.
    assert "dimension" not in columns.list_text_columns("capabilities/summary")
    assert columns.list_text_columns("tables/none") == columns.TEXT_COLUMNS


def test_a_section_holds_its_text_figures_and_tables():
    section = show_analysis(
        "ratings",
        {"answer": Markup("Elo was fitted."), "methods": Markup("")},
        {"comparisons/elo": pd.DataFrame({"model": ["A"], "elo": [1000.0]})},
        files={"comparisons/elo": "comparisons/elo.csv"},
    )
    ratings = DECLARED["ratings"]
    assert section.heading == ratings.question
    assert (section.methods, section.answer) == ("", "Elo was fitted.")
    assert section.figures == list(ratings.figures)
    captions = [table.caption for table in ratings.tables.values()]
    assert [view.caption for view in section.views] == captions
    assert [len(view.rows) for view in section.views] == [1]
    assert section.views[0].columns[1].label == "Elo"


@pytest.mark.parametrize("script", ["analyse", "plot"])
def test_scripts_calculate_in_one_thread(script):
    # Snakemake sets these to the number of cores that such a job has.
    environment = {f"{library}_NUM_THREADS": "4" for library in ("OMP", "OPENBLAS", "MKL")}
    print_threads = (
        f"import {script}, scipy.linalg, threadpoolctl; "
        "print({library['num_threads'] for library in threadpoolctl.threadpool_info()})"
    )
    done = subprocess.run(
        [sys.executable, "-c", print_threads],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "{1}\n"


def test_every_meaning_is_that_of_a_column() -> None:
    declared = {(place, name) for place, table in TABLES.items() for name in table.columns.split()}
    meanings = dict(item for made in DECLARED.values() for item in made.meanings.items())
    known = {f"{place.rpartition('/')[2]}.{name}" for place, name in declared}
    known |= {name for _, name in declared} | {"kind", "name", "before", "after"}
    assert not set(meanings | columns.MEANINGS) - known
    assert all(meaning.endswith(".") for meaning in (meanings | columns.MEANINGS).values())


def test_what_is_made_of_the_declarations_is_up_to_date() -> None:
    made: dict[str, Any] = run_path(str(PROJECT / "docs/make_results.py"))
    for path, render in (("INDEX", "render_index"), ("PAGE", "render_page")):
        assert made[path].read_text("utf-8") == made[render](), "run python docs/make_results.py"
