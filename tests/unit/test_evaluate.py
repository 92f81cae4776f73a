"""Score dumps become outcomes of images, metrics and tables, and every fault is told once."""

from pathlib import Path

import numpy as np
import pytest

from capmap.artifacts import read_parquet, read_table
from capmap.errors import ConfigError, ValidationError
from capmap.multilabel.dumps import Cell, fill_pattern, match_dumps
from tests.multilabel_study import IMAGES, SETS, SINGLE, Study, draw_scores, make_study


def list_ids(names: list[str]) -> str:
    return "".join(f"{name}\n" for name in names)


def test_a_dump_in_another_order_of_images_gives_the_same_bytes(tmp_path: Path) -> None:
    order = [4, 2, 0, 5, 1, 3]
    contents = []
    for name, places in (("a", list(range(6))), ("b", order)):
        (tmp_path / name).mkdir()
        study = Study(tmp_path / name)
        ids = list_ids([IMAGES[place] for place in places])
        study.add_dataset("V1", labels=dict(zip(IMAGES, SETS, strict=True)), images=ids)
        study.add_dump("good", "V1", draw_scores(0)[places])
        (fact,) = study.evaluate()["dumps"]
        assert fact["labels"] == {"0": 1, "1": 2, "2": 2, "3": 1}
        contents.append((Path(study.place("scores/0.parquet")).read_bytes(), fact["digest"]))
    assert contents[0] == contents[1]


def test_ids_are_joined_without_the_suffix_of_the_image_where_that_is_unique(
    tmp_path: Path,
) -> None:
    study = Study(tmp_path)
    without = {f"i{place}": labels for place, labels in enumerate(SETS)}
    study.add_dataset("V1", labels=without, images=list_ids(IMAGES))
    study.add_dataset("V2", labels={"i": [0], "j": [1]}, images="i.png\ni.jpg\n")
    study.add_dump("good", "V1", draw_scores(0))
    study.add_dump("good", "V2", draw_scores(0, images=2))
    unlabeled, unmatched = study.evaluate()["problems"]
    assert unlabeled["code"] == "unlabeled_images"
    assert "2 images of 2 with scores have no labels: 'i.png', 'i.jpg'" in unmatched["reason"]


def test_seeds_have_label_files_of_their_own(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.write("0/labels.json", [[0]])
    study.write("1/labels.json", [[1], [0]])
    study.datasets["ML"] = {"labels": study.place("{seed}/labels.json"), "single": "", "images": ""}
    study.add_dump("m", "ML", draw_scores(0, images=1), "0")
    study.add_dump("m", "ML", draw_scores(0, images=2), "1")
    assert [fact["images"] for fact in study.evaluate()["dumps"]] == [1, 2]


def put_nan(scores: np.ndarray) -> np.ndarray:
    scores[3, 2] = np.nan
    return scores


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (draw_scores(0, images=3), "scores of 3"),
        (draw_scores(0)[:, :4], "4 classes, and 6 are expected"),
        (np.array([{}, {}], dtype=object), "Python objects"),
        (put_nan(draw_scores(0)), "class 2 is NaN for image 4"),
    ],
)
def test_a_broken_dump_is_told_with_its_place_and_stops_no_other(
    tmp_path: Path, scores: np.ndarray, message: str
) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", single=SINGLE)
    study.add_dump("good", "V1", draw_scores(0))
    path = study.add_dump("poor", "V1", scores)
    facts = study.evaluate()
    (problem,) = [entry for entry in facts["problems"] if entry["severity"] == "error"]
    assert problem["source"] == path
    assert message in problem["reason"]
    assert problem["remedy"]
    assert [fact["model"] for fact in facts["dumps"]] == ["good"]
    # It is not told again as a gap.
    with pytest.raises(ValidationError, match="1 error") as error:
        study.gather()
    assert message in str(error.value)
    assert path in read_table(study.place("rejected.csv"))["source"].tolist()
    assert not Path(study.place("runs.parquet")).exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"labels": [[9]] * 6}, "is no id of a class"),
        ({"labels": [["owl"]] * 6}, "is not the name of one class"),
    ],
)
def test_a_fault_of_the_labels_is_told_once(tmp_path: Path, files: dict, message: str) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", **files)
    for shard, model in enumerate("abc"):
        study.add_dump(model, "V1", draw_scores(0))
        assert study.evaluate(shard, [Cell(model, "V1")])["dumps"] == []
    with pytest.raises(ValidationError, match=rf"1 error \([\s\S]*{message}"):
        study.gather()
    assert len(read_parquet(study.place("scores/0.parquet"))) == 0
    assert len(read_parquet(study.place("outcomes/0.parquet"))) == 0


