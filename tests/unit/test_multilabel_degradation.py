"""Drops of metrics from one dataset to another, where only the metrics are known."""

import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.multilabel.comparisons import DROPS, subtract_datasets
from tests.multilabel_tables import make_metrics


def make_table(*rows: tuple) -> pd.DataFrame:
    columns = ["model", "dataset", "seed", "metric", "subgroup", "value"]
    return pd.DataFrame(rows, columns=columns).astype({"subgroup": "Int64"})


SMALL = make_table(
    ("a", "V", "0", "top1", pd.NA, 0.8),
    ("a", "V", "1", "top1", pd.NA, 0.6),
    ("a", "W", "", "top1", pd.NA, 0.5),
    ("b", "V", "", "top1", pd.NA, 0.4),
    ("b", "W", "", "top1", pd.NA, 0.5),
    ("c", "V", "", "top1", pd.NA, 0.9),
    ("a", "V", "", "subgroup", 2, 0.5),
    ("a", "W", "", "subgroup", 2, 0.25),
    ("a", "W", "", "subgroup", 3, 0.1),
)


def test_differences_are_the_first_dataset_less_the_second():
    drops = subtract_datasets(SMALL, dataset_a="V", dataset_b="W")
    assert drops[["model", "metric"]].to_numpy().tolist() == [
        ["", "subgroup"],
        ["", "top1"],
        ["a", "subgroup"],
        ["a", "top1"],
        ["b", "top1"],
    ]
    # a: (0.8 + 0.6) / 2 - 0.5 = 0.2; b: 0.4 - 0.5 = -0.1; c has no W. The mean is 0.05.
    assert drops["difference"].to_list() == pytest.approx([0.25, 0.05, 0.25, 0.2, -0.1])
    assert drops["subgroup"].fillna(0).to_list() == [2, 0, 2, 0, 0]


def test_the_mean_of_differences_is_the_difference_of_the_means():
    drops = subtract_datasets(make_metrics(["a", "b", "c"]), dataset_a="V1", dataset_b="V2")
    means = drops[drops["model"] == ""].set_index(["metric", "subgroup"])["difference"]
    models = drops[drops["model"] != ""].groupby(["metric", "subgroup"], dropna=False)["difference"]
    assert models.mean().to_numpy() == pytest.approx(means.sort_index().to_numpy())


def test_published_numbers_have_no_intervals():
    drops = subtract_datasets(SMALL, dataset_a="V", dataset_b="W")
    assert drops[["ci_low", "ci_high", "images"]].isna().all(axis=None)
    assert not drops["paired"].any()
    assert str(drops["images"].dtype) == "Int64"


def test_a_dataset_that_is_not_there_is_refused():
    with pytest.raises(ValidationError, match=r"no dataset 'VV'.*Did you mean 'V'"):
        subtract_datasets(SMALL, dataset_a="V", dataset_b="VV")


def test_nothing_to_compare_gives_an_empty_table_with_its_columns():
    for table in (SMALL.iloc[:0], SMALL[SMALL["model"] == "c"].assign(dataset=["V"])):
        drops = subtract_datasets(table, dataset_a="V", dataset_b="V" if len(table) else "W")
        assert list(drops) == list(DROPS)
        assert len(drops) == (2 if len(table) else 0)
    apart = SMALL[(SMALL["model"] + SMALL["dataset"]).isin(["cV", "bW"])]
    assert subtract_datasets(apart, dataset_a="V", dataset_b="W").empty
