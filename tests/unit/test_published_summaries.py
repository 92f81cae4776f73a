"""Published tables of metrics: names, scales, and the numbers of the paper."""

import numpy as np
import pandas as pd
import pytest

from capmap.errors import ValidationError
from capmap.multilabel import gathering, rankings
from capmap.multilabel.comparisons import subtract_datasets
from tests.multilabel_tables import SHARED, SHIPPED, read_shared_runs, read_shipped_runs

SOURCES = {
    "shipped": read_shipped_runs,
    "shared": pytest.param(
        read_shared_runs, marks=pytest.mark.skipif(not SHARED.is_dir(), reason="no reference")
    ),
}
PAPER = {"top1": 11.46, "real": 4.75, "asma": 3.92}
V1_IMAGES = 50_000
# The paper's two inconsistencies: Table 3 leaves this part of the names out, and prints 69.16 for a
# model that the large table has with 68.16.
SUFFIX = ".sail"
MISPRINT = "volo_d3_448.sail_in1k"


def make_runs(*rows: tuple) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["model", "dataset", "score"])


def read_top10():
    return pd.read_csv(SHIPPED / "top10.csv")


@pytest.fixture(params=list(SOURCES.values()), ids=list(SOURCES))
def metrics(request):
    return gathering.split_published(request.param())


@pytest.fixture(scope="module")
def summary():
    return rankings.summarize_models(gathering.split_published(read_shipped_runs()))


def correlate_shifts(column="shift", **images):
    values = rankings.average_metrics(
        gathering.split_published(read_shipped_runs()), ["top1", "asma"]
    )
    columns = ("top1", "ImageNetV1"), ("asma", "PatchML")
    shifts = rankings.shift_ranks(values, *columns, images=images)
    printed = pd.read_csv(SHIPPED / "rank_shifts.csv").set_index("model")["rank_shift"]
    assert len(shifts) == len(printed) == 315
    return shifts.set_index("model")[column].corr(printed, method="spearman")


def test_the_mean_drops_between_the_versions_of_imagenet_are_those_of_the_paper(metrics):
    drops = subtract_datasets(metrics, dataset_a="ImageNetV1", dataset_b="ImageNetV2")
    means = drops[drops["model"] == ""].set_index("metric")["difference"]
    assert (100 * means).round(2).to_dict() == PAPER
    assert drops.groupby("metric")["model"].nunique().to_dict() == dict.fromkeys(PAPER, 316)


def test_the_best_ten_by_asma_are_those_of_table_3_in_its_order(metrics):
    summary = rankings.summarize_models(metrics)
    best = summary[summary["dataset"] == "PatchML"].head(10)
    printed = read_top10()
    assert [name.replace(SUFFIX, "") for name in best["model"]] == printed["model"].to_list()
    assert best["asma_rank"].to_list() == list(range(1, 11))
    gaps = (printed["asma"] - 100 * best["asma"].to_numpy()).round(2)
    assert gaps[gaps != 0].to_list() == [1.0]
    assert best["model"].to_numpy()[gaps != 0].tolist() == [MISPRINT]


def test_the_shipped_table_has_the_numbers_of_the_reference():
    if not SHARED.is_dir():
        pytest.skip("no reference")
    pd.testing.assert_frame_equal(
        gathering.split_published(read_shipped_runs()),
        gathering.split_published(read_shared_runs()),
    )


def test_other_shipped_tables_have_the_numbers_of_the_reference():
    if not SHARED.is_dir():
        pytest.skip("no reference")
    given = pd.read_csv(SHARED / "checkpoints.csv").set_index("checkpoint")["rank_shift"]
    shipped = pd.read_csv(SHIPPED / "rank_shifts.csv").set_index("model")["rank_shift"]
    assert given.to_dict() == shipped.to_dict()
    assert (pd.read_csv(SHARED / "top10.csv").to_numpy() == read_top10().to_numpy()).all()
    counts = pd.read_csv(SHIPPED / "label_counts.csv").set_index(["dataset", "labels"])["images"]
    for name in ("label_counts.csv", "patchml_label_counts.csv"):
        wide = pd.read_csv(SHARED / name).rename(columns={">5": "more"})
        for row in wide.melt("dataset").itertuples():
            assert counts.pop((row.dataset, row.variable)) == row.value
    assert counts.empty


# The paper ranked unrounded values, of which 304 top-1 accuracies differ (the largest rank that its
# shifts imply); two decimals leave 280. Its dense ranks are therefore up to 24 higher at the end
# than dense ranks of the printed values, and 0.999 is out of reach for these: they reach 0.987. A
# hundredth of a percent of 50 000 images are 5 images, which is all that the correction knows.
def test_dense_ranks_of_printed_values_drift_from_the_printed_rank_shifts():
    assert correlate_shifts() == pytest.approx(0.98676, abs=1e-5)
    assert correlate_shifts("competition_shift") == pytest.approx(0.99561, abs=1e-5)


