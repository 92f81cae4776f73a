"""Pairs of models: differences, the signed-rank test, and ratings of who beats whom.

A table lists each pair once; a figure shows it from both sides, or all models against a reference.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    ONE_MODEL,
    PADDING,
    ROW_HEIGHT,
    NothingToDraw,
    Sheet,
    Wording,
    choose_models,
    format_decimal,
    make_sheet,
    write_p,
)
from capmap.figures.forest import Column, draw_forest
from capmap.figures.heatmap import (
    DIVERGING,
    Scale,
    Writing,
    draw_grid,
    pivot_cells,
    span_colors,
)
from capmap.figures.marks import mark
from capmap.figures.style import (
    FAINT_INK,
    INK,
    TEXT_SIZE,
    column_width,
    figure_style,
    page_width,
    shorten_names,
    text_width,
    widest,
)
from capmap.wording import MOST_LETTERED, count_things, format_p, split_letters

# What a quantity of the pair (a, b) is for the pair (b, a).
SWAPPED = {"model_a": "model_b", "ci_low": "ci_high", "wins": "losses"}
NEGATED = ("mean_difference", "ci_low", "ci_high", "effect_size")
NO_SHARED = "no dataset in common"
HATCH_NOTE = f"Hatched: {NO_SHARED}."

DIFFERENCE_HEADING = "Pairwise comparison"
DIFFERENCE_UNIT = "mean difference in normalized score (row \N{MINUS SIGN} column)"
REFERENCE_UNIT = "mean difference (normalized score)"
COUNTS_NOTE = "Second line of a cell: datasets won/tied/lost by the row."
WINS_NOTE = "w/t/l: datasets won/tied/lost against the reference."
P_NOTE = "p: Wilcoxon signed-rank test, Holm-corrected over all pairs."
ITEMS_NOTE = "items: those that both models have."
NEEDED_NOTE = "needed: items that show such a difference in 80% of studies."
R_NOTE = "r: matched-pairs rank-biserial correlation."
HEADING = "Mean ranks and critical difference"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
NO_DATASET = "No dataset has scores of all models, so there is no Nemenyi test."

LABEL_WIDTH = 1.88
TICK_GAP = 0.07
EDGE = 0.08
LEAST_AXIS = 1.5
LEVEL_HEIGHT = 0.085
TICK_LENGTH = 0.04
ELBOW_COLOR = "#8A8A8A"
STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BARS_NOTE = "Bars join models that the Nemenyi test does not separate."
NO_BARS = f"Of more than {MOST_LETTERED} models, no bars say which are not separated."

Segment = list[tuple[float, float]]


def mirror_pairs(pairwise: pd.DataFrame) -> pd.DataFrame:
    """List each pair in both directions.

    Parameters
    ----------
    pairwise : DataFrame
        Columns of comparisons/pairwise.csv; each pair once.

    Returns
    -------
    DataFrame
        The same columns; twice as many rows, in which every model has been model_a.

    Examples
    --------
    >>> pair = pd.DataFrame({"model_a": ["x"], "model_b": ["y"], "mean_difference": [0.5]})
    >>> list(mirror_pairs(pair).itertuples(index=False, name=None))
    [('x', 'y', 0.5), ('y', 'x', -0.5)]
    """
    swaps = {**SWAPPED, **{second: first for first, second in SWAPPED.items()}}
    mirrored = pairwise.rename(columns=swaps)[list(pairwise.columns)]
    negated = pairwise.columns.intersection(list(NEGATED))
    mirrored[negated] = -mirrored[negated]
    return pd.concat([pairwise, mirrored], ignore_index=True)


def _write_counts(pairs: pd.DataFrame) -> "pd.Series[Any]":
    """Write wins, ties and losses as ``9/1/0``; empty where a pair shares no dataset."""
    counts = pairs[["wins", "ties", "losses"]].fillna(0).astype(int)
    texts = counts.astype(str).agg("/".join, axis=1)
    return texts.where(counts.sum(axis=1) > 0, "")


@figure_style()
def draw_comparison_matrix(
    pairwise: pd.DataFrame, *, order: Sequence[str] = (), alpha: float
) -> Figure:
    """Draw how much each model (row) is better than each other one (column).

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference (normalized score), wins, ties, losses, wilcoxon_p_holm;
        rows in any order.
    order : sequence of str
        Models from the best to the worst; by name where empty.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map of at most 40 models, the best first, with the difference and wins/ties/losses
        in its cells where they fit. A column wide (3.4 in), or a page (7 in) where models need it.

    Notes
    -----
    A corner marks a pair whose Holm-corrected p value is below the level. A pair without a dataset
    in common is hatched.
    """
    pairs = mirror_pairs(pairwise).set_index(["model_a", "model_b"])
    pairs.index.names = ["model", "against"]
    models, notes = choose_models(pairs.index.get_level_values(0), order)

    def square(values: "pd.Series[Any]") -> pd.DataFrame:
        return pivot_cells(values, models, models)

    table = square(pairs["mean_difference"]).mask(np.eye(len(models), dtype=bool), 0.0)
    limit = max(map(abs, span_colors(table, share=0.96)))
    is_sure = square(pairs["wilcoxon_p_holm"]) < alpha
    if is_sure.to_numpy().any():
        notes += (f"Corner: Wilcoxon signed-rank test, Holm-corrected, p < {alpha:g}.",)
    if table.isna().to_numpy().any():
        notes += (HATCH_NOTE,)
    texts = [
        pairs["mean_difference"].map(lambda value, own=decimals: format_decimal(value, own))
        for decimals in (3, 2)
    ]
    both = [text.str.cat(_write_counts(pairs), sep="\n").str.strip("\n") for text in texts]
    return draw_grid(
        table,
        scale=Scale(DIFFERENCE_UNIT, -limit, limit, DIVERGING),
        wording=Wording(DIFFERENCE_HEADING, "", notes),
        writings=[
            *(Writing(square(text).fillna(""), COUNTS_NOTE) for text in both),
            *(Writing(square(text).fillna("")) for text in texts),
        ],
        corners=is_sure,
    )


@figure_style()
def draw_comparison_reference(
    pairwise: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw how much each model differs from the reference, with intervals.

    Parameters
    ----------
    pairwise : DataFrame
        model_a, model_b, mean_difference, ci_low, ci_high (normalized score), wins, ties, losses,
        wilcoxon_p_holm, effect_size; rows in any order; ends of intervals may be empty.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst; by name where empty.

    Returns
    -------
    matplotlib.figure.Figure
        A row per model, at most 40. A column wide (3.4 in), or a page (7 in) where names need it.

    Notes
    -----
    At the right stand the model's wins/ties/losses against the reference, the Holm-corrected p
    value of Wilcoxon's signed-rank test, if any is below 1, and the matched-pairs rank-biserial
    correlation r.
    """
    reference = reference or order[0]
    everyone = {*pairwise["model_a"], *pairwise["model_b"]}
    models, notes = choose_models(everyone - {reference}, order)
    facing = mirror_pairs(pairwise)
    facing = facing[facing["model_b"] == reference].set_index("model_a").reindex(models)
    facing = facing.rename_axis("model")
    named = {"mean_difference": "estimate", "ci_low": "low", "ci_high": "high"}
    p, r = facing["wilcoxon_p_holm"], facing["effect_size"].map(format_decimal)
    return draw_forest(
        facing.rename(columns=named),
        everyone=everyone,
        columns=[
            Column("w/t/l", _write_counts(facing).tolist(), WINS_NOTE),
            Column("p (Holm)", p.map(write_p).tolist() if p.lt(1).any() else [], P_NOTE),
            Column("r", r.tolist(), R_NOTE),
        ],
        wording=Wording(f"Difference from {reference}", REFERENCE_UNIT, notes),
        line=0.0,
        most=1.0,
        empty=NO_SHARED,
    )


