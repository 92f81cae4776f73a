"""Dumps of predictions as tables: the best classes of each image, or a column per class."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from capmap.exports.cells import INTEGRAL, Cells, trim
from capmap.exports.classes import IMAGE, check_images
from capmap.exports.delimited import DelimitedSheet, open_delimited
from capmap.exports.documents import JSON, has_suffix, refuse
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import HEAD, PARQUET, read_bounded, read_content
from capmap.exports.parquet import ParquetSheet, open_parquet
from capmap.exports.score_columns import read_parquet_scores, read_text_scores
from capmap.exports.tally import FaultTally
from capmap.wording import list_names, quote_name

NUMBERED = re.compile(r"(?:class_)?(0|[1-9][0-9]{0,8})")
ID = r"^[+-]?\d{1,18}$"
TOP_REMEDY = (
    "Columns 1, 2, 3, … hold the places of the best classes in the class list, from 0. Call "
    "columns of scores after the classes, or 0, 1, 2, …"
)
NAMELESS = re.compile(r"Unnamed: \d+|__index_level_\d+__")


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
Sheet: TypeAlias = DelimitedSheet | ParquetSheet


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
        stands twice, or a cell is no score or id of a class.
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
    images = _read_images(sheet, sheet.read_cells([IMAGE])) if IMAGE in sheet.columns else None
    return ScoreDump(scores, images, names)


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
    twice = sorted({name for name in sheet.columns if sheet.columns.count(name) > 1})
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
