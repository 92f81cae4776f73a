"""Make the example of a literature database in ``data/capabilities/``.

Run ``python data/make_capabilities.py`` from anywhere; the same bytes come out every time. Models
and datasets stand in a ball of five dimensions whose diameter is 1, and what a model lacks to the
best one on a dataset is their distance, so an embedding should find all of them again. Random
numbers come from NumPy's legacy generator, whose stream is frozen.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

FOLDER = Path(__file__).parent / "capabilities"
DIMENSION = 5
RADIUS = 0.5
PAIRS, GENERALISTS = 12, 16
NOISE = 0.02
ARCHITECTURES = {"Conv": 6, "Hybrid": 18, "Mixer": 14, "Recurrent": 10, "Transformer": 22}
SIZES = {"S": 1, "M": 4, "L": 14, "XL": 45}
FAMILIES = {
    "classification": ["Crops", "Forests", "Land cover", "Soils", "Wetlands"],
    "segmentation": ["Buildings", "Clouds", "Floods", "Roads", "Snow"],
    "detection": ["Aircraft", "Ships", "Vehicles", "Wind turbines"],
    "change": ["Burn scars", "Landslides", "Mines", "New roads"],
    "regression": ["Biomass", "Tree height"],
}
VARIANTS = {
    "classification": ["1 %", "10 %", "100 %"],
    "segmentation": ["10 %", "100 %", "new region"],
    "detection": ["val", "test"],
    "change": ["5 shots", "20 shots", "all"],
    "regression": ["rmse 10 %", "rmse 100 %"],
}
FEW_RESULTS = [1, 2, 3, 4]
UNDATED = [3, 21]
UNSIZED = [8]

Array = npt.NDArray[np.float64]


def place_models() -> pd.DataFrame:
    """Place pairs of specialists, opposite each other on the sphere, and generalists inside.

    Returns
    -------
    pandas.DataFrame
        x1 … x5, a row per model from small to large. Larger models stand nearer to the middle, and
        models of one architecture and size in one sector of the first two coordinates.
    """
    random = np.random.RandomState(11)
    ends = _draw_directions(random, PAIRS)
    inner = _draw_directions(random, GENERALISTS) * np.linspace(0.7, 0.1, GENERALISTS)[:, None]
    points = RADIUS * np.concatenate([ends, -ends, inner])
    per_size = len(points) // len(SIZES)
    per_architecture = per_size // len(ARCHITECTURES)
    rows = {}
    for place, size in enumerate(SIZES):
        own = points[place * per_size : (place + 1) * per_size]
        for rank, point in enumerate(own[_order_angles(own)]):
            architecture = list(ARCHITECTURES)[rank // per_architecture]
            rows[f"{architecture}-{size}{rank % per_architecture + 1}"] = point
    return _tabulate_points(rows)


def place_datasets(models: pd.DataFrame) -> pd.DataFrame:
    """Place datasets where specialists stand, so that one has gap 0 and its opposite gap 1.

    Parameters
    ----------
    models : pandas.DataFrame
        From `place_models`.

    Returns
    -------
    pandas.DataFrame
        x1 … x5, a row per dataset in order of types and families. Variants of a family stand at one
        point, and families of one type in one sector.
    """
    specialists = models[_measure_lengths(models) > 0.99 * RADIUS].to_numpy()
    families = [(kind, family) for kind, names in FAMILIES.items() for family in names]
    random = np.random.RandomState(12)
    chosen = specialists[random.permutation(len(specialists))[: len(families)]]
    rows = {}
    for (kind, family), point in zip(families, chosen[_order_angles(chosen)], strict=True):
        for variant in VARIANTS[kind]:
            rows[f"{family} / {variant}"] = point
    return _tabulate_points(rows)


def measure_gaps(models: pd.DataFrame, datasets: pd.DataFrame, *, noise: float) -> pd.DataFrame:
    """Measure what models lack to the best one: their distance to the dataset, and noise.

    Parameters
    ----------
    models, datasets : pandas.DataFrame
        Their points.
    noise : float
        Standard deviation of the noise.

    Returns
    -------
    pandas.DataFrame
        Models × datasets; without noise from 0 to 1. About a third is filled, NaN elsewhere. The
        two models at distance 0 and 1 of a dataset always are filled.
    """
    random = np.random.RandomState(13)
    difference = models.to_numpy()[:, None, :] - datasets.to_numpy()[None, :, :]
    gaps = np.sqrt((difference**2).sum(axis=2))
    is_anchor = (gaps < 1e-9) | (gaps > 1 - 1e-9)
    share = random.uniform(0.1, 0.58, len(datasets))
    is_filled = is_anchor | (random.uniform(size=gaps.shape) < share)
    inner = np.argsort(_measure_lengths(models), kind="stable")
    for count, place in zip(FEW_RESULTS, inner[1::3], strict=False):
        is_filled[place] = False
        is_filled[place, random.permutation(len(datasets))[:count]] = True
    return pd.DataFrame(
        np.where(is_filled, gaps + noise * random.normal(size=gaps.shape), np.nan),
        index=models.index,
        columns=datasets.index,
    )


def score_gaps(gaps: pd.DataFrame) -> pd.DataFrame:
    """Turn gaps into scores: accuracies, or errors where the dataset's name says rmse."""
    random = np.random.RandomState(14)
    scores = {}
    for dataset, column in gaps.items():
        best, spread = random.uniform(0.72, 0.95), random.uniform(0.15, 0.45)
        if "rmse" in str(dataset):
            scores[dataset] = 40 * (1 - best + spread * column)
        else:
            scores[dataset] = best - spread * column
    return pd.DataFrame(scores)


