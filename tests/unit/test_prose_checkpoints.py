"""What is told of checkpoints, word for word."""

import numpy as np
import pandas as pd

from capmap.prose.checkpoints import describe_checkpoints

SELECTED = pd.DataFrame(
    {
        "model": ["A", "A", "B"],
        "training": ["a1", "a2", "b1"],
        "checkpoints": [5, 6, 1],
        "optimism_mean": [0.1, 0.2, 0.0],
        "optimism_last": [0.05, 0.1, 0.0],
        "gain_report": [-0.01, -0.03, 0.0],
        "stamp": "",
    }
)
RANKINGS = pd.DataFrame(
    {
        "ranking": ["best", "best", "best"],
        "rank": pd.array([1, 2, None], dtype="Int64"),
        "model": ["A", "B", "A"],
        "training": ["a1", "B", "a2"],
        "checkpoint": ["step=3", "7", "step=9"],
        "score": [0.8, 0.7, np.nan],
    }
)


EMPTY = {
    "ranking_agreement": "ranking_a ranking_b kendall_tau",
}


def tell(selected=SELECTED, rankings=RANKINGS, *, split="validation", report="test", **others):
    tables = {name: pd.DataFrame(columns=columns.split()) for name, columns in EMPTY.items()}
    return describe_checkpoints(selected, rankings, **tables | others, split=split, report=report)


def test_agreement_is_told():
    taus = [("a", "b", 0.5), ("a", "c", -0.25), ("b", "c", np.nan)]
    table = pd.DataFrame(taus, columns=EMPTY["ranking_agreement"].split())
    assert tell(ranking_agreement=table)[2].endswith(
        "Kendall's tau of two rankings, also by each metric alone, is from -0.25 ('a' and 'c') to "
        "0.50 ('a' and 'b')."
    )


def test_choice_worth_and_rankings_are_told():
    choice, worth, rankings = tell()
    assert choice == (
        "Of each of 3 trainings of 2 models, the best of its checkpoints (1 to 6 checkpoints) was "
        "chosen by its value on the split 'validation', the earliest where several were equal. The "
        "chosen checkpoints were compared on the split 'test'."
    )
    # Means over the two trainings with several checkpoints: 0.15, 0.075 and -0.02.
    assert worth == (
        "Averaged over 2 trainings, the chosen checkpoint was 0.150 better than the mean and 0.075 "
        "better than the last that could be chosen of its training on the split 'validation'. The "
        "best of several is above their mean even where they differ by noise only. On the split "
        "'test', it was 0.020 worse than the last (better in 0 and worse in 2 of 2 trainings), "
        "which the choice does not flatter."
    )
    gains = SELECTED.assign(gain_report=[0.3, 0.0, np.nan])
    assert "better than the last (better in 1 and worse in 0 of 2 trainings)" in tell(gains)[1]
    assert rankings == (
        "In the ranking 'best' of 2 checkpoints, 'A' (checkpoint 'step=3' of the training 'a1') "
        "led (0.800). 1 checkpoint could not be ranked."
    )


def test_a_choice_on_the_test_split_is_told_with_a_caution():
    stamped = SELECTED.assign(stamp="selected on the test split")
    choice, worth, _ = tell(stamped, split="test")
    assert "compared by the values that they were chosen by, which flatter them." in choice
    assert "Caution: they were selected on the test split" in choice
    assert "does not flatter" not in worth


def test_nothing_is_told_of_what_is_not_there():
    paragraphs = tell(SELECTED.tail(1), RANKINGS.head(0), split="", report="")
    assert len(paragraphs) == 2
    assert "split" not in paragraphs[0]
    assert paragraphs[1] == "No training had a choice between checkpoints."
    nothing = tell(rankings=RANKINGS.tail(1))[2]
    assert nothing == (
        "In the ranking 'best', nothing has a score. 1 checkpoint could not be ranked."
    )


def test_a_shared_lead_is_told_as_such():
    shared = RANKINGS.head(2).assign(rank=1, score=0.8)
    assert "and 'B' (checkpoint '7') shared the lead (0.800)." in tell(rankings=shared)[2]
