"""Small leaderboards for the tests of the page: the tables that a study would have made."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from board import board as write_page
from tests.steps import put

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    '=HYPERLINK("http://x")',
    "</script><script>alert(1)</script>",
    "\u202egnirts desrever",
    "W" * 300,
    "__proto__",
    "a\"b'c,d\nsecond line",
    "-1+1",
]
METHODS = ["frozen", "full_ft"]
TABLES = ("entries", "dimensions", "raw", "normalized", "best", "submissions")
SUBMISSION = {
    "paper": "https://example.org/paper",
    "code": "javascript:alert(1)",
    "license": "Apache-2.0",
    "hpo_trials": "16",
    "information": "<b>We</b> ran it all.",
    "comments": "",
}


def make_board(
    models: Sequence[str],
    datasets: Sequence[str],
    *,
    methods: Sequence[str] = METHODS,
    submission: str = "base",
    groups: Mapping[str, Sequence[str]] | None = None,
    gaps: Sequence[tuple[str, str]] = (),
    seeds: int = 2,
    intervals: bool = True,
) -> dict[str, Any]:
    """Make the tables of a leaderboard, by the names of the arguments of the script.

    Model number i scores 0.9 − i/(2n) on dataset number j plus j/1000, with the run of seed s at
    s/10 000 more; raw scores are 100 times that. The order of models on each second dataset is
    turned round. `gaps` are (model, dataset) without runs, which leave the model unranked.
    """
    groups = dict(groups or {})
    runs = _make_runs(models, datasets, methods, submission, set(gaps), seeds)
    cells = runs.groupby(["model", "dataset"], sort=False)["score"]
    widen = 0.02 if intervals else np.nan
    keys = runs.drop_duplicates("model").set_index("model")[["method", "name", "submission"]]
    normalized = (cells.mean() / 100).rename("iqm").reset_index()
    normalized["rank"] = _rank(normalized, ["dataset"], keys)
    raw = cells.agg(["size", "mean", "sem"]).rename(columns={"size": "seeds"}).reset_index()
    raw["metric"] = "accuracy"
    normalized["seeds"] = raw["seeds"]
    tables = {
        "raw": _join(raw, keys, ["dataset", "metric", "seeds", "mean", "sem"]),
        "normalized": _join(
            normalized.assign(ci_low=normalized.iqm - widen, ci_high=normalized.iqm + widen),
            keys,
            ["dataset", "seeds", "iqm", "ci_low", "ci_high", "rank"],
        ),
    }
    parts = [("All", list(datasets)), *((name, list(inside)) for name, inside in groups.items())]
    dimensions = pd.concat(
        [_summarize(normalized, name, inside, keys, widen, seeds) for name, inside in parts],
        ignore_index=True,
    )
    everything = dimensions[dimensions["dimension"] == "All"].drop(columns="dimension")
    size = {name: f"{100 + i}M" if submission else "" for i, name in enumerate(models)}
    entries = everything.assign(
        backbone=everything["name"], size=everything["name"].map(size), mean=everything["iqm"]
    )
    entries["done"] = ~entries["complete"]
    entries = entries.sort_values(["method", "done", "rank", "name"], kind="stable")
    order = ["method", "rank", "model", "name", "backbone", "size", "submission", "iqm", "ci_low"]
    order += ["ci_high", "rank_low", "rank_high", "tie_group", "mean", "runs", "datasets"]
    order += ["expected", "complete"]
    best = entries[entries["complete"]].assign(submissions=1)
    order_best = ["method", "rank", "backbone", "name", "size", "submission", "iqm", "ci_low"]
    info = pd.DataFrame([{"submission": submission, "models": 2, "runs": len(runs), "datasets": 2}])
    return {
        **tables,
        "dimensions": dimensions,
        "entries": entries[order],
        "best": best[[*order_best, "ci_high", "submissions"]],
        "submissions": info.assign(**SUBMISSION) if submission else info.assign(**SUBMISSION)[:0],
        "groups": groups,
    }


def write_board(folder: Path, board: Mapping[str, Any], **settings: Any) -> Path:
    """Write a leaderboard's tables and its page; returns the page."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = [folder / f"{name}.csv" for name in TABLES]
    for path in tables:
        put(board[path.stem], path)
    page = folder / "index.html"
    options: dict[str, Any] = {"study": "toy", "title": "Toy leaderboard", "confidence": 0.95}
    options |= {"groups": board["groups"], "about": "", "comparisons": []}
    options["descriptions"] = {"datasets": {}, "dimensions": {}}
    options["tables"] = [str(path) for path in tables]
    write_page(page=str(page), **{**options, **settings})
    return page


