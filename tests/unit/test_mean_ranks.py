"""Mean ranks, and groups of models that Nemenyi's or Wilcoxon's test cannot separate."""

from pathlib import Path

import numpy as np
import pandas as pd

from capmap.analyses import ranks as rank_tests
from capmap.analyses.ranks import tabulate_mean_ranks
from tests.toy_scores import arrange, draw, run_on_runs


def test_nemenyi_groups_are_the_longest_runs_within_the_critical_difference() -> None:
    rng = np.random.default_rng(0)
    matrix = arrange(rng.normal(np.linspace(2, 0, 8)[:, None], 1, (8, 30)))
    ranks = tabulate_mean_ranks(matrix, alpha=0.05)
    critical = rank_tests.find_critical_difference(models=8, datasets=30, alpha=0.05)
    values = ranks["mean_rank"].tolist()
    runs = {
        (first, max(j for j in range(8) if values[j] - values[first] < critical))
        for first in range(8)
    }
    longest = [run for run in runs if not any(o[0] < run[0] and o[1] >= run[1] for o in runs)]
    letters = dict(zip("abcdefgh", sorted(longest), strict=False))
    for place, group in enumerate(ranks["nemenyi_group"]):
        held = [name for name, (first, last) in letters.items() if first <= place <= last]
        assert group == "".join(held)
    assert len(letters) > 1


def test_the_best_of_few_has_the_rank_of_the_best_of_all() -> None:
    ranks = rank_tests.rank_within_datasets(
        np.array([[3.0, 1.0], [2.0, np.nan], [1.0, 2.0], [0.0, 3.0]])
    )
    # Ranks 1, 2 and 3 of three become 1, 2.5 and 4 of four.
    np.testing.assert_equal(rank_tests.rescale_ranks(ranks)[:, 1], [4.0, np.nan, 2.5, 1.0])
    assert rank_tests.average_ranks(rank_tests.rescale_ranks(ranks)).tolist() == [
        2.5,
        2.0,
        2.75,
        2.5,
    ]


def test_noise_of_floating_point_makes_no_rank() -> None:
    assert rank_tests.rank_within_datasets(np.array([[0.1 + 0.2], [0.3]])).tolist() == [
        [1.5],
        [1.5],
    ]


def test_step_writes_tables_that_read_back(tmp_path: Path) -> None:
    scores = draw(4, 6, 0, ties=False)
    runs = pd.DataFrame(
        [
            (name, f"d{column}", "1", scores[row, column])
            for row, name in enumerate(["=a|b", "β & $x$", "c" * 90, "nan"])
            for column in range(6)
            if (row, column) != (0, 0)
        ],
        columns=["model", "dataset", "seed", "score"],
    )
    tables = run_on_runs("compare_ranks", tmp_path, runs.iloc[::-1])
    friedman, nemenyi, ranks = tables.values()
    assert friedman["test"].tolist() == ["friedman", "skillings_mack"]
    assert nemenyi[["model_a", "model_b"]].iloc[0].tolist() == ["=a|b", "c" * 90]
    assert set(ranks["model"]) == set(runs["model"])
    assert ranks.columns.tolist() == [
        "model",
        "mean_rank",
        "datasets",
        "nemenyi_group",
    ]
