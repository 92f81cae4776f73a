"""The file that defines a benchmark."""

from typing import Annotated

from pydantic import Field

from capmap.settings.choices import Direction
from capmap.settings.sections import ABSENT, Name, Number, Section


class StoredErrors(Section):
    """How errors were stored as scores."""

    std: Number = Field(gt=0, description="A stored score is 1 minus the error times std.")


class StoredTransform(Section):
    """How stored scores were made, by the transform's name."""

    scale_rmse: StoredErrors = Field(ABSENT)


class DefinedDataset(Section):
    """A dataset of a benchmark."""

    metric: Name = Field(description="Name of the metric in submissions.")
    direction: Direction = Field(description="Which stored score is better.")
    description: str = Field("")
    stored_as: str = Field("")
    transform: StoredTransform = Field(ABSENT)


class DefinedModel(Section):
    """A model that a benchmark knows."""

    name: Name = Field(description="Name of the model in tables and figures.")
    size: str = Field("")


class Definition(Section):
    """A benchmark."""

    title: str = Field("")
    description: str = Field("")
    datasets: dict[str, DefinedDataset] = Field(
        min_length=1, description="Each dataset with its metric and direction."
    )
    dimensions: dict[str, Annotated[list[Name], Field(min_length=1)]] = Field({})
    models: dict[str, DefinedModel] = Field({})
