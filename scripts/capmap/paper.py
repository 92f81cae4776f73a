"""The folder of a paper: tables, figures with captions, paragraphs, and what inputs them all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from capmap.analyses import FIGURES, TOGETHER, load_analysis
from capmap.analyses.rendering import write_latex
from capmap.artifacts import write_text
from capmap.claims import find_candidates, has_letters, label_entries, ranks_apart
from capmap.latex import (
    ARROWS,
    Column,
    Sheet,
    declare_characters,
    list_cited,
    make_name_column,
    measure,
    render_references,
    render_sheet,
    write_name,
)
from capmap.ranking import choose_ranked
from capmap.tables import escape_latex, write_scores
from capmap.wording import (
    SHARED_LETTERS,
    find_statistic,
    format_count,
    format_percent,
    name_statistic,
    shorten,
    spell_statistic,
)

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
COMPARISONS = ("item_differences", "pairwise_reference", "critical_difference")
TABLE = r"\begin{table}"
WRITTEN = (
    "% Written by each run of capmap, which undoes edits: put your own words into other files.\n"
)
STAR = r"$^{\star}$"
NONE = "--"
# What intervals hold for, by their unit.
OVER = {
    "runs": "new runs on these datasets",
    "seeds": "new seeds on these datasets",
    "items": "other items like these on these datasets",
    "runs_and_datasets": "other datasets like these",
}
COLUMNS = ["model", "name", "score", "ci_low", "ci_high", "rank", "rank_low", "rank_high"]
COLUMNS += ["tie_group", "datasets", "filled"]


def render_paper(
    tables: Mapping[str, pd.DataFrame],
    words: Mapping[str, Mapping[str, Markup]],
    *,
    title: str,
    figures: Sequence[str],
    level: float,
) -> dict[str, str]:
    """Write the files of a study's paper, by their names without suffix.

    ``main`` has the tables, the intervals and one comparison, as far as they are four floats;
    ``appendix`` has the rest. A leaderboard that ranks apart has no figures of all models.
    """
    rankings = list_rankings(tables["ranking"], tables["seeds"], tables.get("leaderboard/entries"))
    is_board = not rankings or bool(rankings[0].within)
    drawn = [name for name in figures if not is_board or name not in TOGETHER]
    compared = _choose_comparison(drawn)
    scores = [_make_score_sheet(own, tables["seeds"], tables["bounds"]) for own in rankings]
    sheets = {
        "results_table": "\n".join(map(render_sheet, scores)),
        "ranking_table": "\n".join(render_sheet(_make_sheet(own, level)) for own in rankings),
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


@dataclass(frozen=True)
class Ranking:
    """Models that are ranked together, with the columns `COLUMNS`, ordered by rank.

    `unit` is what their intervals are over, `within` what is ranked on its own, such as a method,
    and `suffix` that of the labels of its tables, such as ``-m2`` of the second ranking.
    """

    models: pd.DataFrame
    statistic: str
    unit: str
    within: str
    suffix: str
    candidates: list[str]
    datasets: int

    @property
    def is_sure(self) -> bool:
        """Whether some model has an interval."""
        return bool(self.models["ci_low"].notna().any())

    @property
    def has_groups(self) -> bool:
        """Whether letters mark which models cannot be separated."""
        return bool(self.models["tie_group"].map(has_letters).any())


def list_rankings(
    ranking: pd.DataFrame,
    seeds: pd.DataFrame,
    entries: pd.DataFrame | None = None,
) -> list[Ranking]:
    """List the rankings of a study: one, or of a leaderboard that ranks apart one per method."""
    tables = {} if entries is None else {"leaderboard/entries": entries}
    first, unit = choose_ranked(ranking), str(ranking["unit"].iloc[0])
    if entries is not None and ranks_apart(tables):
        return _list_methods(entries, seeds, unit)
    if first.empty:
        return []
    names = {}
    if entries is not None:
        names = dict(zip(entries["model"], label_entries(entries), strict=True))
    models = first.assign(name=[names.get(name, name) for name in first["model"]])
    return [
        Ranking(
            models[COLUMNS].reset_index(drop=True),
            str(first["statistic"].iloc[0]),
            unit,
            "",
            "",
            find_candidates(first),
            _count_datasets(models, seeds),
        )
    ]


def _list_methods(entries: pd.DataFrame, seeds: pd.DataFrame, unit: str) -> list[Ranking]:
    statistic = find_statistic(entries.columns)
    complete = entries[entries["complete"]].fillna({"method": ""})
    rankings = []
    for number, (method, own) in enumerate(complete.groupby("method", sort=True), start=1):
        models = own.assign(name=label_entries(own), score=own[statistic], filled=0)
        models = models.sort_values(["rank", "model"])[COLUMNS].reset_index(drop=True)
        count = _count_datasets(models, seeds)
        suffix = "" if number == 1 else f"-m{number}"
        rankings.append(Ranking(models, statistic, unit, str(method), suffix, [], count))
    return rankings


def _count_datasets(models: pd.DataFrame, seeds: pd.DataFrame) -> int:
    return int(seeds.loc[seeds["model"].isin(models["model"]), "dataset"].nunique())


def write_score(row: "pd.Series[float]") -> str:
    """Write a score with its interval as one cell.

    Examples
    --------
    >>> write_score(pd.Series({"score": 0.6521, "ci_low": 0.643, "ci_high": 0.6628}))
    '0.652 [0.643, 0.663]'
    """
    score = f"{row['score']:z.3f}"
    if pd.isna(row["ci_low"]):
        return _write_minus(score)
    return _write_minus(f"{score} [{row['ci_low']:z.3f}, {row['ci_high']:z.3f}]")


def describe_size(ranking: Ranking) -> str:
    """Say how many models and datasets a ranking has."""
    count = len(ranking.models)
    models = (
        format_count(count, "entry", "entries") if ranking.within else format_count(count, "model")
    )
    return f"{models} on {format_count(ranking.datasets, 'dataset')}"


def name_within(ranking: Ranking) -> str:
    """Say what a ranking is of, in LaTeX; empty where it is of the whole study."""
    return f" with the method {write_name(ranking.within)}" if ranking.within else ""


def _make_sheet(ranking: Ranking, level: float) -> Sheet:
    models = ranking.models
    statistic, percent = name_statistic(ranking.statistic), format_percent(level)
    names, lines = make_name_column(models["name"].tolist())
    header = f"{statistic} [{percent} interval]" if ranking.is_sure else statistic
    scores = [write_score(row) for _, row in models.iterrows()]
    columns = [_make_column(header[:1].upper() + header[1:], scores)]
    if models["datasets"].min() < models["datasets"].max():
        columns.append(_make_column("Datasets", [f"{count:.0f}" for count in models["datasets"]]))
    if ranking.is_sure:
        columns.append(_make_column("Ranks", _write_sets(models, ranking.candidates)))
    if ranking.has_groups:
        ties = [str(own) if has_letters(own) else NONE for own in models["tie_group"]]
        columns.append(_make_column("Ties", ties))
    caption = _describe_ranking(ranking, level)
    return Sheet(
        [_make_ranks(ranking), names], columns, caption, f"tab:ranking{ranking.suffix}", lines
    )


def _make_ranks(ranking: Ranking) -> Column:
    return _make_column("Rank", [f"{rank:.0f}" for rank in ranking.models["rank"]])


def _describe_ranking(ranking: Ranking, level: float) -> str:
    text = (
        f"Ranking{name_within(ranking)} by {spell_statistic(ranking.statistic)} of normalized "
        f"scores, {describe_size(ranking)}."
    )
    if ranking.is_sure:
        percent = format_percent(level).replace("%", r"\%")
        text += (
            f" In brackets: {percent} intervals, over {OVER[ranking.unit]}. Ranks: {percent} "
            "confidence sets of each model's rank."
        )
    if ranking.has_groups:
        text += f" {SHARED_LETTERS}"
    if ranking.candidates:
        text += f" {STAR}The set holds rank 1: the model may be the best."
    if ranking.models["filled"].any():
        text += (
            " On datasets that a model lacks, its score is the one expected from the other models."
        )
    if not ranking.is_sure:
        text += " Nothing separates differences from chance: no model has an interval."
    return text


def _make_column(header: str, cells: list[str]) -> Column:
    shown = [cell.replace(STAR, "*").replace("$-$", "-") for cell in cells]
    return Column(header.split(", "), cells, max(map(measure, shown)))


def _write_sets(models: pd.DataFrame, candidates: list[str]) -> list[str]:
    sets = []
    for model, low, high in models[["model", "rank_low", "rank_high"]].itertuples(index=False):
        ends = f"{low:.0f}" if low == high else f"{low:.0f}--{high:.0f}"
        sets.append(NONE if pd.isna(low) else ends + STAR * (model in candidates))
    return sets


def _write_minus(text: str) -> str:
    return text.replace("-", "$-$")


def make_score_column(header: list[str], direction: str, scores: pd.DataFrame) -> Column:
    r"""Write the scores on a dataset, the best in bold and the next underlined, as printed.

    Examples
    --------
    >>> column = make_score_column(["D"], "max", pd.DataFrame({"mean": [0.5, 0.8], "std": 0.01}))
    >>> print(*column.cells, column.spreads[0])
    \underline{0.500} \textbf{0.800} {\scriptsize$\,\pm\,$0.010}
    """
    texts = write_scores(scores, direction)
    marks = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    return Column(
        header,
        [marks[place].format(_write_minus(mean)) if mean else NONE for mean, _, place in texts],
        # Bold is wider.
        max(measure(mean or NONE) for mean, _, _ in texts) + 3,
        spreads=[rf"{{\scriptsize$\,\pm\,${spread}}}" if spread else "" for _, spread, _ in texts],
        spread_width=max(measure(f"+{spread}") if spread else 0.0 for _, spread, _ in texts),
        direction=direction if direction in ARROWS else "",
    )


def _make_score_sheet(ranking: Ranking, seeds: pd.DataFrame, bounds: pd.DataFrame) -> Sheet:
    """Lay out the scores of all models on all datasets, in the order of the ranking."""
    own = seeds[seeds["model"].isin(ranking.models["model"])]
    rules = bounds.drop_duplicates("dataset").set_index("dataset")[["metric", "direction"]]
    rules = rules.reindex(sorted(own["dataset"].unique())).fillna("").astype("str")
    metrics = sorted({*rules["metric"]} - {""})
    columns = []
    for dataset, metric, direction in rules.itertuples():
        scores = own[own["dataset"] == dataset].set_index("model")[["mean", "std"]]
        header = [shorten(str(dataset)), *([shorten(metric)] if len(metrics) > 1 else [])]
        own_scores = scores.reindex(ranking.models["model"])
        columns.append(make_score_column(header, direction, own_scores))
    names, lines = make_name_column(ranking.models["name"].tolist())
    caption = _describe_results(ranking, own, metrics)
    return Sheet(
        [_make_ranks(ranking), names], columns, caption, f"tab:results{ranking.suffix}", lines
    )


def _describe_results(ranking: Ranking, own: pd.DataFrame, metrics: list[str]) -> str:
    metric = write_name(metrics[0]) if len(metrics) == 1 else "in the units of the metrics"
    text = (
        f"Scores{name_within(ranking)}, {metric}, {describe_size(ranking)}: "
        rf"{_describe_spread(own)}. $\uparrow$ higher is better, $\downarrow$ lower is better. "
    )
    if len(ranking.models) > 1:
        text += r"Best in \textbf{bold}, next \underline{underlined}, as printed. "
        text += f"Models in the order of their {spell_statistic(ranking.statistic)}."
    if len(own) < len(ranking.models) * own["dataset"].nunique():
        text += f" {NONE}: no run."
    return text.rstrip()


def _describe_spread(own: pd.DataFrame) -> str:
    low, high = int(own["n"].min()), int(own["n"].max())
    if high == 1:
        return "single runs"
    counts = format_count(high, "run") if low == high else f"{low} to {high} runs"
    return rf"mean $\pm$ standard deviation over {counts}"
