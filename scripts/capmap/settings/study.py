"""The settings of a study, and of all studies."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from capmap.catalog import ANALYSES
from capmap.settings.analyses import (
    Attributes,
    Capabilities,
    Checkpoints,
    Comparison,
    Frontier,
    Group,
    Leaderboard,
    Multilabel,
)
from capmap.settings.choices import (
    Decimal,
    Duplicates,
    Failure,
    Format,
    Incomplete,
    IntervalMethod,
    Invalid,
    StatisticOrAuto,
    Take,
    UnitOrAuto,
)
from capmap.settings.data import (
    Columns,
    Normalization,
    Reading,
    ReferenceModel,
    ScoreRule,
    Select,
    Summary,
)
from capmap.settings.figures import Figures
from capmap.settings.paths import expand_home
from capmap.settings.predictions import PatchML, Predictions
from capmap.settings.published import Claim, Published
from capmap.settings.sections import (
    Count,
    FilePath,
    GivenPath,
    Name,
    Number,
    Scalar,
    Section,
    Share,
    Unique,
    Whole,
)
from capmap.settings.sources import Digest, Download, DownloadName, Submission

if TYPE_CHECKING:
    Analysis = str
else:
    Analysis = Literal[tuple(ANALYSES)]
STUDY_NAMES = (
    'One named analysis per key. Names become folders in results/, so letters, digits, "_" and '
    '"-" only, at most 100 of them; "logs" and "benchmarks" are folders of capmap itself.'
)
# Python's "$" also matches before a final line break.
StudyName = Annotated[
    str,
    Field(
        pattern=r"^(?!(logs|benchmarks)$)[A-Za-z0-9][A-Za-z0-9_-]{0,99}$(?!\n)",
        description=STUDY_NAMES,
    ),
]
ExportName = Annotated[str, AfterValidator(expand_home)]


class Bootstrap(Section):
    """Intervals of the aggregate scores."""

    replicates: Whole = Field(
        10000, ge=100, description="Bootstrap replicates; comparisons take 2000, images 1000."
    )
    confidence: Share = Field(0.95, description="Level of intervals, sets of ranks and ties.")
    interval: IntervalMethod = Field(
        "calibrated",
        description='"calibrated" (Student\'s t), or "percentile" of bootstrap replicates, which '
        "is too narrow with few seeds.",
    )
    unit: UnitOrAuto = Field(
        "auto",
        description='What is drawn, "runs" or "seeds" (on these datasets), "runs_and_datasets" '
        '(datasets like these), or "auto", which looks at the runs that there are.',
    )
    seed: Whole = Field(0, description="Seed from which all random streams of the study derive.")
    shards: Whole = Field(1, ge=1, le=1000, description="Jobs over which the models are spread.")


class Study(Section):
    """A named analysis of exports."""

    title: str = Field("", description="Heading of the report; empty means the study's name.")
    exports: FilePath | Annotated[Unique[GivenPath], Field(min_length=1)] = Field(
        "",
        description="A path, a glob, a URL (http, https, s3), or a list of these. Names stand in "
        "braces: runs/{model}/{dataset}.csv. Of submissions their folders.",
    )
    preset: FilePath = Field(
        "", description="Settings for files of a known tool, by name, or a YAML file of such."
    )
    format: Format = Field(
        "long",
        description='How the exports are laid out, "long" (a row per run), "matrix" (a row per '
        'model), "predictions" (a file per model and dataset), "submission" (a folder per '
        'submission) or "checkpoints" (a row per checkpoint, metric and split).',
    )
    checksums: dict[ExportName, Digest] = Field(
        {}, description="SHA-256 of some exports, by path or URL; another file is refused."
    )
    benchmark: FilePath = Field(
        "", description="File that defines the benchmark: metrics, dimensions, names of models."
    )
    header_rows: Whole = Field(
        1, ge=1, description='Rows with the names of columns; several are joined with " / ".'
    )
    columns: Columns = Columns()
    fields: dict[Name, str] = Field(
        {}, description="Names that hold for all files, such as {model: ours}."
    )
    reading: Reading = Reading()
    values: dict[str, Number | Literal["missing"]] = Field(
        {}, description='Scores that stand for others, such as {"pass": 1, "-": missing}.'
    )
    summary: Summary = Summary()
    take: Take = Field(
        "all",
        description='Which rows of a run count, "all", "last" (by `columns.step`), or "best" or '
        '"lowest" by `columns.selection`.',
    )
    where: dict[str, Scalar | Annotated[list[Scalar], Field(min_length=1)]] = Field(
        {}, description="Rows to read, as column and value (or list of values)."
    )
    metric: str = Field("", description="Metric of datasets without one under `datasets`; it wins.")
    decimal: Decimal = Field("auto", description="Decimal mark of numbers; found by default.")
    select: Select = Select()
    metrics: dict[str, ScoreRule] = Field(
        {}, description="Rules per metric; names are compared without case and separators."
    )
    datasets: dict[str, ScoreRule] = Field(
        {}, description="Rules per dataset, which win over those of its metric."
    )
    normalization: Normalization = Normalization()
    incomplete: Incomplete = Field(
        "error",
        description='What to do about models without runs on some dataset, "error", '
        '"drop_models", "drop_datasets", or "adjust" (what is missing is expected from the other '
        "scores), which is the default of submissions.",
    )
    min_datasets: Literal["all"] | Count | Share = Field(
        0.5,
        description="Datasets that a model needs to be ranked, as a share, a number, or "
        '"all", the default of submissions.',
    )
    duplicates: Duplicates = Field(
        "error",
        description='Several scores of one run: "error", "mean", "first" or "last"; the same '
        "score again counts once.",
    )
    invalid: Invalid = Field(
        "error", description='Rows that cannot be used: "error", or "quarantine" (left out).'
    )
    failed: Failure | Number | ReferenceModel = Field(
        "invalid",
        description='What a run without a finite score counts with, "worst" (of any model on the '
        'dataset), a score, {model: NAME} (its mean), "drop" (nothing) or "invalid".',
    )
    rank_by: StatisticOrAuto = Field(
        "auto",
        description='Statistic that ranks the models; "auto" is the interquartile mean, or the '
        "mean where scores have few values, such as right and wrong.",
    )
    analyses: Unique[Analysis] = Field(
        [name for name, analysis in ANALYSES.items() if analysis.default],
        description="What to compute beyond the ranking; groups, conditions, drift, releases and "
        "published also need settings of their own.",
    )
    comparison: Comparison = Comparison()
    frontier: Frontier = Frontier()
    groups: dict[Name, Group] = Field({}, description="Sets of datasets to rank on their own.")
    conditions: Unique[str] = Field(
        [], description="Other studies of the same models whose rankings are compared."
    )
    capabilities: Capabilities = Capabilities()
    attributes: Attributes = Attributes()
    predictions: Predictions = Predictions()
    multilabel: Multilabel = Multilabel()
    patchml: PatchML = PatchML()
    submission: Submission = Submission()
    checkpoints: Checkpoints = Checkpoints()
    leaderboard: Leaderboard = Leaderboard()
    published: dict[Name, Published] = Field({}, description=Published.__doc__)
    claims: dict[Name, Claim] = Field({}, description=Claim.__doc__)
    figures: Figures = Figures()
    bootstrap: Bootstrap = Bootstrap()


class Config(Section):
    """The studies to run and how each is analysed."""

    run: str | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description='Which studies to run, "all", one study\'s name, or a list of names.'
    )
    downloads: dict[DownloadName, Download] = Field({}, description=Download.__doc__)
    mirror: FilePath = Field(
        "", description="Folder or address with the files of `downloads` under the same names."
    )
    studies: dict[StudyName, Study] = Field(min_length=1, description=STUDY_NAMES)
