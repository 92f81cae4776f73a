"""Make the example of annotated images in ``data/patchml/``.

Run ``python data/make_patchml.py`` from anywhere; the same images come out every time. Each has one
to three drawn shapes on a plain ground. They stand side by side on three sheets, of which
``annotations.csv`` has the boxes of all shapes. The labels of an image are all its shapes; its
single label is that of the largest box.
Random numbers come from NumPy's legacy generator, whose stream is frozen.
"""

import json
import math
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

FOLDER = Path(__file__).parent / "patchml"
SIZE = (160, 120)
IMAGES = 36
PER_ROW, PER_SHEET = 4, 12
SHAPES_PER_IMAGE = (2, 1, 3)
SMALLEST, LARGEST = 30, 64
LARGEST_TURN = 15
FINER = 4
FAINTEST = 32
GROUNDS = ["#f4efe6", "#dfe8ee", "#e9e4f0", "#20303c", "#3a2f2a", "#24382c"]
COLORS = ["#c8322d", "#e08a1e", "#1f9d8a", "#5b6bd6", "#b04a9c", "#8a9a2b"]
CLASSES = ["circle", "cross", "hexagon", "ring", "square", "star", "triangle", "wave"]
HOLE = 0.55
ARM = 0.32

Points = list[tuple[float, float]]
Box = tuple[int, int, int, int]


class Shape(NamedTuple):
    """A shape to draw: its class, color, center, radius (pixels) and turn (degrees)."""

    label: str
    color: str
    center: tuple[int, int]
    radius: float
    turn: float


def outline_shape(label: str) -> Points:
    """Corners of a shape within the unit circle."""
    if label == "cross":
        quarter = [(ARM, ARM), (ARM, 1.0), (-ARM, 1.0)]
        return [_turn(point, 90 * turn) for turn in range(4) for point in quarter]
    if label == "wave":
        steps = np.linspace(-1, 1, 41)
        upper = [(float(x), 0.4 * math.sin(1.5 * math.pi * x) - 0.28) for x in steps]
        lower = [(float(x), 0.4 * math.sin(1.5 * math.pi * x) + 0.28) for x in steps[::-1]]
        return upper + lower
    corners = {"triangle": 3, "square": 4, "hexagon": 6, "star": 10}.get(label, 72)
    start = 45 if label == "square" else -90
    radii = [1.0, 0.42] if label == "star" else [1.0, 1.0]
    return [
        _turn((radii[corner % 2], 0.0), start + 360 * corner / corners) for corner in range(corners)
    ]


def draw_shape(shape: Shape) -> Image.Image:
    """Draw the mask of a shape on a canvas of `SIZE`, with smooth edges."""
    mask = Image.new("L", (SIZE[0] * FINER, SIZE[1] * FINER))
    pen = ImageDraw.Draw(mask)
    corners = outline_shape(shape.label)
    pen.polygon(_place(corners, shape), fill=255)
    if shape.label == "ring":
        pen.polygon(_place([(HOLE * x, HOLE * y) for x, y in corners], shape), fill=0)
    smooth = mask.resize(SIZE, Image.Resampling.BOX)
    return smooth.point([level if level >= FAINTEST else 0 for level in range(256)])


def choose_shapes(random: np.random.RandomState, labels: list[str]) -> list[Shape]:
    """Choose places, sizes and colors of an image's shapes; their boxes do not touch."""
    while True:
        colors = random.permutation(len(COLORS))
        shapes = []
        for label, color in zip(labels, colors, strict=False):
            radius = random.uniform(SMALLEST, LARGEST) / 2
            edge = math.ceil(radius) + 2
            center = tuple(int(random.randint(edge, side - edge)) for side in SIZE)
            turn = random.uniform(-LARGEST_TURN, LARGEST_TURN)
            shapes.append(Shape(label, COLORS[color], (center[0], center[1]), radius, turn))
        if all(
            max(abs(a - b) for a, b in zip(one.center, other.center, strict=True))
            > one.radius + other.radius + 2
            for place, one in enumerate(shapes)
            for other in shapes[:place]
        ):
            return shapes


