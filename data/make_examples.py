"""Make the simulated examples in ``data/``.

Run ``python data/make_examples.py`` from anywhere; the same bytes come out every time. `README.md`
says what each example is. Random numbers come from NumPy's legacy generator, whose stream is
frozen.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import yaml

DATA = Path(__file__).parent
Array = npt.NDArray[np.float64]
Random = np.random.RandomState

# Tutorial: standard deviations of seeds on the first datasets and on the others.
DATASETS, SPLIT = [f"D{number:02d}" for number in range(1, 9)], 3
SPREADS = {
    "Model-A": (0.04, 0.02),
    "Model-B": (0.11, 0.02),
    "Model-C": (0.01, 0.01),
    "Model-D": (0.02, 0.02),
    "Model-E": (0.02, 0.02),
}

# Literature database: radius of the ball in which all stand.
RADIUS, DIMENSION = 0.5, 5
AXES = [f"x{axis}" for axis in range(1, DIMENSION + 1)]
PAIRS, GENERALISTS = 12, 16
ARCHITECTURES = {"Conv": 6, "Hybrid": 18, "Mixer": 14, "Recurrent": 10, "Transformer": 22}
SIZES = {"S": 1, "M": 4, "L": 14, "XL": 45}
VARIANTS = {
    "classification": ["1 %", "10 %", "100 %"],
    "segmentation": ["10 %", "100 %", "new region"],
    "detection": ["val", "test"],
    "change": ["5 shots", "20 shots", "all"],
    "regression": ["rmse 10 %", "rmse 100 %"],
}
FEW_RESULTS = [1, 2, 3, 4]
UNDATED, UNSIZED = [3, 21], [8]

# Checkpoints: best accuracy, and the step at which each seed's training has it.
STEPS = (500, 1000, 1500, 2000, 2500, 3000)
BENCHMARKS = {"crops": 0.06, "floods": 0.0, "roads": -0.04, "trees": -0.1}
TRAININGS = {
    "Dense-L": (0.86, (2000, 2500, 2000)),
    "Dense-S": (0.78, (1500, 1500, 1000)),
    "Sparse-L": (0.83, (3000, 2500, 3000)),
    "Sparse-S": (0.74, (1000, 1500, 1500)),
}

# Test items: abilities, and how hard the datasets are, in logits.
ABILITIES = {"Alder": 1.2, "Birch": 1.0, "Cedar": 0.4, "Elm": 0.3, "Fir": -0.3}
SUBJECTS = {"history": -0.6, "law": 0.2, "physics": 0.9, "reading": -0.2}
PASSAGES, QUESTIONS = 12, 5

# Submissions: backbones with a method, seeds, and the care that adds to the skill of a model.
SKILLS = {
    "resnet50": 0.30,
    "dofa_base_patch16_224": 0.38,
    "northlight_vit_s": 0.45,
    "clay_v1_base": 0.52,
    "meadow_convnext": 0.58,
    "terramind_v1_base": 0.66,
    "dinov3_vitl16": 0.70,
}
SUBMISSIONS = {
    "baseline": (
        "resnet50:frozen resnet50:full_ft clay_v1_base:full_ft dofa_base_patch16_224:full_ft",
        [11, 23, 37, 58, 71],
        0.0,
    ),
    "meadow": (
        "dinov3_vitl16:frozen dinov3_vitl16:full_ft clay_v1_base:frozen meadow_convnext:full_ft",
        [3, 14, 15, 92, 65],
        0.01,
    ),
    "northlight": (
        "terramind_v1_base:full_ft resnet50:full_ft northlight_vit_s:full_ft",
        [1, 2, 3, 4, 5, 6],
        0.02,
    ),
}
FURTHER = ["so2sat", "forestnet"]
DECODERS = {
    "substation": "mask-rcnn",
    "everwatch": "faster-rcnn",
    **dict.fromkeys(["benv2", "treesatai", *FURTHER], "Linear"),
}
# Where a model without skill and one without fault would score.
RANGES = {"biomassters": (0.94, 0.965), "everwatch": (0.15, 0.40), "substation": (0.08, 0.24)}
USUAL_RANGE = (0.35, 0.85)


def make_tutorial() -> dict[str, pd.DataFrame]:
    """Make five models on eight datasets, with one run per cell and with three seeds."""
    random, rest = Random(42), len(DATASETS) - SPLIT
    scores = {
        "Model-A": np.r_[random.uniform(0.93, 0.97, SPLIT), random.uniform(0.40, 0.44, rest)],
        "Model-B": np.r_[random.uniform(0.13, 0.17, SPLIT), random.uniform(0.80, 0.84, rest)],
        "Model-C": random.uniform(0.70, 0.74, len(DATASETS)),
        "Model-D": random.uniform(0.58, 0.62, len(DATASETS)),
    }
    scores["Model-E"] = np.clip(scores["Model-D"] + random.normal(0, 0.01, len(DATASETS)), 0, 1)
    benchmark = [
        (model, dataset, "acc", score)
        for model, row in scores.items()
        for dataset, score in zip(DATASETS, row, strict=True)
    ]
    random, seeded = Random(99), []
    for model, dataset, metric, score in benchmark:
        spread = SPREADS[model][DATASETS.index(dataset) >= SPLIT]
        for seed in (1, 2, 3):
            noisy = np.clip(score + random.normal(0, spread), 0, 1)
            seeded.append((model, dataset, metric, seed, noisy))
    columns = ["model", "dataset", "metric", "seed", "score"]
    return {
        "tutorial/benchmark.csv": pd.DataFrame(benchmark, columns=[*columns[:3], "score"]),
        "tutorial/seeded.csv": pd.DataFrame(seeded, columns=columns),
    }


def make_items() -> dict[str, pd.DataFrame]:
    """Make right and wrong answers of five models to questions about passages.

    Passages suit each model otherwise, so that its answers to one have something in common.
    """
    random, rows = Random(12), []
    for subject, hard in SUBJECTS.items():
        difficulty = hard + random.normal(0, 1.0, (PASSAGES, QUESTIONS))
        difficulty += random.normal(0, 0.5, (PASSAGES, 1))
        for model, ability in ABILITIES.items():
            suits = random.normal(0, 0.5, (PASSAGES, 1))
            chance = 1 / (1 + np.exp(difficulty - ability - suits))
            right = random.uniform(size=chance.shape) < chance
            for (passage, question), answer in np.ndenumerate(right):
                name = f"{subject}-{passage + 1:02d}"
                rows.append((model, subject, name, f"{name}-{question + 1}", int(answer)))
    columns = ["model", "dataset", "passage", "question", "accuracy"]
    return {"items/answers.csv": pd.DataFrame(rows, columns=columns)}


def place_models() -> pd.DataFrame:
    """Place pairs of specialists, opposite each other on the sphere, and generalists inside.

    Larger models stand nearer to the middle, and models of one architecture and size in one sector
    of the first two coordinates.
    """
    random = Random(11)
    ends, inner = (_draw_directions(random, count) for count in (PAIRS, GENERALISTS))
    inner *= np.linspace(0.7, 0.1, GENERALISTS)[:, None]
    by_size = np.split(RADIUS * np.concatenate([ends, -ends, inner]), len(SIZES))
    rows = {}
    for size, own in zip(SIZES, by_size, strict=True):
        each = len(own) // len(ARCHITECTURES)
        for rank, point in enumerate(_sort_by_angle(own)):
            rows[f"{[*ARCHITECTURES][rank // each]}-{size}{rank % each + 1}"] = point
    return pd.DataFrame.from_dict(rows, orient="index", columns=AXES)


def place_datasets(models: pd.DataFrame, types: "pd.Series[str]") -> pd.DataFrame:
    """Place the variants of a family where a specialist stands, types in one sector each."""
    specialists = models[_measure_lengths(models) > 0.99 * RADIUS].to_numpy()
    chosen = specialists[Random(12).permutation(len(specialists))[: len(types)]]
    rows = {
        f"{family} / {variant}": point
        for (family, kind), point in zip(types.items(), _sort_by_angle(chosen), strict=True)
        for variant in VARIANTS[kind]
    }
    return pd.DataFrame.from_dict(rows, orient="index", columns=AXES)


def measure_gaps(models: pd.DataFrame, datasets: pd.DataFrame, noise: float) -> pd.DataFrame:
    """Measure what models lack to the best one: their distance to the dataset, and noise.

    About a third is filled, among it the two models at distance 0 and 1 of each dataset.
    """
    random = Random(13)
    difference = models.to_numpy()[:, None, :] - datasets.to_numpy()[None, :, :]
    gaps = np.sqrt((difference**2).sum(axis=2))
    share = random.uniform(0.1, 0.58, len(datasets))
    is_filled = (gaps < 1e-9) | (gaps > 1 - 1e-9) | (random.uniform(size=gaps.shape) < share)
    inner = np.argsort(_measure_lengths(models), kind="stable")
    for count, place in zip(FEW_RESULTS, inner[1::3], strict=False):
        is_filled[place] = False
        is_filled[place, random.permutation(len(datasets))[:count]] = True
    noisy = gaps + noise * random.normal(size=gaps.shape)
    return pd.DataFrame(np.where(is_filled, noisy, np.nan), models.index, datasets.index)


def score_gaps(gaps: pd.DataFrame) -> pd.DataFrame:
    """Turn gaps into accuracies, or into errors where the dataset's name says rmse."""
    random, scores = Random(14), {}
    for dataset, column in gaps.items():
        best, spread = random.uniform(0.72, 0.95), random.uniform(0.15, 0.45)
        scores[dataset] = best - spread * column
        if "rmse" in str(dataset):
            scores[dataset] = 40 * (1 - best + spread * column)
    return pd.DataFrame(scores)


