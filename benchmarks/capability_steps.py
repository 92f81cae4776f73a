"""Time of each step of a capability analysis as results grow, and the memory of the process.

Settings are the defaults. A cross-validation has five methods in six numbers of dimensions, of
which those in five are timed; the factors of the ensemble are one step for all. Each size runs in a
process of its own; times are those of the processor, and memory is the most that the process had
held after the step.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from capmap.artifacts import write_parquet
from capmap.capabilities.choice_replay import replay_choices
from capmap.capabilities.embedding import embed_models
from capmap.capabilities.fold_factors import crossvalidate_embedding, crossvalidate_factors
from capmap.capabilities.gaps import tabulate_gaps
from capmap.capabilities.placement_replay import replay_few_results
from capmap.capabilities.predictions import place_few_results, predict_cells
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import RESULTS

SIZES = [(45, 92, 820), (300, 180, 5000), (1000, 500, 50_000), (662, 1555, 100_000)]
RANK = 6
NO_COLUMNS = {"name": "", "type": "", "family": ""}
FIT = {"study": "growth", "method": "ensemble", "dimension": 5, "n_starts": 2, "seed": 0}


def simulate_scores(models: int, datasets: int, count: int) -> pd.DataFrame:
    """Scores of low rank with noise, of which models and datasets have unequal numbers."""
    rng = make_stream(0, "benchmarks", "capabilities", str(models), str(datasets), str(count))
    factors = rng.normal(size=(models, RANK)) * 0.7 ** np.arange(RANK)
    scores = 0.6 + 0.08 * factors @ rng.normal(size=(RANK, datasets))
    scores += 0.1 * rng.normal(size=(models, 1)) + 0.12 * rng.normal(size=datasets)
    scores = (scores + 0.02 * rng.normal(size=scores.shape)).clip(0, 1)
    chances = np.outer(rng.gamma(2, size=models) + 0.3, rng.gamma(2, size=datasets) + 0.3).ravel()
    order = np.log(chances) + rng.gumbel(size=len(chances))
    rows, columns = np.divmod(np.sort(np.argsort(-order)[:count]), datasets)
    names = [f"model {number:04d}" for number in range(models)]
    others = [f"dataset {number:04d}" for number in range(datasets)]
    return pd.DataFrame(
        {
            "model": np.array(names)[rows],
            "dataset": np.array(others)[columns],
            "metric": "accuracy",
            "score": scores[rows, columns],
        }
    )


def list_steps(cells: pd.DataFrame, folder: Path) -> dict[str, Callable[[], object]]:
    """What is timed, in order."""
    datasets = pd.DataFrame({"dataset": sorted(set(cells["dataset"])), "metric": "accuracy"})
    bounds = datasets.assign(direction="max", low=0.0, high=1.0)
    gaps = tabulate_gaps(cells, bounds, min_results=5)
    datasets = datasets.assign(family=datasets["dataset"])
    models = pd.DataFrame({"model": sorted(set(cells["model"]))})
    found: dict[str, Any] = {}

    def embed() -> None:
        found["fits"] = embed_models(gaps, **FIT)["fits"]  # type: ignore[arg-type]

    splits: Any = {"study": FIT["study"], "seed": FIT["seed"], "n_splits": 10, "held_out": 10}

    def crossvalidate_members() -> None:
        table = crossvalidate_factors(gaps, models, datasets, **splits)["factor_fits"]
        write_parquet(folder / "factors.parquet", table)

    def crossvalidate(method: str) -> None:
        factors = [str(folder / "factors.parquet")] if method == "ensemble" else []
        crossvalidate_embedding(gaps, datasets, factors, **(FIT | splits | {"method": method}))

    level: Any = FIT | {"confidence_level": 0.9}

    def predict() -> None:
        predict_cells(gaps, found["fits"], models, datasets, bounds, **level)

    return {
        "embed_models": embed,
        "predict_scores": predict,
        "crossvalidate_factors": crossvalidate_members,
        **{
            f"crossvalidate {method}": partial(crossvalidate, method)
            for method in ("ensemble", "l2", "cosine", "poincare", "bilinear")
        },
        "place_models": lambda: place_few_results(gaps, found["fits"], bounds, **level),
        "replay_placements": lambda: replay_few_results(gaps, models, datasets, **level),
        "replay_choices": lambda: replay_choices(
            gaps, models, datasets, [], **level, dataset_attributes=NO_COLUMNS, renamed={}
        ),
    }


def measure_steps(models: int, datasets: int, count: int) -> None:
    """Write a line of JSON after each step."""
    cells = simulate_scores(models, datasets, count)
    with tempfile.TemporaryDirectory() as folder:
        for step, run in list_steps(cells, Path(folder)).items():
            before = time.process_time()
            run()
            row = {
                "models": models,
                "datasets": datasets,
                "results": count,
                "step": step,
                "seconds": round(time.process_time() - before, 1),
                "MiB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
            }
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()


def main() -> None:
    """Measure and write benchmarks/results/capability_steps.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="*", type=int, help="models, datasets and results")
    size = parser.parse_args().size
    if size:
        measure_steps(*size)
        return
    lines = [
        subprocess.check_output([sys.executable, __file__, *map(str, size)], text=True)
        for size in SIZES
    ]
    table = pd.DataFrame(map(json.loads, "".join(lines).splitlines()))
    write_table(table, [RESULTS / "capability_steps.csv", RESULTS / "capability_steps.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
