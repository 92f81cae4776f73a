"""Score dumps: what they mean, the labels of their images, and composed images."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from capmap.settings.data import DatasetName
from capmap.settings.sections import Count, FilePath, GivenPath, Section, Seed, Unique, Whole

# Such a key may be written as a number.
PatchCount = Annotated[
    str,
    BeforeValidator(lambda key: str(key) if type(key) is int else key),
    Field(pattern="^[1-9][0-9]{0,8}$", description="A number of patches per image, such as 4."),
]


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
        "", description="Folder of PASCAL-VOC files, or a table of ImageId, PredictionString."
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
