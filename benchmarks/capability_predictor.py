"""Errors of what predicts gaps, and coverage and width of its intervals, on three tables.

A sparse literature database, a table of 121 models on 38 datasets, and a simulated dense table of
low rank. Squared errors are those of the factors, of plain L2 distances and of additive effects on
the same hidden results; intervals are those of results that are predicted as if nobody had run
them.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from capmap.capabilities.crossvalidation import (
    PROTOCOLS,
    Split,
    cover_groups,
    crossvalidate,
    hide_results,
    hide_unseen,
    share_family,
)
from capmap.capabilities.embedding import draw_start, predict_by_distance
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import (
    Results,
    arrange_results,
    explain_dropped,
    order_by_names,
)
from capmap.exports import read_exports
from capmap.exports.records import FileOptions
from capmap.rng import make_stream
from capmap.tables import write_table
from workflow import PROJECT, RESULTS

SHARED = PROJECT.parent / "shared/data"
SHARES = (0.1, 0.2, 0.4, 0.6)
FOLDS, HIDDEN = 10, 40
SIZES = (0, 4, 7, 11, 21)


class Table(NamedTuple):
    """Results, and what is known of their models and datasets."""

    name: str
    results: Results
    models: pd.DataFrame
    datasets: pd.DataFrame


def read_literature() -> Table:
    """The literature database with its attributes."""
    folder = SHARED / "capabilities"
    exports = read_exports(
        [str(folder / "data.csv")],
        layout="matrix",
        options=FileOptions(header_rows=2),
        columns={"model": "dataset / variant"},
        metric="accuracy",
    )
    cells = exports.runs[["model", "dataset", "score"]]
    results = arrange_results(cells[explain_dropped(cells, min_results=5) == ""])
    names = {
        "Model": "model",
        "Architecture": "architecture",
        "Parameters (M)": "parameters",
        "Publication Date": "date",
    }
    models = pd.read_csv(folder / "models.csv").rename(columns=names).drop_duplicates("model")
    models["date"] = pd.to_datetime(models["date"], format="%d/%m/%Y")
    types = pd.read_csv(folder / "tasks.csv").set_index("Dataset")["task"]
    families = [name.split(" / ")[0] for name in results.datasets]
    datasets = pd.DataFrame({"dataset": results.datasets, "family": families})
    own = datasets["dataset"].map(types)
    datasets["type"] = own.where(own.notna(), datasets["family"].map(types))
    return Table("literature", results, models, datasets)


def read_openclip() -> Table:
    """Accuracies of contrastive models, with their architectures and sizes."""
    wide = pd.read_csv(SHARED / "openclip/openclip_results.csv")
    wide.insert(0, "model", wide["name"] + " " + wide["pretrained"].astype(str))
    scores = wide[["model", *wide.columns[6:]]].melt(
        "model", var_name="dataset", value_name="score"
    )
    results = arrange_results(scores.dropna())
    models = wide[["model", "name", "params (M)"]].drop_duplicates("model")
    models.columns = pd.Index(["model", "architecture", "parameters"])
    return Table("openclip", results, models, pd.DataFrame({"dataset": results.datasets}))


def simulate_dense(models: int = 120, datasets: int = 60, rank: int = 6) -> Table:
    """Accuracies of low rank with noise of 0.02."""
    rng = make_stream(0, "bench", "dense")
    x = rng.normal(size=(models, rank)) * 0.6 ** np.arange(rank)
    scores = 0.55 + 0.08 * x @ rng.normal(size=(rank, datasets))
    scores += 0.12 * rng.normal(size=(models, 1)) + 0.15 * rng.normal(size=datasets)
    scores = (scores + 0.02 * rng.normal(size=scores.shape)).clip(0, 1)
    rows, columns = np.indices(scores.shape)
    cells = {"model": [f"m{row:03d}" for row in rows.ravel()], "score": scores.ravel()}
    cells["dataset"] = [f"d{column:03d}" for column in columns.ravel()]
    results = arrange_results(pd.DataFrame(cells))
    names = pd.DataFrame({"model": results.models}), pd.DataFrame({"dataset": results.datasets})
    return Table("dense", results, *names)


def list_splits(table: Table, splits: int) -> Iterator[tuple[str, int, Split]]:
    """What is hidden in each split of a table: a share, or 40 results by the report's protocols."""
    results, families = table.results, table.datasets.get("family", pd.Series(dtype=str)).tolist()
    for number in range(splits):
        rng = make_stream(0, "bench", table.name, str(number))
        share = SHARES[number % len(SHARES)]
        hidden = rng.permutation(len(results.gaps)) < share * len(results.gaps)
        yield f"{share:.0%}", number, hide_results(results, hidden)
        for protocol in PROTOCOLS if families else ():
            rng = make_stream(0, "bench", table.name, str(number), "protocols")
            hidden = np.isin(np.arange(len(hidden)), order_by_names(results, rng)[:HIDDEN])
            own = share_family(results, hidden, families) if protocol == "family" else hidden
            yield protocol, number, hide_results(results, hidden, ~own)


