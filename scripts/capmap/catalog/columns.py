"""What the columns of tables are called, and which hold text: a name means one thing everywhere."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Column:
    """A column of that name in any table.

    Parameters
    ----------
    label : str
        Its name on a page; empty: its name, spelt out.
    is_text : bool
        Whether it holds names, which stay as they are when a table is read back: ``007`` is no 7.
    """

    label: str = ""
    is_text: bool = False


def name_columns(names: str, **labels: str) -> dict[str, Column]:
    """Columns of text."""
    return {name: Column(labels.get(name, ""), is_text=True) for name in names.split()}


COLUMNS = {
    **name_columns(
        "model dataset metric name seed source shard statistic model_a model_b opponent "
        "best left_out group condition best_model duplicate_of architecture type family "
        "tested_on date dropped dataset_a dataset_b metric_a metric_b labels "
        "method backbone size submission tie_group release license training checkpoint ranking "
        "ranking_a ranking_b split stamp unit leader",
        model_a="Model a",
        model_b="Model b",
    ),
    "ci_low": Column("From"),
    "ci_high": Column("To"),
    "kendall_tau": Column("Kendall's tau"),
    "p_a_better": Column("P(a better)"),
    "p_b_better": Column("P(b better)"),
    "p_front": Column("P(front)"),
    "p_equivalent": Column("P(equivalent)"),
    "p_improvement": Column("P(improvement)"),
    "p_improvement_high": Column("P(improvement) to"),
    "p_improvement_low": Column("P(improvement) from"),
    "share_top": Column("Share in top"),
    "rank_high": Column("Rank to"),
    "rank_high_all": Column("Rank to, all models at once"),
    "rank_low": Column("Rank from"),
    "rank_low_all": Column("Rank from, all models at once"),
    "sha256": Column("SHA-256"),
    "wilcoxon_p_holm": Column("p, Holm corrected"),
}

# Words of names whose first letter alone is not what makes them a label.
SPELLINGS = {
    "asma": "ASMA",
    "df": "df",
    "hpo": "HPO",
    "iqm": "IQM",
    "mae": "MAE",
    "mse": "MSE",
    "p": "p",
    "pearson": "Pearson",
    "real": "ReaL",
    "rope": "ROPE",
    "sem": "SEM",
    "std": "SD",
    "top1": "Top-1",
}

# What stays text when a table is read back.
TEXT_COLUMNS = [name for name, column in COLUMNS.items() if column.is_text]


def spell_column(name: str) -> str:
    """What a page calls a column.

    Examples
    --------
    >>> [spell_column(name) for name in ("ci_low", "train_mse", "mean_gap", "p")]
    ['From', 'Train MSE', 'Mean gap', 'p']
    """
    known = COLUMNS.get(name, Column()).label
    first, *others = name.split("_")
    words = [SPELLINGS.get(first, first.capitalize())]
    return known or " ".join([*words, *(SPELLINGS.get(word, word) for word in others)])
