"""Rank shifts of published metrics, with the ranks that rounding hides."""

from pathlib import Path

import pandas as pd
import pytest

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
