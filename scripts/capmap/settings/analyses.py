"""Options of the analyses."""

from typing import Annotated, Any, TypeAlias

from capmap.settings.choices import (
    SUBGROUPS,
    Cost,
    DirectionOrAuto,
    Distance,
    FitMethod,
    Incomplete,
    LabelMetric,
    Location,
    Projection,
    RankingMethod,
)
from capmap.settings.data import DatasetName
from capmap.settings.sections import (
    REQUIRED,
    Count,
    FilePath,
    GivenPath,
    Name,
    Section,
    limit,
    option,
)

LabelCounts: TypeAlias = Annotated[list[Count], limit(min_length=1, unique=True)]
Rope: TypeAlias = (
    Annotated[float, limit(ge=0)]
    | Annotated[dict[str, Annotated[float, limit(gt=0)]], limit(min_length=1)]
)
DEFAULT_RANKINGS: Any = [{"name": "best", "method": "best"}]


class Comparison(Section):
    """How models are compared with each other."""

    reference: str = option(
        "",
        "Model that the compact comparisons set the others against; empty means the best by "
        "interquartile mean.",
    )
    alpha: float = option(
        0.05, "Significance level of the Friedman, Nemenyi and Wilcoxon tests.", gt=0, lt=1
    )
    rope: Rope = option(
        0.01,
        "Half-width of the region of practical equivalence, in normalized score, or for every "
        "metric of the study in its own unit, such as {accuracy: 0.5, rmse: 0.02}.",
    )
    probability: float = option(
        0.95,
        "Posterior probability from which the Bayesian signed-rank test decides.",
        gt=0.5,
        lt=1,
    )
    aggregation: Location = option(
        "iqm", "What ranks the models where two conditions are compared."
    )
    samples: int = option(
        50000, "Number of posterior samples of the Bayesian signed-rank test.", ge=100
    )
    replicates: int = option(2000, "Number of bootstrap replicates of all comparisons.", ge=100)


class Group(Section):
    """A set of datasets."""

    datasets: list[str] = option(REQUIRED, "Datasets of the group.", min_length=1, unique=True)
    incomplete: Incomplete = option(
        "drop_models",
        "What to do about models without runs on some dataset of the group, as in a study.",
    )


class Capabilities(Section):
    """Models and datasets placed in one space."""

    min_results: int = option(
        5,
        "Results that each model and each dataset must have. Those with fewer are dropped, "
        "until none is left to drop.",
        ge=1,
    )
    method: FitMethod = option(
        "l2_ridge",
        'Distance by which positions are fitted, "l2_ridge" (Euclidean, with a ridge), or as in '
        'the paper "l2", "cosine" or "poincare". Predictions do not depend on it.',
    )
    dimension: int = option(5, "Number of dimensions of the space.", ge=1, le=50)
    distances: list[Distance] = option(
        ["l2", "cosine", "poincare"], "Distances to compare by cross-validation.", unique=True
    )
    dimensions: list[Annotated[int, limit(ge=1, le=50)]] = option(
        [2, 3, 5, 7, 10, 15], "Numbers of dimensions to compare by cross-validation.", unique=True
    )
    splits: int = option(10, "Number of random splits of the cross-validation.", ge=2)
    held_out: int = option(10, "Results held out in each split.", ge=1)
    confidence: float = option(0.9, "Level of the prediction intervals.", gt=0, lt=1)
    map: Projection = option(
        "mds",
        'How the map is projected to two dimensions, "mds" or "umap". The second needs the '
        "package umap-learn: `pip install umap-learn`.",
    )


class ModelAttributes(Section):
    """What is known of models."""

    file: FilePath = option("", "Table with a row per model; empty means none.")
    name: Name = option("model", "Column of the model's name.")
    architecture: str = option("", "Column of the architecture; empty means none.")
    parameters: str = option(
        "", "Column of the number of parameters, in any unit; empty means none."
    )
    cost: str = option(
        "",
        "Column of what a model costs, such as FLOPs, seconds or a price; empty means none.",
    )
    date: str = option("", "Column of the date of publication; empty means none.")
    date_format: Annotated[str, limit(pattern="%[Yy]")] = option(
        "%Y-%m-%d", 'How dates are written, in the codes of strptime, such as "%d/%m/%Y".'
    )


class DatasetAttributes(Section):
    """What is known of datasets."""

    file: FilePath = option("", "Table with a row per dataset; empty means none.")
    name: Name = option("dataset", "Column of the dataset's name.")
    type: str = option("", "Column of the type of task; empty means none.")
    family: str = option(
        "", 'Column of the family; empty means the part of the dataset\'s name before " / ".'
    )


class Frontier(Section):
    """Score against cost."""

    against: Cost = option(
        "",
        'What a model costs, of its attributes: "parameters", "cost" or "date" (the earlier, the '
        "cheaper); empty means that nothing is known.",
    )


class Attributes(Section):
    """What is known of models and datasets, for maps, costs, drift over time and transfer."""

    models: ModelAttributes
    datasets: DatasetAttributes


