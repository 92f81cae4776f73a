"""How figures look, and which are drawn."""

from typing import Annotated, Literal

from pydantic import Field

from capmap.settings.sections import ABSENT, Inches, Name, Points, Section, Unique

FORMATS: list[Literal["pdf", "svg", "png"]] = ["pdf", "svg"]


class Figures(Section):
    """How figures look, and which are drawn; a change of `names` alone computes the study anew."""

    width: Inches | dict[Name, Inches] = Field(
        ABSENT, description="Width in inches, such as 3.5, or by figure, such as {intervals: 7}."
    )
    font_size: Points = Field(ABSENT, description="Size of most text in points; otherwise 7.")
    palette: Name | Annotated[list[Name], Field(min_length=1)] = Field(
        ABSENT, description="Palette of seaborn, color map of matplotlib, or list of colors."
    )
    colors: dict[Name, Name] = Field({}, description="Colors of some models by name.")
    order: Unique[Name] = Field([], description="Models that stand first in figures.")
    formats: Unique[Literal["pdf", "svg", "png"]] = Field(
        FORMATS, description="Files of each figure; an SVG is always drawn, for the page."
    )
    names: dict[Name, Name] = Field(
        {},
        description="Names for readers of models and datasets, by those of the exports, in all "
        "results and all other settings but those that name files (`predictions`).",
    )
    only: Unique[Name] = Field([], description="The figures to draw; empty means all.")
    skip: Unique[Name] = Field([], description="Figures not to draw.")
