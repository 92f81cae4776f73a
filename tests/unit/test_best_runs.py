"""The best run of each cell."""

import pandas as pd

from capmap.analyses import best_runs


def test_the_best_run_is_set_against_the_mean_of_its_cell() -> None:
    runs = pd.DataFrame({"model": ["a"] * 3, "dataset": ["x", "x", "y"], "score": [0.2, 0.6, 0.5]})
    table = best_runs.find_best_runs(runs)
    assert table["score"].tolist() == [0.6, 0.5]
    assert table["difference"].round(9).tolist() == [0.2, 0.0]
    assert best_runs.find_facts(table)["dataset"] == "x"
