"""Rankings of incomplete tables: how near policies for empty cells come to the complete ranking.

Complete tables of real results lose cells at random, or rather where models are weak ("where good":
people run models where these are good). Run by ``make bench`` where the shared files are. It takes
some minutes, and gives the same table each time; ``benchmarks/results/holes.csv`` and ``.md``
keep it.
"""

import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from capmap.artifacts import read_json
from capmap.errors import ValidationError
from capmap.normalization import drop_incomplete
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.imputation import IMPUTATIONS, fit_policy
from capmap.ranking.models import Options, bootstrap_models
from capmap.ranking.ranks import rank_statistic
from capmap.rng import make_stream
from capmap.settings.choices import Incomplete, Unit
from capmap.tables import render_markdown, write_table

ROOT = Path(__file__).parents[1]
RESULTS, SHARED = ROOT / "benchmarks/results", ROOT.parent / "shared/data"
RANKED = ["ci_low", "ci_high", "rank", "rank_low", "rank_high", "datasets"]
MEASURES = [
    *("coverage", "coverage_of_imputation", "width", "rank_coverage", "rank_width", "leads"),
]
SHARES = (0.2, 0.4, 0.6, 0.8)
POLICIES: tuple[Incomplete, ...] = ("keep", "drop_models", "drop_datasets", "adjust", "impute")
REPEATS = {"GEO-Bench-2": 12, "rtdl": 8, "openclip": 1}
# openclip has a run per cell, so that its intervals are over datasets.
UNITS: dict[str, Unit] = {"GEO-Bench-2": "runs", "rtdl": "runs", "openclip": "runs_and_datasets"}
CLASSES = [1, 2, 4, 10]
RUN = ["model", "dataset", "seed", "score"]


def read_geobench() -> pd.DataFrame:
    """Runs of the backbones with all datasets, between the published bounds."""
    runs = pd.read_csv(SHARED / "geobench/results_and_parameters.csv")
    bounds = read_json(SHARED / "geobench/normalizer.json")
    low, high = (
        runs["dataset"].map({name: pair[i] for name, pair in bounds.items()}) for i in (0, 1)
    )
    runs = runs.rename(columns={"backbone": "model", "Seed": "seed"})
    runs = runs.assign(score=(runs["test metric"] - low) / (high - low))
    return runs.assign(seed=runs.groupby(["model", "dataset"]).cumcount().astype(str))[RUN]


def read_rtdl() -> pd.DataFrame:
    """Runs of the tuned models, between the worst and best mean of each dataset."""
    runs = pd.read_csv(SHARED / "rtdl/all_stats.csv")
    runs = runs[(runs["variant"] == "tuned") & runs["seed"].notna()]
    runs = runs.rename(columns={"algorithm": "model"}).astype({"seed": "str"})
    means = runs.groupby(["dataset", "model"])["score"].mean().groupby("dataset")
    low, high = (runs["dataset"].map(end) for end in (means.min(), means.max()))
    return runs.assign(score=(runs["score"] - low) / (high - low))[RUN]


def read_openclip() -> pd.DataFrame:
    """Accuracies of the checkpoints, a run per cell."""
    table = pd.read_csv(SHARED / "openclip/openclip_results.csv")
    table["model"] = table["name"] + " " + table["pretrained"]
    scores = table.drop(columns=["name", "pretrained", "params (M)", "FLOPs (B)"])
    scores = scores.drop(columns=scores.filter(like="Average").columns)
    runs = scores.melt(id_vars="model", var_name="dataset", value_name="score")
    return runs.assign(seed="0").dropna()[RUN]


READERS: dict[str, Callable[[], pd.DataFrame]] = {
    "GEO-Bench-2": read_geobench,
    "rtdl": read_rtdl,
    "openclip": read_openclip,
}


def estimate(runs: pd.DataFrame, policy: Incomplete, unit: Unit) -> pd.DataFrame:
    """Ranking by interquartile mean of the models that the policy keeps, with 95% intervals."""
    kept, _ = drop_incomplete(runs, policy=policy)
    if kept.empty:
        return pd.DataFrame(columns=["estimate", *RANKED], dtype="float64")
    effects = fit_policy(summarize_cells(kept), policy, rng=make_stream(0, "holes", "imputation"))
    table = bootstrap_models(
        kept,
        statistics=["iqm"],
        options=Options(unit=unit),
        make_rng=partial(make_stream, 0, "holes", "model"),
        drawn=sorted(kept["dataset"].unique()) if unit == "runs_and_datasets" else (),
        effects=effects,
    )
    ranked = rank_statistic(table, "iqm", confidence_level=0.95).set_index("model")
    if policy == "impute":
        spread = table.set_index("model")["parts"].map(
            lambda parts: (parts[-IMPUTATIONS:] ** 2).sum()
        )
        ranked["imputed_error"] = np.sqrt(spread)
    return ranked


