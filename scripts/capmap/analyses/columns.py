"""What the columns of tables hold and are called: a name means one thing in all tables."""

from dataclasses import dataclass

from capmap.analyses import TABLES, find_table, load_analysis


@dataclass(frozen=True)
class Column:
    """A column of that name in any table.

    Parameters
    ----------
    meaning : str
        What it holds, as a sentence.
    label : str
        Its name on a page; empty: its name, spelt out.
    is_text : bool
        Whether it holds names, which stay as they are when a table is read back: ``007`` is no 7.
    """

    meaning: str
    label: str = ""
    is_text: bool = False


# Those of several analyses; the others are declared with their analysis.
COLUMNS = {
    "after": Column("What it is in this run."),
    "architecture": Column("Architecture of the model, as its attributes say.", is_text=True),
    "backbone": Column("Backbone of the entry.", is_text=True),
    "before": Column("What it was in the former run."),
    "best": Column("First model of this ranking.", is_text=True),
    "change": Column("Rank under the other condition less that under this one."),
    "checkpoint": Column("The checkpoint.", is_text=True),
    "ci_high": Column("Upper end of the confidence interval.", label="To"),
    "ci_low": Column("Lower end of the confidence interval.", label="From"),
    "component": Column("Number of a group of models and datasets that results connect."),
    "condition": Column("The study that is compared with this one.", is_text=True),
    "dataset": Column("The dataset.", is_text=True),
    "dataset_a": Column("The first dataset.", is_text=True),
    "dataset_b": Column("The second dataset.", is_text=True),
    "datasets": Column("Number of datasets."),
    "date": Column("Date of publication.", is_text=True),
    "difference": Column("The difference."),
    "dimension": Column("Number of dimensions of the map."),
    "dropped": Column("Why it was left out; empty: it was not.", is_text=True),
    "estimate": Column("The statistic."),
    "expected": Column("What is to be expected."),
    "family": Column("Family of the dataset, as its attributes say.", is_text=True),
    "group": Column("The group of datasets.", is_text=True),
    "high": Column("Upper end of the interval."),
    "iqm": Column("Interquartile mean: the mean of the middle half of the normalized scores."),
    "kendall_tau": Column(
        "Kendall's rank correlation with the reported ranking, -1 to 1.", label="Kendall's tau"
    ),
    "kind": Column("What the row is about."),
    "labels": Column("Number of valid labels of an image.", is_text=True),
    "left_out": Column("The datasets that were left out.", is_text=True),
    "license": Column("License of the submission.", is_text=True),
    "losses": Column("Datasets on which the first model is worse."),
    "low": Column("Lower end of the interval."),
    "mean": Column("Mean of scores, as exported."),
    "mean_gap": Column("Mean gap over datasets; 0 is best."),
    "method": Column("The method.", is_text=True),
    "metric": Column("The metric.", is_text=True),
    "metric_a": Column("The first metric.", is_text=True),
    "metric_b": Column("The second metric.", is_text=True),
    "model": Column("The model.", is_text=True),
    "model_a": Column("The first model of the pair.", label="Model a", is_text=True),
    "model_b": Column("The second model of the pair.", label="Model b", is_text=True),
    "models": Column("Number of models."),
    "mse": Column("Mean squared error of predicted gaps."),
    "mse_additive": Column(
        "Mean squared error of the additive model: a level per model and dataset."
    ),
    "name": Column("The name.", is_text=True),
    "p": Column("p-value."),
    "p_a_better": Column(
        "Posterior probability that a is better by more than the region of equivalence.",
        label="P(a better)",
    ),
    "p_b_better": Column(
        "Posterior probability that b is better by more than the region of equivalence.",
        label="P(b better)",
    ),
    "p_equivalent": Column(
        "Posterior probability that the difference is in the region of equivalence.",
        label="P(equivalent)",
    ),
    "p_improvement": Column(
        "Probability that a run of a is better than one of b, mean over datasets.",
        label="P(improvement)",
    ),
    "p_improvement_high": Column(
        "Upper end of the interval of the probability of improvement.", label="P(improvement) to"
    ),
    "p_improvement_low": Column(
        "Lower end of the interval of the probability of improvement.", label="P(improvement) from"
    ),
    "predicted": Column("The gap that is predicted."),
    "predicted_score": Column("The score that is predicted, in the metric's unit."),
    "predictions": Column("Number of results that were hidden and predicted."),
    "rank": Column("Rank; 1 is best, equals share one."),
    "rank_a": Column("Reported rank of the first model."),
    "rank_b": Column("Reported rank of the second model."),
    "rank_high": Column(
        "Worst rank in the confidence set, which holds for one model at a time.", label="Rank to"
    ),
    "rank_high_all": Column(
        "Worst rank in the confidence set that holds for all models at once.",
        label="Rank to, all models at once",
    ),
    "rank_low": Column(
        "Best rank in the confidence set, which holds for one model at a time.", label="Rank from"
    ),
    "rank_low_all": Column(
        "Best rank in the confidence set that holds for all models at once.",
        label="Rank from, all models at once",
    ),
    "ranking": Column("Name of the ranking, as configured.", is_text=True),
    "ranking_a": Column("The first ranking.", is_text=True),
    "ranking_b": Column("The second ranking.", is_text=True),
    "release": Column("Name of the release.", is_text=True),
    "results": Column("Number of results."),
    "runs": Column("Number of runs."),
    "score": Column("The score."),
    "score_high": Column(
        "Upper end of the interval of the score; inf: open, the metric has no bound."
    ),
    "score_low": Column(
        "Lower end of the interval of the score; -inf: open, the metric has no bound."
    ),
    "seed": Column("The seed.", is_text=True),
    "seeds": Column("Number of seeds."),
    "sem": Column("Standard error of the mean over runs, as exported."),
    "separated": Column("Whether the test separates the pair."),
    "sha256": Column("", label="SHA-256"),
    "share": Column("Share, 0 to 1."),
    "shift": Column("How far it moved."),
    "size": Column("Size of the backbone.", is_text=True),
    "source": Column("Which models the row is about.", is_text=True),
    "split": Column("The split of the data.", is_text=True),
    "stamp": Column("Says so where checkpoints were chosen on a test split.", is_text=True),
    "statistic": Column("The statistic.", is_text=True),
    "std": Column("Standard deviation over runs."),
    "submission": Column("Name of the submission.", is_text=True),
    "tested_on": Column("The datasets that were predicted.", is_text=True),
    "tie_group": Column(
        "Models that share a letter cannot be separated, allowing for all pairs; empty of "
        "more than 200 models.",
        is_text=True,
    ),
    "ties": Column("Datasets on which the two models are equal."),
    "training": Column("The training.", is_text=True),
    "type": Column("Type of task, as the dataset's attributes say.", is_text=True),
    "unit": Column(
        "What is drawn anew: runs or seeds on these datasets, or runs and datasets.", is_text=True
    ),
    "width": Column("Width of the interval."),
    "wilcoxon_p_holm": Column(
        "That p-value, corrected for all pairs by Holm's method.", label="p, Holm corrected"
    ),
    "wins": Column("Datasets on which the first model is better."),
}

