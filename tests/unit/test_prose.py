"""Paragraphs of all analyses: short, finished, and with numbers that stand in the tables."""

import re

import numpy as np
import pandas as pd
import pytest

from capmap.tables import write_paragraphs
from tests.prose_tables import (
    DESCRIBED,
    MAY_BE_EMPTY,
    NOT_A_NUMBER,
    OPTIONS,
    drop_intervals,
    make_table,
    make_tables,
    tell,
)

NASTY = r"$x_1$ <b> 50% & ~^\alpha {#}"
NAME = re.compile(r"'[^']*'")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
MOST_WORDS = 60
# Their first row leaves nothing to compare, or they need a table that is never empty.
NEVER_EMPTY = ["assess_reliability", "rank_groups", "compare_conditions", "rank_checkpoints"]

each = pytest.mark.parametrize("step", DESCRIBED)


def check(paragraphs):
    """Paragraphs are at most two, short, finished and plain; a name is a word."""
    assert 1 <= len(paragraphs) <= 2
    for paragraph in paragraphs:
        words = NAME.sub("name", paragraph).split()
        assert len(words) <= MOST_WORDS, paragraph
        assert words[0][0].isupper() or words[0][0].isdigit() or words[0][:4] == "name", paragraph
        assert paragraph.endswith("."), paragraph
        assert not NOT_A_NUMBER.search(paragraph), paragraph
        assert not re.search(r"  |\( *\)|\.\.| ,|not available", paragraph), paragraph
        assert paragraph.replace("Moré", "").replace("Poincaré", "").isascii()
    return paragraphs


def list_numbers(tables):
    """Numbers of tables, their counts of rows, and settings, also as percentages."""
    settings = [value for value in OPTIONS.values() if isinstance(value, int | float)]
    numbers = [0.001, *settings, *(1 - value for value in settings)]
    for table in tables.values():
        numbers += range(max(len(table) + 1, 2 * len(table)))
        numbers += table.select_dtypes("number").to_numpy().ravel().tolist()
    return np.abs([*numbers, *(100 * number for number in numbers)])


@each
def test_paragraphs_are_short_and_finished(step) -> None:
    assert len(check(tell(step))) == 2


@each
def test_every_number_of_an_answer_stands_in_a_table(step) -> None:
    tables = make_tables(step)
    answer = re.sub(r"\d{4}-\d\d-\d\d|top-1", "", NAME.sub("", tell(step)[-1]))
    known = list_numbers(tables)
    for text in NUMBER.findall(answer):
        number, decimals = float(text.replace(",", "")), len(text.partition(".")[2])
        assert np.isclose(known.round(decimals), number, atol=1e-9).any(), (text, answer)


@each
def test_empty_tables_say_that_there_is_nothing(step) -> None:
    tables = make_tables(step)
    if step not in NEVER_EMPTY:
        check(tell(step, **{name: table.head(0) for name, table in tables.items()}))
    for name, table in [*tables.items()][1:]:
        if name != "effective_datasets":
            check(tell(step, **{name: table.head(0)}))


@each
def test_one_row_of_each_table_is_enough(step) -> None:
    check(tell(step, **{name: table.head(1) for name, table in make_tables(step).items()}))


@each
def test_missing_numbers_are_left_out(step) -> None:
    tables = make_tables(step)
    without = {name: drop_intervals(table) for name, table in tables.items()}
    for paragraph in check(tell(step, **without)):
        assert not re.search(r"% interval \d", paragraph)
    for name, table in without.items():
        without[name] = table.assign(**dict.fromkeys(MAY_BE_EMPTY.get(name, []), np.nan))
    check(tell(step, **without))


@each
@pytest.mark.parametrize("name", [NASTY, "ДА\u202e 模型", "a" * 500, "it's", "two\nlines"])
def test_names_are_kept_whole(step, name, tmp_path) -> None:
    swap = dict.fromkeys(("A", "d", "sea", "full"), name)
    tables = {key: table.replace(swap) for key, table in make_tables(step).items()}
    if step == "compare_models":
        tables["reference"] = name
    paragraphs = tell(step, **tables)
    shown = repr(name if len(name) <= 80 else name[:79] + "…")
    # Drift is told by dates alone, and reliability by numbers.
    assert (shown in paragraphs[-1]) == (step not in ("track_drift", "assess_reliability"))
    write_paragraphs(paragraphs, [tmp_path / "a.txt", tmp_path / "a.tex"])
    text = (tmp_path / "a.txt").read_text("utf-8")
    assert text == "\n\n".join(paragraphs) + "\n"
    latex = (tmp_path / "a.tex").read_text("utf-8")
    for mark, escaped in (("$x_1$", r"\$x\_1\$"), ("50%", r"50\%"), ("{#}", r"\{\#\}")):
        if mark in text:
            assert escaped in latex
    assert len(latex.split("\n\n")) == len(paragraphs)


