"""What draws each figure of a family, and names that are hard to draw."""

import numpy as np
import pandas as pd

from capmap.figures.bump import draw_conditions
from capmap.figures.capability_map import draw_attribute_maps, draw_map
from capmap.figures.datasets import draw_groups, draw_runs_per_cell, draw_scores, draw_seed_spread
from capmap.figures.drift import draw_drift
from capmap.figures.leaderboard import draw_checkpoint_curves, draw_checkpoint_optimism
from capmap.figures.multilabel import (
    draw_label_counts,
    draw_metric_lines,
    draw_metric_rank_shift,
    draw_subgroup_boxes,
)
from capmap.figures.pairwise import (
    draw_bayes_matrix,
    draw_comparison_matrix,
    draw_comparison_reference,
    draw_elo,
    draw_winrate,
)
from capmap.figures.predictions import (
    draw_dimensions,
    draw_error_by_results,
    draw_error_curve,
    draw_fit,
    draw_transfer,
)
from capmap.figures.profiles import draw_profiles, draw_score_profiles, draw_seed_widths
from capmap.figures.rank_tests import draw_critical_difference
from capmap.figures.rankings import draw_improvability, draw_intervals, draw_rank_shift
from capmap.figures.robustness import draw_robustness
from capmap.ranking.table import choose

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
        "scores": lambda: draw_scores(tables["scores"], order=order),
        "intervals": lambda: draw_intervals(tables["ranking"]),
        "rank_shift": lambda: draw_rank_shift(tables["ranking"]),
        "runs_per_cell": lambda: draw_runs_per_cell(tables["seeds"], order=order),
        "seed_spread": lambda: draw_seed_spread(tables["seeds"]),
    }


def plan_comparisons(tables):
    order = list(choose(tables["ranking"])["model"])
    pairs, against = tables["pairwise"], {"reference": order[0], "order": order}
    variations = (tables["robustness"], tables["robustness_ranks"], tables["flips"])
    plan = {
        "pairwise": lambda: draw_comparison_matrix(pairs, order=order, alpha=0.05),
        "pairwise_reference": lambda: draw_comparison_reference(pairs, **against),
        "bayes": lambda: draw_bayes_matrix(pairs, order=order),
    }
    others = {
        "robustness": lambda: draw_robustness(*variations, order=order),
        "groups": lambda: draw_groups(tables["groups"]),
        "improvability": lambda: draw_improvability(tables["improvability"]),
    }
    return others if pairs.empty else plan | others


def plan_curves(tables):
    order = list(choose(tables["ranking"])["model"])
    tests = (tables["mean_ranks"], tables["nemenyi"], tables["friedman"])
    profiles, conditions = tables["profiles"], (tables["conditions"], tables["condition_ranks"])
    plan = {
        "critical_difference": lambda: draw_critical_difference(*tests, alpha=0.05),
        "profiles": lambda: draw_profiles(profiles, tables["profile_area"], order=order),
        "score_profiles": lambda: draw_score_profiles(profiles, order=order),
        "elo": lambda: draw_elo(tables["elo"], order=order, confidence_level=0.95),
        "conditions": lambda: draw_conditions(*conditions, order=order),
        "seed_widths": lambda: draw_seed_widths(tables["seed_widths"], tables["ranking"]),
    }
    winrate = {"winrate": lambda: draw_winrate(tables["winrate"])}
    return plan if tables["winrate"].empty else plan | winrate


def plan_map(tables):
    described = tables["models"], tables["datasets"]
    return {
        "map": lambda: draw_map(tables["map"], *described),
        "attribute_maps": lambda: draw_attribute_maps(tables["map"], *described),
    }


def plan_errors(tables):
    points = tables["training"], tables["validation"], tables["summary"]
    return {
        "fit": lambda: draw_fit(*points, dimension=5),
        "dimensions": lambda: draw_dimensions(tables["summary"]),
        "by_results": lambda: draw_error_by_results(tables["by_results"], method="l2_ridge"),
        "curve": lambda: draw_error_curve(tables["error_curve"], confidence_level=0.9),
        "drift": lambda: draw_drift(tables["drift"]),
        "transfer": lambda: draw_transfer(tables["transfer"]),
    }


def plan_labels(tables, *, degradation=VERSIONS):
    metrics, shifts = tables["metrics"], tables["rank_shift"]
    return {
        "label_counts": lambda: draw_label_counts(tables["label_counts"]),
        "metric_lines": lambda: draw_metric_lines(tables["summary"], degradation),
        "subgroup_boxes": lambda: draw_subgroup_boxes(metrics, degradation),
        "metric_rank_shift": lambda: draw_metric_rank_shift(
            shifts, degradation, metrics, rank_by="asma"
        ),
    }


def plan_checkpoints(tables, *, metric="accuracy", order=()):
    curves = (tables["curves"], tables["selected"], tables["checkpoints"])
    return {
        "curves": lambda: draw_checkpoint_curves(*curves, metric=metric, order=order),
        "optimism": lambda: draw_checkpoint_optimism(tables["selected"]),
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