@figure_style()
def draw_item_differences(
    item_pairs: pd.DataFrame, *, reference: str, order: Sequence[str] = ()
) -> Figure:
    """Draw how much each model differs from the reference, paired by item, on all datasets.

    Parameters
    ----------
    item_pairs : DataFrame
        model_a, model_b, dataset (missing: all), mean_difference, ci_low, ci_high, items, needed.
    reference : str
        The model that others are compared with; empty: the first of `order`.
    order : sequence of str
        Models from the best to the worst.
    """
    reference = reference or order[0]
    pairs = item_pairs[item_pairs["dataset"].isna()]
    everyone = {*pairs["model_a"], *pairs["model_b"]}
    models, notes = choose_models(everyone - {reference}, order)
    facing = mirror_pairs(pairs)
    facing = facing[facing["model_b"] == reference].set_index("model_a").reindex(models)
    named = {"mean_difference": "estimate", "ci_low": "low", "ci_high": "high"}
    counts = {name: facing[name].map(_write_count).tolist() for name in ("items", "needed")}
    return draw_forest(
        facing.rename(columns=named).rename_axis("model"),
        everyone=everyone,
        columns=[
            Column("items", counts["items"], ITEMS_NOTE),
            Column("needed", counts["needed"], NEEDED_NOTE),
        ],
        wording=Wording(f"Difference from {reference}, item by item", REFERENCE_UNIT, notes),
        line=0.0,
        most=1.0,
        empty=NO_SHARED,
    )