def describe_models(names: pd.Index) -> pd.DataFrame:
    """Make architecture, parameters (in millions) and date of each model; some are unknown."""
    random, parts = Random(15), names.str.split("-")
    sizes = [SIZES[name.rstrip("123456789")] for name in parts.str[1]]
    parameters = np.array([ARCHITECTURES[name] for name in parts.str[0]]) * sizes
    days = random.randint(0, 5 * 365, len(names)) + 120 * np.log2(sizes)
    dates = pd.Timestamp("2018-03-01") + pd.to_timedelta(days.astype(int), unit="D")
    table = pd.DataFrame({"model": names, "architecture": parts.str[0]})
    table = table.assign(parameters=parameters.astype(str), date=dates.strftime("%Y-%m-%d"))
    table.loc[UNSIZED, "parameters"] = ""
    table.loc[UNDATED, "date"] = ""
    return table


def make_capabilities(noise: float = 0.02) -> dict[str, str | pd.DataFrame]:
    """Make a literature database whose gaps are distances between known points, and noise."""
    types = pd.read_csv(DATA / "capabilities/datasets.csv", index_col="dataset")["type"]
    models = place_models()
    datasets = place_datasets(models, types)
    truth = pd.concat([models, datasets], keys=["model", "dataset"], names=["kind", "name"])
    scores = score_gaps(measure_gaps(models, datasets, noise))
    families, variants = zip(*(str(name).split(" / ") for name in scores), strict=True)
    shown = np.where(pd.Series(families).duplicated(), "", families)
    head = "".join(",".join(line) + "\n" for line in (["model", *shown], ["", *variants]))
    body = scores.to_csv(header=False, float_format="%.4f", lineterminator="\n")
    return {
        "capabilities/data.csv": head + body,
        "capabilities/models.csv": describe_models(models.index),
        "capabilities/truth.csv": truth.to_csv(float_format="%.6f", lineterminator="\n"),
    }


