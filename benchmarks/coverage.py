"""How often nominal 95% intervals hold the truth: shapes of noise, seeds, datasets, unequal seeds.

Run by ``make bench``. It takes a quarter of an hour, and gives the same table each time;
``benchmarks/results/coverage.csv`` and ``.md`` keep it. Datasets are fixed, but for the rows of a
superpopulation, where they are drawn anew as well. Where seeds are shared, runs of a seed on all
datasets have a part of their noise in common, and ``unit: auto`` finds out.
``medians.*`` has the medians of datasets' means, ``ranks.*`` the sets of ranks on a new dataset,
simulated and with each dataset of GEO-Bench-2 left out, and ``winners.*`` the corrected score of
the leader of 20 models.
"""

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import special, stats
from shapes import NOISES, SD, SHAPES, FloatArray, Shape

from capmap.analyses.new_dataset import bound_ranks, predict_rank
from capmap.analyses.winners_curse import correct_leader
from capmap.ranking.dependence import correlate_seeds, resolve_unit
from capmap.ranking.estimates import NO_ERROR, Options, bootstrap_model
from capmap.ranking.resampling import Strata, evaluate_runs, stratify_runs
from capmap.ranking.standard_errors import bound_estimate, measure_error
from capmap.rng import make_stream
from capmap.settings.choices import Statistic, Unit
from capmap.tables import write_table

RESULTS = Path(__file__).parent / "results"
GEOBENCH = Path(__file__).parents[2] / "shared/data/geobench/results_and_parameters.csv"
SEEDS, DATASETS = (3, 5, 10), (8, 19, 50)
N_SIMULATIONS, N_BOOTSTRAPS, N_RESAMPLES = 2000, 500, 999
N_MODELS = 20
N_STUDIES = 1000
SCOPES: list[tuple[Unit, int]] = [("runs", 3), ("runs_and_datasets", 1)]
SPREADS = (0.0, 0.2, 5.0, 60.0)
CORRELATIONS = (0.1, 0.3, 0.6)
LEVEL = 0.95


def is_held(
    runs: Sequence[npt.NDArray[np.float64]],
    truth: float,
    *,
    unit: Unit = "runs",
    statistic: Statistic = "iqm",
) -> bool:
    """Whether the calibrated interval of the runs of each dataset holds the truth."""
    names = [f"{place:03d}" for place, own in enumerate(runs) for _ in own]
    strata = stratify_runs(np.concatenate(runs), names)
    return covers(strata, truth, unit=unit, statistic=statistic)


def covers(strata: Strata, truth: float, *, unit: Unit, statistic: Statistic = "iqm") -> bool:
    """Whether the calibrated interval holds the truth."""
    error = measure_error(statistic, strata, unit=unit)
    if error is None:
        raise ValueError("These runs have no interval.")
    low, high = bound_estimate(evaluate_runs(statistic, strata), error, confidence_level=LEVEL)
    return low <= truth <= high


def is_held_by_percentiles(
    runs: Sequence[npt.NDArray[np.float64]], truth: float, rng: np.random.Generator
) -> bool:
    """Whether the percentile interval holds the truth."""
    names = [f"{place:03d}" for place, own in enumerate(runs) for _ in own]
    options = Options(N_RESAMPLES, LEVEL, "percentile")
    strata = stratify_runs(np.concatenate(runs), names)
    [iqm] = bootstrap_model(strata, statistics=["iqm"], options=options, rng=rng)
    return bool(iqm.low <= truth <= iqm.high)


