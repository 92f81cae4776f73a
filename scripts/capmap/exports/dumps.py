"""Dumps of predictions: the scores of every class, or the best classes of each image."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from capmap.exports.arrays import NPY, ZIP, map_array, read_archive
from capmap.exports.cells import INTEGRAL, Cells, trim
from capmap.exports.classes import IMAGE, check_images
from capmap.exports.delimited import (
    DelimitedSheet,
    open_delimited,
)
from capmap.exports.files import (
    HEAD,
    JSON,
    LARGEST,
    PARQUET,
    has_suffix,
    read_bounded,
    read_content,
    refuse,
)
from capmap.exports.parquet import (
    ParquetSheet,
    explain_damage,
    open_parquet,
)
from capmap.problems import FaultTally, Problem, UnreadableExportError, shorten
from capmap.wording import list_names, quote_name

Scores = npt.NDArray[np.floating[Any]]

BLOCK_BYTES = 1 << 24
FIRST_LINE = 2

NUMBERED = re.compile(r"(?:class_)?(0|[1-9][0-9]{0,8})")
ID = r"^[+-]?\d{1,18}$"
TOP_REMEDY = (
    "Columns 1, 2, 3, … hold the places of the best classes in the class list, from 0. Call "
    "columns of scores after the classes, or 0, 1, 2, …"
)
NAMELESS = re.compile(r"Unnamed: \d+|__index_level_\d+__")
Sheet: TypeAlias = DelimitedSheet | ParquetSheet

ARRAYS = frozenset({".npy", ".npz"})


def read_text_scores(sheet: DelimitedSheet, columns: Sequence[str]) -> npt.NDArray[np.float64]:
    """Read columns of scores of a delimited table.

    Parameters
    ----------
    sheet : DelimitedSheet
        The table, with a header of one row.
    columns : sequence of str
        The columns, each there once.

    Returns
    -------
    numpy.ndarray of float64, shape (rows, columns)

    Raises
    ------
    UnreadableExportError
        When the table has no rows, or a row has the wrong number of cells or a cell that is no
        number: for the first one.

    Notes
    -----
    Numbers have decimal points. Infinite ones are read, empty and NaN are refused.
    """
    cells = sheet.read_cells(columns)
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    if not len(cells.lines):
        raise refuse("no_rows", sheet.path, "The table has no rows.", "Write it again.", line=1)
    scores = np.empty((len(cells.lines), len(columns)))
    for place, name in enumerate(columns):
        scores[:, place] = _read_floats(cells, name, sheet.path)
    return scores


def _read_floats(cells: Cells, name: str, path: str) -> npt.NDArray[np.float64]:
    texts = trim(cells.columns[name])
    try:
        values: npt.NDArray[np.float64] = texts.cast(pa.float64()).to_numpy()
    except pa.ArrowInvalid:
        values = np.array([_read_float(text) for text in texts.to_pylist()])
    if np.isnan(values).any():
        row = int(np.argmax(np.isnan(values)))
        raise _refuse_cell(path, int(cells.lines[row]), name, texts[row].as_py())
    return values


def _read_float(text: str) -> float:
    try:
        return float(text.replace("_", "?"))
    except ValueError:
        return np.nan


def read_parquet_scores(sheet: ParquetSheet, columns: Sequence[str]) -> Scores:
    """Read columns of scores of a Parquet file.

    Parameters
    ----------
    sheet : ParquetSheet
        The file, whose columns are these and perhaps one of image ids.
    columns : sequence of str
        The columns, each there once.

    Returns
    -------
    numpy.ndarray of float16, float32 or float64, shape (rows, columns)
        Of the widest type among the columns.

    Raises
    ------
    UnreadableExportError
        When a column holds no floats, the scores have more than 1 GiB, there are no rows, a cell is
        empty or NaN, or the file is damaged.
    """
    with explain_damage(sheet.path):
        file = pq.ParquetFile(sheet.path)
        dtype = _find_type(sheet, columns, file.schema_arrow)
        rows = file.metadata.num_rows
        _require_size(sheet.path, rows, rows * len(columns) * dtype.itemsize)
        fields = [sheet.fields[name] for name in columns]
        table = file.read(fields, use_threads=False).select(fields)
        scores: Scores = np.empty((rows, len(columns)), dtype)
        for place, column in enumerate(table.columns):
            scores[:, place] = column.to_numpy()
    _require_numbers(scores, sheet.path, columns, FIRST_LINE)
    return scores


def _find_type(
    sheet: ParquetSheet, columns: Sequence[str], schema: pa.Schema
) -> np.dtype[np.floating[Any]]:
    kinds = {name: schema.field(sheet.fields[name]).type for name in columns}
    for name, kind in kinds.items():
        if not pa.types.is_floating(kind):
            reason = f"The column holds {kind}, not float16, float32 or float64."
            remedy = "Write scores as floats, and image ids into the column `image`."
            raise refuse("wrong_type", sheet.path, reason, remedy, line=1, column=name)
    dtype: np.dtype[np.floating[Any]] = np.result_type(
        *{kind.to_pandas_dtype() for kind in kinds.values()}
    )
    return dtype


def _require_size(path: str, rows: int, size: int) -> None:
    if not rows:
        raise refuse("no_rows", path, "The table has no rows.", "Write it again.", line=1)
    if size > LARGEST:
        reason = f"The scores have {size} bytes; those of a table may have {LARGEST}."
        raise refuse("too_large", path, reason, "Save them as .npy, which is mapped into memory.")


def _require_numbers(block: Scores, path: str, columns: Sequence[str], line: int) -> None:
    is_missing = np.isnan(block)
    if is_missing.any():
        row, place = np.argwhere(is_missing)[0].tolist()
        raise _refuse_cell(path, line + row, columns[place], "")


def _refuse_cell(path: str, line: int, column: str, value: str) -> UnreadableExportError:
    return UnreadableExportError(
        Problem(
            code="not_a_number",
            source=path,
            line=line,
            column=column,
            value=shorten(value),
            reason="The score is no number." if value else "The score is empty or NaN.",
            remedy="Write every score as a number with a decimal point.",
        )
    )


@dataclass(frozen=True)
class ScoreDump:
    """Scores of every class.

    Parameters
    ----------
    scores : numpy.ndarray of float16, float32 or float64, shape (images, classes)
        Logits or probabilities; of ``.npy`` mapped into memory.
    images : list of str or None
        The id of each image, None where the dump has none.
    classes : list of str or None
        The name of each class, None where the dump has none.
    """

    scores: npt.NDArray[np.floating[Any]]
    images: list[str] | None = None
    classes: list[str] | None = None

    @property
    def n_images(self) -> int:
        """Number of images."""
        return len(self.scores)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.scores.shape[1])


@dataclass(frozen=True)
class TopDump:
    """The best classes of each image.

    Parameters
    ----------
    top : numpy.ndarray of int32, shape (images, k)
        Ids of different classes, the best first.
    images : list of str or None
        The id of each image, None where the dump has none.
    n_classes : int or None
        Number of classes, None where it is not known.
    """

    top: npt.NDArray[np.int32]
    images: list[str] | None = None
    n_classes: int | None = None

    @property
    def n_images(self) -> int:
        """Number of images."""
        return len(self.top)

    @property
    def k(self) -> int:
        """Number of classes that are known of each image; what needs more cannot be computed."""
        return int(self.top.shape[1])


Dump: TypeAlias = ScoreDump | TopDump


def read_score_table(path: str, *, n_classes: int | None = None) -> Dump:
    """Read a table of scores or of best classes.

    Parameters
    ----------
    path : str
        Parquet or delimited text.
    n_classes : int, optional
        Number of classes, which ids of best classes must be below.

    Returns
    -------
    ScoreDump or TopDump
        The second where the columns beside ``image`` are ``1`` … ``k`` or ``class_1`` …
        ``class_k``, in any order. Columns ``0`` … ``C − 1`` or ``class_0`` … ``class_{C − 1}``, in
        any order, are scores by id, and all others scores by the name of the class, in the order of
        the table.

    Raises
    ------
    UnreadableExportError
        When the table cannot be read, has a column without a name or two of one name, an image
        stands twice, a cell is no score or id of a class, or the scores of ids are a ranking.
    """
    sheet = _open_sheet(path)
    columns = [name for name in sheet.columns if name != IMAGE]
    _require_columns(sheet, columns)
    matches = [NUMBERED.fullmatch(name) for name in columns]
    numbers = [int(match[1]) for match in matches if match]
    if sorted(numbers) == list(range(1, len(columns) + 1)):
        ordered = [name for _, name in sorted(zip(numbers, columns, strict=True))]
        return _read_top(sheet, ordered, n_classes)
    names: list[str] | None = columns
    if sorted(numbers) == list(range(len(columns))):
        columns = [name for _, name in sorted(zip(numbers, columns, strict=True))]
        names = None
    if isinstance(sheet, ParquetSheet):
        scores = read_parquet_scores(sheet, columns)
    else:
        scores = read_text_scores(sheet, columns)
    if names is None:
        _refuse_rankings(scores, path)
    images = _read_images(sheet, sheet.read_cells([IMAGE])) if IMAGE in sheet.columns else None
    return ScoreDump(scores, images, names)


def _refuse_rankings(scores: Scores, path: str) -> None:
    """Refuse rows that hold each id once; scores of two classes may be 0 and 1."""
    ids = np.arange(scores.shape[1])
    if len(ids) > 2 and all(np.array_equal(np.sort(row), ids) for row in scores):
        reason = f"Every row has each number from 0 to {ids[-1]} once, as ids and ranks do."
        remedy = "Call the columns 1, 2, 3, … where they hold the best classes, the best first."
        raise refuse("wrong_type", path, reason, remedy, line=1)


def _open_sheet(path: str) -> Sheet:
    head = read_content(path, limit=HEAD)
    if head.startswith(PARQUET) or has_suffix(path, frozenset({".parquet", ".pq"})):
        return open_parquet(path, head)
    if has_suffix(path, JSON):
        reason = "Scores cannot be read from JSON."
        raise refuse("json_scores", path, reason, "Write them as .npy, Parquet or CSV.")
    read_bounded(path)
    return open_delimited(path, head, wanted={IMAGE})


def _require_columns(sheet: Sheet, columns: Sequence[str]) -> None:
    """Refuse a table without scores, or with columns that cannot be told apart."""
    nameless = next((name for name in columns if NAMELESS.fullmatch(name)), None)
    if nameless is not None:
        raise refuse(
            "nameless_column",
            sheet.path,
            f"Column {sheet.columns.index(nameless) + 1} has no name.",
            "Call it `image` where it holds image ids, or write the table without its index.",
            line=1,
        )
    twice = sorted(name for name, count in Counter(sheet.columns).items() if count > 1)
    if twice:
        raise refuse(
            "duplicated_column",
            sheet.path,
            f"Several columns have one name: {list_names(twice)}.",
            "Call the columns of scores after the ids of the classes, 0, 1, 2, …",
            line=1,
        )
    if not columns:
        raise refuse(
            "no_scores",
            sheet.path,
            "The table has no column beside `image`.",
            "Add a column of scores per class, or the ids of the best classes as 1, 2, 3, …",
            line=1,
        )


def _read_images(sheet: Sheet, cells: Cells) -> list[str]:
    images: list[str] = trim(cells.columns[IMAGE]).to_pylist()
    check_images(images, sheet.path, lines=cells.lines.tolist())
    return images


def _read_top(sheet: Sheet, columns: Sequence[str], n_classes: int | None) -> TopDump:
    has_images = IMAGE in sheet.columns
    cells = sheet.read_cells([*columns, *([IMAGE] if has_images else [])])
    if cells.problems:
        raise UnreadableExportError(*cells.problems[:1])
    if not len(cells.lines):
        raise refuse("no_rows", sheet.path, "The table has no rows.", "Write it again.", line=1)
    tally = FaultTally(sheet.path)
    ids = [_read_ids(cells, name, n_classes, tally) for name in columns]
    tally.raise_any()
    top = np.column_stack(ids).astype(np.int32)
    _require_different(top, columns, cells, tally)
    return TopDump(top, _read_images(sheet, cells) if has_images else None, n_classes)


def _read_ids(
    cells: Cells, column: str, n_classes: int | None, tally: FaultTally
) -> npt.NDArray[np.int64]:
    """Read a column of ids; what is none is tallied and reads as 0."""
    texts = pc.replace_substring_regex(trim(cells.columns[column]), INTEGRAL, r"\1")
    is_id = pc.match_substring_regex(texts, ID)
    plain = pc.replace_substring_regex(pc.if_else(is_id, texts, "0"), r"^\+", "")
    ids: npt.NDArray[np.int64] = plain.cast("int64").to_numpy()
    highest = np.iinfo(np.int32).max if n_classes is None else n_classes - 1
    fits = is_id.to_numpy(zero_copy_only=False)
    for place in np.flatnonzero(~fits | (ids < 0) | (ids > highest)).tolist():
        if not fits[place]:
            code, reason = "not_an_id", "The cell is no id of a class."
        else:
            code, reason = "wrong_id", f"The id is not between 0 and {highest}."
        tally.add(
            code,
            reason,
            TOP_REMEDY,
            line=int(cells.lines[place]),
            column=column,
            value=cells.columns[column][place].as_py(),
        )
    return np.where(fits, ids, 0)


def _require_different(
    top: npt.NDArray[np.int32], columns: Sequence[str], cells: Cells, tally: FaultTally
) -> None:
    ordered = np.sort(top, axis=1)
    for row in np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)).tolist():
        ids = top[row].tolist()
        place = next(place for place, label in enumerate(ids) if label in ids[:place])
        tally.add(
            "repeated_id",
            f"The class stands in column {quote_name(columns[ids.index(ids[place])])} as well.",
            "Write different classes, the best first.",
            line=int(cells.lines[row]),
            column=columns[place],
            value=str(ids[place]),
        )
    tally.raise_any()


def open_scores(path: str, *, n_classes: int | None = None) -> Dump:
    """Open what a classifier said of the images of a dataset.

    Parameters
    ----------
    path : str
        The dump, known by its first bytes:

        - ``.npy``: floats of shape (images, classes), mapped into memory;
        - ``.npz``: the same as ``scores`` (or the only array) and perhaps image ids as ``ids``;
          read, so an array may have 1 GiB at most;
        - a table, Parquet or text (``.csv``, ``.tsv``, also ``.gz``), of 1 GiB at most, with the
          columns ``1`` … ``k`` or ``class_1`` … ``class_k`` (the ids of the best classes, best
          first) or a column of scores per class. Image ids are in the column ``image``, if there is
          one.
    n_classes : int, optional
        Number of classes that it must have; unknown by default.

    Returns
    -------
    ScoreDump or TopDump

    Raises
    ------
    UnreadableExportError
        When the dump cannot be read, is cut off, pickled or no floats, or has another number of
        classes.

    Notes
    -----
    Scores may be logits or probabilities, and are not looked at in ``.npy`` and ``.npz``: NaN there
    is for who ranks them to find. In a table each score must be a number; infinite ones are.
    """
    head = read_content(path, limit=len(NPY))
    if head.startswith(NPY):
        dump: Dump = ScoreDump(map_array(path))
    elif head.startswith(ZIP):
        dump = ScoreDump(*read_archive(path))
    elif has_suffix(path, ARRAYS):
        reason = "The file is called a NumPy array but is something else."
        remedy = "Save the scores with numpy.save(path, scores, allow_pickle=False)."
        raise refuse("not_an_array", path, reason, remedy)
    else:
        dump = read_score_table(path, n_classes=n_classes)
    if isinstance(dump, ScoreDump) and n_classes not in (None, dump.n_classes):
        raise refuse(
            "wrong_classes",
            path,
            f"There are scores of {dump.n_classes} classes, and {n_classes} are expected.",
            "Check that the class list is that of the classifier, background classes included.",
        )
    return dump
