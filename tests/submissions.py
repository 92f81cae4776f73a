"""Small submissions, whole and with one fault each."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from capmap.artifacts import read_parquet
from tests.toy_settings import pick_rules
from validate import validate

BENCHMARK = """\
title: Small
datasets:
  forests: {metric: Overall_Accuracy, direction: max}
  fields: {metric: Multiclass_Jaccard_Index, direction: max}
  cattle: {metric: test_test_map, direction: max}
  biomass: {metric: RMSE, direction: max, transform: {scale_rmse: {std: 0.25}}}
dimensions:
  Core: [forests, fields, biomass]
  Detection: [cattle]
models:
  resnet50: {name: Resnet50-ImageNet, size: 25M}
  clay: {name: Clay, size: 100M}
"""
BOUNDS = {
    "forests": [0.4, 0.9],
    "fields": [0.2, 0.7],
    "cattle": [0.1, 0.5],
    "biomass": [0.94, 0.97],
}
METRICS = {
    "forests": ("Overall_Accuracy", 0.8),
    "fields": ("Multiclass_Jaccard_Index", 0.5),
    "biomass": ("RMSE", 0.95),
}
INFORMATION: dict[str, Any] = {
    "Paper Link": "",
    "Code Repository Link ": "https://example.org/code",
    "License": "Apache 2.0",
    "Number of HPO trials": "10",
    "Number of repeated seeds trials": "5",
    "Additional information about submission": "",
    "Comments on new models in submission": "",
    "New model info": [{"model_display_name": "", "model_size": "", "unique_backbone_key": ""}],
}
NAMES = ("results_and_parameters.csv", "additional_info.json")
RULES: dict[str, Any] = {
    **pick_rules("columns", "decimal", "metrics", "datasets", "normalization", "select"),
    **pick_rules("named", "renamed"),
    "incomplete": "adjust",
}
SETTINGS = RULES | {"submission": {}, "duplicates": "error", "invalid": "error"}
Row = dict[str, Any]


def make_rows(backbones: tuple[str, ...] = ("resnet50", "clay"), *, seeds: int = 5) -> list[Row]:
    """Make the rows of a sound submission: three datasets, one of them of converted errors."""
    return [
        {
            "dataset": dataset,
            "Metric": metric,
            "test metric": repr(base + place / 100 + seed / 10_000),
            "Seed": str(seed),
            "experiment_name": f"run_{backbone}",
            "batch_size": "32",
            "lr": "0.0001",
            "decoder": "UNet",
            "backbone": backbone,
            "early_stop_patience": "",
            "n_trials": "16",
            "partition_name": "default",
            "data_percentages": "100",
            "batch_size_selection": "HPO",
            "weight_decay": "0.01",
            "partition name": "100%",
            "frozen_or_full_ft": "full_ft",
        }
        for place, backbone in enumerate(backbones)
        for dataset, (metric, base) in METRICS.items()
        for seed in range(1, seeds + 1)
    ]


def render_rows(rows: list[Row]) -> str:
    """Write rows as the text of a CSV file."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def write_submission(
    folder: Path,
    name: str,
    *,
    rows: list[Row] | None = None,
    information: dict[str, Any] | None = None,
    results: str | bytes | None = None,
    document: str | bytes | None = None,
) -> Path:
    """Write a submission into a folder of its own; texts and bytes win over rows and values."""
    target = folder / name
    target.mkdir(parents=True)
    table = render_rows(make_rows() if rows is None else rows) if results is None else results
    text = json.dumps(INFORMATION | (information or {}), indent=1) if document is None else document
    for file, content in zip(NAMES, (table, text), strict=True):
        (target / file).write_bytes(content.encode() if isinstance(content, str) else content)
    return target


def change(row: int = 0, **cells: Any) -> list[Row]:
    """Change cells of one row of a sound submission; ``_`` in a name stands for itself."""
    rows = make_rows()
    rows[row] |= cells
    return rows


def change_all(keep: Callable[[Row], bool], **cells: Any) -> list[Row]:
    """Change cells of the rows that a function chooses."""
    return [row | cells if keep(row) else row for row in make_rows()]


def run(folder: Path, **settings: Any) -> tuple[Any, dict[str, Any], list[dict[str, Any]]]:
    """Validate the submissions in ``folder/submissions`` as the rule does."""
    (folder / "benchmark.yaml").write_text(settings.pop("definition", BENCHMARK), "utf-8")
    (folder / "bounds.json").write_text(json.dumps(settings.pop("bounds", BOUNDS)), "utf-8")
    named = settings.pop("folders", None) or (folder / "submissions").iterdir()
    folders = sorted(path for path in map(Path, named) if path.is_dir())
    files = [str(path / name) for path in folders for name in NAMES if (path / name).exists()]
    arguments: dict[str, Any] = {
        "format": "submission",
        "benchmark": [str(folder / "benchmark.yaml")],
        "references": [str(folder / "bounds.json")],
        "files": files,
        "folders": [str(path) for path in folders],
        "runs": str(folder / "runs.parquet"),
        "validation": str(folder / "validation.json"),
        "submissions": str(folder / "submissions.json"),
        "rejected": str(folder / "rejected.csv"),
        "checksums": {},
        "names": files,
    }
    validate(**{**SETTINGS, **arguments, **settings})
    summary, listed = (
        json.loads((folder / name).read_text("utf-8"))
        for name in ("validation.json", "submissions.json")
    )
    return read_parquet(folder / "runs.parquet"), summary, listed["submissions"]
