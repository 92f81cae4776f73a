"""Make the example of checkpoints in ``data/checkpoints/``.

Run ``python data/make_checkpoints.py`` from anywhere; the same bytes come out every time. Random
numbers come from NumPy's legacy generator, whose stream is frozen.
"""

from pathlib import Path

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "checkpoints"
STEPS = (500, 1000, 1500, 2000, 2500, 3000)
BENCHMARKS = {"crops": 0.06, "floods": 0.0, "roads": -0.04, "trees": -0.1}
SPLITS = ("validation", "test")
# Best accuracy, and the step at which each seed's training has it; later it overfits.
MODELS = {
    "Dense-L": (0.86, (2000, 2500, 2000)),
    "Dense-S": (0.78, (1500, 1500, 1000)),
    "Sparse-L": (0.83, (3000, 2500, 3000)),
    "Sparse-S": (0.74, (1000, 1500, 1500)),
}
FALL = 2e-8
NOISE = 0.001


def make_evaluations() -> pd.DataFrame:
    """Make a row per training, checkpoint, benchmark, split and metric.

    Accuracy falls with the square of the distance to the best step, and the calibration error
    grows with the step. Noise is far smaller than the fall from one checkpoint to the next.
    """
    random = np.random.RandomState(8)
    rows = []
    for model, (best, peaks) in MODELS.items():
        for seed, peak in enumerate(peaks, start=1):
            for step in STEPS:
                rows += [
                    (model, f"{model}-run{seed}", f"step={step}.ckpt", benchmark, *values)
                    for benchmark, ease in BENCHMARKS.items()
                    for values in _measure(best + ease, step - peak, step, random)
                ]
    columns = ["model", "training", "checkpoint", "benchmark", "metric", "split", "value"]
    return pd.DataFrame(rows, columns=columns)


def make_best_steps() -> pd.DataFrame:
    """List the step at which each training is best."""
    rows = [
        (model, f"{model}-run{seed}", peak)
        for model, (_, peaks) in MODELS.items()
        for seed, peak in enumerate(peaks, start=1)
    ]
    return pd.DataFrame(rows, columns=["model", "training", "step"])


def render_examples() -> dict[str, str]:
    """Render every file as CSV text, by file name."""
    return {
        "evaluations.csv": make_evaluations().to_csv(index=False, lineterminator="\n"),
        "best_steps.csv": make_best_steps().to_csv(index=False, lineterminator="\n"),
    }


def _measure(
    best: float, distance: int, step: int, random: np.random.RandomState
) -> list[tuple[str, str, float]]:
    values = []
    for split in SPLITS:
        accuracy = best - FALL * distance**2 - (0.02 if split == "test" else 0)
        error = 0.02 + step / 50000
        for metric, value in (("accuracy", accuracy), ("ece", error)):
            values.append((metric, split, round(value + random.normal(0, NOISE), 5)))
    return values


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in render_examples().items():
        (FOLDER / name).write_bytes(text.encode())
