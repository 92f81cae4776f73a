"""Make the example exports of the tutorial in ``data/tutorial/``.

Run ``python data/make_examples.py`` from anywhere; the same bytes come out every time. The recipe
is that of evaluma's documentation. Its random numbers come from NumPy's legacy generator, whose
stream is frozen.
"""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "tutorial"
DATASETS = [f"D{number:02d}" for number in range(1, 9)]
SPLIT = 3
TOY = """\
model,dataset,metric,score
Model-1,Dataset-A,accuracy,0.72
Model-1,Dataset-B,f1,0.65
Model-1,Dataset-C,rmse,12.0
Model-2,Dataset-A,accuracy,0.84
Model-2,Dataset-B,f1,0.58
Model-2,Dataset-C,rmse,45.0
Model-3,Dataset-A,accuracy,0.61
Model-3,Dataset-B,f1,0.79
Model-3,Dataset-C,rmse,28.0
"""
SPREADS = {
    "Model-A": (0.04, 0.02),
    "Model-B": (0.11, 0.02),
    "Model-C": (0.01, 0.01),
    "Model-D": (0.02, 0.02),
    "Model-E": (0.02, 0.02),
}


def make_benchmark() -> pd.DataFrame:
    """Make the single-run benchmark: five models on eight datasets.

    Model-A is excellent on the first three datasets and poor on the others, Model-B the reverse,
    Model-C steady, and Model-E a twin of Model-D.
    """
    random = np.random.RandomState(42)
    rest = len(DATASETS) - SPLIT
    scores = {
        "Model-A": np.r_[random.uniform(0.93, 0.97, SPLIT), random.uniform(0.40, 0.44, rest)],
        "Model-B": np.r_[random.uniform(0.13, 0.17, SPLIT), random.uniform(0.80, 0.84, rest)],
        "Model-C": random.uniform(0.70, 0.74, len(DATASETS)),
        "Model-D": random.uniform(0.58, 0.62, len(DATASETS)),
    }
    scores["Model-E"] = np.clip(scores["Model-D"] + random.normal(0, 0.01, len(DATASETS)), 0, 1)
    rows = [
        (model, dataset, "acc", score)
        for model, row in scores.items()
        for dataset, score in zip(DATASETS, row, strict=True)
    ]
    return pd.DataFrame(rows, columns=["model", "dataset", "metric", "score"])


def make_seeded_benchmark(benchmark: pd.DataFrame) -> pd.DataFrame:
    """Make three seeds of each run of the benchmark; `SPREADS` says how far they scatter."""
    random = np.random.RandomState(99)
    rows = []
    for model, dataset, metric, score in benchmark.itertuples(index=False):
        spread = SPREADS[model][DATASETS.index(dataset) >= SPLIT]
        for seed in (1, 2, 3):
            noisy = float(np.clip(score + random.normal(0, spread), 0, 1))
            rows.append((model, dataset, metric, seed, noisy))
    return pd.DataFrame(rows, columns=["model", "dataset", "metric", "seed", "score"])


def render_examples() -> dict[str, str]:
    """Render every example as CSV text, by file name; numbers at full precision."""
    benchmark = make_benchmark()
    return {
        "toy.csv": TOY,
        "benchmark.csv": benchmark.to_csv(index=False, lineterminator="\n"),
        "seeded.csv": make_seeded_benchmark(benchmark).to_csv(index=False, lineterminator="\n"),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in render_examples().items():
        (FOLDER / name).write_bytes(text.encode())
