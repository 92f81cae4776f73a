"""Make the example submissions to a leaderboard in ``data/submissions/``.

Run ``python data/make_submissions.py`` from anywhere; the same bytes come out every time. Scores
are simulated: none was measured. A model has a skill, a submission a care that adds to it, and a
model suits some datasets better than others. Random numbers come from NumPy's legacy generator,
whose stream is frozen.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

FOLDER = Path(__file__).parent
DEFINITION = FOLDER / "benchmarks/geobench2.yaml"
FURTHER = ["so2sat", "forestnet"]
DETECTORS = {"substation": "mask-rcnn", "everwatch": "faster-rcnn"}
CLASSIFIED = ["benv2", "treesatai", *FURTHER]
SKILLS = {
    "resnet50": 0.30,
    "dofa_base_patch16_224": 0.38,
    "northlight_vit_s": 0.45,
    "clay_v1_base": 0.52,
    "meadow_convnext": 0.58,
    "terramind_v1_base": 0.66,
    "dinov3_vitl16": 0.70,
}
FROZEN = -0.12
SPREAD, AFFINITY = 0.04, 0.10
# Where a model without skill and one without fault would score.
RANGES = {"biomassters": (0.94, 0.965), "everwatch": (0.15, 0.40), "substation": (0.08, 0.24)}
USUAL_RANGE = (0.35, 0.85)


@dataclass(frozen=True)
class Submission:
    """Who submits what: entries are backbones with a method, new models have a name and a size."""

    entries: list[tuple[str, str]]
    seeds: list[int]
    care: float
    license: str
    information: str
    comments: str
    new: dict[str, tuple[str, str]]


SUBMISSIONS = {
    "baseline": Submission(
        entries=[
            ("resnet50", "frozen"),
            ("resnet50", "full_ft"),
            ("clay_v1_base", "full_ft"),
            ("dofa_base_patch16_224", "full_ft"),
        ],
        seeds=[11, 23, 37, 58, 71],
        care=0.0,
        license="Apache 2.0",
        information="Simulated runs of known models.",
        comments="",
        new={},
    ),
    "meadow": Submission(
        entries=[
            ("dinov3_vitl16", "frozen"),
            ("dinov3_vitl16", "full_ft"),
            ("clay_v1_base", "frozen"),
            ("meadow_convnext", "full_ft"),
        ],
        seeds=[3, 14, 15, 92, 65],
        care=0.01,
        license="MIT",
        information="Simulated runs; meadow_convnext was not run on forestnet.",
        comments="Meadow-ConvNext stands for a model that was not on the leaderboard before.",
        new={"meadow_convnext": ("Meadow-ConvNext", "90M")},
    ),
    "northlight": Submission(
        entries=[
            ("terramind_v1_base", "full_ft"),
            ("resnet50", "full_ft"),
            ("northlight_vit_s", "full_ft"),
        ],
        seeds=[1, 2, 3, 4, 5, 6],
        care=0.02,
        license="CC-BY-4.0",
        information="Simulated runs with six seeds.",
        comments="Northlight-ViT-S stands for a small new model.",
        new={"northlight_vit_s": ("Northlight-ViT-S", "22M")},
    ),
}
MISSING = [("meadow_convnext", "forestnet")]


def make_results(name: str) -> pd.DataFrame:
    """Make the table of results of a submission, a row per backbone, method, dataset and seed."""
    submission = SUBMISSIONS[name]
    definition = yaml.safe_load(DEFINITION.read_text("utf-8"))
    datasets = [*definition["dimensions"]["Core"], *FURTHER]
    affinities = np.random.RandomState(5).normal(0, AFFINITY, (len(SKILLS), len(datasets)))
    random = np.random.RandomState(sorted(SUBMISSIONS).index(name))
    rows = []
    for backbone, method in submission.entries:
        rate = float(random.choice([0.0003, 0.0001, 0.00005]))
        skill = SKILLS[backbone] + submission.care + FROZEN * (method == "frozen")
        suits = affinities[list(SKILLS).index(backbone)]
        for dataset, suit in zip(datasets, suits, strict=True):
            low, high = RANGES.get(dataset, USUAL_RANGE)
            shares = skill + suit + random.normal(0, SPREAD, len(submission.seeds))
            decoder = DETECTORS.get(dataset, "Linear" if dataset in CLASSIFIED else "UNet")
            for seed, share in zip(submission.seeds, shares, strict=True):
                rows.append(
                    {
                        "backbone": backbone,
                        "dataset": dataset,
                        "Metric": definition["datasets"][dataset]["metric"],
                        "experiment_name": f"{backbone}_{method}",
                        "partition name": "100%",
                        "decoder": decoder,
                        "batch_size_selection": "Fixed",
                        "early_stop_patience": 10,
                        "n_trials": 16,
                        "Seed": seed,
                        "data_percentages": 100,
                        "batch_size": 32,
                        "weight_decay": 0.01,
                        "lr": rate,
                        "test metric": round(float(low + (high - low) * share), 6),
                        "frozen_or_full_ft": method,
                    }
                )
    return pd.DataFrame([row for row in rows if (row["backbone"], row["dataset"]) not in MISSING])


def describe(name: str) -> dict[str, object]:
    """Make the description of a submission."""
    submission = SUBMISSIONS[name]
    return {
        "Paper Link": "",
        "Code Repository Link ": f"https://example.org/{name}",
        "License": submission.license,
        "Number of HPO trials": "16",
        "Additional information about submission": submission.information,
        "Comments on new models in submission": submission.comments,
        "New model info": [
            {"model_display_name": shown, "model_size": size, "unique_backbone_key": key}
            for key, (shown, size) in submission.new.items()
        ],
    }


def freeze_bounds(results: pd.DataFrame) -> dict[str, list[float]]:
    """Take the lowest and the highest score of each dataset, to be kept when submissions follow."""
    scores = results.groupby("dataset")["test metric"]
    return {str(dataset): [float(values.min()), float(values.max())] for dataset, values in scores}


def render_submissions() -> dict[str, str]:
    """Render every file, by its path below ``data/``; numbers at full precision."""
    files = {}
    for name in SUBMISSIONS:
        table = make_results(name).to_csv(index=False, lineterminator="\n")
        files[f"submissions/{name}/results_and_parameters.csv"] = table
        description = json.dumps(describe(name), indent=1) + "\n"
        files[f"submissions/{name}/additional_info.json"] = description
    everything = pd.concat([make_results(name) for name in SUBMISSIONS])
    bounds = json.dumps(freeze_bounds(everything), indent=1) + "\n"
    return {**files, "submissions_references.json": bounds}


if __name__ == "__main__":
    for path, text in render_submissions().items():
        (FOLDER / path).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / path).write_bytes(text.encode())
