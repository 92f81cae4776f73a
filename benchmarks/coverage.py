"""How often nominal 95% intervals hold the truth: all shapes, two kinds of noise, its amount.

Run by ``make bench``. It takes a few minutes, and gives
the same table each time; ``benchmarks/results/coverage.csv`` and ``.md`` keep it.
"""

from itertools import product
from pathlib import Path

import pandas as pd

from capmap.ranking.coverage import NOISE_SD, Noise, simulate_coverage
from capmap.tables import render_markdown, write_table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
SEEDS = (3, 5, 10)
DATASETS = (8, 19, 50)
NOISES: tuple[Noise, ...] = ("normal", "exponential")
OTHER_SDS = (0.01, 0.2)
N_SIMULATIONS = 4000
N_RESAMPLES = 999


def measure_coverage() -> pd.DataFrame:
    """Simulate every shape with both kinds of noise, and some shapes with other amounts of it."""
    settings = [
        *product(NOISES, [NOISE_SD], SEEDS, DATASETS),
        *product(NOISES, OTHER_SDS, SEEDS, [19]),
    ]
    return pd.DataFrame([measure_setting(*setting) for setting in settings])


def measure_setting(noise: Noise, sd: float, seeds: int, datasets: int) -> dict[str, object]:
    """Simulate one shape."""
    coverage = simulate_coverage(
        datasets=datasets,
        seeds=seeds,
        noise=noise,
        noise_sd=sd,
        n_simulations=N_SIMULATIONS,
        n_resamples=N_RESAMPLES,
    )
    return {
        "noise": noise,
        "sd": sd,
        "seeds": seeds,
        "datasets": datasets,
        "percentile": coverage.percentile,
        "calibrated": coverage.calibrated,
        "simulations": N_SIMULATIONS,
    }


if __name__ == "__main__":
    table = measure_coverage()
    write_table(table, [RESULTS / "coverage.csv", RESULTS / "coverage.md"])
    print(render_markdown(table))
