"""What draws each figure of a family, and names that are hard to draw."""

import numpy as np
import pandas as pd

from capmap.ranking.table import choose
from tests.steps import make_figure

HOSTILE = (
    ["$x_1$", "=cmd|calc", "<script>", "_private", "back\\slash\\alpha", "模型甲", "模型乙", "007"]
    + ["a" * 150 + middle + "b" * 149 for middle in "XY"]
    + ["W" * 300, "50% & more", "line\nbreak", "-->", "\u202eevil", "😀 emoji", "émile"]
)


def name(kind, count):
    return [f"{kind}-{number:02d}" for number in range(count)]


def compare(*datasets):
    """Make the table of a comparison of two datasets, or of none."""
    return pd.DataFrame([datasets] if datasets else [], columns=["dataset_a", "dataset_b"])


VERSIONS = compare("V1", "V2")


def plan_main(tables):
    order = list(choose(tables["ranking"])["model"])
    return {
        "scores": lambda: make_figure("scores", tables["scores"], order=order),
        "intervals": lambda: make_figure("intervals", tables["ranking"]),
        "rank_shift": lambda: make_figure("rank_shift", tables["ranking"]),
        "seed_spread": lambda: make_figure("seed_spread", tables["seeds"], order=order),
    }


def plan_comparisons(tables):
    order = list(choose(tables["ranking"])["model"])
    pairs, against = tables["pairwise"], {"reference": order[0], "order": order}
    plan = {
        "pairwise": lambda: make_figure("pairwise", pairs, order=order, alpha=0.05),
        "pairwise_reference": lambda: make_figure("pairwise_reference", pairs, **against),
    }
    others = {
        "groups": lambda: make_figure("groups", tables["groups"]),
    }
    return others if pairs.empty else plan | others


def plan_curves(tables):
    order = list(choose(tables["ranking"])["model"])
    tests = (tables["mean_ranks"], tables["nemenyi"], tables["friedman"])
    return {
        "critical_difference": lambda: make_figure("critical_difference", *tests, alpha=0.05),
        "profiles": lambda: make_figure("profiles", tables["profiles"], order=order),
        "elo": lambda: make_figure("elo", tables["elo"], order=order, confidence_level=0.95),
    }


def plan_map(tables):
    described = tables["models"], tables["datasets"]
    return {
        "map": lambda: make_figure("capability_map", tables["map"], *described),
    }


def plan_errors(tables):
    points = tables["validation"], tables["summary"]
    return {
        "fit": lambda: make_figure("prediction_fit", *points, dimension=5),
        "curve": lambda: make_figure("error_curve", tables["error_curve"]),
    }


def plan_labels(tables, *, degradation=VERSIONS):
    metrics = tables["metrics"]
    return {
        "label_counts": lambda: make_figure("label_counts", tables["label_counts"]),
        "metric_lines": lambda: make_figure("metric_lines", tables["summary"], degradation),
        "subgroup_boxes": lambda: make_figure("subgroup_boxes", metrics, degradation),
        "metric_rank_shift": lambda: make_figure(
            "metric_rank_shift", tables["rank_shift"], rank_by="asma"
        ),
    }


def plan_checkpoints(tables, *, metric="accuracy", order=()):
    curves = (tables["curves"], tables["selected"], tables["checkpoints"])
    return {
        "curves": lambda: make_figure("checkpoint_curves", *curves, metric=metric, order=order),
    }


def make_checkpoints(models, runs, steps, *, split="validation"):
    """Make plausible tables of trainings of each model."""
    rng = np.random.default_rng(5)
    curves = pd.DataFrame(
        [
            (f"{model} run{run}", model, "accuracy", split, 100 * step, rng.random())
            for model in models
            for run in range(runs)
            for step in range(1, steps + 1)
        ],
        columns=["training", "model", "metric", "split", "step", "mean"],
    )
    curves = curves.assign(ci_low=curves["mean"] - 0.1, ci_high=curves["mean"] + 0.1, datasets=4)
    curves["trainings"] = 1
    best = curves.sort_values("mean").drop_duplicates("training", keep="last")
    groups = curves.groupby("training")["mean"]
    selected = best[["model", "training", "step"]].assign(selection=best["mean"])
    selected["checkpoints"] = steps
    selected["mean"] = selected["training"].map(groups.mean())
    selected["last"] = selected["training"].map(groups.last())
    keys = ["model", "metric", "split", "step"]
    means = curves.groupby(keys, as_index=False)[["mean", "ci_low", "ci_high"]].mean()
    means = means.assign(training="", datasets=4, trainings=runs).iloc[: None if runs > 1 else 0]
    return {
        "curves": pd.concat([curves, means], ignore_index=True),
        "selected": selected.reset_index(drop=True),
        "checkpoints": selected.assign(split=split, metric="accuracy"),
    }
