"""The ranking: one table with a row per group of datasets, scope, statistic and model.

`aggregation` makes one number per model. `resampling` draws runs within datasets, and datasets, and
computes statistics of what was drawn; `estimates` does all of it for the models of a study and of
its groups of datasets; `rank_sets` ranks models, and `pairs` compares them two by two.
"""

import pandas as pd

COLUMNS = [
    *("group", "unit", "statistic", "model", "score"),
    *("ci_low", "ci_high", "boot_low", "boot_high"),
    *("rank", "rank_low", "rank_high", "rank_low_all", "rank_high_all"),
    *("behind", "behind_low", "behind_high", "runs", "datasets", "filled", "missing"),
    "tie_group",
]
# Ways to average scores over datasets.
AVERAGES = ("mean", "trimmed_mean", "median", "iqm")


def choose(
    ranking: pd.DataFrame,
    *,
    unit: str | None = "",
    statistic: str | None = "",
    group: str | None = "",
) -> pd.DataFrame:
    """Choose rows of the ranking: those of the headline, unless told otherwise.

    "" means those of the headline, which is on all datasets, and None means any.
    """
    if ranking.empty:
        return ranking
    first = ranking.iloc[0]
    is_chosen = pd.Series(True, ranking.index)
    if unit is not None:
        is_chosen &= ranking["unit"] == (unit or first["unit"])
    if statistic == "":
        # In the other scope, models are ranked by one statistic only.
        is_other = (ranking["unit"] != first["unit"]) & (_name_groups(ranking) == "")
        is_chosen &= (ranking["statistic"] == first["statistic"]) | is_other
    elif statistic is not None:
        is_chosen &= ranking["statistic"] == statistic
    if group is not None:
        is_chosen &= _name_groups(ranking) == group
    return ranking[is_chosen]


def choose_ranked(ranking: pd.DataFrame) -> pd.DataFrame:
    """Choose the headline's rows, without models that have too few datasets to be ranked."""
    return choose(ranking).dropna(subset="rank")


def choose_of_groups(ranking: pd.DataFrame) -> pd.DataFrame:
    """Choose the rows of all groups of datasets, by what ranks the models."""
    found = choose(ranking, group=None)
    return found[_name_groups(found) != ""]


def _name_groups(ranking: pd.DataFrame) -> "pd.Series[str]":
    """The groups of rows; read back from CSV, that of the whole study is a missing value."""
    groups = ranking["group"].astype("object")
    return groups.where(groups.notna(), "")


def compare_ranks(ranking: pd.DataFrame) -> pd.DataFrame:
    """Ranks on all datasets, by model (rows) and way to average scores (columns)."""
    own = {name: choose(ranking, statistic=name).set_index("model")["rank"] for name in AVERAGES}
    return pd.DataFrame(own).sort_index().dropna().astype("float64")
