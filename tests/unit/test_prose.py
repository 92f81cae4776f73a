"""Paragraphs ready for a paper: finished sentences, whatever the tables hold."""

import re

import numpy as np
import pytest

from capmap.prose import (
    describe_conditions,
    describe_groups,
    describe_improvability,
    describe_pairwise,
    describe_profiles,
    describe_ratings,
    describe_robustness,
    describe_sample_size,
    write_paragraphs,
)
from tests.prose_tables import DESCRIBE, make_table, tell

NAN = np.nan
NOT_A_NUMBER = re.compile(r"\b(nan|NaN|NA|None|inf)\b")
NASTY = r"$x_1$ <b> 50% & ~^\alpha {#}"
TOLD_INTERVAL = re.compile(r"95% [\w ]*interval")
ENDS = ["ci_low", "ci_high"]
# What a script may leave out of a table that is not empty.
MAY_BE_EMPTY = {
    "pairwise": [*ENDS, "p_improvement_low", "p_improvement_high"],
    "rope": ["rope", "p_reference_better", "p_equivalent", "p_model_better"],
    "friedman": ["statistic", "df1", "df2", "p"],
    "nemenyi": ["p"],
    "mean_ranks": ["mean_rank", "nemenyi_group", "wilcoxon_group"],
    "profile_area": [
        *("area_raw", "share_raw", "rank_raw"),
        *("area_normalized", "share_normalized", "rank_normalized"),
    ],
    "elo": [*ENDS, "rank_low", "rank_high"],
    "winrate": ["win_rate"],
    "improvability": [*ENDS, "rank_low", "rank_high"],
    "improvability_datasets": ENDS,
    "robustness": ["left_out", "kendall_tau"],
    "flips": ["aggregations", "bounds", "left_out"],
    "groups": [*ENDS, "rank_low", "rank_high", "ties"],
    "conditions": ["estimate", *ENDS],
    "seed_widths": ["width", "width_now"],
}
ALL = pytest.mark.parametrize("describe", DESCRIBE, ids=lambda describe: describe.__name__)
ALONE = pytest.mark.parametrize(
    "describe",
    [describe for describe in DESCRIBE if describe not in {describe_groups, describe_conditions}],
    ids=lambda describe: describe.__name__,
)
WITH_INTERVALS = [
    describe_conditions,
    describe_groups,
    describe_improvability,
    describe_pairwise,
    describe_ratings,
]


def replace_names(table, names):
    """Replace names of models, datasets, groups and conditions in a table."""
    columns = ["model", "model_a", "model_b", "reference", "opponent", "dataset", "left_out"]
    columns += ["group", "condition", "best"]
    present = [column for column in columns if column in table]
    return table.assign(**{column: table[column].replace(names) for column in present})


@ALL
def test_every_paragraph_is_made_of_finished_sentences(describe) -> None:
    paragraphs = tell(describe)
    assert len(paragraphs) >= 2
    for paragraph in paragraphs:
        assert paragraph[0].isupper() or paragraph[0] in "'0123456789"
        assert paragraph.endswith(".")
        assert not NOT_A_NUMBER.search(paragraph)
        assert paragraph.replace("Moré", "More").isascii()
        assert "  " not in paragraph


@ALONE
def test_empty_tables_say_that_there_was_nothing_to_do(describe) -> None:
    names, _ = DESCRIBE[describe]
    paragraphs = tell(describe, **{name: make_table(name).head(0) for name in names})
    assert len(paragraphs) == 1
    assert paragraphs[0].endswith(".")


@ALL
def test_missing_numbers_are_told_without_nan(describe) -> None:
    names, _ = DESCRIBE[describe]
    tables = {name: make_table(name) for name in names}
    for name, table in tables.items():
        tables[name] = table.assign(**dict.fromkeys(MAY_BE_EMPTY.get(name, []), NAN))
    for paragraph in tell(describe, **tables):
        assert not NOT_A_NUMBER.search(paragraph)


def test_pairs_without_shared_datasets_are_told_without_nan() -> None:
    table = make_table("pairwise")
    numbers = table.columns.drop(["model_a", "model_b", "datasets", "cells_unused", "decision"])
    strangers = table.assign(datasets=0, **dict.fromkeys(numbers, NAN))
    for paragraph in tell(describe_pairwise, pairwise=strangers):
        assert not NOT_A_NUMBER.search(paragraph)


@pytest.mark.parametrize("describe", WITH_INTERVALS)
def test_intervals_are_told_only_where_there_are_some(describe) -> None:
    names, _ = DESCRIBE[describe]
    tables = {name: make_table(name) for name in names}
    assert any(TOLD_INTERVAL.search(paragraph) for paragraph in tell(describe))
    ends = ["ci_low", "ci_high", "p_improvement_low", "p_improvement_high", "rank_low", "rank_high"]
    for name in names:
        present = [column for column in ends if column in tables[name]]
        tables[name] = tables[name].assign(**dict.fromkeys(present, NAN))
    for paragraph in tell(describe, **tables):
        assert not TOLD_INTERVAL.search(paragraph)


@ALL
@pytest.mark.parametrize("name", [NASTY, "ДА\u202e 模型", "a" * 500, "it's", "two\nlines"])
def test_names_survive_whatever_they_are(describe, name, tmp_path) -> None:
    names, _ = DESCRIBE[describe]
    swap = {"A": name, "d": name, "sea": name, "full": name}
    paragraphs = tell(
        describe, **{table: replace_names(make_table(table), swap) for table in names}
    )
    shown = repr(name if len(name) <= 80 else name[:79] + "…")
    assert any(shown in paragraph for paragraph in paragraphs)
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
    assert "had runs on" in tell(describe, missing="pairwise")[0]
    assert "on which every model had runs" in tell(describe, missing="common")[0]