def test_labels_that_are_no_class_of_the_scores_are_told(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.classes = ""
    study.add_dataset("V1", labels={"a": [0], "b": [3, 9]}, images="a\nb\n")
    study.add_dump("good", "V1", draw_scores(0, images=2))
    (problem,) = study.evaluate()["problems"]
    assert "label 9 of image 2 ('b') is no class from 0 to 5." in problem["reason"]


@pytest.mark.parametrize("labels", [[[]] * 6, [[0, 1, 2, 3]] * 6])
def test_a_dataset_whose_images_do_not_count_is_told_once(tmp_path: Path, labels: list) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels=labels)
    for model in "ab":
        study.add_dump(model, "V1", draw_scores(0))
    study.evaluate()
    with pytest.raises(ValidationError, match=r"1 error \(1 unscored_dataset"):
        study.gather()


def test_warnings_count_images_by_what_is_odd_about_them(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels={"a": [0, 0], "b": [], "c": [1]}, images="a\nb\n")
    study.add_dump("good", "V1", np.array([[0.2, 0, 0, 0, 0, 0], [0.5, 1, 0, 0, 0, 0.5]]))
    problems = study.evaluate()["problems"]
    assert {problem["code"]: problem["reason"] for problem in problems} == {
        "unlabeled_images": "There is no valid label for 1 of 2 images.",
        "unscored_images": "The labels are also of 1 image without scores.",
    }


def test_a_missing_dump_is_an_empty_cell(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    del study.cells[Cell("poor", "V1")]
    study.evaluate()
    with pytest.raises(ValidationError, match="'poor' has no run for 1 dataset: 'V1'"):
        study.gather()
    study.gather(incomplete="adjust")
    assert len(read_parquet(study.place("runs.parquet"))) == 5


def test_dumps_of_other_images_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels={**dict(zip(IMAGES, SETS, strict=True)), "other": [0]})
    study.datasets["V1"]["images"] = study.place("{model}.txt")
    for model, last in {"a": "i5.png", "b": "i5.png", "c": "other"}.items():
        study.write(f"{model}.txt", list_ids([*IMAGES[:5], last]))
        study.add_dump(model, "V1", draw_scores(0))
    study.evaluate()
    with pytest.raises(ValidationError, match=r"2\.npy: The images are not those of .*0\.npy"):
        study.gather()


def test_names_of_files_tell_the_cell() -> None:
    for pattern, path, cell in (
        ("d/{model}/{dataset}.npy", "d/a.b/V 1.npy", Cell("a.b", "V 1")),
        ("{dataset}/{seed}/{model}.npz", "V1/3/x.npz", Cell("x", "V1", "3")),
        ("{model}/{model}-{dataset}.npy", "a-b/a-b-V1.npy", Cell("a-b", "V1")),
    ):
        assert match_dumps(pattern, [path, f"{path}.txt"]) == {path: cell}
        assert fill_pattern(pattern, cell) == path
    with pytest.raises(ConfigError, match=r"has no \{dataset\}"):
        match_dumps("d/{model}.npy", [])
    with pytest.raises(ConfigError, match="may be 'a_b' or 'a'"):
        match_dumps("{model}_{dataset}.npy", ["a_b_c.npy"])


def test_tables_are_over_all_seeds_and_exact_whatever_the_number_of_images(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    for shard, model in enumerate(("good", "poor")):
        study.evaluate(shard, [cell for cell in study.cells if cell.model == model])
    tables = study.summarize()
    counts = tables["label_counts"]
    own = counts[counts["dataset"] == "ML"].set_index("labels")
    assert own["images"].to_dict() == {"0": 2, "1": 4, "2": 4, "3": 2, "more": 0}
    assert own["share"].tolist()[1:] == [0.4, 0.4, 0.2, 0.0]
    # Both seeds have the same label sets, so their mean is the value on all images.
    means = tables["metrics"].groupby(["model", "dataset", "metric"])["value"].mean()
    rows = tables["degradation"].query("metric == 'real' and model == model")
    for row in rows.itertuples():
        values = [means[row.model, dataset, "real"] for dataset in ("V1", "ML")]
        assert [row.value_a, row.value_b] == pytest.approx(values)
    assert rows["images"].tolist() == [15, 15]
    assert rows["ci_low"].isna().all(), "two seeds of five images are too few for an interval"
    assert study.summarize(V1=50_000)["rank_shift"].equals(tables["rank_shift"])
