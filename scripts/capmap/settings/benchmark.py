"""The file that defines a benchmark."""

from typing import Annotated

from capmap.settings.choices import Direction
from capmap.settings.sections import REQUIRED, Name, Section, limit, option


class StoredErrors(Section):
    """How errors were stored as scores."""

    std: float = option(REQUIRED, "A stored score is 1 minus the error times std.", gt=0)


class StoredTransform(Section):
    """How stored scores were made, by the transform's name."""

    scale_rmse: StoredErrors | None = option(None)


class DefinedDataset(Section):
    """A dataset of a benchmark."""

    metric: Name = option(REQUIRED, "Name of the metric in submissions.")
    direction: Direction = option(REQUIRED, "Which stored score is better.")
    description: str = option("")
    stored_as: str = option("")
    transform: StoredTransform | None = option(None)


class DefinedModel(Section):
    """A model that a benchmark knows."""

    name: Name = option(REQUIRED, "Name of the model in tables and figures.")
    size: str = option("")


class Definition(Section):
    """A benchmark."""

    title: str = option("")
    description: str = option("")
    datasets: dict[str, DefinedDataset] = option(
        REQUIRED, "Each dataset with its metric and direction.", min_length=1
    )
    dimensions: dict[str, Annotated[list[Name], limit(min_length=1)]] = option({})
    models: dict[str, DefinedModel] = option({})
