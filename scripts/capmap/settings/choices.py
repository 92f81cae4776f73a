"""The values of options that are a choice, for settings and for the library that takes them.

They stand apart from the options, so that another description of an option recomputes nothing.
Rules read this module, so matplotlib is imported only where a color or palette is asked for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from capmap.errors import ConfigError
from capmap.wording import find_nearest, quote_name

Direction = Literal["max", "min"]
Format = Literal["long", "matrix", "predictions", "submission", "checkpoints"]
TableFormat = Literal["long", "matrix"]
Decimal = Literal["auto", ".", ","]
Duplicates = Literal["error", "mean", "first", "last"]
# "best" is the highest.
Take = Literal["all", "last", "best", "lowest"]
Spread = Literal["std", "sem"]
# Runs that one summary row may stand for.
MOST_RUNS = 10_000
Invalid = Literal["error", "quarantine"]
# Or a score, or {"model": NAME}.
Failure = Literal["invalid", "drop", "worst"]
Failed: TypeAlias = Failure | float | Mapping[str, str]
Incomplete = Literal["error", "drop_models", "drop_datasets", "adjust"]
Aggregation = Literal["mean", "trimmed_mean", "median"]
# Below that many, datasets do not show how much others like these would differ.
FEWEST_DATASETS = 4
Statistic = Literal["iqm", "mean", "trimmed_mean", "median", "optimality_gap"]
# How the interquartile mean cuts its tails: a quarter of the weight, or whole runs as SciPy does.
Cut = Literal["exact", "whole"]
StatisticOrAuto = Literal["auto", "iqm", "mean", "median"]
IntervalMethod = Literal["percentile", "calibrated"]
# On these datasets: new runs, new seeds, or new runs on new items; or runs on new datasets.
Unit = Literal["runs", "seeds", "items", "runs_and_datasets"]
UnitOrAuto = Literal["auto", "runs", "seeds", "items", "runs_and_datasets"]
Cost = Literal["", "parameters", "cost", "date"]
FitMethod = Literal["l2_ridge", "l2"]
Projection = Literal["mds", "umap"]
LabelMetric = Literal["asma", "real", "labelwise"]
# Numbers of labels whose accuracies ASMA averages, as published.
SUBGROUPS = (1, 2, 3, 4, 5)
# The same by dataset.
Subgroups: TypeAlias = Mapping[str, Sequence[int]]
# The Bayesian signed-rank test decides from this posterior probability on.
DECIDED = 0.95
POSTERIOR_SAMPLES = 50_000
# Level of intervals of predicted scores.
PREDICTION_LEVEL = 0.9
# Of colors that have no order; a palette with more is a gradient.
MOST_COLORS = 24
# Colors that are taken of a gradient before they repeat with another marker.
MOST_STEPS = 20
# The palettes of seaborn 0.13, whose import would take a second.
PALETTES = {
    "deep": "#4C72B0 #DD8452 #55A868 #C44E52 #8172B3 #937860 #DA8BC3 #8C8C8C #CCB974 #64B5CD",
    "muted": "#4878D0 #EE854A #6ACC64 #D65F5F #956CB4 #8C613C #DC7EC0 #797979 #D5BB67 #82C6E2",
    "pastel": "#A1C9F4 #FFB482 #8DE5A1 #FF9F9B #D0BBFF #DEBB9B #FAB0E4 #CFCFCF #FFFEA3 #B9F2F0",
    "bright": "#023EFF #FF7C00 #1AC938 #E8000B #8B2BE2 #9F4800 #F14CC1 #A3A3A3 #FFC400 #00D7FF",
    "dark": "#001C7F #B1400D #12711C #8C0800 #591E71 #592F0D #A23582 #3C3C3C #B8850A #006374",
    "colorblind": "#0173B2 #DE8F05 #029E73 #D55E00 #CC78BC #CA9161 #FBAFE4 #949494 #ECE133 #56B4E9",
}


def find_alpha(confidence: float) -> float:
    """The level of tests by that of intervals.

    Examples
    --------
    >>> find_alpha(0.95)
    0.05
    """
    return round(1 - confidence, 12)


def find_unknown_colors(look: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find palettes and colors of figures that are none: the option, and what was meant."""
    if look.get("palette"):
        try:
            sample_palette(look["palette"], 1)
        except ConfigError as error:
            yield "palette", str(error)
    for model, color in look.get("colors", {}).items():
        try:
            read_color(color)
        except ConfigError as error:
            yield f"colors.{model}", str(error)


def sample_palette(palette: str | Sequence[str], count: int) -> tuple[str, ...]:
    """List the colors of a palette of seaborn, a color map of matplotlib, or a list of colors.

    Of a gradient `count` colors are taken, at most 20; other palettes have their own number.

    Examples
    --------
    >>> sample_palette(["black", "#E69F00"], 5)
    ('#000000', '#e69f00')
    """
    import matplotlib as mpl
    from matplotlib.colors import to_hex

    if not isinstance(palette, str):
        return tuple(map(read_color, palette))
    if palette in PALETTES:
        return tuple(map(read_color, PALETTES[palette].split()))
    if palette not in mpl.colormaps:
        known = [name for name in (*mpl.colormaps, *PALETTES) if not name.endswith("_r")]
        raise ConfigError(
            f"there is no palette {quote_name(palette)}. {_suggest(palette, known)}"
            "Name a palette of seaborn or a color map of matplotlib, or list colors."
        )
    colors = mpl.colormaps[palette]
    if colors.N <= MOST_COLORS:
        return tuple(to_hex(colors(place)) for place in range(colors.N))
    # Without both ends, which are often as pale as the paper.
    steps = min(max(count, 1), MOST_STEPS)
    return tuple(to_hex(colors((step + 1) / (steps + 1))) for step in range(steps))


def read_color(color: str) -> str:
    """Write a color as a hexadecimal number; what is none is refused with a similar one.

    Examples
    --------
    >>> read_color("tab:blue")
    '#1f77b4'
    """
    from matplotlib.colors import get_named_colors_mapping, is_color_like, to_hex

    if is_color_like(color):
        return to_hex(color)
    raise ConfigError(
        f"{quote_name(color)} is no color. {_suggest(color, get_named_colors_mapping())}"
        'Write a name that matplotlib knows, or six digits such as "#0072B2", in quotes.'
    )


def _suggest(name: str, known: Iterable[str]) -> str:
    near = find_nearest(name, known)
    return f"Did you mean {quote_name(near)}? " if near else ""
