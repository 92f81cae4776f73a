"""Options of the analyses."""

from typing import Annotated, TypeAlias

from pydantic import Field

from capmap.settings.choices import (
    SUBGROUPS,
    Cost,
    FitMethod,
    LabelMetric,
    Projection,
)
from capmap.settings.data import DatasetName
from capmap.settings.sections import (
    ABSENT,
    AtLeastZero,
    Count,
    Dimension,
    FilePath,
    Flag,
    GivenPath,
    Name,
    Number,
    Positive,
    Rule,
    Scalar,
    Section,
    Unique,
    Whole,
)

LabelCounts: TypeAlias = Annotated[Unique[Count], Field(min_length=1)]
Rope: TypeAlias = AtLeastZero | Annotated[dict[str, Positive], Field(min_length=1)]


class Comparison(Section):
    """How models are compared with each other."""

    reference: str = Field(
        "",
        description="Model that the compact comparisons set the others against; empty means the "
        "best by interquartile mean.",
    )
    rope: Rope = Field(
        0.01,
        description="Half-width of the region of practical equivalence, in normalized score, or "
        "for every metric of the study in its own unit, such as {accuracy: 0.5, rmse: 0.02}.",
    )


class Group(Section):
    """A set of datasets."""

    datasets: Unique[str] = Field(min_length=1, description="Datasets of the group.")


class Capabilities(Section):
    """Models and datasets placed in one space."""

    min_results: Whole = Field(
        5,
        ge=1,
        description="Results that each model and each dataset must have. Those with fewer are "
        "dropped, until none is left to drop.",
    )
    method: FitMethod = Field(
        "l2_ridge",
        description='Distance by which positions are fitted, "l2_ridge" (Euclidean, with a '
        'ridge), or as in the paper "l2", "cosine" or "poincare". Predictions do not depend on '
        "it.",
    )
    dimension: Whole = Field(5, ge=1, le=50, description="Number of dimensions of the space.")
    dimensions: Unique[Dimension] = Field(
        [2, 3, 5, 7, 10, 15], description="Numbers of dimensions to compare by cross-validation."
    )
    splits: Whole = Field(10, ge=2, description="Number of random splits of the cross-validation.")
    map: Projection = Field(
        "mds",
        description='How the map is projected to two dimensions, "mds" or "umap". The second '
        "needs the package umap-learn: `pip install umap-learn`.",
    )


class ModelAttributes(Section):
    """What is known of models."""

    file: FilePath = Field(
        "", description="Table with a row per model and a column model; empty means none."
    )
    architecture: str = Field("", description="Column of the architecture; empty means none.")
    parameters: str = Field(
        "", description="Column of the number of parameters, in any unit; empty means none."
    )
    cost: str = Field(
        "",
        description="Column of what a model costs, such as FLOPs, seconds or a price; empty "
        "means none.",
    )
    date: str = Field("", description="Column of the date of publication; empty means none.")


class DatasetAttributes(Section):
    """What is known of datasets."""

    file: FilePath = Field(
        "",
        description="Table with a row per dataset and a column dataset; empty means none.",
    )
    type: str = Field("", description="Column of the type of task; empty means none.")


class Frontier(Section):
    """Score against cost."""

    against: Cost = Field(
        "",
        description='What a model costs, of its attributes: "parameters", "cost" or "date" (the '
        "earlier, the cheaper); empty means that nothing is known.",
    )


class Attributes(Section):
    """What is known of models and datasets, for maps, costs, drift over time and transfer."""

    models: ModelAttributes = ModelAttributes()
    datasets: DatasetAttributes = DatasetAttributes()


class Multilabel(Section):
    """Accuracy where images have several valid labels."""

    subgroups: LabelCounts | Annotated[dict[DatasetName, LabelCounts], Field(min_length=1)] = Field(
        [*SUBGROUPS],
        description="Numbers of labels whose accuracies ASMA averages, of all datasets or by "
        "dataset, such as {PatchML: [2, 3, 4, 6, 9]}; datasets that are not named have the "
        "default. Numbers that no image has are left out and said.",
    )
    compare: Unique[str] = Field(
        [],
        max_length=2,
        description="Two datasets whose difference is shown, the first minus the second; empty "
        "means the first two of the study.",
    )
    rank_by: LabelMetric = Field(
        "asma",
        description="Metric that orders the models and is set against top-1 accuracy in the "
        "figures and first in the rank shifts.",
    )
    images: dict[DatasetName, Count] = Field(
        {},
        description="Numbers of images behind published top-1 and ReaL accuracies by dataset, "
        "such as 50000 for ImageNetV1. Ranks then count those that ties of rounded values hide. "
        "Not used for predictions, whose accuracies are exact.",
    )
    labels: dict[DatasetName, GivenPath] = Field(
        {},
        description="Files of the valid labels of datasets with published metrics, whose images "
        "are counted by their number of labels. Those of predictions stand in "
        "`predictions.datasets`.",
    )


