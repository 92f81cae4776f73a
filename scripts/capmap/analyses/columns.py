"""What the columns of tables hold and are called: a name means one thing in all tables."""

from capmap.analyses import TABLES, find_table, load_analysis

# What columns of several analyses hold, where names do not say so; others are declared with theirs.
MEANINGS = {
    "after": "What it is in this run.",
    "architecture": "Architecture of the model, as its attributes say.",
    "before": "What it was in the former run.",
    "change": "Rank under the other condition less that under this one.",
    "component": "Number of a group of models and datasets that results connect.",
    "condition": "The study that is compared with this one.",
    "dropped": "Why it was left out; empty: it was not.",
    "family": "Family of the dataset, as its attributes say.",
    "iqm": "Interquartile mean: the mean of the middle half of the normalized scores.",
    "kendall_tau": "Kendall's rank correlation with the reported ranking, -1 to 1.",
    "labels": "Number of valid labels of an image.",
    "mean": "Mean of scores, as exported.",
    "mean_gap": "Mean gap over datasets; 0 is best.",
    "mse": "Mean squared error of predicted gaps.",
    "mse_additive": "Mean squared error of the additive model: a level per model and dataset.",
    "p_a_better": "Posterior probability that a is better by more than the region of equivalence.",
    "p_b_better": "Posterior probability that b is better by more than the region of equivalence.",
    "p_equivalent": "Posterior probability that the difference is in the region of equivalence.",
    "p_improvement": "Probability that a run of a is better than one of b, mean over datasets.",
    "predicted_score": "The score that is predicted, in the metric's unit.",
    "predictions": "Number of results that were hidden and predicted.",
    "rank": "Rank; 1 is best, equals share one.",
    "rank_high_all": "Worst rank in the confidence set that holds for all models at once.",
    "rank_low_all": "Best rank in the confidence set that holds for all models at once.",
    "sem": "Standard error of the mean over runs, as exported.",
    "stamp": "Says so where checkpoints were chosen on a test split.",
    "tie_group": "Models that share a letter cannot be separated, allowing for all pairs.",
    "type": "Type of task, as the dataset's attributes say.",
    "unit": "What is drawn anew: runs, seeds or items on these datasets, or runs and datasets.",
    "wilcoxon_p_holm": "That p-value, corrected for all pairs by Holm's method.",
    "wins": "Datasets on which the first model is better.",
}

# What pages call columns that are not called after their names.
LABELS = {
    "kendall_tau": "Kendall's tau",
    "p_a_better": "P(a better)",
    "p_b_better": "P(b better)",
    "p_equivalent": "P(equivalent)",
    "p_improvement": "P(improvement)",
    "rank_high_all": "Rank to, all models at once",
    "rank_low_all": "Rank from, all models at once",
    "sha256": "SHA-256",
    "wilcoxon_p_holm": "p, Holm corrected",
}

# What stays text when a table is read back: ``007`` is no 7.
NAMES = (
    "architecture backbone best checkpoint condition dataset dataset_a "
    "dataset_b date dropped family group labels left_out license method metric metric_a "
    "metric_b model model_a model_b name ranking ranking_a ranking_b release seed size "
    "source split stamp statistic submission tested_on tie_group training type unit"
)
TEXT_COLUMNS = NAMES.split()

# Words of names whose first letter alone is not what makes them a label.
SPELLINGS = {
    "asma": "ASMA",
    "ci": "CI",
    "df": "df",
    "hpo": "HPO",
    "iqm": "IQM",
    "mcnemar": "McNemar",
    "mse": "MSE",
    "p": "p",
    "real": "ReaL",
    "sem": "SEM",
    "std": "SD",
    "top1": "Top-1",
}


def spell_column(name: str) -> str:
    """What a page calls a column.

    Examples
    --------
    >>> [spell_column(name) for name in ("ci_low", "mse_low", "mean_gap", "p")]
    ['CI low', 'MSE low', 'Mean gap', 'p']
    """
    if name in LABELS:
        return LABELS[name]
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
    """What a column of a table holds, as a sentence; empty where its name says so."""
    own = load_analysis(TABLES[place]).meanings if place in TABLES else {}
    known = {**MEANINGS, **own}
    return known.get(f"{place.partition('/')[2]}.{column}", known.get(column, ""))
