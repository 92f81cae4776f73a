"""The tables of a study's page: rounded, intervals in one cell, the first rows of long ones."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import pandas as pd
from markupsafe import Markup

from capmap.analyses import Best, Table, load_analysis
from capmap.analyses.columns import explain_column, spell_column
from capmap.analyses.rendering import write_page
from capmap.claims import find_candidates, has_letters
from capmap.ranking import choose
from capmap.tables import count_decimals, find_best, format_numbers, is_number, write_scores
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
# Rows of the ranking on the page, and cells of the table of scores.
MOST_RANKED, MOST_SCORES, MOST_DATASETS = 500, 20_000, 100
# Warnings after which a ranking may be another one.
DOUBTS = {
    *("failed_run", "fractions", "opposite_order", "diverged", "out_of_bounds", "incomplete"),
    *("doubtful_sign", "doubtful_model", "alike_names", "selected_by_score", "reference_mismatch"),
}
INTERVALS = (
    " Scores and ranks come with intervals; the shaded rows are the models that may be the best."
)
SPARSE = {"headline", "ranking", "seeds"}
HEADLINE = [
    *("rank", "model", "score", "ci_low", "ci_high", "rank_low", "rank_high"),
    *("tie_group", "runs", "datasets", "filled"),
]
MOST_ROWS, MOST_COLUMNS = 10, 40


@dataclass(frozen=True)
class Column:
    """A column's heading: its names in CSV and on the page, its meaning, how it sorts first."""

    name: str
    label: str
    numeric: bool
    meaning: str
    first: str = ""


@dataclass(frozen=True)
class Cell:
    """A cell's text, and whether none in its column is better."""

    text: str
    is_best: bool = False


@dataclass(frozen=True)
class Row:
    """A row's cells, and whether it is to stand out."""

    cells: list[Cell]
    marked: bool


@dataclass(frozen=True)
class View:
    """A table on a page: its headings, its first rows, and the files that hold all of it.

    `header` is the position of the column that names the rows, None where all columns hold numbers;
    `note` says what was cut.
    """

    name: str
    caption: str
    columns: list[Column]
    header: int | None
    rows: list[Row]
    note: str
    files: Sequence[str]


def make_view(
    table: pd.DataFrame,
    *,
    name: str,
    caption: str,
    files: Sequence[str] = (),
    spelled: Collection[str] | None = None,
    marked: Collection[str] = (),
    best: Best | None = None,
    most: int = MOST_ROWS,
) -> View:
    """Prepare a table for a page; the ends of an interval stand in the cell of the estimate.

    The page names the columns `spelled` for a reader, by default all; rows of the names `marked`
    stand out, and so do the best values of columns.
    """
    shown = table.iloc[:, :MOST_COLUMNS]
    numeric = [is_number(shown.iloc[:, place]) for place in range(shown.shape[1])]
    named = shown.columns if spelled is None else spelled
    columns = [
        Column(
            label,
            spell_column(label) if label in named else label,
            kind,
            explain_column(name, label),
        )
        for label, kind in zip(map(str, shown.columns), numeric, strict=True)
    ]
    intervals = _find_ends(columns)
    decimals = _count_decimals(shown, columns, intervals)
    cells = [
        _format_column(shown.iloc[:, place], decimals[place], (best or {}).get(column.name), most)
        for place, column in enumerate(columns)
    ]
    for place, ends in intervals.items():
        cells[place] = list(map(_join_ends, cells[place], *(cells[end] for end in ends)))
    hidden = {end for ends in intervals.values() for end in ends}
    kept = [place for place in range(len(columns)) if place not in hidden]
    columns, cells = [columns[place] for place in kept], [cells[place] for place in kept]
    header = _find_header(columns)
    rows = [
        Row(list(row), header is not None and row[header].text in marked)
        for row in zip(*cells, strict=True)
    ]
    note = f"The first {most} of {len(table):,} rows." if len(table) > most else ""
    return View(name, caption, columns, header, rows, note, files)


def list_formats(file: str, formats: str) -> list[str]:
    """Addresses of a table in all its formats, the first as CSV; none where it has no file."""
    path = PurePosixPath(file)
    return [str(path.with_suffix(f".{suffix}")) for suffix in formats.split()] if file else []


def _find_header(columns: list[Column]) -> int | None:
    names = [column.name for column in columns]
    text = (position for position, column in enumerate(columns) if not column.numeric)
    return names.index("model") if "model" in names else next(text, None)


def _count_decimals(
    table: pd.DataFrame, columns: Sequence[Column], intervals: Mapping[int, tuple[int, int]]
) -> list[int | None]:
    """The decimals of each column, ends of an interval as its estimate; None of text."""
    counts = [
        count_decimals(table.iloc[:, place]) if column.numeric else None
        for place, column in enumerate(columns)
    ]
    for place, ends in intervals.items():
        most = max(counts[part] or 0 for part in (place, *ends))
        for part in (place, *ends):
            counts[part] = most
    return counts


def _format_column(
    values: pd.Series, decimals: int | None, direction: str | None, most: int
) -> list[Cell]:
    """The first cells of a column."""
    first = values.iloc[:most]
    if decimals is None:
        return [Cell("" if pd.isna(value) else str(value)) for value in first]
    printed = format_numbers(first, decimals=decimals)
    ends = format_numbers(values.dropna().agg(["min", "max"]), decimals=decimals)
    best = find_best(ends, direction)
    return [Cell(text, is_best=text == best) for text in printed]


