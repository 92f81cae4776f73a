"""The tables of a study's page: their share of its bytes, captions and headings."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from capmap.analyses import load_analysis
from capmap.analyses.columns import spell_column
from capmap.analyses.declarations import Table
from capmap.claims import find_candidates, has_letters
from capmap.pages.accounts import count_rejected, list_files, list_warnings, tabulate_rows
from capmap.pages.views import View, list_formats, make_view
from capmap.ranking.table import choose
from capmap.wording import SHARED_LETTERS, spell_statistic

# Tables that stand on the page only.
OTHERS = {
    "changes": "What came, went and moved since the former run.",
    "counts": "What became of the rows of the exports. A row of a matrix holds several runs.",
    "rejected": "Rejected rows by reason.",
    "dropped": "Models and datasets that were left out of the analysis, and why.",
    "warnings": "What to look at in the exports, with places; first one of each kind.",
    "bounds": "The scores, as exported, after transforms, that map to 0 (low) and 1 (high), or the "
    "other way round where the direction is min, and where they come from.",
    "files": "The exports that were read, with size and SHA-256.",
    "versions": "Software in the environment that wrote this page.",
}
MAIN = load_analysis("main")
CAPTIONS = {name: table.caption for name, table in MAIN.tables.items()} | OTHERS
# Rows of the ranking on the page.
MOST_RANKED = 500
INTERVALS = (
    " Scores and ranks come with intervals; the shaded rows are the models that may be the best."
)
SPARSE = {"headline", "ranking", "seeds"}
HEADLINE = [
    *("rank", "model", "score", "ci_low", "ci_high", "rank_low", "rank_high"),
    *("tie_group", "runs", "datasets", "filled"),
]


def show_tables(
    tables: Mapping[str, pd.DataFrame],
    validation: Mapping[str, Any],
    versions: Mapping[str, str],
    files: Mapping[str, str],
) -> dict[str, View]:
    """Prepare the tables of a study for its page.

    Parameters
    ----------
    tables, validation, versions, files
        As in `capmap.pages.report.Results`.

    Returns
    -------
    dict of str to View
        The tables by name. Without intervals, their columns are left out.
    """
    everything = tables["ranking"]
    ranking = choose(everything)
    statistic = ranking["statistic"].iloc[0]
    shown = {
        **tables,
        "headline": _count_datasets(ranking)[HEADLINE].rename(columns={"score": statistic}),
        "ranking": everything.drop(index=ranking.index),
        "counts": tabulate_rows(validation),
        "rejected": count_rejected(validation),
        "warnings": list_warnings(validation),
        "files": list_files(validation),
        "versions": pd.DataFrame(versions.items(), columns=["software", "version"]),
    }
    shown |= {name: shown[name].dropna(axis="columns", how="all") for name in SPARSE}
    spare = [column for column in ("filled", "missing") if not everything[column].any()]
    shown |= {
        name: shown[name].drop(columns=spare, errors="ignore") for name in ("headline", "ranking")
    }
    best = find_candidates(ranking)
    heading = f"Models by {spell_statistic(statistic)}, best first."
    heading += INTERVALS if best else ""
    if ranking["tie_group"].map(has_letters).any():
        heading += f" {SHARED_LETTERS}"
    declared = defaultdict(lambda: Table("", formats="csv"), MAIN.tables)
    views = {
        name: make_view(
            shown[name],
            name=name,
            caption=caption,
            files=list_formats(files.get(name, ""), declared[name].formats),
            best=declared[name].best,
            labels=_label_columns(name, shown[name]),
        )
        for name, caption in CAPTIONS.items()
    }
    views["headline"] = make_view(
        shown["headline"],
        name="headline",
        caption=heading,
        files=list_formats(files.get("ranking", ""), "csv"),
        best={statistic: "max"},
        labels=_label_columns("headline", shown["headline"]),
        marked=best,
        most=MOST_RANKED,
    )
    return views


def _count_datasets(ranking: pd.DataFrame) -> pd.DataFrame:
    """Write datasets as "13/14" where some models lack some."""
    if not ranking["missing"].any():
        return ranking
    total = ranking[["datasets", "filled", "missing"]].sum(axis=1)
    return ranking.assign(datasets=ranking["datasets"].astype(str) + "/" + total.astype(str))


def _label_columns(name: str, table: pd.DataFrame) -> dict[str, str]:
    """Name columns for a reader; datasets keep their names."""
    named = ["model"] if name == "scores" else list(table.columns)
    return {column: spell_column(column) for column in named}
