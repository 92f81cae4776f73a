"""How many results policies of choosing the next dataset need for the error of others.

Replays on three databases: a sparse one of the literature, 121 models on 38 datasets, and 18
backbones on 19 datasets, the last two all but complete. In each split a model is taken as new, and
a random third of its results has to be predicted from those that a policy chose among the others
(`capmap.capabilities.choice_replay`). Beliefs are formed from distances, or from these and the
factorization, which is what studies use. Costs are simulated: they differ between datasets by a
factor of 10 and more, and have nothing to do with results.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
from capability_predictor import SHARED, Table, read_literature, read_openclip
from holes import read_geobench
from scipy.stats import t as student

from capmap.capabilities.beliefs import (
    Belief,
    form_beliefs,
    learn_result,
    measure_variance,
    prefer_offsets,
    start_knowledge,
)
from capmap.capabilities.choice_replay import (
    CHANCE,
    POLICIES,
    Believe,
    Offer,
    Policy,
    measure_savings,
    replay_datasets,
)
from capmap.capabilities.embedding import METHODS, draw_starts
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import Results, arrange_results
from capmap.capabilities.halves import Fitting
from capmap.ranking.aggregation import FloatArray, IntArray, summarize_cells
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from workflow import RESULTS

DIMENSION, STARTS = 5, 2
LEVEL = 0.95
SHOWN = (4, 6, 8)


def read_backbones() -> Table:
    """Means of backbones over seeds, with nothing else known."""
    cells = summarize_cells(read_geobench()).rename(columns={"mean": "score"})
    results = arrange_results(cells[["model", "dataset", "score"]])
    names = pd.DataFrame({"model": results.models}), pd.DataFrame({"dataset": results.datasets})
    return Table("GEO-Bench-2", results, *names)


def choose_uncertain(offer: Offer, count: int) -> IntArray:
    """Choose the dataset with the most uncertain prediction."""
    left, known = offer.pool.tolist(), start_knowledge(offer.belief)
    order: list[int] = []
    while left and len(order) < count:
        variance = measure_variance(offer.belief, known.covariance)
        order.append(left.pop(int(np.argmax(variance[left]))))
        known = learn_result(offer.belief, known, order[-1], 0.0)
    return np.array(order)


def choose_for_mean(offer: Offer, count: int) -> IntArray:
    """Choose the dataset that lowers the variance of the model's mean most."""
    belief = offer.belief
    left, known = offer.pool.tolist(), start_knowledge(belief)
    order: list[int] = []
    while left and len(order) < count:
        along = belief.loadings @ known.covariance
        variance = measure_variance(belief, known.covariance) + belief.noise
        gains = (along @ belief.loadings.mean(axis=0)) ** 2 / variance
        order.append(left.pop(int(np.argmax(gains[left]))))
        known = learn_result(belief, known, order[-1], 0.0)
    return np.array(order)


def choose_free(offer: Offer, count: int) -> IntArray:
    """Choose as if all results cost the same."""
    costs = np.ones(len(offer.costs))
    return POLICIES["a_optimal"](offer._replace(costs=costs), count)


def make_believer(table: Table, member: str) -> Believe:
    """Make what forms beliefs, once: from both members, or from the distances alone."""
    results = table.results
    starts = draw_starts(results, dimension=DIMENSION, starts=STARTS, seed=0, study="bench")
    methods = METHODS["ensemble"]
    found: list[Belief] = []

    def believe(parts: Sequence[Results]) -> list[Belief]:
        if not found:
            chosen = methods if member == "both" else prefer_offsets(methods)
            attributes = gather_attributes(results, table.models, table.datasets)
            rng = make_stream(0, "bench", "factors")
            found.extend(form_beliefs(parts, Fitting(chosen, starts), attributes, rng=rng))
        return found

    return believe


def replay(
    table: Table, member: str, believe: Believe, *, costs: FloatArray | None = None
) -> pd.DataFrame:
    """Savings of all policies against random choice and against most results."""
    others: dict[str, Policy] = {"most_uncertain": choose_uncertain, "model_mean": choose_for_mean}
    if costs is not None:
        others = {"a_optimal, costs unknown": choose_free}
    curves = replay_datasets(
        table.results,
        believe=believe,
        make_rng=partial(make_stream, 0, "bench", table.name),
        policies=POLICIES | others,
        costs=costs,
    )
    found = []
    for reference in (CHANCE, "most_results"):
        own = measure_savings(
            curves,
            confidence_level=LEVEL,
            rng=make_stream(0, "bench", "savings"),
            reference=reference,
        )
        own = own[own["results"].isin(SHOWN)].assign(than=reference)
        errors = [
            curves.reached[policy][curves.candidates >= count, count].mean()
            for policy, count in zip(own["policy"], own["results"], strict=True)
        ]
        found.append(own.assign(error=errors))
    priced = "simulated" if costs is not None else "equal"
    joined = pd.concat(found).assign(database=table.name, belief=member, costs=priced)
    return joined.drop(columns="confidence")


def summarize(found: pd.DataFrame) -> pd.DataFrame:
    """Add the mean over databases, with Student's interval, where all got there."""
    keys = ["belief", "costs", "policy", "than", "results"]
    rows = []
    for values, own in found.groupby(keys, sort=False):
        shares = own["needed"] / own["results"]
        if len(own) > 1 and shares.notna().all():
            reach = student.ppf((1 + LEVEL) / 2, len(own) - 1) * shares.std() / np.sqrt(len(own))
            ends = [shares.mean() - reach, shares.mean(), shares.mean() + reach]
            low, needed, high = (share * own["results"].iloc[0] for share in ends)
            rows.append(
                {
                    **dict(zip(keys, values, strict=True)),
                    "database": "all",
                    "needed": needed,
                    "needed_low": max(low, 0),
                    "needed_high": high,
                    "saving": 1 - ends[1],
                    "error": np.nan,
                    "models": own["models"].sum(),
                }
            )
    joined = pd.concat([found, pd.DataFrame(rows)], ignore_index=True)
    names = ["database", *keys, "needed", "needed_low", "needed_high", "saving", "error", "models"]
    return joined[names]


def main() -> None:
    """Measure and write benchmarks/results/next_results.csv and .md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.parse_args()
    if not SHARED.is_dir():
        sys.exit(f"Nothing is measured: there is no {SHARED}.")
    found = []
    for table in (read_backbones(), read_literature(), read_openclip()):
        believe = make_believer(table, "both")
        draws = make_stream(0, "bench", "costs").normal(size=len(table.results.datasets))
        found += [
            replay(table, "both", believe),
            replay(table, "both", believe, costs=np.exp(draws)),
            replay(table, "distances", make_believer(table, "distances")),
        ]
    measured = summarize(pd.concat(found, ignore_index=True))
    write_table(measured, [RESULTS / "next_results.csv", RESULTS / "next_results.md"])
    sys.stdout.write(render_markdown(measured))


if __name__ == "__main__":
    main()