def _find_ends(columns: Sequence[Column]) -> dict[int, tuple[int, int]]:
    """Where the ends of an interval are, by the place of the estimate.

    Notes
    -----
    ``x_low`` and ``x_high`` are ends of ``x`` or, where that is not there, of the number before
    them.
    """
    places = {column.name: place for place, column in enumerate(columns) if column.numeric}
    pairs = {
        name: (place, places[name.removesuffix("low") + "high"])
        for name, place in places.items()
        if name.endswith("low") and name.removesuffix("low") + "high" in places
    }
    taken = {end for ends in pairs.values() for end in ends}
    found: dict[int, tuple[int, int]] = {}
    for name, ends in pairs.items():
        owner = places.get(name.removesuffix("low").rstrip("_"), ends[0] - 1)
        if owner in places.values() and owner not in taken and owner not in found:
            found[owner] = ends
    return found


def _join_ends(cell: Cell, low: Cell, high: Cell) -> Cell:
    """A cell with the ends of its interval, such as ``0.652 [0.643, 0.663]``."""
    if not (cell.text and low.text and high.text):
        return cell
    return replace(cell, text=f"{cell.text} [{low.text},\u00a0{high.text}]")


def tabulate_rows(validation: Mapping[str, Any]) -> pd.DataFrame:
    """Tabulate what became of the exports' rows; zeros are included."""
    lines = [(label, validation["counts"][key]) for key, label in ROWS.items()]
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


def list_doubts(validation: Mapping[str, Any]) -> list[str]:
    """The kinds of warnings that touch the ranking."""
    codes = dict.fromkeys(found["code"] for found in validation["warnings"])
    return [code.replace("_", " ") for code in codes if code in DOUBTS]


def show_tables(
    tables: Mapping[str, pd.DataFrame],
    validation: Mapping[str, Any],
    versions: Mapping[str, str],
    files: Mapping[str, str],
) -> dict[str, View]:
    """Prepare the tables of a study for its page, by name; they are given as in `Results`."""
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
        "files": pd.DataFrame(validation["files"], columns=["path", "bytes", "rows", "sha256"]),
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
            spelled=["model"] if name == "scores" else None,
        )
        for name, caption in CAPTIONS.items()
    }
    views["raw"] = show_scores(ranking["model"].tolist(), tables, files)
    views["headline"] = make_view(
        shown["headline"],
        name="headline",
        caption=heading,
        files=list_formats(files.get("ranking", ""), "csv"),
        best={statistic: "max"},
        marked=best,
        most=MOST_RANKED,
    )
    return views


def show_scores(
    models: Sequence[str], tables: Mapping[str, pd.DataFrame], files: Mapping[str, str]
) -> View:
    """Show the scores of models on datasets in the units of their metrics, best in bold."""
    seeds = tables["seeds"].set_index("model")
    rules = tables["bounds"].drop_duplicates("dataset").set_index("dataset")
    rules = rules.reindex(sorted(seeds["dataset"].unique()))[["metric", "direction"]].fillna("")
    shown = rules.head(MOST_DATASETS)
    most = MOST_SCORES // max(1, len(shown))
    columns = [Column("model", "Model", numeric=False, meaning="")]
    cells = [[Cell(model) for model in models[:most]]]
    for dataset, metric, direction in shown.itertuples():
        better, first = ("lower", "ascending") if direction == "min" else ("higher", "descending")
        meaning = f"{metric}, {better} is better"
        columns.append(Column(dataset, dataset, numeric=True, meaning=meaning, first=first))
        own = seeds[seeds["dataset"] == dataset].reindex(models)
        texts = write_scores(own, direction)[:most]
        cells.append(
            [
                Cell(f"{mean} ±\u00a0{spread}" if spread else mean, place == 1)
                for mean, spread, place in texts
            ]
        )
    rows = [Row(list(row), marked=False) for row in zip(*cells, strict=True)]
    cut = len(models) > len(rows) or len(rules) > len(shown)
    note = f"The first {len(rows)} models and {len(shown)} datasets." if cut else ""
    caption = (
        "Scores in the units of the metrics, mean ± standard deviation over runs; best in bold."
    )
    return View("raw", caption, columns, 0, rows, note, list_formats(files.get("seeds", ""), "csv"))


def _count_datasets(ranking: pd.DataFrame) -> pd.DataFrame:
    """Write datasets as "13/14" where some models lack some."""
    if not ranking["missing"].any():
        return ranking
    total = ranking[["datasets", "filled", "missing"]].sum(axis=1)
    return ranking.assign(datasets=ranking["datasets"].astype(str) + "/" + total.astype(str))


@dataclass(frozen=True)
class Section:
    """A section of the page: anchor and title, what was found and how, its figures, its tables."""

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
    """Prepare the section of an analysis; words stand by the blocks of its template."""
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
                best=table.best,
            )
            for place, table in places.items()
        ],
    )


def summarize_changes(changes: pd.DataFrame) -> dict[str, Any]:
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