def measure_shape(name: str, datasets: int, seeds: int, *, unequal: bool) -> dict[str, object]:
    """Simulate one shape on fixed datasets."""
    rng = make_stream(0, "coverage", name, str(datasets), str(seeds), str(unequal))
    sizes = np.resize([max(seeds // 2, 1), seeds, 2 * seeds] if unequal else [seeds], datasets)
    held, percentile = [], []
    for number in range(N_SIMULATIONS):
        shape = Shape(name, datasets, rng)
        drawn, truth = shape.draw(int(sizes.max())), shape.average_middle()
        runs = [own[:size] for own, size in zip(drawn, sizes, strict=True)]
        held.append(is_held(runs, truth))
        if number < N_BOOTSTRAPS and name == "normal" and not unequal:
            percentile.append(is_held_by_percentiles(runs, truth, rng))
    return {
        "scope": "these datasets",
        "noise": name + (", unequal seeds" if unequal else ""),
        "seeds": seeds,
        "datasets": datasets,
        "calibrated": np.mean(held),
        "percentile": np.mean(percentile) if percentile else np.nan,
    }


def measure_shared_seeds(correlation: float, datasets: int, seeds: int) -> dict[str, object]:
    """Simulate studies of models whose runs of a seed correlate over the fixed datasets."""
    rng = make_stream(0, "coverage", "shared", str(correlation), str(datasets), str(seeds))
    places = np.indices((N_MODELS, datasets, seeds)).reshape(3, -1)
    names = np.char.mod("%03d", places).astype(object)
    held, clustered = [], []
    for _ in range(N_SIMULATIONS // N_MODELS):
        means = rng.random((N_MODELS, datasets))
        noise = np.sqrt(1 - correlation) * rng.standard_normal((N_MODELS, datasets, seeds))
        noise += np.sqrt(correlation) * rng.standard_normal((N_MODELS, 1, seeds))
        scores = (means[:, :, None] + SD * noise).ravel()
        runs = pd.DataFrame(dict(zip(("model", "dataset", "seed"), names, strict=True)))
        runs = runs.assign(score=scores)
        shared = correlate_seeds(runs).is_found
        unit = resolve_unit("auto", runs, interval="calibrated", shared=shared)
        clustered.append(unit == "seeds")
        for (_, own), truth in zip(runs.groupby("model"), means, strict=True):
            strata = stratify_runs(
                own["score"], own["dataset"].tolist(), seeds=own["seed"].tolist()
            )
            grid = truth[:, None] + SD * special.ndtri((np.arange(200) + 0.5) / 200)
            held.append(covers(strata, float(stats.trim_mean(grid.ravel(), 0.25)), unit=unit))
    return {
        "scope": "these datasets",
        "noise": f"normal, seeds share {correlation:g} ({np.mean(clustered):.0%} found)",
        "seeds": seeds,
        "datasets": datasets,
        "calibrated": np.mean(held),
        "percentile": np.nan,
    }


def measure_median(name: str, datasets: int, seeds: int) -> dict[str, object]:
    """Simulate the median of one shape on fixed datasets."""
    rng = make_stream(0, "coverage", "median", name, str(datasets), str(seeds))
    held = []
    for _ in range(N_SIMULATIONS):
        shape = Shape(name, datasets, rng)
        held.append(is_held(list(shape.draw(seeds)), shape.middle_dataset(), statistic="median"))
    return {"noise": name, "seeds": seeds, "datasets": datasets, "calibrated": np.mean(held)}


def measure_superpopulation(layout: str, datasets: int, seeds: int) -> dict[str, object]:
    """Simulate the mean over datasets drawn from all such datasets, with new runs."""
    rng = make_stream(0, "coverage", "superpopulation", layout, str(datasets), str(seeds))
    held = []
    for _ in range(N_SIMULATIONS):
        means, truth = rng.random(datasets), 0.5
        if layout == "easy and hard":
            # Three in ten are near 0.2, the others near 0.8.
            means = np.where(means < 0.3, 0.2, 0.8) + 0.05 * rng.standard_normal(datasets)
            truth = 0.3 * 0.2 + 0.7 * 0.8
        runs = means[:, None] + 0.05 * rng.standard_normal((datasets, seeds))
        held.append(is_held(list(runs), truth, unit="runs_and_datasets", statistic="mean"))
    return {
        "scope": "datasets like these",
        "noise": f"normal, {layout}",
        "seeds": seeds,
        "datasets": datasets,
        "calibrated": np.mean(held),
        "percentile": np.nan,
    }


def hold_ranks(means: FloatArray, left_out: int) -> list[FloatArray]:
    """Whether the set of each model holds its ranks on a dataset left out, and how wide it is."""
    low, high = bound_ranks(means)
    sets = [
        predict_rank(*np.delete(own, left_out, axis=1), models=len(means), confidence_level=0.9)
        for own in zip(low, high, strict=True)
    ]
    best, worst = np.array(sets, dtype=np.float64).T
    return [(best <= low[:, left_out]) & (high[:, left_out] <= worst), worst - best + 1]


def measure_new_dataset(name: str, spread: float, models: int, datasets: int) -> dict[str, object]:
    """Simulate models with levels at even distances, or leave out each dataset of real runs."""
    about = {"noise": name, "spread": spread, "models": models, "datasets": datasets}
    if name in NOISES:
        rng = make_stream(0, "coverage", "ranks", *map(str, about.values()))
        shares = rng.random((N_STUDIES, models, datasets + 1))
        drawn = np.linspace(0, spread, models)[:, None] + NOISES[name](shares)
        found = [hold_ranks(means, datasets) for means in drawn]
    else:
        cells = pd.read_csv(GEOBENCH).pivot_table("test metric", "backbone", "dataset").dropna()
        found = [hold_ranks(cells.to_numpy(), place) for place in range(datasets + 1)]
    held, width = np.mean(found, axis=0)
    return about | {"covered": held.mean(), "worst model": held.min(), "width": width.mean()}


def measure_winner(scope: tuple[Unit, int], datasets: int, spread: float) -> dict[str, object]:
    """Simulate 20 models; the worst is `spread` standard errors below the best."""
    unit, seeds = scope
    about = {"unit": unit, "datasets": datasets, "seeds": seeds, "spread": spread}
    rng, found = make_stream(0, "coverage", "winner", *map(str, about.values())), []
    names = np.repeat(np.arange(datasets), seeds).astype(str).tolist()
    # How well a dataset suits a model; its mean over such datasets, and the IQM, is the truth.
    statistic: Statistic = "iqm" if unit == "runs" else "mean"
    sd = 0.0 if unit == "runs" else 2 * SD
    step = np.sqrt((sd**2 if sd else 2 * SD**2 / seeds) / datasets) / (N_MODELS - 1)
    levels = spread * step * np.arange(N_MODELS)
    for _ in range(N_SIMULATIONS):
        shape, rows = Shape("normal", datasets, rng), []
        for level in levels:
            runs = level + sd * rng.standard_normal((datasets, 1)) + shape.draw(seeds)
            strata = stratify_runs(runs.ravel(), names)
            error = measure_error(statistic, strata, unit=unit) or NO_ERROR
            parts = () if error.parts is None else error.parts
            rows.append((evaluate_runs(statistic, strata), error.value, error.freedom, parts))
        models = pd.DataFrame(rows, columns=["estimate", "standard_error", "freedom", "parts"])
        own = correct_leader(
            models.assign(model=models.index, statistic=statistic, filled=0), LEVEL
        )
        truth = levels[own["model"]] + (shape.average_middle() if unit == "runs" else 0.5)
        _, value, freedom, _ = rows[own["model"]]
        bonferroni = 2 * value * special.stdtrit(freedom, 1 - (1 - LEVEL) / 2 / N_MODELS)
        width = (own["ci_high"] - own["ci_low"]) / bonferroni
        found.append((own["ci_low"] <= truth <= own["ci_high"], own["estimate"] > truth, width))
    held, above, width = np.mean(found, axis=0)
    return about | {"covered": held, "estimate above": above, "width / Bonferroni": width}


if __name__ == "__main__":
    rows = [
        measure_shape(name, datasets, seeds, unequal=False)
        for name, seeds, datasets in product(SHAPES, SEEDS, DATASETS)
    ]
    rows += [
        measure_shape("normal", datasets, seeds, unequal=True)
        for seeds, datasets in product(SEEDS, DATASETS)
    ]
    rows += [
        measure_shared_seeds(correlation, datasets, seeds)
        for correlation, seeds, datasets in product(CORRELATIONS, SEEDS, DATASETS)
    ]
    rows += [
        measure_superpopulation(*cell)
        for cell in product(("uniform", "easy and hard"), DATASETS, (1, *SEEDS))
    ]
    medians = [measure_median(*cell) for cell in product(SHAPES, DATASETS[:2], SEEDS[:2])]
    cells = [*product(NOISES, (0.0, 3.0), (5, 20), (9, 12, 19))]
    cells += [("GEO-Bench-2", np.nan, 14, 18)] if GEOBENCH.is_file() else []
    ranks = [measure_new_dataset(*cell) for cell in cells]
    winners = [measure_winner(*cell) for cell in product(SCOPES, (8, 19), SPREADS)]
    tables = {"coverage": rows, "medians": medians, "ranks": ranks, "winners": winners}
    for name, made in tables.items():
        table = pd.DataFrame(made)
        write_table(table, [RESULTS / f"{name}.csv"])
        sys.stdout.write(table.to_string(index=False))
