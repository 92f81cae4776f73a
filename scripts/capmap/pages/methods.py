"""How every number was computed, in plain sentences with the study's own settings."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from capmap.pages.wording import (
    NAME,
    format_percentile,
    join_names,
    join_some,
    join_words,
)
from capmap.settings.choices import STATISTIC_WORDS, Unit
from capmap.wording import format_count, format_percent

Setting = Mapping[str, Any]
Sentences = list[tuple[str, Markup]]

INVALID = {
    "error": "A row that cannot be used stops the study.",
    "quarantine": "Rows that cannot be used are left out and listed in rejected.csv.",
}
DUPLICATES = {
    "error": "Differing scores of the same model, dataset, metric and seed stop the study",
    "mean": "Differing scores of the same model, dataset, metric and seed are averaged",
    "first": "Of differing scores of the same model, dataset, metric and seed the first counts",
    "last": "Of differing scores of the same model, dataset, metric and seed the last counts",
}
INCOMPLETE = {
    "error": "A model without runs on some dataset stops the study.",
    "drop_models": "Models without runs on some dataset are left out.",
    "drop_datasets": "Datasets on which some model has no runs are left out.",
    "adjust": "Models without runs on some dataset are kept. On what they lack they have the score "
    "that is expected from an additive model of models and datasets, and their intervals allow for "
    "how far cells lie from it.",
}
AGGREGATIONS = {
    "mean": "the mean is the plain average over datasets",
    "trimmed_mean": "the trimmed mean is the average without the lowest and the highest quarter "
    "of the datasets (each quarter rounded down)",
    "median": "the median is the middle dataset, or the mean of the middle two",
}
UNITS = {
    "runs": "how the score would vary with other runs on these same datasets, with nothing in "
    "common between the runs of different datasets",
    "seeds": "how the score would vary with other seeds on these same datasets; runs of a seed "
    "on different datasets may have anything in common",
    "runs_and_datasets": "how the score would vary with other runs on other such datasets",
}
DRAWS = {
    "runs": "runs are drawn with replacement within each dataset",
    "runs_and_datasets": "datasets are drawn with replacement, and runs within each",
}
PERCENTILE = Markup(
    "A percentile interval runs from the {low} to the {high} percentile of the replicates. "
)
FEW_RUNS = "It is known to be too narrow with few runs per cell."
FEW_DATASETS = "It is known to be too narrow with few datasets."
CALIBRATED = Markup(
    "The interval reaches Student's t times that standard error to both sides of the estimate "
    "(of the IQM, one that cuts exactly a quarter of the weight from each end), shifted for skew; "
    "it is widened where it would miss the estimate itself."
)
INTERVALS = {
    ("percentile", "runs"): PERCENTILE + FEW_RUNS,
    ("percentile", "runs_and_datasets"): PERCENTILE + FEW_DATASETS,
    ("calibrated", "runs"): Markup(
        "A calibrated interval is Student's t interval, with the variance of the runs' influences: "
        "scores beyond the quartiles count as the quartiles, and each dataset has its own "
        "variance. The degrees of freedom are Satterthwaite's. A run that is alone on its dataset "
        "has the pooled variance of the others. "
    )
    + CALIBRATED,
    ("calibrated", "seeds"): Markup(
        "A calibrated interval is Student's t interval, with the variance of the seeds' "
        "influences, summed over datasets: scores beyond the quartiles count as the quartiles. "
        "The degrees of freedom are the number of seeds less one. "
    )
    + CALIBRATED,
    ("calibrated", "runs_and_datasets"): Markup(
        "A calibrated interval is Student's t interval, with the variance of the datasets' "
        "influences. The IQM of n datasets has n / 2 &minus; 1 degrees of freedom (Yuen), other "
        "statistics have n &minus; 1. "
    )
    + CALIBRATED,
}
ENOUGH = {
    "runs": "at least half of its datasets have two or more runs",
    "seeds": "at least half of its datasets have two or more runs",
    "runs_and_datasets": "it has four or more datasets",
}


def describe_methods(settings: Setting, *, unit: Unit) -> Sentences:
    """Explain each step from the exports to the ranks.

    Parameters
    ----------
    settings : mapping
        The study's settings, checked and with defaults.
    unit : {"runs", "seeds", "runs_and_datasets"}
        What intervals generalize to.

    Returns
    -------
    list of (str, markupsafe.Markup)
        Headword and sentences of each step, in order.
    """
    bootstrap = settings["bootstrap"]
    return [
        ("Reading", _describe_reading(settings)),
        ("Normalization", _describe_normalization(settings)),
        ("Aggregation", _describe_aggregation()),
        ("Interquartile mean (IQM)", _describe_iqm()),
        ("Intervals", _describe_intervals(bootstrap, unit)),
        ("Ranks", _describe_ranks(bootstrap)),
        ("Tie groups", _describe_ties(bootstrap)),
    ]


def _describe_reading(settings: Setting) -> Markup:
    sentences = []
    if settings["where"]:
        rules = [
            Markup("{} is {}").format(NAME.format(column), _list_values(values))
            for column, values in settings["where"].items()
        ]
        sentences.append(Markup("Only rows are read where {}.").format(join_words(rules)))
    sentences += [
        Markup.escape(INVALID[settings["invalid"]]),
        _describe_failed(settings["failed"]),
        Markup("{}; repeats with the same score count once.").format(
            DUPLICATES[settings["duplicates"]]
        ),
        Markup.escape(INCOMPLETE[settings["incomplete"]]),
    ]
    return Markup(" ").join(sentences)


def _describe_failed(failed: Any) -> Markup:
    if failed == "invalid":
        return Markup("Empty scores are left out and counted, and never stop the study.")
    subject = Markup("A run whose score is empty, NaN or infinite ")
    if failed == "drop":
        return subject + Markup("is left out and counted.")
    if failed == "worst":
        return subject + Markup("counts with the worst score of its dataset.")
    if isinstance(failed, Mapping):
        return subject + Markup(
            "counts with the mean score of the model {} on its dataset."
        ).format(NAME.format(failed["model"]))
    return subject + Markup("counts with {}.").format(failed)


def _list_values(values: Any) -> Markup:
    values = values if isinstance(values, list) else [values]
    names = join_names(values)
    return Markup("one of {}").format(names) if len(values) > 1 else names


def _describe_normalization(settings: Setting) -> Markup:
    text = Markup(
        "Every score becomes (score &minus; low) / (high &minus; low), and one minus that "
        "where lower is better, so 1 is best. The table below has the bounds of each dataset and "
        "where they come from. Scores beyond the bounds are not clipped: they leave the range 0 "
        "to 1."
    )
    if settings["normalization"]["references"]:
        text += Markup(
            " Frozen bounds were read from {}: new models move no old score of the datasets whose "
            "two origins below are references."
        ).format(NAME.format(settings["normalization"]["references"]))
    scaled = {
        name: rule["transform"]["scale_rmse"]["std"]
        for name, rule in settings["datasets"].items()
        if "scale_rmse" in rule.get("transform", {})
    }
    if scaled:
        text += Markup(" Before that, an error r became 1 &minus; r &times; s on {}.").format(
            join_some(Markup("{} (s = {})").format(NAME.format(n), s) for n, s in scaled.items())
        )
    return text


def _describe_aggregation() -> Markup:
    return Markup(
        "The runs of a model on a dataset are averaged to one score per cell. Across datasets, {}. "
        "Models with the same score share the better rank."
    ).format(join_words(AGGREGATIONS.values()))


def _describe_iqm() -> Markup:
    return Markup(
        "This is the mean of the middle half of all of a model's normalized runs on all "
        "datasets, so neither the lowest nor the highest quarter of its "
        "scores counts (each quarter rounded down to whole runs). "
        "Each dataset weighs the same, however many runs it has."
    )


def _describe_intervals(bootstrap: Setting, unit: Unit) -> Markup:
    level = bootstrap["confidence"]
    low, high = (format_percentile(share) for share in ((1 - level) / 2, (1 + level) / 2))
    return Markup(
        "The intervals answer {}. They are given of {}, at a nominal level of {}. {}{} A model "
        "gets intervals only if {}: fewer do not show how much they vary."
    ).format(
        UNITS[unit],
        join_words(STATISTIC_WORDS.values()),
        format_percent(level),
        _describe_draws(bootstrap, unit),
        INTERVALS[bootstrap["interval"], unit].format(low=low, high=high),
        ENOUGH[unit],
    )


def _describe_draws(bootstrap: Setting, unit: Unit) -> Markup:
    if bootstrap["interval"] == "calibrated":
        return Markup("")
    return Markup(
        "In each of {}, {}; all draws derive from the seed {} and the names of study and model, so "
        "they are the same on every machine. "
    ).format(
        format_count(bootstrap["replicates"], "bootstrap replicate"),
        DRAWS[unit],
        bootstrap["seed"],
    )


def _describe_ranks(bootstrap: Setting) -> Markup:
    return Markup(
        "A model's rank lies between one more than the number of models that are significantly "
        "better and the number of those that are not significantly worse: a {} confidence set "
        "(Mogstad et al. 2024). The differences from its rivals are tested with Student's t, and "
        "Holm's steps allow for their number. The sets of all models at once allow for all pairs. "
        "A model may be the best unless some other is significantly better. Models without an "
        "interval count as not separated."
    ).format(format_percent(bootstrap["confidence"]))


def _describe_ties(bootstrap: Setting) -> Markup:
    return Markup(
        "A letter marks models of which no two can be separated at {}, allowing for all pairs of "
        "models. That does not show them to be equal; more runs or datasets may separate them."
    ).format(format_percent(bootstrap["confidence"]))
