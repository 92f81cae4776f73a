"""Numbers and statements of a publication."""

from pydantic import Field

from capmap.settings.sections import (
    ABSENT,
    AtLeastZero,
    FilePath,
    Flag,
    Name,
    Number,
    Rule,
    Scalar,
    Section,
)


class PublishedColumn(Section):
    """What a printed column stands beside."""

    column: Name = Field(description="Column of the study's table.")
    where: dict[str, Scalar] = Field({}, description="As that of the entry, which it adds to.")
    scale: Number = Field(1, description="Factor of the study's numbers, such as 100 for percent.")
    tolerance: AtLeastZero = Field(0, description="How far the two may be apart to count as near.")
    count: Flag = Field(False, description="Whether it counts rows with something in the column.")
    low: str = Field("", description="Column of its table with the lower end of an interval.")
    high: str = Field("", description="Column with the upper end; empty means that it is open.")


class Published(Section):
    """Tables and figures of a publication, by name, and what stands beside them in the study."""

    file: FilePath = Field("", description="Table of its numbers as printed.")
    table: str = Field("", description="The study's table beside it, such as tables/iqm.")
    figure: str = Field("", description="Or its figure, such as intervals, which is only listed.")
    keys: dict[Name, Name] = Field(
        {"model": "model"}, description="Columns that say which row: as printed, and of the table."
    )
    columns: dict[Name, Name | PublishedColumn] = Field(
        {}, description="Printed columns and what they stand beside; empty means the same names."
    )
    where: dict[str, Scalar] = Field({}, description="Rows of the table, as column and value.")
    names: dict[Name, Name] = Field(
        {}, description="Names in printed key columns, and those of the study that differ."
    )
    note: str = Field("", description="Why numbers differ or are not computed.")


class Claim(Rule):
    """Statements of a publication, by their words, as ranges of numbers in the study's tables.

    A statement holds if the interval lies within the range, fails if it lies outside, and is open
    otherwise, also without an interval.
    """

    table: Name = Field(description="The study's table, such as capabilities/bend.")
    where: dict[str, Scalar] = Field(ABSENT, description="The one row, as column and value.")
    column: Name = Field(description="Its column with the number.")
    low: str = Field(ABSENT, description="Its column with the lower end of the interval.")
    high: str = Field(ABSENT, description="Its column with the upper end of the interval.")
    above: Number = Field(ABSENT, description="The number is said to be no lower than this.")
    below: Number = Field(ABSENT, description="The number is said to be no higher than this.")
