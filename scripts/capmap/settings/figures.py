"""How figures look, and which are drawn."""

from typing import Annotated, Literal

from pydantic import Field

from capmap.settings.sections import ABSENT, Inches, Name, Points, Section, Unique

FORMATS: list[Literal["pdf", "svg", "png"]] = ["pdf", "svg"]


class Figures(Section):
    """How figures look, and which are drawn.

    A change draws figures anew and computes nothing, but for `names`.
    """

    width: Inches | dict[Name, Inches] = Field(
        ABSENT,
        description="Width in inches, such as 3.5 for a column, or by figure, such as "
        "{intervals: 7}; otherwise 3.4, or 7 where names need it.",
    )
    font_size: Points = Field(
        ABSENT,
        description="Size of most text in points; otherwise 7. Rows, lines and marks grow with it.",
    )
    palette: Name | Annotated[list[Name], Field(min_length=1)] = Field(
        ABSENT,
        description="Colors of models, a palette of seaborn (such as colorblind), a color map of "
        "matplotlib (such as tab10 or viridis) or a list of colors; otherwise eight that "
        "color-blind eyes tell apart.",
    )
    colors: dict[Name, Name] = Field(
        {}, description='Colors of some models by name, such as {Model-A: "#0072B2"}.'
    )
    order: Unique[Name] = Field(
        [],
        description="Models that stand first where a figure lists models; otherwise as they are "
        "ranked.",
    )
    formats: Unique[Literal["pdf", "svg", "png"]] = Field(
        FORMATS,
        description="Files of each figure; an SVG is always drawn, as the page shows it. PNG has "
        "300 dots per inch.",
    )
    names: dict[Name, Name] = Field(
        {},
        description="Names for readers of models and datasets, by those of the exports, such as "
        "{vit_b_16_in21k: ViT-B/16}. All figures, tables, texts and pages have them, and all other "
        "settings use them but those that name files (`predictions`); a change computes the study "
        "anew.",
    )
    only: Unique[Name] = Field(
        [],
        description="The figures to draw, by the names of their files; empty means all of the "
        "study.",
    )
    skip: Unique[Name] = Field([], description="Figures not to draw.")
