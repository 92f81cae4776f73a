"""Crops of annotated objects: pixels, archive, index, and what is skipped and why."""

import tarfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from capmap.errors import ValidationError
from capmap.images.crops import (
    AnnotatedObject,
    Annotation,
    Box,
    Crop,
    ImageFolder,
    Skipped,
    cut_crops,
    encode_image,
    write_crops,
)
from crop import crop

SIZE = (40, 30)
ORIENTATION = 0x0112


def paint(size: tuple[int, int] = SIZE) -> Image.Image:
    """Paint a smooth image in which every pixel tells its place."""
    x, y = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    return Image.fromarray(np.stack([5 * x, 5 * y, 100 + 0 * x], axis=2).astype(np.uint8))


def annotate(image: str, *boxes: tuple[int, int, int, int], label: str = "cat", size=None):
    objects = [AnnotatedObject(place, label, Box(*box)) for place, box in enumerate(boxes, 1)]
    return Annotation(image, objects, size)


def cut(folder: Path, *annotations: Annotation, classes=()) -> list[Crop | Skipped]:
    return list(cut_crops(annotations, ImageFolder(folder), classes=classes))


def decode(content: bytes) -> np.ndarray:
    return np.asarray(Image.open(BytesIO(content)), dtype=int)


@pytest.fixture
def folder(tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    paint().save(images / "a.png")
    return images


def test_crop_has_the_pixels_inside_its_edges(folder):
    (crop,) = cut(folder, annotate("a", (10, 4, 30, 20)))
    assert (crop.source, crop.object, crop.label) == ("a.png", 1, "cat")
    pixels = decode(crop.content)
    assert pixels.shape == (16, 20, 3)
    # JPEG of quality 95 is off by a few gray levels.
    assert np.abs(pixels - np.asarray(paint())[4:20, 10:30].astype(int)).max() <= 8


def test_whole_image_and_single_pixel_are_boxes(folder):
    found = cut(folder, annotate("a", (0, 0, 40, 30), (39, 29, 40, 30)))
    assert [decode(one.content).shape[:2] for one in found] == [(30, 40), (1, 1)]


@pytest.mark.parametrize("box", [(-1, 0, 9, 9), (0, -1, 9, 9), (0, 0, 41, 9), (50, 50, 60, 60)])
def test_box_that_leaves_the_image_is_skipped_alone(folder, box):
    skipped, crop = cut(folder, annotate("a", box, (0, 0, 9, 9)))
    edges = f"({box[0]}, {box[1]}) to ({box[2]}, {box[3]})"
    assert skipped == ("a.png", 1, f"the box {edges} leaves the image of 40 x 30 pixels")
    assert crop.object == 2


def test_unknown_class_is_skipped_with_the_nearest(folder):
    one = annotate("a", (0, 0, 9, 9), label="gold fish")
    assert cut(folder, one, classes=["goldfish", "tench"]) == [
        ("a", 1, "'gold fish' is not in the list of classes; did you mean 'goldfish'?")
    ]
    assert isinstance(cut(folder, one)[0], Crop)


def test_missing_and_ambiguous_images_are_skipped(folder):
    for name in ("x", "y"):
        (folder / name).mkdir()
        paint().save(folder / name / "b.JPG", "JPEG")
    box = (0, 0, 9, 9)
    found = cut(folder, *(annotate(name, box) for name in ("b", "x/b", "z/a", "../a", "c", "")))
    assert [one.source for one in found] == ["b", "x/b.JPG", "a.png", "a.png", "c", ""]
    assert found[0].reason == "there are 2 images: 'x/b.JPG', 'y/b.JPG'"
    assert {found[4].reason, found[5].reason} == {"there is no such image"}


def test_corrupt_images_are_skipped(folder):
    content = encode_image(paint((400, 300)))
    (folder / "cut.jpg").write_bytes(content[: len(content) // 2])
    (folder / "empty.png").write_bytes(b"")
    (folder / "text.png").write_text("no image")
    (folder / "folder.png").mkdir()
    names = ("cut", "empty", "text", "gone")
    (folder / "gone.png").symlink_to("nowhere")
    found = cut(folder, *(annotate(name, (0, 0, 9, 9)) for name in names))
    assert [one.source for one in found] == ["cut.jpg", "empty.png", "text.png", "gone.png"]
    assert found[0].reason.startswith("the image cannot be read (image file is truncated")
    assert [one.reason for one in found[1:3]] == ["the file is no image, or a corrupt one"] * 2
    assert found[3].reason.startswith("the image cannot be read ([Errno 2]")


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_every_mode_becomes_rgb_or_a_fault(folder, mode):
    Image.new(mode, SIZE).save(folder / "m.tiff")
    (found,) = cut(folder, annotate("m", (0, 0, 9, 9)))
    assert isinstance(found, Crop)
    assert decode(found.content).shape == (9, 9, 3)


def test_boxes_refer_to_stored_pixels_whatever_the_orientation(folder):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    paint().save(folder / "turned.jpg", quality=95, subsampling=0, exif=exif)
    (crop,) = cut(folder, annotate("turned", (30, 0, 40, 10)))
    assert np.abs(decode(crop.content)[5, 5] - [175, 25, 100]).max() <= 8
    # Who annotated the picture as it is shown sees it 30 wide and 40 high.
    assert cut(folder, annotate("turned", (0, 0, 9, 9), size=(30, 40))) == [
        (
            "turned.jpg",
            None,
            "the annotation is for an image of 30 x 40 pixels, the image has 40 x 30",
        )
    ]


def test_archive_is_a_tar_file_that_its_index_describes(folder, tmp_path):
    found = cut(folder, annotate("a", (0, 0, 9, 9), (0, 0, 50, 9), (5, 5, 40, 30)))
    crops, skipped = write_crops(found, tmp_path / "crops.tar")
    content = (tmp_path / "crops.tar").read_bytes()
    with tarfile.open(tmp_path / "crops.tar") as archive:
        for row, member in zip(crops.to_dict("records"), archive, strict=True):
            jpeg = archive.extractfile(member).read()
            assert content[row["offset"] : row["offset"] + row["bytes"]] == jpeg
            box = (row["right"] - row["left"], row["bottom"] - row["top"])
            assert Image.open(BytesIO(jpeg)).size == box
    assert crops["object"].tolist() == [1, 3]
    assert crops["patch"].tolist() == [0, 1]
    assert skipped["object"].tolist() == [2]


def test_no_crop_at_all_is_refused_with_the_most_frequent_fault(folder, tmp_path):
    found = [annotate(name, (0, 0, 9, 9)) for name in "bcd"] + [annotate("a", (0, 0, 99, 9))]
    with pytest.raises(ValidationError, match=r"4 faults found.*there is no such image"):
        write_crops(cut(folder, *found), tmp_path / "crops.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["images"]
    with pytest.raises(ValidationError, match="nothing is annotated"):
        write_crops([], tmp_path / "crops.tar")


def test_folder_without_images_is_refused(tmp_path):
    with pytest.raises(ValidationError, match="there is no image in this folder"):
        ImageFolder(tmp_path)


def run_script(folder: Path, images: Path, rows: list[str], classes: str = "") -> dict[str, bytes]:
    folder.mkdir()
    (folder / "classes.txt").write_text(classes)
    table = folder / "annotations.csv"
    table.write_text("\n".join(["ImageId,PredictionString", *rows, ""]))
    outputs = {name: folder / name for name in ("archive", "crops", "skipped")}
    crop(
        images=[str(images)],
        annotations=[str(table)],
        classes=[str(folder / "classes.txt")] if classes else [],
        **{name: str(path) for name, path in outputs.items()},
    )
    return {name: path.read_bytes() for name, path in outputs.items()}


def test_script_reads_the_list_of_classes(folder, tmp_path):
    rows = ["a,cat 0 0 9 9 dog 0 0 9 9"]
    run_script(tmp_path / "all", folder, rows)
    assert pd.read_csv(tmp_path / "all/skipped").shape == (0, 3)
    run_script(tmp_path / "known", folder, rows, classes="cat\nbird\n")
    assert pd.read_csv(tmp_path / "known/skipped")["object"].tolist() == [2]