def multiply(table):
    """Repeat a table under further names, if it has names."""
    keys = ["model", "model_a", "model_b", "dataset", "group", "condition", "published", "claim"]
    names = [name for name in keys if name in table and isinstance(table[name].iloc[0], str)]
    copies = [
        table.assign(**{name: table[name] + f"-{copy}" for name in names})
        for copy in range(8 if names else 1)
    ]
    return pd.concat(copies, ignore_index=True)


@each
def test_many_names_keep_paragraphs_short(step) -> None:
    check(tell(step, **{name: multiply(table) for name, table in make_tables(step).items()}))


def test_text_and_latex_are_written_as_paragraphs(tmp_path) -> None:
    paths = [str(tmp_path / "a.txt"), str(tmp_path / "a.tex")]
    write_paragraphs(["p < 0.001 in 5%.", "'a_b' won."], paths)
    assert (tmp_path / "a.txt").read_text("utf-8") == "p < 0.001 in 5%.\n\n'a_b' won.\n"
    latex = "p \\textless{} 0.001 in 5\\%.\n\n'a\\_b' won.\n"
    assert (tmp_path / "a.tex").read_text("utf-8") == latex


def test_an_unknown_suffix_writes_nothing(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"\.txt or \.tex"):
        write_paragraphs(["a"], [tmp_path / "a.txt", tmp_path / "a.html"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("datasets", "can"), [(5, False), (6, False), (7, True)])
def test_no_p_value_that_no_data_could_make_small(datasets, can) -> None:
    # Seven differences have 2^7 equally likely signs: the smallest two-sided p is 2 / 128, and
    # Holm's correction over three pairs makes 0.047 of it; with six it is 0.094.
    pairwise = make_table("comparisons/pairwise").assign(wilcoxon_p_holm=1.0, datasets=datasets)
    answer = tell("compare_models", pairwise=pairwise)[1]
    assert ("p = 1.000" in answer) == can
    assert ("cannot reach the 5% level" in answer) == (not can)
    ranks = make_table("comparisons/mean_ranks").assign(datasets=datasets, wilcoxon_group="a")
    assert ("Wilcoxon" in tell("compare_ranks", mean_ranks=ranks)[1]) == can


@pytest.mark.parametrize("p", [(0.2, 0.1), (0.06, 0.04)])
def test_mean_ranks_differ_only_where_all_tests_agree(p) -> None:
    friedman = make_table("comparisons/friedman").iloc[[0, 0]]
    friedman = friedman.assign(test=["friedman", "skillings_mack"])
    assert "differ significantly (p = 0.026" in tell("compare_ranks")[1]
    answer = tell("compare_ranks", friedman=friedman.assign(p=p))[1]
    assert "do not differ significantly" in answer
    assert "p = " not in answer


def test_decisions_on_the_reference_rest_on_claims() -> None:
    assert "'A' is better than 'B'" in tell("compare_models")[1]
    # 0.97 is more than 0.95, and less than 1 - 0.05 / 3.
    pairwise = make_table("comparisons/pairwise").assign(p_a_better=0.97)
    told = tell("compare_models", pairwise=pairwise)[1]
    assert "decides no comparison with 'A'" in told


def test_models_that_never_meet_are_not_compared() -> None:
    pairwise = make_table("comparisons/pairwise")
    numbers = pairwise.columns.drop(["model_a", "model_b", "datasets", "cells_unused", "decision"])
    strangers = pairwise.assign(datasets=0, **dict.fromkeys(numbers, np.nan))
    assert "in common" in check(tell("compare_models", pairwise=strangers))[1]
    elo = make_table("comparisons/elo").assign(component=[1, 2])
    assert "2 groups of models never meet" in tell("rate_models", elo=elo)[1]
    assert "never meet" not in tell("rate_models")[1]


def test_only_significant_cells_are_strengths() -> None:
    answer = tell("measure_strengths")[1]
    assert "Strongest: 'A' on 'd' (+0.100)" in answer
    assert "Weakest: 'A' on 'e' (-0.100)" in answer
    assert "'B'" not in answer


def test_metrics_over_other_subgroups_have_no_drop() -> None:
    assert "ASMA by -2.00" in tell("summarize_metrics")[1]
    subgroups = {"d": [1], "e": [2]}
    assert "ASMA by -2.00" not in tell("summarize_metrics", subgroups=subgroups)[1]


def test_checkpoints_chosen_on_the_split_that_compares_them_have_a_caution() -> None:
    stamped = make_table("comparisons/selected").assign(stamp="selected on the test split")
    method, answer = tell("rank_checkpoints", selected=stamped, split="test")
    assert "which flatters them" in method
    assert "Caution: they are selected on the test split" in method
    assert "worse in" not in answer


def test_entries_that_cannot_be_separated_are_named() -> None:
    entries = make_table("leaderboard/entries")
    assert "'B' cannot be separated from it" in tell("rank_entries")[1]
    apart = entries.assign(tie_group=["a", "b", "c", None])
    assert (
        "'A' has the highest IQM, 0.800, separated from all others"
        in tell("rank_entries", entries=apart)[1]
    )
