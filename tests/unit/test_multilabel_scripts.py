"""Tables of the multi-label analysis, from outcomes of images and from published metrics."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.images import composition
from capmap.multilabel import gathering
from capmap.multilabel.comparisons import choose_pair
from capmap.multilabel.gathering import find_unused_objects, pool_label_counts
from tests.multilabel_study import SINGLE, Study, draw_scores, make_study

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = make_study(tmp_path_factory.mktemp("study"))
    for shard, model in enumerate(("good", "poor")):
        study.evaluate(shard, [cell for cell in study.cells if cell.model == model])
    return study


@pytest.fixture(scope="module")
def tables(study: Study) -> Tables:
    return study.summarize()


def test_objects_in_no_composed_image_are_counted() -> None:
    # Of 14 objects, 4 images of three leave 2 over; sizes without room leave out all.
    tally = Counter({(2, 20, 2): 7, (3, 20, 3): 3, (3, 20, 1): 1})
    pairs = [(2, 20), (3, 20), (3, 90)]
    table = composition.tabulate_pairs(tally, dataset="PatchML0", objects=14, pairs=pairs)
    [skipped, unused] = find_unused_objects(pd.DataFrame({"object": [1, 4]}), table)
    assert (skipped.severity, skipped.value) == ("warning", "2")
    assert "size in pixels: 2 of 14 (3 x 20), 14 of 14 (3 x 90)." in unused.reason
    assert find_unused_objects(pd.DataFrame(), table.iloc[:1]) == find_unused_objects() == []


def test_label_counts_are_over_all_seeds_and_shares_without_unlabeled_images(
    tables: Tables,
) -> None:
    counts = tables["label_counts"]
    own = counts[counts["dataset"] == "ML"].set_index("labels")
    assert own["images"].to_dict() == {"0": 2, "1": 4, "2": 4, "3": 2, "more": 0}
    assert own["share"].tolist()[1:] == [0.4, 0.4, 0.2, 0.0]


def test_images_are_counted_by_their_different_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text("[[3], [], [5, 8], [7, 7], [1, 2], []]")
    (fact,) = gathering.count_labels([str(labels)], ["V1"])
    # Twice the same label is one.
    assert fact == {"dataset": "V1", "seed": "", "labels": {"0": 2, "1": 2, "2": 2}}


def test_more_labels_than_the_largest_subgroup_are_counted_together() -> None:
    fact = {"dataset": "d", "seed": "", "labels": {"1": 3, "2": 1, "7": 2}}
    counts = pool_label_counts([fact, fact], subgroups={"d": [1]})  # type: ignore[list-item]
    assert counts["images"].tolist() == [0, 3, 3]


def test_differences_are_those_of_the_values_on_the_images_of_all_seeds(tables: Tables) -> None:
    metrics, rows = tables["metrics"], tables["differences"]
    assert set(zip(rows["model_a"], rows["model_b"], strict=True)) == {("good", "poor")}
    assert rows["metric"].tolist() == [
        *("real", "asma", "labelwise"),
        *("top1", "real", "asma", "labelwise"),
    ]
    # Both seeds have the same label sets, so their mean is the value on all images.
    means = metrics[metrics["subgroup"].isna()].groupby(["model", "dataset", "metric"])["value"]
    expected = means.mean()
    for row in rows.itertuples():
        key = (row.dataset, row.metric)
        assert row.difference == pytest.approx(expected["good", *key] - expected["poor", *key])
        assert np.isnan(row.ci_low), "two seeds of five images are too few for an interval"
    assert rows["images"].tolist() == [10] * 3 + [6] + [5] * 3


def test_datasets_of_the_same_images_are_compared_image_by_image(tmp_path: Path) -> None:
    study = Study(tmp_path)
    ids = "".join(f"i{place}\n" for place in range(6))
    for name in ("V1", "V2"):
        study.add_dataset(name, single=SINGLE, images=ids)
        study.add_dump("m", name, draw_scores(0))
    study.evaluate()
    tables = study.summarize()
    rows = tables["degradation"]
    assert rows["paired"].all()
    # A subgroup of one image has no interval.
    assert (rows[["difference", "ci_low", "ci_high"]].fillna(0) == 0).all(axis=None)
    assert rows["model"].isna().sum() == len(rows) / 2, "the mean of one model is its own"
    assert len(tables["differences"]) == 0


def test_one_dataset_has_no_degradation(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels=[[0]])
    study.add_dump("$x_1$ <b>", "V1", draw_scores(0, images=1))
    study.evaluate()
    tables = study.summarize()
    assert len(tables["degradation"]) == len(tables["differences"]) == 0
    [shift] = tables["rank_shift"].to_dict("records")
    assert (shift["metric_a"], shift["metric_b"], shift["shift"]) == ("real", "asma", 0)
    assert tables["metrics"]["ci_low"].isna().all()


@pytest.mark.parametrize("compare", [["V1"], ["V1", "V3"]])
def test_an_unknown_dataset_or_one_alone_is_refused(compare: list[str]) -> None:
    with pytest.raises(ValidationError, match=r"multilabel\.compare"):
        choose_pair(compare, ["V1", "V2"])
