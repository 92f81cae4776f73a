"""Rank shifts of published metrics, with the ranks that rounding hides."""

from pathlib import Path

import pandas as pd
import pytest
from scipy.stats import spearmanr
from summarize_metrics import summarize_metrics

from capmap.artifacts import read_table, write_parquet, write_text
from capmap.errors import ValidationError
from read_published import read_published
from tests.multilabel_study import OPTIONS, make_study

DATA = Path(__file__).parents[2] / "data/imagenet"
TABLES = ("metrics", "summary", "rank_shift", "label_counts")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the metrics of the paper's 315 checkpoints, as the workflow reads them."""
    folder = tmp_path_factory.mktemp("published")
    table = pd.read_csv(DATA / "checkpoints.csv", header=[0, 1], index_col=0)
    table.columns = [" / ".join(names) for names in table.columns]
    runs = table.rename_axis("model").reset_index().melt("model", None, "dataset", "score")
    write_parquet(folder / "runs.parquet", runs.assign(seed=""))
    write_text(folder / "degradation.csv", "model,metric,subgroup,dataset_a,dataset_b\n")
    read_published(runs=str(folder / "runs.parquet"), scores=str(folder / "scores.parquet"))
    return folder


def shift(folder: Path, images: dict[str, int]) -> pd.DataFrame:
    """Run the script and read the shifts that it wrote."""
    summarize_metrics(
        scores=[str(folder / "scores.parquet")],
        facts=[],
        degradation=str(folder / "degradation.csv"),
        **{name: [str(folder / f"{name}.csv")] for name in TABLES},
        text=[str(folder / "text.txt")],
        images=images,
        **OPTIONS,
    )
    return read_table(folder / "rank_shift.csv")


def correlate(shifts: pd.DataFrame) -> float:
    printed = pd.read_csv(DATA / "rank_shifts.csv").set_index("model")["rank_shift"]
    rows = shifts[(shifts["dataset_top1"] == "ImageNetV1") & (shifts["dataset_asma"] == "PatchML")]
    own = rows.set_index("model")["shift"]
    assert set(own.index) == set(printed.index)
    return float(spearmanr(own, printed[own.index]).statistic)


def test_shifts_correlate_with_the_printed_ones_once_hidden_ranks_count(published: Path) -> None:
    # The paper ranked values before it rounded them, on the 50,000 images of ImageNetV1.
    assert correlate(shift(published, {"ImageNetV1": 50_000})) >= 0.999
    assert correlate(shift(published, {})) == pytest.approx(0.987, abs=0.0005)


def test_other_datasets_keep_their_ranks(published: Path) -> None:
    plain, fair = (shift(published, images) for images in ({}, {"ImageNetV1": 50_000}))
    is_other = plain["dataset_top1"] == "ImageNetV2"
    pd.testing.assert_frame_equal(fair[is_other], plain[is_other])
    assert fair.loc[~is_other, "asma_rank"].max() > plain.loc[~is_other, "asma_rank"].max()


@pytest.mark.parametrize("name", ["ImagenetV1", "PatchML"])
def test_a_dataset_without_top1_accuracies_is_refused(published: Path, name: str) -> None:
    # PatchML has an ASMA only.
    with pytest.raises(ValidationError, match=rf"multilabel\.images: .* '{name}'"):
        shift(published, {name: 50_000})


def test_predictions_are_ranked_exactly_whatever_the_number_of_images(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    study.evaluate()
    study.summarize()
    before = Path(study.place("rank_shift.csv")).read_bytes()
    summarize_metrics(
        scores=study.list_files("scores"),
        facts=study.list_files("facts"),
        degradation=study.place("degradation.csv"),
        **{name: study.table(name) for name in TABLES},
        text=[study.place("text.txt")],
        images={"V1": 50_000, "elsewhere": 3},
        **OPTIONS,
    )
    assert Path(study.place("rank_shift.csv")).read_bytes() == before
