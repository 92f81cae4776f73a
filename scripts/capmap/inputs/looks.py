"""How the figures of a study look, as configured."""

from collections.abc import Iterator, Mapping
from typing import Any

from capmap.catalog import FIGURES, list_figures
from capmap.errors import ConfigError
from capmap.inputs.studies import Study
from capmap.looks import find_faults
from capmap.wording import find_nearest, list_names, quote_name

# What no look of a figure has.
SHARED = {"formats", "names", "only", "skip"}


def check_looks(study: Study) -> None:
    """Check the names in how figures look that no schema knows, and what depends on others."""
    faults = [study.refuse(f"figures.{option}", text) for option, text in _find_faults(study)]
    if faults:
        raise ConfigError("\n".join(map(str, faults)))


def list_looked_for(study: Study) -> list[tuple[str, str, list[str]]]:
    """List the names of models there: option, kind and names."""
    figures = study.settings["figures"]
    return [(f"figures.{option}", "model", [*figures[option]]) for option in ("colors", "order")]


def read_look(study: Study, name: str) -> dict[str, Any]:
    """Read what a study has chosen for the look of a figure."""
    look = {key: value for key, value in study.settings["figures"].items() if key not in SHARED}
    width = look.pop("width", None)
    if isinstance(width, dict):
        width = width.get(name)
    chosen = look if width is None else {**look, "width": width}
    return {key: value for key, value in chosen.items() if value}


def _find_faults(study: Study) -> Iterator[tuple[str, str]]:
    figures = study.settings["figures"]
    yield from _find_bad_names(figures)
    yield from _find_useless(study)
    try:
        yield from find_faults(figures)
    except ModuleNotFoundError:
        return  # Where only jobs have matplotlib, the one that draws reports it.


def _find_bad_names(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Find figures that there are not, and a name that several would have."""
    widths = figures.get("width")
    by_figure = widths if isinstance(widths, dict) else {}
    for option, names in (
        ("only", figures["only"]),
        ("skip", figures["skip"]),
        ("width", by_figure),
    ):
        for name in names:
            if name not in FIGURES:
                near = find_nearest(name, FIGURES)
                meant = f"Did you mean {quote_name(near)}?" if near else "See docs/figures.md."
                yield option, f"there is no figure {quote_name(name)}. {meant}"
    firsts: dict[str, str] = {}
    for old, new in figures["names"].items():
        first = firsts.setdefault(new, old)
        if first != old:
            both = f"{quote_name(first)} and {quote_name(old)}"
            yield "names", f"{both} would both be called {quote_name(new)}. Give each its own."


def _find_useless(study: Study) -> Iterator[tuple[str, str]]:
    """Find a choice of figures that leaves none."""
    figures = study.settings["figures"]
    if {*figures["only"]} & {*FIGURES} and not list_figures(study.settings):
        listed = list_names(figures["only"])
        yield (
            "only",
            f"none of {listed} is left to be drawn. List their analyses under analyses, and "
            "name no figure here and in `skip`.",
        )
