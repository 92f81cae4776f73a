"""Make the example's classifiers in ``data/patchml/models/``.

Run ``python data/make_classifiers.py`` from anywhere, after `make_patchml.py`; the same bytes come
out every time. Each is an ONNX file that scores images of 96 × 96 pixels, scaled to −1 … 1, on the
classes of `make_patchml.py`. They see edges of eight directions and compare them with prototypes:
small windows of edges, cut from training images. How alike prototypes and image are goes into a
linear readout, fitted by ridge regression:

- ``largest.onnx`` learned the largest shape of images with one to three,
- ``several.onnx`` learned all shapes, in such images and on composed ones with up to nine,
- ``few.onnx`` learned the same from a quarter of the prototypes,
- ``pixels.onnx`` sees no edges but the mean brightness of 8 × 8 pixels.

Nothing is learned in steps that could drift apart on other processors: edges are whole numbers,
and readouts are solved in double precision, then rounded. Random numbers come from NumPy's legacy
generator, whose stream is frozen. The ONNX file is written field by field, which needs no package.
"""

import runpy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image

FOLDER = Path(__file__).parent / "patchml" / "models"
SHAPES: dict[str, Any] = runpy.run_path(str(Path(__file__).parent / "make_patchml.py"))
CLASSES: list[str] = SHAPES["CLASSES"]

SIDE, CANVAS = 96, 128
SCENES, COMPOSED = 400, 400
COUNTS, COLUMNS = (2, 3, 4, 6, 9), (2, 3, 4)
DIRECTIONS, EDGE, POOL, WINDOW, AROUND = 8, 5, 4, 6, 5
QUIET = 1e5
SMALLEST_EDGE, LIKENESS = 0.35, 0.5
PENALTY = 0.02
ROUNDING = 2**12
HALF_RANGE = 127.5
IMAGES = ("images", 3, SIDE, SIDE)
SCORES = ("images", len(CLASSES))

Array = npt.NDArray[np.float64]
Value = int | Sequence[int]


class Node(NamedTuple):
    """A node of an ONNX graph: operator, names of inputs and output, and attributes."""

    operator: str
    inputs: list[str]
    output: str
    attributes: Mapping[str, Value] = {}


class Examples(NamedTuple):
    """Training images: their pixels, and the labels of the shapes on each."""

    pixels: npt.NDArray[np.uint8]
    labels: list[list[str]]


class Readout(NamedTuple):
    """A linear readout: classes × features, and a bias per class."""

    weights: Array
    bias: Array


def make_scenes(random: np.random.RandomState, count: int) -> Examples:
    """Draw images with one to three shapes, like those of the example; the largest comes first."""
    pixels, labels = [], []
    for _ in range(count):
        image, shapes, _ = _draw_scene(random, 1 + int(random.randint(3)))
        pixels.append(_resize(image))
        labels.append([shape.label for shape in sorted(shapes, key=lambda one: -one.radius)])
    return Examples(np.array(pixels), labels)


def make_composed(random: np.random.RandomState, count: int) -> Examples:
    """Put two to nine cut shapes on black, each into a cell of a grid."""
    pixels, labels = [], []
    for _ in range(count):
        shapes = COUNTS[random.randint(len(COUNTS))]
        wide = [columns for columns in COLUMNS if columns**2 >= shapes]
        columns = wide[random.randint(len(wide))]
        canvas = Image.new("RGB", (CANVAS, CANVAS))
        places = random.permutation(columns**2)[:shapes]
        labels.append([_paste_shape(random, canvas, int(place), columns) for place in places])
        pixels.append(_resize(canvas))
    return Examples(np.array(pixels), labels)


def make_filters() -> Array:
    """Make derivatives of a Gaussian in all directions, as whole numbers of sum 0."""
    reach = EDGE // 2
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    angles = np.pi * np.arange(DIRECTIONS)[:, None, None] / DIRECTIONS
    slope = columns * np.cos(angles) + rows * np.sin(angles)
    return np.asarray(np.round(16 * slope * np.exp(-(rows**2 + columns**2) / EDGE)))


