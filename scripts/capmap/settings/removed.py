"""Settings, and values of settings, that an earlier version knew, and what to use instead."""

from typing import Any

REMOVED: dict[str, str] = {
    "aggregate": "leave it out: mean, trimmed mean and median are always given.",
    "analyses=publications": "columns: {seed: COLUMN} makes a run of each publication.",
    "attributes.datasets.cost": "leave it out; what to run next does not depend on costs.",
    "attributes.datasets.family": "leave it out; the family is the part of the name before ' / '.",
    "attributes.datasets.name": "call the column dataset.",
    "attributes.models.date_format": "write dates as 2024-02-13, 13/02/2024 or 02/13/2024.",
    "attributes.models.name": "call the column model.",
    "bootstrap.interval=basic": "use calibrated, which holds its level with few runs.",
    "bootstrap.interval=bca": "use calibrated, which holds its level with few runs.",
    "bootstrap.statistics": "leave it out: all statistics have intervals.",
    "bootstrap.weights": "leave it out; each dataset weighs the same.",
    "capabilities.confidence": "leave it out; prediction intervals have the level 90%.",
    "capabilities.distances": "leave it out; l2, cosine and poincare are compared.",
    "capabilities.held_out": "leave it out; 10 results are held out in each split.",
    "capabilities.method=ensemble": "leave it out; predictions are by the Bayesian factors.",
    "capabilities.starts": "leave it out; positions are fitted from one start.",
    "capabilities.unreported_worse": "leave it out; results are taken as missing at random.",
    "checkpoints.domains": "leave it out; all datasets that have the metric decide.",
    "checkpoints.rankings.method": "leave it out; a metric or an expression says it.",
    "checkpoints.rankings.weights": "use an expression, such as 0.7 * accuracy - 0.3 * ece.",
    "checkpoints.select.datasets": "leave it out; all datasets that have the metric decide.",
    "checkpoints.select.direction": "set metrics: {METRIC: {direction: max}} or min.",
    "checkpoints.test_splits": "leave it out; that of the report is the test split.",
    "claims.<name>.note": "leave it out; say it in the words of the claim.",
    "classify": "write the scores of your models as dumps and name them in exports.",
    "columns.keep": "leave it out; join it from the exports.",
    "columns.publication": "use columns: {seed: COLUMN}, a run of each publication.",
    "columns.time": "leave it out; a table over dates is no longer made of checkpoints.",
    "comparison.aggregation": "leave it out; conditions are compared by the interquartile mean.",
    "comparison.alpha": "set bootstrap.confidence; tests have the level 1 minus it.",
    "comparison.highlight": "set figures.colors, or figures.order for models to stand first.",
    "comparison.missing": "for datasets that all models have, set incomplete: drop_datasets.",
    "comparison.probability": "leave it out; the Bayesian test decides from 95% on.",
    "comparison.replicates": "set bootstrap.replicates; comparisons take at most 2000.",
    "comparison.samples": "leave it out; the Bayesian test draws 50,000 samples.",
    "duplicates=sum": "set duplicates: mean, or add the rows up before the export.",
    "figures.dpi": "leave it out; PNG files have 300 dots per inch.",
    "figures.each": "set figures.width by figure, such as {intervals: 7}.",
    "figures.font": "leave it out; text is in DejaVu Sans.",
    "figures.height": "leave it out; figures are as high as their rows need.",
    "figures.notes": "leave it out; text in the SVG can be edited.",
    "figures.style": "set figures.font_size, palette, colors and width.",
    "figures.titles": "leave it out; text in the SVG can be edited.",
    "groups.<name>.incomplete": "leave it out; that of the study holds.",
    "incomplete=impute": "use adjust, which expects what is missing from the other scores.",
    "incomplete=keep": "use adjust, drop_models or drop_datasets.",
    "leaderboard.citation": "write it in leaderboard.about.",
    "leaderboard.complete": "use min_datasets; a dimension needs all datasets.",
    "leaderboard.dimension": "leave it out; the page opens on all datasets.",
    "leaderboard.method": "leave it out; the page opens on all methods.",
    "leaderboard.submit": "write it in leaderboard.about.",
    "leaderboard.version": "write it in leaderboard.about.",
    "limits": "leave it out; pairs of more than 500 models are not compared.",
    "min_seeds": "leave it out; tables/seeds counts the runs of each cell.",
    "multilabel.confidence": "set bootstrap.confidence.",
    "multilabel.replicates": "set bootstrap.replicates; images take at most 1000.",
    "multilabel.top": "leave it out; multilabel/summary has the ranks of all models.",
    "next": "leave it out; the table next lists all and can be filtered.",
    "patchml.cells": "leave it out: the grid is filled row by row, as published.",
    "predictions.datasets.<name>.classes": "write labels by the names in predictions.classes.",
    "rank_by=optimality_gap": "use mean; the optimality gap is in tables/intervals.",
    "ratings": "leave it out; equal means are ties, and 1000 is the mean rating.",
    "reading.delimiter": "leave it out; commas, semicolons, tabs and bars are found.",
    "redirects": "leave it out; redirects are followed, without credentials.",
    "robustness": "leave it out; rank sets over datasets say how ranks depend on them.",
    "sample_size": "leave it out: comparisons/detectable is for a power of 80%.",
    "select.datasets.include": "write the list alone, as in select: {datasets: [A, B]}.",
    "select.models.include": "write the list alone, as in select: {models: [A, B]}.",
    "submission.method": "add the column frozen_or_full_ft; else it is full_ft.",
    "take.best": "set take: best, or take: lowest.",
    "take.step": "read the rows of the step only, as in where: {step: 500}.",
    "tracking": "export by mlflow.search_runs().to_csv() and set preset: mlflow.",
}


def explain_removed(place: tuple[str | int, ...], settings: Any) -> str:
    """Say what to use instead of a setting or value that is no longer known; "" of others."""
    value = settings
    for key in place:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int):
            value = value[key]
        else:
            return ""
    names = [str(key) for key in place if not isinstance(key, int)]
    names = names[2:] if names[:1] == ["studies"] else names
    for entry, instead in REMOVED.items():
        path, _, old = entry.partition("=")
        keys = path.split(".")
        is_named = len(keys) == len(names) and all(
            key in ("<name>", name) for key, name in zip(keys, names, strict=True)
        )
        if is_named and (not old or str(value).casefold() == old.casefold()):
            return f"was removed. Instead: {instead}"
    return ""