def test_rank_shifts_agree_with_the_printed_ones_once_hidden_ranks_are_counted():
    assert correlate_shifts(ImageNetV1=V1_IMAGES) >= 0.999


def test_the_printed_shifts_are_dense_ranks_of_unrounded_accuracies_less_places_by_asma():
    # Rows are in the order of the unrounded ASMA, so a printed shift and its row give the rank by
    # top-1 accuracy that the paper had. Were these dense ranks of unrounded values, they would rise
    # with the printed accuracies by 0 or 1. Of 314 steps, 307 do; the others are misprints or ties
    # of the printed accuracies, which the rank tells apart.
    table = pd.read_csv(SHIPPED / "checkpoints.csv", header=[0, 1], index_col=0)
    printed = pd.read_csv(SHIPPED / "rank_shifts.csv")["rank_shift"].to_numpy()
    ranks = pd.DataFrame(
        {
            "top1": table["ImageNetV1", "top1"].to_numpy(),
            "rank": printed + np.arange(1, len(table) + 1),
        }
    ).sort_values(["top1", "rank"], ascending=[False, True])
    steps = np.diff(ranks["rank"])
    assert (ranks["rank"].iloc[0], ranks["rank"].iloc[-1]) == (1, 304)
    assert np.isin(steps, [0, 1]).sum() == 307
    # The ranks that Table 3 prints are these.
    first = printed[:10] + np.arange(1, 11)
    assert read_top10()["top1_rank"].to_list() == first.tolist()


def test_counts_of_labels_become_shares():
    counts = gathering.share_images(pd.read_csv(SHIPPED / "label_counts.csv")).set_index(
        ["dataset", "labels"]
    )
    # 39394 + 5408 + 1319 + 411 + 161 + 144 = 46837 images with labels.
    assert counts.loc[("ImageNetV1", "1"), "share"] == pytest.approx(39394 / 46837)
    assert counts["share"].groupby("dataset").sum().to_numpy() == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("top-1", "top1"),
        ("Top1 Accuracy", "top1"),
        ("ReaL", "real"),
        ("ReaL accuracy", "real"),
        ("ASMA", "asma"),
        ("label-wise accuracy", "labelwise"),
    ],
)
def test_a_metric_is_known_by_its_usual_names(name, metric):
    found = gathering.split_published(make_runs(("m", f"Data / Set / {name}", 0.5)))
    assert found[["dataset", "metric"]].to_numpy().tolist() == [["Data / Set", metric]]


@pytest.mark.parametrize("name", ["subgroup 3", "Subgroup accuracy 3", "subgroup_3", "subgroup3"])
def test_the_accuracy_of_a_subgroup_has_its_number_of_labels(name):
    found = gathering.split_published(make_runs(("m", f"D / {name}", 0.5), ("m", "D / asma", 0.5)))
    assert found["subgroup"].isna().to_list() == [True, False]
    assert found["subgroup"].to_list()[1] == 3


@pytest.mark.parametrize(("scores", "values"), [((50, 1), (0.5, 0.01)), ((0.5, 1), (0.5, 1))])
def test_values_are_percent_when_one_is_above_1(scores, values):
    runs = make_runs(("a", "D / asma", scores[0]), ("b", "D / asma", scores[1]))
    assert gathering.split_published(runs)["value"].to_list() == list(values)


def test_zeros_fit_either_scale():
    runs = make_runs(("a", "D / asma", 0.0), ("a", "D / real", 50.0))
    assert gathering.split_published(runs)["value"].to_list() == [0.0, 0.5]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("m", "ImageNet", 0.5)], ["1 column without dataset", "'ImageNet'", "header_rows: 2"]),
        ([("m", "D / ", 0.5)], ["without dataset and metric"]),
        ([("m", "D / asna", 0.5)], ["1 unknown metric", "'asna'", "Did you mean 'asma'?"]),
        ([("m", "D / rmse", 0.5)], ["'rmse'", "There are top1, real"]),
        ([("m", "D / subgroup", 0.5)], ["unknown metric", "'subgroup 3'"]),
        ([("m", "D / subgroup 0", 0.5)], ["unknown metric"]),
        ([("m", "D / -top1", 0.5)], ["unknown metric"]),
        ([("m", "D / asma", 101.0)], ["'D / asma' of 'm' is 101"]),
        ([("m", "D / asma", -0.1)], ["is -0.1"]),
        ([("m", "D / asma", 0.7), ("m", "D / real", 80.0)], ["'D / asma'", "percent"]),
        ([("m", "D / top-1", 0.7), ("m", "D / acc", 0.8)], ["same metric", "'D / acc'"]),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_remedy(rows, words):
    with pytest.raises(ValidationError) as caught:
        gathering.split_published(make_runs(*rows))
    assert all(word in str(caught.value) for word in words), str(caught.value)
