"""The tables of a study's page: their share of its bytes, captions and headings."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from capmap.analyses import load_analysis
from capmap.analyses.columns import spell_column
from capmap.analyses.declarations import Table
from capmap.analyses.rendering import write_page
from capmap.claims import find_candidates, has_letters
from capmap.pages.views import View, list_formats, make_view
from capmap.ranking.table import choose
from capmap.wording import SHARED_LETTERS, spell_statistic

ROWS = {
    "rows": "rows in the exports",
    "rows_filtered": "rows left out by the filter of the settings",
    "rows_empty_score": "empty scores",
    "rows_rejected": "rows rejected, in whole or in part",
    "duplicates_identical": "repeats of a run with the same score, counted once",
    "duplicates_resolved": "repeats of a run with another score, resolved as configured",
    "runs": "usable runs",
}
CONVERSIONS = {
    "percent_signs": "scores with a percent sign, divided by 100",
    "decimal_commas": "scores with a decimal comma, read as a point",
}
WARNING = ["reason", "remedy", "source", "line", "column", "value"]
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


def find_reading(validation: Mapping[str, Any]) -> dict[str, Any]:
    """Which columns were taken for what, in the most frequent way of reading."""
    readings = validation.get("readings", [])
    if not readings:
        return {}
    first = max(readings, key=lambda reading: reading["files"])
    others = sum(reading["files"] for reading in readings) - first["files"]
    return {**first, "others": others}


def find_changes(changes: pd.DataFrame) -> dict[str, Any]:
    """What came, went and changed since the former run, and the largest move of a rank."""
    parts = []
    for kind in ("model", "dataset", "run", "setting"):
        own = changes[changes["kind"] == kind]
        is_new, is_gone = own["before"].isna(), own["after"].isna()
        ways = {"new": is_new, "removed": is_gone, "changed": ~is_new & ~is_gone}
        if kind == "setting":
            ways = {"changed": own["name"].notna()}
        found = {f"{way} {kind}": own.loc[chosen, "name"].tolist() for way, chosen in ways.items()}
        parts += [(noun, names) for noun, names in found.items() if names]
    ranks = changes[changes["kind"] == "rank"].dropna(subset=["before", "after"])
    ranks = ranks.astype({"before": int, "after": int})
    moves = (ranks["after"] - ranks["before"]).abs().to_numpy()
    largest = ranks.iloc[int(moves.argmax())].to_dict() if len(ranks) else {}
    return {"parts": parts, "largest": largest}


def tabulate_rows(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate what became of the exports' rows; zeros are included."""
    counts, conversions = validation["counts"], validation["conversions"]
    lines = [(label, counts[key]) for key, label in ROWS.items()]
    lines += [(label, conversions[key]) for key, label in CONVERSIONS.items()]
    return pd.DataFrame(lines, columns=["what", "number"])


def count_rejected(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate why rows were rejected, the most frequent reason first."""
    rejected = sorted(validation["rejected"].items(), key=lambda item: (-item[1], item[0]))
    reasons = [(reason.replace("_", " "), rows) for reason, rows in rejected]
    return pd.DataFrame(reasons, columns=["reason", "rows"])


def list_warnings(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the warnings: the first of each kind, then the second, so that a cut loses none."""
    table = pd.DataFrame(validation["warnings"], columns=["code", *WARNING])
    table = table.iloc[table.groupby("code").cumcount().argsort(kind="stable")]
    table["line"] = table["line"].where(table["line"] != 0).astype("Int64")
    filled = [name for name in WARNING if table[name].replace("", None).notna().any()]
    return table[filled or WARNING].reset_index(drop=True)


def list_files(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate the exports with their size and digest."""
    return pd.DataFrame(validation["files"], columns=["path", "bytes", "rows", "sha256"])


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


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Parameters
    ----------
    name, heading : str
        Its anchor and title.
    answer, methods : markupsafe.Markup
        What was found, and how; the second may be empty.
    figures : sequence of str
        Names of its figures.
    views : list of View
        Its tables.
    """

    name: str
    heading: str
    answer: Markup
    methods: Markup
    figures: Sequence[str]
    views: list[View]


def show_analysis(
    name: str,
    words: Mapping[str, Markup],
    tables: Mapping[str, pd.DataFrame],
    *,
    files: Mapping[str, str],
) -> Section:
    """Prepare the section of an analysis.

    Parameters
    ----------
    name : str
        The analysis.
    words : mapping of str to markupsafe.Markup
        What it says, by the blocks of its template.
    tables : mapping of str to pandas.DataFrame
        Finished tables by their names with folder, such as ``comparisons/elo``.
    files : mapping of str to str
        Where the page finds tables.

    Returns
    -------
    Section
        Of long tables the first rows.
    """
    analysis = load_analysis(name)
    places = {f"{analysis.folder}/{name}": table for name, table in analysis.tables.items()}
    return Section(
        name=name,
        heading=analysis.question,
        answer=write_page(words["answer"]),
        methods=write_page(words["methods"]),
        figures=list(analysis.figures),
        views=[
            make_view(
                tables[place],
                name=place,
                caption=table.caption,
                files=list_formats(files[place], table.formats),
                labels={column: spell_column(column) for column in tables[place].columns},
                best=table.best,
            )
            for place, table in places.items()
        ],
    )
