"""What to run next: the least certain results that matter."""

import pandas as pd

from capmap.analyses import next_results

COLUMNS = ["model", "dataset", "observed", "predicted", "low", "high"]


def make(*rows: tuple[object, ...]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def test_the_widest_interval_that_may_be_near_the_best_comes_first() -> None:
    predictions = make(
        ("A", "d", None, 0.3, 0.0, 0.5),
        ("A", "e", 0.2, 0.3, 0.0, 1.0),  # has a result
        ("B", "d", None, 0.6, 0.2, 1.0),  # is not near the best
        ("B", "e", None, 0.4, 0.1, 0.8),
    )
    placed = make(("C", "d", None, 0.5, 0.0, 0.9), ("C", "e", None, None, None, None))
    found = next_results.choose_next_results(predictions, placed)
    assert found[["rank", "model", "dataset"]].to_numpy().tolist() == [
        [1, "C", "d"],
        [2, "B", "e"],
        [3, "A", "d"],
    ]
    assert found["width"].round(9).tolist() == [0.9, 0.7, 0.5]


def test_each_model_has_ten_rows_at_most() -> None:
    many = make(*(("A", f"d{place:02d}", None, 0.1, 0.0, 0.4) for place in range(12)))
    found = next_results.choose_next_results(many, make())
    assert found["dataset"].tolist() == [f"d{place:02d}" for place in range(10)]
    assert next_results.choose_next_results(make(), make()).empty
