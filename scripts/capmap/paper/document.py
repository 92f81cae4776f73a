"""The folder of a paper: tables, figures with captions, paragraphs, and what inputs them all."""

import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd

from capmap.artifacts import read_table, write_text
from capmap.catalog import FIGURES, TOGETHER, list_analyses
from capmap.claims import COLUMNS
from capmap.paper.findings import describe_results
from capmap.paper.latex import HEIGHT, WIDTH, declare_characters, write_name
from capmap.paper.methods import describe_methods
from capmap.paper.rankings import Ranking, list_rankings, render_rankings, write_percent
from capmap.paper.references import render_references
from capmap.paper.scores import render_results
from capmap.settings.choices import Incomplete
from capmap.tables import escape_latex

logger = logging.getLogger("report")

MAIN = r"""% All of this folder in one article: pdflatex main, bibtex main, and pdflatex main twice.
\documentclass{{article}}
\usepackage{{iftex}}
\usepackage[a4paper,textwidth={width:.0f}pt,textheight={height:.0f}pt]{{geometry}}
\ifPDFTeX
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage{{textcomp}}
\IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}}
{characters}\fi
\usepackage{{booktabs}}
\usepackage{{rotating}}
\usepackage{{graphicx}}
\usepackage[round]{{natbib}}
\graphicspath{{{{../figures/}}}}
\extrafloats{{500}}
\title{{{title}}}
\author{{}}
\date{{}}
\begin{{document}}
\maketitle
\section{{Methods}}
\input{{methods}}
\section{{Results}}
\input{{results}}
\input{{results_table}}
\input{{ranking_table}}
\clearpage
\input{{figures}}
\clearpage
\bibliographystyle{{plainnat}}
\bibliography{{references}}
\end{{document}}
"""
FIGURE = r"""\begin{{figure}}[tbp]
\centering
\includegraphics[width=\linewidth,height=0.8\textheight,keepaspectratio]{{{name}.pdf}}
\caption{{{caption}}}
\label{{fig:{name}}}
\end{{figure}}
"""


def render_paper(
    tables: Mapping[str, pd.DataFrame],
    *,
    title: str,
    analyses: Sequence[str],
    figures: Sequence[str],
    bootstrap: Mapping[str, Any],
    comparison: Mapping[str, Any],
    failed: object,
    incomplete: Incomplete,
) -> dict[str, str]:
    """Write the files of a study's paper.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        ``scopes``, ``seeds``, ``bounds`` and ``claims`` of the study, and ``entries`` if it has a
        leaderboard.
    title : str
        Heading of the study.
    analyses, figures : sequence of str
        Names of its analyses and figures.
    bootstrap, comparison : mapping
        The settings of these names.
    failed : object
        The setting of failed runs.
    incomplete : str
        The setting of empty cells.

    Returns
    -------
    dict of str to str
        Text of each file by its name without suffix. A study without intervals and a leaderboard
        that ranks apart say less.
    """
    scopes = tables["scopes"]
    rankings = list_rankings(scopes, tables["seeds"], tables.get("entries"))
    level = bootstrap["confidence"]
    is_board = not rankings or bool(rankings[0].within)
    drawn = [name for name in figures if not is_board or name not in TOGETHER]
    cells = tables["seeds"][["dataset", "model"]].drop_duplicates()
    filled = cells["dataset"].value_counts() / cells["model"].nunique()
    methods = describe_methods(
        rankings,
        analyses=analyses,
        bootstrap=bootstrap,
        comparison=comparison,
        failed=failed,
        incomplete=incomplete,
        filled=filled.tolist(),
    )
    parts = {
        "methods": "\n\n".join(methods) + "\n",
        "results": "\n\n".join(describe_results(rankings, tables["claims"])) + "\n",
        "results_table": render_results(rankings, tables["seeds"], tables["bounds"], level=level),
        "ranking_table": render_rankings(rankings, level=level),
        "figures": "\n".join(_render_figure(name, rankings, level) for name in drawn),
    }
    text = "".join(parts.values())
    characters = declare_characters(text + title)
    main = MAIN.format(
        width=WIDTH,
        height=HEIGHT,
        characters=characters + "\n" if characters else "",
        title=write_name(title),
    )
    return {"main": main, **parts, "references": render_references(text)}


def _render_figure(name: str, rankings: Sequence[Ranking], level: float) -> str:
    caption = escape_latex(FIGURES[name].caption)
    if name == "intervals" and rankings and rankings[0].is_sure:
        caption += f" Intervals are {write_percent(level)} intervals."
    return FIGURE.format(name=name, caption=caption)


def write_paper(
    paths: Sequence[str],
    claims: str,
    tables: Mapping[str, pd.DataFrame],
    settings: Mapping[str, Any],
    *,
    title: str,
    figures: Sequence[str],
) -> None:
    """Write the files of a study's paper from its tables, claims and settings."""
    read = {name: tables[name] for name in ("scopes", "seeds", "bounds")}
    if "leaderboard/entries" in tables:
        read["entries"] = tables["leaderboard/entries"]
    files = render_paper(
        {**read, "claims": read_table(claims, names=[name for name in COLUMNS if name != "level"])},
        title=title,
        analyses=list_analyses(settings),
        figures=figures,
        **{name: settings[name] for name in ("bootstrap", "comparison", "failed", "incomplete")},
    )
    _write_files(paths, files)


def _write_files(paths: Sequence[str], files: Mapping[str, str]) -> None:
    """Write files by their names without suffix; what was edited by hand is put aside."""
    for path in map(Path, paths):
        _put_aside(path)
        text = files[path.stem]
        write_text(path, f"{_sign(text)}\n{text}")


def _sign(text: str) -> str:
    """The first line of a file, which says by the digest of the others whether it was edited."""
    digest = sha256(text.encode()).hexdigest()[:16]
    return f"% Written by capmap ({digest}), and again in the next run: include it, do not edit it."


def _put_aside(path: Path) -> None:
    """Rename a file that was edited by hand, so that the edit is not lost."""
    if not path.is_file():
        return
    first, _, rest = path.read_text("utf-8").partition("\n")
    if first != _sign(rest):
        names = (f"{path.stem}.edited{number or ''}{path.suffix}" for number in count())
        aside = next(path.with_name(name) for name in names if not path.with_name(name).exists())
        path.rename(aside)
        logger.warning(
            "%s was edited by hand. It is written again; the edit is in %s.", path, aside
        )
