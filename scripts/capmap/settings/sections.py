"""The sections of a study's settings, and the kinds of values in them."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WrapValidator,
    model_validator,
)

from capmap.settings.checking import list_choices, show_value
from capmap.settings.choices import (
    MOST_RUNS,
    SUBGROUPS,
    Cost,
    Direction,
    FitMethod,
    LabelMetric,
    Projection,
    Spread,
)
from capmap.settings.files import expand_home

Item = TypeVar("Item")
# The default of a key whose absence says something: it is not among the checked settings.
ABSENT: Any = None


class Section(BaseModel):
    """A section of settings. A section or list of names that is left empty counts as not given.

    Declare a key as ``name: type = Field(default, description=...)``, with limits in `Field`.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, regex_engine="python-re")

    @model_validator(mode="before")
    @classmethod
    def _drop_empty(cls, given: Any) -> Any:
        if given is None and not any(key.is_required() for key in cls.model_fields.values()):
            return {}
        if not isinstance(given, dict):
            return given
        return {
            key: value for key, value in given.items() if value is not None or _is_told(cls, key)
        }


class Rule(Section):
    """A section that states at least one key, and leaves out the rest."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1})

    @model_validator(mode="after")
    def _refuse_nothing(self) -> "Rule":
        if not self.model_fields_set:
            keys = list_choices(type(self).model_fields)
            raise ValueError(f"must not be empty. Expected a section with {keys}.")
        return self


def _is_told(section: type[Section], key: str) -> bool:
    """Whether a key without a value is a mistake."""
    field = section.model_fields.get(key)
    if field is None or field.is_required():
        return field is None
    return not isinstance(field.get_default(call_default_factory=True), dict | Section)


def _keep_spelling(value: Any, check: Callable[[Any], float]) -> Any:
    """Check a number, and let 1 be the whole number that it is."""
    check(value)
    return value


def _take_whole(value: Any) -> Any:
    """Take a whole number that is written 1.0e+4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _refuse_twice(items: list[Item]) -> list[Item]:
    for index, item in enumerate(items):
        if item in items[:index]:
            raise ValueError(f"{show_value(item)} is listed twice. Keep one of them.")
    return items


Flag = Annotated[bool, Strict()]
# Limits stand before the validators, so that the JSON schema has them.
Number = Annotated[float, Strict(), WrapValidator(_keep_spelling)]
AtLeastZero = Annotated[float, Strict(), Field(ge=0), WrapValidator(_keep_spelling)]
Positive = Annotated[float, Strict(), Field(gt=0), WrapValidator(_keep_spelling)]
Share = Annotated[float, Strict(), Field(gt=0, lt=1), WrapValidator(_keep_spelling)]
Inches = Annotated[float, Strict(), Field(gt=0, le=50), WrapValidator(_keep_spelling)]
Points = Annotated[float, Strict(), Field(ge=3, le=40), WrapValidator(_keep_spelling)]
Whole = Annotated[int, Strict(), BeforeValidator(_take_whole)]
Count = Annotated[int, Strict(), Field(ge=1), BeforeValidator(_take_whole)]
Seed = Annotated[int, Strict(), Field(ge=0), BeforeValidator(_take_whole)]
Dimension = Annotated[int, Strict(), Field(ge=1, le=50), BeforeValidator(_take_whole)]
Name = Annotated[str, Field(min_length=1, description="A name has a letter at least.")]
# Of a file or folder, or a pattern of some.
FilePath = Annotated[str, AfterValidator(expand_home)]
GivenPath = Annotated[str, Field(min_length=1), AfterValidator(expand_home)]
Unique = Annotated[
    list[Item], AfterValidator(_refuse_twice), Field(json_schema_extra={"uniqueItems": True})
]
# A cell of a table, as it is compared.
Scalar: TypeAlias = str | Number | Flag
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
LabelCounts: TypeAlias = Annotated[Unique[Count], Field(min_length=1)]
Rope: TypeAlias = AtLeastZero | Annotated[dict[str, Positive], Field(min_length=1)]


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


def _refuse_reversed(rule: Section) -> Section:
    """Refuse a lower bound that is not below the upper one."""
    low, high = getattr(rule, "low", None), getattr(rule, "high", None)
    if isinstance(low, int | float) and isinstance(high, int | float) and low >= high:
        remedy = "Give the lower score as low, also where it is the better one"
        text = f"low {low} is not below high {high}. {remedy}; direction says which is better."
        raise ValueError(text)
    return rule


class ScoreRule(Rule):
    """A rule of a metric or a dataset, which states what it names and leaves out the rest."""

    _check_bounds = model_validator(mode="after")(_refuse_reversed)

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

    _check_bounds = model_validator(mode="after")(_refuse_reversed)

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
        "better. Numbers, names, + - * / ( ), and functions such as abs, exp, log and sqrt.",
    )

    @model_validator(mode="after")
    def _refuse_both(self) -> "CheckpointRanking":
        if self.metric and self.expression:
            raise ValueError("it has a metric and an expression. Keep one of them.")
        return self


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
