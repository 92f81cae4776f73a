"""A study's results as one HTML page, with what came, went and moved since the former run."""

import json
import platform
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from markupsafe import Markup

from capmap.analyses import FIGURES, TOGETHER, load_analysis
from capmap.analyses.rendering import FILTERS, write_page
from capmap.artifacts import read_index, read_table, render_csv, replace_file, write_text
from capmap.claims import ranks_apart
from capmap.pages import render_page
from capmap.pages.contents import (
    list_doubts,
    show_analysis,
    show_tables,
    summarize_changes,
)
from capmap.ranking import choose_ranked
from capmap.tables import read_declared

# Suffixes of the files that a page links, by what it calls them.
FILES = {"PDF": ".pdf", "SVG": ".svg", "PNG": ".png"}
# Folders whose tables are called by their name alone.
PLAIN = ("tables/", "normalized/", "comparisons/")
PACKAGES = ["matplotlib", "numpy", "pandas", "pillow", "pyarrow", "scipy", "seaborn", "snakemake"]
# Bytes of all figures; the rest of a page stays below 0.7 MB.
MAX_FIGURES = 1_300_000
CHANGES = ["kind", "name", "before", "after"]
KEY = ["model", "dataset", "seed"]
# Where a file of runs keeps the settings and the ranks of its study.
STATE = b"capmap"


@dataclass(frozen=True)
class Picture:
    """A figure on a page: its SVG element, "" where it is too large, and its files by kind."""

    name: str
    caption: str
    svg: str
    files: Mapping[str, str]


def read_figures(folder: str | Path) -> tuple[dict[str, Path], set[str]]:
    """Find the figures of a folder in the order of the page, and those with nothing to show."""
    index = read_index(folder)
    files = {*index["file"]}
    figures = {name: Path(folder, f"{name}.svg") for name in FIGURES if f"{name}.svg" in files}
    return figures, {*index.loc[index["sha256"] == "", "file"]}


def embed_pictures(
    captions: Mapping[str, str],
    figures: Mapping[str, Path],
    files: Mapping[str, str],
    *,
    max_bytes: int,
) -> dict[str, Picture]:
    """Embed figures, the most important first, as far as they fit into so many bytes."""
    pictures = {}
    for name, caption in captions.items():
        svg = figures[name].read_text(encoding="utf-8").strip() if name in figures else ""
        shown = "" if len(svg.encode()) > max_bytes else svg
        max_bytes -= len(shown.encode())
        place = Path(files.get(f"figures/{name}", ""))
        linked = {
            kind: place.with_suffix(suffix).as_posix()
            for kind, suffix in FILES.items()
            if svg and figures[name].with_suffix(suffix).is_file()
        }
        pictures[name] = Picture(name, caption, shown, linked)
    return pictures


@dataclass(frozen=True)
class Results:
    """What a study's page is made of.

    Tables stand by the names of their files, `files` where tables and figures are kept, relative to
    the page, and `words` what the ranking ("main") and each analysis say, by the blocks of their
    templates. `nothing` are the figures that were asked for and have nothing to show.
    """

    tables: Mapping[str, pd.DataFrame]
    validation: Mapping[str, Any]
    figures: Mapping[str, Path]
    nothing: Set[str]
    files: Mapping[str, str]
    words: Mapping[str, Mapping[str, Markup]]
    settings: Mapping[str, Any]
    versions: Mapping[str, str]


def render_report(results: Results, *, study: str, title: str) -> str:
    """Put a study's results on one page, HTML that fetches nothing, under 2 MB.

    Of long tables it has the first rows, with a link to their file; figures that do not fit are
    linked. Equal results give equal text.
    """
    tables = results.tables
    is_board = ranks_apart(results.tables)
    views = show_tables(tables, results.validation, results.versions, results.files)
    main = results.words["main"]
    sections = [
        show_analysis(name, words, tables, files=results.files)
        for name, words in results.words.items()
        if name != "main"
    ]
    figures = [
        name for name in load_analysis("main").figures if not is_board or name not in TOGETHER
    ]
    drawn = [*figures, *(name for section in sections for name in section.figures)]
    captions = {name: load_analysis(FIGURES[name]).figures[name].caption for name in drawn}
    pictures = embed_pictures(captions, results.figures, results.files, max_bytes=MAX_FIGURES)
    silent = [
        section
        for section in sections
        if results.nothing >= {*section.figures} and (section.figures or not section.methods)
    ]
    return render_page(
        "report.html.j2",
        filters=FILTERS,
        study=study,
        title=title,
        verdict=write_page(describe_result(results)),
        is_board=is_board,
        statistic=write_page(main["note"]),
        aggregation=write_page(main["aggregation"]),
        validation=results.validation,
        ranked=_count_ranked(tables),
        doubts=list_doubts(results.validation),
        changes=summarize_changes(tables["changes"]),
        methods=write_page(main["methods"]),
        pictures=pictures,
        blank={name for name, picture in pictures.items() if not picture.files},
        views=views,
        sections=[section for section in sections if section not in silent],
        silent=silent,
        settings=yaml.safe_dump(results.settings, sort_keys=False, allow_unicode=True, width=88),
    )


