"""What the exports hold, which of it is analysed, and how its scores are bounded."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from capmap.settings.choices import MOST_RUNS, Direction, Spread
from capmap.settings.sections import ABSENT, FilePath, Name, Number, Rule, Section, Whole

DatasetName = Name
ColumnNames: TypeAlias = Name | Annotated[list[Name], Field(min_length=1)]
DOWNLOADS = "downloads"
DownloadName = Annotated[
    str,
    Field(
        pattern=r"^(?!\.)[^/\\\s](?!.*/[./])[^\\\n]*[^/\\\n]$",
        description="A path below downloads/, without . and .. in it.",
    ),
]
Digest = Annotated[
    str,
    Field(
        pattern="^[0-9a-f]{64}$",
        description="A SHA-256 has 64 hexadecimal digits; `sha256sum FILE` prints it.",
    ),
]


class Columns(Section):
    """Which columns of the export hold what; empty means none."""

    model: ColumnNames = Field("model", description="Name of the model, or columns to join to it.")
    dataset: ColumnNames = Field(
        "dataset", description="Name of the dataset; a matrix with it has a column per model."
    )
    metric: Name = Field("metric", description="Name of the metric, unless `metric` says it.")
    score: ColumnNames = Field(
        "score",
        description='The score. A name with fields, such as "{dataset}_{metric}", stands for all '
        "columns like it, and a list for columns of metrics.",
    )
    seed: str | list[Name] = Field(
        "seed",
        description='Seed or repetition, or columns to join to it; may be absent. With "row" each '
        "row is a run.",
    )
    step: str = Field("", description="Step of a log, see `take`.")
    selection: str = Field("", description="What the best row of a run is chosen by, see `take`.")
    spread: str = Field("", description="Standard deviation of runs, see `summary`.")
    count: str = Field("", description="Number of runs, see `summary`.")
    datasets: list[str] = Field([], description="Columns of datasets of a matrix; empty means all.")
    ignore: list[str] = Field([], description="Columns to leave out where several hold scores.")
    training: ColumnNames = Field("training", description="Name of the training of a checkpoint.")
    checkpoint: str = Field("checkpoint", description="Checkpoint, a name with its step or epoch.")
    split: str = Field("split", description="Split that a checkpoint's score is of; may be absent.")


class Reading(Section):
    """How the files are written, where they do not say it themselves."""

    records: str = Field(
        "",
        description="Where the runs are in nested files, keys between points; a field takes a name "
        'from a key, such as "results.{dataset}.{metric}".',
    )
    names: list[str] = Field([], description="Names of the columns of tables without a header.")
    comment: str = Field("", description="What the lines of a table begin with that are skipped.")
    encoding: str = Field(
        "utf-8", min_length=1, description="Encoding of text, such as latin-1 or utf-16."
    )
    sheet: str | int = Field(
        "", description="Sheet of a workbook, by name or number, or number of a Markdown table."
    )
    skip: Whole = Field(0, ge=0, description="Rows of tables that stand above the header.")


class Summary(Section):
    """Rows that hold a mean and how far runs spread, such as 0.91 ± 0.02 or 0.91 (0.02)."""

    runs: Whole = Field(1, ge=1, le=MOST_RUNS, description="Number of runs behind such a row.")
    spread: Spread = Field(
        "std", description="The second number: deviation of runs, or error of their mean."
    )


class Exclusion(Section):
    """All names but some."""

    exclude: list[str] = Field(description="Names to leave out.")


Selection: TypeAlias = Literal["all"] | Annotated[list[str], Field(min_length=1)] | Exclusion


class Select(Section):
    """Models and datasets to analyse. Bounds are computed before the selection."""

    models: Selection = Field("all", description='"all", a list, or {exclude: [NAME]}.')
    datasets: Selection = Field("all", description='"all", a list, or {exclude: [NAME]}.')


class ReferenceModel(Section):
    """A model whose mean score is the bound."""

    model: str = Field(description="Name of the reference model.")


Bound: TypeAlias = Number | Literal["observed", "natural"] | ReferenceModel


class RmseScale(Section):
    """How an error becomes a score."""

    std: Number = Field(gt=0, description="Factor, in 1 / unit of the score.")


class Transform(Rule):
    """A conversion of scores, by its name."""

    scale_rmse: RmseScale = Field(ABSENT, description="Maps an error r to 1 - r * std.")


class ScoreRule(Rule):
    """A rule of a metric or a dataset, which states what it names and leaves out the rest."""

    direction: Direction = Field(
        ABSENT, description='Whether the higher ("max") or the lower ("min") score is better.'
    )
    low: Bound = Field(ABSENT, description="Lower bound of scores, after `transform`.")
    high: Bound = Field(ABSENT, description="Upper bound of scores, after `transform`.")
    metric: str = Field(ABSENT, description="Name of the metric of a dataset; it wins.")
    transform: Transform = Field(
        ABSENT, description="Conversion of a dataset's scores, such as {scale_rmse: {std: 0.25}}."
    )


class Normalization(Section):
    """Bounds of every dataset for which neither `datasets` nor `metrics` give any."""

    low: Bound = Field(
        "natural",
        description="Lower bound of scores: the metric's own, the lowest score observed, a number, "
        "or {model: NAME} (its mean score).",
    )
    high: Bound = Field("natural", description="Upper bound of scores, in the same way.")
    references: FilePath = Field(
        "", description="File of frozen bounds, CSV or JSON, such as bounds.csv of another run."
    )


class Submission(Section):
    """Rules of submissions (submission format only)."""

    seeds_per_cell: Whole = Field(5, ge=1, description="Seeds that a model needs on each dataset.")
    strict: bool = Field(
        False, description="Whether all sixteen columns and a complete dimension are needed."
    )


class Download(Section):
    """Files that others publish, by their path below downloads/, fetched once before any job."""

    address: Annotated[str, Field(pattern="^https?://[^ ]+$")] = Field(
        description="Where it is published, http:// or https://."
    )
    sha256: Digest = Field(description="SHA-256 of the file; one with another is refused.")