class Multilabel(Section):
    """Accuracy where images have several valid labels."""

    subgroups: LabelCounts | Annotated[dict[DatasetName, LabelCounts], limit(min_length=1)] = (
        option(
            [*SUBGROUPS],
            "Numbers of labels whose accuracies ASMA averages, of all datasets or by dataset, such "
            "as {PatchML: [2, 3, 4, 6, 9]}; datasets that are not named have the default. Numbers "
            "that no image has are left out and said.",
        )
    )
    replicates: int = option(1000, "Number of bootstrap replicates over images.", ge=100)
    confidence: float = option(0.95, "Confidence level of the intervals.", gt=0, lt=1)
    compare: list[str] = option(
        [],
        "Two datasets whose difference is shown, the first minus the second; empty means the "
        "first two of the study.",
        max_length=2,
        unique=True,
    )
    rank_by: LabelMetric = option(
        "asma",
        "Metric that orders the models and is set against top-1 accuracy in the figures and "
        "first in the rank shifts.",
    )
    images: dict[DatasetName, Count] = option(
        {},
        "Numbers of images behind published top-1 and ReaL accuracies by dataset, such as 50000 "
        "for ImageNetV1. Ranks then count those that ties of rounded values hide. Not used for "
        "predictions, whose accuracies are exact.",
    )
    labels: dict[DatasetName, GivenPath] = option(
        {},
        "Files of the valid labels of datasets with published metrics, whose images are counted by "
        "their number of labels. Those of predictions stand in `predictions.datasets`.",
    )


class CheckpointSelection(Section):
    """By what the best checkpoint of each training is chosen."""

    metric: str = option("", "Metric to choose by; empty means the only one there is.")
    datasets: list[str] = option([], "Datasets whose mean decides; empty means all.", unique=True)
    direction: DirectionOrAuto = option(
        "auto",
        'Whether the higher ("max") or the lower ("min") value is better; "auto" asks the metric.',
    )
    split: str = option("validation", "Split to choose on.")


class CheckpointReport(Section):
    """How chosen checkpoints are compared."""

    split: str = option(
        "test",
        "Split of the scores; without such a split those of the selection are used, which is a "
        "warning.",
    )


class CheckpointRanking(Section):
    """A ranking of checkpoints."""

    name: Name = option(REQUIRED, "Name of the ranking.")
    method: RankingMethod = option(
        REQUIRED,
        '"best" (by what the selection chose, on the report split), "single" (by one metric) or '
        '"custom" (by an `expression`).',
    )
    metric: str = option("", 'The metric of "single".')
    expression: str = option(
        "",
        'Formula of "custom" over names of metrics, such as 0.7 * accuracy - 0.3 * ece; '
        "numbers, names, + - * / ( ), min, max, mean, abs, log and sqrt.",
        max_length=500,
    )


class Checkpoints(Section):
    """Which checkpoint stands for a training, and how they are ranked (checkpoints format only)."""

    select: CheckpointSelection
    allow_test_selection: bool = option(
        False,
        "Whether checkpoints may be chosen on a split of `test_splits`, which stamps every table.",
    )
    test_splits: list[str] = option(["test"], "Splits that are not for choosing.", unique=True)
    report: CheckpointReport
    rankings: list[CheckpointRanking] = option(
        DEFAULT_RANKINGS, "Rankings to make of the checkpoints.", min_length=1
    )


class Leaderboard(Section):
    """The leaderboard, by the dimensions of `benchmark` and by `groups`."""

    releases: FilePath = option(
        "",
        "Glob of tables leaderboard/entries.csv that you kept of former releases, in the order "
        'of their names, such as releases/*.csv, for the analysis "releases"; empty means none.',
    )
    method: str = option("", "Method that the page opens on; empty means all methods together.")
    dimension: str = option(
        "", "Dimension that the page opens on, and ranks by; empty means all datasets."
    )
    version: str = option("", "Version or date of the leaderboard, as its page says it.")
    submit: str = option("", "How to submit an entry, a sentence or an address.")
    citation: str = option("", "How to cite the leaderboard.")


class PublishedColumn(Section):
    """What a printed column stands beside."""

    column: Name = option(REQUIRED, "Column of the study's table.")
    where: dict[str, str | float | bool] = option({}, "As that of the entry, which it adds to.")
    scale: float = option(
        1, "What a number of the study is multiplied by, such as 100 for percent."
    )
    tolerance: float = option(
        0, "How far the two may be apart to count as near, where numbers have an error.", ge=0
    )
    count: bool = option(
        False, "Whether the number is how many rows of the study have something in the column."
    )
    low: str = option(
        "", "Column of its table with the lower end of an interval in which a number is near."
    )
    high: str = option("", "Column with the upper end; empty means that it is open there.")


class Published(Section):
    """Tables and figures of a publication, by name, and what stands beside them in the study."""

    file: FilePath = option(
        "", "Table of its numbers as printed; empty means that it is only listed, as a figure is."
    )
    table: str = option(
        "", "The study's table beside it, such as tables/iqm; empty means that it has none."
    )
    figure: str = option("", "Or its figure, such as intervals, which is listed beside it.")
    keys: dict[Name, Name] = option(
        {"model": "model"}, "Columns that say which row is meant: as printed, and of the table."
    )
    columns: dict[Name, Name | PublishedColumn] = option(
        {}, "Printed columns and what they stand beside; empty means columns of the same names."
    )
    where: dict[str, str | float | bool] = option(
        {}, "Rows of the study's table that are meant, as column and value."
    )
    names: dict[Name, Name] = option(
        {}, "Names in the printed key columns, and what the study has for them where that differs."
    )
    note: str = option("", "Why numbers differ or are not computed, as the page says it.")


class Claim(Section):
    """Statements of a publication, by their words, as ranges of numbers in the study's tables.

    A statement holds if the interval lies within the range, fails if it lies outside, and is open
    otherwise, also without an interval.
    """

    table: Name = option(REQUIRED, "The study's table, such as capabilities/bend.")
    where: dict[str, str | float | bool] | None = option(
        None, "The row that is meant, as column and value; it must be one."
    )
    column: Name = option(REQUIRED, "Its column with the number.")
    low: str | None = option(None, "Its column with the lower end of the interval.")
    high: str | None = option(None, "Its column with the upper end of the interval.")
    above: float | None = option(None, "The number is said to be no lower than this.")
    below: float | None = option(None, "The number is said to be no higher than this.")
    note: str | None = option(None, "What the page says of it beside the verdict.")