def measure_errors(table: Table, splits: int) -> pd.DataFrame:
    """Mean squared errors of each method over the splits."""
    attributes = gather_attributes(table.results, table.models, table.datasets)
    start = draw_start(table.results, dimension=5, seed=0, study="bench")
    rows = []
    for hidden, number, split in list_splits(table, splits):
        rng = make_stream(0, "bench", "fit", str(number))
        found = crossvalidate([split], attributes, rng=rng)
        predicted = {
            "factors": found["prediction"].to_numpy(),
            "l2": predict_by_distance("l2", start, *split),
            "additive": found["additive"].to_numpy(),
        }
        for name, own in predicted.items():
            error = float(np.mean((own - split.test.gaps) ** 2))
            rows.append((table.name, hidden, number, name, error))
    errors = pd.DataFrame(rows, columns=["table", "hidden", "split", "method", "mse"])
    wide = errors.pivot_table(index=["table", "hidden"], columns="method", values="mse")
    counts = errors.groupby(["table", "hidden"])["split"].nunique().rename("splits")
    return wide[["factors", "l2", "additive"]].join(counts).reset_index()


def predict_unseen(table: Table) -> pd.DataFrame:
    """Hide each tenth of all results, and most of some models', and predict them as unseen ones."""
    results = table.results
    attributes = gather_attributes(results, table.models, table.datasets)
    rng = make_stream(0, "bench", table.name, "unseen")
    places = rng.permutation(len(results.gaps)) % FOLDS
    # A sparse half of the results of each model in each fold leaves models with few results too.
    sparse = rng.permutation(len(results.models)) % 2 == 0
    found = []
    for share in (1.0, 0.4, 0.15):
        kept = rng.random(len(results.gaps)) < np.where(sparse[results.rows], share, 1.0)
        splits = [hide_unseen(results.choose(kept), places[kept] == fold) for fold in range(FOLDS)]
        known = crossvalidate(splits, attributes, rng=make_stream(0, "bench", "intervals"))
        groups = known["split"].to_numpy()
        low, high = cover_groups(known, groups)
        counts = np.concatenate([train.per_model[test.rows] for train, test in splits])
        found.append(
            pd.DataFrame({"truth": known["truth"], "low": low, "high": high, "known": counts})
        )
    return pd.concat(found, ignore_index=True)


def summarize_intervals(table: Table, predicted: pd.DataFrame) -> pd.DataFrame:
    """Coverage and width of intervals by the number of known results of the model."""
    tiny = 1e-12
    covered = predicted["truth"].between(predicted["low"] - tiny, predicted["high"] + tiny)
    own = predicted.assign(covered=covered, width=predicted["high"] - predicted["low"])
    labels = [f"from {size}" for size in SIZES]
    classes = pd.cut(own["known"], [*SIZES, np.inf], right=False, labels=labels).astype(str)
    groups = [("all", own), *own.groupby(classes)]
    rows = [
        (table.name, name, len(part), part["covered"].mean(), part["width"].mean())
        for name, part in groups
    ]
    names = ["table", "known results of the model", "predictions", "coverage", "width"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def main() -> None:
    """Measure and write benchmarks/results/capability_{predictor,intervals}.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=24)
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"Nothing is measured: there is no {SHARED}.")
    read = [read_literature(), read_openclip(), simulate_dense()]
    found = {
        "capability_intervals": [summarize_intervals(own, predict_unseen(own)) for own in read],
        "capability_predictor": [measure_errors(own, arguments.splits) for own in read],
    }
    for name, tables in found.items():
        table = pd.concat(tables, ignore_index=True)
        write_table(table, [RESULTS / f"{name}.csv"])
        sys.stdout.write(table.to_string(index=False))


if __name__ == "__main__":
    main()