class CheckpointSelection(Section):
    """By what the best checkpoint of each training is chosen."""

    metric: str = Field("", description="Metric to choose by; empty means the only one there is.")
    split: str = Field("validation", description="Split to choose on.")


class CheckpointReport(Section):
    """How chosen checkpoints are compared."""

    split: str = Field(
        "test",
        description="Split of the scores; without such a split those of the selection are used, "
        "which is a warning.",
    )


class CheckpointRanking(Section):
    """A ranking of chosen checkpoints: by a metric, by an expression, or else by the selection."""

    name: Name = Field(description="Name of the ranking.")
    metric: str = Field("", description="Metric to rank by, best first by its direction.")
    expression: str = Field(
        "",
        max_length=500,
        description="Formula over names of metrics, such as 0.7 * accuracy - 0.3 * ece; higher is "
        "better. Numbers, names, + - * / ( ), min, max, mean, abs, log and sqrt.",
    )


class Checkpoints(Section):
    """Which checkpoint stands for a training, and how they are ranked (checkpoints format only)."""

    select: CheckpointSelection = CheckpointSelection()
    allow_test_selection: Flag = Field(
        False,
        description="Whether checkpoints may be chosen on the split of the report, which stamps "
        "every table.",
    )
    report: CheckpointReport = CheckpointReport()
    rankings: list[CheckpointRanking] = Field(
        [CheckpointRanking(name="best")],
        min_length=1,
        description="Rankings to make of the checkpoints.",
    )


class Leaderboard(Section):
    """The leaderboard, by the dimensions of `benchmark` and by `groups`."""

    releases: FilePath = Field(
        "",
        description="Glob of tables leaderboard/entries.csv that you kept of former releases, in "
        'the order of their names, such as releases/*.csv, for the analysis "releases"; empty '
        "means none.",
    )
    about: str = Field(
        "",
        description="What the page says beside the table, such as its version, how to submit an "
        "entry and how to cite it.",
    )


class PublishedColumn(Section):
    """What a printed column stands beside."""

    column: Name = Field(description="Column of the study's table.")
    where: dict[str, Scalar] = Field({}, description="As that of the entry, which it adds to.")
    scale: Number = Field(
        1, description="What a number of the study is multiplied by, such as 100 for percent."
    )
    tolerance: Number = Field(
        0,
        ge=0,
        description="How far the two may be apart to count as near, where numbers have an error.",
    )
    count: Flag = Field(
        False,
        description="Whether the number is how many rows of the study have something in the "
        "column.",
    )
    low: str = Field(
        "",
        description="Column of its table with the lower end of an interval in which a number is "
        "near.",
    )
    high: str = Field(
        "", description="Column with the upper end; empty means that it is open there."
    )


class Published(Section):
    """Tables and figures of a publication, by name, and what stands beside them in the study."""

    file: FilePath = Field(
        "",
        description="Table of its numbers as printed; empty means that it is only listed, as a "
        "figure is.",
    )
    table: str = Field(
        "",
        description="The study's table beside it, such as tables/iqm; empty means that it has "
        "none.",
    )
    figure: str = Field(
        "", description="Or its figure, such as intervals, which is listed beside it."
    )
    keys: dict[Name, Name] = Field(
        {"model": "model"},
        description="Columns that say which row is meant: as printed, and of the table.",
    )
    columns: dict[Name, Name | PublishedColumn] = Field(
        {},
        description="Printed columns and what they stand beside; empty means columns of the same "
        "names.",
    )
    where: dict[str, Scalar] = Field(
        {}, description="Rows of the study's table that are meant, as column and value."
    )
    names: dict[Name, Name] = Field(
        {},
        description="Names in the printed key columns, and what the study has for them where "
        "that differs.",
    )
    note: str = Field(
        "", description="Why numbers differ or are not computed, as the page says it."
    )


class Claim(Rule):
    """Statements of a publication, by their words, as ranges of numbers in the study's tables.

    A statement holds if the interval lies within the range, fails if it lies outside, and is open
    otherwise, also without an interval.
    """

    table: Name = Field(description="The study's table, such as capabilities/bend.")
    where: dict[str, Scalar] = Field(
        ABSENT, description="The row that is meant, as column and value; it must be one."
    )
    column: Name = Field(description="Its column with the number.")
    low: str = Field(ABSENT, description="Its column with the lower end of the interval.")
    high: str = Field(ABSENT, description="Its column with the upper end of the interval.")
    above: Number = Field(ABSENT, description="The number is said to be no lower than this.")
    below: Number = Field(ABSENT, description="The number is said to be no higher than this.")
