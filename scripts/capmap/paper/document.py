"""The folder of a paper: tables, figures with captions, paragraphs, and what inputs them all."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from capmap.analyses import FIGURES, TOGETHER, load_analysis
from capmap.analyses.rendering import write_latex
from capmap.artifacts import write_text
from capmap.paper.latex import declare_characters, list_cited, render_references, write_name
from capmap.paper.rankings import list_rankings, render_rankings, render_results
from capmap.tables import escape_latex

# A figure keeps its size, unless the page is too small for it.
DOCUMENT = r"""\documentclass{{article}}
\usepackage{{iftex}}
\usepackage[a4paper,textwidth=7in,textheight=9.5in]{{geometry}}
\ifPDFTeX
\usepackage[T1]{{fontenc}}
\usepackage[utf8]{{inputenc}}
\usepackage{{textcomp}}
\IfFileExists{{lmodern.sty}}{{\usepackage{{lmodern}}}}{{}}
{characters}\fi
\usepackage{{booktabs}}
\usepackage{{graphicx}}
\usepackage[round]{{natbib}}
\graphicspath{{{{../figures/}}}}
\extrafloats{{500}}
\newcommand\showfigure[1]{{\sbox0{{\includegraphics{{#1}}}}%
\ifdim\wd0>\linewidth\sbox0{{\resizebox{{\linewidth}}{{!}}{{\usebox0}}}}\fi
\ifdim\ht0>0.85\textheight\sbox0{{\resizebox{{!}}{{0.85\textheight}}{{\usebox0}}}}\fi\usebox0 }}
\title{{{title}}}
\author{{}}
\date{{}}
\begin{{document}}
\maketitle
{body}{bibliography}
\end{{document}}
"""
BIBLIOGRAPHY = r"""
\bibliographystyle{plainnat}
\bibliography{references}"""
FIGURE = r"""\begin{{figure}}[tbp]
\centering
\showfigure{{{name}.pdf}}
\caption{{{caption}}}
\label{{fig:{name}}}
\end{{figure}}
"""
SECTIONS = r"""\section{{Methods}}
{methods}
\section{{Results}}
{results}
{floats}"""
# What a paper prints: tables and figures in this order, so many of them.
MOST_FLOATS = 4
COMPARISONS = ("pairwise_reference", "critical_difference")
TABLE = r"\begin{table}"
WRITTEN = (
    "% Written by each run of capmap, which undoes edits: put your own words into other files.\n"
)


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
        Text of each file by its name without suffix. ``main`` has the tables, the intervals and
        one comparison, as far as they are four floats; ``appendix`` has the rest. A leaderboard
        that ranks apart has no figures of all models.
    """
    rankings = list_rankings(tables["ranking"], tables["seeds"], tables.get("leaderboard/entries"))
    is_board = not rankings or bool(rankings[0].within)
    drawn = [name for name in figures if not is_board or name not in TOGETHER]
    compared = _choose_comparison(drawn)
    sheets = {
        "results_table": render_results(rankings, tables["seeds"], tables["bounds"]),
        "ranking_table": render_rankings(rankings, level=level),
    }
    floats = {name: rf"\input{{{name}}}" for name in sheets}
    floats |= {name: _render_figure(name) for name in drawn}
    intervals = [name for name in drawn if name == "intervals"]
    printed = _choose_printed(["ranking_table", "results_table", *intervals, *compared], sheets)
    first = {"main", *(FIGURES[name] for name in compared)}
    own = {name: said for name, said in words.items() if name in first}
    others = {name: said for name, said in words.items() if name not in first}
    headline = [] if is_board else [words["main"]["headline"]]
    parts = {
        **sheets,
        "methods": _join(said["methods"] for said in own.values()),
        "results": _join([*headline, *_list_answers(own)]),
    }
    bodies = {
        "main": SECTIONS.format(
            methods=r"\input{methods}",
            results=r"\input{results}",
            floats="\n".join(text for name, text in floats.items() if name in printed),
        ),
        "appendix": SECTIONS.format(
            methods=_join(said["methods"] for said in others.values()),
            results=_join(_list_answers(others)),
            floats="\n".join(text for name, text in floats.items() if name not in printed),
        ),
    }
    text = "".join([*parts.values(), *bodies.values()])
    characters = declare_characters(text + title)
    preamble = {"characters": characters + "\n" if characters else "", "title": write_name(title)}
    cited = {"main": parts["methods"] + parts["results"], "appendix": bodies["appendix"]}
    documents = {
        name: DOCUMENT.format(
            body=body, bibliography=BIBLIOGRAPHY if list_cited(cited[name]) else "", **preamble
        )
        for name, body in bodies.items()
    }
    return {**documents, **parts, "references": render_references(text)}


def _choose_printed(names: Sequence[str], sheets: Mapping[str, str]) -> set[str]:
    """The tables and figures of the article: the first, as far as their floats are few."""
    room, printed = MOST_FLOATS, set()
    for name in names:
        floats = sheets[name].count(TABLE) if name in sheets else 1
        if floats <= room:
            room -= floats
            printed.add(name)
    return printed


def _list_answers(words: Mapping[str, Mapping[str, Markup]]) -> list[Markup]:
    return [said["answer"] for name, said in words.items() if name != "main"]


def _choose_comparison(figures: Sequence[str]) -> list[str]:
    """The figure of a comparison that a paper prints, if there is one."""
    others = [name for name in figures if FIGURES[name] != "main"]
    return [name for name in (*COMPARISONS, *others) if name in others][:1]


def _join(texts: Iterable[Markup]) -> str:
    """Paragraphs of LaTeX."""
    return "\n\n".join(write_latex(text) for text in texts if text) + "\n"


def _render_figure(name: str) -> str:
    caption = escape_latex(load_analysis(FIGURES[name]).figures[name].caption)
    return FIGURE.format(name=name, caption=caption)


def write_paper(paths: Sequence[str], files: Mapping[str, str]) -> None:
    """Write the files of a paper, each of which says that it is written again."""
    for path in map(Path, paths):
        write_text(path, WRITTEN + files[path.stem])
