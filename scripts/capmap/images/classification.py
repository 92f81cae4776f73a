"""Classifiers in ONNX files, and their scores of all images of a folder."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.artifacts import replace_file
from capmap.errors import ValidationError
from capmap.images.pictures import Pixels, UnusableImageError, load_pixels
from capmap.wording import count_things, quote_name

CHANNELS = 3
FLOAT = "tensor(float)"
SILENT = 4
LONGEST_REASON = 300

FloatArray = npt.NDArray[np.float32]

LEVELS = 256


@dataclass(frozen=True)
class Classifier:
    """An ONNX classifier that is ready to run; `open_classifier` makes one.

    Parameters
    ----------
    path : str
        Its file.
    session : onnxruntime.InferenceSession
        Runs it.
    batch : int
        How many images it takes at once.
    size : int
        Side of its square images in pixels.
    channels_first : bool
        Whether it takes (image, channel, row, column) instead of (image, row, column, channel).
    classes : int
        How many scores it gives per image; 0 for any number, the same for all images.
    """

    path: str
    session: Any
    batch: int
    size: int
    channels_first: bool
    classes: int

    def score(self, images: FloatArray) -> FloatArray:
        """Score a full batch of images.

        Parameters
        ----------
        images : numpy.ndarray of float32, shape (batch, 3, size, size)
            Normalized pixels.

        Returns
        -------
        numpy.ndarray of float32, shape (batch, classes)
            The model's output as it is: logits or probabilities.

        Raises
        ------
        ValidationError
            If the model fails on them, or its output has another shape.
        """
        given, wanted = self.session.get_inputs()[0].name, self.session.get_outputs()[0].name
        if not self.channels_first:
            images = np.ascontiguousarray(images.transpose(0, 2, 3, 1))
        try:
            (scores,) = self.session.run([wanted], {given: images})
        except Exception as error:
            raise ValidationError(
                f"{self.path}: the model fails on images of {self.size} x {self.size} pixels: "
                f"{_shorten(error)} Check its size, or export it again."
            ) from error
        found: FloatArray = np.asarray(scores)
        if found.ndim != 2 or len(found) != self.batch or self.classes not in (0, found.shape[1]):
            shape = f"({self.batch}, {self.classes or 'classes'})"
            raise ValidationError(
                f"{self.path}: the scores of {count_things(self.batch, 'image')} have the shape "
                f"{found.shape} instead of {shape}. Export the model with a score for each image "
                "and class as its first output."
            )
        return found


def open_classifier(path: str | Path, *, size: int, batch_size: int, classes: int) -> Classifier:
    """Open a classifier, and check that it takes images and gives scores.

    Parameters
    ----------
    path : path-like
        An ONNX file with one input, float32 of shape (images, 3, rows, columns) or
        (images, rows, columns, 3), whose first output is float32 of shape (images, classes).
    size : int
        Side of its square images in pixels.
    batch_size : int
        How many images to score at once; ignored where the model has a number of its own.
    classes : int
        How many classes it should know; 0 for any number.

    Returns
    -------
    Classifier
        Ready to run.

    Raises
    ------
    ValidationError
        If onnxruntime is not installed, the file cannot be loaded, or input, output, size or
        number of classes are others.

    Notes
    -----
    The model runs on one thread of the CPU, so its scores do not depend on how many cores there
    are. Other processors and versions of onnxruntime may round differently in the last digits.
    """
    path = str(path)
    session = _load_session(path)
    given, scores = _check_tensors(path, session)
    channels_first = _check_images(path, given.shape, size)
    known = scores.shape[1]
    if classes and isinstance(known, int) and known != classes:
        raise ValidationError(
            f"{path}: the model gives {known} scores per image, but there are {classes} classes. "
            "Give the list of classes that belongs to the model."
        )
    batch = given.shape[0] if isinstance(given.shape[0], int) else batch_size
    return Classifier(path, session, batch, size, channels_first, classes)


def _load_session(path: str) -> Any:
    if not Path(path).is_file():
        raise ValidationError(f"{path}: there is no such file. Check classify.models.")
    onnxruntime = _import_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = SILENT
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValidationError(
            f"{path}: onnxruntime {onnxruntime.__version__} cannot load the model: "
            f"{_shorten(error)} Export it as ONNX again."
        ) from error


def _import_onnxruntime() -> Any:
    """Import onnxruntime only once it is needed, so that what is wrong without it is said well."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ValidationError(
            "classify: running classifiers needs the package onnxruntime, which is not installed. "
            "Install it (`pip install onnxruntime`), run snakemake with "
            "`--software-deployment-method conda`, or leave out the section `classify` and give "
            "score dumps as exports."
        ) from error
    return onnxruntime


