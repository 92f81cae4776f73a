"""Errors of what predicts gaps, and coverage and width of its intervals, on three tables.

A sparse literature database (by the protocols of the report), a table of 121 models on 38 datasets
of which 10 to 90% are hidden, and a simulated table of accuracies of low rank with noise. Errors
are compared with those of the mean of the distances, which was the recommended predictor before,
and with soft-impute on additive residuals (Mazumder, Hastie and Tibshirani 2010), whose shrinkage
is chosen by results hidden from it.
"""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from capabilities import read_results
from scipy.stats import binom

from capmap.capabilities.baselines import Additive, fit_additive
from capmap.capabilities.crossvalidation import (
    PROTOCOLS,
    Predict,
    Split,
    bound_split,
    split_results,
)
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts, predict_gaps
from capmap.capabilities.factors import Pairs, gather_attributes
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.halves import Fitting
from capmap.capabilities.predictions import predict_scores
from capmap.capabilities.stacking import fit_stack_factors, predict_stack
from capmap.ranking.aggregation import FloatArray
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import PROJECT, RESULTS

SHARED = PROJECT.parent / "shared/data"
HIDDEN = (0.1, 0.5, 0.8, 0.9)
DIMENSION, STARTS = 5, 2
SHRINKAGES = (0.6, 0.45, 0.33, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01)
LEVEL = 0.9
SIZES = (0, 10, 20, 40)


class Table(NamedTuple):
    """Results, and what is known of their models and datasets."""

    name: str
    results: Results
    models: pd.DataFrame
    datasets: pd.DataFrame


def read_literature() -> Table:
    """The literature database with its attributes."""
    results = read_results()
    folder = SHARED / "capabilities"
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
    return Table(
        "literature",
        results,
        models,
        datasets.assign(type=own.where(own.notna(), datasets["family"].map(types))),
    )


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


def simulate_dense(models: int = 338, datasets: int = 213, rank: int = 6) -> Table:
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


def hide_share(results: Results, share: float, rng: np.random.Generator) -> Split:
    """Hide a share of all results."""
    hidden = rng.permutation(len(results.gaps)) < share * len(results.gaps)
    test = results.choose(hidden)
    count = len(test.gaps)
    return Split(results.choose(~hidden), test, np.zeros(count), np.ones(count))


def list_splits(table: Table, splits: int) -> Iterator[tuple[str, int, Split]]:
    """What is hidden in each split of a table."""
    for number in range(splits):
        make_rng = partial(make_stream, 0, "bench", table.name, str(number))
        if table.name == "literature":
            for protocol in PROTOCOLS:
                yield (
                    protocol,
                    number,
                    split_results(
                        table.results,
                        protocol=protocol,
                        families=table.datasets["family"].tolist(),
                        held_out=40,
                        rng=make_rng(),
                    ),
                )
        else:
            shares = HIDDEN if table.name == "openclip" else HIDDEN[:1]
            for share in shares:
                yield f"{share:.0%} hidden", number, hide_share(table.results, share, make_rng())


def fit_soft_impute(train: Results, rng: np.random.Generator) -> Predict:
    """Soft-impute on additive residuals, with the shrinkage of the least error in three folds."""
    folds = rng.permutation(len(train.gaps)) % 3
    errors = np.zeros(len(SHRINKAGES))
    for fold in range(3):
        known, test = train.choose(folds != fold), train.choose(folds == fold)
        for place, (base, low_rank) in enumerate(_shrink(known)):
            found = base.predict(test.rows, test.columns) + low_rank[test.rows, test.columns]
            errors[place] += ((found - test.gaps) ** 2).sum()
    base, low_rank = list(_shrink(train))[int(errors.argmin())]
    return lambda rows, columns: base.predict(rows, columns) + low_rank[rows, columns]


def _shrink(known: Results) -> Iterator[tuple[Additive, FloatArray]]:
    """Completions from most to least shrinkage, each started from the one before."""
    base = fit_additive(known)
    residuals = known.gaps - base.predict(known.rows, known.columns)
    found = np.zeros((len(known.models), len(known.datasets)))
    filled = found.copy()
    filled[known.rows, known.columns] = residuals
    largest = np.linalg.norm(filled, 2)
    for shrinkage in SHRINKAGES:
        for _ in range(100):
            filled = found.copy()
            filled[known.rows, known.columns] = residuals
            left, sizes, right = np.linalg.svd(filled, full_matrices=False)
            before, found = found, (left * np.maximum(sizes - shrinkage * largest, 0)) @ right
            if ((found - before) ** 2).sum() < 1e-5 * max((found**2).sum(), 1e-9):
                break
        yield base, found


def measure_errors(table: Table, splits: int) -> pd.DataFrame:
    """Squared errors of each method on each split."""
    attributes = gather_attributes(table.results, table.models, table.datasets)
    starts = draw_starts(table.results, dimension=DIMENSION, starts=STARTS, seed=0, study="bench")
    fitting = Fitting(METHODS["ensemble"], starts)
    rows = []
    for hidden, number, split in list_splits(table, splits):
        rng = partial(make_stream, 0, "bench", "fit", str(number))
        train, test = split.train, split.test
        fits = fit_starts(train, fitting.methods, starts=starts)
        pairs = Pairs(test.rows, test.columns)
        factors = fit_stack_factors(train, pairs, attributes, rng=rng())
        predicted = {
            "ensemble": predict_stack(train, pairs, fitting, factors, rng=rng()),
            "factors": factors[-1].mean.clip(0, 1),
            "mean of distances": predict_gaps(fits, *pairs),
            "soft-impute": fit_soft_impute(train, rng())(*pairs),
            "additive": fit_additive(train).predict(*pairs),
        }
        for name, found in predicted.items():
            error = float(np.mean((split.restore(found) - test.gaps) ** 2))
            rows.append((table.name, hidden, name, number, error))
    return pd.DataFrame(rows, columns=["table", "hidden", "method", "split", "mse"])