# Words of names whose first letter alone is not what makes them a label.
SPELLINGS = {
    "asma": "ASMA",
    "df": "df",
    "hpo": "HPO",
    "iqm": "IQM",
    "mse": "MSE",
    "p": "p",
    "pearson": "Pearson",
    "real": "ReaL",
    "rope": "ROPE",
    "sem": "SEM",
    "std": "SD",
    "top1": "Top-1",
}

# What columns hold whose names have such an end or beginning.
DERIVED = {
    "_low": "Lower end of the interval",
    "_high": "Upper end of the interval",
}

# What stays text when a table is read back.
TEXT_COLUMNS = [name for name, column in COLUMNS.items() if column.is_text]


def spell_column(name: str) -> str:
    """What a page calls a column.

    Examples
    --------
    >>> [spell_column(name) for name in ("ci_low", "mse_low", "mean_gap", "p")]
    ['From', 'MSE low', 'Mean gap', 'p']
    """
    if name in COLUMNS and COLUMNS[name].label:
        return COLUMNS[name].label
    first, *others = name.split("_")
    words = [SPELLINGS.get(first, first.capitalize())]
    return " ".join([*words, *(SPELLINGS.get(word, word) for word in others)])


def list_text_columns(place: str) -> list[str]:
    """The columns of a table that hold names; of a table that is not declared, all that could."""
    table = find_table(place)
    if not table:
        return TEXT_COLUMNS
    declared = set(table.columns.split())
    return [*(name for name in TEXT_COLUMNS if name in declared), *table.text.split()]


def explain_column(place: str, column: str) -> str:
    """What a column of a table holds, as a sentence; empty where it is called after something.

    Examples
    --------
    >>> explain_column("capabilities/summary", "pearson_low")
    'Lower end of the interval: pearson correlation of predicted and observed gaps.'
    """
    meanings = load_analysis(TABLES[place]).meanings if place in TABLES else {}
    for name in (f"{place.partition('/')[2]}.{column}", column):
        if name in meanings:
            return meanings[name]
    if column in COLUMNS:
        return COLUMNS[column].meaning
    for part, words in DERIVED.items():
        base = column.removesuffix(part).removeprefix(part)
        if base != column and (meaning := explain_column(place, base)):
            return f"{words}: {meaning[0].lower()}{meaning[1:]}"
    return ""
