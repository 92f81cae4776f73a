"""Tables of the multi-label analysis, from outcomes of images and from published metrics."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap.artifacts import read_parquet, write_parquet
from capmap.errors import ValidationError
from capmap.images import composition
from capmap.multilabel import gathering as published
from capmap.multilabel import rankings
from capmap.multilabel.comparisons import choose_pair
from capmap.multilabel.gathering import find_unused_objects, pool_label_counts
from tests.multilabel_study import SINGLE, Study, draw_scores, make_study

ROOT = Path(__file__).parents[2]


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


def test_summary_has_the_means_over_seeds_and_their_ranks(tables: Tables) -> None:
    metrics = tables["metrics"]
    for row in tables["summary"].itertuples():
        own = metrics[(metrics["model"] == row.model) & (metrics["dataset"] == row.dataset)]
        assert row.seeds == (1 if row.dataset == "V1" else 2)
        for name in ("top1", "real", "asma"):
            values = own.loc[own["metric"] == name, "value"]
            assert getattr(row, name) == pytest.approx(values.mean(), nan_ok=True)
        assert row.asma_rank == (1 if row.model == "good" else 2)


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
    (fact,) = published.count_labels([str(labels)], ["V1"])
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


def test_degradation_is_told_per_model_and_for_their_mean(tables: Tables) -> None:
    rows = tables["degradation"]
    assert set(rows["dataset_a"] + rows["dataset_b"]) == {"V1ML"}
    assert not rows["paired"].any()
    rows = rows[rows["subgroup"].isna()]
    mean = rows[rows["model"].isna()].set_index("metric")
    for metric, value in mean["difference"].items():
        own = rows[rows["model"].notna() & (rows["metric"] == metric)]
        assert own["model"].tolist() == ["good", "poor"]
        assert value == pytest.approx(own["difference"].mean())


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


@pytest.mark.parametrize("rank_by", ["real", "labelwise"])
def test_another_metric_is_set_against_top_1_accuracy(tmp_path: Path, rank_by: str) -> None:
    study = make_study(tmp_path)
    study.evaluate()
    shifts = study.summarize(rank_by=rank_by)["rank_shift"]
    own = shifts[(shifts["metric_a"] == "top1") & (shifts["metric_b"] == rank_by)]
    assert set(own["dataset_b"]) == {"V1", "ML"}


def make_scores(rows: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    table = pd.DataFrame(rows, columns=["model", "dataset", "metric", "value"]).assign(seed="")
    return table.reindex(columns=list(published.PUBLISHED)).astype(published.PUBLISHED)


def test_ranks_are_dense_and_a_shift_upward_is_positive() -> None:
    top1 = {"a": 0.9, "b": 0.8, "c": 0.8, "d": 0.7}
    asma = {"a": 0.1, "b": 0.3, "c": 0.2, "e": 0.9}
    scores = make_scores(
        [(model, "V1", "top1", value) for model, value in top1.items()]
        + [(model, "ML", "asma", value) for model, value in asma.items()]
    )
    rows = rankings.shift_all_ranks(scores).set_index("model")
    assert rows.index.tolist() == ["b", "c", "a"]
    assert rows["rank_a"].to_dict() == {"a": 1, "b": 2, "c": 2}
    assert rows["shift"].to_dict() == {"a": -2, "b": 1, "c": 0}
    summary = rankings.summarize_models(scores)
    assert summary["top1_rank"].dtype == "Int64"
    assert summary["model"].tolist() == ["e", "b", "c", "a", "a", "b", "c", "d"]


def test_the_paper_s_drops_are_reproduced_from_its_table(tmp_path: Path) -> None:
    header = pd.read_csv(ROOT / "data/imagenet/checkpoints.csv", header=None, nrows=2)
    names = [f"{header.iloc[0, place]} / {header.iloc[1, place]}" for place in range(1, 8)]
    body = pd.read_csv(ROOT / "data/imagenet/checkpoints.csv", header=None, skiprows=2)
    runs = body.set_axis(["model", *names], axis=1).melt(
        "model", var_name="dataset", value_name="score"
    )
    study = Study(tmp_path)
    write_parquet(study.place("runs.parquet"), runs.assign(seed=""))
    tables = study.summarize()
    drops = tables["degradation"]
    mean = drops[drops["model"].isna()].set_index("metric")["difference"]
    # The mean drops over 315 checkpoints that the paper states: 11.46, 4.75 and 3.92.
    assert {name: round(100 * value, 2) for name, value in mean.items()} == {
        "top1": 11.46,
        "real": 4.75,
        "asma": 3.92,
    }
    assert len(tables["differences"]) == len(tables["label_counts"]) == 0
    assert len(read_parquet(study.place("multilabel/evaluated.parquet"))) == 7 * 315
    assert np.isnan(drops["ci_low"]).all()