def find_edges(pixels: npt.NDArray[np.uint8]) -> Array:
    """Find how strong edges of each direction are, relative to the edges around them.

    Parameters
    ----------
    pixels : numpy.ndarray of uint8, shape (n, 96, 96, 3)
        Images.

    Returns
    -------
    numpy.ndarray, shape (n, 8, 23, 23)
        Strengths per direction and place of 4 × 4 pixels.
    """
    kernel = make_filters().reshape(DIRECTIONS, -1).T
    inner = SIDE - EDGE + 1
    cells = inner // POOL
    strengths = []
    for image in pixels:
        gray = image.sum(axis=2, dtype=np.float64)
        windows = sliding_window_view(gray, (EDGE, EDGE)).reshape(inner**2, -1)
        edges = np.abs(windows @ kernel).reshape(cells, POOL, cells, POOL, DIRECTIONS)
        strengths.append(edges.max(axis=(1, 3)).transpose(2, 0, 1))
    found = np.array(strengths)
    energy = np.pad((found**2).sum(axis=1), ((0, 0), *2 * ((AROUND // 2, AROUND // 2),)))
    around = sliding_window_view(energy, (AROUND, AROUND), axis=(1, 2)).mean(axis=(3, 4))
    return np.asarray(found / np.sqrt(around + QUIET)[:, None])


def choose_prototypes(random: np.random.RandomState, edges: Array, count: int) -> Array:
    """Cut windows with enough edges, of mean 0 and length 1, rounded."""
    chosen: list[Array] = []
    starts = edges.shape[2] - WINDOW + 1
    while len(chosen) < count:
        image = random.randint(len(edges))
        top, left = random.randint(starts, size=2)
        window = edges[image, :, top : top + WINDOW, left : left + WINDOW]
        if window.max(axis=0).mean() > SMALLEST_EDGE:
            centered = window - window.mean()
            chosen.append(centered / np.sqrt((centered**2).sum()))
    return np.round(np.array(chosen) * ROUNDING) / ROUNDING


def compare_prototypes(edges: Array, prototypes: Array) -> Array:
    """Measure how much of each image is how much like each prototype: images × prototypes."""
    flat = prototypes.reshape(len(prototypes), -1).T
    features = []
    for image in edges:
        windows = sliding_window_view(image, (WINDOW, WINDOW), axis=(1, 2))
        likeness = windows.transpose(1, 2, 0, 3, 4).reshape(-1, len(flat)) @ flat
        features.append(np.maximum(likeness - LIKENESS, 0).mean(axis=0))
    return np.array(features)


def measure_brightness(pixels: npt.NDArray[np.uint8]) -> Array:
    """Mean of 8 × 8 pixels in each channel, from −1 to 1: images × (3 · 12 · 12)."""
    cells = SIDE // 8
    blocks = pixels.reshape(-1, cells, 8, cells, 8, 3).mean(axis=(2, 4)).transpose(0, 3, 1, 2)
    return np.asarray(blocks.reshape(len(pixels), -1) / HALF_RANGE - 1)


def fit_readout(features: Array, targets: Array) -> Readout:
    """Fit a linear readout by ridge regression on standardized features, and round it."""
    center, spread = features.mean(axis=0), features.std(axis=0)
    scaled = (features - center) / spread
    square = scaled.T @ scaled / len(scaled) + PENALTY * np.eye(scaled.shape[1])
    slopes = np.linalg.solve(square, scaled.T @ (targets - targets.mean(axis=0)) / len(scaled))
    weights = np.round((slopes / spread[:, None]).T * ROUNDING) / ROUNDING
    bias = targets.mean(axis=0) - weights @ center
    return Readout(weights, np.round(bias * ROUNDING) / ROUNDING)


def build_edge_model(prototypes: Array, readout: Readout) -> bytes:
    """Build the ONNX classifier that compares edges with prototypes."""
    filters = np.repeat(make_filters()[:, None], 3, axis=1) * HALF_RANGE
    nodes = [
        Node("Conv", ["images", "filters"], "slopes"),
        Node("Abs", ["slopes"], "strengths"),
        Node(
            "MaxPool", ["strengths"], "edges", {"kernel_shape": [POOL] * 2, "strides": [POOL] * 2}
        ),
        Node("Mul", ["edges", "edges"], "energy"),
        Node("Conv", ["energy", "around"], "mean", {"pads": [AROUND // 2] * 4}),
        Node("Add", ["mean", "quiet"], "kept"),
        Node("Sqrt", ["kept"], "loudness"),
        Node("Div", ["edges", "loudness"], "relative"),
        Node("Conv", ["relative", "prototypes"], "compared"),
        Node("Sub", ["compared", "likeness"], "excess"),
        Node("Relu", ["excess"], "alike"),
        Node("GlobalAveragePool", ["alike"], "pooled"),
        Node("Flatten", ["pooled"], "features"),
        Node("Gemm", ["features", "weights", "bias"], "scores", {"transB": 1}),
    ]
    arrays = {
        "filters": filters,
        "around": np.full((1, DIRECTIONS, AROUND, AROUND), 1 / AROUND**2),
        "quiet": np.array(QUIET),
        "prototypes": prototypes,
        "likeness": np.array(LIKENESS),
        **readout._asdict(),
    }
    return encode_model(nodes, arrays, given=IMAGES, found=SCORES)


def build_pixel_model(readout: Readout) -> bytes:
    """Build the ONNX classifier that sees the mean brightness of blocks."""
    nodes = [
        Node("AveragePool", ["images"], "blocks", {"kernel_shape": [8, 8], "strides": [8, 8]}),
        Node("Flatten", ["blocks"], "features"),
        Node("Gemm", ["features", "weights", "bias"], "scores", {"transB": 1}),
    ]

    return encode_model(nodes, readout._asdict(), given=IMAGES, found=SCORES)


def encode_model(
    nodes: Sequence[Node],
    arrays: Mapping[str, npt.ArrayLike],
    *,
    given: Sequence[int | str],
    found: Sequence[int | str],
) -> bytes:
    """Encode an ONNX model from ``images`` to ``scores``, in float32.

    Parameters
    ----------
    nodes : sequence of Node
        In the order of their computation.
    arrays : mapping of str to array
        Constants by name.
    given, found : sequence of int or str
        Shapes of input and output; text stands for any number.

    Notes
    -----
    IR version 8 and operator set 13, which onnxruntime reads since 1.10. The numbers are those of
    the fields in onnx.proto.
    """
    graph = (
        b"".join(_field(1, _encode_node(node)) for node in nodes)
        + _field(2, b"shapes")
        + b"".join(_field(5, _encode_array(name, array)) for name, array in arrays.items())
        + _field(11, _encode_value("images", given))
        + _field(12, _encode_value("scores", found))
    )
    return _field(1, 8) + _field(2, b"capmap") + _field(7, graph) + _field(8, _field(2, 13))


def render_examples() -> dict[str, bytes]:
    """Make all classifiers, by file name."""
    random = np.random.RandomState(31)
    scenes, composed = make_scenes(random, SCENES), make_composed(random, COMPOSED)
    edges = [find_edges(examples.pixels) for examples in (scenes, composed)]
    prototypes = choose_prototypes(random, np.concatenate(edges), 48)
    features = [compare_prototypes(one, prototypes) for one in edges]
    both = np.concatenate(features)
    shown = _mark(scenes.labels + composed.labels)
    largest = _mark([labels[:1] for labels in scenes.labels])
    few = len(prototypes) // 4
    brightness = measure_brightness(np.concatenate([scenes.pixels, composed.pixels]))
    return {
        "largest.onnx": build_edge_model(prototypes, fit_readout(features[0], largest)),
        "several.onnx": build_edge_model(prototypes, fit_readout(both, shown)),
        "few.onnx": build_edge_model(prototypes[:few], fit_readout(both[:, :few], shown)),
        "pixels.onnx": build_pixel_model(fit_readout(brightness, shown)),
    }


def _draw_scene(random: np.random.RandomState, count: int) -> tuple[Image.Image, Any, Any]:
    labels = [CLASSES[place] for place in random.randint(len(CLASSES), size=count)]
    shapes = SHAPES["choose_shapes"](random, labels)
    ground = SHAPES["GROUNDS"][random.randint(len(SHAPES["GROUNDS"]))]
    image, boxes = SHAPES["make_image"](shapes, ground=ground)
    return image, shapes, boxes


def _paste_shape(
    random: np.random.RandomState, canvas: Image.Image, place: int, columns: int
) -> str:
    """Paste a cut shape somewhere into a cell, and tell its label."""
    cell = CANVAS // columns
    image, (shape,), (box,) = _draw_scene(random, 1)
    patch = image.crop(box)
    scale = cell / max(patch.size)
    width, height = (max(1, int(side * scale)) for side in patch.size)
    left = place % columns * cell + int(random.randint(cell - width + 1))
    top = place // columns * cell + int(random.randint(cell - height + 1))
    canvas.paste(patch.resize((width, height), Image.Resampling.BICUBIC), (left, top))
    return str(shape.label)


def _resize(image: Image.Image) -> npt.NDArray[np.uint8]:
    return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BICUBIC))


def _mark(labels: list[list[str]]) -> Array:
    """Mark classes with 1: images × classes."""
    return np.array([[float(one in own) for one in CLASSES] for own in labels])


def _encode_node(node: Node) -> bytes:
    names = [_field(1, name.encode()) for name in node.inputs] + [_field(2, node.output.encode())]
    attributes = [
        _field(5, _encode_attribute(name, value)) for name, value in node.attributes.items()
    ]
    return b"".join([*names, _field(4, node.operator.encode()), *attributes])


def _encode_attribute(name: str, value: Value) -> bytes:
    head = _field(1, name.encode())
    if isinstance(value, int):
        return head + _field(3, value) + _field(20, 2)
    return head + b"".join(_field(8, number) for number in value) + _field(20, 7)


def _encode_array(name: str, array: npt.ArrayLike) -> bytes:
    content = np.asarray(array, dtype="<f4")
    sides = b"".join(_field(1, side) for side in content.shape)
    return sides + _field(2, 1) + _field(8, name.encode()) + _field(9, content.tobytes())


def _encode_value(name: str, shape: Sequence[int | str]) -> bytes:
    sides = [
        _field(1, side) if isinstance(side, int) else _field(2, side.encode()) for side in shape
    ]
    tensor = _field(1, 1) + _field(2, b"".join(_field(1, side) for side in sides))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number: int, content: int | bytes) -> bytes:
    """A field of a protobuf message: a whole number from 0, or bytes with their length."""
    if isinstance(content, int):
        return _varint(number << 3) + _varint(content)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    """A whole number, seven bits to a byte, the lowest first."""
    front = []
    while number > 127:
        front.append(number & 127 | 128)
        number >>= 7
    return bytes([*front, number])


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, content in render_examples().items():
        (FOLDER / name).write_bytes(content)