def make_image(shapes: list[Shape], *, ground: str) -> tuple[Image.Image, list[Box]]:
    """Draw shapes on a ground.

    Returns
    -------
    image : PIL.Image.Image
        The image.
    boxes : list of (int, int, int, int)
        The tightest box of each shape: left, upper, right and lower edge.
    """
    image = Image.new("RGB", SIZE, ground)
    boxes = []
    for shape in shapes:
        mask = draw_shape(shape)
        image.paste(shape.color, mask=mask)
        boxes.append(mask.getbbox() or (0, 0, 0, 0))
    return image, boxes


def place_on_sheet(place: int) -> tuple[int, int]:
    """Left and upper edge of an image on its sheet."""
    row, column = divmod(place % PER_SHEET, PER_ROW)
    return column * SIZE[0], row * SIZE[1]


def render_objects(labels: list[str], boxes: list[Box], corner: tuple[int, int]) -> str:
    """Write the objects of an image as in the localization tables of ImageNet."""
    left, top = corner
    return " ".join(
        f"{label} {box[0] + left} {box[1] + top} {box[2] + left} {box[3] + top}"
        for label, box in zip(labels, boxes, strict=True)
    )


def _measure(box: Box) -> int:
    """Area of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def _turn(point: tuple[float, float], degrees: float) -> tuple[float, float]:
    angle = math.radians(degrees)
    x, y = point
    return (
        x * math.cos(angle) - y * math.sin(angle),
        x * math.sin(angle) + y * math.cos(angle),
    )


def _place(corners: Points, shape: Shape) -> Points:
    """Corners of a shape on the finer canvas."""
    return [
        (FINER * (shape.center[0] + shape.radius * x), FINER * (shape.center[1] + shape.radius * y))
        for x, y in (_turn(corner, shape.turn) for corner in corners)
    ]


def _draw_labels(random: np.random.RandomState) -> list[list[str]]:
    """Labels of each image; every class is as frequent as any other, to within one."""
    counts = [SHAPES_PER_IMAGE[place % len(SHAPES_PER_IMAGE)] for place in range(IMAGES)]
    order = [CLASSES[place % len(CLASSES)] for place in range(sum(counts))]
    shuffled = iter([order[place] for place in random.permutation(len(order))])
    return [[next(shuffled) for _ in range(count)] for count in counts]


def main() -> None:
    """Write sheets of images, annotations, labels and the list of classes."""
    random = np.random.RandomState(21)
    every: dict[str, list[str]] = {}
    largest, objects = ["image,label"], []
    rows, sheets = PER_SHEET // PER_ROW, IMAGES // PER_SHEET
    whole = (SIZE[0] * PER_ROW, SIZE[1] * rows)
    pictures = [Image.new("RGB", whole) for _ in range(sheets)]
    for place, labels in enumerate(_draw_labels(random)):
        ground = GROUNDS[int(random.randint(len(GROUNDS)))]
        image, boxes = make_image(choose_shapes(random, labels), ground=ground)
        corner, name = place_on_sheet(place), f"shapes_{place + 1:02d}.png"
        pictures[place // PER_SHEET].paste(image, corner)
        objects.append(render_objects(labels, boxes, corner))
        every[name] = sorted(set(labels))
        largest.append(f"{name},{labels[int(np.argmax([_measure(box) for box in boxes]))]}")
    shutil.rmtree(FOLDER / "images", ignore_errors=True)
    (FOLDER / "images").mkdir(parents=True)
    annotations = ["ImageId,PredictionString"]
    for number, picture in enumerate(pictures):
        picture.save(FOLDER / "images" / f"sheet_{number + 1}.png", optimize=True)
        own = objects[number * PER_SHEET : (number + 1) * PER_SHEET]
        annotations.append(f"sheet_{number + 1},{' '.join(own)}")
    for name, lines in {
        "annotations.csv": annotations,
        "classes.txt": CLASSES,
        "single.csv": largest,
    }.items():
        (FOLDER / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    (FOLDER / "labels.json").write_text(json.dumps(every, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