def describe_models(models: pd.DataFrame) -> pd.DataFrame:
    """Make architecture, parameters (in millions) and date of each model; some are unknown."""
    random = np.random.RandomState(15)
    parts = models.index.str.split("-")
    sizes = [SIZES[name.rstrip("123456789")] for name in parts.str[1]]
    parameters = np.array([ARCHITECTURES[name] for name in parts.str[0]]) * sizes
    days = random.randint(0, 5 * 365, len(models)) + 120 * np.log2(sizes)
    dates = pd.Timestamp("2018-03-01") + pd.to_timedelta(days.astype(int), unit="D")
    table = pd.DataFrame(
        {
            "model": models.index,
            "architecture": parts.str[0],
            "parameters": parameters.astype(str),
            "date": dates.strftime("%Y-%m-%d"),
        }
    )
    table.loc[UNSIZED, "parameters"] = ""
    table.loc[UNDATED, "date"] = ""
    return table


def describe_datasets() -> pd.DataFrame:
    """Make the type of each family of datasets."""
    rows = [(family, kind) for kind, names in FAMILIES.items() for family in names]
    return pd.DataFrame(rows, columns=["dataset", "type"])


def render_examples(*, noise: float = NOISE) -> dict[str, str]:
    """Render scores, what is known of models and datasets, and the true points, by file name."""
    models = place_models()
    datasets = place_datasets(models)
    truth = pd.concat([models, datasets], keys=["model", "dataset"], names=["kind", "name"])
    scores = score_gaps(measure_gaps(models, datasets, noise=noise))
    return {
        "data.csv": _render_matrix(scores),
        "models.csv": describe_models(models).to_csv(index=False, lineterminator="\n"),
        "datasets.csv": describe_datasets().to_csv(index=False, lineterminator="\n"),
        "truth.csv": truth.to_csv(float_format="%.6f", lineterminator="\n"),
    }


def _draw_directions(random: np.random.RandomState, count: int) -> Array:
    points = random.normal(size=(count, DIMENSION))
    return np.asarray(points / np.sqrt((points**2).sum(axis=1, keepdims=True)))


def _order_angles(points: Array) -> npt.NDArray[np.intp]:
    return np.argsort(np.arctan2(points[:, 1], points[:, 0]), kind="stable")


def _measure_lengths(points: pd.DataFrame) -> Array:
    return np.asarray(np.sqrt((points.to_numpy() ** 2).sum(axis=1)))


def _tabulate_points(rows: dict[str, Array]) -> pd.DataFrame:
    columns = [f"x{axis}" for axis in range(1, DIMENSION + 1)]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns)


def _render_matrix(scores: pd.DataFrame) -> str:
    """Two rows of headers; a family stands over its first variant only."""
    names = [str(name).split(" / ") for name in scores.columns]
    families = [name[0] for name in names]
    shown = [
        family if place == 0 or families[place - 1] != family else ""
        for place, family in enumerate(families)
    ]
    lines = [["model", *shown], ["", *(name[1] for name in names)]]
    for model, row in scores.iterrows():
        lines.append([str(model), *("" if np.isnan(score) else f"{score:.4f}" for score in row)])
    return "".join(",".join(line) + "\n" for line in lines)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in render_examples().items():
        (FOLDER / name).write_bytes(text.encode())