def correlate(truth: pd.Series, found: pd.Series) -> float:
    """Kendall's tau; pairs with a model that is not ranked are neither right nor wrong."""
    estimates = found.reindex(truth.index).to_numpy()
    first, second = np.triu_indices(len(truth), k=1)
    signs = np.sign(truth.to_numpy()[first] - truth.to_numpy()[second])
    apart = np.nan_to_num(np.sign(estimates[first] - estimates[second]))
    return float(signs @ apart / np.count_nonzero(signs))


def choose_cells(
    cells: pd.DataFrame, share: float, mask: str, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Which cells stay; each model and dataset keeps one."""
    priority = rng.random(len(cells))
    if mask == "where good":
        by_dataset = cells.groupby("dataset")["mean"]
        standard = (cells["mean"] - by_dataset.transform("mean")) / by_dataset.transform("std")
        priority = standard.to_numpy() + rng.standard_normal(len(cells))
    stays = priority >= np.quantile(priority, share)
    ordered = cells.assign(priority=priority).sort_values("priority", ascending=False)
    for kind in ("model", "dataset"):
        stays[cells.index.get_indexer(ordered.drop_duplicates(kind).index)] = True
    return np.asarray(stays)


def judge(truth: pd.DataFrame, found: pd.DataFrame, complete: int) -> pd.DataFrame:
    """Whether intervals and rank sets of models with holes hold what the complete table has."""
    sure = found.dropna(subset=["ci_low"])
    sure = sure[sure["datasets"] < complete]
    own = truth.loc[sure.index]
    table = pd.DataFrame(
        {
            "results": sure["datasets"],
            "coverage": sure["ci_low"].le(own["estimate"]) & sure["ci_high"].ge(own["estimate"]),
            "width": sure["ci_high"] - sure["ci_low"],
            "rank_coverage": sure["rank_low"].le(own["rank"]) & sure["rank_high"].ge(own["rank"]),
            "rank_width": sure["rank_high"] - sure["rank_low"] + 1,
            "leads": sure["rank"].eq(1),
            "coverage_of_imputation": np.nan,
        }
    )
    if "imputed_error" in sure:
        freedom = 1 / (1 / (IMPUTATIONS - 1) + 1 / (len(truth) - 1))
        reach = sure["imputed_error"] * stats.t.ppf(0.975, freedom)
        table["coverage_of_imputation"] = (sure["estimate"] - own["estimate"]).abs().le(reach)
    return table.astype("float64")


def measure(name: str, runs: pd.DataFrame, mask: str, share: float) -> pd.DataFrame:
    """Simulate one table, mask and share of empty cells; a row per policy, mask and model."""
    rng = make_stream(0, "holes", name, mask, str(share))
    cells = summarize_cells(runs)
    truth = estimate(runs, "keep", UNITS[name])
    rows = []
    for _ in range(REPEATS[name]):
        kept = cells[choose_cells(cells, share, mask, rng)]
        some = runs.merge(kept[["model", "dataset"]])
        for policy in POLICIES:
            try:
                found = estimate(some, policy, UNITS[name])
            except ValidationError:
                continue
            judged = judge(truth, found, cells["dataset"].nunique())
            tau = correlate(truth["estimate"], found["estimate"])
            empty = judged if len(judged) else judged.reindex([""])
            rows.append(empty.assign(policy=policy, tau=tau))
    return pd.concat(rows).assign(table=name, mask=mask, empty=share)


def main() -> None:
    """Simulate all tables, masks and shares, and keep the tables."""
    if not SHARED.is_dir():
        sys.exit(0)
    parts = []
    tables = {
        name: drop_incomplete(read(), policy="drop_models")[0] for name, read in READERS.items()
    }
    for mask, name, share in product(("at random", "where good"), tables, SHARES):
        parts.append(measure(name, tables[name], mask, share))
        sys.stdout.write(f"{mask} {name} {share}\n")
        sys.stdout.flush()
    rows = pd.concat(parts)
    shape = ["table", "mask", "empty"]
    wide = rows.pivot_table(index=shape, columns="policy", values=["tau", "coverage"], sort=False)
    wide.columns = ["_".join(pair) for pair in wide.columns.to_flat_index()]
    filled = rows[rows["policy"].isin(["adjust", "impute"])]
    places = np.searchsorted(CLASSES, filled["results"], side="right") - 1
    filled = filled.assign(results=np.array(CLASSES)[places])
    shape = [*shape, "policy"]
    found = {
        "holes": wide.reset_index(),
        "holes_intervals": average(filled, shape),
        "holes_results": average(filled, ["table", "mask", "policy", "results"]),
    }
    for name, table in found.items():
        write_table(table, [RESULTS / f"{name}.{suffix}" for suffix in ("csv", "md")])
        sys.stdout.write(render_markdown(table))


def average(rows: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Means of what was measured, and of how many models."""
    groups = rows.groupby(by)
    return groups[MEASURES].mean().assign(models=groups.size()).reset_index()


if __name__ == "__main__":
    main()
