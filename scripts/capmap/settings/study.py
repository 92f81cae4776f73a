"""The settings of a study, and of all studies."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from capmap.analyses import ANALYSES, FIGURES, INDEX
from capmap.settings.choices import (
    Cut,
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
from capmap.settings.files import expand_home
from capmap.settings.sections import (
    ABSENT,
    AtLeastZero,
    Attributes,
    Capabilities,
    Checkpoints,
    Columns,
    Comparison,
    Count,
    DatasetName,
    Digest,
    Download,
    DownloadName,
    FilePath,
    Flag,
    Frontier,
    GivenPath,
    Group,
    Inches,
    Leaderboard,
    Multilabel,
    Name,
    Normalization,
    Number,
    Points,
    Reading,
    ReferenceModel,
    Rule,
    Scalar,
    ScoreRule,
    Section,
    Seed,
    Select,
    Share,
    Submission,
    Summary,
    Unique,
    Whole,
)
from capmap.wording import find_nearest, quote_name

FORMATS: list[Literal["pdf", "svg", "png"]] = ["pdf", "svg"]


# Such a key may be written as a number.
PatchCount = Annotated[
    str,
    BeforeValidator(lambda key: str(key) if type(key) is int else key),
    Field(pattern="^[1-9][0-9]{0,8}$", description="A number of patches per image, such as 4."),
]

if TYPE_CHECKING:
    Analysis = str
else:
    Analysis = Literal[tuple(ANALYSES)]
# Those before the map of capabilities need nothing but scores.
OF_SCORES = ANALYSES[: ANALYSES.index("capabilities")]
Analyses = Annotated[
    Unique[Analysis],
    BeforeValidator(
        lambda given: OF_SCORES if given == "all" else given,
        json_schema_input_type=Literal["all"] | Unique[Analysis],
    ),
]
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
        description="Student's t, or percentiles of replicates, too narrow with few seeds.",
    )
    unit: UnitOrAuto = Field(
        "auto",
        description="What new data intervals speak of: runs or seeds on these datasets, or also "
        'datasets like these; "auto" looks at the runs that there are.',
    )
    seed: Whole = Field(0, description="Seed from which all random streams of the study derive.")
    shards: Whole = Field(1, ge=1, le=1000, description="Jobs over which the models are spread.")

    @field_validator("unit")
    @classmethod
    def _refuse_seeds(cls, unit: str, info: ValidationInfo) -> str:
        if unit == "seeds" and info.data.get("interval") == "percentile":
            remedy = "Set interval to calibrated, or unit to auto."
            raise ValueError(f"only calibrated intervals can be over seeds. {remedy}")
        return unit


class DatasetLabels(Section):
    """The labels of a dataset."""

    labels: GivenPath = Field(
        description="File of the valid labels of images, JSON or a table; ids count from 0."
    )
    single: FilePath = Field("", description="File of the single label, for top-1 accuracy.")
    images: FilePath = Field(
        "", description="File of image ids in the order of the scores, for dumps without ids."
    )


class Predictions(Section):
    """What the score dumps of a study mean."""

    classes: FilePath = Field(
        "", description="File of the class names in the order of the scores, one per line."
    )
    datasets: dict[DatasetName, DatasetLabels] = Field(
        {}, description="Labels of each dataset, as {dataset} in `exports` calls it."
    )


class PatchML(Section):
    """Images with several labels, composed of objects that are cut from annotated images."""

    images: FilePath = Field("", description="Folder of the annotated images; empty means none.")
    annotations: FilePath = Field(
        "", description="Table of ImageId and PredictionString (groups of class x1 y1 x2 y2)."
    )
    classes: FilePath = Field("", description="File of the classes to take; empty means all.")
    counts: Unique[Count] = Field(
        [2, 3, 4, 6, 9], min_length=1, description="Numbers of patches per image."
    )
    sizes: dict[PatchCount, Count] = Field(
        {}, description="Side of a patch in pixels by count; otherwise the largest that fits."
    )
    side: Whole = Field(224, ge=1, le=8192, description="Side of the composed images in pixels.")
    seeds: Unique[Seed] = Field(
        [0, 1, 2, 3, 4], min_length=1, description="Seeds, each of which makes a dataset."
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
    table: str = Field("", description="The study's table beside it, such as tables/ranking.")
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

    table: Name = Field(description="The study's table, such as capabilities/summary.")
    where: dict[str, Scalar] = Field(ABSENT, description="The one row, as column and value.")
    column: Name = Field(description="Its column with the number.")
    low: str = Field(ABSENT, description="Its column with the lower end of the interval.")
    high: str = Field(ABSENT, description="Its column with the upper end of the interval.")
    above: Number = Field(ABSENT, description="The number is said to be no lower than this.")
    below: Number = Field(ABSENT, description="The number is said to be no higher than this.")


class Figures(Section):
    """How figures look, and which are drawn; a change of `names` alone computes the study anew."""

    width: Inches | dict[Name, Inches] = Field(
        ABSENT, description="Width in inches, such as 3.5, or by figure, such as {intervals: 7}."
    )
    font_size: Points = Field(ABSENT, description="Size of most text in points; otherwise 7.")
    palette: Name | Annotated[list[Name], Field(min_length=1)] = Field(
        ABSENT, description="Palette of seaborn, color map of matplotlib, or list of colors."
    )
    colors: dict[Name, Name] = Field({}, description="Colors of some models by name.")
    order: Unique[Name] = Field([], description="Models that stand first in figures.")
    formats: Unique[Literal["pdf", "svg", "png"]] = Field(
        FORMATS, description="Files of each figure; an SVG is always drawn, for the page."
    )
    names: dict[Name, Name] = Field(
        {},
        description="Names for readers of models and datasets, by those of the exports, in all "
        "results and all other settings but those that name files (`predictions`).",
    )
    only: Unique[Name] = Field([], description="The figures to draw; empty means all.")
    skip: Unique[Name] = Field([], description="Figures not to draw.")

    @field_validator("width", "only", "skip")
    @classmethod
    def _refuse_unknown(cls, given: Any) -> Any:
        for name in given if isinstance(given, dict | list) else ():
            if name not in FIGURES:
                near = find_nearest(name, FIGURES)
                meant = f"Did you mean {quote_name(near)}?" if near else "See docs/results.md."
                raise ValueError(f"there is no figure {quote_name(name)}. {meant}")
        return given

    @field_validator("names")
    @classmethod
    def _refuse_shared(cls, names: dict[str, str]) -> dict[str, str]:
        firsts: dict[str, str] = {}
        for old, new in names.items():
            first = firsts.setdefault(new, old)
            if first != old:
                both = f"{quote_name(first)} and {quote_name(old)} would both be called"
                raise ValueError(f"{both} {quote_name(new)}. Give each its own.")
        return names


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
        description="How the exports are laid out: a row per run, a row per model, a file per "
        "model and dataset, a folder per submission, or a row per checkpoint, metric and split.",
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
        description="Which rows of a run count, by `columns.step` or `columns.selection`.",
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
        description='Models without runs on some dataset; "adjust", the default of submissions, '
        "expects what is missing from the other scores.",
    )
    min_datasets: Literal["all"] | Count | Share = Field(
        0.5,
        description="Datasets that a model needs to be ranked, as a share, a number, or "
        '"all", the default of submissions.',
    )
    duplicates: Duplicates = Field(
        "error",
        description="Several scores of one run; the same score again counts once.",
    )
    invalid: Invalid = Field(
        "error", description="Rows that cannot be used; in quarantine they are left out."
    )
    failed: Failure | Number | ReferenceModel = Field(
        "invalid",
        description="What a run without a finite score counts with: the worst of any model on the "
        "dataset, a score, {model: NAME} (its mean), or nothing (drop).",
    )
    rank_by: StatisticOrAuto = Field(
        "auto",
        description='Statistic that ranks the models; "auto" is the IQM, or the mean of scores '
        "with few values, such as right and wrong.",
    )
    iqm: Cut = Field(
        "exact",
        description="Whether the interquartile mean (IQM) cuts exactly a quarter of the weight, or "
        "whole runs only, as SciPy and published tables do.",
    )
    analyses: Analyses = Field(
        [name for name in ANALYSES if INDEX[name]["default"]],
        description='What to compute beyond the ranking, "all" of what needs scores alone; '
        "frontier, groups, conditions, drift, releases and published also need settings of their "
        "own.",
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
        "all", description='Which studies to run: "all", a name, or a list of names.'
    )
    downloads: dict[DownloadName, Download] = Field({}, description=Download.__doc__)
    mirror: FilePath = Field(
        "", description="Folder or address with the files of `downloads` under the same names."
    )
    studies: dict[StudyName, Study] = Field(min_length=1, description=STUDY_NAMES)