def _check_tensors(path: str, session: Any) -> tuple[Any, Any]:
    """Check type and rank of what a model takes and gives first."""
    inputs, outputs = session.get_inputs(), session.get_outputs()
    for tensors, rank, what in (
        (inputs, 4, "take one input (images, channels, rows, columns)"),
        (outputs[:1], 2, "give scores (images, classes) as its first output,"),
    ):
        if len(tensors) != 1 or len(tensors[0].shape) != rank or tensors[0].type != FLOAT:
            found = ", ".join(
                f"{quote_name(one.name)} {one.type} {_write_shape(one.shape)}" for one in tensors
            )
            raise ValidationError(
                f"{path}: a classifier must {what} of float32, but this model has "
                f"{found or 'none'}. Export it so."
            )
    return inputs[0], outputs[0]


def _check_images(path: str, shape: Sequence[Any], size: int) -> bool:
    """Whether channels come before rows and columns, and refuse another size."""
    is_first = shape[1] == CHANNELS or (shape[3] != CHANNELS and not isinstance(shape[1], int))
    channels, *sides = (shape[1], *shape[2:]) if is_first else (shape[3], *shape[1:3])
    if isinstance(channels, int) and channels != CHANNELS:
        raise ValidationError(
            f"{path}: the model takes images of shape {_write_shape(shape)}, without the 3 "
            "channels red, green and blue. Only models of color images can be run."
        )
    if any(isinstance(side, int) and side != size for side in sides):
        rows, columns = sides
        remedy = f"Set its size to {rows}." if rows == columns else "Export it for square images."
        raise ValidationError(
            f"{path}: the model takes images of {rows} x {columns} pixels, not {size} x {size}. "
            f"{remedy}"
        )
    return is_first


def _write_shape(shape: Sequence[Any]) -> str:
    return f"({', '.join(str(side) if isinstance(side, int) else '?' for side in shape)})"


def _shorten(error: Exception) -> str:
    """The first line of what onnxruntime says, as a sentence."""
    text = (str(error).splitlines() or [""])[0][:LONGEST_REASON].strip().rstrip(".")
    return f"{text or type(error).__name__}."


def make_levels(*, mean: Sequence[float], std: Sequence[float]) -> FloatArray:
    """Normalize every level of brightness.

    Parameters
    ----------
    mean, std : sequence of 3 float
        Subtracted from and divided into red, green and blue on a scale from 0 to 1.

    Returns
    -------
    numpy.ndarray of float32, shape (3, 256)
        (level / 255 − mean) / std, rounded to float32 after each step as by torchvision.

    Raises
    ------
    ValidationError
        If there are not three finite numbers each, or a standard deviation is not positive.

    Examples
    --------
    >>> make_levels(mean=[0.5, 0.5, 0.5], std=[0.5, 0.5, 0.25])[:, [0, 255]].tolist()
    [[-1.0, 1.0], [-1.0, 1.0], [-2.0, 2.0]]
    """
    for name, numbers in (("mean", mean), ("std", std)):
        is_sound = len(numbers) == CHANNELS and np.isfinite(numbers).all()
        if not is_sound or (name == "std" and min(numbers) <= 0):
            kind = "positive numbers" if name == "std" else "numbers"
            raise ValidationError(
                f"classify: {name} is {list(numbers)}. Give three {kind}, for red, green and blue "
                "on a scale from 0 to 1."
            )
    levels = np.arange(LEVELS, dtype=np.float32) / np.float32(LEVELS - 1)
    centered = levels - np.array(mean, dtype=np.float32)[:, None]
    return np.asarray(centered / np.array(std, dtype=np.float32)[:, None])


