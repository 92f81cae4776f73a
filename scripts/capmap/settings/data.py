"""What the exports hold, which of it is analysed, and how its scores are bounded."""

from typing import Annotated, Literal, TypeAlias

from capmap.settings.choices import Direction
from capmap.settings.sections import REQUIRED, Name, Section, limit, name_key, option

DatasetName = Annotated[str, name_key("A dataset needs a name.", min_length=1)]
ColumnNames: TypeAlias = Name | Annotated[list[Name], limit(min_length=1)]


class Columns(Section):
    """Which columns of the export hold what."""

    model: ColumnNames = option(
        "model",
        "Column of the model's name, or a list of columns that are joined into one name. Of "
        'submissions, empty or "model" means backbone, frozen_or_full_ft and submission; of '
        "checkpoints without such a column the training.",
    )
    dataset: ColumnNames = option(
        "dataset", "Column of the dataset's name, or a list of columns (long format only)."
    )
    metric: str = option(
        "metric",
        "Column of the metric's name (long format only). Not needed where `metric` names one "
        "for the whole study.",
    )
    score: str = option("score", "Column of the score (long format only).")
    seed: str = option(
        "seed",
        "Column of the seed or repetition (long format only). May be absent from the export, "
        "each cell is then one run.",
    )
    datasets: list[str] = option(
        [],
        "Columns that hold datasets (matrix format only); empty means every column that is not "
        "part of the model's name and not in `ignore`.",
    )
    ignore: list[str] = option(
        [],
        "Columns to leave out (matrix format only), such as parameter counts or a printed average.",
    )
    training: str = option("training", "Column of the training's name (checkpoints format only).")
    checkpoint: str = option(
        "checkpoint",
        "Column of the checkpoint, a name with its step or epoch (checkpoints format only).",
    )
    split: str = option(
        "split", "Column of the split that a score is of (checkpoints format only); may be absent."
    )
    time: str = option(
        "time", "Column of the time of an evaluation (checkpoints format only); may be absent."
    )
    keep: list[str] = option([], "Further columns to carry into runs.parquet (long format only).")


class NameLists(Section):
    """Names to keep and to leave out."""

    include: list[str] | None = option(None, "Names to keep.")
    exclude: list[str] | None = option(None, "Names to leave out.")


Selection: TypeAlias = (
    Literal["all"]
    | Annotated[list[str], limit(min_length=1)]
    | Annotated[NameLists, limit(min_length=1)]
)


class Select(Section):
    """Models and datasets to analyse. Bounds are computed before the selection."""

    models: Selection = option("all", 'Models to analyse, "all" or include and exclude lists.')
    datasets: Selection = option("all", 'Datasets to analyse, "all" or include and exclude lists.')


class ReferenceModel(Section):
    """A model whose mean score is the bound."""

    model: str = option(REQUIRED, "Name of the reference model.")


Bound: TypeAlias = float | Literal["observed", "natural"] | ReferenceModel


class MetricRule(Section):
    """A rule of a metric, which states what it names and leaves out the rest."""

    direction: Direction | None = option(
        None, 'Whether the higher ("max") or the lower ("min") score is better.'
    )
    low: Bound | None = option(None, "Lower bound of scores as exported.")
    high: Bound | None = option(None, "Upper bound of scores as exported.")


class RmseScale(Section):
    """How an error becomes a score."""

    std: float = option(REQUIRED, "Factor, in 1 / unit of the score.", gt=0)


class Transform(Section):
    """A conversion of scores, by its name."""

    scale_rmse: RmseScale | None = option(
        None, "Maps an error r to 1 - r * std, so higher is better."
    )


class DatasetRule(MetricRule):
    """A rule of a dataset, which may also name its metric."""

    low: Bound | None = option(None, "Lower bound of scores as exported, after `transform`.")
    high: Bound | None = option(None, "Upper bound of scores as exported, after `transform`.")
    metric: str | None = option(
        None, "Name of the metric, which wins over that of the export; a warning where they differ."
    )
    transform: Transform | None = option(
        None,
        "Named conversion of scores as exported, before bounds apply, such as {scale_rmse: "
        "{std: 0.25}}, r to 1 - r * std.",
        min_length=1,
        max_length=1,
    )


class Normalization(Section):
    """Bounds of every dataset for which neither `datasets` nor `metrics` give any."""

    low: Bound = option(
        "natural",
        'Lower bound of scores after transforms, a number, "observed" (the lowest score of any '
        'model), {model: NAME} (that model\'s mean score is the floor) or "natural" (the '
        "metric's own).",
    )
    high: Bound = option(
        "natural",
        'Upper bound of scores after transforms, a number, "observed", {model: NAME} (that '
        'model\'s mean score is the ceiling) or "natural".',
    )
    references: str = option(
        "",
        "File of frozen bounds, the bounds.csv of another run or a JSON object of dataset and "
        "[low, high]; empty means none.",
    )
