"""How the order of the models changes under another condition."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from capmap.figures.canvas import (
    GAP,
    PADDING,
    NothingToDraw,
    Sheet,
    Wording,
    choose_models,
    make_sheet,
)
from capmap.figures.look import COLUMN_WIDTH, column_width, page_width
from capmap.figures.marks import Mark, mark, mark_members
from capmap.figures.names import printable_text, shorten_names, widest
from capmap.figures.style import (
    FAINT_INK,
    TEXT_SIZE,
    ModelStyle,
    figure_style,
    model_styles,
)
from capmap.wording import count_things

HEADING = "Ranks under another condition"
MAX_PANELS = 4
MAX_IN_GRID = 26
NAME_WIDTH = 1.0
WIDE_NAME_WIDTH = 2.4
MAX_HEIGHT = 9.0
CONDITION_WIDTH = 2.3
ROW_HEIGHT = 0.15
HEADER = 0.18
LINE = 0.125
TITLE_LINES = 3
NO_MODEL = "No model in common."
NO_DATASET = "No dataset that all of them have in both."
GUTTER = 0.2
LOW_ROOM = 0.12


@dataclass(frozen=True)
class _Panel:
    """One condition: its title, the two lines that say how alike the rankings are, its models.

    Without ranks it has a sentence that says why.
    """

    title: str
    verdict: str
    extent: str
    ranks: pd.DataFrame
    empty: str

    @property
    def height(self) -> float:
        """Height of its lines, in inches."""
        return max(len(self.ranks), 2) * ROW_HEIGHT


@figure_style()
def draw_conditions(
    conditions: pd.DataFrame, condition_ranks: pd.DataFrame, *, order: Sequence[str] = ()
) -> Figure:
    """Draw, per other condition, a line per model from its rank here to its rank there.

    Parameters
    ----------
    conditions : DataFrame
        condition, statistic, estimate, ci_low, ci_high, models, datasets; Kendall's tau is drawn
        from the rows ``kendall_tau``. Estimates and intervals may be empty.
    condition_ranks : DataFrame
        condition, model, rank, rank_other; rows in any order.
    order : sequence of str
        All models of the study, for their colors; empty: those of the table.

    Returns
    -------
    matplotlib.figure.Figure
        One condition a column wide (3.4 in), several as a page (7 in) with two panels side by side.
        Where names need it, a page (7 in) with one panel per row, as far as its height allows.

    Notes
    -----
    Names stand at both ends, in the order of the ranks; tied models stand below each other. At
    most the first four conditions by name are drawn, and the best 40 models of each, or the best
    26 where panels stand above each other. A model has its color of all figures.
    """
    panels = _collect_panels(conditions, condition_ranks)
    if not panels:
        raise NothingToDraw("No other condition was given.")
    styles = model_styles([*condition_ranks["model"], *order])
    notes = ["Lines: rank here (left) and under the other condition (right)."]
    if len(panels) > MAX_PANELS:
        notes.append(f"First {MAX_PANELS} of {len(panels)} conditions by name.")
        panels = panels[:MAX_PANELS]
    limit = MAX_IN_GRID if len(panels) > 2 else None
    drawn = []
    for panel in panels:
        ranks, left_out = _choose_rows(panel.ranks, limit)
        drawn.append(replace(panel, ranks=ranks))
        notes += [note for note in left_out if note not in notes]
    for place, panel in zip(_place_panels(drawn, tuple(notes)), drawn, strict=True):
        _draw_panel(place, panel, styles)
    return place.figure


def _collect_panels(conditions: pd.DataFrame, condition_ranks: pd.DataFrame) -> list[_Panel]:
    taus = conditions[conditions["statistic"] == "kendall_tau"].sort_values("condition")
    names = shorten_names(taus["condition"], width=CONDITION_WIDTH, size=TEXT_SIZE)
    return [
        _Panel(
            title=f"Other condition: {names[row['condition']]}",
            verdict=_write_tau(row["estimate"], row["ci_low"], row["ci_high"]),
            extent=f"{count_things(int(row['models']), 'model')}, "
            f"{count_things(int(row['datasets']), 'dataset')} in common",
            ranks=condition_ranks[condition_ranks["condition"] == row["condition"]],
            empty=NO_DATASET if row["models"] else NO_MODEL,
        )
        for row in taus.to_dict("records")
    ]


def _write_tau(estimate: float, low: float, high: float) -> str:
    if pd.isna(estimate):
        return "Kendall's tau: too little in common"
    interval = "" if pd.isna(low) or pd.isna(high) else f" ({low:z.2f} to {high:z.2f})"
    return f"Kendall's tau {estimate:z.2f}{interval}".replace("-", "\N{MINUS SIGN}")


def _choose_rows(ranks: pd.DataFrame, limit: int | None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Keep the best models here, with a note about those left out."""
    ordered = ranks.sort_values(["rank", "model"])
    models, notes = choose_models(ordered["model"], list(ordered["model"]))
    if limit is not None and len(models) > limit:
        notes = (f"Top {limit} of {len(ordered)} models.",)
        models = models[:limit]
    return ordered[ordered["model"].isin(models)], notes


