"""Rank shifts of published metrics, with the ranks that rounding hides."""

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import spearmanr

from capmap.artifacts import write_parquet
from capmap.errors import ValidationError
from tests.multilabel_study import Study, make_study

DATA = Path(__file__).parents[2] / "data/imagenet"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with the metrics of the paper's 315 checkpoints, as the workflow reads them."""
    study = Study(tmp_path_factory.mktemp("published"))
    table = pd.read_csv(DATA / "checkpoints.csv", header=[0, 1], index_col=0)
    table.columns = [" / ".join(names) for names in table.columns]
    runs = table.rename_axis("model").reset_index().melt("model", None, "dataset", "score")
    write_parquet(study.place("runs.parquet"), runs.assign(seed=""))
    return study


def shift(study: Study, images: dict[str, int]) -> pd.DataFrame:
    """The shifts, from the study's files to files."""
    return study.summarize(**images)["rank_shift"]


def choose(shifts: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """The shifts from top-1 accuracy on a dataset to ASMA on PatchML."""
    is_metric = (shifts["metric_a"] == "top1") & (shifts["metric_b"] == "asma")
    is_dataset = (shifts["dataset_a"] == dataset) & (shifts["dataset_b"] == "PatchML")
    return shifts[is_metric & is_dataset].reset_index(drop=True)


def correlate(shifts: pd.DataFrame) -> float:
    printed = pd.read_csv(DATA / "rank_shifts.csv").set_index("model")["rank_shift"]
    rows = choose(shifts, "ImageNetV1")
    own = rows.set_index("model")["shift"]
    assert set(own.index) == set(printed.index)
    return float(spearmanr(own, printed[own.index]).statistic)


def test_shifts_correlate_with_the_printed_ones_once_hidden_ranks_count(published: Study) -> None:
    # The paper ranked values before it rounded them, on the 50,000 images of ImageNetV1.
    assert correlate(shift(published, {"ImageNetV1": 50_000})) >= 0.999
    assert correlate(shift(published, {})) == pytest.approx(0.987, abs=0.0005)


def test_other_datasets_keep_their_ranks(published: Study) -> None:
    plain, fair = (shift(published, images) for images in ({}, {"ImageNetV1": 50_000}))
    before, after = (choose(one, "ImageNetV2").set_index("model") for one in (plain, fair))
    assert after["rank_a"].to_dict() == before["rank_a"].to_dict()
    # A mean over subgroups has no number of images; its ties all count.
    assert after["rank_b"].to_dict() == before["competition_b"].to_dict()
    assert choose(fair, "ImageNetV1")["rank_a"].max() > choose(plain, "ImageNetV1")["rank_a"].max()


@pytest.mark.parametrize("name", ["ImagenetV1", "PatchML"])
def test_a_dataset_without_top1_accuracies_is_refused(published: Study, name: str) -> None:
    # PatchML has an ASMA only.
    with pytest.raises(ValidationError, match=rf"multilabel\.images: .* '{name}'"):
        shift(published, {name: 50_000})


def test_predictions_are_ranked_exactly_whatever_the_number_of_images(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    study.evaluate()
    study.summarize()
    shifts = Path(study.place("multilabel/rank_shift.csv"))
    before = shifts.read_bytes()
    study.summarize(V1=50_000, elsewhere=3)
    assert shifts.read_bytes() == before
