"""Rankings of incomplete tables: how near policies for empty cells come to the complete ranking.

Complete tables of real results lose cells at random, or rather where models are weak ("where good":
people run models where these are good). Run by ``make bench`` where the shared files are. It takes
some minutes, and gives the same table each time; ``benchmarks/results/holes.csv`` and ``.md``
keep it.
"""

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from capmap.artifacts import read_json
from capmap.errors import ValidationError
from capmap.normalization import drop_incomplete
from capmap.ranking.aggregation import summarize_cells
from capmap.ranking.holes import fit_effects
from capmap.ranking.models import Options, bootstrap_models
from capmap.rng import make_stream
from capmap.settings.choices import Incomplete
from capmap.tables import render_markdown, write_table

ROOT = Path(__file__).parents[1]
RESULTS, SHARED = ROOT / "benchmarks/results", ROOT.parent / "shared/data"
SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
POLICIES: tuple[Incomplete, ...] = ("keep", "drop_models", "drop_datasets", "adjust")
REPEATS = {"GEO-Bench-2": 100, "rtdl": 100, "openclip": 20}
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


def estimate(runs: pd.DataFrame, policy: Incomplete) -> pd.DataFrame:
    """Interquartile means of the models that the policy keeps, with intervals over runs."""
    kept, _ = drop_incomplete(runs, policy=policy)
    if kept.empty:
        return pd.DataFrame(columns=["estimate", "ci_low", "ci_high"], dtype="float64")
    effects = fit_effects(summarize_cells(kept)) if policy == "adjust" else None
    table = bootstrap_models(
        kept,
        statistics=["iqm"],
        options=Options(),
        make_rng=lambda *_: make_stream(0, "holes"),
        effects=effects,
    )
    return table.set_index("model")


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


def measure(name: str, runs: pd.DataFrame, mask: str, share: float) -> list[dict[str, object]]:
    """Simulate one table, mask and share of empty cells."""
    rng = make_stream(0, "holes", name, mask, str(share))
    cells = summarize_cells(runs)
    truth = estimate(runs, "keep")["estimate"]
    taus: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    held: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    for _ in range(REPEATS[name]):
        kept = cells[choose_cells(cells, share, mask, rng)]
        some = runs.merge(kept[["model", "dataset"]])
        for policy in POLICIES:
            try:
                found = estimate(some, policy)
            except ValidationError:
                continue
            taus[policy].append(correlate(truth, found["estimate"]))
            sure = found.dropna(subset=["ci_low"])
            own = truth[sure.index]
            held[policy] += (sure["ci_low"].le(own) & sure["ci_high"].ge(own)).tolist()
    return [
        {
            "table": name,
            "mask": mask,
            "empty": share,
            "policy": policy,
            "tau": np.mean(taus[policy]) if taus[policy] else np.nan,
            "coverage": np.mean(held[policy]) if held[policy] else np.nan,
            "ranked": len(taus[policy]) / REPEATS[name],
        }
        for policy in POLICIES
    ]


def main() -> None:
    """Simulate all tables, masks and shares, and keep the table."""
    if not SHARED.is_dir():
        sys.exit(0)
    rows = []
    for name, read in READERS.items():
        complete, _ = drop_incomplete(read(), policy="drop_models")
        for mask, share in product(("at random", "where good"), SHARES):
            rows += measure(name, complete, mask, share)
    table = pd.DataFrame(rows)
    wide = table.pivot_table(
        index=["table", "mask", "empty"], columns="policy", values=["tau", "coverage"], sort=False
    )
    wide.columns = ["_".join(pair) for pair in wide.columns.to_flat_index()]
    wide = wide.reset_index()
    write_table(wide, [RESULTS / f"holes.{suffix}" for suffix in ("csv", "md")])
    sys.stdout.write(render_markdown(wide))


if __name__ == "__main__":
    main()
