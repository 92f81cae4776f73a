"""Plausible tables of a multi-label evaluation, and the published table that is shipped.

The values of the plausible ones need not be right: a figure computes nothing from them.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from capmap.multilabel import summaries

SHIPPED = Path(__file__).parents[1] / "data" / "imagenet"
COUNTS = (1, 2, 3, 4, 5)
PATCHES = (2, 3, 4, 6, 9)


def read_shipped_runs():
    """Runs of the shipped published table, as a study with header_rows: 2 has them."""
    table = pd.read_csv(SHIPPED / "checkpoints.csv", header=[0, 1], index_col=0)
    table.columns = [" / ".join(names) for names in table.columns]
    wide = table.rename_axis("model").reset_index()
    return wide.melt("model", var_name="dataset", value_name="score")


def make_metrics(models, *, datasets=("V1", "V2"), seeds=5, seed=3):
    """Make a table of metrics: two datasets with single labels, and PatchML with seeds."""
    rng = np.random.default_rng(seed)
    levels = np.linspace(0.9, 0.5, len(models))
    rows = []
    for model, level in zip(models, levels, strict=True):
        for place, dataset in enumerate(datasets):
            own = level - 0.1 * place + rng.normal(0, 0.02, 13)
            rows += [
                (model, dataset, "", name, pd.NA, value)
                for name, value in zip(("top1", "real", "asma"), own, strict=False)
            ]
            for kind, values in (("subgroup", own[3:8]), ("real_subgroup", own[8:])):
                rows += [
                    (model, dataset, "", kind, count, value - 0.05 * count)
                    for count, value in zip(COUNTS, values, strict=True)
                ]
        for number in range(seeds):
            own = level - 0.2 + rng.normal(0, 0.05, 6)
            rows.append((model, "PatchML", str(number), "asma", pd.NA, own[5]))
            rows += [
                (model, "PatchML", str(number), "subgroup", count, value - 0.03 * count)
                for count, value in zip(PATCHES, own, strict=False)
            ]
    table = pd.DataFrame(
        rows, columns=["model", "dataset", "seed", "metric", "subgroup", "value"]
    ).astype({"subgroup": "Int64", "value": "float64"})
    table["value"] = table["value"].clip(0, 1)
    return table.assign(ci_low=np.nan, ci_high=np.nan, images=1000)


def make_evaluation(models, *, datasets=("V1", "V2"), seeds=5):
    """Make all tables of an evaluation that figures read."""
    metrics = make_metrics(models, datasets=datasets, seeds=seeds)
    summary = summaries.summarize_models(metrics)
    return {
        "metrics": metrics,
        "summary": summary,
        "rank_shift": summaries.shift_all_ranks(metrics),
        "label_counts": make_counts([*datasets, "PatchML"]),
    }


def make_counts(datasets):
    """Make counts of labels, with empty sets and sets of many labels."""
    labels = [*map(str, range(6)), "more"]
    tables = [
        pd.DataFrame({"dataset": name, "labels": labels, "images": [place, 900, 50, 9, 0, 3, 2]})
        for place, name in enumerate(datasets)
    ]
    return summaries.share_images(pd.concat(tables, ignore_index=True))
