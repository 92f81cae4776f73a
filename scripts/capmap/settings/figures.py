"""How figures look, and which are drawn."""

from typing import Annotated

from pydantic import Field

from capmap.settings.sections import ABSENT, Dots, Flag, Inches, Name, Points, Section, Unique


class Look(Section):
    """How a figure looks. What is left out is as without the section."""

    width: Inches = Field(
        ABSENT,
        description="Width in inches, such as 3.5 for a column; otherwise 3.4, or 7 where names "
        "need it.",
    )
    height: Inches = Field(
        ABSENT,
        description="Height in inches; otherwise as rows need. A figure never gets so low that "
        "rows touch.",
    )
    font: Name = Field(ABSENT, description="Family of the font; otherwise DejaVu Sans.")
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
        ABSENT, description='Colors of some models by name, such as {Model-A: "#0072B2"}.'
    )
    order: Unique[Name] = Field(
        ABSENT,
        description="Models that stand first where a figure lists models; otherwise as they are "
        "ranked.",
    )
    titles: Flag = Field(ABSENT, description="Whether the heading is written; otherwise true.")
    notes: Flag = Field(
        ABSENT, description="Whether the sentences below the axes are written; otherwise true."
    )
    dpi: Dots = Field(ABSENT, description="Dots per inch of PNG files; otherwise 300.")


class Figures(Look):
    """How figures look, and which are drawn.

    A change draws figures anew and computes nothing, but for `names`.
    """

    names: dict[Name, Name] = Field(
        {},
        description="Names for readers of models and datasets, by those of the exports, such as "
        "{vit_b_16_in21k: ViT-B/16}. All figures, tables, texts and pages have them, and all "
        "other settings use them but those that name files (`predictions`); a change computes "
        "the study anew.",
    )
    only: Unique[Name] = Field(
        [],
        description="The figures to draw, by the names of their files; empty means all of the "
        "study.",
    )
    skip: Unique[Name] = Field([], description="Figures not to draw.")
    each: dict[Name, Look] = Field(
        {},
        description="The same options for single figures, such as {intervals: {width: 7}}; names "
        "are those of the files.",
    )
