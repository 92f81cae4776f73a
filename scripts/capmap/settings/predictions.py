"""Score dumps: what they mean, the classifiers that write them, and composed images."""

from typing import Annotated

from capmap.settings.choices import Cells
from capmap.settings.data import DatasetName
from capmap.settings.sections import (
    REQUIRED,
    WHOLE_NUMBER,
    Count,
    FilePath,
    GivenPath,
    Section,
    limit,
    name_key,
    option,
)

Sizes = Annotated[list[Count], limit(unique=True)]
PatchCount = Annotated[
    str, name_key("A number of patches per image, such as 4.", pattern=WHOLE_NUMBER)
]
ModelName = Annotated[str, name_key("A model needs a name.", min_length=1)]


class DatasetLabels(Section):
    """The labels of a dataset."""

    labels: GivenPath = option(
        REQUIRED,
        "File of the valid labels of each image, JSON or a table; ids of classes count from 0.",
    )
    single: FilePath = option(
        "",
        "File of the single label of each image, for top-1 accuracy; empty means none.",
    )
    images: FilePath = option(
        "",
        "File of image ids in the order of the scores, for dumps without ids. Empty means that "
        "the dumps have ids, or that the labels are in the order of the scores.",
    )


class Predictions(Section):
    """What the score dumps of a study mean."""

    classes: FilePath = option(
        "",
        "File of the class names in the order of the scores' columns, one per line. "
        "Empty means that ids are taken as they are; labels "
        "cannot be names then, and the order is not checked.",
    )
    datasets: dict[DatasetName, DatasetLabels] = option(
        {},
        "Labels of each dataset of the dumps, by the name that stands for {dataset} in `exports`.",
    )


class PatchML(Section):
    """Images with several labels, composed of objects that are cut from annotated images."""

    images: FilePath = option(
        "", "Folder of the annotated images; empty means that none are composed."
    )
    annotations: FilePath = option(
        "",
        "Folder of PASCAL-VOC files (.xml), or a table with the columns ImageId and "
        "PredictionString.",
    )
    classes: FilePath = option(
        "",
        "File of the class names; objects of other classes are skipped and listed. Empty means "
        "that all are taken.",
    )
    counts: list[Count] = option(
        [2, 3, 4, 6, 9], "Numbers of patches per image.", min_length=1, unique=True
    )
    sizes: Sizes | Annotated[dict[PatchCount, Count | Sizes], limit(min_length=1)] = option(
        [],
        "Sides in pixels of the square that a patch is resized to fit, by count, such as "
        "{4: 112, 9: [56, 74]}, or a list, of which a count has all whose grid of side // size "
        "rows and columns has room for it. Empty means the largest that fits each count.",
    )
    side: int = option(224, "Side of the composed images in pixels.", ge=1, le=8192)
    cells: Cells = option(
        "index",
        'Cells of the grid that patches go to: "index" fills it row by row, as published, and '
        '"random" draws them.',
    )
    seeds: list[Annotated[int, limit(ge=0)]] = option(
        [0, 1, 2, 3, 4],
        "Seeds, each of which makes a dataset of its own.",
        min_length=1,
        unique=True,
    )
