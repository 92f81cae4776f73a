"""The settings of a study, and of all studies."""

from typing import Annotated, Literal, TypeAlias

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
    DatasetRule,
    MetricRule,
    Normalization,
    Reading,
    ReferenceModel,
    Select,
    Summary,
    TakenBest,
)
from capmap.settings.figures import Figures
from capmap.settings.predictions import PatchML, Predictions
from capmap.settings.sections import (
    REQUIRED,
    Count,
    FilePath,
    GivenPath,
    Section,
    limit,
    name_key,
    option,
    section,
)
from capmap.settings.sources import DIGEST, Download, DownloadName, Submission

Analysis = Annotated[str, limit(choices=tuple(ANALYSES))]
STUDY_NAMES = (
    'One named analysis per key. Names become folders in results/, so letters, digits, "_" and '
    '"-" only, at most 100 of them; "logs" and "benchmarks" are folders of capmap itself.'
)
# Python's "$" also matches before a final line break.
StudyName = Annotated[
    str,
    name_key(
        STUDY_NAMES,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$(?!\n)",
        excluded=("logs", "benchmarks"),
    ),
]
FieldName = Annotated[str, name_key("A field has a name of letters.", min_length=1)]
GroupName = Annotated[str, name_key("A group needs a name.", min_length=1)]
PublishedName = Annotated[str, name_key("A published table has a name.", min_length=1)]
ExportName = Annotated[str, name_key("A path or URL of an export.", format="path")]
Digest = Annotated[
    str,
    name_key(
        "A SHA-256 has 64 hexadecimal digits; `sha256sum FILE` prints it.",
        pattern=DIGEST,
    ),
]
# Nothing else of an address, which may have a secret.
Host = Annotated[
    str,
    name_key(
        "Name a host alone, such as cdn.example.org, or with its port.",
        pattern=r"^([^\s/@?#:]+|\[[0-9a-fA-F:.]+\])(:[0-9]+)?$(?!\n)",
    ),
]
Scalar: TypeAlias = str | float | bool


class Bootstrap(Section):
    """Intervals of the aggregate scores."""

    replicates: int = option(10000, "Number of bootstrap replicates.", ge=100)
    confidence: float = option(
        0.95, "Confidence level of intervals, sets of ranks and tie groups.", gt=0, lt=1
    )
    interval: IntervalMethod = option(
        "calibrated",
        'Kind of interval, "calibrated" (Student\'s t), or "percentile" (of bootstrap replicates), '
        "which is too narrow with few seeds.",
    )
    unit: UnitOrAuto = option(
        "auto",
        'What is drawn, "runs" (on these datasets), "seeds" (on these datasets; runs of the same '
        'seed hang together; calibrated intervals only), "runs_and_datasets" (datasets like '
        'these), or "auto": "runs", or "seeds" where a test finds that their runs move together, '
        'or "runs_and_datasets" where no model has repeated runs.',
    )
    seed: int = option(0, "Seed from which all random streams of the study derive.")
    shards: int = option(4, "Number of jobs over which the models are spread.", ge=1, le=1000)


