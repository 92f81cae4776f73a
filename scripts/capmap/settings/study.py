"""The settings of a study, and of all studies."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, Field

from capmap.catalog import ANALYSES
from capmap.settings.analyses import (
    Attributes,
    Capabilities,
    Checkpoints,
    Claim,
    Comparison,
    Frontier,
    Group,
    Leaderboard,
    Multilabel,
    Published,
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
from capmap.settings.sources import DIGEST, Download, DownloadName, Submission

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
DIGESTS = "A SHA-256 has 64 hexadecimal digits; `sha256sum FILE` prints it."


class Bootstrap(Section):
    """Intervals of the aggregate scores."""

    replicates: Whole = Field(
        10000,
        ge=100,
        description="Number of bootstrap replicates; comparisons take 2000 of them, images 1000.",
    )
    confidence: Number = Field(
        0.95, gt=0, lt=1, description="Confidence level of intervals, sets of ranks and tie groups."
    )
    interval: IntervalMethod = Field(
        "calibrated",
        description='Kind of interval, "calibrated" (Student\'s t), or "percentile" (of bootstrap '
        "replicates), which is too narrow with few seeds.",
    )
    unit: UnitOrAuto = Field(
        "auto",
        description='What is drawn, "runs" (on these datasets), "seeds" (on these datasets; runs '
        'of the same seed hang together; calibrated intervals only), "runs_and_datasets" '
        '(datasets like these), or "auto": "runs", or "seeds" where a test finds that their runs '
        'move together, or "runs_and_datasets" where no model has repeated runs.',
    )
    seed: Whole = Field(0, description="Seed from which all random streams of the study derive.")
    shards: Whole = Field(
        1, ge=1, le=1000, description="Number of jobs over which the models are spread."
    )


class Study(Section):
    """A named analysis of exports."""

    title: str = Field("", description="Heading of the report; empty means the study's name.")
    exports: FilePath | Annotated[Unique[GivenPath], Field(min_length=1)] = Field(
        "",
        description="A path, a glob, a URL (http, https, s3), or a list of these, relative to "
        "the working directory. Names stand in braces: runs/{model}/{dataset}.csv. For "
        "submissions folders, each of which is one or holds several. For predictions paths with "
        "{model}, {dataset} and perhaps {seed}.",
    )
    preset: FilePath = Field(
        "",
        description="Settings for the files of a known tool, by name (see docs/exports.md), or a "
        "YAML file of such settings; they stand where the study says nothing itself.",
    )
    format: Format = Field(
        "long",
        description='How the exports are laid out, "long" (a row per run), "matrix" (a row per '
        'model, a column per dataset), "predictions" (a file of scores per model and dataset, '
        'see `predictions`), "submission" (folders with a table of results and a description, '
        'see `submission`) or "checkpoints" (a row per checkpoint, metric and split, see '
        "`checkpoints`).",
    )
    checksums: dict[ExportName, Annotated[str, Field(pattern=DIGEST, description=DIGESTS)]] = Field(
        {},
        description="SHA-256 of some exports in hexadecimal, by path or URL as in `exports`. A "
        "file with another digest is refused.",
    )
    benchmark: FilePath = Field(
        "",
        description="File that defines the benchmark, with the metric and direction of each "
        "dataset, the dimensions and the names of models, such as "
        "data/benchmarks/geobench2.yaml; empty means none.",
    )
    header_rows: Whole = Field(
        1,
        ge=1,
        description="Rows in which the names of columns stand (tables of text and workbooks), "
        'such as 2 for dataset and variant. They are joined with " / ". A blank cell repeats the '
        "one on its left; in the last row it adds nothing.",
    )
    columns: Columns = Columns()
    fields: dict[Name, str] = Field(
        {},
        description="Names that hold for all files, such as {model: ours}, or what a path says "
        "in braces: `exports: runs/{model}/seed_{seed}.csv` gives the columns model and seed.",
    )
    reading: Reading = Reading()
    values: dict[str, Number | Literal["missing"]] = Field(
        {},
        description='Scores that stand for others, such as {"pass": 1, "fail": 0}, or "missing" '
        'for what is no run, such as {"-": missing}.',
    )
    summary: Summary = Summary()
    take: Take = Field(
        "all",
        description='Which rows of a run count, "all", or of a log with many rows per run the '
        '"last" (by `columns.step`), or the "best" or "lowest" by `columns.selection`.',
    )
    where: dict[str, Scalar | Annotated[list[Scalar], Field(min_length=1)]] = Field(
        {},
        description="Rows to read, as column and value (or list of values); other rows are "
        "counted and left out.",
    )
    metric: str = Field(
        "",
        description="Name of the metric of every dataset without one under `datasets`. It wins "
        "over that of the export, with a warning where they differ; empty means that the export "
        "says it.",
    )
    decimal: Decimal = Field(
        "auto",
        description='Decimal mark of numbers in text exports, "auto" (found per file), "." or ",".',
    )
    select: Select = Select()
    metrics: dict[str, ScoreRule] = Field(
        {},
        description="Rules per metric of the data (names are compared without case and "
        "separators). A key that matches nothing is an error.",
    )
    datasets: dict[str, ScoreRule] = Field(
        {},
        description="Rules per dataset, which win over those of its metric. A key that matches "
        "nothing is an error.",
    )
    normalization: Normalization = Normalization()
    incomplete: Incomplete = Field(
        "error",
        description='What to do about models without runs on some dataset, "error", '
        '"drop_models", "drop_datasets", or "adjust" (on what a model lacks, its score is '
        "expected from the others), which is the default of submissions.",
    )
    min_datasets: Literal["all"] | Count | Share = Field(
        0.5,
        description="Datasets that a model needs to be ranked, as a share below 1, a number, or "
        '"all", which is the default of submissions. Other models are listed without a rank and '
        "take part in no comparison.",
    )
    duplicates: Duplicates = Field(
        "error",
        description="What to do about several scores of one (model, dataset, metric, seed), "
        '"error", "mean" (of all rows), "first" or "last". Otherwise repeats with the same score '
        "count once; without seeds these may be different runs, which is a warning.",
    )
    invalid: Invalid = Field(
        "error",
        description='What to do about rows that cannot be used, "error" (stop) or "quarantine" '
        "(leave out and list).",
    )
    failed: Failure | Number | ReferenceModel = Field(
        "invalid",
        description='What a run counts with whose score is empty, NaN or infinite, "worst" (the '
        "worst score of any model on the dataset), a score as exported, {model: NAME} (that "
        'model\'s mean score), "drop" (nothing), or "invalid" (left out if empty, else see '
        "`invalid`). An empty cell of a matrix is no run.",
    )
    rank_by: StatisticOrAuto = Field(
        "auto",
        description='Statistic that ranks the models, "iqm" (interquartile mean), "mean", '
        '"median", or "auto": the interquartile mean, or the mean where scores are outcomes of '
        "few values from the worst to the best, such as wrong and right, of which the middle "
        "half would be all alike.",
    )
    analyses: Unique[Analysis] = Field(
        [name for name, analysis in ANALYSES.items() if analysis.default],
        description="What to compute beyond the ranking. Ratings and improvability are left to "
        "be asked for, as they depend on which other models take part and on a known best score, "
        'and so are "capabilities" and what follows it, as they need many models and datasets '
        'and take the most computing; "groups", "conditions" and "drift" (dates) need settings '
        'of their own. "multilabel" is for predictions and for published metrics, "checkpoints" '
        'for the format of that name, "leaderboard" makes a page to sort and search, "releases" '
        '(of `leaderboard.releases`) shows how ranks moved, and "published" (of `published`) '
        "puts printed numbers beside those of the study.",
    )
    comparison: Comparison = Comparison()
    frontier: Frontier = Frontier()
    groups: dict[Name, Group] = Field(
        {}, description="Named sets of datasets that are ranked on their own, such as a capability."
    )
    conditions: Unique[str] = Field(
        [],
        description="Other studies with the same models under another condition, such as frozen "
        "instead of fine-tuned; the rankings are compared.",
    )
    capabilities: Capabilities = Field(
        Capabilities(),
        description="Models and datasets placed in one space, so that how well a model does on a "
        "dataset follows from how near they are; and what that predicts.",
    )
    attributes: Attributes = Attributes()
    predictions: Predictions = Field(
        Predictions(),
        description="What the score dumps of a study mean (predictions format only), the classes "
        "of their columns and the labels of their images.",
    )
    multilabel: Multilabel = Field(
        Multilabel(),
        description="Accuracy where images have several valid labels, and how it changes ranks "
        "and differences between datasets.",
    )
    patchml: PatchML = PatchML()
    submission: Submission = Submission()
    checkpoints: Checkpoints = Checkpoints()
    leaderboard: Leaderboard = Leaderboard()
    published: dict[Name, Published] = Field(
        {}, description=" ".join(str(Published.__doc__).split())
    )
    claims: dict[Name, Claim] = Field({}, description=" ".join(str(Claim.__doc__).split()))
    figures: Figures = Figures()
    bootstrap: Bootstrap = Bootstrap()


class Config(Section):
    """The studies to run and how each is analysed."""

    run: str | Annotated[list[str], Field(min_length=1)] = Field(
        "all", description='Which studies to run, "all", one study\'s name, or a list of names.'
    )
    downloads: dict[DownloadName, Download] = Field(
        {}, description=" ".join(str(Download.__doc__).split())
    )
    mirror: FilePath = Field(
        "",
        description="Folder, or address (http, https) of one, with the files of `downloads` "
        "under the same names, from where they are taken instead; such as the downloads/ of "
        "another machine.",
    )
    studies: dict[StudyName, Study] = Field(min_length=1, description=STUDY_NAMES)