def compare_errors(errors: pd.DataFrame) -> pd.DataFrame:
    """Mean errors, and the paired change from the mean of distances in percent."""
    rows = []
    for (table, hidden), own in errors.groupby(["table", "hidden"], sort=False):
        wide = own.pivot_table(index="split", columns="method", values="mse")
        before = wide["mean of distances"]
        change = 100 * wide.sub(before, axis=0) / before.mean()
        half = 1.96 * change.std() / np.sqrt(len(wide))
        for method in own["method"].drop_duplicates():
            mean, reach = change[method].mean(), half[method]
            ends = mean - reach, mean + reach
            rows.append((table, hidden, method, len(wide), wide[method].mean(), mean, *ends))
    names = ["table", "hidden", "method", "splits", "mse", "change", "change_low", "change_high"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def predict_unseen(table: Table) -> pd.DataFrame:
    """Hide each tenth of all results in turn, and predict them as if nobody had run them.

    Their gaps are by the bounds of the others, and 0 or 1 for those that are beyond.
    """
    results = table.results
    places = make_stream(0, "bench", table.name, "unseen").permutation(len(results.gaps)) % 10
    starts = draw_starts(results, dimension=DIMENSION, starts=STARTS, seed=0, study="bench")
    fitting = Fitting(METHODS["ensemble"], starts)
    attributes = gather_attributes(results, table.models, table.datasets)
    found = []
    for fold in range(10):
        is_own = places == fold
        split = bound_split(results, results.choose(~is_own), results.choose(is_own))
        predicted = predict_scores(
            split.train,
            fit_starts(split.train, fitting.methods, starts=starts),
            scale=pd.DataFrame({"dataset": results.datasets, "best": 0.0, "worst": 1.0}),
            fitting=fitting,
            attributes=attributes,
            confidence_level=LEVEL,
            rng=make_stream(0, "bench", "intervals"),
        )
        varies = split.scale > 0
        truth = ((split.test.gaps - split.shift)[varies] / split.scale[varies]).clip(0, 1)
        rows, columns = split.test.rows[varies], split.test.columns[varies]
        own = predicted.iloc[rows * len(results.datasets) + columns]
        known = split.train.per_model[rows]
        found.append(own.assign(truth=truth, known=known).dropna(subset=["low"]))
    return pd.concat(found, ignore_index=True)


def summarize_intervals(table: Table, predicted: pd.DataFrame) -> pd.DataFrame:
    """Coverage and width of all intervals, and by what they should not depend on."""
    low, high = predicted["low"].clip(0), predicted["high"].clip(upper=1)
    covered = predicted["truth"].between(low - 1e-12, high + 1e-12)
    families = table.datasets.set_index("dataset").get("family")
    own = predicted.assign(covered=covered, width=predicted["high"] - predicted["low"])
    largest = predicted["dataset"].map(families) if families is not None else predicted["dataset"]
    is_large = largest.map(largest.value_counts()) >= 30
    groups = {
        "all": pd.Series("", own.index),
        "decile of the prediction": pd.qcut(own["predicted"], 10, labels=False) + 1,
        "known results of the model": pd.cut(
            own["known"], [*SIZES, np.inf], right=False, labels=[f"from {size}" for size in SIZES]
        ).astype(str),
        "family of datasets": largest.where(is_large),
        "true gap is 1": own["truth"].eq(1).map({True: "", False: None}),
        "predicted gap above 0.8": own["predicted"].gt(0.8).map({True: "", False: None}),
    }
    rows = []
    for kind, group in groups.items():
        for name, part in own.groupby(group.dropna()):
            coverage = part["covered"].mean()
            rows.append((table.name, kind, str(name), len(part), coverage, part["width"].mean()))
    counts = own.groupby("model")["covered"].agg(["sum", "size"])
    tails = (
        binom.cdf(counts["sum"], counts["size"], LEVEL),
        binom.sf(counts["sum"] - 1, counts["size"], LEVEL),
    )
    share = float(np.mean(np.minimum(*tails) > 0.025))
    rows.append((table.name, "models within binomial error", "", len(counts), share, np.nan))
    names = ["table", "by", "group", "predictions", "coverage", "width"]
    return pd.DataFrame(rows, columns=pd.Index(names))


def main() -> None:
    """Measure and write benchmarks/results/capability_{predictor,intervals}.{csv,md}."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=40)
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"Nothing is measured: there is no {SHARED}.")
    literature, openclip = read_literature(), read_openclip()
    unseen = [(own, predict_unseen(own)) for own in (literature, openclip)]
    errors = [
        measure_errors(literature, arguments.splits),
        measure_errors(openclip, max(arguments.splits // 13, 1)),
        measure_errors(simulate_dense(), 1),
    ]
    tables = {
        "capability_intervals": pd.concat([summarize_intervals(*own) for own in unseen]),
        "capability_predictor": compare_errors(pd.concat(errors)),
    }
    for name, table in tables.items():
        write_table(table, [RESULTS / f"{name}.csv", RESULTS / f"{name}.md"])
        sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
