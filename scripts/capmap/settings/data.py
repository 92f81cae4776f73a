"""What the exports hold, which of it is analysed, and how its scores are bounded."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from capmap.settings.choices import MOST_RUNS, Direction, Spread
from capmap.settings.sections import ABSENT, FilePath, Name, Number, Rule, Section, Whole

DatasetName = Name
ColumnNames: TypeAlias = Name | Annotated[list[Name], Field(min_length=1)]


class Columns(Section):
    """Which columns of the export hold what."""

    model: ColumnNames = Field(
        "model",
        description="Column of the model's name, or a list of columns that are joined into one "
        'name. Of submissions, empty or "model" means backbone, frozen_or_full_ft and '
        "submission; of checkpoints without such a column the training.",
    )
    dataset: ColumnNames = Field(
        "dataset",
        description="Column of the dataset's name, or a list of columns. A matrix with it has a "
        "row per dataset and a column per model.",
    )
    metric: Name = Field(
        "metric",
        description="Column of the metric's name. Not needed where `metric` names one for the "
        "whole study.",
    )
    score: ColumnNames = Field(
        "score",
        description="Column of the score. A table can hold scores in several columns: a name "
        'with fields, such as "{dataset}", "{dataset}_{metric}" or "acc_seed{seed}", stands for '
        "all columns like it, and a list of columns for metrics of their names. In the matrix "
        "format it is {dataset}, or {model} where `dataset` names another column of datasets "
        "than dataset.",
    )
    seed: str = Field(
        "seed",
        description="Column of the seed or repetition. May be absent from the export, each cell "
        'is then one run; "row" (where no column is called so) makes each row of a cell a run.',
    )
    step: str = Field("", description="Column of the step of a log, see `take`; empty means none.")
    selection: str = Field(
        "",
        description="Column by which the best row of a run is chosen, see `take`; empty means "
        "none.",
    )
    spread: str = Field(
        "",
        description="Column of the standard deviation of runs, see `summary`; empty means in the "
        "score.",
    )
    count: str = Field(
        "", description="Column of the number of runs, see `summary`; empty means `summary.runs`."
    )
    datasets: list[str] = Field(
        [],
        description="Columns that hold datasets (matrix format only); empty means every column "
        "that has no other role and is not in `ignore`.",
    )
    ignore: list[str] = Field(
        [],
        description="Columns to leave out where several hold scores, such as parameter counts or "
        "a printed average.",
    )
    training: ColumnNames = Field(
        "training",
        description="Column of the training's name, or a list of columns (checkpoints format "
        "only).",
    )
    checkpoint: str = Field(
        "checkpoint",
        description="Column of the checkpoint, a name with its step or epoch (checkpoints format "
        "only).",
    )
    split: str = Field(
        "split",
        description="Column of the split that a score is of (checkpoints format only); may be "
        "absent.",
    )


class Reading(Section):
    """How the files are written, where they do not say it themselves."""

    records: str = Field(
        "",
        description="Where the runs are in nested files (JSON, YAML), keys between points; a "
        'field takes a name from a key, such as "results.{dataset}.{metric}" or '
        '"{dataset}.{seed}". Empty means that each line, each entry of a list, or the file '
        "itself is a run, whose nested values have names such as metrics.test.accuracy.",
    )
    names: list[str] = Field([], description="Names of the columns of tables without a header.")
    comment: str = Field("", description="What the lines of a table begin with that are skipped.")
    encoding: str = Field(
        "utf-8",
        min_length=1,
        description="Encoding of text that is not UTF-8, such as latin-1 or utf-16.",
    )
    sheet: str = Field(
        "",
        description="Sheet of a workbook, or of several tables in Markdown the number of one, "
        "from 1; empty means the only sheet, and the table that fits best.",
    )


class Summary(Section):
    """Rows that hold a mean and how far runs spread, such as 0.91 ± 0.02 or 0.91 (0.02)."""

    runs: Whole = Field(
        1,
        ge=1,
        le=MOST_RUNS,
        description="Number of runs behind such a row; with 2 or more the row stands for as many "
        "runs with that mean and standard deviation.",
    )
    spread: Spread = Field(
        "std",
        description='What the second number is, "std" (the standard deviation of runs) or "sem" '
        "(the standard error of their mean).",
    )


class Exclusion(Section):
    """All names but some."""

    exclude: list[str] = Field(description="Names to leave out.")


Selection: TypeAlias = Literal["all"] | Annotated[list[str], Field(min_length=1)] | Exclusion


class Select(Section):
    """Models and datasets to analyse. Bounds are computed before the selection."""

    models: Selection = Field(
        "all", description='Models to analyse, "all", a list, or {exclude: [NAME]}.'
    )
    datasets: Selection = Field(
        "all", description='Datasets to analyse, "all", a list, or {exclude: [NAME]}.'
    )


class ReferenceModel(Section):
    """A model whose mean score is the bound."""

    model: str = Field(description="Name of the reference model.")


Bound: TypeAlias = Number | Literal["observed", "natural"] | ReferenceModel


class RmseScale(Section):
    """How an error becomes a score."""

    std: Number = Field(gt=0, description="Factor, in 1 / unit of the score.")


class Transform(Rule):
    """A conversion of scores, by its name."""

    scale_rmse: RmseScale = Field(
        ABSENT, description="Maps an error r to 1 - r * std, so higher is better."
    )


class ScoreRule(Rule):
    """A rule of a metric or a dataset, which states what it names and leaves out the rest."""

    direction: Direction = Field(
        ABSENT, description='Whether the higher ("max") or the lower ("min") score is better.'
    )
    low: Bound = Field(ABSENT, description="Lower bound of scores as exported, after `transform`.")
    high: Bound = Field(ABSENT, description="Upper bound of scores as exported, after `transform`.")
    metric: str = Field(
        ABSENT,
        description="Name of the metric of a dataset, which wins over that of the export; a "
        "warning where they differ.",
    )
    transform: Transform = Field(
        ABSENT,
        description="Named conversion of scores of a dataset, before bounds apply, such as "
        "{scale_rmse: {std: 0.25}}, r to 1 - r * std.",
    )


class Normalization(Section):
    """Bounds of every dataset for which neither `datasets` nor `metrics` give any."""

    low: Bound = Field(
        "natural",
        description='Lower bound of scores after transforms, a number, "observed" (the lowest '
        'score of any model), {model: NAME} (that model\'s mean score is the floor) or "natural" '
        "(the metric's own).",
    )
    high: Bound = Field(
        "natural",
        description='Upper bound of scores after transforms, a number, "observed", {model: NAME} '
        '(that model\'s mean score is the ceiling) or "natural".',
    )
    references: FilePath = Field(
        "",
        description="File of frozen bounds, the bounds.csv of another run or a JSON object of "
        "dataset and [low, high]; empty means none.",
    )