def write_trainings(folder: Path) -> Path:
    """Write the page of two trainings of one model, in two rankings."""
    keys = {"model": "M", "stamp": ""}
    chosen = pd.DataFrame({"training": ["b", "a"], "checkpoint": ["step=2", "step=1"]})
    best = chosen.assign(**keys, ranking="best", method="best", rank=[1, 2], score=[0.8, 0.7])
    other = best.assign(ranking="calibration", method="single", score=[0.1, 0.3])
    listed = pd.DataFrame(
        {
            **{"training": list("aabb"), "checkpoint": ["step=1", "step=2"] * 2},
            **{"step": [1, 2] * 2, "selection": [0.7, 0.6, 0.5, 0.8]},
        }
    )
    listed = listed.assign(**keys, chosen=[True, False, False, True], datasets=1, split="val")
    told = {"checkpoints": 2, "last": [0.8, 0.6], "mean": [0.65, 0.65], "report": [0.8, 0.7]}
    told |= {"selection": [0.8, 0.7], "optimism_mean": [0.15, 0.05], "optimism_last": [0, 0.1]}
    tables = {
        "checkpoint_rankings": pd.concat([best, other]),
        "selected": chosen.assign(**keys, **told, step=[2, 1], gain_report=0.0),
        "checkpoints": listed,
    }
    for name, table in tables.items():
        put(table, folder / f"comparisons/{name}.csv")
    page = str(folder / "index.html")
    about = {"study": "toy", "title": "Toy", "about": "", "groups": {}, "confidence": 0.95}
    about["descriptions"] = {"datasets": {}, "dimensions": {}}
    write_page(page=page, **about, tables=[], comparisons=[f"{folder}/comparisons"])
    return Path(page)


def _make_runs(
    models: Sequence[str],
    datasets: Sequence[str],
    methods: Sequence[str],
    submission: str,
    gaps: set[tuple[str, str]],
    seeds: int,
) -> pd.DataFrame:
    rows = []
    cells = product(methods, enumerate(models), enumerate(datasets), range(seeds))
    for method, (i, name), (j, dataset), seed in cells:
        if (name, dataset) in gaps:
            continue
        model = " / ".join(part for part in (name, method, submission) if part)
        place = len(models) - 1 - i if j % 2 else i
        score = 0.9 - place / (2 * len(models)) + j / 1000 - 0.05 * (method == METHODS[0])
        rows.append((model, dataset, str(seed), 100 * (score + seed / 10_000), method, name))
    runs = pd.DataFrame(rows, columns=["model", "dataset", "seed", "score", "method", "name"])
    return runs.assign(metric="accuracy", submission=submission)


def _rank(table: pd.DataFrame, by: list[str], keys: pd.DataFrame) -> pd.Series:
    method = table["model"].map(keys["method"])
    ranks = table.groupby([*[table[name] for name in by], method])["iqm"]
    return ranks.rank(method="min", ascending=False).astype("Int64")


def _join(table: pd.DataFrame, keys: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    joined = table.join(keys, on="model")
    return joined[["method", "model", "name", "submission", *columns]]


def _summarize(
    normalized: pd.DataFrame,
    name: str,
    datasets: Sequence[str],
    keys: pd.DataFrame,
    widen: float,
    seeds: int,
) -> pd.DataFrame:
    inside = normalized[normalized["dataset"].isin(datasets)]
    cells = inside.groupby("model", sort=False)["iqm"]
    table = cells.agg(["mean", "size"]).reset_index()
    table = table.rename(columns={"mean": "iqm", "size": "datasets"})
    table["expected"] = len(datasets)
    table["complete"] = table["datasets"] == table["expected"]
    table["rank"] = _rank(table, [], keys).where(table["complete"])
    known = table[table["complete"]].reset_index(drop=True)
    table.loc[table["complete"], "rank"] = _rank(known, [], keys).to_numpy()
    table["rank_low"] = (table["rank"] - 1).clip(lower=1)
    table["rank_high"] = table["rank"] + 1
    table["tie_group"] = table["rank"].map(lambda rank: "" if pd.isna(rank) else "ab"[: int(rank)])
    table = table.assign(
        dimension=name,
        ci_low=table["iqm"] - widen,
        ci_high=table["iqm"] + widen,
        bootstrap_mean=table["iqm"],
        bootstrap_sem=0.001,
        runs=table["datasets"] * seeds,
    ).join(keys, on="model")
    table["tie_group"] = table["tie_group"] if np.isfinite(widen) else ""
    order = ["method", "dimension", "rank", "model", "name", "submission", "iqm", "ci_low"]
    order += ["ci_high", "rank_low", "rank_high", "tie_group", "bootstrap_mean", "bootstrap_sem"]
    return table[[*order, "runs", "datasets", "expected", "complete"]]
