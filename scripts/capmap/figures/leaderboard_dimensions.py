"""Scores, intervals and ranks of a leaderboard's entries in each dimension."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from capmap.figures.canvas import MAX_MODELS, Wording
from capmap.figures.heatmap import Mark, Scale, Writing, draw_grid, pivot_cells
from capmap.figures.side_columns import format_decimal
from capmap.figures.style import figure_style

HEADING = "Leaderboard by dimension"
UNIT = "interquartile mean of normalized scores"
PLACE_NOTE = "In brackets: rank in the dimension."
INTERVAL_NOTE = "Below: interval of the score."
BEST_NOTE = "Corner: first in the dimension."
PARTIAL_NOTE = "Bar: too few datasets to be ranked."
EMPTY_NOTE = "Hatched: no runs."
DASH = "\N{EN DASH}"


@figure_style()
def draw_leaderboard_dimensions(dimensions: pd.DataFrame) -> Figure:
    """Draw the interquartile mean of each entry in each dimension, with intervals and ranks.

    Parameters
    ----------
    dimensions : DataFrame
        method, dimension, rank, model, name, submission, iqm, ci_low, ci_high, complete; at least
        one row. Dimensions in their order, the one of all datasets first; rank and interval may be
        empty.

    Returns
    -------
    matplotlib.figure.Figure
        A heat map with a row per entry and a column per dimension: method by method, by rank over
        all datasets, then those without one. A column wide (3.4 in), or a page (7 in) for more
        than eight dimensions or long names. At most 40 rows, the same number of each method, and
        the first 40 dimensions.

    Notes
    -----
    The first of each method in a dimension has a corner, an entry that is incomplete in a dimension
    a bar, and one without runs in it is hatched. Intervals are left out where they do not fit.
    """
    names = list(dict.fromkeys(dimensions["dimension"]))
    models, notes = _choose_entries(dimensions)
    if len(names) > MAX_MODELS:
        notes = (*notes, f"First {MAX_MODELS} of {len(names)} dimensions.")
        names = names[:MAX_MODELS]
    cells = dimensions.set_index(["model", "dimension"])
    cells = cells[["iqm", "ci_low", "ci_high", "rank", "complete"]].astype("float64")
    tables = {str(column): pivot_cells(cells[column], models, names) for column in cells}
    labels = label_entries(dimensions)
    for table in tables.values():
        table.index = pd.Index([labels[model] for model in models], name="entry")
    scores = tables["iqm"]
    partial = tables["complete"] == 0
    notes = (*notes, BEST_NOTE)
    notes += (PARTIAL_NOTE,) if partial.to_numpy().any() else ()
    notes += (EMPTY_NOTE,) if scores.isna().to_numpy().any() else ()
    return draw_grid(
        scores,
        scale=Scale(UNIT, *_span_colors(scores), (), "cividis"),
        wording=Wording(HEADING, "", notes),
        writings=_write_cells(tables),
        marks=(Mark(tables["rank"] == 1), Mark(partial, "bar")),
    ).figure


def label_entries(entries: pd.DataFrame) -> dict[str, str]:
    """Name entries by as little as tells them apart: name, method, submission, or model.

    Parameters
    ----------
    entries : DataFrame
        method, model, name, submission; repeats do not matter.

    Returns
    -------
    dict of str to str
        Label per model, in the order of models.

    Examples
    --------
    >>> columns = ["method", "model", "name", "submission"]
    >>> rows = [("frozen", "a/f", "A", "s"), ("full", "a/u", "A", "s"), ("frozen", "b/f", "B", "s")]
    >>> list(label_entries(pd.DataFrame(rows, columns=columns)).values())
    ['A · frozen', 'A · full', 'B']
    """
    table = entries.drop_duplicates("model").set_index("model").sort_index()
    labels = {str(model): str(name) for model, name in table["name"].items()}
    for part in ("method", "submission"):
        values = {str(model): str(value) for model, value in table[part].items()}
        alike: dict[str, set[str]] = {}
        for model, label in labels.items():
            alike.setdefault(label, set()).add(values[model])
        labels = {
            model: f"{label} · {values[model]}" if len(alike[label]) > 1 else label
            for model, label in labels.items()
        }
    counts = Counter(labels.values())
    return {model: label if counts[label] == 1 else model for model, label in labels.items()}


def _choose_entries(dimensions: pd.DataFrame) -> tuple[list[str], tuple[str, ...]]:
    """The entries that a figure has room for, method by method, and a note on the others."""
    overall = dimensions["dimension"].iloc[0]
    places = dimensions[dimensions["dimension"] == overall].set_index("model")["rank"]
    entries = dimensions.drop_duplicates("model")
    entries = entries.assign(place=entries["model"].map(places.astype("float64")))
    entries = entries.sort_values(["method", "place", "name", "model"], na_position="last")
    most = max(MAX_MODELS // entries["method"].nunique(), 1)
    kept = entries.groupby("method").head(most).head(MAX_MODELS)
    if len(kept) == len(entries):
        return kept["model"].tolist(), ()
    return kept["model"].tolist(), (f"The first {len(kept)} of {len(entries)} entries.",)


def _span_colors(scores: pd.DataFrame) -> tuple[float, float]:
    """Ends of the color scale, apart even when all scores are equal."""
    low, high = float(np.nanmin(scores.to_numpy())), float(np.nanmax(scores.to_numpy()))
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _write_cells(tables: dict[str, pd.DataFrame]) -> Sequence[Writing]:
    """Ways to write scores with ranks and intervals, the fullest first."""
    scores = tables["iqm"]
    ranks = tables["rank"].map(lambda rank: "" if rank != rank else f" ({rank:.0f})")
    ways = []
    if tables["ci_low"].notna().to_numpy().any():
        for decimals in (3, 2):
            ends = _write(tables["ci_low"], decimals) + DASH + _write(tables["ci_high"], decimals)
            ends = ends.where(tables["ci_low"].notna(), "")
            texts = (_write(scores, 3) + ranks + "\n" + ends).map(str.strip)
            ways.append(Writing(texts, f"{PLACE_NOTE} {INTERVAL_NOTE}"))
    ways += [Writing(_write(scores, decimals) + ranks, PLACE_NOTE) for decimals in (3, 2)]
    return [*ways, Writing(_write(scores, 2))]


def _write(values: pd.DataFrame, decimals: int) -> pd.DataFrame:
    return values.map(lambda value: format_decimal(value, decimals))
