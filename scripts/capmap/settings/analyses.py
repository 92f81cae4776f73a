"""Options of the analyses."""

from typing import Annotated, TypeAlias

from pydantic import Field

from capmap.settings.choices import SUBGROUPS, Cost, FitMethod, LabelMetric, Projection
from capmap.settings.data import DatasetName
from capmap.settings.sections import (
    AtLeastZero,
    Count,
    Dimension,
    FilePath,
    Flag,
    GivenPath,
    Name,
    Positive,
    Section,
    Unique,
    Whole,
)

LabelCounts: TypeAlias = Annotated[Unique[Count], Field(min_length=1)]
Rope: TypeAlias = AtLeastZero | Annotated[dict[str, Positive], Field(min_length=1)]


class Comparison(Section):
    """How models are compared with each other."""

    reference: str = Field("", description="Model that others are set against; empty: the best.")
    rope: Rope = Field(
        0.01,
        description="Half-width of the region of practical equivalence, in normalized score, or by "
        "metric in its own unit, such as {accuracy: 0.5, rmse: 0.02}.",
    )


class Group(Section):
    """A set of datasets."""

    datasets: Unique[str] = Field(min_length=1, description="Datasets of the group.")


class Capabilities(Section):
    """Models and datasets in one space, where near means a small gap; and what that predicts."""

    min_results: Whole = Field(5, ge=1, description="Results that a model or dataset must have.")
    method: FitMethod = Field(
        "l2_ridge", description="How positions are fitted, with a ridge or without."
    )
    dimension: Dimension = Field(5, description="Number of dimensions of the space.")
    dimensions: Unique[Dimension] = Field(
        [],
        description="Numbers of dimensions in which cross-validation compares L2, cosine and "
        "Poincaré distances; none: L2 alone, in that of the space.",
    )
    splits: Whole = Field(10, ge=2, description="Number of random splits of cross-validation.")
    map: Projection = Field(
        "mds", description="Projection of the map; UMAP needs the package umap-learn."
    )


class ModelAttributes(Section):
    """What is known of models, by the column of a table; empty means none."""

    file: FilePath = Field("", description="Table with a row per model and a column model.")
    architecture: str = Field("", description="Column of the architecture.")
    parameters: str = Field("", description="Column of the number of parameters, in any unit.")
    cost: str = Field("", description="Column of a cost, such as FLOPs, seconds or a price.")
    date: str = Field("", description="Column of the date of publication, such as 2024-02-13.")


class DatasetAttributes(Section):
    """What is known of datasets, by the column of a table; empty means none."""

    file: FilePath = Field("", description="Table with a row per dataset and a column dataset.")
    type: str = Field("", description="Column of the type of task.")


class Frontier(Section):
    """Score against cost."""

    against: Cost = Field("", description='Attribute that is the cost; of "date" the earlier.')


class Attributes(Section):
    """What is known of models and datasets, for maps, costs, drift over time and transfer."""

    models: ModelAttributes = ModelAttributes()
    datasets: DatasetAttributes = DatasetAttributes()


class Multilabel(Section):
    """Accuracy where images have several valid labels."""

    subgroups: LabelCounts | Annotated[dict[DatasetName, LabelCounts], Field(min_length=1)] = Field(
        [*SUBGROUPS], description="Numbers of labels that ASMA averages over, or by dataset."
    )
    compare: Unique[str] = Field(
        [], max_length=2, description="Two datasets to compare; empty means the first two."
    )
    rank_by: LabelMetric = Field("asma", description="Metric that orders the models.")
    images: dict[DatasetName, Count] = Field(
        {}, description="Numbers of images behind published accuracies, by dataset."
    )
    labels: dict[DatasetName, GivenPath] = Field(
        {},
        description="Files of the valid labels of datasets with published metrics, or tables of "
        "dataset, labels and images as printed.",
    )


class CheckpointSelection(Section):
    """By what the best checkpoint of each training is chosen."""

    metric: str = Field("", description="Metric to choose by; empty means the only one there is.")
    split: str = Field("validation", description="Split to choose on.")


class CheckpointReport(Section):
    """How chosen checkpoints are compared."""

    split: str = Field("test", description="Split of the scores; otherwise that of the selection.")


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
        False, description="Whether to choose on the report's split, which stamps every table."
    )
    report: CheckpointReport = CheckpointReport()
    rankings: list[CheckpointRanking] = Field(
        [CheckpointRanking(name="best")], min_length=1, description="Rankings to make."
    )


class Leaderboard(Section):
    """The leaderboard, by the dimensions of `benchmark` and by `groups`."""

    releases: FilePath = Field(
        "", description="Glob of leaderboard/entries.csv of former releases, in order of names."
    )
    about: str = Field("", description="What its page says, such as how to submit and to cite.")
