"""Classifiers in ONNX files, run by onnxruntime on one thread."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from capmap.errors import ValidationError
from capmap.wording import count_things, quote_name

CHANNELS = 3
FLOAT = "tensor(float)"
SILENT = 4
LONGEST_REASON = 300

FloatArray = npt.NDArray[np.float32]


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
    """Tell whether channels come before rows and columns, and refuse another size."""
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
