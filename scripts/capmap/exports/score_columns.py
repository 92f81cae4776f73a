"""Scores of tables with a column per class, read in parts into one array."""

import io
from array import array
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from capmap.exports.delimited import DelimitedSheet, Record, read_records
from capmap.exports.documents import refuse
from capmap.exports.faults import UnreadableExportError
from capmap.exports.files import LARGEST, check_text, read_bounded
from capmap.exports.parquet import ParquetSheet
from capmap.exports.tally import shorten
from capmap.problems import Problem

Scores = npt.NDArray[np.floating[Any]]

BLOCK_BYTES = 1 << 24
BATCH_CELLS = 1 << 21
FIRST_LINE = 2


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
    Numbers have decimal points. Infinite ones are read, empty and NaN are refused. A quick reader
    takes the file first, and the exact reader takes over where it fails, to say where.
    """
    content = read_bounded(sheet.path)
    check_text(content, sheet.path)
    known = {name: place for place, name in enumerate(sheet.columns)}
    places = [known[name] for name in columns]
    scores = _read_quickly(sheet, content, places)
    if scores is None:
        scores = _read_exactly(sheet, content, places)
    if not len(scores):
        raise refuse("no_rows", sheet.path, "The table has no rows.", "Write it again.", line=1)
    return scores


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
    try:
        file = pq.ParquetFile(sheet.path)
        dtype = _find_type(sheet, columns, file.schema_arrow)
        rows = file.metadata.num_rows
        _require_size(sheet.path, rows, rows * len(columns) * dtype.itemsize)
        scores: Scores = np.empty((rows, len(columns)), dtype)
        end = 0
        for batch in file.iter_batches(max(1, BATCH_CELLS // len(columns)), use_threads=False):
            start, end = end, end + batch.num_rows
            for place, name in enumerate(columns):
                column = batch.column(batch.schema.get_field_index(sheet.fields[name]))
                scores[start:end, place] = column.to_numpy(zero_copy_only=False)
            _require_numbers(scores[start:end], sheet.path, columns, start + FIRST_LINE)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = f"The Parquet file is damaged ({shorten(str(error).partition(chr(10))[0])})."
        raise refuse("damaged_parquet", sheet.path, reason, "Write it again.") from error
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


def _read_quickly(
    sheet: DelimitedSheet, content: bytes, places: Sequence[int]
) -> npt.NDArray[np.float64] | None:
    """Read the scores, or nothing where a cell is no number or the rows are not plain."""
    rows = content.count(b"\n")
    is_plain = sheet.header_end == 1 and content.count(b"\r") == content.count(b"\r\n")
    if not is_plain or content.count(b'"') % 2 or rows * len(places) > len(content):
        return None
    scores = np.empty((rows, len(places)))
    keys = [str(place) for place in range(len(sheet.columns))]
    wanted = [keys[place] for place in places]
    end = 0
    try:
        reader = pa_csv.open_csv(
            pa.BufferReader(content),
            pa_csv.ReadOptions(
                column_names=keys, skip_rows=1, use_threads=False, block_size=BLOCK_BYTES
            ),
            pa_csv.ParseOptions(delimiter=sheet.delimiter, newlines_in_values=b'"' in content),
            pa_csv.ConvertOptions(
                column_types=dict.fromkeys(wanted, pa.float64()), include_columns=wanted
            ),
        )
        for batch in reader:
            if any(column.null_count for column in batch.columns):
                return None
            start, end = end, end + batch.num_rows
            for place, column in enumerate(batch.columns):
                scores[start:end, place] = column.to_numpy()
    except pa.ArrowInvalid:
        return None
    return None if np.isnan(scores[:end]).any() else scores[:end]


def _read_exactly(
    sheet: DelimitedSheet, content: bytes, places: Sequence[int]
) -> npt.NDArray[np.float64]:
    text = io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="")
    values = array("d")
    records = read_records(text, sheet.path, sheet.delimiter)
    for record in islice(records, 1, None):
        values.extend(_read_row(sheet, record, places))
    return np.frombuffer(values, dtype=np.float64).reshape(-1, len(places))


def _read_row(sheet: DelimitedSheet, record: Record, places: Sequence[int]) -> list[float]:
    width, expected = len(record.cells), len(sheet.columns)
    if width != expected:
        reason = f"The row has {width} cells where the header has {expected}."
        remedy = "Complete the row, and put cells with the delimiter, as of ids, into quotes."
        raise refuse("wrong_width", sheet.path, reason, remedy, line=record.first)
    row = []
    for place in places:
        cell = record.cells[place]
        try:
            score = float(cell.replace("_", "?"))
        except ValueError:
            score = np.nan
        if score != score:
            raise _refuse_cell(sheet.path, record.first, sheet.columns[place], cell.strip())
        row.append(score)
    return row
