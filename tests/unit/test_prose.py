"""Paragraphs ready for a paper: finished sentences, whatever the tables hold."""

import re

import numpy as np
import pytest

from capmap.prose import (
    describe_conditions,
    describe_drift,
    describe_groups,
    describe_improvability,
    describe_pairwise,
    describe_profiles,
    describe_ratings,
    describe_robustness,
    describe_sample_size,
    describe_transfer,
)
from capmap.tables import write_paragraphs
from tests.prose_tables import (
    CAPABILITIES,
    COMPARISONS,
    DESCRIBE,
    MAY_BE_EMPTY,
    NOT_A_NUMBER,
    drop_intervals,
    make_table,
    make_tables,
    tell,
)

NASTY = r"$x_1$ <b> 50% & ~^\alpha {#}"
TOLD_INTERVAL = re.compile(r"95% [\w ]*interval|% interval\b")
# Their tables have a row for each group or condition, so they fit each other only as they are.
TOGETHER = [describe_groups, describe_conditions]


def each(describes):
    """Run a test for each kind of paragraph."""
    return pytest.mark.parametrize("describe", describes, ids=lambda describe: describe.__name__)


@each(DESCRIBE)
def test_every_paragraph_is_made_of_finished_sentences(describe) -> None:
    paragraphs = tell(describe)
    assert len(paragraphs) >= 2
    for paragraph in paragraphs:
        assert paragraph[0].isupper() or paragraph[0] in "'0123456789"
        assert paragraph.endswith(".")
        assert not NOT_A_NUMBER.search(paragraph)
        assert paragraph.replace("Moré", "").replace("Poincaré", "").isascii()
        assert "  " not in paragraph


@each([describe for describe in DESCRIBE if describe not in TOGETHER])
def test_empty_tables_say_that_there_was_nothing_to_do(describe) -> None:
    tables = {name: table.head(0) for name, table in make_tables(describe).items()}
    paragraphs = tell(describe, **tables)
    assert paragraphs
    assert len(paragraphs) == 1 or describe in CAPABILITIES
    for paragraph in paragraphs:
        assert paragraph.endswith(".")
        assert not re.search(r"\d\.\d", paragraph)


@each(CAPABILITIES)
def test_each_table_alone_may_be_empty(describe) -> None:
    for name, table in make_tables(describe).items():
        for paragraph in tell(describe, **{name: table.head(0)}):
            assert not NOT_A_NUMBER.search(paragraph)
            assert paragraph.endswith(".")


@each([describe for describe in DESCRIBE if describe not in TOGETHER])
def test_one_row_of_each_table_is_told_without_nan(describe) -> None:
    tables = {name: table.head(1) for name, table in make_tables(describe).items()}
    for paragraph in tell(describe, **tables):
        assert not NOT_A_NUMBER.search(paragraph)


@each(DESCRIBE)
def test_missing_numbers_are_told_without_nan(describe) -> None:
    tables = make_tables(describe)
    for name, table in tables.items():
        empty = dict.fromkeys(MAY_BE_EMPTY.get(name, []), np.nan)
        tables[name] = drop_intervals(table).assign(**empty)
    for paragraph in tell(describe, **tables):
        assert not NOT_A_NUMBER.search(paragraph)


def test_pairs_without_shared_datasets_are_told_without_nan() -> None:
    table = make_table("pairwise")
    numbers = table.columns.drop(["model_a", "model_b", "datasets", "cells_unused", "decision"])
    strangers = table.assign(datasets=0, **dict.fromkeys(numbers, np.nan))
    for paragraph in tell(describe_pairwise, pairwise=strangers):
        assert not NOT_A_NUMBER.search(paragraph)


@each([*TOGETHER, describe_improvability, describe_pairwise, describe_ratings, *CAPABILITIES])
def test_intervals_are_told_only_where_there_are_some(describe) -> None:
    assert any(TOLD_INTERVAL.search(paragraph) for paragraph in tell(describe))
    tables = {name: drop_intervals(table) for name, table in make_tables(describe).items()}
    for paragraph in tell(describe, **tables):
        assert not NOT_A_NUMBER.search(paragraph)
        assert not TOLD_INTERVAL.search(paragraph)


@each(DESCRIBE)
@pytest.mark.parametrize("name", [NASTY, "ДА\u202e 模型", "a" * 500, "it's", "two\nlines"])
def test_names_survive_whatever_they_are(describe, name, tmp_path) -> None:
    named = ("A", "d", "sea", "full") if describe in COMPARISONS else ("A", "C", "d", "land")
    # What moved is told by its date, and transfer of all types together.
    swap = {} if describe in (describe_drift, describe_transfer) else dict.fromkeys(named, name)
    changes = {key: table.replace(swap) for key, table in make_tables(describe).items()}
    if describe == describe_pairwise:
        changes["reference"] = name
    paragraphs = tell(describe, **changes)
    shown = repr(name if len(name) <= 80 else name[:79] + "…")
    assert any(shown in paragraph for paragraph in paragraphs) == bool(swap)
    write_paragraphs(paragraphs, [tmp_path / "a.txt", tmp_path / "a.tex"])
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert text == "\n\n".join(paragraphs) + "\n"
    latex = (tmp_path / "a.tex").read_text("utf-8")
    for mark, escaped in (("$x_1$", r"\$x\_1\$"), ("50%", r"50\%"), ("{#}", r"\{\#\}")):
        if mark in text:
            assert escaped in latex
    assert len(latex.split("\n\n")) == len(paragraphs)


def test_text_and_latex_are_written_as_paragraphs(tmp_path) -> None:
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "a.tex")]
    write_paragraphs(["p < 0.001 in 5%.", "'a_b' won."], paths)
    assert (tmp_path / "a.txt").read_text("utf-8") == "p < 0.001 in 5%.\n\n'a_b' won.\n"
    latex = "p \\textless{} 0.001 in 5\\%.\n\n'a\\_b' won.\n"
    assert (tmp_path / "a.tex").read_text("utf-8") == latex


def test_no_paragraphs_make_an_empty_file(tmp_path) -> None:
    write_paragraphs([], [tmp_path / "a.txt"])
    assert (tmp_path / "a.txt").read_text("utf-8") == "\n"


def test_an_unknown_suffix_writes_nothing(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"\.txt or \.tex"):
        write_paragraphs(["a"], [tmp_path / "a.txt", tmp_path / "a.html"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "describe",
    [
        describe_pairwise,
        describe_profiles,
        describe_ratings,
        describe_improvability,
        describe_robustness,
        describe_sample_size,
    ],
)
def test_the_policy_for_empty_cells_is_told(describe) -> None:
    assert "had runs on" in tell(describe)[0]