def _draw_directions(random: Random, count: int) -> Array:
    points = random.normal(size=(count, DIMENSION))
    return np.asarray(points / np.sqrt((points**2).sum(axis=1, keepdims=True)))


def _sort_by_angle(points: Array) -> Array:
    return points[np.argsort(np.arctan2(points[:, 1], points[:, 0]), kind="stable")]


def _measure_lengths(points: pd.DataFrame) -> Array:
    return np.asarray(np.sqrt((points.to_numpy() ** 2).sum(axis=1)))


def make_checkpoints() -> dict[str, pd.DataFrame]:
    """Make a row per training, checkpoint, benchmark, split and metric.

    Accuracy falls with the square of the distance to the best step, and the calibration error
    grows with the step. Noise is far smaller than the fall from one checkpoint to the next.
    """
    random, rows, best_steps = Random(8), [], []
    for model, (best, peaks) in TRAININGS.items():
        for seed, peak in enumerate(peaks, start=1):
            training = model, f"{model}-run{seed}"
            best_steps.append((*training, peak))
            for step in STEPS:
                for benchmark, ease in BENCHMARKS.items():
                    place = *training, f"step={step}.ckpt", benchmark
                    highest = best + ease - 2e-8 * (step - peak) ** 2
                    for split, loss in (("validation", 0), ("test", 0.02)):
                        means = {"accuracy": highest - loss, "ece": 0.02 + step / 50000}
                        for metric, mean in means.items():
                            value = round(mean + random.normal(0, 0.001), 5)
                            rows.append((*place, metric, split, value))
    columns = ["model", "training", "checkpoint", "benchmark", "metric", "split", "value"]
    return {
        "checkpoints/evaluations.csv": pd.DataFrame(rows, columns=columns),
        "checkpoints/best_steps.csv": pd.DataFrame(best_steps, columns=[*columns[:2], "step"]),
    }


