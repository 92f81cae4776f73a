"""Published tables of metrics, numbers of labels, dense ranks, and shifts of ranks."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from capmap.errors import ValidationError
from capmap.multilabel import rankings
from capmap.multilabel.drops import subtract_datasets
from tests.multilabel_tables import SHIPPED, make_metrics, read_shipped_runs

STEPS = st.lists(st.integers(0, 6), max_size=20)
V1_IMAGES = 50_000
# The paper's two inconsistencies: Table 3 leaves this part of the names out, and prints 69.16 for a
# model that the large table has with 68.16.
SUFFIX = ".sail"
MISPRINT = "volo_d3_448.sail_in1k"


def make_runs(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def make_table(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "seed", "metric", "value"])


@pytest.fixture(scope="module")
def metrics():
    return rankings.split_published(read_shipped_runs())


def test_the_mean_drops_between_the_versions_of_imagenet_are_those_of_the_paper(metrics):
    drops = subtract_datasets(metrics, dataset_a="ImageNetV1", dataset_b="ImageNetV2")
    means = drops[drops["model"] == ""].set_index("metric")["difference"]
    assert (100 * means).round(2).to_dict() == {"top1": 11.46, "real": 4.75, "asma": 3.92}
    assert drops.groupby("metric")["model"].nunique().eq(316).all()


def test_the_best_ten_by_asma_are_those_of_table_3_in_its_order(metrics):
    summary = rankings.summarize_models(metrics)
    best = summary[summary["dataset"] == "PatchML"].head(10)
    printed = pd.read_csv(SHIPPED / "top10.csv")
    assert [name.replace(SUFFIX, "") for name in best["model"]] == printed["model"].to_list()
    assert best["asma_rank"].to_list() == list(range(1, 11))
    gaps = (printed["asma"] - 100 * best["asma"].to_numpy()).round(2)
    assert gaps[gaps != 0].to_list() == [1.0]
    assert best["model"].to_numpy()[gaps != 0].tolist() == [MISPRINT]


# The paper ranked unrounded values, of which 304 top-1 accuracies differ (the largest rank that its
# shifts imply); two decimals leave 280. Its dense ranks are therefore up to 24 higher at the end
# than dense ranks of the printed values. A hundredth of a percent of 50 000 images are 5 images,
# which is all that the correction knows.
@pytest.mark.parametrize(("images", "least"), [({}, 0.986), ({"ImageNetV1": V1_IMAGES}, 0.999)])
def test_rank_shifts_agree_with_the_printed_ones_once_hidden_ranks_are_counted(
    metrics, images, least
):
    values = rankings.average_metrics(metrics, ["top1", "asma"])
    columns = ("top1", "ImageNetV1"), ("asma", "PatchML")
    shifts = rankings.shift_ranks(values, *columns, images=images).set_index("model")["shift"]
    printed = pd.read_csv(SHIPPED / "rank_shifts.csv").set_index("model")["rank_shift"]
    assert len(shifts) == len(printed) == 315
    assert shifts.corr(printed, method="spearman") >= least


@pytest.mark.parametrize(
    ("name", "metric", "subgroup"),
    [
        ("top-1", "top1", None),
        ("ReaL", "real", None),
        ("ASMA", "asma", None),
        ("label-wise", "labelwise", None),
        ("subgroup_3", "subgroup", 3),
        ("ReaL subgroup 12", "real_subgroup", 12),
    ],
)
def test_a_metric_is_known_in_any_spelling(name, metric, subgroup):
    found = rankings.split_published(make_runs(("m", f"Data / Set / {name}", 0.5))).iloc[0]
    assert found[["dataset", "metric"]].tolist() == ["Data / Set", metric]
    assert pd.isna(found["subgroup"]) if subgroup is None else found["subgroup"] == subgroup


@pytest.mark.parametrize(
    ("scores", "values"), [((50, 1), (0.5, 0.01)), ((0.5, 1), (0.5, 1)), ((0, 50), (0, 0.5))]
)
def test_values_are_percent_when_one_is_above_1(scores, values):
    runs = make_runs(("a", "D / asma", scores[0]), ("b", "D / asma", scores[1]))
    assert rankings.split_published(runs)["value"].to_list() == list(values)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("m", "ImageNet", 0.5)], ["'ImageNet'", "header_rows: 2"]),
        ([("m", "D / ", 0.5)], ["'D / '"]),
        ([("m", "D / rmse", 0.5)], ["'D / rmse'", "The metrics are top1, real"]),
        ([("m", "D / subgroup", 0.5)], ["'subgroup 3'"]),
        ([("m", "D / subgroup 0", 0.5)], ["'D / subgroup 0'"]),
        ([("m", "D / -top1", 0.5)], ["'D / -top1'"]),
        ([("m", "D / asma", 101.0)], ["'D / asma' of 'm' is 101"]),
        ([("m", "D / asma", -0.1)], ["is -0.1"]),
        ([("m", "D / asma", 0.7), ("m", "D / real", 80.0)], ["'D / asma'", "percent"]),
        ([("m", "D / top-1", 0.7), ("m", "D / top 1", 0.8)], ["same metric", "'D / top-1'"]),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_remedy(rows, words):
    with pytest.raises(ValidationError) as caught:
        rankings.split_published(make_runs(*rows))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_images_are_counted_by_their_different_labels(tmp_path: Path) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text("[[3], [], [5, 8], [7, 7], [1, 2], []]")
    fact = rankings.count_labels(str(labels), "V1", "V1")
    # Twice the same label is one.
    assert fact == {"dataset": "V1", "seed": "", "labels": {"0": 2, "1": 2, "2": 2}}
    # More labels than the largest subgroup are counted together.
    counts = rankings.pool_label_counts([fact, {**fact, "seed": "1"}], subgroups={"V1": [1]})
    assert counts["images"].tolist() == [4, 4, 4]
    assert counts["share"].tolist()[1:] == [0.5, 0.5]


def test_printed_numbers_of_images_are_read_and_refused_with_their_line(tmp_path: Path) -> None:
    shipped = str(SHIPPED / "label_counts.csv")
    facts = [rankings.count_labels(shipped, f"ImageNetV{n}", f"V{n}") for n in (1, 2)]
    counts = rankings.pool_label_counts(facts, subgroups={}).set_index(["dataset", "labels"])
    # 39394 of 46837 and 5083 of 9871 images have one label.
    several = 1 - counts["share"].xs("1", level="labels")
    assert several.round(3).to_dict() == {"V1": 0.159, "V2": 0.485}
    with pytest.raises(ValidationError, match="no images of 'V3'"):
        rankings.count_labels(shipped, "V3", "V3")
    path = tmp_path / "counts.csv"
    for row in ("V,1,many", "V,one,3", "V,-1,3"):
        path.write_text(f"dataset,labels,images\nV,2,5\n{row}\n")
        with pytest.raises(ValidationError, match=r"counts\.csv, line 3: .* Write whole numbers"):
            rankings.count_labels(str(path), "V", "V")


@given(STEPS, st.floats(1, 50))
def test_ranks_are_the_dense_ones_of_scipy_and_hidden_values_move_them(steps, hidden):
    values = np.array(steps) / 10
    dense = rankings.rank_densely(values)
    assert dense.tolist() == stats.rankdata(-values, method="dense").tolist()
    most = rankings.rank_densely(values, hidden=np.inf)
    assert most.tolist() == stats.rankdata(-values, method="min").tolist()
    ranks = rankings.rank_densely(values, hidden=hidden)
    assert ((dense <= ranks) & (ranks <= most)).all()


def test_a_summary_has_means_over_seeds_and_ranks_within_a_dataset():
    rows = [
        ("a", "P", "0", "asma", 0.2),
        ("a", "P", "1", "asma", 0.4),
        ("b", "P", "0", "asma", 0.3),
    ]
    rows += [
        ("c", "P", "0", "asma", 0.1),
        ("a", "V", "", "top1", 0.9),
        ("c", "V", "", "top1", 0.95),
    ]
    summary = rankings.summarize_models(make_table(*rows, ("c", "V", "", "f1", 0.5)))
    assert summary["model"].tolist() == ["a", "b", "c", "a", "c"]
    assert summary["seeds"].tolist() == [2, 1, 1, 1, 1]
    # a and b are both 0.3.
    assert summary["asma_rank"].to_list()[:3] == [1, 1, 2]
    assert summary["top1_rank"].to_list()[3:] == [2, 1]
    assert summary[["real", "real_rank"]].isna().all(axis=None)


@settings(max_examples=4)
@given(
    st.integers(0, 99),
    st.sampled_from(["asma", "real", "labelwise"]),
    st.sampled_from([None, {"V1": 10}]),
)
def test_all_pairs_of_columns_have_the_ranks_of_the_summary(seed, rank_by, images):
    metrics = make_metrics([f"m{place}" for place in range(9)], seed=seed)
    metrics["value"] = metrics["value"].round(1)
    shifts = rankings.shift_all_ranks(metrics, rank_by=rank_by, images=images)
    pairs = ["metric_a", "dataset_a", "metric_b", "dataset_b"]
    # Seven columns: top-1, ReaL and ASMA of V1 and V2, and ASMA of PatchML.
    assert len(shifts[pairs].drop_duplicates()) == 7 * 6 / 2
    summary = rankings.summarize_models(metrics, images=images).set_index(["dataset", "model"])
    for row in shifts.itertuples():
        for side in ("a", "b"):
            metric, dataset = (getattr(row, f"{name}_{side}") for name in ("metric", "dataset"))
            known = summary.loc[(dataset, row.model), f"{metric}_rank"]
            assert known == getattr(row, f"rank_{side}")
        assert row.shift == row.rank_a - row.rank_b
