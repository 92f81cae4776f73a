"""A study's results as one HTML page, and the page that links the studies."""

import platform
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from markupsafe import Markup

from capmap.analyses import FIGURES, TOGETHER, load_analysis
from capmap.analyses.rendering import FILTERS, write_page
from capmap.artifacts import read_index
from capmap.claims import ranks_apart
from capmap.pages import render_page
from capmap.pages.contents import (
    find_changes,
    list_doubts,
    show_analysis,
    show_tables,
)
from capmap.tables import read_declared

# Suffixes of the files that a page links, by what it calls them.
FILES = {"PDF": ".pdf", "SVG": ".svg", "PNG": ".png"}
# Folders whose tables are called by their name alone.
PLAIN = ("tables/", "normalized/", "comparisons/")
PACKAGES = ["matplotlib", "numpy", "pandas", "pillow", "pyarrow", "scipy", "seaborn", "snakemake"]
# Bytes of all figures; the rest of a page stays below 0.7 MB.
MAX_FIGURES = 1_300_000


@dataclass(frozen=True)
class Picture:
    """A figure on a page.

    Parameters
    ----------
    name : str
        Names the figure in the page.
    caption : str
        What it shows.
    svg : str
        Its SVG element, or "" where it is too large for the page.
    files : mapping of str to str
        Its files relative to the page, by what they are; none where it was not drawn.
    """

    name: str
    caption: str
    svg: str
    files: Mapping[str, str]


def read_figures(folder: str | Path) -> tuple[dict[str, Path], set[str]]:
    """Find the figures that a study's folder holds, by its index.

    Returns
    -------
    figures : dict of str to pathlib.Path
        The SVG files of figures by name, in the order of the page.
    nothing : set of str
        Figures with nothing to show, of which there are no files.
    """
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
    """Embed figures as far as they fit.

    Parameters
    ----------
    captions : mapping of str to str
        What each figure shows, by name, the most important first.
    figures : mapping of str to pathlib.Path
        SVG files by name, of figures that show something; other formats stand beside them.
    files : mapping of str to str
        Where the page finds each figure, by ``figures/<name>``.
    max_bytes : int
        Bytes of the page that all figures together may take.

    Returns
    -------
    dict of str to Picture
        The figures by name; those that do not fit and those with nothing to show are not embedded.
    """
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

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        The study's finished tables, its bounds and what it dropped, by the names of their files.
    validation : mapping
        What was read and rejected, the content of ``validation.json``.
    figures : mapping of str to pathlib.Path
        Files by name that `capmap.figures.marks` wrote.
    nothing : set of str
        Figures that were asked for and have nothing to show.
    files : mapping of str to str
        Where each table and figure is kept, relative to the page.
    words : mapping of str to mapping
        What the ranking ("main") and each analysis say, by the blocks of their templates.
    settings : mapping
        The study's settings, checked and with defaults.
    versions : mapping of str to str
        Versions of the software that writes the page.
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
    """Put a study's results on one page.

    Parameters
    ----------
    results : Results
        The finished tables and figures.
    study, title : str
        Name and heading of the study.

    Returns
    -------
    str
        HTML that fetches nothing, under 2 MB: of long tables the first rows, with a link to their
        file; figures that do not fit are linked. Equal results give equal text.
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
        changes=find_changes(tables["changes"]),
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
    """Say which model is best, or of a leaderboard what it says.

    Returns
    -------
    markupsafe.Markup
        A few sentences. A leaderboard that ranks within methods, or complete entries only, has the
        only ranking that is described.
    """
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
