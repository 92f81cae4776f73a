"""The catalog of analyses holds together, and agrees with settings, library and page."""

import os
import subprocess
import sys
from collections import Counter
from inspect import getsource, signature

import pandas as pd
import pytest
from capmap.catalog import (
    ANALYSES,
    EVERYTHING,
    FIGURES,
    MAIN,
    STEPS,
    TABLES,
    find_owner,
    label_columns,
    list_analyses,
    list_figures,
    list_tables,
    list_text_columns,
    place_read,
    read_setting,
)
from capmap.catalog.columns import COLUMNS, TEXT_COLUMNS
from capmap.catalog.meanings import MEANINGS, explain_column

from capmap.changes import COLUMNS as CHANGES
from capmap.inputs.analyses import WORKED_OUT
from capmap.pages.analyses import Outcome, show_analyses
from capmap.settings.study import Config
from capmap.settings.words import read_schema
from capmap.steps import load_function
from tests.toy_settings import make_settings

SCHEMA = read_schema(Config)
STUDY = SCHEMA["properties"]["studies"]["additionalProperties"]["properties"]
DRAWN = [name for name, figure in FIGURES.items() if figure.draw]


def test_catalog_and_settings_know_the_same_analyses():
    assert list(ANALYSES) == STUDY["analyses"]["items"]["enum"]
    chosen = [name for name, analysis in ANALYSES.items() if analysis.default]
    assert chosen == STUDY["analyses"]["default"]


@pytest.mark.parametrize("kind", ["tables", "figures", "steps"])
def test_nothing_is_declared_twice(kind):
    names = [
        f"{analysis.folder}/{name}" if kind == "tables" else name
        for analysis in EVERYTHING.values()
        for name in getattr(analysis, kind)
    ]
    assert Counter(names).most_common(1)[0][1] == 1


def test_captions_are_plain_text():
    # The page of a study shows them as they are, and fills in nothing.
    for name, declared in (TABLES | FIGURES).items():
        assert declared.caption.strip(), name
        assert not {"{", "}"} & set(declared.caption), name


@pytest.mark.parametrize("place", TABLES)
def test_columns_are_declared_once_and_what_is_said_of_columns_is_of_these(place):
    table = TABLES[place]
    columns = table.columns.split()
    assert columns
    assert len(set(columns)) == len(columns)
    assert set(table.formats.split()) <= {"csv", "md", "tex", "json", "parquet"}
    if not table.more:
        assert {*table.best, *table.text.split()} <= set(columns)
        labels = label_columns(place, columns)
        assert list(labels) == columns
        assert all(labels.values())
        assert len(set(labels.values())) == len(labels)


@pytest.mark.parametrize("name", STEPS)
def test_functions_of_a_step_take_what_it_reads_and_is_told(name):
    step = STEPS[name]
    run = load_function(step.run)
    given = {"study", "folder", *step.reads, *step.paths, *step.options}
    taken = _list_needed(run)
    assert taken <= given
    if step.describe:
        told = _list_needed(load_function(step.describe))
        for fact in told - given - {*step.tables, *step.files}:
            assert f'"{fact}"' in getsource(run), fact
        taken |= told
    optional = {*signature(run).parameters}
    assert given - taken - optional <= {"study", "folder"}


def _list_needed(function):
    parameters = signature(function).parameters.items()
    return {name for name, parameter in parameters if parameter.default is parameter.empty}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_makes_tables_of_its_analysis_and_has_options_that_are_settings(name):
    step, owner = STEPS[name], find_owner(name, "steps")
    assert {*step.tables} <= owner.tables.keys()
    assert all(place_read(read, owner) for read in step.reads)
    for path in step.options.values():
        if path not in WORKED_OUT:
            read_setting(make_settings(), path)


def test_every_table_of_an_analysis_is_made_by_one_step():
    for analysis in ANALYSES.values():
        made = [table for step in analysis.steps.values() for table in step.tables]
        assert sorted(made) == sorted(analysis.tables)
        # Each analysis has one account, in files that are of no table.
        assert [bool(step.describe) for step in analysis.steps.values()].count(True) == 1
    assert not {f"{made.folder}/{name}_text" for name, made in ANALYSES.items()} & {*TABLES}