def score_images(
    folder: str | Path,
    ids: Sequence[str],
    classifier: Classifier,
    *,
    mean: Sequence[float],
    std: Sequence[float],
) -> Iterator[FloatArray]:
    """Score images batch by batch.

    Parameters
    ----------
    folder : path-like
        Where the images are.
    ids : sequence of str
        The images, from `capmap.images.pictures.find_images`.
    classifier : Classifier
        From `open_classifier`.
    mean, std : sequence of 3 float
        As in `make_levels`.

    Yields
    ------
    numpy.ndarray of float32, shape (images of the batch, classes)
        Scores in the order of `ids`; only one batch is in memory.

    Raises
    ------
    ValidationError
        If images cannot be used. All of them are named: after the first, the others are only read.
        Also if a score is NaN, or what `Classifier.score` raises.

    Notes
    -----
    The last batch is filled up with zeros, so the scores of an image do not depend on how many
    images there are.
    """
    levels = make_levels(mean=mean, std=std)
    faults: list[str] = []
    batch = np.zeros((classifier.batch, CHANNELS, classifier.size, classifier.size), np.float32)
    for start in range(0, len(ids), classifier.batch):
        names = ids[start : start + classifier.batch]
        batch[len(names) :] = 0
        for place, name in enumerate(names):
            try:
                pixels = load_pixels(Path(folder, name), size=classifier.size)
            except UnusableImageError as error:
                faults.append(f"{quote_name(name)}: {error}.")
            else:
                batch[place] = _normalize(pixels, levels)
        if not faults:
            yield _check_scores(classifier.score(batch)[: len(names)], names, classifier.path)
    if faults:
        raise ValidationError(
            f"{folder}: {count_things(len(faults), 'image')} cannot be used. Repair these, or "
            + "\n".join(["remove them here and from the labels:", *faults])
        )


def write_scores(path: str | Path, blocks: Iterable[FloatArray], *, images: int) -> int:
    """Write scores as they come, and put the file in place once it is whole.

    Parameters
    ----------
    path : path-like
        Where to write a .npy file of shape (images, classes), float32.
    blocks : iterable of numpy.ndarray of float32, shape (any, classes)
        From `score_images`, at least one.
    images : int
        How many rows there will be.

    Returns
    -------
    int
        How many classes there are.

    Raises
    ------
    ValidationError
        What `score_images` raises; nothing is written then.

    Notes
    -----
    Rows are appended to an ordinary file, so memory does not grow, and a full disk is an error.
    """
    shape: tuple[int, ...] = ()
    with replace_file(path) as stream:
        for block in blocks:
            if not shape:
                shape = (images, block.shape[1])
                header = {"descr": "<f4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(stream, header)
            stream.write(block.astype("<f4", order="C").tobytes())
    return shape[1]


def _normalize(pixels: Pixels, levels: FloatArray) -> FloatArray:
    channels = [levels[channel][pixels[:, :, channel]] for channel in range(CHANNELS)]
    return np.stack(channels)


def _check_scores(scores: FloatArray, names: Sequence[str], path: str) -> FloatArray:
    rows = np.flatnonzero(np.isnan(scores).any(axis=1))
    if len(rows):
        name = quote_name(names[rows[0]])
        raise ValidationError(
            f"{path}: a score of the image {name} is NaN. Check mean and std, or export the model "
            "again."
        )
    return scores
