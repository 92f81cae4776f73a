"""A small study of predictions on disk, and its scripts and steps as the rules call them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.multilabel.dumps import Cell
from evaluate import evaluate
from tests.steps import read_step, run_step
from tests.toy_settings import pick_rules
from validate import validate

CLASSES = ["ant", "bee", "cat", "dog", "eel", "fox"]
SETS = [[0], [1], [2, 3], [0, 4], [1, 2, 5], []]
SINGLE = [0, 1, 2, 4, 1, 3]
IMAGES = [f"i{place}.png" for place in range(len(SETS))]
ASMA = {"asma": {"direction": "max", "low": 0, "high": 1}}
SUBGROUPS = {name: [1, 2, 3] for name in ("V1", "V2", "ML")}
OPTIONS = {"subgroups": SUBGROUPS, "n_resamples": 100, "confidence_level": 0.95}


class Study:
    """A folder with the classes, and with the labels and dumps that are added."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells: dict[Cell, str] = {}
        self.datasets: dict[str, dict[str, str]] = {}
        self.classes = self.write("classes.txt", "".join(f"{name}\n" for name in CLASSES))

    def place(self, name: str) -> str:
        """Path of a file in the folder."""
        return str(self.folder / name)

    def write(self, name: str, content: Any) -> str:
        """Write text, or anything else as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def add_dataset(self, name: str, **files: Any) -> None:
        """Add a dataset; files are what is written to them, and labels are `SETS` by default."""
        files = {"labels": SETS, **files}
        paths = {
            kind: self.write(f"{len(self.datasets)}_{kind}.{suffix}", files[kind])
            if kind in files
            else ""
            for kind, suffix in {"labels": "json", "single": "json", "images": "txt"}.items()
        }
        self.datasets[name] = paths

    def add_dump(self, model: str, dataset: str, scores: Any, seed: str = "") -> str:
        """Add the scores of a model."""
        path = self.place(f"{len(self.cells)}.npy")
        np.save(path, scores)
        self.cells[Cell(model, dataset, seed)] = path
        return path

    def evaluate(
        self,
        shard: int = 0,
        cells: list[Cell] | None = None,
        **settings: Any,
    ) -> dict[str, Any]:
        """Evaluate all dumps, or some, by these settings instead of the usual ones; the facts."""
        chosen = list(self.cells) if cells is None else cells
        evaluate(
            dumps=[self.cells[cell] for cell in chosen],
            outcomes=self.place(f"outcomes/{shard}.parquet"),
            scores=self.place(f"scores/{shard}.parquet"),
            facts=self.place(f"facts/{shard}.json"),
            study="toy",
            cells=[list(cell) for cell in chosen],
            classes=self.classes,
            datasets=self.datasets,
            seed=0,
            **{"subgroups": SUBGROUPS, "replicates": 100, "confidence": 0.95, "renamed": {}}
            | settings,
        )
        return json.loads(Path(self.place(f"facts/{shard}.json")).read_text())

    def list_files(self, folder: str) -> list[str]:
        """List the files of all shards; there are none where metrics were published."""
        return sorted(map(str, (self.folder / folder).glob("*")))

    def gather(self, **settings: Any) -> None:
        """Gather the runs, by these settings instead of the usual ones."""
        rules = ("datasets", "normalization", "select", "incomplete", "duplicates")
        options = {
            **pick_rules(*rules, "invalid", "checksums", "named", "references", "renamed"),
            **{"format": "predictions", "metrics": ASMA, "rank_by": "asma"},
            "names": [*self.cells.values()],
            "objects": [],
            "subgroups": SUBGROUPS,
        }
        validate(
            scores=self.list_files("scores"),
            facts=self.list_files("facts"),
            runs=self.place("runs.parquet"),
            validation=self.place("validation.json"),
            rejected=self.place("rejected.csv"),
            **{**options, **settings},
        )

    def summarize(self, *, rank_by: str = "asma", **images: int) -> dict[str, pd.DataFrame]:
        """Make all tables and the paragraphs, with the numbers of images of some datasets."""
        common = {**OPTIONS, "images": images, "order": list(self.datasets), "compare": []}
        common |= {"counted": [], "rank_by": rank_by, "seed": 0}
        inputs: dict[str, Any] = {
            kind: self.list_files(kind) for kind in ("scores", "outcomes", "facts")
        }
        inputs["exported"] = pd.DataFrame({"model": []})
        found = {}
        for name in ("summarize_metrics", "compare_predictions"):
            run_step(name, self.folder, inputs, **common)
            found |= read_step(name, self.folder)
        return found


def draw_scores(seed: int, *, images: int = len(SETS), skill: float = 0.0) -> np.ndarray:
    """Draw scores; with skill, those of the images' labels are higher."""
    scores = np.random.default_rng(seed).normal(size=(images, len(CLASSES))).astype(np.float32)
    for row, labels in zip(scores, SETS, strict=False):
        row[labels] += skill
    return scores


def make_study(folder: Path) -> Study:
    """A study of two models on two datasets, one with single labels and one with two seeds."""
    study = Study(folder)
    ids = "".join(f"{name}\n" for name in IMAGES)
    study.add_dataset("V1", single=SINGLE, images=ids)
    study.add_dataset("ML")
    for place, (model, skill) in enumerate({"good": 5.0, "poor": 0.0}.items()):
        study.add_dump(model, "V1", draw_scores(place, skill=skill))
        for seed in ("0", "1"):
            study.add_dump(model, "ML", draw_scores(10 + place, skill=skill), seed)
    return study
