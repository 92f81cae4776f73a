"""How fast the bootstrap is: against evaluma, against the floor, and as the data grow.

Run by ``make bench``. All figures are medians of several runs in one process with one thread;
ratios carry over to other machines, times do not. The floor is the time that drawing the same
number of random indices takes. The table is written to ``benchmarks/results/bootstrap.csv`` and
``.md``.
"""

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
from evaluma import load_df

from capmap.ranking.estimates import Options, bootstrap_model
from capmap.ranking.resampling import stratify_runs
from capmap.rng import make_stream
from capmap.tables import write_table

Row = dict[str, object]

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results"
EXPORT = ROOT.parent / "shared/data/geobench/results_and_parameters.csv"
COLUMNS = {"backbone": "model", "dataset": "dataset", "test metric": "score", "Seed": "seed"}
SHAPE = {"models": 14, "datasets": 19, "seeds": 5}
N_RESAMPLES = 10_000
PEER_RESAMPLES = 20
REPEATS = 5
GROWTH = {
    "models": (4, 8, 16, 32, 64),
    "datasets": (10, 40, 160, 640),
    "seeds": (3, 5, 10, 20, 40, 80),
    "n_resamples": (10_000, 20_000, 40_000, 80_000),
}


def tell(figure: str, value: float, unit: str) -> Row:
    """A row of the table of results."""
    return {"figure": figure, "value": value, "unit": unit}


def read_runs() -> tuple[str, pd.DataFrame]:
    """The complete models of the real export, or made-up runs of the same shape."""
    if not EXPORT.is_file():
        return "made-up runs", make_runs(**SHAPE)
    runs = pd.read_csv(EXPORT, usecols=list(COLUMNS)).rename(columns=COLUMNS)
    cells = runs.groupby("model")["dataset"].transform("nunique")
    return "GEO-Bench-2 export", runs[cells == cells.max()].reset_index(drop=True)


def make_runs(*, models: int, datasets: int, seeds: int) -> pd.DataFrame:
    """Random runs of a shape."""
    names = [
        [f"{kind}{place}" for place in range(n)]
        for kind, n in zip("md", (models, datasets), strict=True)
    ]
    index = pd.MultiIndex.from_product([*names, range(seeds)], names=["model", "dataset", "seed"])
    scores = make_stream(0, "benchmark").random(len(index))
    return index.to_frame(index=False).assign(score=scores)


def bootstrap_all(runs: pd.DataFrame, *, n_resamples: int = N_RESAMPLES) -> None:
    """Interquartile means of all models with percentile intervals."""
    options = Options(n_resamples=n_resamples)
    for model, own in runs.groupby("model"):
        bootstrap_model(
            stratify_runs(own["score"], own["dataset"].tolist()),
            statistics=["iqm"],
            options=options,
            rng=make_stream(0, "benchmark", str(model)),
        )


def draw_indices(runs: pd.DataFrame, *, n_resamples: int = N_RESAMPLES) -> None:
    """Only draw the random indices of as many resamples, in blocks that stay in cache."""
    rng = make_stream(0, "benchmark")
    for _, own in runs.groupby("model"):
        for size in own.groupby("dataset").size():
            for _ in range(0, n_resamples, 5000):
                rng.integers(size, size=(min(n_resamples, 5000), size))


def measure(*works: Callable[[], object], repeats: int = REPEATS) -> list[list[float]]:
    """Seconds of several runs of each piece of work, taken in turns after one to warm up."""
    seconds: list[list[float]] = [[] for _ in works]
    for repeat in range(repeats + 1):
        for work, times in zip(works, seconds, strict=True):
            start = perf_counter()
            work()
            if repeat:
                times.append(perf_counter() - start)
    return seconds


def divide(dividends: list[float], divisors: list[float]) -> float:
    """Median ratio of times that were taken in turns."""
    return median(one / other for one, other in zip(dividends, divisors, strict=True))


def compare() -> list[Row]:
    """Time per replicate against the peer and the floor."""
    name, runs = read_runs()
    bench = load_df(
        runs.assign(metric="accuracy"), seed="seed", norm_ref_low=0.0, norm_ref_high=1.0
    )
    ours, thrice, floor, few, many = measure(
        partial(bootstrap_all, runs),
        partial(bootstrap_all, runs, n_resamples=3 * N_RESAMPLES),
        partial(draw_indices, runs),
        partial(bench.iqm_ranking, n_bootstrap=PEER_RESAMPLES, random_state=0),
        partial(bench.iqm_ranking, n_bootstrap=3 * PEER_RESAMPLES, random_state=0),
    )
    # What either takes before its first replicate is not counted.
    peer = [(more - less) / (2 * PEER_RESAMPLES) for more, less in zip(many, few, strict=True)]
    each = [(more - less) / (2 * N_RESAMPLES) for more, less in zip(thrice, ours, strict=True)]
    return [
        tell(f"time per replicate, {name}, all models", median(each) * 1e6, "µs"),
        tell("evaluma 0.3.0 / capmap, per replicate", divide(peer, each), "ratio"),
        tell("capmap / floor", divide(ours, floor), "ratio"),
    ]


def compare_shapes() -> list[Row]:
    """Time against the floor for models with more runs."""
    rows: list[Row] = []
    for datasets, seeds in ((19, 3), (19, 10), (26, 100), (10, 500), (1000, 5)):
        runs = make_runs(models=1, datasets=datasets, seeds=seeds)
        n = max(N_RESAMPLES * SHAPE["datasets"] // (datasets * seeds), 4000)
        ours, floor = measure(
            partial(bootstrap_all, runs, n_resamples=n), partial(draw_indices, runs, n_resamples=n)
        )
        figure = f"capmap / floor, {datasets} datasets x {seeds} seeds"
        rows.append(tell(figure, divide(ours, floor), "ratio"))
    return rows


def measure_growth() -> list[Row]:
    """Exponents of time in each dimension, the others as in the real export."""
    rows: list[Row] = []
    for dimension, sizes in GROWTH.items():
        times = [measure_size(dimension, size) for size in sizes]
        exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        figure = f"growth over {dimension}, {sizes[0]} to {sizes[-1]}"
        rows.append(tell(figure, float(exponent), "exponent"))
    return rows


def measure_size(dimension: str, size: int) -> float:
    """Time with one dimension changed."""
    shape = SHAPE | {dimension: size}
    n_resamples = shape.pop("n_resamples", 4000)
    runs = make_runs(**shape | ({} if dimension == "models" else {"models": 2}))
    [times] = measure(partial(bootstrap_all, runs, n_resamples=n_resamples))
    return median(times)


def measure_memory() -> list[Row]:
    """Peak of allocated memory for models of growing size."""
    rows: list[Row] = []
    for datasets, seeds in ((19, 5), (26, 100), (5000, 5)):
        runs = make_runs(models=1, datasets=datasets, seeds=seeds)
        tracemalloc.start()
        bootstrap_all(runs, n_resamples=2000)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        figure = f"peak memory, {datasets} datasets x {seeds} seeds"
        rows.append(tell(figure, peak, "MiB"))
    return rows


if __name__ == "__main__":
    table = pd.DataFrame([*compare(), *compare_shapes(), *measure_growth(), *measure_memory()])
    write_table(table, [RESULTS / "bootstrap.csv"])
    print(table.to_string(index=False))
