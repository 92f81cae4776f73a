"""Errors of the capability embedding on a sparse literature database, and what a fit costs.

Many splits by the protocols of the report: random results hidden, their bounds hidden too, families
hidden. The authors' own code (JAX, 500 Adam steps) took 1.3 to 1.7 s per fit on such a machine, at
validation errors of 0.065 (L2, 5-D), 0.068 (Poincaré, 5-D) and 0.089 (cosine, 15-D) over 20 splits
of the same database.
"""

import argparse
import sys
import time

import numpy as np
import pandas as pd

from capmap.capabilities.baselines import BASELINES
from capmap.capabilities.crossvalidation import PROTOCOLS, Split, measure_errors, split_results
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts, predict_gaps
from capmap.capabilities.gaps import Results, arrange_results, explain_dropped
from capmap.exports import read_exports
from capmap.exports.files import FileOptions
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import PROJECT, RESULTS

DATABASE = PROJECT.parent / "shared/data/capabilities/data.csv"
SIZES = [("l2", 5), ("ensemble", 5), ("poincare", 5), ("cosine", 5), ("cosine", 15)]
AUTHORS_SECONDS = 1.3
STARTS = 2


def read_results() -> Results:
    """The results of the database that are enough."""
    exports = read_exports(
        [str(DATABASE)],
        layout="matrix",
        options=FileOptions(header_rows=2),
        columns={"model": "dataset / variant"},
        metric="accuracy",
    )
    cells = exports.runs[["model", "dataset", "score"]]
    return arrange_results(cells[explain_dropped(cells, min_results=5) == ""])


def measure_split(split: Split, starts: dict[int, list[np.ndarray]]) -> list[dict[str, object]]:
    """Errors of every method on one split, and the seconds of one fit."""
    rows: list[dict[str, object]] = []
    for name, dimension in SIZES:
        before = time.perf_counter()
        fits = fit_starts(split.train, METHODS[name], starts=starts[dimension])
        seconds = (time.perf_counter() - before) / len(fits)
        known = predict_gaps(fits, split.train.rows, split.train.columns)
        hidden = split.restore(predict_gaps(fits, split.test.rows, split.test.columns))
        errors = measure_errors(split.test.gaps, hidden)
        train = measure_errors(split.train.gaps, known)["mse"]
        rows.append(
            {"method": f"{name}, {dimension}-D", "train": train, "seconds": seconds, **errors}
        )
    for name, fit in BASELINES.items():
        hidden = split.restore(fit(split.train).predict(split.test.rows, split.test.columns))
        rows.append({"method": name, **measure_errors(split.test.gaps, hidden)})
    return rows


def measure_protocol(results: Results, protocol: str, splits: int) -> pd.DataFrame:
    """Mean errors over splits, and the paired difference from plain L2 in percent."""
    starts = {
        dimension: draw_starts(results, dimension=dimension, starts=STARTS, seed=0, study="bench")
        for dimension in {dimension for _, dimension in SIZES}
    }
    families = [name.split(" / ")[0] for name in results.datasets]
    rows = []
    for number in range(splits):
        split = split_results(
            results,
            protocol=protocol,  # type: ignore[arg-type]
            families=families,
            held_out=10,
            rng=make_stream(0, "bench", "split", str(number)),
        )
        rows += [{"split": number, **row} for row in measure_split(split, starts)]
    table = pd.DataFrame(rows)
    errors = table.pivot_table(index="split", columns="method", values="mse")
    plain = errors["l2, 5-D"]
    change = 100 * errors.sub(plain, axis=0) / plain.mean()
    half = 1.96 * change.std() / np.sqrt(splits)
    seconds = table.groupby("method", sort=False)["seconds"].median()
    means = table.groupby("method", sort=False)[["train", "mse", "mae", "pearson"]].mean()
    return means.assign(
        change=change.mean(),
        change_low=change.mean() - half,
        change_high=change.mean() + half,
        milliseconds=1000 * seconds,
        speedup=AUTHORS_SECONDS / seconds,
    ).reset_index()


def main() -> None:
    """Measure and write benchmarks/results/capabilities.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=250)
    arguments = parser.parse_args()
    if not DATABASE.is_file():
        sys.exit(f"Nothing is measured: there is no {DATABASE}.")
    results = read_results()
    parts = []
    for protocol in PROTOCOLS:
        part = measure_protocol(results, protocol, arguments.splits)
        part.insert(0, "protocol", protocol)
        part.insert(2, "splits", arguments.splits)
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    write_table(table, [RESULTS / "capabilities.csv", RESULTS / "capabilities.md"])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
