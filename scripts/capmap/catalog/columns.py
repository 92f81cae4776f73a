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
        "model dataset metric name seed source shard statistic model_a model_b opponent reference "
        "best left_out group condition best_model duplicate_of architecture type family "
        "trained_on tested_on date dropped dataset_a dataset_b metric_a metric_b labels "
        "method backbone size submission tie_group release license training checkpoint ranking "
        "ranking_a ranking_b split stamp unit leader publication low_publication high_publication "
        "closest attribute axis successor",
        model_a="Model a",
        model_b="Model b",
    ),
    "ci_low": Column("From"),
    "ci_high": Column("To"),
    "df1": Column("df 1"),
    "df2": Column("df 2"),
    "elo": Column("Elo"),
    "iqm": Column("IQM"),
    "kendall_tau": Column("Kendall's tau"),
    "p": Column("p"),
    "p_a_better": Column("P(a better)"),
    "p_b_better": Column("P(b better)"),
    "p_holm": Column("p, Holm corrected"),
    "share_first": Column("Share first"),
    "p_equivalent": Column("P(equivalent)"),
    "p_improvement": Column("P(improvement)"),
    "p_improvement_high": Column("P(improvement) to"),
    "p_improvement_low": Column("P(improvement) from"),
    "p_model_better": Column("P(model better)"),
    "p_reference_better": Column("P(reference better)"),
    "share_top": Column("Share in top"),
    "rank_high": Column("Rank to"),
    "rank_high_all": Column("Rank to, all models at once"),
    "rank_low": Column("Rank from"),
    "rank_low_all": Column("Rank from, all models at once"),
    "rope": Column("ROPE"),
    "sha256": Column("SHA-256"),
    "std": Column("SD"),
    "wilcoxon_p": Column("Wilcoxon p"),
    "wilcoxon_p_holm": Column("p, Holm corrected"),
}

# What stays text when a table is read back.
TEXT_COLUMNS = [name for name, column in COLUMNS.items() if column.is_text]