def submit(name: str) -> pd.DataFrame:
    """Make the results of a submission, a row per backbone, method, dataset and seed."""
    entries, seeds, care = SUBMISSIONS[name]
    definition = yaml.safe_load((DATA / "benchmarks/geobench2.yaml").read_text("utf-8"))
    datasets = [*definition["dimensions"]["Core"], *FURTHER]
    affinities = Random(5).normal(0, 0.10, (len(SKILLS), len(datasets)))
    random, rows = Random(sorted(SUBMISSIONS).index(name)), []
    for backbone, method in (entry.split(":") for entry in entries.split()):
        rate = random.choice([0.0003, 0.0001, 0.00005])
        skill = SKILLS[backbone] + care - 0.12 * (method == "frozen")
        suits = affinities[[*SKILLS].index(backbone)]
        for dataset, suit in zip(datasets, suits, strict=True):
            low, high = RANGES.get(dataset, USUAL_RANGE)
            shares = skill + suit + random.normal(0, 0.04, len(seeds))
            part = pd.DataFrame({"backbone": backbone, "dataset": dataset, "Seed": seeds})
            part = part.assign(
                Metric=definition["datasets"][dataset]["metric"],
                decoder=DECODERS.get(dataset, "UNet"),
                experiment_name=f"{backbone}_{method}",
                frozen_or_full_ft=method,
                lr=rate,
            )
            part["test metric"] = [round(low + (high - low) * share, 6) for share in shares]
            if (backbone, dataset) != ("meadow_convnext", "forestnet"):
                rows.append(part)
    table = pd.concat(rows).assign(
        batch_size_selection="Fixed",
        early_stop_patience=10,
        n_trials=16,
        data_percentages=100,
        batch_size=32,
        weight_decay=0.01,
    )
    table["partition name"] = "100%"
    columns = (
        "backbone,dataset,Metric,experiment_name,partition name,decoder,batch_size_selection,"
        "early_stop_patience,n_trials,Seed,data_percentages,batch_size,weight_decay,lr,test metric,"
        "frozen_or_full_ft"
    )
    return table[columns.split(",")]


def make_submissions() -> dict[str, str | pd.DataFrame]:
    """Make results of three submissions, and the lowest and highest score of each dataset."""
    tables = {name: submit(name) for name in SUBMISSIONS}
    scores = pd.concat(tables.values()).groupby("dataset")["test metric"]
    bounds = {name: [float(own.min()), float(own.max())] for name, own in scores}
    return {
        **{f"submissions/{name}/results_and_parameters.csv": own for name, own in tables.items()},
        "submissions_references.json": json.dumps(bounds, indent=1) + "\n",
    }


def render_examples() -> dict[str, str]:
    """Render every file as text, by path."""
    files = (
        make_tutorial()
        | make_items()
        | make_capabilities()
        | make_checkpoints()
        | make_submissions()
    )
    return {
        path: content
        if isinstance(content, str)
        else content.to_csv(index=False, lineterminator="\n")
        for path, content in files.items()
    }


if __name__ == "__main__":
    for path, text in render_examples().items():
        (DATA / path).write_bytes(text.encode())
