"""The folder of a paper: tables, figures with captions, paragraphs, and what inputs them all."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from capmap.analyses import FIGURES, TOGETHER, load_analysis
from capmap.analyses.rendering import write_latex
from capmap.artifacts import write_text
from capmap.paper.latex import HEIGHT, WIDTH, declare_characters, write_name
from capmap.paper.rankings import (
    Ranking,
    list_rankings,
    render_rankings,
    render_results,
    write_percent,
)
from capmap.paper.references import render_references
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
    words: Mapping[str, Mapping[str, Markup]],
    *,
    title: str,
    figures: Sequence[str],
    level: float,
) -> dict[str, str]:
    """Write the files of a study's paper.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        ``ranking``, ``seeds`` and ``bounds`` of the study, and ``leaderboard/entries`` if it has a
        leaderboard.
    words : mapping of str to mapping
        What the ranking ("main") and each analysis say, by the blocks of their templates.
    title : str
        Heading of the study.
    figures : sequence of str
        Names of its figures.
    level : float
        Of its intervals, between 0 and 1.

    Returns
    -------
    dict of str to str
        Text of each file by its name without suffix. A leaderboard that ranks apart has no figures
        of all models.
    """
    rankings = list_rankings(tables["ranking"], tables["seeds"], tables.get("leaderboard/entries"))
    is_board = not rankings or bool(rankings[0].within)
    drawn = [name for name in figures if not is_board or name not in TOGETHER]
    headline = [] if is_board else [words["main"]["headline"]]
    results = [*headline, *(own["answer"] for name, own in words.items() if name != "main")]
    parts = {
        "methods": _join(own["methods"] for own in words.values()),
        "results": _join(results),
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


def _join(texts: Iterable[Markup]) -> str:
    """Paragraphs of LaTeX."""
    return "\n\n".join(write_latex(text) for text in texts if text) + "\n"


def _render_figure(name: str, rankings: Sequence[Ranking], level: float) -> str:
    caption = escape_latex(load_analysis(FIGURES[name]).figures[name].caption)
    if name == "intervals" and rankings and rankings[0].is_sure:
        caption += f" Intervals are {write_percent(level)} intervals."
    return FIGURE.format(name=name, caption=caption)


def write_paper(paths: Sequence[str], files: Mapping[str, str]) -> None:
    """Write the files of a paper; what was edited by hand is put aside."""
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