def _place_panels(panels: list[_Panel], notes: tuple[str, ...]) -> list[Sheet]:
    """Make the figure and one place per panel, two in a row, from the top left."""
    title = TITLE_LINES * LINE + HEADER
    stacked = sum(panel.height + title + LOW_ROOM for panel in panels)
    is_wide = not _fit_names(panels) and stacked <= MAX_HEIGHT
    columns = 1 if is_wide else min(len(panels), 2)
    sheet_width = page_width() if is_wide or columns > 1 else column_width()
    width = (sheet_width - 2 * PADDING - (columns - 1) * GUTTER) / columns
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    total = sum(heights) + len(rows) * title + (len(rows) - 1) * LOW_ROOM
    sheet = make_sheet(
        width=sheet_width,
        height=total,
        wording=Wording(HEADING, "", notes),
        left=PADDING,
        right=PADDING,
        head=0.06,
        ticks=0.0,
    )
    sheet.axes.set_axis_off()
    places, top = [], total
    for row, height in zip(rows, heights, strict=True):
        bottom = top - title - height
        for column in range(len(row)):
            left = column * (width + GUTTER)
            panel = sheet.add_panel(left=left, bottom=bottom, width=width, height=height)
            panel.axes.set_axis_off()
            places.append(panel)
        top = bottom - LOW_ROOM
    return places


def _fit_names(panels: list[_Panel]) -> bool:
    """Whether all names fit beside a panel of a column's width."""
    names = [printable_text(model) for panel in panels for model in panel.ranks["model"]]
    return widest(names, size=TEXT_SIZE) <= NAME_WIDTH


def _draw_panel(sheet: Sheet, panel: _Panel, styles: dict[str, ModelStyle]) -> None:
    """Draw a condition; the axes' units are inches across, and rows from the top."""
    _write_title(sheet, panel)
    here = panel.ranks.sort_values(["rank", "model"]).reset_index(drop=True)
    there = here.sort_values(["rank_other", "rank", "model"])
    if here.empty:
        sheet.write(panel.empty, x=0, y=sheet.height - ROW_HEIGHT)
        return
    room = WIDE_NAME_WIDTH if sheet.width > COLUMN_WIDTH else NAME_WIDTH
    labels = shorten_names(here["model"], width=room, size=TEXT_SIZE)
    numbers = [f"{rank:.0f}" for rank in pd.concat([here["rank"], here["rank_other"]])]
    side = widest(labels.values(), size=TEXT_SIZE) + widest(numbers, size=TEXT_SIZE) + 2 * GAP
    edge = side - widest(numbers, size=TEXT_SIZE) - GAP
    row_here = {model: row for row, model in enumerate(here["model"])}
    row_there = {model: row for row, model in enumerate(there["model"])}
    ends = (side, sheet.width - side)
    lines = [[(ends[0], row_here[model]), (ends[1], row_there[model])] for model in row_here]
    looks = [styles[model] for model in row_here]
    sheet.axes.set(xlim=(0, sheet.width), ylim=(sheet.height / ROW_HEIGHT - 0.5, -0.5))
    drawn = LineCollection(
        lines,
        colors=[look.color for look in looks],
        linestyles=[look.line for look in looks],
        linewidths=1.1,
    )
    ranks = zip(
        row_here,
        here["rank"],
        there.set_index("model").loc[list(row_here)]["rank_other"],
        strict=True,
    )
    mark_members(drawn, [Mark(model, text=f"rank {a:.0f}, then {b:.0f}") for model, a, b in ranks])
    sheet.axes.add_collection(drawn)
    _write_end(sheet, here["model"], here["rank"], labels, (edge, edge + GAP / 2, 1))
    _write_end(
        sheet,
        there["model"],
        there["rank_other"],
        labels,
        (sheet.width - edge, sheet.width - edge - GAP / 2, -1),
    )
    for x, text, across in ((edge, "here", "right"), (sheet.width - edge, "there", "left")):
        sheet.write(text, x=x, y=sheet.height + 0.04, ha=across, color=FAINT_INK)


def _write_end(
    sheet: Sheet,
    models: "pd.Series[str]",
    ranks: "pd.Series[int]",
    labels: dict[str, str],
    place: tuple[float, float, int],
) -> None:
    """Write names outside and ranks inside; the place is that of both and the side's sign."""
    x_name, x_rank, sign = place
    outer, inner = ("right", "left") if sign > 0 else ("left", "right")
    for row, (model, rank) in enumerate(zip(models, ranks, strict=True)):
        y = sheet.height - (row + 0.5) * ROW_HEIGHT
        mark(sheet.write(labels[model], x=x_name, y=y, ha=outer, va="center_baseline"), model)
        sheet.write(f"{rank:.0f}", x=x_rank, y=y, ha=inner, va="center_baseline", color=FAINT_INK)


def _write_title(sheet: Sheet, panel: _Panel) -> None:
    top = sheet.height + HEADER + TITLE_LINES * LINE
    for position, line in enumerate([panel.title, panel.verdict, panel.extent]):
        weight = "bold" if position == 1 else "normal"
        sheet.write(line, x=0, y=top - (position + 1) * LINE + 0.02, weight=weight)
