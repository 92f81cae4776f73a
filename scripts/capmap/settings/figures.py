"""How figures look, and which are drawn."""

from typing import Annotated, Literal

from capmap.settings.sections import Name, Section, limit, option

Inches = Annotated[float, limit(gt=0, le=50)]
Points = Annotated[float, limit(ge=3, le=40)]


class Look(Section):
    """How a figure looks. What is left out is as without the section."""

    width: Inches | None = option(
        None,
        "Width in inches, such as 3.5 for a column; otherwise 3.4, or 7 where names need it.",
    )
    font_size: Points | None = option(
        None, "Size of most text in points; otherwise 7. Rows, lines and marks grow with it."
    )
    palette: Name | Annotated[list[Name], limit(min_length=1)] | None = option(
        None,
        "Colors of models, a palette of seaborn (such as colorblind), a color map of matplotlib "
        "(such as tab10 or viridis) or a list of colors; otherwise eight that color-blind eyes "
        "tell apart.",
    )
    colors: dict[Name, Name] | None = option(
        None, 'Colors of some models by name, such as {Model-A: "#0072B2"}.'
    )
    order: Annotated[list[Name], limit(unique=True)] | None = option(
        None, "Models that stand first where a figure lists models; otherwise as they are ranked."
    )


class Figures(Look):
    """How figures look, and which are drawn.

    A change draws figures anew and computes nothing, but for `names`.
    """

    names: dict[Name, Name] = option(
        {},
        "Names for readers of models and datasets, by those of the exports, such as "
        "{vit_b_16_in21k: ViT-B/16}. All figures, tables, texts and pages have them, and all other "
        "settings use them but those that name files (`predictions`); a change "
        "computes the study anew.",
    )
    only: list[Name] = option(
        [],
        "The figures to draw, by the names of their files; empty means all of the study.",
        unique=True,
    )
    formats: list[Literal["pdf", "svg", "png"]] = option(
        ["pdf", "svg"],
        "Files of each figure; an SVG is always drawn, as the page shows it. PNG has 300 dots per "
        "inch.",
        unique=True,
    )
    skip: list[Name] = option([], "Figures not to draw.", unique=True)
    each: dict[Name, Look] = option(
        {},
        "The same options for single figures, such as {intervals: {width: 7}}; names are those "
        "of the files.",
    )