class Study(Section):
    """A named analysis of exports."""

    title: str = option("", "Heading of the report; empty means the study's name.")
    exports: FilePath | Annotated[list[GivenPath], limit(min_length=1, unique=True)] = option(
        "",
        "A path, a glob, a URL (http, https, s3), or a list of these, relative to the working "
        "directory. Names stand in braces: runs/{model}/{dataset}.csv. For submissions folders, "
        "each of which is one or holds several. For predictions paths with {model}, {dataset} "
        "and perhaps {seed}.",
    )
    preset: FilePath = option(
        "",
        "Settings for the files of a known tool, by name (see docs/exports.md), or a YAML file of "
        "such settings; they stand where the study says nothing itself.",
    )
    format: Format = option(
        "long",
        'How the exports are laid out, "long" (a row per run), "matrix" (a row per model, a '
        'column per dataset), "predictions" (a file of scores per model and dataset, see '
        '`predictions`), "submission" (folders with a table of results and a description, see '
        '`submission`) or "checkpoints" (a row per checkpoint, metric and split, see '
        "`checkpoints`).",
    )
    checksums: dict[ExportName, Digest] = option(
        {},
        "SHA-256 of some exports in hexadecimal, by path or URL as in `exports`. A file with "
        "another digest is refused.",
    )
    redirects: list[Host] = option(
        [],
        "Hosts, such as cdn.example.org, to which the servers of exports may redirect; another "
        "host than that of the address is refused otherwise.",
        unique=True,
    )
    benchmark: FilePath = option(
        "",
        "File that defines the benchmark, with the metric and direction of each dataset, the "
        "dimensions and the names of models, such as data/benchmarks/geobench2.yaml; empty "
        "means none.",
    )
    header_rows: int = option(
        1,
        "Rows in which the names of columns stand (tables of text and workbooks), such "
        'as 2 for dataset and variant. They are joined with " / ". A blank cell repeats the one '
        "on its left; in the last row it adds nothing.",
        ge=1,
    )
    columns: Columns
    fields: dict[FieldName, str] = option(
        {},
        "Names that hold for all files, such as {model: ours}, or what a path says in braces: "
        "`exports: runs/{model}/seed_{seed}.csv` gives the columns model and seed.",
    )
    reading: Reading
    values: dict[str, float | Literal["missing"]] = option(
        {},
        'Scores that stand for others, such as {"pass": 1, "fail": 0}, or "missing" for what is no '
        'run, such as {"-": missing}.',
    )
    summary: Summary
    take: Take | TakenBest = option(
        "all",
        'Which rows of a run count, "all", or of a log with many rows per run the "last" (by '
        '`columns.step`), or the "best" (highest `columns.selection`, or lowest with '
        "{best: min}).",
    )
    where: dict[str, Scalar | Annotated[list[Scalar], limit(min_length=1)]] = option(
        {},
        "Rows to read, as column and value (or list of values); other rows are counted and left "
        "out.",
    )
    metric: str = option(
        "",
        "Name of the metric of every dataset without one under `datasets`. It wins over that of "
        "the export, with a warning where they differ; empty means that the export says it.",
    )
    decimal: Decimal = option(
        "auto", 'Decimal mark of numbers in text exports, "auto" (found per file), "." or ",".'
    )
    select: Select
    metrics: dict[str, Annotated[MetricRule, limit(min_length=1)]] = option(
        {},
        "Rules per metric of the data (names are compared without case and separators). A key "
        "that matches nothing is an error.",
    )
    datasets: dict[str, Annotated[DatasetRule, limit(min_length=1)]] = option(
        {},
        "Rules per dataset, which win over those of its metric. A key that matches nothing is "
        "an error.",
    )
    normalization: Normalization
    min_seeds: int = option(1, "Seeds that every cell should have; fewer is a warning.", ge=1)
    incomplete: Incomplete = option(
        "error",
        'What to do about models without runs on some dataset, "error", "drop_models", '
        '"drop_datasets", or "adjust" (on what a model lacks, its score is expected from the '
        "others), which is the default of submissions.",
    )
    min_datasets: Literal["all"] | Count | Annotated[float, limit(gt=0, lt=1)] = option(
        0.5,
        "Datasets that a model needs to be ranked, as a share below 1, a number, or "
        '"all", which is the default of submissions. Other models are listed without a rank and '
        "take part in no comparison.",
    )
    duplicates: Duplicates = option(
        "error",
        'What to do about several scores of one (model, dataset, metric, seed), "error", "mean" '
        '(of all rows), "first" or "last". Otherwise repeats with the same score count once; '
        "without seeds these may be different runs, which is a warning.",
    )
    invalid: Invalid = option(
        "error",
        'What to do about rows that cannot be used, "error" (stop) or "quarantine" (leave out '
        "and list).",
    )
    failed: Failure | float | ReferenceModel = option(
        "invalid",
        'What a run counts with whose score is empty, NaN or infinite, "worst" (the worst score of '
        "any model on the dataset), a score as exported, {model: NAME} (that model's mean score), "
        '"drop" (nothing), or "invalid" (left out if empty, else see `invalid`). An empty cell of '
        "a matrix is no run.",
    )
    rank_by: StatisticOrAuto = option(
        "auto",
        'Statistic that ranks the models, "iqm" (interquartile mean), "mean", "median", '
        'or "auto": the interquartile mean, or the mean where scores are '
        "outcomes of few values from the worst to the best, such as wrong and right, of which "
        "the middle half would be all alike.",
    )
    analyses: list[Analysis] = option(
        [name for name, analysis in ANALYSES.items() if analysis.default],
        "What to compute beyond the ranking. Ratings and improvability are left to be asked "
        "for, as they depend on which other models take part and on a known best score, and so "
        'are "capabilities" and what follows it, as they need many models and datasets and take '
        'the most computing; "groups", "conditions" and "drift" (dates) need settings of their '
        'own. "multilabel" is for predictions and for published metrics, "checkpoints" for the '
        'format of that name, "leaderboard" makes a page to sort and search, "releases" (of '
        '`leaderboard.releases`) shows how ranks moved, and "published" (of `published`) puts '
        "printed numbers beside those of the study.",
        unique=True,
    )
    comparison: Comparison
    frontier: Frontier
    groups: dict[GroupName, Group] = option(
        {}, "Named sets of datasets that are ranked on their own, such as a capability."
    )
    conditions: list[str] = option(
        [],
        "Other studies with the same models under another condition, such as frozen instead of "
        "fine-tuned; the rankings are compared.",
        unique=True,
    )
    capabilities: Capabilities = section(
        "Models and datasets placed in one space, so that how well a model does on a dataset "
        "follows from how near they are; and what that predicts."
    )
    attributes: Attributes
    predictions: Predictions = section(
        "What the score dumps of a study mean (predictions format only), the classes of their "
        "columns and the labels of their images."
    )
    multilabel: Multilabel = section(
        "Accuracy where images have several valid labels, and how it changes ranks and "
        "differences between datasets."
    )
    patchml: PatchML
    submission: Submission
    checkpoints: Checkpoints
    leaderboard: Leaderboard
    published: dict[PublishedName, Published] = option({}, " ".join(str(Published.__doc__).split()))
    claims: dict[PublishedName, Annotated[Claim, limit(min_length=1)]] = option(
        {}, " ".join(str(Claim.__doc__).split())
    )
    figures: Figures
    bootstrap: Bootstrap


class Config(Section):
    """The studies to run and how each is analysed."""

    run: str | Annotated[list[str], limit(min_length=1)] = option(
        "all", 'Which studies to run, "all", one study\'s name, or a list of names.'
    )
    downloads: dict[DownloadName, Download] = option({}, " ".join(str(Download.__doc__).split()))
    mirror: FilePath = option(
        "",
        "Folder, or address (http, https) of one, with the files of `downloads` under the same "
        "names, from where they are taken instead; such as the downloads/ of another machine.",
    )
    studies: dict[StudyName, Study] = option(
        REQUIRED,
        STUDY_NAMES,
        min_length=1,
    )
