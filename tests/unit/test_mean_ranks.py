"""Mean ranks, and groups of models that Nemenyi's or Wilcoxon's test cannot separate."""

import numpy as np

from capmap.analyses import ranks
from tests.toy_scores import arrange


def test_nemenyi_groups_are_the_longest_runs_within_the_critical_difference() -> None:
    rng = np.random.default_rng(0)
    matrix = arrange(rng.normal(np.linspace(2, 0, 8)[:, None], 1, (8, 30)))
    table = ranks.tabulate_mean_ranks(matrix, ranks.compare_mean_ranks(matrix, alpha=0.05))
    critical = ranks.find_critical_difference(models=8, datasets=30, alpha=0.05)
    values = table["mean_rank"].tolist()
    runs = {
        (first, max(j for j in range(8) if values[j] - values[first] < critical))
        for first in range(8)
    }
    longest = [run for run in runs if not any(o[0] < run[0] and o[1] >= run[1] for o in runs)]
    letters = dict(zip("abcdefgh", sorted(longest), strict=False))
    for place, group in enumerate(table["nemenyi_group"]):
        held = [name for name, (first, last) in letters.items() if first <= place <= last]
        assert group == "".join(held)
    assert len(letters) > 1


def test_the_best_of_few_has_the_rank_of_the_best_of_all() -> None:
    table = ranks.rank_within_datasets(
        np.array([[3.0, 1.0], [2.0, np.nan], [1.0, 2.0], [0.0, 3.0]])
    )
    # Ranks 1, 2 and 3 of three become 1, 2.5 and 4 of four.
    np.testing.assert_equal(ranks.rescale_ranks(table)[:, 1], [4.0, np.nan, 2.5, 1.0])
    assert ranks.average_ranks(ranks.rescale_ranks(table)).tolist() == [
        2.5,
        2.0,
        2.75,
        2.5,
    ]


def test_noise_of_floating_point_makes_no_rank() -> None:
    assert ranks.rank_within_datasets(np.array([[0.1 + 0.2], [0.3]])).tolist() == [
        [1.5],
        [1.5],
    ]
