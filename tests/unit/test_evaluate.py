"""Score dumps become outcomes of images and metrics, and every fault is told once."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from capmap.artifacts import read_parquet, read_table
from capmap.errors import CapmapError, ConfigError, ValidationError
from capmap.multilabel.dumps import Cell, fill_pattern, match_dumps
from capmap.multilabel.gathering import find_unused_objects
from capmap.multilabel.outcomes import OutcomeFiles
from tests.multilabel_oracle import evaluate
from tests.multilabel_study import IMAGES, SETS, SINGLE, Study, draw_scores, make_study


@pytest.mark.parametrize("of_objects", [[1, 2, 3], [2, 3, 6]])
def test_metrics_are_those_of_the_brute_force_oracle(tmp_path: Path, of_objects: list[int]) -> None:
    study = make_study(tmp_path)
    groups = {"V1": [1, 2, 3], "ML": of_objects}
    study.evaluate(subgroups=groups)
    found = read_parquet(study.place("scores/0.parquet"))
    for cell, path in study.cells.items():
        own = found[(found[["model", "dataset", "seed"]] == list(cell)).all(axis=1)]
        single = SINGLE if cell.dataset == "V1" else None
        expected = evaluate(np.load(path).tolist(), SETS, single, groups[cell.dataset])
        got = {
            (row.metric, None if np.isnan(row.subgroup) else int(row.subgroup)): row
            for row in own.itertuples()
        }
        assert got.keys() == expected.keys()
        for key, (value, images) in expected.items():
            assert got[key].value == pytest.approx(value)
            assert got[key].images == images


@pytest.mark.slow
def test_outcomes_whose_bytes_were_altered_are_refused(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    study.evaluate()
    path = Path(study.place("outcomes/0.parquet"))
    content = path.read_bytes()
    sound = OutcomeFiles([path]).read("good", "V1", [""])
    refused = 0
    for place in range(5, len(content) // 3, 19):
        path.write_bytes(content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :])
        try:
            found = OutcomeFiles([path]).read("good", "V1", [""])
        except CapmapError as error:
            assert "is damaged" in str(error)  # noqa: PT017
            refused += 1
        else:
            assert found.equals(sound)
    assert refused > 7


def test_a_dump_in_another_order_of_images_gives_the_same_bytes(tmp_path: Path) -> None:
    order = [4, 2, 0, 5, 1, 3]
    labels = dict(zip(IMAGES, SETS, strict=True))
    contents = []
    for name, places in (("a", list(range(6))), ("b", order)):
        (tmp_path / name).mkdir()
        study = Study(tmp_path / name)
        study.add_dataset(
            "V1", labels=labels, images="".join(f"{IMAGES[place]}\n" for place in places)
        )
        study.add_dump("good", "V1", draw_scores(0)[places])
        facts = study.evaluate()
        contents.append(
            (Path(study.place("scores/0.parquet")).read_bytes(), facts["dumps"][0]["digest"])
        )
        assert facts["dumps"][0]["labels"] == {"0": 1, "1": 2, "2": 2, "3": 1}
    assert contents[0] == contents[1]


def test_ids_are_joined_with_or_without_the_suffix_of_the_image(tmp_path: Path) -> None:
    study = Study(tmp_path)
    without = {f"i{place}": labels for place, labels in enumerate(SETS)}
    study.add_dataset("V1", labels=without, images="".join(f"{name}\n" for name in IMAGES))
    study.add_dump("good", "V1", draw_scores(0))
    facts = study.evaluate()
    assert [problem["code"] for problem in facts["problems"]] == ["unlabeled_images"]
    assert facts["dumps"][0]["images"] == len(SETS)


def test_two_images_that_differ_in_their_suffix_only_stay_two(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels={"i": [0], "j": [1]}, images="i.png\ni.jpg\n")
    study.add_dump("good", "V1", draw_scores(0, images=2))
    (problem,) = study.evaluate()["problems"]
    assert "2 images of 2 with scores have no labels: 'i.png', 'i.jpg'" in problem["reason"]


def test_seeds_have_label_files_of_their_own(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.write("0/labels.json", [[0]])
    study.write("1/labels.json", [[1], [0]])
    study.datasets["ML"] = dict.fromkeys(("single", "images"), "")
    study.datasets["ML"]["labels"] = study.place("{seed}/labels.json")
    study.add_dump("m", "ML", draw_scores(0, images=1), "0")
    study.add_dump("m", "ML", draw_scores(0, images=2), "1")
    assert [fact["images"] for fact in study.evaluate()["dumps"]] == [1, 2]


def cut_off(study: Study) -> str:
    path = study.add_dump("poor", "V1", draw_scores(0))
    Path(path).write_bytes(Path(path).read_bytes()[:-10])
    return path


def pickle_it(study: Study) -> str:
    path = study.place("pickled.npy")
    np.save(path, np.array([{}, {}], dtype=object), allow_pickle=True)
    study.cells[Cell("poor", "V1")] = path
    return path


def put_nan(study: Study) -> str:
    scores = draw_scores(0)
    scores[3, 2] = np.nan
    return study.add_dump("poor", "V1", scores)


FAULTS: dict[str, tuple[Callable[[Study], str], str]] = {
    "another number of images": (
        lambda study: study.add_dump("poor", "V1", draw_scores(0, images=3)),
        "scores of 3",
    ),
    "another number of classes": (
        lambda study: study.add_dump("poor", "V1", draw_scores(0)[:, :4]),
        "4 classes, and 6 are expected",
    ),
    "cut off": (cut_off, "cannot be read"),
    "pickled": (pickle_it, "Python objects"),
    "not a number": (put_nan, "class 2 is NaN for image 4"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_broken_dump_is_told_with_its_place_and_stops_no_other(tmp_path: Path, kind: str) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", single=SINGLE)
    study.add_dump("good", "V1", draw_scores(0))
    breaks, message = FAULTS[kind]
    path = breaks(study)
    facts = study.evaluate()
    (problem,) = [entry for entry in facts["problems"] if entry["severity"] == "error"]
    assert problem["source"] == path
    assert message in problem["reason"]
    assert problem["remedy"]
    assert [fact["model"] for fact in facts["dumps"]] == ["good"]
    with pytest.raises(ValidationError, match="in 2 files with 6 rows") as error:
        study.gather()
    assert message in str(error.value)
    assert path in read_table(study.place("rejected.csv"))["source"].tolist()
    assert not Path(study.place("runs.parquet")).exists()


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"labels": [[9]] * 6}, "is outside the classes"),
        ({"labels": [["owl"]] * 6}, "is the name of no class"),
        ({"single": [0, 1]}, "labels of 2 images"),
    ],
)
def test_a_fault_of_the_labels_is_told_once_for_each_file(
    tmp_path: Path, files: dict, message: str
) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", **files)
    for model in "abc":
        study.add_dump(model, "V1", draw_scores(0))
    facts = study.evaluate()
    reasons = [problem["reason"] for problem in facts["problems"]]
    assert all(message in reason for reason in reasons)
    assert len(reasons) == (3 if "single" in files else 1)
    with pytest.raises(ValidationError, match=r"1 error \("):
        study.gather()
    assert facts["dumps"] == []
    assert len(read_parquet(study.place("scores/0.parquet"))) == 0
    assert OutcomeFiles([study.place("outcomes/0.parquet")]).list_models("V1") == []


def test_labels_that_fit_all_dumps_badly_are_told_once_with_their_names(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", single=[0, 1])
    for shard, model in enumerate("abc"):
        study.add_dump(model, "V1", draw_scores(0))
        study.evaluate(shard, [Cell(model, "V1")])
    with pytest.raises(
        ValidationError, match=r"1 error [\s\S]* for 2 other dumps: .*1\.npy.*2\.npy"
    ):
        study.gather()
    (source,) = read_table(study.place("rejected.csv"))["source"]
    assert source == study.place("0.npy")


def test_a_broken_dump_is_not_told_again_as_a_gap(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    cut = Path(study.cells[Cell("poor", "V1")])
    cut.write_bytes(cut.read_bytes()[:-10])
    study.evaluate()
    with pytest.raises(ValidationError, match=r"1 error \(1 damaged_array"):
        study.gather()


@pytest.mark.parametrize("labels", [[[]] * 6, [[0, 1, 2, 3]] * 6])
def test_a_dataset_whose_images_do_not_count_is_told_once(tmp_path: Path, labels: list) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels=labels)
    for model in "ab":
        study.add_dump(model, "V1", draw_scores(0))
    study.evaluate()
    with pytest.raises(ValidationError, match=r"1 error \(1 unscored_dataset") as error:
        study.gather()
    assert "averages the other subgroups" not in str(error.value)


def test_warnings_count_unlabeled_merged_and_unscored_images(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels={"a": [0, 0], "b": [], "c": [1]}, images="a\nb\n")
    study.add_dump("good", "V1", draw_scores(0, images=2))
    problems = study.evaluate()["problems"]
    assert {problem["code"]: problem["reason"] for problem in problems} == {
        "unlabeled_images": "There is no valid label for 1 of 2 images.",
        "merged_labels": "The label sets repeat 1 label.",
        "unscored_images": "The labels are also of 1 image without scores.",
    }


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_images_of_which_a_dump_says_nothing_are_counted(tmp_path: Path, dtype: str) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels=[[0], [1], [2]])
    rows = [[0] * 6, [0.5, 1, 0, 0, 0, 0.5], [0.25] * 6]
    study.add_dump("broken", "V1", np.array(rows, dtype=dtype))
    (problem,) = study.evaluate()["problems"]
    assert problem["code"] == "flat_scores"
    assert problem["reason"] == "All classes have the same score in 2 of 3 images."


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
    labels = {**dict(zip(IMAGES, SETS, strict=True)), "other": [0]}
    study.add_dataset("V1", labels=labels)
    study.datasets["V1"]["images"] = study.place("{model}.txt")
    for model, last in {"a": "i5.png", "b": "i5.png", "c": "other"}.items():
        study.write(f"{model}.txt", "".join(f"{name}\n" for name in [*IMAGES[:5], last]))
        study.add_dump(model, "V1", draw_scores(0))
    study.evaluate()
    with pytest.raises(ValidationError, match=r"2\.npy: The images are not those of .*0\.npy"):
        study.gather()


@pytest.mark.parametrize(
    ("pattern", "path", "cell"),
    [
        ("d/{model}/{dataset}.npy", "d/a.b/V 1.npy", Cell("a.b", "V 1")),
        ("{dataset}/{seed}/{model}.npz", "V1/3/x.npz", Cell("x", "V1", "3")),
        ("{model}/{model}-{dataset}.npy", "a-b/a-b-V1.npy", Cell("a-b", "V1")),
    ],
)
def test_names_of_files_tell_the_cell(pattern: str, path: str, cell: Cell) -> None:
    assert match_dumps(pattern, [path, f"{path}.txt"]) == {path: cell}
    assert fill_pattern(pattern, cell) == path


@pytest.mark.parametrize(
    ("pattern", "paths", "message"),
    [
        ("d/{model}.npy", [], r"has no \{dataset\}"),
        ("{model}_{dataset}.npy", ["a_b_c.npy"], "may be 'a_b' or 'a'"),
    ],
)
def test_patterns_that_do_not_tell_the_cell_are_refused(
    pattern: str, paths: list[str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        match_dumps(pattern, paths)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = make_study(tmp_path_factory.mktemp("study"))
    for shard, model in enumerate(("good", "poor")):
        study.evaluate(shard, [cell for cell in study.cells if cell.model == model])
    return study


def test_tables_are_over_all_seeds_and_exact_whatever_the_number_of_images(study: Study) -> None:
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


def test_one_dataset_has_no_degradation(tmp_path: Path) -> None:
    study = Study(tmp_path)
    study.add_dataset("V1", labels=[[0]])
    study.add_dump("$x_1$ <b>", "V1", draw_scores(0, images=1))
    study.evaluate()
    tables = study.summarize()
    assert len(tables["degradation"]) == 0
    [shift] = tables["rank_shift"].to_dict("records")
    assert (shift["metric_a"], shift["metric_b"], shift["shift"]) == ("real", "asma", 0)


def test_objects_in_no_composed_image_are_counted() -> None:
    rows = [(2, 20, 14, 0), (3, 20, 14, 2), (3, 90, 14, 14)]
    table = pd.DataFrame(rows, columns=["count", "size", "objects", "unused"])
    [skipped, unused] = find_unused_objects(pd.DataFrame({"object": [1, 4]}), table)
    assert (skipped.severity, skipped.value) == ("warning", "2")
    assert "size in pixels: 2 of 14 (3 x 20), 14 of 14 (3 x 90)." in unused.reason
    assert find_unused_objects(pd.DataFrame(), table.iloc[:1]) == find_unused_objects() == []
