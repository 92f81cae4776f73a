"""What a study has chosen for its figures: width, size of text, colors and order."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from capmap.errors import ConfigError
from capmap.looks import find_faults, read_color

FONT = "DejaVu Sans"
BASE_SIZE = 7.0
COLUMN_WIDTH = 3.4
PAGE_WIDTH = 7.0


@dataclass(frozen=True)
class Look:
    """The look of a figure; as by default where nothing is chosen.

    Parameters
    ----------
    width : float
        Of the file, in inches; 0: as the figure needs.
    font_size : float
        Of most text, in points. Rows, lines and marks grow with it.
    palette : str or tuple of str
        A name or colors, see `capmap.looks.sample_palette`; empty: those of `figures.style`.
    colors : mapping of str to str
        Colors of some models.
    order : tuple of str
        Models that stand first where a figure lists models.
    """

    width: float = 0.0
    font_size: float = BASE_SIZE
    palette: str | tuple[str, ...] = ""
    colors: Mapping[str, str] = field(default_factory=dict)
    order: tuple[str, ...] = ()

    @property
    def enlarged(self) -> float:
        """How much larger text and all that goes with it is than by default."""
        return self.font_size / BASE_SIZE

    def choose_scale(self, width: float) -> float:
        """How much larger the file of a figure is that was laid out with a width, in inches."""
        return self.width / width if self.width else self.enlarged


_worn: ContextVar[Look] = ContextVar("look", default=Look())  # noqa: B039 - it is frozen


def current_look() -> Look:
    """The look that figures are drawn with now."""
    return _worn.get()


@contextmanager
def wear_look(look: Look) -> Iterator[None]:
    """Draw and save figures with a look."""
    token = _worn.set(look)
    try:
        yield
    finally:
        _worn.reset(token)


def column_width() -> float:
    """Width, in inches, in which a small figure is laid out: 3.4, if nothing else is asked for.

    Notes
    -----
    Layouts are made for text of 7 points, and the file is larger where text is to be larger.
    """
    look = current_look()
    return (look.width or COLUMN_WIDTH) / look.enlarged


def page_width(least: float = 0.0) -> float:
    """Width, in inches, in which a large figure is laid out: 7, if nothing else is asked for.

    Parameters
    ----------
    least : float
        What the layout needs. A figure that is to be narrower is made smaller as a whole.
    """
    look = current_look()
    return max((look.width or PAGE_WIDTH) / look.enlarged, least if look.width else 0.0)


def arrange_models(models: Iterable[str]) -> list[str]:
    """Put the models first that a study wants to stand first; the others stay as they are."""
    names = list(models)
    places = {model: place for place, model in enumerate(current_look().order)}
    return sorted(names, key=lambda model: places.get(model, len(places)))


def read_look(options: Mapping[str, Any]) -> Look:
    """Make a look of what is configured.

    Parameters
    ----------
    options : mapping
        The settings ``figures`` of a study for one figure; those that are absent are as by default.

    Raises
    ------
    ConfigError
        When a palette or color is not there.
    """
    chosen = {key: value for key, value in options.items() if value != ""}
    faults = list(find_faults(chosen))
    if faults:
        raise ConfigError("\n".join(f"figures.{key}: {text}" for key, text in faults))
    palette = chosen.get("palette", "")
    return Look(
        width=chosen.get("width", 0.0),
        font_size=chosen.get("font_size", BASE_SIZE),
        palette=palette if isinstance(palette, str) else tuple(map(read_color, palette)),
        colors={model: read_color(color) for model, color in chosen.get("colors", {}).items()},
        order=tuple(chosen.get("order", ())),
    )