def _count_ranked(tables: Mapping[str, pd.DataFrame]) -> dict[str, int]:
    """How many models, datasets and runs the ranking is of."""
    runs = tables["seeds"]
    return {
        "model": runs["model"].nunique(),
        "dataset": runs["dataset"].nunique(),
        "run": int(runs["n"].sum()),
    }


def describe_result(results: Results) -> Markup:
    """Say which model is best, or of a leaderboard that ranks apart what it says."""
    if ranks_apart(results.tables):
        return results.words["leaderboard"]["answer"]
    return results.words["main"]["headline"]


def read_sheets(
    files: Iterable[Path], folder: Path
) -> tuple[dict[str, pd.DataFrame], dict[str, Path]]:
    """Read the tables among files of a study's folder, and name their files, by their places."""
    frames, sheets = dict[str, pd.DataFrame](), dict[str, Path]()
    for path in (path for path in files if path.suffix == ".csv"):
        place = path.relative_to(folder).with_suffix("").as_posix()
        plain = place.partition("/")[2] if place.startswith(PLAIN) else place
        table = read_declared(path, place)
        frames |= dict.fromkeys((place, plain), table)
        sheets |= dict.fromkeys((place, plain), path)
    return frames, sheets


def list_versions(own: str) -> dict[str, str]:
    """Versions of capmap, which is given, of Python and of the packages that compute and draw."""
    versions = {"capmap": own, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = find_version(name)
        except PackageNotFoundError:
            continue
    return versions


def save_state(
    path: str | Path, runs: pd.DataFrame, settings: Mapping[str, Any], ranks: Mapping[str, int]
) -> None:
    """Write the runs of a study as Parquet, with its settings and the ranks of its models."""
    table = pa.Table.from_pandas(runs[[*KEY, "score"]], preserve_index=False)
    state = json.dumps(_describe_state(settings, ranks))
    with replace_file(path) as stream:
        pq.write_table(table.replace_schema_metadata({STATE: state}), stream, compression="zstd")


def _describe_state(settings: Mapping[str, Any], ranks: Mapping[str, int]) -> dict[str, Any]:
    """Settings by their paths, such as ``bootstrap.replicates``, and ranks, as JSON has them."""
    texts = json.dumps({"settings": flatten(settings), "ranks": dict(ranks)})
    state: dict[str, Any] = json.loads(texts)
    return state


def find_changes(
    path: str | Path, runs: pd.DataFrame, settings: Mapping[str, Any], ranks: Mapping[str, int]
) -> pd.DataFrame:
    """List what changed since `save_state` wrote the former runs: before and after, or empty."""
    former = pq.read_table(path)
    state = json.loads(former.schema.metadata[STATE])
    now = _describe_state(settings, ranks)
    rows = [
        *_compare_runs(former.to_pandas(), runs),
        *_compare("setting", state["settings"], now["settings"]),
        *_compare("rank", state["ranks"], now["ranks"]),
    ]
    return pd.DataFrame(rows, columns=CHANGES, dtype="object")


def track_changes(
    runs: pd.DataFrame,
    settings: Mapping[str, Any],
    ranks: Mapping[str, int],
    *,
    previous: str,
    changes: str,
) -> pd.DataFrame:
    """Write what changed since the former run; without any change the list stays as it is."""
    found = pd.DataFrame(columns=CHANGES)
    if Path(previous).is_file():
        found = find_changes(previous, runs, settings, ranks)
    if len(found) or not Path(changes).is_file():
        write_text(changes, render_csv(found))
    return read_table(changes, names=CHANGES)


def list_ranks(ranking: pd.DataFrame) -> dict[str, int]:
    """The rank of each ranked model."""
    ranked = choose_ranked(ranking)
    return dict(zip(ranked["model"], ranked["rank"].astype(int), strict=True))


def flatten(settings: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Name each setting by its path, such as ``bootstrap.replicates``."""
    flat: dict[str, Any] = {}
    for key, value in settings.items():
        name = f"{place}{key}"
        is_section = isinstance(value, Mapping) and value
        flat |= flatten(value, f"{name}.") if is_section else {name: value}
    return flat


def _compare_runs(before: pd.DataFrame, after: pd.DataFrame) -> Iterator[tuple[str, str, Any, Any]]:
    """Compare models, datasets and the runs of those that are in both."""
    told: dict[str, set[str]] = {}
    for kind in KEY[:2]:
        were, are = set(before[kind].unique()), set(after[kind].unique())
        told[kind] = were ^ are
        for name in sorted(told[kind]):
            yield kind, name, name if name in were else "", name if name in are else ""
    tables = [table[[*KEY, "score"]].astype(dict.fromkeys(KEY, "str")) for table in (before, after)]
    both = tables[0].merge(tables[1], on=KEY, how="outer", suffixes=("_before", "_after"))
    changed = both[both["score_before"] != both["score_after"]].sort_values(KEY)
    for model, dataset, seed, old, new in changed.itertuples(index=False):
        if model not in told["model"] and dataset not in told["dataset"]:
            name = f"{model} on {dataset}" + (f", seed {seed}" if seed else "")
            yield "run", name, "" if pd.isna(old) else old, "" if pd.isna(new) else new


def _compare(
    kind: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[tuple[str, Any, Any, Any]]:
    for name in sorted({*before, *after}):
        old, new = before.get(name, ""), after.get(name, "")
        if old != new:
            yield kind, name, old, new
