"""Multi-label evaluation in real runs: from dumps and from published metrics."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from capmap.analyses import find_table, list_tables
from capmap.artifacts import read_table
from tests.workflow.checkouts import PROJECT, Checkout, check_figures, copy_project

CONFIG = yaml.safe_load((PROJECT / "config.yaml").read_text("utf-8"))
SHAPES: dict[str, Any] = {
    **CONFIG["studies"]["shapes"],
    "bootstrap": {"replicates": 200, "shards": 2},
}
PUBLISHED = CONFIG["studies"]["imagenet"] | {"figures": {"formats": ["svg"]}}


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """The two shipped examples, run once to the end."""
    studies = {"shapes": SHAPES, "imagenet": PUBLISHED}
    checkout = copy_project(tmp_path_factory.mktemp("labeled") / "project", take=[*studies])
    checkout.write_studies(studies)
    run = checkout.snakemake()
    assert run.status == 0, run.output
    assert max(run.jobs.values()) == 1
    return checkout


def make_dumps(folder: Path, *, models: int = 3, images: int = 40, classes: int = 6) -> None:
    """Score dumps of two datasets with two labels per image, and their labels."""
    rng = np.random.default_rng(1)
    (folder / "dumps").mkdir()
    for dataset in ("V1", "V2"):
        labels = np.argsort(rng.random((images, classes)))[:, :2]
        text = "\n".join(f"{row},{label}" for row in range(images) for label in labels[row])
        (folder / f"{dataset}.csv").write_text(f"image,label\n{text}\n")
        (folder / f"{dataset}.ids.txt").write_text("\n".join(map(str, range(images))) + "\n")
        for model in range(models):
            scores = rng.normal(size=(images, classes)).astype(np.float32)
            scores[np.arange(images), labels[:, 0]] += model
            np.save(folder / f"dumps/m{model}_{dataset}.npy", scores)


DUMPED: dict[str, Any] = {
    "exports": "dumps/{model}_{dataset}.npy",
    "format": "predictions",
    "analyses": ["multilabel"],
    "bootstrap": {"replicates": 200, "shards": 2},
    "multilabel": {"compare": ["ImageNet", "V2"]},
    "figures": {"names": {"V1": "ImageNet", "m0": "M 0"}},
    "predictions": {
        "datasets": {
            name: {"labels": f"{name}.csv", "images": f"{name}.ids.txt"} for name in ("V1", "V2")
        }
    },
}


@pytest.mark.parametrize(("name", "settings"), [("shapes", SHAPES), ("imagenet", PUBLISHED)])
def test_every_table_and_figure_is_made(
    finished: Checkout, name: str, settings: dict[str, Any]
) -> None:
    folder = finished.folder / "results" / name
    for table in list_tables(settings):
        for suffix in find_table(table).formats.split():
            assert (folder / f"{table}.{suffix}").stat().st_size > 0
    check_figures(folder, settings)
    page = (folder / "report.html").read_text()
    assert re.findall(r'<section id="analysis-(\w+)"', page) == ["multilabel"]
    assert len(page.encode()) < 2_000_000


def test_the_drops_and_shares_of_several_labels_are_those_of_the_paper(finished: Checkout) -> None:
    folder = finished.folder / "results/imagenet/multilabel"
    table = read_table(folder / "degradation.csv")
    mean = table[table["model"].isna() & table["subgroup"].isna()].set_index("metric")
    drops = (100 * mean["difference"]).round(2)
    assert drops[["top1", "real", "asma"]].tolist() == [11.46, 4.75, 3.92]
    counts = read_table(folder / "label_counts.csv")
    several = counts[counts["labels"] == "1"].set_index("dataset")["share_more"]
    assert several.round(3).to_dict() == {"ImageNetV1": 0.159, "ImageNetV2": 0.485}


def test_images_of_several_objects_are_ranked_otherwise(finished: Checkout) -> None:
    folder = finished.folder / "results/shapes"
    shift = read_table(folder / "multilabel/rank_shift.csv")
    own = shift[(shift["metric_a"] == "top1") & (shift["metric_b"] == "asma")]
    ranks = own[own["dataset_b"] == "PatchML"].set_index("model")
    assert ranks.loc["largest", "rank_a"] == 1
    assert ranks.loc["several", "rank_b"] == 1
    assert len(list((folder / "patchml/0/images").iterdir())) > 100


def test_images_are_composed_before_there_are_scores_of_them(project: Checkout) -> None:
    waiting = {**SHAPES, "exports": "dumps/{model}/{dataset}/{seed}.npz"}
    project.write_studies({"shapes": waiting})
    run = project.snakemake()
    assert run.status != 0
    assert "there are no score dumps yet" in run.output
    for seed in waiting["patchml"]["seeds"]:
        images = project.folder / f"results/shapes/patchml/{seed}/images"
        assert len(list(images.iterdir())) > 100


def test_the_same_seeds_give_the_same_bytes(project: Checkout) -> None:
    before = project.digests()
    run = project.snakemake("--forceall", "results/shapes/multilabel/summary.csv", cores=1)
    assert run.status == 0, run.output
    after = project.digests()
    same = [path for path in before if re.search("^shapes/(multilabel|patchml)/", path)]
    assert len(same) > 15
    assert {path: after[path] for path in same} == {path: before[path] for path in same}


def test_dumps_of_others_run_through_and_a_new_one_reruns_its_shard(tmp_path: Path) -> None:
    checkout = copy_project(tmp_path / "project")
    make_dumps(checkout.folder)
    checkout.write_studies({"dumped": DUMPED})
    table = "results/dumped/multilabel/metrics.csv"
    run = checkout.snakemake(table)
    assert run.status == 0, run.output
    metrics = read_table(checkout.folder / "results/dumped/multilabel/metrics.csv")
    asma = metrics[(metrics["metric"] == "asma") & (metrics["dataset"] == "ImageNet")]
    assert "M 0" in set(asma["model"])
    assert asma.sort_values("model")["value"].is_monotonic_increasing
    path = checkout.folder / "dumps/m0_V1.npy"
    np.save(path, np.load(path) + 1)
    run = checkout.snakemake(table)
    assert run.status == 0, run.output
    assert sum("evaluate" in job for job in run.jobs) == 1