def _write_count(number: float) -> str:
    return "" if pd.isna(number) else f"{number:,.0f}"


@figure_style()
def draw_critical_difference(
    mean_ranks: pd.DataFrame, nemenyi: pd.DataFrame, friedman: pd.DataFrame, *, alpha: float
) -> Figure:
    """Draw the critical difference diagram of mean ranks, the best rank at the left.

    Parameters
    ----------
    mean_ranks : DataFrame
        model, mean_rank, nemenyi_group (letters such as ``abz2``, may be empty); rows in any order.
    nemenyi : DataFrame
        model_a, model_b, rank_difference (a minus b) of all pairs, and critical_difference and
        datasets, the same in all rows; may be empty.
    friedman : DataFrame
        test and p_dependent; the row ``friedman`` is told in a note.
    alpha : float
        Level of the tests, between 0 and 1.

    Returns
    -------
    matplotlib.figure.Figure
        A column wide (3.4 in) where names are short, otherwise a page (7 in).

    Notes
    -----
    Models stand at their mean ranks over the datasets that all have, which are those that the
    test compares. A bar joins models that it does not separate. Demšar draws the best rank at the
    right; here it is at the left, and an arrow says so. With fewer than two models, or
    an empty Nemenyi table, there is no diagram. The better half of the models is named at the left,
    the other at the right, or all at the left of a narrow figure, so no line crosses a name or
    another model's line. Bars of a level do not touch. Of more than 40 models the best 40 are
    drawn.

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7.
    """
    if mean_ranks["mean_rank"].count() < 2:
        raise NothingToDraw(ONE_MODEL)
    if nemenyi.empty:
        raise NothingToDraw(NO_DATASET)
    difference = float(nemenyi["critical_difference"].iloc[0])
    table = mean_ranks.assign(mean_rank=mean_ranks["model"].map(_place_ranks(nemenyi)))
    table = table.dropna(subset="mean_rank").sort_values(["mean_rank", "model"])
    models, left_out = choose_models(table["model"], list(table["model"]))
    table = table[table["model"].isin(models)]
    models = list(table["model"])
    ranks = [float(rank) for rank in table["mean_rank"]]
    labels = shorten_names(models, width=LABEL_WIDTH, size=TEXT_SIZE)
    plan = _Plan(
        ranks=ranks,
        models=models,
        names=[labels[model] for model in models],
        numbers=[f"{rank:.2f}" for rank in ranks],
        bars=stack_bars(table["nemenyi_group"], ranks),
        critical_difference=difference,
        rows=-(-len(ranks) // 2),
    )
    datasets = count_things(int(nemenyi["datasets"].iloc[0]), "dataset")
    notes = [
        f"Mean ranks over the {datasets} common to all models. "
        f"{BARS_NOTE if len(mean_ranks) <= MOST_LETTERED else NO_BARS}",
        "Nemenyi: depends on which models are compared.",
        *_describe_friedman(friedman, alpha),
        *left_out,
    ]
    if page_width() - sum(plan.margins) < LEAST_AXIS:
        plan = replace(plan, rows=len(ranks))
    sheet = _make_sheet(plan, Wording(HEADING, "", tuple(notes)))
    _draw_axis(sheet, plan)
    _draw_elbows(sheet, plan)
    _draw_bars(sheet, plan)
    _write_names(sheet, plan)
    _draw_bracket(sheet, plan, f"CD = {difference:.2f} ({ALPHA} = {alpha:g})")
    return sheet.figure


def _place_ranks(nemenyi: pd.DataFrame) -> "pd.Series[float]":
    """Mean rank of each model, recovered from the differences of all pairs.

    Notes
    -----
    Mean ranks of k models have the mean (k + 1) / 2, from which each is its mean difference to all
    models away.
    """
    pairs = nemenyi.sort_values(["model_a", "model_b"])
    ahead = pairs.set_index("model_a")["rank_difference"]
    behind = -pairs.set_index("model_b")["rank_difference"]
    sums = pd.concat([ahead, behind]).groupby(level=0).sum()
    ranks: pd.Series[float] = (len(sums) + 1) / 2 + sums / len(sums)
    return ranks.round(12)


def _describe_friedman(friedman: pd.DataFrame, alpha: float) -> tuple[str, ...]:
    """Result of the Friedman test, and what follows where it finds nothing."""
    p = friedman.loc[friedman["test"] == "friedman", "p_dependent"].dropna()
    if p.empty:
        return ()
    value = float(p.iloc[0])
    verdict = "" if value < alpha else ": no evidence that mean ranks differ"
    return (f"Friedman test: {format_p(value)}{verdict}.",)


@dataclass(frozen=True)
class _Plan:
    """What is drawn, and where: heights in inches from the bottom of the axes."""

    ranks: list[float]
    models: list[str]
    names: list[str]
    numbers: list[str]
    bars: list[tuple[float, float, int]]
    critical_difference: float
    rows: int

    @property
    def margins(self) -> tuple[float, float]:
        """Room for the names at the left and at the right."""
        numbers = widest(self.numbers, size=TEXT_SIZE)
        left, right = (
            PADDING + widest(names, size=TEXT_SIZE) + numbers + 2.5 * GAP if names else 2 * PADDING
            for names in (self.names[: self.rows], self.names[self.rows :])
        )
        return left, right

    @property
    def axis_height(self) -> float:
        levels = 1 + max((level for _, _, level in self.bars), default=-1)
        return self.rows * ROW_HEIGHT + levels * LEVEL_HEIGHT + 0.08

    @property
    def height(self) -> float:
        return self.axis_height + 0.66

    def place_label(self, position: int) -> tuple[bool, float]:
        """Whether a model is named at the left, and the height of its row."""
        at_left = position < self.rows
        row = position if at_left else len(self.ranks) - 1 - position
        return at_left, (self.rows - row - 0.5) * ROW_HEIGHT


def stack_bars(letters: Iterable[object], ranks: Sequence[float]) -> list[tuple[float, float, int]]:
    """Ends of the bar of each letter that models share, and the first level where it fits.

    Examples
    --------
    >>> stack_bars(["a", "ab", "bc2", "c2", float("nan")], [1, 2, 3, 4, 5])
    [(1, 2, 0), (2, 3, 1), (3, 4, 0)]
    """
    members: dict[str, list[float]] = {}
    for rank, text in zip(ranks, letters, strict=True):
        for letter in split_letters(text):
            members.setdefault(letter, []).append(rank)
    room = 0.02 * (ranks[-1] - ranks[0])
    ends: list[float] = []
    bars = []
    for first, *_, last in sorted(own for own in members.values() if len(own) > 1):
        free = (level for level, end in enumerate(ends) if end + room < first)
        level = next(free, len(ends))
        ends[level : level + 1] = [last]
        bars.append((first, last, level))
    return bars


def _make_sheet(plan: _Plan, wording: Wording) -> Sheet:
    left, right = plan.margins
    narrow = column_width() - left - right >= 0.8 + 0.1 * len(plan.ranks)
    sheet = make_sheet(
        width=column_width() if narrow else page_width(),
        height=plan.height,
        wording=wording,
        left=left,
        right=right,
        head=PADDING,
        ticks=0.0,
    )
    end = _last_rank(plan)
    pad = EDGE * (end - 1) / (sheet.width - 2 * EDGE)
    sheet.axes.set_xlim(1 - pad, end + pad)
    sheet.axes.set_ylim(0, plan.height)
    sheet.axes.set_axis_off()
    return sheet


def _last_rank(plan: _Plan) -> int:
    """Whole rank at the end of the axis, which starts at 1."""
    return max(ceil(plan.ranks[-1]), 2)


def _draw_axis(sheet: Sheet, plan: _Plan) -> None:
    last, top = _last_rank(plan), plan.axis_height
    left, right = sheet.axes.get_xlim()
    room = text_width(str(last), size=TEXT_SIZE) + TICK_GAP
    scale = sheet.width / (right - left)
    step = next((step for step in STEPS if step * scale >= room), last)
    ticks = [1] + [tick for tick in range(step, last + 1, step) if (tick - 1) * scale >= room]
    lines: list[Segment] = [[(1, top), (last, top)]]
    lines += [[(tick, top), (tick, top + TICK_LENGTH)] for tick in ticks]
    _add_lines(sheet, lines, colors=INK, linewidths=0.8)
    for tick in ticks:
        sheet.axes.text(tick, top + TICK_LENGTH + 0.03, f"{tick}", ha="center")
    text = "mean rank (\N{LEFTWARDS ARROW} better)"
    sheet.write(text, x=EDGE, y=top + 0.23, color=FAINT_INK)


def _draw_elbows(sheet: Sheet, plan: _Plan) -> None:
    """Draw a line from each rank down to its row and out to its name."""
    left, right = sheet.axes.get_xlim()
    lines = []
    for position, rank in enumerate(plan.ranks):
        at_left, y = plan.place_label(position)
        lines.append([(rank, plan.axis_height), (rank, y), (left if at_left else right, y)])
    _add_lines(sheet, lines, colors=ELBOW_COLOR, linewidths=0.6)


def _draw_bars(sheet: Sheet, plan: _Plan) -> None:
    lines: list[Segment] = []
    for first, last, level in plan.bars:
        y = plan.axis_height - (level + 0.85) * LEVEL_HEIGHT
        lines.append([(first, y), (last, y)])
    _add_lines(sheet, lines, colors=INK, linewidths=2.2, capstyle="projecting", zorder=3)


def _write_names(sheet: Sheet, plan: _Plan) -> None:
    edge = GAP / 2 + widest(plan.numbers, size=TEXT_SIZE)
    texts = zip(plan.models, plan.names, plan.numbers, strict=True)
    for position, (model, name, number) in enumerate(texts):
        at_left, y = plan.place_label(position)
        look: Any = {"y": y, "va": "center_baseline"}
        if at_left:
            sheet.write(number, x=-GAP / 2, ha="right", **look)
            mark(sheet.write(name, x=-edge - GAP, ha="right", **look), model)
        else:
            sheet.write(number, x=sheet.width + edge, ha="right", **look)
            mark(sheet.write(name, x=sheet.width + edge + GAP, **look), model)


def _draw_bracket(sheet: Sheet, plan: _Plan, label: str) -> None:
    length, y = plan.critical_difference, plan.axis_height + 0.44
    if 1 + length > _last_rank(plan):
        sheet.write(f"{label}, longer than the axis", x=EDGE, y=y + 0.07)
        return
    ends: list[Segment] = [[(x, y - 0.03), (x, y + 0.03)] for x in (1, 1 + length)]
    _add_lines(sheet, [[(1, y), (1 + length, y)], *ends], colors=INK, linewidths=1.2)
    sheet.write(label, x=EDGE, y=y + 0.07)


def _add_lines(sheet: Sheet, lines: Sequence[Segment], **look: Any) -> None:
    sheet.axes.add_collection(LineCollection(lines, clip_on=False, **look), autolim=False)
