"""Results that are reported where models do well: how often intervals of unseen cells hold.

Complete tables (real accuracies of openclip, and low rank plus noise) keep the half of their cells
where models are good, up to noise ("where good": as `benchmarks/holes.py` does), or at random. The
right shift is the mean error of the predictions of unseen cells. Counted are also intervals of raw
scores that end at the best and worst score of the dataset, as if no result could lie beyond
("closed"), and how many models may be the best of a dataset, and whether they hold it at all
budgets, for costs that say nothing of scores. Run by ``make bench`` where the shared files are;
``benchmarks/results/selection.csv`` and ``.md`` keep the table.
"""

import sys
from itertools import product

import numpy as np
import pandas as pd
from holes import RESULTS, SHARED, choose_cells, read_openclip

from capmap.capabilities.budgets import choose_best
from capmap.capabilities.embedding import METHODS, draw_starts, fit_starts
from capmap.capabilities.factors import gather_attributes
from capmap.capabilities.gaps import choose_results, scale_scores, tabulate_gaps
from capmap.capabilities.halves import Fitting
from capmap.capabilities.predictions import predict_scores
from capmap.capabilities.sensitivity import shift_unreported
from capmap.rng import make_stream
from capmap.tables import render_markdown, write_table
from tests.unit.test_budgets import keep_best

REPEATS, MODELS, DATASETS, FACTORS = 8, 40, 30, 3
EMPTY, LEVEL = 0.5, 0.9


def draw_cells(name: str, number: int) -> pd.DataFrame:
    """A complete table: 40 models of openclip, or 40 × 30 scores of rank 3 plus noise."""
    rng = make_stream(0, "selection", name, str(number))
    if name == "openclip":
        runs = read_openclip()
        complete = runs.groupby("model")["dataset"].nunique()
        models = complete.index[complete == complete.max()].to_numpy(dtype=object)
        chosen = rng.choice(models, MODELS, replace=False)
        cells = runs[runs["model"].isin(chosen)].rename(columns={"score": "mean"})
        return cells.reset_index(drop=True)
    factors = rng.normal(size=(MODELS, FACTORS)) @ rng.normal(size=(FACTORS, DATASETS))
    level = rng.normal(size=(MODELS, 1)) + rng.normal(size=(1, DATASETS))
    scores = 0.6 + 0.08 * level + 0.03 * factors + 0.03 * rng.normal(size=factors.shape)
    rows = [(f"m{m:02d}", f"d{d:02d}", scores[m, d]) for m, d in np.ndindex(*scores.shape)]
    return pd.DataFrame(rows, columns=["model", "dataset", "mean"])


def measure(name: str, mask: str, number: int) -> dict[str, object]:
    """Predict what a table lost, as it is and shifted by the mean error."""
    cells = draw_cells(name, number)
    stays = choose_cells(cells, EMPTY, mask, make_stream(0, "selection", name, mask, str(number)))
    bounds = pd.DataFrame({"dataset": sorted(set(cells["dataset"]))})
    bounds = bounds.assign(direction="max", low=0.0, high=1.0)
    gaps = tabulate_gaps(cells[stays].rename(columns={"mean": "score"}), bounds, min_results=3)
    results = choose_results(gaps)
    starts = draw_starts(results, dimension=5, starts=2, seed=0, study="selection")
    scale = scale_scores(gaps)
    table = predict_scores(
        results,
        fit_starts(results, METHODS["ensemble"], starts=starts),
        scale=scale,
        fitting=Fitting(METHODS["ensemble"], starts),
        attributes=gather_attributes(results),
        confidence_level=LEVEL,
        rng=make_stream(0, "selection"),
    )
    known = table[table["held_out"]]
    unseen = table[~table["held_out"]].merge(cells).merge(scale)
    exact = (unseen["mean"] - unseen["best"]) / (unseen["worst"] - unseen["best"])
    truth = exact.clip(0, 1)
    worse = max(float((truth - unseen["predicted"]).mean()), 0.0)
    ends = (unseen[name].to_numpy() for name in ("predicted", "low", "high"))
    _, low, high = shift_unreported(*ends, worse=worse)
    return {
        "table": name,
        "mask": mask,
        "results": len(known),
        "reported": known["observed"].between(known["low"], known["high"]).mean(),
        "unseen": truth.between(unseen["low"], unseen["high"]).mean(),
        "worse": worse,
        "shifted": truth.between(pd.Series(low), pd.Series(high)).mean(),
        "width": (high - low).mean(),
        "closed": exact.between(unseen["low"], unseen["high"]).mean(),
        **count_best(table, gaps, cells, make_stream(0, "selection", "costs", str(number))),
    }


def count_best(
    predictions: pd.DataFrame, gaps: pd.DataFrame, cells: pd.DataFrame, rng: np.random.Generator
) -> dict[str, float]:
    """How often the candidates hold the best model, and their share of all models."""
    models = predictions["model"].drop_duplicates()
    costs = pd.Series(rng.lognormal(size=len(models)), models)
    found = choose_best(predictions, gaps, costs, confidence_level=LEVEL)
    last = found["best_models"].groupby("dataset").tail(1)
    scores = cells.pivot_table(index="model", columns="dataset", values="mean")
    truth = -scores.loc[models, last["dataset"]]
    return {
        "best_held": float(np.mean(keep_best(found["best_candidates"], truth, costs))),
        "candidates": float((last["candidates"] / last["models"]).mean()),
    }


def main() -> None:
    """Simulate both tables and masks, and keep the means."""
    if not SHARED.is_dir():
        sys.exit(0)
    rows = [
        measure(name, mask, number)
        for name, mask, number in product(
            ("openclip", "low rank"), ("where good", "at random"), range(REPEATS)
        )
    ]
    table = pd.DataFrame(rows).groupby(["table", "mask"], sort=False).mean().reset_index()
    write_table(table, [RESULTS / f"selection.{suffix}" for suffix in ("csv", "md")])
    sys.stdout.write(render_markdown(table))


if __name__ == "__main__":
    main()