@pytest.mark.parametrize("name", DRAWN)
def test_function_of_a_figure_takes_what_it_reads_and_is_told(name):
    figure, owner = FIGURES[name], find_owner(name, "figures")
    options = [*figure.options, *(["order"] if figure.order else [])]
    taken = list(signature(load_function(figure.draw)).parameters)
    needed = _list_needed(load_function(figure.draw)) - {*taken[: len(figure.reads)]}
    assert needed <= {*options} <= {*taken[len(figure.reads) :]}
    assert all(place_read(read, owner) for read in [*figure.reads, figure.order] if read)
    for path in figure.options.values():
        if path not in WORKED_OUT:
            read_setting(make_settings(), path)


def test_analyses_without_their_settings_are_left_out():
    settings = {"analyses": ["groups", "ranks", "conditions"], "groups": {}, "conditions": []}
    assert list_analyses(settings) == ["ranks"]
    settings |= {"groups": {"g": {"datasets": ["x"]}}, "conditions": ["other"]}
    assert list_analyses(settings) == ["ranks", "groups", "conditions"]
    tables = ["friedman", "nemenyi", "mean_ranks"]
    tables += ["groups", "group_intervals", "group_coverage", "conditions", "condition_ranks"]
    expected = [*(f"tables/{name}" for name in MAIN.tables)]
    assert list_tables(settings) == [*expected, *(f"comparisons/{name}" for name in tables)]
    assert list_figures({"analyses": []}) == list(MAIN.figures)


def test_drift_needs_dates():
    settings = {"analyses": ["drift"], "attributes": {"models": {"date": ""}}}
    assert list_analyses(settings) == []
    settings["attributes"]["models"]["date"] = "published"
    assert list_tables(settings)[len(MAIN.tables) :] == ["comparisons/drift"]


def test_a_name_means_the_table_of_the_own_folder_before_one_of_the_ranking():
    assert place_read("datasets", ANALYSES["drift"]) == "capabilities/datasets.csv"
    assert place_read("iqm", ANALYSES["drift"]) == "tables/iqm.csv"
    assert place_read("normalized", ANALYSES["leaderboard"]) == "leaderboard/normalized.csv"
    assert place_read("runs", ANALYSES["ratings"]) == "normalized/runs.parquet"
    assert place_read("nothing", ANALYSES["ratings"]) == ""


def test_columns_are_called_alike_but_where_a_table_says_otherwise():
    columns = ["model", "ci_low", "share_first", "wilcoxon_p", "n"]
    spelt = {"model": "Model", "share_first": "Share first", "wilcoxon_p": "Wilcoxon p"}
    expected = {**spelt, "ci_low": "From", "n": "N"}
    assert label_columns("comparisons/elo", columns) == expected
    assert label_columns("tables/none", columns) == expected
    assert label_columns("tables/seeds", columns) == {**spelt, "ci_low": "Score from", "n": "Runs"}


def test_text_is_what_a_table_declares():
    assert list_text_columns("comparisons/elo") == ["model"]
    assert list_text_columns("leaderboard/dimensions")[-1] == "dimension"
    # Elsewhere a dimension is a number.
    assert "dimension" not in list_text_columns("capabilities/summary")
    assert list_text_columns("tables/none") == TEXT_COLUMNS
    assert {name for name in COLUMNS if COLUMNS[name].is_text} == set(TEXT_COLUMNS)


def test_a_section_holds_its_text_figures_and_tables():
    (section,) = show_analyses(
        [Outcome("ratings", ["Elo was fitted."])],
        {
            "comparisons/elo": pd.DataFrame({"model": ["A"], "elo": [1000.0]}),
            "comparisons/winrate": pd.DataFrame(columns=["model", "opponent", "win_rate"]),
        },
        files={name: f"{name}.csv" for name in ("comparisons/elo", "comparisons/winrate")}
        | {"text/ratings": "ratings.tex"},
    )
    ratings = ANALYSES["ratings"]
    assert section.heading == ratings.question
    assert (section.method, section.answer) == ("", ["Elo was fitted."])
    assert section.latex == "ratings.tex"
    assert section.figures == list(ratings.figures)
    captions = [table.caption for table in ratings.tables.values()]
    assert [view.caption for view in section.views] == captions
    assert [len(view.rows) for view in section.views] == [1, 0]
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


def test_every_declared_column_has_a_meaning_and_every_meaning_a_column() -> None:
    declared = {(place, name) for place, table in TABLES.items() for name in table.columns.split()}
    assert not [pair for pair in sorted(declared) if not explain_column(*pair)]
    known = {f"{place}.{name}" for place, name in declared} | {name for _, name in declared}
    assert not set(MEANINGS) - known - {*CHANGES}
    assert all(meaning.endswith(".") for meaning in MEANINGS.values())
