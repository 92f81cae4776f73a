"""The main table of results: scores in the units of their metrics, mean and spread over runs."""

import math

import pandas as pd

from capmap.paper.latex import (
    Column,
    Sheet,
    break_name,
    make_name_column,
    measure,
    render_sheet,
    shorten,
    write_lines,
)
from capmap.paper.rankings import (
    NONE,
    Ranking,
    describe_size,
    explain_marks,
    mark_models,
    name_within,
)
from capmap.wording import format_count, spell_statistic

ARROWS = {"max": r"$\uparrow$", "min": r"$\downarrow$"}
ARROW_WIDTH = 7.0
NARROWEST_HEADER = 42.0
MOST_DECIMALS = 6
# From there on a column is printed with exponents.
LARGEST, SMALLEST = 1e7, 1e-5


def render_results(
    rankings: list[Ranking], seeds: pd.DataFrame, bounds: pd.DataFrame, *, level: float
) -> str:
    """Write the scores of all models on all datasets as floats with caption and label.

    Parameters
    ----------
    rankings : list of Ranking
        Those of the study; each has a table of its own.
    seeds : pandas.DataFrame
        The columns of ``tables/seeds.csv``.
    bounds : pandas.DataFrame
        The columns of ``normalized/bounds.csv``.
    level : float
        Of the separation that the marks stand for, between 0 and 1.

    Returns
    -------
    str
        LaTeX. Models are in the order of the ranking. Values are compared as printed: all that
        read the same as the best are bold, and all that read the same as the next are underlined.
    """
    return "\n".join(
        render_sheet(_make_sheet(ranking, seeds, bounds, level)) for ranking in rankings
    )


def find_decimals(means: pd.Series) -> int:
    """Find how many decimals distinguish models on a dataset.

    Parameters
    ----------
    means : pandas.Series
        Mean scores on the dataset; missing ones are NaN.

    Returns
    -------
    int
        So many that the largest has three digits and the range of all has two, at most six; -1
        where numbers are so large or small that they need exponents.

    Examples
    --------
    >>> find_decimals(pd.Series([0.84, 0.71])), find_decimals(pd.Series([84.1, 71.2]))
    (3, 1)
    >>> find_decimals(pd.Series([0.9541, 0.9558])), find_decimals(pd.Series([3e9, 1.0]))
    (4, -1)
    """
    largest, spread = means.abs().max(), means.max() - means.min()
    if not largest > 0:
        return 3
    if largest >= LARGEST or largest < SMALLEST:
        return -1
    size = 3 - math.ceil(math.log10(largest))
    # Rounding noise is no range.
    is_spread = spread > 1e-9 * largest
    range_size = 1 - math.floor(math.log10(spread)) if is_spread else size
    return max(0, min(max(size, min(range_size, size + 2)), MOST_DECIMALS))


def write_cells(scores: pd.DataFrame, direction: str) -> tuple[list[str], list[str]]:
    r"""Write the scores on a dataset, the best in bold and the second underlined.

    Parameters
    ----------
    scores : pandas.DataFrame
        Columns ``mean`` and ``std``, a row per model; missing where it has no run, and ``std``
        where it has one.
    direction : {"max", "min", ""}
        Which is better; nothing is marked where that is not known.

    Returns
    -------
    cells : list of str
        In LaTeX, such as ``\textbf{0.965}{\scriptsize$\,\pm\,$0.031}``.
    plain : list of str
        The same without marks, as text of the same width.

    Examples
    --------
    >>> cells, _ = write_cells(pd.DataFrame({"mean": [0.5, 0.8], "std": [0.01, None]}), "max")
    >>> print(*cells, sep="\n")
    \underline{0.500}{\scriptsize$\,\pm\,$0.010}
    \textbf{0.800}
    """
    decimals = find_decimals(scores["mean"])
    printed = [_write_number(mean, decimals) for mean in scores["mean"]]
    known = sorted({float(text) for text in printed if text}, reverse=direction == "max")
    is_marked = bool(direction) and sum(map(bool, printed)) > 1
    best, second = (known + [math.nan] * 2)[:2] if is_marked else (math.nan, math.nan)
    cells, plain = [], []
    for text, std in zip(printed, scores["std"], strict=True):
        spread = "" if pd.isna(std) or not text else _write_number(std, decimals)
        plain.append(f"{text}+{spread}" if spread else text or NONE)
        cell = text.replace("-", "$-$") or NONE
        if text and float(text) == best:
            cell = rf"\textbf{{{cell}}}"
        elif text and float(text) == second:
            cell = rf"\underline{{{cell}}}"
        cells.append(cell + (rf"{{\scriptsize$\,\pm\,${spread}}}" if spread else ""))
    return cells, plain


