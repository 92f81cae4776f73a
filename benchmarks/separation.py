"""How often intervals of dimensions hold the truth, and how often equal entries are told apart.

Means and spreads of the cells are those of the real submission; the noise is normal, with 5 seeds.
Run by ``make bench`` where the shared files are. It takes a minute and gives the same table each
time; ``benchmarks/results/separation.csv`` and ``.md`` keep it.
"""

import sys
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json
from capmap.benchmarks import read_benchmark
from capmap.ranking.models import Options, bootstrap_model
from capmap.ranking.rank_sets import SamplingErrors, find_rank_sets
from capmap.rng import make_stream
from capmap.settings.choices import IntervalMethod
from capmap.tables import write_table

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
EXPORT = ROOT.parent / "shared/data/geobench"
SEEDS, REPLICATES, PAIRS, LEVEL = 5, 400, 1200, 0.95
KINDS: tuple[IntervalMethod, ...] = ("percentile", "calibrated")


@cache
def read_cells() -> pd.DataFrame:
    """Mean and standard deviation of the normalized scores of each model on each dataset."""
    runs = pd.read_csv(EXPORT / "results_and_parameters.csv")
    bounds = read_json(EXPORT / "normalizer.json")
    low, high = (
        runs["dataset"].map({name: pair[i] for name, pair in bounds.items()}) for i in (0, 1)
    )
    runs["score"] = (runs["test metric"] - low) / (high - low)
    return runs.groupby(["backbone", "dataset"])["score"].agg(["mean", "std"])


def draw_scores(
    model: str, datasets: list[str], n: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Scores of a model, shape (datasets, n)."""
    cells = read_cells().loc[[(model, dataset) for dataset in datasets]].to_numpy()
    return cells[:, :1] + cells[:, 1:] * rng.normal(size=(len(datasets), n))


def simulate(
    name: str, datasets: list[str], models: list[str], kind: IntervalMethod
) -> dict[str, object]:
    """Coverage, and how often two equal entries are separated."""
    rng = make_stream(0, "separation", name, kind)
    options = Options(REPLICATES, LEVEL, kind, "runs", "datasets")
    middle = slice(len(datasets) * 1000, len(datasets) * 3000)
    truths = {
        model: np.sort(draw_scores(model, datasets, 4000, rng).ravel())[middle].mean()
        for model in models
    }
    strata = np.repeat(datasets, SEEDS).tolist()
    hits = separated = 0
    for number in range(PAIRS):
        model = models[number % len(models)]
        pair = [
            bootstrap_model(
                draw_scores(model, datasets, SEEDS, rng).ravel(),
                strata,
                statistics=["iqm"],
                options=options,
                rng=rng,
            )[0]
            for _ in range(2)
        ]
        hits += sum(one.low <= truths[model] <= one.high for one in pair)
        found = [one.error for one in pair if one.error]
        errors = SamplingErrors(
            np.array([error.value**2 for error in found]),
            np.array([error.freedom for error in found]),
        )
        scores = np.array([one.estimate for one in pair])
        sets = find_rank_sets(scores, errors, confidence_level=LEVEL)
        separated += int(sets.high_all.min() == 1)
    return {
        "dimension": name,
        "datasets": len(datasets),
        "interval": kind,
        "coverage": hits / (2 * PAIRS),
        "separated": separated / PAIRS,
    }


def main() -> None:
    """Simulate three dimensions and one dataset, and keep the table."""
    if not EXPORT.is_dir():
        sys.exit(0)
    cells = read_cells()
    counts = cells.index.get_level_values(0).value_counts()
    models = sorted(counts.index[counts == counts.max()])
    everything = sorted(cells.index.get_level_values(1).unique())
    known = read_benchmark(str(ROOT / "data/benchmarks/geobench2.yaml")).dimensions
    dimensions = {
        "All": everything,
        **{name: known[name] for name in ("Core", "Multi-Temporal")},
        "one dataset": everything[:1],
    }
    rows = [
        simulate(name, sorted(datasets), models, kind)
        for name, datasets in dimensions.items()
        for kind in KINDS
    ]
    write_table(pd.DataFrame(rows), [RESULTS / f"separation.{suffix}" for suffix in ("csv", "md")])


if __name__ == "__main__":
    main()
