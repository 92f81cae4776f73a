"""How every number is computed, in plain sentences with the study's own settings."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from capmap.pages.wording import NAME, join_names, join_some, join_words
from capmap.settings.choices import Unit
from capmap.wording import format_count, format_percent

Setting = Mapping[str, Any]
Sentences = list[tuple[str, Markup]]

INVALID = {
    "error": "A row that cannot be used stops the study.",
    "quarantine": "Rows that cannot be used are left out and listed in rejected.csv.",
}
DUPLICATES = {
    "error": "stop the study",
    "mean": "are averaged",
    "first": "count by the first one",
    "last": "count by the last one",
}
INCOMPLETE = {
    "error": "A model without runs on some dataset stops the study.",
    "drop_models": "Models without runs on some dataset are left out.",
    "drop_datasets": "Datasets on which some model has no runs are left out.",
    "adjust": "A missing cell has the score expected from an additive model of models and "
    "datasets, and intervals allow for how far cells lie from it.",
}
UNITS = {
    "runs": "over new runs on these datasets, independent from dataset to dataset",
    "seeds": "over new seeds on these datasets; runs of a seed may have anything in common",
    "runs_and_datasets": "over other runs on other such datasets",
}
DRAWS = {
    "runs": "runs within each dataset",
    "runs_and_datasets": "datasets, and of runs within each",
}
CALIBRATED = {
    "runs": "Variances are those of the runs' influences by dataset, pooled for single runs; the "
    "degrees of freedom are Satterthwaite's.",
    "seeds": "Variances are those of the seeds' influences, with one degree of freedom less than "
    "seeds.",
    "runs_and_datasets": "Variances are those of the datasets' influences, with "
    "n \N{MINUS SIGN} 1 degrees of freedom, or n / 2 \N{MINUS SIGN} 1 of the IQM (Yuen).",
}
ENOUGH = {
    "runs": "at least half of its datasets have two or more runs",
    "seeds": "at least half of its datasets have two or more runs",
    "runs_and_datasets": "it has four or more datasets",
}


def describe_methods(settings: Setting, *, unit: Unit) -> Sentences:
    """Explain each step from the exports to the ranks: headword and sentences."""
    bootstrap = settings["bootstrap"]
    aggregation = (
        "The runs of a model on a dataset are averaged to one score per cell. The mean, the median "
        "and the trimmed mean (without the lowest and the highest quarter) are over cells. The "
        "interquartile mean (IQM) is the mean of the middle half of all runs, with equal weight of "
        "the datasets."
    )
    return [
        ("Reading", _describe_reading(settings)),
        ("Normalization", _describe_normalization(settings)),
        ("Aggregation", Markup.escape(aggregation)),
        ("Intervals", Markup.escape(_describe_intervals(bootstrap, unit))),
        ("Ranks", Markup.escape(_describe_ranks(bootstrap))),
    ]


def _describe_reading(settings: Setting) -> Markup:
    rules = [
        Markup("{} is {}{}").format(
            NAME.format(column),
            "one of " if isinstance(values, list) else "",
            join_names(values if isinstance(values, list) else [values]),
        )
        for column, values in settings["where"].items()
    ]
    filtered = Markup("Only rows are read where {}. ").format(join_words(rules))
    return (filtered if rules else Markup("")) + Markup(" ").join(
        [
            INVALID[settings["invalid"]],
            _describe_failed(settings["failed"]),
            f"Differing scores of one run {DUPLICATES[settings['duplicates']]}.",
            INCOMPLETE[settings["incomplete"]],
        ]
    )


def _describe_failed(failed: Any) -> Markup:
    subject = Markup("A run whose score is empty, NaN or infinite {}.")
    if failed == "invalid":
        return Markup("Empty scores are left out and counted.")
    if failed == "drop":
        return subject.format("is left out and counted")
    if failed == "worst":
        return subject.format("counts with the worst score of its dataset")
    if isinstance(failed, Mapping):
        model = NAME.format(failed["model"])
        return subject.format(Markup("counts with the mean score of {} there").format(model))
    return subject.format(f"counts with {failed}")


def _describe_normalization(settings: Setting) -> Markup:
    text = Markup(
        "Every score becomes (score &minus; low) / (high &minus; low), and one minus that where "
        "lower is better, so 1 is best. Scores beyond the bounds are not clipped."
    )
    if settings["normalization"]["references"]:
        text += Markup(" Bounds with the origin references are frozen, from {}.").format(
            NAME.format(settings["normalization"]["references"])
        )
    scaled = {
        name: rule["transform"]["scale_rmse"]["std"]
        for name, rule in settings["datasets"].items()
        if "scale_rmse" in rule.get("transform", {})
    }
    if scaled:
        text += Markup(" Before that, an error r becomes 1 &minus; r &times; s on {}.").format(
            join_some(Markup("{} (s = {})").format(NAME.format(n), s) for n, s in scaled.items())
        )
    return text


def _describe_intervals(bootstrap: Setting, unit: Unit) -> str:
    level = format_percent(bootstrap["confidence"])
    text = f"Intervals ({level}) are {UNITS[unit]}. A model has intervals if {ENOUGH[unit]}."
    if bootstrap["interval"] == "calibrated":
        return (
            f"{text} A calibrated interval is Student's t interval, shifted for skew. "
            f"{CALIBRATED[unit]}"
        )
    replicates = format_count(bootstrap["replicates"], "bootstrap replicate")
    few = "datasets" if unit == "runs_and_datasets" else "runs per cell"
    return (
        f"{text} A percentile interval is that of {replicates} of {DRAWS[unit]} (seed "
        f"{bootstrap['seed']}), which is too narrow with few {few}."
    )


def _describe_ranks(bootstrap: Setting) -> str:
    level = format_percent(bootstrap["confidence"])
    return (
        f"Sets of ranks are {level} confidence sets (Mogstad et al. 2024): differences are tested "
        "with Student's t and Holm's correction. A model may be the best unless another is "
        "significantly better. Models that share a letter cannot be separated, allowing for all "
        "pairs, which does not show them to be equal."
    )