def _make_sheet(ranking: Ranking, seeds: pd.DataFrame, bounds: pd.DataFrame, level: float) -> Sheet:
    own = seeds[seeds["model"].isin(ranking.models["model"])]
    rules = bounds.drop_duplicates("dataset").set_index("dataset")
    models = ranking.models["model"]
    columns = []
    for dataset, cells in own.groupby("dataset", sort=True):
        metric, direction = (
            rules.loc[dataset, ["metric", "direction"]] if dataset in rules.index else ("", "")
        )
        scores = cells.set_index("model")[["mean", "std"]].reindex(models)
        columns.append(_make_column(str(dataset), str(metric), str(direction), scores))
    ranks = Column(["", "Rank"], [f"{rank:.0f}" for rank in ranking.models["rank"]], 20.0)
    names, lines = make_name_column(
        ["", "Model"], ranking.models["name"].tolist(), mark_models(ranking)
    )
    caption = _describe_results(ranking, own, level)
    return Sheet([ranks, names], columns, caption, ranking.results_label, lines)


def _make_column(dataset: str, metric: str, direction: str, scores: pd.DataFrame) -> Column:
    cells, plain = write_cells(scores, direction)
    width = max(NARROWEST_HEADER, *(measure(text) + 3 for text in plain))
    names = break_name(shorten(dataset), width=width)
    metrics = break_name(shorten(metric), width=width - ARROW_WIDTH)
    arrow = rf"\,{ARROWS[direction]}" if direction in ARROWS else ""
    header = [write_lines(names), write_lines(metrics, behind=arrow)]
    return Column(header, cells, max([width, *map(measure, names)]))


def _write_number(value: float, decimals: int) -> str:
    if pd.isna(value):
        return ""
    return f"{value:.2e}" if decimals < 0 else f"{value:z.{decimals}f}"


def _describe_results(ranking: Ranking, own: pd.DataFrame, level: float) -> str:
    text = (
        f"Scores{name_within(ranking)} in the units of the metrics, {describe_size(ranking)}: "
        f"{_describe_spread(own)}. {ARROWS['max']} higher is better, "
        f"{ARROWS['min']} lower is better. "
    )
    if len(ranking.models) > 1:
        text += r"Best in \textbf{bold}, next \underline{underlined}, as printed. "
        text += (
            f"Models in the order of their {spell_statistic(ranking.statistic)} "
            rf"(Table~\ref{{{ranking.label}}})."
        )
    if len(own) < len(ranking.models) * own["dataset"].nunique():
        text += f" {NONE}: no run."
    return text.rstrip() + explain_marks(ranking, level=level)


def _describe_spread(own: pd.DataFrame) -> str:
    low, high = int(own["n"].min()), int(own["n"].max())
    if high == 1:
        return "single runs"
    runs = format_count(high, "run")
    counts = runs if low == high else f"{max(low, 2)} to {runs}"
    single = ", single runs without it" if low == 1 else ""
    counts = runs if counts.startswith(f"{high} to") else counts
    return rf"mean $\pm$ standard deviation over {counts}{single}"
